//! Detects nodes of one response that share an id: none of them can be stored under it.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{ItemObservation, ObjectId};
use hw_rules::item_validation::ImpossibleItem;

use crate::page::UnreadableRow;
use hw_rules::row_subject::RowSubject;

/// Removes the observations whose id belongs to several nodes, and returns them as unreadable rows.
///
/// If they were stored, the last one would silently replace the others.
pub(super) fn extract_duplicates(observations: &mut Vec<ItemObservation>) -> Vec<UnreadableRow> {
    let shared = shared_ids(observations.iter());
    extract_shared(observations, &shared)
}

/// Returns the ids that belong to several nodes.
pub(super) fn shared_ids<'a>(
    observations: impl Iterator<Item = &'a ItemObservation>,
) -> BTreeSet<ObjectId> {
    let mut nodes: BTreeMap<ObjectId, &str> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for observation in observations {
        let (key, node_id) = (observation.key(), observation.item.node_id());
        if *nodes.entry(key).or_insert(node_id) != node_id {
            shared.insert(key);
        }
    }
    shared
}

/// Removes the observations with these ids, and returns them as unreadable rows.
pub(super) fn extract_shared(
    observations: &mut Vec<ItemObservation>,
    shared: &BTreeSet<ObjectId>,
) -> Vec<UnreadableRow> {
    if shared.is_empty() {
        return Vec::new();
    }
    observations
        .extract_if(.., |row| shared.contains(&row.key()))
        .map(|duplicate| duplicate_row(&duplicate))
        .collect()
}

fn duplicate_row(duplicate: &ItemObservation) -> UnreadableRow {
    UnreadableRow {
        subject: RowSubject::Node(duplicate.item.node_id().to_owned()),
        reason: ImpossibleItem::from_shared_id(duplicate.key().id).to_string(),
        raw: String::new(),
        updated_at: Some(duplicate.item.updated_at().clone()),
        observed_at: duplicate.observed_at,
    }
}
