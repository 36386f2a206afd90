//! Orders the comments of a thread for reading: the same everywhere a thread is shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::item::{Comment, CommentKind, ObjectId};

/// The links of a comment to other comments of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentLinks {
    pub key: ObjectId,
    /// The id of the comment that this one replies to.
    pub reply_to: Option<i64>,
    /// The id of the review that a line comment belongs to.
    pub review_id: Option<i64>,
}

/// A comment in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NestedComment<'a, T> {
    /// The number of comments above it in its conversation.
    pub depth: usize,
    pub comment: &'a T,
}

impl From<&Comment> for CommentLinks {
    fn from(comment: &Comment) -> Self {
        let Comment { reply_to, review_id, .. } = *comment;
        Self { key: comment.key(), reply_to, review_id }
    }
}

impl CommentLinks {
    /// Returns the comment that it replies to, or the review that it is part of.
    fn parent(&self) -> Option<ObjectId> {
        let reply = self.reply_to.map(|id| ObjectId { kind: self.key.kind, id });
        reply.or_else(|| self.review_id.map(|id| ObjectId { kind: CommentKind::Review.into(), id }))
    }
}

/// Orders comments, given oldest first: replies follow what they reply to, and line comments follow their review.
///
/// A comment whose parent is not among them is at the top level. Comments that reply to each other in a circle have no
/// such parent and come last. Every comment is returned once.
pub fn order_thread<T>(
    comments: &[T],
    links: impl Fn(&T) -> CommentLinks,
) -> Vec<NestedComment<'_, T>> {
    let links: Vec<CommentLinks> = comments.iter().map(links).collect();
    let mut children = children_by_parent(&links);
    let mut is_placed = vec![false; comments.len()];
    let mut ordered = Vec::with_capacity(comments.len());
    for root in children.remove(&None).unwrap_or_default().into_iter().chain(0..comments.len()) {
        let mut pending = vec![(0, root)];
        while let Some((depth, index)) = pending.pop() {
            if std::mem::replace(&mut is_placed[index], true) {
                continue;
            }
            ordered.push(NestedComment { depth, comment: &comments[index] });
            let replies = children.remove(&Some(links[index].key)).unwrap_or_default();
            pending.extend(replies.into_iter().rev().map(|reply| (depth + 1, reply)));
        }
    }
    ordered
}

/// Returns the indexes of the comments below each parent; those at the top level have none.
fn children_by_parent(links: &[CommentLinks]) -> BTreeMap<Option<ObjectId>, Vec<usize>> {
    let stored: BTreeSet<ObjectId> = links.iter().map(|links| links.key).collect();
    let mut children: BTreeMap<Option<ObjectId>, Vec<usize>> = BTreeMap::new();
    for (index, links) in links.iter().enumerate() {
        let parent = links.parent().filter(|parent| stored.contains(parent));
        children.entry(parent).or_default().push(index);
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::ObjectKind;
    use CommentKind::{Conversation, DiscussionComment, Review, ReviewComment};

    /// Comments oldest first, and the order in which they are read.
    struct OrderCase {
        promise: &'static str,
        comments: &'static [CommentLinks],
        expected: &'static [(usize, &'static str)],
    }

    const CASES: &[OrderCase] = &[
        OrderCase { promise: "a thread without comments", comments: &[], expected: &[] },
        OrderCase {
            promise: "comments without links stay in order",
            comments: &[links(Conversation, 2, None, None), links(Conversation, 1, None, None)],
            expected: &[(0, "issue_comment 2"), (0, "issue_comment 1")],
        },
        OrderCase {
            promise: "line comments follow their review, which may be submitted later",
            comments: &[
                links(ReviewComment, 1, None, Some(9)),
                links(Conversation, 1, None, None),
                links(Review, 9, None, None),
                links(ReviewComment, 3, None, Some(9)),
            ],
            expected: &[
                (0, "issue_comment 1"),
                (0, "review 9"),
                (1, "review_comment 1"),
                (1, "review_comment 3"),
            ],
        },
        OrderCase {
            promise: "a reply to a line follows it, although it has a review of its own",
            comments: &[
                links(Review, 9, None, None),
                links(ReviewComment, 1, None, Some(9)),
                links(ReviewComment, 3, None, Some(9)),
                links(Review, 10, None, None),
                links(ReviewComment, 2, Some(1), Some(10)),
            ],
            expected: &[
                (0, "review 9"),
                (1, "review_comment 1"),
                (2, "review_comment 2"),
                (1, "review_comment 3"),
                (0, "review 10"),
            ],
        },
        OrderCase {
            promise: "replies in a discussion follow what they answer, oldest first",
            comments: &[
                links(DiscussionComment, 1, None, None),
                links(DiscussionComment, 2, None, None),
                links(DiscussionComment, 3, Some(1), None),
                links(DiscussionComment, 4, Some(1), None),
            ],
            expected: &[
                (0, "discussion_comment 1"),
                (1, "discussion_comment 3"),
                (1, "discussion_comment 4"),
                (0, "discussion_comment 2"),
            ],
        },
        OrderCase {
            promise: "a comment whose parent is not stored is at the top level",
            comments: &[
                links(ReviewComment, 4, Some(77), Some(77)),
                links(ReviewComment, 5, None, Some(78)),
            ],
            expected: &[(0, "review_comment 4"), (0, "review_comment 5")],
        },
        OrderCase {
            promise: "an id of another kind is no parent",
            comments: &[links(Conversation, 1, None, None), links(ReviewComment, 2, Some(1), None)],
            expected: &[(0, "issue_comment 1"), (0, "review_comment 2")],
        },
        OrderCase {
            promise: "comments that reply in a circle come last, and none is lost",
            comments: &[
                links(DiscussionComment, 1, Some(2), None),
                links(DiscussionComment, 2, Some(1), None),
                links(DiscussionComment, 3, Some(3), None),
                links(DiscussionComment, 4, None, None),
            ],
            expected: &[
                (0, "discussion_comment 4"),
                (0, "discussion_comment 1"),
                (1, "discussion_comment 2"),
                (0, "discussion_comment 3"),
            ],
        },
        OrderCase {
            promise: "a comment that is listed twice is returned twice",
            comments: &[links(Conversation, 1, None, None), links(Conversation, 1, None, None)],
            expected: &[(0, "issue_comment 1"), (0, "issue_comment 1")],
        },
    ];

    #[test]
    fn thread_order_follows_the_conversation() {
        for OrderCase { promise, comments, expected } in CASES {
            let ordered: Vec<_> = order_thread(comments, |links| *links)
                .into_iter()
                .map(|nested| (nested.depth, nested.comment.key.to_string()))
                .collect();
            let expected: Vec<_> =
                expected.iter().map(|(depth, name)| (*depth, (*name).to_owned())).collect();
            assert_eq!(ordered, expected, "{promise}");
        }
    }

    const fn links(
        kind: CommentKind,
        id: i64,
        reply_to: Option<i64>,
        review_id: Option<i64>,
    ) -> CommentLinks {
        let key = ObjectId { kind: ObjectKind::Comment(kind), id };
        CommentLinks { key, reply_to, review_id }
    }
}
