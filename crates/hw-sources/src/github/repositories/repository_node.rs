//! Reads one repository from its GraphQL node.

use hw_rules::item::Repository;
use hw_rules::item_validation;
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceTime;
use serde::Deserialize;

use super::probes;
use crate::github::graphql::GraphqlResponse;
use crate::raw_json::RawNode;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepositoryNode {
    id: String,
    database_id: i64,
    name: String,
    url: String,
    owner: OwnerLogin,
    is_archived: bool,
    is_fork: bool,
    has_issues_enabled: bool,
    has_discussions_enabled: bool,
    created_at: SourceTime,
    updated_at: SourceTime,
}

#[derive(Deserialize)]
struct OwnerLogin {
    login: String,
}

/// Reads the repository at `path`; fails on any error at or below `row_path`, except in a probe.
pub(super) fn read_repository(
    response: &GraphqlResponse,
    row_path: &str,
    path: &str,
    node: RawNode<'_>,
) -> Result<Repository, String> {
    let mut errors = response.errors.iter().filter(|error| error.is_at_or_below(row_path));
    if let Some(error) = errors.find(|error| !probes::is_probe_error(error, path)) {
        return Err(error.message.clone());
    }
    let repository = Repository::from(node.parse_as::<RepositoryNode>()?);
    item_validation::check_repository(&repository).map_err(|impossible| impossible.to_string())?;
    Ok(repository)
}

impl From<RepositoryNode> for Repository {
    fn from(raw: RepositoryNode) -> Self {
        Self {
            id: raw.database_id,
            node_id: raw.id,
            owner: sanitize_for_storage(&raw.owner.login),
            name: sanitize_for_storage(&raw.name),
            url: sanitize_for_storage(&raw.url),
            is_archived: raw.is_archived,
            is_fork: raw.is_fork,
            has_issues_enabled: raw.has_issues_enabled,
            has_discussions_enabled: raw.has_discussions_enabled,
            created_at: raw.created_at,
            updated_at: raw.updated_at,
        }
    }
}
