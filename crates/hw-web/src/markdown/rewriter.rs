//! Rewrites the tags and texts of a body: media become links, and references to mirrored threads become local links.
//!
//! It reads comrak's output and the author's own HTML in one pass, tag by tag, as a browser's parser does.
//! Unknown attributes pass through: the sanitizer removes them.

use std::cell::RefCell;
use std::fmt::{Result, Write};

use comrak::html::escape;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use hw_rules::safe_text::sanitize_for_display;

use super::heading_levels::HeadingLevels;
use super::references::{ReferenceTarget, find_references};
use super::{BodyContext, BoundedMarkup};

/// Maximum nesting; deeper elements are flattened, because the cost of parsing HTML grows with the square of the depth.
const MAX_DEPTH: usize = 40;
/// Clickable elements: the rewriter adds no links inside them.
const CLICKABLE_TAGS: [&str; 2] = ["a", "summary"];
/// Open elements that are searched for the one that an end tag closes.
const MAX_SEARCHED: usize = 100;

/// Rewrites the markup of a body for the sanitizer.
pub(super) fn rewrite_markup(
    markup: &str,
    context: BodyContext<'_>,
    out: BoundedMarkup,
) -> std::result::Result<BoundedMarkup, std::fmt::Error> {
    let tokenizer = Tokenizer::new(
        RewriterSink(RefCell::new(MarkupRewriter::new(context, out))),
        TokenizerOpts::default(),
    );
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(markup));
    // only a script could suspend the tokenizer, and this sink never reports one
    while !input.is_empty() {
        drop(tokenizer.feed(&input));
    }
    tokenizer.end();
    let rewriter = tokenizer.sink.0.into_inner();
    rewriter.result.map(|()| rewriter.out)
}

/// Gives the tokenizer, which passes shared references, mutable access to the rewriter.
struct RewriterSink<'a>(RefCell<MarkupRewriter<'a>>);

impl TokenSink for RewriterSink<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut rewriter = self.0.borrow_mut();
        if rewriter.result.is_ok() {
            rewriter.result = rewriter.write_token(token);
        }
        TokenSinkResult::Continue
    }
}

struct MarkupRewriter<'a> {
    context: BodyContext<'a>,
    out: BoundedMarkup,
    /// The first error; nothing is written after it.
    result: Result,
    /// Text since the last tag.
    text: String,
    open_elements: Vec<OpenElement>,
    levels: HeadingLevels,
    /// The URL of the link that has just begun, whose text may be the same URL.
    link_url: Option<String>,
}

struct OpenElement {
    /// The tag name in the source.
    name: String,
    /// The tag name in the output; none when the element is nested too deeply.
    written: Option<String>,
}

impl<'a> MarkupRewriter<'a> {
    fn new(context: BodyContext<'a>, out: BoundedMarkup) -> Self {
        let levels = HeadingLevels::new(context.top_heading);
        Self {
            context,
            out,
            result: Ok(()),
            text: String::new(),
            open_elements: Vec::new(),
            levels,
            link_url: None,
        }
    }

    fn write_token(&mut self, token: Token) -> Result {
        match token {
            Token::CharacterTokens(text) => self.text.push_str(&text),
            Token::TagToken(tag) => {
                self.flush_text()?;
                self.link_url = None;
                match tag.kind {
                    TagKind::StartTag => self.start_tag(&tag)?,
                    TagKind::EndTag => self.end_tag(&tag.name)?,
                }
            }
            Token::EOFToken => self.flush_text()?,
            Token::DoctypeToken(_)
            | Token::CommentToken(_)
            | Token::NullCharacterToken
            | Token::ParseError(_) => {}
        }
        Ok(())
    }

    fn start_tag(&mut self, tag: &Tag) -> Result {
        match &*tag.name {
            "img" => {
                let (source, label) = (attribute_value(tag, "src"), attribute_value(tag, "alt"));
                self.write_media_link("image", source.as_deref(), label.as_deref())
            }
            "video" => self.write_media_link("video", attribute_value(tag, "src").as_deref(), None),
            "input" if attribute_value(tag, "type").as_deref() == Some("checkbox") => {
                let is_done = attribute_value(tag, "checked").is_some();
                self.out.write_str(if is_done { "☑" } else { "☐" })
            }
            "input" | "source" => Ok(()),
            "br" | "hr" | "wbr" | "col" => write!(self.out, "<{}>", tag.name),
            name => self.open_element(name, tag),
        }
    }

    fn open_element(&mut self, name: &str, tag: &Tag) -> Result {
        self.close_implied(name);
        let level = heading_level(name).map(|level| self.levels.next_level(level));
        let written = level.map_or_else(|| name.to_owned(), |level| format!("h{level}"));
        if self.open_elements.len() >= MAX_DEPTH {
            self.open_elements.push(OpenElement { name: name.to_owned(), written: None });
            return Ok(());
        }
        write!(self.out, "<{written}")?;
        for attribute in &tag.attrs {
            let (key, value) = (&*attribute.name.local, sanitize_for_display(&attribute.value));
            let value = match key {
                "href" => self.link_target(&value),
                "id" => self.footnote_id(&value),
                // the tokenizer accepts names that are not valid in markup
                _ => key.bytes().all(is_attribute_byte).then_some(value),
            };
            if let Some(value) = value {
                write!(self.out, " {key}=\"")?;
                escape(&mut self.out, &value)?;
                self.out.write_str("\"")?;
            }
            if key == "href" {
                self.link_url = Some(sanitize_for_display(&attribute.value));
            }
        }
        self.open_elements.push(OpenElement { name: name.to_owned(), written: Some(written) });
        self.out.write_str(">")
    }

