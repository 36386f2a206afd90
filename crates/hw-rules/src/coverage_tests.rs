use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::source_time::SourceTime;
use crate::walk::ListingEntry;

#[test]
fn coverage_resumes_an_interrupted_first_walk_and_claims_nothing_before() {
    let mut list = TestListing::from_seconds(&[900, 800, 700, 600, 500]);
    let mut mirror = TestMirror::default();
    mirror.read_head_pages(&list, 1);
    assert_eq!(mirror.coverage.through, None);

    list.edit_row(0);
    mirror.run_turn(&list);
    assert_eq!(mirror.stored, list.rows);
    assert_eq!(mirror.coverage.from, Some(ListingFloor::Beginning));
    assert_eq!(mirror.pages_read, 1 + 1 + 2, "the first page, the head again, the two pages left");
}

#[test]
fn coverage_knows_whether_its_latest_walk_began_after_a_probe() {
    let mut list = TestListing::from_seconds(&[900, 800, 700, 600, 500]);
    let mut mirror = TestMirror::default();
    let now = SourceInstant(list.now * 1_000);
    assert!(!mirror.coverage.is_head_read_since(SourceInstant::BEGINNING), "nothing was read");
    mirror.read_head_pages(&list, 1);
    assert!(mirror.coverage.is_head_read_since(now.minus_ms(1_000)));
    assert!(!mirror.coverage.is_head_read_since(now), "it may have been read before the probe");
    mirror.run_turn(&list);
    list.now += 50;
    mirror.read_head_pages(&list, 1);
    assert!(mirror.coverage.is_head_read_since(now), "a closed walk counts, too");
}

#[test]
fn coverage_opens_a_gap_for_a_wider_window() {
    let list = TestListing::from_seconds(&[300, 299, 298, 20, 19, 18, 17, 16]);
    let mut mirror =
        TestMirror { window: ListingFloor::At(SourceInstant(298_000)), ..TestMirror::default() };
    mirror.run_turn(&list);
    assert_eq!(mirror.coverage.from, Some(ListingFloor::At(SourceInstant(298_000))));
    let before = mirror.pages_read;

    mirror.window = ListingFloor::At(SourceInstant(17_000));
    let opened = mirror.coverage.clone().open_turn(mirror.window);
    assert_eq!(opened.gap.map(|gap| gap.side), Some(GapSide::Below));
    mirror.run_turn(&list);
    assert_eq!(mirror.coverage.from, Some(ListingFloor::At(SourceInstant(17_000))));
    assert!(mirror.coverage.gap.is_none());
    let head = 2;
    let missing = 3;
    assert_eq!(mirror.pages_read - before, head + missing);
}

#[test]
fn coverage_reset_moves_the_watermark_back_and_opens_a_gap() {
    let list = TestListing::from_seconds(&[200, 100]);
    let mut mirror = TestMirror::default();
    mirror.run_turn(&list);
    mirror.coverage = mirror.coverage.reset_newest_first(SourceInstant(150_000));
    assert_eq!(mirror.coverage.through, Some(SourceInstant(150_000)));
    assert!(mirror.coverage.gap.is_some() && !mirror.coverage.is_settled());
    mirror.run_turn(&list);
    assert_eq!(mirror.coverage.through, Some(SourceInstant(200_000)));
    assert!(mirror.coverage.gap.is_none());
}

#[test]
fn coverage_rejects_a_watermark_beyond_the_sources_time() {
    let coverage = Coverage { through: Some(SourceInstant(500_000)), ..Coverage::default() };
    let mut list = TestListing::from_seconds(&[10]);
    list.now = 100;
    let request = coverage.next_head_request(ListingFloor::Beginning);
    let result = coverage.apply_page(&request, &list.serve_page(&request));
    assert_eq!(
        result,
        Err(CoverageError::FutureWatermark {
            through: SourceInstant(500_000),
            date: SourceInstant(100_000)
        })
    );
}

#[test]
fn coverage_settles_when_the_newest_item_is_older_than_the_overlap() {
    let mut list = TestListing::from_seconds(&[100]);
    let mut mirror = TestMirror::default();
    list.now = 160;
    mirror.run_turn(&list);
    assert!(!mirror.coverage.is_settled(), "one second short");
    list.now = 161;
    mirror.run_turn(&list);
    assert!(mirror.coverage.is_settled());
    let newest = list.newest_row();
    assert!(!mirror.coverage.has_moved(&probe(&newest, 1)));
    assert!(mirror.coverage.has_moved(&probe(&newest, 0)), "one was deleted");
    list.edit_row(0);
    let newest = list.newest_row();
    assert!(mirror.coverage.has_moved(&probe(&newest, 1)));
}

