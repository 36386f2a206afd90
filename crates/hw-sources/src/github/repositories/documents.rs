//! What is asked about repositories.

use hw_rules::lane::Surface;
use hw_rules::walk::Cursor;
use serde_json::{Map, Value, json};

use super::probes;
use crate::github::graphql::Query;
use crate::github::viewer;

/// Everything the mirror keeps of a repository.
const FIELDS: &str = "id databaseId name url owner { login } isArchived isFork
        hasIssuesEnabled hasDiscussionsEnabled createdAt updatedAt";

/// One page, oldest first: a creation date never changes, so nothing moves between pages. Each repository
/// comes with a probe of each of these surfaces; the first page also says who is asking.
///
/// A probe is one connection per repository, so 33 repositories with 3 probes are 100 connections: 1 point.
pub fn list_query(
    organization: &str,
    first: u32,
    after: Option<&Cursor>,
    surfaces: &[Surface],
) -> Query {
    let (viewer, probes) = (viewer_if(after.is_none()), probes::fields(surfaces));
    let document = format!(
        "query Repositories($login: String!, $first: Int!, $after: String) {{
  {viewer}
  organization(login: $login) {{
    repositories(first: $first, after: $after, isArchived: false, isFork: false,
                 orderBy: {{ field: CREATED_AT, direction: ASC }}) {{
      totalCount
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{
        {FIELDS}{probes}
      }} }}
    }}
  }}
  rateLimit {{ cost }}
}}"
    );
    let after = after.map(|cursor| &cursor.0);
    Query { document, variables: json!({ "login": organization, "first": first, "after": after }) }
}

/// Some repositories by their names, at least one; with probes, and the viewer if need be.
pub fn named_query(
    organization: &str,
    names: &[String],
    surfaces: &[Surface],
    with_viewer: bool,
) -> Query {
    let (viewer, probes) = (viewer_if(with_viewer), probes::fields(surfaces));
    let mut declared = String::new();
    let mut asked = String::new();
    let mut variables = Map::from_iter([("owner".to_owned(), json!(organization))]);
    for (n, name) in names.iter().enumerate() {
        declared += &format!(", $m{n}: String!");
        asked += &format!("  r{n}: repository(owner: $owner, name: $m{n}) {{ ...Probed }}\n");
        variables.insert(format!("m{n}"), json!(name));
    }
    let document = format!(
        "query NamedRepositories($owner: String!{declared}) {{
  {viewer}
{asked}  rateLimit {{ cost }}
}}
fragment Probed on Repository {{
        {FIELDS}{probes}
}}"
    );
    Query { document, variables: Value::Object(variables) }
}

/// Some repositories by their node ids, at most 100, and some siblings by nothing but their ids.
///
/// The siblings tell an absence from a token that may no longer look.
pub fn look_query(ids: &[String], siblings: &[String]) -> Query {
    let document = format!(
        "query RepositoryLook($ids: [ID!]!, $siblings: [ID!]!) {{
  nodes(ids: $ids) {{ __typename ... on Repository {{ {FIELDS} }} }}
  siblings: nodes(ids: $siblings) {{ __typename }}
  rateLimit {{ cost }}
}}"
    );
    Query { document, variables: json!({ "ids": ids, "siblings": siblings }) }
}

fn viewer_if(asked: bool) -> &'static str {
    if asked { viewer::FIELD } else { "" }
}
