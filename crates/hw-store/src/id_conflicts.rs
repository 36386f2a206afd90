//! Detects items that arrive under the id of another node. They go to quarantine and never replace the stored node.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::{CellChange, CellWrite};
use hw_rules::item::{ItemObservation, ObjectId, ObjectKind, ThreadKind};
use hw_rules::item_validation::{ImpossibleItem, is_different_node};
use hw_rules::row_subject::RowSubject;

use crate::StoreReader;
use crate::cells::StoredCells;
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::ingest::IngestPage;
use crate::mirror::repository_names::{self, ThreadNumber};
use crate::quarantine::UnreadableItem;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;

/// The ids for which a page shows a node that differs from the stored one.
#[derive(Debug, Default)]
pub(crate) struct IdClaims {
    /// The stored node keeps its id.
    pub(crate) taken: BTreeSet<ObjectId>,
    /// The stored node never had its id.
    pub(crate) free: Vec<ObjectId>,
}

/// Compares the nodes of a page with those stored under their ids.
///
/// An id is free if the page shows its stored node under another id, or reports it as absent: the stored row arrived
/// under a wrong id, and is replaced. Items that have not changed are not compared, because nearly all rows of a page
/// that is read again are unchanged.
pub(crate) fn claim_ids(
    tx: &mut Transaction<'_>,
    cells: &mut StoredCells,
    page: &IngestPage,
    nodes: &StoredNodes,
) -> Result<IdClaims, StoreError> {
    let mut ids: BTreeMap<ObjectKind, Vec<i64>> = BTreeMap::new();
    for observation in page.observations.iter().filter(|seen| has_moved(cells, seen)) {
        let ObjectId { kind, id } = observation.key();
        ids.entry(kind).or_default().push(id);
    }
    let mut claims = IdClaims::default();
    for (kind, ids) in ids {
        let stored = match nodes.0.get(&kind) {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(read_node_ids(tx, &page.lane.host, kind, &ids)?),
        };
        let is_compared: BTreeSet<i64> = ids.into_iter().collect();
        for observation in page
            .observations
            .iter()
            .filter(|seen| seen.key().kind == kind && is_compared.contains(&seen.key().id))
        {
            let Some(stored) = find_other_node(&stored, observation) else { continue };
            if is_free(page, observation.key(), stored) {
                cells.accept_any_version(observation.key());
                claims.free.push(observation.key());
            } else {
                claims.taken.insert(observation.key());
            }
        }
    }
    Ok(claims)
}

fn has_moved(cells: &StoredCells, observation: &ItemObservation) -> bool {
    let cell = cells.cells.get(&observation.key()).filter(|cell| cell.is_present());
    let version = cell.and_then(|cell| cell.version.as_ref());
    version.is_some_and(|version| version.updated_at != *observation.item.updated_at())
}

/// Returns the node stored under the id of this one, if it is a different node.
fn find_other_node<'a>(
    stored: &'a BTreeMap<i64, String>,
    observation: &ItemObservation,
) -> Option<&'a String> {
    let stored = stored.get(&observation.key().id)?;
    is_different_node(stored, observation.item.node_id()).then_some(stored)
}

/// Returns true if the page shows that a node does not have this id.
fn is_free(page: &IngestPage, key: ObjectId, node_id: &String) -> bool {
    page.absent_nodes.contains(node_id)
        || page.observations.iter().any(|seen| seen.item.node_id() == node_id && seen.key() != key)
}

/// The node ids of stored items, of those kinds that were read in advance.
#[derive(Default)]
pub(crate) struct StoredNodes(BTreeMap<ObjectKind, BTreeMap<i64, String>>);

/// The node ids of stored items, requested.
pub(crate) struct PendingStoredNodes(BTreeMap<ObjectKind, PendingRows>);

