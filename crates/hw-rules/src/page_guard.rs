//! Stops reading a listing whose pages bring nothing new, so that a looping source is not followed forever.
//!
//! Cursors can lead A → B → A, pages can be empty and still name a next one, and the same rows can come again
//! under new cursors. In each case the pages show only rows that were read before.

use std::collections::HashSet;

use crate::row_subject::RowSubject;
use crate::source_time::SourceInstant;

/// The number of pages in a row that may show nothing new.
const MAX_BARREN_PAGES: u32 = 3;
/// The number of rows beyond its `totalCount` that a listing may show, because it grows while it is read.
const MAX_GROWTH_ROWS: usize = 1_000;

/// A listing that does not end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndlessListing {
    #[error("endless listing from the source: {pages} pages in a row without a new row")]
    NothingNew { pages: u32 },
    #[error("endless listing from the source: {rows} rows so far, but it reports only {total}")]
    MoreThanTotal { rows: usize, total: i64 },
}

/// The rows that one reading of a listing has shown so far.
#[derive(Debug, Default)]
pub struct PageGuard {
    ids: HashSet<i64>,
    /// Rows whose id could not be read, by their cursor.
    unreadable_rows: HashSet<RowSubject>,
    barren_pages: u32,
    largest_total: Option<i64>,
}

impl PageGuard {
    /// Records one page that has a next one: the ids of its rows, and the cursors of unreadable ones.
    pub fn check_page(
        &mut self,
        ids: impl IntoIterator<Item = i64>,
        unreadable_rows: impl IntoIterator<Item = RowSubject>,
        total: Option<i64>,
    ) -> Result<(), EndlessListing> {
        let before = self.row_count();
        self.ids.extend(ids);
        self.unreadable_rows.extend(unreadable_rows);
        self.largest_total = self.largest_total.max(total);
        if self.row_count() > before {
            self.barren_pages = 0;
        } else {
            self.barren_pages += 1;
        }
        if self.barren_pages >= MAX_BARREN_PAGES {
            return Err(EndlessListing::NothingNew { pages: self.barren_pages });
        }
        match self.largest_total {
            Some(total) if exceeds_total(self.row_count(), total) => {
                Err(EndlessListing::MoreThanTotal { rows: self.row_count(), total })
            }
            _ => Ok(()),
        }
    }

    fn row_count(&self) -> usize {
        self.ids.len() + self.unreadable_rows.len()
    }
}

fn exceeds_total(rows: usize, total: i64) -> bool {
    rows > usize::try_from(total).unwrap_or(0).saturating_add(MAX_GROWTH_ROWS)
}

/// Guards a list that takes `since`. Each new value of `since`, the anchor, shows some rows of the previous one again.
#[derive(Debug, Default)]
pub struct SinceGuard {
    since: Option<SourceInstant>,
    /// The rows shown at this anchor.
    page_guard: PageGuard,
    all_ids: HashSet<i64>,
    /// This anchor has brought a new row.
    is_fruitful: bool,
    barren_anchors: u32,
}

impl SinceGuard {
    /// Records one page at this anchor that has a next one.
    pub fn check_page(
        &mut self,
        since: Option<SourceInstant>,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<(), EndlessListing> {
        if since != self.since {
            self.barren_anchors = if self.is_fruitful { 0 } else { self.barren_anchors + 1 };
            self.since = since;
            self.restart_anchor();
        }
        let ids: Vec<i64> = ids.into_iter().collect();
        let before = self.all_ids.len();
        self.all_ids.extend(&ids);
        self.is_fruitful |= self.all_ids.len() > before;
        if self.barren_anchors > MAX_BARREN_PAGES {
            return Err(EndlessListing::NothingNew { pages: self.barren_anchors });
        }
        self.page_guard.check_page(ids, [], None)
    }

    /// Forgets the rows of this anchor, because it is read from its first page again.
    pub fn restart_anchor(&mut self) {
        self.page_guard = PageGuard::default();
        self.is_fruitful = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_guard_stops_a_loop_of_any_length() {
        for length in [1, 2, 50] {
            let mut guard = PageGuard::default();
            let read = (0..).take_while(|page| guard.check_page([page % length], [], None).is_ok());
            assert_eq!(read.count(), usize::try_from(length).unwrap() + 2, "length {length}");
        }
    }

    #[test]
    fn page_guard_stops_empty_pages_and_lets_unreadable_rows_pass() {
        let mut guard = PageGuard::default();
        assert!((0..100).all(|page| {
            guard.check_page([], [RowSubject::parse(&format!("at {page}"))], None).is_ok()
        }));
        assert_eq!((0..).take_while(|_| guard.check_page([], [], None).is_ok()).count(), 2);
    }

    #[test]
    fn page_guard_stops_a_listing_that_invents_rows() {
        let mut guard = PageGuard::default();
        let read = (0..).take_while(|page| guard.check_page([*page], [], Some(5)).is_ok());
        assert_eq!(read.count(), 5 + MAX_GROWTH_ROWS);
    }

    #[test]
    fn since_guard_allows_a_busy_second_to_repeat_at_the_next_anchor() {
        let mut guard = SinceGuard::default();
        for page in 0..50 {
            guard.check_page(Some(SourceInstant(1_000)), [page]).unwrap();
        }
        for page in 1..50 {
            guard.check_page(Some(SourceInstant(2_000)), [page]).unwrap();
        }
    }

    #[test]
    fn since_guard_stops_pages_and_anchors_without_new_rows() {
        let mut guard = SinceGuard::default();
        let read = (0..).take_while(|_| guard.check_page(Some(SourceInstant(1_000)), [7]).is_ok());
        assert_eq!(read.count(), 3);
        let mut guard = SinceGuard::default();
        let read =
            (0..).take_while(|second| guard.check_page(Some(SourceInstant(*second)), [7]).is_ok());
        assert!(read.count() < 7);
    }
}
