//! Compares a listing's own count with what is stored of it.
//!
//! Rows can come back with old times, as those of an author who was hidden for a while do. No walk meets them;
//! only the `totalCount` tells. The two numbers need not be equal: rows below the window are counted and not stored,
//! and some listings count rows that they never show. So only the excess that was not there before matters.

use crate::OVERLAP_MS;
use crate::coverage::Coverage;
use crate::time::Mark;
use crate::walk::Floor;

impl Coverage {
    /// Takes note of how many rows are stored, and returns whether the listing counts more than that explains:
    /// then a sweep has to find them, and the excess that was explained before stays on record.
    pub fn note_stored(&mut self, then: &Self, stored: i64) -> bool {
        let before = then.head.as_ref();
        let (known, short_since) =
            (before.and_then(|head| head.excess), before.and_then(|head| head.short_since));
        let is_complete = self.is_complete();
        // the window of a listing that is read whole hides nothing, whatever a narrower one hid before
        let is_whole = self.from == Some(Floor::Beginning);
        let was_whole = then.from == Some(Floor::Beginning);
        let explained = known.filter(|_| was_whole || !is_whole).or(is_whole.then_some(0));
        let Some(head) = &mut self.head else { return false };
        let Some(total) = head.total_count else { return false };
        let excess = total.saturating_sub(stored);
        let is_unexplained = is_complete && explained.is_some_and(|explained| excess > explained);
        head.excess = if is_unexplained || !is_complete { known } else { Some(excess) };
        head.short_since = short_since;
        is_unexplained
    }

    /// Takes what a sweep that began then listed as the truth, and returns whether it is: one that lists less than
    /// was counted may have been read from a replica that lags, and has to be repeated. A listing that is still
    /// short when no replica can lag any more counts rows that it never shows.
    pub fn settle_stored(&mut self, listed: i64, stored: i64, began: Mark) -> bool {
        let Some(head) = &mut self.head else { return true };
        let Some(total) = head.total_count else { return true };
        let unlisted = total.saturating_sub(listed);
        if unlisted > head.excess.unwrap_or(0).max(0) {
            let since = *head.short_since.get_or_insert(began);
            if began < since.plus(OVERLAP_MS) {
                return false;
            }
        }
        head.short_since = None;
        head.excess = Some(total.max(listed).saturating_sub(stored));
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::walk::Head;

    use super::*;

    const EARLY: Mark = Mark(100_000);
    const LATE: Mark = Mark(100_000 + OVERLAP_MS);

    #[test]
    fn listing_that_grew_by_more_than_was_stored_is_unexplained() {
        let then = counted(22, Some(0));
        let mut now = counted(24, None);
        assert!(!now.clone().note_stored(&then, 24), "both are stored");
        assert!(now.note_stored(&then, 23), "one is not");
        let mut later = counted(24, None);
        assert!(later.note_stored(&now, 23), "it stays unexplained until a sweep");
    }

    #[test]
    fn listing_that_was_read_whole_is_swept_twice_for_rows_that_it_never_shows() {
        let mut lane = counted(100, None);
        assert!(lane.note_stored(&Coverage::default(), 98));
        assert!(!lane.settle_stored(98, 98, EARLY), "a replica may lag");
        assert!(lane.note_stored(&lane.clone(), 98));
        assert!(lane.settle_stored(98, 98, LATE), "but not for so long");
        assert!(!counted(103, None).note_stored(&lane, 101), "the same two");
    }

    #[test]
    fn listing_may_always_count_rows_below_the_window() {
        let mut first = Coverage { from: Some(Floor::At(Mark(50_000))), ..counted(100, None) };
        assert!(!first.note_stored(&Coverage::default(), 90));
        let mut later = Coverage { from: first.from, ..counted(103, None) };
        assert!(!later.note_stored(&first, 93));
        assert!(later.settle_stored(95, 93, EARLY), "as short as ever");
    }

    #[test]
    fn listing_whose_window_opened_has_nothing_below_it_to_explain_its_count() {
        let narrow = Coverage { from: Some(Floor::At(Mark(50_000))), ..counted(30, Some(3)) };
        assert!(!counted(37, None).note_stored(&narrow, 37), "the three are stored now");
        assert!(counted(37, None).note_stored(&narrow, 36), "one was hidden and is shown again");
    }

    #[test]
    fn sweep_that_lists_less_than_was_counted_is_repeated() {
        let mut lane = counted(27, Some(0));
        assert!(!lane.settle_stored(24, 24, EARLY), "a replica that lags");
        assert!(lane.settle_stored(27, 27, EARLY));
        assert!(lane.note_stored(&counted(27, Some(0)), 26), "the next one is noticed again");
    }

    #[test]
    fn sweep_explains_what_it_listed_though_the_listing_was_longer_before() {
        let mut lane = counted(11, Some(0));
        assert!(!lane.settle_stored(9, 9, EARLY), "two went since the count: it may be a replica");
        let mut now = counted(9, None);
        assert!(!now.note_stored(&lane, 9));
        assert!(now.settle_stored(9, 9, EARLY));
        let mut back = counted(11, None);
        assert!(back.note_stored(&now, 9), "and both are back with their old times");
    }

    fn counted(total: i64, excess: Option<i64>) -> Coverage {
        let head = Head {
            date: Mark(100_000),
            newest: None,
            total_count: Some(total),
            excess,
            short_since: None,
        };
        let (from, through) = (Some(Floor::Beginning), Some(Mark(90_000)));
        Coverage { from, through, head: Some(head), ..Coverage::default() }
    }
}
