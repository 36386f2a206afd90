//! The status of a watched thread: whether what is said in it is still read.

use crate::item::{Thread, ThreadDetails, ThreadKind};
use crate::source_time::SourceInstant;
use crate::watch::WatchMode;

/// The status of a watched thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadStatus {
    AwaitingFeedback,
    /// Only commands count; feedback waits.
    Blocked,
    Closed,
    Merged,
}

impl ThreadStatus {
    pub const ALL: [Self; 4] = [Self::AwaitingFeedback, Self::Blocked, Self::Closed, Self::Merged];

    pub fn name(self) -> &'static str {
        match self {
            Self::AwaitingFeedback => "awaiting_feedback",
            Self::Blocked => "blocked",
            Self::Closed => "closed",
            Self::Merged => "merged",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Returns true if reading the thread has ended for good. Reopening it changes nothing.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Closed | Self::Merged)
    }
}

/// The status of a watched thread, with the source's time since when it has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusSince {
    pub status: ThreadStatus,
    pub at: Option<SourceInstant>,
}

impl StatusSince {
    pub const AWAITING: Self = Self { status: ThreadStatus::AwaitingFeedback, at: None };

    /// Returns the status after the thread was seen like this.
    ///
    /// Closing or merging a pull request ends it. Issues, discussions and threads that are read for their commands do not end.
    pub fn observe(self, thread: &Thread, mode: WatchMode) -> Self {
        let has_end = mode == WatchMode::Feedback && thread.kind() == ThreadKind::PullRequest;
        if self.status.is_terminal() || !has_end || thread.is_open() {
            return self;
        }
        let merged_at = match &thread.details {
            ThreadDetails::PullRequest(details) => details.merged_at.as_ref(),
            ThreadDetails::Issue | ThreadDetails::Discussion(_) => None,
        };
        let is_merged = merged_at.is_some() || thread.state == MERGED_STATE;
        let status = if is_merged { ThreadStatus::Merged } else { ThreadStatus::Closed };
        let at = merged_at.or(thread.closed_at.as_ref()).unwrap_or(&thread.updated_at).instant();
        Self { status, at: Some(at) }
    }

    /// Returns true if something with this update time was said after reading ended.
    pub fn ended_before(self, updated_at: SourceInstant) -> bool {
        self.status.is_terminal() && self.at.is_some_and(|at| updated_at > at)
    }
}

const MERGED_STATE: &str = "MERGED";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_of_a_pull_request_ends_when_it_is_closed_or_merged() {
        let closed = observe("pull_request", "CLOSED", WatchMode::Feedback);
        assert_eq!(closed, StatusSince { status: ThreadStatus::Closed, at: Some(CLOSED) });
        let merged = observe("pull_request", "MERGED", WatchMode::Feedback);
        assert_eq!(merged.status, ThreadStatus::Merged);
        assert!(!closed.ended_before(CLOSED) && closed.ended_before(CLOSED.plus_ms(1_000)));
        let reopened = closed.observe(&thread("pull_request", "OPEN"), WatchMode::Feedback);
        assert_eq!(reopened, closed, "reopening changes nothing");
    }

    #[test]
    fn status_of_issues_and_of_threads_that_are_read_for_commands_does_not_end() {
        for (kind, mode) in
            [("issue", WatchMode::Feedback), ("pull_request", WatchMode::CommandsOnly)]
        {
            let status = observe(kind, "CLOSED", mode);
            assert_eq!(status, StatusSince::AWAITING, "{kind} {mode:?}");
            assert!(!status.ended_before(CLOSED.plus_ms(1_000)));
        }
        for status in ThreadStatus::ALL {
            assert_eq!(ThreadStatus::from_name(status.name()), Some(status));
        }
    }

    const CLOSED: SourceInstant = SourceInstant(1_767_323_045_000);

    fn observe(kind: &str, state: &str, mode: WatchMode) -> StatusSince {
        StatusSince::AWAITING.observe(&thread(kind, state), mode)
    }

    fn thread(kind: &str, state: &str) -> Thread {
        let sort = match kind {
            "issue" => serde_json::json!("Issue"),
            _ => serde_json::json!({"PullRequest": {
                "is_draft": false, "merged_at": null, "head_ref": "fix", "head_sha": null,
            }}),
        };
        let closed_at = (state != "OPEN").then_some("2026-01-02T03:04:05Z");
        serde_json::from_value(serde_json::json!({
            "id": 5, "node_id": "N_5", "number": 5, "repository_id": 1, "title": "a title", "body": "",
            "url": "https://github.com/acme/pump/pull/5", "state": state, "labels": [],
            "created_at": "2020-01-01T00:00:00Z", "updated_at": "2026-02-01T00:00:00Z",
            "closed_at": closed_at, "sort": sort,
        }))
        .unwrap()
    }
}
