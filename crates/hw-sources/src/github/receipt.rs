//! What any answer says besides its content.

use hw_rules::time::Mark;
use hw_rules::version::Seen;

use super::limits::{self, Sample};
use crate::transport::Response;
use crate::trouble::Trouble;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The time of the answer: as the source sent it, until its reader puts the time there that it believes.
    pub date: Mark,
    /// How far the time that the source sent lies beyond the one that is believed.
    pub ahead_ms: i64,
    pub sample: Option<Sample>,
    /// What it took from the hour's points, by the source's own account.
    pub cost: i64,
    /// Unreadable characters that were replaced.
    pub replaced: u32,
}

impl Receipt {
    /// What the headers say; an answer without a time of its own cannot be ordered among the others.
    pub(super) fn of(response: &Response, cost: i64, replaced: u32) -> Result<Self, Trouble> {
        let date = limits::date(response);
        let date = date.ok_or_else(|| Trouble::Garbled("no Date header".into()))?;
        Ok(Self { date, ahead_ms: 0, sample: limits::sample(response), cost, replaced })
    }

    /// When the objects in this answer were seen.
    pub fn seen(&self, request: i64) -> Seen {
        Seen { ahead_ms: self.ahead_ms, ..Seen::at(self.date.0, request) }
    }
}
