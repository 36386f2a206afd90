//! Tells living workers from dead ones, without comparing the clocks of two machines.
//!
//! A worker beats each second: it counts up a number that all others can read. An observer that has seen the same
//! number for five seconds, by its own clock, takes the worker for dead.

use std::collections::{BTreeMap, BTreeSet};

/// The time between two beats.
pub const BEAT_INTERVAL_MS: i64 = 1_000;
/// The time without a beat after which a worker counts as dead.
pub const DEAD_AFTER_MS: i64 = 5_000;

/// A worker as its row shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerBeat {
    pub id: String,
    pub beat: i64,
    /// True if the operating system shows that its process runs, false if it shows that it does not; none where it cannot
    /// tell. It decides at once, and also for a process that stands still.
    pub is_running: Option<bool>,
}

/// The beats that one observer has seen.
#[derive(Debug, Clone, Default)]
pub struct WorkerWatch {
    seen: BTreeMap<String, SeenBeat>,
}

#[derive(Debug, Clone, Copy)]
struct SeenBeat {
    beat: i64,
    /// By the observer's own clock.
    since_ms: i64,
    is_running: Option<bool>,
    /// True once the beat has moved before the observer's eyes.
    has_moved: bool,
}

impl WorkerWatch {
    /// Takes note of all workers at a time of the observer's monotonic clock. Workers that are no longer listed are
    /// forgotten.
    pub fn observe(&mut self, workers: &[WorkerBeat], now_ms: i64) {
        let mut seen = BTreeMap::new();
        for WorkerBeat { id, beat, is_running } in workers {
            let mut observed = SeenBeat {
                beat: *beat,
                since_ms: now_ms,
                is_running: *is_running,
                has_moved: false,
            };
            if let Some(before) = self.seen.get(id) {
                observed.has_moved = before.has_moved || before.beat != *beat;
                if before.beat == *beat {
                    observed.since_ms = before.since_ms;
                }
            }
            seen.insert(id.clone(), observed);
        }
        self.seen = seen;
    }

    /// Returns the workers among these owners that are dead: those without a beat for too long, and those that have no row.
    pub fn dead_among<'a>(
        &self,
        owners: impl Iterator<Item = &'a str>,
        now_ms: i64,
    ) -> BTreeSet<String> {
        owners.filter(|owner| self.is_dead(owner, now_ms)).map(str::to_owned).collect()
    }

    /// Returns the last beat that was seen of a worker; none if it has no row.
    pub fn last_beat(&self, worker: &str) -> Option<i64> {
        Some(self.seen.get(worker)?.beat)
    }

    /// Returns true if this worker is known to be alive: its process runs, or its beat has moved.
    pub fn is_alive(&self, worker: &str, now_ms: i64) -> bool {
        let seen = self.seen.get(worker);
        seen.is_some_and(|seen| seen.is_running.unwrap_or(seen.has_moved))
            && !self.is_dead(worker, now_ms)
    }

    /// Returns the number of workers that are not dead.
    pub fn count_living(&self, now_ms: i64) -> usize {
        self.seen.keys().filter(|worker| !self.is_dead(worker, now_ms)).count()
    }

    fn is_dead(&self, worker: &str, now_ms: i64) -> bool {
        self.seen.get(worker).is_none_or(|seen| match seen.is_running {
            Some(is_running) => !is_running,
            None => now_ms.saturating_sub(seen.since_ms) >= DEAD_AFTER_MS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_is_dead_when_its_beat_stood_still_for_the_observer() {
        let mut watch = WorkerWatch::default();
        for (now_ms, beat) in [(0, 7), (1_000, 8), (2_000, 8), (5_999, 8)] {
            watch.observe(&[worker(beat, None)], now_ms);
            assert!(dead(&watch, now_ms).is_empty(), "{now_ms}");
        }
        assert_eq!(dead(&watch, 6_000), BTreeSet::from(["w".to_owned()]));
        watch.observe(&[worker(9, None)], 6_001);
        assert!(dead(&watch, 6_001).is_empty(), "it only stood still");
    }

    #[test]
    fn worker_is_alive_once_its_beat_has_moved() {
        let mut watch = WorkerWatch::default();
        watch.observe(&[worker(7, None)], 0);
        assert!(!watch.is_alive("w", 0), "it may have died before");
        watch.observe(&[worker(8, None)], 1_000);
        assert!(watch.is_alive("w", 1_000) && !watch.is_alive("w", 6_000));
    }

    #[test]
    fn worker_without_a_row_is_dead() {
        let mut watch = WorkerWatch::default();
        watch.observe(&[worker(7, None)], 0);
        watch.observe(&[], 1);
        assert_eq!(dead(&watch, 1), BTreeSet::from(["w".to_owned()]));
    }

    #[test]
    fn worker_whose_process_is_known_is_judged_by_it_at_once() {
        let mut watch = WorkerWatch::default();
        watch.observe(&[worker(7, Some(true))], 0);
        assert!(watch.is_alive("w", 600_000), "a process that stands still keeps its duties");
        watch.observe(&[worker(7, Some(false))], 1);
        assert_eq!(dead(&watch, 1), BTreeSet::from(["w".to_owned()]));
    }

    fn dead(watch: &WorkerWatch, now_ms: i64) -> BTreeSet<String> {
        watch.dead_among(["w"].into_iter(), now_ms)
    }

    fn worker(beat: i64, is_running: Option<bool>) -> WorkerBeat {
        WorkerBeat { id: "w".to_owned(), beat, is_running }
    }
}
