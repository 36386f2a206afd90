//! Tokens as each database takes them, without its own parser having a say: those differ, and
//! PostgreSQL's also depends on the server's locale.

use std::fmt::Write as _;

use hw_rules::tokens;

use crate::sql::Dialect;

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
pub(crate) type Spelling = fn(&[String]) -> String;

pub(crate) fn spelling(dialect: Dialect) -> Spelling {
    match dialect {
        Dialect::Sqlite => |tokens| tokens.join(" "),
        Dialect::Postgres => vector,
    }
}

/// The tokens as a `tsvector`: each quoted, with its place.
fn vector(tokens: &[String]) -> String {
    let mut vector = String::new();
    for (place, token) in (1..).zip(tokens) {
        write!(vector, "'{token}':{place} ").expect("writing to a string cannot fail");
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_between_tokens_and_within_a_letter_never() {
        let long = of(&"ä".repeat(TOKEN_BYTES), 4_000);
        assert_eq!(long, ["ä".repeat(TOKEN_BYTES / 2)]);
        assert_eq!(of(&"abc ".repeat(4_000), 4_000).len(), 1_000);
    }

    #[test]
    fn each_database_gets_its_own_spelling() {
        let tokens = of("Oil leaks", 4_000);
        assert_eq!(spelling(Dialect::Sqlite)(&tokens), "oil leaks");
        assert_eq!(spelling(Dialect::Postgres)(&tokens), "'oil':1 'leaks':2 ");
    }
}
