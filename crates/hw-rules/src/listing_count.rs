//! Compares a listing's own count with the number of stored rows.
//!
//! Rows can come back with old times, as those of an author who was hidden for a while do. No walk reads them;
//! only the `totalCount` shows them. The two numbers need not be equal: rows below the window are counted and not
//! stored, and some listings count rows that they never show. So only a new excess matters.

use crate::OVERLAP_MS;
use crate::coverage::Coverage;
use crate::source_time::SourceInstant;
use crate::walk::ListingFloor;

impl Coverage {
    /// Records the number of stored rows. Returns true if the listing counts more rows than an earlier excess
    /// explains: then a sweep has to find them, and the record of the earlier excess stays.
    pub fn record_stored_count(&mut self, earlier: &Self, stored: i64) -> bool {
        let before = earlier.head.as_ref();
        let known = before.and_then(|head| head.excess);
        let short_since = before.and_then(|head| head.short_since);
        let is_complete = self.is_complete();
        // the window of a listing that is read whole hides nothing, even if a narrower one did before
        let is_whole = self.from == Some(ListingFloor::Beginning);
        let was_whole = earlier.from == Some(ListingFloor::Beginning);
        let explained = known.filter(|_| was_whole || !is_whole).or(is_whole.then_some(0));
        let Some(head) = &mut self.head else { return false };
        let Some(total) = head.total_count else { return false };
        let excess = total.saturating_sub(stored);
        let is_unexplained = is_complete && explained.is_some_and(|explained| excess > explained);
        head.excess = if is_unexplained || !is_complete { known } else { Some(excess) };
        head.short_since = short_since;
        is_unexplained
    }

    /// Accepts the number of rows that a sweep listed. Returns false if the sweep has to be repeated, because it
    /// listed fewer rows than were counted and may have read a lagging replica. A listing that is still short when
    /// no replica can lag any more counts rows that it never shows.
    pub fn settle_stored_count(
        &mut self,
        listed: i64,
        stored: i64,
        started_at: SourceInstant,
    ) -> bool {
        let Some(head) = &mut self.head else { return true };
        let Some(total) = head.total_count else { return true };
        let unlisted = total.saturating_sub(listed);
        if unlisted > head.excess.unwrap_or(0).max(0) {
            let since = *head.short_since.get_or_insert(started_at);
            if started_at < since.plus_ms(OVERLAP_MS) {
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
    use crate::walk::ListingHead;

    use super::*;

    const EARLY: SourceInstant = SourceInstant(100_000);
    const LATE: SourceInstant = SourceInstant(100_000 + OVERLAP_MS);

    #[test]
    fn listing_count_above_the_stored_rows_is_unexplained() {
        let earlier = coverage_with_count(22, Some(0));
        let mut now = coverage_with_count(24, None);
        assert!(!now.clone().record_stored_count(&earlier, 24), "both are stored");
        assert!(now.record_stored_count(&earlier, 23), "one is not");
        let mut later = coverage_with_count(24, None);
        assert!(later.record_stored_count(&now, 23), "it stays unexplained until a sweep");
    }

    #[test]
    fn listing_count_with_rows_never_shown_takes_two_sweeps() {
        let mut lane = coverage_with_count(100, None);
        assert!(lane.record_stored_count(&Coverage::default(), 98));
        assert!(!lane.settle_stored_count(98, 98, EARLY), "a replica may lag");
        assert!(lane.record_stored_count(&lane.clone(), 98));
        assert!(lane.settle_stored_count(98, 98, LATE), "but not for so long");
        assert!(!coverage_with_count(103, None).record_stored_count(&lane, 101), "the same two");
    }

    #[test]
    fn listing_count_may_include_rows_below_the_window() {
        let mut first = Coverage {
            from: Some(ListingFloor::At(SourceInstant(50_000))),
            ..coverage_with_count(100, None)
        };
        assert!(!first.record_stored_count(&Coverage::default(), 90));
        let mut later = Coverage { from: first.from, ..coverage_with_count(103, None) };
        assert!(!later.record_stored_count(&first, 93));
        assert!(later.settle_stored_count(95, 93, EARLY), "as short as ever");
    }

    #[test]
    fn listing_count_is_not_explained_by_a_window_that_opened() {
        let narrow = Coverage {
            from: Some(ListingFloor::At(SourceInstant(50_000))),
            ..coverage_with_count(30, Some(3))
        };
        assert!(
            !coverage_with_count(37, None).record_stored_count(&narrow, 37),
            "the three are stored now"
        );
        assert!(
            coverage_with_count(37, None).record_stored_count(&narrow, 36),
            "one was hidden and is shown again"
        );
    }

    #[test]
    fn listing_count_above_the_swept_rows_repeats_the_sweep() {
        let mut lane = coverage_with_count(27, Some(0));
        assert!(!lane.settle_stored_count(24, 24, EARLY), "a replica that lags");
        assert!(lane.settle_stored_count(27, 27, EARLY));
        assert!(
            lane.record_stored_count(&coverage_with_count(27, Some(0)), 26),
            "the next one is noticed again"
        );
    }

    #[test]
    fn listing_count_is_explained_by_a_sweep_even_if_it_was_longer_before() {
        let mut lane = coverage_with_count(11, Some(0));
        assert!(
            !lane.settle_stored_count(9, 9, EARLY),
            "two went since the count: it may be a replica"
        );
        let mut now = coverage_with_count(9, None);
        assert!(!now.record_stored_count(&lane, 9));
        assert!(now.settle_stored_count(9, 9, EARLY));
        let mut back = coverage_with_count(11, None);
        assert!(back.record_stored_count(&now, 9), "and both are back with their old times");
    }

    fn coverage_with_count(total: i64, excess: Option<i64>) -> Coverage {
        let head = ListingHead {
            date: SourceInstant(100_000),
            newest: None,
            total_count: Some(total),
            excess,
            short_since: None,
        };
        let (from, through) = (Some(ListingFloor::Beginning), Some(SourceInstant(90_000)));
        Coverage { from, through, head: Some(head), ..Coverage::default() }
    }
}
