//! Removes what a feed no longer shows, after a second look.
//!
//! A feed that was read whole shows which stored items it leaves out. Posts are looked up by URI; reposts cannot be, so
//! the feed is read a second time for them, with pages of another size.

use std::collections::BTreeSet;

use hw_rules::bluesky::feed_end::{FeedEnd, FeedPosition};
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::bluesky::feed::AuthorFeedQuery;
use hw_sources::bluesky::posts::{POSTS_SIZE, PostsPage, PostsQuery};
use hw_store::{FeedProgress, IngestPage, SuspectPost};

use super::feed_turn::{FeedTurn, WholeRange};
use crate::api_client::FetchError;
use crate::crash_points;

/// Looks again for the stored items that the feed did not show, and removes those that are gone. Returns their number.
pub(super) async fn remove_unlisted(
    turn: &FeedTurn<'_>,
    range: WholeRange,
) -> Result<u64, FetchError> {
    let suspects = load_suspects(turn, range)?;
    if suspects.is_empty() {
        return Ok(0);
    }
    let (posts, others): (Vec<_>, Vec<_>) =
        suspects.into_iter().partition(|suspect| suspect.uri.is_post());
    let mut gone = look_up_posts(turn, &posts, range).await?;
    gone.extend(look_for_reposts(turn, &others).await?);
    turn.round.client.api().crash_points().pass_point(crash_points::SUSPECTS_RECHECKED)?;
    if gone.is_empty() {
        return Ok(0);
    }
    let (lane, is_allowed) = (turn.lane.clone(), turn.round.spec.allow_mass_removal);
    let remove = move |store: &hw_store::LeasedStore| store.remove_posts(&lane, &gone, is_allowed);
    Ok(turn.round.write(remove).await?)
}

fn load_suspects(
    turn: &FeedTurn<'_>,
    WholeRange { floor, began }: WholeRange,
) -> Result<Vec<SuspectPost>, FetchError> {
    let (host, did) = (&turn.round.spec.host, &turn.account.feed.did);
    Ok(turn.round.store.unlisted_posts(host, did, floor, began, began)?)
}

/// Returns the posts that the server does not know any more.
async fn look_up_posts(
    turn: &FeedTurn<'_>,
    suspects: &[SuspectPost],
    range: WholeRange,
) -> Result<Vec<(i64, ObservedAt)>, FetchError> {
    let siblings = find_siblings(turn, range)?;
    let uris: Vec<RecordUri> = suspects.iter().map(|suspect| suspect.uri.clone()).collect();
    let (mut gone, mut rest) = (Vec::new(), uris.as_slice());
    while !rest.is_empty() {
        let query = PostsQuery { uris: rest, siblings: &siblings };
        let page = turn.round.client.fetch(&query, POSTS_SIZE).await?;
        rest = rest.get(page.requested_count.max(1)..).unwrap_or_default();
        // an account without any post has no sibling, and its profile vouches for the answer
        if page.is_vouched_for || turn.posts_count == Some(0) {
            let absent = suspects.iter().filter(|suspect| page.absent.contains(&suspect.uri));
            gone.extend(absent.map(|suspect| (suspect.id, page.observed_at)));
        }
        store_found(turn, page).await?;
    }
    Ok(gone)
}

/// Returns posts that must be there: of the same feed, or else of another one.
fn find_siblings(turn: &FeedTurn<'_>, range: WholeRange) -> Result<Vec<RecordUri>, FetchError> {
    let (host, did) = (&turn.round.spec.host, &turn.account.feed.did);
    let listed = turn.round.store.listed_posts(host, did, range.began, 1)?;
    Ok(if listed.is_empty() { turn.round.seen_post().into_iter().collect() } else { listed })
}

/// Stores posts that are there although their feed did not show them.
async fn store_found(turn: &FeedTurn<'_>, page: PostsPage) -> Result<(), FetchError> {
    if page.posts.is_empty() {
        return Ok(());
    }
    let observations = page.posts.into_iter().map(|found| ItemObservation {
        item: MirrorItem::Post(found.post),
        observed_at: found.observed_at,
    });
    let found = IngestPage {
        observations: observations.collect(),
        ..IngestPage::new(turn.lane.clone(), turn.page_size)
    };
    let store = move |store: &hw_store::LeasedStore| {
        let prepared = store.page_preparer().prepare_page(found);
        let progress = FeedProgress { names: Vec::new(), finished: None };
        store.ingest_feed_page(&prepared, &progress)
    };
    turn.round.write(store).await?;
    Ok(())
}

/// Returns the reposts that a second reading of the feed does not show, either.
async fn look_for_reposts(
    turn: &FeedTurn<'_>,
    suspects: &[SuspectPost],
) -> Result<Vec<(i64, ObservedAt)>, FetchError> {
    let Some(oldest) = suspects.iter().map(|suspect| suspect.sort_at).min() else {
        return Ok(Vec::new());
    };
    let reading = read_again(turn, oldest).await?;
    let Some(began) = reading.began else { return Ok(Vec::new()) };
    let gone = suspects.iter().filter(|suspect| {
        !reading.listed.contains(&suspect.id) && reading.has_passed(suspect.sort_at)
    });
    Ok(gone.map(|suspect| (suspect.id, began)).collect())
}

/// A second reading of a feed.
#[derive(Default)]
struct SecondReading {
    listed: BTreeSet<i64>,
    /// The observation time of the first page.
    began: Option<ObservedAt>,
    /// The floor that was reached; none before the first page.
    reached: Option<ListingFloor>,
}

impl SecondReading {
    /// Returns true if an item of this time would have been listed.
    fn has_passed(&self, sort_at: SourceInstant) -> bool {
        self.reached.is_some_and(|reached| match reached {
            ListingFloor::Beginning => true,
            ListingFloor::At(floor) => floor < sort_at,
        })
    }
}

/// Reads the feed down to this time, without storing anything.
async fn read_again(
    turn: &FeedTurn<'_>,
    oldest: SourceInstant,
) -> Result<SecondReading, FetchError> {
    let settings = &turn.round.spec.settings;
    let first_size = turn.page_size;
    let sizes = [settings.posts_per_page, settings.second_page_size()];
    let page_size = sizes.into_iter().find(|size| *size != first_size).unwrap_or(first_size);
    // rows with the time of the stop itself may be on the next page
    let stop = ListingFloor::At(oldest.minus_ms(1));
    let (mut reading, mut cursor) = (SecondReading::default(), None::<PageCursor>);
    // as many rows as the first reading may have had
    let max_pages = (turn.max_pages * first_size).div_ceil(page_size);
    for _ in 0..max_pages {
        let position = cursor.as_ref().map_or(FeedPosition::Top, FeedPosition::After);
        let query = AuthorFeedQuery { did: &turn.account.feed.did, position };
        let page = turn.round.client.fetch(&query, page_size).await?;
        reading.began.get_or_insert(page.observed_at);
        reading.listed.extend(page.posts.iter().map(|seen| seen.post.id()));
        let end = page.judge_end(position, stop);
        let oldest = page.rows.oldest.map(ListingFloor::At);
        // a post that was edited may show a later time than its place in the feed
        reading.reached =
            reading.reached.into_iter().chain(end.reached_floor(stop)).chain(oldest).min();
        match end {
            FeedEnd::Continues(next) => cursor = Some(next),
            FeedEnd::ReachedStop
            | FeedEnd::Empty
            | FeedEnd::Unsaid { .. }
            | FeedEnd::CursorRefused => break,
        }
    }
    Ok(reading)
}
