//! Orders versions of one object: decides which text supersedes another.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::OVERLAP_MS;
use crate::source_clock::DATE_TOLERANCE_MS;
use crate::source_time::{SourceInstant, SourceTime};

/// The time of an observation: the `Date` of the response, and the number of the request within the workspace.
///
/// `Date` ticks in seconds; the request number orders the observations within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObservedAt {
    pub at_ms: i64,
    pub request: i64,
    /// The amount by which the source's own clock was ahead of `at_ms`; it is not trusted yet.
    #[serde(default)]
    pub ahead_ms: i64,
}

impl ObservedAt {
    /// Creates the time of an observation at a source whose clock is trusted.
    pub fn new(at_ms: i64, request: i64) -> Self {
        Self { at_ms, request, ahead_ms: 0 }
    }
}

/// A hash of everything a person could see in an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentDigest(pub [u8; 32]);

impl ContentDigest {
    /// Hashes the fields together with their lengths, so that no two lists of fields run together.
    pub fn from_fields<'a>(fields: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hash = Sha256::new();
        for field in fields {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field.as_bytes());
        }
        Self(hash.finalize().into())
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// One version of one object, as one response showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemVersion {
    /// As the source sent it.
    pub updated_at: SourceTime,
    /// The time that orders the version: `updated_at`, unless the source's clock had not reached that yet.
    pub ordered_at: SourceInstant,
    pub observed_at: ObservedAt,
    pub digest: ContentDigest,
}

impl ItemVersion {
    pub fn new(updated_at: SourceTime, observed_at: ObservedAt, digest: ContentDigest) -> Self {
        let ordered_at = ordering_instant(updated_at.instant(), observed_at);
        Self { updated_at, ordered_at, observed_at, digest }
    }
}

/// Returns the time that orders a version with this `updated_at`.
///
/// A text dated in the future would never be superseded. If the source's own clock had reached that time, it ran
/// ahead, and its error is subtracted. Otherwise a clock was set back in the meantime, and the text is ordered by the
/// time of the observation, less the lag of a replica and the tolerance of a `Date`: an edit that the replica did not
/// show yet is newer.
pub fn ordering_instant(updated_at: SourceInstant, observed_at: ObservedAt) -> SourceInstant {
    let date = SourceInstant(observed_at.at_ms);
    let latest = date.plus_ms(DATE_TOLERANCE_MS);
    if updated_at <= latest {
        updated_at
    } else if updated_at <= latest.plus_ms(observed_at.ahead_ms) {
        updated_at.minus_ms(observed_at.ahead_ms)
    } else {
        date.minus_ms(OVERLAP_MS + DATE_TOLERANCE_MS)
    }
}

/// Orders two versions of one object; the greater one is stored.
///
/// GitHub's clock ticks in seconds, so two edits can share one: then the later response wins.
/// A lagging replica can also serve an older text, which must not undo a stored edit.
impl Ord for ItemVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.ordered_at, self.observed_at, self.digest)
            .cmp(&(other.ordered_at, other.observed_at, other.digest))
            .then_with(|| self.updated_at.cmp(&other.updated_at))
    }
}

impl PartialOrd for ItemVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_with_an_older_update_never_wins() {
        assert!(
            version("2026-01-01T00:00:09Z", 99, "old") < version("2026-01-01T00:00:10Z", 1, "new")
        );
    }

    #[test]
    fn version_observed_later_wins_within_one_second() {
        assert!(
            version("2026-01-01T00:00:10Z", 1, "first")
                < version("2026-01-01T00:00:10Z", 2, "second")
        );
    }

    #[test]
    fn digest_fields_do_not_run_together() {
        assert_ne!(
            ContentDigest::from_fields(["ab", "c"]),
            ContentDigest::from_fields(["a", "bc"])
        );
    }

    #[test]
    fn version_dated_in_the_future_gives_way_to_the_next_edit() {
        let future = version("2036-01-01T00:00:00Z", 1, "from the future");
        let edited = version("2026-01-01T00:01:00Z", 2, "edited");
        assert!(future < edited);
        assert_eq!(future.updated_at.as_str(), "2036-01-01T00:00:00Z", "stored as sent");
    }

    /// The service's clock was set back, an edit followed, and a lagging replica shows the old text once more.
    #[test]
    fn version_dated_in_the_future_gives_way_to_an_edit_that_a_replica_did_not_show() {
        let lagging = version("2026-01-01T05:00:00Z", 2, "by the wrong clock");
        let edited = version("2026-01-01T00:00:10Z", 1, "edited");
        assert!(lagging < edited);
    }

    /// The service's clock was set ahead, and a text written a minute before was edited.
    #[test]
    fn version_stamped_by_a_clock_that_ran_ahead_is_ordered_by_its_true_time() {
        let before = version("2026-01-01T00:00:05Z", 1, "before");
        let observed_at = ObservedAt { ahead_ms: 3 * 3_600_000, ..before.observed_at };
        let edited = ItemVersion::new(
            SourceTime::parse("2026-01-01T03:00:20Z").unwrap(),
            observed_at,
            ContentDigest::from_fields(["edited"]),
        );
        let true_time = SourceTime::parse("2026-01-01T00:00:20Z").unwrap();
        assert_eq!(edited.ordered_at, true_time.instant());
        assert!(before < edited);
    }

    /// A version observed in the first minute of 2026.
    fn version(updated_at: &str, request: i64, text: &str) -> ItemVersion {
        let at_ms = SourceTime::parse("2026-01-01T00:00:30Z").unwrap().instant().0;
        let updated_at = SourceTime::parse(updated_at).unwrap();
        ItemVersion::new(
            updated_at,
            ObservedAt::new(at_ms, request),
            ContentDigest::from_fields([text]),
        )
    }
}
