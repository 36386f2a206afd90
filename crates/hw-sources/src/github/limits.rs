//! What GitHub's headers and error texts say about limits.
//!
//! The signals are many and inconsistent: 403 or 429, with and without headers, or a 200 whose errors say
//! so. Carrying on while limited can get an integration banned, so each is recognised here, once.

use hw_rules::time::Mark;
use serde::Deserialize;

use crate::gate::Usage;
use crate::transport::{LARGEST_BODY, Response};
use crate::trouble::{Limit, LimitKind, Trouble, Wait, from_date};

/// How much of an error's body is searched for the words of a limit: proxies wrap them in HTML.
const SEARCHED_BYTES: usize = 16 << 10;
/// How much of a body is shown where it has no message.
const SHOWN_BYTES: usize = 200;
/// How much of an error's message is stored and shown.
pub(super) const MESSAGE_BYTES: usize = 2_000;

/// The state of one bucket, as an answer's headers tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub resource: String,
    pub limit: i64,
    pub remaining: i64,
    pub used: i64,
    /// When the window ends, in the source's time.
    pub reset: Mark,
}

impl Sample {
    pub fn usage(&self) -> Usage {
        Usage { used: self.used, limit: self.limit }
    }
}

/// The `x-ratelimit-*` headers, when they are all there.
pub fn sample(response: &Response) -> Option<Sample> {
    Some(Sample {
        resource: response.header("x-ratelimit-resource").unwrap_or("core").to_owned(),
        limit: number(response, "x-ratelimit-limit")?,
        remaining: number(response, "x-ratelimit-remaining")?,
        used: number(response, "x-ratelimit-used")?,
        reset: reset(response)?,
    })
}

fn number(response: &Response, name: &str) -> Option<i64> {
    response.header(name)?.trim().parse().ok()
}

fn reset(response: &Response) -> Option<Mark> {
    Some(Mark(number(response, "x-ratelimit-reset")?.saturating_mul(1_000)))
}

/// Whether nothing is left; each header counts alone, whichever others a proxy has dropped.
fn nothing_remains(response: &Response) -> bool {
    number(response, "x-ratelimit-remaining").is_some_and(|remaining| remaining <= 0)
}

/// The answer's `Date`: the only clock that counts.
pub fn date(response: &Response) -> Option<Mark> {
    let text = response.header("date")?;
    let time = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(Mark(time.timestamp().as_millisecond()))
}

/// What the status line and headers say, before anyone looks for content.
pub fn trouble_of_status(response: &Response) -> Option<Trouble> {
    if (200..=299).contains(&response.status) {
        return too_large(response);
    }
    let text = message(response);
    match response.status {
        401 => Some(Trouble::Denied(text)),
        403 | 429 => {
            let limit = limited(response);
            Some(limit.map_or_else(|| Trouble::Forbidden(text), Trouble::Limited))
        }
        404 | 410 | 451 => Some(Trouble::Hidden(text)),
        300..=399 => Some(Trouble::Wrong(redirected(response))),
        502 | 504 => Some(Trouble::TooMuch(format!("status {}", response.status))),
        500..=599 => Some(Trouble::Server(format!("status {}: {text}", response.status))),
        400 | 422 => Some(Trouble::Wrong(text)),
        status => Some(Trouble::Garbled(format!("status {status}: {text}"))),
    }
}

/// Returns that an answer is too much when it is larger than what is read of one.
fn too_large(response: &Response) -> Option<Trouble> {
    let is_too_large = response.body.len() > LARGEST_BODY;
    is_too_large.then(|| Trouble::TooMuch(format!("more than {} MB", LARGEST_BODY >> 20)))
}

/// Whether a 403 or 429 is a limit, and which; without any sign a 403 is a plain refusal.
fn limited(response: &Response) -> Option<Limit> {
    let text = beginning(response, SEARCHED_BYTES);
    let secondary = is_secondary(&text);
    let nothing_remains = nothing_remains(response) || is_primary(&text);
    let is_named = response.status == 429 || response.header("gh-limited-by").is_some();
    if !nothing_remains && !secondary && !is_named && retry_after(response).is_none() {
        return None;
    }
    let kind =
        if nothing_remains && !secondary { LimitKind::Primary } else { LimitKind::Secondary };
    Some(Limit { kind, wait: wait(response) })
}

