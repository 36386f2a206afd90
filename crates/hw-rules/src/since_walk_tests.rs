use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[test]
fn since_position_reads_what_it_and_earlier_versions_stored() {
    let seventh = SincePosition { since: Some(SourceInstant(8_000)), page: 7 };
    let first = SincePosition { since: None, page: 1 };
    for (position, stored) in [(seventh, "page 7 since 8000"), (first, "page 1 since beginning")] {
        assert_eq!(position.to_string(), stored);
        assert_eq!(SincePosition::parse(stored), Some(position));
        assert_eq!(SinceWalk::from_position(position).position(), position);
    }
    for other in ["", "Y3Vyc29yOnYy", "page 0 since 5", "page 2 since", "page x since 5", "17"] {
        assert_eq!(SincePosition::parse(other), None, "{other:?}");
    }
}

#[test]
fn since_walk_turns_pages_within_one_second() {
    let coverage = Coverage { since: Some(walk_from_second(5)), ..Coverage::default() };
    let coverage = coverage.apply_since_page(&since_page(900, &[5, 5, 5], true)).unwrap();
    let walk = coverage.since.unwrap();
    assert_eq!((walk.since, walk.page), (Some(SourceInstant(4_000)), 2));
}

#[test]
fn since_walk_restarts_its_second_after_an_interruption() {
    let coverage = Coverage {
        since: Some(SinceWalk { page: 7, ..walk_from_second(5) }),
        ..Coverage::default()
    };
    let json = serde_json::to_string(&coverage).unwrap();
    let stored: Coverage = serde_json::from_str(&json).unwrap();
    assert_eq!(stored.since, Some(walk_from_second(5)));
}

#[test]
fn since_walk_never_requests_the_epoch() {
    assert_eq!(SinceWalk::from_floor(ListingFloor::At(SourceInstant(-30_000))).since, None);
    assert_eq!(SinceWalk::from_floor(ListingFloor::At(SourceInstant(0))).since, None);
    assert_eq!(
        SinceWalk::from_floor(ListingFloor::At(SourceInstant(30_500))).since,
        Some(SourceInstant(29_000))
    );
}

#[test]
fn newest_page_that_reaches_the_watermark_opens_no_walk() {
    let stored = Coverage {
        from: Some(ListingFloor::Beginning),
        through: Some(SourceInstant(100_000)),
        ..Coverage::default()
    };
    let stop = stored.newest_page_stop(ListingFloor::Beginning, OVERLAP_MS);
    let read = stored.clone().apply_newest_page(&since_page(500, &[200, 39], true), stop).unwrap();
    assert_eq!((read.through, read.since), (Some(SourceInstant(200_000)), None));
    let left = stored.apply_newest_page(&since_page(500, &[200, 40], true), stop).unwrap();
    assert_eq!(left.through, Some(SourceInstant(100_000)), "a row at the stop itself is not older");
    assert_eq!(left.since, Some(walk_from_second(40)));
}

#[test]
fn newest_page_is_read_down_to_a_longer_overlap_and_never_a_shorter_one() {
    let stored = Coverage { through: Some(SourceInstant(100_000)), ..Coverage::default() };
    let stop = |overlap_ms| stored.newest_page_stop(ListingFloor::Beginning, overlap_ms);
    assert_eq!(stop(90_000), ListingFloor::At(SourceInstant(10_000)));
    assert_eq!(stop(5_000), ListingFloor::At(SourceInstant(40_000)), "lists lag by a minute");
    let unread = Coverage::default();
    let window = ListingFloor::At(SourceInstant(7_000));
    assert_eq!(unread.newest_page_stop(window, 90_000), window);
}

#[test]
fn since_walk_starts_at_the_floor_of_a_wider_window() {
    let stored = Coverage {
        from: Some(ListingFloor::At(SourceInstant(50_000))),
        through: Some(SourceInstant(100_000)),
        ..Coverage::default()
    };
    let open = stored.open_since(ListingFloor::At(SourceInstant(10_000)));
    assert_eq!(open.since, Some(walk_from_second(10)));
    let done = open.apply_since_page(&since_page(500, &[20, 100], false)).unwrap();
    assert_eq!(done.from, Some(ListingFloor::At(SourceInstant(10_000))));
    assert!(done.is_complete());
}

#[test]
fn since_walk_never_claims_rows_that_a_lagging_list_may_miss() {
    let coverage = Coverage { since: Some(walk_from_second(1)), ..Coverage::default() };
    // at 100 s the list may lag by a minute, and shows a row of 90 s
    let coverage = coverage.apply_since_page(&since_page(100, &[1, 90], true)).unwrap();
    let coverage = coverage.apply_since_page(&since_page(300, &[95, 299], false)).unwrap();
    assert_eq!(coverage.through, Some(SourceInstant(100_000)));
    assert!(!coverage.is_settled());
}

