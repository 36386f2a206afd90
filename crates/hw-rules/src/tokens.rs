//! Splits text into search tokens, in the same way for both databases, and for queries and stored texts.
//!
//! A token contains no space, no ASCII symbol and no capital letter, so no database tokenizer splits it again.

use std::collections::BTreeSet;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A word of a text: its position, and its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordOccurrence {
    pub range: Range<usize>,
    pub token: String,
    /// The word is one character of a script that is written without spaces, or a sign.
    pub is_single_char: bool,
}

/// Returns the tokens of a text: its words in order, followed by its literal forms, which would separate phrases
/// anywhere else.
///
/// A word with symbols in it (`c++`, `foo-bar`) adds one token for its literal form, and so does each run of
/// symbols (`++`, `->`).
pub fn tokenize_text(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = split_words(text).into_iter().map(|word| word.token).collect();
    let literals: BTreeSet<String> = split_on_spaces(text)
        .flat_map(|chunk| symbol_tokens(chunk).chain(literal_token(chunk)))
        .collect();
    tokens.extend(literals);
    tokens
}

fn split_on_spaces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|chunk| !chunk.is_empty())
}

/// Returns the words of a text in order: runs of letters and digits.
///
/// Chinese, Japanese and Korean text has no spaces, so each of its characters is a word, and a run of them is a
/// phrase. Emoji and other signs are handled in the same way.
pub fn split_words(text: &str) -> Vec<WordOccurrence> {
    let mut scan = WordScanner::default();
    for (at, c) in text.char_indices() {
        scan.take_char(at, c);
    }
    scan.end_word();
    scan.words
}

/// The role of a character in a word.
#[derive(PartialEq, Eq)]
enum CharClass {
    Letter,
    /// Belongs to the letter before it.
    Mark,
    Single,
    /// Invisible, and not a boundary.
    Ignored,
    Boundary,
}

fn classify_char(c: char) -> CharClass {
    match c {
        _ if c.is_ascii_alphanumeric() => CharClass::Letter,
        _ if c.is_ascii() => CharClass::Boundary,
        // variation selectors, joiners, soft hyphens
        '\u{fe00}'..='\u{fe0f}' | '\u{200c}' | '\u{200d}' | '\u{ad}' => CharClass::Ignored,
        _ if is_unspaced_char(c) || is_sign(c) => CharClass::Single,
        _ if c.is_alphanumeric() => CharClass::Letter,
        _ if is_combining_mark(c) => CharClass::Mark,
        _ => CharClass::Boundary,
    }
}

#[derive(Default)]
struct WordScanner {
    words: Vec<WordOccurrence>,
    /// The current word, in lower case.
    token: String,
    range: Range<usize>,
    is_single_char: bool,
}

impl WordScanner {
    fn take_char(&mut self, at: usize, c: char) {
        match classify_char(c) {
            CharClass::Letter if self.is_single_char => {
                self.end_word();
                self.push_char(at, c);
            }
            CharClass::Letter => self.push_char(at, c),
            CharClass::Mark if self.token.is_empty() => {}
            CharClass::Mark => self.push_char(at, c),
            CharClass::Single => {
                self.end_word();
                self.push_char(at, c);
                self.is_single_char = true;
            }
            CharClass::Ignored => {}
            CharClass::Boundary => self.end_word(),
        }
    }

    fn push_char(&mut self, at: usize, c: char) {
        if self.token.is_empty() {
            self.range.start = at;
        }
        self.range.end = at + c.len_utf8();
        match c {
            _ if c.is_ascii() => self.token.push(c.to_ascii_lowercase()),
            // the form of σ at the end of a word
            'ς' => self.token.push('σ'),
            _ => self.token.extend(c.to_lowercase()),
        }
    }

    fn end_word(&mut self) {
        let is_single = std::mem::take(&mut self.is_single_char);
        if self.token.is_empty() {
            return;
        }
        let range = self.range.clone();
        if self.token.is_ascii() {
            // copied, not taken: a copy is allocated once, at its final length
            let token = self.token.clone();
            self.words.push(WordOccurrence { range, token, is_single_char: is_single });
        } else {
            self.push_composed(strip_latin_marks(&self.token), &range, is_single);
        }
        self.token.clear();
    }

