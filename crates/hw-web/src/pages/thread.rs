//! `/threads/{owner}/{repository}/{number}`: a thread and its comments.

mod body_view;
mod comment_order;
mod comment_view;
mod thread_content;

use hw_rules::format::format_count;
use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use hw_rules::item::{DiscussionDetails, PullRequestDetails, Thread, ThreadDetails};
use hw_rules::lane::Surface;
use hw_rules::missing::Missing;
use hw_rules::thread_address::ThreadAddress;
use hw_store::{Completeness, StoreError, StoreReader, ThreadOutline};

use crate::app_state::AppState;
use crate::format::{self, DisplayTime, format_author, format_line, format_name};
use crate::freshness_banner::FreshnessBanner;
use crate::page_error::PageError;
use crate::page_frame::{PageFrame, render_html};
use crate::query_params::QueryParams;
use crate::title::{TitlePart, title_parts};
use thread_content::ThreadContent;

/// Labels of a thread on the page, and links to the threads that it closes.
const MAX_LABELS_AND_LINKS: usize = 100;

#[derive(Template)]
#[template(path = "thread.html", blocks = ["thread"])]
struct ThreadTemplate {
    frame: PageFrame,
    path: String,
    address: String,
    kind: &'static str,
    /// The title as plain text.
    name: String,
    title: Vec<TitlePart>,
    state: String,
    author: String,
    created: DisplayTime,
    updated: DisplayTime,
    closed: Option<DisplayTime>,
    labels: Vec<String>,
    /// Properties of its kind, one phrase each.
    details: Vec<String>,
    /// The threads that it closes.
    closes: Vec<ThreadLink>,
    host: String,
    url: Option<String>,
    count: String,
    content: ThreadContent,
    freshness: FreshnessBanner,
}

struct ThreadLink {
    number: i64,
    href: String,
}

pub(crate) async fn show_thread(
    State(site): State<Arc<AppState>>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    params: QueryParams,
) -> Response {
    let Ok(Path((owner, repository, number))) = path else {
        return PageError::PageNotFound.page_response();
    };
    let display_name = format!("{owner}/{repository}#{number}");
    let Ok(number) = number.parse() else {
        return PageError::ThreadNotFound(display_name, Completeness::default()).page_response();
    };
    let address = ThreadAddress { host: None, owner: Some(owner), repository, number };
    let is_live = params.is_live();
    match load_thread(&site, address, display_name, params).await {
        Ok(page) if is_live => render_html(StatusCode::OK, &page.as_thread()),
        Ok(page) => render_html(StatusCode::OK, &page),
        Err(error) if is_live => error.fragment_response(),
        Err(error) => error.page_response(),
    }
}

async fn load_thread(
    site: &AppState,
    address: ThreadAddress,
    display_name: String,
    params: QueryParams,
) -> Result<ThreadTemplate, PageError> {
    let frame = PageFrame::with_updates(None, &site.workspace).await?;
    let repository = display_name.rsplit_once('#').map_or(&*display_name, |(name, _)| name);
    let repository = repository.to_owned();
    let repository_name = repository.clone();
    let page = site
        .query_store(move |store| {
            let Some(outline) = store.thread_outline(&address)? else {
                // explains why it may be missing: a list that was not read, a pull that failed
                return Ok(Err(store.completeness(&Surface::THREADS, Some(&repository))?));
            };
            // rendering Markdown takes time, too, so it happens on the blocking thread
            Ok(Ok(ThreadTemplate::read(store, outline, &params, frame)?))
        })
        .await?;
    page.map_err(|completeness| {
        let mut missing = completeness.missing.iter();
        if missing.any(|missing| matches!(missing, Missing::UnknownRepository { .. })) {
            PageError::RepositoryNotFound(repository_name)
        } else {
            PageError::ThreadNotFound(display_name, completeness)
        }
    })
}

impl ThreadTemplate {
    fn read(
        store: &StoreReader,
        mut outline: ThreadOutline,
        params: &QueryParams,
        frame: PageFrame,
    ) -> Result<Self, StoreError> {
        let content = ThreadContent::read(store, &outline, params)?;
        outline.skipped.add(content.skipped);
        let completeness = store.outline_completeness(&outline)?;
        Ok(Self::new(outline, content, completeness, frame))
    }

    fn new(
        outline: ThreadOutline,
        content: ThreadContent,
        completeness: Completeness,
        frame: PageFrame,
    ) -> Self {
        let ThreadOutline { owner, row, comments, .. } = outline;
        let repository = row.repository;
        let Thread { number, title, author, labels, details, .. } = &row.thread;
        let page_of_repository = format!("/threads/{owner}/{repository}");
        Self {
            frame,
            path: format!("{page_of_repository}/{number}"),
            address: format_line(&format!("{owner}/{repository}#{number}")),
            kind: format::kind_label(row.thread.kind().into()),
            name: format_line(title),
            title: title_parts(title),
            state: format_name(&row.thread.state.to_lowercase()),
            author: format_author(author.as_deref()),
            created: DisplayTime::new(row.thread.created_at.instant()),
            updated: DisplayTime::new(row.thread.updated_at.instant()),
            closed: row.thread.closed_at.as_ref().map(|at| DisplayTime::new(at.instant())),
            labels: labels
                .iter()
                .take(MAX_LABELS_AND_LINKS)
                .map(|label| format_name(label))
                .collect(),
            details: describe_details(details),
            closes: row
                .closes
                .iter()
                .take(MAX_LABELS_AND_LINKS)
                .map(|number| ThreadLink {
                    number: *number,
                    href: format!("{page_of_repository}/{number}"),
                })
                .collect(),
            host: format_name(&format::url_host(&row.thread.url).unwrap_or(row.host)),
            url: format::external_url(&row.thread.url),
            count: format_count(comments.len() as u64, "comment"),
            content,
            freshness: completeness.into(),
        }
    }
}

fn describe_details(details: &ThreadDetails) -> Vec<String> {
    match details {
        ThreadDetails::Issue => Vec::new(),
        ThreadDetails::PullRequest(PullRequestDetails {
            is_draft, merged_at, head_ref, ..
        }) => {
            let draft = is_draft.then(|| "draft".to_owned());
            let merged = merged_at
                .as_ref()
                .map(|at| format!("merged {}", DisplayTime::new(at.instant()).text));
            let branch = (!head_ref.is_empty()).then(|| format!("from {}", format_line(head_ref)));
            draft.into_iter().chain(merged).chain(branch).collect()
        }
        ThreadDetails::Discussion(DiscussionDetails { category, is_answered }) => {
            let category = format!("in {}", format_line(category));
            let answered = match is_answered {
                Some(true) => Some("answered".to_owned()),
                Some(false) => Some("not answered yet".to_owned()),
                None => None,
            };
            [category].into_iter().chain(answered).collect()
        }
    }
}
