//! `/health`: how far each list has been read, what fails, and which pulls are running.

mod lane_view;

use hw_rules::duty;
use hw_rules::duty_text;
use hw_rules::format::{format_count, format_duration, group_digits};
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hw_rules::lane::Surface;
use hw_rules::pause_end::PauseEnd;
use hw_rules::source_time::SourceInstant;
use hw_store::{BusyWorker, ObjectCounts, PendingPause, StoreError, StoreReader};

use crate::app_state::AppState;
use crate::format::{DisplayTime, format_line};
use crate::freshness_banner::FreshnessBanner;
use crate::page_error::PageError;
use crate::page_frame::{MenuEntry, PageFrame, render_html};
use crate::query_params::QueryParams;
use lane_view::{LaneView, PullState};

/// Lanes on a page.
const LANES_PER_PAGE: usize = 100;

#[derive(Template)]
#[template(path = "health.html", blocks = ["health"])]
struct HealthTemplate {
    frame: PageFrame,
    only_problems: bool,
    page: usize,
    state: HealthView,
}

enum HealthView {
    /// There is no database at this location yet.
    NoWorkspace(String),
    Report(Box<HealthReport>),
}

struct HealthReport {
    freshness: FreshnessBanner,
    counts: Vec<HealthCount>,
    quarantined: u64,
    /// What is known of the service: that it runs, what it does next, and what fails.
    service: Vec<String>,
    pulls: Vec<String>,
    pauses: Vec<String>,
    lanes: Vec<LaneView>,
    summary: String,
    /// Page number, starting at 1; the nearest existing page to the requested one.
    page: usize,
    pages: usize,
}

struct HealthCount {
    number: String,
    name: &'static str,
}

/// The lanes that a request asks for.
#[derive(Clone, Copy)]
struct LaneSelection {
    only_problems: bool,
    page: usize,
}

pub(crate) async fn show_health(
    State(site): State<Arc<AppState>>,
    params: QueryParams,
) -> Response {
    let is_live = params.is_live();
    match load_health(&site, &params).await {
        Ok(page) if is_live => render_html(StatusCode::OK, &page.as_health()),
        Ok(page) => render_html(StatusCode::OK, &page),
        Err(error) if is_live => error.fragment_response(),
        Err(error) => error.page_response(),
    }
}

async fn load_health(site: &AppState, params: &QueryParams) -> Result<HealthTemplate, PageError> {
    let frame = PageFrame::with_updates(Some(MenuEntry::Health), &site.workspace).await?;
    let selection = LaneSelection {
        only_problems: params.get("only") == Some("problems"),
        page: params.get("page").and_then(|page| page.parse().ok()).unwrap_or(1),
    };
    let viewer = HealthViewer { machine: site.machine.clone(), now_ms: (site.now_ms)() };
    let report = site.query_store(move |store| HealthReport::read(store, selection, &viewer)).await;
    let (page, state) = match report {
        Ok(report) => (report.page, HealthView::Report(Box::new(report))),
        Err(PageError::NoWorkspace(location)) => {
            (1, HealthView::NoWorkspace(format_line(&location)))
        }
        Err(error) => return Err(error),
    };
    Ok(HealthTemplate { frame, only_problems: selection.only_problems, page, state })
}

/// Whoever looks at the page: the machine that serves it, and its time.
struct HealthViewer {
    machine: String,
    now_ms: i64,
}

impl HealthReport {
    fn read(
        store: &StoreReader,
        selection: LaneSelection,
        viewer: &HealthViewer,
    ) -> Result<Self, StoreError> {
        let now_ms = viewer.now_ms;
        let completeness = store.completeness(&Surface::ALL, None)?;
        let counts = store.object_counts()?;
        let workers = store.busy_workers()?;
        let is_pulling = workers.iter().any(|worker| worker.is_alive(now_ms));
        let pull = if is_pulling { PullState::Running } else { PullState::Idle };
        let mut lanes = lane_view::read_lanes(store, pull)?;
        let (all, bad) = (lanes.len(), lanes.iter().filter(|lane| lane.has_problem()).count());
        if selection.only_problems {
            lanes.retain(LaneView::has_problem);
        }
        let pages = lanes.len().div_ceil(LANES_PER_PAGE).max(1);
        let page = selection.page.clamp(1, pages);
        let lanes = lanes.into_iter().skip((page - 1) * LANES_PER_PAGE).take(LANES_PER_PAGE);
        Ok(Self {
            freshness: completeness.into(),
            quarantined: counts.quarantined,
            counts: format_counts(counts),
            service: describe_service(store, now_ms)?,
            pulls: workers.iter().map(|worker| describe_worker(worker, now_ms)).collect(),
            pauses: store
                .pending_pauses(&viewer.machine, now_ms)?
                .iter()
                .map(|pending| describe_pause(pending, now_ms))
                .collect(),
            lanes: lanes.collect(),
            summary: summarize_lanes(all as u64, bad as u64),
            page,
            pages,
        })
    }

