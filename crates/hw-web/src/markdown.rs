//! Renders untrusted Markdown as GitHub does, as harmless markup.
//!
//! comrak parses the Markdown and passes raw HTML through. The rewriter then visits all tags, generated or written
//! by the author: images become links, because loading one would reveal the reader to its host; references lead to
//! local pages; headings continue the page's own. ammonia filters every tag, attribute and URL at the end.

mod heading_levels;
mod known_tags;
pub(crate) mod references;
mod rewriter;
mod sanitizer;

use std::sync::LazyLock;

use comrak::nodes::NodeValue;
use comrak::options::{Extension, Render};
use comrak::{Arena, Options};
use hw_rules::safe_text::sanitize_for_display;

use crate::thread_links::ThreadLinks;

/// The dialect of GitHub's issues and comments: unlike in files, single line breaks count.
static COMRAK_OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| Options {
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

/// The position of a body on its page.
#[derive(Clone, Copy)]
pub(crate) struct BodyContext<'a> {
    pub(crate) links: &'a ThreadLinks,
    /// Prefix for the ids of footnotes, because several bodies share a page.
    pub(crate) anchor: &'a str,
    /// The level of the topmost heading, from 1 to 6.
    pub(crate) top_heading: usize,
}

/// Markup from [`render_markdown`] that a page may include unescaped.
pub(crate) struct SafeMarkup(String);

impl SafeMarkup {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl std::fmt::Display for SafeMarkup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Renders a body; none when the markup is longer than `max_bytes`.
///
/// A few bytes of Markdown can expand to megabytes, so rendering stops at the limit.
pub(crate) fn render_markdown(
    body: &str,
    context: BodyContext<'_>,
    max_bytes: usize,
) -> Option<SafeMarkup> {
    let arena = Arena::new();
    let document = comrak::parse_document(&arena, &sanitize_for_display(body), &COMRAK_OPTIONS);
    clean_link_urls(document);
    let mut parsed = BoundedMarkup::new(max_bytes);
    comrak::format_html(document, &COMRAK_OPTIONS, &mut parsed).ok()?;
    let markup = known_tags::escape_other_tags(&parsed.text);
    let rewritten =
        rewriter::rewrite_markup(&markup, context, BoundedMarkup::new(max_bytes)).ok()?;
    let prose = SafeMarkup(sanitizer::sanitize_markup(&rewritten.text));
    (prose.len() <= max_bytes).then_some(prose)
}

/// Removes invisible characters from URLs, in which comrak would percent-encode them.
///
/// Authors may write them as entities, so they appear only after parsing.
fn clean_link_urls<'a>(document: comrak::Node<'a>) {
    for node in document.descendants() {
        if let NodeValue::Link(link) | NodeValue::Image(link) = &mut node.data.borrow_mut().value {
            link.url = sanitize_for_display(&link.url);
        }
    }
}

/// A writer that fails when the text exceeds a length.
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
