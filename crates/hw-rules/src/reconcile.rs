//! Reconciles the stored items with a complete listing.
//!
//! Absence is not deletion: an item that a sweep did not list becomes a suspect, a second lookup by id confirms it
//! (`second_lookup.rs`), and a brake stops a removal of too many items at once (`removal_brake.rs`).

use std::collections::{BTreeMap, BTreeSet};

use crate::OVERLAP_MS;
use crate::cells::ItemCell;
use crate::source_time::SourceInstant;
use crate::version::ObservedAt;
use crate::walk::ListingFloor;

/// The result of a sweep: ids to read in full, and ids to look up once more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReconcileFindings {
    /// Listed, but not stored, stored with another time or without some columns, or marked as gone.
    pub fetch: Vec<i64>,
    /// Stored, but not listed.
    pub suspects: Vec<i64>,
}

impl ReconcileFindings {
    /// Adds stored items with columns that no version has read yet, if they are listed.
    pub fn add_unfilled(
        &mut self,
        unfilled: &BTreeSet<i64>,
        listed: &BTreeMap<i64, SourceInstant>,
    ) {
        let listed = unfilled.iter().filter(|id| listed.contains_key(id));
        let fetch: BTreeSet<i64> = self.fetch.iter().chain(listed).copied().collect();
        self.fetch = fetch.into_iter().collect();
    }
}

/// Compares a complete listing (id → `updated_at`) with the cells stored down to `from`, both ways.
///
/// `started_at` is the first request of the sweep. An item observed after that, or so shortly before that a list may
/// not show it yet, is not a suspect: it arrived during the sweep, and the listing cannot include it.
pub fn compare_listing(
    stored: &BTreeMap<i64, ItemCell>,
    listed: &BTreeMap<i64, SourceInstant>,
    from: ListingFloor,
    started_at: ObservedAt,
) -> ReconcileFindings {
    let fetch = listed.iter().filter(|(id, updated_at)| {
        let cell = stored.get(id);
        let is_wanted = cell.is_some_and(ItemCell::is_present) || !from.is_above(**updated_at);
        is_wanted && needs_fetch(cell, **updated_at, started_at)
    });
    let suspects = stored.iter().filter(|(id, cell)| {
        cell.is_present() && !listed.contains_key(id) && was_settled_before(cell, started_at)
    });
    ReconcileFindings {
        fetch: fetch.map(|(id, _)| *id).collect(),
        suspects: suspects.map(|(id, _)| *id).collect(),
    }
}

/// Returns true if a listed object differs from the stored one.
///
/// An older time differs, too: the source's clock may have been set back. An object observed after the sweep
/// started is newer than the listing.
fn needs_fetch(cell: Option<&ItemCell>, listed_at: SourceInstant, started_at: ObservedAt) -> bool {
    let present = cell.filter(|cell| cell.is_present());
    let Some(version) = present.and_then(|cell| cell.version.as_ref()) else {
        return true;
    };
    let stored_at = version.updated_at.instant();
    stored_at < listed_at || stored_at > listed_at && version.observed_at < started_at
}

