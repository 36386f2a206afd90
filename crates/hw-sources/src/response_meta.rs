//! The metadata of a response, whatever source sent it.

use hw_rules::rate_limit::ApiKind;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;

use crate::limiter_state::RateLimitUsage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseMeta {
    /// The time of the response and the id of its request. As sent by the source, and without an id, until the client
    /// replaces it with a plausible time.
    pub observed_at: ObservedAt,
    pub limit_sample: Option<RateLimitSample>,
    /// The points it took from the hour's budget, as reported by the source.
    pub cost: i64,
    /// Unreadable characters that were replaced.
    pub replaced_chars: u32,
    /// Unchanged since the response whose etag was sent, and free.
    pub is_not_modified: bool,
}

impl ResponseMeta {
    /// Creates the metadata of a response with this `Date` and nothing else.
    pub fn from_date(date: SourceInstant) -> Self {
        Self {
            observed_at: ObservedAt::new(date.0, 0),
            limit_sample: None,
            cost: 0,
            replaced_chars: 0,
            is_not_modified: false,
        }
    }

    pub fn date(&self) -> SourceInstant {
        SourceInstant(self.observed_at.at_ms)
    }

    /// Records the id of the request, and the time at which the source can have sent the response.
    pub fn set_observed_at(&mut self, request_id: i64, date: SourceInstant) {
        let ahead_ms = self.date().0.saturating_sub(date.0);
        self.observed_at = ObservedAt { ahead_ms, ..ObservedAt::new(date.0, request_id) };
    }
}

/// The state of one rate limit, from a response's headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitSample {
    pub limit: i64,
    pub remaining: i64,
    pub used: i64,
    /// The end of the window, in the source's time.
    pub resets_at: SourceInstant,
    /// The budget that the figures are about, if the response names it.
    pub bucket: Option<String>,
}

impl RateLimitSample {
    /// Returns true if the figures are about the budget of this API.
    pub fn is_of(&self, api: ApiKind) -> bool {
        self.bucket.as_deref().is_none_or(|bucket| bucket == api.bucket())
    }

    pub fn to_usage(&self) -> RateLimitUsage {
        RateLimitUsage { used: self.used, limit: self.limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_meta_keeps_how_far_the_sources_clock_was_ahead() {
        let mut meta = ResponseMeta::from_date(SourceInstant(9_000));
        meta.set_observed_at(7, SourceInstant(5_000));
        assert_eq!(meta.observed_at, ObservedAt { at_ms: 5_000, request: 7, ahead_ms: 4_000 });
        assert_eq!(meta.date(), SourceInstant(5_000));
    }
}
