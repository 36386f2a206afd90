use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[test]
fn a_full_page_within_one_second_turns_the_page_inside_it() {
    let coverage = Coverage { since: Some(at(5)), ..Coverage::default() };
    let coverage = coverage.step_since(&page(900, &[5, 5, 5], true)).unwrap();
    let walk = coverage.since.unwrap();
    assert_eq!((walk.since, walk.page), (Some(Mark(4_000)), 2));
}

#[test]
fn an_interrupted_walk_reads_its_second_from_the_first_page() {
    let coverage = Coverage { since: Some(SinceWalk { page: 7, ..at(5) }), ..Coverage::default() };
    let kept = serde_json::to_string(&coverage).unwrap();
    let found: Coverage = serde_json::from_str(&kept).unwrap();
    assert_eq!(found.since, Some(at(5)));
}

#[test]
fn the_epoch_is_never_asked_for() {
    assert_eq!(SinceWalk::from(Floor::At(Mark(-30_000))).since, None);
    assert_eq!(SinceWalk::from(Floor::At(Mark(0))).since, None);
    assert_eq!(SinceWalk::from(Floor::At(Mark(30_500))).since, Some(Mark(29_000)));
}

#[test]
fn a_newest_page_that_reaches_what_is_held_is_all_there_is() {
    let held = Coverage {
        from: Some(Floor::Beginning),
        through: Some(Mark(100_000)),
        ..Coverage::default()
    };
    let read = held.clone().step_newest(&page(500, &[200, 39], true), Floor::Beginning).unwrap();
    assert_eq!((read.through, read.since), (Some(Mark(200_000)), None));
    let left = held.step_newest(&page(500, &[200, 40], true), Floor::Beginning).unwrap();
    assert_eq!(left.through, Some(Mark(100_000)), "a row at the stop itself is not older");
    assert_eq!(left.since, Some(at(40)));
}

#[test]
fn a_wider_window_is_walked_from_its_floor() {
    let held = Coverage {
        from: Some(Floor::At(Mark(50_000))),
        through: Some(Mark(100_000)),
        ..Coverage::default()
    };
    let open = held.open_since(Floor::At(Mark(10_000)));
    assert_eq!(open.since, Some(at(10)));
    let done = open.step_since(&page(500, &[20, 100], false)).unwrap();
    assert_eq!(done.from, Some(Floor::At(Mark(10_000))));
    assert!(done.is_complete());
}

#[test]
fn what_a_list_may_still_be_hiding_is_not_claimed_however_long_the_walk_goes_on() {
    let coverage = Coverage { since: Some(at(1)), ..Coverage::default() };
    // at 100 s the list may lag behind by a minute, and shows something of 90 s
    let coverage = coverage.step_since(&page(100, &[1, 90], true)).unwrap();
    let coverage = coverage.step_since(&page(300, &[95, 299], false)).unwrap();
    assert_eq!(coverage.through, Some(Mark(100_000)));
    assert!(!coverage.is_settled());
}

#[test]
fn an_unchanged_page_settles_a_lane() {
    let read = Coverage::default().step_newest(&page(10, &[9], false), Floor::Beginning).unwrap();
    assert!(!read.is_settled());
    assert!(!read.clone().still(Mark(69_000)).is_settled());
    assert!(read.still(Mark(69_001)).is_settled());
}

#[test]
fn a_list_is_due_when_its_threads_moved_or_after_an_hour() {
    let coverage = Coverage::default().step_newest(&page(100, &[9], false), Floor::Beginning);
    let state = LaneState {
        coverage: coverage.unwrap(),
        checked_at_ms: Some(100_000),
        ..LaneState::default()
    };
    let due = |has_moved, at| is_due(&state, Floor::Beginning, has_moved, Some(Mark(at)));
    assert!(!due(false, 200_000));
    assert!(due(true, 200_000));
    assert!(!due(false, 100_000 + DUE_AFTER_MS - 1));
    assert!(due(false, 100_000 + DUE_AFTER_MS));
    let unread = LaneState::default();
    assert!(is_due(&unread, Floor::Beginning, false, Some(Mark(0))));
}

#[test]
fn a_time_in_the_future_is_not_claimed() {
    let coverage = Coverage { since: Some(at(1)), ..Coverage::default() };
    let coverage = coverage.step_since(&page(9, &[99], false)).unwrap();
    assert_eq!(coverage.through, Some(Mark(9_000)));
}

proptest! {
    /// Rows are edited between pages, and so move to the end. Not while pages within two seconds are
    /// being turned: there a row that leaves shifts the rest, which only a second reading can tell.
    #[test]
    fn every_row_is_read_whatever_is_edited_between_the_pages(
        rows in prop::collection::vec(1i64..20, 1..40),
        is_strict in any::<bool>(),
        edits in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        size in 1usize..6,
    ) {
        let mut list: Vec<(i64, i64)> = (0..).zip(rows).collect();
        let mut edits = edits.into_iter();
        let mut clock = 20;
        let mut read = BTreeSet::new();
        let walk = SinceWalk::from(Floor::Beginning);
        let mut coverage = Coverage { since: Some(walk), ..Coverage::default() };
        while let Some(walk) = &coverage.since {
            list.sort_by_key(|(id, at)| (*at, *id));
            let (page, rows) = ask(&list, walk, size, is_strict);
            let ends = rows.first().zip(rows.last());
            let is_wide = ends.is_some_and(|(first, last)| last.1 - first.1 >= 2);
            read.extend(rows);
            coverage = coverage.step_since(&page).unwrap();
            let is_open = coverage.since.is_some();
            if is_open && is_wide && let Some(index) = edits.next() {
                clock += 1;
                let at = index.index(list.len());
                list[at].1 = clock;
            }
        }
        prop_assert_eq!(coverage.through, list.iter().map(|(_, at)| Mark(at * 1_000)).max());
        prop_assert!(list.iter().all(|row| read.contains(row)), "{:?} of {:?}", read, list);
    }
}

/// A page as the source serves it; `since` means "after", or "at or after".
fn ask(
    list: &[(i64, i64)],
    walk: &SinceWalk,
    size: usize,
    is_strict: bool,
) -> (SincePage, Vec<(i64, i64)>) {
    let since = walk.since.map_or(i64::MIN, |mark| mark.0 + i64::from(is_strict));
    let matching: Vec<_> = list.iter().filter(|(_, at)| since <= at * 1_000).copied().collect();
    let skip = (walk.page as usize - 1) * size;
    let rows: Vec<_> = matching.iter().skip(skip).take(size).copied().collect();
    let listed = rows.iter().map(|(id, at)| (*id, time(*at))).collect();
    let has_next = skip + size < matching.len();
    (SincePage { date: Mark(1_000_000), rows: listed, has_next }, rows)
}

fn at(second: i64) -> SinceWalk {
    SinceWalk::from(Floor::At(Mark(second * 1_000)))
}

fn page(date: i64, seconds: &[i64], has_next: bool) -> SincePage {
    let rows = (1..).zip(seconds).map(|(id, second)| (id, time(*second))).collect();
    SincePage { date: Mark(date * 1_000), rows, has_next }
}

fn time(second: i64) -> SourceTime {
    SourceTime::parse(&Mark(second * 1_000).to_string()).unwrap()
}
