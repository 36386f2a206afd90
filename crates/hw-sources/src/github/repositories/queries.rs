//! Builds the queries for repositories.

use hw_rules::followed_source::RepositoryName;
use hw_rules::lane::Surface;
use hw_rules::walk::PageCursor;
use serde_json::{Map, Value, json};

use super::probes;
use crate::github::graphql::GraphqlQuery;
use crate::github::viewer;

/// All fields of a repository that the mirror stores.
const REPOSITORY_FIELDS: &str = "id databaseId name url owner { login } isArchived isFork
        hasIssuesEnabled hasDiscussionsEnabled createdAt updatedAt";

/// Builds the query for one page of the listing, with a probe of each of these surfaces.
///
/// The oldest repository comes first: a creation date never changes, so nothing moves between pages. The first page
/// also contains the viewer. A probe is one connection per repository, so 33 repositories with 3 probes are 100
/// connections: 1 point.
pub fn list_query(
    login: &str,
    first: u32,
    after: Option<&PageCursor>,
    surfaces: &[Surface],
) -> GraphqlQuery {
    let viewer = if after.is_none() { viewer::FIELD } else { "" };
    let probes = probes::probe_fields(surfaces);
    let document = format!(
        "query Repositories($login: String!, $first: Int!, $after: String) {{
  {viewer}
  repositoryOwner(login: $login) {{
    repositories(first: $first, after: $after, ownerAffiliations: OWNER, isArchived: false, isFork: false,
                 orderBy: {{ field: CREATED_AT, direction: ASC }}) {{
      totalCount
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{
        {REPOSITORY_FIELDS}{probes}
      }} }}
    }}
  }}
  rateLimit {{ cost }}
}}"
    );
    let after = after.map(|cursor| &cursor.0);
    GraphqlQuery { document, variables: json!({ "login": login, "first": first, "after": after }) }
}

/// Builds the query for at least one repository by name, with probes, and the viewer if needed.
pub fn named_query(
    names: &[RepositoryName],
    surfaces: &[Surface],
    with_viewer: bool,
) -> GraphqlQuery {
    let viewer = if with_viewer { viewer::FIELD } else { "" };
    let probes = probes::probe_fields(surfaces);
    let mut declarations = String::new();
    let mut fields = String::new();
    let mut variables = Map::new();
    for (n, RepositoryName { owner, name }) in names.iter().enumerate() {
        let comma = if n == 0 { "" } else { ", " };
        declarations += &format!("{comma}$o{n}: String!, $m{n}: String!");
        fields += &format!("  r{n}: repository(owner: $o{n}, name: $m{n}) {{ ...Probed }}\n");
        variables.insert(format!("o{n}"), json!(owner.as_str()));
        variables.insert(format!("m{n}"), json!(name));
    }
    let document = format!(
        "query NamedRepositories({declarations}) {{
  {viewer}
{fields}  rateLimit {{ cost }}
}}
fragment Probed on Repository {{
        {REPOSITORY_FIELDS}{probes}
}}"
    );
    GraphqlQuery { document, variables: Value::Object(variables) }
}

/// Builds the query for at most 100 repositories by node id, and the ids of some siblings.
///
/// The siblings distinguish an absent repository from a token that lost its access.
pub fn lookup_query(ids: &[String], siblings: &[String]) -> GraphqlQuery {
    let document = format!(
        "query RepositoryLookup($ids: [ID!]!, $siblings: [ID!]!) {{
  nodes(ids: $ids) {{ __typename ... on Repository {{ {REPOSITORY_FIELDS} }} }}
  siblings: nodes(ids: $siblings) {{ __typename }}
  rateLimit {{ cost }}
}}"
    );
    GraphqlQuery { document, variables: json!({ "ids": ids, "siblings": siblings }) }
}

/// Builds the query for the repository that a thread is in now.
pub fn thread_repository_query(thread_node_id: &str) -> GraphqlQuery {
    let repository = format!("repository {{ {REPOSITORY_FIELDS} }}");
    let document = format!(
        "query ThreadRepository($id: ID!) {{
  node(id: $id) {{ ... on Issue {{ {repository} }} ... on PullRequest {{ {repository} }} }}
  rateLimit {{ cost }}
}}"
    );
    GraphqlQuery { document, variables: json!({ "id": thread_node_id }) }
}
