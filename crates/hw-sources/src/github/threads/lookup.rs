//! Looks up threads by id.

use hw_rules::item::{MirrorItem, ThreadKind};

use super::thread_node;
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::github::lookup::{NodeLookup, NodePresence, RepositoryField};
use crate::github::thread_schema;
use crate::page::LookupPage;
use crate::query::{Query, first_ids};

/// Looks up as many of these threads as one request takes.
#[derive(Debug, Clone, Copy)]
pub struct ThreadLookupQuery<'a> {
    pub kind: ThreadKind,
    pub repository_id: i64,
    /// The repository's node id.
    pub node_id: &'a str,
    pub ids: &'a [String],
    pub siblings: &'a [String],
}

impl Query for ThreadLookupQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = LookupPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        lookup_query(self.kind, self.node_id, first_ids(self.ids, size), self.siblings)
    }

    fn parse(&self, response: &GraphqlResponse, size: u32) -> Result<LookupPage, SourceError> {
        read_lookup(response, self.kind, first_ids(self.ids, size), self.repository_id)
    }
}

/// Builds the query for at most 100 threads by node id, their repository, and the ids of some siblings.
pub fn lookup_query(
    kind: ThreadKind,
    node_id: &str,
    ids: &[String],
    siblings: &[String],
) -> GraphqlQuery {
    thread_lookup(kind).build_query(
        &thread_schema::for_kind(kind).mirrored_fields(),
        node_id,
        ids,
        siblings,
    )
}

/// Reads the response to [`lookup_query`]; a thread that moved to another repository is absent from this one.
fn read_lookup(
    response: &GraphqlResponse,
    kind: ThreadKind,
    ids: &[String],
    repository_id: i64,
) -> Result<LookupPage, SourceError> {
    thread_lookup(kind).read_response(response, ids, repository_id, |node| {
        let thread = thread_node::read_thread(kind, node)?;
        let is_here = thread.repository_id == repository_id;
        Ok(if is_here {
            NodePresence::Here(MirrorItem::Thread(thread))
        } else {
            NodePresence::Absent
        })
    })
}

fn thread_lookup(kind: ThreadKind) -> NodeLookup {
    let listing = thread_schema::for_kind(kind);
    NodeLookup {
        type_name: listing.type_name,
        enabled_field: listing.enabled_field,
        repository_field: RepositoryField::DIRECT,
    }
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
