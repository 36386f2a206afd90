//! What can go wrong between a request and its observations, sorted by what one can do about it.

use hw_rules::backoff::{self, Jitter};
use hw_rules::time::Mark;

use crate::transport::{Broken, BrokenStage};

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("limited by the source ({})", .0.kind)]
    Limited(Limit),
    #[error("too much for one answer: {0}")]
    TooMuch(String),
    #[error("the server failed: {0}")]
    Server(String),
    #[error("no answer: {0}")]
    Network(String),
    /// No connection to the host that is named: it is unknown, or refuses it.
    #[error("cannot connect to {0}")]
    Unreachable(String),
    /// TLS with the host that is named could not be set up.
    #[error("cannot set up TLS with {0}")]
    Untrusted(String),
    #[error("the answer cannot be read: {0}")]
    Garbled(String),
    #[error("the token was refused: {0}")]
    Denied(String),
    /// A 403 without any sign of a limit: a firewall or a limit that does not name itself can send one, so it is
    /// believed the second time.
    #[error("the token was refused: {0}")]
    Forbidden(String),
    #[error("not there, or hidden from this token: {0}")]
    Hidden(String),
    /// The place where a page was to begin is not known to the source any more.
    #[error("the source no longer knows the place to go on at: {0}")]
    BadCursor(String),
    /// Our own nonsense: the server understood the request and found it wrong.
    #[error("the request was refused as wrong: {0}")]
    Wrong(String),
}

/// A limit, and what the source said about its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    pub kind: LimitKind,
    pub wait: Wait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// The hour's points are used up.
    Primary,
    /// Too fast, or too much at once.
    Secondary,
}

impl std::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Primary => "primary limit",
            Self::Secondary => "secondary limit",
        })
    }
}

/// What the source said about how long to wait, in the order of obedience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// `retry-after`, in milliseconds.
    RetryAfter(i64),
    /// Nothing remains until the reset: milliseconds from the answer's own `Date`.
    Reset(i64),
    Unsaid,
}

/// No wait is shorter, whatever the source says: a limit met again at once is met for nothing.
const SHORTEST_MS: i64 = 1_000;
/// No wait that a source names is believed beyond this: the longest window is an hour.
pub const BELIEVED_MS: i64 = 2 * 3_600_000;
/// After a reset, this much more: windows jitter by a second, and replicas disagree.
const RESET_MARGIN_MS: i64 = 30_000;

impl Wait {
    /// Until when (our clock) nothing is started, after the n-th limit in a row.
    pub fn until_ms(self, now_ms: i64, in_a_row: u32, jitter: Jitter) -> i64 {
        let wait = match self {
            Self::RetryAfter(ms) => ms.clamp(SHORTEST_MS, BELIEVED_MS),
            Self::Reset(ms) if ms <= BELIEVED_MS => ms.max(0) + RESET_MARGIN_MS,
            Self::Reset(_) | Self::Unsaid => backoff::after_silent_limit(in_a_row, jitter),
        };
        now_ms.saturating_add(wait)
    }
}

/// What to do about trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Pause the principal, then ask the same again.
    Pause,
    /// Ask for less.
    AskForLess,
    /// Ask the same again, after a server's backoff.
    RetryServer,
    /// Ask the same again, after a network's backoff.
    RetryNetwork,
    /// Ask the same once more after a moment; then give up.
    RetryOnce,
    /// Asking again changes nothing.
    GiveUp,
}

impl Trouble {
    /// Whether the organisation wants the token allowed for its single sign-on first.
    pub fn wants_sign_on(&self) -> bool {
        matches!(self, Self::Denied(text) | Self::Forbidden(text) | Self::Hidden(text)
            if text.contains("SAML"))
    }

    /// The trouble of an exchange with this URL that came to no answer.
    pub fn from_broken(broken: Broken, url: &str) -> Self {
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or(host);
        match broken.stage {
            BrokenStage::Connect => Self::Unreachable(format!("{host}: {}", broken.reason)),
            BrokenStage::Tls => Self::Untrusted(format!("{host}: {}", broken.reason)),
            BrokenStage::Exchange => Self::Network(broken.reason),
        }
    }

    /// Whether no connection came about.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Untrusted(_))
    }

    /// Whether no answer came.
    pub fn is_network(&self) -> bool {
        self.verdict() == Verdict::RetryNetwork
    }

    /// The trouble once asking again has not mended it.
    pub fn believed(self) -> Self {
        if let Self::Forbidden(text) = self { Self::Denied(text) } else { self }
    }

    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Limited(_) => Verdict::Pause,
            Self::TooMuch(_) => Verdict::AskForLess,
            Self::Server(_) | Self::Garbled(_) => Verdict::RetryServer,
            Self::Network(_) | Self::Unreachable(_) | Self::Untrusted(_) => Verdict::RetryNetwork,
            Self::Forbidden(_) => Verdict::RetryOnce,
            Self::Denied(_) | Self::Hidden(_) | Self::BadCursor(_) | Self::Wrong(_) => {
                Verdict::GiveUp
            }
        }
    }
}

/// How long from the answer's `Date` to a time the source named.
pub(crate) fn from_date(until: Mark, date: Mark) -> i64 {
    until.0.saturating_sub(date.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_obey_the_source_first() {
        let until = |wait: Wait| wait.until_ms(1_000, 1, Jitter(0.0));
        assert_eq!(until(Wait::RetryAfter(7_000)), 8_000);
        assert_eq!(until(Wait::Reset(10_000)), 41_000);
        assert_eq!(until(Wait::Reset(-5)), 31_000);
        assert_eq!(until(Wait::Unsaid), 61_000);
    }

    #[test]
    fn a_wait_that_cannot_be_meant_is_not_believed() {
        let until = |wait: Wait| wait.until_ms(1_000, 1, Jitter(0.0));
        assert_eq!(until(Wait::RetryAfter(0)), 2_000, "never at once");
        assert_eq!(until(Wait::RetryAfter(i64::MAX)), 1_000 + BELIEVED_MS);
        assert_eq!(until(Wait::Reset(1_767_225_600_000)), 61_000, "milliseconds taken for seconds");
    }
}
