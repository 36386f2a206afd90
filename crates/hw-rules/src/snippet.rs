//! The part of a text that shows why it was found.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::query::{Query, Term};
use crate::tokens::{self, Word};

/// A run of text, marked or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub is_match: bool,
}

/// How much of a text is shown, in bytes.
const WIDTH: usize = 220;
/// How much of that stands before the first match.
const BEFORE: usize = 50;
/// How much of a text is looked through.
const LOOKED_THROUGH: usize = 256 * 1024;

/// How many places are compared with each other.
const COMPARED: usize = 1_000;

/// A whole text, with what the query asks for marked.
pub fn marked(text: &str, query: &Query) -> Vec<Piece> {
    let matches = matches(&tokens::words(text), query);
    pieces(text, 0..text.len(), &matches)
}

/// The part of a text with the most of what the query asks for; its beginning when there is nothing.
/// Spaces and line breaks are one space each.
pub fn snippet(text: &str, query: &Query) -> Vec<Piece> {
    let text = &text[..text.floor_char_boundary(LOOKED_THROUGH)];
    let words = tokens::words(text);
    let matches = matches(&words, query);
    let window = window(text, &words, &matches);
    let mut shown = pieces(text, window.clone(), &matches);
    if !text[..window.start].trim().is_empty() {
        shown.insert(0, cut());
    }
    if !text[window.end..].trim().is_empty() {
        shown.push(cut());
    }
    shown
}

fn cut() -> Piece {
    Piece { text: "…".into(), is_match: false }
}

/// Something that was asked for, and where it stands.
struct Match {
    term: usize,
    range: Range<usize>,
}

/// Everything that was asked for, in the order of the text.
fn matches(words: &[Word], query: &Query) -> Vec<Match> {
    let mut found = Vec::new();
    for start in 0..words.len() {
        for (term, wanted) in query.all_terms().enumerate() {
            if let Some(words) = words.get(start..start + wanted.tokens.len())
                && is_there(wanted, words)
                && let (Some(first), Some(last)) = (words.first(), words.last())
            {
                found.push(Match { term, range: first.range.start..last.range.end });
            }
        }
    }
    found
}

fn is_there(term: &Term, words: &[Word]) -> bool {
    let last = term.tokens.len().saturating_sub(1);
    term.tokens.iter().zip(words).enumerate().all(|(place, (token, word))| {
        word.token == *token
            || (term.is_prefix && place == last && word.token.starts_with(token.as_str()))
    })
}

/// Where the most different terms stand together, and among those places the one with the most of them.
fn window(text: &str, words: &[Word], matches: &[Match]) -> Range<usize> {
    let mut best = (0, 0, 0);
    for (first, found) in matches.iter().enumerate().take(COMPARED) {
        let start = begin(words, found.range.start);
        let inside = matches[first..].iter().take_while(|it| it.range.end <= start + WIDTH);
        let terms: BTreeSet<usize> = inside.clone().map(|it| it.term).collect();
        let (terms, count) = (terms.len(), inside.count());
        if best.0 < terms || (best.0 == terms && best.1 < count) {
            best = (terms, count, start);
        }
    }
    let start = if best.0 == 0 { text.len() - text.trim_start().len() } else { best.2 };
    start..end(text, words, start)
}

/// The beginning of a word, some way before a match.
fn begin(words: &[Word], at: usize) -> usize {
    let earliest = at.saturating_sub(BEFORE);
    if earliest == 0 {
        return 0;
    }
    let index = words.partition_point(|word| word.range.start < earliest);
    words.get(index).map_or(at, |word| word.range.start.min(at))
}

/// The end of a word that still fits; of a letter where a word is longer than all the room.
fn end(text: &str, words: &[Word], start: usize) -> usize {
    let room = start + WIDTH;
    if text.len() <= room {
        return text.trim_end().len().max(start);
    }
    let index = words.partition_point(|word| word.range.end <= room);
    let last = index.checked_sub(1).and_then(|index| words.get(index));
    let whole = last.map(|word| word.range.end).filter(|end| start + WIDTH / 2 < *end);
    whole.unwrap_or_else(|| text.floor_char_boundary(room))
}

