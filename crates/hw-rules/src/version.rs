//! When one text supersedes another.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::OVERLAP_MS;
use crate::source_clock::TOLERANCE_MS;
use crate::time::{Mark, SourceTime};

/// When we looked: the `Date` of the answer, and the number of the request within our workspace.
///
/// `Date` ticks in seconds; the request number orders the looks inside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seen {
    pub at_ms: i64,
    pub request: i64,
    /// How far the source's own clock stood beyond `at_ms`: it ran ahead, and is not believed yet.
    #[serde(default)]
    pub ahead_ms: i64,
}

impl Seen {
    /// A look at a source whose clock is believed.
    pub fn at(at_ms: i64, request: i64) -> Self {
        Self { at_ms, request, ahead_ms: 0 }
    }
}

/// A hash of everything a person could see in an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Hashes the fields so that no two lists of fields run together.
    pub fn of<'a>(fields: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hash = Sha256::new();
        for field in fields {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field.as_bytes());
        }
        Self(hash.finalize().into())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// One version of one object, as one look showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// As the source sent it.
    pub updated_at: SourceTime,
    /// The time that orders it: `updated_at`, unless the source itself had not reached that yet.
    pub ordered_at: Mark,
    pub seen: Seen,
    pub digest: Digest,
}

impl Version {
    /// A version as one look showed it.
    pub fn observed(updated_at: SourceTime, seen: Seen, digest: Digest) -> Self {
        let ordered_at = ordered_at(updated_at.mark(), seen);
        Self { updated_at, ordered_at, seen, digest }
    }
}

/// The time that orders what one look showed as updated at this time.
///
/// A text dated in the future would never be superseded. If the source's own clock stands there, it ran ahead, and
/// the text is ordered by when that was. Otherwise a clock was set back since, and the text is ordered by the time of
/// the look, less what a replica may lag and what a `Date` may be off: an edit that the replica did not show yet is
/// newer.
pub fn ordered_at(updated_at: Mark, seen: Seen) -> Mark {
    let looked_at = Mark(seen.at_ms);
    let latest = looked_at.plus(TOLERANCE_MS);
    if updated_at <= latest {
        updated_at
    } else if updated_at <= latest.plus(seen.ahead_ms) {
        updated_at.minus(seen.ahead_ms)
    } else {
        looked_at.minus(OVERLAP_MS + TOLERANCE_MS)
    }
}

/// Orders two versions of one object; the greater one is what we hold.
///
/// GitHub's clock ticks in seconds, so two edits can share one: then the answer read later decides.
/// A lagging replica can also serve an older text, which must not undo what we hold.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |version: &Self| (version.ordered_at, version.seen, version.digest);
        key(self).cmp(&key(other)).then_with(|| self.updated_at.cmp(&other.updated_at))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_update_never_wins_however_late_it_is_seen() {
        assert!(
            version("2026-01-01T00:00:09Z", 99, "old") < version("2026-01-01T00:00:10Z", 1, "new")
        );
    }

    #[test]
    fn within_one_second_the_later_look_wins() {
        assert!(
            version("2026-01-01T00:00:10Z", 1, "first")
                < version("2026-01-01T00:00:10Z", 2, "second")
        );
    }

    #[test]
    fn fields_do_not_run_together() {
        assert_ne!(Digest::of(["ab", "c"]), Digest::of(["a", "bc"]));
    }

    #[test]
    fn version_dated_in_the_future_gives_way_to_the_next_edit() {
        let future = version("2036-01-01T00:00:00Z", 1, "from the future");
        let edited = version("2026-01-01T00:01:00Z", 2, "edited");
        assert!(future < edited);
        assert_eq!(future.updated_at.as_str(), "2036-01-01T00:00:00Z", "kept as it was sent");
    }

    /// The service's clock was set back, somebody edited, and a replica that lags shows the old text once more.
    #[test]
    fn version_dated_in_the_future_gives_way_to_an_edit_that_a_replica_did_not_show() {
        let lagging = version("2026-01-01T05:00:00Z", 2, "by the wrong clock");
        let edited = version("2026-01-01T00:00:10Z", 1, "edited");
        assert!(lagging < edited);
    }

    /// The service's clock was set ahead, and somebody edited what had been written a minute before.
    #[test]
    fn version_stamped_by_a_clock_that_ran_ahead_is_ordered_by_when_that_was() {
        let before = version("2026-01-01T00:00:05Z", 1, "before");
        let at = |text| SourceTime::parse(text).unwrap();
        let seen = Seen { ahead_ms: 3 * 3_600_000, ..before.seen };
        let edited = Version::observed(at("2026-01-01T03:00:20Z"), seen, Digest::of(["edited"]));
        assert_eq!(edited.ordered_at, at("2026-01-01T00:00:20Z").mark());
        assert!(before < edited);
    }

    /// Seen at the first minute of 2026.
    fn version(updated_at: &str, request: i64, text: &str) -> Version {
        let at_ms = SourceTime::parse("2026-01-01T00:00:30Z").unwrap().mark().0;
        let updated_at = SourceTime::parse(updated_at).unwrap();
        Version::observed(updated_at, Seen::at(at_ms, request), Digest::of([text]))
    }
}
