use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::time::SourceTime;
use crate::walk::Entry;

#[test]
fn an_interrupted_first_walk_claims_nothing_and_goes_on_where_it_was() {
    let mut list = Listing::of(&[900, 800, 700, 600, 500]);
    let mut mirror = Mirror::default();
    mirror.read_head_pages(&list, 1);
    assert_eq!(mirror.coverage.through, None);

    list.edit(0);
    mirror.turn(&list);
    assert_eq!(mirror.held, list.rows);
    assert_eq!(mirror.coverage.from, Some(Floor::Beginning));
    assert_eq!(mirror.pages_read, 1 + 1 + 2, "the first page, the head again, the two pages left");
}

#[test]
fn a_wider_window_opens_a_gap_and_reads_only_what_is_missing() {
    let list = Listing::of(&[300, 299, 298, 20, 19, 18, 17, 16]);
    let mut mirror = Mirror { window: Floor::At(Mark(298_000)), ..Mirror::default() };
    mirror.turn(&list);
    assert_eq!(mirror.coverage.from, Some(Floor::At(Mark(298_000))));
    let before = mirror.pages_read;

    mirror.window = Floor::At(Mark(17_000));
    let opened = mirror.coverage.clone().open_turn(mirror.window);
    assert_eq!(opened.gap.map(|gap| gap.side), Some(Side::Below));
    mirror.turn(&list);
    assert_eq!(mirror.coverage.from, Some(Floor::At(Mark(17_000))));
    assert!(mirror.coverage.gap.is_none());
    let head = 2;
    let missing = 3;
    assert_eq!(mirror.pages_read - before, head + missing);
}

#[test]
fn a_reset_is_the_one_way_back_and_shows_as_a_gap() {
    let list = Listing::of(&[200, 100]);
    let mut mirror = Mirror::default();
    mirror.turn(&list);
    mirror.coverage = mirror.coverage.reset(Mark(150_000));
    assert_eq!(mirror.coverage.through, Some(Mark(150_000)));
    assert!(mirror.coverage.gap.is_some() && !mirror.coverage.is_settled());
    mirror.turn(&list);
    assert_eq!(mirror.coverage.through, Some(Mark(200_000)));
    assert!(mirror.coverage.gap.is_none());
}

#[test]
fn a_watermark_beyond_the_sources_own_time_is_refused() {
    let coverage = Coverage { through: Some(Mark(500_000)), ..Coverage::default() };
    let mut list = Listing::of(&[10]);
    list.now = 100;
    let ask = coverage.ask_head(Floor::Beginning);
    let refused = coverage.step(&ask, &list.page(&ask));
    assert_eq!(refused, Err(Refused::Future { through: Mark(500_000), date: Mark(100_000) }));
}

#[test]
fn a_lane_settles_when_its_newest_item_is_older_than_the_overlap() {
    let mut list = Listing::of(&[100]);
    let mut mirror = Mirror::default();
    list.now = 160;
    mirror.turn(&list);
    assert!(!mirror.coverage.is_settled(), "one second short");
    list.now = 161;
    mirror.turn(&list);
    assert!(mirror.coverage.is_settled());
    let newest = list.newest();
    assert!(!mirror.coverage.has_moved(&probe(&newest, 1)));
    assert!(mirror.coverage.has_moved(&probe(&newest, 0)), "one was deleted");
    list.edit(0);
    let newest = list.newest();
    assert!(mirror.coverage.has_moved(&probe(&newest, 1)));
}

/// What happens between two pages.
#[derive(Debug, Clone)]
enum Event {
    Edit(prop::sample::Index),
    Create,
    Delete(prop::sample::Index),
    Interrupt,
    Page,
    Window(i64),
}

proptest! {
    #[test]
    fn whatever_interrupts_and_moves_a_quiet_turn_ends_equal_to_the_listing(
        start in prop::collection::vec(0i64..500, 0..30),
        events in prop::collection::vec(event(), 0..80),
    ) {
        let mut list = Listing::of(&start);
        let mut mirror = Mirror::default();
        let mut turn = mirror.begin();
        for event in events {
            let mark = mirror.coverage.through;
            match event {
                Event::Edit(index) => list.edit_at(index),
                Event::Create => list.create(),
                Event::Delete(index) => list.delete_at(index),
                Event::Interrupt => turn = mirror.begin(),
                Event::Window(second) => {
                    mirror.window = Floor::At(Mark(second * 1_000));
                    turn = mirror.begin();
                }
                Event::Page => if !mirror.advance(&mut turn, &list) { turn = mirror.begin() },
            }
            prop_assert!(mark <= mirror.coverage.through, "a watermark never moves back");
            prop_assert!(mirror.claims_only_what_it_holds(&list), "{:?}", mirror.coverage);
        }
        list.now += 1_000;
        mirror.turn(&list);
        prop_assert_eq!(mirror.alive_within(&list), list.within(mirror.window));
        prop_assert!(mirror.coverage.is_complete());
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => any::<prop::sample::Index>().prop_map(Event::Edit),
        2 => Just(Event::Create),
        1 => any::<prop::sample::Index>().prop_map(Event::Delete),
        2 => Just(Event::Interrupt),
        1 => (0i64..500).prop_map(Event::Window),
        8 => Just(Event::Page),
    ]
}

/// A remote listing: id → second of its last change, served newest first, two rows a page.
struct Listing {
    rows: BTreeMap<i64, i64>,
    now: i64,
}

impl Listing {
    fn of(seconds: &[i64]) -> Self {
        let rows = (0..).zip(seconds.iter().copied()).collect();
        Self { rows, now: 1_000 }
    }

