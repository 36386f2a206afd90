//! What a search leaves out.

use super::Term;
use super::filters::Filters;

/// A thread is left out when it matches the query with one of these added to it: `a -b` is `a` without `a b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusion {
    /// All of these, in one text.
    Words(Vec<Term>),
    /// One filter.
    Filter(Filters),
}
