use proptest::prelude::*;

use super::*;
use crate::item::{Item, Sort, Thread};
use crate::time::SourceTime;
use crate::version::Digest;

#[test]
fn a_lagging_replica_does_not_undo_an_edit() {
    let held = cell().observe(&version(12, 1, "new"));
    let after = held.observe(&version(10, 2, "old"));
    assert_eq!(Change::between(&held, &after), Change::Nothing);
}

#[test]
fn a_second_edit_within_the_second_is_an_edit() {
    let held = cell().observe(&version(10, 1, "first"));
    let after = held.observe(&version(10, 2, "second"));
    assert_eq!(Change::between(&held, &after), Change::Edited);
}

#[test]
fn what_was_confirmed_gone_is_revived_by_a_later_look_only() {
    let gone = cell().observe(&version(10, 1, "text")).bury(seen(5));
    assert!(!gone.is_present());
    let early = gone.observe(&version(10, 4, "text"));
    assert_eq!(Change::between(&gone, &early), Change::Touched);
    let late = gone.observe(&version(10, 6, "text"));
    assert_eq!(Change::between(&gone, &late), Change::Revived);
}

#[test]
fn an_older_version_seen_after_the_tombstone_revives_nothing() {
    let gone = cell().observe(&version(10, 1, "text")).bury(seen(5));
    assert!(!gone.observe(&version(9, 7, "older")).is_present());
}

#[test]
fn cell_from_beyond_the_time_of_a_look_gives_way_to_it() {
    let wrong = SourceTime::parse("2026-01-01T02:00:00Z").unwrap();
    let ahead = Seen::at(wrong.mark().0, 1);
    let held = cell().observe(&Version::observed(wrong, ahead, Digest::of(["ahead"])));
    let now = version(30, 2, "now");
    assert_eq!(held.observe(&now).version, Some(now.clone()));
    assert!(!held.bury(now.seen).is_present(), "what is gone now is gone");
    assert!(held.bury(ahead).observe(&now).is_present(), "and what is there now is there");
}

proptest! {
    #[test]
    fn cell_that_is_redated_is_there_as_it_was_before(looks in looks(), hours in 0i64..4) {
        let latest = Mark(seen(0).at_ms - hours * 3_600_000);
        for cell in fold(&looks).values() {
            let redated = cell.redated(latest);
            prop_assert_eq!(redated.is_present(), cell.is_present());
            prop_assert!(redated.gone.is_none_or(|gone| gone.at_ms <= latest.0));
            prop_assert!(redated.version.is_none_or(|it| it.seen.at_ms <= latest.0));
        }
    }
}

#[test]
fn the_same_content_with_a_newer_time_is_a_bump() {
    let held = cell().observe(&version(10, 1, "text"));
    let after = held.observe(&version(11, 2, "text"));
    assert_eq!(Change::between(&held, &after), Change::Bumped);
}

/// One look at one of a few objects.
#[derive(Debug, Clone)]
enum Look {
    Shows(u8, Version),
    ConfirmsGone(u8, Seen),
}

proptest! {
    #[test]
    fn any_order_and_repetition_of_looks_ends_in_the_same_cells(
        (looks, shuffled) in looks().prop_flat_map(|looks| {
            let mut twice = looks.clone();
            twice.extend(looks.iter().step_by(2).cloned());
            (Just(looks), Just(twice).prop_shuffle())
        })
    ) {
        prop_assert_eq!(fold(&looks), fold(&shuffled));
    }

    #[test]
    fn an_older_updated_at_never_replaces_a_newer_one(looks in looks()) {
        let mut cells: BTreeMap<u8, Cell> = BTreeMap::new();
        for look in &looks {
            let before = cells.clone();
            apply(&mut cells, look);
            for (id, cell) in &cells {
                let old = before.get(id).and_then(|c| c.version.as_ref()).map(|v| &v.updated_at);
                let new = cell.version.as_ref().map(|v| &v.updated_at);
                prop_assert!(old <= new);
            }
        }
    }
}

proptest! {
    /// The same for whole pages, with the text that the store writes: what is held in the end does not
    /// depend on which page came first, or twice.
    #[test]
    fn any_order_of_pages_ends_in_the_same_texts(
        (pages, shuffled) in prop::collection::vec(page(), 0..6).prop_flat_map(|pages| {
            let mut twice = pages.clone();
            twice.extend(pages.iter().step_by(2).cloned());
            (Just(pages), Just(twice).prop_shuffle())
        })
    ) {
        prop_assert_eq!(written(&pages), written(&shuffled));
    }
}

/// Each key's cell and the title that is held, after these pages.
fn written(pages: &[Vec<Observation>]) -> BTreeMap<Key, (Cell, String)> {
    let mut held: BTreeMap<Key, Cell> = BTreeMap::new();
    let mut texts: BTreeMap<Key, String> = BTreeMap::new();
    for page in pages {
        for write in diff(&held, page) {
            if write.change.writes_text()
                && let Some(Item::Thread(issue)) = write.text.map(|index| page[index].item.clone())
            {
                texts.insert(write.key, issue.title);
            }
            held.insert(write.key, write.cell);
        }
    }
    held.into_iter().map(|(key, cell)| (key, (cell, texts[&key].clone()))).collect()
}

fn page() -> impl Strategy<Value = Vec<Observation>> {
    let row = (0i64..3, 0i64..4, 0u8..3);
    (prop::collection::vec(row, 1..5), 0i64..6).prop_map(|(rows, request)| {
        let observe = |(id, second, text): (i64, i64, u8)| Observation {
            item: Item::Thread(issue(id, second, &text.to_string())),
            seen: seen(request),
        };
        rows.into_iter().map(observe).collect()
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
        created_at: updated_at.clone(),
        updated_at,
        closed_at: None,
        sort: Sort::Issue,
    }
}

fn looks() -> impl Strategy<Value = Vec<Look>> {
    let look = (0u8..3, 0i64..4, 0i64..6, 0u8..3, prop::bool::weighted(0.2)).prop_map(
        |(id, second, request, text, gone)| {
            if gone {
                Look::ConfirmsGone(id, seen(request))
            } else {
                Look::Shows(id, version(second, request, &text.to_string()))
            }
        },
    );
    prop::collection::vec(look, 0..24)
}

fn fold(looks: &[Look]) -> BTreeMap<u8, Cell> {
    let mut cells = BTreeMap::new();
    looks.iter().for_each(|look| apply(&mut cells, look));
    cells
}

fn apply(cells: &mut BTreeMap<u8, Cell>, look: &Look) {
    match look {
        Look::Shows(id, version) => {
            let cell = cells.entry(*id).or_default();
            *cell = cell.observe(version);
        }
        Look::ConfirmsGone(id, seen) => {
            let cell = cells.entry(*id).or_default();
            *cell = cell.bury(*seen);
        }
    }
}

fn cell() -> Cell {
    Cell::default()
}

fn seen(request: i64) -> Seen {
    let at_ms = SourceTime::parse("2026-01-01T00:01:00Z").unwrap().mark().0;
    Seen::at(at_ms, request)
}

fn version(second: i64, request: i64, text: &str) -> Version {
    let updated_at = SourceTime::parse(&format!("2026-01-01T00:00:{second:02}Z")).unwrap();
    Version::observed(updated_at, seen(request), Digest::of([text]))
}
