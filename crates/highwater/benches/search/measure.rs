//! How long it takes.

use hw_store::{Search, SearchEngine};
use rustix::time::{ClockId, clock_gettime};

/// Milliseconds of the processor, and of the clock on the wall.
#[derive(Default)]
pub(crate) struct Measured {
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

/// Searches for each of these, once to warm up and once to be measured.
pub(crate) fn measure(engine: &SearchEngine, queries: &[String]) -> Measured {
    let mut measured = Measured::default();
    for query in queries {
        let search = Search::new(query.as_str());
        let (cpu, wall) = (now(ClockId::ThreadCPUTime), now(ClockId::Monotonic));
        let found = engine.search(&search).unwrap();
        measured.cpu.push(now(ClockId::ThreadCPUTime) - cpu);
        measured.wall.push(now(ClockId::Monotonic) - wall);
        assert!(found.hits.len() <= 10);
    }
    measured
}

fn now(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1_000.0 + time.tv_nsec as f64 / 1e6
}

impl Measured {
    pub(crate) fn extend(&mut self, other: Self) {
        self.cpu.extend(other.cpu);
        self.wall.extend(other.wall);
    }

    pub(crate) fn row(&self, name: &str) -> String {
        let ms = |value: f64| format!("{value:.1} ms");
        let cells =
            [quantile(&self.cpu, 0.5), quantile(&self.cpu, 0.95), quantile(&self.cpu, 1.0)].map(ms);
        let wall = ms(quantile(&self.wall, 0.5));
        format!("| {name:<46} | {:>9} | {:>9} | {:>9} | {wall:>10} |", cells[0], cells[1], cells[2])
    }
}

fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}
