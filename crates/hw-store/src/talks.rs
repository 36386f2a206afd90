//! Talks: what is said in a thread, read whole when the thread moved.
//!
//! Which threads moved is noted in the transaction that moved them, as soon as anybody follows their talk.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::OVERLAP_MS;
use hw_rules::cells::{Change, Write};
use hw_rules::item::{Item, Kind, Observation};
use hw_rules::lane::{Lane, Scope, Surface};

use crate::Store;
use crate::error::Error;
use crate::lanes;
use crate::leases::Lease;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::{Step, Tx, step};

/// A thread whose talk is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueTalk {
    pub id: i64,
    pub node_id: String,
}

const QUEUE: Step = step!("queue talks");

impl Store {
    /// Which lanes of talks have threads to be read.
    pub fn lanes_with_talks(&self) -> Result<BTreeSet<Lane>, Error> {
        const DUE: Sql = Sql::both("select distinct host, kind, repository_id from talks");
        let rows = self.read("talks", |tx| {
            tx.query(DUE, &[], |mut row| Ok((row.text(0)?, row.text(1)?, row.int(2)?)))
        })?;
        let lane = |(host, kind, id): (String, String, i64)| {
            let surface = Kind::named(&kind).and_then(Surface::of_talks_in)?;
            Some(Lane::of_repository(&host, id, surface))
        };
        Ok(rows.into_iter().filter_map(lane).collect())
    }

    /// The next threads of a lane whose talk is to be read, by id.
    pub fn due_talks(&self, lane: &Lane, after: i64, limit: u32) -> Result<Vec<DueTalk>, Error> {
        const DUE: OfKind = of_kind!(
            "select threads.id, threads.node_id from talks join",
            "as threads on threads.host = talks.host and threads.id = talks.id
              where talks.host = $1 and talks.kind = $2 and talks.repository_id = $3
                and $4 < talks.id
              order by talks.id limit $5"
        );
        self.of_lane(lane, after, limit, DUE)
    }

    /// The next threads of a lane of talks, by id, whether they moved or not.
    pub fn talks(&self, lane: &Lane, after: i64, limit: u32) -> Result<Vec<DueTalk>, Error> {
        const ALL: OfKind = of_kind!(
            "select id, node_id from",
            "where host = $1 and $2 = $2 and repository_id = $3 and $4 < id order by id limit $5"
        );
        self.of_lane(lane, after, limit, ALL)
    }

    fn of_lane(
        &self,
        lane: &Lane,
        after: i64,
        limit: u32,
        sql: OfKind,
    ) -> Result<Vec<DueTalk>, Error> {
        let Some((kind, repository)) = threads_of(lane) else { return Ok(Vec::new()) };
        let params = params![&lane.host, kind.name(), repository, after, i64::from(limit)];
        let read = |mut row: Row| Ok(DueTalk { id: row.int(0)?, node_id: row.text(1)? });
        self.read("talks", |tx| tx.query(sql.of(kind), &params, read))
    }

    /// Follows the talk of every thread that is held, and of those to come; a lane that was followed before
    /// stays as it is, however far its first reading got.
    pub fn follow_talks(&self, lease: &Lease, lane: &Lane) -> Result<(), Error> {
        const ALL: OfKind = of_kind!(
            "insert into talks (host, kind, id, repository_id)
             select host, $1, id, repository_id from",
            "where host = $2 and repository_id = $3 on conflict (host, kind, id) do nothing"
        );
        let Some((kind, repository)) = threads_of(lane) else { return Ok(()) };
        self.write_for(lease, QUEUE, |tx| {
            let id = lanes::lane_id(tx, lane)?;
            let coverage = lanes::coverage_of(tx, id)?;
            if coverage.from.is_some() {
                return Ok(());
            }
            let params = params![kind.name(), &lane.host, repository];
            tx.execute(ALL.of(kind), &params)?;
            lanes::advance(tx, id, lane, &coverage.followed())
        })
    }
}

fn threads_of(lane: &Lane) -> Option<(Kind, i64)> {
    match lane.scope {
        Scope::Repository(id) => Some((lane.surface.talks_in()?, id)),
        Scope::Organization(_) => None,
    }
}

/// Notes the threads of a page that moved, where their talk is followed.
pub(crate) fn queue(
    tx: &mut Tx<'_>,
    host: &str,
    writes: &[Write],
    observations: &[Observation],
) -> Result<(), Error> {
    let moved = writes.iter().filter(|write| moves(write.change));
    let moved = moved.filter_map(|write| observations.get(write.text?));
    queue_threads(tx, host, &moved.map(|observation| &observation.item).collect::<Vec<_>>())
}

/// Notes the threads among these items, where their talk is followed.
pub(crate) fn queue_threads(tx: &mut Tx<'_>, host: &str, items: &[&Item]) -> Result<(), Error> {
    const QUEUE: Sql = Sql::both(
        "insert into talks (host, kind, id, repository_id) values ($1, $2, $3, $4)
         on conflict (host, kind, id) do update set repository_id = excluded.repository_id",
    );
    let mut moved: BTreeMap<(Kind, i64), Vec<i64>> = BTreeMap::new();
    for item in items {
        let Item::Thread(thread) = item else { continue };
        moved.entry((thread.kind(), thread.repository_id)).or_default().push(thread.id);
    }
    for ((kind, repository), ids) in moved {
        let Some(surface) = Surface::of_talks_in(kind) else { continue };
        if lanes::known_id(tx, &Lane::of_repository(host, repository, surface))?.is_some() {
            let row = |id: &i64| params![host, kind.name(), *id, repository].to_vec();
            tx.execute_each(QUEUE, &ids.iter().map(row).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn moves(change: Change) -> bool {
    match change {
        Change::Created | Change::Edited | Change::Revived | Change::Bumped => true,
        Change::Removed | Change::Touched | Change::Nothing => false,
    }
}

/// Takes note that talks were read to their end. One that was read within the overlap of its thread's last
/// move stays due: more may have been said in that second.
pub(crate) fn done(tx: &mut Tx<'_>, lane: &Lane, read: &[(i64, i64)]) -> Result<(), Error> {
    const DONE: Sql = Sql::both(
        "delete from talks
          where host = $1 and kind = $2 and id = $3
            and exists (select 1 from cells
                         where cells.host = talks.host and cells.kind = talks.kind
                           and cells.id = talks.id and cells.updated_at_ms < $4)",
    );
    let Some((kind, _)) = threads_of(lane) else { return Ok(()) };
    let row = |(id, date): &(i64, i64)| {
        params![&lane.host, kind.name(), *id, date.saturating_sub(OVERLAP_MS)].to_vec()
    };
    tx.execute_each(DONE, &read.iter().map(row).collect::<Vec<_>>())
}

/// Forgets the talks of threads that are gone.
pub(crate) fn forget(tx: &mut Tx<'_>, host: &str, kind: Kind, ids: &[i64]) -> Result<(), Error> {
    const FORGET: Sql = Sql::each(
        "delete from talks
          where host = $1 and kind = $2 and id in (select value from json_each($3))",
        "delete from talks where host = $1 and kind = $2 and id = any($3)",
    );
    if Surface::of_talks_in(kind).is_none() {
        return Ok(());
    }
    tx.execute(FORGET, &params![host, kind.name(), ids]).map(drop)
}
