//! Checks pulls that call themselves complete while the source lies.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::OVERLAP_MS;
use hw_rules::item::{self, Thread};
use hw_rules::lane::PullItem;
use hw_sim::{SimulatedGitHub, ThreadKind, TrueThread};

use super::{HOST, SimFixture, TestPull, stored_rows};

const KINDS: [(PullItem, item::ThreadKind, ThreadKind); 3] = [
    (PullItem::Issues, item::ThreadKind::Issue, ThreadKind::Issue),
    (PullItem::PullRequests, item::ThreadKind::PullRequest, ThreadKind::PullRequest),
    (PullItem::Discussions, item::ThreadKind::Discussion, ThreadKind::Discussion),
];

/// Checks a pull that called itself complete: every thread listed before the pull began and unchanged while it ran
/// is stored as it is. Returns the number of checked threads.
///
/// Skips threads that were unreadable at some time, and those served with a wrong name or id: a plausible one is
/// believed until a sweep, and a repository that was never served correctly is taken for a ghost.
pub(crate) fn check_complete_pull(
    fixture: &SimFixture,
    pull: &TestPull,
    began_ms: i64,
) -> Result<u64, String> {
    if pull.window_days.is_some() || !pull.excluded.is_empty() {
        return Ok(0);
    }
    let rows = stored_rows(&fixture.store);
    let stored: BTreeMap<(item::ThreadKind, i64), &Thread> =
        rows.iter().map(|row| ((row.kind(), row.id), row)).collect();
    let repositories = fixture.store.repositories(HOST).map_err(|error| error.to_string())?;
    let repositories: BTreeSet<i64> = repositories.iter().map(|repository| repository.id).collect();
    let mut checked = 0;
    let truth = fixture.followed_truth();
    fixture.with_github(|github| {
        for (item, kind, simulated_kind) in KINDS {
            if !pull.items.contains(&item) {
                continue;
            }
            for thread in truth.threads_of_kind(simulated_kind) {
                if !is_checkable(github, thread, &repositories) {
                    continue;
                }
                let row = stored.get(&(kind, thread.id)).copied();
                checked += u64::from(check_thread(github, thread, row, began_ms)?);
            }
        }
        Ok(checked)
    })
}

fn is_checkable(
    github: &SimulatedGitHub,
    thread: &TrueThread,
    repositories: &BTreeSet<i64>,
) -> bool {
    let repository = github.world().truth().repositories.get(&thread.repository_id).cloned();
    let is_ghost = !repositories.contains(&thread.repository_id)
        && repository.is_none_or(|repository| github.was_overridden(&repository.node_id));
    !is_ghost
        && !thread.was_hidden
        && !github.was_overridden(&thread.node_id)
        && github.world().was_always_visible(thread.repository_id)
}

/// Compares a thread with its row; returns false if the thread changed too late to be compared.
///
/// Every list showed an unchanged thread before the pull began, so its row must be the same.
fn check_thread(
    github: &SimulatedGitHub,
    thread: &TrueThread,
    row: Option<&Thread>,
    began_ms: i64,
) -> Result<bool, String> {
    let history = github.world().thread_history(thread.kind, thread.id);
    let last_change = history.iter().map(|(moment, _)| *moment).max();
    if last_change.is_none_or(|moment| moment >= began_ms - OVERLAP_MS) {
        return Ok(false);
    }
    let is_stored = row
        .is_some_and(|row| row.updated_at.as_str() == thread.updated_at && row.body == thread.body);
    if is_stored {
        return Ok(true);
    }
    let stored = row.map(|row| row.updated_at.as_str());
    Err(format!(
        "a pull that began at {began_ms} called itself complete, but {} of {} is stored as {stored:?}",
        thread.url, thread.updated_at
    ))
}
