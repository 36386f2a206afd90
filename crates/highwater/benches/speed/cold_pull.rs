//! Measures a cold pull from end to end, at 60 ms a request.

use crate::program::{BenchProgram, MeasuredPull};
use crate::promise::{BenchPromise, are_kept, format_promises};
use crate::sim_process::{BenchWorld, SimCounters, SimProcess};
use crate::{BenchOptions, BenchTable};

/// The world of the measurement: 21,000 threads.
const WORLD: BenchWorld = BenchWorld {
    repositories: 50,
    issues: 200,
    pull_requests: 200,
    discussions: 20,
    comments_per_thread: 0,
    body_bytes: 1_024,
    latency_ms: 60,
};

/// GitHub's fastest burst: 2,000 requests a minute, 100 items each.
const MIN_ITEMS_PER_SECOND: u64 = 3_300;
const MAX_CPU_MICROSECONDS_PER_ITEM: u64 = 350;
const MAX_PEAK_MB: u64 = 60;

const HEADS: &[&str] = &[
    "what",
    "requests",
    "points",
    "items",
    "time",
    "items/s",
    "CPU",
    "CPU per item",
    "simulator's CPU",
    "peak",
    "promise",
];

pub(crate) fn measure(_options: &BenchOptions) -> Option<BenchTable> {
    let mut simulator = SimProcess::start(&WORLD);
    let before = simulator.counters();
    let program = BenchProgram::new(&simulator.url);
    let pull = program.measure_pull(&[]);
    let after = simulator.counters();
    let items = program.count_stored();
    let promises = promises(items, &pull);
    Some(BenchTable {
        heads: HEADS,
        is_kept: are_kept(&promises),
        rows: vec![format_row(items, &pull, &before, &after, &promises)],
    })
}

fn promises(items: u64, pull: &MeasuredPull) -> [BenchPromise; 3] {
    let rate = items * 1_000 / pull.wall_ms.max(1);
    let cpu = pull.usage.cpu_ms * 1_000 / items.max(1);
    [
        BenchPromise::new(
            format!("≥ {MIN_ITEMS_PER_SECOND} items/s"),
            rate >= MIN_ITEMS_PER_SECOND,
        ),
        BenchPromise::new("CPU ≤ 0.35 ms an item", cpu <= MAX_CPU_MICROSECONDS_PER_ITEM),
        BenchPromise::new(
            format!("peak ≤ {MAX_PEAK_MB} MB"),
            pull.usage.peak_kb <= MAX_PEAK_MB * 1_024,
        ),
    ]
}

fn format_row(
    items: u64,
    pull: &MeasuredPull,
    before: &SimCounters,
    after: &SimCounters,
    promises: &[BenchPromise],
) -> Vec<String> {
    vec![
        "cold: 50 × (200 issues, 200 PRs, 20 discussions)".to_owned(),
        (after.requests - before.requests).to_string(),
        (after.points - before.points).to_string(),
        items.to_string(),
        format_seconds(pull.wall_ms),
        (items * 1_000 / pull.wall_ms.max(1)).to_string(),
        format_seconds(pull.usage.cpu_ms),
        format!("{} µs", pull.usage.cpu_ms * 1_000 / items.max(1)),
        format_seconds(after.usage.cpu_ms - before.usage.cpu_ms),
        format!("{} MB", pull.usage.peak_kb / 1_024),
        format_promises(promises),
    ]
}

fn format_seconds(ms: u64) -> String {
    format!("{}.{:01} s", ms / 1_000, ms % 1_000 / 100)
}
