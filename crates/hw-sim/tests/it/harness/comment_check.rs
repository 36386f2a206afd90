//! Compares the stored comments with those of the simulated world.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hw_rules::item::{self, AuthorKind, Comment};
use hw_sim::{CommentKind, GroundTruth, TrueComment, TrueRepository};
use hw_store::{CommentFilter, CommentRow, StoreReader};

use super::{CheckLevel, SimFixture};

type CommentRows = BTreeMap<(item::CommentKind, i64), CommentRow>;

/// Compares the stored comments of every followed repository with the world.
///
/// Without a sweep some differences are allowed: deletions, comments that were hidden, and edits where only
/// changed threads are read again.
pub(crate) fn check_comments(fixture: &SimFixture, level: CheckLevel) -> Result<(), String> {
    let truth = fixture.followed_truth();
    let stored = stored_comments(&fixture.store);
    for comment in truth.comments.values().filter(|comment| is_listed(&truth, comment)) {
        let was_hidden = comment.kind == CommentKind::Conversation
            && !fixture.with_github(|github| {
                github.world().were_issues_always_visible(comment.repository_id)
            });
        // a list read while the thread was hidden lacks its comments
        let thread = truth.threads.get(&(comment.thread_kind, comment.thread_id));
        let is_thread_late = thread.is_some_and(|thread| thread.was_hidden);
        check_comment(&stored, comment, level, comment.was_hidden || was_hidden || is_thread_late)?;
    }
    if level.is_final() {
        check_no_extra_comments(&stored, &truth)?;
    }
    Ok(())
}

/// Returns the comments of followed repositories that are listed but not stored.
pub(crate) fn missing_comments(fixture: &SimFixture) -> Vec<TrueComment> {
    let truth = fixture.followed_truth();
    let stored = stored_comments(&fixture.store);
    let listed = truth.comments.values().filter(|comment| is_listed(&truth, comment));
    listed
        .filter(|comment| !stored.contains_key(&(stored_kind(comment.kind), comment.id)))
        .cloned()
        .collect()
}

fn check_comment(
    stored: &CommentRows,
    comment: &TrueComment,
    level: CheckLevel,
    comes_late: bool,
) -> Result<(), String> {
    let key = (stored_kind(comment.kind), comment.id);
    let Some(row) = stored.get(&key) else {
        let is_excused = level == CheckLevel::CreationsAndEdits && comes_late;
        return if is_excused {
            Ok(())
        } else {
            Err(format!("{key:?} is missing ({level:?}): {comment:#?}"))
        };
    };
    let is_read_by_thread =
        matches!(key.0, item::CommentKind::Review | item::CommentKind::DiscussionComment);
    let may_lag = comes_late || (is_read_by_thread && comment.created_at != comment.updated_at);
    let is_true = is_row_true(row, comment, level);
    if is_true || (level == CheckLevel::CreationsAndEdits && may_lag) {
        return Ok(());
    }
    Err(format!("{key:?} differs ({level:?}):\nstored {row:#?}\ntrue {comment:#?}"))
}

/// Compares a row with the world. Deleting an account changes no time, so a row may keep the author it was read with.
fn is_row_true(row: &CommentRow, comment: &TrueComment, level: CheckLevel) -> bool {
    let Comment { author_id, .. } = &row.comment;
    let is_author = match level {
        CheckLevel::Digested => comment.author.is_none() || row.comment.author == comment.author,
        CheckLevel::Everything | CheckLevel::CreationsAndEdits => {
            comment.author.is_none() || is_author_true(&row.comment, comment)
        }
    };
    let is_numbered = comment.author_id.is_none() || *author_id == comment.author_id;
    is_author
        && is_numbered
        && row.comment.thread == comment.thread_number
        && row.comment.repository_id == comment.repository_id
        && is_parent_true(&row.comment, comment)
        && row.comment.url == comment.url
        && row.comment.body == comment.body
        && row.comment.created_at.as_str() == comment.created_at
        && row.comment.updated_at.as_str() == comment.updated_at
}

fn is_parent_true(row: &Comment, comment: &TrueComment) -> bool {
    if comment.kind == CommentKind::ReviewComment {
        return (row.reply_to, row.review_id) == (comment.reply_to_id, comment.parent_id);
    }
    row.reply_to.or(row.review_id) == comment.parent_id
}

fn is_author_true(row: &Comment, comment: &TrueComment) -> bool {
    row.author == comment.author
        && row.author_kind.as_ref().map(AuthorKind::name) == comment.author_type.as_deref()
        && row.association.as_deref() == Some(&comment.author_association)
}

fn check_no_extra_comments(stored: &CommentRows, truth: &GroundTruth) -> Result<(), String> {
    let true_keys: Vec<_> =
        truth.comments.values().map(|comment| (stored_kind(comment.kind), comment.id)).collect();
    for (key, row) in stored {
        let home = truth.repositories.get(&row.comment.repository_id);
        let is_comparable = home.is_some_and(|home| is_enabled(home, key.0));
        if is_comparable && !true_keys.contains(key) {
            return Err(format!("{key:?} is stored, but gone from the world: {}", row.comment.url));
        }
        if home.is_none() {
            return Err(format!("{key:?} is stored for a repository that is not followed"));
        }
    }
    Ok(())
}

fn is_listed(truth: &GroundTruth, comment: &TrueComment) -> bool {
    let home = truth.repositories.get(&comment.repository_id);
    home.is_some_and(|home| is_enabled(home, stored_kind(comment.kind)))
}

/// Decides whether such comments are listed: with the feature disabled they are neither read nor removed.
fn is_enabled(repository: &TrueRepository, kind: item::CommentKind) -> bool {
    match kind {
        item::CommentKind::Conversation => repository.has_issues_enabled,
        item::CommentKind::DiscussionComment => repository.has_discussions_enabled,
        item::CommentKind::ReviewComment | item::CommentKind::Review => true,
    }
}

fn stored_kind(kind: CommentKind) -> item::CommentKind {
    match kind {
        CommentKind::Conversation => item::CommentKind::Conversation,
        CommentKind::ReviewComment => item::CommentKind::ReviewComment,
        CommentKind::Review => item::CommentKind::Review,
        CommentKind::Discussion | CommentKind::Reply => item::CommentKind::DiscussionComment,
    }
}

fn stored_comments(store: &StoreReader) -> CommentRows {
    let mut stored = CommentRows::new();
    store
        .each_comment(&CommentFilter::default(), &mut |row: CommentRow| {
            let previous = stored.insert((row.comment.kind, row.comment.id), row);
            assert!(previous.is_none(), "a comment is stored twice");
            ControlFlow::Continue(())
        })
        .unwrap();
    stored
}
