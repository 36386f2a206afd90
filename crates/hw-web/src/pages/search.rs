//! `/`: the search box, and results while the user types.

mod browser_history;
mod hit_view;

use hw_rules::format::format_count;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hw_rules::query::Query;
use hw_store::{HitOrder, MatchCount, SearchRequest, SearchResults, StoreReader};

use crate::app_state::{AppState, run_blocking};
use crate::filter_chips::{self, ChipGroup, DroppableFilter};
use crate::format::{format_line, single_line};
use crate::freshness_banner::FreshnessBanner;
use crate::page_error::PageError;
use crate::page_frame::{MenuEntry, PageFrame, render_html};
use crate::query_params::QueryParams;
use crate::title::{TitlePart, sentence_parts};
use browser_history::QueryEntry;
use hit_view::HitView;

/// Warnings about misread filters on a page.
const MAX_MISREAD: usize = 20;

#[derive(Template)]
#[template(path = "index.html", blocks = ["results"])]
struct SearchTemplate {
    frame: PageFrame,
    query: String,
    groups: Vec<ChipGroup>,
    droppable: Vec<DroppableFilter>,
    /// Warnings about words that look like filters and were searched as text.
    misread: Vec<Vec<TitlePart>>,
    /// The query has something to search for.
    has_search: bool,
    /// The query has words, not only filters.
    has_words: bool,
    state: ResultsView,
}

enum ResultsView {
    /// There is no database at this location yet.
    NoWorkspace(String),
    NoQuery(FreshnessBanner),
    NoHits(FreshnessBanner),
    Hits {
        count: String,
        order: &'static str,
        /// The reason why the count is a lower bound, if it is one.
        note: Option<&'static str>,
        hits: Vec<HitView>,
        freshness: FreshnessBanner,
    },
}

struct SearchAnswer {
    state: ResultsView,
    misread: Vec<Vec<TitlePart>>,
}

pub(crate) async fn show_search(
    State(site): State<Arc<AppState>>,
    params: QueryParams,
) -> Response {
    let frame = match PageFrame::with_updates(Some(MenuEntry::Search), &site.workspace).await {
        Ok(frame) => frame,
        Err(error) => return error.page_response(),
    };
    match run_search(&site, &params).await {
        Ok(answer) => {
            render_html(StatusCode::OK, &build_template(frame, params.search_query(), answer))
        }
        Err(error) => error.page_response(),
    }
}

/// Shows the results without the page around them.
pub(crate) async fn show_results(
    State(site): State<Arc<AppState>>,
    params: QueryParams,
    headers: HeaderMap,
) -> Response {
    let answer = match run_search(&site, &params).await {
        Ok(answer) => answer,
        Err(error) => return error.fragment_response(),
    };
    let query = params.search_query();
    // the script sends `new` instead when the query before this one was finished
    let entry = match params.get("unfinished") {
        Some("true") => QueryEntry::Typing,
        _ => QueryEntry::Finished,
    };
    let history =
        browser_history::history_header(&headers, query, entry).filter(|_| !params.is_live());
    let frame = PageFrame::without_updates(Some(MenuEntry::Search));
    let results = build_template(frame, query, answer);
    let fragment = render_html(StatusCode::OK, &results.as_results());
    (HeaderMap::from_iter(history), fragment).into_response()
}

fn build_template(frame: PageFrame, query: &str, answer: SearchAnswer) -> SearchTemplate {
    let SearchAnswer { state, misread } = answer;
    let query = single_line(query);
    let parsed = Query::parse(&query);
    SearchTemplate {
        frame,
        groups: filter_chips::build_groups(&query),
        droppable: filter_chips::list_droppable(&query),
        has_search: !parsed.is_empty(),
        has_words: parsed.has_words(),
        query,
        misread,
        state,
    }
}

async fn run_search(site: &AppState, params: &QueryParams) -> Result<SearchAnswer, PageError> {
    let query = params.search_query();
    let answer = if query.trim().is_empty() {
        site.query_store(StoreReader::overall_completeness)
            .await
            .map(|completeness| SearchAnswer::from(ResultsView::NoQuery(completeness.into())))
    } else {
        let workspace = site.workspace.clone();
        // always the same request, so that a reloaded page has the same results as one that was typed
        let request = SearchRequest::new(query);
        run_blocking(move || Ok(workspace.search_engine()?.search(&request)?))
            .await
            .map(|results| SearchAnswer::from_results(results, &single_line(query)))
    };
    match answer {
        Err(PageError::NoWorkspace(location)) => {
            Ok(ResultsView::NoWorkspace(format_line(&location)).into())
        }
        other => other,
    }
}

impl From<ResultsView> for SearchAnswer {
    fn from(state: ResultsView) -> Self {
        Self { state, misread: Vec::new() }
    }
}

impl SearchAnswer {
    fn from_results(results: SearchResults, query: &str) -> Self {
        let misread = results.misread.iter().take(MAX_MISREAD);
        let misread = misread.map(|warning| sentence_parts(warning)).collect();
        Self { state: ResultsView::from_results(results, query), misread }
    }
}

impl SearchTemplate {
    /// Checks whether there are no results, so that the search box gets the focus.
    fn has_no_hits(&self) -> bool {
        !matches!(self.state, ResultsView::Hits { .. })
    }
}

impl ResultsView {
    fn from_results(results: SearchResults, query: &str) -> Self {
        let note = results.count_note();
        let SearchResults { hits, matches, order, completeness, .. } = results;
        let freshness = FreshnessBanner::from(completeness);
        if hits.is_empty() {
            return Self::NoHits(freshness);
        }
        let hit_count = hits.len() as u64;
        let count = match matches {
            MatchCount::Exactly(count) => format_count(count.max(hit_count), "match"),
            MatchCount::AtLeast(count) => {
                format!("at least {}", format_count(count.max(hit_count), "match"))
            }
        };
        let order = match order {
            HitOrder::BestFirst => "best first",
            HitOrder::NewestFirst => "most recently updated first",
        };
        let hits = hits.into_iter().map(|hit| HitView::new(hit, query)).collect();
        Self::Hits { count, order, note, hits, freshness }
    }
}
