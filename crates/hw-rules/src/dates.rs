//! Dates as people write them in filters: an RFC 3339 time with any offset, or a plain date in UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

use crate::clean::shorten_echo;
use crate::time::Mark;

/// From one instant to another, both included; open where nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    pub from: Option<Mark>,
    pub to: Option<Mark>,
}

/// What was meant as a date, and is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a date: {0:?} (2025-06-18 and 2025-06-18T19:19:08Z are)")]
pub struct NotADate(pub String);

impl Span {
    /// Whether nothing is said.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    pub fn contains(&self, mark: Mark) -> bool {
        self.from.is_none_or(|from| from <= mark) && self.to.is_none_or(|to| mark <= to)
    }

    /// Whether it ends before it begins, so that nothing can be in it.
    pub fn is_backwards(&self) -> bool {
        self.from.zip(self.to).is_some_and(|(from, to)| to < from)
    }

    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let to = [self.to, other.to].into_iter().flatten().min();
        Self { from: self.from.max(other.from), to }
    }
}

/// The first instant that a date means.
pub fn parse_from(text: &str) -> Result<Mark, NotADate> {
    parse(text).map(|(from, _)| from)
}

/// The last instant that a date means: that of the day for a plain date.
pub fn parse_to(text: &str) -> Result<Mark, NotADate> {
    parse(text).map(|(_, to)| to)
}

/// The first and the last instant that a date means. The year 9999 has more of them than our calendar.
pub fn parse(text: &str) -> Result<(Mark, Mark), NotADate> {
    let text = text.trim();
    let (from, to) = instant(text)
        .or_else(|| day(text))
        .ok_or_else(|| NotADate(shorten_echo(text).into_owned()))?;
    Ok((from.min(last()), to.min(last())))
}

fn instant(text: &str) -> Option<(Mark, Mark)> {
    if is_beyond(text) {
        return Some((last(), last()));
    }
    let at = Mark(text.parse::<Timestamp>().ok()?.as_millisecond());
    // the source's clock ticks in seconds, so 19:19:08 means all of that second
    Some((at, if has_fraction(text) { at } else { at.plus(999) }))
}

fn day(text: &str) -> Option<(Mark, Mark)> {
    if text.len() != "2025-06-18".len() {
        return None;
    }
    let day: Date = text.parse().ok()?;
    let from = midnight(day).unwrap_or_else(last);
    let next = day.tomorrow().ok().and_then(midnight);
    Some((from, next.map_or_else(last, |next| next.minus(1))))
}

/// The last whole second that there is.
fn last() -> Mark {
    Mark(Timestamp::MAX.as_second() * 1_000)
}

/// Whether this is an instant that comes after the last one.
fn is_beyond(text: &str) -> bool {
    let is_late = |it: Pieces<'_>| it.time().is_some() && it.to_numeric_offset().is_some();
    let late = Pieces::parse(text).ok().filter(|it| Date::constant(9999, 12, 30) <= it.date());
    late.is_some_and(is_late) && text.parse::<Timestamp>().is_err()
}

fn has_fraction(text: &str) -> bool {
    text.contains(['.', ','])
}

fn midnight(day: Date) -> Option<Mark> {
    let zoned = day.to_zoned(TimeZone::UTC).ok()?;
    Some(Mark(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_date_is_the_whole_day_in_utc() {
        let day = parse("2025-06-18").unwrap();
        assert_eq!(
            (day.0.to_string(), day.1.to_string()),
            ("2025-06-18T00:00:00Z".to_owned(), "2025-06-18T23:59:59.999Z".to_owned())
        );
    }

    #[test]
    fn offsets_name_the_same_instant() {
        assert_eq!(parse_from("2025-06-18T21:19:08+02:00"), parse_from("2025-06-18T19:19:08Z"));
        assert_eq!(parse_from(" 2025-06-18T19:19:08Z "), parse_from("2025-06-18T19:19:08Z"));
    }

    #[test]
    fn a_second_is_meant_as_a_whole() {
        let (from, to) = parse("2025-06-18T19:19:08Z").unwrap();
        assert_eq!(to.0 - from.0, 999);
    }

    #[test]
    fn what_is_no_date_is_an_error_that_shows_one() {
        for text in ["", "yesterday", "2025-13-01", "2025-02-30", "18.06.2025", "2025-06", "2025"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("2025-06-18T19:19:08Z"), "{text}: {error}");
        }
    }

    #[test]
    fn the_end_of_the_calendar_is_a_date_like_any_other() {
        for text in
            ["9999-12-30", "9999-12-31", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-08:00"]
        {
            let (from, to) = parse(text).unwrap();
            assert!(from <= to && to == last(), "{text}: {from} {to}");
        }
        assert_eq!(last().to_string(), "9999-12-30T22:00:00Z");
        assert!(parse("9999-12-31T23:59:59").is_err() && parse("9999-12-32").is_err());
    }

    #[test]
    fn a_span_that_ends_before_it_begins_is_backwards() {
        let span = |from, to| Span { from: Some(Mark(from)), to: Some(Mark(to)) };
        assert!(span(2, 1).is_backwards() && !span(1, 1).is_backwards());
        assert!(!Span { from: Some(Mark(2)), to: None }.is_backwards());
    }

    #[test]
    fn a_span_includes_both_ends() {
        let span = Span { from: Some(Mark(1)), to: Some(Mark(3)) };
        assert_eq!([0, 1, 3, 4].map(|at| span.contains(Mark(at))), [false, true, true, false]);
        assert!(Span::default().contains(Mark::BEGINNING));
        let narrower = span.and(Span { from: None, to: Some(Mark(2)) });
        assert_eq!(narrower, Span { from: Some(Mark(1)), to: Some(Mark(2)) });
    }
}
