//! Looks up repositories by id, and separates found, absent and unreadable ones.

use hw_rules::item::{ItemObservation, MirrorItem, Repository};

use super::repository_node;
use crate::error::SourceError;
use crate::github::duplicate_ids;
use crate::github::graphql::GraphqlResponse;
use crate::github::node::{self, NullReason};
use crate::page::{LookupPage, RowSubject};
use crate::raw_json::RawNode;

/// Reads the response to a lookup; archived repositories, forks, and those that moved to another owner count as found.
pub fn read_lookup(
    response: &GraphqlResponse,
    ids: &[String],
    siblings: &[String],
    request_id: i64,
) -> Result<LookupPage, SourceError> {
    let nodes = node::require_nodes(response, "nodes", ids.len())?;
    let siblings = node::require_nodes(response, "siblings", siblings.len())?;
    let observed_at = response.observed_at(request_id);
    let is_vouched_for = siblings.into_iter().any(is_repository);
    let mut page = LookupPage::new(response.date(), observed_at, is_vouched_for);
    for (index, (id, node)) in ids.iter().zip(nodes).enumerate() {
        match read_if_found(response, &format!("nodes.{index}"), node) {
            Ok(Some(repository)) => {
                page.observations.push(ItemObservation {
                    item: MirrorItem::Repository(repository),
                    observed_at,
                });
            }
            Ok(None) => page.absent.push(id.clone()),
            Err(reason) => {
                let subject = RowSubject::Node(id.clone());
                page.unreadable.push(node::unreadable_row(
                    subject,
                    Some(node),
                    reason,
                    observed_at,
                ));
            }
        }
    }
    page.unreadable.extend(duplicate_ids::extract_duplicates(&mut page.observations));
    Ok(page)
}

fn is_repository(node: RawNode<'_>) -> bool {
    node::type_name(node).as_deref() == Some("Repository")
}

/// Reads the repository; returns `None` if it no longer exists, and fails if that is unknown.
fn read_if_found(
    response: &GraphqlResponse,
    path: &str,
    node: RawNode<'_>,
) -> Result<Option<Repository>, String> {
    if node.is_null() {
        return match node::null_reason(response, path) {
            NullReason::NotFound => Ok(None),
            NullReason::Forbidden(reason) | NullReason::Fault(reason) => Err(reason),
        };
    }
    if !is_repository(node) {
        return Err("the id belongs to another kind of item".into());
    }
    repository_node::read_repository(response, path, path, node).map(Some)
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
