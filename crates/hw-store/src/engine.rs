//! The one search engine of all faces.

mod hit;

use crate::error::Error;
use crate::search::{NAME_BYTES, words};
use crate::sql::{Sql, params};
use crate::tx::Tx;
use crate::views::behind::Behind;
use crate::workspace::Workspace;

pub use hit::{Hit, Said};

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub query: String,
    pub limit: u64,
    /// Whether the last word is still being typed: then it may go on.
    pub unfinished: bool,
}

impl Search {
    /// The ten best.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), limit: 10, unfinished: false }
    }
}

/// What was found, best first, and what is to be said about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub matches: Matches,
    pub ranked: Ranked,
    pub behind: Behind,
}

/// How many texts match. A thread and each of its comments are texts of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    Exactly(u64),
    MoreThan(u64),
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
    /// There were too many: only so many of them, the newest.
    Newest(u64),
}

/// Searches a workspace. Clones share what it remembers.
#[derive(Clone)]
pub struct SearchEngine {
    workspace: Workspace,
}

impl SearchEngine {
    pub fn over(workspace: Workspace) -> Self {
        Self { workspace }
    }

    /// Finds what a query asks for. Any text is a query; an empty one finds nothing.
    pub fn search(&self, search: &Search) -> Result<Found, Error> {
        const SEARCH: Sql = Sql::each(
            "select rowid from search where search match $1 order by rowid desc limit $2",
            "select rowid from search where words @@ cast($1::text as tsquery)
              order by rowid desc limit $2",
        );
        let store = self.workspace.store()?;
        let behind = store.behind(&hw_rules::lane::Surface::THREADS, None)?;
        let tokens = words::of(&search.query, NAME_BYTES);
        if tokens.is_empty() {
            return Ok(Found { behind, ..Found::default() });
        }
        let limit = i64::try_from(search.limit).unwrap_or(i64::MAX);
        let hits = store.read("search", |tx: &mut Tx<'_>| {
            let all = words::all(&tokens, tx.dialect());
            let rowids = tx.query(SEARCH, &params![&all, limit], |mut row| row.int(0))?;
            let hits = rowids.into_iter().map(|rowid| hit::of(tx, rowid));
            hits.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        })?;
        let matches = Matches::Exactly(hits.len() as u64);
        Ok(Found { hits, matches, ranked: Ranked::All, behind })
    }
}
