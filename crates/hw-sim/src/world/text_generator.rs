//! Generates texts: plain or hostile.

use std::sync::Arc;

use crate::json_writer::escape_into;

/// A text as sent, and as read.
///
/// The two differ only in lone surrogates, which no string can hold: a reader gets U+FFFD instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireText {
    escaped: Arc<str>,
    value: Arc<str>,
}

impl WireText {
    #[must_use]
    pub fn from_plain(value: &str) -> Self {
        let mut escaped = String::with_capacity(value.len() + 2);
        escape_into(&mut escaped, value);
        let value: Arc<str> = value.into();
        let escaped = if *escaped == *value { Arc::clone(&value) } else { escaped.into() };
        Self { escaped, value }
    }

    /// Joins the pieces with lone surrogates.
    #[must_use]
    pub fn with_lone_surrogates(pieces: &[&str]) -> Self {
        let mut escaped = String::new();
        for (position, piece) in pieces.iter().enumerate() {
            if position > 0 {
                escaped.push_str(if position % 2 == 1 { "\\ud800" } else { "\\udc00" });
            }
            escape_into(&mut escaped, piece);
        }
        Self { escaped: escaped.into(), value: pieces.join("\u{fffd}").into() }
    }

    /// Returns its JSON escape, without quotes.
    pub(crate) fn escaped(&self) -> &str {
        &self.escaped
    }

    /// Returns the text that a correct JSON reader gets.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

const PARTS: [&str; 16] = [
    "pump controller",
    "tide gauge",
    "lock gate",
    "mooring plan",
    "sluice timer",
    "harbor map",
    "berth list",
    "beacon feed",
    "depth chart",
    "cargo form",
    "weather panel",
    "night shift report",
    "crane scheduler",
    "ballast sheet",
    "signal log",
    "export job",
];
const TROUBLES: [&str; 12] = [
    "loses its last reading after a restart",
    "shows yesterday's values",
    "is slow with many rows",
    "fails when the clock changes",
    "ignores the configured unit",
    "rounds the wrong way",
    "cannot be closed with the keyboard",
    "sends every message twice",
    "forgets the chosen berth",
    "breaks on names with spaces",
    "drops the first line",
    "times out under load",
];
const WISHES: [&str; 10] = [
    "Let the {} be filtered by date",
    "Document the {}",
    "Add a dry run to the {}",
    "Make the {} readable on small screens",
    "Remember the last view of the {}",
    "Split the {} into two steps",
    "Test the {} against bad input",
    "Log why the {} waits",
    "Allow a comment on each {}",
    "Speed up the {}",
];
const SENTENCES: [&str; 12] = [
    "It started after the last release.",
    "The old version did not do this.",
    "Steps:\n\n1. Open the page\n2. Wait for a minute\n3. Reload",
    "I can reproduce it every time.",
    "Happens only in the morning, which is odd.",
    "See the log:\n\n```\nwarn: queue is full\n```",
    "A smaller step would help already.",
    "We work around it by restarting.",
    "| berth | value |\n|---|---|\n| 3 | 7.2 |\n| 4 | 6.9 |",
    "Not urgent, but it adds up.",
    "I would be glad to send a change.",
    "The numbers in the report look right, so it is the view.",
];
const REMARKS: [&str; 12] = [
    "Confirmed here as well.",
    "Could you try with the current version?",
    "Thanks, that fixed it.",
    "I think this is the same as the one before.",
    "Looks good to me.",
    "One question below.",
    "Please keep the old name for now.",
    "A test would be nice.",
    "Works on our machines.",
    "+1",
    "Moved to the next milestone.",
    "Let us talk about it on Monday.",
];

const LABELS: [&str; 6] =
    ["bug", "documentation", "good first issue", "help wanted", "question", "spec:4.2"];
/// Labels that have broken readers before.
const HOSTILE_LABELS: [&str; 8] = [
    "a, b",
    "\"quoted\" 'twice' \\",
    "<b>bold</b>&amp;",
    "港 🚢 e\u{301}",
    "\u{202e}gub\u{202c}",
    "zero\u{200b}width",
    "[\"json\"]",
    "\u{1b}[31mred\u{1b}[0m",
];

/// The number of bodies that threads share.
const SHARED_BODIES: usize = 300;

/// A seeded source of texts.
#[derive(Debug)]
pub(crate) struct TextGenerator {
    is_hostile: bool,
    /// Bodies that threads share; empty if each thread has its own.
    shared_bodies: Vec<WireText>,
}

impl TextGenerator {
    pub(crate) fn new(
        is_hostile: bool,
        body_bytes: Option<usize>,
        rng: &mut fastrand::Rng,
    ) -> Self {
        let shared_count = body_bytes.map_or(0, |_| SHARED_BODIES);
        let shared_bodies =
            (0..shared_count).map(|_| long_body(rng, body_bytes.unwrap_or(0))).collect();
        Self { is_hostile, shared_bodies }
    }

    pub(crate) fn write_title(&self, rng: &mut fastrand::Rng) -> WireText {
        if self.is_hostile && rng.u8(0..4) == 0 {
            return hostile_text(rng, TextLength::Short);
        }
        WireText::from_plain(&plain_title(rng))
    }

