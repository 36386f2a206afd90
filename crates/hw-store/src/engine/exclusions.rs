//! Finds the matches that a query excludes.

use std::collections::BTreeSet;

use hw_rules::query::Query;

use super::index_query::QueryTier;
use super::passes::search_passes;
use super::scoring::{self, MatchKey};
use crate::error::StoreError;
use crate::transaction::Transaction;

/// Returns the matches that the exclusions of a query remove: `a -b` finds the matches of `a` without those of `a b`.
pub(super) fn find_excluded(
    tx: &mut Transaction<'_>,
    query: &Query,
) -> Result<BTreeSet<MatchKey>, StoreError> {
    let mut excluded = BTreeSet::new();
    for exclusion in &query.exclusions {
        if let Some(both) = query.narrow_to_exclusion(exclusion) {
            excluded.extend(query_matches(tx, &both)?);
        }
    }
    Ok(excluded)
}

fn query_matches(tx: &mut Transaction<'_>, query: &Query) -> Result<Vec<MatchKey>, StoreError> {
    let mut matches = Vec::new();
    for pass in search_passes(tx, query, QueryTier::Words)? {
        let mut found = scoring::all_matches(tx, &pass.index_query, pass.target)?;
        if let Some(check) = &pass.thread_check {
            let threads = found.iter().map(|candidate| candidate.thread.clone()).collect();
            let matching: BTreeSet<_> =
                check.matching_threads(tx, &threads)?.rows.into_iter().collect();
            found.retain(|candidate| matching.contains(&candidate.thread));
        }
        matches.extend(found.iter().map(|candidate| MatchKey::new(candidate, pass.target)));
    }
    Ok(matches)
}