/// A part of a text, cut where marks begin and end.
fn pieces(text: &str, window: Range<usize>, matches: &[Match]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = window.start;
    for found in matches.iter().map(|found| &found.range) {
        if found.start < at || window.end < found.end {
            continue;
        }
        push(&mut pieces, &text[at..found.start], false);
        push(&mut pieces, &text[found.clone()], true);
        at = found.end;
    }
    push(&mut pieces, &text[at..window.end], false);
    pieces
}

fn push(pieces: &mut Vec<Piece>, text: &str, is_match: bool) {
    let mut shown = String::with_capacity(text.len());
    let ends_in_space = pieces.last().is_none_or(|piece: &Piece| piece.text.ends_with(' '));
    let mut after_space = ends_in_space && !is_match;
    for c in text.chars() {
        let is_space = c.is_whitespace() || c.is_control();
        if !is_space {
            shown.push(c);
        } else if !after_space {
            shown.push(' ');
        }
        after_space = is_space;
    }
    if !shown.is_empty() {
        pieces.push(Piece { text: shown, is_match });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_asked_for_is_marked() {
        assert_eq!(shown(&marked("Oil leaks, oil!", &Query::parse("oil"))), "[Oil] leaks, [oil]!");
        assert_eq!(shown(&marked("foo-bar foo", &Query::parse("foo-bar"))), "[foo]-[bar] [foo]");
        assert_eq!(shown(&marked("authentication", &Query::parse("auth*"))), "[authentication]");
        assert_eq!(shown(&marked("日本語の検索", &Query::parse("検索 本"))), "日[本]語の[検索]");
    }

    #[test]
    fn a_phrase_is_marked_as_a_whole_and_only_together() {
        let query = Query::parse("\"oil leaks\"");
        assert_eq!(shown(&marked("oil; oil leaks", &query)), "oil; [oil leaks]");
    }

    #[test]
    fn a_snippet_shows_where_most_of_it_is() {
        let text = format!("oil {} leaks {} oil and leaks {}", filler(80), filler(80), filler(80));
        let snippet = shown(&snippet(&text, &Query::parse("oil leaks")));
        assert!(snippet.contains("[oil] and [leaks]"), "{snippet}");
        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert!(snippet.len() < 300, "{snippet}");
    }

    #[test]
    fn without_a_match_it_is_the_beginning_on_one_line() {
        assert_eq!(shown(&snippet("\n\n  a\r\n\tb  c \n", &Query::parse("x"))), "a b c");
        assert_eq!(snippet("", &Query::parse("x")), []);
    }

    #[test]
    fn one_endless_word_is_cut_between_letters() {
        let text = "ä".repeat(4_000);
        let shown = shown(&snippet(&text, &Query::parse("x")));
        assert!(shown.ends_with('…') && shown.len() < 300, "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_and_query_give_a_snippet(text in any::<String>(), query in "\\PC{0,20}") {
            let query = Query::parse(&query);
            let whole: String = marked(&text, &query).into_iter().map(|it| it.text).collect();
            let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect::<String>();
            prop_assert_eq!(plain(&whole), plain(&text));
            prop_assert!(snippet(&text, &query).iter().all(|piece| !piece.text.contains('\n')));
        }

        #[test]
        fn a_word_of_the_text_is_marked(before in "[a-c ]{0,600}", after in "[a-c ]{0,600}") {
            let text = format!("{before} zebra {after}");
            let found = snippet(&text, &Query::parse("zebra"));
            prop_assert!(found.iter().any(|piece| piece.is_match && piece.text == "zebra"));
        }
    }

    fn shown(pieces: &[Piece]) -> String {
        let shown =
            |it: &Piece| if it.is_match { format!("[{}]", it.text) } else { it.text.clone() };
        pieces.iter().map(shown).collect()
    }

    fn filler(words: usize) -> String {
        vec!["lorem"; words].join(" ")
    }
}
