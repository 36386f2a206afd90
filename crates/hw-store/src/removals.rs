//! What leaves the mirror in one go: what a second look confirmed gone, with a brake before it, and a lane
//! that a person wants read anew.

use hw_rules::item::{Key, Kind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::reconcile::{self, Brake};
use hw_rules::version::Seen;

use crate::error::Error;
use crate::leases::Lease;
use crate::mirror::removal;
use crate::removed_items::{Cause, RemovalReason};
use crate::sql::{Sql, params};
use crate::sweeps::Swept;
use crate::tx::{Step, Tx, step};
use crate::views::item_names;
use crate::{Store, cells, lanes, quarantine, removal_tally};

const REMOVE: Step = step!("remove repositories");
const CLEAR: Step = step!("clear");

impl Store {
    /// Removes repositories that were confirmed gone, with everything they hold, unless there are several
    /// and nobody allowed that. `lane` is the organisation's listing.
    pub fn remove_repositories(
        &self,
        lease: &Lease,
        lane: &Lane,
        gone: &[(i64, Seen)],
        allow_mass_removal: bool,
    ) -> Result<Swept, Error> {
        let kind = Kind::Repository;
        let gone: Vec<_> = gone.iter().map(|(id, seen)| (Key { kind, id: *id }, *seen)).collect();
        self.write_for(lease, REMOVE, |tx| {
            let id = lanes::lane_id(tx, lane)?;
            let removed = remove_at_once(tx, (id, lane), &gone, allow_mass_removal)?;
            Ok(Swept { removed })
        })
    }

    /// Returns the ids of what [`Store::finish_sweep`] would remove from a lane, or its brake. Nothing changes.
    pub fn check_removal(
        &self,
        lane: &Lane,
        gone: &[(i64, Seen)],
        allow_mass_removal: bool,
    ) -> Result<Vec<i64>, Error> {
        let kind = lane.surface.kind();
        let gone: Vec<_> = gone.iter().map(|(id, seen)| (Key { kind, id: *id }, *seen)).collect();
        self.read("check removal", |tx| {
            let Some(id) = lanes::known_id(tx, lane)? else { return Ok(Vec::new()) };
            let gone = still_in_lane(tx, (id, lane), &gone)?;
            check_removal(tx, (id, lane), &gone, allow_mass_removal)
        })
    }

    /// Removes everything that is held of a lane, tombstones too, and what it claims; tells how many items
    /// there were. Somebody wants it read anew.
    ///
    /// Repositories stay until a look confirms them gone: who forgot one would hold its threads for ever.
    /// Their next look is written, whatever it shows.
    pub fn clear_lane(&self, lease: &Lease, lane: &Lane) -> Result<u64, Error> {
        self.write_for(lease, CLEAR, |tx| {
            let Some(id) = lanes::known_id(tx, lane)? else { return Ok(0) };
            let removed = match lane.surface {
                Surface::Repositories => write_anew(tx, id, lane)?,
                Surface::Discussions
                | Surface::Issues
                | Surface::PullRequests
                | Surface::IssueComments
                | Surface::ReviewComments
                | Surface::Reviews
                | Surface::DiscussionComments => empty(tx, id, lane)?,
            };
            quarantine::release_lane(tx, id)?;
            lanes::fresh::renew(tx, id)?;
            tracing::info!(%lane, removed, "the lane is cleared");
            Ok(removed)
        })
    }
}

/// Buries what a look at a lane confirmed gone, unless it would be too much at once; tells how many.
pub(crate) fn remove_at_once(
    tx: &mut Tx<'_>,
    (id, lane): (i64, &Lane),
    gone: &[(Key, Seen)],
    allow_mass_removal: bool,
) -> Result<u64, Error> {
    let gone = &still_in_lane(tx, (id, lane), gone)?;
    check_removal(tx, (id, lane), gone, allow_mass_removal)?;
    let reason = match lane.surface.kind() {
        Kind::Repository => RemovalReason::RepositoryGone,
        Kind::Discussion
        | Kind::Issue
        | Kind::PullRequest
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => RemovalReason::NotListed,
    };
    let removed = removal::bury(tx, &lane.host, id, gone, Cause::new(reason))?;
    removal_tally::count(tx, &lane.host, lane.surface.kind(), removed)?;
    Ok(removed)
}

/// Leaves out what another lane has read since: a comment of a transferred issue is gone from the list where it was,
/// and not from the mirror.
fn still_in_lane(
    tx: &mut Tx<'_>,
    (id, lane): (i64, &Lane),
    gone: &[(Key, Seen)],
) -> Result<Vec<(Key, Seen)>, Error> {
    let ids: Vec<i64> = gone.iter().map(|(key, _)| key.id).collect();
    let moved = cells::in_other_lanes(tx, &lane.host, lane.surface.kind(), id, &ids)?;
    Ok(gone.iter().filter(|(key, _)| !moved.contains(&key.id)).copied().collect())
}

/// Returns the ids of what would be removed, unless that is too much of the lane at once.
fn check_removal(
    tx: &mut Tx<'_>,
    (id, lane): (i64, &Lane),
    gone: &[(Key, Seen)],
    allow_mass_removal: bool,
) -> Result<Vec<i64>, Error> {
    let held = cells::present_in_lane(tx, id)?;
    let kind = lane.surface.kind();
    let cells = cells::held(tx, &lane.host, gone.iter().map(|(key, _)| *key))?.cells;
    let goes = |(key, seen): &&(Key, Seen)| {
        cells.get(key).is_some_and(|cell| cell.is_present() && !cell.bury(*seen).is_present())
    };
    let removals: Vec<i64> = gone.iter().filter(goes).map(|(key, _)| key.id).collect();
    if let Err(brake) = brake(kind, removals.len() as u64, held, allow_mass_removal) {
        let items = item_names::by_ids(tx, &lane.host, kind, &removals)?;
        return Err(Error::Brake { kind, brake, items });
    }
    Ok(removals)
}

fn brake(kind: Kind, removed: u64, held: u64, allow_mass_removal: bool) -> Result<(), Brake> {
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (removals, of) = (size(removed), size(held));
    let rule = match kind {
        Kind::Repository => reconcile::brake_repositories,
        Kind::Discussion
        | Kind::Issue
        | Kind::PullRequest
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => reconcile::brake,
    };
    rule(removals, of, allow_mass_removal)
}

/// Has the next look at each object of a lane written; none is removed.
fn write_anew(tx: &mut Tx<'_>, id: i64, lane: &Lane) -> Result<u64, Error> {
    const ALL: Sql = Sql::both("select id from cells where lane = $1");
    let ids = tx.query(ALL, &params![id], |mut row| row.int(0))?;
    cells::forget_digests(tx, &lane.host, lane.surface.kind(), &ids)?;
    Ok(0)
}

/// Removes the cells of a lane with their texts and search rows, a few hundred at a time; tells how many
/// texts there were.
fn empty(tx: &mut Tx<'_>, id: i64, lane: &Lane) -> Result<u64, Error> {
    const NEXT: Sql =
        Sql::both("select id from cells where lane = $1 and kind = $2 order by id limit 500");
    const REMOVE: Sql = Sql::each(
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
        removed += removal::remove_texts(tx, host, kind, &ids)?;
        tx.execute(REMOVE, &params![host, kind.name(), ids.as_slice()])?;
    }
}