    /// Adds a word in its composed form, so that both spellings of an accented letter match. Korean letters compose
    /// into syllables, which are single-character words.
    fn push_composed(&mut self, token: String, range: &Range<usize>, is_single: bool) {
        if is_single || !token.chars().any(is_unspaced_letter) {
            self.words.push(WordOccurrence {
                range: range.clone(),
                token,
                is_single_char: is_single,
            });
            return;
        }
        let chars: Vec<char> = token.chars().collect();
        for run in chars.chunk_by(|a, b| !is_unspaced_letter(*a) && !is_unspaced_letter(*b)) {
            self.words.push(WordOccurrence {
                range: range.clone(),
                token: run.iter().collect(),
                is_single_char: run.iter().all(|c| is_unspaced_letter(*c)),
            });
        }
    }
}

/// Removes the marks on Latin letters, so that `cafe`, typed on a keyboard without them, finds `café`. Wide letters and
/// ligatures become plain ones. In other scripts a mark makes another letter.
fn strip_latin_marks(token: &str) -> String {
    let mut is_on_latin = false;
    let narrow: String = token
        .chars()
        .flat_map(|c| {
            let narrowed = is_wide_or_ligature(c).then(|| c.nfkd());
            let unchanged = narrowed.is_none().then_some(c);
            narrowed.into_iter().flatten().chain(unchanged)
        })
        .collect();
    let bare = narrow.nfd().filter(|c| {
        if is_combining_mark(*c) {
            return !is_on_latin;
        }
        is_on_latin = c.is_ascii_alphabetic();
        true
    });
    bare.nfc().collect()
}

fn is_wide_or_ligature(c: char) -> bool {
    matches!(c, '\u{fb00}'..='\u{fb06}' | '\u{ff01}'..='\u{ff5e}')
}

/// The longest word with symbols that gets a literal token: names and versions do, URLs do not.
const MAX_LITERAL_BYTES: usize = 32;
/// The part of a run of symbols that counts: operators are shorter, horizontal rules are longer.
const MAX_SYMBOL_BYTES: usize = 8;

/// Returns a token for each run of symbols, and for each symbol in it.
fn symbol_tokens(chunk: &str) -> impl Iterator<Item = String> {
    split_symbol_runs(chunk).flat_map(|run| {
        let each = (0..run.len()).filter(|_| run.len() > 1).map(|at| &run[at..=at]);
        each.chain([run]).map(encode_literal)
    })
}

/// Returns a token for each run of symbols in a query.
pub fn symbol_run_tokens(text: &str) -> impl Iterator<Item = String> {
    split_symbol_runs(text).map(encode_literal)
}

/// Returns the runs of adjacent symbols, each truncated to the part that counts.
fn split_symbol_runs(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_punctuation()).filter(|run| !run.is_empty());
    runs.map(|run| &run[..run.len().min(MAX_SYMBOL_BYTES)])
}

/// Returns a token for the literal form of a word with symbols, encoded in letters and digits.
pub fn literal_token(chunk: &str) -> Option<String> {
    let core = chunk.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '@'));
    let has_word = core.chars().any(char::is_alphanumeric);
    let has_symbol = core.chars().any(|c| c.is_ascii_punctuation());
    (has_word && has_symbol && core.len() <= MAX_LITERAL_BYTES).then(|| encode_literal(core))
}

fn encode_literal(literal: &str) -> String {
    let mut token = String::from("zq");
    for byte in fold_case(literal).bytes() {
        token.extend([byte >> 4, byte & 15].map(hex_digit));
    }
    token
}

fn hex_digit(half_byte: u8) -> char {
    char::from_digit(half_byte.into(), 16).expect("half a byte is one digit")
}

/// Normalizes a text for comparisons of names: lower case, composed letters.
pub fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.to_lowercase().nfc().collect()
}

/// Returns true for the letters of scripts that are written without spaces.
fn is_unspaced_char(c: char) -> bool {
    is_unspaced_letter(c) && c.is_alphanumeric()
}

fn is_unspaced_letter(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3131}'..='\u{318e}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3347f}')
}

