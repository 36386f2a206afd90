//! Times as GitHub writes them: whole seconds, UTC.

const DAY_S: i64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The second a millisecond falls in, as `2026-01-02T03:04:05Z`.
#[must_use]
pub fn rfc3339(ms: i64) -> String {
    let mut out = String::with_capacity(20);
    push_rfc3339(&mut out, ms);
    out
}

/// The same, appended: answers are full of times and need no string of their own for each.
pub(crate) fn push_rfc3339(out: &mut String, ms: i64) {
    let seconds = ms.div_euclid(1000);
    let (year, month, day) = civil(seconds.div_euclid(DAY_S));
    push_padded(out, year, 4);
    for (mark, value) in [('-', month), ('-', day)] {
        out.push(mark);
        push_padded(out, value, 2);
    }
    out.push('T');
    push_time(out, seconds.rem_euclid(DAY_S));
    out.push('Z');
}

/// The `Date` header's form: `Fri, 02 Jan 2026 03:04:05 GMT`.
pub(crate) fn http_date(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let days = seconds.div_euclid(DAY_S);
    let (year, month, day) = civil(days);
    let mut out = String::with_capacity(29);
    out.push_str(pick(&WEEKDAYS, days.rem_euclid(7)));
    out.push_str(", ");
    push_padded(&mut out, day, 2);
    out.push(' ');
    out.push_str(pick(&MONTHS, month - 1));
    out.push(' ');
    push_padded(&mut out, year, 4);
    out.push(' ');
    push_time(&mut out, seconds.rem_euclid(DAY_S));
    out.push_str(" GMT");
    out
}

/// A client's `since`, in milliseconds; `None` when it is no time at all.
pub(crate) fn parse(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// The start of the second a millisecond falls in: all that GitHub shows of a time.
pub(crate) fn whole_second(ms: i64) -> i64 {
    ms.div_euclid(1000) * 1000
}

fn pick<'a>(names: &[&'a str], index: i64) -> &'a str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or_default()
}

fn push_time(out: &mut String, second_of_day: i64) {
    push_padded(out, second_of_day / 3600, 2);
    out.push(':');
    push_padded(out, second_of_day / 60 % 60, 2);
    out.push(':');
    push_padded(out, second_of_day % 60, 2);
}

fn push_padded(out: &mut String, value: i64, width: u32) {
    for place in (0..width).rev() {
        let digit = value / 10_i64.pow(place) % 10;
        out.push(char::from(b'0' + u8::try_from(digit).unwrap_or(0)));
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_whole_seconds_and_read_back() {
        assert_eq!(rfc3339(1_767_323_045_999), "2026-01-02T03:04:05Z");
        assert_eq!(parse("2026-01-02T03:04:05Z"), Some(1_767_323_045_000));
        assert_eq!(rfc3339(1_709_164_800_000), "2024-02-29T00:00:00Z");
    }

    #[test]
    fn the_date_header_names_the_right_weekday() {
        assert_eq!(http_date(1_767_323_045_000), "Fri, 02 Jan 2026 03:04:05 GMT");
        assert_eq!(http_date(784_111_777_000), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
