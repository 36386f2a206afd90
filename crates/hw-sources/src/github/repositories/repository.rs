//! One repository as it came, and as it is kept.

use hw_rules::clean::storable;
use hw_rules::item::Repository;
use hw_rules::plausible;
use hw_rules::time::SourceTime;
use serde::Deserialize;

use super::probes;
use crate::github::graphql::Answer;
use crate::raw_json::RawNode;

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

/// Reads the repository at `path`, if nothing at `place` around it went wrong but a probe.
pub(super) fn read(
    answer: &Answer,
    place: &str,
    path: &str,
    node: RawNode<'_>,
) -> Result<Repository, String> {
    let is_fatal = |error: &&_| !probes::is_of_a_probe(error, path);
    let mut errors = answer.errors.iter().filter(|error| error.is_at(place));
    if let Some(error) = errors.find(is_fatal) {
        return Err(error.message.clone());
    }
    let repository = Repository::from(node.read::<Raw>()?);
    match plausible::check_repository(&repository) {
        Ok(()) => Ok(repository),
        Err(impossible) => Err(impossible.to_string()),
    }
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
