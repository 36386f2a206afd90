//! Formats counts and durations for people; every frontend uses these.

use crate::probe::ExpectedRows;

/// Formats a number with a comma before each group of three digits.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a duration: `9 days`, `2h 15m`, `45m`, `30s`.
pub fn format_duration(ms: i64) -> String {
    let seconds = (ms.max(0) + 999) / 1_000;
    let minutes = (seconds + 59) / 60;
    match minutes {
        0 | 1 => format!("{seconds}s"),
        2..60 => format!("{minutes}m"),
        60..2_880 => format!("{}h {}m", minutes / 60, minutes % 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

/// Formats how long something took, to a tenth of a second: `1.5 s`.
pub fn format_tenths(ms: i64) -> String {
    let ms = ms.max(0);
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}

/// Estimates the time that the rest takes from the time elapsed; none while it is too early for an estimate.
pub fn time_left_ms(done: u64, total: u64, elapsed_ms: i64) -> Option<i64> {
    const MIN_ELAPSED_MS: i64 = 3_000;
    let left = total.checked_sub(done).filter(|left| *left > 0)?;
    if done == 0 || elapsed_ms < MIN_ELAPSED_MS {
        return None;
    }
    let ms = i128::from(elapsed_ms) * i128::from(left) / i128::from(done);
    i64::try_from(ms).ok()
}

/// Formats the expected total after a count: ` of 11,700, about 3m left`. Empty if no total is expected, or if the count
/// exceeds it.
pub fn out_of(done: u64, expected: Option<ExpectedRows>, elapsed_ms: i64) -> String {
    let left =
        time_left(done, expected, elapsed_ms).map_or_else(String::new, |left| format!(", {left}"));
    format!("{}{left}", of_total(done, expected))
}

/// Formats the expected total after a count: ` of 11,700`. Empty if no total is expected, or if the count exceeds it.
pub fn of_total(done: u64, expected: Option<ExpectedRows>) -> String {
    let Some(ExpectedRows { rows, is_upper_bound }) = reachable_total(done, expected) else {
        return String::new();
    };
    let of = if is_upper_bound { "of up to" } else { "of" };
    format!(" {of} {}", group_digits(rows))
}

/// Formats the time that is left until the expected total: `about 3m left`.
pub fn time_left(done: u64, expected: Option<ExpectedRows>, elapsed_ms: i64) -> Option<String> {
    let ExpectedRows { rows, is_upper_bound } = reachable_total(done, expected)?;
    let left = format_duration(time_left_ms(done, rows, elapsed_ms)?);
    Some(format!("{} {left} left", if is_upper_bound { "at most" } else { "about" }))
}

fn reachable_total(done: u64, expected: Option<ExpectedRows>) -> Option<ExpectedRows> {
    expected.filter(|expected| done <= expected.rows)
}

/// Formats a number with a noun: `1 error`, `3 errors`, `2 matches`, `5 repositories`.
pub fn format_count(number: u64, noun: &str) -> String {
    let noun = if number == 1 { noun.to_owned() } else { plural(noun) };
    format!("{} {noun}", group_digits(number))
}

fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with("ch") => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_above_999_has_commas() {
        let numbers = [0, 999, 1_000, 1_247, 12_345_678].map(group_digits);
        assert_eq!(numbers, ["0", "999", "1,000", "1,247", "12,345,678"]);
    }

    #[test]
    fn count_has_a_singular_and_a_plural() {
        for (number, noun, text) in [
            (1, "error", "1 error"),
            (0, "error", "0 errors"),
            (3, "request", "3 requests"),
            (1, "match", "1 match"),
            (2, "match", "2 matches"),
            (1_000, "repository", "1,000 repositories"),
        ] {
            assert_eq!(format_count(number, noun), text);
        }
    }

    #[test]
    fn duration_in_tenths_shows_how_short_it_was() {
        for (ms, text) in [(-1, "0.0 s"), (37, "0.0 s"), (1_550, "1.5 s"), (61_000, "61.0 s")] {
            assert_eq!(format_tenths(ms), text);
        }
    }

    #[test]
    fn duration_uses_two_units_at_most() {
        let minute = 60_000;
        let spans =
            [135 * minute, 60 * minute, 45 * minute, minute, 30_000, 1, -5].map(format_duration);
        assert_eq!(spans, ["2h 15m", "1h 0m", "45m", "60s", "30s", "1s", "0s"]);
        assert_eq!(format_duration(59 * minute + 1), "1h 0m");
        assert_eq!(format_duration(9 * 1_440 * minute + 1), "9 days");
    }
}
