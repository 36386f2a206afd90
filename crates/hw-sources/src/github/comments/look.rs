//! Comments asked for by id.

use hw_rules::item::Item;
use hw_rules::lane::Surface;

use super::{form, node};
use crate::github::graphql::{Answer, Query};
use crate::github::look::Found;
use crate::page::LookPage;
use crate::trouble::Trouble;

/// Some comments by their node ids, at most 100; beside them their repository, and some siblings by id alone.
pub fn look_query(
    surface: Surface,
    scope_node_id: &str,
    ids: &[String],
    siblings: &[String],
) -> Query {
    let form = form::of(surface);
    form.look().query(&form.fields(), scope_node_id, ids, siblings)
}

/// Reads comments asked for by id; a thread that was transferred took its comments along, with their ids.
pub fn read_look(
    answer: &Answer,
    surface: Surface,
    ids: &[String],
    repository_id: i64,
    request: i64,
) -> Result<LookPage, Trouble> {
    form::of(surface).look().read(answer, ids, repository_id, request, |found| {
        let comment = node::read(surface, found)?;
        let is_here = comment.repository_id == repository_id;
        let item = Item::Comment(comment);
        Ok(if is_here { Found::Here(item) } else { Found::Elsewhere(item) })
    })
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
