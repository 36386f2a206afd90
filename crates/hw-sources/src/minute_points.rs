//! The points that a process has spent in the last minute.

use std::collections::VecDeque;

use hw_rules::rate_limit::ApiKind;

const MINUTE_MS: i64 = 60_000;

#[derive(Debug, Default)]
pub(crate) struct MinutePoints(VecDeque<SpentPoints>);

/// Points spent on one request of the last minute.
#[derive(Debug, Clone, Copy)]
struct SpentPoints {
    at_ms: i64,
    api: ApiKind,
    points: i64,
}

impl MinutePoints {
    pub(crate) fn record(&mut self, api: ApiKind, points: i64, now_ms: i64) {
        self.0.push_back(SpentPoints { at_ms: now_ms, api, points });
    }

    /// Takes back what was recorded last for this API.
    pub(crate) fn take_back(&mut self, api: ApiKind) {
        if let Some(last) = self.0.iter().rposition(|spent| spent.api == api) {
            self.0.remove(last);
        }
    }

    /// Forgets what the clock, which was set back, has not reached.
    pub(crate) fn forget_future(&mut self, now_ms: i64) {
        self.0.retain(|spent| spent.at_ms <= now_ms);
    }

    /// Returns the time at which the minute's budget allows these points, or `None` if it allows them now.
    pub(crate) fn full_until(&mut self, api: ApiKind, points: i64, now_ms: i64) -> Option<i64> {
        while self.0.front().is_some_and(|spent| spent.at_ms + MINUTE_MS <= now_ms) {
            self.0.pop_front();
        }
        let spent_on_api = self.0.iter().filter(|spent| spent.api == api);
        let total: i64 = spent_on_api.clone().map(|spent| spent.points).sum();
        let mut excess = total + points - api.points_per_minute();
        let mut until_ms = None;
        for spent in spent_on_api {
            if excess <= 0 {
                break;
            }
            excess -= spent.points;
            until_ms = Some(spent.at_ms + MINUTE_MS);
        }
        until_ms
    }
}
