//! Markdown from outside, made into markup that can do nothing.
//!
//! What is not Markdown stays text: raw HTML is shown as it was written. Images are not loaded, because each
//! would tell somebody that it was looked at; they become links. What comes out is sanitised once more.

mod events;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use hw_rules::clean::for_reading;
use pulldown_cmark::{Options, Parser, TextMergeStream, html};

const TAGS: [&str; 24] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
];

/// The last word on what may come out, whatever went in.
static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut sanitiser = Builder::empty();
    sanitiser
        .tags(TAGS.into_iter().chain(["ul"]).collect())
        .generic_attributes(HashSet::new())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "title"])),
            ("ol", HashSet::from(["start"])),
        ]))
        // a wide one scrolls, and has to be reached with the keys for that
        .set_tag_attribute_value("table", "tabindex", "0")
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("nofollow noopener noreferrer"));
    sanitiser
});

/// Markup that went through [`prose`], and may stand in a page as it is.
pub(crate) struct Prose(String);

impl Prose {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Display for Prose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A body as markup; none when that is longer than `max_bytes`.
///
/// A few bytes of Markdown can stand for megabytes, so the work stops where it is too much.
pub(crate) fn prose(body: &str, max_bytes: usize) -> Option<Prose> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let body = for_reading(body);
    let events = TextMergeStream::new(Parser::new_ext(&body, options));
    let mut markup = BoundedMarkup { text: String::new(), max_bytes };
    html::write_html_fmt(&mut markup, events::harmless(events)).ok()?;
    let prose = Prose(SANITISER.clean(&markup.text).to_string());
    (prose.len() <= max_bytes).then_some(prose)
}

struct BoundedMarkup {
    text: String,
    max_bytes: usize,
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
