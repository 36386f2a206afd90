//! The one search engine of all faces.
//!
//! A query goes through tiers until there are enough hits: what has its words literally (`foo-bar`), what has
//! its words, and what has a word that begins with its last one. A match in a comment counts for its thread.

mod ask;
mod asks;
mod exclude;
mod gather;
mod hit;
mod memory;
mod rank;
mod reading;

use hw_rules::query::Query;

use crate::error::Error;
use crate::views::behind::Behind;
use crate::views::skipped::SkippedRows;
use crate::workspace::Workspace;
use gather::Gather;
use memory::Memory;

pub use hit::{Hit, Said};

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub query: String,
    pub limit: u64,
}

impl Search {
    /// The ten best.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), limit: 10 }
    }
}

/// What was found, best first, and what is to be said about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub matches: Matches,
    pub ranked: Ranked,
    pub behind: Behind,
    /// What looked like a filter and was taken for words, or names what is not held: a sentence each.
    pub misread: Vec<String>,
    /// Matches that could not be read; `behind` says so, too.
    pub skipped: SkippedRows,
}

impl Found {
    /// Explains a count that says "at least"; none where it is exact.
    pub fn count_note(&self) -> Option<&'static str> {
        match (self.matches, self.ranked) {
            (Matches::Exactly(_), _) => None,
            (Matches::AtLeast(_), Ranked::Newest) => {
                Some("only the newest were counted and ranked")
            }
            (Matches::AtLeast(_), Ranked::All) => {
                Some("looser matches, such as longer words, were not counted")
            }
        }
    }
}

/// How many threads match; where comments are asked for, comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    Exactly(u64),
    /// Not all of them were looked at.
    AtLeast(u64),
}

impl Default for Matches {
    fn default() -> Self {
        Self::Exactly(0)
    }
}

/// Which of the matches were compared with each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ranked {
    #[default]
    All,
    /// There were too many: only the newest of them.
    Newest,
}

/// Searches a workspace. Clones share what it remembers.
#[derive(Clone)]
pub struct SearchEngine {
    workspace: Workspace,
    memory: Memory,
}

impl SearchEngine {
    pub fn over(workspace: Workspace) -> Self {
        Self { workspace, memory: Memory::default() }
    }

    /// Finds what a query asks for. Any text is a query; an empty one finds nothing.
    pub fn search(&self, search: &Search) -> Result<Found, Error> {
        let store = self.workspace.store()?;
        let remembered = self.memory.of(&store)?;
        let query = Query::parse(&search.query);
        if query.is_empty() || query.filters.is_impossible() || search.limit == 0 {
            let behind = remembered.behind(&query.filters).clone();
            return Ok(Found { behind, misread: query.misread, ..Found::default() });
        }
        store.read("search", |tx| {
            let excluded = exclude::excluded(tx, &query)?;
            let mut gather = Gather::new(search.limit, &remembered, excluded);
            gather.named(tx, &query, &search.query)?;
            if !query.literals.is_empty() && !gather.is_full() {
                gather.tier(tx, &query, true)?;
            }
            if gather.is_full() {
                gather.leave_the_rest();
            } else {
                gather.tier(tx, &query, false)?;
            }
            if let Some(unfinished) = query.unfinished() {
                // what begins so is costly to find, and nobody would see it
                if gather.is_full() {
                    gather.leave_the_rest();
                } else {
                    gather.tier(tx, &unfinished, false)?;
                }
            }
            let mut found = gather.found(&query);
            found.misread.extend(asks::unheld(tx, &query.filters)?);
            Ok(found)
        })
    }
}
