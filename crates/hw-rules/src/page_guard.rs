//! Bounds a reading by what it brings: a source that goes in circles is not followed for ever.
//!
//! Cursors can lead A → B → A, pages can be empty and still name a next one, and the same rows can come again
//! under new cursors. Whatever the trick, such pages show nothing that was not seen before.

use std::collections::HashSet;

use crate::time::Mark;

/// How many pages in a row may show nothing new.
const BARREN_PAGES: u32 = 3;
/// How many more rows than its `totalCount` a listing may show: it grows while it is read.
const GROWTH: usize = 1_000;

/// The source sends pages that lead nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Nonsense {
    #[error(
        "nonsense from the source: {pages} pages in a row show nothing that was not there before"
    )]
    NothingNew { pages: u32 },
    #[error(
        "nonsense from the source: {rows} rows so far, of a listing that claims to have {total}"
    )]
    MoreThanTotal { rows: usize, total: i64 },
}

/// What one reading has shown so far.
#[derive(Debug, Default)]
pub struct PageGuard {
    ids: HashSet<i64>,
    /// Rows whose id could not be read, by their place in the listing.
    places: HashSet<String>,
    barren_pages: u32,
    largest_total: Option<i64>,
}

impl PageGuard {
    /// Takes note of one page that has a next one, by the ids and places of its rows.
    pub fn check_page(
        &mut self,
        ids: impl IntoIterator<Item = i64>,
        places: impl IntoIterator<Item = String>,
        total: Option<i64>,
    ) -> Result<(), Nonsense> {
        let before = self.rows();
        self.ids.extend(ids);
        self.places.extend(places);
        self.largest_total = self.largest_total.max(total);
        if self.rows() > before {
            self.barren_pages = 0;
        } else {
            self.barren_pages += 1;
        }
        if self.barren_pages >= BARREN_PAGES {
            return Err(Nonsense::NothingNew { pages: self.barren_pages });
        }
        match self.largest_total {
            Some(total) if exceeds(self.rows(), total) => {
                Err(Nonsense::MoreThanTotal { rows: self.rows(), total })
            }
            _ => Ok(()),
        }
    }

    fn rows(&self) -> usize {
        self.ids.len() + self.places.len()
    }
}

fn exceeds(rows: usize, total: i64) -> bool {
    usize::try_from(total).unwrap_or(0).saturating_add(GROWTH) < rows
}

/// The same for a list that is read since a mark: each new mark shows some rows of the mark before again.
#[derive(Debug, Default)]
pub struct SinceGuard {
    since: Option<Mark>,
    /// What was shown at this mark.
    here: PageGuard,
    ever: HashSet<i64>,
    /// Whether this mark has brought anything new.
    is_fruitful: bool,
    barren_marks: u32,
}

impl SinceGuard {
    /// Takes note of one page, read since this mark, that has a next one.
    pub fn check_page(
        &mut self,
        since: Option<Mark>,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<(), Nonsense> {
        if since != self.since {
            self.barren_marks = if self.is_fruitful { 0 } else { self.barren_marks + 1 };
            self.since = since;
            self.restart_mark();
        }
        let ids: Vec<i64> = ids.into_iter().collect();
        let before = self.ever.len();
        self.ever.extend(&ids);
        self.is_fruitful |= self.ever.len() > before;
        if self.barren_marks > BARREN_PAGES {
            return Err(Nonsense::NothingNew { pages: self.barren_marks });
        }
        self.here.check_page(ids, [], None)
    }

    /// Forgets what was shown at this mark: it is read from its first page again.
    pub fn restart_mark(&mut self) {
        self.here = PageGuard::default();
        self.is_fruitful = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_guard_stops_a_circle_of_any_length() {
        for length in [1, 2, 50] {
            let mut guard = PageGuard::default();
            let read = (0..).take_while(|page| guard.check_page([page % length], [], None).is_ok());
            assert_eq!(read.count(), usize::try_from(length).unwrap() + 2, "length {length}");
        }
    }

    #[test]
    fn page_guard_stops_empty_pages_and_lets_unreadable_rows_pass() {
        let mut guard = PageGuard::default();
        assert!((0..100).all(|page| guard.check_page([], [format!("at {page}")], None).is_ok()));
        assert_eq!((0..).take_while(|_| guard.check_page([], [], None).is_ok()).count(), 2);
    }

    #[test]
    fn page_guard_stops_a_listing_that_invents_rows() {
        let mut guard = PageGuard::default();
        let read = (0..).take_while(|page| guard.check_page([*page], [], Some(5)).is_ok());
        assert_eq!(read.count(), 5 + GROWTH);
    }

    #[test]
    fn since_guard_lets_a_busy_second_be_read_again_at_the_next_mark() {
        let mut guard = SinceGuard::default();
        for page in 0..50 {
            guard.check_page(Some(Mark(1_000)), [page]).unwrap();
        }
        for page in 1..50 {
            guard.check_page(Some(Mark(2_000)), [page]).unwrap();
        }
    }

    #[test]
    fn since_guard_stops_pages_and_marks_that_bring_nothing() {
        let mut guard = SinceGuard::default();
        let read = (0..).take_while(|_| guard.check_page(Some(Mark(1_000)), [7]).is_ok());
        assert_eq!(read.count(), 3);
        let mut guard = SinceGuard::default();
        let read = (0..).take_while(|second| guard.check_page(Some(Mark(*second)), [7]).is_ok());
        assert!(read.count() < 7);
    }
}
