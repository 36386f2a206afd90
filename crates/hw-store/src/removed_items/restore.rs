//! Restores removed items. Their texts are back at once, and the next pull checks whether the source has them.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::{CellChange, ItemCell};
use hw_rules::item::{ItemObservation, MirrorItem, ObjectId, ObjectKey, ObjectKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::{Host, RepositoryKey};
use hw_rules::version::ObservedAt;

use super::{RemovalCause, RemovalReason, RemovedItem, select_removed};
use crate::cells::{self, StoredCells};
use crate::changes::{self, CellUpdate, ChangeTarget, LaneCounting};
use crate::error::StoreError;
use crate::ingest::PreparedTexts;
use crate::lanes::lane_rows::PendingLanes;
use crate::mirror::{self, TextPlaces, repository_names};
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader, comment_queue, follows, lanes, sources};

/// The maximum number of items that one transaction restores: each is a text, a cell and two search rows.
const RESTORE_BATCH_ITEMS: i64 = 200;

const RESTORE: TransactionStep = step!("restore", durable);

/// The result of a restore.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RestoreResult {
    /// The number of restored items, including those removed with the requested one. Zero if it had already returned.
    pub items: u64,
}

impl StoreReader {
    /// Returns the roots that have to be restored for an item, outermost first.
    fn missing_parents(&self, item: &RemovedItem) -> Result<Vec<ObjectKey>, StoreError> {
        const REPOSITORY: &str = "host = $1 and kind = 'repository' and id = $2";
        const THREAD: &str = "host = $1 and repository_id = $2 and number = $3
            and kind in ('issue', 'pull_request', 'discussion')";
        let host = &item.key.host;
        self.read("removed items", |tx| {
            let mut parents = select_removed(tx, REPOSITORY, &params![host, item.repository_id])?;
            if item.key.kind.is_comment() {
                parents.extend(select_removed(
                    tx,
                    THREAD,
                    &params![host, item.repository_id, item.number],
                )?);
            }
            let ids = parents.iter().map(|parent| parent.key.object_id());
            let cells = cells::read_cells(tx, host, ids)?.cells;
            parents.retain(|parent| {
                !cells.get(&parent.key.object_id()).is_some_and(ItemCell::is_present)
            });
            let mut roots: Vec<ObjectKey> = parents.into_iter().map(|parent| parent.root).collect();
            roots.push(item.root.clone());
            let mut known = BTreeSet::new();
            roots.retain(|root| known.insert(root.clone()));
            Ok(roots)
        })
    }
}

impl LeasedStore {
    /// Restores an item, the items removed with it, and its parents if they were removed as well.
    ///
    /// A thread returns with its comments and a repository with its content, a few hundred rows per transaction. An
    /// interrupted restore is completed by restoring the same item again. Tombstones are cleared and each lane becomes
    /// due for a sweep, so another confirmed absence removes the items again.
    ///
    /// `before_batch` runs before each transaction, so that the holder of the lease can renew it.
    pub fn restore_removed(
        &self,
        item: &RemovedItem,
        before_batch: &dyn Fn() -> Result<(), StoreError>,
    ) -> Result<RestoreResult, StoreError> {
        let mut restored = RestoreResult::default();
        for root in self.missing_parents(item)? {
            restored.items += self.restore_root(&root, before_batch)?;
        }
        Ok(restored)
    }

    /// Restores one root and everything that was removed with it, the root first.
    fn restore_root(
        &self,
        root: &ObjectKey,
        before_batch: &dyn Fn() -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        let mut restored = 0;
        for kind in ObjectKind::ALL {
            let mut after = i64::MIN;
            loop {
                before_batch()?;
                let batch =
                    self.write_with_lease(RESTORE, |tx| restore_batch(tx, root, kind, after))?;
                restored += batch.restored;
                let Some(last) = batch.last else { break };
                after = last;
            }
        }
        // the root's own row goes last: as long as it exists, an interrupted restore can be found and completed
        self.write_with_lease(RESTORE, |tx| forget_removed(tx, &root.host, root.kind, &[root.id]))?;
        Ok(restored)
    }
}

/// A batch of restored items of one kind.
struct RestoredBatch {
    restored: u64,
    last: Option<i64>,
}

fn restore_batch(
    tx: &mut Transaction<'_>,
    root: &ObjectKey,
    kind: ObjectKind,
    after: i64,
) -> Result<RestoredBatch, StoreError> {
    let host = &root.host;
    let removed = next_removed(tx, root, kind, after)?;
    let last = removed.last().map(|observation| observation.key().id);
    let stored = cells::read_cells(tx, host, removed.iter().map(ItemObservation::key))?;
    let gone: Vec<&ItemObservation> = removed
        .iter()
        .filter(|removed| !stored.cells.get(&removed.key()).is_some_and(ItemCell::is_present))
        .collect();
    write_restored(tx, host, &stored, &gone)?;
    let others = removed.iter().map(ItemObservation::key).filter(|key| *key != root.object_id());
    forget_removed(tx, host, kind, &others.map(|key| key.id).collect::<Vec<_>>())?;
    Ok(RestoredBatch { restored: gone.len() as u64, last })
}

