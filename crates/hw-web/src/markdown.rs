//! Renders Markdown from outside as GitHub does, as markup that can do nothing.
//!
//! comrak parses the Markdown and passes raw HTML through. The rewriter then walks over all tags, whoever wrote
//! them: images become links, because loading one tells its owner who reads what; references lead to local pages;
//! headings continue the page's own. ammonia has the last word on every tag, attribute and address.

mod heading_levels;
mod known_tags;
pub(crate) mod references;
mod rewriter;
mod sanitizer;

use std::sync::LazyLock;

use comrak::nodes::NodeValue;
use comrak::options::{Extension, Render};
use comrak::{Arena, Options};
use hw_rules::clean::for_reading;

use crate::thread_links::ThreadLinks;

/// The dialect of GitHub's issues and comments: single line breaks count, unlike in its files.
static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| Options {
    extension: Extension {
        strikethrough: true,
        table: true,
        autolink: true,
        tasklist: true,
        footnotes: true,
        alerts: true,
        ..Extension::default()
    },
    render: Render {
        hardbreaks: true,
        r#unsafe: true,
        tasklist_classes: true,
        gfm_quirks: true,
        ..Render::default()
    },
    ..Options::default()
});

/// The place of a body in its page.
#[derive(Clone, Copy)]
pub(crate) struct BodyContext<'a> {
    pub(crate) links: &'a ThreadLinks,
    /// Precedes the ids of footnotes, because several bodies share a page.
    pub(crate) anchor: &'a str,
    /// The level of the topmost heading, from 1 to 6.
    pub(crate) top_heading: usize,
}

/// Markup that went through [`render_markdown`], and may stand in a page as it is.
pub(crate) struct Prose(String);

impl Prose {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl std::fmt::Display for Prose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Renders a body; none when the markup is longer than `max_bytes`.
///
/// A few bytes of Markdown can stand for megabytes, so the work stops where it is too much.
pub(crate) fn render_markdown(
    body: &str,
    context: BodyContext<'_>,
    max_bytes: usize,
) -> Option<Prose> {
    let arena = Arena::new();
    let document = comrak::parse_document(&arena, &for_reading(body), &OPTIONS);
    clean_addresses(document);
    let mut parsed = BoundedMarkup::new(max_bytes);
    comrak::format_html(document, &OPTIONS, &mut parsed).ok()?;
    let markup = known_tags::escape_other_tags(&parsed.text);
    let rewritten = rewriter::rewrite(&markup, context, BoundedMarkup::new(max_bytes)).ok()?;
    let prose = Prose(sanitizer::sanitize(&rewritten.text));
    (prose.len() <= max_bytes).then_some(prose)
}

/// Removes characters that cannot be seen from addresses, in which comrak would encode them.
///
/// They may have been written as entities, so they are there only after parsing.
fn clean_addresses<'a>(document: comrak::Node<'a>) {
    for node in document.descendants() {
        if let NodeValue::Link(link) | NodeValue::Image(link) = &mut node.data.borrow_mut().value {
            link.url = for_reading(&link.url);
        }
    }
}

/// A writer that fails when the text becomes too long.
struct BoundedMarkup {
    text: String,
    max_bytes: usize,
}

impl BoundedMarkup {
    fn new(max_bytes: usize) -> Self {
        Self { text: String::new(), max_bytes }
    }
}

impl std::fmt::Write for BoundedMarkup {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        if self.text.len() + part.len() > self.max_bytes {
            return Err(std::fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
#[path = "markdown/tests.rs"]
mod tests;
