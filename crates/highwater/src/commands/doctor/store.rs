//! The database: whether it is there, whole and of our time, and what its rows say about trouble.

use std::collections::BTreeMap;

use hw_rules::lane::{Lane, Scope};
use hw_rules::time::Mark;
use hw_store::{
    Error, FailedPull, IntegrityCheck, IntegrityReport, LaneRow, LeaseRow, PauseRow, Store,
};
use hw_sync::clock::{Clock as _, MachineClock};

use super::finding::Finding;
use super::texts;
use crate::advice::on_database;
use crate::config::Settings;
use crate::report::Hint;
use crate::workspace;
use hw_tui::words::{counted, grouped, span};

/// How many of a kind are worth naming.
const NAMED: usize = 5;
const AGAIN: &str = "`highwater pull` goes on where it stopped";

pub(super) fn look(settings: &Settings, depth: IntegrityCheck) -> Vec<Finding> {
    let place = match workspace::place(settings) {
        Ok(place) => place,
        Err(error) => {
            let hint = error.downcast_ref::<Hint>().map(|hint| hint.0.as_str());
            let advice = hint.unwrap_or("name one with --workspace, --database or --home");
            return vec![Finding::fail("database", error.root_cause().to_string(), advice)];
        }
    };
    match Store::open_reader(&place) {
        Ok(store) => of_store(&store, &place.shown(), depth),
        Err(error @ (Error::NoDatabase(_) | Error::OlderSchema)) => {
            vec![Finding::warn("database", error.to_string(), on_database(&error))]
        }
        Err(error) => vec![failed("database", &place.shown(), &error)],
    }
}

fn of_store(store: &Store, place: &str, depth: IntegrityCheck) -> Vec<Finding> {
    let mut checks: Vec<Check> = match depth {
        IntegrityCheck::Quick => vec![schema, quick_integrity],
        IntegrityCheck::Full => vec![schema, full_integrity, texts::look],
    };
    checks.extend([pulls as Check, held, times, removed, lanes, leases, pauses]);
    let mut findings = vec![Finding::ok("database", format!("{place} can be opened"))];
    for check in checks {
        match check(store) {
            Ok(found) => findings.extend(found),
            Err(error) => {
                // a damaged part fails only the checks that need it, and says the same each time
                let finding = failed("database", place, &error);
                if !findings.contains(&finding) {
                    findings.push(finding);
                }
            }
        }
    }
    findings
}

/// A question to the database, and what came of it.
type Check = fn(&Store) -> Result<Vec<Finding>, Error>;

fn failed(check: &str, place: &str, error: &Error) -> Finding {
    Finding::fail(check, format!("{place}: {error}"), on_database(error))
}

fn schema(store: &Store) -> Result<Vec<Finding>, Error> {
    let number = store.schema_number()?;
    Ok(vec![Finding::ok("schema", format!("version {number}, the one this highwater knows"))])
}

fn quick_integrity(store: &Store) -> Result<Vec<Finding>, Error> {
    let sound = "its structure is sound; --deep also verifies its indexes and every text";
    Ok(vec![integrity(store, IntegrityCheck::Quick, sound)?])
}

fn full_integrity(store: &Store) -> Result<Vec<Finding>, Error> {
    let sound = "its structure and its indexes are sound";
    Ok(vec![integrity(store, IntegrityCheck::Full, sound)?])
}

fn integrity(store: &Store, check: IntegrityCheck, sound: &str) -> Result<Finding, Error> {
    Ok(match store.check_integrity(check)? {
        IntegrityReport::Sound => Finding::ok("integrity", sound),
        IntegrityReport::Damaged(found) => {
            let advice = "`highwater pull --repair` mends indexes; else restore a backup, or move the file \
                          away and pull again: GitHub still has what was in it";
            Finding::fail("integrity", format!("the file is damaged: {}", found.join("; ")), advice)
        }
        IntegrityReport::NotChecked { data_checksums } => {
            let checksums = if data_checksums { "on" } else { "off" };
            let detail = format!(
                "not checked: PostgreSQL looks after its own files (data_checksums is {checksums}); \
                 --deep verifies every text"
            );
            Finding::ok("integrity", detail)
        }
    })
}

/// The pulls that failed as a whole: nothing else in the database tells of them.
fn pulls(store: &Store) -> Result<Vec<Finding>, Error> {
    let failed = store.failed_pulls()?;
    if failed.is_empty() {
        let detail = match store.last_pulls()?.iter().map(|pull| pull.ended_ms).max() {
            Some(ended_ms) => format!("the last one ended {}", Mark(ended_ms)),
            None => "none was made yet".to_owned(),
        };
        return Ok(vec![Finding::ok("pull", detail)]);
    }
    let finding = |FailedPull { organization, ended_ms, error }: &FailedPull| {
        let ended = Mark(*ended_ms);
        let detail = format!("the last pull of {organization} failed {ended}: {error}");
        Finding::fail("pull", detail, "run `highwater pull` again when the cause is gone")
    };
    Ok(failed.iter().map(finding).collect())
}

fn held(store: &Store) -> Result<Vec<Finding>, Error> {
    let counts = store.counts()?;
    let each = [
        (counts.repositories, "repositories"),
        (counts.discussions, "discussions"),
        (counts.issues, "issues"),
        (counts.pull_requests, "pull requests"),
        (counts.comments, "comments"),
    ];
    let each = each.map(|(count, name)| format!("{} {name}", grouped(count)));
    let mut findings = vec![Finding::ok("held", each.join(", "))];
    if 0 < counts.quarantined {
        let named = store.quarantine_names(3)?;
        let named = named.iter().map(|(subject, reason)| format!("{subject} ({reason})"));
        let named = named.collect::<Vec<_>>().join(", ");
        let count = grouped(counts.quarantined);
        let detail = format!("{count} could not be read as they came, such as {named}");
        let advice = "nothing to do: each pull asks for them again";
        findings.push(Finding::warn("quarantine", detail, advice));
    } else {
        findings.push(Finding::ok("quarantine", "everything that came could be read"));
    }
    Ok(findings)
}

