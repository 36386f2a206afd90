//! The feed of an account: its posts and reposts, newest first.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::feed_end::{self, FeedEnd, FeedPosition, FeedRows};
use hw_rules::bluesky::handle::Handle;
use hw_rules::bluesky::post::{Post, Repost};
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::item_validation::ImpossibleItem;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::{ContentDigest, ObservedAt};
use hw_rules::walk::{ListingEntry, ListingFloor, ListingPage, PageCursor};
use serde::Deserialize;

use super::post_view::{self, PostWithAuthor};
use super::xrpc::{XrpcEndpoint, XrpcRequest, XrpcResponse};
use crate::error::SourceError;
use crate::page::UnreadableRow;
use crate::query::Query;
use crate::raw_json::RawNode;

pub use super::post_view::{AccountName, PostObservation};

/// The most rows that a page can have.
pub const MAX_FEED_ROWS: u32 = 100;
const REPOST_REASON: &str = "app.bsky.feed.defs#reasonRepost";
const PIN_REASON: &str = "app.bsky.feed.defs#reasonPin";

/// Requests one page of an account's feed, replies and reposts included.
#[derive(Debug, Clone, Copy)]
pub struct AuthorFeedQuery<'a> {
    pub did: &'a Did,
    pub position: FeedPosition<'a>,
}

impl Query for AuthorFeedQuery<'_> {
    type Endpoint = XrpcEndpoint;
    type Page = FeedPage;

    fn request(&self, size: u32) -> XrpcRequest {
        let mut params = vec![
            ("actor", self.did.to_string()),
            ("limit", size.clamp(1, MAX_FEED_ROWS).to_string()),
            ("filter", "posts_with_replies".to_owned()),
            ("includePins", "false".to_owned()),
        ];
        params.extend(self.position.cursor().map(|cursor| ("cursor", cursor.0.clone())));
        XrpcRequest::new("app.bsky.feed.getAuthorFeed", params)
    }

    fn parse(&self, response: &XrpcResponse, _size: u32) -> Result<FeedPage, SourceError> {
        FeedReader::new(self, response).read_page()
    }
}

/// One page of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    pub observed_at: ObservedAt,
    /// In the order of the feed.
    pub posts: Vec<PostObservation>,
    /// The cursor of each entry is the one that the page was requested with, because rows have none of their own: after
    /// it, the whole page is read again. At the top it is [`TOP_CURSOR`].
    pub listing: ListingPage,
    pub rows: FeedRows,
    pub unreadable: Vec<UnreadableRow>,
    /// The handles of all authors on the page.
    pub handles: BTreeMap<Did, Handle>,
}

/// The cursor of the rows of a feed's first page. It is never sent.
pub const TOP_CURSOR: &str = "";

impl FeedPage {
    /// Decides what follows the page, which was requested at this position by a walk down to this stop.
    pub fn judge_end(&self, position: FeedPosition<'_>, stop: ListingFloor) -> FeedEnd {
        feed_end::judge_feed_end(self.rows, self.listing.next.as_ref(), position, stop)
    }
}

/// Returns true if an error in answer to a request at this position may be the server's answer to the cursor.
///
/// Some servers answer a cursor that they cannot read with a 500. That is believed only of a stored one: it may be from
/// another version of the server.
pub fn is_cursor_refusal(error: &SourceError, position: FeedPosition<'_>) -> bool {
    match error {
        SourceError::InvalidCursor(_) => position.cursor().is_some(),
        SourceError::Server(_) | SourceError::InvalidRequest(_) => position.is_saved(),
        SourceError::RateLimited(_)
        | SourceError::TooExpensive(_)
        | SourceError::Network(_)
        | SourceError::Unreachable(_)
        | SourceError::TlsFailed(_)
        | SourceError::InvalidResponse(_)
        | SourceError::TokenRejected(_)
        | SourceError::Forbidden(_)
        | SourceError::Hidden(_)
        | SourceError::AccountUnavailable(_)
        | SourceError::SessionExpired(_) => false,
    }
}

/// The part of a row that makes it a repost.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepostReason<'a> {
    #[serde(borrow)]
    by: RawNode<'a>,
    uri: Option<String>,
    indexed_at: String,
}

struct FeedReader<'a> {
    query: &'a AuthorFeedQuery<'a>,
    response: &'a XrpcResponse,
    page: FeedPage,
    /// The items read so far: servers may repeat one.
    seen: BTreeSet<i64>,
}

impl<'a> FeedReader<'a> {
    fn new(query: &'a AuthorFeedQuery<'a>, response: &'a XrpcResponse) -> Self {
        let (date, entries) = (response.date(), Vec::new());
        let page = FeedPage {
            observed_at: response.observed_at(),
            posts: Vec::new(),
            listing: ListingPage { date, entries, total_count: None, next: None },
            rows: FeedRows { count: 0, oldest: None },
            unreadable: Vec::new(),
            handles: BTreeMap::new(),
        };
        Self { query, response, page, seen: BTreeSet::new() }
    }

