//! The reading order of comments (replies below what they answer), and its division into pages.

use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::thread_order::{self, NestedComment};
use hw_store::CommentOutline;

use crate::format;
use crate::query_params::QueryParams;

/// Comments on a page.
const PAGE_SIZE: usize = 100;

/// A comment in reading order.
pub(super) struct OrderedComment {
    pub(super) kind: ObjectKind,
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

/// Sorts comments into reading order.
pub(super) fn order_comments(comments: &[CommentOutline]) -> Vec<OrderedComment> {
    thread_order::order_thread(comments, CommentOutline::links)
        .into_iter()
        .map(|NestedComment { depth, comment }| OrderedComment::new(comment, depth))
        .collect()
}

impl OrderedComment {
    pub(super) fn key(&self) -> ObjectId {
        ObjectId { kind: self.kind, id: self.id }
    }

    fn new(comment: &CommentOutline, depth: usize) -> Self {
        let CommentOutline { kind, id, reply_to, url, .. } = comment;
        let is_reply = depth > 0 && reply_to.is_some();
        Self { kind: *kind, id: *id, anchor: comment_anchor(*kind, *id, url), depth, is_reply }
    }
}

/// Returns the anchor that a comment has on GitHub, so that links work here, too.
fn comment_anchor(kind: ObjectKind, id: i64, url: &str) -> String {
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
