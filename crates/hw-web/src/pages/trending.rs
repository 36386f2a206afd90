//! `/trending`: the links that most accounts on Bluesky shared.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hw_rules::format::{format_count, group_digits};
use hw_rules::source_time::SourceInstant;
use hw_store::{StoreError, StoreReader, TrendingLink};

use crate::app_state::AppState;
use crate::format::format_line;
use crate::freshness_banner::FreshnessBanner;
use crate::page_error::PageError;
use crate::page_frame::{MenuEntry, PageFrame, render_html};
use crate::post_view::{AccountLink, ExternalLink, PostView};
use crate::query_params::QueryParams;

/// Links on the page.
const MAX_LINKS: u64 = 50;
const HOUR_MS: i64 = 3_600_000;

/// A range of time that the page offers.
#[derive(Clone, Copy)]
struct TimeRange {
    hours: i64,
    label: &'static str,
}

const RANGES: [TimeRange; 4] = [
    TimeRange { hours: 1, label: "1 hour" },
    TimeRange { hours: 6, label: "6 hours" },
    TimeRange { hours: 24, label: "24 hours" },
    TimeRange { hours: 168, label: "7 days" },
];
const DEFAULT_RANGE: TimeRange = RANGES[2];

#[derive(Template)]
#[template(path = "trending.html", blocks = ["trending"])]
struct TrendingTemplate {
    frame: PageFrame,
    range: TimeRange,
    state: TrendingView,
}

enum TrendingView {
    /// There is no database at this location yet.
    NoWorkspace(String),
    /// No account is followed, and no link is stored.
    NoAccounts,
    NoLinks(FreshnessBanner),
    Links {
        links: Vec<LinkView>,
        freshness: FreshnessBanner,
    },
}

struct LinkView {
    /// The id of its element, which stays the same across updates so that its links keep the focus.
    id: String,
    address: ExternalLink,
    /// `3 accounts`
    accounts: String,
    sharers: Vec<AccountLink>,
    /// The number of accounts that are not named; empty if all are.
    others: String,
    newest: PostView,
}

pub(crate) async fn show_trending(
    State(site): State<Arc<AppState>>,
    params: QueryParams,
) -> Response {
    let is_live = params.is_live();
    match load_trending(&site, &params).await {
        Ok(page) if is_live => render_html(StatusCode::OK, &page.as_trending()),
        Ok(page) => render_html(StatusCode::OK, &page),
        Err(error) if is_live => error.fragment_response(),
        Err(error) => error.page_response(),
    }
}

async fn load_trending(
    site: &AppState,
    params: &QueryParams,
) -> Result<TrendingTemplate, PageError> {
    let frame = PageFrame::with_updates(Some(MenuEntry::Trending), &site.workspace).await?;
    let hours: Option<i64> = params.get("hours").and_then(|hours| hours.parse().ok());
    let range = RANGES.into_iter().find(|range| Some(range.hours) == hours);
    let range = range.unwrap_or(DEFAULT_RANGE);
    let since = SourceInstant((site.now_ms)()).minus_ms(range.hours * HOUR_MS);
    let state = match site.query_store(move |store| TrendingView::read(store, since)).await {
        Ok(view) => view,
        Err(PageError::NoWorkspace(location)) => TrendingView::NoWorkspace(format_line(&location)),
        Err(error) => return Err(error),
    };
    Ok(TrendingTemplate { frame, range, state })
}

impl TrendingTemplate {
    fn ranges(&self) -> [TimeRange; 4] {
        RANGES
    }
}

impl TrendingView {
    fn read(store: &StoreReader, since: SourceInstant) -> Result<Self, StoreError> {
        let links = store.trending_links(since, MAX_LINKS)?;
        if links.is_empty() && store.accounts()?.is_empty() {
            return Ok(Self::NoAccounts);
        }
        let freshness = FreshnessBanner::from(store.post_completeness(&[])?);
        if links.is_empty() {
            return Ok(Self::NoLinks(freshness));
        }
        Ok(Self::Links { links: links.iter().map(LinkView::new).collect(), freshness })
    }
}

impl LinkView {
    fn new(link: &TrendingLink) -> Self {
        let others = link.sharer_count.saturating_sub(link.sharers.len() as u64);
        Self {
            id: link_id(&link.normal),
            address: ExternalLink::new(&link.url),
            accounts: format_count(link.sharer_count, "account"),
            sharers: link.sharers.iter().map(|name| AccountLink::new(name)).collect(),
            others: if others == 0 { String::new() } else { group_digits(others) },
            newest: PostView::new(&link.newest),
        }
    }
}

/// Returns the id of a link's element. Ranks change, and URLs have characters that an id cannot have.
fn link_id(normal: &str) -> String {
    let mut hasher = DefaultHasher::new();
    normal.hash(&mut hasher);
    format!("link-{:016x}", hasher.finish())
}
