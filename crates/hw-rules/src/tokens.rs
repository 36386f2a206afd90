//! Text to search tokens: one function for both stores, and for what is searched as for what is found.
//!
//! A token is letters and digits only, in lower case, so no tokenizer behind it takes it apart again.

use std::fmt::Write as _;

/// The tokens of a text, in order.
///
/// Words are runs of letters and digits. Chinese, Japanese and Korean text has no spaces, so each of its
/// characters is a token, and any run of them is a phrase. A word with symbols in it (`c++`, `foo-bar`)
/// also gives one token for its literal form.
pub fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for chunk in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        words(chunk, &mut out);
        out.extend(literal(chunk));
    }
    out
}

/// The tokens as one string, a space between each: what the full-text indexes are fed.
pub fn joined(text: &str) -> String {
    tokens(text).join(" ")
}

fn words(chunk: &str, out: &mut Vec<String>) {
    let mut word = String::new();
    for c in chunk.chars() {
        if is_single(c) && c.is_alphanumeric() {
            flush(&mut word, out);
            out.push(c.to_string());
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
        } else {
            flush(&mut word, out);
        }
    }
    flush(&mut word, out);
}

fn flush(word: &mut String, out: &mut Vec<String>) {
    if !word.is_empty() {
        out.push(std::mem::take(word));
    }
}

/// How long a word with symbols may be to count literally: names and versions, not addresses.
const LITERAL_MAX: usize = 32;

/// A token for the literal form of a word with symbols, spelled in letters and digits.
fn literal(chunk: &str) -> Option<String> {
    let core = chunk.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '@'));
    let has_symbol = core.chars().any(|c| c.is_ascii_punctuation());
    let has_word = core.chars().any(char::is_alphanumeric);
    if !has_symbol || !has_word || LITERAL_MAX < core.len() {
        return None;
    }
    let mut token = String::from("zq");
    for byte in core.to_lowercase().bytes() {
        // writing to a string cannot fail
        write!(token, "{byte:02x}").ok()?;
    }
    Some(token)
}

/// Whether a character stands for itself: scripts written without spaces.
fn is_single(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3134f}')
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
        assert_eq!(tokens("foo-bar"), ["foo", "bar", "zq666f6f2d626172"]);
        assert_eq!(tokens("(C++)").last().map(String::as_str), Some("zq632b2b"));
        assert_eq!(tokens("end."), ["end"]);
    }

    #[test]
    fn text_without_spaces_is_split_into_characters() {
        assert_eq!(tokens("検索test"), ["検", "索", "test"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_plain_tokens(text in any::<String>()) {
            for token in tokens(&text) {
                prop_assert!(!token.is_empty() && token.chars().all(char::is_alphanumeric), "{token:?}");
            }
        }
    }
}
