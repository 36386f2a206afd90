//! Finds what GitHub turns into links or emoji in a text: `#12`, `owner/repo#12`, `@login` and `:rocket:`.

use std::ops::Range;

/// A part of a text that refers to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextReference<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) target: ReferenceTarget<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReferenceTarget<'a> {
    /// A thread, of another repository if `owner/repo` precedes the number.
    Thread {
        repository: Option<&'a str>,
        number: i64,
    },
    Login(&'a str),
    Emoji(&'static str),
}

/// Digits of the longest plausible thread number.
const MAX_DIGITS: usize = 9;
const MAX_LOGIN: usize = 39;
const MAX_SHORTCODE: usize = 50;
const MAX_REPOSITORY: usize = 140;

/// Returns all references in order; they do not overlap.
pub(crate) fn find_references(text: &str) -> Vec<TextReference<'_>> {
    let mut found: Vec<TextReference<'_>> = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(['#', '@', ':']).map(|at| from + at) {
        let reference = match text.as_bytes()[at] {
            b'#' => parse_thread_at(text, from, at),
            b'@' => parse_login_at(text, at),
            _ => parse_emoji_at(text, at),
        };
        from = reference.as_ref().map_or(at + 1, |reference| reference.range.end);
        found.extend(reference);
    }
    found
}

/// Parses the thread reference around the `#` at a position. `from` is the end of the last reference.
fn parse_thread_at(text: &str, from: usize, at: usize) -> Option<TextReference<'_>> {
    let digits = count_leading(&text[at + 1..], |byte| byte.is_ascii_digit());
    let end = at + 1 + digits;
    if digits > MAX_DIGITS || text[end..].starts_with(is_word_char) {
        return None;
    }
    let number = text[at + 1..end].parse().ok().filter(|number| *number > 0)?;
    let name_bytes =
        text[from..at].bytes().rev().take(MAX_REPOSITORY).take_while(|byte| is_path_byte(*byte));
    let start = at - name_bytes.count();
    let before = text[..start].chars().next_back();
    if before.is_some_and(|c| is_word_char(c) || matches!(c, '&' | '#' | '@' | ':' | '=' | '?')) {
        return None;
    }
    let repository = match &text[start..at] {
        "" => None,
        name => Some(name).filter(|name| is_repository_name(name)).map(Some)?,
    };
    Some(TextReference {
        range: start..end,
        target: ReferenceTarget::Thread { repository, number },
    })
}

fn parse_login_at(text: &str, at: usize) -> Option<TextReference<'_>> {
    let before = text[..at].chars().next_back();
    let login = &text[at + 1..];
    let login = &login[..count_leading(login, |byte| byte.is_ascii_alphanumeric() || byte == b'-')];
    let login = login.trim_end_matches('-');
    let after = &text[at + 1 + login.len()..];
    // `@babel/core` is a package, `@acme/crew` a team, `@x.y` a decorator
    let is_longer = after.starts_with(['/', '@', '_'])
        || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_word_char));
    let is_login = (1..=MAX_LOGIN).contains(&login.len()) && !login.starts_with('-') && !is_longer;
    if !is_login
        || before.is_some_and(|c| is_word_char(c) || matches!(c, '/' | '.' | '@' | '-' | '+'))
    {
        return None;
    }
    Some(TextReference { range: at..at + 1 + login.len(), target: ReferenceTarget::Login(login) })
}

fn parse_emoji_at(text: &str, at: usize) -> Option<TextReference<'_>> {
    let name = &text[at + 1..];
    let name = &name[..count_leading(name, |byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'+' | b'-')
    })];
    let end = at + 1 + name.len();
    let is_named = (1..=MAX_SHORTCODE).contains(&name.len()) && text[end..].starts_with(':');
    // 10:100:20 is a time, although :100: is a shortcode
    if !is_named || text[..at].ends_with(char::is_alphanumeric) {
        return None;
    }
    let emoji = emojis::get_by_shortcode(name)?;
    Some(TextReference { range: at..end + 1, target: ReferenceTarget::Emoji(emoji.as_str()) })
}

/// Counts the leading bytes that satisfy a predicate.
fn count_leading(text: &str, predicate: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| predicate(*byte)).count()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')
}

fn is_repository_name(name: &str) -> bool {
    name.split_once('/').is_some_and(|(owner, name)| {
        !owner.is_empty() && !owner.contains(['.', '_']) && !name.is_empty() && !name.contains('/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_threads_are_whole_words() {
        for (text, expected) in [
            ("fixes #12.", vec!["#12"]),
            ("#1, (#2) #3", vec!["#1", "#2", "#3"]),
            ("acme/pump#3 and acme/pump.rs#4", vec!["acme/pump#3", "acme/pump.rs#4"]),
            ("é#12 a#1 a/b/c#2 &#35; #0 #12ab #1234567890 page?x#3 ##4", vec![]),
            ("#1#2 acme/#3 /pump#4 https://a.example/#5", vec!["#1"]),
        ] {
            assert_eq!(reference_texts(text), expected, "{text}");
        }
    }

    #[test]
    fn references_to_people_exclude_emails_and_packages() {
        for (text, expected) in [
            ("@ada, thanks @bob-b!", vec!["@ada", "@bob-b"]),
            ("ada@example.com @babel/core @acme/crew @a.b @_x @ @-a", vec![]),
            ("(@ada) @ada.", vec!["@ada", "@ada"]),
        ] {
            assert_eq!(reference_texts(text), expected, "{text}");
        }
    }

    #[test]
    fn references_to_emoji_are_known_shortcodes() {
        let text = ":rocket: :+1: a:b:c :unknown_thing: 10:100:20 :tada:";
        let emoji: Vec<_> =
            find_references(text).into_iter().map(|reference| reference.target).collect();
        assert_eq!(emoji, ["🚀", "👍", "🎉"].map(ReferenceTarget::Emoji));
    }

    fn reference_texts(text: &str) -> Vec<&str> {
        find_references(text).into_iter().map(|reference| &text[reference.range]).collect()
    }
}
