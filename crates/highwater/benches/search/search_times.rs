//! Measures the time of searches.

use hw_store::{SearchEngine, SearchRequest};
use rustix::time::{ClockId, clock_gettime};

/// CPU times and wall-clock times, in milliseconds.
#[derive(Default)]
pub(crate) struct SearchTimes {
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

/// Runs each query and measures it.
pub(crate) fn measure_searches(engine: &SearchEngine, queries: &[String]) -> SearchTimes {
    let mut measured = SearchTimes::default();
    for query in queries {
        let search = SearchRequest::new(query.as_str());
        let found = measured.measure(|| engine.search(&search).unwrap());
        assert!(found.hits.len() <= 10);
    }
    measured
}

/// Returns the wall-clock time.
pub(crate) fn now_ms() -> f64 {
    read_clock(ClockId::Monotonic)
}

fn read_clock(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1_000.0 + time.tv_nsec as f64 / 1e6
}

impl SearchTimes {
    /// Runs an action on this thread, and adds its times.
    pub(crate) fn measure<T>(&mut self, action: impl FnOnce() -> T) -> T {
        let (cpu, wall) = (read_clock(ClockId::ThreadCPUTime), now_ms());
        let result = action();
        self.cpu.push(read_clock(ClockId::ThreadCPUTime) - cpu);
        self.wall.push(now_ms() - wall);
        result
    }

    /// Adds a wall-clock time measured for another process.
    pub(crate) fn push_wall(&mut self, wall: f64) {
        self.wall.push(wall);
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.cpu.extend(&other.cpu);
        self.wall.extend(&other.wall);
    }

    pub(crate) fn cpu_quantile(&self, part: f64) -> f64 {
        quantile(&self.cpu, part)
    }

    pub(crate) fn wall_quantile(&self, part: f64) -> f64 {
        quantile(&self.wall, part)
    }
}

fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}
