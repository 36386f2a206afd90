//! A comment as a page shows it.

use hw_rules::item::{Comment, Kind};

use super::body_view::BodyView;
use super::comment_order::OrderedComment;
use crate::texts::{self, When, author, name, path};

pub(super) struct Said {
    pub(super) anchor: String,
    pub(super) kind: &'static str,
    pub(super) author: String,
    pub(super) created: When,
    /// None when it was never edited.
    pub(super) edited: Option<When>,
    /// A review's verdict.
    pub(super) verdict: Option<String>,
    /// The file and line it is about.
    pub(super) place: Option<String>,
    pub(super) is_reply: bool,
    pub(super) url: Option<String>,
    pub(super) body: BodyView,
}

impl Said {
    pub(super) fn new(comment: &Comment, ordered: OrderedComment, body: BodyView) -> Self {
        let OrderedComment { anchor, is_reply, .. } = ordered;
        let is_edited = comment.updated_at.mark() != comment.created_at.mark();
        Self {
            anchor,
            kind: kind(comment.kind, is_reply),
            author: author(comment.author.as_deref()),
            created: When::of(comment.created_at.mark()),
            edited: is_edited.then(|| When::of(comment.updated_at.mark())),
            verdict: comment.state.as_deref().map(|it| name(&it.to_lowercase().replace('_', " "))),
            place: comment.path.as_deref().map(|file| match comment.line {
                Some(number) => format!("{}:{number}", path(file)),
                None => path(file),
            }),
            is_reply,
            url: texts::outside(&comment.url),
            body,
        }
    }
}

fn kind(kind: Kind, is_reply: bool) -> &'static str {
    match kind {
        _ if is_reply => "replied",
        Kind::Review => "reviewed",
        Kind::ReviewComment => "commented on a line",
        Kind::Repository
        | Kind::Discussion
        | Kind::Issue
        | Kind::PullRequest
        | Kind::IssueComment
        | Kind::DiscussionComment => "commented",
    }
}
