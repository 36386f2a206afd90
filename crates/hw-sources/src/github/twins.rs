//! One id for several nodes of one answer: none of them can be stored under it.

use std::collections::BTreeMap;

use hw_rules::item::{Key, Observation};
use hw_rules::plausible::Impossible;

use crate::page::{Subject, Unreadable};

/// Takes the observations out whose id another node of the same answer has, too.
///
/// Stored, the last of them would replace all others, and none would be missed.
pub(super) fn take_out(observations: &mut Vec<Observation>) -> Vec<Unreadable> {
    let mut nodes: BTreeMap<Key, &str> = BTreeMap::new();
    let mut twins: Vec<Key> = Vec::new();
    for observation in observations.iter() {
        let (key, node_id) = (observation.key(), observation.item.node_id());
        if *nodes.entry(key).or_insert(node_id) != node_id {
            twins.push(key);
        }
    }
    let is_twin = |row: &mut Observation| twins.contains(&row.key());
    if twins.is_empty() {
        Vec::new()
    } else {
        observations.extract_if(.., is_twin).map(|twin| unreadable(&twin)).collect()
    }
}

fn unreadable(twin: &Observation) -> Unreadable {
    Unreadable {
        subject: Subject::Node(twin.item.node_id().to_owned()),
        reason: Impossible::shared_id(twin.key().id).to_string(),
        raw: String::new(),
        updated_at: Some(twin.item.updated_at().clone()),
        seen: twin.seen,
    }
}
