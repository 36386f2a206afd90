//! A poller as an older design describes it, written down as a test double: it saves the cursor of the last page it
//! read, and starts there the next time.

use std::collections::{BTreeMap, BTreeSet};

use hw_sources::transport::{HttpResponse, TransportError};
use serde_json::Value;

use crate::harness::AppViewFixture;

const POSTS_PER_PAGE: usize = 50;
const INITIAL_LOOKBACK_MS: i64 = 24 * 3_600_000;
const MAX_PAGES: usize = 100;
const MAX_REGULAR_PAGES: usize = 10;
const MAX_RETRIES: u32 = 3;
const RETRY_BACKOFF_MS: u64 = 1000;

/// The poller with its table of states.
pub(crate) struct ReferencePoller<'f> {
    fixture: &'f AppViewFixture,
    polling_interval_ms: i64,
    /// By handle.
    pub(crate) poll_state: BTreeMap<String, PollState>,
    /// The URIs of the posts it processed.
    pub(crate) processed: BTreeSet<String>,
}

/// A row of its table of states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PollState {
    pub(crate) last_cursor: String,
    pub(crate) posts_fetched_count: usize,
}

/// What a poll of one account came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PollOutcome {
    Initial {
        posts: usize,
    },
    Regular {
        posts: usize,
        pages: usize,
    },
    /// A permanent error: the account is skipped and its cursor stays.
    Skipped(u16),
    /// A transient error on every attempt.
    Failed,
    /// An index out of range: the first page has no last post.
    Panicked,
}

#[derive(Debug, Clone, Copy)]
enum FetchError {
    Permanent(u16),
    Transient,
}

/// A page as the poller sees it.
struct FeedPage {
    posts: Vec<PolledPost>,
    cursor: String,
}

struct PolledPost {
    uri: String,
    created_ms: i64,
}

impl<'f> ReferencePoller<'f> {
    pub(crate) fn new(fixture: &'f AppViewFixture, polling_interval_ms: i64) -> Self {
        Self {
            fixture,
            polling_interval_ms,
            poll_state: BTreeMap::new(),
            processed: BTreeSet::new(),
        }
    }

    /// Polls an account: the last day at first, then from the saved cursor on.
    pub(crate) async fn poll_account(&mut self, handle: &str) -> PollOutcome {
        let saved = self.poll_state.get(handle).cloned().unwrap_or_default();
        let polled = if saved.last_cursor.is_empty() {
            self.poll_account_initial(handle).await
        } else {
            self.poll_account_regular(handle, saved.last_cursor).await
        };
        match polled {
            Ok(outcome) => outcome,
            Err(FetchError::Permanent(status)) => PollOutcome::Skipped(status),
            Err(FetchError::Transient) => PollOutcome::Failed,
        }
    }

    async fn poll_account_initial(&mut self, handle: &str) -> Result<PollOutcome, FetchError> {
        let cutoff_ms = self.now_ms() - INITIAL_LOOKBACK_MS;
        let (mut cursor, mut posts) = (String::new(), 0);
        for _ in 0..MAX_PAGES {
            let page = self.fetch_with_retry(handle, &cursor).await?;
            posts += self.process_posts(&page);
            if !page.cursor.is_empty() {
                cursor.clone_from(&page.cursor);
            }
            let Some(oldest) = page.posts.last() else { return Ok(PollOutcome::Panicked) };
            if oldest.created_ms < cutoff_ms {
                break;
            }
        }
        self.update_cursor(handle, cursor, posts);
        Ok(PollOutcome::Initial { posts })
    }

    async fn poll_account_regular(
        &mut self,
        handle: &str,
        last_cursor: String,
    ) -> Result<PollOutcome, FetchError> {
        let cutoff_ms = self.now_ms() - self.polling_interval_ms;
        let (mut cursor, mut posts, mut pages) = (last_cursor, 0, 0);
        while pages < MAX_REGULAR_PAGES {
            let page = self.fetch_with_retry(handle, &cursor).await?;
            pages += 1;
            let Some(oldest) = page.posts.last() else { break };
            posts += self.process_posts(&page);
            if !page.cursor.is_empty() {
                cursor.clone_from(&page.cursor);
            }
            if oldest.created_ms < cutoff_ms {
                break;
            }
        }
        self.update_cursor(handle, cursor, posts);
        Ok(PollOutcome::Regular { posts, pages })
    }

    /// Processes the posts of a page and returns their number.
    fn process_posts(&mut self, page: &FeedPage) -> usize {
        self.processed.extend(page.posts.iter().map(|post| post.uri.clone()));
        page.posts.len()
    }

    fn update_cursor(&mut self, handle: &str, cursor: String, posts: usize) {
        let state = self.poll_state.entry(handle.to_owned()).or_default();
        state.last_cursor = cursor;
        state.posts_fetched_count += posts;
    }

    /// Fetches a page: at once, and again after one, two and four seconds.
    async fn fetch_with_retry(&self, handle: &str, cursor: &str) -> Result<FeedPage, FetchError> {
        for attempt in 0..=MAX_RETRIES {
            if attempt > 0 {
                self.fixture.clock.advance_by(RETRY_BACKOFF_MS << (attempt - 1)).await;
            }
            match self.fetch_page(handle, cursor).await {
                Err(FetchError::Transient) => {}
                fetched => return fetched,
            }
        }
        Err(FetchError::Transient)
    }

    async fn fetch_page(&self, handle: &str, cursor: &str) -> Result<FeedPage, FetchError> {
        let mut target =
            format!("app.bsky.feed.getAuthorFeed?actor={handle}&limit={POSTS_PER_PAGE}");
        if !cursor.is_empty() {
            target.push_str(&format!("&cursor={cursor}"));
        }
        read_page(self.fixture.get(&target).await)
    }

    fn now_ms(&self) -> i64 {
        self.fixture.clock.virtual_now_ms()
    }
}

fn read_page(answer: Result<HttpResponse, TransportError>) -> Result<FeedPage, FetchError> {
    let answer = answer.map_err(|_| FetchError::Transient)?;
    match answer.status {
        200 => {}
        status @ (400 | 401 | 403 | 404 | 410) => return Err(FetchError::Permanent(status)),
        _ => return Err(FetchError::Transient),
    }
    let body: Value = serde_json::from_slice(&answer.body).map_err(|_| FetchError::Transient)?;
    let items = body["feed"].as_array().into_iter().flatten();
    let posts = items.map(|item| PolledPost {
        uri: item["post"]["uri"].as_str().unwrap_or_default().to_owned(),
        created_ms: read_time(&item["post"]["record"]["createdAt"]),
    });
    let cursor = body["cursor"].as_str().unwrap_or_default().to_owned();
    Ok(FeedPage { posts: posts.collect(), cursor })
}

fn read_time(value: &Value) -> i64 {
    let timestamp = value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    timestamp.map_or(0, jiff::Timestamp::as_millisecond)
}
