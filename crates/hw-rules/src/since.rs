//! The walk since a mark: oldest change first, re-anchored instead of turning many pages.
//!
//! For lists that take `since` and sort by change. Page numbers over a moving order skip rows, so each
//! full page moves `since` up to its last row; only a page that lies wholly within one second, which is
//! as fine as `since` gets, is followed by the next page number.

use serde::{Deserialize, Serialize};

use crate::time::Mark;

/// Where the walk is: rows updated at or after `since`, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinceWalk {
    /// None asks without a filter: below the first mark there is nothing to leave out.
    pub since: Option<Mark>,
    pub page: u32,
    /// The latest change read so far: what the watermark may become.
    pub newest: Option<Mark>,
}

/// What one page said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SincePage {
    /// The answer's `Date`: no mark goes beyond it.
    pub date: Mark,
    /// When each row was updated, as listed: oldest first.
    pub updated_at: Vec<Mark>,
    /// Whether the list says that there is more.
    pub has_next: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinceStep {
    Open(SinceWalk),
    /// The end was reached; the watermark may move here.
    Closed(Option<Mark>),
}

impl SinceWalk {
    /// A walk from a watermark, less the overlap; from the beginning without one.
    pub fn from(watermark: Option<Mark>, overlap_ms: i64) -> Self {
        let since = watermark.map(|mark| second(mark.minus(overlap_ms)));
        // asked for everything since the epoch, GitHub answers with nothing at all
        Self { since: since.filter(|since| 0 < since.0), page: 1, newest: watermark }
    }

    /// What the walk is after one more page.
    pub fn step(self, page: &SincePage) -> SinceStep {
        let last = page.updated_at.iter().max().copied();
        let newest = self.newest.max(last.map(|last| last.min(page.date)));
        if !page.has_next {
            return SinceStep::Closed(newest);
        }
        let anchor = last.map(second);
        if self.since < anchor {
            SinceStep::Open(Self { since: anchor, page: 1, newest })
        } else {
            SinceStep::Open(Self { since: self.since, page: self.page.saturating_add(1), newest })
        }
    }
}

/// The whole second a time lies in: as fine as `since` gets.
fn second(mark: Mark) -> Mark {
    mark.minus(mark.0.rem_euclid(1_000))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_page_within_one_second_turns_the_page_inside_it() {
        let walk = SinceWalk { since: Some(Mark(5_000)), page: 1, newest: None };
        let full =
            SincePage { date: Mark(9_000), updated_at: vec![Mark(5_000); 3], has_next: true };
        let SinceStep::Open(walk) = walk.step(&full) else { panic!("there is more") };
        assert_eq!((walk.since, walk.page), (Some(Mark(5_000)), 2));
    }

    #[test]
    fn the_epoch_is_never_asked_for() {
        assert_eq!(SinceWalk::from(Some(Mark(30_000)), 60_000).since, None);
        assert_eq!(SinceWalk::from(Some(Mark::BEGINNING), 60_000).since, None);
        assert_eq!(SinceWalk::from(Some(Mark(90_500)), 60_000).since, Some(Mark(30_000)));
    }

    #[test]
    fn a_time_in_the_future_is_not_claimed() {
        let page = SincePage { date: Mark(9_000), updated_at: vec![Mark(99_000)], has_next: false };
        assert_eq!(SinceWalk::from(None, 0).step(&page), SinceStep::Closed(Some(Mark(9_000))));
    }

    proptest! {
        /// Rows are edited between pages, and so move to the end. Not while a page within one second is
        /// being turned: there a row that leaves shifts the rest, which only a second reading can tell.
        #[test]
        fn every_row_is_read_whatever_is_edited_between_the_pages(
            rows in prop::collection::vec(0i64..6, 1..40),
            edits in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
            size in 1usize..6,
        ) {
            let mut list: Vec<(usize, i64)> = rows.into_iter().enumerate().collect();
            let mut edits = edits.into_iter();
            let mut clock = 10;
            let mut read = BTreeSet::new();
            let mut walk = SinceWalk::from(None, 0);
            loop {
                list.sort_by_key(|(id, at)| (*at, *id));
                let (page, rows) = ask(&list, &walk, size);
                let within_a_second = page.updated_at.first() == page.updated_at.last();
                read.extend(rows);
                match walk.step(&page) {
                    SinceStep::Open(next) => walk = next,
                    SinceStep::Closed(newest) => {
                        prop_assert_eq!(newest, list.iter().map(|(_, at)| Mark(at * 1_000)).max());
                        break;
                    }
                }
                if !within_a_second && let Some(index) = edits.next() {
                    clock += 1;
                    let at = index.index(list.len());
                    list[at].1 = clock;
                }
            }
            prop_assert!(list.iter().all(|row| read.contains(row)), "{:?} of {:?}", read, list);
        }
    }

    fn ask(list: &[(usize, i64)], walk: &SinceWalk, size: usize) -> (SincePage, Vec<(usize, i64)>) {
        let since = walk.since.map_or(i64::MIN, |mark| mark.0);
        let matching: Vec<_> = list.iter().filter(|(_, at)| since <= at * 1_000).copied().collect();
        let skip = (walk.page as usize - 1) * size;
        let rows: Vec<_> = matching.iter().skip(skip).take(size).copied().collect();
        let updated_at = rows.iter().map(|(_, at)| Mark(at * 1_000)).collect();
        (
            SincePage { date: Mark(i64::MAX), updated_at, has_next: skip + size < matching.len() },
            rows,
        )
    }
}
