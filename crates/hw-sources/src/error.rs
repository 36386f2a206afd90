//! Errors between a request and its observations, grouped by what can be done about them.

use hw_rules::backoff::{self, Jitter};
use hw_rules::bluesky::account_state::AccountState;
use hw_rules::rate_limit::{ApiKind, MAX_WAIT_MS, PauseScope};
use hw_rules::source_time::SourceInstant;

use crate::transport::{ExchangeStage, TransportError};

/// A request that produced no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    #[error("rate limited ({})", .0.kind)]
    RateLimited(RateLimit),
    /// The server timed out, or the response is too large: fewer rows may help.
    #[error("{0}")]
    TooExpensive(String),
    #[error("server error: {0}")]
    Server(String),
    #[error("no response: {0}")]
    Network(String),
    /// No connection to the named host: it is unknown, or refuses connections.
    #[error("cannot connect to {0}")]
    Unreachable(String),
    /// TLS with the named host could not be set up.
    #[error("cannot set up TLS with {0}")]
    TlsFailed(String),
    #[error("unexpected response: {0}")]
    InvalidResponse(String),
    #[error("the token was refused: {0}")]
    TokenRejected(String),
    /// A 403 without any sign of a limit. A firewall or an unnamed limit can send one, so only the second one in a
    /// row is believed.
    #[error("the token was refused: {0}")]
    Forbidden(String),
    /// It does not exist, or this token has no access.
    #[error("{0}")]
    Hidden(String),
    /// The posts of one account cannot be read, whatever else works.
    #[error("{0}")]
    AccountUnavailable(UnavailableAccount),
    /// The session has to be refreshed before the request is sent again.
    #[error("the session has expired: {0}")]
    SessionExpired(String),
    /// The source no longer accepts the cursor at which the page starts.
    #[error("the page cursor is no longer valid: {0}")]
    InvalidCursor(String),
    /// A bug in highwater, or a URL that is not GitHub's: the server understood the request and found it wrong.
    #[error("the server rejected the request: {0}")]
    InvalidRequest(String),
}

/// An account whose posts a source refuses to show, and its reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} (API error: {status}{reason})", .state.describe())]
pub struct UnavailableAccount {
    pub state: AccountState,
    pub status: u16,
    /// The source's own words, after a comma; empty if there are none.
    pub reason: String,
}

/// A limit, and when it ends as far as the source reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    pub kind: RateLimitKind,
    pub wait: LimitWait,
    /// The `Date` of the response, if it has one.
    pub date: Option<SourceInstant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimitKind {
    /// The points of the API's own window, an hour at GitHub, are used up.
    Primary,
    /// Requests came too fast, or too many at once.
    Secondary,
}

impl RateLimitKind {
    /// Returns the requests that a limit stops, if a request to this API met it.
    pub fn pause_scope(self, api: ApiKind) -> PauseScope {
        match self {
            Self::Primary => PauseScope::Api(api),
            Self::Secondary => PauseScope::Everything,
        }
    }
}

impl std::fmt::Display for RateLimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Primary => "primary limit",
            Self::Secondary => "secondary limit",
        })
    }
}

/// The wait that the source requested; earlier variants take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitWait {
    /// `retry-after`, in milliseconds.
    RetryAfter(i64),
    /// Nothing remains until the reset: milliseconds from the response's own `Date`.
    Reset(i64),
    Unspecified,
}

/// The shortest wait, whatever the source requests: retrying at once only hits the same limit again.
const MIN_WAIT_MS: i64 = 1_000;
/// Added to every reset: windows jitter by a second, and replicas disagree.
const RESET_MARGIN_MS: i64 = 30_000;

impl LimitWait {
    /// Returns the time, on the local clock, at which requests may start again after the n-th limit in a row.
    pub fn resume_at_ms(self, now_ms: i64, in_a_row: u32, jitter: Jitter) -> i64 {
        let wait = match self {
            Self::RetryAfter(ms) => ms.clamp(MIN_WAIT_MS, MAX_WAIT_MS),
            Self::Reset(ms) if ms <= MAX_WAIT_MS => ms.max(0) + RESET_MARGIN_MS,
            Self::Reset(_) | Self::Unspecified => backoff::silent_limit_delay_ms(in_a_row, jitter),
        };
        now_ms.saturating_add(wait)
    }
}

