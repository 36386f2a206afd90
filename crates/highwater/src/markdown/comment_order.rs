//! Orders the comments of a thread for reading.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Comment, ItemKey, ItemKind};
use hw_store::CommentRow;

/// A comment, and how deeply it is nested.
pub(super) struct NestedComment<'a> {
    pub(super) depth: usize,
    pub(super) comment: &'a Comment,
}

/// Orders the comments so that replies follow what they reply to, and line comments follow their review. A comment
/// whose parent is not stored is at the top level.
pub(super) fn order_comments(comments: &[CommentRow]) -> Vec<NestedComment<'_>> {
    let comments: Vec<&Comment> = comments.iter().map(|row| &row.comment).collect();
    let stored: BTreeSet<ItemKey> = comments.iter().map(|comment| comment.key()).collect();
    let mut children: BTreeMap<Option<ItemKey>, Vec<&Comment>> = BTreeMap::new();
    for comment in &comments {
        let parent = parent_key(comment).filter(|key| stored.contains(key));
        children.entry(parent).or_default().push(comment);
    }
    let mut visited = BTreeSet::new();
    let mut order = Vec::new();
    // comments that reply to each other in a circle have no root, so they come last
    for root in children.remove(&None).unwrap_or_default().into_iter().chain(comments) {
        let mut pending = vec![NestedComment { depth: 0, comment: root }];
        while let Some(next) = pending.pop() {
            let key = next.comment.key();
            if visited.insert(key) {
                let depth = next.depth + 1;
                let replies = children.remove(&Some(key)).unwrap_or_default();
                let replies = replies.into_iter().rev();
                pending.extend(replies.map(|comment| NestedComment { depth, comment }));
                order.push(next);
            }
        }
    }
    order
}

/// Returns the comment that this one replies to, or the review that it is part of.
fn parent_key(comment: &Comment) -> Option<ItemKey> {
    let reply = comment.reply_to.map(|id| ItemKey { kind: comment.kind, id });
    reply.or_else(|| comment.review_id.map(|id| ItemKey { kind: ItemKind::Review, id }))
}

#[cfg(test)]
mod tests {
    use hw_rules::source_time::SourceTime;

    use super::*;

    #[test]
    fn comments_follow_what_they_reply_to_or_their_review() {
        let comments = [
            comment_row(ItemKind::ReviewComment, 1, None, Some(9)),
            comment_row(ItemKind::IssueComment, 1, None, None),
            comment_row(ItemKind::ReviewComment, 2, Some(1), Some(10)),
            comment_row(ItemKind::Review, 9, None, None),
            comment_row(ItemKind::ReviewComment, 3, None, Some(9)),
            comment_row(ItemKind::ReviewComment, 4, Some(77), Some(77)),
        ];
        let expected = [
            (0, "issue_comment 1"),
            (0, "review 9"),
            (1, "review_comment 1"),
            (2, "review_comment 2"),
            (1, "review_comment 3"),
            (0, "review_comment 4"),
        ];
        assert_eq!(
            ordered_names(&comments),
            expected.map(|(depth, name)| (depth, name.to_owned()))
        );
    }

    #[test]
    fn comments_that_reply_in_a_circle_are_all_kept() {
        let kind = ItemKind::DiscussionComment;
        let circle = [(1, Some(2)), (2, Some(1)), (3, Some(3)), (4, None)];
        let comments = circle.map(|(id, reply_to)| comment_row(kind, id, reply_to, None));
        let order = ordered_names(&comments);
        assert_eq!(order.len(), 4, "{order:?}");
        assert_eq!(order[0].1, "discussion_comment 4");
    }

    fn ordered_names(comments: &[CommentRow]) -> Vec<(usize, String)> {
        let order = order_comments(comments).into_iter();
        order.map(|ordered| (ordered.depth, ordered.comment.key().to_string())).collect()
    }

    fn comment_row(
        kind: ItemKind,
        id: i64,
        reply_to: Option<i64>,
        review_id: Option<i64>,
    ) -> CommentRow {
        let at = SourceTime::parse("2026-01-02T03:04:05Z").unwrap();
        let comment = Comment {
            kind,
            id,
            node_id: String::new(),
            repository_id: 1,
            thread: 1,
            reply_to,
            review_id,
            url: String::new(),
            body: String::new(),
            state: None,
            path: None,
            line: None,
            author: None,
            author_id: None,
            created_at: at.clone(),
            updated_at: at,
        };
        CommentRow { host: "github.com".to_owned(), repository: "pump".to_owned(), comment }
    }
}
