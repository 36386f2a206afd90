//! `/threads/{owner}/{repository}/{number}`: a thread and what is said in it.

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
use hw_store::{Behind, ThreadView};

use crate::asked::Asked;
use crate::behind::Told;
use crate::markdown::{Prose, prose};
use crate::page::{Frame, html};
use crate::problem::Problem;
use crate::site::Shared;
use crate::texts::{self, When, author, counted, line};
use said::{Said, in_order};

#[derive(Template)]
#[template(path = "thread.html", blocks = ["thread"])]
struct Page {
    frame: Frame,
    path: String,
    address: String,
    kind: &'static str,
    title: String,
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
    body: Option<Prose>,
    count: String,
    comments: Vec<Said>,
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
    match view(&site, address, shown).await {
        Ok(page) if asked.is_live() => html(StatusCode::OK, &page.as_thread()),
        Ok(page) => html(StatusCode::OK, &page),
        Err(problem) if asked.is_live() => problem.part(),
        Err(problem) => problem.page(),
    }
}

async fn view(site: &Shared, address: ThreadAddress, shown: String) -> Result<Page, Problem> {
    let frame = Frame::live("", &site.held).await?;
    let repository = shown.rsplit_once('#').map_or(shown.as_str(), |(name, _)| name).to_owned();
    let page = site
        .ask(move |store| {
            let Some(view) = store.thread(&address)? else {
                // why it may be missing: a list that was not read, a pull that failed
                return Ok(Err(store.behind(&Surface::THREADS, Some(&repository))?));
            };
            let behind = store.behind_thread(&view)?;
            // Markdown takes its time, too, so it belongs to what is done aside
            Ok(Ok(Page::of(view, behind, frame)))
        })
        .await?;
    page.map_err(|behind| Problem::NoThread(shown, behind))
}

impl Page {
    fn of(view: ThreadView, behind: Behind, frame: Frame) -> Self {
        let ThreadView { owner, row, comments } = view;
        let repository = row.repository;
        let Thread { number, title, body, author: by, labels, sort, .. } = &row.thread;
        let (details, closes) = details(sort);
        let link = |number: i64| format!("/threads/{owner}/{repository}/{number}");
        Self {
            frame,
            path: link(*number),
            address: line(&format!("{owner}/{repository}#{number}")),
            kind: kind(row.thread.kind()),
            title: line(title),
            state: line(&row.thread.state.to_lowercase()),
            author: author(by.as_deref()),
            created: When::of(row.thread.created_at.mark()),
            updated: When::of(row.thread.updated_at.mark()),
            closed: row.thread.closed_at.as_ref().map(|at| When::of(at.mark())),
            labels: labels.iter().map(|label| line(label)).collect(),
            details,
            closes: closes.iter().map(|number| (*number, link(*number))).collect(),
            host: line(row.thread.url.split('/').nth(2).unwrap_or(&row.host)),
            url: texts::outside(&row.thread.url),
            body: some_prose(body),
            count: counted(comments.len() as u64, "comment", "comments"),
            comments: in_order(comments),
            behind: behind.into(),
        }
    }
}

/// A body; none when nothing was written.
fn some_prose(body: &str) -> Option<Prose> {
    (!body.trim().is_empty()).then(|| prose(body))
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
