//! Parses date filters: `>=2025-01-01`, `<2025-06-18T19:19:08Z`, `2025-01-01..2025-01-31`, `2025-01-01`.

use crate::date_range::{self, DateRange};
use crate::source_time::SourceInstant;

/// Parses the value of a date filter; none if it is invalid.
pub(super) fn parse_date_filter(value: &str) -> Option<DateRange> {
    let value = value.to_ascii_uppercase();
    if let Some((from, to)) = value.split_once("..") {
        let range = DateRange {
            from: parse_range_end(from, date_range::parse_first_instant)?,
            to: parse_range_end(to, date_range::parse_last_instant)?,
        };
        return (!range.is_unbounded() && !range.is_backwards()).then_some(range);
    }
    let (sign, date) = value.split_at(value.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(0));
    let bounds = date_range::parse_date_bounds(date).ok()?;
    Some(match sign {
        "" | "=" => DateRange { from: Some(bounds.first), to: Some(bounds.last) },
        ">=" => DateRange { from: Some(bounds.first), to: None },
        ">" => DateRange { from: Some(bounds.last.plus_ms(1)), to: None },
        "<=" => DateRange { from: None, to: Some(bounds.last) },
        "<" => DateRange { from: None, to: Some(bounds.first.minus_ms(1)) },
        _ => return None,
    })
}

/// Parses one end of a range. `*` or an empty text leaves it open.
fn parse_range_end<E>(
    date: &str,
    parse: impl Fn(&str) -> Result<SourceInstant, E>,
) -> Option<Option<SourceInstant>> {
    if date.is_empty() || date == "*" { Some(None) } else { parse(date).ok().map(Some) }
}
