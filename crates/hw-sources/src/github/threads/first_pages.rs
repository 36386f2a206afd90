//! Reads the first pages of many small listings from one response; one that fails does not affect the others.

use hw_rules::item::MirrorItem;
use hw_rules::lane::Surface;

use super::{RequestedListing, thread_node};
use crate::error::SourceError;
use crate::github::graphql::GraphqlResponse;
use crate::page::ItemsPage;

/// A first page that shares a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstPageTarget {
    pub surface: Surface,
    pub repository_id: i64,
    pub node_id: String,
    /// The number of rows to request, 1 to 100.
    pub row_count: u32,
}

/// Reads the pages in the order in which they were requested.
pub fn read_first_pages(
    response: &GraphqlResponse,
    pages: &[FirstPageTarget],
    request_id: i64,
) -> Vec<Result<ItemsPage, SourceError>> {
    pages
        .iter()
        .enumerate()
        .map(|(n, page)| page.read_page(response, &format!("p{n}"), request_id))
        .collect()
}

impl FirstPageTarget {
    fn read_page(
        &self,
        response: &GraphqlResponse,
        root: &str,
        request_id: i64,
    ) -> Result<ItemsPage, SourceError> {
        let Self { surface, repository_id, .. } = *self;
        let listing = RequestedListing { root, surface, repository_id, after: None };
        let connection = listing
            .read_rows(response, request_id, |node| thread_node::read_thread(surface, node))?;
        Ok(connection.into_page(response, request_id, MirrorItem::Thread))
    }
}

#[cfg(test)]
#[path = "first_pages_tests.rs"]
mod tests;
