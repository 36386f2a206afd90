//! One id, one node: what comes under the id of another node is set aside, and never replaces it.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Key, Kind, Observation};
use hw_rules::plausible::{Impossible, is_other_node};

use crate::Store;
use crate::cells::Held;
use crate::error::Error;
use crate::ingest::IngestPage;
use crate::mirror::names::{self, ThreadPlace};
use crate::quarantine::Unreadable;
use crate::sql::{Row, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;

/// The ids under which a page shows another node than the one that is stored.
#[derive(Debug, Default)]
pub(crate) struct IdClaims {
    /// Their stored nodes keep them.
    pub(crate) taken: BTreeSet<Key>,
    /// Their stored nodes never had them.
    pub(crate) free: Vec<Key>,
}

/// Compares the nodes of a page with those that are stored under their ids.
///
/// An id whose stored node is shown under another one, or not found, is free: whatever is stored under it came under a
/// wrong id, and gives way. What comes as it was last seen is not compared: nearly all rows of a page that is read
/// again are.
pub(crate) fn claim_ids(
    tx: &mut Tx<'_>,
    held: &mut Held,
    page: &IngestPage,
) -> Result<IdClaims, Error> {
    let mut ids: BTreeMap<Kind, Vec<i64>> = BTreeMap::new();
    for observation in page.observations.iter().filter(|it| has_moved(held, it)) {
        let Key { kind, id } = observation.key();
        ids.entry(kind).or_default().push(id);
    }
    let mut claims = IdClaims::default();
    for (kind, ids) in ids {
        let stored = stored_nodes(tx, &page.lane.host, kind, &ids)?;
        for observation in page.observations.iter().filter(|it| it.key().kind == kind) {
            let Some(stored) = other_node(&stored, observation) else { continue };
            if is_free(page, observation.key(), stored) {
                held.give_way(observation.key());
                claims.free.push(observation.key());
            } else {
                claims.taken.insert(observation.key());
            }
        }
    }
    Ok(claims)
}

fn has_moved(held: &Held, observation: &Observation) -> bool {
    let cell = held.cells.get(&observation.key()).filter(|cell| cell.is_present());
    let version = cell.and_then(|cell| cell.version.as_ref());
    version.is_some_and(|version| version.updated_at != *observation.item.updated_at())
}

/// The node that is stored under the id of this one, if it is another.
fn other_node<'a>(
    stored: &'a BTreeMap<i64, String>,
    observation: &Observation,
) -> Option<&'a String> {
    let stored = stored.get(&observation.key().id)?;
    is_other_node(stored, observation.item.node_id()).then_some(stored)
}

/// Whether the page shows that a node does not have this id.
fn is_free(page: &IngestPage, key: Key, node_id: &String) -> bool {
    let is_renumbered = |it: &Observation| it.item.node_id() == node_id && it.key() != key;
    page.absent_nodes.contains(node_id) || page.observations.iter().any(is_renumbered)
}

fn stored_nodes(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<BTreeMap<i64, String>, Error> {
    const NODE_IDS: OfKind = of_kind!(
        "select id, node_id from",
        "where host = $1 and id in (select value from json_each($2))",
        "where host = $1 and id = any($2)"
    );
    let read = |mut row: Row| Ok((row.int(0)?, row.text(1)?));
    let rows = tx.query_readable(NODE_IDS.of(kind), &params![host, ids], read)?.rows;
    Ok(rows.into_iter().collect())
}

impl Store {
    /// The node id of something that is stored.
    pub fn node_id(&self, host: &str, Key { kind, id }: Key) -> Result<Option<String>, Error> {
        self.read("identity", |tx| Ok(stored_nodes(tx, host, kind, &[id])?.remove(&id)))
    }
}

/// Returns where the threads stand that are stored under these ids, and are about to leave them.
pub(crate) fn places_left(
    tx: &mut Tx<'_>,
    host: &str,
    free: &[Key],
) -> Result<Vec<(Kind, Vec<ThreadPlace>)>, Error> {
    let places = |key: &Key| Ok((key.kind, names::places_of(tx, host, key.kind, &[key.id])?));
    free.iter().map(places).collect()
}

/// Gives the threads with the right ids their URLs back.
pub(crate) fn give_back_urls(
    tx: &mut Tx<'_>,
    host: &str,
    left: &[(Kind, Vec<ThreadPlace>)],
) -> Result<(), Error> {
    left.iter().try_for_each(|(kind, places)| names::give_back_urls(tx, host, *kind, places))
}

/// Returns the page with what came under a taken id in quarantine.
pub(crate) fn set_aside(page: &IngestPage, taken: &BTreeSet<Key>) -> IngestPage {
    let mut page = page.clone();
    let is_taken = |it: &mut Observation| taken.contains(&it.key());
    let foreign: Vec<_> = page.observations.extract_if(.., is_taken).collect();
    page.quarantined.extend(foreign.into_iter().map(unreadable));
    page
}

fn unreadable(Observation { item, seen }: Observation) -> Unreadable {
    Unreadable {
        subject: item.node_id().to_owned(),
        reason: Impossible::taken_id(item.key().id).to_string(),
        raw: String::new(),
        updated_at: Some(item.updated_at().clone()),
        seen,
    }
}
