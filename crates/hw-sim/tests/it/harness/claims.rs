//! What a pull may call complete while the source lies.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::OVERLAP_MS;
use hw_rules::item::{Kind, Thread};
use hw_rules::lane::Choice;
use hw_sim::{GitHub, ThreadKind, TrueThread};

use super::{HOST, Puller, Scene, all_rows};

const KINDS: [(Choice, Kind, ThreadKind); 3] = [
    (Choice::Issues, Kind::Issue, ThreadKind::Issue),
    (Choice::PullRequests, Kind::PullRequest, ThreadKind::PullRequest),
    (Choice::Discussions, Kind::Discussion, ThreadKind::Discussion),
];

/// Checks a pull that called itself complete: whatever every list showed before it began, and nobody changed while it
/// ran, is stored as it is. Returns how many threads were checked.
///
/// Left out is what could not be read at some time, and what was shown under a wrong name or id: one that is possible
/// is believed until a sweep, and a repository that was never seen right is taken for a ghost.
pub(crate) fn check_complete_pull(
    scene: &Scene,
    puller: &Puller,
    began_ms: i64,
) -> Result<u64, String> {
    if puller.window_days.is_some() || !puller.excluded.is_empty() {
        return Ok(0);
    }
    let rows = all_rows(&scene.store);
    let stored: BTreeMap<(Kind, i64), &Thread> =
        rows.iter().map(|row| ((row.kind(), row.id), row)).collect();
    let repositories = scene.store.repositories(HOST).map_err(|error| error.to_string())?;
    let repositories: BTreeSet<i64> = repositories.iter().map(|it| it.id).collect();
    let mut checked = 0;
    scene.world(|github| {
        let truth = github.world().truth();
        for (choice, kind, of) in KINDS {
            if !puller.items.contains(&choice) {
                continue;
            }
            let judged = |thread: &&TrueThread| is_judged(github, thread, &repositories);
            for thread in truth.of_kind(of).filter(judged) {
                let row = stored.get(&(kind, thread.id)).copied();
                checked += u64::from(check_thread(github, thread, row, began_ms)?);
            }
        }
        Ok(checked)
    })
}

fn is_judged(github: &GitHub, thread: &TrueThread, repositories: &BTreeSet<i64>) -> bool {
    let repository = github.world().truth().repositories.get(&thread.repository_id).cloned();
    let is_ghost = !repositories.contains(&thread.repository_id)
        && repository.is_none_or(|it| github.was_falsified(&it.node_id));
    !is_ghost
        && !thread.is_shown_again
        && !github.was_falsified(&thread.node_id)
        && github.world().was_always_shown(thread.repository_id)
}

/// Whether every list showed the thread before the pull began, as it is now; then its row must be the same.
fn check_thread(
    github: &GitHub,
    thread: &TrueThread,
    row: Option<&Thread>,
    began_ms: i64,
) -> Result<bool, String> {
    let history = github.world().history_of(thread.kind, thread.id);
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
