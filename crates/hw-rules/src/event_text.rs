//! Words what an event is about, for all frontends.

use crate::event::{EventChange, StateChange};
use crate::item::{CommentKind, ObjectKind};

/// Returns what happened as a short phrase: `comment`, `edited review`, `merged`.
pub fn describe_change(change: EventChange, kind: ObjectKind) -> String {
    let noun = match kind {
        ObjectKind::Comment(CommentKind::Review) => "review",
        ObjectKind::Comment(CommentKind::ReviewComment) => "line comment",
        ObjectKind::Comment(CommentKind::Conversation | CommentKind::DiscussionComment) => {
            "comment"
        }
        ObjectKind::Thread(_) => "thread",
        ObjectKind::Repository => "repository",
        ObjectKind::Post => "post",
    };
    match change {
        EventChange::Created => noun.to_owned(),
        EventChange::Edited => format!("edited {noun}"),
        EventChange::Withdrawn => format!("deleted {noun}"),
        EventChange::State(state) => describe_state_change(state).to_owned(),
    }
}

fn describe_state_change(change: StateChange) -> &'static str {
    match change {
        StateChange::Opened => "opened",
        StateChange::Closed => "closed",
        StateChange::Reopened => "reopened",
        StateChange::Merged => "merged",
        StateChange::HeadMoved => "new head commit",
        StateChange::Labeled => "labels changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_is_described_by_its_change_and_kind() {
        let review = ObjectKind::Comment(CommentKind::Review);
        let comment = ObjectKind::Comment(CommentKind::Conversation);
        assert_eq!(describe_change(EventChange::Created, comment), "comment");
        assert_eq!(describe_change(EventChange::Edited, review), "edited review");
        assert_eq!(describe_change(EventChange::Withdrawn, comment), "deleted comment");
        assert_eq!(describe_change(EventChange::State(StateChange::Merged), comment), "merged");
    }
}
