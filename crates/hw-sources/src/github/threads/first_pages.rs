//! Reads the first pages of many small listings from one response; one that fails does not affect the others.

use hw_rules::item::{MirrorItem, ThreadKind};
use hw_rules::probe;

use super::queries::first_pages_query;
use super::{RequestedListing, thread_node};
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::page::ItemsPage;
use crate::query::Query;

/// A first page that shares a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstPageTarget {
    pub kind: ThreadKind,
    pub repository_id: i64,
    pub node_id: String,
    /// The number of rows to request, 1 to 100.
    pub row_count: u32,
}

/// Requests the first pages of as many of these listings as fit into one request, but of at least one.
#[derive(Debug, Clone)]
pub struct FirstPagesQuery {
    pub targets: Vec<FirstPageTarget>,
}

impl FirstPagesQuery {
    /// Returns the listings of a request for at most `max_rows` rows.
    fn fitting_targets(&self, max_rows: u32) -> Vec<FirstPageTarget> {
        let rows = self.targets.iter().map(|target| target.row_count);
        let count = probe::count_fitting_pages(rows, max_rows);
        let fitting = self.targets.iter().take(count).cloned();
        fitting
            .map(|target| FirstPageTarget { row_count: target.row_count.min(max_rows), ..target })
            .collect()
    }
}

impl Query for FirstPagesQuery {
    type Endpoint = GraphqlEndpoint;
    /// The pages that were requested, in the order of the targets; one that fails does not affect the others.
    type Page = Vec<Result<ItemsPage, SourceError>>;

    fn request(&self, max_rows: u32) -> GraphqlQuery {
        first_pages_query(&self.fitting_targets(max_rows))
    }

    fn parse(
        &self,
        response: &GraphqlResponse,
        max_rows: u32,
    ) -> Result<Vec<Result<ItemsPage, SourceError>>, SourceError> {
        Ok(read_first_pages(response, &self.fitting_targets(max_rows)))
    }
}

/// Reads the pages in the order in which they were requested.
fn read_first_pages(
    response: &GraphqlResponse,
    pages: &[FirstPageTarget],
) -> Vec<Result<ItemsPage, SourceError>> {
    pages.iter().enumerate().map(|(n, page)| page.read_page(response, &format!("p{n}"))).collect()
}

impl FirstPageTarget {
    fn read_page(&self, response: &GraphqlResponse, root: &str) -> Result<ItemsPage, SourceError> {
        let Self { kind, repository_id, .. } = *self;
        let listing = RequestedListing { root, kind, repository_id, after: None };
        let connection =
            listing.read_rows(response, |node| thread_node::read_thread(kind, node))?;
        Ok(connection.into_page(response, MirrorItem::Thread))
    }
}

#[cfg(test)]
#[path = "first_pages_tests.rs"]
mod tests;
