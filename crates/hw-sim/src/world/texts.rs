//! What people write: plain, believable or hostile.

use std::sync::Arc;

use crate::json::escape_into;

/// A text as it travels and as it is read.
///
/// They differ only where the wire carries half a surrogate pair, which no string can hold: a
/// reader gets U+FFFD for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    escaped: Arc<str>,
    value: Arc<str>,
}

impl Text {
    #[must_use]
    pub fn plain(value: &str) -> Self {
        let mut escaped = String::with_capacity(value.len() + 2);
        escape_into(&mut escaped, value);
        let told: Arc<str> = value.into();
        let escaped = if escaped == value { Arc::clone(&told) } else { escaped.into() };
        Self { escaped, value: told }
    }

    /// The pieces with half a surrogate pair between each two.
    #[must_use]
    pub fn with_lone_surrogates(pieces: &[&str]) -> Self {
        let mut escaped = String::new();
        for (position, piece) in pieces.iter().enumerate() {
            if 0 < position {
                escaped.push_str(if position % 2 == 1 { "\\ud800" } else { "\\udc00" });
            }
            escape_into(&mut escaped, piece);
        }
        Self { escaped: escaped.into(), value: pieces.join("\u{fffd}").into() }
    }

    /// Its JSON escape, without quotes.
    pub(crate) fn escaped(&self) -> &str {
        &self.escaped
    }

    /// What a perfect JSON reader gets.
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
    "harbour map",
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
/// Labels that have broken somebody's reader before.
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

/// How many bodies are enough for threads that share them.
const SHARED_BODIES: usize = 300;

/// A seeded source of texts.
#[derive(Debug)]
pub(crate) struct Author {
    hostile: bool,
    /// Bodies that threads share; none where each has its own.
    shared: Vec<Text>,
}

impl Author {
    pub(crate) fn new(hostile: bool, body_bytes: Option<usize>, dice: &mut fastrand::Rng) -> Self {
        let shared = body_bytes.map_or(0, |_| SHARED_BODIES);
        let shared = (0..shared).map(|_| long_body(dice, body_bytes.unwrap_or(0))).collect();
        Self { hostile, shared }
    }

    pub(crate) fn title(&self, dice: &mut fastrand::Rng) -> Text {
        if self.hostile && dice.u8(0..4) == 0 {
            return hostile(dice, false);
        }
        Text::plain(&plain_title(dice))
    }

    pub(crate) fn body(&self, dice: &mut fastrand::Rng) -> Text {
        if self.hostile && dice.u8(0..3) == 0 {
            return hostile(dice, true);
        }
        if let Some(text) = self.shared.get(dice.usize(0..self.shared.len().max(1))) {
            return text.clone();
        }
        let count = dice.usize(1..=4);
        let chosen = dice.choose_multiple(SENTENCES.iter().copied(), count);
        Text::plain(&format!("{}\n\nSeen in week {}.", chosen.join("\n\n"), dice.u8(1..=52)))
    }

    pub(crate) fn label(&self, dice: &mut fastrand::Rng) -> &'static str {
        if self.hostile && dice.u8(0..3) == 0 {
            return one_of(dice, &HOSTILE_LABELS);
        }
        one_of(dice, &LABELS)
    }

    pub(crate) fn remark(&self, dice: &mut fastrand::Rng) -> Text {
        if self.hostile && dice.u8(0..3) == 0 {
            return hostile(dice, true);
        }
        Text::plain(&format!("{} {}", one_of(dice, &REMARKS), one_of(dice, &SENTENCES)))
    }
}

pub(crate) fn one_of<'a>(dice: &mut fastrand::Rng, choices: &[&'a str]) -> &'a str {
    choices.get(dice.usize(0..choices.len())).copied().unwrap_or_default()
}

/// A body of about so many bytes.
fn long_body(dice: &mut fastrand::Rng, bytes: usize) -> Text {
    let mut body = format!("Seen in week {} near the {}.", dice.u8(1..=52), one_of(dice, &PARTS));
    while body.len() < bytes {
        let words = [one_of(dice, &PARTS), one_of(dice, &TROUBLES), one_of(dice, &SENTENCES)];
        body.push_str(&format!("\n\nThe {} {}. {}", words[0], words[1], words[2]));
    }
    body.truncate(body.floor_char_boundary(bytes.max(1)));
    Text::plain(&body)
}

fn plain_title(dice: &mut fastrand::Rng) -> String {
    let part = one_of(dice, &PARTS);
    if dice.bool() {
        format!("The {part} {}", one_of(dice, &TROUBLES))
    } else {
        one_of(dice, &WISHES).replace("{}", part)
    }
}

/// A text that has broken somebody's reader before.
fn hostile(dice: &mut fastrand::Rng, long: bool) -> Text {
    match dice.u8(0..18) {
        0 => Text::plain("before\u{0}after"),
        1 => Text::with_lone_surrogates(&["half ", " a pair ", ""]),
        2 => Text::plain("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J"),
        3 => Text::plain("\u{202e}txt.exe\u{202c} \u{200f}שלום\u{2066}\u{2069}"),
        4 => Text::plain("<script>alert('x')</script><img src=x onerror=alert(1)> </textarea>"),
        5 => Text::plain("zero\u{200b}width\u{200d}\u{feff}joined"),
        6 => Text::plain("👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ✨ é e\u{301}"),
        7 => Text::plain("港の水位計が動かない 泵控制器 항만"),
        8 => Text::plain(if long { "" } else { "'" }),
        9 => Text::plain("line one\r\nline two\r\n\r\n\tindented\rold mac"),
        10 => Text::plain("'; drop table issues; -- \" ` $1 %s {{7*7}} ${x} \\"),
        11 => Text::plain("NEAR(a b) OR \"unclosed AND c++ node.js foo-bar col:umn^ *"),
        12 => Text::plain("\\ud800 written out, \\u0000 too, \\n and \"quotes\""),
        13 => Text::plain("\u{fffd}\u{fffe}\u{ffff}\u{10ffff}\u{e000}"),
        14 if long && dice.u8(0..8) == 0 => Text::plain(&"0123456789abcdé\n".repeat(4096)),
        15 => Text::plain("   \t  "),
        16 => Text::with_lone_surrogates(&["", ""]),
        _ => Text::plain("@everyone see #1, acme/pump#2 and https://example.com/?a=1&b=2#c"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_travels_as_its_escape_and_is_read_as_a_replacement() {
        let text = Text::with_lone_surrogates(&["a", "b", "c"]);
        assert_eq!(text.escaped(), r"a\ud800b\udc00c");
        assert_eq!(text.value(), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn shared_bodies_are_of_the_size_asked_for_and_few() {
        let mut dice = fastrand::Rng::with_seed(7);
        let author = Author::new(false, Some(1024), &mut dice);
        let bodies: Vec<Text> = (0..5000).map(|_| author.body(&mut dice)).collect();
        assert!(bodies.iter().all(|body| body.value().len() == 1024));
        let kept: std::collections::BTreeSet<_> =
            bodies.iter().map(|body| body.value().as_ptr()).collect();
        assert!((200..=SHARED_BODIES).contains(&kept.len()), "{}", kept.len());
    }

    #[test]
    fn what_a_json_reader_gets_is_what_the_oracle_says() {
        let mut dice = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let text = hostile(&mut dice, true);
            if let Ok(read) = serde_json::from_str::<String>(&format!("\"{}\"", text.escaped())) {
                assert_eq!(read, text.value());
            } else {
                assert!(text.value().contains('\u{fffd}'), "only half a pair may be refused");
            }
        }
    }
}
