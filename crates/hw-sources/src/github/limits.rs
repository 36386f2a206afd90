//! Recognizes limits in GitHub's headers and error texts.
//!
//! The signals are many and inconsistent: 403 or 429, with and without headers, or a 200 whose errors report the limit.
//! An integration that ignores a limit can get banned, so each signal is recognized here, once.

use hw_rules::source_time::SourceInstant;
use serde::Deserialize;

use crate::error::{LimitWait, RateLimit, RateLimitKind, SourceError, wait_ms_from_date};
pub use crate::response_headers::parse_date;
use crate::response_headers::{
    self as headers, MAX_EXCERPT_BYTES, MAX_MESSAGE_BYTES, clip_message, parse_number_header,
    parse_retry_after,
};
use crate::response_meta::{RateLimitSample, ResponseMeta};
use crate::transport::HttpResponse;

/// The part of an error's body that is searched for the text of a limit: proxies wrap it in HTML.
const MAX_SEARCHED_BYTES: usize = 16 << 10;

/// Reads the metadata of a response; fails without a `Date`, because such a response cannot be ordered among the others.
pub(super) fn read_meta(response: &HttpResponse, cost: i64) -> Result<ResponseMeta, SourceError> {
    let date = parse_date(response);
    let date = date.ok_or_else(|| SourceError::InvalidResponse("no Date header".into()))?;
    Ok(ResponseMeta {
        limit_sample: read_sample(response),
        cost,
        is_not_modified: response.status == 304,
        ..ResponseMeta::from_date(date)
    })
}

/// Reads the `x-ratelimit-*` headers, if they are all there.
fn read_sample(response: &HttpResponse) -> Option<RateLimitSample> {
    Some(RateLimitSample {
        limit: parse_number_header(response, "x-ratelimit-limit")?,
        remaining: parse_number_header(response, "x-ratelimit-remaining")?,
        used: parse_number_header(response, "x-ratelimit-used")?,
        resets_at: parse_reset(response)?,
        bucket: response.header("x-ratelimit-resource").map(str::to_owned),
    })
}

fn parse_reset(response: &HttpResponse) -> Option<SourceInstant> {
    Some(SourceInstant(parse_number_header(response, "x-ratelimit-reset")?.saturating_mul(1_000)))
}

/// Returns true if nothing remains; reads one header only, because a proxy may drop the others.
fn is_exhausted(response: &HttpResponse) -> bool {
    parse_number_header(response, "x-ratelimit-remaining").is_some_and(|remaining| remaining <= 0)
}

/// Classifies a response by its status and headers, before its content is read.
pub fn error_from_status(response: &HttpResponse) -> Option<SourceError> {
    if (200..=299).contains(&response.status) {
        return headers::check_body_size(response);
    }
    let text = read_error_message(response);
    match response.status {
        401 => Some(SourceError::TokenRejected(text)),
        403 | 429 => {
            let limit = detect_limit(response);
            Some(limit.map_or_else(|| SourceError::Forbidden(text), SourceError::RateLimited))
        }
        404 | 410 | 451 => Some(SourceError::hidden(&text)),
        300..=399 => Some(SourceError::InvalidRequest(headers::describe_redirect(response))),
        502 | 504 => Some(SourceError::TooExpensive(format!(
            "GitHub timed out (status {})",
            response.status
        ))),
        500..=599 => Some(SourceError::Server(format!("status {}: {text}", response.status))),
        400 | 422 => Some(SourceError::InvalidRequest(text)),
        status => Some(SourceError::InvalidResponse(format!("status {status}: {text}"))),
    }
}

/// Returns the limit behind a 403 or 429; without any sign of one, a 403 is a plain refusal.
fn detect_limit(response: &HttpResponse) -> Option<RateLimit> {
    let text = headers::body_prefix(response, MAX_SEARCHED_BYTES);
    let secondary = is_secondary_limit(&text);
    let nothing_remains = is_exhausted(response) || is_primary_limit(&text);
    let is_named = response.status == 429 || response.header("gh-limited-by").is_some();
    if !nothing_remains && !secondary && !is_named && parse_retry_after(response).is_none() {
        return None;
    }
    let kind = if nothing_remains && !secondary {
        RateLimitKind::Primary
    } else {
        RateLimitKind::Secondary
    };
    Some(limit_from_headers(response, kind))
}

/// Returns the limit of a kind that an error revealed.
pub fn limit_from_headers(response: &HttpResponse, kind: RateLimitKind) -> RateLimit {
    RateLimit { kind, wait: read_wait(response), date: parse_date(response) }
}