fn times(store: &Store) -> Result<Vec<Finding>, Error> {
    let items = store.future_items()?;
    if items.is_empty() {
        return Ok(vec![Finding::ok("times", "no item is dated beyond its source's own time")]);
    }
    let count = counted(items.total as u64, "item");
    let is_dated = if items.total == 1 { "is dated" } else { "are dated" };
    let detail = format!("{count} {is_dated} beyond the source's own time: {items}");
    let advice = "nothing to do: they are shown as sent, and ordered by when they were read";
    Ok(vec![Finding::warn("times", detail, advice)])
}

fn removed(store: &Store) -> Result<Vec<Finding>, Error> {
    let detail = match store.count_removed_items()? {
        0 => "nothing was removed in the last 30 days".to_owned(),
        1 => "1 removed item can be restored: `highwater removed list`".to_owned(),
        count => {
            format!("{} removed items can be restored: `highwater removed list`", grouped(count))
        }
    };
    Ok(vec![Finding::ok("removed", detail)])
}

fn lanes(store: &Store) -> Result<Vec<Finding>, Error> {
    let lanes = store.lanes()?;
    let names = names(store, &lanes)?;
    Ok(vec![failing(&lanes, &names, MachineClock.now_ms()), gaps(&lanes, &names)])
}

fn failing(lanes: &[LaneRow], names: &Names, now_ms: i64) -> Finding {
    let failing = lanes.iter().filter(|(_, state, _)| 0 < state.failures);
    let failing: Vec<String> = failing
        .map(|(lane, state, error)| {
            let wait = state.due_ms.saturating_sub(now_ms);
            let wait =
                if 0 < wait { format!(", not before {}", span(wait)) } else { String::new() };
            let error = error.as_deref().unwrap_or("the reason was not kept");
            format!("{} ({} times{wait}): {error}", shown(lane, names), state.failures)
        })
        .collect();
    if failing.is_empty() {
        return Finding::ok("lanes", format!("none of {} fails", grouped(lanes.len() as u64)));
    }
    let detail = format!("{} of {} fail: {}", failing.len(), lanes.len(), some(&failing, "; "));
    Finding::warn(
        "lanes",
        detail,
        "run `highwater pull` again; `highwater doctor github` looks at the token",
    )
}

fn gaps(lanes: &[LaneRow], names: &Names) -> Finding {
    let open = lanes.iter().filter(|(lane, state, _)| {
        matches!(lane.scope, Scope::Repository(_)) && !state.coverage.is_complete()
    });
    let open: Vec<String> = open.map(|(lane, _, _)| shown(lane, names)).collect();
    if open.is_empty() {
        return Finding::ok("gaps", "every list was read to its end");
    }
    Finding::warn("gaps", format!("{} are not complete: {}", open.len(), some(&open, ", ")), AGAIN)
}

fn leases(store: &Store) -> Result<Vec<Finding>, Error> {
    let held = store.leases()?;
    if held.is_empty() {
        return Ok(vec![Finding::ok("lease", "nobody is at work")]);
    }
    let now_ms = MachineClock.now_ms();
    Ok(held.iter().map(|row| lease(row, now_ms)).collect())
}

fn lease(row: &LeaseRow, now_ms: i64) -> Finding {
    let LeaseRow { name, held, is_locked } = row;
    let since = Mark(held.since_ms);
    let lives = is_locked.unwrap_or(now_ms < held.expires_ms);
    if lives {
        return Finding::ok("lease", format!("{name}: {} is at work since {since}", held.owner));
    }
    let detail = format!("{name}: {} began {since} and died without a word", held.owner);
    Finding::warn("lease", detail, "nothing to do: the next pull takes over")
}

fn pauses(store: &Store) -> Result<Vec<Finding>, Error> {
    let now_ms = MachineClock.now_ms();
    let pause = |PauseRow { principal, until_ms, why }: PauseRow| {
        let detail = format!("{principal} waits another {}: {why}", span(until_ms - now_ms));
        Finding::warn("limit", detail, "wait: a pull does so by itself")
    };
    Ok(store.pauses(now_ms)?.into_iter().map(pause).collect())
}

/// The names of repositories by host and id.
type Names = BTreeMap<(String, i64), String>;

fn names(store: &Store, lanes: &[LaneRow]) -> Result<Names, Error> {
    let mut hosts: Vec<&String> = lanes.iter().map(|(lane, _, _)| &lane.host).collect();
    hosts.dedup();
    let mut names = Names::new();
    for host in hosts {
        for it in store.repositories(host)? {
            names.insert((host.clone(), it.id), format!("{}/{}", it.owner, it.name));
        }
    }
    Ok(names)
}

fn shown(lane: &Lane, names: &Names) -> String {
    let surface = lane.surface.name();
    match &lane.scope {
        Scope::Organization(login) => format!("{login} {surface}"),
        Scope::Repository(id) => match names.get(&(lane.host.clone(), *id)) {
            Some(name) => format!("{name} {surface}"),
            None => format!("repository {id} {surface}"),
        },
    }
}

/// The first few.
fn some(all: &[String], between: &str) -> String {
    let named = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(between);
    let rest = all.len().saturating_sub(NAMED);
    if rest == 0 { named } else { format!("{named} and {rest} more") }
}
