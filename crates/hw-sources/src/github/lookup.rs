//! Looks up objects of a repository by id, and separates found, moved, absent and unreadable ones.

use hw_rules::item::{ItemObservation, MirrorItem};
use serde_json::json;

use super::duplicate_ids;
use super::graphql::{GraphqlQuery, GraphqlResponse};
use super::node::{self, NullReason};
use crate::error::SourceError;
use crate::page::LookupPage;
use crate::raw_json::RawNode;
use hw_rules::row_subject::RowSubject;

/// A lookup of objects of one type.
pub(super) struct NodeLookup {
    pub type_name: &'static str,
    /// The repository's field that is true if it shows such objects at all.
    pub enabled_field: Option<&'static str>,
    pub repository_field: RepositoryField,
}

/// The field that names the repository of an object.
#[derive(Clone, Copy)]
pub(super) struct RepositoryField {
    pub fields: &'static str,
    id_path: &'static [&'static str],
}

impl RepositoryField {
    pub(super) const DIRECT: Self =
        Self { fields: "repository { databaseId }", id_path: &["repository", "databaseId"] };
    pub(super) const VIA_DISCUSSION: Self = Self {
        fields: "discussion { number repository { databaseId } }",
        id_path: &["discussion", "repository", "databaseId"],
    };

    pub(super) fn read_repository_id(self, object: RawNode<'_>) -> Option<i64> {
        object.find_path(self.id_path)?.as_i64()
    }
}

/// The location of one object.
pub(super) enum NodePresence {
    Here(MirrorItem),
    /// In another repository.
    Elsewhere(MirrorItem),
    Absent,
}

impl NodeLookup {
    /// Builds the query for at most 100 objects by node id, their repository, and the ids of some siblings.
    ///
    /// The repository and the siblings distinguish an absent object from a token that lost its access.
    pub(super) fn build_query(
        &self,
        fields: &str,
        node_id: &str,
        ids: &[String],
        siblings: &[String],
    ) -> GraphqlQuery {
        let kind = self.type_name;
        let repository = self.repository_field.fields;
        let enabled = self.enabled_field.unwrap_or_default();
        let document = format!(
            "query {kind}Lookup($scope: ID!, $ids: [ID!]!, $siblings: [ID!]!) {{
  scope: node(id: $scope) {{ ... on Repository {{ databaseId {enabled} }} }}
  nodes(ids: $ids) {{ __typename ... on {kind} {{ {fields} }} }}
  siblings: nodes(ids: $siblings) {{ ... on {kind} {{ {repository} }} }}
  rateLimit {{ cost }}
}}"
        );
        GraphqlQuery {
            document,
            variables: json!({ "scope": node_id, "ids": ids, "siblings": siblings }),
        }
    }

    /// Reads the response for these ids of the repository, passing each object without errors to `read`.
    pub(super) fn read_response(
        &self,
        response: &GraphqlResponse,
        ids: &[String],
        repository_id: i64,
        read: impl Fn(RawNode<'_>) -> Result<NodePresence, String>,
    ) -> Result<LookupPage, SourceError> {
        let nodes = node::require_nodes(response, "nodes", ids.len())?;
        let observed_at = response.observed_at();
        let mut page = LookupPage::new(observed_at, ids.len());
        page.is_vouched_for = self.is_vouched_for(response, repository_id);
        for (index, (id, node)) in ids.iter().zip(nodes).enumerate() {
            match self.read_presence(response, &format!("nodes.{index}"), node, &read) {
                Ok(NodePresence::Here(item)) => {
                    page.observations.push(ItemObservation { item, observed_at });
                }
                Ok(NodePresence::Elsewhere(item)) => {
                    page.elsewhere.push(ItemObservation { item, observed_at });
                }
                Ok(NodePresence::Absent) => page.absent.push(id.clone()),
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

    /// Returns true if the response contains the repository itself, with such objects enabled, and at least one of the
    /// requested siblings.
    fn is_vouched_for(&self, response: &GraphqlResponse, repository_id: i64) -> bool {
        let data = response.data.root();
        let Some(scope) = data.get("scope") else { return false };
        let is_enabled = self
            .enabled_field
            .is_none_or(|field| scope.get(field).and_then(RawNode::as_bool) == Some(true));
        let is_scope = scope.get("databaseId").and_then(RawNode::as_i64) == Some(repository_id);
        let siblings = data.get("siblings").and_then(RawNode::as_elements).unwrap_or_default();
        let has_sibling = siblings.is_empty()
            || siblings.into_iter().any(|sibling| {
                self.repository_field.read_repository_id(sibling) == Some(repository_id)
            });
        is_enabled && is_scope && has_sibling
    }

    /// Locates one node; an issue that became a discussion is absent from the issues.
    fn read_presence(
        &self,
        response: &GraphqlResponse,
        path: &str,
        node: RawNode<'_>,
        read: impl Fn(RawNode<'_>) -> Result<NodePresence, String>,
    ) -> Result<NodePresence, String> {
        if node.is_null() {
            return match node::null_reason(response, path) {
                NullReason::NotFound => Ok(NodePresence::Absent),
                NullReason::Forbidden(reason) | NullReason::Fault(reason) => Err(reason),
            };
        }
        node::check_no_errors(response, path)?;
        match node::type_name(node) {
            Some(name) if name != self.type_name => Ok(NodePresence::Absent),
            _ => read(node),
        }
    }
}
