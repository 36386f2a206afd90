//! Long bodies in part: a page stays small whatever is stored, and links to the rest.
//!
//! The Markdown is cut, not the markup made of it, so that what is shown is always well formed. A short text can
//! become a long markup (a table with many empty cells), so the markup is what counts.

use crate::markdown::{BodyContext, Prose, render_markdown};

/// Bytes of one body that a page among others shows at most.
pub(crate) const MAX_SOURCE: usize = 20_000;
/// Markup of one body, before a page shares out what it has.
const MAX_MARKUP: usize = 100_000;
/// Markup of all bodies of a page.
pub(crate) const PAGE_MARKUP: usize = 1_800_000;
/// Bytes of a body that is shown alone, a part at a time.
const PART_SOURCE: usize = 400_000;

/// A body as a page shows it.
pub(crate) struct Excerpt {
    /// None when nothing was written.
    pub(crate) prose: Option<Prose>,
    /// Bytes of the source that are shown.
    pub(crate) shown: usize,
}

impl Excerpt {
    /// A body among others.
    pub(crate) fn new(source: &str, context: BodyContext<'_>) -> Self {
        Self::fitted(source, context, MAX_SOURCE, MAX_MARKUP)
    }

    /// A body alone, or the part of it that follows.
    pub(crate) fn part(source: &str, context: BodyContext<'_>) -> Self {
        Self::fitted(source, context, PART_SOURCE, PAGE_MARKUP)
    }

    /// As much of the source as fits.
    fn fitted(
        source: &str,
        context: BodyContext<'_>,
        max_source: usize,
        max_markup: usize,
    ) -> Self {
        if source.trim().is_empty() {
            return Self { prose: None, shown: source.len() };
        }
        let mut kept = cut(source, max_source);
        loop {
            let prose = render_markdown(kept, context, max_markup);
            if prose.is_some() || kept.is_empty() {
                // a body can be one comment in HTML, as templates have them
                let prose = prose.filter(|prose| !prose.is_blank());
                return Self { prose, shown: kept.len() };
            }
            kept = cut(kept, kept.len() * 3 / 4);
        }
    }

    fn markup_len(&self) -> usize {
        self.prose.as_ref().map_or(0, Prose::len)
    }
}

/// A body and what a page shows of it.
pub(crate) struct PageBody<'a> {
    source: &'a str,
    context: BodyContext<'a>,
    pub(crate) excerpt: Excerpt,
}

impl<'a> PageBody<'a> {
    pub(crate) fn new(source: &'a str, context: BodyContext<'a>) -> Self {
        Self { source, context, excerpt: Excerpt::new(source, context) }
    }
}

/// Cuts the longest of these bodies until all of them fit a page.
pub(crate) fn share_page(bodies: &mut [PageBody<'_>]) {
    let lengths = bodies.iter().map(|body| body.excerpt.markup_len()).collect();
    let level = level(lengths, PAGE_MARKUP);
    for PageBody { source, context, excerpt } in bodies {
        let length = excerpt.markup_len();
        if length > level {
            // a little less than its part: the markup of a beginning may be denser
            let max_source = excerpt.shown * level / length * 9 / 10;
            *excerpt = Excerpt::fitted(source, *context, max_source, level);
        }
    }
}

/// The greatest length that all may have so that together they stay within a budget.
fn level(mut lengths: Vec<usize>, budget: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, count) = (budget, lengths.len());
    for (index, length) in lengths.into_iter().enumerate() {
        let share = left / (count - index);
        if length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// The beginning of a text: up to the end of a line, else of a word, else of a character.
fn cut(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let beginning = &text[..text.floor_char_boundary(max_bytes)];
    let near = |end: &usize| *end >= max_bytes / 2;
    let line = beginning.rfind('\n').map(|end| end + 1).filter(near);
    let word = || beginning.rfind(' ').map(|end| end + 1).filter(near);
    line.or_else(word).map_or(beginning, |end| &beginning[..end])
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::thread_links::ThreadLinks;

    #[test]
    fn cut_ends_with_a_line_a_word_or_a_character() {
        assert_eq!(cut("one\ntwo\nthree", 10), "one\ntwo\n");
        assert_eq!(cut("one two three", 10), "one two ");
        assert_eq!(cut("ééééé", 5), "éé");
        assert_eq!(cut("a\nbbbbbbbbbbbbbb", 10), "a\nbbbbbbbb", "a line that ends too early");
        assert_eq!(cut("short", 10), "short");
    }

    #[test]
    fn level_cuts_the_longest_first() {
        assert_eq!(level(vec![5, 100, 5], 50), 40);
        assert_eq!(level(vec![50, 10, 50], 50), 20);
        assert_eq!(level(vec![5, 5], 50), usize::MAX);
        assert_eq!(level(Vec::new(), 50), usize::MAX);
    }

    #[test]
    fn excerpt_bounds_the_markup_of_a_table_with_many_empty_cells() {
        let columns = 3_000;
        let table = format!("{}\n{}\n", "|a".repeat(columns), "|-".repeat(columns));
        let table = format!("{table}{}", "|b|\n".repeat(1_000));
        assert!(
            table.len() < MAX_SOURCE
                && render_markdown(&table, context(), 10 * MAX_MARKUP).is_none(),
            "it grows"
        );
        let excerpt = Excerpt::new(&table, context());
        assert!(excerpt.markup_len() <= MAX_MARKUP);
        assert!(excerpt.shown < table.len());
    }

    #[test]
    fn excerpt_of_a_short_body_is_the_body() {
        let excerpt = Excerpt::new("# A\n\nshort *body*", context());
        assert_eq!(excerpt.shown, 17);
        assert!(excerpt.prose.unwrap().to_string().contains("<em>body</em>"));
        assert!(Excerpt::new(" \n", context()).prose.is_none());
        assert!(Excerpt::new("<!-- a template -->", context()).prose.is_none());
    }

    #[test]
    fn share_page_keeps_all_bodies_within_the_page() {
        let long = "<>\"' ".repeat(4_000);
        let sources = [vec!["short"; 50], vec![long.as_str(); 50]].concat();
        let mut bodies: Vec<_> = sources.iter().map(|it| PageBody::new(it, context())).collect();
        share_page(&mut bodies);
        let total: usize = bodies.iter().map(|body| body.excerpt.markup_len()).sum();
        assert!(total <= PAGE_MARKUP, "{total}");
        assert!(bodies[..50].iter().all(|body| body.excerpt.shown == body.source.len()));
    }

    fn context() -> BodyContext<'static> {
        static LINKS: LazyLock<ThreadLinks> = LazyLock::new(|| ThreadLinks::with_mirrored(&[]));
        BodyContext { links: &LINKS, anchor: "body", top_heading: 2 }
    }
}
