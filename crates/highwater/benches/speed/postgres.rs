//! Measures a cold pull into PostgreSQL: on this machine, and behind a network that takes 5 ms for a round trip.

use std::time::Duration;

use hw_sim::delay_proxy::DelayProxy;

use crate::postgres_workspace::PostgresWorkspace;
use crate::program::{BenchProgram, MeasuredPull};
use crate::promise::{BenchPromise, are_kept, format_promises};
use crate::sim_process::{BenchWorld, SimProcess};
use crate::{BenchOptions, BenchTable};

const WORLD: BenchWorld = BenchWorld {
    repositories: 20,
    issues: 200,
    pull_requests: 200,
    discussions: 20,
    comments_per_thread: 0,
    body_bytes: 1_024,
    latency_ms: 60,
};

const ONE_WAY: Duration = Duration::from_micros(2_500);

const HEADS: &[&str] = &["what", "items", "time", "items/s", "CPU", "peak", "promise"];

pub(crate) fn measure(options: &BenchOptions) -> Option<BenchTable> {
    let url = options.postgres.as_deref()?;
    let near = measure_pull(url, "near");
    let address = host_and_port(url);
    let proxy = DelayProxy::start(address, ONE_WAY).unwrap();
    let far = measure_pull(&url.replace(address, &proxy.address().to_string()), "far");
    let is_kept = far.pull.wall_ms * 2 <= near.pull.wall_ms * 3;
    let promises = [BenchPromise::new("≤ 1.5 × the time", is_kept)];
    let rows = vec![
        near.columns("cold: 20 × (200, 200, 20), PostgreSQL on this machine", &[]),
        far.columns("the same, 5 ms away", &promises),
    ];
    Some(BenchTable { heads: HEADS, rows, is_kept: are_kept(&promises) })
}

/// A pull, and the texts that it stored.
struct PostgresPull {
    pull: MeasuredPull,
    items: u64,
}

impl PostgresPull {
    fn columns(&self, what: &str, promises: &[BenchPromise]) -> Vec<String> {
        let MeasuredPull { wall_ms, usage } = self.pull;
        vec![
            what.to_owned(),
            self.items.to_string(),
            format!("{}.{:01} s", wall_ms / 1_000, wall_ms % 1_000 / 100),
            (self.items * 1_000 / wall_ms.max(1)).to_string(),
            format!("{}.{:01} s", usage.cpu_ms / 1_000, usage.cpu_ms % 1_000 / 100),
            format!("{} MB", usage.peak_kb / 1_024),
            format_promises(promises),
        ]
    }
}

fn measure_pull(url: &str, label: &str) -> PostgresPull {
    let simulator = SimProcess::start(&WORLD);
    let program =
        BenchProgram::new(&simulator.url).with_database(PostgresWorkspace::new(url, label));
    let pull = program.measure_pull(&[]);
    PostgresPull { pull, items: program.count_stored() }
}

/// Returns the address in `postgres://user@host:port/database`.
fn host_and_port(url: &str) -> &str {
    let address = url.split_once("://").map_or(url, |(_, rest)| rest);
    let address = address.rsplit_once('@').map_or(address, |(_, rest)| rest);
    address.split('/').next().unwrap()
}
