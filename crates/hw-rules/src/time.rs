//! Times as the source tells them. Our own clock never enters here.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A point in the source's time, in unix milliseconds: a watermark, a floor, a response's `Date`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mark(pub i64);

impl Mark {
    /// Before everything: what is complete up to here holds nothing yet.
    pub const BEGINNING: Self = Self(i64::MIN);

    /// The mark this much earlier; the beginning of time at worst.
    pub fn minus(self, ms: i64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// The mark this much later.
    pub fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            _ if *self == Self::BEGINNING => f.write_str("the beginning"),
            Ok(t) => write!(f, "{t}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// A time the source sent: its own text, byte for byte, and the instant it names.
///
/// Two texts can name one instant (`Z` and `+00:00`), so order and equality follow the instant.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SourceTime {
    text: String,
    mark: Mark,
}

/// The source sent something as a time that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time: {0:?}")]
pub struct NotATime(pub String);

impl SourceTime {
    /// Reads an RFC 3339 time, keeping its text.
    pub fn parse(text: &str) -> Result<Self, NotATime> {
        let instant: jiff::Timestamp = text.parse().map_err(|_| NotATime(text.to_owned()))?;
        Ok(Self { text: text.to_owned(), mark: Mark(instant.as_millisecond()) })
    }

    /// The text as it came.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The instant.
    pub fn mark(&self) -> Mark {
        self.mark
    }
}

impl TryFrom<String> for SourceTime {
    type Error = NotATime;
    fn try_from(text: String) -> Result<Self, NotATime> {
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
        self.mark == other.mark
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
        self.mark.cmp(&other.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_stays_and_the_instant_orders() {
        let zulu = SourceTime::parse("2026-01-02T03:04:05Z").unwrap();
        let east = SourceTime::parse("2026-01-02T04:04:05+01:00").unwrap();
        assert_eq!(zulu, east);
        assert_eq!(east.as_str(), "2026-01-02T04:04:05+01:00");
        assert!(zulu < SourceTime::parse("2026-01-02T03:04:05.001Z").unwrap());
    }

    #[test]
    fn nonsense_is_refused_with_its_text() {
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "1767323045"] {
            assert_eq!(SourceTime::parse(text), Err(NotATime(text.to_owned())), "{text}");
        }
    }
}
