//! A span of time as few whole years, months and days.

use hw_rules::time::Mark;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// A year (`2025`), a month (`202506`) or a day (`20250618`), in UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit(pub(crate) String);

/// The first and the last year that are told apart: before GitHub, and long after us.
const FIRST: Date = date(2000, 1, 1);
const LAST: Date = date(2099, 12, 31);

/// The units that an instant lies in.
pub(crate) fn of(mark: Mark) -> [Unit; 3] {
    let day = day(mark);
    [of_year(day), of_month(day), of_day(day)]
}

/// The fewest units that hold every day of a span.
pub(crate) fn between(from: Mark, to: Mark) -> Vec<Unit> {
    let (mut next, last) = (day(from), day(to));
    let mut units = Vec::new();
    while next <= last {
        let (unit, end) = if next.day_of_year() == 1 && next.last_of_year() <= last {
            (of_year(next), next.last_of_year())
        } else if next.day() == 1 && next.last_of_month() <= last {
            (of_month(next), next.last_of_month())
        } else {
            (of_day(next), next)
        };
        units.push(unit);
        next = end.saturating_add(1.day());
    }
    units
}

/// The day of an instant; what lies outside is taken for the first day or the last.
fn day(mark: Mark) -> Date {
    let outside = if mark.0 < 0 { FIRST } else { LAST };
    let day = Timestamp::from_millisecond(mark.0).map(|it| it.to_zoned(TimeZone::UTC).date());
    day.unwrap_or(outside).clamp(FIRST, LAST)
}

fn of_year(day: Date) -> Unit {
    Unit(format!("{:04}", day.year()))
}

fn of_month(day: Date) -> Unit {
    Unit(format!("{:04}{:02}", day.year(), day.month()))
}

fn of_day(day: Date) -> Unit {
    Unit(format!("{:04}{:02}{:02}", day.year(), day.month(), day.day()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_span_is_days_then_months_then_years_and_back() {
        let units = spelled("2023-11-29", "2025-02-02");
        let expected = ["20231129", "20231130", "202312", "2024", "202501", "20250201", "20250202"];
        assert_eq!(units, expected);
        assert_eq!(spelled("2024-01-01", "2024-12-31"), ["2024"]);
        assert!(spelled("2024-02-02", "2024-02-01").is_empty());
    }

    #[test]
    fn an_open_span_is_a_few_dozen_years() {
        let units = between(mark("2025-01-01"), Mark(i64::MAX));
        assert_eq!(units.len(), 75);
        assert_eq!(between(Mark::BEGINNING, mark("2025-06-18")).len(), 25 + 5 + 18);
    }

    proptest! {
        #[test]
        fn a_day_is_in_a_span_when_one_of_its_units_is(
            (at, from, to) in (0..4_000_i64, 0..4_000_i64, 0..4_000_i64)
        ) {
            let mark = |day: i64| Mark((day + 12_000) * 86_400_000 + 5);
            let units = between(mark(from), mark(to));
            let is_in = of(mark(at)).iter().any(|unit| units.contains(unit));
            prop_assert_eq!(is_in, from <= at && at <= to);
        }
    }

    fn spelled(from: &str, to: &str) -> Vec<String> {
        between(mark(from), mark(to)).into_iter().map(|unit| unit.0).collect()
    }

    fn mark(day: &str) -> Mark {
        hw_rules::dates::parse_from(day).unwrap()
    }
}