/// The limit behind an error in a 200.
pub fn limit_in_200(response: &Response, kind: LimitKind) -> Limit {
    Limit { kind, wait: wait(response) }
}

/// Whether an error's text speaks of a secondary limit.
pub fn is_secondary(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("secondary rate limit") || text.contains("abuse detection")
}

/// Whether an error's text speaks of the hour's limit: it can come with headers that deny it, or none.
pub fn is_primary(text: &str) -> bool {
    let text = text.to_lowercase();
    !is_secondary(&text)
        && (text.contains("rate limit exceeded") || text.contains("rate limit already exceeded"))
}

/// Whether an error's text speaks of a request that took too long.
pub fn is_timeout(text: &str) -> bool {
    let text = text.to_lowercase();
    ["something went wrong while executing", "timedout", "timeout on", "timed out"]
        .iter()
        .any(|sign| text.contains(sign))
}

fn wait(response: &Response) -> Wait {
    if let Some(ms) = retry_after(response) {
        return Wait::RetryAfter(ms);
    }
    match (reset(response), date(response)) {
        (Some(reset), Some(date)) if nothing_remains(response) => {
            Wait::Reset(from_date(reset, date))
        }
        _ => Wait::Unsaid,
    }
}

/// `retry-after` in milliseconds: a number of seconds, or a date.
fn retry_after(response: &Response) -> Option<i64> {
    let text = response.header("retry-after")?.trim();
    let seconds = text.parse::<i64>().ok().map(|seconds| seconds.max(0).saturating_mul(1_000));
    seconds.or_else(|| {
        let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_millisecond();
        Some(from_date(Mark(until), date(response)?).max(0))
    })
}

/// Where a redirect points to; it is never followed, because the token stays with the configured host.
fn redirected(response: &Response) -> String {
    let to = response.header("location").unwrap_or("nowhere");
    format!("status {}, redirected to {to}", response.status)
}

/// The `message` of an error answer, or the beginning of whatever came.
fn message(response: &Response) -> String {
    #[derive(Deserialize)]
    struct ErrorBody {
        message: String,
    }
    let told = crate::json::read::<ErrorBody>(&response.body);
    match told {
        Ok(told) => clip(told.value.message, MESSAGE_BYTES),
        Err(_) => beginning(response, SHOWN_BYTES),
    }
}

fn beginning(response: &Response, bytes: usize) -> String {
    let start = response.body.get(..bytes).unwrap_or(&response.body);
    String::from_utf8_lossy(start).into_owned()
}

