//! Checks the database: that it exists, is intact and has the current schema, and what its rows report.

use std::collections::BTreeMap;

use hw_rules::lane::{Lane, Scope};
use hw_rules::pause_end::PauseEnd;
use hw_rules::repository_key::{Host, RepositoryKey};
use hw_rules::source_time::SourceInstant;
use hw_store::{
    BusyWorker, FailedPull, IntegrityCheck, IntegrityReport, LaneRow, PendingPause, StoreError,
    StoreReader,
};
use hw_sync::clock::{Clock as _, MachineClock};

use super::bluesky;
use super::finding::DoctorFinding;
use super::github::WAIT_ADVICE;
use super::service;
use super::stored_texts;
use crate::config::{self, AppSettings};
use crate::hints::database_hint;
use crate::report::ErrorHint;
use crate::workspace;
use hw_rules::duty;
use hw_rules::format::{format_count, format_duration, group_digits};

/// The number of names that one finding lists.
const MAX_NAMED: usize = 5;
const ALL_COMPLETE: &str = "every list is complete";
const RESUME_ADVICE: &str = "`highwater pull` continues where it stopped";

pub(super) fn check_database(settings: &AppSettings, depth: IntegrityCheck) -> Vec<DoctorFinding> {
    let location = match workspace::resolve_location(settings) {
        Ok(location) => location,
        Err(error) => {
            let hint = error.downcast_ref::<ErrorHint>().map(|hint| hint.0.as_str());
            let advice = hint.unwrap_or("choose one with --workspace, --database or --home");
            return vec![DoctorFinding::fail("database", error.root_cause().to_string(), advice)];
        }
    };
    match StoreReader::open(&location) {
        Ok(store) => run_store_checks(&store, &location.display_name(), depth),
        Err(error @ (StoreError::NoDatabase(_) | StoreError::OlderSchema)) => {
            let advice = workspace::database_hint(&error, &location, settings);
            vec![DoctorFinding::warn("database", error.to_string(), advice)]
        }
        Err(error) => vec![error_finding("database", &location.display_name(), &error)],
    }
}

fn run_store_checks(store: &StoreReader, name: &str, depth: IntegrityCheck) -> Vec<DoctorFinding> {
    let mut checks: Vec<StoreCheck> = match depth {
        IntegrityCheck::Quick => vec![check_schema, check_quick_integrity],
        IntegrityCheck::Full => {
            vec![check_schema, check_full_integrity, stored_texts::check_stored_texts]
        }
    };
    checks.extend([
        check_pulls as StoreCheck,
        check_counts,
        check_times,
        check_removed,
        check_lanes,
        service::check_service,
        check_workers,
        check_pauses,
        bluesky::check_bluesky,
    ]);
    let mut findings = vec![DoctorFinding::ok("database", format!("{name} can be opened"))];
    for check in checks {
        match check(store) {
            Ok(found) => findings.extend(found),
            Err(error) => {
                // damage fails only the checks that need the damaged part, each with the same error
                let finding = error_finding("database", name, &error);
                if !findings.contains(&finding) {
                    findings.push(finding);
                }
            }
        }
    }
    findings
}

/// A check that reads the database.
type StoreCheck = fn(&StoreReader) -> Result<Vec<DoctorFinding>, StoreError>;

fn error_finding(check: &str, name: &str, error: &StoreError) -> DoctorFinding {
    DoctorFinding::fail(check, format!("{name}: {error}"), database_hint(error))
}

fn check_schema(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let number = store.schema_number()?;
    Ok(vec![DoctorFinding::ok("schema", format!("version {number}, up to date"))])
}

fn check_quick_integrity(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let intact = "structure intact; --deep also verifies the indexes and every text";
    Ok(vec![integrity_finding(store, IntegrityCheck::Quick, intact)?])
}

fn check_full_integrity(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let intact = "structure and indexes intact";
    Ok(vec![integrity_finding(store, IntegrityCheck::Full, intact)?])
}

fn integrity_finding(
    store: &StoreReader,
    check: IntegrityCheck,
    intact: &str,
) -> Result<DoctorFinding, StoreError> {
    Ok(match store.check_integrity(check)? {
        IntegrityReport::Sound => DoctorFinding::ok("integrity", intact),
        IntegrityReport::Damaged(damage) => {
            let advice = "`highwater pull --repair` rebuilds indexes; otherwise restore a backup, or move the \
                          file aside and pull again: GitHub still has the data";
            DoctorFinding::fail(
                "integrity",
                format!("the file is damaged: {}", damage.join("; ")),
                advice,
            )
        }
        IntegrityReport::NotChecked { data_checksums } => {
            let checksums = if data_checksums { "on" } else { "off" };
            let detail = format!(
                "not checked: PostgreSQL checks its own files (data_checksums is {checksums}); \
                 --deep verifies every text"
            );
            DoctorFinding::ok("integrity", detail)
        }
    })
}

