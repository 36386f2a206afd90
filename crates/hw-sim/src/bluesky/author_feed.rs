//! `app.bsky.feed.getAuthorFeed`: pages of one account's posts and reposts.

use serde_json::{Value, json};

use super::SimulatedAppView;
use super::cursor::{FeedCursor, FeedPosition};
use super::endpoint::{Viewer, XrpcCall};
use super::reply::XrpcError;
use super::spec::FeedEnd;
use super::views::ViewBuilder;
use super::world::{BlueskyWorld, FeedKey, FeedRow, MediaEmbed, PostEmbed, SimAccount, SimPost};

/// The rows of one page, and the position of the next one.
#[derive(Debug, Default)]
pub(super) struct FeedPage {
    pub(super) rows: Vec<FeedKey>,
    pub(super) next: Option<FeedPosition>,
}

/// A way in which a page can be well formed and wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageDistortion {
    /// No rows, and a cursor that leads to them.
    Empty,
    /// Fewer rows, as many as the random number decides, if there are several.
    Short(usize),
    NoCursor,
}

/// Restricts the rows of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedFilter {
    WithReplies,
    NoReplies,
    WithMedia,
    AuthorThreads,
    WithVideo,
}

/// A part of a feed to be read.
#[derive(Debug, Clone)]
pub(super) struct FeedRequest {
    pub(super) limit: usize,
    /// `None`: from the top.
    pub(super) below: Option<FeedPosition>,
    pub(super) filter: FeedFilter,
}

impl SimulatedAppView {
    pub(super) fn answer_author_feed(
        &self,
        call: &XrpcCall<'_>,
        viewer: Viewer,
        distortion: Option<PageDistortion>,
    ) -> Result<Value, XrpcError> {
        let actor = call.required_parameter("actor")?;
        let limit = call.page_size()?;
        let filter = FeedFilter::from_name(call.request.parameter("filter").as_deref());
        let account = self.world.find_account(&actor).filter(|account| account.is_active());
        let account = account.ok_or_else(XrpcError::profile_not_found)?;
        check_blocks(account, viewer)?;
        let cursor = call.cursor().map(|text| FeedCursor::parse(self.cursor_format, &text));
        let below = match cursor {
            None => None,
            Some(FeedCursor::Below(position)) => Some(position),
            Some(FeedCursor::Outdated) => return Ok(json!({ "feed": [] })),
            Some(FeedCursor::Malformed) => return Err(XrpcError::internal_error()),
        };
        let is_first = below.is_none();
        let request = FeedRequest { limit, below, filter };
        let mut page = read_feed_page(&self.world, account, &request, self.feed_end, self.now_ms);
        if let Some(distortion) = distortion {
            page = self
                .distort_page(account, &request, page, distortion)
                .ok_or_else(|| XrpcError::invalid_request("this page cannot be distorted"))?;
        }
        let pin = account.pinned_post.filter(|_| is_first && has_flag(call, "includePins"));
        Ok(self.feed_page_json(account, &page, pin, viewer))
    }

    fn feed_page_json(
        &self,
        account: &SimAccount,
        page: &FeedPage,
        pin: Option<usize>,
        viewer: Viewer,
    ) -> Value {
        let views = ViewBuilder::new(&self.world, self.now_ms, viewer);
        let pin_row = pin.map(FeedRow::Post);
        let pinned = pin.and_then(|pin| views.pinned_item(account, pin));
        // the pin moves to the top of its page; on a later page it appears again
        let rows = page.rows.iter().map(|key| key.row).filter(|row| Some(*row) != pin_row);
        let items = rows.filter_map(|row| views.feed_item(account, row));
        let items: Vec<Value> = pinned.into_iter().chain(items).collect();
        let mut body = json!({ "feed": items });
        if let Some(next) = &page.next {
            body["cursor"] = next.to_text(self.cursor_format).into();
        }
        body
    }
}

/// Reads the rows strictly below a position, newest first.
///
/// Rows whose post is gone count like others, so that a page may show fewer items than requested, or none.
pub(super) fn read_feed_page(
    world: &BlueskyWorld,
    account: &SimAccount,
    request: &FeedRequest,
    feed_end: FeedEnd,
    now_ms: i64,
) -> FeedPage {
    let mut below = keys_below(account, request.below.as_ref())
        .filter(|key| request.filter.is_match(world, account, key.row))
        .filter(|key| row_is_indexed(world, key.row, now_ms));
    let keys: Vec<&FeedKey> = below.by_ref().take(request.limit).collect();
    let is_last = feed_end == FeedEnd::MissingCursor && below.next().is_none();
    FeedPage {
        rows: keys.iter().map(|key| (*key).clone()).collect(),
        next: keys.last().filter(|_| !is_last).map(|key| FeedPosition::of_row(key)),
    }
}

fn keys_below<'a>(
    account: &'a SimAccount,
    position: Option<&FeedPosition>,
) -> Box<dyn Iterator<Item = &'a FeedKey> + 'a> {
    match position {
        None => Box::new(account.feed.iter().rev()),
        Some(position) => Box::new(account.feed.range(..position.to_bound()).rev()),
    }
}

pub(super) fn row_is_indexed(world: &BlueskyWorld, row: FeedRow, now_ms: i64) -> bool {
    match row {
        FeedRow::Post(index) => world.post_at(index).exists_at(now_ms),
        FeedRow::Repost(index) => world.repost_at(index).indexed_ms <= now_ms,
    }
}

fn check_blocks(account: &SimAccount, viewer: Viewer) -> Result<(), XrpcError> {
    let did = &account.did;
    match viewer {
        Viewer::SignedIn if account.is_blocked_by_viewer => {
            let message = format!("Requester has blocked actor: {did}");
            Err(XrpcError::new(400, "BlockedActor", message))
        }
        Viewer::SignedIn if account.is_blocking_viewer => {
            let message = format!("Requester is blocked by actor: {did}");
            Err(XrpcError::new(400, "BlockedByActor", message))
        }
        Viewer::SignedIn | Viewer::Anonymous => Ok(()),
    }
}

fn has_flag(call: &XrpcCall<'_>, name: &str) -> bool {
    call.request.parameter(name).as_deref() == Some("true")
}

impl FeedFilter {
    /// Returns the filter of that name; an unknown one filters nothing.
    fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("posts_no_replies") => Self::NoReplies,
            Some("posts_with_media") => Self::WithMedia,
            Some("posts_and_author_threads") => Self::AuthorThreads,
            Some("posts_with_video") => Self::WithVideo,
            _ => Self::WithReplies,
        }
    }

    fn is_match(self, world: &BlueskyWorld, account: &SimAccount, row: FeedRow) -> bool {
        match row {
            FeedRow::Post(index) => self.is_post_match(account, world.post_at(index)),
            FeedRow::Repost(_) => !matches!(self, Self::WithMedia | Self::WithVideo),
        }
    }

    fn is_post_match(self, account: &SimAccount, post: &SimPost) -> bool {
        let reply = post.draft.reply.as_ref();
        match self {
            Self::WithReplies => true,
            Self::NoReplies => reply.is_none(),
            Self::AuthorThreads => reply.is_none_or(|reply| {
                let root = reply.root.uri.strip_prefix("at://");
                root.and_then(|root| root.strip_prefix(&*account.did)).is_some()
            }),
            Self::WithMedia => {
                let media = post.draft.embed.as_ref().and_then(PostEmbed::media);
                matches!(media, Some(MediaEmbed::Images(_)))
            }
            // nobody in this world posts videos
            Self::WithVideo => false,
        }
    }
}
