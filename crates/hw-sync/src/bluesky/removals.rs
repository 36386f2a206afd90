//! Removes what a feed no longer shows, after a second look.
//!
//! A feed that was read whole shows which stored items it leaves out. Posts are looked up by URI; reposts cannot be, so
//! the feed is read a second time for them, with pages of another size.

use std::collections::BTreeSet;

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::feed_end::{FeedEnd, FeedPosition};
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::bluesky::feed::AuthorFeedQuery;
use hw_sources::bluesky::posts::{POSTS_SIZE, PostsPage, PostsQuery};
use hw_sources::bluesky::profiles::ProfileQuery;
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
    let witness = find_witness(turn, range).await?;
    let (posts, others): (Vec<_>, Vec<_>) =
        suspects.into_iter().partition(|suspect| suspect.uri.is_post());
    let LookedUp { mut gone, found } = look_up_posts(turn, &posts, &witness).await?;
    gone.extend(look_for_reposts(turn, &others, &found).await?);
    turn.round.client.api().crash_points().pass_point(crash_points::SUSPECTS_RECHECKED)?;
    if gone.is_empty() {
        return Ok(0);
    }
    let (lane, is_allowed) = (turn.lane.clone(), turn.round.spec.allow_mass_removal);
    let remove = move |store: &hw_store::LeasedStore| store.remove_posts(&lane, &gone, is_allowed);
    Ok(turn.round.write(remove).await?)
}

/// What shows that an account can be read, and that the server answers lookups.
struct Witness {
    /// Posts that must be there, in an answer that is believed.
    siblings: Vec<RecordUri>,
    /// True if the account has no posts at all.
    is_empty_account: bool,
}

/// Finds posts that must be there: of the same feed, or else of another one, if the profile of this account can be read
/// now. An account that was switched off since the round began would look as if it had deleted everything.
async fn find_witness(turn: &FeedTurn<'_>, range: WholeRange) -> Result<Witness, FetchError> {
    let (host, did) = (&turn.round.spec.host, &turn.account.feed.did);
    let siblings = turn.round.store.listed_posts(host, did, range.began, 1)?;
    if !siblings.is_empty() {
        return Ok(Witness { siblings, is_empty_account: false });
    }
    let account = AccountRef::Did(did.clone());
    let profile = turn.round.client.fetch(&ProfileQuery { account: &account }, 1).await?;
    let siblings = turn.round.seen_post().filter(|_| !profile.is_blocked);
    let is_empty_account = profile.posts_count == Some(0);
    Ok(Witness { siblings: siblings.into_iter().collect(), is_empty_account })
}

fn load_suspects(
    turn: &FeedTurn<'_>,
    WholeRange { floor, began }: WholeRange,
) -> Result<Vec<SuspectPost>, FetchError> {
    let (host, did) = (&turn.round.spec.host, &turn.account.feed.did);
    Ok(turn.round.store.unlisted_posts(host, did, floor, began, began)?)
}

/// The result of looking posts up.
#[derive(Default)]
struct LookedUp {
    /// Posts that the server does not know any more.
    gone: Vec<(i64, ObservedAt)>,
    /// Posts that are there, although their feed did not show them.
    found: BTreeSet<i64>,
}

async fn look_up_posts(
    turn: &FeedTurn<'_>,
    suspects: &[SuspectPost],
    witness: &Witness,
) -> Result<LookedUp, FetchError> {
    let uris: Vec<RecordUri> = suspects.iter().map(|suspect| suspect.uri.clone()).collect();
    let (mut result, mut rest) = (LookedUp::default(), uris.as_slice());
    while !rest.is_empty() {
        let query = PostsQuery { uris: rest, siblings: &witness.siblings };
        let page = turn.round.client.fetch(&query, POSTS_SIZE).await?;
        rest = rest.get(page.requested_count.max(1)..).unwrap_or_default();
        if page.is_vouched_for || witness.is_empty_account {
            let absent = suspects.iter().filter(|suspect| page.absent.contains(&suspect.uri));
            result.gone.extend(absent.map(|suspect| (suspect.id, page.observed_at)));
        }
        result.found.extend(page.posts.iter().map(|found| found.post.id()));
        store_found(turn, page).await?;
    }
    Ok(result)
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

/// Returns the reposts that a second reading of the feed does not show, either. A reading that leaves out many posts
/// which are there is not believed.
async fn look_for_reposts(
    turn: &FeedTurn<'_>,
    suspects: &[SuspectPost],
    found: &BTreeSet<i64>,
) -> Result<Vec<(i64, ObservedAt)>, FetchError> {
    let Some(oldest) = suspects.iter().map(|suspect| suspect.sort_at).min() else {
        return Ok(Vec::new());
    };
    let reading = read_again(turn, oldest).await?;
    let Some(began) = reading.began.filter(|_| reading.is_believed(found)) else {
        return Ok(Vec::new());
    };
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
    /// Returns true if it lists most of what is there. A post or two may have the time of a page's last row.
    fn is_believed(&self, found: &BTreeSet<i64>) -> bool {
        4 * found.difference(&self.listed).count() <= self.listed.len()
    }

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