/// Returns true if an error's text describes a secondary limit.
pub fn is_secondary_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("secondary rate limit") || text.contains("abuse detection")
}

/// Returns true if an error's text describes the hourly limit: it can come with headers that contradict it, or none.
pub fn is_primary_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    !is_secondary_limit(&text)
        && (text.contains("rate limit exceeded") || text.contains("rate limit already exceeded"))
}

/// Returns true if an error's text describes a request that took too long.
pub fn is_timeout(text: &str) -> bool {
    let text = text.to_lowercase();
    ["something went wrong while executing", "timedout", "timeout on", "timed out"]
        .iter()
        .any(|sign| text.contains(sign))
}

fn read_wait(response: &HttpResponse) -> LimitWait {
    if let Some(ms) = parse_retry_after(response) {
        return LimitWait::RetryAfter(ms);
    }
    match (parse_reset(response), parse_date(response)) {
        (Some(reset), Some(date)) if is_exhausted(response) => {
            LimitWait::Reset(wait_ms_from_date(reset, date))
        }
        _ => LimitWait::Unspecified,
    }
}

/// Returns the `message` of an error response, or the beginning of its body, for use inside a sentence.
pub(super) fn read_error_message(response: &HttpResponse) -> String {
    #[derive(Deserialize)]
    struct ErrorBody {
        message: String,
    }
    let message = match crate::json_repair::parse_repaired::<ErrorBody>(&response.body) {
        Ok(body) => clip_message(body.value.message, MAX_MESSAGE_BYTES),
        Err(_) => headers::body_prefix(response, MAX_EXCERPT_BYTES),
    };
    headers::strip_final_period(message.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::transport::{MAX_BODY_BYTES, test_headers};

    const DATE: &str = "Thu, 01 Jan 2026 00:00:00 GMT";
    const DATE_SECONDS: i64 = 1_767_225_600;

    #[test]
    fn limit_of_the_hour_waits_for_the_reset_by_the_sources_own_clock() {
        let reset = (DATE_SECONDS + 90).to_string();
        let response = limit_response(
            403,
            &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &reset)],
            "",
        );
        assert_eq!(
            detected_limit(&response),
            Some((RateLimitKind::Primary, LimitWait::Reset(90_000)))
        );
    }

    #[test]
    fn limit_that_is_secondary_is_recognized_by_its_text_with_or_without_headers() {
        let text = r#"{"message":"You have exceeded a secondary rate limit. Please wait."}"#;
        let with_header = limit_response(403, &[("retry-after", "17")], text);
        assert_eq!(
            detected_limit(&with_header),
            Some((RateLimitKind::Secondary, LimitWait::RetryAfter(17_000)))
        );
        let silent = HttpResponse { headers: HeaderMap::new(), ..limit_response(403, &[], text) };
        assert_eq!(
            detected_limit(&silent),
            Some((RateLimitKind::Secondary, LimitWait::Unspecified))
        );
        let old = limit_response(
            403,
            &[],
            r#"{"message":"You have triggered an abuse detection mechanism"}"#,
        );
        assert_eq!(detected_limit(&old), Some((RateLimitKind::Secondary, LimitWait::Unspecified)));
    }

    #[test]
    fn limit_is_recognized_by_a_single_header() {
        let empty = response_with_header("x-ratelimit-remaining", "0");
        assert_eq!(detected_limit(&empty), Some((RateLimitKind::Primary, LimitWait::Unspecified)));
        let dated = response_with_header("retry-after", "Thu, 01 Jan 2026 00:00:09 GMT");
        assert_eq!(
            detected_limit(&dated),
            Some((RateLimitKind::Secondary, LimitWait::RetryAfter(9_000)))
        );
    }

    #[test]
    fn limit_of_the_hour_is_recognized_by_its_text_despite_the_headers() {
        let text = r#"{"message":"API rate limit exceeded for user ID 1."}"#;
        assert_eq!(
            detected_limit(&limit_response(403, &[], text)),
            Some((RateLimitKind::Primary, LimitWait::Unspecified))
        );
    }

    #[test]
    fn redirect_is_reported_and_never_followed() {
        let moved = limit_response(302, &[("location", "https://elsewhere.example/graphql")], "");
        let Some(SourceError::InvalidRequest(message)) = error_from_status(&moved) else {
            panic!("not followed")
        };
        assert_eq!(message, "it redirects to https://elsewhere.example/graphql (status 302)");
    }

    #[test]
    fn limit_is_recognized_in_every_429_but_not_in_a_plain_403() {
        assert_eq!(
            detected_limit(&limit_response(429, &[], "")),
            Some((RateLimitKind::Secondary, LimitWait::Unspecified))
        );
        let refused =
            limit_response(403, &[], r#"{"message":"Resource not accessible by integration"}"#);
        assert!(matches!(error_from_status(&refused), Some(SourceError::Forbidden(_))));
    }

    #[test]
    fn limit_is_recognized_by_its_text_deep_in_a_page() {
        let head = "<html><head><style>".to_owned() + &"p { margin: 0 } ".repeat(900);
        for (phrase, kind) in [
            ("You have exceeded a secondary rate limit.", RateLimitKind::Secondary),
            ("API rate limit exceeded for 203.0.113.7", RateLimitKind::Primary),
        ] {
            let page = format!("{head}<p>{phrase}</p>");
            let limit = detected_limit(&limit_response(403, &[], &page));
            assert_eq!(limit, Some((kind, LimitWait::Unspecified)), "{phrase}");
            let Some(SourceError::Server(message)) =
                error_from_status(&limit_response(500, &[], &page))
            else {
                panic!("a failed server")
            };
            assert!(message.len() < 300, "{}", message.len());
        }
    }

    #[test]
    fn limit_is_recognized_by_the_header_that_names_it() {
        let limited = limit_response(403, &[("gh-limited-by", "ip")], "<html>Forbidden");
        assert_eq!(
            detected_limit(&limited),
            Some((RateLimitKind::Secondary, LimitWait::Unspecified))
        );
    }

    #[test]
    fn response_beyond_the_largest_body_requests_less() {
        let large =
            HttpResponse { body: vec![b' '; MAX_BODY_BYTES + 1], ..limit_response(200, &[], "") };
        assert!(matches!(error_from_status(&large), Some(SourceError::TooExpensive(_))));
        let fits =
            HttpResponse { body: vec![b' '; MAX_BODY_BYTES], ..limit_response(200, &[], "") };
        assert_eq!(error_from_status(&fits), None);
    }

    #[test]
    fn response_after_a_server_timeout_is_not_called_too_large() {
        let error = error_from_status(&limit_response(502, &[], "<html>")).unwrap();
        assert_eq!(error.to_string(), "GitHub timed out (status 502)");
        let large =
            HttpResponse { body: vec![b' '; MAX_BODY_BYTES + 1], ..limit_response(200, &[], "") };
        let error = error_from_status(&large).unwrap();
        assert_eq!(error.to_string(), "the response is larger than 32 MB");
    }

    #[test]
    fn error_message_is_quoted_without_white_space_and_a_final_period() {
        for (body, expected) in [
            ("Only GET is allowed.\n", "status 405: Only GET is allowed"),
            (r#"{"message":" Please wait. "}"#, "status 405: Please wait"),
            ("and so on...", "status 405: and so on..."),
        ] {
            let error = error_from_status(&limit_response(405, &[], body)).unwrap();
            assert_eq!(error.to_string(), format!("unexpected response: {expected}"));
        }
    }

    #[test]
    fn response_after_a_server_timeout_requests_less() {
        for status in [502, 504] {
            let error = error_from_status(&limit_response(status, &[], "<html>"));
            assert!(matches!(error, Some(SourceError::TooExpensive(_))), "{status}");
        }
        assert!(matches!(
            error_from_status(&limit_response(500, &[], "")),
            Some(SourceError::Server(_))
        ));
        assert!(matches!(
            error_from_status(&limit_response(401, &[], "")),
            Some(SourceError::TokenRejected(_))
        ));
    }

    /// A 403 with no other header than this one and its date.
    fn response_with_header(name: &str, value: &str) -> HttpResponse {
        let headers = test_headers(&[("date", DATE), (name, value)]);
        HttpResponse { headers, ..limit_response(403, &[], "") }
    }

    fn detected_limit(response: &HttpResponse) -> Option<(RateLimitKind, LimitWait)> {
        let SourceError::RateLimited(limit) = error_from_status(response)? else { return None };
        Some((limit.kind, limit.wait))
    }

    fn limit_response(status: u16, headers: &[(&str, &str)], body: &str) -> HttpResponse {
        let fixed = [("date", DATE), ("x-ratelimit-limit", "5000"), ("x-ratelimit-used", "1")];
        let remaining = [("x-ratelimit-remaining", "4999"), ("x-ratelimit-reset", "0")];
        let headers = test_headers(&[headers, &fixed, &remaining].concat());
        HttpResponse { status, headers, body: body.as_bytes().to_vec() }
    }
}
