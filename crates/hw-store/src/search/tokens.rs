//! Formats tokens for the index of each database.
//!
//! Text is tokenized here and not by the databases: their parsers differ, and PostgreSQL's also depends on the server's
//! locale.

use std::fmt::Write as _;

use hw_rules::tokens;

use crate::sql::Dialect;

/// The first character of our own tokens. It is a private-use character that no word contains, so both can share an
/// index.
pub(crate) const RESERVED_CHAR: char = '\u{e000}';

/// The significant part of a token: PostgreSQL limits words to two kilobytes.
pub(crate) const MAX_TOKEN_BYTES: usize = 1024;

/// Returns the first tokens of a text, up to `max_bytes`.
pub(crate) fn tokenize(text: &str, max_bytes: usize) -> Vec<String> {
    take_fitting(tokens::tokenize_text(text), max_bytes)
}

/// Returns the first tokens, as many as fit into `max_bytes` with one separator each.
pub(crate) fn take_fitting(tokens: Vec<String>, max_bytes: usize) -> Vec<String> {
    let mut bytes = 0_usize;
    let tokens = tokens.into_iter().map(truncate_token);
    tokens
        .take_while(|token| {
            bytes = bytes.saturating_add(token.len() + 1);
            bytes <= max_bytes
        })
        .collect()
}

pub(crate) fn truncate_token(mut token: String) -> String {
    token.truncate(token.floor_char_boundary(MAX_TOKEN_BYTES));
    token
}

/// Returns the function that formats tokens for the index of a database.
pub(crate) fn index_format(dialect: Dialect) -> fn(&[String]) -> String {
    match dialect {
        Dialect::Sqlite => |tokens| tokens.join(" "),
        Dialect::Postgres => format_tsvector,
    }
}

/// Returns the token that marks a row for which PostgreSQL could not store all word positions.
pub(crate) fn lost_positions_token() -> String {
    format!("{RESERVED_CHAR}placeless")
}

/// Returns true if PostgreSQL drops the positions of some tokens: it stores positions up to 16,383, and 256 per word.
pub(crate) fn has_lost_positions<'a>(tokens: impl IntoIterator<Item = &'a String>) -> bool {
    const MAX_POSITIONS: usize = 16_383 - 4;
    const MAX_POSITIONS_PER_WORD: usize = 255;
    let mut tokens: Vec<&String> = tokens.into_iter().collect();
    if tokens.len() <= MAX_POSITIONS_PER_WORD || tokens.len() > MAX_POSITIONS {
        return tokens.len() > MAX_POSITIONS;
    }
    tokens.sort_unstable();
    tokens.chunk_by(|a, b| a == b).any(|same| same.len() > MAX_POSITIONS_PER_WORD)
}

/// Formats tokens as a `tsvector`: each quoted, with its position. The first position stays empty, so that no phrase
/// extends from one field into the next.
fn format_tsvector(tokens: &[String]) -> String {
    let mut vector = String::new();
    for (position, token) in (2..).zip(tokens) {
        write!(vector, "'{token}':{position} ").expect("writing to a string cannot fail");
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_long_text_are_truncated_at_whole_characters() {
        let long = tokenize(&"д".repeat(MAX_TOKEN_BYTES), 4_000);
        assert_eq!(long, ["д".repeat(MAX_TOKEN_BYTES / 2)]);
        assert_eq!(tokenize(&"abc ".repeat(4_000), 4_000).len(), 1_000);
    }

    #[test]
    fn token_positions_are_lost_in_long_texts_and_for_frequent_words() {
        let numbers: Vec<_> = (0..16_383).map(|number| number.to_string()).collect();
        assert!(!has_lost_positions(&numbers[..16_000]) && has_lost_positions(&numbers));
        let oil = vec!["oil".to_owned(); 256];
        assert!(!has_lost_positions(&oil[..255]) && has_lost_positions(&oil));
    }

    #[test]
    fn tokens_are_formatted_for_each_database() {
        let tokens = tokenize("Oil leaks", 4_000);
        assert_eq!(index_format(Dialect::Sqlite)(&tokens), "oil leaks");
        assert_eq!(index_format(Dialect::Postgres)(&tokens), "'oil':2 'leaks':3 ");
    }
}
