use hw_rules::source_time::SourceInstant;

use super::*;
use crate::error::{LimitWait, RateLimitKind};
use crate::transport::test_headers;

const DATE: (&str, &str) = ("date", "Thu, 01 Jan 2026 00:00:00 GMT");
const CREATED: &str = r#"{"id":7}"#;
const SECONDARY: &str = r#"{"message":"You have exceeded a secondary rate limit."}"#;

#[test]
fn write_is_done_only_with_a_success_that_can_be_read() {
    for status in [200, 201] {
        assert!(matches!(classify(status, &[DATE], CREATED), WriteOutcome::Done(_)), "{status}");
    }
    for (headers, body) in
        [(&[DATE][..], "<html>"), (&[DATE][..], ""), (&[DATE][..], r#"{"id":"#), (&[], CREATED)]
    {
        let outcome = classify(201, headers, body);
        assert!(matches!(outcome, WriteOutcome::Unknown(_)), "{body:?}: {outcome:?}");
    }
}

#[test]
fn write_is_refused_with_the_reason_of_the_source() {
    for status in [301, 302, 307, 400, 401, 403, 404, 405, 409, 410, 413, 422, 451] {
        let outcome = classify(status, &[DATE], r#"{"message":"no"}"#);
        assert!(matches!(outcome, WriteOutcome::Refused(_)), "{status}: {outcome:?}");
    }
    let archived = classify(403, &[DATE], r#"{"message":"Repository was archived"}"#);
    let WriteOutcome::Refused(error) = archived else { panic!("{archived:?}") };
    assert!(error.to_string().contains("archived"), "{error}");
}

#[test]
fn write_is_limited_with_and_without_headers() {
    for (status, headers, body, kind, wait) in [
        (429, vec![DATE], "", RateLimitKind::Secondary, LimitWait::Unspecified),
        (403, vec![], SECONDARY, RateLimitKind::Secondary, LimitWait::Unspecified),
        (
            403,
            vec![DATE, ("retry-after", "17")],
            SECONDARY,
            RateLimitKind::Secondary,
            LimitWait::RetryAfter(17_000),
        ),
        (
            403,
            vec![DATE, ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1767225690")],
            "",
            RateLimitKind::Primary,
            LimitWait::Reset(90_000),
        ),
    ] {
        let outcome = classify(status, &headers, body);
        let date = headers.contains(&DATE).then_some(SourceInstant(1_767_225_600_000));
        let limit = RateLimit { kind, wait, date };
        assert_eq!(outcome, WriteOutcome::Limited(limit), "{status} {body}");
        assert!(matches!(outcome.to_error(), Some(SourceError::RateLimited(_))));
    }
}

#[test]
fn write_is_unknown_after_anything_that_may_have_come_too_late() {
    for status in [100, 408, 500, 502, 503, 504] {
        let outcome = classify(status, &[DATE], "");
        assert!(matches!(outcome, WriteOutcome::Unknown(_)), "{status}: {outcome:?}");
    }
    let lost = WriteOutcome::classify(Err(SourceError::Network("reset".into())));
    assert!(matches!(lost, WriteOutcome::Unknown(_)), "{lost:?}");
}

#[test]
fn write_is_not_sent_without_a_connection() {
    for error in [SourceError::Unreachable("x".into()), SourceError::TlsFailed("x".into())] {
        assert_eq!(WriteOutcome::classify(Err(error.clone())), WriteOutcome::NotSent(error));
    }
}

#[test]
fn write_of_a_comment_is_a_post_with_its_body() {
    let endpoint = RestEndpoint { url: "https://api.github.com".into(), token: "hunter2".into() };
    let write =
        RestWrite::issue_comment(&RepositoryName::from_known("acme", "pump"), 12, "It \"leaks\"");
    let request = endpoint.build_write(&write);
    assert_eq!(request.method, Method::POST);
    assert_eq!(request.url, "https://api.github.com/repos/acme/pump/issues/12/comments");
    assert_eq!(request.body.as_deref(), Some(&br#"{"body":"It \"leaks\""}"#[..]));
    assert!(!format!("{request:?}").contains("hunter2"));
}

fn classify(status: u16, headers: &[(&str, &str)], body: &str) -> WriteOutcome {
    let (headers, body) = (test_headers(headers), body.as_bytes().to_vec());
    WriteOutcome::classify(Ok(HttpResponse { status, headers, body }))
}
