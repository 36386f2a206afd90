//! The repositories of an owner: as a listing with probes, by name, and by id.

mod lookup;
mod named_repositories;
mod probes;
mod queries;
mod repository_node;
mod thread_repository;

use std::collections::BTreeSet;

use hw_rules::item::MirrorItem;
use hw_rules::lane::Surface;
use hw_rules::walk::PageCursor;

use super::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use super::node::{self, LocatedNode, RawEdge};
use super::viewer::{self, Viewer};
use crate::error::SourceError;
use crate::page::ItemsPage;
use crate::query::Query;
use crate::raw_json::RawNode;

pub use lookup::RepositoryLookupQuery;
pub use named_repositories::{FoundName, NamedRepositories, NamedRepositoriesQuery};
pub use probes::ListingProbes;
pub use queries::{list_query, lookup_query, named_query, thread_repository_query};
pub use thread_repository::ThreadRepositoryQuery;

/// Requests one page of an owner's repositories, with probes of these surfaces.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryListQuery<'a> {
    pub login: &'a str,
    pub after: Option<&'a PageCursor>,
    pub surfaces: &'a [Surface],
}

impl Query for RepositoryListQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = RepositoryListPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        list_query(self.login, size, self.after, self.surfaces)
    }

    fn parse(
        &self,
        response: &GraphqlResponse,
        _size: u32,
    ) -> Result<RepositoryListPage, SourceError> {
        read_list(response, self.after)
    }
}

/// One page of the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryListPage {
    /// The token's user; only on the first page.
    pub viewer: Option<Viewer>,
    pub items_page: ItemsPage,
    pub probes: ListingProbes,
    /// Listings to which the token has no access, by the cursor of their repository. The schema does not allow a
    /// listing to be null, so the whole row is null instead.
    pub denied_listings: BTreeSet<(PageCursor, Surface)>,
}

const OWNER_PATH: &str = "repositoryOwner";
const LISTING_PATH: &str = "repositoryOwner.repositories";

/// Reads a page that was requested after `after`.
fn read_list(
    response: &GraphqlResponse,
    after: Option<&PageCursor>,
) -> Result<RepositoryListPage, SourceError> {
    let owner = response.data.root().get(OWNER_PATH);
    if owner.is_some_and(RawNode::is_null) {
        return Err(missing_owner_error(response));
    }
    let listing = owner.and_then(|owner| owner.get("repositories"));
    let listing = LocatedNode { path: LISTING_PATH, node: listing.unwrap_or(RawNode::NULL) };
    let connection = node::read_connection(response, listing, after, |row_path, node| {
        repository_node::read_repository(response, row_path, &format!("{row_path}.node"), node)
    });
    let connection = connection
        .ok_or_else(|| SourceError::InvalidResponse(format!("{LISTING_PATH} is missing")))?;
    let viewer = if after.is_none() { Some(viewer::read_viewer(response)?) } else { None };
    let page = connection.into_page(response, MirrorItem::Repository);
    let rows = node::raw_edges(listing.node);
    Ok(RepositoryListPage {
        viewer,
        items_page: page,
        probes: read_page_probes(response, &rows),
        denied_listings: read_denied_listings(response, &rows),
    })
}

/// Classifies a null owner. Unlike other lookups, that of a login that nobody has returns null without an error.
fn missing_owner_error(response: &GraphqlResponse) -> SourceError {
    match response.error_at_or_below(OWNER_PATH) {
        Some(_) => node::missing_root_error(response, OWNER_PATH),
        None => SourceError::Hidden(
            "no organization or user with this login, or this token has no access".to_owned(),
        ),
    }
}

/// Returns the path of a row's repository.
fn row_path(index: usize) -> String {
    format!("{LISTING_PATH}.edges.{index}.node")
}

fn read_page_probes(response: &GraphqlResponse, rows: &[RawEdge<'_>]) -> ListingProbes {
    let mut page_probes = ListingProbes::new();
    for (index, edge) in rows.iter().enumerate() {
        let node = edge.node.unwrap_or(RawNode::NULL);
        page_probes.extend(probes::read_repository_probes(response, &row_path(index), node));
    }
    page_probes
}

fn read_denied_listings(
    response: &GraphqlResponse,
    rows: &[RawEdge<'_>],
) -> BTreeSet<(PageCursor, Surface)> {
    let mut denied = BTreeSet::new();
    for (index, edge) in rows.iter().enumerate() {
        let surfaces = probes::denied_surfaces(response, &row_path(index)).into_iter();
        denied.extend(surfaces.filter_map(|surface| Some((edge.cursor()?, surface))));
    }
    denied
}

#[cfg(test)]
#[path = "repositories_tests.rs"]
mod tests;
