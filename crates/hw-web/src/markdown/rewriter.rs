//! Rewrites the tags and texts of a body: what a page never loads becomes links, what GitHub links becomes local.
//!
//! It reads what comrak wrote and what authors wrote as HTML in one go, tag by tag, as a browser's parser does it.
//! Attributes that it does not know pass through: removing them is the sanitizer's work.

use std::cell::RefCell;
use std::fmt::{Result, Write};

use comrak::html::escape;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use hw_rules::clean::for_reading;

use super::heading_levels::HeadingLevels;
use super::references::{ReferenceTarget, find_references};
use super::{BodyContext, BoundedMarkup};

/// How deep a text may nest; below that it goes on flat. What it costs to parse HTML grows with the square.
const DEEPEST: usize = 40;
/// Elements that a reader clicks: no link of ours stands within them.
const CLICKED: [&str; 2] = ["a", "summary"];
/// How many open elements are searched for the one that an end tag closes.
const MAX_SEARCHED: usize = 100;

/// Writes a body's markup in the form that the sanitizer gets.
pub(super) fn rewrite(
    markup: &str,
    context: BodyContext<'_>,
    out: BoundedMarkup,
) -> std::result::Result<BoundedMarkup, std::fmt::Error> {
    let tokenizer = Tokenizer::new(
        Sink(RefCell::new((Rewriter::new(context, out), Ok(())))),
        TokenizerOpts::default(),
    );
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(markup));
    // a script could stop the tokenizer, but none is started
    while !input.is_empty() {
        drop(tokenizer.feed(&input));
    }
    tokenizer.end();
    let (rewriter, written) = tokenizer.sink.0.into_inner();
    written.map(|()| rewriter.out)
}

/// The tokenizer hands out shared references; the first error ends the writing.
struct Sink<'a>(RefCell<(Rewriter<'a>, Result)>);

impl TokenSink for Sink<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let (rewriter, written) = &mut *self.0.borrow_mut();
        if written.is_ok() {
            *written = rewriter.token(token);
        }
        TokenSinkResult::Continue
    }
}

struct Rewriter<'a> {
    context: BodyContext<'a>,
    out: BoundedMarkup,
    /// Text that was read since the last tag.
    text: String,
    open: Vec<OpenElement>,
    levels: HeadingLevels,
    /// The address of the link that has just begun; its text may be the same.
    bare_address: Option<String>,
}

struct OpenElement {
    /// The name that the author used.
    name: String,
    /// The name that was written; none when it is too deep.
    written: Option<String>,
}

impl<'a> Rewriter<'a> {
    fn new(context: BodyContext<'a>, out: BoundedMarkup) -> Self {
        let levels = HeadingLevels::new(context.top_heading);
        Self { context, out, text: String::new(), open: Vec::new(), levels, bare_address: None }
    }

