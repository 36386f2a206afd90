//! The parts of a response that all sources have in common: its time, how long to wait, and the text of an error.

use hw_rules::source_time::SourceInstant;

use crate::error::{SourceError, wait_ms_from_date};
use crate::transport::{HttpResponse, MAX_BODY_BYTES};

/// The part of a body that is printed if it has no message.
pub(crate) const MAX_EXCERPT_BYTES: usize = 200;
/// The part of an error's message that is stored and printed.
pub(crate) const MAX_MESSAGE_BYTES: usize = 2_000;

/// Parses the response's `Date`: the only clock that counts.
pub fn parse_date(response: &HttpResponse) -> Option<SourceInstant> {
    let text = response.header("date")?;
    let time = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(SourceInstant(time.timestamp().as_millisecond()))
}

pub(crate) fn parse_number_header(response: &HttpResponse, name: &str) -> Option<i64> {
    response.header(name)?.trim().parse().ok()
}

/// Parses `retry-after`, a number of seconds or a date, into milliseconds.
pub(crate) fn parse_retry_after(response: &HttpResponse) -> Option<i64> {
    let text = response.header("retry-after")?.trim();
    let seconds = text.parse::<i64>().ok().map(|seconds| seconds.max(0).saturating_mul(1_000));
    seconds.or_else(|| {
        let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_millisecond();
        Some(wait_ms_from_date(SourceInstant(until), parse_date(response)?).max(0))
    })
}

/// Returns an error if the response is larger than the part that is read.
pub(crate) fn check_body_size(response: &HttpResponse) -> Option<SourceError> {
    let is_too_large = response.body.len() > MAX_BODY_BYTES;
    is_too_large.then(|| {
        let limit = MAX_BODY_BYTES >> 20;
        SourceError::TooExpensive(format!("the response is larger than {limit} MB"))
    })
}

/// Describes a redirect, which is never followed, because the token stays with the configured host.
pub(crate) fn describe_redirect(response: &HttpResponse) -> String {
    let to = response.header("location").unwrap_or("nowhere");
    format!("it redirects to {to} (status {})", response.status)
}

/// Removes the period at the end of a sentence; an ellipsis stays.
pub(crate) fn strip_final_period(text: &str) -> &str {
    text.strip_suffix('.').filter(|rest| !rest.ends_with('.')).unwrap_or(text)
}

pub(crate) fn body_prefix(response: &HttpResponse, bytes: usize) -> String {
    let start = response.body.get(..bytes).unwrap_or(&response.body);
    String::from_utf8_lossy(start).into_owned()
}

/// Cuts the text off after this many bytes.
pub(crate) fn clip_message(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text
}
