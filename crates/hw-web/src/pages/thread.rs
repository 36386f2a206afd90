//! `/threads/{owner}/{repository}/{number}`: a thread and what is said in it.

mod body_view;
mod comment_order;
mod content;
mod said;

use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use hw_rules::address::ThreadAddress;
use hw_rules::item::{Discussion, Kind, PullRequest, Sort, Thread};
use hw_rules::lane::Surface;
use hw_store::{Behind, Error, Store, ThreadOutline};

use crate::asked::Asked;
use crate::behind::Told;
use crate::page::{Frame, html};
use crate::problem::Problem;
use crate::site::Shared;
use crate::texts::{self, When, author, counted, line, name};
use crate::title::{TitlePart, title_parts};
use content::Content;

/// Labels, and links to other threads, that a page shows of a thread.
const MAX_LISTED: usize = 100;

#[derive(Template)]
#[template(path = "thread.html", blocks = ["thread"])]
struct Page {
    frame: Frame,
    path: String,
    address: String,
    kind: &'static str,
    /// As text alone.
    name: String,
    title: Vec<TitlePart>,
    state: String,
    author: String,
    created: When,
    updated: When,
    closed: Option<When>,
    labels: Vec<String>,
    /// What only its sort has, one phrase each.
    details: Vec<String>,
    /// The threads that it closes: number and address.
    closes: Vec<(i64, String)>,
    host: String,
    url: Option<String>,
    count: String,
    content: Content,
    behind: Told,
}

pub(crate) async fn page(
    State(site): State<Arc<Shared>>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    asked: Asked,
) -> Response {
    let Ok(Path((owner, repository, number))) = path else { return Problem::Unknown.page() };
    let shown = format!("{owner}/{repository}#{number}");
    let Ok(number) = number.parse() else {
        return Problem::NoThread(shown, Behind::default()).page();
    };
    let address = ThreadAddress { host: None, owner: Some(owner), repository, number };
    let is_live = asked.is_live();
    match view(&site, address, shown, asked).await {
        Ok(page) if is_live => html(StatusCode::OK, &page.as_thread()),
        Ok(page) => html(StatusCode::OK, &page),
        Err(problem) if is_live => problem.part(),
        Err(problem) => problem.page(),
    }
}

async fn view(
    site: &Shared,
    address: ThreadAddress,
    shown: String,
    asked: Asked,
) -> Result<Page, Problem> {
    let frame = Frame::live("", &site.held).await?;
    let repository = shown.rsplit_once('#').map_or(shown.as_str(), |(name, _)| name).to_owned();
    let page = site
        .ask(move |store| {
            let Some(outline) = store.thread_outline(&address)? else {
                // why it may be missing: a list that was not read, a pull that failed
                return Ok(Err(store.behind(&Surface::THREADS, Some(&repository))?));
            };
            // Markdown takes its time, too, so it belongs to what is done aside
            Ok(Ok(Page::read(store, outline, &asked, frame)?))
        })
        .await?;
    page.map_err(|behind| Problem::NoThread(shown, behind))
}

impl Page {
    fn read(
        store: &Store,
        mut outline: ThreadOutline,
        asked: &Asked,
        frame: Frame,
    ) -> Result<Self, Error> {
        let content = Content::read(store, &outline, asked)?;
        outline.skipped.add(content.skipped);
        let behind = store.behind_outline(&outline)?;
        Ok(Self::new(outline, content, behind, frame))
    }

    fn new(outline: ThreadOutline, content: Content, behind: Behind, frame: Frame) -> Self {
        let ThreadOutline { owner, row, comments, .. } = outline;
        let repository = row.repository;
        let Thread { number, title, author: by, labels, sort, .. } = &row.thread;
        let (details, closes) = details(sort);
        let link = |number: i64| format!("/threads/{owner}/{repository}/{number}");
        Self {
            frame,
            path: link(*number),
            address: line(&format!("{owner}/{repository}#{number}")),
            kind: kind(row.thread.kind()),
            name: line(title),
            title: title_parts(title),
            state: name(&row.thread.state.to_lowercase()),
            author: author(by.as_deref()),
            created: When::of(row.thread.created_at.mark()),
            updated: When::of(row.thread.updated_at.mark()),
            closed: row.thread.closed_at.as_ref().map(|at| When::of(at.mark())),
            labels: labels.iter().take(MAX_LISTED).map(|label| name(label)).collect(),
            details,
            closes: closes.iter().take(MAX_LISTED).map(|number| (*number, link(*number))).collect(),
            host: name(row.thread.url.split('/').nth(2).unwrap_or(&row.host)),
            url: texts::outside(&row.thread.url),
            count: counted(comments.len() as u64, "comment", "comments"),
            content,
            behind: behind.into(),
        }
    }
}

fn details(sort: &Sort) -> (Vec<String>, &[i64]) {
    match sort {
        Sort::Issue => (Vec::new(), &[]),
        Sort::PullRequest(PullRequest { is_draft, merged_at, head_ref, closes }) => {
            let draft = is_draft.then(|| "draft".to_owned());
            let merged =
                merged_at.as_ref().map(|at| format!("merged {}", When::of(at.mark()).shown));
            let from = (!head_ref.is_empty()).then(|| format!("from {}", line(head_ref)));
            (draft.into_iter().chain(merged).chain(from).collect(), closes)
        }
        Sort::Discussion(Discussion { category, is_answered }) => {
            let answered = is_answered.map(|it| if it { "answered" } else { "not answered yet" });
            let category = format!("in {}", line(category));
            ([category].into_iter().chain(answered.map(str::to_owned)).collect(), &[])
        }
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::PullRequest => "pull request",
        Kind::Discussion => "discussion",
        Kind::Issue
        | Kind::Repository
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => "issue",
    }
}
