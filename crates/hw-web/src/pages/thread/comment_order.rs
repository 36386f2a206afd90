//! The reading order of comments (replies below what they answer), and its division into pages.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{ItemKey, ItemKind};
use hw_store::CommentOutline;

use crate::format;
use crate::query_params::QueryParams;

/// Comments on a page.
const PAGE_SIZE: usize = 100;

/// A comment in reading order.
pub(super) struct OrderedComment {
    pub(super) kind: ItemKind,
    pub(super) id: i64,
    /// The id of its element.
    pub(super) anchor: String,
    /// Number of comments above it in its conversation.
    pub(super) depth: usize,
    pub(super) is_reply: bool,
}

/// The number of a page, starting at 1, and the number of pages.
#[derive(Clone, Copy)]
pub(super) struct CommentPager {
    pub(super) page: usize,
    pub(super) pages: usize,
}

/// Sorts comments into reading order, as `highwater show` prints them.
///
/// Replies go below what they answer, line comments below their review; otherwise the oldest is first. A comment whose
/// parent is not stored is a top-level comment.
pub(super) fn order_comments(comments: &[CommentOutline]) -> Vec<OrderedComment> {
    let stored: BTreeSet<ItemKey> = comments.iter().map(outline_key).collect();
    let mut children: BTreeMap<Option<ItemKey>, Vec<&CommentOutline>> = BTreeMap::new();
    for comment in comments {
        children
            .entry(parent_key(comment).filter(|key| stored.contains(key)))
            .or_default()
            .push(comment);
    }
    let mut placed = BTreeSet::new();
    let mut ordered = Vec::new();
    // comments that answer each other in a cycle have no top-level parent, and come last
    for start in children.remove(&None).unwrap_or_default().into_iter().chain(comments) {
        let mut next = vec![(0, start)];
        while let Some((depth, comment)) = next.pop() {
            if placed.insert(outline_key(comment)) {
                ordered.push(OrderedComment::new(comment, depth));
                let replies = children.remove(&Some(outline_key(comment))).unwrap_or_default();
                next.extend(replies.into_iter().rev().map(|reply| (depth + 1, reply)));
            }
        }
    }
    ordered
}

impl OrderedComment {
    pub(super) fn key(&self) -> ItemKey {
        ItemKey { kind: self.kind, id: self.id }
    }

    fn new(comment: &CommentOutline, depth: usize) -> Self {
        let CommentOutline { kind, id, reply_to, url, .. } = comment;
        let is_reply = depth > 0 && reply_to.is_some();
        Self { kind: *kind, id: *id, anchor: comment_anchor(*kind, *id, url), depth, is_reply }
    }
}

fn outline_key(comment: &CommentOutline) -> ItemKey {
    ItemKey { kind: comment.kind, id: comment.id }
}

/// Returns the comment that it answers, or the review that it is part of.
fn parent_key(comment: &CommentOutline) -> Option<ItemKey> {
    let reply = comment.reply_to.map(|id| ItemKey { kind: comment.kind, id });
    reply.or_else(|| comment.review_id.map(|id| ItemKey { kind: ItemKind::Review, id }))
}

/// Returns the anchor that a comment has on GitHub, so that links work here, too.
fn comment_anchor(kind: ItemKind, id: i64, url: &str) -> String {
    format::url_fragment(url).unwrap_or_else(|| format!("{}-{id}", kind.name()))
}

impl CommentPager {
    /// Selects the page with the comment that `at` names, else the existing page nearest to the number `page`.
    pub(super) fn new(comments: &[OrderedComment], params: &QueryParams) -> Self {
        let pages = comments.len().div_ceil(PAGE_SIZE).max(1);
        let index = params
            .get("at")
            .and_then(|anchor| comments.iter().position(|comment| comment.anchor == anchor));
        let page = match index {
            Some(index) => index / PAGE_SIZE + 1,
            None => params.get("page").and_then(|page| page.parse().ok()).unwrap_or(1),
        };
        Self { page: page.clamp(1, pages), pages }
    }

    pub(super) fn select_page(self, comments: Vec<OrderedComment>) -> Vec<OrderedComment> {
        comments.into_iter().skip((self.page - 1) * PAGE_SIZE).take(PAGE_SIZE).collect()
    }
}
