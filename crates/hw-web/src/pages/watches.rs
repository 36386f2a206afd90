//! `/watches`: what is watched, who reads it, and the events, newest first.

mod event_selection;
mod event_view;
mod watch_view;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hw_rules::format::{format_count, group_digits};
use hw_store::{StoreError, StoreReader};

use crate::app_state::AppState;
use crate::format::format_line;
use crate::page_error::PageError;
use crate::page_frame::{MenuEntry, PageFrame, render_html};
use crate::query_params::QueryParams;
use event_selection::{EventChip, EventSelection};
use event_view::EventView;
use watch_view::{ConsumerView, WatchView, WatchedThreadView};

/// Events on a page.
const EVENTS_PER_PAGE: u32 = 50;
/// Watches and threads on a page; those that need attention come first.
const MAX_WATCHES: usize = 50;
const MAX_THREADS: usize = 50;
const MAX_CONSUMERS: usize = 50;

#[derive(Template)]
#[template(path = "watches.html", blocks = ["watches"])]
struct WatchesTemplate {
    frame: PageFrame,
    /// The thread or repository whose events are shown; empty for all.
    subject: String,
    is_filtered: bool,
    chips: Vec<EventChip>,
    /// The URL that updates the page.
    live_url: String,
    state: WatchesView,
}

enum WatchesView {
    /// There is no database at this location yet.
    NoWorkspace(String),
    /// Nothing is watched, and nothing was.
    NoWatches,
    Report(Box<WatchReport>),
}

struct WatchReport {
    /// Says that nobody reads what is watched.
    service_note: Option<&'static str>,
    summary: String,
    watches: Vec<WatchView>,
    /// The number of watches that are not listed; empty if all are.
    more_watches: String,
    threads: Vec<WatchedThreadView>,
    more_threads: String,
    consumers: Vec<ConsumerView>,
    events: Vec<EventView>,
    /// The URLs of the first page, unless this is it, and of the next one.
    newest: Option<String>,
    older: Option<String>,
}

pub(crate) async fn show_watches(
    State(site): State<Arc<AppState>>,
    params: QueryParams,
) -> Response {
    let is_live = params.is_live();
    match load_watches(&site, &params).await {
        Ok(page) if is_live => render_html(StatusCode::OK, &page.as_watches()),
        Ok(page) => render_html(StatusCode::OK, &page),
        Err(error) if is_live => error.fragment_response(),
        Err(error) => error.page_response(),
    }
}

async fn load_watches(site: &AppState, params: &QueryParams) -> Result<WatchesTemplate, PageError> {
    let frame = PageFrame::with_updates(Some(MenuEntry::Watches), &site.workspace).await?;
    let selection = EventSelection::from_params(params);
    let subject = selection.subject_text().map(|text| format_line(&text)).unwrap_or_default();
    let (is_filtered, chips) = (selection.is_filtered(), selection.chips());
    let (live_url, now_ms) = (selection.live_url(), (site.now_ms)());
    let read = site.query_store(move |store| WatchesView::read(store, &selection, now_ms)).await;
    let state = match read {
        Ok(view) => view,
        Err(PageError::NoWorkspace(location)) => WatchesView::NoWorkspace(format_line(&location)),
        Err(error) => return Err(error),
    };
    Ok(WatchesTemplate { frame, subject, is_filtered, chips, live_url, state })
}

impl WatchesView {
    fn read(
        store: &StoreReader,
        selection: &EventSelection,
        now_ms: i64,
    ) -> Result<Self, StoreError> {
        let watches = store.watches()?;
        // one more shows that there is another page
        let mut rows = selection.read_events(store, EVENTS_PER_PAGE + 1)?;
        if watches.is_empty() && rows.is_empty() && !selection.is_filtered() {
            return Ok(Self::NoWatches);
        }
        let has_more = rows.len() > EVENTS_PER_PAGE as usize;
        rows.truncate(EVENTS_PER_PAGE as usize);
        let older = rows.last().filter(|_| has_more).map(|last| selection.page_url(Some(last.seq)));
        let (mut listed, mut threads) = (Vec::new(), Vec::new());
        for watch in &watches {
            let watched = store.watched_threads(watch.id)?;
            threads.extend(watched.iter().map(|thread| WatchedThreadView::new(watch, thread)));
            listed.push(WatchView::new(watch, watched.len()));
        }
        // the order of the store is that of their age
        listed.sort_by_key(|watch| watch.rank);
        threads.sort_by_key(|thread| thread.rank);
        let (more_watches, more_threads) =
            (count_beyond(&listed, MAX_WATCHES), count_beyond(&threads, MAX_THREADS));
        listed.truncate(MAX_WATCHES);
        threads.truncate(MAX_THREADS);
        let consumers = store.consumers()?;
        let has_service = watches.is_empty() || store.running_service(now_ms)?.is_some();
        Ok(Self::Report(Box::new(WatchReport {
            service_note: (!has_service).then_some("No service is running"),
            summary: summarize_watches(watches.len()),
            watches: listed,
            more_watches,
            threads,
            more_threads,
            consumers: consumers.iter().take(MAX_CONSUMERS).map(ConsumerView::new).collect(),
            events: rows.iter().map(EventView::new).collect(),
            newest: selection.has_cursor().then(|| selection.page_url(None)),
            older,
        })))
    }
}

fn summarize_watches(count: usize) -> String {
    match count {
        0 => "Nothing is watched".to_owned(),
        1 => "1 watch".to_owned(),
        count => format!("{} watches", group_digits(count as u64)),
    }
}

/// Returns the number of rows beyond the first ones; empty if there are none.
fn count_beyond<T>(rows: &[T], listed: usize) -> String {
    match rows.len().saturating_sub(listed) {
        0 => String::new(),
        more => group_digits(more as u64),
    }
}

fn thread_count(count: usize) -> String {
    format_count(count as u64, "thread")
}
