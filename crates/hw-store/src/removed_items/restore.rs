//! Restores removed items: their texts are back at once, and the next pull looks whether they are there.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::Cell;
use hw_rules::item::{Item, Key, Kind, Observation};
use hw_rules::lane::{Lane, Surface};
use hw_rules::version::Seen;

use super::{RemovedItem, select};
use crate::cells::{self, CellRow};
use crate::error::Error;
use crate::leases::Lease;
use crate::mirror;
use crate::sql::{Row, Sql, params};
use crate::tx::{Step, Tx, step};
use crate::{Store, lanes, talks};

/// The most items that one transaction restores: each is a text, a cell and two search rows.
const BATCH: i64 = 200;

const RESTORE: Step = step!("restore");

/// What a restore did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Restored {
    /// Items that are back, with what had gone with them. None: it had come back already.
    pub items: u64,
}

impl Store {
    /// Restores an item, what had gone with it, and what it is part of if that was removed as well.
    ///
    /// A thread comes back with its comments and a repository with everything in it, some hundred rows in a
    /// transaction. One that is interrupted is completed by restoring the same item again. Tombstones are
    /// cleared and each lane is asked to sweep: another confirmed absence removes the items again.
    ///
    /// `before_batch` is called before each transaction: whoever holds the lease renews it there.
    pub fn restore_removed(
        &self,
        lease: &Lease,
        item: &RemovedItem,
        before_batch: &dyn Fn() -> Result<(), Error>,
    ) -> Result<Restored, Error> {
        let mut restored = Restored::default();
        for root in self.missing_parents(item)? {
            restored.items += self.restore_all_of(lease, &item.host, root, before_batch)?;
        }
        Ok(restored)
    }

    /// Returns what has to be restored for an item, outermost first.
    fn missing_parents(&self, item: &RemovedItem) -> Result<Vec<Key>, Error> {
        const HOME: &str = "host = $1 and kind = 'repository' and id = $2";
        const THREAD: &str = "host = $1 and repository_id = $2 and number = $3
            and kind in ('issue', 'pull_request', 'discussion')";
        let host = item.host.as_str();
        self.read("removed items", |tx| {
            let mut parents = select(tx, HOME, &params![host, item.repository_id])?;
            if Kind::COMMENTS.contains(&item.key.kind) {
                parents.extend(select(
                    tx,
                    THREAD,
                    &params![host, item.repository_id, item.number],
                )?);
            }
            let held = cells::held(tx, host, parents.iter().map(|parent| parent.key))?.cells;
            parents.retain(|parent| !held.get(&parent.key).is_some_and(Cell::is_present));
            let mut roots: Vec<Key> = parents.into_iter().map(|parent| parent.root).collect();
            roots.push(item.root);
            let mut known = BTreeSet::new();
            roots.retain(|root| known.insert(*root));
            Ok(roots)
        })
    }

    /// Restores everything that went with one object, that object first.
    fn restore_all_of(
        &self,
        lease: &Lease,
        host: &str,
        root: Key,
        before_batch: &dyn Fn() -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut restored = 0;
        for kind in Kind::ALL {
            let mut after = i64::MIN;
            loop {
                before_batch()?;
                let batch = self
                    .write_for(lease, RESTORE, |tx| restore_batch(tx, host, root, kind, after))?;
                restored += batch.restored;
                let Some(last) = batch.last else { break };
                after = last;
            }
        }
        // its own row goes last: while it is there, an interrupted restore can be found and completed
        self.write_for(lease, RESTORE, |tx| forget(tx, host, root.kind, &[root.id]))?;
        Ok(restored)
    }
}

/// Some items of one kind that were restored.
struct Batch {
    restored: u64,
    last: Option<i64>,
}

