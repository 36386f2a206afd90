//! Defines the exclusions of a search.

use super::QueryTerm;
use super::filters::QueryFilters;

/// A part of a query that excludes threads: `a -b` finds the threads of `a` without those of `a b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryExclusion {
    /// Excludes threads with a text that matches all of these terms.
    Words(Vec<QueryTerm>),
    /// Excludes threads that match this one filter.
    Filter(QueryFilters),
}
