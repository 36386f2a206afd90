//! The repositories of an organisation: as a listing with probes, by name, and by id.

mod documents;
mod look;
mod named;
mod probes;
mod repository;

use std::collections::BTreeSet;

use hw_rules::item::Item;
use hw_rules::lane::Surface;
use hw_rules::walk::Cursor;

use super::graphql::Answer;
use super::node::{self, RawEdge};
use super::viewer::{self, Viewer};
use crate::page::ItemsPage;
use crate::raw_json::RawNode;
use crate::trouble::Trouble;

pub use documents::{list_query, look_query, named_query};
pub use look::read_look;
pub use named::{NamedPage, read_named};
pub use probes::Probes;

/// One page of the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// Who is asking; told on the first page.
    pub viewer: Option<Viewer>,
    pub page: ItemsPage,
    pub probes: Probes,
    /// Listings that the token may not look into, by the place of their repository. A listing may not be
    /// null, so its whole row is.
    pub denied: BTreeSet<(Cursor, Surface)>,
}

const LISTING: &str = "organization.repositories";

/// Reads a page that was asked for after `after`.
pub fn read_list(
    answer: &Answer,
    after: Option<&Cursor>,
    request: i64,
) -> Result<ListPage, Trouble> {
    let organization = answer.data.root().get("organization");
    if organization.is_some_and(RawNode::is_null) {
        return Err(node::missing(answer, "organization"));
    }
    let listing = organization.and_then(|it| it.get("repositories")).unwrap_or(RawNode::NULL);
    let read = |place: &str, node: RawNode<'_>| {
        repository::read(answer, place, &format!("{place}.node"), node)
    };
    let listed = node::connection(answer, (LISTING, listing), after, request, read)
        .ok_or_else(|| Trouble::Garbled(format!("no connection {LISTING}")))?;
    let viewer = if after.is_none() { Some(viewer::read(answer)?) } else { None };
    let page = listed.into_page(answer, request, Item::Repository);
    let rows = node::edges(listing);
    Ok(ListPage {
        viewer,
        page,
        probes: probes_of(answer, &rows),
        denied: denied_of(answer, &rows),
    })
}

/// The path of a row's repository.
fn path_of(index: usize) -> String {
    format!("{LISTING}.edges.{index}.node")
}

fn probes_of(answer: &Answer, rows: &[RawEdge<'_>]) -> Probes {
    let read = |(index, edge): (usize, &RawEdge<'_>)| {
        probes::read(answer, &path_of(index), edge.node.unwrap_or(RawNode::NULL))
    };
    rows.iter().enumerate().flat_map(read).collect()
}

fn denied_of(answer: &Answer, rows: &[RawEdge<'_>]) -> BTreeSet<(Cursor, Surface)> {
    let mut denied = BTreeSet::new();
    for (index, edge) in rows.iter().enumerate() {
        let surfaces = probes::denied(answer, &path_of(index)).into_iter();
        denied.extend(surfaces.filter_map(|surface| Some((edge.cursor()?, surface))));
    }
    denied
}

#[cfg(test)]
#[path = "repositories_tests.rs"]
mod tests;
