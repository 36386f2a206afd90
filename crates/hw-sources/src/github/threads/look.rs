//! Threads asked for by id.

use hw_rules::item::Item;
use hw_rules::lane::Surface;

use super::thread;
use crate::github::graphql::{Answer, Query};
use crate::github::listing;
use crate::github::look::{Found, Home, Look};
use crate::page::LookPage;
use crate::trouble::Trouble;

/// Some threads by their node ids, at most 100; beside them their repository, and some siblings by id alone.
pub fn look_query(surface: Surface, node_id: &str, ids: &[String], siblings: &[String]) -> Query {
    look(surface).query(&listing::of(surface).fields(), node_id, ids, siblings)
}

/// Reads threads asked for by id; one that belongs to another repository by now is absent from this one.
pub fn read_look(
    answer: &Answer,
    surface: Surface,
    ids: &[String],
    repository_id: i64,
    request: i64,
) -> Result<LookPage, Trouble> {
    look(surface).read(answer, ids, repository_id, request, |node| {
        let thread = thread::read(surface, node)?;
        let is_here = thread.repository_id == repository_id;
        Ok(if is_here { Found::Here(Item::Thread(thread)) } else { Found::Absent })
    })
}

fn look(surface: Surface) -> Look {
    let listing = listing::of(surface);
    Look { type_name: listing.type_name, switch: listing.switch, home: Home::OWN }
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
