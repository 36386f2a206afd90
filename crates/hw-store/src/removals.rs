//! Removes items in bulk: items that a second request confirmed gone, unless the brake stops it, and the items of a lane
//! that the user wants to download again.

use hw_rules::duty::DutyName;
use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::lane::Lane;
use hw_rules::removal_brake::{self, RemovalBrake};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::version::ObservedAt;

use crate::changes;
use crate::chores::TextBatch;
use crate::error::StoreError;
use crate::lanes::StoredLane;
use crate::mirror::tombstones::{self, ConfirmedAbsence};
use crate::removed_items::{RemovalCause, RemovalReason};
use crate::sql::{Sql, params};
use crate::sweeps::RemovalResult;
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::item_names;
use crate::{
    LeasedStore, StoreReader, cells, chores, follows, lanes, leases, quarantine, removal_tally,
};

const REMOVE: TransactionStep = step!("remove repositories");
const REMOVE_ITEMS: TransactionStep = step!("remove items");
const CLEAR: TransactionStep = step!("clear");

impl StoreReader {
    /// Returns the ids of the items that [`LeasedStore::finish_sweep`] would remove from a lane, or its brake. Changes nothing.
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
}

impl LeasedStore {
    /// Removes repositories that were confirmed gone, with their content. Removing several needs `allow_mass_removal`.
    /// `lane` is the organization's listing. One that is followed for another reason only leaves the mirror.
    pub fn remove_repositories(
        &self,
        lane: &Lane,
        gone: &[(i64, ObservedAt)],
        allow_mass_removal: bool,
    ) -> Result<RemovalResult, StoreError> {
        let gone = absences_of_kind(ObjectKind::Repository, gone);
        self.write_with_lease(REMOVE, |tx| {
            let lane = StoredLane { id: lanes::ensure_lane_id(tx, lane)?, lane };
            let mut unshared = Vec::new();
            for absence in &gone {
                let repository = RepositoryKey::new(&lane.lane.host, absence.key.id);
                if !follows::release_from_mirror(tx, &repository)? {
                    unshared.push(*absence);
                }
            }
            let released = (gone.len() - unshared.len()) as u64;
            let removed = remove_confirmed(tx, lane, &unshared, allow_mass_removal)? + released;
            for absence in &gone {
                let duty =
                    DutyName::Repository(RepositoryKey::new(&lane.lane.host, absence.key.id));
                leases::revoke_from_others(tx, &duty, self.lease())?;
            }
            Ok(RemovalResult { removed })
        })
    }

    /// Removes repositories that no reason is left to follow, with their content.
    ///
    /// No request confirmed their absence, so their tombstones have the time of their last observation, and the next one
    /// revives them.
    pub fn remove_unfollowed(&self, host: &str) -> Result<RemovalResult, StoreError> {
        if self.read("unfollowed", |tx| read_unfollowed(tx, host))?.is_empty() {
            return Ok(RemovalResult::default());
        }
        self.write_with_lease(REMOVE, |tx| {
            let mut removed = 0;
            for (lane, absence) in read_unfollowed(tx, host)? {
                let cause = RemovalCause::new(RemovalReason::RepositoryGone);
                let repository = RepositoryKey::new(host, absence.key.id);
                removed +=
                    tombstones::tombstone_items(tx, &repository.host, lane, &[absence], cause)?;
                let duty = DutyName::Repository(repository);
                leases::revoke_from_others(tx, &duty, self.lease())?;
            }
            Ok(RemovalResult { removed })
        })
    }

    /// Removes items of a lane that were confirmed gone, without a sweep of the lane. Returns their number.
    pub fn remove_gone(
        &self,
        lane: &Lane,
        gone: &[(i64, ObservedAt)],
        allow_mass_removal: bool,
    ) -> Result<u64, StoreError> {
        let gone = absences_of_kind(lane.surface.kind(), gone);
        self.write_with_lease(REMOVE_ITEMS, |tx| {
            let Some(id) = lanes::find_lane_id(tx, lane)? else { return Ok(0) };
            remove_confirmed(tx, StoredLane { id, lane }, &gone, allow_mass_removal)
        })
    }

