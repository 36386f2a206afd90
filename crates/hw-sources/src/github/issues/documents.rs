//! What is asked about issues.

use hw_rules::walk::Cursor;
use serde_json::json;

use crate::github::graphql::Query;
use crate::github::node::ACTOR;

/// Everything the mirror keeps of an issue.
fn fields() -> String {
    format!(
        "id fullDatabaseId number url title body state stateReason createdAt updatedAt closedAt
        author {{ {ACTOR} }} labels(first: 100) {{ nodes {{ name }} }} repository {{ databaseId }}"
    )
}

/// One page, newest change first.
pub fn page_query(repository: &str, first: u32, after: Option<&Cursor>) -> Query {
    let fields = fields();
    let document = format!(
        "query Issues($id: ID!, $first: Int!, $after: String) {{
  node(id: $id) {{ ... on Repository {{
    databaseId hasIssuesEnabled
    issues(first: $first, after: $after, orderBy: {{ field: UPDATED_AT, direction: DESC }}) {{
      totalCount
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{ {fields} }} }}
    }}
  }} }}
  rateLimit {{ cost }}
}}"
    );
    listing(document, repository, first, after)
}

/// One page, newest change first, of nothing but ids and times: for a row too heavy to be served whole.
pub fn light_query(repository: &str, first: u32, after: Option<&Cursor>) -> Query {
    roll_in_order("UPDATED_AT, direction: DESC", repository, first, after)
}

/// One page of the roll: every issue's id and time of change, in the order of creation, which is fixed.
pub fn roll_query(repository: &str, first: u32, after: Option<&Cursor>) -> Query {
    roll_in_order("CREATED_AT, direction: ASC", repository, first, after)
}

fn roll_in_order(order: &str, repository: &str, first: u32, after: Option<&Cursor>) -> Query {
    let document = format!(
        "query IssueRoll($id: ID!, $first: Int!, $after: String) {{
  node(id: $id) {{ ... on Repository {{
    databaseId hasIssuesEnabled
    issues(first: $first, after: $after, orderBy: {{ field: {order} }}) {{
      totalCount
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{ id fullDatabaseId updatedAt }} }}
    }}
  }} }}
  rateLimit {{ cost }}
}}"
    );
    listing(document, repository, first, after)
}

fn listing(document: String, repository: &str, first: u32, after: Option<&Cursor>) -> Query {
    let after = after.map(|cursor| &cursor.0);
    Query { document, variables: json!({ "id": repository, "first": first, "after": after }) }
}

/// Some issues by their node ids, at most 100; beside them their repository, and some siblings by id alone.
///
/// The repository and the siblings tell an absence from a token that may no longer look.
pub fn look_query(repository: &str, node_ids: &[String], siblings: &[String]) -> Query {
    let fields = fields();
    let document = format!(
        "query IssueLook($scope: ID!, $ids: [ID!]!, $siblings: [ID!]!) {{
  scope: node(id: $scope) {{ ... on Repository {{ databaseId hasIssuesEnabled }} }}
  nodes(ids: $ids) {{ __typename ... on Issue {{ {fields} }} }}
  siblings: nodes(ids: $siblings) {{ ... on Issue {{ repository {{ databaseId }} }} }}
  rateLimit {{ cost }}
}}"
    );
    let variables = json!({ "scope": repository, "ids": node_ids, "siblings": siblings });
    Query { document, variables }
}
