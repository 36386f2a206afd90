//! What is said in a thread, in the order in which it is read: replies below what they answer.

use std::collections::BTreeMap;

use hw_rules::item::{Comment, Kind};
use hw_store::CommentRow;

use super::some_prose;
use crate::markdown::Prose;
use crate::texts::{self, When, author, line};

/// Replies to replies are few; a circle of them would be endless.
const DEEPEST: usize = 100;

pub(super) struct Said {
    /// The name that it has in its address at GitHub, so that links find it here, too.
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
    pub(super) body: Option<Prose>,
}

/// Comments as they are read: each after what it answers, otherwise oldest first.
pub(super) fn in_order(rows: Vec<CommentRow>) -> Vec<Said> {
    let comments: Vec<Comment> = rows.into_iter().map(|row| row.comment).collect();
    let places: BTreeMap<(Kind, i64), usize> =
        comments.iter().enumerate().map(|(place, it)| ((it.kind, it.id), place)).collect();
    let mut order: Vec<(usize, usize)> =
        (0..comments.len()).map(|place| (root(&comments, &places, place), place)).collect();
    // a reply can only be younger than what it answers, but clocks are clocks
    order.sort_by_key(|(root, place)| (*root, root != place, *place));
    order.into_iter().map(|(root, place)| Said::of(&comments[place], root != place)).collect()
}

/// The comment that began the talk in which this one stands.
fn root(comments: &[Comment], places: &BTreeMap<(Kind, i64), usize>, place: usize) -> usize {
    let mut at = place;
    for _ in 0..DEEPEST {
        let said = &comments[at];
        match said.reply_to.and_then(|id| places.get(&(said.kind, id))) {
            Some(above) if *above != at => at = *above,
            _ => return at,
        }
    }
    place
}

impl Said {
    fn of(comment: &Comment, is_reply: bool) -> Self {
        let named = || format!("{}-{}", comment.kind.name(), comment.id);
        let is_edited = comment.updated_at.mark() != comment.created_at.mark();
        Self {
            anchor: texts::fragment(&comment.url).unwrap_or_else(named),
            kind: kind(comment.kind, is_reply),
            author: author(comment.author.as_deref()),
            created: When::of(comment.created_at.mark()),
            edited: is_edited.then(|| When::of(comment.updated_at.mark())),
            verdict: comment.state.as_deref().map(|it| line(&it.to_lowercase().replace('_', " "))),
            place: comment.path.as_deref().map(|path| match comment.line {
                Some(number) => format!("{}:{number}", line(path)),
                None => line(path),
            }),
            is_reply,
            url: texts::outside(&comment.url),
            body: some_prose(&comment.body),
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