/// Reports pulls that failed as a whole, which no lane records.
fn check_pulls(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let failed = store.failed_pulls()?;
    if failed.is_empty() {
        let detail = match store.last_pulls()?.iter().map(|pull| pull.ended_ms).max() {
            Some(ended_ms) => format!("the last pull ended at {}", SourceInstant(ended_ms)),
            None => "no complete pull of a source yet".to_owned(),
        };
        return Ok(vec![DoctorFinding::ok("pull", detail)]);
    }
    Ok(failed.iter().map(failed_pull_finding).collect())
}

fn failed_pull_finding(pull: &FailedPull) -> DoctorFinding {
    let FailedPull { source, ended_ms, error } = pull;
    let ended = SourceInstant(*ended_ms);
    let detail = format!("the last pull of {source} failed at {ended}: {error}");
    DoctorFinding::fail("pull", detail, "fix the cause, then run `highwater pull` again")
}

fn check_counts(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let counts = store.object_counts()?;
    let repositories = match counts.repositories {
        1 => "1 repository".to_owned(),
        count => format!("{} repositories", group_digits(count)),
    };
    let others = [
        (counts.discussions, "discussion"),
        (counts.issues, "issue"),
        (counts.pull_requests, "pull request"),
        (counts.comments, "comment"),
        (counts.posts, "post"),
    ]
    .map(|(count, name)| format_count(count, name));
    let detail = format!("{repositories}, {}", others.join(", "));
    Ok(vec![DoctorFinding::ok("held", detail), quarantine_finding(store, counts.quarantined)?])
}

fn quarantine_finding(store: &StoreReader, count: u64) -> Result<DoctorFinding, StoreError> {
    if count == 0 {
        return Ok(DoctorFinding::ok("quarantine", "every received item could be read"));
    }
    let reasons = store.quarantine_reasons(3)?;
    let examples: Vec<String> =
        reasons.iter().map(|(subject, reason)| format!("{subject} ({reason})")).collect();
    let count = format_count(count, "item");
    let detail = format!("{count} could not be read, for example {}", examples.join(", "));
    Ok(DoctorFinding::warn(
        "quarantine",
        detail,
        "nothing to do: each pull retries them, and the daily read of a feed its posts",
    ))
}

fn check_times(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let items = store.future_items()?;
    if items.is_empty() {
        return Ok(vec![DoctorFinding::ok("times", "no item is dated later than GitHub's clock")]);
    }
    let count = format_count(items.total as u64, "item");
    let is_dated = if items.total == 1 { "is dated" } else { "are dated" };
    let detail = format!("{count} {is_dated} later than GitHub's clock: {items}");
    let advice = "nothing to do: they are shown as received, and ordered by when they were read";
    Ok(vec![DoctorFinding::warn("times", detail, advice)])
}

fn check_removed(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let detail = match store.count_removed_items()? {
        0 => "nothing was removed in the last 30 days".to_owned(),
        1 => "1 removed item can be restored: `highwater removed list`".to_owned(),
        count => {
            format!(
                "{} removed items can be restored: `highwater removed list`",
                group_digits(count)
            )
        }
    };
    Ok(vec![DoctorFinding::ok("removed", detail)])
}

fn check_lanes(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let lanes = store.lanes()?;
    let names = read_repository_names(store, &lanes)?;
    let now_ms = MachineClock.now_ms();
    let is_pulling = store.busy_workers()?.iter().any(|worker| worker.is_alive(now_ms));
    let gaps = if is_pulling { open_lanes_finding(&lanes) } else { gaps_finding(&lanes, &names) };
    Ok(vec![failing_lanes_finding(&lanes, &names, now_ms), gaps])
}

fn failing_lanes_finding(
    lanes: &[LaneRow],
    names: &RepositoryNameMap,
    now_ms: i64,
) -> DoctorFinding {
    let failing = lanes.iter().filter(|(_, state, _)| state.failures > 0);
    let failing: Vec<String> = failing
        .map(|(lane, state, error)| {
            let failures = format_count(u64::from(state.failures), "failure");
            let wait_ms = state.due_ms.saturating_sub(now_ms);
            let wait = if wait_ms > 0 {
                format!(", next attempt in {}", format_duration(wait_ms))
            } else {
                String::new()
            };
            let error = error.as_deref().unwrap_or("reason unknown");
            format!("{} ({failures}{wait}): {error}", lane_name(lane, names))
        })
        .collect();
    if failing.is_empty() {
        let detail = match lanes.len() {
            0 => "no lists yet".to_owned(),
            count => format!("no errors in {}", format_count(count as u64, "list")),
        };
        return DoctorFinding::ok("lanes", detail);
    }
    let total = format_count(lanes.len() as u64, "list");
    let detail = format!("{} of {total} failing: {}", failing.len(), join_first(&failing, "; "));
    DoctorFinding::warn(
        "lanes",
        detail,
        "run `highwater pull` again; `highwater doctor github` checks the token",
    )
}

