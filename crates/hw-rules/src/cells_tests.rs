use proptest::prelude::*;

use super::*;
use crate::item::{ItemObservation, MirrorItem, Thread, ThreadDetails};
use crate::source_time::SourceTime;
use crate::version::ContentDigest;

#[test]
fn cell_keeps_the_newer_text_when_a_replica_lags() {
    let stored = cell().observe_version(&version(12, 1, "new"));
    let after = stored.observe_version(&version(10, 2, "old"));
    assert_eq!(CellChange::from_cells(&stored, &after), CellChange::Unchanged);
}

#[test]
fn cell_takes_a_second_edit_within_one_second() {
    let stored = cell().observe_version(&version(10, 1, "first"));
    let after = stored.observe_version(&version(10, 2, "second"));
    assert_eq!(CellChange::from_cells(&stored, &after), CellChange::Edited);
}

#[test]
fn cell_is_revived_only_by_a_later_observation() {
    let gone = cell().observe_version(&version(10, 1, "text")).add_tombstone(observed_at(5));
    assert!(!gone.is_present());
    let early = gone.observe_version(&version(10, 4, "text"));
    assert_eq!(CellChange::from_cells(&gone, &early), CellChange::Touched);
    let late = gone.observe_version(&version(10, 6, "text"));
    assert_eq!(CellChange::from_cells(&gone, &late), CellChange::Revived);
}

#[test]
fn cell_is_not_revived_by_an_older_version() {
    let gone = cell().observe_version(&version(10, 1, "text")).add_tombstone(observed_at(5));
    assert!(!gone.observe_version(&version(9, 7, "older")).is_present());
}

#[test]
fn cell_from_the_future_gives_way_to_an_observation() {
    let wrong = SourceTime::parse("2026-01-01T02:00:00Z").unwrap();
    let ahead = ObservedAt::new(wrong.instant().0, 1);
    let stored = cell().observe_version(&ItemVersion::new(
        wrong,
        ahead,
        ContentDigest::from_fields(["ahead"]),
    ));
    let now = version(30, 2, "now");
    assert_eq!(stored.observe_version(&now).version, Some(now.clone()));
    assert!(!stored.add_tombstone(now.observed_at).is_present(), "it is gone now");
    assert!(stored.add_tombstone(ahead).observe_version(&now).is_present(), "it is present now");
}

proptest! {
    #[test]
    fn cell_stays_present_or_absent_when_redated(lookups in lookups_strategy(), hours in 0i64..4) {
        let latest = SourceInstant(observed_at(0).at_ms - hours * 3_600_000);
        for cell in apply_lookups(&lookups).values() {
            let redated = cell.redate_after(latest);
            prop_assert_eq!(redated.is_present(), cell.is_present());
            prop_assert!(redated.tombstone.is_none_or(|gone| gone.at_ms <= latest.0));
            prop_assert!(redated.version.is_none_or(|version| version.observed_at.at_ms <= latest.0));
        }
    }
}

#[test]
fn cell_with_the_same_content_and_a_newer_time_is_bumped() {
    let stored = cell().observe_version(&version(10, 1, "text"));
    let after = stored.observe_version(&version(11, 2, "text"));
    assert_eq!(CellChange::from_cells(&stored, &after), CellChange::Bumped);
}

/// One lookup of one of a few objects.
#[derive(Debug, Clone)]
enum CellLookup {
    Shows(u8, ItemVersion),
    ConfirmsGone(u8, ObservedAt),
}

proptest! {
    #[test]
    fn cells_do_not_depend_on_order_or_repetition(
        (lookups, shuffled) in lookups_strategy().prop_flat_map(|lookups| {
            let mut twice = lookups.clone();
            twice.extend(lookups.iter().step_by(2).cloned());
            (Just(lookups), Just(twice).prop_shuffle())
        })
    ) {
        prop_assert_eq!(apply_lookups(&lookups), apply_lookups(&shuffled));
    }

    #[test]
    fn cell_never_takes_an_older_updated_at(lookups in lookups_strategy()) {
        let mut cells: BTreeMap<u8, ItemCell> = BTreeMap::new();
        for lookup in &lookups {
            let before = cells.clone();
            apply_lookup(&mut cells, lookup);
            for (id, cell) in &cells {
                let old = before.get(id).and_then(|c| c.version.as_ref()).map(|v| &v.updated_at);
                let new = cell.version.as_ref().map(|v| &v.updated_at);
                prop_assert!(old <= new);
            }
        }
    }
}

