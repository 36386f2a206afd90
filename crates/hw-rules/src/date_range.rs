//! Parses the dates that people write in filters: an RFC 3339 time with any offset, or a plain date in UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

use crate::safe_text::truncate_echo;
use crate::source_time::SourceInstant;

/// A range of time that includes both ends; each end may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DateRange {
    pub from: Option<SourceInstant>,
    pub to: Option<SourceInstant>,
}

/// The first and the last instant of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateBounds {
    pub(crate) first: SourceInstant,
    pub(crate) last: SourceInstant,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a date: {0:?} (use 2025-06-18 or 2025-06-18T19:19:08Z)")]
pub struct ParseDateError(pub String);

impl DateRange {
    /// Returns true if both ends are open.
    pub fn is_unbounded(&self) -> bool {
        *self == Self::default()
    }

    pub fn contains(&self, instant: SourceInstant) -> bool {
        self.from.is_none_or(|from| from <= instant) && self.to.is_none_or(|to| instant <= to)
    }

    /// Returns true if the range ends before it begins, so that nothing can be in it.
    pub fn is_backwards(&self) -> bool {
        self.from.zip(self.to).is_some_and(|(from, to)| to < from)
    }

    /// Returns the range that both ranges include.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        let to = [self.to, other.to].into_iter().flatten().min();
        Self { from: self.from.max(other.from), to }
    }
}

/// Parses a date, and returns its first instant.
pub fn parse_first_instant(text: &str) -> Result<SourceInstant, ParseDateError> {
    parse_date_bounds(text).map(|bounds| bounds.first)
}

/// Parses a date, and returns its last instant: the end of the day for a plain date.
pub fn parse_last_instant(text: &str) -> Result<SourceInstant, ParseDateError> {
    parse_date_bounds(text).map(|bounds| bounds.last)
}

/// Parses a date, and returns its first and its last instant. Timestamps end shortly before the year 9999 does, so
/// later instants become the last one.
pub(crate) fn parse_date_bounds(text: &str) -> Result<DateBounds, ParseDateError> {
    let text = text.trim();
    let DateBounds { first, last } = parse_instant(text)
        .or_else(|| parse_day(text))
        .ok_or_else(|| ParseDateError(truncate_echo(text).into_owned()))?;
    let latest = last_supported_instant();
    Ok(DateBounds { first: first.min(latest), last: last.min(latest) })
}

fn parse_instant(text: &str) -> Option<DateBounds> {
    if is_beyond_calendar(text) {
        return Some(DateBounds {
            first: last_supported_instant(),
            last: last_supported_instant(),
        });
    }
    let first = SourceInstant(text.parse::<Timestamp>().ok()?.as_millisecond());
    // the source's clock ticks in seconds, so 19:19:08 means all of that second
    let last = if has_fraction(text) { first } else { first.plus_ms(999) };
    Some(DateBounds { first, last })
}

fn parse_day(text: &str) -> Option<DateBounds> {
    if text.len() != "2025-06-18".len() {
        return None;
    }
    let day: Date = text.parse().ok()?;
    let first = day_start(day).unwrap_or_else(last_supported_instant);
    let next = day.tomorrow().ok().and_then(day_start);
    let last = next.map_or_else(last_supported_instant, |next| next.minus_ms(1));
    Some(DateBounds { first, last })
}

/// Returns the last whole second that a timestamp can represent.
fn last_supported_instant() -> SourceInstant {
    SourceInstant(Timestamp::MAX.as_second() * 1_000)
}

/// Returns true for a valid instant that is too late for a timestamp.
fn is_beyond_calendar(text: &str) -> bool {
    let Ok(pieces) = Pieces::parse(text) else { return false };
    pieces.date() >= Date::constant(9999, 12, 30)
        && pieces.time().is_some()
        && pieces.to_numeric_offset().is_some()
        && text.parse::<Timestamp>().is_err()
}

fn has_fraction(text: &str) -> bool {
    text.contains(['.', ','])
}

fn day_start(day: Date) -> Option<SourceInstant> {
    let zoned = day.to_zoned(TimeZone::UTC).ok()?;
    Some(SourceInstant(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_without_a_time_is_the_whole_day_in_utc() {
        let day = parse_date_bounds("2025-06-18").unwrap();
        assert_eq!(
            (day.first.to_string(), day.last.to_string()),
            ("2025-06-18T00:00:00Z".to_owned(), "2025-06-18T23:59:59.999Z".to_owned())
        );
    }

    #[test]
    fn date_offsets_name_the_same_instant() {
        assert_eq!(
            parse_first_instant("2025-06-18T21:19:08+02:00"),
            parse_first_instant("2025-06-18T19:19:08Z")
        );
        assert_eq!(
            parse_first_instant(" 2025-06-18T19:19:08Z "),
            parse_first_instant("2025-06-18T19:19:08Z")
        );
    }

    #[test]
    fn date_with_a_time_is_the_whole_second() {
        let second = parse_date_bounds("2025-06-18T19:19:08Z").unwrap();
        assert_eq!(second.last.0 - second.first.0, 999);
    }

    #[test]
    fn date_error_shows_an_example() {
        for text in ["", "yesterday", "2025-13-01", "2025-02-30", "18.06.2025", "2025-06", "2025"] {
            let error = parse_date_bounds(text).unwrap_err().to_string();
            assert!(error.contains("2025-06-18T19:19:08Z"), "{text}: {error}");
        }
    }

    #[test]
    fn date_at_the_end_of_the_calendar_is_valid() {
        for text in
            ["9999-12-30", "9999-12-31", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-08:00"]
        {
            let DateBounds { first, last } = parse_date_bounds(text).unwrap();
            assert!(first <= last && last == last_supported_instant(), "{text}: {first} {last}");
        }
        assert_eq!(last_supported_instant().to_string(), "9999-12-30T22:00:00Z");
        assert!(
            parse_date_bounds("9999-12-31T23:59:59").is_err()
                && parse_date_bounds("9999-12-32").is_err()
        );
    }

    #[test]
    fn date_range_that_ends_before_it_begins_is_backwards() {
        assert!(range(2, 1).is_backwards() && !range(1, 1).is_backwards());
        assert!(!DateRange { from: Some(SourceInstant(2)), to: None }.is_backwards());
    }

    #[test]
    fn date_range_includes_both_ends() {
        let contained = [0, 1, 3, 4].map(|at| range(1, 3).contains(SourceInstant(at)));
        assert_eq!(contained, [false, true, true, false]);
        assert!(DateRange::default().contains(SourceInstant::BEGINNING));
        let until_two = DateRange { from: None, to: Some(SourceInstant(2)) };
        assert_eq!(range(1, 3).intersection(until_two), range(1, 2));
    }

    fn range(from: i64, to: i64) -> DateRange {
        DateRange { from: Some(SourceInstant(from)), to: Some(SourceInstant(to)) }
    }
}
