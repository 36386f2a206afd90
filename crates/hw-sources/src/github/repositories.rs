//! The repositories of an organisation.

use hw_rules::clean::storable;
use hw_rules::item::{Item, Repository};
use hw_rules::time::SourceTime;
use hw_rules::walk::Cursor;
use serde::Deserialize;
use serde_json::json;

use super::graphql::{Answer, Query};
use super::node;
use crate::page::ItemsPage;
use crate::trouble::Trouble;

/// One page, oldest first: a creation date never changes, so nothing moves between pages.
pub fn query(organization: &str, first: u32, after: Option<&Cursor>) -> Query {
    let document = "query Repositories($login: String!, $first: Int!, $after: String) {
  organization(login: $login) {
    repositories(first: $first, after: $after, isArchived: false, isFork: false,
                 orderBy: { field: CREATED_AT, direction: ASC }) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges { cursor node {
        id databaseId name url owner { login } isArchived isFork
        hasIssuesEnabled hasDiscussionsEnabled createdAt updatedAt
      } }
    }
  }
  rateLimit { cost }
}";
    let after = after.map(|cursor| &cursor.0);
    Query {
        document: document.into(),
        variables: json!({ "login": organization, "first": first, "after": after }),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    id: String,
    database_id: i64,
    name: String,
    url: String,
    owner: Owner,
    is_archived: bool,
    is_fork: bool,
    has_issues_enabled: bool,
    has_discussions_enabled: bool,
    created_at: SourceTime,
    updated_at: SourceTime,
}

#[derive(Deserialize)]
struct Owner {
    login: String,
}

/// Reads a page that was asked for after `after`.
pub fn read(answer: &Answer, after: Option<&Cursor>, request: i64) -> Result<ItemsPage, Trouble> {
    if answer.data.get("organization").is_some_and(serde_json::Value::is_null) {
        return Err(node::missing(answer, "organization"));
    }
    let listed = node::connection::<Raw>(answer, "organization.repositories", after, request)
        .ok_or_else(|| Trouble::Garbled("no connection organization.repositories".into()))?;
    Ok(listed.into_page(answer, request, |raw| Item::Repository(raw.into())))
}

impl From<Raw> for Repository {
    fn from(raw: Raw) -> Self {
        Self {
            id: raw.database_id,
            node_id: raw.id,
            owner: storable(&raw.owner.login),
            name: storable(&raw.name),
            url: storable(&raw.url),
            is_archived: raw.is_archived,
            is_fork: raw.is_fork,
            has_issues_enabled: raw.has_issues_enabled,
            has_discussions_enabled: raw.has_discussions_enabled,
            created_at: raw.created_at,
            updated_at: raw.updated_at,
        }
    }
}
