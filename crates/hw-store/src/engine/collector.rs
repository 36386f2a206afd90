//! Collects hits tier by tier, each thread once.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::ObjectId;
use hw_rules::query::Query;
use hw_rules::thread_address::ThreadAddress;

use super::cache::CachedFacts;
use super::candidates::CandidateReader;
use super::hit::{self, HitTarget, MatchedItem};
use super::index_query::QueryTier;
use super::passes::{SearchPass, search_passes};
use super::scoring::{Candidate, MatchKey, ScoreWeights, ThreadKey};
use super::{Hit, HitOrder, MatchCount, RankedMatches, SearchResults};
use crate::error::StoreError;
use crate::transaction::Transaction;
use crate::views::pending_chores::PendingChores;
use crate::views::skipped_rows::SkippedRows;
use crate::views::thread_view;

/// The number of candidates that are looked up together.
const LOOKUP_BATCH: usize = 32;

pub(super) struct HitCollector<'a> {
    limit: u64,
    facts: &'a CachedFacts,
    hits: Vec<Hit>,
    seen_keys: BTreeSet<(String, ObjectId)>,
    /// The threads among the hits, whose comments need no lookup.
    hit_threads: BTreeSet<ThreadKey>,
    /// The matches that the query excludes.
    excluded: BTreeSet<MatchKey>,
    pending: PendingChores,
    matches: MatchCount,
    ranked_matches: RankedMatches,
    skipped: SkippedRows,
}

/// A candidate, and the index of the reader it comes from.
struct ScoredCandidate {
    candidate: Candidate,
    reader_index: usize,
}

impl<'a> HitCollector<'a> {
    pub(super) fn new(
        limit: u64,
        facts: &'a CachedFacts,
        excluded: BTreeSet<MatchKey>,
        pending: PendingChores,
    ) -> Self {
        Self {
            limit,
            excluded,
            pending,
            facts,
            hits: Vec::new(),
            seen_keys: BTreeSet::new(),
            hit_threads: BTreeSet::new(),
            matches: MatchCount::default(),
            ranked_matches: RankedMatches::All,
            skipped: SkippedRows::default(),
        }
    }

    pub(super) fn into_results(self, query: &Query) -> SearchResults {
        let Self { hits, matches, ranked_matches, facts, skipped, .. } = self;
        // a thread that the query names may contain none of the words
        let matches = matches.raise_to(hits.len() as u64);
        let mut completeness = facts.completeness_for(&query.filters).clone();
        completeness.missing.extend(skipped.to_missing());
        SearchResults {
            hits,
            matches,
            ranked_matches,
            order: if query.has_words() { HitOrder::BestFirst } else { HitOrder::NewestFirst },
            completeness,
            misread: query.notes.clone(),
            skipped,
        }
    }

    /// Adds the thread that the query names, if the whole query is the address of a thread.
    pub(super) fn add_named_thread(
        &mut self,
        tx: &mut Transaction<'_>,
        query: &Query,
        text: &str,
    ) -> Result<(), StoreError> {
        let Ok(address) = ThreadAddress::parse(text) else { return Ok(()) };
        let named = self.skipped.skip_unreadable(thread_view::find_thread_at(tx, &address))?;
        if let Some(found) = named.flatten() {
            let (repository, number) = (found.row.repository_key(), found.row.thread.number);
            let thread = ThreadKey { repository, number };
            self.add_hit(tx, &thread, MatchedItem::from_thread(found), HitTarget::Thread, query)?;
        }
        Ok(())
    }

    /// Adds the matches of one tier. Each tier matches more than the one before.
    pub(super) fn add_tier(
        &mut self,
        tx: &mut Transaction<'_>,
        query: &Query,
        tier: QueryTier,
    ) -> Result<(), StoreError> {
        let passes = search_passes(tx, query, tier)?;
        let weights = ScoreWeights::new(tx, query, self.facts)?;
        let mut tier = TierState::new(&passes, self.limit);
        // many of the newest matches may be comments of few threads: then older ones are read, too
        while !self.is_full() && tier.has_more() {
            let mut candidates = tier.next_candidates(tx, &weights)?;
            self.sort_by_score(&mut candidates);
            self.add_candidates(tx, query, &candidates, &mut tier)?;
        }
        self.matches = tier.match_count();
        // without words the newest come first anyway
        if tier.has_more() && query.has_words() {
            self.ranked_matches = RankedMatches::Newest;
        }
        Ok(())
    }

    /// Marks the count as a lower bound, because a wider tier is skipped.
    pub(super) fn leave_uncounted(&mut self) {
        let (MatchCount::Exactly(count) | MatchCount::AtLeast(count)) = self.matches;
        self.matches = MatchCount::AtLeast(count);
    }

    pub(super) fn is_full(&self) -> bool {
        self.hits.len() as u64 >= self.limit
    }

    /// Sorts the best first, and the newest of equals.
    fn sort_by_score(&self, scored: &mut [ScoredCandidate]) {
        for ScoredCandidate { candidate, .. } in scored.iter_mut() {
            candidate.score *= self.facts.thread_boost(&candidate.thread);
        }
        scored.sort_by(|a, b| {
            let (a, b) = (&a.candidate, &b.candidate);
            b.score.total_cmp(&a.score).then(b.rowid.cmp(&a.rowid))
        });
    }

