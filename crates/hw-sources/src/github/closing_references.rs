//! Reads the closing references of pull requests by id: the issues that they close when they are merged.

use hw_rules::closing_references::ClosingReferences;
use hw_rules::item::OPEN_STATE;
use hw_rules::item_validation;
use hw_rules::source_time::SourceTime;
use hw_rules::version::ObservedAt;
use serde::Deserialize;
use serde_json::json;

use super::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use super::node::{self, NullReason};
use crate::error::SourceError;
use crate::query::{Query, first_ids};
use crate::raw_json::{BoundedVec, RawNode};

/// Requests the closing references of as many of these pull requests as one request takes.
#[derive(Debug, Clone, Copy)]
pub struct ClosingReferencesQuery<'a> {
    pub ids: &'a [String],
}

impl Query for ClosingReferencesQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    /// In the order of the ids.
    type Page = Vec<ReferencesAnswer>;

    fn request(&self, size: u32) -> GraphqlQuery {
        references_query(first_ids(self.ids, size))
    }

    fn parse(
        &self,
        response: &GraphqlResponse,
        size: u32,
    ) -> Result<Vec<ReferencesAnswer>, SourceError> {
        read_references(response, first_ids(self.ids, size))
    }
}

/// The answer about one pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferencesAnswer {
    Found(ClosingReferences),
    /// There is no pull request with this id.
    Absent,
    Unreadable(String),
}

/// Builds the query for at most 100 pull requests of any repositories by node id, which costs one point.
pub fn references_query(ids: &[String]) -> GraphqlQuery {
    let document = "query ClosingReferences($ids: [ID!]!) {
  nodes(ids: $ids) { __typename ... on PullRequest { id updatedAt state repository { databaseId }
    closingIssuesReferences(first: 100) { nodes { number repository { databaseId } } } } }
  rateLimit { cost }
}";
    GraphqlQuery { document: document.to_owned(), variables: json!({ "ids": ids }) }
}

/// Reads the response to [`references_query`], in the order of the ids.
fn read_references(
    response: &GraphqlResponse,
    ids: &[String],
) -> Result<Vec<ReferencesAnswer>, SourceError> {
    let nodes = node::require_nodes(response, "nodes", ids.len())?;
    let observed_at = response.observed_at();
    let answers = ids.iter().zip(nodes).enumerate().map(|(index, (id, node))| {
        read_answer(response, &format!("nodes.{index}"), id, node, observed_at)
    });
    Ok(answers.collect())
}

fn read_answer(
    response: &GraphqlResponse,
    path: &str,
    id: &str,
    node: RawNode<'_>,
    observed_at: ObservedAt,
) -> ReferencesAnswer {
    if node.is_null() {
        return match node::null_reason(response, path) {
            NullReason::NotFound => ReferencesAnswer::Absent,
            NullReason::Forbidden(reason) | NullReason::Fault(reason) => {
                ReferencesAnswer::Unreadable(reason)
            }
        };
    }
    if node::type_name(node).is_some_and(|name| name != "PullRequest") {
        return ReferencesAnswer::Absent;
    }
    let references = node::check_no_errors(response, path)
        .and_then(|()| node.parse_as::<PullRequestNode>())
        .and_then(|pull| pull.into_references(id, observed_at));
    references.map_or_else(ReferencesAnswer::Unreadable, ReferencesAnswer::Found)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestNode {
    id: String,
    updated_at: SourceTime,
    state: String,
    repository: ReferenceRepository,
    closing_issues_references: ReferenceList,
}

#[derive(Deserialize)]
struct ReferenceList {
    /// Null where the token cannot see the issue.
    nodes: BoundedVec<Option<IssueReference>>,
}

#[derive(Deserialize)]
struct IssueReference {
    number: i64,
    repository: ReferenceRepository,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReferenceRepository {
    database_id: i64,
}

impl PullRequestNode {
    /// Leaves out issues of other repositories, because their numbers mean nothing here.
    fn into_references(
        self,
        requested_id: &str,
        observed_at: ObservedAt,
    ) -> Result<ClosingReferences, String> {
        if self.id != requested_id {
            return Err("the response is about another pull request".into());
        }
        let repository = self.repository.database_id;
        let references = self.closing_issues_references.nodes.0.into_iter().flatten();
        let mut closes: Vec<i64> = references
            .filter(|issue| issue.repository.database_id == repository)
            .map(|issue| issue.number)
            .collect();
        closes.sort_unstable();
        item_validation::check_closed_issues(&closes).map_err(|reason| reason.to_string())?;
        Ok(ClosingReferences {
            is_open: self.state == OPEN_STATE,
            updated_at: self.updated_at,
            closes,
            observed_at,
        })
    }
}

#[cfg(test)]
#[path = "closing_references_tests.rs"]
mod tests;