/// Reports incomplete lists while no pull is running.
fn gaps_finding(lanes: &[LaneRow], names: &RepositoryNameMap) -> DoctorFinding {
    let open: Vec<String> =
        incomplete_lanes(lanes).iter().map(|lane| lane_name(lane, names)).collect();
    if open.is_empty() {
        return DoctorFinding::ok("gaps", ALL_COMPLETE);
    }
    let detail = format!("{} incomplete: {}", lists_that_are(open.len()), join_first(&open, ", "));
    DoctorFinding::warn("gaps", detail, RESUME_ADVICE)
}

/// Reports incomplete lists while a pull is running, which reads them.
fn open_lanes_finding(lanes: &[LaneRow]) -> DoctorFinding {
    match incomplete_lanes(lanes).len() {
        0 => DoctorFinding::ok("gaps", ALL_COMPLETE),
        count => {
            let lists = lists_that_are(count);
            DoctorFinding::ok("gaps", format!("{lists} not complete yet; a pull is running"))
        }
    }
}

fn incomplete_lanes(lanes: &[LaneRow]) -> Vec<&Lane> {
    let open = lanes.iter().filter(|(lane, state, _)| {
        matches!(lane.scope, Scope::Repository(_)) && !state.coverage.is_complete()
    });
    open.map(|(lane, _, _)| lane).collect()
}

/// Returns `1 list is`, `2 lists are` and so on.
fn lists_that_are(count: usize) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", format_count(count as u64, "list"))
}

fn check_workers(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let workers = store.busy_workers()?;
    if workers.is_empty() {
        return Ok(vec![DoctorFinding::ok("lease", "no pull is running")]);
    }
    let now_ms = MachineClock.now_ms();
    Ok(workers.iter().map(|worker| worker_finding(worker, now_ms)).collect())
}

fn worker_finding(busy: &BusyWorker, now_ms: i64) -> DoctorFinding {
    let BusyWorker { worker, since_ms, duties, .. } = busy;
    let (duties, since) = (duty::describe_duties(duties), SourceInstant(*since_ms));
    if busy.is_alive(now_ms) {
        let detail = format!("{duties}: {worker} has been running since {since}");
        return DoctorFinding::ok("lease", detail);
    }
    let detail = format!("{duties}: {worker} started at {since} and ended unexpectedly");
    DoctorFinding::warn("lease", detail, "nothing to do: the next pull takes over")
}

fn check_pauses(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let now_ms = MachineClock.now_ms();
    let pending = store.pending_pauses(&config::machine_name(), now_ms)?;
    Ok(pending.iter().map(|pause| pause_finding(pause, now_ms)).collect())
}

fn pause_finding(pending: &PendingPause, now_ms: i64) -> DoctorFinding {
    let PendingPause { pause, end } = pending;
    let wait = format_duration(end.until_ms().saturating_sub(now_ms));
    let wait = match end {
        PauseEnd::At(_) => wait,
        PauseEnd::AtMost(_) => format!("at most {wait}"),
    };
    let (target, purpose) = (pause.target(), pause.cause.stopped_purpose());
    let detail = format!("requests to {target}{purpose} are paused for {wait}: {}", pause.reason);
    DoctorFinding::warn("limit", detail, WAIT_ADVICE)
}

/// The names of repositories.
type RepositoryNameMap = BTreeMap<RepositoryKey, String>;

fn read_repository_names(
    store: &StoreReader,
    lanes: &[LaneRow],
) -> Result<RepositoryNameMap, StoreError> {
    let mut hosts: Vec<&Host> = lanes.iter().map(|(lane, _, _)| &lane.host).collect();
    hosts.dedup();
    let mut names = RepositoryNameMap::new();
    for host in hosts {
        for repository in store.repositories(host)? {
            let name = format!("{}/{}", repository.owner, repository.name);
            names.insert(RepositoryKey::new(host, repository.id), name);
        }
    }
    Ok(names)
}

fn lane_name(lane: &Lane, names: &RepositoryNameMap) -> String {
    let surface = lane.surface.name();
    match &lane.scope {
        Scope::Owner(login) => format!("{login} {surface}"),
        Scope::Account(did) => format!("{did} {surface}"),
        Scope::SingleRepositories => "single repositories".to_owned(),
        Scope::Repository(id) => match names.get(&RepositoryKey::new(&lane.host, id.0)) {
            Some(name) => format!("{name} {surface}"),
            None => format!("repository {id} {surface}"),
        },
    }
}

/// Joins the first few texts, and counts the rest.
fn join_first(texts: &[String], separator: &str) -> String {
    let first = texts.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(separator);
    let rest = texts.len().saturating_sub(MAX_NAMED);
    if rest == 0 { first } else { format!("{first} and {rest} more") }
}
