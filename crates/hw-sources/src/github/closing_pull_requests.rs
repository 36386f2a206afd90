//! Reads which open pull requests close an issue: the other direction of closing references.

use serde::Deserialize;
use serde_json::json;

use super::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use super::node;
use crate::error::SourceError;
use crate::query::{Query, first_ids};
use crate::raw_json::{BoundedVec, RawNode};

/// Requests the open pull requests that close these issues, at most a hundred.
#[derive(Debug, Clone, Copy)]
pub struct ClosingPullRequestsQuery<'a> {
    pub repository_id: i64,
    /// The node ids of the issues.
    pub ids: &'a [String],
}

/// A pull request that closes an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosingPullRequest {
    pub number: i64,
    pub node_id: String,
}

impl Query for ClosingPullRequestsQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    /// In the order of the ids; none for an issue without an answer.
    type Page = Vec<Option<Vec<ClosingPullRequest>>>;

    fn request(&self, size: u32) -> GraphqlQuery {
        closing_pull_requests_query(first_ids(self.ids, size))
    }

    fn parse(&self, response: &GraphqlResponse, size: u32) -> Result<Self::Page, SourceError> {
        let ids = first_ids(self.ids, size);
        let nodes = node::require_nodes(response, "nodes", ids.len())?;
        let answers = nodes.into_iter().enumerate().map(|(index, node)| {
            node::check_no_errors(response, &format!("nodes.{index}")).ok()?;
            self.read_issue(node)
        });
        Ok(answers.collect())
    }
}

impl ClosingPullRequestsQuery<'_> {
    /// Leaves out pull requests of other repositories: a watch belongs to one.
    fn read_issue(&self, node: RawNode<'_>) -> Option<Vec<ClosingPullRequest>> {
        let issue: IssueNode = node.parse_as().ok()?;
        let pull_requests = issue.closed_by_pull_requests_references?.nodes.0.into_iter().flatten();
        let mut closing: Vec<_> = pull_requests
            .filter(|pull_request| pull_request.repository.database_id == self.repository_id)
            .map(|pull_request| ClosingPullRequest {
                number: pull_request.number,
                node_id: pull_request.id,
            })
            .collect();
        closing.sort_by_key(|pull_request| pull_request.number);
        Some(closing)
    }
}

/// Builds the query for at most 100 issues by node id, which costs one point.
pub fn closing_pull_requests_query(ids: &[String]) -> GraphqlQuery {
    let document = "query ClosingPullRequests($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Issue { closedByPullRequestsReferences(first: 20, includeClosedPrs: false) {
    nodes { id number repository { databaseId } } } } }
  rateLimit { cost }
}";
    GraphqlQuery { document: document.to_owned(), variables: json!({ "ids": ids }) }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IssueNode {
    closed_by_pull_requests_references: Option<PullRequestList>,
}

#[derive(Deserialize)]
struct PullRequestList {
    /// Null where the token cannot see the pull request.
    nodes: BoundedVec<Option<PullRequestNode>>,
}

#[derive(Deserialize)]
struct PullRequestNode {
    id: String,
    number: i64,
    repository: PullRequestRepository,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestRepository {
    database_id: i64,
}