/// An event between two pages.
#[derive(Debug, Clone)]
enum ListingEvent {
    Edit(prop::sample::Index),
    Create,
    Delete(prop::sample::Index),
    Interrupt,
    Page,
    Window(i64),
}

proptest! {
    #[test]
    fn coverage_equals_the_listing_after_a_quiet_turn(
        start in prop::collection::vec(0i64..500, 0..30),
        events in prop::collection::vec(event_strategy(), 0..80),
    ) {
        let mut list = TestListing::from_seconds(&start);
        let mut mirror = TestMirror::default();
        let mut turn = mirror.begin_turn();
        for event in events {
            let before = mirror.coverage.through;
            match event {
                ListingEvent::Edit(index) => list.edit_at(index),
                ListingEvent::Create => list.create_row(),
                ListingEvent::Delete(index) => list.delete_at(index),
                ListingEvent::Interrupt => turn = mirror.begin_turn(),
                ListingEvent::Window(second) => {
                    mirror.window = ListingFloor::At(SourceInstant(second * 1_000));
                    turn = mirror.begin_turn();
                }
                ListingEvent::Page => if !mirror.advance_turn(&mut turn, &list) { turn = mirror.begin_turn() },
            }
            prop_assert!(before <= mirror.coverage.through, "a watermark never moves back");
            prop_assert!(mirror.claims_only_stored_rows(&list), "{:?}", mirror.coverage);
        }
        list.now += 1_000;
        mirror.run_turn(&list);
        prop_assert_eq!(mirror.live_rows_within(&list), list.rows_within(mirror.window));
        prop_assert!(mirror.coverage.is_complete());
    }
}

fn event_strategy() -> impl Strategy<Value = ListingEvent> {
    prop_oneof![
        3 => any::<prop::sample::Index>().prop_map(ListingEvent::Edit),
        2 => Just(ListingEvent::Create),
        1 => any::<prop::sample::Index>().prop_map(ListingEvent::Delete),
        2 => Just(ListingEvent::Interrupt),
        1 => (0i64..500).prop_map(ListingEvent::Window),
        8 => Just(ListingEvent::Page),
    ]
}

/// A remote listing (id → second of its last change) that serves two rows a page, newest first.
struct TestListing {
    rows: BTreeMap<i64, i64>,
    now: i64,
}

impl TestListing {
    fn from_seconds(seconds: &[i64]) -> Self {
        let rows = (0..).zip(seconds.iter().copied()).collect();
        Self { rows, now: 1_000 }
    }

    fn edit_row(&mut self, id: i64) {
        self.now += 1;
        self.rows.insert(id, self.now);
    }

    fn edit_at(&mut self, index: prop::sample::Index) {
        if !self.rows.is_empty() {
            let id = *self.rows.keys().nth(index.index(self.rows.len())).unwrap();
            self.edit_row(id);
        }
    }

    fn create_row(&mut self) {
        let id = self.rows.keys().max().map_or(0, |id| id + 1) + 1_000;
        self.edit_row(id);
    }

    fn delete_at(&mut self, index: prop::sample::Index) {
        if !self.rows.is_empty() {
            let id = *self.rows.keys().nth(index.index(self.rows.len())).unwrap();
            self.rows.remove(&id);
        }
    }

    fn rows_within(&self, window: ListingFloor) -> BTreeMap<i64, i64> {
        let within = self
            .rows
            .iter()
            .filter(|(_, second)| !window.is_above(SourceInstant(**second * 1_000)));
        within.map(|(id, second)| (*id, *second)).collect()
    }

    fn newest_row(&self) -> (i64, SourceTime) {
        let (id, second) = self.rows.iter().max_by_key(|(id, second)| (**second, **id)).unwrap();
        (*id, source_time(*second))
    }

    fn serve_page(&self, request: &PageRequest) -> ListingPage {
        let after = request.after.as_ref().map(parse_cursor);
        let mut rows: Vec<(i64, i64)> =
            self.rows.iter().map(|(id, second)| (*second, *id)).collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        rows.retain(|row| after.is_none_or(|after| *row < after));
        let has_next = rows.len() > 2;
        rows.truncate(2);
        let entries: Vec<ListingEntry> = rows
            .into_iter()
            .map(|(second, id)| ListingEntry {
                id,
                updated_at: source_time(second),
                cursor: PageCursor(format!("{second} {id}")),
            })
            .collect();
        let next = if has_next { entries.last().map(|entry| entry.cursor.clone()) } else { None };
        let total_count = Some(i64::try_from(self.rows.len()).unwrap());
        ListingPage { date: SourceInstant(self.now * 1_000), entries, total_count, next }
    }
}