fn next_removed(
    tx: &mut Transaction<'_>,
    root: &ObjectKey,
    kind: ObjectKind,
    after: i64,
) -> Result<Vec<ItemObservation>, StoreError> {
    const NEXT: Sql = Sql::portable(
        "select item_json, observed_at_ms, observed_request from removed_items
          where host = $1 and root_kind = $2 and root_id = $3 and kind = $4 and id > $5
          order by id limit $6",
    );
    let ObjectKey { host, kind: root_kind, id } = root;
    let params = params![host, root_kind.name(), *id, kind.name(), after, RESTORE_BATCH_ITEMS];
    tx.query(NEXT, &params, |mut row| {
        let item = serde_json::from_str(&row.text("item_json")?)
            .map_err(|error| StoreError::Damaged(format!("a removed item: {error}")))?;
        Ok(ItemObservation {
            item,
            observed_at: ObservedAt::new(row.int("observed_at_ms")?, row.int("observed_request")?),
        })
    })
}

/// Writes texts and cells without a tombstone, and makes a sweep of each lane due.
///
/// A cell has the version of the last observed text, so any newer version of the source counts as an edit.
fn write_restored(
    tx: &mut Transaction<'_>,
    host: &Host,
    stored: &StoredCells,
    gone: &[&ItemObservation],
) -> Result<(), StoreError> {
    let repositories = mirror::repositories::restore_repositories(tx, host, gone)?;
    let restored = gone.iter().map(|observation| observation.key());
    let restored = restored.filter(|key| key.kind == ObjectKind::Repository);
    follows::add_to_mirror(tx, host, restored.map(|key| key.id))?;
    let items: Vec<&MirrorItem> = gone.iter().map(|observation| &observation.item).collect();
    let ids = mirror::text_repositories(items.iter().copied());
    let names = repository_names::read_repository_names(tx, host, &ids)?;
    let prepared = PreparedTexts::new();
    let followed =
        PendingLanes::send(tx, comment_queue::per_thread_lanes(host, &items))?.read(tx)?;
    let places = &mut TextPlaces::default();
    let mut texts =
        mirror::threads::store_threads(tx, host, stored, &names, places, &items, &prepared)?;
    texts.extend(mirror::comments::store_comments(
        tx, host, stored, &names, places, &items, &prepared,
    )?);
    texts.extend(mirror::posts::store_posts(tx, host, stored, places, &items, &prepared)?);
    texts.extend(repositories.written);
    let mut by_lane: BTreeMap<Lane, Vec<RestoredCell>> = BTreeMap::new();
    for observation in gone {
        let cell = ItemCell { version: Some(observation.version()), tombstone: None };
        let restored = RestoredCell { key: observation.key(), cell };
        by_lane.entry(item_lane(tx, host, &observation.item)?).or_default().push(restored);
    }
    for (lane, restored) in &by_lane {
        let id = lanes::ensure_lane_id(tx, lane)?;
        let updates: Vec<_> = restored
            .iter()
            .map(|RestoredCell { key, cell }| CellUpdate {
                key: *key,
                cell,
                change: CellChange::Revived,
                text: texts.get(key),
                search_rowid: stored.search_rowids.get(key).copied(),
            })
            .collect();
        let target = ChangeTarget {
            host,
            lane: id,
            // the sweep counts the lane
            counting: LaneCounting::Uncounted,
            // nothing is removed
            cause: RemovalCause::new(RemovalReason::NotListed),
            followed: &followed,
        };
        changes::apply_cells(tx, target, &updates)?;
        if lane.surface != Surface::Repositories {
            lanes::make_sweep_due(tx, id)?;
        }
    }
    cells::forget_digests(tx, host, ObjectKind::Repository, &repositories.displaced)
}

/// The cell of a restored item.
struct RestoredCell {
    key: ObjectId,
    cell: ItemCell,
}

fn item_lane(tx: &mut Transaction<'_>, host: &str, item: &MirrorItem) -> Result<Lane, StoreError> {
    let (repository, surface) = match item {
        MirrorItem::Repository(repository) => {
            let followed = sources::find_followed_owner(tx, host, &repository.owner)?;
            return Ok(match followed {
                Some(login) => Lane::owner_repositories(host, login),
                None => Lane::single_repositories(host),
            });
        }
        MirrorItem::Thread(thread) => (thread.repository_id, Surface::Threads(thread.kind())),
        MirrorItem::Comment(comment) => (comment.repository_id, Surface::Comments(comment.kind)),
        MirrorItem::Post(post) => return Ok(Lane::account_feed(host, post.sharer().clone())),
    };
    Ok(Lane::for_repository(RepositoryKey::new(host, repository), surface))
}

fn forget_removed(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    const FORGET: Sql = Sql::per_dialect(
        "delete from removed_items
          where host = $1 and kind = $2 and id in (select value from json_each($3))",
        "delete from removed_items where host = $1 and kind = $2 and id = any($3)",
    );
    tx.send_statement(FORGET, &params![host, kind.name(), ids])
}
