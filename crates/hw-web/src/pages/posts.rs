//! `/posts`: posts and reposts of accounts on Bluesky, newest first.

mod post_selection;

use std::ops::ControlFlow;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hw_store::{PostCursor, StoreError, StoreReader};

use crate::app_state::AppState;
use crate::format::{format_line, single_line};
use crate::freshness_banner::FreshnessBanner;
use crate::page_error::PageError;
use crate::page_frame::{MenuEntry, PageFrame, render_html};
use crate::post_view::PostView;
use crate::query_params::QueryParams;
use post_selection::{PostSelection, SelectionChip};

/// Posts on a page.
const POSTS_PER_PAGE: usize = 50;

#[derive(Template)]
#[template(path = "posts.html", blocks = ["posts"])]
struct PostsTemplate {
    frame: PageFrame,
    /// The account in the form, as it was typed.
    account: String,
    chips: Vec<SelectionChip>,
    /// The URL that updates the list.
    live_url: String,
    state: PostsView,
}

enum PostsView {
    /// There is no database at this location yet.
    NoWorkspace(String),
    /// No account is followed, and no post is stored.
    NoAccounts,
    /// The text in the form cannot be an account, for this reason.
    InvalidAccount(String),
    NoPosts(FreshnessBanner),
    Posts(PostList),
}

struct PostList {
    posts: Vec<PostView>,
    /// The URLs of the first page, unless this is it, and of the next one.
    newest: Option<String>,
    older: Option<String>,
    freshness: FreshnessBanner,
}

pub(crate) async fn show_posts(State(site): State<Arc<AppState>>, params: QueryParams) -> Response {
    let is_live = params.is_live();
    match load_posts(&site, &params).await {
        Ok(page) if is_live => render_html(StatusCode::OK, &page.as_posts()),
        Ok(page) => render_html(StatusCode::OK, &page),
        Err(error) if is_live => error.fragment_response(),
        Err(error) => error.page_response(),
    }
}

async fn load_posts(site: &AppState, params: &QueryParams) -> Result<PostsTemplate, PageError> {
    let frame = PageFrame::with_updates(Some(MenuEntry::Posts), &site.workspace).await?;
    let account = format_line(params.get("account").unwrap_or_default().trim());
    let (selection, invalid) = match PostSelection::from_params(params) {
        Ok(selection) => (selection, None),
        Err(error) => (PostSelection::default(), Some(error.to_string())),
    };
    let (chips, live_url) = (selection.chips(), selection.live_url());
    let state = match invalid {
        Some(reason) => PostsView::InvalidAccount(single_line(&reason)),
        None => match site.query_store(move |store| PostsView::read(store, &selection)).await {
            Ok(view) => view,
            Err(PageError::NoWorkspace(location)) => PostsView::NoWorkspace(format_line(&location)),
            Err(error) => return Err(error),
        },
    };
    Ok(PostsTemplate { frame, account, chips, live_url, state })
}

impl PostsView {
    fn read(store: &StoreReader, selection: &PostSelection) -> Result<Self, StoreError> {
        // one more shows that there is another page
        let filter = selection.store_filter(POSTS_PER_PAGE as u64 + 1);
        let mut rows = Vec::new();
        let skipped = store.each_post(&filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        if rows.is_empty() && filter.is_unfiltered() && store.accounts()?.is_empty() {
            return Ok(Self::NoAccounts);
        }
        let mut completeness = store.post_completeness(&filter.accounts)?;
        completeness.missing.extend(skipped.to_missing());
        let freshness = FreshnessBanner::from(completeness);
        if rows.is_empty() {
            return Ok(Self::NoPosts(freshness));
        }
        let has_more = rows.len() + usize::try_from(skipped.0).unwrap_or(0) > POSTS_PER_PAGE;
        rows.truncate(POSTS_PER_PAGE);
        let last = rows.last().filter(|_| has_more).map(PostCursor::from_row);
        Ok(Self::Posts(PostList {
            posts: rows.iter().map(PostView::new).collect(),
            newest: filter.after.map(|_| selection.page_url(None)),
            older: last.map(|last| selection.page_url(Some(&last))),
            freshness,
        }))
    }
}
