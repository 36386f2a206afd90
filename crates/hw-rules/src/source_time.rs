//! Represents the source's times. They never mix with our own clock.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A point in the source's time, in unix milliseconds: a watermark, a floor, a response's `Date`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceInstant(pub i64);

impl SourceInstant {
    /// Earlier than everything: a lane that is complete up to here has no items yet.
    pub const BEGINNING: Self = Self(i64::MIN);

    /// Returns the instant this much earlier, but not before the beginning.
    pub fn minus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// Returns the instant this much later.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

impl fmt::Display for SourceInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            _ if *self == Self::BEGINNING => f.write_str("the beginning"),
            Ok(t) => write!(f, "{t}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// A time as the source sent it: its text, byte for byte, and the instant it names.
///
/// Two texts can name one instant (`Z` and `+00:00`), so order and equality follow the instant.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SourceTime {
    text: String,
    instant: SourceInstant,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time: {0:?}")]
pub struct ParseTimeError(pub String);

impl SourceTime {
    /// Parses an RFC 3339 time, and keeps its text.
    pub fn parse(text: &str) -> Result<Self, ParseTimeError> {
        let instant: jiff::Timestamp = text.parse().map_err(|_| ParseTimeError(text.to_owned()))?;
        Ok(Self { text: text.to_owned(), instant: SourceInstant(instant.as_millisecond()) })
    }

    /// Returns the text as the source sent it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn instant(&self) -> SourceInstant {
        self.instant
    }
}

impl TryFrom<String> for SourceTime {
    type Error = ParseTimeError;
    fn try_from(text: String) -> Result<Self, ParseTimeError> {
        Self::parse(&text)
    }
}

impl From<SourceTime> for String {
    fn from(time: SourceTime) -> Self {
        time.text
    }
}

impl fmt::Display for SourceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for SourceTime {
    fn eq(&self, other: &Self) -> bool {
        self.instant == other.instant
    }
}
impl Eq for SourceTime {}
impl PartialOrd for SourceTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for SourceTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.instant.cmp(&other.instant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_time_keeps_its_text_and_orders_by_instant() {
        let zulu = SourceTime::parse("2026-01-02T03:04:05Z").unwrap();
        let east = SourceTime::parse("2026-01-02T04:04:05+01:00").unwrap();
        assert_eq!(zulu, east);
        assert_eq!(east.as_str(), "2026-01-02T04:04:05+01:00");
        assert!(zulu < SourceTime::parse("2026-01-02T03:04:05.001Z").unwrap());
    }

    #[test]
    fn source_time_rejects_other_texts() {
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "1767323045"] {
            assert_eq!(SourceTime::parse(text), Err(ParseTimeError(text.to_owned())), "{text}");
        }
    }
}
