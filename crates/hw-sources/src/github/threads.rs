//! The threads of one repository, by its id: newest first, by their ids, and as a roll for the sweep.
//!
//! A surface here is one of a repository's: its discussions, its issues, its pull requests.

mod documents;
mod first_pages;
mod look;
mod thread;

use std::collections::BTreeSet;

use hw_rules::item::Item;
use hw_rules::lane::Surface;
use hw_rules::walk::{Cursor, Entry, Page};

use super::graphql::Answer;
use super::listing;
use super::node::{self, Connection};
use crate::page::{ItemsPage, RollPage, RollRow, Subject, Unreadable};
use crate::raw_json::RawNode;
use crate::trouble::Trouble;
use thread::Brief;

pub use documents::{first_pages_query, light_query, page_query, roll_query};
pub use first_pages::{FirstPage, read_first_pages};
pub use look::{look_query, read_look};

/// Reads a page of the repository with this id, which was asked for after `after`.
pub fn read_page(
    answer: &Answer,
    surface: Surface,
    repository_id: i64,
    after: Option<&Cursor>,
    request: i64,
) -> Result<ItemsPage, Trouble> {
    let asked = Asked { root: "node", surface, repository_id, after };
    let listed = asked.rows(answer, request, |node| thread::read(surface, node))?;
    Ok(listed.into_page(answer, request, Item::Thread))
}

/// Reads a page of the roll.
pub fn read_roll(
    answer: &Answer,
    surface: Surface,
    repository_id: i64,
    after: Option<&Cursor>,
    request: i64,
) -> Result<RollPage, Trouble> {
    let asked = Asked { root: "node", surface, repository_id, after };
    let listed = asked.rows(answer, request, Brief::read)?;
    let rows = listed.rows.into_iter().map(|row| RollRow {
        id: row.node.database_id.0,
        node_id: row.node.id,
        updated_at: row.node.updated_at,
    });
    // asking again makes nothing of what cannot be
    let faults = listed.unreadable.iter().filter(|row| !row.is_impossible());
    Ok(RollPage {
        date: answer.date(),
        seen: answer.seen(request),
        unreadable: faults.count(),
        rows: without_twins(rows.collect()),
        next: listed.next,
    })
}

/// Reads a light page: its rows stand in their places, and all of them wait to be read.
pub fn read_light(
    answer: &Answer,
    surface: Surface,
    repository_id: i64,
    after: Option<&Cursor>,
    request: i64,
) -> Result<ItemsPage, Trouble> {
    let asked = Asked { root: "node", surface, repository_id, after };
    let listed = asked.rows(answer, request, Brief::read)?;
    let mut unreadable = listed.unreadable;
    let mut entries = Vec::new();
    for row in listed.rows {
        unreadable.push(Unreadable {
            subject: Subject::Node(row.node.id),
            reason: "too much for one answer".into(),
            raw: String::new(),
            updated_at: Some(row.node.updated_at.clone()),
            seen: answer.seen(request),
        });
        let (id, updated_at) = (row.node.database_id.0, row.node.updated_at);
        entries.push(Entry { id, updated_at, cursor: row.cursor });
    }
    let shape =
        Page { date: answer.date(), entries, total_count: listed.total_count, next: listed.next };
    Ok(ItemsPage { observations: vec![], shape, unreadable })
}

/// Leaves out the rows of which several have one id.
fn without_twins(mut rows: Vec<RollRow>) -> Vec<RollRow> {
    let mut seen = BTreeSet::new();
    let twins: BTreeSet<i64> =
        rows.iter().filter(|row| !seen.insert(row.id)).map(|row| row.id).collect();
    rows.retain(|row| !twins.contains(&row.id));
    rows
}

/// A listing that was asked for, and under which root of the answer it stands.
struct Asked<'a> {
    root: &'a str,
    surface: Surface,
    repository_id: i64,
    after: Option<&'a Cursor>,
}

impl Asked<'_> {
    /// Its rows, each read alone.
    fn rows<T>(
        &self,
        answer: &Answer,
        request: i64,
        read: impl Fn(RawNode<'_>) -> Result<T, String>,
    ) -> Result<Connection<T>, Trouble> {
        let repository = answer.data.root().get(self.root).unwrap_or(RawNode::NULL);
        self.is_there(answer, repository)?;
        let name = listing::of(self.surface).connection;
        let (path, listed) = (format!("{}.{name}", self.root), repository.get(name));
        let whole =
            |place: &str, node: RawNode<'_>| node::whole(answer, place).and_then(|()| read(node));
        let listed = (path.as_str(), listed.unwrap_or(RawNode::NULL));
        node::connection(answer, listed, self.after, request, whole)
            .ok_or_else(|| Trouble::Garbled(format!("no connection {path}")))
    }

    /// Whether the repository answered, and has such a listing.
    ///
    /// An answer about another repository is a rename or a reused name, never data.
    fn is_there(&self, answer: &Answer, repository: RawNode<'_>) -> Result<(), Trouble> {
        if repository.is_null() {
            return Err(node::missing(answer, self.root));
        }
        if repository.get("databaseId").and_then(RawNode::as_i64) != Some(self.repository_id) {
            return Err(Trouble::Garbled("the answer is about another repository".into()));
        }
        let says_off = |switch| repository.get(switch).and_then(RawNode::as_bool) == Some(false);
        if listing::of(self.surface).switch.is_some_and(says_off) {
            let name = self.surface.name();
            return Err(Trouble::Hidden(format!("the repository's {name} are switched off")));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