fn was_settled_before(cell: &ItemCell, started_at: ObservedAt) -> bool {
    let Some(version) = &cell.version else { return false };
    version.observed_at < started_at
        && version.ordered_at.plus_ms(OVERLAP_MS) < SourceInstant(started_at.at_ms)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::second_lookup::{SecondLookup, confirmed_gone};
    use crate::source_time::SourceTime;
    use crate::version::{ContentDigest, ItemVersion};

    const MINUTE: i64 = 60;

    #[test]
    fn reconcile_compares_both_ways() {
        let stored = BTreeMap::from([(1, cell(0, 1)), (2, cell(0, 1)), (3, cell(0, 1))]);
        let listed = BTreeMap::from([
            (2, SourceInstant(0)),
            (3, SourceInstant(9_000)),
            (4, SourceInstant(0)),
        ]);
        let findings =
            compare_listing(&stored, &listed, ListingFloor::Beginning, observed_at(10 * MINUTE));
        assert_eq!(findings, ReconcileFindings { fetch: vec![3, 4], suspects: vec![1] });
    }

    #[test]
    fn reconcile_fetches_listed_items_without_some_columns_once() {
        let mut findings = ReconcileFindings { fetch: vec![2, 4], suspects: vec![7] };
        let listed = [2, 3, 4].map(|id| (id, SourceInstant(0)));
        findings.add_unfilled(&BTreeSet::from([2, 3, 7]), &BTreeMap::from(listed));
        assert_eq!(findings, ReconcileFindings { fetch: vec![2, 3, 4], suspects: vec![7] });
    }

    #[test]
    fn reconcile_suspects_no_item_that_arrived_during_the_sweep() {
        let stored =
            BTreeMap::from([(1, cell(0, 11 * MINUTE)), (2, cell(10 * MINUTE - 30, 9 * MINUTE))]);
        let findings = compare_listing(
            &stored,
            &BTreeMap::new(),
            ListingFloor::Beginning,
            observed_at(10 * MINUTE),
        );
        assert_eq!(findings, ReconcileFindings::default());
    }

    #[test]
    fn reconcile_fetches_an_item_listed_after_its_tombstone() {
        let stored = BTreeMap::from([(1, cell(0, 1).add_tombstone(observed_at(5)))]);
        let findings = compare_listing(
            &stored,
            &BTreeMap::from([(1, SourceInstant(0))]),
            ListingFloor::Beginning,
            observed_at(10 * MINUTE),
        );
        assert_eq!(findings.fetch, vec![1]);
    }

    #[test]
    fn reconcile_fetches_items_below_the_window_only_if_stored() {
        let stored = BTreeMap::from([(1, cell(5, 1))]);
        let listed = BTreeMap::from([
            (1, SourceInstant(9_000)),
            (2, SourceInstant(9_000)),
            (3, SourceInstant(10_000)),
        ]);
        let from = ListingFloor::At(SourceInstant(10_000));
        assert_eq!(
            compare_listing(&stored, &listed, from, observed_at(10 * MINUTE)).fetch,
            vec![1, 3]
        );
    }

    proptest! {
        /// Runs a sweep with its fetches and its removals, and with observations that arrive during it.
        #[test]
        fn reconcile_makes_the_mirror_equal_a_cold_pull(
            fates in prop::collection::vec(fate_strategy(), 0..20)
        ) {
            let started_at = observed_at(1_000);
            let mut stored = BTreeMap::new();
            let mut listed = BTreeMap::new();
            let mut truth = BTreeMap::new();
            for (id, ItemFate { updated, observed, exists, moves }) in (0i64..).zip(fates) {
                if let Some(observed) = observed {
                    stored.insert(id, cell(updated.min(observed), observed));
                }
                if exists {
                    listed.insert(id, SourceInstant(updated * 1_000));
                    truth.insert(id, if moves { 1_100 } else { updated });
                }
                // a scan stores the changes during the sweep before the listing is compared
                if exists && moves {
                    stored.insert(id, cell(1_100, 1_200));
                }
            }
            let findings = compare_listing(&stored, &listed, ListingFloor::Beginning, started_at);
            for id in findings.fetch {
                stored.insert(id, cell(truth[&id], 1_300));
            }
            let lookup = SecondLookup {
                answered: findings.suspects.iter().map(|id| (*id, truth.contains_key(id))).collect(),
                sibling_answered: true,
            };
            for id in confirmed_gone(&lookup) {
                let gone = stored[&id].add_tombstone(observed_at(1_300));
                stored.insert(id, gone);
            }
            let present = stored.iter().filter(|(_, cell)| cell.is_present());
            let present: BTreeMap<i64, i64> = present
                .map(|(id, cell)| (*id, cell.version.as_ref().unwrap().updated_at.instant().0 / 1_000))
                .collect();
            prop_assert_eq!(present, truth);
        }
    }

    /// One object before a sweep and during it.
    #[derive(Debug, Clone)]
    struct ItemFate {
        updated: i64,
        observed: Option<i64>,
        exists: bool,
        /// It changes during the sweep.
        moves: bool,
    }

    fn fate_strategy() -> impl Strategy<Value = ItemFate> {
        let fields = (0i64..500, prop::option::of(0i64..500), any::<bool>(), any::<bool>());
        fields.prop_map(|(updated, observed, exists, moves)| ItemFate {
            updated,
            observed,
            exists,
            moves,
        })
    }

    fn cell(updated_s: i64, observed_s: i64) -> ItemCell {
        let updated_at = SourceTime::parse(&SourceInstant(updated_s * 1_000).to_string()).unwrap();
        ItemCell::default().observe_version(&ItemVersion::new(
            updated_at,
            observed_at(observed_s),
            ContentDigest::from_fields([]),
        ))
    }

    fn observed_at(second: i64) -> ObservedAt {
        ObservedAt::new(second * 1_000, 0)
    }
}
