//! Measures the memory of a pull that reconciles one repository with 500,000 comments.
//!
//! It takes twelve minutes: GitHub's 900 REST requests a minute set the pace of the first pull and of the second.

use crate::program::{BenchProgram, MeasuredPull};
use crate::promise::{BenchPromise, are_kept, format_promises};
use crate::sim_process::{BenchWorld, SimProcess};
use crate::{BenchOptions, BenchTable};

const COMMENTS_PER_THREAD: usize = 100;
const MAX_PEAK_MB: u64 = 150;

const HEADS: &[&str] = &["what", "requests", "comments", "time", "CPU", "peak", "promise"];

pub(crate) fn measure(options: &BenchOptions) -> Option<BenchTable> {
    let mut simulator = SimProcess::start(&BenchWorld {
        repositories: 1,
        issues: options.comments / COMMENTS_PER_THREAD,
        pull_requests: 0,
        discussions: 0,
        comments_per_thread: COMMENTS_PER_THREAD,
        body_bytes: 256,
        latency_ms: 0,
    });
    let program = BenchProgram::new(&simulator.url);
    let mut rows = Vec::new();
    let mut is_kept = true;
    for (what, arguments) in [
        ("cold", &["-i", "issues,comments"] as &[&str]),
        ("unchanged", &["-i", "issues,comments"]),
        ("pull -i comments --reconcile", &["-i", "issues,comments", "--reconcile"]),
    ] {
        let before = simulator.counters().requests;
        let pull = program.measure_pull(arguments);
        let requests = simulator.counters().requests - before;
        let promise = BenchPromise::new(
            format!("peak ≤ {MAX_PEAK_MB} MB"),
            pull.usage.peak_kb <= MAX_PEAK_MB * 1_024,
        );
        is_kept &= are_kept(std::slice::from_ref(&promise));
        rows.push(columns(what, requests, program.count_stored(), &pull, &[promise]));
        eprintln!("measured {}", rows[rows.len() - 1].join("; "));
    }
    Some(BenchTable { heads: HEADS, rows, is_kept })
}

fn columns(
    what: &str,
    requests: u64,
    stored: u64,
    pull: &MeasuredPull,
    promises: &[BenchPromise],
) -> Vec<String> {
    let MeasuredPull { wall_ms, usage } = pull;
    vec![
        what.to_owned(),
        requests.to_string(),
        stored.to_string(),
        format!("{}.{:01} s", wall_ms / 1_000, wall_ms % 1_000 / 100),
        format!("{}.{:01} s", usage.cpu_ms / 1_000, usage.cpu_ms % 1_000 / 100),
        format!("{} MB", usage.peak_kb / 1_024),
        format_promises(promises),
    ]
}