fn restore_batch(
    tx: &mut Tx<'_>,
    host: &str,
    root: Key,
    kind: Kind,
    after: i64,
) -> Result<Batch, Error> {
    let removed = next(tx, host, root, kind, after)?;
    let last = removed.last().map(|observation| observation.key().id);
    let held = cells::held(tx, host, removed.iter().map(Observation::key))?;
    let is_back = |key: &Key| held.cells.get(key).is_some_and(Cell::is_present);
    let gone: Vec<&Observation> = removed.iter().filter(|it| !is_back(&it.key())).collect();
    put_back(tx, host, &held, &gone)?;
    let others = removed.iter().map(Observation::key).filter(|key| *key != root);
    forget(tx, host, kind, &others.map(|key| key.id).collect::<Vec<_>>())?;
    Ok(Batch { restored: gone.len() as u64, last })
}

fn next(
    tx: &mut Tx<'_>,
    host: &str,
    root: Key,
    kind: Kind,
    after: i64,
) -> Result<Vec<Observation>, Error> {
    const NEXT: Sql = Sql::both(
        "select item, seen_at_ms, seen_request from removed
          where host = $1 and root_kind = $2 and root_id = $3 and kind = $4 and id > $5
          order by id limit $6",
    );
    let params = params![host, root.kind.name(), root.id, kind.name(), after, BATCH];
    tx.query(NEXT, &params, |mut row: Row| {
        let item = serde_json::from_str(&row.text(0)?)
            .map_err(|error| Error::Damaged(format!("a removed item: {error}")))?;
        Ok(Observation { item, seen: Seen::at(row.int(1)?, row.int(2)?) })
    })
}

/// Writes texts, search rows and cells without a tombstone, and asks for a sweep of each lane.
///
/// A cell is what it was when the text was last seen: whatever newer version the source has is then an edit.
fn put_back(
    tx: &mut Tx<'_>,
    host: &str,
    held: &cells::Held,
    gone: &[&Observation],
) -> Result<(), Error> {
    let nameless = mirror::repositories::restore(tx, host, gone)?;
    let items: Vec<&Item> = gone.iter().map(|observation| &observation.item).collect();
    let mut rowids = mirror::threads::keep(tx, host, held, &items)?;
    rowids.extend(mirror::comments::keep(tx, host, held, &items)?);
    let mut by_lane: BTreeMap<Lane, Vec<(Key, Cell)>> = BTreeMap::new();
    for observation in gone {
        let cell = Cell { version: Some(observation.version()), gone: None };
        let lane = lane_of(host, &observation.item);
        by_lane.entry(lane).or_default().push((observation.key(), cell));
    }
    for (lane, restored) in &by_lane {
        let id = lanes::lane_id(tx, lane)?;
        let row = |(key, cell)| CellRow { key, cell, search_rowid: rowids.get(&key).copied() };
        let rows: Vec<_> = restored.iter().map(|(key, cell)| row((*key, cell))).collect();
        cells::keep(tx, host, id, &rows)?;
        if lane.surface != Surface::Repositories {
            lanes::make_sweep_due(tx, id)?;
        }
    }
    talks::queue_threads(tx, host, &items)?;
    cells::forget_digests(tx, host, Kind::Repository, &nameless)
}

fn lane_of(host: &str, item: &Item) -> Lane {
    let (repository, kind) = match item {
        Item::Repository(repository) => {
            return Lane::repositories(host, &repository.owner.to_lowercase());
        }
        Item::Thread(thread) => (thread.repository_id, thread.kind()),
        Item::Comment(comment) => (comment.repository_id, comment.kind),
    };
    let is_its_own = |surface: &Surface| surface.kind() == kind;
    let surface = Surface::ALL.into_iter().find(is_its_own).expect("every kind has its listing");
    Lane::of_repository(host, repository, surface)
}

fn forget(tx: &mut Tx<'_>, host: &str, kind: Kind, ids: &[i64]) -> Result<(), Error> {
    const FORGET: Sql = Sql::each(
        "delete from removed
          where host = $1 and kind = $2 and id in (select value from json_each($3))",
        "delete from removed where host = $1 and kind = $2 and id = any($3)",
    );
    tx.execute(FORGET, &params![host, kind.name(), ids]).map(drop)
}
