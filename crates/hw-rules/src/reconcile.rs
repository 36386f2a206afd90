//! What a complete reading of a listing says about what we hold.
//!
//! Absence is not deletion: what a sweep did not list becomes a suspect, a second look by id confirms it,
//! and a brake stops what would remove too much at once.

use std::collections::{BTreeMap, BTreeSet};

use crate::OVERLAP_MS;
use crate::cells::Cell;
use crate::time::Mark;
use crate::version::Seen;
use crate::walk::Floor;

/// Above this many removals, the share counts.
pub const BRAKE_ITEMS: usize = 20;
/// Above this share of a scope, in percent, removals stop.
pub const BRAKE_PERCENT: usize = 20;

/// What a sweep asks for: ids to read in full, and ids to look at once more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Listed, and unknown to us, with another time than ours, or held to be gone.
    pub fetch: Vec<i64>,
    /// Held, and not listed.
    pub suspects: Vec<i64>,
}

/// Compares a complete listing (id → `updated_at`) with what is held down to `from`, both ways.
///
/// `began` is the first look of the sweep. What was seen after that, or so shortly before that a list may
/// not show it yet, is no suspect: it arrived while the sweep was under way, and the listing cannot know.
pub fn compare(
    held: &BTreeMap<i64, Cell>,
    listed: &BTreeMap<i64, Mark>,
    from: Floor,
    began: Seen,
) -> Findings {
    let is_held = |id: &i64| held.get(id).is_some_and(Cell::is_present);
    let fetch = listed.iter().filter(|(id, at)| {
        (is_held(id) || !from.is_above(**at)) && wants_reading(held.get(id), **at, began)
    });
    let suspects = held.iter().filter(|(id, cell)| {
        cell.is_present() && !listed.contains_key(id) && was_old_news(cell, began)
    });
    Findings {
        fetch: fetch.map(|(id, _)| *id).collect(),
        suspects: suspects.map(|(id, _)| *id).collect(),
    }
}

/// Whether a listed object differs from what is held.
///
/// An older time differs, too: the source's clock may have been set back. What was seen after the sweep
/// began is newer than the listing.
fn wants_reading(cell: Option<&Cell>, listed_at: Mark, began: Seen) -> bool {
    let Some(version) = cell.filter(|cell| cell.is_present()).and_then(|it| it.version.as_ref())
    else {
        return true;
    };
    let held_at = version.updated_at.mark();
    held_at < listed_at || held_at > listed_at && version.seen < began
}

fn was_old_news(cell: &Cell, began: Seen) -> bool {
    let Some(version) = &cell.version else { return false };
    version.seen < began && version.ordered_at.plus(OVERLAP_MS) < Mark(began.at_ms)
}

/// What the second look by id said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecondLook {
    /// For each suspect, whether it answered.
    pub answered: BTreeMap<i64, bool>,
    /// Whether something that must be there answered in the same look.
    pub sibling_answered: bool,
}

/// The suspects that are gone: no answer, in a look in which a known sibling did answer.
pub fn confirmed_gone(look: &SecondLook) -> Vec<i64> {
    if !look.sibling_answered {
        return Vec::new();
    }
    look.answered.iter().filter(|(_, answered)| !**answered).map(|(id, _)| *id).collect()
}

/// Whom a second look asks for besides: the first, the middle and the last of those that must be there. One of
/// them may be gone by then.
pub fn siblings<T>(known: &[T]) -> Vec<&T> {
    let last = known.len().saturating_sub(1);
    let places = BTreeSet::from([0, last / 2, last]);
    places.into_iter().filter_map(|place| known.get(place)).collect()
}

/// Too much would be removed at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{removals} of {held} items would be removed at once")]
pub struct Brake {
    pub removals: usize,
    pub held: usize,
}

/// Stops what would remove more than a fifth, and more than twenty, of a scope's items in one go.
pub fn brake(removals: usize, held: usize, allow_mass_removal: bool) -> Result<(), Brake> {
    let too_many = BRAKE_ITEMS < removals && held * BRAKE_PERCENT < removals * 100;
    if too_many && !allow_mass_removal { Err(Brake { removals, held }) } else { Ok(()) }
}

