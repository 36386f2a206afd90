//! `/health`: how far each list is read, what fails, who is at work.

mod lane;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hw_rules::lane::Surface;
use hw_rules::time::Mark;
use hw_store::{Behind, Counts, LeaseRow, PauseRow, Store};

use crate::asked::Asked;
use crate::behind::Told;
use crate::page::{Frame, html};
use crate::problem::Problem;
use crate::site::Shared;
use crate::texts::{When, counted, grouped, line};
use lane::{LaneView, PullState};

/// How many lanes a page shows.
const A_PAGE: usize = 100;

#[derive(Template)]
#[template(path = "health.html", blocks = ["health"])]
struct Page {
    frame: Frame,
    only_problems: bool,
    page: usize,
    state: Health,
}

enum Health {
    /// Nothing was pulled yet, into this place.
    NoWorkspace(String),
    Known(Box<Known>),
}

struct Known {
    behind: Told,
    /// A number and what it counts.
    counts: Vec<(String, &'static str)>,
    quarantined: u64,
    working: Vec<String>,
    pauses: Vec<String>,
    lanes: Vec<LaneView>,
    summary: String,
    /// From 1 on; the nearest one that there is.
    page: usize,
    pages: usize,
}

pub(crate) async fn page(State(site): State<Arc<Shared>>, asked: Asked) -> Response {
    let is_part = asked.is_live();
    match view(&site, &asked).await {
        Ok(page) if is_part => html(StatusCode::OK, &page.as_health()),
        Ok(page) => html(StatusCode::OK, &page),
        Err(problem) if is_part => problem.part(),
        Err(problem) => problem.page(),
    }
}

async fn view(site: &Shared, asked: &Asked) -> Result<Page, Problem> {
    let frame = Frame::live("health", &site.held).await?;
    let only_problems = asked.get("only") == Some("problems");
    let page = asked.get("page").and_then(|it| it.parse::<usize>().ok()).unwrap_or(1);
    let now_ms = (site.now_ms)();
    let known = site.ask(move |store| Known::of(store, only_problems, page, now_ms)).await;
    let (page, state) = match known {
        Ok(known) => (known.page, Health::Known(Box::new(known))),
        Err(Problem::NoWorkspace(place)) => (1, Health::NoWorkspace(line(&place))),
        Err(problem) => return Err(problem),
    };
    Ok(Page { frame, only_problems, page, state })
}

impl Known {
    fn of(
        store: &Store,
        only_problems: bool,
        page: usize,
        now_ms: i64,
    ) -> Result<Self, hw_store::Error> {
        let surfaces: Vec<Surface> = Surface::ALL.to_vec();
        let behind: Behind = store.behind(&surfaces, None)?;
        let counts = store.counts()?;
        let leases = store.leases()?;
        let is_pulling = leases.iter().any(|lease| is_alive(lease, now_ms));
        let pull = if is_pulling { PullState::Running } else { PullState::Idle };
        let mut lanes = lane::all(store, pull)?;
        let (all, bad) = (lanes.len(), lanes.iter().filter(|lane| lane.is_bad()).count());
        if only_problems {
            lanes.retain(LaneView::is_bad);
        }
        let pages = lanes.len().div_ceil(A_PAGE).max(1);
        let page = page.clamp(1, pages);
        let lanes = lanes.into_iter().skip((page - 1) * A_PAGE).take(A_PAGE);
        Ok(Self {
            behind: behind.into(),
            quarantined: counts.quarantined,
            counts: told(counts),
            working: leases.iter().map(|lease| working(lease, now_ms)).collect(),
            pauses: store.pauses(now_ms)?.iter().map(paused).collect(),
            lanes: lanes.collect(),
            summary: summary(all as u64, bad as u64),
            page,
            pages,
        })
    }
}

impl Known {
    fn has_quarantine(&self) -> bool {
        0 < self.quarantined
    }

    fn quarantine(&self) -> String {
        grouped(self.quarantined)
    }
}

fn told(counts: Counts) -> Vec<(String, &'static str)> {
    let all = [
        (counts.repositories, "repositories"),
        (counts.discussions, "discussions"),
        (counts.issues, "issues"),
        (counts.pull_requests, "pull requests"),
        (counts.comments, "comments"),
        (counts.tombstones, "confirmed gone"),
    ];
    all.into_iter().map(|(number, name)| (grouped(number), name)).collect()
}

fn summary(all: u64, bad: u64) -> String {
    let lanes = counted(all, "lane", "lanes");
    match bad {
        _ if all == 0 => "No list has been read yet".to_owned(),
        0 => format!("{lanes}, all well"),
        bad => format!("{lanes}, {} with a problem", grouped(bad)),
    }
}

fn working(lease: &LeaseRow, now_ms: i64) -> String {
    let (name, owner) = (line(&lease.name), line(&lease.held.owner));
    let since = When::of(Mark(lease.held.since_ms)).shown;
    if is_alive(lease, now_ms) {
        format!("{name}: {owner}, since {since}")
    } else {
        format!("{name}: {owner} began {since} and did not end it; the next one takes over")
    }
}

fn is_alive(lease: &LeaseRow, now_ms: i64) -> bool {
    lease.is_locked.unwrap_or(now_ms < lease.held.expires_ms)
}

fn paused(pause: &PauseRow) -> String {
    let until = When::of(Mark(pause.until_ms)).shown;
    format!("{} waits until {until}: {}", line(&pause.principal), line(&pause.why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_no_lanes_does_not_call_them_well() {
        assert_eq!(summary(0, 0), "No list has been read yet");
        assert_eq!(summary(1, 0), "1 lane, all well");
        assert_eq!(summary(3, 1), "3 lanes, 1 with a problem");
    }
}
