//! Reads the repository that a thread is in now: a thread that was transferred is known by its id only.

use hw_rules::item::{ItemObservation, MirrorItem};

use super::queries::thread_repository_query;
use super::repository_node;
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::github::node;
use crate::query::Query;

/// Requests the repository of a thread.
#[derive(Debug, Clone, Copy)]
pub struct ThreadRepositoryQuery<'a> {
    /// The node id of an issue or a pull request.
    pub thread_node_id: &'a str,
}

impl Query for ThreadRepositoryQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ItemObservation;

    fn request(&self, _size: u32) -> GraphqlQuery {
        thread_repository_query(self.thread_node_id)
    }

    fn parse(
        &self,
        response: &GraphqlResponse,
        _size: u32,
    ) -> Result<ItemObservation, SourceError> {
        const PATH: &str = "node.repository";
        let repository = response.data.root().find_path(&["node", "repository"]);
        let repository = repository.ok_or_else(|| node::missing_root_error(response, "node"))?;
        let repository = repository_node::read_repository(response, PATH, PATH, repository)
            .map_err(SourceError::InvalidResponse)?;
        let item = MirrorItem::Repository(repository);
        Ok(ItemObservation { item, observed_at: response.observed_at() })
    }
}
