//! Tokens as each database takes them, without its own parser having a say: those differ, and
//! PostgreSQL's also depends on the server's locale.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hw_rules::tokens;

use crate::sql::Dialect;

/// What our own tokens begin with. It is for private use, so no word has it, and they can share an index with words.
pub(crate) const SIGN: char = '\u{e000}';

/// How much of a token counts: PostgreSQL's words end at two kilobytes.
pub(crate) const TOKEN_BYTES: usize = 1024;

/// The tokens of a text, as far as they fit.
pub(crate) fn of(text: &str, bytes: usize) -> Vec<String> {
    fitting(tokens::tokens(text), bytes)
}

/// The first of these tokens: as many as fit.
pub(crate) fn fitting(tokens: Vec<String>, bytes: usize) -> Vec<String> {
    let mut room = bytes;
    let mut fits = |token: &String| {
        let left = room.checked_sub(token.len() + 1);
        room = left.unwrap_or(0);
        left.is_some()
    };
    tokens.into_iter().map(cut).take_while(|token| fits(token)).collect()
}

pub(crate) fn cut(mut token: String) -> String {
    token.truncate(token.floor_char_boundary(TOKEN_BYTES));
    token
}

/// How a list of tokens is written down for an index.
pub(crate) fn spelling(dialect: Dialect) -> fn(&[String]) -> String {
    match dialect {
        Dialect::Sqlite => |tokens| tokens.join(" "),
        Dialect::Postgres => vector,
    }
}

/// What stands among the words of a row when PostgreSQL could not keep the places of all of them.
pub(crate) fn placeless() -> String {
    format!("{SIGN}placeless")
}

/// Whether PostgreSQL forgets where some of these tokens stand: it counts to 16,383, and 256 places a word.
pub(crate) fn is_placeless<'a>(tokens: impl IntoIterator<Item = &'a String>) -> bool {
    const PLACES: usize = 16_383 - 4;
    const PLACES_OF_ONE: usize = 255;
    let mut all = 0;
    let mut each = BTreeMap::<&str, usize>::new();
    for token in tokens {
        all += 1;
        *each.entry(token).or_default() += 1;
    }
    PLACES < all || each.values().any(|places| PLACES_OF_ONE < *places)
}

/// The tokens as a `tsvector`: each quoted, with its place. The first place is left out, so that no phrase reaches
/// from one field into the next.
fn vector(tokens: &[String]) -> String {
    let mut vector = String::new();
    for (place, token) in (2..).zip(tokens) {
        write!(vector, "'{token}':{place} ").expect("writing to a string cannot fail");
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_between_tokens_and_within_a_letter_never() {
        let long = of(&"д".repeat(TOKEN_BYTES), 4_000);
        assert_eq!(long, ["д".repeat(TOKEN_BYTES / 2)]);
        assert_eq!(of(&"abc ".repeat(4_000), 4_000).len(), 1_000);
    }

    #[test]
    fn the_places_of_a_long_text_or_of_a_frequent_word_are_forgotten() {
        let numbers = |count: u32| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        assert!(!is_placeless(&numbers(16_000)) && is_placeless(&numbers(16_383)));
        let oil = |count| vec!["oil".to_owned(); count];
        assert!(!is_placeless(&oil(255)) && is_placeless(&oil(256)));
    }

    #[test]
    fn each_database_gets_its_own_spelling() {
        let tokens = of("Oil leaks", 4_000);
        assert_eq!(spelling(Dialect::Sqlite)(&tokens), "oil leaks");
        assert_eq!(spelling(Dialect::Postgres)(&tokens), "'oil':2 'leaks':3 ");
    }
}
