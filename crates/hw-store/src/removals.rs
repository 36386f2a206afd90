//! Removes items in bulk: items that a second request confirmed gone, unless the brake stops it, and the items of a lane
//! that the user wants to download again.

use hw_rules::item::{ItemKey, ItemKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::removal_brake::{self, RemovalBrake};
use hw_rules::version::ObservedAt;

use crate::error::StoreError;
use crate::lanes::StoredLane;
use crate::leases::Lease;
use crate::mirror::tombstones::{self, ConfirmedAbsence};
use crate::removed_items::{RemovalCause, RemovalReason};
use crate::sql::{Sql, params};
use crate::sweeps::RemovalResult;
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::item_names;
use crate::{Store, cells, lanes, quarantine, removal_tally};

const REMOVE: TransactionStep = step!("remove repositories");
const CLEAR: TransactionStep = step!("clear");

impl Store {
    /// Removes repositories that were confirmed gone, with their content. Removing several needs `allow_mass_removal`.
    /// `lane` is the organization's listing.
    pub fn remove_repositories(
        &self,
        lease: &Lease,
        lane: &Lane,
        gone: &[(i64, ObservedAt)],
        allow_mass_removal: bool,
    ) -> Result<RemovalResult, StoreError> {
        let gone = absences_of_kind(ItemKind::Repository, gone);
        self.write_with_lease(lease, REMOVE, |tx| {
            let lane = StoredLane { id: lanes::ensure_lane_id(tx, lane)?, lane };
            let removed = remove_confirmed(tx, lane, &gone, allow_mass_removal)?;
            Ok(RemovalResult { removed })
        })
    }

    /// Returns the ids of the items that [`Store::finish_sweep`] would remove from a lane, or its brake. Changes nothing.
    pub fn check_removal(
        &self,
        lane: &Lane,
        gone: &[(i64, ObservedAt)],
        allow_mass_removal: bool,
    ) -> Result<Vec<i64>, StoreError> {
        let gone = absences_of_kind(lane.surface.kind(), gone);
        self.read("check removal", |tx| {
            let Some(id) = lanes::find_lane_id(tx, lane)? else { return Ok(Vec::new()) };
            let lane = StoredLane { id, lane };
            let gone = retain_in_lane(tx, lane, &gone)?;
            find_removals(tx, lane, &gone, allow_mass_removal)
        })
    }

    /// Removes all items of a lane, including tombstones, and resets its coverage, so that it is read again. Returns the
    /// number of items.
    ///
    /// Repositories stay until a request confirms them gone: the threads of a forgotten repository would never be
    /// removed. Their next observation is written in any case.
    pub fn clear_lane(&self, lease: &Lease, lane: &Lane) -> Result<u64, StoreError> {
        self.write_with_lease(lease, CLEAR, |tx| {
            let Some(id) = lanes::find_lane_id(tx, lane)? else { return Ok(0) };
            let stored = StoredLane { id, lane };
            let removed = match lane.surface {
                Surface::Repositories => forget_lane_digests(tx, stored)?,
                Surface::Discussions
                | Surface::Issues
                | Surface::PullRequests
                | Surface::IssueComments
                | Surface::ReviewComments
                | Surface::Reviews
                | Surface::DiscussionComments => empty_lane(tx, stored)?,
            };
            quarantine::release_lane(tx, id)?;
            lanes::restart::restart_lane(tx, id)?;
            tracing::info!(%lane, removed, "cleared the lane");
            Ok(removed)
        })
    }
}

/// Attaches a kind to the ids of absent items.
pub(crate) fn absences_of_kind(
    kind: ItemKind,
    gone: &[(i64, ObservedAt)],
) -> Vec<ConfirmedAbsence> {
    gone.iter()
        .map(|(id, observed_at)| ConfirmedAbsence {
            key: ItemKey { kind, id: *id },
            observed_at: *observed_at,
        })
        .collect()
}

/// Removes items of a lane that were confirmed gone, unless the brake stops it. Returns their number.
pub(crate) fn remove_confirmed(
    tx: &mut Transaction<'_>,
    stored @ StoredLane { id, lane }: StoredLane<'_>,
    gone: &[ConfirmedAbsence],
    allow_mass_removal: bool,
) -> Result<u64, StoreError> {
    let gone = &retain_in_lane(tx, stored, gone)?;
    find_removals(tx, stored, gone, allow_mass_removal)?;
    let reason = match lane.surface.kind() {
        ItemKind::Repository => RemovalReason::RepositoryGone,
        ItemKind::Discussion
        | ItemKind::Issue
        | ItemKind::PullRequest
        | ItemKind::IssueComment
        | ItemKind::ReviewComment
        | ItemKind::Review
        | ItemKind::DiscussionComment => RemovalReason::NotListed,
    };
    let removed = tombstones::tombstone_items(tx, &lane.host, id, gone, RemovalCause::new(reason))?;
    removal_tally::add_removals(tx, &lane.host, lane.surface.kind(), removed)?;
    Ok(removed)
}

/// Leaves out items that another lane has read since: a comment of a transferred issue is gone from its old list, but
/// not from the mirror.
fn retain_in_lane(
    tx: &mut Transaction<'_>,
    StoredLane { id, lane }: StoredLane<'_>,
    gone: &[ConfirmedAbsence],
) -> Result<Vec<ConfirmedAbsence>, StoreError> {
    let ids: Vec<i64> = gone.iter().map(|absence| absence.key.id).collect();
    let moved = cells::ids_in_other_lanes(tx, &lane.host, lane.surface.kind(), id, &ids)?;
    Ok(gone.iter().filter(|absence| !moved.contains(&absence.key.id)).copied().collect())
}

/// Returns the ids of the items to remove, unless they are too large a part of the lane.
fn find_removals(
    tx: &mut Transaction<'_>,
    StoredLane { id, lane }: StoredLane<'_>,
    gone: &[ConfirmedAbsence],
    allow_mass_removal: bool,
) -> Result<Vec<i64>, StoreError> {
    let present = cells::count_present(tx, id)?;
    let kind = lane.surface.kind();
    let cells = cells::read_cells(tx, &lane.host, gone.iter().map(|absence| absence.key))?.cells;
    let removals: Vec<i64> = gone
        .iter()
        .filter(|absence| {
            cells.get(&absence.key).is_some_and(|cell| {
                cell.is_present() && !cell.add_tombstone(absence.observed_at).is_present()
            })
        })
        .map(|absence| absence.key.id)
        .collect();
    if let Err(brake) = check_brake(kind, removals.len() as u64, present, allow_mass_removal) {
        let items = item_names::names_by_ids(tx, &lane.host, kind, &removals)?;
        return Err(StoreError::Brake { kind, brake, items });
    }
    Ok(removals)
}

fn check_brake(
    kind: ItemKind,
    removed: u64,
    present: u64,
    allow_mass_removal: bool,
) -> Result<(), RemovalBrake> {
    let [removed, present] =
        [removed, present].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let rule = match kind {
        ItemKind::Repository => removal_brake::check_repository_removals,
        ItemKind::Discussion
        | ItemKind::Issue
        | ItemKind::PullRequest
        | ItemKind::IssueComment
        | ItemKind::ReviewComment
        | ItemKind::Review
        | ItemKind::DiscussionComment => removal_brake::check_removals,
    };
    rule(removed, present, allow_mass_removal)
}

/// Makes the next observation of each item of a lane count as an edit. Removes none, and so returns zero.
fn forget_lane_digests(
    tx: &mut Transaction<'_>,
    StoredLane { id, lane }: StoredLane<'_>,
) -> Result<u64, StoreError> {
    const ALL: Sql = Sql::portable("select id from cells where lane_id = $1");
    let ids = tx.query(ALL, &params![id], |mut row| row.int(0))?;
    cells::forget_digests(tx, &lane.host, lane.surface.kind(), &ids)?;
    Ok(0)
}

/// Removes the cells of a lane with their texts and search rows, a few hundred at a time. Returns the number of texts.
fn empty_lane(
    tx: &mut Transaction<'_>,
    StoredLane { id, lane }: StoredLane<'_>,
) -> Result<u64, StoreError> {
    const NEXT: Sql = Sql::portable(
        "select id from cells where lane_id = $1 and kind = $2 order by id limit 500",
    );
    const REMOVE: Sql = Sql::per_dialect(
        "delete from cells
          where host = $1 and kind = $2 and id in (select value from json_each($3))",
        "delete from cells where host = $1 and kind = $2 and id = any($3)",
    );
    let (host, kind) = (lane.host.as_str(), lane.surface.kind());
    let mut removed = 0;
    loop {
        let ids = tx.query(NEXT, &params![id, kind.name()], |mut row| row.int(0))?;
        if ids.is_empty() {
            return Ok(removed);
        }
        removed += tombstones::remove_texts(tx, host, kind, &ids)?;
        tx.execute(REMOVE, &params![host, kind.name(), ids.as_slice()])?;
    }
}
