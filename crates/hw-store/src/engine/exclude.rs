//! What a search leaves out: whatever also matches one of its exclusions.

use std::collections::BTreeSet;

use hw_rules::query::Query;

use super::asks::asks;
use super::rank::{self, Match};
use crate::error::Error;
use crate::tx::Tx;

/// Returns everything that the exclusions of a query leave out: `a -b` is what `a` finds, without what `a b` finds.
pub(super) fn excluded(tx: &mut Tx<'_>, query: &Query) -> Result<BTreeSet<Match>, Error> {
    let mut excluded = BTreeSet::new();
    for exclusion in &query.excluded {
        if let Some(both) = query.and(exclusion) {
            excluded.extend(matches(tx, &both)?);
        }
    }
    Ok(excluded)
}

fn matches(tx: &mut Tx<'_>, query: &Query) -> Result<Vec<Match>, Error> {
    let mut matches = Vec::new();
    for asked in asks(tx, query, false)? {
        let mut found = rank::all_matches(tx, &asked.ask, asked.for_itself)?;
        if let Some(check) = &asked.check {
            let threads = found.iter().map(|it| it.thread.clone()).collect();
            let wanted: BTreeSet<_> = check.wanted(tx, &threads)?.rows.into_iter().collect();
            found.retain(|candidate| wanted.contains(&candidate.thread));
        }
        matches.extend(found.iter().map(|candidate| Match::of(candidate, asked.for_itself)));
    }
    Ok(matches)
}
