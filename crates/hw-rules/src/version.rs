//! When one text supersedes another.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::time::SourceTime;

/// When we looked: the `Date` of the answer, and the number of the request within our workspace.
///
/// `Date` ticks in seconds; the request number orders the looks inside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seen {
    pub at_ms: i64,
    pub request: i64,
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
    pub updated_at: SourceTime,
    pub seen: Seen,
    pub digest: Digest,
}

/// Orders two versions of one object; the greater one is what we hold.
///
/// GitHub's clock ticks in seconds, so two edits can share one: then the answer read later decides.
/// A lagging replica can also serve an older text, which must not undo what we hold.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.updated_at, self.seen, self.digest).cmp(&(
            &other.updated_at,
            other.seen,
            other.digest,
        ))
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

    fn version(updated_at: &str, request: i64, text: &str) -> Version {
        Version {
            updated_at: SourceTime::parse(updated_at).unwrap(),
            seen: Seen { at_ms: 0, request },
            digest: Digest::of([text]),
        }
    }
}
