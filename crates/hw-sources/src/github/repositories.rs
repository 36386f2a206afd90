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
use serde_json::Value;

use super::graphql::Answer;
use super::node;
use super::viewer::{self, Viewer};
use crate::page::ItemsPage;
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
    /// Listings that the token may not look into. A listing may not be null, so its whole row is.
    pub denied: BTreeSet<Surface>,
}

const LISTING: &str = "organization.repositories";

/// Reads a page that was asked for after `after`.
pub fn read_list(
    answer: &Answer,
    after: Option<&Cursor>,
    request: i64,
) -> Result<ListPage, Trouble> {
    if answer.data.get("organization").is_some_and(Value::is_null) {
        return Err(node::missing(answer, "organization"));
    }
    let read =
        |place: &str, node: &Value| repository::read(answer, place, &format!("{place}.node"), node);
    let listed = node::connection(answer, LISTING, after, request, read)
        .ok_or_else(|| Trouble::Garbled(format!("no connection {LISTING}")))?;
    let viewer = if after.is_none() { Some(viewer::read(answer)?) } else { None };
    let page = listed.into_page(answer, request, Item::Repository);
    Ok(ListPage { viewer, page, probes: probes_of(answer), denied: probes::denied(answer) })
}

fn probes_of(answer: &Answer) -> Probes {
    let edges = answer.data.pointer("/organization/repositories/edges").and_then(Value::as_array);
    let edges = edges.into_iter().flatten().enumerate();
    let read = |(index, edge): (usize, &Value)| {
        let node = edge.get("node").unwrap_or(&Value::Null);
        probes::read(answer, &format!("{LISTING}.edges.{index}.node"), node)
    };
    edges.flat_map(read).collect()
}

#[cfg(test)]
#[path = "repositories_tests.rs"]
mod tests;
