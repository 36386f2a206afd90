//! A body, and where the rest of it is.

use crate::fold::Excerpt;
use crate::markdown::{BodyContext, Prose};
use crate::texts::grouped;

pub(super) struct BodyView {
    /// None when nothing was written.
    pub(super) prose: Option<Prose>,
    pub(super) rest: Option<RestLink>,
}

/// A link to what is not shown.
pub(super) struct RestLink {
    pub(super) href: String,
    pub(super) label: String,
}

impl BodyView {
    /// A body among others: of a long one the beginning, and a link to the whole.
    pub(super) fn among_others(excerpt: Excerpt, body_bytes: u64, item: &str) -> Self {
        let is_whole = excerpt.shown as u64 >= body_bytes;
        let rest = (!is_whole).then(|| RestLink {
            href: format!("?item={item}"),
            label: format!("Show all {} kB", grouped(body_bytes.div_ceil(1_000))),
        });
        Self { prose: excerpt.prose, rest }
    }

    /// A body alone, from this byte on: as much as a page holds, and a link to the next part.
    pub(super) fn alone(body: &str, from: usize, context: BodyContext<'_>) -> Self {
        let from = body.floor_char_boundary(from.min(body.len()));
        let excerpt = Excerpt::part(&body[from..], context);
        let item = context.anchor;
        let end = from + excerpt.shown;
        let rest = (end < body.len()).then(|| RestLink {
            href: format!("?item={item}&from={end}"),
            label: format!("Show the next of {} kB", grouped(body.len().div_ceil(1_000) as u64)),
        });
        Self { prose: excerpt.prose, rest }
    }
}
