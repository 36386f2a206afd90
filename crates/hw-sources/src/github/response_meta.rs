//! The metadata of a response.

use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;

use super::limits::{self, RateLimitSample};
use crate::error::SourceError;
use crate::transport::HttpResponse;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseMeta {
    /// The time of the response, as sent by the source until the caller replaces it with a plausible one.
    pub date: SourceInstant,
    /// The amount by which the time sent by the source exceeds the plausible one.
    pub ahead_ms: i64,
    pub limit_sample: Option<RateLimitSample>,
    /// The points it took from the hour's budget, as reported by the source.
    pub cost: i64,
    /// Unreadable characters that were replaced.
    pub replaced_chars: u32,
}

impl ResponseMeta {
    /// Reads the headers; fails without a `Date`, because such a response cannot be ordered among the others.
    pub(super) fn from_response(
        response: &HttpResponse,
        cost: i64,
        replaced_chars: u32,
    ) -> Result<Self, SourceError> {
        let date = limits::parse_date(response);
        let date = date.ok_or_else(|| SourceError::InvalidResponse("no Date header".into()))?;
        Ok(Self {
            date,
            ahead_ms: 0,
            limit_sample: limits::read_sample(response),
            cost,
            replaced_chars,
        })
    }

    /// Returns the observation time of the objects in this response.
    pub fn observed_at(&self, request_id: i64) -> ObservedAt {
        ObservedAt { ahead_ms: self.ahead_ms, ..ObservedAt::new(self.date.0, request_id) }
    }
}
