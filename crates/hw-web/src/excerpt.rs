//! Cuts long bodies, so that a page stays small whatever is stored; the page links to the rest.
//!
//! The Markdown is cut, not the rendered markup, so that the result is always well formed. A short text can
//! render to a long markup (a table with many empty cells), so the limits apply to the markup as well.

use crate::markdown::{BodyContext, SafeMarkup, render_markdown};

/// Source bytes of one body on a page with several bodies.
pub(crate) const MAX_SOURCE_BYTES: usize = 20_000;
/// Markup bytes of one body, before [`fit_bodies`] divides the page's budget.
const MAX_MARKUP_BYTES: usize = 100_000;
/// Markup bytes of all bodies of a page.
pub(crate) const PAGE_MARKUP_BYTES: usize = 1_800_000;
/// Source bytes of one part of a body that has a page of its own.
const PART_SOURCE_BYTES: usize = 400_000;

/// A body as a page shows it.
pub(crate) struct BodyExcerpt {
    /// None when the body is empty.
    pub(crate) prose: Option<SafeMarkup>,
    /// Source bytes that the markup covers.
    pub(crate) shown_bytes: usize,
}

impl BodyExcerpt {
    /// Renders a body for a page with several bodies.
    pub(crate) fn new(source: &str, context: BodyContext<'_>) -> Self {
        Self::with_limits(source, context, MAX_SOURCE_BYTES, MAX_MARKUP_BYTES)
    }

    /// Renders a body, or the next part of one, for a page of its own.
    pub(crate) fn from_part(source: &str, context: BodyContext<'_>) -> Self {
        Self::with_limits(source, context, PART_SOURCE_BYTES, PAGE_MARKUP_BYTES)
    }

    /// Renders as much of the source as fits both limits.
    fn with_limits(
        source: &str,
        context: BodyContext<'_>,
        max_source: usize,
        max_markup: usize,
    ) -> Self {
        if source.trim().is_empty() {
            return Self { prose: None, shown_bytes: source.len() };
        }
        let mut text = truncate_text(source, max_source);
        loop {
            let prose = render_markdown(text, context, max_markup);
            if prose.is_some() || text.is_empty() {
                // a body can consist of one HTML comment, as issue templates do
                let prose = prose.filter(|prose| !prose.is_blank());
                return Self { prose, shown_bytes: text.len() };
            }
            text = truncate_text(text, text.len() * 3 / 4);
        }
    }

    fn markup_len(&self) -> usize {
        self.prose.as_ref().map_or(0, SafeMarkup::len)
    }
}

/// A body and its excerpt on a page.
pub(crate) struct PageBody<'a> {
    source: &'a str,
    context: BodyContext<'a>,
    pub(crate) excerpt: BodyExcerpt,
}

impl<'a> PageBody<'a> {
    pub(crate) fn new(source: &'a str, context: BodyContext<'a>) -> Self {
        Self { source, context, excerpt: BodyExcerpt::new(source, context) }
    }
}

