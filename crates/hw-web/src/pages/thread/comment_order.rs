//! The order in which comments are read (replies below what they answer), and its pages.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Key, Kind};
use hw_store::CommentOutline;

use crate::asked::Asked;
use crate::texts;

/// Comments of a page.
const PAGE_SIZE: usize = 100;

/// A comment in its place.
pub(super) struct OrderedComment {
    pub(super) kind: Kind,
    pub(super) id: i64,
    /// Its name in a page.
    pub(super) anchor: String,
    /// How many comments stand above it in its conversation.
    pub(super) depth: usize,
    pub(super) is_reply: bool,
}

/// Where a page stands among others, from 1 on.
#[derive(Clone, Copy)]
pub(super) struct CommentPages {
    pub(super) page: usize,
    pub(super) pages: usize,
}

/// Comments as they are read, as `highwater show` prints them: replies below what they answer, line comments below
/// their review, otherwise oldest first. One that answers nothing that is stored stands by itself.
pub(super) fn in_order(comments: &[CommentOutline]) -> Vec<OrderedComment> {
    let stored: BTreeSet<Key> = comments.iter().map(key).collect();
    let mut below: BTreeMap<Option<Key>, Vec<&CommentOutline>> = BTreeMap::new();
    for comment in comments {
        below.entry(above(comment).filter(|key| stored.contains(key))).or_default().push(comment);
    }
    let mut placed = BTreeSet::new();
    let mut ordered = Vec::new();
    // comments that answer each other in a circle are below none, and come last
    for start in below.remove(&None).unwrap_or_default().into_iter().chain(comments) {
        let mut next = vec![(0, start)];
        while let Some((depth, comment)) = next.pop() {
            if placed.insert(key(comment)) {
                ordered.push(OrderedComment::new(comment, depth));
                let replies = below.remove(&Some(key(comment))).unwrap_or_default();
                next.extend(replies.into_iter().rev().map(|reply| (depth + 1, reply)));
            }
        }
    }
    ordered
}

impl OrderedComment {
    fn new(comment: &CommentOutline, depth: usize) -> Self {
        let CommentOutline { kind, id, reply_to, url, .. } = comment;
        let is_reply = depth > 0 && reply_to.is_some();
        Self { kind: *kind, id: *id, anchor: anchor(*kind, *id, url), depth, is_reply }
    }
}

fn key(comment: &CommentOutline) -> Key {
    Key { kind: comment.kind, id: comment.id }
}

/// The comment that it answers, or the review that it is part of.
fn above(comment: &CommentOutline) -> Option<Key> {
    let reply = comment.reply_to.map(|id| Key { kind: comment.kind, id });
    reply.or_else(|| comment.review_id.map(|id| Key { kind: Kind::Review, id }))
}

/// The name that a comment has in its address at GitHub, so that links find it here, too.
fn anchor(kind: Kind, id: i64, url: &str) -> String {
    texts::fragment(url).unwrap_or_else(|| format!("{}-{id}", kind.name()))
}

impl CommentPages {
    /// The page with the comment that `at` names, else the one whose number `page` is, or the nearest that there is.
    pub(super) fn new(comments: &[OrderedComment], asked: &Asked) -> Self {
        let pages = comments.len().div_ceil(PAGE_SIZE).max(1);
        let at = asked.get("at");
        let at = at.and_then(|name| comments.iter().position(|it| it.anchor == name));
        let numbered = || asked.get("page").and_then(|it| it.parse().ok());
        let page = at.map(|place| place / PAGE_SIZE + 1).or_else(numbered).unwrap_or(1);
        Self { page: page.clamp(1, pages), pages }
    }

    pub(super) fn comments(self, comments: Vec<OrderedComment>) -> Vec<OrderedComment> {
        comments.into_iter().skip((self.page - 1) * PAGE_SIZE).take(PAGE_SIZE).collect()
    }
}
