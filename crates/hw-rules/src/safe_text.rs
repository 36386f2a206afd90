//! Makes text from outside safe for a database, a terminal or a page.

use std::borrow::Cow;

/// Replaces U+0000, which PostgreSQL rejects in a column of plain text.
///
/// For titles, names and labels. Bodies are stored byte for byte.
pub fn sanitize_for_storage(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Removes control, bidi and other invisible characters, so that the text can be written to a terminal.
///
/// Newline and tab stay, and so do joiners and variation selectors, which make up emoji and letters.
pub fn sanitize_for_terminal(text: &str) -> String {
    text.chars().filter(|c| is_safe_char(*c)).collect()
}

/// Makes a text safe for one line of a terminal.
pub fn sanitize_terminal_line(text: &str) -> String {
    sanitize_for_terminal(text).replace(['\n', '\t'], " ")
}

/// Removes control and invisible characters, so that the text can be sent to a page or a language model.
///
/// Joiners and variation selectors stay only where they make up emoji and letters: a run of them can carry
/// a hidden text.
pub fn sanitize_for_display(text: &str) -> String {
    if text.is_ascii() && text.chars().all(is_safe_char) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut previous = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_allowed = if is_joiner(c) {
            previous.is_some_and(can_join) && chars.peek().copied().is_some_and(can_join)
        } else if is_selector(c) {
            previous.is_some_and(|previous| can_join(previous) || is_keycap(previous))
        } else {
            is_safe_char(c) && !is_filler(c)
        };
        if is_allowed {
            clean.push(c);
            previous = Some(c);
        }
    }
    clean
}

/// The length of a caller's own text that a message repeats.
const MAX_ECHO_BYTES: usize = 1_000;

/// Returns the beginning of a text that a caller sent, for a message that repeats it.
///
/// Without a limit, a call with megabytes of text would get as many back.
pub fn truncate_echo(text: &str) -> Cow<'_, str> {
    truncate_text(text, MAX_ECHO_BYTES)
}

/// Returns at most `max_bytes` of a text, followed by `…` if it is longer.
pub fn truncate_text(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(max_bytes)]))
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns true if joiners and selectors may be next to the character: letters of other scripts, symbols, and symbols
/// with a selector.
fn can_join(c: char) -> bool {
    !c.is_ascii()
        && !is_joiner(c)
        && !c.is_whitespace()
        && !matches!(c, '\u{e0100}'..='\u{e01ef}')
        && is_safe_char(c)
}

/// Returns true for the characters that a keycap emoji begins with.
fn is_keycap(c: char) -> bool {
    matches!(c, '#' | '*' | '0'..='9')
}

/// Returns true for invisible characters that Unicode counts as letters.
fn is_filler(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{3164}'
            | '\u{ffa0}'
            | '\u{2800}'
    )
}

/// Returns true if a terminal displays the character, and has no other reaction to it.
pub fn is_safe_char(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // joiners inside emoji and letters
        '\u{200c}' | '\u{200d}' => true,
        // zero-width space, direction marks, embeddings and isolates, invisible operators
        '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => false,
        // soft hyphen, Arabic letter mark, Mongolian vowel separator, line and paragraph separators
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{2028}' | '\u{2029}' => false,
        // byte order mark, interlinear annotations, tag characters
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => false,
        _ => !c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_text_has_no_escapes_or_hidden_marks() {
        assert_eq!(sanitize_for_terminal("a\u{1b}[31mb\u{9b}c\u{7f}d\0e\r"), "a[31mbcde");
        assert_eq!(sanitize_for_terminal("\u{202e}abc\u{2066}d\u{200b}e\u{e0041}f"), "abcdef");
        assert_eq!(sanitize_terminal_line("two\nlines\tand a tab"), "two lines and a tab");
    }

    #[test]
    fn echo_is_cut_at_a_character_above_the_limit() {
        let longest = "é".repeat(MAX_ECHO_BYTES / 2);
        assert_eq!(truncate_echo(&longest), longest);
        assert_eq!(truncate_echo(&format!("{longest}é")), format!("{longest}…"));
        assert_eq!(truncate_text("aéb", 2), "a…");
        assert_eq!(truncate_text("", 0), "");
    }

    #[test]
    fn display_text_has_no_hidden_text() {
        assert_eq!(
            sanitize_for_display("a\u{200b}b\u{202e}c\u{e0041}d\u{feff}e\0f\u{1b}[1m\r\n"),
            "abcdef[1m\n"
        );
        assert_eq!(sanitize_for_display("x\u{200d}y z\u{fe0f}\u{fe01}"), "xy z");
        assert_eq!(sanitize_for_display("👍\u{e0101}\u{e0102}\u{e0103}"), "👍\u{e0101}");
        assert_eq!(sanitize_for_display("ab\u{3164}c\u{115f}"), "abc");
    }

    #[test]
    fn display_text_keeps_letters_and_emoji_whole() {
        for text in [
            "日本語",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "نامه\u{200c}ای",
            "a\tb\nc",
            "क\u{94d}\u{200d}ष",
            "é e\u{301}",
        ] {
            assert_eq!(sanitize_for_display(text), text);
        }
    }

    #[test]
    fn terminal_text_keeps_letters_and_emoji_whole() {
        for text in ["日本語", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "نامه\u{200c}ای", "a\tb\nc"]
        {
            assert_eq!(sanitize_for_terminal(text), text);
        }
    }
}
