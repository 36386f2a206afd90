//! Words, numbers and times as pages show them. Text from outside is cleaned here, and escaped by the templates.

use hw_rules::clean::for_reading;
use hw_rules::snippet::Piece;
use hw_rules::time::Mark;

/// A moment: for machines, and for people, in UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) iso: String,
    pub(crate) shown: String,
}

impl When {
    pub(crate) fn of(mark: Mark) -> Self {
        let iso = mark.to_string();
        let shown = match (iso.get(..10), iso.get(10..11), iso.get(11..19)) {
            (Some(day), Some("T"), Some(time)) => format!("{day} {time} UTC"),
            _ => iso.clone(),
        };
        Self { iso, shown }
    }

    /// The day alone.
    pub(crate) fn day(&self) -> &str {
        self.shown.get(..10).unwrap_or(&self.shown)
    }
}

/// Characters of a title or a sentence that a page shows; GitHub's titles have 256 at most.
const MAX_LINE: usize = 1_000;
/// Characters of a name or a label; GitHub's have 100 at most.
const MAX_NAME: usize = 100;
/// Characters of a path to a file.
const MAX_PATH: usize = 300;
/// Bytes of an address that a page links to.
const MAX_URL: usize = 500;

/// A whole text on one line.
pub(crate) fn whole_line(text: &str) -> String {
    for_reading(text).replace(['\n', '\t'], " ")
}

/// A text on one line, cut where it is longer than any that makes sense.
pub(crate) fn line(text: &str) -> String {
    shortened(text, MAX_LINE)
}

/// A name or a label.
pub(crate) fn name(text: &str) -> String {
    shortened(text, MAX_NAME)
}

/// A path to a file.
pub(crate) fn path(text: &str) -> String {
    shortened(text, MAX_PATH)
}

fn shortened(text: &str, max_characters: usize) -> String {
    match text.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}…", whole_line(&text[..end])),
        None => whole_line(text),
    }
}

/// A text in pieces, on one line.
pub(crate) fn pieces(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut left = MAX_LINE;
    let mut shown = Vec::new();
    for piece in pieces {
        if left == 0 {
            break;
        }
        let text = shortened(&piece.text, left);
        left = left.saturating_sub(piece.text.chars().count());
        shown.push(Piece { text, is_match: piece.is_match });
    }
    shown
}

/// A name that something deleted left behind, or whoever it was.
pub(crate) fn author(login: Option<&str>) -> String {
    login.map_or_else(|| "ghost".to_owned(), name)
}

/// An address that a page may link to.
pub(crate) fn outside(url: &str) -> Option<String> {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    (is_web && url.len() <= MAX_URL).then(|| whole_line(url))
}

/// What stands behind the `#` of an address, as far as it can be a name in a page.
pub(crate) fn fragment(url: &str) -> Option<String> {
    let (_, fragment) = url.split_once('#')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_name = (1..=MAX_NAME).contains(&fragment.len()) && fragment.chars().all(plain);
    is_name.then(|| fragment.to_owned())
}

/// A name in a page for a text.
pub(crate) fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// A number with commas.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if 0 < index && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of things.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_in_utc() {
        let when = When::of(Mark(1_767_323_045_000));
        assert_eq!(when.iso, "2026-01-02T03:04:05Z");
        assert_eq!((&*when.shown, when.day()), ("2026-01-02 03:04:05 UTC", "2026-01-02"));
        assert_eq!(When::of(Mark::BEGINNING).shown, "the beginning");
    }

    #[test]
    fn numbers_carry_commas() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "match", "matches"), "1 match");
    }

    #[test]
    fn only_a_plain_fragment_is_a_name() {
        let held = fragment("https://github.com/a/b/issues/1#issuecomment-7");
        assert_eq!(held.as_deref(), Some("issuecomment-7"));
        assert_eq!(fragment("https://github.com/a/b#x\"y"), None);
        assert_eq!(fragment("https://github.com/a/b#"), None);
    }

    #[test]
    fn a_text_of_any_length_is_shown_in_part() {
        assert_eq!(name(&"é".repeat(200)), format!("{}…", "é".repeat(100)));
        assert_eq!(line("a\tb"), "a b");
        let long = || Piece { text: "x".repeat(700), is_match: true };
        let shown = pieces(vec![long(), long(), long()]);
        let shown: Vec<_> = shown.iter().map(|it| it.text.chars().count()).collect();
        assert_eq!(shown, [700, 301]);
        assert_eq!(outside(&format!("https://github.com/{}", "a".repeat(500))), None);
        assert_eq!(fragment(&format!("#{}", "a".repeat(101))), None);
    }

    #[test]
    fn only_the_web_is_linked_to() {
        assert!(outside("https://github.com/a").is_some());
        assert!(outside("javascript:alert(1)").is_none());
    }
}
