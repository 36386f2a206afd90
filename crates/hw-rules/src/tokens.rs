//! Text to search tokens: one function for both stores, and for what is searched as for what is found.
//!
//! A token has no space and no ASCII symbol in it, and no capitals, so no tokenizer behind it takes it apart again.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A word of a text: where it stands, and the token it is found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub range: Range<usize>,
    pub token: String,
    /// Whether it is a character that stands for itself, written without spaces around it.
    pub is_single: bool,
}

/// The tokens of a text: its words in order, and behind them, where they part no phrase, its literal forms.
///
/// A word with symbols in it (`c++`, `foo-bar`) gives one token more, for its literal form, and so does each
/// run of symbols (`++`, `->`).
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = words(text).into_iter().map(|word| word.token).collect();
    let literals: BTreeSet<String> =
        chunks(text).flat_map(|chunk| symbols(chunk).chain(literal(chunk))).collect();
    tokens.extend(literals);
    tokens
}

/// What stands between spaces.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|chunk| !chunk.is_empty())
}

/// The words of a text, in order: runs of letters and digits.
///
/// Chinese, Japanese and Korean text has no spaces, so each of its characters is a word, and any run of
/// them is a phrase; so it is with emoji and other signs.
pub fn words(text: &str) -> Vec<Word> {
    let mut scan = Scan::default();
    for (at, c) in text.char_indices() {
        scan.take(at, c);
    }
    scan.end();
    scan.words
}

/// How a character takes part in words.
#[derive(PartialEq, Eq)]
enum Part {
    Letter,
    /// Belongs to the letter before it.
    Mark,
    Single,
    /// Neither seen nor a boundary.
    Nothing,
    Boundary,
}

fn part(c: char) -> Part {
    match c {
        _ if c.is_ascii_alphanumeric() => Part::Letter,
        _ if c.is_ascii() => Part::Boundary,
        // variation selectors, joiners, soft hyphens
        '\u{fe00}'..='\u{fe0f}' | '\u{200c}' | '\u{200d}' | '\u{ad}' => Part::Nothing,
        _ if is_single(c) || is_sign(c) => Part::Single,
        _ if c.is_alphanumeric() => Part::Letter,
        _ if is_combining_mark(c) => Part::Mark,
        _ => Part::Boundary,
    }
}

#[derive(Default)]
struct Scan {
    words: Vec<Word>,
    /// The word that is being read, in lower case.
    token: String,
    range: Range<usize>,
    is_single: bool,
}

impl Scan {
    fn take(&mut self, at: usize, c: char) {
        match part(c) {
            Part::Letter if self.is_single => {
                self.end();
                self.push(at, c);
            }
            Part::Letter => self.push(at, c),
            Part::Mark if self.token.is_empty() => {}
            Part::Mark => self.push(at, c),
            Part::Single => {
                self.end();
                self.push(at, c);
                self.is_single = true;
            }
            Part::Nothing => {}
            Part::Boundary => self.end(),
        }
    }

    fn push(&mut self, at: usize, c: char) {
        if self.token.is_empty() {
            self.range.start = at;
        }
        self.range.end = at + c.len_utf8();
        match c {
            _ if c.is_ascii() => self.token.push(c.to_ascii_lowercase()),
            // the letter's form at the end of a word
            'ς' => self.token.push('σ'),
            _ => self.token.extend(c.to_lowercase()),
        }
    }

    fn end(&mut self) {
        let (token, is_single) = (std::mem::take(&mut self.token), self.is_single);
        self.is_single = false;
        if token.is_empty() {
            return;
        }
        let range = self.range.clone();
        if token.is_ascii() {
            self.words.push(Word { range, token, is_single });
        } else {
            self.push_composed(plain(&token), &range, is_single);
        }
    }

    /// What can be written in two ways is found by both. Korean letters become characters that stand for themselves.
    fn push_composed(&mut self, token: String, range: &Range<usize>, is_single: bool) {
        if is_single || !token.chars().any(is_single_letter) {
            self.words.push(Word { range: range.clone(), token, is_single });
            return;
        }
        let chars: Vec<char> = token.chars().collect();
        let is_one = |c: &char| is_single_letter(*c);
        for run in chars.chunk_by(|a, b| !is_one(a) && !is_one(b)) {
            let is_single = run.iter().all(is_one);
            self.words.push(Word { range: range.clone(), token: run.iter().collect(), is_single });
        }
    }
}

