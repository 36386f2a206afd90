//! Looks up comments by id.

use hw_rules::item::{CommentKind, MirrorItem};

use super::{graphql_comment, schema};
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::github::lookup::NodePresence;
use crate::page::LookupPage;
use crate::query::{Query, first_ids};

/// Looks up as many of these comments as one request takes.
#[derive(Debug, Clone, Copy)]
pub struct CommentLookupQuery<'a> {
    pub kind: CommentKind,
    pub repository_id: i64,
    /// The repository's node id.
    pub node_id: &'a str,
    pub ids: &'a [String],
    pub siblings: &'a [String],
}

impl Query for CommentLookupQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = LookupPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        lookup_query(self.kind, self.node_id, first_ids(self.ids, size), self.siblings)
    }

    fn parse(&self, response: &GraphqlResponse, size: u32) -> Result<LookupPage, SourceError> {
        read_lookup(response, self.kind, first_ids(self.ids, size), self.repository_id)
    }
}

/// Builds the query for at most 100 comments by node id, their repository, and the ids of some siblings.
pub fn lookup_query(
    kind: CommentKind,
    scope_node_id: &str,
    ids: &[String],
    siblings: &[String],
) -> GraphqlQuery {
    let schema = schema::for_kind(kind);
    let fields = schema.mirrored_fields();
    schema.node_lookup().build_query(&fields, scope_node_id, ids, siblings)
}

/// Reads the response to [`lookup_query`]; the comments of a transferred thread keep their ids in its new repository.
pub(super) fn read_lookup(
    response: &GraphqlResponse,
    kind: CommentKind,
    ids: &[String],
    repository_id: i64,
) -> Result<LookupPage, SourceError> {
    schema::for_kind(kind).node_lookup().read_response(response, ids, repository_id, |node| {
        let comment = graphql_comment::read_comment(kind, node)?;
        let is_here = comment.repository_id == repository_id;
        let item = MirrorItem::Comment(comment);
        Ok(if is_here { NodePresence::Here(item) } else { NodePresence::Elsewhere(item) })
    })
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