    pub(crate) fn write_body(&self, rng: &mut fastrand::Rng) -> WireText {
        if self.is_hostile && rng.u8(0..3) == 0 {
            return hostile_text(rng, TextLength::Long);
        }
        if let Some(text) = self.shared_bodies.get(rng.usize(0..self.shared_bodies.len().max(1))) {
            return text.clone();
        }
        let count = rng.usize(1..=4);
        let chosen = rng.choose_multiple(SENTENCES.iter().copied(), count);
        WireText::from_plain(&format!(
            "{}\n\nSeen in week {}.",
            chosen.join("\n\n"),
            rng.u8(1..=52)
        ))
    }

    pub(crate) fn pick_label(&self, rng: &mut fastrand::Rng) -> &'static str {
        if self.is_hostile && rng.u8(0..3) == 0 {
            return pick_one(rng, &HOSTILE_LABELS);
        }
        pick_one(rng, &LABELS)
    }

    pub(crate) fn write_comment(&self, rng: &mut fastrand::Rng) -> WireText {
        if self.is_hostile && rng.u8(0..3) == 0 {
            return hostile_text(rng, TextLength::Long);
        }
        WireText::from_plain(&format!("{} {}", pick_one(rng, &REMARKS), pick_one(rng, &SENTENCES)))
    }
}

pub(crate) fn pick_one<'a>(rng: &mut fastrand::Rng, choices: &[&'a str]) -> &'a str {
    choices.get(rng.usize(0..choices.len())).copied().unwrap_or_default()
}

/// Generates a body of about this many bytes.
fn long_body(rng: &mut fastrand::Rng, bytes: usize) -> WireText {
    let mut body = format!("Seen in week {} near the {}.", rng.u8(1..=52), pick_one(rng, &PARTS));
    while body.len() < bytes {
        let words = [pick_one(rng, &PARTS), pick_one(rng, &TROUBLES), pick_one(rng, &SENTENCES)];
        body.push_str(&format!("\n\nThe {} {}. {}", words[0], words[1], words[2]));
    }
    body.truncate(body.floor_char_boundary(bytes.max(1)));
    WireText::from_plain(&body)
}

fn plain_title(rng: &mut fastrand::Rng) -> String {
    let part = pick_one(rng, &PARTS);
    if rng.bool() {
        format!("The {part} {}", pick_one(rng, &TROUBLES))
    } else {
        pick_one(rng, &WISHES).replace("{}", part)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextLength {
    /// A title: never empty.
    Short,
    /// A body or a comment.
    Long,
}

/// Returns a text that has broken readers before.
fn hostile_text(rng: &mut fastrand::Rng, length: TextLength) -> WireText {
    let is_long = length == TextLength::Long;
    match rng.u8(0..18) {
        0 => WireText::from_plain("before\u{0}after"),
        1 => WireText::with_lone_surrogates(&["half ", " a pair ", ""]),
        2 => WireText::from_plain("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J"),
        3 => WireText::from_plain("\u{202e}txt.exe\u{202c} \u{200f}שלום\u{2066}\u{2069}"),
        4 => WireText::from_plain(
            "<script>alert('x')</script><img src=x onerror=alert(1)> </textarea>",
        ),
        5 => WireText::from_plain("zero\u{200b}width\u{200d}\u{feff}joined"),
        6 => WireText::from_plain("👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ✨ é e\u{301}"),
        7 => WireText::from_plain("港の水位計が動かない 泵控制器 항만"),
        8 => WireText::from_plain(if is_long { "" } else { "'" }),
        9 => WireText::from_plain("line one\r\nline two\r\n\r\n\tindented\rold mac"),
        10 => WireText::from_plain("'; drop table issues; -- \" ` $1 %s {{7*7}} ${x} \\"),
        11 => WireText::from_plain("NEAR(a b) OR \"unclosed AND c++ node.js foo-bar col:umn^ *"),
        12 => WireText::from_plain("\\ud800 written out, \\u0000 too, \\n and \"quotes\""),
        13 => WireText::from_plain("\u{fffd}\u{fffe}\u{ffff}\u{10ffff}\u{e000}"),
        14 if is_long && rng.u8(0..8) == 0 => {
            WireText::from_plain(&"0123456789abcdé\n".repeat(4096))
        }
        15 => WireText::from_plain("   \t  "),
        16 => WireText::with_lone_surrogates(&["", ""]),
        _ => {
            WireText::from_plain("@everyone see #1, acme/pump#2 and https://example.com/?a=1&b=2#c")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_text_sends_lone_surrogates_that_are_read_as_replacements() {
        let text = WireText::with_lone_surrogates(&["a", "b", "c"]);
        assert_eq!(text.escaped(), r"a\ud800b\udc00c");
        assert_eq!(text.value(), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn text_generator_shares_a_few_bodies_of_the_requested_size() {
        let mut rng = fastrand::Rng::with_seed(7);
        let texts = TextGenerator::new(false, Some(1024), &mut rng);
        let bodies: Vec<WireText> = (0..5000).map(|_| texts.write_body(&mut rng)).collect();
        assert!(bodies.iter().all(|body| body.value().len() == 1024));
        let distinct: std::collections::BTreeSet<_> =
            bodies.iter().map(|body| body.value().as_ptr()).collect();
        assert!((200..=SHARED_BODIES).contains(&distinct.len()), "{}", distinct.len());
    }

    #[test]
    fn wire_text_has_the_value_that_a_json_reader_gets() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let text = hostile_text(&mut rng, TextLength::Long);
            if let Ok(read) = serde_json::from_str::<String>(&format!("\"{}\"", text.escaped())) {
                assert_eq!(read, text.value());
            } else {
                assert!(text.value().contains('\u{fffd}'), "only lone surrogates may be refused");
            }
        }
    }
}
