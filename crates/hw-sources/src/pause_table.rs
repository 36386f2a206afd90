//! The pauses that one process knows of.

use std::collections::BTreeMap;

use hw_rules::pause_end::LONGEST_PAUSE_MS;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};

use crate::limiter_state::AdmissionRequest;

/// The end of each pause, by our own clock.
#[derive(Debug, Default)]
pub(crate) struct PauseTable(BTreeMap<(PauseScope, PauseCause), i64>);

/// A pause that stops a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActivePause {
    pub(crate) until_ms: i64,
    pub(crate) cause: PauseCause,
}

impl PauseTable {
    /// Returns the longest pause that stops this request.
    pub(crate) fn longest(&self, request: AdmissionRequest, now_ms: i64) -> Option<ActivePause> {
        let obeys_reserve = request.floor_percent.is_some();
        let stops = |scope: PauseScope, cause: PauseCause| {
            scope.covers(request.api)
                && cause.stops(request.class)
                && (obeys_reserve || cause == PauseCause::SourceLimit)
        };
        let pauses = self.0.iter().filter(|((scope, cause), _)| stops(*scope, *cause));
        pauses
            .map(|((_, cause), until_ms)| ActivePause { until_ms: *until_ms, cause: *cause })
            .filter(|pause| now_ms < pause.until_ms)
            .max_by_key(|pause| pause.until_ms)
    }

    /// Returns the end of a pause, which may be over.
    pub(crate) fn end(&self, scope: PauseScope, cause: PauseCause) -> Option<i64> {
        self.0.get(&(scope, cause)).copied()
    }

    /// Adds a pause, or prolongs it. A pause is never shortened.
    pub(crate) fn pause_until(&mut self, scope: PauseScope, cause: PauseCause, until_ms: i64) {
        let end = self.0.entry((scope, cause)).or_insert(i64::MIN);
        *end = until_ms.max(*end);
    }

    /// Ends the pauses for the reserve that stop requests of this class to this API.
    pub(crate) fn lift_reserve(&mut self, api: ApiKind, class: RequestClass) {
        self.0.retain(|(scope, cause), _| {
            *cause == PauseCause::SourceLimit || !scope.covers(api) || !cause.stops(class)
        });
    }

    /// Drops pauses that end later than any limit lasts: the clock was set back since.
    pub(crate) fn forget_future(&mut self, now_ms: i64) {
        self.0.retain(|_, until_ms| *until_ms <= now_ms.saturating_add(LONGEST_PAUSE_MS));
    }
}