    fn has_unreadable(&self) -> bool {
        self.quarantined > 0
    }

    fn unreadable(&self) -> String {
        group_digits(self.quarantined)
    }
}

fn format_counts(counts: ObjectCounts) -> Vec<HealthCount> {
    let all = [
        (counts.repositories, "repositories"),
        (counts.discussions, "discussions"),
        (counts.issues, "issues"),
        (counts.pull_requests, "pull requests"),
        (counts.comments, "comments"),
        (counts.tombstones, "deleted"),
    ];
    all.into_iter()
        .map(|(number, name)| HealthCount { number: group_digits(number), name })
        .collect()
}

fn summarize_lanes(all: u64, bad: u64) -> String {
    let lists = format_count(all, "list");
    match bad {
        _ if all == 0 => "No list has been read yet".to_owned(),
        0 => format!("{lists}, all ok"),
        // a list that a running pull has not read yet is not a problem
        bad => format!("{lists}, {} incomplete or failing", group_digits(bad)),
    }
}

fn describe_worker(busy: &BusyWorker, now_ms: i64) -> String {
    let (duties, worker) =
        (format_line(&duty::describe_duties(&busy.duties)), format_line(&busy.worker));
    let since = DisplayTime::new(SourceInstant(busy.since_ms)).text;
    if busy.is_alive(now_ms) {
        format!("{duties}: {worker}, running since {since}")
    } else {
        format!("{duties}: {worker} started {since} and was interrupted; the next pull takes over")
    }
}

fn describe_service(store: &StoreReader, now_ms: i64) -> Result<Vec<String>, StoreError> {
    let duties = store.duties()?;
    let mut lines = Vec::new();
    let mut is_served = false;
    for service in store.services()? {
        let worker = format_line(&service.worker);
        let since = DisplayTime::new(SourceInstant(service.started_ms)).text;
        if service.is_alive(now_ms) {
            is_served = true;
            lines.push(format!("Service: {worker}, running since {since}"));
        } else {
            lines.push(format!("Service: {worker} started {since} and ended unexpectedly"));
        }
    }
    if is_served {
        let next = duty_text::describe_schedule(&duties, now_ms).into_iter();
        lines.extend(next.map(|part| format!("Next: {}", format_line(&part))));
    } else if lines.is_empty() {
        lines.push("No service is running.".to_owned());
    }
    let failures = duties.iter().filter_map(|duty| duty_text::describe_failure(duty, now_ms));
    lines.extend(failures.map(|failure| format!("Failing: {}", format_line(&failure))));
    Ok(lines)
}

fn describe_pause(pending: &PendingPause, now_ms: i64) -> String {
    let PendingPause { pause, end } = pending;
    let wait = match end {
        PauseEnd::At(until_ms) => {
            format!("until {}", DisplayTime::new(SourceInstant(*until_ms)).text)
        }
        PauseEnd::AtMost(until_ms) => {
            format!("for at most {}", format_duration(until_ms.saturating_sub(now_ms)))
        }
    };
    let (target, reason) = (format_line(&pause.target()), format_line(&pause.reason));
    let purpose = pause.cause.stopped_purpose();
    format!("Requests to {target}{purpose} are paused {wait}: {reason}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_no_lists_does_not_call_them_ok() {
        assert_eq!(summarize_lanes(0, 0), "No list has been read yet");
        assert_eq!(summarize_lanes(1, 0), "1 list, all ok");
        assert_eq!(summarize_lanes(3, 1), "3 lists, 1 incomplete or failing");
        assert_eq!(summarize_lanes(3, 2), "3 lists, 2 incomplete or failing");
    }
}
