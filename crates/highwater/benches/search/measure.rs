//! How long it takes.

use hw_store::{Search, SearchEngine};
use rustix::time::{ClockId, clock_gettime};

/// Milliseconds of the processor, and of the clock on the wall.
#[derive(Default)]
pub(crate) struct Measured {
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

/// Searches for each of these.
pub(crate) fn measure(engine: &SearchEngine, queries: &[String]) -> Measured {
    let mut measured = Measured::default();
    for query in queries {
        let search = Search::new(query.as_str());
        let (cpu, wall) = (read(ClockId::ThreadCPUTime), now_ms());
        let found = engine.search(&search).unwrap();
        measured.cpu.push(read(ClockId::ThreadCPUTime) - cpu);
        measured.wall.push(now_ms() - wall);
        assert!(found.hits.len() <= 10);
    }
    measured
}

/// The clock on the wall.
pub(crate) fn now_ms() -> f64 {
    read(ClockId::Monotonic)
}

fn read(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1_000.0 + time.tv_nsec as f64 / 1e6
}

impl Measured {
    /// A time on the wall, of another process.
    pub(crate) fn push(&mut self, wall: f64) {
        self.wall.push(wall);
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.cpu.extend(&other.cpu);
        self.wall.extend(&other.wall);
    }

    pub(crate) fn cpu(&self, part: f64) -> f64 {
        quantile(&self.cpu, part)
    }

    pub(crate) fn wall(&self, part: f64) -> f64 {
        quantile(&self.wall, part)
    }
}

fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}