/// Stops what would remove two or more repositories in one go: each takes all of its items with it.
pub fn brake_repositories(
    removals: usize,
    held: usize,
    allow_mass_removal: bool,
) -> Result<(), Brake> {
    let too_many = 1 < removals;
    if too_many && !allow_mass_removal { Err(Brake { removals, held }) } else { Ok(()) }
}

/// The items of one sort over all lanes of a run: how many would be removed, and how many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunShare {
    /// Those that the run has removed already included.
    pub removals: usize,
    /// As many as there were before the first of them was removed.
    pub held: usize,
}

/// The brake of a whole run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of {} {items} would be removed in one run", .brake.removals, .brake.held)]
pub struct RunBrake {
    /// Which items: threads, comments, or both.
    pub items: &'static str,
    pub brake: Brake,
}

/// Stops what would remove more than a fifth, and more than twenty, of the threads, of the comments, or of
/// both together, over all lanes of one run.
///
/// Threads and comments are also counted apart: a mirror has so many comments that all of its threads could go
/// within a fifth of everything. Comments that go with their thread are not counted: one deleted thread is
/// one removal, however much was said in it.
pub fn brake_run(
    threads: RunShare,
    comments: RunShare,
    allow_mass_removal: bool,
) -> Result<(), RunBrake> {
    let all = RunShare {
        removals: threads.removals + comments.removals,
        held: threads.held + comments.held,
    };
    for (items, share) in [("threads", threads), ("comments", comments), ("items", all)] {
        brake(share.removals, share.held, allow_mass_removal)
            .map_err(|brake| RunBrake { items, brake })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::SourceTime;
    use crate::version::{Digest, Version};

    const MINUTE: i64 = 60;

    #[test]
    fn both_ways_are_compared() {
        let held = BTreeMap::from([(1, cell(0, 1)), (2, cell(0, 1)), (3, cell(0, 1))]);
        let listed = BTreeMap::from([(2, Mark(0)), (3, Mark(9_000)), (4, Mark(0))]);
        let findings = compare(&held, &listed, Floor::Beginning, seen(10 * MINUTE));
        assert_eq!(findings, Findings { fetch: vec![3, 4], suspects: vec![1] });
    }

    #[test]
    fn what_arrived_during_the_sweep_is_no_suspect() {
        let held =
            BTreeMap::from([(1, cell(0, 11 * MINUTE)), (2, cell(10 * MINUTE - 30, 9 * MINUTE))]);
        let findings = compare(&held, &BTreeMap::new(), Floor::Beginning, seen(10 * MINUTE));
        assert_eq!(findings, Findings::default());
    }

    #[test]
    fn what_is_listed_again_after_its_tombstone_is_read_again() {
        let held = BTreeMap::from([(1, cell(0, 1).bury(seen(5)))]);
        let findings =
            compare(&held, &BTreeMap::from([(1, Mark(0))]), Floor::Beginning, seen(10 * MINUTE));
        assert_eq!(findings.fetch, vec![1]);
    }

    #[test]
    fn what_lies_below_the_window_is_not_fetched_unless_it_is_held() {
        let held = BTreeMap::from([(1, cell(5, 1))]);
        let listed = BTreeMap::from([(1, Mark(9_000)), (2, Mark(9_000)), (3, Mark(10_000))]);
        let from = Floor::At(Mark(10_000));
        assert_eq!(compare(&held, &listed, from, seen(10 * MINUTE)).fetch, vec![1, 3]);
    }

    #[test]
    fn without_a_sibling_nothing_is_confirmed() {
        let answered = BTreeMap::from([(1, false), (2, true)]);
        let alone = SecondLook { answered: answered.clone(), sibling_answered: false };
        assert_eq!(confirmed_gone(&alone), Vec::<i64>::new());
        let trusted = SecondLook { answered, sibling_answered: true };
        assert_eq!(confirmed_gone(&trusted), vec![1]);
    }

    #[test]
    fn siblings_come_from_all_over_and_none_twice() {
        assert_eq!(siblings(&[1, 2, 3, 4, 5]), [&1, &3, &5]);
        assert_eq!(siblings(&[1, 2]), [&1, &2]);
        assert!(siblings::<i64>(&[]).is_empty());
    }

    #[test]
    fn two_repositories_never_go_at_once_without_a_word() {
        assert!(brake_repositories(1, 1, false).is_ok());
        assert_eq!(brake_repositories(2, 900, false), Err(Brake { removals: 2, held: 900 }));
        assert!(brake_repositories(2, 900, true).is_ok());
    }

    #[test]
    fn the_brake_holds_above_a_fifth_and_twenty() {
        assert!(brake(20, 20, false).is_ok(), "twenty may always go");
        assert!(brake(21, 105, false).is_ok(), "exactly a fifth may go");
        assert_eq!(brake(21, 104, false), Err(Brake { removals: 21, held: 104 }));
        assert!(brake(21, 104, true).is_ok(), "a person said so");
    }

    #[test]
    fn run_brake_counts_threads_and_comments_apart_and_together() {
        let share = |removals, held| RunShare { removals, held };
        let none = RunShare::default();
        let stops =
            |threads, comments| brake_run(threads, comments, false).err().map(|it| it.to_string());
        assert_eq!(stops(share(20, 20), share(0, 9_000)), None, "twenty may always go");
        assert_eq!(
            stops(share(107, 125), share(0, 9_000)).as_deref(),
            Some("107 of 125 threads would be removed in one run")
        );
        assert_eq!(
            stops(share(0, 9_000), share(21, 100)).as_deref(),
            Some("21 of 100 comments would be removed in one run")
        );
        assert_eq!(
            stops(share(15, 50), share(15, 50)).as_deref(),
            Some("30 of 100 items would be removed in one run")
        );
        assert_eq!(stops(share(21, 105), none), None, "exactly a fifth may go");
        assert_eq!(brake_run(share(107, 125), none, true), Ok(()), "a person allowed it");
    }

    /// What happened to one object: when it was last updated, whether and when we saw it, whether it still
    /// exists, and whether it changed while the sweep was under way.
    type Fate = (i64, Option<i64>, bool, bool);

    proptest! {
        /// A sweep, what it fetches and what it removes, with looks that arrive while it is under way: in
        /// the end the mirror holds what a cold pull would.
        #[test]
        fn after_reconcile_the_mirror_equals_a_cold_pull(
            fates in prop::collection::vec((0i64..500, prop::option::of(0i64..500), any::<bool>(), any::<bool>()), 0..20)
        ) {
            let began = seen(1_000);
            let mut held = BTreeMap::new();
            let mut listed = BTreeMap::new();
            let mut truth = BTreeMap::new();
            for (id, (updated, looked, exists, moves)) in (0i64..).zip(fates as Vec<Fate>) {
                if let Some(looked) = looked {
                    held.insert(id, cell(updated.min(looked), looked));
                }
                if exists {
                    listed.insert(id, Mark(updated * 1_000));
                    truth.insert(id, if moves { 1_100 } else { updated });
                }
                // a scan brings what changed during the sweep, before its findings are drawn
                if exists && moves {
                    held.insert(id, cell(1_100, 1_200));
                }
            }
            let findings = compare(&held, &listed, Floor::Beginning, began);
            for id in findings.fetch {
                held.insert(id, cell(truth[&id], 1_300));
            }
            let look = SecondLook {
                answered: findings.suspects.iter().map(|id| (*id, truth.contains_key(id))).collect(),
                sibling_answered: true,
            };
            for id in confirmed_gone(&look) {
                let buried = held[&id].bury(seen(1_300));
                held.insert(id, buried);
            }
            let present = held.iter().filter(|(_, cell)| cell.is_present());
            let present: BTreeMap<i64, i64> = present
                .map(|(id, cell)| (*id, cell.version.as_ref().unwrap().updated_at.mark().0 / 1_000))
                .collect();
            prop_assert_eq!(present, truth);
        }
    }

    fn cell(updated_s: i64, seen_s: i64) -> Cell {
        let updated_at = SourceTime::parse(&Mark(updated_s * 1_000).to_string()).unwrap();
        Cell::default().observe(&Version::observed(updated_at, seen(seen_s), Digest::of([])))
    }

    fn seen(second: i64) -> Seen {
        Seen::at(second * 1_000, 0)
    }
}
