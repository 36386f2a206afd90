//! Compares stored feeds with the world.

use std::collections::{BTreeMap, BTreeSet};

use hw_sim::bluesky::{CursorFormat, FeedEnd, FeedItemKind, TrueFeed, TrueFeedItem};
use hw_store::PostRow;

use super::poll_fixture::PollFixture;

/// What has to be stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeedCheck {
    /// Items from this time on.
    pub(crate) since_ms: i64,
    /// True if deletions, reposts, edits and back-dated posts are known, too.
    pub(crate) is_daily: bool,
    pub(crate) cursor_format: CursorFormat,
    pub(crate) feed_end: FeedEnd,
}

/// Compares all feeds that can be read with what is stored of them.
pub(crate) fn check_feeds(fixture: &PollFixture, check: &FeedCheck) -> Result<(), String> {
    let now_ms = fixture.now_ms();
    let truth = fixture.world.with_app_view(|app_view| app_view.world().truth(now_ms));
    for account in fixture.accounts() {
        let did = account.feed.did.as_str();
        let feed = truth.feed(did);
        if feed.is_available() && !feed.is_blocking_viewer {
            let stored = fixture.stored_posts(did);
            check_feed(feed, &stored, check).map_err(|wrong| format!("{did}: {wrong}"))?;
        }
    }
    Ok(())
}

fn check_feed(feed: &TrueFeed, stored: &[PostRow], check: &FeedCheck) -> Result<(), String> {
    let by_uri: BTreeMap<&str, &PostRow> =
        stored.iter().map(|row| (row.post.uri.as_str(), row)).collect();
    if by_uri.len() != stored.len() {
        return Err("an item is stored twice".to_owned());
    }
    let shared = shared_times(feed);
    for item in feed.items_since(check.since_ms) {
        let is_expected = check.is_daily || !is_left_to_the_day(feed, item);
        match by_uri.get(item.uri.as_str()) {
            Some(row) => compare_item(item, row, check)?,
            // cursors that are times skip items
            None if check.cursor_format == CursorFormat::IsoTime
                && shared.contains(&item.sort_ms) => {}
            None if is_expected => return Err(format!("{item:?} is missing")),
            None => {}
        }
    }
    for row in stored {
        let uri = row.post.uri.as_str();
        if !feed.items.contains_key(uri) && is_removal_due(feed, row, check) {
            let deleted = feed.deleted.get(uri).map(|deleted| deleted.deleted_ms);
            let reason = if feed.hidden.contains_key(uri) { "hidden" } else { "deleted" };
            return Err(format!(
                "{uri} of {} is stored, and {reason} {deleted:?}",
                row.post.sort_at
            ));
        }
    }
    Ok(())
}

/// Returns true if it must be known by now that an item is gone.
fn is_removal_due(feed: &TrueFeed, row: &PostRow, check: &FeedCheck) -> bool {
    let sort_ms = row.post.sort_at.instant().0;
    // a feed that ends without proof does not show that a repost below its end is gone, and reposts cannot be looked up
    // an edited post shows another time than its place in the feed, and so does one without a readable time, at the bottom
    let mut placed =
        feed.items.values().filter(|item| item.edited_ms.is_none() && item.sort_ms > 0);
    let is_below_end = placed.all(|item| sort_ms < item.sort_ms);
    let is_unprovable =
        check.feed_end == FeedEnd::MissingCursor && row.post.repost.is_some() && is_below_end;
    check.is_daily && sort_ms >= check.since_ms && !is_unprovable
}

/// Returns true if a poll need not see an item before the daily read. An edit can move a post within its feed.
fn is_left_to_the_day(feed: &TrueFeed, item: &TrueFeedItem) -> bool {
    // a post and a deletion between two polls leave the number of posts as it was
    const LONGEST_PAUSE_MS: i64 = 3_600_000;
    let is_masked = feed.deleted.values().any(|deleted| {
        deleted.deleted_ms.abs_diff(item.visible_from_ms) < LONGEST_PAUSE_MS.unsigned_abs()
    });
    let is_moved = item.edited_ms.is_some();
    item.kind == FeedItemKind::Repost || item.is_backdated || is_masked || is_moved
}

fn compare_item(item: &TrueFeedItem, row: &PostRow, check: &FeedCheck) -> Result<(), String> {
    let post = &row.post;
    if item.edited_ms.is_some() && !check.is_daily {
        return Ok(());
    }
    let sort_ms = post.sort_at.instant().0;
    let same = [
        ("cid", post.cid.as_str(), item.post_cid.as_str()),
        ("text", post.text.as_str(), item.text.as_str()),
        ("text_uri", post.text_uri().as_str(), item.post_uri.as_str()),
        ("author", post.did.as_str(), item.author_did.as_str()),
    ];
    for (name, stored, real) in same {
        if stored != real {
            return Err(format!("{}: the {name} is {stored:?}, not {real:?}", item.uri));
        }
    }
    let parent = post.reply.as_ref().map(|reply| reply.parent.as_str());
    let quote = post.quote.as_ref().map(hw_rules::bluesky::record_uri::RecordUri::as_str);
    let references = [(parent, item.reply_parent.as_deref()), (quote, item.quote.as_deref())];
    if references.iter().any(|(stored, real)| stored != real) {
        return Err(format!("{}: {references:?}", item.uri));
    }
    if sort_ms != item.sort_ms {
        return Err(format!("{}: its time is {sort_ms}, not {}", item.uri, item.sort_ms));
    }
    Ok(())
}

/// Returns the times that several items of a feed have.
fn shared_times(feed: &TrueFeed) -> BTreeSet<i64> {
    let mut counts = BTreeMap::new();
    for item in feed.items.values().chain(feed.hidden.values()) {
        *counts.entry(item.sort_ms).or_insert(0) += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(time, _)| time).collect()
}
