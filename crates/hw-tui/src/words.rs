//! Numbers and times as people read them, and text that fits.

use hw_rules::clean::for_terminal_line;
use hw_rules::probe::ExpectedRows;
use ratatui::style::Style;
use ratatui::text::Span;

/// What stands at the end of a text that was cut.
const CUT: &str = "...";
/// A letter with more marks on it than any language puts there is no letter.
const LONGEST_LETTER: usize = 64;

/// A number with a comma before each three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if 0 < index && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// How long something takes: `9 days`, `2h 15m`, `45m`, `30s`.
pub fn span(ms: i64) -> String {
    let seconds = (ms.max(0) + 999) / 1_000;
    let minutes = (seconds + 59) / 60;
    match minutes {
        0 | 1 => format!("{seconds}s"),
        2..60 => format!("{minutes}m"),
        60..2_880 => format!("{}h {}m", minutes / 60, minutes % 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

/// Estimates how long the rest takes, from what the part before it took; none before that means anything.
pub fn time_left_ms(done: u64, total: u64, elapsed_ms: i64) -> Option<i64> {
    const SOON_MS: i64 = 3_000;
    let left = total.checked_sub(done).filter(|left| *left > 0)?;
    if done == 0 || elapsed_ms < SOON_MS {
        return None;
    }
    let ms = i128::from(elapsed_ms) * i128::from(left) / i128::from(done);
    i64::try_from(ms).ok()
}

/// The part of a count that says how far it is: ` of 11,700, about 3m left`. Empty when nothing is known, or when more
/// came than was expected.
pub fn out_of(done: u64, expected: Option<ExpectedRows>, elapsed_ms: i64) -> String {
    let Some(ExpectedRows { rows, is_upper_bound }) = expected.filter(|it| done <= it.rows) else {
        return String::new();
    };
    let (of, about) = if is_upper_bound { ("of up to", "at most") } else { ("of", "about") };
    let left = time_left_ms(done, rows, elapsed_ms)
        .map(|ms| format!(", {about} {} left", span(ms)))
        .unwrap_or_default();
    format!(" {of} {}{left}", grouped(rows))
}

/// `1 error`, `3 errors`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// The text as it may stand on one line of so many columns; a longer one ends with `...`.
///
/// Everything that is drawn passes here, so that nothing from outside reaches a terminal unclean.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    let clean = for_terminal_line(text);
    let span = Span::raw(clean);
    let letters = letters(&span);
    if letters.iter().map(|letter| width(letter)).sum::<usize>() <= columns {
        return letters.concat();
    }
    let mut left = columns.saturating_sub(CUT.len());
    let whole = letters.iter().take_while(|letter| {
        let fits = width(letter) <= left;
        left = left.saturating_sub(width(letter));
        fits
    });
    let mut cut: String = whole.copied().collect();
    cut.push_str(&CUT[..columns.min(CUT.len())]);
    cut
}

fn letters<'a>(span: &'a Span<'a>) -> Vec<&'a str> {
    let letters = span.styled_graphemes(Style::default()).map(|letter| letter.symbol);
    letters
        .map(|letter| if letter.len() <= LONGEST_LETTER { letter } else { "\u{fffd}" })
        .filter(|letter| 0 < width(letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_above_999_carry_commas() {
        let numbers = [0, 999, 1_000, 1_247, 12_345_678].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,247", "12,345,678"]);
        assert_eq!(
            (counted(1, "error"), counted(3, "error")),
            ("1 error".into(), "3 errors".into())
        );
    }

    #[test]
    fn a_reset_is_told_as_a_person_would() {
        let minute = 60_000;
        let spans = [135 * minute, 60 * minute, 45 * minute, minute, 30_000, 1, -5].map(span);
        assert_eq!(spans, ["2h 15m", "1h 0m", "45m", "60s", "30s", "1s", "0s"]);
        assert_eq!(span(59 * minute + 1), "1h 0m");
        assert_eq!(span(9 * 1_440 * minute + 1), "9 days");
    }

    #[test]
    fn what_does_not_fit_ends_with_three_dots() {
        assert_eq!(fitted("twelve chars", 12), "twelve chars");
        assert_eq!(fitted("twelve chars", 11), "twelve c...");
        assert_eq!(fitted("twelve", 2), "..");
        assert_eq!(fitted("日本語日本語", 12), "日本語日本語");
        assert_eq!(fitted("日本語日本語", 11), "日本語日...");
        assert_eq!(width(&fitted("日本語日本語", 10)), 9, "half a letter is none");
        assert_eq!(
            fitted("👩\u{200d}👩\u{200d}👧👩\u{200d}👩\u{200d}👧!", 5),
            "👩\u{200d}👩\u{200d}👧👩\u{200d}👩\u{200d}👧!"
        );
    }

    #[test]
    fn nothing_unclean_passes() {
        assert_eq!(fitted("a\u{1b}[31mb\r\n\u{202e}c\u{7}", 40), "a[31mb c");
        let piled = format!("x{}y", "\u{301}".repeat(500));
        assert_eq!(fitted(&piled, 40), "\u{fffd}y");
    }
}
