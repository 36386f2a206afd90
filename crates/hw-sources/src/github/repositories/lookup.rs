//! Looks up repositories by id, and separates found, absent and unreadable ones.

use hw_rules::item::{ItemObservation, MirrorItem, Repository};

use super::queries::lookup_query;
use super::repository_node;
use crate::error::SourceError;
use crate::github::duplicate_ids;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::github::node::{self, NullReason};
use crate::page::LookupPage;
use crate::query::{Query, first_ids};
use crate::raw_json::RawNode;
use hw_rules::row_subject::RowSubject;

/// Looks up as many of these repositories as one request takes.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryLookupQuery<'a> {
    pub ids: &'a [String],
    pub siblings: &'a [String],
}

impl Query for RepositoryLookupQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = LookupPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        lookup_query(first_ids(self.ids, size), self.siblings)
    }

    fn parse(&self, response: &GraphqlResponse, size: u32) -> Result<LookupPage, SourceError> {
        read_lookup(response, first_ids(self.ids, size), self.siblings)
    }
}

/// Reads the response to a lookup; archived repositories, forks, and those that moved to another owner count as found.
fn read_lookup(
    response: &GraphqlResponse,
    ids: &[String],
    siblings: &[String],
) -> Result<LookupPage, SourceError> {
    let nodes = node::require_nodes(response, "nodes", ids.len())?;
    let siblings = node::require_nodes(response, "siblings", siblings.len())?;
    let observed_at = response.observed_at();
    let mut page = LookupPage::new(observed_at, ids.len());
    page.is_vouched_for = siblings.into_iter().any(is_repository);
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