impl PendingStoredNodes {
    /// Requests the nodes that are stored under the ids of a page's items.
    pub(crate) fn send(tx: &mut Transaction<'_>, page: &IngestPage) -> Result<Self, StoreError> {
        let mut by_kind: BTreeMap<ObjectKind, Vec<i64>> = BTreeMap::new();
        for ObjectId { kind, id } in page.observations.iter().map(ItemObservation::key) {
            by_kind.entry(kind).or_default().push(id);
        }
        let sent = by_kind
            .into_iter()
            .map(|(kind, ids)| Ok((kind, send_node_ids(tx, &page.lane.host, kind, &ids)?)));
        Ok(Self(sent.collect::<Result<_, StoreError>>()?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<StoredNodes, StoreError> {
        let read = self.0.into_iter().map(|(kind, rows)| Ok((kind, receive_node_ids(tx, rows)?)));
        Ok(StoredNodes(read.collect::<Result<_, StoreError>>()?))
    }
}

/// Returns the node ids of stored items, by id.
pub(crate) fn read_node_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<BTreeMap<i64, String>, StoreError> {
    let rows = send_node_ids(tx, host, kind, ids)?;
    receive_node_ids(tx, rows)
}

fn receive_node_ids(
    tx: &mut Transaction<'_>,
    rows: PendingRows,
) -> Result<BTreeMap<i64, String>, StoreError> {
    let readable =
        tx.read_pending_readable(rows, |mut row| Ok((row.int("id")?, row.text("node_id")?)))?;
    Ok(readable.rows.into_iter().collect())
}

fn send_node_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<PendingRows, StoreError> {
    const NODE_IDS: KindStatements = of_kind!(
        "select id, node_id from",
        "where host = $1 and id in (select value from json_each($2))",
        "where host = $1 and id = any($2)"
    );
    const POST_URIS: Sql = Sql::per_dialect(
        "select id, uri as node_id from posts
          where host = $1 and id in (select value from json_each($2))",
        "select id, uri as node_id from posts where host = $1 and id = any($2)",
    );
    let node_ids = if kind == ObjectKind::Post { POST_URIS } else { NODE_IDS.for_kind(kind) };
    tx.send_query(node_ids, &params![host, ids])
}

impl StoreReader {
    /// Returns the node id of a stored item.
    pub fn node_id(
        &self,
        host: &str,
        ObjectId { kind, id }: ObjectId,
    ) -> Result<Option<String>, StoreError> {
        self.read("identity", |tx| Ok(read_node_ids(tx, host, kind, &[id])?.remove(&id)))
    }
}

/// The repositories and numbers of threads of one kind that lose their ids.
pub(crate) struct VacatedNumbers {
    kind: ObjectKind,
    numbers: Vec<ThreadNumber>,
}

/// Returns the numbers of the threads that are stored under these ids and are about to lose them.
pub(crate) fn vacated_numbers(
    tx: &mut Transaction<'_>,
    host: &str,
    free: &[ObjectId],
) -> Result<Vec<VacatedNumbers>, StoreError> {
    free.iter()
        .map(|ObjectId { kind, id }| {
            let numbers = repository_names::read_thread_numbers(tx, host, *kind, &[*id])?;
            Ok(VacatedNumbers { kind: *kind, numbers })
        })
        .collect()
}

/// Restores the URLs of the threads that now have these numbers.
pub(crate) fn restore_urls(
    tx: &mut Transaction<'_>,
    host: &str,
    vacated: &[VacatedNumbers],
) -> Result<(), StoreError> {
    vacated.iter().try_for_each(|VacatedNumbers { kind, numbers }| {
        repository_names::restore_thread_urls(tx, host, *kind, numbers)
    })
}

/// Returns the URLs of unchanged threads that were observed again, in case another row took them meanwhile.
pub(crate) fn reclaim_urls(
    tx: &mut Transaction<'_>,
    host: &str,
    writes: &[CellWrite],
) -> Result<(), StoreError> {
    ThreadKind::ALL.into_iter().try_for_each(|kind| {
        let is_same_text = |change| matches!(change, CellChange::Touched | CellChange::Bumped);
        let touched = writes.iter().filter(|write| is_same_text(write.change));
        let ids: Vec<i64> = touched
            .map(|write| write.key)
            .filter(|key| key.kind == kind.into())
            .map(|key| key.id)
            .collect();
        repository_names::reclaim_thread_urls(tx, host, kind, &ids)
    })
}

/// Moves the items of a page that arrived under a taken id to its quarantine.
pub(crate) fn quarantine_taken_ids(page: &IngestPage, taken: &BTreeSet<ObjectId>) -> IngestPage {
    let mut page = page.clone();
    let foreign: Vec<_> =
        page.observations.extract_if(.., |seen| taken.contains(&seen.key())).collect();
    page.quarantined.extend(foreign.into_iter().map(to_unreadable));
    page
}

fn to_unreadable(ItemObservation { item, observed_at: seen }: ItemObservation) -> UnreadableItem {
    UnreadableItem {
        subject: RowSubject::Node(item.node_id().to_owned()),
        reason: ImpossibleItem::from_taken_id(item.key().id).to_string(),
        raw: String::new(),
        updated_at: Some(item.updated_at().clone()),
        seen,
    }
}
