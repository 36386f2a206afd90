//! Text from outside, made safe for where it goes.

use std::borrow::Cow;

/// What a database column of plain text can hold: U+0000, which PostgreSQL refuses, is replaced.
///
/// For titles, names and labels. Bodies are kept byte for byte.
pub fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// What may reach a terminal: control, bidi and other invisible characters are left out.
///
/// Newline and tab stay, and so do joiners and variation selectors, which make up emoji and letters.
pub fn for_terminal(text: &str) -> String {
    text.chars().filter(|c| is_harmless(*c)).collect()
}

/// The same on one line.
pub fn for_terminal_line(text: &str) -> String {
    for_terminal(text).replace(['\n', '\t'], " ")
}

/// What may reach a page or a language model: no character that nobody sees, and no control.
///
/// Joiners and variation selectors stay where they make up emoji and letters, and only there: a run of them
/// can carry a hidden text.
pub fn for_reading(text: &str) -> String {
    if text.is_ascii() && text.chars().all(is_harmless) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let fits = if is_joiner(c) {
            before.is_some_and(joins) && chars.peek().copied().is_some_and(joins)
        } else if is_selector(c) {
            before.is_some_and(|before| joins(before) || is_keycap(before))
        } else {
            is_harmless(c) && !is_filler(c)
        };
        if fits {
            clean.push(c);
            before = Some(c);
        }
    }
    clean
}

/// How many bytes of a caller's own text a message repeats.
pub const MAX_ECHO_BYTES: usize = 1_000;

/// Returns the beginning of a text that a caller sent, for a message that repeats it.
///
/// Without a limit, one call with a text of megabytes is answered with as many.
pub fn shorten_echo(text: &str) -> Cow<'_, str> {
    shorten(text, MAX_ECHO_BYTES)
}

/// Returns at most so many bytes of a text, and `…` where more would follow.
pub fn shorten(text: &str, max_bytes: usize) -> Cow<'_, str> {
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

/// Whether joiners and selectors may stand beside it: letters of other scripts, symbols, and selected symbols.
fn joins(c: char) -> bool {
    !c.is_ascii()
        && !is_joiner(c)
        && !c.is_whitespace()
        && !matches!(c, '\u{e0100}'..='\u{e01ef}')
        && is_harmless(c)
}

/// What a keycap emoji begins with.
fn is_keycap(c: char) -> bool {
    matches!(c, '#' | '*' | '0'..='9')
}

/// Characters that count as letters and show nothing.
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

/// Whether a terminal shows it, and does nothing else.
pub fn is_harmless(c: char) -> bool {
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
    fn escapes_and_hidden_marks_do_not_reach_the_terminal() {
        assert_eq!(for_terminal("a\u{1b}[31mb\u{9b}c\u{7f}d\0e\r"), "a[31mbcde");
        assert_eq!(for_terminal("\u{202e}abc\u{2066}d\u{200b}e\u{e0041}f"), "abcdef");
        assert_eq!(for_terminal_line("two\nlines\tand a tab"), "two lines and a tab");
    }

    #[test]
    fn echo_is_cut_at_a_character_and_left_alone_below_the_limit() {
        let longest = "é".repeat(MAX_ECHO_BYTES / 2);
        assert_eq!(shorten_echo(&longest), longest);
        assert_eq!(shorten_echo(&format!("{longest}é")), format!("{longest}…"));
        assert_eq!(shorten("aéb", 2), "a…");
        assert_eq!(shorten("", 0), "");
    }

    #[test]
    fn hidden_texts_do_not_reach_a_reader() {
        assert_eq!(
            for_reading("a\u{200b}b\u{202e}c\u{e0041}d\u{feff}e\0f\u{1b}[1m\r\n"),
            "abcdef[1m\n"
        );
        assert_eq!(for_reading("x\u{200d}y z\u{fe0f}\u{fe01}"), "xy z");
        assert_eq!(for_reading("👍\u{e0101}\u{e0102}\u{e0103}"), "👍\u{e0101}");
        assert_eq!(for_reading("ab\u{3164}c\u{115f}"), "abc");
    }

    #[test]
    fn readers_see_letters_and_emoji_whole() {
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
            assert_eq!(for_reading(text), text);
        }
    }

    #[test]
    fn letters_and_emoji_stay_whole() {
        for text in ["日本語", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "نامه\u{200c}ای", "a\tb\nc"]
        {
            assert_eq!(for_terminal(text), text);
        }
    }
}
