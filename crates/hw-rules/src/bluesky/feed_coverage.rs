//! Applies the pages of a feed to its coverage.
//!
//! A feed is a listing like any other, with one difference: its end may be unproven. A walk that ends without proof
//! above its stop claims only what it has read, and a later read of the whole feed decides about the rest.

use super::feed_end::FeedEnd;
use crate::coverage::{Coverage, CoverageError, PageRequest};
use crate::walk::{ListingFloor, ListingPage};

/// How far down a feed is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedDepth {
    /// The beginning of the look-back.
    pub lookback: ListingFloor,
    /// True if the feed is read down to the look-back, also where it is known.
    pub is_whole: bool,
}

impl FeedDepth {
    /// Returns the coverage at the start of a turn. A look-back that was made longer is left to the daily read.
    pub fn open_turn(self, coverage: Coverage) -> Coverage {
        let window = coverage.from.unwrap_or(self.lookback);
        coverage.open_turn(window)
    }

    /// Returns the next page of the walk from the top.
    pub fn next_head_request(self, coverage: &Coverage) -> PageRequest {
        let request = coverage.next_head_request(self.lookback);
        if coverage.has_unfinished_head() {
            return request;
        }
        // a burst of posts would be read again and again if each walk went below it
        let stop = coverage.settled_top().map_or(request.stop, ListingFloor::At);
        let stop = if self.is_whole { stop.min(self.lookback) } else { stop };
        PageRequest { stop, ..request }
    }

    /// Returns the floor down to which the rows of a page are stored: the look-back, or what the coverage claims
    /// already.
    pub fn retention_floor(self, coverage: &Coverage, request: &PageRequest) -> ListingFloor {
        coverage.from.unwrap_or(request.stop).min(self.lookback)
    }
}

/// Returns the coverage after a page with this end.
///
/// The end is not that of a refused cursor: such a page is no part of the feed.
pub fn apply_feed_page(
    coverage: Coverage,
    request: &PageRequest,
    page: &ListingPage,
    end: &FeedEnd,
) -> Result<Coverage, CoverageError> {
    let next = match end {
        FeedEnd::Continues(next) => Some(next.clone()),
        FeedEnd::ReachedStop | FeedEnd::Empty | FeedEnd::Unsaid { .. } | FeedEnd::CursorRefused => {
            None
        }
    };
    let old_from = coverage.from;
    let mut applied = coverage.apply_page(request, &ListingPage { next, ..page.clone() })?;
    match end.reached_floor(request.stop) {
        None => {}
        Some(reached) if reached <= request.stop => {
            // an empty answer may be a fault: what is known already does not begin earlier because of it
            let reached = if old_from.is_some() { request.stop } else { reached };
            let from = old_from.map_or(reached, |from| from.min(reached));
            applied.from = applied.from.map(|_| from);
        }
        // what is between the stop and this floor was not read
        Some(reached) => applied = restrict_claim(applied, reached),
    }
    Ok(applied)
}

