//! The threads of one repository: newest first, by their ids, and as an inventory for the sweep.

mod first_pages;
mod lookup;
mod queries;
mod thread_node;

use std::collections::BTreeSet;

use hw_rules::item::{MirrorItem, ThreadKind};
use hw_rules::lane::Surface;
use hw_rules::walk::{ListingEntry, ListingPage, PageCursor};

use super::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use super::node::{self, LocatedNode, ParsedConnection};
use super::thread_schema;
use crate::error::SourceError;
use crate::page::{InventoryPage, InventoryRow, ItemsPage, UnreadableRow};
use crate::query::Query;
use crate::raw_json::RawNode;
use hw_rules::row_subject::RowSubject;
use thread_node::ThreadStub;

pub use first_pages::{FirstPageTarget, FirstPagesQuery};
pub use lookup::{ThreadLookupQuery, lookup_query};
pub use queries::{first_pages_query, id_only_query, inventory_query, page_query};

/// A listing of one repository, from a cursor on.
#[derive(Debug, Clone, Copy)]
pub struct ThreadListing<'a> {
    pub kind: ThreadKind,
    pub repository_id: i64,
    /// The repository's node id.
    pub node_id: &'a str,
    pub after: Option<&'a PageCursor>,
}

/// Requests one page, newest change first.
#[derive(Debug, Clone, Copy)]
pub struct ThreadPageQuery<'a>(pub ThreadListing<'a>);

/// Requests one page of ids and times, newest change first: for a row too large to be served completely.
#[derive(Debug, Clone, Copy)]
pub struct ThreadIdsQuery<'a>(pub ThreadListing<'a>);

/// Requests one page of the inventory.
#[derive(Debug, Clone, Copy)]
pub struct ThreadInventoryQuery<'a>(pub ThreadListing<'a>);

impl Query for ThreadPageQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ItemsPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        page_query(self.0.kind, self.0.node_id, size, self.0.after)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<ItemsPage, SourceError> {
        read_page(response, self.0.kind, self.0.repository_id, self.0.after)
    }
}

impl Query for ThreadIdsQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ItemsPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        id_only_query(self.0.kind, self.0.node_id, size, self.0.after)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<ItemsPage, SourceError> {
        read_id_only(response, self.0.kind, self.0.repository_id, self.0.after)
    }
}

impl Query for ThreadInventoryQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = InventoryPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        inventory_query(self.0.kind, self.0.node_id, size, self.0.after)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<InventoryPage, SourceError> {
        read_inventory(response, self.0.kind, self.0.repository_id, self.0.after)
    }
}

/// Reads a page of the repository with this id that was requested after `after`.
fn read_page(
    response: &GraphqlResponse,
    kind: ThreadKind,
    repository_id: i64,
    after: Option<&PageCursor>,
) -> Result<ItemsPage, SourceError> {
    let listing = RequestedListing { root: "node", kind, repository_id, after };
    let connection = listing.read_rows(response, |node| thread_node::read_thread(kind, node))?;
    Ok(connection.into_page(response, MirrorItem::Thread))
}

/// Reads a page of the inventory.
fn read_inventory(
    response: &GraphqlResponse,
    kind: ThreadKind,
    repository_id: i64,
    after: Option<&PageCursor>,
) -> Result<InventoryPage, SourceError> {
    let listing = RequestedListing { root: "node", kind, repository_id, after };
    let connection = listing.read_rows(response, ThreadStub::read)?;
    let rows = connection.rows.into_iter().map(|row| InventoryRow {
        id: row.node.database_id.0,
        node_id: row.node.id,
        updated_at: row.node.updated_at,
    });
    // another request cannot fix an impossible row
    let faults = connection.unreadable.iter().filter(|row| !row.is_impossible());
    Ok(InventoryPage {
        date: response.date(),
        observed_at: response.observed_at(),
        unreadable_count: faults.count(),
        rows: drop_duplicate_ids(rows.collect()),
        next: connection.next,
    })
}

/// Reads an id-only page: its rows have their positions, and all of them remain to be read.
fn read_id_only(
    response: &GraphqlResponse,
    kind: ThreadKind,
    repository_id: i64,
    after: Option<&PageCursor>,
) -> Result<ItemsPage, SourceError> {
    let listing = RequestedListing { root: "node", kind, repository_id, after };
    let connection = listing.read_rows(response, ThreadStub::read)?;
    let mut unreadable = connection.unreadable;
    let mut entries = Vec::new();
    for row in connection.rows {
        unreadable.push(UnreadableRow {
            subject: RowSubject::Node(row.node.id),
            reason: "too large for one response".into(),
            raw: String::new(),
            updated_at: Some(row.node.updated_at.clone()),
            observed_at: response.observed_at(),
        });
        let (id, updated_at) = (row.node.database_id.0, row.node.updated_at);
        entries.push(ListingEntry { id, updated_at, cursor: row.cursor });
    }
    let walk_page = ListingPage {
        date: response.date(),
        entries,
        total_count: connection.total_count,
        next: connection.next,
    };
    Ok(ItemsPage { observations: vec![], walk_page, unreadable })
}

/// Removes all rows that share their id with another row.
fn drop_duplicate_ids(mut rows: Vec<InventoryRow>) -> Vec<InventoryRow> {
    let mut seen = BTreeSet::new();
    let duplicates: BTreeSet<i64> =
        rows.iter().filter(|row| !seen.insert(row.id)).map(|row| row.id).collect();
    rows.retain(|row| !duplicates.contains(&row.id));
    rows
}

/// A requested listing.
struct RequestedListing<'a> {
    /// The field of the response that contains its repository.
    root: &'a str,
    kind: ThreadKind,
    repository_id: i64,
    after: Option<&'a PageCursor>,
}

impl RequestedListing<'_> {
    /// Reads its rows one by one.
    fn read_rows<T>(
        &self,
        response: &GraphqlResponse,
        read: impl Fn(RawNode<'_>) -> Result<T, String>,
    ) -> Result<ParsedConnection<T>, SourceError> {
        let repository = response.data.root().get(self.root).unwrap_or(RawNode::NULL);
        self.check_repository(response, repository)?;
        let name = thread_schema::for_kind(self.kind).connection;
        let path = format!("{}.{name}", self.root);
        let connection =
            LocatedNode { path: &path, node: repository.get(name).unwrap_or(RawNode::NULL) };
        node::read_connection(response, connection, self.after, |row_path, node| {
            node::check_no_errors(response, row_path).and_then(|()| read(node))
        })
        .ok_or_else(|| SourceError::InvalidResponse(format!("{path} is missing")))
    }

    /// Fails if the repository is missing, another one, or has no such listing.
    ///
    /// A response about another repository is a rename or a reused name, never data.
    fn check_repository(
        &self,
        response: &GraphqlResponse,
        repository: RawNode<'_>,
    ) -> Result<(), SourceError> {
        if repository.is_null() {
            return Err(node::missing_root_error(response, self.root));
        }
        if repository.get("databaseId").and_then(RawNode::as_i64) != Some(self.repository_id) {
            return Err(SourceError::InvalidResponse(
                "the response is about another repository".into(),
            ));
        }
        let is_disabled = thread_schema::for_kind(self.kind)
            .enabled_field
            .is_some_and(|field| repository.get(field).and_then(RawNode::as_bool) == Some(false));
        if is_disabled {
            let name = Surface::Threads(self.kind).name();
            return Err(SourceError::Hidden(format!("the repository has {name} disabled")));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
