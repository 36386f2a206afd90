//! The right to send one request: it is released with the request's outcome.

use hw_rules::rate_limit::{ApiKind, PauseCause, RequestClass};
use hw_sources::error::{RateLimitKind, SourceError};
use hw_sources::limiter_state::{ConnectionAdvice, RequestOutcome};

use crate::SyncError;
use crate::rate_limiter::{RateLimiter, primary_limit_reason};

/// Reason of a pause after which requests stay slow: one every 5 to 10 s, until eight in a row succeed.
const SECONDARY_LIMIT_REASON: &str = "secondary limit";

/// The request that a permit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PermitRequest {
    pub(crate) api: ApiKind,
    pub(crate) class: RequestClass,
    /// The points that it costs of a minute's budget.
    pub(crate) points: i64,
    /// True if it costs nothing when nothing changed. Such a request does not wait for the reserve.
    pub(crate) may_be_free: bool,
}

/// A place among the requests in flight. It is given back when it is dropped before the request is sent.
pub(crate) struct AdmittedPlace<'a> {
    limiter: &'a RateLimiter,
    api: ApiKind,
    is_open: bool,
}

impl<'a> AdmittedPlace<'a> {
    pub(crate) fn new(limiter: &'a RateLimiter, api: ApiKind) -> Self {
        Self { limiter, api, is_open: true }
    }

    /// Passes the place on to a permit.
    pub(crate) fn into_permit(mut self, request_id: i64) -> RequestPermit<'a> {
        self.is_open = false;
        let Self { limiter, api, .. } = self;
        RequestPermit { limiter, api, request_id, started_ms: limiter.now_ms(), is_open: true }
    }
}

impl Drop for AdmittedPlace<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.limiter.cancel_admission(self.api);
        }
    }
}

/// Permission to send one request: released with the request's outcome, or as failed when it is dropped.
pub(crate) struct RequestPermit<'a> {
    limiter: &'a RateLimiter,
    api: ApiKind,
    pub(crate) request_id: i64,
    started_ms: i64,
    is_open: bool,
}

impl RequestPermit<'_> {
    /// Releases the permit with the request's outcome, and returns whether to open new connections.
    ///
    /// If the store fails to write a pause, this process still obeys it.
    pub(crate) fn settle(
        mut self,
        error: Option<&SourceError>,
    ) -> Result<ConnectionAdvice, SyncError> {
        let now_ms = self.limiter.now_ms();
        let mut written = Ok(());
        let outcome = match error {
            None => RequestOutcome::Clean,
            Some(SourceError::RateLimited(limit)) => {
                let (limiter, started_ms) = (self.limiter, self.started_ms);
                limit.date.inspect(|date| limiter.observe_date(*date));
                let scope = limit.kind.pause_scope(self.api);
                let until_ms = limiter.limit_pause_end(scope, limit, started_ms, now_ms);
                let reason = match limit.kind {
                    RateLimitKind::Primary => primary_limit_reason(self.api),
                    RateLimitKind::Secondary => SECONDARY_LIMIT_REASON.to_owned(),
                };
                written = limiter.store_pause(scope, PauseCause::SourceLimit, until_ms, &reason);
                RequestOutcome::RateLimited { until_ms, kind: limit.kind, started_ms }
            }
            Some(
                SourceError::Network(_) | SourceError::Unreachable(_) | SourceError::TlsFailed(_),
            ) => RequestOutcome::NoResponse,
            Some(
                SourceError::TooExpensive(_)
                | SourceError::Server(_)
                | SourceError::InvalidResponse(_)
                | SourceError::TokenRejected(_)
                | SourceError::Forbidden(_)
                | SourceError::Hidden(_)
                | SourceError::AccountUnavailable(_)
                | SourceError::SessionExpired(_)
                | SourceError::InvalidCursor(_)
                | SourceError::InvalidRequest(_),
            ) => RequestOutcome::Failed,
        };
        let advice = self.release(outcome, now_ms);
        written.map(|()| advice)
    }

    fn release(&mut self, outcome: RequestOutcome, now_ms: i64) -> ConnectionAdvice {
        self.is_open = false;
        self.limiter.release_place(self.api, outcome, now_ms)
    }
}

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.release(RequestOutcome::Failed, self.limiter.now_ms());
        }
    }
}