/// A mirror that applies the rules, without a database.
struct TestMirror {
    coverage: Coverage,
    window: ListingFloor,
    stored: BTreeMap<i64, i64>,
    pages_read: usize,
}

/// The phase of a turn: finishing an old walk, reading the head, or filling the gap.
enum TurnPhase {
    UnfinishedHead,
    Head,
    Gap,
}

impl Default for TestMirror {
    fn default() -> Self {
        Self {
            coverage: Coverage::default(),
            window: ListingFloor::Beginning,
            stored: BTreeMap::new(),
            pages_read: 0,
        }
    }
}

impl TestMirror {
    fn begin_turn(&mut self) -> TurnPhase {
        self.coverage = self.coverage.clone().open_turn(self.window);
        if self.coverage.has_unfinished_head() {
            TurnPhase::UnfinishedHead
        } else {
            TurnPhase::Head
        }
    }

    /// Reads one page. Returns false when the turn has ended.
    fn advance_turn(&mut self, turn: &mut TurnPhase, list: &TestListing) -> bool {
        let request = match turn {
            TurnPhase::UnfinishedHead | TurnPhase::Head => {
                self.coverage.next_head_request(self.window)
            }
            TurnPhase::Gap => match self.coverage.next_gap_request() {
                Some(request) => request,
                None => return false,
            },
        };
        self.read_page(&request, list);
        if !self.coverage.has_unfinished_head() {
            self.coverage = self.coverage.clone().open_turn(self.window);
        }
        if request.section == LaneSection::Head && !self.coverage.has_unfinished_head() {
            *turn = if matches!(turn, TurnPhase::UnfinishedHead) {
                TurnPhase::Head
            } else {
                TurnPhase::Gap
            };
        }
        true
    }

    fn read_page(&mut self, request: &PageRequest, list: &TestListing) {
        let page = list.serve_page(request);
        self.pages_read += 1;
        let floor = self.coverage.retention_floor(request, self.window);
        for entry in page.entries.iter().filter(|entry| !floor.is_above(entry.updated_at.instant()))
        {
            let second = entry.updated_at.instant().0 / 1_000;
            let stored = self.stored.entry(entry.id).or_insert(second);
            *stored = second.max(*stored);
        }
        self.coverage = self.coverage.clone().apply_page(request, &page).unwrap();
    }

    fn run_turn(&mut self, list: &TestListing) {
        let mut turn = self.begin_turn();
        while self.advance_turn(&mut turn, list) {}
    }

    fn read_head_pages(&mut self, list: &TestListing, pages: usize) {
        let mut turn = self.begin_turn();
        (0..pages).for_each(|_| assert!(self.advance_turn(&mut turn, list)));
    }

    /// Returns the rows stored within the window, without deleted ones: only a sweep finds those.
    fn live_rows_within(&self, list: &TestListing) -> BTreeMap<i64, i64> {
        let alive = self.stored.iter().filter(|(id, _)| list.rows.contains_key(id));
        let within =
            alive.filter(|(_, second)| !self.window.is_above(SourceInstant(**second * 1_000)));
        within.map(|(id, second)| (*id, *second)).collect()
    }

    fn claims_only_stored_rows(&self, list: &TestListing) -> bool {
        let (Some(from), Some(through)) = (self.coverage.from, self.coverage.through) else {
            return true;
        };
        list.rows.iter().all(|(id, second)| {
            let updated_at = SourceInstant(second * 1_000);
            let is_claimed = !from.is_above(updated_at) && updated_at <= through;
            !is_claimed || self.stored.get(id) == Some(second)
        })
    }
}

fn probe(newest: &(i64, SourceTime), total_count: i64) -> ListingProbe {
    ListingProbe { newest: Some(newest.clone()), total_count }
}

fn source_time(second: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(second * 1_000).to_string()).unwrap()
}

fn parse_cursor(cursor: &PageCursor) -> (i64, i64) {
    let (second, id) = cursor.0.split_once(' ').unwrap();
    (second.parse().unwrap(), id.parse().unwrap())
}
