//! A comment on the page.

use hw_rules::item::{Comment, CommentKind};

use super::body_view::BodyView;
use super::comment_order::OrderedComment;
use crate::format::{self, DisplayTime, format_author, format_path};

pub(super) struct CommentView {
    pub(super) anchor: String,
    /// The author's action: `commented`, `approved these changes`.
    pub(super) action: &'static str,
    /// CSS class for a review's state; empty for everything else.
    pub(super) tone: &'static str,
    pub(super) author: String,
    pub(super) created: DisplayTime,
    /// None when it was never edited.
    pub(super) edited: Option<DisplayTime>,
    /// The file and line that it is about.
    pub(super) code_line: Option<String>,
    /// Number of comments above it in its conversation.
    pub(super) depth: usize,
    pub(super) url: Option<String>,
    pub(super) body: BodyView,
    is_review: bool,
}

impl CommentView {
    pub(super) fn new(comment: &Comment, ordered: OrderedComment, body: BodyView) -> Self {
        let OrderedComment { anchor, is_reply, depth, .. } = ordered;
        let is_edited = comment.updated_at.instant() != comment.created_at.instant();
        Self {
            anchor,
            action: describe_action(comment, is_reply),
            tone: review_tone(comment),
            author: format_author(comment.author.as_deref()),
            created: DisplayTime::new(comment.created_at.instant()),
            edited: is_edited.then(|| DisplayTime::new(comment.updated_at.instant())),
            // a reply is about the same line as the comment that it answers
            code_line: comment.path.as_deref().filter(|_| !is_reply).map(|file| {
                match comment.line {
                    Some(number) => format!("{}:{number}", format_path(file)),
                    None => format_path(file),
                }
            }),
            depth,
            url: format::external_url(&comment.url),
            body,
            is_review: comment.kind == CommentKind::Review,
        }
    }

    /// Checks whether the comment is a review without text, which takes one line.
    pub(super) fn is_single_line(&self) -> bool {
        self.is_review && self.body.prose.is_none() && self.body.rest.is_none()
    }
}

fn describe_action(comment: &Comment, is_reply: bool) -> &'static str {
    match comment.kind {
        CommentKind::Review => match comment.state.as_deref() {
            Some("APPROVED") => "approved these changes",
            Some("CHANGES_REQUESTED") => "requested changes",
            Some("DISMISSED") => "reviewed (dismissed)",
            Some("PENDING") => "started a review",
            _ => "reviewed",
        },
        _ if is_reply => "replied",
        CommentKind::ReviewComment => "commented on a line",
        CommentKind::Conversation | CommentKind::DiscussionComment => "commented",
    }
}

fn review_tone(comment: &Comment) -> &'static str {
    match comment.state.as_deref().filter(|_| comment.kind == CommentKind::Review) {
        Some("APPROVED") => "approved",
        Some("CHANGES_REQUESTED") => "refused",
        Some("DISMISSED" | "PENDING") => "dismissed",
        _ => "",
    }
}
