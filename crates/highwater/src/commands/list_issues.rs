//! `highwater list issues`

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;

use anyhow::Context as _;
use hw_rules::clean::for_terminal_line;
use hw_rules::freshness::Freshness;
use hw_rules::lane::Surface;
use hw_store::{IssueFilter, IssueRow, Store};
use serde_json::{Value, json};

use crate::cli::ListIssues;
use crate::config::Settings;
use crate::report::{Hint, Unheard};
use crate::workspace;

pub(crate) fn run(args: &ListIssues, settings: &Settings) -> anyhow::Result<()> {
    let place = workspace::place(&args.workspace, settings)?;
    let store = Store::open_reader(&place)
        .context("cannot open the workspace")
        .context(Hint("`highwater demo --once` makes one to look at".into()))?;
    print(args, &store)?;
    warn_if_incomplete(&store)
}

fn print(args: &ListIssues, store: &Store) -> anyhow::Result<()> {
    let filter = IssueFilter {
        repository: args.repository.clone(),
        author: args.author.clone(),
        limit: args.limit,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    store.each_issue(&filter, &mut |issue| {
        written =
            if args.json { writeln!(out, "{}", object(&issue)) } else { line(&mut out, &issue) };
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written.and_then(|()| out.flush()).map_err(Unheard::from)?;
    Ok(())
}

/// The issue for programs; `docs/json.md` is its contract.
fn object(issue: &IssueRow) -> Value {
    let status = if issue.closed_at.is_some() { "closed" } else { "open" };
    json!({
        "type": "issue",
        "number": issue.number,
        "title": issue.title,
        "url": issue.url,
        "repository": issue.repository,
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "closed_at": issue.closed_at,
        "author": issue.author,
        "status": status,
        "state": issue.state.to_lowercase(),
        "state_reason": issue.state_reason.as_ref().map(|reason| reason.to_lowercase()),
        "labels": issue.labels,
        "node_id": issue.node_id,
        "body": issue.body,
    })
}

fn line(out: &mut impl Write, issue: &IssueRow) -> std::io::Result<()> {
    let name = format!("{}#{}", for_terminal_line(&issue.repository), issue.number);
    let state = issue.state.to_lowercase();
    let updated_at = issue.updated_at.as_str();
    let date = updated_at.get(..10).unwrap_or(updated_at);
    writeln!(out, "{name:<28} {state:<7} {date}  {}", for_terminal_line(&issue.title))
}

/// Says on stderr what is missing from the answer. An answer that is whole needs no words.
fn warn_if_incomplete(store: &Store) -> anyhow::Result<()> {
    let lanes = store.lanes()?;
    let issues = lanes.iter().filter(|(lane, _, _)| lane.surface == Surface::Issues);
    let fresh = Freshness::of(issues.map(|(lane, state, _)| (lane.to_string(), state)));
    let mut err = std::io::stderr();
    for lane in &fresh.incomplete {
        writeln!(err, "warning: {lane} is not complete yet")?;
    }
    for lane in &fresh.failing {
        writeln!(err, "warning: the last turn of {lane} failed")?;
    }
    if fresh.fresh_through.is_none() {
        writeln!(err, "warning: nothing was ever pulled into this workspace")?;
    }
    Ok(())
}
