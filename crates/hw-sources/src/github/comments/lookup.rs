//! Looks up comments by id.

use hw_rules::item::MirrorItem;
use hw_rules::lane::Surface;

use super::{graphql_comment, schema};
use crate::error::SourceError;
use crate::github::graphql::{GraphqlQuery, GraphqlResponse};
use crate::github::lookup::NodePresence;
use crate::page::LookupPage;

/// Builds the query for at most 100 comments by node id, their repository, and the ids of some siblings.
pub fn lookup_query(
    surface: Surface,
    scope_node_id: &str,
    ids: &[String],
    siblings: &[String],
) -> GraphqlQuery {
    let schema = schema::for_surface(surface);
    let fields = schema.mirrored_fields();
    schema.node_lookup().build_query(&fields, scope_node_id, ids, siblings)
}

/// Reads the response to [`lookup_query`]; the comments of a transferred thread keep their ids in its new repository.
pub fn read_lookup(
    response: &GraphqlResponse,
    surface: Surface,
    ids: &[String],
    repository_id: i64,
    request_id: i64,
) -> Result<LookupPage, SourceError> {
    schema::for_surface(surface).node_lookup().read_response(
        response,
        ids,
        repository_id,
        request_id,
        |node| {
            let comment = graphql_comment::read_comment(surface, node)?;
            let is_here = comment.repository_id == repository_id;
            let item = MirrorItem::Comment(comment);
            Ok(if is_here { NodePresence::Here(item) } else { NodePresence::Elsewhere(item) })
        },
    )
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
