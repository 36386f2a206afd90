//! The order in which the comments of a thread are read.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Comment, Key, Kind};
use hw_store::CommentRow;

/// The comments with how deep they stand: replies below what they answer, and what a review says of
/// lines below the review. Whatever answers nothing that is held stands by itself.
pub(super) fn in_order(comments: &[CommentRow]) -> Vec<(usize, &Comment)> {
    let comments: Vec<&Comment> = comments.iter().map(|row| &row.comment).collect();
    let held: BTreeSet<Key> = comments.iter().map(|comment| comment.key()).collect();
    let mut below: BTreeMap<Option<Key>, Vec<&Comment>> = BTreeMap::new();
    for comment in &comments {
        let above = above(comment).filter(|key| held.contains(key));
        below.entry(above).or_default().push(comment);
    }
    let mut placed = BTreeSet::new();
    let mut order = Vec::new();
    // whoever answers in a circle is below nobody, and comes last
    for start in below.remove(&None).unwrap_or_default().into_iter().chain(comments) {
        let mut next = vec![(0, start)];
        while let Some((depth, comment)) = next.pop() {
            if placed.insert(comment.key()) {
                order.push((depth, comment));
                let replies = below.remove(&Some(comment.key())).unwrap_or_default();
                next.extend(replies.into_iter().rev().map(|reply| (depth + 1, reply)));
            }
        }
    }
    order
}

/// What it answers, or the review that it is part of.
fn above(comment: &Comment) -> Option<Key> {
    let reply = comment.reply_to.map(|id| Key { kind: comment.kind, id });
    reply.or_else(|| comment.review_id.map(|id| Key { kind: Kind::Review, id }))
}

#[cfg(test)]
mod tests {
    use hw_rules::time::SourceTime;

    use super::*;

    #[test]
    fn replies_stand_below_what_they_answer_and_lines_below_their_review() {
        let comments = [
            comment(Kind::ReviewComment, 1, None, Some(9)),
            comment(Kind::IssueComment, 1, None, None),
            comment(Kind::ReviewComment, 2, Some(1), Some(10)),
            comment(Kind::Review, 9, None, None),
            comment(Kind::ReviewComment, 3, None, Some(9)),
            comment(Kind::ReviewComment, 4, Some(77), Some(77)),
        ];
        let expected = [
            (0, "issue_comment 1"),
            (0, "review 9"),
            (1, "review_comment 1"),
            (2, "review_comment 2"),
            (1, "review_comment 3"),
            (0, "review_comment 4"),
        ];
        assert_eq!(order(&comments), expected.map(|(depth, name)| (depth, name.to_owned())));
    }

    #[test]
    fn nobody_is_lost_in_a_circle() {
        let kind = Kind::DiscussionComment;
        let circle = [(1, Some(2)), (2, Some(1)), (3, Some(3)), (4, None)];
        let comments = circle.map(|(id, reply_to)| comment(kind, id, reply_to, None));
        let order = order(&comments);
        assert_eq!(order.len(), 4, "{order:?}");
        assert_eq!(order[0].1, "discussion_comment 4");
    }

    fn order(comments: &[CommentRow]) -> Vec<(usize, String)> {
        let order = in_order(comments).into_iter();
        order.map(|(depth, comment)| (depth, comment.key().to_string())).collect()
    }

    fn comment(kind: Kind, id: i64, reply_to: Option<i64>, review_id: Option<i64>) -> CommentRow {
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