/// Shortens the longest bodies until all of them fit on a page.
pub(crate) fn fit_bodies(bodies: &mut [PageBody<'_>]) {
    let lengths = bodies.iter().map(|body| body.excerpt.markup_len()).collect();
    let level = fair_length(lengths, PAGE_MARKUP_BYTES);
    for PageBody { source, context, excerpt } in bodies {
        let length = excerpt.markup_len();
        if length > level {
            // slightly less than the proportional part, because markup can be denser at the beginning
            let max_source = excerpt.shown_bytes * level / length * 9 / 10;
            *excerpt = BodyExcerpt::with_limits(source, *context, max_source, level);
        }
    }
}

/// Returns the greatest length per body that keeps their total within the budget.
fn fair_length(mut lengths: Vec<usize>, budget: usize) -> usize {
    lengths.sort_unstable();
    let (mut remaining, count) = (budget, lengths.len());
    for (index, length) in lengths.into_iter().enumerate() {
        let share = remaining / (count - index);
        if length > share {
            return share;
        }
        remaining -= length;
    }
    usize::MAX
}

/// Cuts a text at the end of a line, else of a word, else of a character.
fn truncate_text(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let beginning = &text[..text.floor_char_boundary(max_bytes)];
    let end = end_of_last(beginning, '\n').or_else(|| end_of_last(beginning, ' '));
    end.map_or(beginning, |end| &beginning[..end])
}

/// Returns the end of the last such character, if it is in the second half of the text.
fn end_of_last(text: &str, c: char) -> Option<usize> {
    text.rfind(c).map(|at| at + 1).filter(|end| *end >= text.len() / 2)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::thread_links::ThreadLinks;

    #[test]
    fn truncate_text_ends_at_a_line_a_word_or_a_character() {
        assert_eq!(truncate_text("one\ntwo\nthree", 10), "one\ntwo\n");
        assert_eq!(truncate_text("one two three", 10), "one two ");
        assert_eq!(truncate_text("ééééé", 5), "éé");
        assert_eq!(
            truncate_text("a\nbbbbbbbbbbbbbb", 10),
            "a\nbbbbbbbb",
            "a line that ends too early"
        );
        assert_eq!(truncate_text("short", 10), "short");
    }

    #[test]
    fn fair_length_cuts_the_longest_first() {
        assert_eq!(fair_length(vec![5, 100, 5], 50), 40);
        assert_eq!(fair_length(vec![50, 10, 50], 50), 20);
        assert_eq!(fair_length(vec![5, 5], 50), usize::MAX);
        assert_eq!(fair_length(Vec::new(), 50), usize::MAX);
    }

    #[test]
    fn excerpt_bounds_the_markup_of_a_table_with_many_empty_cells() {
        let columns = 3_000;
        let table = format!("{}\n{}\n", "|a".repeat(columns), "|-".repeat(columns));
        let table = format!("{table}{}", "|b|\n".repeat(1_000));
        assert!(
            table.len() < MAX_SOURCE_BYTES
                && render_markdown(&table, sample_context(), 10 * MAX_MARKUP_BYTES).is_none(),
            "the markup is much longer than the source"
        );
        let excerpt = BodyExcerpt::new(&table, sample_context());
        assert!(excerpt.markup_len() <= MAX_MARKUP_BYTES);
        assert!(excerpt.shown_bytes < table.len());
    }

    #[test]
    fn excerpt_of_a_short_body_is_the_body() {
        let excerpt = BodyExcerpt::new("# A\n\nshort *body*", sample_context());
        assert_eq!(excerpt.shown_bytes, 17);
        assert!(excerpt.prose.unwrap().to_string().contains("<em>body</em>"));
        assert!(BodyExcerpt::new(" \n", sample_context()).prose.is_none());
        assert!(BodyExcerpt::new("<!-- a template -->", sample_context()).prose.is_none());
    }

    #[test]
    fn fit_bodies_keeps_all_bodies_within_the_page() {
        let long = "<>\"' ".repeat(4_000);
        let sources = [vec!["short"; 50], vec![long.as_str(); 50]].concat();
        let mut bodies: Vec<_> =
            sources.iter().map(|source| PageBody::new(source, sample_context())).collect();
        fit_bodies(&mut bodies);
        let total: usize = bodies.iter().map(|body| body.excerpt.markup_len()).sum();
        assert!(total <= PAGE_MARKUP_BYTES, "{total}");
        assert!(bodies[..50].iter().all(|body| body.excerpt.shown_bytes == body.source.len()));
    }

    fn sample_context() -> BodyContext<'static> {
        static LINKS: LazyLock<ThreadLinks> = LazyLock::new(|| ThreadLinks::with_mirrored(&[]));
        BodyContext { links: &LINKS, anchor: "body", top_heading: 2 }
    }
}
