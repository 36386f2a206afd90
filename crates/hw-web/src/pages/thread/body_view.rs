//! A body on the page, with a link to the rest of a long one.

use crate::excerpt::BodyExcerpt;
use crate::markdown::{BodyContext, SafeMarkup};
use hw_rules::format::group_digits;

pub(super) struct BodyView {
    /// None when the body is empty.
    pub(super) prose: Option<SafeMarkup>,
    pub(super) rest: Option<RestLink>,
}

/// A link to the rest of a body.
pub(super) struct RestLink {
    pub(super) href: String,
    pub(super) label: String,
}

impl BodyView {
    /// Shows a body on a page with others: the beginning of a long one, and a link to the whole.
    pub(super) fn from_excerpt(excerpt: BodyExcerpt, body_bytes: u64, item: &str) -> Self {
        let is_whole = excerpt.shown_bytes as u64 >= body_bytes;
        let rest = (!is_whole).then(|| RestLink {
            href: format!("?item={item}"),
            label: format!("Show all {} kB", group_digits(body_bytes.div_ceil(1_000))),
        });
        Self { prose: excerpt.prose, rest }
    }

    /// Shows a body on a page of its own, from this byte on: as much as fits, and a link to the next part.
    pub(super) fn from_part(body: &str, from: usize, context: BodyContext<'_>) -> Self {
        let from = body.floor_char_boundary(from.min(body.len()));
        let excerpt = BodyExcerpt::from_part(&body[from..], context);
        let end = from + excerpt.shown_bytes;
        let rest = (end < body.len()).then(|| RestLink {
            href: format!("?item={}&from={end}", context.anchor),
            label: format!(
                "Show the next part ({} kB in total)",
                group_digits(body.len().div_ceil(1_000) as u64)
            ),
        });
        Self { prose: excerpt.prose, rest }
    }
}
