//! Timestamps in UTC: whole seconds as GitHub writes them, milliseconds as Bluesky does.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

/// Formats the second a millisecond falls in as `2026-01-02T03:04:05Z`.
#[must_use]
pub fn format_rfc3339(ms: i64) -> String {
    let mut out = String::with_capacity(20);
    push_rfc3339(&mut out, ms);
    out
}

/// Appends the same text: responses are full of timestamps, and none needs a string of its own.
pub(crate) fn push_rfc3339(out: &mut String, ms: i64) {
    write!(out, "{}", timestamp(ms)).expect("writing to a string cannot fail");
}

/// Formats a millisecond as `2026-01-02T03:04:05.678Z`.
#[must_use]
pub fn format_rfc3339_ms(ms: i64) -> String {
    let timestamp =
        Timestamp::from_millisecond(ms).expect("the simulated clock stays within jiff's range");
    format!("{timestamp:.3}")
}

/// Formats a `Date` header: `Fri, 02 Jan 2026 03:04:05 GMT`.
pub(crate) fn format_http_date(ms: i64) -> String {
    DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&timestamp(ms))
        .expect("the simulated clock stays within four-digit years")
}

/// Parses a client's `since` into milliseconds; `None` if it is not a timestamp.
pub(crate) fn parse_rfc3339(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// Returns the start of the second a millisecond falls in: GitHub shows no fractions.
pub(crate) fn floor_to_second(ms: i64) -> i64 {
    ms.div_euclid(1000) * 1000
}

fn timestamp(ms: i64) -> Timestamp {
    Timestamp::from_second(ms.div_euclid(1000))
        .expect("the simulated clock stays within jiff's range")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_in_whole_seconds_and_read_back() {
        assert_eq!(format_rfc3339(1_767_323_045_999), "2026-01-02T03:04:05Z");
        assert_eq!(parse_rfc3339("2026-01-02T03:04:05Z"), Some(1_767_323_045_000));
        assert_eq!(format_rfc3339(1_709_164_800_000), "2024-02-29T00:00:00Z");
    }

    #[test]
    fn timestamps_with_milliseconds_always_have_three_digits() {
        assert_eq!(format_rfc3339_ms(1_767_323_045_000), "2026-01-02T03:04:05.000Z");
        assert_eq!(format_rfc3339_ms(1_767_323_045_067), "2026-01-02T03:04:05.067Z");
        assert_eq!(parse_rfc3339("2026-01-02T03:04:05.067Z"), Some(1_767_323_045_067));
    }

    #[test]
    fn http_date_names_the_right_weekday() {
        assert_eq!(format_http_date(1_767_323_045_000), "Fri, 02 Jan 2026 03:04:05 GMT");
        assert_eq!(format_http_date(784_111_777_000), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
