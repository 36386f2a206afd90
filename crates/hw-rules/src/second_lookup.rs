//! Confirms that an item is gone: a second lookup by id does not find it, but finds items that must exist.

use std::collections::{BTreeMap, BTreeSet};

/// The result of a second lookup by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecondLookup {
    /// True for each suspect that was found.
    pub answered: BTreeMap<i64, bool>,
    /// An item that must exist was found by the same lookup.
    pub sibling_answered: bool,
}

/// Returns the suspects that are gone: not found by a lookup that did find a known sibling.
pub fn confirmed_gone(lookup: &SecondLookup) -> Vec<i64> {
    if !lookup.sibling_answered {
        return Vec::new();
    }
    lookup.answered.iter().filter(|(_, answered)| !**answered).map(|(id, _)| *id).collect()
}

/// Picks the siblings for a second lookup: the first, the middle and the last of the items that must exist. Several,
/// because one of them may be gone as well.
pub fn pick_siblings<T>(known: &[T]) -> Vec<&T> {
    let last = known.len().saturating_sub(1);
    let indices = BTreeSet::from([0, last / 2, last]);
    indices.into_iter().filter_map(|index| known.get(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_lookup_confirms_nothing_without_a_sibling() {
        let answered = BTreeMap::from([(1, false), (2, true)]);
        let alone = SecondLookup { answered: answered.clone(), sibling_answered: false };
        assert_eq!(confirmed_gone(&alone), Vec::<i64>::new());
        let trusted = SecondLookup { answered, sibling_answered: true };
        assert_eq!(confirmed_gone(&trusted), vec![1]);
    }

    #[test]
    fn siblings_are_spread_and_distinct() {
        assert_eq!(pick_siblings(&[1, 2, 3, 4, 5]), [&1, &3, &5]);
        assert_eq!(pick_siblings(&[1, 2]), [&1, &2]);
        assert!(pick_siblings::<i64>(&[]).is_empty());
    }
}