    fn edit(&mut self, id: i64) {
        self.now += 1;
        self.rows.insert(id, self.now);
    }

    fn edit_at(&mut self, index: prop::sample::Index) {
        if !self.rows.is_empty() {
            let id = *self.rows.keys().nth(index.index(self.rows.len())).unwrap();
            self.edit(id);
        }
    }

    fn create(&mut self) {
        let id = self.rows.keys().max().map_or(0, |id| id + 1) + 1_000;
        self.edit(id);
    }

    fn delete_at(&mut self, index: prop::sample::Index) {
        if !self.rows.is_empty() {
            let id = *self.rows.keys().nth(index.index(self.rows.len())).unwrap();
            self.rows.remove(&id);
        }
    }

    fn within(&self, window: Floor) -> BTreeMap<i64, i64> {
        let within =
            self.rows.iter().filter(|(_, second)| !window.is_above(Mark(**second * 1_000)));
        within.map(|(id, second)| (*id, *second)).collect()
    }

    fn newest(&self) -> (i64, SourceTime) {
        let (id, second) = self.rows.iter().max_by_key(|(id, second)| (**second, **id)).unwrap();
        (*id, time(*second))
    }

    fn page(&self, ask: &Ask) -> Page {
        let after = ask.after.as_ref().map(key_of);
        let mut rows: Vec<(i64, i64)> =
            self.rows.iter().map(|(id, second)| (*second, *id)).collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        rows.retain(|row| after.is_none_or(|after| *row < after));
        let more = 2 < rows.len();
        rows.truncate(2);
        let entry = |(second, id): &(i64, i64)| Entry {
            id: *id,
            updated_at: time(*second),
            cursor: Cursor(format!("{second} {id}")),
        };
        let entries: Vec<Entry> = rows.iter().map(entry).collect();
        let next = if more { entries.last().map(|entry| entry.cursor.clone()) } else { None };
        let total_count = Some(i64::try_from(self.rows.len()).unwrap());
        Page { date: Mark(self.now * 1_000), entries, total_count, next }
    }
}

/// A mirror that follows the rules and nothing else.
struct Mirror {
    coverage: Coverage,
    window: Floor,
    held: BTreeMap<i64, i64>,
    pages_read: usize,
}

/// Where a turn is: finishing an old walk, reading the head, or filling the gap.
enum Turn {
    Old,
    Head,
    Gap,
}

impl Default for Mirror {
    fn default() -> Self {
        let (coverage, held) = Default::default();
        Self { coverage, window: Floor::Beginning, held, pages_read: 0 }
    }
}

impl Mirror {
    fn begin(&mut self) -> Turn {
        self.coverage = self.coverage.clone().open_turn(self.window);
        if self.coverage.has_unfinished_head() { Turn::Old } else { Turn::Head }
    }

    /// Reads one page; false when the turn has ended.
    fn advance(&mut self, turn: &mut Turn, list: &Listing) -> bool {
        let ask = match turn {
            Turn::Old | Turn::Head => self.coverage.ask_head(self.window),
            Turn::Gap => match self.coverage.ask_gap() {
                Some(ask) => ask,
                None => return false,
            },
        };
        self.read(&ask, list);
        if !self.coverage.has_unfinished_head() {
            self.coverage = self.coverage.clone().open_turn(self.window);
        }
        if ask.place == Place::Head && !self.coverage.has_unfinished_head() {
            *turn = if matches!(turn, Turn::Old) { Turn::Head } else { Turn::Gap };
        }
        true
    }

    fn read(&mut self, ask: &Ask, list: &Listing) {
        let page = list.page(ask);
        self.pages_read += 1;
        let floor = self.coverage.keeps_down_to(ask, self.window);
        for entry in page.entries.iter().filter(|entry| !floor.is_above(entry.updated_at.mark())) {
            let second = entry.updated_at.mark().0 / 1_000;
            let held = self.held.entry(entry.id).or_insert(second);
            *held = second.max(*held);
        }
        self.coverage = self.coverage.clone().step(ask, &page).unwrap();
    }

    fn turn(&mut self, list: &Listing) {
        let mut turn = self.begin();
        while self.advance(&mut turn, list) {}
    }

    fn read_head_pages(&mut self, list: &Listing, pages: usize) {
        let mut turn = self.begin();
        (0..pages).for_each(|_| assert!(self.advance(&mut turn, list)));
    }

    /// What is held within the window, less what the listing no longer has: only a sweep can know that.
    fn alive_within(&self, list: &Listing) -> BTreeMap<i64, i64> {
        let alive = self.held.iter().filter(|(id, _)| list.rows.contains_key(id));
        let within = alive.filter(|(_, second)| !self.window.is_above(Mark(**second * 1_000)));
        within.map(|(id, second)| (*id, *second)).collect()
    }

    fn claims_only_what_it_holds(&self, list: &Listing) -> bool {
        let (Some(from), Some(through)) = (self.coverage.from, self.coverage.through) else {
            return true;
        };
        let claimed =
            |second: i64| !from.is_above(Mark(second * 1_000)) && Mark(second * 1_000) <= through;
        list.rows.iter().all(|(id, second)| !claimed(*second) || self.held.get(id) == Some(second))
    }
}

fn probe(newest: &(i64, SourceTime), total_count: i64) -> Probe {
    Probe { newest: Some(newest.clone()), total_count }
}

fn time(second: i64) -> SourceTime {
    SourceTime::parse(&Mark(second * 1_000).to_string()).unwrap()
}

fn key_of(cursor: &Cursor) -> (i64, i64) {
    let (second, id) = cursor.0.split_once(' ').unwrap();
    (second.parse().unwrap(), id.parse().unwrap())
}
