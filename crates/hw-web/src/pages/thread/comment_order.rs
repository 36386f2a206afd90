//! The order in which comments are read (replies below what they answer), and its pages.

use std::collections::BTreeMap;

use hw_rules::item::Kind;
use hw_store::CommentOutline;

use crate::asked::Asked;
use crate::texts;

/// Comments of a page.
const PAGE_SIZE: usize = 100;
/// Replies to replies are few; a circle of them would be endless.
const DEEPEST: usize = 100;

/// A comment in its place.
pub(super) struct OrderedComment {
    pub(super) kind: Kind,
    pub(super) id: i64,
    /// Its name in a page.
    pub(super) anchor: String,
    pub(super) is_reply: bool,
}

/// Where a page stands among others, from 1 on.
#[derive(Clone, Copy)]
pub(super) struct CommentPages {
    pub(super) page: usize,
    pub(super) pages: usize,
}

/// Comments as they are read: each after what it answers, otherwise oldest first.
pub(super) fn in_order(comments: &[CommentOutline]) -> Vec<OrderedComment> {
    let places: BTreeMap<(Kind, i64), usize> =
        comments.iter().enumerate().map(|(place, it)| ((it.kind, it.id), place)).collect();
    let mut order: Vec<(usize, usize)> =
        (0..comments.len()).map(|place| (root(comments, &places, place), place)).collect();
    // a reply can only be younger than what it answers, but clocks are clocks
    order.sort_by_key(|(root, place)| (*root, root != place, *place));
    let ordered = order.into_iter().map(|(root, place)| {
        let CommentOutline { kind, id, url, .. } = &comments[place];
        let anchor = anchor(*kind, *id, url);
        OrderedComment { kind: *kind, id: *id, anchor, is_reply: root != place }
    });
    ordered.collect()
}

/// The name that a comment has in its address at GitHub, so that links find it here, too.
fn anchor(kind: Kind, id: i64, url: &str) -> String {
    texts::fragment(url).unwrap_or_else(|| format!("{}-{id}", kind.name()))
}

/// The comment that began the talk in which this one stands.
fn root(comments: &[CommentOutline], places: &BTreeMap<(Kind, i64), usize>, place: usize) -> usize {
    let mut at = place;
    for _ in 0..DEEPEST {
        let comment = &comments[at];
        match comment.reply_to.and_then(|id| places.get(&(comment.kind, id))) {
            Some(above) if *above != at => at = *above,
            _ => return at,
        }
    }
    place
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