/// A word without the marks on Latin letters, as people type it who have no keys for them: `cafe` is `café`, and so are
/// wide and joined letters. In other scripts a mark makes another letter.
fn plain(token: &str) -> String {
    let mut is_on_latin = false;
    let is_wide = |c: char| matches!(c, '\u{fb00}'..='\u{fb06}' | '\u{ff01}'..='\u{ff5e}');
    let narrow: String = token
        .chars()
        .flat_map(|c| {
            let wide = is_wide(c).then(|| c.nfkd());
            let same = (!is_wide(c)).then_some(c);
            wide.into_iter().flatten().chain(same)
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

/// How long a word with symbols may be to count literally: names and versions, not addresses.
const LITERAL_MAX: usize = 32;
/// The same for what is nothing but symbols: operators, not rulers.
const SYMBOLS_MAX: usize = 8;

/// A token for each run of symbols, and for each symbol in it.
fn symbols(chunk: &str) -> impl Iterator<Item = String> {
    runs(chunk).flat_map(|run| {
        let each = (0..run.len()).filter(|_| 1 < run.len()).map(|at| &run[at..=at]);
        each.chain([run]).map(spelled)
    })
}

/// A token for each run of symbols in what is looked for.
pub fn symbol_runs(text: &str) -> impl Iterator<Item = String> {
    runs(text).map(spelled)
}

/// Symbols side by side, as far as they count.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_punctuation()).filter(|run| !run.is_empty());
    runs.map(|run| &run[..run.len().min(SYMBOLS_MAX)])
}

/// A token for the literal form of a word with symbols, spelled in letters and digits.
pub fn literal(chunk: &str) -> Option<String> {
    let core = chunk.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '@'));
    let has_word = core.chars().any(char::is_alphanumeric);
    let has_symbol = core.chars().any(|c| c.is_ascii_punctuation());
    (has_word && has_symbol && core.len() <= LITERAL_MAX).then(|| spelled(core))
}

fn spelled(literal: &str) -> String {
    let mut token = String::from("zq");
    for byte in folded(literal).bytes() {
        write!(token, "{byte:02x}").expect("writing to a string cannot fail");
    }
    token
}

/// A text in the one form in which names are compared: small letters, each written in one way.
pub fn folded(text: &str) -> String {
    text.to_lowercase().nfc().collect()
}

/// Scripts written without spaces.
fn is_single(c: char) -> bool {
    is_single_letter(c) && c.is_alphanumeric()
}

fn is_single_letter(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3131}'..='\u{318e}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3347f}')
}

/// Emoji, arrows, currencies and the like: what is no letter, and is looked for all the same.
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
    fn words_are_lower_case_letters_and_digits() {
        assert_eq!(tokens("Crash on Start 42"), ["crash", "on", "start", "42"]);
    }

    #[test]
    fn a_word_with_symbols_is_found_by_its_parts_and_literally() {
        assert_eq!(tokens("foo-bar"), ["foo", "bar", "zq2d", "zq666f6f2d626172"]);
        assert_eq!(tokens("(C++)").last().map(String::as_str), Some("zq632b2b"));
        assert_eq!(tokens("end."), ["end", "zq2e"]);
        assert!(tokens("C++").contains(&"zq2b2b".to_owned()));
        assert_eq!(
            tokens("a -> b"),
            ["a", "b", "zq2d", "zq2d3e", "zq3e"],
            "and each sign of a run"
        );
        assert_eq!(tokens("===========").len(), 2, "a ruler counts as far as a run does");
    }

    #[test]
    fn literal_forms_part_no_phrase() {
        assert_eq!(tokens("use foo-bar now")[..4], ["use", "foo", "bar", "now"]);
    }

    #[test]
    fn text_without_spaces_is_split_into_characters() {
        assert_eq!(tokens("検索test"), ["検", "索", "test"]);
        assert_eq!(tokens("時々一〇円ㅋㅋ"), ["時", "々", "一", "〇", "円", "ㅋ", "ㅋ"]);
        assert_eq!(tokens("go🚀👩\u{200d}👧 ❤\u{fe0f}"), ["go", "🚀", "👩", "👧", "❤"]);
    }

    #[test]
    fn what_can_be_written_in_two_ways_is_one_word() {
        assert_eq!(tokens("Cafe\u{301}"), tokens("café"));
        assert_eq!(tokens("ΟΔΟΣ"), tokens("οδος"));
        assert_eq!(
            tokens("café naïve ﬁnance İstanbul Ｐｕｍｐ"),
            tokens("cafe naive finance istanbul pump")
        );
        assert_ne!(tokens("й"), tokens("и"));
        assert_ne!(tokens("ば"), tokens("は"));
        assert_eq!(tokens("\u{1112}\u{1161}\u{11ab}"), tokens("한"));
        assert_eq!(tokens("か\u{3099}"), tokens("が"));
        assert_eq!(tokens("हिन्दी").len(), 1);
        assert_eq!(tokens("API\u{110b}\u{1169}\u{1105}\u{1172}"), tokens("API오류"));
        assert_eq!(tokens("API오류"), ["api", "오", "류"]);
    }

    #[test]
    fn words_know_where_they_stand() {
        let text = "«Größe» 検索, cafe\u{301}.";
        let found: Vec<_> = words(text).into_iter().map(|word| &text[word.range]).collect();
        assert_eq!(found, ["Größe", "検", "索", "cafe\u{301}"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_plain_tokens(text in any::<String>()) {
            for token in tokens(&text) {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || !(c.is_ascii() || c.is_whitespace());
                prop_assert!(!token.is_empty() && token.chars().all(is_plain), "{token:?}");
            }
        }

        #[test]
        fn words_stand_in_order_within_the_text(text in any::<String>()) {
            let mut end = 0;
            for word in words(&text) {
                prop_assert!(end <= word.range.start || word.is_single, "{word:?}");
                prop_assert!(text.get(word.range.clone()).is_some_and(|it| !it.is_empty()));
                end = word.range.end;
            }
        }
    }
}
