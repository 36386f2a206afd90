//! `highwater list issues`, `prs` and `discussions`

use std::ops::ControlFlow;

use hw_rules::item::{Discussion, PullRequest, Sort};
use hw_rules::lane::Surface;
use hw_store::{Store, ThreadFilter, ThreadRow};
use serde_json::{Value, json};

use super::{fresh, open};
use crate::cli::ListThreads;
use crate::config::Settings;
use crate::terminal::{Page, shown_line};

pub(super) fn run(args: &ListThreads, surface: Surface, settings: &Settings) -> anyhow::Result<()> {
    let store = open(settings)?;
    print(args, surface, &store)?;
    fresh::warn_of_threads(&store, surface, args.repository.as_deref())
}

fn print(args: &ListThreads, surface: Surface, store: &Store) -> anyhow::Result<()> {
    let filter = ThreadFilter {
        repository: args.repository.clone(),
        authors: args.author.clone().into_iter().collect(),
        limit: args.limit,
        ..ThreadFilter::default()
    };
    let mut page = Page::new();
    let mut written = Ok(());
    store.each_thread(surface.kind(), &filter, &mut |row| {
        written = if args.json { page.object(&object(&row)) } else { page.line(&line(&row)) };
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    Ok(page.end()?)
}

/// The thread for programs; `docs/json.md` is its contract.
fn object(row: &ThreadRow) -> Value {
    let thread = &row.thread;
    let mut object = json!({
        "type": thread.kind().name(),
        "number": thread.number,
        "title": thread.title,
        "url": thread.url,
        "repository": row.repository,
        "created_at": thread.created_at,
        "updated_at": thread.updated_at,
        "closed_at": thread.closed_at,
        "author": thread.author,
        "status": if thread.closed_at.is_some() { "closed" } else { "open" },
        "state": thread.state.to_lowercase(),
        "state_reason": thread.state_reason.as_ref().map(|reason| reason.to_lowercase()),
        "labels": thread.labels,
        "node_id": thread.node_id,
        "body": thread.body,
    });
    for (name, value) in of_its_sort(&thread.sort) {
        object[name] = value;
    }
    object
}

/// What only its sort has.
fn of_its_sort(sort: &Sort) -> Vec<(&'static str, Value)> {
    match sort {
        Sort::Issue => Vec::new(),
        Sort::PullRequest(PullRequest { is_draft, merged_at, head_ref, closes }) => vec![
            ("draft", json!(is_draft)),
            ("merged", json!(merged_at.is_some())),
            ("merged_at", json!(merged_at)),
            ("head_ref", json!(head_ref)),
            ("closes", json!(closes)),
        ],
        Sort::Discussion(Discussion { category, is_answered }) => {
            vec![("category", json!(category)), ("is_answered", json!(is_answered))]
        }
    }
}

/// The columns are as wide as what will be seen of them.
fn line(row: &ThreadRow) -> String {
    let thread = &row.thread;
    let name = format!("{}#{}", shown_line(&row.repository), thread.number);
    let state = shown_line(&thread.state.to_lowercase());
    let updated_at = thread.updated_at.as_str();
    let date = updated_at.get(..10).unwrap_or(updated_at);
    format!("{name:<28} {state:<7} {date}  {}", thread.title)
}
