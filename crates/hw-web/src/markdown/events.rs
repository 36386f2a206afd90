//! The parts of a Markdown text, each turned into one that may be shown.

use hw_rules::clean::for_reading;
use linkify::{LinkFinder, LinkKind};
use pulldown_cmark::{BlockQuoteKind, CowStr, Event, HeadingLevel, LinkType, Tag, TagEnd};

/// How deep a text may nest; below that it goes on flat. What it costs to parse HTML grows with the square.
const DEEPEST: usize = 40;

/// Where in a text we are.
#[derive(Default)]
struct Place {
    /// Links do not stand in links.
    links: usize,
    /// What is code stays as it is.
    in_code: bool,
    /// One for each image that is open: whether it became a link.
    images: Vec<bool>,
}

/// The same text without raw HTML and images, with its addresses as links and its headings below ours.
pub(super) fn harmless<'a>(
    events: impl Iterator<Item = Event<'a>>,
) -> impl Iterator<Item = Event<'a>> {
    let (mut place, mut depth) = (Place::default(), 0);
    events.flat_map(move |event| place.turned(seen(event))).filter(move |event| {
        let is_end = matches!(event, Event::End(_));
        depth += usize::from(matches!(event, Event::Start(_)));
        let is_shown = depth <= DEEPEST || !(is_end || matches!(event, Event::Start(_)));
        depth -= usize::from(is_end);
        is_shown
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not named here is harmless as it is, or sanitised away"
)]
impl Place {
    fn turned<'a>(&mut self, event: Event<'a>) -> Vec<Event<'a>> {
        match event {
            Event::Start(tag) => self.started(tag),
            Event::End(tag) => self.ended(tag),
            Event::Html(text) | Event::InlineHtml(text) => vec![Event::Text(text)],
            Event::Text(text) if self.links == 0 && !self.in_code => linked(text),
            Event::TaskListMarker(is_done) => {
                vec![Event::Text(CowStr::Borrowed(if is_done { "☑ " } else { "☐ " }))]
            }
            other => vec![other],
        }
    }

    fn started<'a>(&mut self, tag: Tag<'a>) -> Vec<Event<'a>> {
        match tag {
            Tag::Image { dest_url, .. } => return self.image(dest_url),
            Tag::Link { .. } => self.links += 1,
            Tag::CodeBlock(_) => self.in_code = true,
            Tag::BlockQuote(Some(alert)) => return alerted(alert).into(),
            Tag::HtmlBlock => return vec![Event::Start(Tag::Paragraph)],
            Tag::Heading { level, .. } => {
                let level = lowered(level);
                let (id, classes, attrs) = (None, Vec::new(), Vec::new());
                return vec![Event::Start(Tag::Heading { level, id, classes, attrs })];
            }
            _ => {}
        }
        vec![Event::Start(tag)]
    }

    fn ended<'a>(&mut self, tag: TagEnd) -> Vec<Event<'a>> {
        match tag {
            TagEnd::Image => {
                let was_link = self.images.pop().unwrap_or_default();
                self.links -= usize::from(was_link);
                return if was_link { vec![Event::End(TagEnd::Link)] } else { Vec::new() };
            }
            TagEnd::Link => self.links = self.links.saturating_sub(1),
            TagEnd::CodeBlock => self.in_code = false,
            TagEnd::HtmlBlock => return vec![Event::End(TagEnd::Paragraph)],
            TagEnd::Heading(level) => return vec![Event::End(TagEnd::Heading(lowered(level)))],
            _ => {}
        }
        vec![Event::End(tag)]
    }

    /// A link to the image; its alternative text follows.
    fn image<'a>(&mut self, address: CowStr<'a>) -> Vec<Event<'a>> {
        let is_link = self.links == 0;
        self.images.push(is_link);
        let named = Event::Text(CowStr::Borrowed("image: "));
        if !is_link {
            return vec![named];
        }
        self.links += 1;
        vec![Event::Start(link(address)), named]
    }
}

/// What cannot be seen may have been written as an entity, and is there only now.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others carry no text that is shown")]
fn seen(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Text(text) => Event::Text(clean(text)),
        Event::Code(text) => Event::Code(clean(text)),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let (dest_url, title) = (clean(dest_url), clean(title));
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let (dest_url, title) = (clean(dest_url), clean(title));
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        other => other,
    }
}

fn clean(text: CowStr<'_>) -> CowStr<'_> {
    if text.is_ascii() && !text.contains(|c: char| c.is_ascii_control()) {
        return text;
    }
    for_reading(&text).into()
}

/// A quotation that begins with the word that its sign stood for.
fn alerted<'a>(alert: BlockQuoteKind) -> [Event<'a>; 6] {
    let word = match alert {
        BlockQuoteKind::Note => "Note",
        BlockQuoteKind::Tip => "Tip",
        BlockQuoteKind::Important => "Important",
        BlockQuoteKind::Warning => "Warning",
        BlockQuoteKind::Caution => "Caution",
    };
    [
        Event::Start(Tag::BlockQuote(None)),
        Event::Start(Tag::Paragraph),
        Event::Start(Tag::Strong),
        Event::Text(CowStr::Borrowed(word)),
        Event::End(TagEnd::Strong),
        Event::End(TagEnd::Paragraph),
    ]
}

/// A page has its own two levels above.
fn lowered(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

/// A text in which addresses are links.
fn linked(text: CowStr<'_>) -> Vec<Event<'_>> {
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    let spans: Vec<_> = finder.spans(&text).collect();
    if spans.iter().all(|span| span.kind().is_none()) {
        drop(spans);
        return vec![Event::Text(text)];
    }
    let mut events = Vec::new();
    for span in spans {
        let part = || CowStr::from(span.as_str().to_owned());
        match span.kind() {
            None => events.push(Event::Text(part())),
            Some(_) => events.extend([
                Event::Start(link(part())),
                Event::Text(part()),
                Event::End(TagEnd::Link),
            ]),
        }
    }
    events
}

fn link(dest_url: CowStr<'_>) -> Tag<'_> {
    Tag::Link {
        link_type: LinkType::Inline,
        dest_url,
        title: CowStr::Borrowed(""),
        id: CowStr::Borrowed(""),
    }
}
