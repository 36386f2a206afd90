//! A thread that the list of activity showed as moved, and what is still to be read of it.
//!
//! The list says that a thread changed, not what: the thread is looked at by its id, and the reviews of a pull request
//! are read with it, because no list of a repository has them.

use crate::OVERLAP_MS;
use crate::item::ThreadKind;
use crate::source_time::{SourceInstant, SourceTime};

/// A row of the list of activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedThread {
    pub number: i64,
    /// An issue or a pull request.
    pub kind: ThreadKind,
    pub node_id: String,
    pub updated_at: SourceTime,
}

/// What was read of a moved thread since the list showed it, each by the source's time of the response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MovedThreadReads {
    pub looked_at: Option<SourceInstant>,
    pub reviews_read_at: Option<SourceInstant>,
}

/// What to do about a moved thread now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovedThreadPlan {
    /// Look at it.
    Look,
    /// Read its reviews.
    ReadReviews,
    /// Nothing before the lists can lack nothing of this change any more; then its reviews are read once more.
    Wait,
    /// Forget that it moved.
    Done,
}

impl MovedThreadReads {
    /// Decides what to do about a thread that moved at `moved_at`, now that the source's time is `date`.
    ///
    /// Reviews that were read within the overlap may lack one that was submitted in the same second, or that a lagging
    /// replica did not show yet. So they are read twice: at once, and when nothing can appear late any more.
    pub fn plan(
        self,
        kind: ThreadKind,
        moved_at: SourceInstant,
        date: SourceInstant,
    ) -> MovedThreadPlan {
        let is_settled = |at: SourceInstant| at > moved_at.plus_ms(OVERLAP_MS);
        match (self.looked_at, self.reviews_read_at) {
            (None, _) => MovedThreadPlan::Look,
            (Some(_), _) if kind != ThreadKind::PullRequest => MovedThreadPlan::Done,
            (Some(_), None) => MovedThreadPlan::ReadReviews,
            (Some(_), Some(read)) if is_settled(read) => MovedThreadPlan::Done,
            (Some(_), Some(_)) if is_settled(date) => MovedThreadPlan::ReadReviews,
            (Some(_), Some(_)) => MovedThreadPlan::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_issue_is_done_once_it_was_looked_at() {
        let at = SourceInstant(100_000);
        let plan = |reads: MovedThreadReads| reads.plan(ThreadKind::Issue, at, at);
        assert_eq!(plan(MovedThreadReads::default()), MovedThreadPlan::Look);
        assert_eq!(plan(looked(None)), MovedThreadPlan::Done);
    }

    #[test]
    fn moved_pull_request_has_its_reviews_read_at_once_and_after_the_overlap() {
        let moved = SourceInstant(100_000);
        let plan = |reads: MovedThreadReads, date| {
            reads.plan(ThreadKind::PullRequest, moved, SourceInstant(date))
        };
        assert_eq!(plan(MovedThreadReads::default(), 100_000), MovedThreadPlan::Look);
        assert_eq!(plan(looked(None), 100_000), MovedThreadPlan::ReadReviews);
        assert_eq!(plan(looked(Some(100_000)), 160_000), MovedThreadPlan::Wait);
        assert_eq!(plan(looked(Some(100_000)), 160_001), MovedThreadPlan::ReadReviews);
        assert_eq!(plan(looked(Some(160_000)), 160_001), MovedThreadPlan::ReadReviews);
        assert_eq!(plan(looked(Some(160_001)), 160_001), MovedThreadPlan::Done);
    }

    fn looked(reviews_read_at: Option<i64>) -> MovedThreadReads {
        let reviews_read_at = reviews_read_at.map(SourceInstant);
        MovedThreadReads { looked_at: Some(SourceInstant(100_000)), reviews_read_at }
    }
}