    fn read_page(mut self) -> Result<FeedPage, SourceError> {
        let rows = self.response.require_rows("feed")?;
        self.page.listing.next = self.response.read_cursor()?;
        for (index, row) in rows.into_iter().enumerate() {
            match self.read_row(row) {
                Ok(Some(item)) => self.add_item(item),
                Ok(None) => {}
                Err(reason) => self.add_unreadable(index, row, reason),
            }
        }
        Ok(self.page)
    }

    /// Reads a row; none for a pinned post, which is shown again at its own place.
    fn read_row(&self, row: RawNode<'_>) -> Result<Option<PostWithAuthor>, String> {
        let post = row.get("post").ok_or("missing field `post`")?;
        let item = match present_field(row, "reason")
            .map(|reason| (post_view::type_name(reason), reason))
        {
            None => post_view::read_post(post)?,
            Some((Some(name), _)) if name == PIN_REASON => return Ok(None),
            Some((Some(name), reason)) if name == REPOST_REASON => read_repost(post, reason)?,
            Some((name, _)) => {
                return Err(format!("unknown reason {:?}", name.unwrap_or_default()));
            }
        };
        if item.post.sharer() != self.query.did {
            let account = item.post.sharer().as_str();
            return Err(ImpossibleItem::from_foreign_account(account).to_string());
        }
        Ok(Some(item))
    }

    fn add_item(&mut self, item: PostWithAuthor) {
        let PostWithAuthor { post, author } = item;
        self.count_row(Some(post.sort_at.instant()));
        self.page.handles.insert(author.did, author.handle);
        let id = post.id();
        if self.seen.insert(id) {
            let (updated_at, cursor) = (post.sort_at.clone(), self.entry_cursor());
            self.page.listing.entries.push(ListingEntry { id, updated_at, cursor });
            let observed_at = self.response.observed_at();
            self.page.posts.push(PostObservation { post, observed_at });
        }
    }

    fn add_unreadable(&mut self, index: usize, row: RawNode<'_>, reason: String) {
        let after = self.query.position.cursor().cloned();
        let position = RowSubject::Position { at: PageCursor(index.to_string()), after };
        // a repost has a time and a URI of its own
        let item = present_field(row, "reason").or_else(|| row.get("post"));
        let observed_at = self.response.observed_at();
        let unreadable = post_view::unreadable_row(row, item, position, reason, observed_at);
        self.count_row(unreadable.updated_at.as_ref().map(SourceTime::instant));
        self.page.unreadable.push(unreadable);
    }

    fn count_row(&mut self, time: Option<SourceInstant>) {
        let rows = &mut self.page.rows;
        rows.count += 1;
        rows.oldest = rows.oldest.into_iter().chain(time).min();
    }

    fn entry_cursor(&self) -> PageCursor {
        let top = || PageCursor(TOP_CURSOR.to_owned());
        self.query.position.cursor().cloned().unwrap_or_else(top)
    }
}

/// Returns a field unless it is null.
fn present_field<'a>(row: RawNode<'a>, name: &str) -> Option<RawNode<'a>> {
    row.get(name).filter(|field| !field.is_null())
}

/// Reads a repost: the post that it repeats, as an item of its own with the time of the repost.
fn read_repost(post: RawNode<'_>, reason: RawNode<'_>) -> Result<PostWithAuthor, String> {
    let PostWithAuthor { post, author } = post_view::read_post(post)?;
    let reason: RepostReason<'_> = reason.parse_as()?;
    let by = post_view::read_account_name(reason.by)?.did;
    let reposted_at = post_view::parse_time(&reason.indexed_at)?;
    let subject = post.uri;
    let uri = match &reason.uri {
        Some(uri) => parse_repost_uri(uri, &by)?,
        None => stand_in_uri(&by, &subject, &reposted_at),
    };
    let sort_at = reposted_at.clone();
    let repost = Some(Repost { by, subject, reposted_at });
    Ok(PostWithAuthor { post: Post { uri, sort_at, repost, ..post }, author })
}

fn parse_repost_uri(text: &str, by: &Did) -> Result<RecordUri, String> {
    let uri: RecordUri = post_view::parse_text(text)?;
    if uri.is_repost() && uri.did() == by {
        Ok(uri)
    } else {
        Err(ImpossibleItem::from_foreign_account(uri.did().as_str()).to_string())
    }
}

/// Returns the URI of a repost from a server that does not send one: older ones do not.
///
/// It is the same in each response, and differs between two reposts of one post.
fn stand_in_uri(by: &Did, subject: &RecordUri, reposted_at: &SourceTime) -> RecordUri {
    let digest = ContentDigest::from_fields([subject.as_str(), reposted_at.as_str()]);
    let hex: String = digest.0.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let key = format!("~{hex}").parse().expect("a tilde and hex digits make a record key");
    RecordUri::repost(by.clone(), key)
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
