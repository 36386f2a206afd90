//! Splits a range of time into as few whole years, months and days as possible.

use hw_rules::source_time::SourceInstant;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// A year (`2025`), a month (`202506`) or a day (`20250618`), in UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DateUnit(pub(crate) String);

/// The first and the last day that are distinguished: before GitHub, and long after us.
const FIRST_DAY: Date = date(2000, 1, 1);
const LAST_DAY: Date = date(2099, 12, 31);

/// Returns the year, the month and the day of an instant.
pub(crate) fn units_at(instant: SourceInstant) -> [DateUnit; 3] {
    let day = utc_day(instant);
    [year_unit(day), month_unit(day), day_unit(day)]
}

/// Returns the fewest units that cover every day of a range.
pub(crate) fn units_between(from: SourceInstant, to: SourceInstant) -> Vec<DateUnit> {
    let (mut next, last) = (utc_day(from), utc_day(to));
    let mut units = Vec::new();
    while next <= last {
        let (unit, end) = if next.day_of_year() == 1 && next.last_of_year() <= last {
            (year_unit(next), next.last_of_year())
        } else if next.day() == 1 && next.last_of_month() <= last {
            (month_unit(next), next.last_of_month())
        } else {
            (day_unit(next), next)
        };
        units.push(unit);
        next = end.saturating_add(1.day());
    }
    units
}

/// Returns the day of an instant, clamped to the first and the last day.
fn utc_day(instant: SourceInstant) -> Date {
    let nearest_day = if instant.0 < 0 { FIRST_DAY } else { LAST_DAY };
    let timestamp = Timestamp::from_millisecond(instant.0);
    let day = timestamp.map(|timestamp| timestamp.to_zoned(TimeZone::UTC).date());
    day.unwrap_or(nearest_day).clamp(FIRST_DAY, LAST_DAY)
}

fn year_unit(day: Date) -> DateUnit {
    DateUnit(format!("{:04}", day.year()))
}

fn month_unit(day: Date) -> DateUnit {
    DateUnit(format!("{:04}{:02}", day.year(), day.month()))
}

fn day_unit(day: Date) -> DateUnit {
    DateUnit(format!("{:04}{:02}{:02}", day.year(), day.month(), day.day()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn date_units_of_a_range_are_days_then_months_then_years_and_back() {
        let units = unit_names("2023-11-29", "2025-02-02");
        let expected = ["20231129", "20231130", "202312", "2024", "202501", "20250201", "20250202"];
        assert_eq!(units, expected);
        assert_eq!(unit_names("2024-01-01", "2024-12-31"), ["2024"]);
        assert!(unit_names("2024-02-02", "2024-02-01").is_empty());
    }

    #[test]
    fn date_units_of_an_unbounded_range_are_a_few_dozen_years() {
        let units = units_between(first_instant("2025-01-01"), SourceInstant(i64::MAX));
        assert_eq!(units.len(), 75);
        let units = units_between(SourceInstant::BEGINNING, first_instant("2025-06-18"));
        assert_eq!(units.len(), 25 + 5 + 18);
    }

    proptest! {
        #[test]
        fn date_units_of_a_day_are_in_a_range_exactly_when_the_day_is(
            (at, from, to) in (0..4_000_i64, 0..4_000_i64, 0..4_000_i64)
        ) {
            let units = units_between(instant_on(from), instant_on(to));
            let is_in = units_at(instant_on(at)).iter().any(|unit| units.contains(unit));
            prop_assert_eq!(is_in, from <= at && at <= to);
        }
    }

    fn unit_names(from: &str, to: &str) -> Vec<String> {
        let units = units_between(first_instant(from), first_instant(to));
        units.into_iter().map(|unit| unit.0).collect()
    }

    fn first_instant(day: &str) -> SourceInstant {
        hw_rules::date_range::parse_first_instant(day).unwrap()
    }

    fn instant_on(day: i64) -> SourceInstant {
        SourceInstant((day + 12_000) * 86_400_000 + 5)
    }
}