#[test]
fn newest_page_that_is_unchanged_settles_a_lane() {
    let read = Coverage::default()
        .apply_newest_page(&since_page(10, &[9], false), ListingFloor::Beginning)
        .unwrap();
    assert!(!read.is_settled());
    assert!(!read.clone().confirm_unchanged(SourceInstant(69_000)).is_settled());
    assert!(read.confirm_unchanged(SourceInstant(69_001)).is_settled());
}

#[test]
fn list_is_due_when_its_threads_moved_or_after_an_hour() {
    let coverage = Coverage::default()
        .apply_newest_page(&since_page(100, &[9], false), ListingFloor::Beginning);
    let state = LaneState {
        coverage: coverage.unwrap(),
        checked_at_ms: Some(100_000),
        ..LaneState::default()
    };
    for (has_moved, at_ms, is_due) in [
        (false, 200_000, false),
        (true, 200_000, true),
        (false, 100_000 + RECHECK_AFTER_MS - 1, false),
        (false, 100_000 + RECHECK_AFTER_MS, true),
    ] {
        let date = Some(SourceInstant(at_ms));
        assert_eq!(is_list_due(&state, ListingFloor::Beginning, has_moved, date), is_due);
    }
    let unread = LaneState::default();
    assert!(is_list_due(&unread, ListingFloor::Beginning, false, Some(SourceInstant(0))));
}

#[test]
fn since_walk_never_claims_a_time_in_the_future() {
    let coverage = Coverage { since: Some(walk_from_second(1)), ..Coverage::default() };
    let coverage = coverage.apply_since_page(&since_page(9, &[99], false)).unwrap();
    assert_eq!(coverage.through, Some(SourceInstant(9_000)));
}

proptest! {
    /// Edits rows between pages, which moves them to the end. No row is edited while the walk turns pages within two
    /// seconds: a row that leaves them shifts the rest, and only a second reading finds that.
    #[test]
    fn since_walk_reads_every_row_despite_edits_between_pages(
        rows in prop::collection::vec(1i64..20, 1..40),
        is_strict in any::<bool>(),
        edits in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        size in 1usize..6,
    ) {
        let mut list: Vec<(i64, i64)> = (0..).zip(rows).collect();
        let mut edits = edits.into_iter();
        let mut clock = 20;
        let mut read = BTreeSet::new();
        let walk = SinceWalk::from_floor(ListingFloor::Beginning);
        let mut coverage = Coverage { since: Some(walk), ..Coverage::default() };
        while let Some(walk) = &coverage.since {
            list.sort_by_key(|(id, at)| (*at, *id));
            let (page, rows) = serve_page(&list, walk, size, is_strict);
            let ends = rows.first().zip(rows.last());
            let is_wide = ends.is_some_and(|(first, last)| last.1 - first.1 >= 2);
            read.extend(rows);
            coverage = coverage.apply_since_page(&page).unwrap();
            let is_open = coverage.since.is_some();
            if is_open && is_wide && let Some(index) = edits.next() {
                clock += 1;
                let at = index.index(list.len());
                list[at].1 = clock;
            }
        }
        prop_assert_eq!(coverage.through, list.iter().map(|(_, at)| SourceInstant(at * 1_000)).max());
        prop_assert!(list.iter().all(|row| read.contains(row)), "{:?} of {:?}", read, list);
    }
}

/// Serves a page as the source does; `since` means "after" if `is_strict`, otherwise "at or after".
fn serve_page(
    list: &[(i64, i64)],
    walk: &SinceWalk,
    size: usize,
    is_strict: bool,
) -> (SincePage, Vec<(i64, i64)>) {
    let since = walk.since.map_or(i64::MIN, |since| since.0 + i64::from(is_strict));
    let matching: Vec<_> = list.iter().filter(|(_, at)| since <= at * 1_000).copied().collect();
    let skip = (walk.page as usize - 1) * size;
    let rows: Vec<_> = matching.iter().skip(skip).take(size).copied().collect();
    let listed = rows.iter().map(|(id, at)| (*id, source_time(*at))).collect();
    let has_next = skip + size < matching.len();
    (SincePage { date: SourceInstant(1_000_000), rows: listed, has_next }, rows)
}

fn walk_from_second(second: i64) -> SinceWalk {
    SinceWalk::from_floor(ListingFloor::At(SourceInstant(second * 1_000)))
}

fn since_page(date: i64, seconds: &[i64], has_next: bool) -> SincePage {
    let rows = (1..).zip(seconds).map(|(id, second)| (id, source_time(*second))).collect();
    SincePage { date: SourceInstant(date * 1_000), rows, has_next }
}

fn source_time(second: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(second * 1_000).to_string()).unwrap()
}
