//! Reads the matches of one search pass in batches, newest first.

use super::index_query::IndexQuery;
use super::passes::SearchPass;
use super::scoring::{self, Candidate, ScoreWeights};
use crate::error::StoreError;
use crate::transaction::Transaction;

/// The size of the first batch if the threads of comments have to be checked.
const FIRST_CHECKED_BATCH: u64 = 500;
/// The largest batch, even if more hits are requested.
const MAX_RANKED: u64 = 10_000;

pub(super) struct CandidateReader<'a> {
    pub(super) pass: &'a SearchPass,
    /// The matches that are left to read; `None` after the last one.
    remaining: Option<IndexQuery>,
    /// The number of matches that are ranked against each other.
    batch_size: u64,
}

impl<'a> CandidateReader<'a> {
    /// Ranks more matches only if more hits are requested.
    pub(super) fn new(pass: &'a SearchPass, limit: u64) -> Self {
        let batch_size = match pass.thread_check {
            Some(_) => FIRST_CHECKED_BATCH,
            None => limit.clamp(scoring::RANKED_MATCHES, MAX_RANKED),
        };
        let remaining = Some(pass.index_query.clone());
        Self { pass, remaining, batch_size }
    }

    /// Reads the next matches with their scores. Batches grow, because the previous one had too few new hits.
    pub(super) fn next_batch(
        &mut self,
        tx: &mut Transaction<'_>,
        weights: &ScoreWeights<'_>,
    ) -> Result<Vec<Candidate>, StoreError> {
        let Some(remaining) = self.remaining.as_ref() else { return Ok(Vec::new()) };
        let mut found = scoring::newest_candidates(tx, remaining, self.batch_size + 1, weights)?;
        let is_truncated = found.len() as u64 > self.batch_size;
        found.truncate(usize::try_from(self.batch_size).unwrap_or(usize::MAX));
        self.remaining =
            found.last().filter(|_| is_truncated).map(|last| remaining.older_than(last.rowid));
        self.batch_size = (self.batch_size * 4).min(MAX_RANKED);
        Ok(found)
    }

    /// Returns true if there are unread matches.
    pub(super) fn has_more(&self) -> bool {
        self.remaining.is_some()
    }
}