/// Gives up all claims below a floor, and with them what is known to be unread there.
fn restrict_claim(coverage: Coverage, floor: ListingFloor) -> Coverage {
    Coverage {
        from: Some(floor),
        through: coverage.latest_claim(),
        gap: None,
        walk: None,
        bottom: None,
        ..coverage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::LaneSection;
    use crate::source_time::{SourceInstant, SourceTime};
    use crate::walk::{ListingEntry, PageCursor};

    const MINUTE_MS: i64 = 60_000;

    #[test]
    fn feed_read_to_its_stop_is_complete_from_there() {
        let coverage = read(Coverage::default(), first(), &[90, 80, 40], &FeedEnd::ReachedStop);
        assert!(coverage.is_complete());
        assert_eq!((coverage.from, coverage.through), (Some(minute(50)), Some(instant(90))));
    }

    #[test]
    fn feed_without_rows_is_complete_from_the_beginning() {
        let coverage = read(Coverage::default(), first(), &[], &FeedEnd::Empty);
        assert!(coverage.is_complete());
        assert_eq!(coverage.from, Some(ListingFloor::Beginning));
    }

    #[test]
    fn empty_answer_changes_nothing_about_what_is_known() {
        let known = read(Coverage::default(), first(), &[90, 40], &FeedEnd::ReachedStop);
        let coverage = read(known.clone(), REGULAR, &[], &FeedEnd::Empty);
        assert_eq!((coverage.from, coverage.through), (known.from, known.through));
    }

    #[test]
    fn empty_page_before_the_first_rows_is_not_the_head() {
        let end = FeedEnd::Continues(PageCursor("below".into()));
        let open = read(Coverage::default(), first(), &[], &end);
        let coverage = read(open, first(), &[90, 40], &FeedEnd::ReachedStop);
        assert_eq!(coverage.through, Some(instant(90)));
    }

    #[test]
    fn feed_that_ends_without_proof_is_complete_from_its_oldest_row() {
        let unsaid = FeedEnd::Unsaid { oldest: Some(instant(80)) };
        let coverage = read(Coverage::default(), first(), &[90, 80], &unsaid);
        assert!(coverage.is_complete());
        assert_eq!((coverage.from, coverage.through), (Some(minute(80)), Some(instant(90))));
    }

    #[test]
    fn feed_that_ends_above_what_is_known_forgets_what_it_did_not_connect_to() {
        let known = read(Coverage::default(), first(), &[70, 40], &FeedEnd::ReachedStop);
        let unsaid = FeedEnd::Unsaid { oldest: Some(instant(80)) };
        let coverage = read(known, REGULAR, &[90, 80], &unsaid);
        assert_eq!((coverage.from, coverage.through), (Some(minute(80)), Some(instant(90))));
        assert!(coverage.is_complete(), "there is no cursor to go on from");
        let whole = read(coverage, whole(), &[95, 90, 80, 70, 40], &FeedEnd::ReachedStop);
        assert_eq!((whole.from, whole.through), (Some(minute(50)), Some(instant(95))));
    }

    #[test]
    fn regular_read_keeps_the_beginning_of_what_is_known() {
        let known = read(Coverage::default(), first(), &[70, 40], &FeedEnd::ReachedStop);
        let coverage = read(known, REGULAR, &[90, 70, 40], &FeedEnd::ReachedStop);
        assert_eq!((coverage.from, coverage.through), (Some(minute(50)), Some(instant(90))));
    }

    #[test]
    fn whole_read_stops_at_the_look_back_or_where_it_connects() {
        let known = read(Coverage::default(), first(), &[70, 40], &FeedEnd::ReachedStop);
        assert_eq!(REGULAR.next_head_request(&known).stop, minute(70), "it is long final");
        assert_eq!(whole().next_head_request(&known).stop, minute(50));
        let later = FeedDepth { lookback: minute(100), is_whole: true };
        assert_eq!(later.next_head_request(&known).stop, minute(70), "nothing is skipped");
    }

    #[test]
    fn longer_look_back_waits_for_the_whole_read() {
        let known = read(Coverage::default(), first(), &[70, 40], &FeedEnd::ReachedStop);
        let longer = FeedDepth { lookback: minute(20), is_whole: false };
        assert_eq!(longer.open_turn(known.clone()).gap, None);
        let whole = FeedDepth { is_whole: true, ..longer };
        let coverage = read(known, whole, &[70, 40, 10], &FeedEnd::ReachedStop);
        assert_eq!(coverage.from, Some(minute(20)));
    }

    #[test]
    fn interrupted_read_goes_on_below_what_is_new() {
        let end = FeedEnd::Continues(PageCursor("below 80".into()));
        let open = read(Coverage::default(), first(), &[90, 80], &end);
        let coverage = REGULAR.open_turn(open);
        let coverage = read(coverage, REGULAR, &[110, 90, 80], &FeedEnd::ReachedStop);
        let request = coverage.next_gap_request().unwrap();
        assert_eq!(
            (request.after.clone(), request.stop),
            (Some(PageCursor("below 80".into())), minute(50))
        );
        let page = page(&[70, 40]);
        let coverage = apply_feed_page(coverage, &request, &page, &FeedEnd::ReachedStop).unwrap();
        assert!(coverage.is_complete());
        assert_eq!((coverage.from, coverage.through), (Some(minute(50)), Some(instant(110))));
    }

    #[test]
    fn feed_read_within_a_minute_of_its_newest_row_is_read_again_from_a_minute_before() {
        let known = read(Coverage::default(), first(), &[119, 40], &FeedEnd::ReachedStop);
        assert_eq!(REGULAR.next_head_request(&known).stop, minute(118));
        let end = FeedEnd::Continues(PageCursor("below".into()));
        for (newest, stop) in [(119, 118), (110, 110)] {
            let open = read(Coverage::default(), first(), &[newest, 80], &end);
            let request = REGULAR.next_head_request(&REGULAR.open_turn(open));
            assert_eq!(request.stop, minute(stop));
        }
    }

    #[test]
    fn rows_below_the_look_back_are_not_stored() {
        let request = first().next_head_request(&Coverage::default());
        assert_eq!(request.section, LaneSection::Head);
        assert_eq!(first().retention_floor(&Coverage::default(), &request), minute(50));
        let known = read(Coverage::default(), first(), &[30], &FeedEnd::ReachedStop);
        let request = REGULAR.next_head_request(&known);
        assert_eq!(request.stop, minute(30), "the newest row is older than the look-back");
        assert_eq!(REGULAR.retention_floor(&known, &request), minute(50));
    }

    /// A regular poll, later: the look-back has moved on.
    const REGULAR: FeedDepth =
        FeedDepth { lookback: ListingFloor::At(SourceInstant(60 * MINUTE_MS)), is_whole: false };

    fn first() -> FeedDepth {
        whole()
    }

    fn whole() -> FeedDepth {
        FeedDepth { lookback: minute(50), is_whole: true }
    }

    fn read(coverage: Coverage, depth: FeedDepth, minutes: &[i64], end: &FeedEnd) -> Coverage {
        let request = depth.next_head_request(&coverage);
        apply_feed_page(coverage, &request, &page(minutes), end).unwrap()
    }

    fn page(minutes: &[i64]) -> ListingPage {
        let entry = |minute: &i64| ListingEntry {
            id: *minute,
            updated_at: SourceTime::parse(&instant(*minute).to_string()).unwrap(),
            cursor: PageCursor(String::new()),
        };
        ListingPage {
            date: instant(120),
            entries: minutes.iter().map(entry).collect(),
            total_count: None,
            next: None,
        }
    }

    fn minute(minutes: i64) -> ListingFloor {
        ListingFloor::At(instant(minutes))
    }

    fn instant(minutes: i64) -> SourceInstant {
        SourceInstant(minutes * MINUTE_MS)
    }
}
