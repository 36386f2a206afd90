//! `/`: one box, and what is found while it is filled.

mod history;
mod hit;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hw_rules::lane::Surface;
use hw_store::{Found, Matches, Search};

use crate::asked::Asked;
use crate::behind::Told;
use crate::chips::{self, Group};
use crate::page::{Frame, html};
use crate::problem::Problem;
use crate::site::{Shared, aside};
use crate::texts::{counted, line, whole_line};
use hit::HitView;

/// Sentences about filters that make no sense.
const MAX_MISREAD: usize = 20;

#[derive(Template)]
#[template(path = "index.html", blocks = ["results"])]
struct Index {
    frame: Frame,
    query: String,
    groups: Vec<Group>,
    /// Filters that could be dropped: each with the query that is left.
    filters: Vec<(String, String)>,
    /// What looked like a filter and was taken for words.
    misread: Vec<String>,
    state: Results,
}

enum Results {
    /// Nothing was pulled yet, into this place.
    NoWorkspace(String),
    /// Nothing was asked.
    Empty(Told),
    Nothing(Told),
    Hits {
        count: String,
        /// Why the count is a lower bound, if it is one.
        note: Option<&'static str>,
        hits: Vec<HitView>,
        behind: Told,
    },
}

pub(crate) async fn page(State(site): State<Arc<Shared>>, asked: Asked) -> Response {
    let frame = match Frame::live("search", &site.held).await {
        Ok(frame) => frame,
        Err(problem) => return problem.page(),
    };
    match found(&site, &asked).await {
        Ok(answer) => html(StatusCode::OK, &index(frame, asked.query(), answer)),
        Err(problem) => problem.page(),
    }
}

/// The results alone.
pub(crate) async fn results(
    State(site): State<Arc<Shared>>,
    asked: Asked,
    headers: HeaderMap,
) -> Response {
    let answer = match found(&site, &asked).await {
        Ok(answer) => answer,
        Err(problem) => return problem.part(),
    };
    // somebody is typing; `new` when the query before it was finished
    let is_typed_on = asked.get("unfinished") == Some("true");
    let entry = history::entry(&headers, asked.query(), is_typed_on).filter(|_| !asked.is_live());
    let index = index(Frame::still("search"), asked.query(), answer);
    let part = html(StatusCode::OK, &index.as_results());
    (HeaderMap::from_iter(entry), part).into_response()
}

fn index(frame: Frame, query: &str, (state, misread): Answer) -> Index {
    let query = whole_line(query);
    let filters = chips::drops(&query);
    Index { frame, groups: chips::groups(&query), filters, query, misread, state }
}

/// Results, and what of the query was not taken as it was meant.
type Answer = (Results, Vec<String>);

async fn found(site: &Shared, asked: &Asked) -> Result<Answer, Problem> {
    let query = asked.query().to_owned();
    let answer = if query.trim().is_empty() {
        site.ask(|store| store.behind(&Surface::THREADS, None))
            .await
            .map(|behind| (Results::Empty(behind.into()), Vec::new()))
    } else {
        let (held, shown) = (site.held.clone(), whole_line(&query));
        // always, so that a page finds what it found while its query was typed, however it is asked again
        let search = Search::new(query);
        let found = aside(move || Ok(held.engine()?.search(&search)?)).await;
        found.map(|mut found| {
            let misread = std::mem::take(&mut found.misread);
            (
                Results::of(found, &shown),
                misread.iter().take(MAX_MISREAD).map(|it| line(it)).collect(),
            )
        })
    };
    match answer {
        Err(Problem::NoWorkspace(place)) => Ok((Results::NoWorkspace(line(&place)), Vec::new())),
        other => other,
    }
}

impl Index {
    /// Whether there is nothing yet to walk through, so that the box is where to begin.
    fn has_no_hits(&self) -> bool {
        !matches!(self.state, Results::Hits { .. })
    }
}

impl Results {
    fn of(found: Found, query: &str) -> Self {
        let note = found.count_note();
        let Found { hits, matches, behind, .. } = found;
        let behind = Told::from(behind);
        if hits.is_empty() {
            return Self::Nothing(behind);
        }
        let shown = hits.len() as u64;
        let count = match matches {
            Matches::Exactly(count) => counted(count.max(shown), "match", "matches"),
            Matches::AtLeast(count) => {
                format!("at least {}", counted(count.max(shown), "match", "matches"))
            }
        };
        let hits = hits.into_iter().map(|hit| HitView::of(hit, query)).collect();
        Self::Hits { count, note, hits, behind }
    }
}
