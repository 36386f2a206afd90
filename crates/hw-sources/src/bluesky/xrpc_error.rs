//! Recognizes errors and limits in XRPC responses.
//!
//! The name in the body decides, not the status alone: a 400 can be an expired session, an account that is gone, or a
//! cursor that the server cannot read.

use hw_rules::bluesky::account_state::AccountState;
use hw_rules::source_time::SourceInstant;
use serde::Deserialize;

use crate::error::{
    LimitWait, RateLimit, RateLimitKind, SourceError, UnavailableAccount, wait_ms_from_date,
};
use crate::json_repair;
use crate::response_headers::{
    self as headers, MAX_EXCERPT_BYTES, MAX_MESSAGE_BYTES, clip_message, parse_number_header,
};
use crate::response_meta::{RateLimitSample, ResponseMeta};
use crate::transport::HttpResponse;

/// The body of an error. Firewalls and proxies send other ones.
#[derive(Debug, Default, Deserialize)]
struct ErrorBody {
    error: String,
    #[serde(default)]
    message: Option<String>,
}

/// Reads the metadata of a response; fails without a `Date`, because such a response cannot be ordered among the others.
pub(super) fn read_meta(response: &HttpResponse) -> Result<ResponseMeta, SourceError> {
    let date = headers::parse_date(response);
    let date = date.ok_or_else(|| SourceError::InvalidResponse("no Date header".into()))?;
    let limit_sample = read_sample(response);
    Ok(ResponseMeta { limit_sample, cost: 1, ..ResponseMeta::from_date(date) })
}

/// Reads the `ratelimit-*` headers, if they are there: only the servers of accounts send them.
fn read_sample(response: &HttpResponse) -> Option<RateLimitSample> {
    let limit = parse_number_header(response, "ratelimit-limit")?;
    let remaining = parse_number_header(response, "ratelimit-remaining")?;
    let used = limit.saturating_sub(remaining);
    let resets_at = read_reset(response)?;
    Some(RateLimitSample { limit, remaining, used, resets_at, bucket: None })
}

/// Reads the end of the window. Servers send it in seconds since 1970; the draft of a standard counts from now.
fn read_reset(response: &HttpResponse) -> Option<SourceInstant> {
    const LONGEST_WINDOW_S: i64 = 366 * 86_400;
    let seconds = parse_number_header(response, "ratelimit-reset")?;
    let ms = seconds.saturating_mul(1_000);
    if seconds > LONGEST_WINDOW_S {
        return Some(SourceInstant(ms));
    }
    Some(headers::parse_date(response)?.plus_ms(ms))
}

/// Classifies a response that is not a success.
pub(super) fn error_from_response(response: &HttpResponse) -> Option<SourceError> {
    let status = response.status;
    if (200..=299).contains(&status) {
        return headers::check_body_size(response);
    }
    let body = json_repair::parse_repaired::<ErrorBody>(&response.body).ok();
    let is_named = body.is_some();
    let body = body.map_or_else(|| excerpt_body(response), |body| body.value);
    if status == 429 || body.error == "RateLimitExceeded" {
        return Some(SourceError::RateLimited(read_limit(response)));
    }
    Some(error_from_name(status, &body).unwrap_or_else(|| match status {
        300..=399 => SourceError::InvalidRequest(headers::describe_redirect(response)),
        401 => SourceError::TokenRejected(body.describe()),
        // a firewall in front of the server refuses every request; the server itself refuses this account
        403 if !is_named => SourceError::Forbidden(body.describe()),
        403 => unavailable(AccountState::Refused, status, &body),
        404 | 410 | 451 if is_named => unavailable(AccountState::Gone, status, &body),
        404 | 410 | 451 => SourceError::hidden(&body.describe()),
        400 | 405 | 413 | 414 | 501 => SourceError::InvalidRequest(body.describe()),
        500..=599 => SourceError::Server(format!("status {status}: {}", body.describe())),
        _ => SourceError::InvalidResponse(format!("status {status}: {}", body.describe())),
    }))
}

/// Classifies an error by its name; none if the name says no more than the status.
fn error_from_name(status: u16, body: &ErrorBody) -> Option<SourceError> {
    Some(match body.error.as_str() {
        "ExpiredToken" => SourceError::SessionExpired(body.describe()),
        "InvalidToken"
        | "AuthMissing"
        | "AuthenticationRequired"
        | "AuthFactorTokenRequired"
        | "BadJwt"
        | "BadJwtSignature" => SourceError::TokenRejected(body.describe()),
        "AccountDeactivated" | "RepoDeactivated" => {
            unavailable(AccountState::Deactivated, status, body)
        }
        "AccountTakedown" | "AccountSuspended" | "RepoTakendown" | "RepoSuspended" => {
            unavailable(AccountState::Suspended, status, body)
        }
        "AccountNotFound" | "ActorNotFound" | "DidNotFound" | "HandleNotFound" | "RepoNotFound" => {
            unavailable(AccountState::Gone, status, body)
        }
        "BlockedActor" | "BlockedByActor" => unavailable(AccountState::Blocked, status, body),
        "BadCursor" | "InvalidCursor" => SourceError::InvalidCursor(body.describe()),
        "MethodNotImplemented" | "XRPCNotSupported" | "UnknownMethod" => {
            SourceError::InvalidRequest(body.describe())
        }
        "InvalidRequest" => return error_from_message(status, body),
        _ => return None,
    })
}

/// Classifies an `InvalidRequest`, which servers also send for accounts and cursors, by its message.
fn error_from_message(status: u16, body: &ErrorBody) -> Option<SourceError> {
    let message = body.message.as_deref().unwrap_or_default().to_ascii_lowercase();
    let is_gone = ["profile not found", "actor not found", "unable to resolve handle"]
        .iter()
        .any(|sign| message.contains(sign));
    if is_gone {
        Some(unavailable(AccountState::Gone, status, body))
    } else if message.contains("cursor") {
        Some(SourceError::InvalidCursor(body.describe()))
    } else {
        None
    }
}

fn unavailable(state: AccountState, status: u16, body: &ErrorBody) -> SourceError {
    let reason = format!(", {}", body.describe());
    SourceError::AccountUnavailable(UnavailableAccount { state, status, reason })
}

/// Reads when a limit ends. There is one budget, so it is always that one which is used up.
fn read_limit(response: &HttpResponse) -> RateLimit {
    let date = headers::parse_date(response);
    let wait = match (headers::parse_retry_after(response), read_reset(response), date) {
        (Some(ms), _, _) => LimitWait::RetryAfter(ms),
        (None, Some(reset), Some(date)) => LimitWait::Reset(wait_ms_from_date(reset, date)),
        (None, _, _) => LimitWait::Unspecified,
    };
    RateLimit { kind: RateLimitKind::Primary, wait, date }
}

/// Returns the beginning of a body that is no XRPC error.
fn excerpt_body(response: &HttpResponse) -> ErrorBody {
    ErrorBody { error: headers::body_prefix(response, MAX_EXCERPT_BYTES), message: None }
}

impl ErrorBody {
    /// Returns the name and the message, for use inside a sentence.
    fn describe(&self) -> String {
        let Self { error, message } = self;
        let text = match message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
            Some(message) if error.is_empty() => message.to_owned(),
            Some(message) => format!("{error}: {message}"),
            None => error.trim().to_owned(),
        };
        headers::strip_final_period(&clip_message(text, MAX_MESSAGE_BYTES)).to_owned()
    }
}

#[cfg(test)]
#[path = "xrpc_error_tests.rs"]
mod tests;
