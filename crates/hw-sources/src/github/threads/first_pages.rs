//! The first pages of many small listings in one answer: one that fails spoils nothing but itself.

use hw_rules::item::Item;
use hw_rules::lane::Surface;

use super::{Asked, thread};
use crate::github::graphql::Answer;
use crate::page::ItemsPage;
use crate::trouble::Trouble;

/// A first page that shares a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstPage {
    pub surface: Surface,
    pub repository_id: i64,
    pub node_id: String,
    /// How many rows of it, 1 to 100.
    pub rows: u32,
}

/// Reads them in the order in which they were asked for.
pub fn read_first_pages(
    answer: &Answer,
    pages: &[FirstPage],
    request: i64,
) -> Vec<Result<ItemsPage, Trouble>> {
    let read = |(n, page): (usize, &FirstPage)| {
        let FirstPage { surface, repository_id, .. } = *page;
        let asked = Asked { root: &format!("p{n}"), surface, repository_id, after: None };
        let listed = asked.rows(answer, request, |node| thread::read(surface, node))?;
        Ok(listed.into_page(answer, request, Item::Thread))
    };
    pages.iter().enumerate().map(read).collect()
}

#[cfg(test)]
#[path = "first_pages_tests.rs"]
mod tests;
