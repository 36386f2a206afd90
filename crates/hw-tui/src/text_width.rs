//! Measures text in terminal columns, and cuts it to a width.

use hw_rules::safe_text::sanitize_terminal_line;
use ratatui::style::Style;
use ratatui::text::Span;

const ELLIPSIS: &str = "...";
/// The longest grapheme that is displayed: no language puts more marks on a letter.
const MAX_GRAPHEME_BYTES: usize = 64;

/// Returns the number of columns that a text takes.
pub(crate) fn display_width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Sanitizes a text and cuts it to one line of this width; a text that was cut ends with `...`.
///
/// Every text that is drawn passes through here, so that no control character from outside reaches a terminal.
pub(crate) fn fit_to_width(text: &str, columns: usize) -> String {
    let clean = sanitize_terminal_line(text);
    let span = Span::raw(clean);
    let graphemes = split_graphemes(&span);
    if graphemes.iter().map(|grapheme| display_width(grapheme)).sum::<usize>() <= columns {
        return graphemes.concat();
    }
    let mut left = columns.saturating_sub(ELLIPSIS.len());
    let fitting = graphemes.iter().take_while(|grapheme| {
        let fits = display_width(grapheme) <= left;
        left = left.saturating_sub(display_width(grapheme));
        fits
    });
    let mut cut: String = fitting.copied().collect();
    cut.push_str(&ELLIPSIS[..columns.min(ELLIPSIS.len())]);
    cut
}

fn split_graphemes<'a>(span: &'a Span<'a>) -> Vec<&'a str> {
    span.styled_graphemes(Style::default())
        .map(|grapheme| grapheme.symbol)
        .map(|symbol| if symbol.len() <= MAX_GRAPHEME_BYTES { symbol } else { "\u{fffd}" })
        .filter(|symbol| display_width(symbol) > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_does_not_fit_ends_with_three_dots() {
        assert_eq!(fit_to_width("twelve chars", 12), "twelve chars");
        assert_eq!(fit_to_width("twelve chars", 11), "twelve c...");
        assert_eq!(fit_to_width("twelve", 2), "..");
        assert_eq!(fit_to_width("日本語日本語", 12), "日本語日本語");
        assert_eq!(fit_to_width("日本語日本語", 11), "日本語日...");
        assert_eq!(display_width(&fit_to_width("日本語日本語", 10)), 9, "letters are never halved");
        assert_eq!(
            fit_to_width("👩\u{200d}👩\u{200d}👧👩\u{200d}👩\u{200d}👧!", 5),
            "👩\u{200d}👩\u{200d}👧👩\u{200d}👩\u{200d}👧!"
        );
    }

    #[test]
    fn text_is_sanitized_before_it_is_drawn() {
        assert_eq!(fit_to_width("a\u{1b}[31mb\r\n\u{202e}c\u{7}", 40), "a[31mb c");
        let piled = format!("x{}y", "\u{301}".repeat(500));
        assert_eq!(fit_to_width(&piled, 40), "\u{fffd}y");
    }
}
