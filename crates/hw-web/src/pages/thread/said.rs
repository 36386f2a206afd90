//! A comment as a page shows it.

use hw_rules::item::{Comment, Kind};

use super::body_view::BodyView;
use super::comment_order::OrderedComment;
use crate::texts::{self, When, author, path};

pub(super) struct Said {
    pub(super) anchor: String,
    /// What its author did: `commented`, `approved these changes`.
    pub(super) deed: &'static str,
    /// A review's state as a class of the style sheet; empty for everything else.
    pub(super) tone: &'static str,
    pub(super) author: String,
    pub(super) created: When,
    /// None when it was never edited.
    pub(super) edited: Option<When>,
    /// The file and line it is about.
    pub(super) place: Option<String>,
    /// How many comments stand above it in its conversation.
    pub(super) depth: usize,
    pub(super) url: Option<String>,
    pub(super) body: BodyView,
    is_review: bool,
}

impl Said {
    pub(super) fn new(comment: &Comment, ordered: OrderedComment, body: BodyView) -> Self {
        let OrderedComment { anchor, is_reply, depth, .. } = ordered;
        let is_edited = comment.updated_at.mark() != comment.created_at.mark();
        let (deed, tone) = deed(comment, is_reply);
        Self {
            anchor,
            deed,
            tone,
            author: author(comment.author.as_deref()),
            created: When::of(comment.created_at.mark()),
            edited: is_edited.then(|| When::of(comment.updated_at.mark())),
            // a reply is about the line of what it answers
            place: comment.path.as_deref().filter(|_| !is_reply).map(|file| match comment.line {
                Some(number) => format!("{}:{number}", path(file)),
                None => path(file),
            }),
            depth,
            url: texts::outside(&comment.url),
            body,
            is_review: comment.kind == Kind::Review,
        }
    }

    /// Whether it is one line: a review without a text says all by its state.
    pub(super) fn is_line(&self) -> bool {
        self.is_review && self.body.prose.is_none() && self.body.rest.is_none()
    }
}

fn deed(comment: &Comment, is_reply: bool) -> (&'static str, &'static str) {
    match comment.kind {
        Kind::Review => match comment.state.as_deref().unwrap_or_default() {
            "APPROVED" => ("approved these changes", "approved"),
            "CHANGES_REQUESTED" => ("requested changes", "refused"),
            "DISMISSED" => ("reviewed, and the review was dismissed", "dismissed"),
            "PENDING" => ("began a review", "dismissed"),
            _ => ("reviewed", ""),
        },
        _ if is_reply => ("replied", ""),
        Kind::ReviewComment => ("commented on a line", ""),
        Kind::Repository
        | Kind::Discussion
        | Kind::Issue
        | Kind::PullRequest
        | Kind::IssueComment
        | Kind::DiscussionComment => ("commented", ""),
    }
}
