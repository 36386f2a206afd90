//! Extracts the part of a text that shows why it was found.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::query::{Query, QueryTerm};
use crate::tokens::{self, WordOccurrence};

/// A piece of text, highlighted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetPiece {
    pub text: String,
    pub is_match: bool,
}

const MAX_SNIPPET_BYTES: usize = 220;
/// The part of a snippet before the first match.
const LEADING_BYTES: usize = 50;
/// The part of a text that is searched for a snippet.
const MAX_SEARCHED_BYTES: usize = 256 * 1024;
/// The number of matches that are compared as the start of a snippet.
const MAX_COMPARED_MATCHES: usize = 1_000;

/// Highlights the matches of a query in a whole text.
pub fn highlight_text(text: &str, query: &Query) -> Vec<SnippetPiece> {
    let matches = find_matches(&tokens::split_words(text), query);
    split_pieces(text, 0..text.len(), &matches)
}

/// Returns the part of a text with the most matches of a query; its beginning if there are none.
/// Each run of spaces and line breaks becomes one space.
pub fn extract_snippet(text: &str, query: &Query) -> Vec<SnippetPiece> {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let words = tokens::split_words(text);
    let matches = find_matches(&words, query);
    let window = best_window(text, &words, &matches);
    let mut pieces = split_pieces(text, window.clone(), &matches);
    if !text[..window.start].trim().is_empty() {
        pieces.insert(0, ellipsis_piece());
    }
    if !text[window.end..].trim().is_empty() {
        pieces.push(ellipsis_piece());
    }
    pieces
}

fn ellipsis_piece() -> SnippetPiece {
    SnippetPiece { text: "…".into(), is_match: false }
}

/// A match of one term of the query.
struct TermMatch {
    /// The index of the term in the query.
    term: usize,
    range: Range<usize>,
}

/// Returns the matches of all terms, in the order of the text.
fn find_matches(words: &[WordOccurrence], query: &Query) -> Vec<TermMatch> {
    let mut matches = Vec::new();
    for start in 0..words.len() {
        for (index, term) in query.all_terms().enumerate() {
            if let Some(words) = words.get(start..start + term.tokens.len())
                && is_term_match(term, words)
                && let (Some(first), Some(last)) = (words.first(), words.last())
            {
                let range = first.range.start..last.range.end;
                matches.push(TermMatch { term: index, range });
            }
        }
    }
    matches
}

fn is_term_match(term: &QueryTerm, words: &[WordOccurrence]) -> bool {
    let last = term.tokens.len().saturating_sub(1);
    term.tokens.iter().zip(words).enumerate().all(|(index, (token, word))| {
        word.token == *token
            || (term.is_prefix && index == last && word.token.starts_with(token.as_str()))
    })
}

/// The matches inside a possible snippet. The greater rank is the better snippet.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct WindowRank {
    distinct_terms: usize,
    matches: usize,
}

/// Returns the window with the most different terms, and among those the first with the most matches.
fn best_window(text: &str, words: &[WordOccurrence], matches: &[TermMatch]) -> Range<usize> {
    let mut best = WindowRank::default();
    let mut best_start = text.len() - text.trim_start().len();
    for (first, leading) in matches.iter().enumerate().take(MAX_COMPARED_MATCHES) {
        let start = window_start(words, leading.range.start);
        let end = start + MAX_SNIPPET_BYTES;
        let inside = matches[first..].iter().take_while(|inner| inner.range.end <= end);
        let terms: BTreeSet<usize> = inside.clone().map(|inner| inner.term).collect();
        let rank = WindowRank { distinct_terms: terms.len(), matches: inside.count() };
        if rank > best {
            (best, best_start) = (rank, start);
        }
    }
    best_start..window_end(text, words, best_start)
}

/// Returns the beginning of a word, some way before a match.
fn window_start(words: &[WordOccurrence], at: usize) -> usize {
    let earliest = at.saturating_sub(LEADING_BYTES);
    if earliest == 0 {
        return 0;
    }
    let index = words.partition_point(|word| word.range.start < earliest);
    words.get(index).map_or(at, |word| word.range.start.min(at))
}

/// Returns the end of the last word that fits, or of the last letter if a word is longer than half a snippet.
fn window_end(text: &str, words: &[WordOccurrence], start: usize) -> usize {
    let latest = start + MAX_SNIPPET_BYTES;
    if text.len() <= latest {
        return text.trim_end().len().max(start);
    }
    let index = words.partition_point(|word| word.range.end <= latest);
    let last = index.checked_sub(1).and_then(|index| words.get(index));
    let whole = last.map(|word| word.range.end).filter(|end| *end > start + MAX_SNIPPET_BYTES / 2);
    whole.unwrap_or_else(|| text.floor_char_boundary(latest))
}

