//! The history of one object: every state it had, and when lists began to show each.

/// One state; `None` is the state of not being there.
#[derive(Debug, Clone)]
pub(crate) struct Version<T> {
    pub(crate) at_ms: i64,
    listed_ms: i64,
    pub(crate) state: Option<T>,
}

/// All states of one object, oldest first; there is at least one.
#[derive(Debug, Clone)]
pub(crate) struct Versions<T>(Vec<Version<T>>);

impl<T> Versions<T> {
    pub(crate) fn new(at_ms: i64, listed_ms: i64, state: T) -> Self {
        Self(vec![Version { at_ms, listed_ms, state: Some(state) }])
    }

    pub(crate) fn push(&mut self, at_ms: i64, listed_ms: i64, state: Option<T>) {
        self.0.push(Version { at_ms, listed_ms, state });
    }

    /// The same; a state of the same moment that nobody can have seen makes room for the new one.
    pub(crate) fn push_or_replace(&mut self, at_ms: i64, listed_ms: i64, state: T) {
        match self.0.last_mut() {
            Some(last) if (last.at_ms, last.listed_ms) == (at_ms, listed_ms) => {
                last.state = Some(state);
            }
            _ => self.push(at_ms, listed_ms, Some(state)),
        }
    }

    /// What it is now.
    pub(crate) fn now(&self) -> Option<&T> {
        self.0.last().and_then(|version| version.state.as_ref())
    }

    /// What it was at a moment.
    pub(crate) fn at(&self, ms: i64) -> Option<&T> {
        let version = self.0.iter().rev().find(|version| version.at_ms <= ms)?;
        version.state.as_ref()
    }

    /// What it was at a moment, or when it was last there before that.
    pub(crate) fn last_at(&self, ms: i64) -> Option<&T> {
        let known = self.0.iter().rev().filter(|version| version.at_ms <= ms);
        known.filter_map(|version| version.state.as_ref()).next()
    }

    /// What lists show of it at a moment. A later change may reach the lists before an earlier one;
    /// the earlier is then never seen there.
    pub(crate) fn listed(&self, ms: i64) -> Option<&T> {
        let version = self.0.iter().rev().find(|version| version.listed_ms <= ms)?;
        version.state.as_ref()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Version<T>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_a_change_later_than_the_object_itself() {
        let mut versions = Versions::new(10, 10, "old");
        versions.push(20, 25, Some("new"));
        assert_eq!((versions.at(22), versions.listed(22)), (Some(&"new"), Some(&"old")));
        assert_eq!(versions.listed(25), Some(&"new"));
    }

    #[test]
    fn two_states_of_one_moment_are_one_unless_lists_tell_them_apart() {
        let mut versions = Versions::new(10, 10, "first");
        versions.push_or_replace(10, 10, "second");
        versions.push_or_replace(10, 15, "third");
        assert_eq!(versions.iter().count(), 2);
        assert_eq!((versions.listed(12), versions.at(12)), (Some(&"second"), Some(&"third")));
    }

    #[test]
    fn a_deleted_object_lingers_in_lists_but_not_in_reads() {
        let mut versions = Versions::new(10, 10, "there");
        versions.push(20, 25, None);
        assert_eq!((versions.at(20), versions.listed(20)), (None, Some(&"there")));
        assert_eq!((versions.now(), versions.listed(30)), (None, None));
    }
}