proptest! {
    /// Applies whole pages, with the texts that the store writes.
    #[test]
    fn cells_keep_the_same_texts_for_any_order_of_pages(
        (pages, shuffled) in prop::collection::vec(page_strategy(), 0..6).prop_flat_map(|pages| {
            let mut twice = pages.clone();
            twice.extend(pages.iter().step_by(2).cloned());
            (Just(pages), Just(twice).prop_shuffle())
        })
    ) {
        prop_assert_eq!(apply_pages(&pages), apply_pages(&shuffled));
    }
}

/// Returns the cell and the stored title of each key after these pages.
fn apply_pages(pages: &[Vec<ItemObservation>]) -> BTreeMap<ObjectId, (ItemCell, String)> {
    let mut stored: BTreeMap<ObjectId, ItemCell> = BTreeMap::new();
    let mut texts: BTreeMap<ObjectId, String> = BTreeMap::new();
    for page in pages {
        let versions: Vec<_> = page.iter().map(ItemObservation::observed_version).collect();
        for write in diff_cells(&stored, &versions) {
            if write.change.writes_text()
                && let Some(MirrorItem::Thread(issue)) =
                    write.text_index.map(|index| page[index].item.clone())
            {
                texts.insert(write.key, issue.title);
            }
            stored.insert(write.key, write.cell);
        }
    }
    stored.into_iter().map(|(key, cell)| (key, (cell, texts[&key].clone()))).collect()
}

fn page_strategy() -> impl Strategy<Value = Vec<ItemObservation>> {
    let row = (0i64..3, 0i64..4, 0u8..3);
    (prop::collection::vec(row, 1..5), 0i64..6).prop_map(|(rows, request)| {
        rows.into_iter()
            .map(|(id, second, text)| ItemObservation {
                item: MirrorItem::Thread(issue(id, second, &text.to_string())),
                observed_at: observed_at(request),
            })
            .collect()
    })
}

fn issue(id: i64, second: i64, title: &str) -> Thread {
    let updated_at = SourceTime::parse(&format!("2026-01-01T00:00:{second:02}Z")).unwrap();
    Thread {
        id,
        node_id: format!("I_{id}"),
        number: id,
        repository_id: 1,
        url: String::new(),
        title: title.to_owned(),
        body: String::new(),
        state: "OPEN".to_owned(),
        state_reason: None,
        labels: vec![],
        author: None,
        author_id: None,
        author_kind: None,
        association: None,
        created_at: updated_at.clone(),
        updated_at,
        closed_at: None,
        details: ThreadDetails::Issue,
    }
}

fn lookups_strategy() -> impl Strategy<Value = Vec<CellLookup>> {
    let lookup = (0u8..3, 0i64..4, 0i64..6, 0u8..3, prop::bool::weighted(0.2)).prop_map(
        |(id, second, request, text, gone)| {
            if gone {
                CellLookup::ConfirmsGone(id, observed_at(request))
            } else {
                CellLookup::Shows(id, version(second, request, &text.to_string()))
            }
        },
    );
    prop::collection::vec(lookup, 0..24)
}

fn apply_lookups(lookups: &[CellLookup]) -> BTreeMap<u8, ItemCell> {
    let mut cells = BTreeMap::new();
    lookups.iter().for_each(|lookup| apply_lookup(&mut cells, lookup));
    cells
}

fn apply_lookup(cells: &mut BTreeMap<u8, ItemCell>, lookup: &CellLookup) {
    match lookup {
        CellLookup::Shows(id, version) => {
            let cell = cells.entry(*id).or_default();
            *cell = cell.observe_version(version);
        }
        CellLookup::ConfirmsGone(id, looked_up_at) => {
            let cell = cells.entry(*id).or_default();
            *cell = cell.add_tombstone(*looked_up_at);
        }
    }
}

fn cell() -> ItemCell {
    ItemCell::default()
}

fn observed_at(request: i64) -> ObservedAt {
    let at_ms = SourceTime::parse("2026-01-01T00:01:00Z").unwrap().instant().0;
    ObservedAt::new(at_ms, request)
}

fn version(second: i64, request: i64, text: &str) -> ItemVersion {
    let updated_at = SourceTime::parse(&format!("2026-01-01T00:00:{second:02}Z")).unwrap();
    ItemVersion::new(updated_at, observed_at(request), ContentDigest::from_fields([text]))
}