/// Splits a part of a text where matches begin and end.
fn split_pieces(text: &str, window: Range<usize>, matches: &[TermMatch]) -> Vec<SnippetPiece> {
    let mut pieces = Vec::new();
    let mut at = window.start;
    for range in matches.iter().map(|found| &found.range) {
        if range.start < at || range.end > window.end {
            continue;
        }
        push_piece(&mut pieces, &text[at..range.start], false);
        push_piece(&mut pieces, &text[range.clone()], true);
        at = range.end;
    }
    push_piece(&mut pieces, &text[at..window.end], false);
    pieces
}

fn push_piece(pieces: &mut Vec<SnippetPiece>, text: &str, is_match: bool) {
    let mut shown = String::with_capacity(text.len());
    let ends_in_space = pieces.last().is_none_or(|piece: &SnippetPiece| piece.text.ends_with(' '));
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
        pieces.push(SnippetPiece { text: shown, is_match });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn highlight_marks_matches() {
        assert_eq!(
            format_pieces(&highlight_text("Oil leaks, oil!", &Query::parse("oil"))),
            "[Oil] leaks, [oil]!"
        );
        assert_eq!(
            format_pieces(&highlight_text("foo-bar foo", &Query::parse("foo-bar"))),
            "[foo]-[bar] [foo]"
        );
        assert_eq!(
            format_pieces(&highlight_text("authentication", &Query::parse("auth*"))),
            "[authentication]"
        );
        assert_eq!(
            format_pieces(&highlight_text("日本語の検索", &Query::parse("検索 本"))),
            "日[本]語の[検索]"
        );
    }

    #[test]
    fn highlight_marks_a_phrase_only_as_a_whole() {
        let query = Query::parse("\"oil leaks\"");
        assert_eq!(format_pieces(&highlight_text("oil; oil leaks", &query)), "oil; [oil leaks]");
    }

    #[test]
    fn snippet_shows_the_part_with_the_most_matches() {
        let text = format!("oil {} leaks {} oil and leaks {}", filler(80), filler(80), filler(80));
        let snippet = format_pieces(&extract_snippet(&text, &Query::parse("oil leaks")));
        assert!(snippet.contains("[oil] and [leaks]"), "{snippet}");
        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert!(snippet.len() < 300, "{snippet}");
    }

    #[test]
    fn snippet_without_a_match_is_the_beginning_on_one_line() {
        assert_eq!(
            format_pieces(&extract_snippet("\n\n  a\r\n\tb  c \n", &Query::parse("x"))),
            "a b c"
        );
        assert_eq!(extract_snippet("", &Query::parse("x")), []);
    }

    #[test]
    fn snippet_cuts_an_endless_word_between_letters() {
        let text = "ä".repeat(4_000);
        let shown = format_pieces(&extract_snippet(&text, &Query::parse("x")));
        assert!(shown.ends_with('…') && shown.len() < 300, "{shown}");
    }

    proptest! {
        #[test]
        fn snippet_accepts_any_text_and_query(text in any::<String>(), query in "\\PC{0,20}") {
            let query = Query::parse(&query);
            let whole: String =
                highlight_text(&text, &query).into_iter().map(|piece| piece.text).collect();
            prop_assert_eq!(visible_text(&whole), visible_text(&text));
            prop_assert!(extract_snippet(&text, &query).iter().all(|piece| !piece.text.contains('\n')));
        }

        #[test]
        fn snippet_contains_a_matching_word(before in "[a-c ]{0,600}", after in "[a-c ]{0,600}") {
            let text = format!("{before} zebra {after}");
            let found = extract_snippet(&text, &Query::parse("zebra"));
            prop_assert!(found.iter().any(|piece| piece.is_match && piece.text == "zebra"));
        }
    }

    fn format_pieces(pieces: &[SnippetPiece]) -> String {
        let mut text = String::new();
        for piece in pieces {
            text += &if piece.is_match { format!("[{}]", piece.text) } else { piece.text.clone() };
        }
        text
    }

    fn visible_text(text: &str) -> String {
        text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect()
    }

    fn filler(words: usize) -> String {
        vec!["lorem"; words].join(" ")
    }
}
