//! The search engine behind every interface.
//!
//! A query runs in tiers until there are enough hits: texts that contain its words literally (`foo-bar`), texts that
//! contain its words, and texts with a word that starts with its last word. A match in a comment counts for its
//! thread.

mod cache;
mod candidates;
mod collector;
mod exclusions;
mod hit;
mod index_query;
mod passes;
mod scoring;

use hw_rules::query::Query;

use crate::error::StoreError;
use crate::views::completeness::Completeness;
use crate::views::pending_chores::PendingChores;
use crate::views::skipped_rows::SkippedRows;
use crate::workspace::Workspace;
use cache::EngineCache;
use collector::HitCollector;
use index_query::QueryTier;

pub use hit::{Hit, MatchedComment};

/// A query and the number of hits to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    pub query: String,
    pub limit: u64,
}

impl SearchRequest {
    /// Requests the ten best hits.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), limit: 10 }
    }
}

/// The hits of a search, in their order, and notes about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchResults {
    pub hits: Vec<Hit>,
    pub matches: MatchCount,
    pub ranked_matches: RankedMatches,
    pub order: HitOrder,
    pub completeness: Completeness,
    /// One sentence for each part of the query that looks like a filter but was searched as text, and for each filter
    /// that names an unknown repository.
    pub misread: Vec<String>,
    /// Matches that could not be read; `completeness` reports them, too.
    pub skipped: SkippedRows,
}

impl SearchResults {
    /// Explains why a count is a lower bound; `None` if it is exact.
    pub fn count_note(&self) -> Option<&'static str> {
        match (self.matches, self.ranked_matches, self.order) {
            (MatchCount::Exactly(_), _, _) => None,
            (MatchCount::AtLeast(_), _, HitOrder::NewestFirst) => {
                Some("only the newest were counted")
            }
            (MatchCount::AtLeast(_), RankedMatches::Newest, HitOrder::BestFirst) => {
                Some("only the newest were counted and ranked")
            }
            (MatchCount::AtLeast(_), RankedMatches::All, HitOrder::BestFirst) => {
                Some("looser matches, such as longer words, were not counted")
            }
        }
    }
}

/// The number of matching threads, or of matching comments if the query asks for comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchCount {
    Exactly(u64),
    /// Some matches were not examined.
    AtLeast(u64),
}

impl Default for MatchCount {
    fn default() -> Self {
        Self::Exactly(0)
    }
}

/// The order of the hits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HitOrder {
    #[default]
    BestFirst,
    /// Filters alone give nothing to rank by, so the most recently updated texts come first.
    NewestFirst,
}

/// The matches that were ranked against each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RankedMatches {
    #[default]
    All,
    /// There were too many, so only the newest were ranked.
    Newest,
}

/// Searches a workspace. Clones share a cache.
#[derive(Clone)]
pub struct SearchEngine {
    workspace: Workspace,
    cache: EngineCache,
}

impl SearchEngine {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace, cache: EngineCache::default() }
    }

    /// Runs a search. Any text is a valid query; an empty one finds nothing.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResults, StoreError> {
        let store = self.workspace.open_store()?;
        let facts = self.cache.load(&store)?;
        let query = Query::parse(&request.query);
        if query.is_empty() || query.filters.is_impossible() || request.limit == 0 {
            return Ok(SearchResults {
                completeness: facts.completeness_for(&query.filters).clone(),
                misread: query.notes,
                ..SearchResults::default()
            });
        }
        store.read("search", |tx| {
            let excluded = exclusions::find_excluded(tx, &query)?;
            let pending = PendingChores::read(tx)?;
            let mut collector = HitCollector::new(request.limit, &facts, excluded, pending);
            collector.add_named_thread(tx, &query, &request.query)?;
            if !query.literals.is_empty() && !collector.is_full() {
                collector.add_tier(tx, &query, QueryTier::Literal)?;
            }
            if collector.is_full() {
                collector.leave_uncounted();
            } else {
                collector.add_tier(tx, &query, QueryTier::Words)?;
            }
            if let Some(prefix_query) = query.with_last_word_as_prefix() {
                // matching prefixes is expensive, and a full page has no space for more hits
                if collector.is_full() {
                    collector.leave_uncounted();
                } else {
                    collector.add_tier(tx, &prefix_query, QueryTier::Words)?;
                }
            }
            let mut results = collector.into_results(&query);
            results.misread.extend(passes::unknown_repositories(tx, &query.filters)?);
            Ok(results)
        })
    }
}
