//! The history of one object: every state, and the time at which it reached the lists.

/// One state; `None` means that the object does not exist.
#[derive(Debug)]
pub(crate) struct ObjectVersion<T> {
    pub(crate) at_ms: i64,
    pub(crate) listed_ms: i64,
    pub(crate) state: Option<T>,
}

/// All states of one object, oldest first; there is at least one.
#[derive(Debug)]
pub(crate) struct VersionHistory<T>(Vec<ObjectVersion<T>>);

impl<T> VersionHistory<T> {
    pub(crate) fn new(at_ms: i64, listed_ms: i64, state: T) -> Self {
        Self(vec![ObjectVersion { at_ms, listed_ms, state: Some(state) }])
    }

    pub(crate) fn push(&mut self, at_ms: i64, listed_ms: i64, state: Option<T>) {
        self.0.push(ObjectVersion { at_ms, listed_ms, state });
    }

    /// Adds a state, replacing the last one if both have the same times, so that no reader can have seen it.
    pub(crate) fn push_or_replace(&mut self, at_ms: i64, listed_ms: i64, state: T) {
        match self.0.last_mut() {
            Some(last) if (last.at_ms, last.listed_ms) == (at_ms, listed_ms) => {
                last.state = Some(state);
            }
            _ => self.push(at_ms, listed_ms, Some(state)),
        }
    }

    /// Returns the current state.
    pub(crate) fn current(&self) -> Option<&T> {
        self.0.last().and_then(|version| version.state.as_ref())
    }

    /// Returns the state at this time.
    pub(crate) fn state_at(&self, ms: i64) -> Option<&T> {
        let version = self.0.iter().rev().find(|version| version.at_ms <= ms)?;
        version.state.as_ref()
    }

    /// Returns the state at this time, or the last one before it if the object no longer existed.
    pub(crate) fn last_state_at(&self, ms: i64) -> Option<&T> {
        let known = self.0.iter().rev().filter(|version| version.at_ms <= ms);
        known.filter_map(|version| version.state.as_ref()).next()
    }

    /// Returns the state in lists at this time. A later change may reach the lists before an earlier one, which then never
    /// appears there.
    pub(crate) fn listed_at(&self, ms: i64) -> Option<&T> {
        let version = self.0.iter().rev().find(|version| version.listed_ms <= ms)?;
        version.state.as_ref()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ObjectVersion<T>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_history_shows_a_change_in_lists_later_than_in_reads() {
        let mut versions = VersionHistory::new(10, 10, "old");
        versions.push(20, 25, Some("new"));
        assert_eq!((versions.state_at(22), versions.listed_at(22)), (Some(&"new"), Some(&"old")));
        assert_eq!(versions.listed_at(25), Some(&"new"));
    }

    #[test]
    fn version_history_merges_states_with_the_same_times() {
        let mut versions = VersionHistory::new(10, 10, "first");
        versions.push_or_replace(10, 10, "second");
        versions.push_or_replace(10, 15, "third");
        assert_eq!(versions.iter().count(), 2);
        assert_eq!(
            (versions.listed_at(12), versions.state_at(12)),
            (Some(&"second"), Some(&"third"))
        );
    }

    #[test]
    fn version_history_keeps_a_deleted_object_in_lists_for_a_while() {
        let mut versions = VersionHistory::new(10, 10, "there");
        versions.push(20, 25, None);
        assert_eq!((versions.state_at(20), versions.listed_at(20)), (None, Some(&"there")));
        assert_eq!((versions.current(), versions.listed_at(30)), (None, None));
    }
}
