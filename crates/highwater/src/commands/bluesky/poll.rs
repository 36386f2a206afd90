//! `highwater bluesky poll`

use std::sync::Arc;

use hw_rules::format::{format_count, format_tenths};
use hw_store::{DatabaseLocation, PollRound};
use hw_sync::bluesky::{PollSpec, PollSummary, poll_accounts};
use hw_sync::progress::ProgressSink;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::server::{BlueskyServer, sync_error};
use crate::cli::PollArgs;
use crate::commands::read_command;
use crate::config::{self, AppSettings};
use crate::report::ErrorHint;
use crate::terminal::{print_json, print_result, print_status, print_warning};
use crate::{hints, interrupt, progress, workspace};

const ADVICE: &str = "`highwater bluesky add HANDLE` adds one";

pub(super) fn run(args: &PollArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let server = BlueskyServer::from_settings(settings)?;
    let location = workspace::resolve_location(settings)?;
    // a mistyped name must not create a workspace
    read_command::open_reader(settings).map_err(hints::add_database_hint)?;
    let store = workspace::open_for_writing(&location).map_err(hints::add_database_hint)?.store;
    let spec = PollSpec {
        host: server.content_host().to_owned(),
        settings: settings.polling,
        worker: config::worker_identity("poll"),
        allow_mass_removal: args.allow_mass_removal,
        print_line: line_printer(args.json),
    };
    let stop = CancellationToken::new();
    interrupt::run(&stop, async {
        let sink = if args.json { ProgressSink::default() } else { progress::line_progress_sink() };
        let client = server.open_client(settings, &store, sink, &stop)?;
        let polled = poll_accounts(&store, &client, &spec).await;
        let summary = polled.map_err(|error| poll_error(error, &location))?;
        report(args, &spec.host, &summary)
    })
}

fn poll_error(error: hw_sync::SyncError, location: &DatabaseLocation) -> anyhow::Error {
    sync_error(error, "cannot poll Bluesky", location)
}

/// Prints lines as they come. A closed pipe is reported by the last line, not by these.
fn line_printer(is_json: bool) -> Arc<dyn Fn(&str) + Send + Sync> {
    if is_json {
        return Arc::new(|_| {});
    }
    Arc::new(|line| {
        if let Err(error) = print_result(line) {
            tracing::debug!(%error, "cannot print a line");
        }
    })
}

fn report(args: &PollArgs, host: &str, summary: &PollSummary) -> anyhow::Result<()> {
    if args.json {
        print_json(&to_json(summary))?;
    } else if summary.round.accounts == 0 {
        print_status(&format!("no accounts of {host} are followed; {ADVICE}"));
    } else {
        print_result(&to_line(summary))?;
    }
    if summary.unread_profiles > 0 {
        let profiles = format_count(summary.unread_profiles, "profile");
        print_warning(&format!("{profiles} could not be read; the next poll tries again"));
    }
    check_complete(summary)
}

/// Returns the last line: what the poll did, and what it cost.
fn to_line(summary: &PollSummary) -> String {
    let PollSummary { round, unfinished, edited, quarantined, .. } = summary;
    let PollRound { accounts, feeds, posts, links, removed, requests, took_ms, .. } = *round;
    let mut parts = vec![
        format!("{} read", format_count(feeds, "feed")),
        format!("{} with {}", format_count(posts, "new post"), format_count(links, "link")),
    ];
    for (count, name) in [
        (*edited, "edited"),
        (removed, "removed"),
        (*quarantined, "unreadable"),
        (*unfinished, "unfinished"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.push(format_count(requests, "request"));
    let took = format_tenths(took_ms);
    format!("polled {} in {took}: {}", format_count(accounts, "account"), parts.join(", "))
}

/// Returns the summary as JSON; `docs/json.md` is the contract.
fn to_json(summary: &PollSummary) -> Value {
    let PollSummary { round, unfinished, edited, quarantined, .. } = summary;
    let failures = summary
        .failures
        .iter()
        .map(|failure| json!({ "account": failure.account, "reason": failure.reason }));
    json!({
        "accounts": round.accounts,
        "feeds": round.feeds,
        "active": round.active,
        "initial": round.initial,
        "skipped": round.skipped,
        "failed": round.failed,
        "unfinished": unfinished,
        "posts": round.posts,
        "links": round.links,
        "edited": edited,
        "removed": round.removed,
        "quarantined": quarantined,
        "unread_profiles": summary.unread_profiles,
        "requests": round.requests,
        "duration_ms": round.took_ms,
        "failures": failures.collect::<Vec<_>>(),
    })
}

/// Fails if an account was not read completely, so that scripts notice. An account that is unavailable is no failure.
fn check_complete(summary: &PollSummary) -> anyhow::Result<()> {
    let failed = summary.failures.len() as u64 + summary.unread_profiles;
    if failed == 0 {
        return Ok(());
    }
    let hint = if summary.failures.iter().any(|failure| failure.is_brake) {
        "if the posts named above are really gone, pass --allow-mass-removal"
    } else {
        "everything else is saved; the next poll tries again"
    };
    let failed = format_count(failed, "account");
    let message = format!("not read completely: {failed}");
    Err(anyhow::Error::msg(message).context(ErrorHint(hint.to_owned())))
}