/// Returns true for emoji, arrows, currencies and other signs that people search for.
fn is_sign(c: char) -> bool {
    let in_range = matches!(c,
        '¢'..='¥' | '§' | '©' | '®' | '°' | '±'
        | '\u{203c}' | '\u{2049}' | '\u{20a0}'..='\u{20cf}' | '\u{2100}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}');
    in_range && !c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_are_lower_case_letters_and_digits() {
        assert_eq!(tokenize_text("Crash on Start 42"), ["crash", "on", "start", "42"]);
    }

    #[test]
    fn tokens_of_a_word_with_symbols_are_its_parts_and_its_literal_form() {
        assert_eq!(tokenize_text("foo-bar"), ["foo", "bar", "zq2d", "zq666f6f2d626172"]);
        assert_eq!(tokenize_text("(C++)").last().map(String::as_str), Some("zq632b2b"));
        assert_eq!(tokenize_text("end."), ["end", "zq2e"]);
        assert!(tokenize_text("C++").contains(&"zq2b2b".to_owned()));
        assert_eq!(
            tokenize_text("a -> b"),
            ["a", "b", "zq2d", "zq2d3e", "zq3e"],
            "and each symbol of a run"
        );
        assert_eq!(tokenize_text("===========").len(), 2, "a long run is truncated");
    }

    #[test]
    fn tokens_of_literal_forms_come_last() {
        assert_eq!(tokenize_text("use foo-bar now")[..4], ["use", "foo", "bar", "now"]);
    }

    #[test]
    fn tokens_of_text_without_spaces_are_characters() {
        assert_eq!(tokenize_text("検索test"), ["検", "索", "test"]);
        assert_eq!(tokenize_text("時々一〇円ㅋㅋ"), ["時", "々", "一", "〇", "円", "ㅋ", "ㅋ"]);
        assert_eq!(tokenize_text("go🚀👩\u{200d}👧 ❤\u{fe0f}"), ["go", "🚀", "👩", "👧", "❤"]);
    }

    #[test]
    fn tokens_of_two_spellings_are_equal() {
        assert_eq!(tokenize_text("Cafe\u{301}"), tokenize_text("café"));
        assert_eq!(tokenize_text("ΟΔΟΣ"), tokenize_text("οδος"));
        assert_eq!(
            tokenize_text("café naïve ﬁnance İstanbul Ｐｕｍｐ"),
            tokenize_text("cafe naive finance istanbul pump")
        );
        assert_ne!(tokenize_text("й"), tokenize_text("и"));
        assert_ne!(tokenize_text("ば"), tokenize_text("は"));
        assert_eq!(tokenize_text("\u{1112}\u{1161}\u{11ab}"), tokenize_text("한"));
        assert_eq!(tokenize_text("か\u{3099}"), tokenize_text("が"));
        assert_eq!(tokenize_text("हिन्दी").len(), 1);
        assert_eq!(tokenize_text("API\u{110b}\u{1169}\u{1105}\u{1172}"), tokenize_text("API오류"));
        assert_eq!(tokenize_text("API오류"), ["api", "오", "류"]);
    }

    #[test]
    fn words_have_their_range_in_the_text() {
        let text = "«Größe» 検索, cafe\u{301}.";
        let found: Vec<_> = split_words(text).into_iter().map(|word| &text[word.range]).collect();
        assert_eq!(found, ["Größe", "検", "索", "cafe\u{301}"]);
    }

    proptest! {
        #[test]
        fn tokens_of_any_text_are_plain(text in any::<String>()) {
            for token in tokenize_text(&text) {
                let mut chars = token.chars();
                let is_plain =
                    chars.all(|c| c.is_ascii_alphanumeric() || !(c.is_ascii() || c.is_whitespace()));
                prop_assert!(!token.is_empty() && is_plain, "{token:?}");
            }
        }

        #[test]
        fn words_are_in_the_order_of_the_text(text in any::<String>()) {
            let mut end = 0;
            for word in split_words(&text) {
                prop_assert!(end <= word.range.start || word.is_single_char, "{word:?}");
                prop_assert!(text.get(word.range.clone()).is_some_and(|slice| !slice.is_empty()));
                end = word.range.end;
            }
        }
    }
}