    /// Closes the elements that a browser closes at this tag, so that omitted end tags do not count as nesting.
    fn close_implied(&mut self, name: &str) {
        let closed: &[&str] = match name {
            "li" => &["p", "li"],
            "p" => &["p"],
            "td" | "th" => &["td", "th"],
            "tr" => &["td", "th", "tr"],
            "dt" | "dd" => &["dt", "dd"],
            _ => &[],
        };
        while self.open_elements.last().is_some_and(|above| closed.contains(&&*above.name)) {
            self.open_elements.pop();
        }
    }

    fn end_tag(&mut self, name: &str) -> Result {
        let is_heading = heading_level(name).is_some();
        let mut innermost_first = self.open_elements.iter().rev().take(MAX_SEARCHED);
        let Some(depth) = innermost_first.position(|open| {
            open.name == name || is_heading && heading_level(&open.name).is_some()
        }) else {
            return Ok(());
        };
        let at = self.open_elements.len() - 1 - depth;
        let closed = self.open_elements.drain(at..).next().and_then(|open| open.written);
        closed.map_or(Ok(()), |name| write!(self.out, "</{name}>"))
    }

    /// Writes a link to a medium that the page does not load.
    fn write_media_link(
        &mut self,
        kind: &str,
        source: Option<&str>,
        label: Option<&str>,
    ) -> Result {
        let label = label.filter(|label| !label.trim().is_empty());
        let is_link = source.is_some() && !self.is_inside(&CLICKABLE_TAGS);
        if let (Some(source), true) = (source, is_link) {
            self.out.write_str("<a href=\"")?;
            escape(&mut self.out, source)?;
            self.out.write_str("\">")?;
        }
        escape(&mut self.out, &label.map_or(kind.to_owned(), |label| format!("{kind}: {label}")))?;
        self.out.write_str(if is_link { "</a>" } else { "" })
    }

    /// Returns the target of a link: the local page if there is one, else a URL with a scheme.
    ///
    /// Relative URLs are removed, so that a body cannot link into our own pages.
    fn link_target(&self, url: &str) -> Option<String> {
        if let Some(id) = url.strip_prefix('#') {
            return self.footnote_id(id).map(|id| format!("#{id}"));
        }
        let local = self.context.links.page_for_url(url);
        local.or_else(|| has_scheme(url).then(|| url.to_owned()))
    }

    fn footnote_id(&self, id: &str) -> Option<String> {
        let is_footnote = id.starts_with("fn-") || id.starts_with("fnref-");
        let is_plain = id.len() <= 100 && !id.contains(|c: char| c.is_whitespace() || c == '"');
        (is_footnote && is_plain).then(|| format!("{}-{id}", self.context.anchor))
    }

    fn flush_text(&mut self) -> Result {
        let text = std::mem::take(&mut self.text);
        // invisible characters may have been written as entities, which are decoded only here
        let text = sanitize_for_display(&text);
        if self.is_inside(&["code", "pre", "kbd", "samp", "tt"]) {
            return escape(&mut self.out, &text);
        }
        if self.link_url.as_deref() == Some(&*text)
            && let Some(name) = self.context.links.short_name(&text)
        {
            return escape(&mut self.out, &name);
        }
        self.write_references(&text)
    }

    fn write_references(&mut self, text: &str) -> Result {
        let is_in_link = self.is_inside(&CLICKABLE_TAGS);
        let mut written = 0;
        for reference in find_references(text) {
            let target = match reference.target {
                ReferenceTarget::Emoji(emoji) => {
                    escape(&mut self.out, &text[written..reference.range.start])?;
                    self.out.write_str(emoji)?;
                    written = reference.range.end;
                    continue;
                }
                _ if is_in_link => continue,
                ReferenceTarget::Login(login) => Some(format!("/?q=author%3A{login}")),
                ReferenceTarget::Thread { repository, number } => {
                    self.context.links.page_for_reference(repository, number)
                }
            };
            let Some(target) = target else { continue };
            escape(&mut self.out, &text[written..reference.range.start])?;
            write!(self.out, "<a href=\"{target}\">{}</a>", &text[reference.range.clone()])?;
            written = reference.range.end;
        }
        escape(&mut self.out, &text[written..])
    }

    fn is_inside(&self, names: &[&str]) -> bool {
        self.open_elements.iter().rev().take(MAX_SEARCHED).any(|open| names.contains(&&*open.name))
    }
}

fn attribute_value(tag: &Tag, name: &str) -> Option<String> {
    let found = tag.attrs.iter().find(|attribute| &*attribute.name.local == name)?;
    Some(sanitize_for_display(&found.value))
}

fn heading_level(name: &str) -> Option<usize> {
    ["h1", "h2", "h3", "h4", "h5", "h6"]
        .iter()
        .position(|heading| *heading == name)
        .map(|at| at + 1)
}

/// Checks whether a URL begins with a scheme, and so leads out of our pages.
fn has_scheme(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| scheme.bytes().all(is_scheme_byte))
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn is_attribute_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':')
}
