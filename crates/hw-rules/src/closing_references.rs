//! Decides what an answer about closing references changes: the issues that a pull request closes when it is merged.
//!
//! They are read by id, apart from the pull request itself, because they would double the price of a listing. An
//! observation of the pull request says nothing about them, so they have neither a cell nor a part in its digest.

use crate::OVERLAP_MS;
use crate::source_time::{SourceInstant, SourceTime};
use crate::version::{self, ObservedAt};

/// The closing references of a pull request, as one response showed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosingReferences {
    pub is_open: bool,
    /// The update time of the pull request in the same response.
    pub updated_at: SourceTime,
    /// The numbers of the issues of its own repository, in order.
    pub closes: Vec<i64>,
    pub observed_at: ObservedAt,
}

/// The consequence of an answer for the stored references of an open pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferencesVerdict {
    /// Nothing is stored, and they stay due.
    Ignore,
    /// They are stored, and stay due.
    StoreStillDue,
    /// They are stored, and are not due until the pull request changes again.
    StoreAsRead,
}

/// Compares an answer with the stored update time of an open pull request.
///
/// An older answer comes from a lagging replica. A closed pull request has no references to store; its listing shows
/// that it is closed. Shortly after a change the answer may be of the same second and still older than the stored
/// text, so they are read once more.
pub fn judge_references(
    stored_updated_at: &SourceTime,
    references: &ClosingReferences,
) -> ReferencesVerdict {
    let updated_at = references.updated_at.instant();
    if !references.is_open || updated_at < stored_updated_at.instant() {
        return ReferencesVerdict::Ignore;
    }
    let settled_before = SourceInstant(references.observed_at.at_ms).minus_ms(OVERLAP_MS);
    if version::ordering_instant(updated_at, references.observed_at) < settled_before {
        ReferencesVerdict::StoreAsRead
    } else {
        ReferencesVerdict::StoreStillDue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_LATER: &str = "2026-01-01T00:01:10Z";

    #[test]
    fn references_of_a_settled_pull_request_count_as_read() {
        let answer = references("2026-01-01T00:00:10Z", "2026-01-01T00:01:11Z");
        assert_eq!(
            judge_references(&time("2026-01-01T00:00:10Z"), &answer),
            ReferencesVerdict::StoreAsRead
        );
        assert_eq!(
            judge_references(&time("2026-01-01T00:00:09Z"), &answer),
            ReferencesVerdict::StoreAsRead,
            "the listing has not shown the change yet"
        );
    }

    #[test]
    fn references_stay_due_within_a_minute_of_the_last_change() {
        let answer = references("2026-01-01T00:00:10Z", MINUTE_LATER);
        assert_eq!(
            judge_references(&time("2026-01-01T00:00:10Z"), &answer),
            ReferencesVerdict::StoreStillDue
        );
    }

    #[test]
    fn references_from_a_lagging_replica_are_ignored() {
        let answer = references("2026-01-01T00:00:09Z", "2026-01-01T01:00:00Z");
        assert_eq!(
            judge_references(&time("2026-01-01T00:00:10Z"), &answer),
            ReferencesVerdict::Ignore
        );
    }

    #[test]
    fn references_of_a_pull_request_that_was_closed_are_ignored() {
        let answer = references("2026-01-01T00:00:10Z", "2026-01-01T01:00:00Z");
        let closed = ClosingReferences { is_open: false, ..answer };
        assert_eq!(
            judge_references(&time("2026-01-01T00:00:10Z"), &closed),
            ReferencesVerdict::Ignore
        );
    }

    /// Otherwise each pull would request them again until the source's clock reaches that time.
    #[test]
    fn references_of_a_pull_request_dated_in_the_future_count_as_read() {
        let answer = references("2036-01-01T00:00:00Z", "2026-01-01T01:00:00Z");
        assert_eq!(
            judge_references(&time("2036-01-01T00:00:00Z"), &answer),
            ReferencesVerdict::StoreAsRead
        );
    }

    fn references(updated_at: &str, date: &str) -> ClosingReferences {
        let observed_at = ObservedAt::new(time(date).instant().0, 1);
        ClosingReferences {
            is_open: true,
            updated_at: time(updated_at),
            closes: vec![],
            observed_at,
        }
    }

    fn time(text: &str) -> SourceTime {
        SourceTime::parse(text).unwrap()
    }
}