    /// Resets the coverage of a lane, so that it is read again. A chore removes its items, including tombstones.
    ///
    /// Repositories stay until a request confirms them gone: the threads of a forgotten repository would never be
    /// removed. Their next observation is written in any case.
    pub fn clear_lane(&self, lane: &Lane) -> Result<(), StoreError> {
        self.write_with_lease(CLEAR, |tx| {
            let Some(id) = lanes::find_lane_id(tx, lane)? else { return Ok(()) };
            leases::revoke_from_others(tx, &DutyName::for_lane(lane), self.lease())?;
            chores::request_clearing(tx, &lane.host, id)?;
            quarantine::release_lane(tx, id)?;
            lanes::restart::restart_lane(tx, id)?;
            tracing::info!(%lane, "clearing the lane");
            Ok(())
        })
    }
}

/// Returns the stored repositories that nothing follows, each with the lane that it was read through.
fn read_unfollowed(
    tx: &mut Transaction<'_>,
    host: &str,
) -> Result<Vec<(i64, ConfirmedAbsence)>, StoreError> {
    const UNFOLLOWED: Sql = Sql::portable(
        "select cells.id, lane_id, observed_at_ms, observed_request
           from repositories
           join cells on cells.host = repositories.host and cells.kind = 'repository'
                     and cells.id = repositories.id
          where repositories.host = $1 and observed_at_ms is not null
            and not exists (select 1 from follows
                             where follows.host = repositories.host
                               and follows.repository_id = repositories.id)",
    );
    tx.query(UNFOLLOWED, &params![host], |mut row| {
        let key = ObjectId { kind: ObjectKind::Repository, id: row.int("id")? };
        let observed_at = ObservedAt::new(row.int("observed_at_ms")?, row.int("observed_request")?);
        Ok((row.int("lane_id")?, ConfirmedAbsence { key, observed_at }))
    })
}

/// Attaches a kind to the ids of absent items.
pub(crate) fn absences_of_kind(
    kind: ObjectKind,
    gone: &[(i64, ObservedAt)],
) -> Vec<ConfirmedAbsence> {
    gone.iter()
        .map(|(id, observed_at)| ConfirmedAbsence {
            key: ObjectId { kind, id: *id },
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
        ObjectKind::Repository => RemovalReason::RepositoryGone,
        ObjectKind::Thread(_) | ObjectKind::Comment(_) | ObjectKind::Post => {
            RemovalReason::NotListed
        }
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
    kind: ObjectKind,
    removed: u64,
    present: u64,
    allow_mass_removal: bool,
) -> Result<(), RemovalBrake> {
    let [removed, present] =
        [removed, present].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let rule = match kind {
        ObjectKind::Repository => removal_brake::check_repository_removals,
        ObjectKind::Thread(_) | ObjectKind::Comment(_) | ObjectKind::Post => {
            removal_brake::check_removals
        }
    };
    rule(removed, present, allow_mass_removal)
}

/// Forgets the next items of a lane. Makes the next observation of a repository count as an edit instead.
pub(crate) fn clear_items(
    tx: &mut Transaction<'_>,
    lane_id: i64,
    host: &str,
    kind: ObjectKind,
    after: i64,
    limit: i64,
) -> Result<TextBatch, StoreError> {
    const NEXT: Sql = Sql::portable(
        "select id from cells where lane_id = $1 and kind = $2 and $3 < id order by id limit $4",
    );
    let params = params![lane_id, kind.name(), after, limit];
    let ids = tx.query(NEXT, &params, |mut row| row.int("id"))?;
    if kind == ObjectKind::Repository {
        cells::forget_digests(tx, host, kind, &ids)?;
    } else {
        let keys: Vec<_> = ids.iter().map(|id| ObjectId { kind, id: *id }).collect();
        changes::forget_items(tx, host, None, &keys)?;
    }
    Ok(TextBatch::from_ids(host, &ids, limit))
}