/// The text, or as much of it as is stored and shown.
pub(super) fn clip(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Thu, 01 Jan 2026 00:00:00 GMT";
    const NOON: i64 = 1_767_225_600;

    #[test]
    fn the_primary_limit_waits_for_the_reset_by_the_sources_own_clock() {
        let reset = (NOON + 90).to_string();
        let response =
            answer(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &reset)], "");
        assert_eq!(limit_of(&response), Some((LimitKind::Primary, Wait::Reset(90_000))));
    }

    #[test]
    fn a_secondary_limit_is_known_by_its_text_with_or_without_headers() {
        let text = r#"{"message":"You have exceeded a secondary rate limit. Please wait."}"#;
        let told = answer(403, &[("retry-after", "17")], text);
        assert_eq!(limit_of(&told), Some((LimitKind::Secondary, Wait::RetryAfter(17_000))));
        let silent = Response { headers: vec![], ..answer(403, &[], text) };
        assert_eq!(limit_of(&silent), Some((LimitKind::Secondary, Wait::Unsaid)));
        let old =
            answer(403, &[], r#"{"message":"You have triggered an abuse detection mechanism"}"#);
        assert_eq!(limit_of(&old), Some((LimitKind::Secondary, Wait::Unsaid)));
    }

    #[test]
    fn one_header_is_enough_for_a_limit() {
        let lone = |name: &str, value: &str| Response {
            headers: vec![("date".into(), DATE.into()), (name.into(), value.into())],
            ..answer(403, &[], "")
        };
        let empty = lone("x-ratelimit-remaining", "0");
        assert_eq!(limit_of(&empty), Some((LimitKind::Primary, Wait::Unsaid)));
        let dated = lone("retry-after", "Thu, 01 Jan 2026 00:00:09 GMT");
        assert_eq!(limit_of(&dated), Some((LimitKind::Secondary, Wait::RetryAfter(9_000))));
    }

    #[test]
    fn the_primary_limit_is_known_by_its_text_whatever_the_headers_say() {
        let text = r#"{"message":"API rate limit exceeded for user ID 1."}"#;
        assert_eq!(limit_of(&answer(403, &[], text)), Some((LimitKind::Primary, Wait::Unsaid)));
    }

    #[test]
    fn a_redirect_is_told_and_never_followed() {
        let moved = answer(302, &[("location", "https://elsewhere.example/graphql")], "");
        let Some(Trouble::Wrong(told)) = trouble_of_status(&moved) else { panic!("not followed") };
        assert!(told.contains("elsewhere.example"));
    }

    #[test]
    fn a_429_is_always_a_limit_and_a_plain_403_is_not() {
        assert_eq!(limit_of(&answer(429, &[], "")), Some((LimitKind::Secondary, Wait::Unsaid)));
        let refused = answer(403, &[], r#"{"message":"Resource not accessible by integration"}"#);
        assert!(matches!(trouble_of_status(&refused), Some(Trouble::Forbidden(_))));
    }

    #[test]
    fn limit_is_known_by_its_text_deep_in_a_page() {
        let head = "<html><head><style>".to_owned() + &"p { margin: 0 } ".repeat(900);
        for (phrase, kind) in [
            ("You have exceeded a secondary rate limit.", LimitKind::Secondary),
            ("API rate limit exceeded for 203.0.113.7", LimitKind::Primary),
        ] {
            let page = format!("{head}<p>{phrase}</p>");
            let limit = limit_of(&answer(403, &[], &page));
            assert_eq!(limit, Some((kind, Wait::Unsaid)), "{phrase}");
            let Some(Trouble::Server(shown)) = trouble_of_status(&answer(500, &[], &page)) else {
                panic!("a failed server")
            };
            assert!(shown.len() < 300, "{}", shown.len());
        }
    }

    #[test]
    fn limit_is_known_by_the_header_that_names_it() {
        let limited = answer(403, &[("gh-limited-by", "ip")], "<html>Forbidden");
        assert_eq!(limit_of(&limited), Some((LimitKind::Secondary, Wait::Unsaid)));
    }

    #[test]
    fn answer_beyond_the_largest_body_asks_for_less() {
        let large = Response { body: vec![b' '; LARGEST_BODY + 1], ..answer(200, &[], "") };
        assert!(matches!(trouble_of_status(&large), Some(Trouble::TooMuch(_))));
        let fits = Response { body: vec![b' '; LARGEST_BODY], ..answer(200, &[], "") };
        assert_eq!(trouble_of_status(&fits), None);
    }

    #[test]
    fn a_time_out_of_the_server_asks_for_less() {
        for status in [502, 504] {
            let trouble = trouble_of_status(&answer(status, &[], "<html>"));
            assert!(matches!(trouble, Some(Trouble::TooMuch(_))), "{status}");
        }
        assert!(matches!(trouble_of_status(&answer(500, &[], "")), Some(Trouble::Server(_))));
        assert!(matches!(trouble_of_status(&answer(401, &[], "")), Some(Trouble::Denied(_))));
    }

    fn limit_of(response: &Response) -> Option<(LimitKind, Wait)> {
        let Trouble::Limited(limit) = trouble_of_status(response)? else { return None };
        Some((limit.kind, limit.wait))
    }

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
        let fixed = [("date", DATE), ("x-ratelimit-limit", "5000"), ("x-ratelimit-used", "1")];
        let remaining = [("x-ratelimit-remaining", "4999"), ("x-ratelimit-reset", "0")];
        let headers = headers.iter().chain(&fixed).chain(&remaining);
        let headers = headers.map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Response { status, headers, body: body.as_bytes().to_vec() }
    }
}