    fn add_candidates(
        &mut self,
        tx: &mut Transaction<'_>,
        query: &Query,
        scored: &[ScoredCandidate],
        tier: &mut TierState<'_>,
    ) -> Result<(), StoreError> {
        for batch in scored.chunks(LOOKUP_BATCH) {
            if !self.is_full() {
                let skipped = tier.check_threads(tx, batch)?;
                self.skipped.add(skipped);
            }
            let rowids: Vec<i64> = batch.iter().map(|scored| scored.candidate.rowid).collect();
            let keys =
                if self.is_full() { BTreeMap::new() } else { hit::read_item_keys(tx, &rowids)? };
            for ScoredCandidate { candidate, reader_index } in batch {
                let pass = tier.readers[*reader_index].pass;
                let is_excluded = self.excluded.contains(&MatchKey::new(candidate, pass.target))
                    || self.pending.is_hidden(&candidate.thread.repository);
                if is_excluded || !tier.accept_candidate(candidate, pass) || self.is_full() {
                    continue;
                }
                if let Some(key) = keys.get(&candidate.rowid).copied()
                    && !self.has_thread_hit(candidate, key, pass.target)
                {
                    let item = hit::look_up_match(tx, candidate, key);
                    let added = item.and_then(|item| {
                        self.add_hit(tx, &candidate.thread, item, pass.target, query)
                    });
                    self.skipped.skip_unreadable(added)?;
                }
            }
        }
        Ok(())
    }

    /// Returns true for a comment whose thread is already among the hits.
    fn has_thread_hit(&self, candidate: &Candidate, key: ObjectId, target: HitTarget) -> bool {
        key.kind.is_comment()
            && target == HitTarget::Thread
            && self.hit_threads.contains(&candidate.thread)
    }

    /// Adds the hit of an item unless it is there already. `query` is that of the tier, so that the words are
    /// highlighted as they matched: also by prefix.
    fn add_hit(
        &mut self,
        tx: &mut Transaction<'_>,
        thread: &ThreadKey,
        item: MatchedItem,
        target: HitTarget,
        query: &Query,
    ) -> Result<(), StoreError> {
        if item.has_thread() && target == HitTarget::Thread {
            self.hit_threads.insert(thread.clone());
        }
        if self.seen_keys.insert((item.host.clone(), item.hit_key(target))) {
            let mut hit = hit::build_hit(tx, item, target, query)?;
            if let Some(name) = self.pending.new_name(&thread.repository) {
                hit.iter_mut().for_each(|hit| hit.move_to(name));
            }
            self.hits.extend(hit);
        }
        Ok(())
    }
}

/// The progress of one tier.
struct TierState<'a> {
    readers: Vec<CandidateReader<'a>>,
    matches: BTreeSet<MatchKey>,
    /// The checked threads of comments; true for those that pass their check.
    checked: BTreeMap<ThreadKey, bool>,
    /// True if a candidate was left unchecked, so that the number of matches is not known.
    has_unchecked: bool,
}

impl<'a> TierState<'a> {
    fn new(passes: &'a [SearchPass], limit: u64) -> Self {
        Self {
            readers: passes.iter().map(|pass| CandidateReader::new(pass, limit)).collect(),
            matches: BTreeSet::new(),
            checked: BTreeMap::new(),
            has_unchecked: false,
        }
    }

    fn has_more(&self) -> bool {
        self.readers.iter().any(CandidateReader::has_more)
    }

    fn match_count(&self) -> MatchCount {
        let count = self.matches.len() as u64;
        if self.has_more() || self.has_unchecked {
            MatchCount::AtLeast(count)
        } else {
            MatchCount::Exactly(count)
        }
    }

    /// Reads the next batch of every reader.
    fn next_candidates(
        &mut self,
        tx: &mut Transaction<'_>,
        weights: &ScoreWeights<'_>,
    ) -> Result<Vec<ScoredCandidate>, StoreError> {
        let mut scored = Vec::new();
        for (reader_index, reader) in self.readers.iter_mut().enumerate() {
            let batch = reader.next_batch(tx, weights)?.into_iter();
            scored.extend(batch.map(|candidate| ScoredCandidate { candidate, reader_index }));
        }
        Ok(scored)
    }

    /// Checks the threads of comments, for passes with a filter on them.
    fn check_threads(
        &mut self,
        tx: &mut Transaction<'_>,
        batch: &[ScoredCandidate],
    ) -> Result<SkippedRows, StoreError> {
        let mut skipped = SkippedRows::default();
        for (index, reader) in self.readers.iter().enumerate() {
            let Some(check) = &reader.pass.thread_check else { continue };
            let threads: BTreeSet<ThreadKey> = batch
                .iter()
                .filter(|scored| scored.reader_index == index)
                .map(|scored| scored.candidate.thread.clone())
                .filter(|thread| !self.checked.contains_key(thread))
                .collect();
            let matching = check.matching_threads(tx, &threads)?;
            skipped.add(matching.skipped);
            self.checked.extend(threads.into_iter().map(|thread| (thread, false)));
            self.checked.extend(matching.rows.into_iter().map(|thread| (thread, true)));
        }
        Ok(skipped)
    }

    /// Records a candidate as a match unless its thread fails the check. Threads are checked only while hits are
    /// missing, so a later candidate may stay unchecked.
    fn accept_candidate(&mut self, candidate: &Candidate, pass: &SearchPass) -> bool {
        if pass.thread_check.is_some() {
            let checked = self.checked.get(&candidate.thread).copied();
            self.has_unchecked |= checked.is_none();
            if !checked.unwrap_or_default() {
                return false;
            }
        }
        self.matches.insert(MatchKey::new(candidate, pass.target));
        true
    }
}

impl MatchCount {
    fn raise_to(self, least: u64) -> Self {
        match self {
            Self::Exactly(count) => Self::Exactly(count.max(least)),
            Self::AtLeast(count) => Self::AtLeast(count.max(least)),
        }
    }
}