/// The reaction to an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// Pause the principal, then send the same request again.
    Pause,
    /// Request a smaller page.
    RequestLess,
    /// Send the same request again after the backoff for server errors.
    RetryServer,
    /// Send the same request again after the backoff for network errors.
    RetryNetwork,
    /// Send the same request once more after a moment; then give up.
    RetryOnce,
    /// Another attempt changes nothing.
    GiveUp,
}

impl SourceError {
    /// Returns the error for something that does not exist or is not visible; `reason` is the source's own text.
    pub fn hidden(reason: &str) -> Self {
        let message = "not found, or this token has no access";
        let says_nothing_more = reason.is_empty() || reason.eq_ignore_ascii_case("not found");
        Self::Hidden(if says_nothing_more {
            message.to_owned()
        } else {
            format!("{message}: {reason}")
        })
    }

    /// Returns the error for a body that is not JSON, or has other fields.
    pub(crate) fn not_the_expected_json(error: &serde_json::Error) -> Self {
        Self::InvalidResponse(format!("not the expected JSON ({error})"))
    }

    /// Returns true if the organization requires the token to be authorized for its single sign-on first.
    pub fn needs_sso_authorization(&self) -> bool {
        matches!(self, Self::TokenRejected(text) | Self::Forbidden(text) | Self::Hidden(text)
            if text.contains("SAML"))
    }

    /// Classifies an exchange with this URL that brought no response.
    pub fn from_transport_error(error: TransportError, url: &str) -> Self {
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or(host);
        let TransportError { reason, stage, proxy } = error;
        let through = proxy.map(|url| format!(" through the proxy {url}")).unwrap_or_default();
        match stage {
            ExchangeStage::Connect => Self::Unreachable(format!("{host}{through}: {reason}")),
            ExchangeStage::Tls => Self::TlsFailed(format!("{host}{through}: {reason}")),
            ExchangeStage::Exchange => Self::Network(format!("{reason}{through}")),
        }
    }

    /// Returns true if no connection was established.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::TlsFailed(_))
    }

    /// Returns true if no response arrived.
    pub fn is_network_error(&self) -> bool {
        self.retry_decision() == RetryDecision::RetryNetwork
    }

    /// Returns the error that remains once a retry did not help.
    pub fn into_permanent(self) -> Self {
        if let Self::Forbidden(text) = self { Self::TokenRejected(text) } else { self }
    }

    pub fn retry_decision(&self) -> RetryDecision {
        match self {
            Self::RateLimited(_) => RetryDecision::Pause,
            Self::TooExpensive(_) => RetryDecision::RequestLess,
            Self::Server(_) | Self::InvalidResponse(_) => RetryDecision::RetryServer,
            Self::Network(_) | Self::Unreachable(_) | Self::TlsFailed(_) => {
                RetryDecision::RetryNetwork
            }
            Self::Forbidden(_) => RetryDecision::RetryOnce,
            Self::TokenRejected(_)
            | Self::Hidden(_)
            | Self::AccountUnavailable(_)
            | Self::SessionExpired(_)
            | Self::InvalidCursor(_)
            | Self::InvalidRequest(_) => RetryDecision::GiveUp,
        }
    }
}

/// Returns the milliseconds from the response's `Date` to a time that the source named.
pub(crate) fn wait_ms_from_date(until: SourceInstant, date: SourceInstant) -> i64 {
    until.0.saturating_sub(date.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_obey_the_source_first() {
        assert_eq!(resume_after(LimitWait::RetryAfter(7_000)), 8_000);
        assert_eq!(resume_after(LimitWait::Reset(10_000)), 41_000);
        assert_eq!(resume_after(LimitWait::Reset(-5)), 31_000);
        assert_eq!(resume_after(LimitWait::Unspecified), 61_000);
    }

    #[test]
    fn waits_that_are_implausible_are_not_believed() {
        assert_eq!(resume_after(LimitWait::RetryAfter(0)), 2_000, "never at once");
        assert_eq!(resume_after(LimitWait::RetryAfter(i64::MAX)), 1_000 + MAX_WAIT_MS);
        assert_eq!(
            resume_after(LimitWait::Reset(1_767_225_600_000)),
            61_000,
            "milliseconds taken for seconds"
        );
    }

    fn resume_after(wait: LimitWait) -> i64 {
        wait.resume_at_ms(1_000, 1, Jitter(0.0))
    }
}
