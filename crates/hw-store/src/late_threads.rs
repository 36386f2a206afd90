//! Handles threads that appear long after they were created: transferred threads, or hidden ones that returned.
//!
//! Their comments have old times, below the point from which the lists of comments are read, so only a sweep finds
//! them.

use std::collections::BTreeMap;

use hw_rules::OVERLAP_MS;
use hw_rules::coverage::Coverage;
use hw_rules::item::{MirrorItem, Thread};
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;

use crate::changes::{ChangeBatch, ItemChangeKind};
use crate::error::StoreError;
use crate::lanes::lane_rows::FollowedLane;
use crate::sweeps;
use crate::transaction::Transaction;

/// Requests a sweep of the followed lists that contain the comments of such threads.
pub(crate) fn request_comment_sweeps(
    tx: &mut Transaction<'_>,
    batch: &ChangeBatch<'_>,
) -> Result<(), StoreError> {
    let Some(followed) = batch.followed else { return Ok(()) };
    let mut by_list: BTreeMap<Lane, Vec<(ItemChangeKind, &Thread)>> = BTreeMap::new();
    for change in &batch.changes {
        let Some(MirrorItem::Thread(thread)) = change.new_item() else { continue };
        for list in comment_lanes(batch.host, thread) {
            by_list.entry(list).or_default().push((change.kind, thread));
        }
    }
    for (list, threads) in by_list {
        let Some(FollowedLane { id, coverage }) = followed.get(&list) else { continue };
        if threads.iter().any(|(change, thread)| is_late(*change, thread, coverage)) {
            sweeps::restart_sweep(tx, *id)?;
        }
    }
    Ok(())
}

/// Returns true if a list claims comments that were written before their thread appeared, or if an open walk of the
/// list has passed them: the thread is back, or was created within what is claimed or passed.
fn is_late(change: ItemChangeKind, thread: &Thread, list: &Coverage) -> bool {
    let claimed = list.from.zip(list.through).map(|(from, to)| (from, to.minus_ms(OVERLAP_MS)));
    let passed = list.since.as_ref().and_then(|walk| Some((walk.floor, walk.newest?)));
    let created = thread.created_at.instant();
    match change {
        ItemChangeKind::Revived => claimed.or(passed).is_some(),
        ItemChangeKind::Created => claimed
            .into_iter()
            .chain(passed)
            .any(|(from, to)| !from.is_above(created) && created < to),
        ItemChangeKind::Edited
        | ItemChangeKind::Bumped
        | ItemChangeKind::Removed
        | ItemChangeKind::Renamed
        | ItemChangeKind::Cleared => false,
    }
}

/// Returns the lists that contain a thread's comments. Comments that are read thread by thread are due anyway.
pub(crate) fn comment_lanes(host: &str, thread: &Thread) -> Vec<Lane> {
    let lists = thread.kind().comment_kinds().iter().map(|kind| Surface::Comments(*kind));
    lists
        .filter(|list| !list.is_per_thread())
        .map(|list| Lane::for_repository(RepositoryKey::new(host, thread.repository_id), list))
        .collect()
}
