//! The judge of comments: compares what is held with what was really said.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hw_rules::item::{Comment, Kind};
use hw_sim::{CommentKind, TrueComment, TrueRepository, Truth};
use hw_store::{CommentFilter, CommentRow, Store};

use super::{Judge, Scene};

type Said = BTreeMap<(Kind, i64), CommentRow>;

/// Compares what is held of what was said, in every repository that a reader follows now.
///
/// Without a sweep some things may be missing: what was deleted since, what came out of hiding, and edits
/// where only a thread that moved is read again.
pub(crate) fn check_comments(scene: &Scene, judge: Judge) -> Result<(), String> {
    let truth = scene.world(|github| github.world().truth());
    let held = held(&scene.store);
    for said in truth.comments.values().filter(|said| is_listed(&truth, said)) {
        let was_hidden = said.kind == CommentKind::Conversation
            && !scene.world(|github| github.world().issues_always_shown(said.repository_id));
        // a list that was read while the thread was hidden does not have them
        let thread = truth.threads.get(&(said.thread_kind, said.thread_id));
        let is_thread_late = thread.is_some_and(|thread| thread.is_shown_again);
        check_one(&held, said, judge, said.is_shown_again || was_hidden || is_thread_late)?;
    }
    if judge == Judge::Everything {
        check_nothing_else(&held, &truth)?;
    }
    Ok(())
}

/// The comments that are shown and not held, in repositories that a reader follows now.
pub(crate) fn missing_comments(scene: &Scene) -> Vec<TrueComment> {
    let truth = scene.world(|github| github.world().truth());
    let held = held(&scene.store);
    let shown = truth.comments.values().filter(|said| is_listed(&truth, said));
    shown.filter(|said| !held.contains_key(&(kind(said.kind), said.id))).cloned().collect()
}

fn check_one(
    held: &Said,
    said: &TrueComment,
    judge: Judge,
    comes_late: bool,
) -> Result<(), String> {
    let key = (kind(said.kind), said.id);
    let Some(row) = held.get(&key) else {
        let is_excused = judge == Judge::CreationsAndEdits && comes_late;
        return if is_excused {
            Ok(())
        } else {
            Err(format!("{key:?} is missing ({judge:?}): {said:#?}"))
        };
    };
    let is_talk = matches!(key.0, Kind::Review | Kind::DiscussionComment);
    let may_lag = comes_late || (is_talk && said.created_at != said.updated_at);
    let is_true = is_true(row, said);
    if is_true || (judge == Judge::CreationsAndEdits && may_lag) {
        return Ok(());
    }
    Err(format!("{key:?} differs ({judge:?}):\nheld {row:#?}\ntrue {said:#?}"))
}

/// An account's deletion moves no time: whoever was the author when we read is as true as nobody.
fn is_true(row: &CommentRow, said: &TrueComment) -> bool {
    let Comment { reply_to, review_id, author, author_id, .. } = &row.comment;
    let is_author = said.author.is_none() || *author == said.author;
    let is_numbered = said.author_id.is_none() || *author_id == said.author_id;
    is_author
        && is_numbered
        && row.comment.thread == said.thread_number
        && row.comment.repository_id == said.repository_id
        && reply_to.or(*review_id) == said.parent_id
        && row.comment.url == said.url
        && row.comment.body == said.body
        && row.comment.created_at.as_str() == said.created_at
        && row.comment.updated_at.as_str() == said.updated_at
}

fn check_nothing_else(held: &Said, truth: &Truth) -> Result<(), String> {
    let true_keys: Vec<_> =
        truth.comments.values().map(|said| (kind(said.kind), said.id)).collect();
    for (key, row) in held {
        let home = truth.repositories.get(&row.comment.repository_id);
        let is_judged = home.is_some_and(|home| is_followed(home) && is_on(home, key.0));
        if is_judged && !true_keys.contains(key) {
            return Err(format!("{key:?} is held, but gone from the world: {}", row.comment.url));
        }
        if !home.is_some_and(is_followed) {
            return Err(format!("{key:?} is held of a repository that is not followed"));
        }
    }
    Ok(())
}

fn is_listed(truth: &Truth, said: &TrueComment) -> bool {
    let home = truth.repositories.get(&said.repository_id);
    home.is_some_and(|home| is_followed(home) && is_on(home, kind(said.kind)))
}

fn is_followed(repository: &TrueRepository) -> bool {
    !repository.is_archived && !repository.is_fork
}

/// Whether such comments are listed: what is switched off is neither read nor removed.
fn is_on(repository: &TrueRepository, kind: Kind) -> bool {
    match kind {
        Kind::IssueComment => repository.has_issues_enabled,
        Kind::DiscussionComment => repository.has_discussions_enabled,
        Kind::ReviewComment
        | Kind::Review
        | Kind::Repository
        | Kind::Discussion
        | Kind::Issue
        | Kind::PullRequest => true,
    }
}

fn kind(kind: CommentKind) -> Kind {
    match kind {
        CommentKind::Conversation => Kind::IssueComment,
        CommentKind::ReviewComment => Kind::ReviewComment,
        CommentKind::Review => Kind::Review,
        CommentKind::Discussion | CommentKind::Reply => Kind::DiscussionComment,
    }
}

fn held(store: &Store) -> Said {
    let mut held = Said::new();
    let mut take = |row: CommentRow| {
        let twice = held.insert((row.comment.kind, row.comment.id), row);
        assert!(twice.is_none(), "a comment is held twice");
        ControlFlow::Continue(())
    };
    store.each_comment(&CommentFilter::default(), &mut take).unwrap();
    held
}
