//! Text from outside, made safe for where it goes.

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
    fn letters_and_emoji_stay_whole() {
        for text in ["日本語", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "نامه\u{200c}ای", "a\tb\nc"]
        {
            assert_eq!(for_terminal(text), text);
        }
    }
}
