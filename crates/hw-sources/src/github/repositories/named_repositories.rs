//! Reads repositories that were requested by name.

use hw_rules::followed_source::RepositoryName;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Surface;
use hw_rules::source_time::SourceInstant;

use super::probes::{self, ListingProbes};
use super::queries::named_query;
use super::repository_node;
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::github::node::{self, NullReason};
use crate::github::viewer::{self, Viewer};
use crate::page::UnreadableRow;
use crate::query::Query;
use crate::raw_json::RawNode;
use hw_rules::row_subject::RowSubject;

/// Requests repositories by name, with probes of these surfaces.
#[derive(Debug, Clone, Copy)]
pub struct NamedRepositoriesQuery<'a> {
    /// At least one.
    pub names: &'a [RepositoryName],
    pub surfaces: &'a [Surface],
    /// True to request the token's user as well.
    pub with_viewer: bool,
}

impl Query for NamedRepositoriesQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = NamedRepositories;

    fn request(&self, _size: u32) -> GraphqlQuery {
        named_query(self.names, self.surfaces, self.with_viewer)
    }

    fn parse(
        &self,
        response: &GraphqlResponse,
        _size: u32,
    ) -> Result<NamedRepositories, SourceError> {
        read_named(response, self.names)
    }
}

/// The response for some names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRepositories {
    /// The token's user, if requested.
    pub viewer: Option<Viewer>,
    pub date: SourceInstant,
    /// Each repository once, with its current name and owner: GitHub follows renames.
    pub observations: Vec<ItemObservation>,
    pub probes: ListingProbes,
    /// The names that were found, each with the id of its repository.
    pub found: Vec<FoundName>,
    /// Names that do not exist, or to which the token has no access.
    pub missing: Vec<RepositoryName>,
    pub unreadable: Vec<UnreadableRow>,
}

/// A requested name, and the repository that it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundName {
    pub name: RepositoryName,
    pub repository_id: i64,
}

/// Reads the response for these names.
fn read_named(
    response: &GraphqlResponse,
    names: &[RepositoryName],
) -> Result<NamedRepositories, SourceError> {
    let has_viewer = response.data.root().get("viewer").is_some();
    let mut page = NamedRepositories {
        viewer: if has_viewer { Some(viewer::read_viewer(response)?) } else { None },
        date: response.date(),
        observations: Vec::new(),
        probes: ListingProbes::new(),
        found: Vec::new(),
        missing: Vec::new(),
        unreadable: Vec::new(),
    };
    for (index, name) in names.iter().enumerate() {
        page.add_named(response, &format!("r{index}"), name);
    }
    Ok(page)
}

impl NamedRepositories {
    fn add_named(&mut self, response: &GraphqlResponse, path: &str, name: &RepositoryName) {
        let node = response.data.root().get(path).unwrap_or(RawNode::NULL);
        let read = if node.is_null() {
            match node::null_reason(response, path) {
                NullReason::NotFound | NullReason::Forbidden(_) => {
                    return self.missing.push(name.clone());
                }
                NullReason::Fault(reason) => Err(reason),
            }
        } else {
            repository_node::read_repository(response, path, path, node)
        };
        self.probes.extend(probes::read_repository_probes(response, path, node));
        let observed_at = response.observed_at();
        match read {
            Ok(repository) => {
                let repository_id = repository.id;
                self.found.push(FoundName { name: name.clone(), repository_id });
                self.add_observation(ItemObservation {
                    item: MirrorItem::Repository(repository),
                    observed_at,
                });
            }
            Err(reason) => {
                let subject =
                    node::node_subject(node).unwrap_or_else(|| RowSubject::Node(name.to_string()));
                self.unreadable.push(node::unreadable_row(
                    subject,
                    Some(node),
                    reason,
                    observed_at,
                ));
            }
        }
    }

    /// Adds a repository once: its old and its new name may both be requested.
    fn add_observation(&mut self, observation: ItemObservation) {
        if !self.observations.iter().any(|known| known.key() == observation.key()) {
            self.observations.push(observation);
        }
    }
}

#[cfg(test)]
#[path = "named_repositories_tests.rs"]
mod tests;