    fn token(&mut self, token: Token) -> Result {
        match token {
            Token::CharacterTokens(text) => self.text.push_str(&text),
            Token::TagToken(tag) => {
                self.flush_text()?;
                self.bare_address = None;
                match tag.kind {
                    TagKind::StartTag => self.start(&tag)?,
                    TagKind::EndTag => self.end(&tag.name)?,
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

    fn start(&mut self, tag: &Tag) -> Result {
        match &*tag.name {
            "img" => {
                let (source, label) = (attribute(tag, "src"), attribute(tag, "alt"));
                self.media("image", source.as_deref(), label.as_deref())
            }
            "video" => self.media("video", attribute(tag, "src").as_deref(), None),
            "input" if attribute(tag, "type").as_deref() == Some("checkbox") => {
                let is_done = attribute(tag, "checked").is_some();
                self.out.write_str(if is_done { "☑" } else { "☐" })
            }
            "input" | "source" => Ok(()),
            "br" | "hr" | "wbr" | "col" => write!(self.out, "<{}>", tag.name),
            name => self.open(name, tag),
        }
    }

    fn open(&mut self, name: &str, tag: &Tag) -> Result {
        self.close_implied(name);
        let level = heading_level(name).map(|level| self.levels.next(level));
        let written = level.map_or_else(|| name.to_owned(), |level| format!("h{level}"));
        if self.open.len() >= DEEPEST {
            self.open.push(OpenElement { name: name.to_owned(), written: None });
            return Ok(());
        }
        write!(self.out, "<{written}")?;
        for each in &tag.attrs {
            let (key, value) = (&*each.name.local, for_reading(&each.value));
            let value = match key {
                "href" => self.link_target(&value),
                "id" => self.footnote_id(&value),
                // whatever else the tokenizer takes for a name
                _ => key.bytes().all(is_name).then_some(value),
            };
            if let Some(value) = value {
                write!(self.out, " {key}=\"")?;
                escape(&mut self.out, &value)?;
                self.out.write_str("\"")?;
            }
            if key == "href" {
                self.bare_address = Some(for_reading(&each.value));
            }
        }
        self.open.push(OpenElement { name: name.to_owned(), written: Some(written) });
        self.out.write_str(">")
    }

    /// Closes what a browser closes at this tag, so that forgotten end tags do not count as nesting.
    fn close_implied(&mut self, name: &str) {
        let closed: &[&str] = match name {
            "li" => &["p", "li"],
            "p" => &["p"],
            "td" | "th" => &["td", "th"],
            "tr" => &["td", "th", "tr"],
            "dt" | "dd" => &["dt", "dd"],
            _ => &[],
        };
        while self.open.last().is_some_and(|above| closed.contains(&&*above.name)) {
            self.open.pop();
        }
    }

    fn end(&mut self, name: &str) -> Result {
        let is_heading = heading_level(name).is_some();
        let closes = |open: &OpenElement| {
            open.name == name || is_heading && heading_level(&open.name).is_some()
        };
        let Some(depth) = self.open.iter().rev().take(MAX_SEARCHED).position(closes) else {
            return Ok(());
        };
        let at = self.open.len() - 1 - depth;
        let closed = self.open.drain(at..).next().and_then(|open| open.written);
        closed.map_or(Ok(()), |name| write!(self.out, "</{name}>"))
    }

    /// Writes a link to something that a page does not load.
    fn media(&mut self, kind: &str, source: Option<&str>, label: Option<&str>) -> Result {
        let label = label.filter(|label| !label.trim().is_empty());
        let is_link = source.is_some() && !self.is_within(&CLICKED);
        if let (Some(source), true) = (source, is_link) {
            self.out.write_str("<a href=\"")?;
            escape(&mut self.out, source)?;
            self.out.write_str("\">")?;
        }
        escape(&mut self.out, &label.map_or(kind.to_owned(), |label| format!("{kind}: {label}")))?;
        self.out.write_str(if is_link { "</a>" } else { "" })
    }

    /// The address that a link may have: a local page where there is one, and none within our own pages otherwise.
    fn link_target(&self, address: &str) -> Option<String> {
        if let Some(id) = address.strip_prefix('#') {
            return self.footnote_id(id).map(|id| format!("#{id}"));
        }
        let local = self.context.links.local_page(address);
        local.or_else(|| has_scheme(address).then(|| address.to_owned()))
    }

    fn footnote_id(&self, id: &str) -> Option<String> {
        let is_footnote = id.starts_with("fn-") || id.starts_with("fnref-");
        let is_plain = id.len() <= 100 && !id.contains(|c: char| c.is_whitespace() || c == '"');
        (is_footnote && is_plain).then(|| format!("{}-{id}", self.context.anchor))
    }

    fn flush_text(&mut self) -> Result {
        let text = std::mem::take(&mut self.text);
        // what cannot be seen may have been written as an entity, and is there only now
        let text = for_reading(&text);
        if self.is_within(&["code", "pre", "kbd", "samp", "tt"]) {
            return escape(&mut self.out, &text);
        }
        if self.bare_address.as_deref() == Some(&*text)
            && let Some(name) = self.context.links.short_name(&text)
        {
            return escape(&mut self.out, &name);
        }
        self.write_references(&text)
    }

    fn write_references(&mut self, text: &str) -> Result {
        let is_clicked = self.is_within(&CLICKED);
        let mut written = 0;
        for reference in find_references(text) {
            let target = match reference.target {
                ReferenceTarget::Emoji(emoji) => {
                    escape(&mut self.out, &text[written..reference.at.start])?;
                    self.out.write_str(emoji)?;
                    written = reference.at.end;
                    continue;
                }
                _ if is_clicked => continue,
                ReferenceTarget::Login(login) => Some(format!("/?q=author%3A{login}")),
                ReferenceTarget::Thread { repository, number } => {
                    self.context.links.page_of(repository, number)
                }
            };
            let Some(target) = target else { continue };
            escape(&mut self.out, &text[written..reference.at.start])?;
            write!(self.out, "<a href=\"{target}\">{}</a>", &text[reference.at.clone()])?;
            written = reference.at.end;
        }
        escape(&mut self.out, &text[written..])
    }

    fn is_within(&self, names: &[&str]) -> bool {
        self.open.iter().rev().take(MAX_SEARCHED).any(|open| names.contains(&&*open.name))
    }
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    let found = tag.attrs.iter().find(|each| &*each.name.local == name)?;
    Some(for_reading(&found.value))
}

fn heading_level(name: &str) -> Option<usize> {
    ["h1", "h2", "h3", "h4", "h5", "h6"].iter().position(|each| *each == name).map(|at| at + 1)
}

/// Whether an address begins with a scheme, and so leads out of our pages, or nowhere.
fn has_scheme(address: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    address.split_once(':').is_some_and(|(scheme, _)| scheme.bytes().all(plain))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':')
}
