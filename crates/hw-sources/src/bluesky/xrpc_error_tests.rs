use super::*;
use crate::bluesky::sample_responses::{DATE_SECONDS, http_response};
use crate::error::RetryDecision;

#[test]
fn xrpc_error_is_classified_by_its_name() {
    for (status, body, expected) in [
        (400, error_json("InvalidRequest", "Profile not found"), "gone"),
        (400, error_json("InvalidRequest", "Unable to resolve handle"), "gone"),
        (400, error_json("AccountDeactivated", "Account is deactivated"), "deactivated"),
        (400, error_json("AccountTakedown", "Account has been suspended"), "suspended"),
        (400, error_json("RepoTakendown", ""), "suspended"),
        (400, error_json("RepoNotFound", "Could not find repo"), "gone"),
        (400, error_json("BlockedActor", "Requester has blocked actor"), "blocked"),
        (400, error_json("BlockedByActor", "Requester is blocked by actor"), "blocked"),
        (403, error_json("Forbidden", "no"), "refused"),
        (404, error_json("NotFound", "no"), "gone"),
        (400, error_json("ExpiredToken", "Token has expired"), "session expired"),
        (401, error_json("ExpiredToken", "Token has expired"), "session expired"),
        (400, error_json("InvalidToken", "Token could not be verified"), "token rejected"),
        (401, error_json("AuthMissing", "Authentication Required"), "token rejected"),
        (401, "nginx".to_owned(), "token rejected"),
        (400, error_json("InvalidRequest", "Malformed cursor"), "cursor"),
        (400, error_json("BadCursor", ""), "cursor"),
        (
            400,
            error_json("InvalidRequest", "Error: actor must be a valid did or a handle"),
            "request",
        ),
        (501, error_json("MethodNotImplemented", ""), "request"),
        (404, error_json("XRPCNotSupported", ""), "request"),
        (302, String::new(), "request"),
        (500, error_json("InternalServerError", "Internal Server Error"), "server"),
        (502, error_json("UpstreamFailure", "pipethrough network error"), "server"),
        (503, "<html>".to_owned(), "server"),
        (403, "<html>blocked by the firewall".to_owned(), "forbidden"),
        (404, "<html>".to_owned(), "hidden"),
        (418, String::new(), "invalid"),
        (429, String::new(), "limited"),
        (400, error_json("RateLimitExceeded", "Rate Limit Exceeded"), "limited"),
    ] {
        let error = error_from_response(&http_response(status, &[], &body)).unwrap();
        assert_eq!(kind(&error), expected, "{status} {body}: {error}");
    }
    assert_eq!(error_from_response(&http_response(200, &[], "{}")), None);
}

#[test]
fn xrpc_error_about_an_account_or_a_session_is_not_repeated() {
    for (name, status) in [("AccountTakedown", 400), ("ExpiredToken", 400), ("BadCursor", 400)] {
        let error =
            error_from_response(&http_response(status, &[], &error_json(name, ""))).unwrap();
        assert_eq!(error.retry_decision(), RetryDecision::GiveUp);
    }
    let server = error_from_response(&http_response(500, &[], "")).unwrap();
    assert_eq!(server.retry_decision(), RetryDecision::RetryServer);
}

#[test]
fn xrpc_error_quotes_the_server_in_one_short_sentence() {
    let body = error_json("AccountDeactivated", "Account is deactivated.");
    let error = error_from_response(&http_response(400, &[], &body)).unwrap();
    assert_eq!(
        error.to_string(),
        "deactivated by its owner (API error: 400, AccountDeactivated: Account is deactivated)"
    );
    let long = error_json("InvalidRequest", &"é".repeat(10_000));
    let error = error_from_response(&http_response(400, &[], &long)).unwrap();
    assert!(error.to_string().len() <= MAX_MESSAGE_BYTES + 100);
}

#[test]
fn limit_waits_as_long_as_the_server_says() {
    let reset = (DATE_SECONDS + 90).to_string();
    let remaining = ("ratelimit-remaining", "0");
    for (headers, wait) in [
        (vec![("retry-after", "7"), ("ratelimit-reset", &reset)], LimitWait::RetryAfter(7_000)),
        (vec![remaining, ("ratelimit-reset", &reset)], LimitWait::Reset(90_000)),
        (vec![("ratelimit-reset", "90")], LimitWait::Reset(90_000)),
        (vec![], LimitWait::Unspecified),
    ] {
        let error = error_from_response(&http_response(429, &headers, ""));
        let Some(SourceError::RateLimited(limit)) = error else { panic!("{error:?}") };
        assert_eq!((limit.kind, limit.wait), (RateLimitKind::Primary, wait), "{headers:?}");
        assert_eq!(limit.date, Some(SourceInstant(DATE_SECONDS * 1_000)));
    }
}

#[test]
fn limit_figures_are_read_from_a_usual_response() {
    let reset = (DATE_SECONDS + 240).to_string();
    let headers = [
        ("RateLimit-Limit", "3000"),
        ("RateLimit-Remaining", "2900"),
        ("RateLimit-Reset", reset.as_str()),
        ("RateLimit-Policy", "3000;w=300"),
    ];
    let sample = read_meta(&http_response(200, &headers, "{}")).unwrap().limit_sample.unwrap();
    assert_eq!((sample.limit, sample.remaining, sample.used), (3_000, 2_900, 100));
    assert_eq!(sample.resets_at, SourceInstant((DATE_SECONDS + 240) * 1_000));
    let partial = http_response(200, &headers[..2], "{}");
    assert_eq!(read_meta(&partial).unwrap().limit_sample, None);
}

fn error_json(name: &str, message: &str) -> String {
    serde_json::json!({ "error": name, "message": message }).to_string()
}

fn kind(error: &SourceError) -> &'static str {
    match error {
        SourceError::AccountUnavailable(account) => account.state.name(),
        SourceError::SessionExpired(_) => "session expired",
        SourceError::TokenRejected(_) => "token rejected",
        SourceError::InvalidCursor(_) => "cursor",
        SourceError::InvalidRequest(_) => "request",
        SourceError::Server(_) => "server",
        SourceError::Forbidden(_) => "forbidden",
        SourceError::Hidden(_) => "hidden",
        SourceError::InvalidResponse(_) => "invalid",
        SourceError::RateLimited(_) => "limited",
        SourceError::TooExpensive(_)
        | SourceError::Network(_)
        | SourceError::Unreachable(_)
        | SourceError::TlsFailed(_) => "other",
    }
}
