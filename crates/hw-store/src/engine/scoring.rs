//! Finds the rows of the index that match, and scores them.
//!
//! Ranking every match of a word that occurs in a third of all texts takes a second. So only the newest matches are
//! ranked, up to a limit; the answer says if there are more.

use hw_rules::query::{Query, QueryTerm, TermUnion};
use hw_rules::ranking::{self, WordProfile};
use hw_rules::repository_key::RepositoryKey;

use super::cache::CachedFacts;
use super::hit::HitTarget;
use super::index_query::{BoundValue, BoundValues, IndexQuery, MatchingSql};
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow};
use crate::transaction::Transaction;

/// The number of newest matches that are ranked against each other.
pub(super) const RANKED_MATCHES: u64 = 800;

/// The number of terms that get a weight of their own; the other terms of a longer query weigh 1.
const MAX_WEIGHTED_TERMS: usize = 6;

/// A matching row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) rowid: i64,
    pub(super) score: f64,
    /// The thread that the row belongs to.
    pub(super) thread: ThreadKey,
}

/// Identifies a thread by its repository and number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadKey {
    pub(super) repository: RepositoryKey,
    pub(super) number: i64,
}

/// Identifies a match: a thread, however many of its comments match, or a single comment.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchKey {
    Thread(ThreadKey),
    Comment(i64),
}

impl MatchKey {
    pub(super) fn new(candidate: &Candidate, target: HitTarget) -> Self {
        match target {
            HitTarget::Thread => Self::Thread(candidate.thread.clone()),
            HitTarget::Comment => Self::Comment(candidate.rowid),
        }
    }
}

/// Counts matches, up to a limit.
fn count_matches(
    tx: &mut Transaction<'_>,
    query: &IndexQuery,
    limit: u64,
) -> Result<u64, StoreError> {
    let MatchingSql { text: matching, mut values } = query.matching_sql();
    let limit = limit_clause(&mut values, limit);
    let text =
        format!("select count(*) as matching from (select 1 {matching} {limit}) as matching");
    tx.query_count(Sql::portable(&text), &values.to_params())
}

/// Reads the newest matching rows, with their scores.
pub(super) fn newest_candidates(
    tx: &mut Transaction<'_>,
    query: &IndexQuery,
    limit: u64,
    weights: &ScoreWeights<'_>,
) -> Result<Vec<Candidate>, StoreError> {
    let MatchingSql { text: matching, mut values } = query.matching_sql();
    let text = format!(
        "select {rowid} as rowid, documents.host, documents.repository_id, documents.thread_number,
                documents.token_count, {words} as profile
         {matching} order by {rowid} desc {limit_clause}",
        rowid = query.rowid_column(),
        words = if query.has_words() { "documents.profile" } else { "null" },
        limit_clause = limit_clause(&mut values, limit),
    );
    let candidates = tx.query_readable(Sql::portable(&text), &values.to_params(), |mut row| {
        let (rowid, thread) = (row.int("rowid")?, read_thread_key(&mut row)?);
        let length = u32::try_from(row.int("token_count")?).unwrap_or(u32::MAX);
        let profile = row.maybe_bytes("profile")?.map(|words| WordProfile { length, words });
        let score = profile.map_or(0.0, |profile| weights.score_profile(&profile));
        Ok(Candidate { rowid, score, thread })
    })?;
    Ok(candidates.rows)
}

/// Reads all matches, without ranking them.
pub(super) fn all_matches(
    tx: &mut Transaction<'_>,
    query: &IndexQuery,
    target: HitTarget,
) -> Result<Vec<Candidate>, StoreError> {
    let MatchingSql { text: matching, values } = query.matching_sql();
    let rowid = match target {
        HitTarget::Thread => "0",
        HitTarget::Comment => query.rowid_column(),
    };
    let text = format!(
        "select distinct {rowid} as rowid, documents.host, documents.repository_id, documents.thread_number {matching}"
    );
    let candidates = tx.query_readable(Sql::portable(&text), &values.to_params(), |mut row| {
        Ok(Candidate { rowid: row.int("rowid")?, score: 0.0, thread: read_thread_key(&mut row)? })
    })?;
    Ok(candidates.rows)
}

/// Reads the thread that a row belongs to.
fn read_thread_key(row: &mut SqlRow) -> Result<ThreadKey, StoreError> {
    let repository = RepositoryKey::new(row.text("host")?, row.int("repository_id")?);
    Ok(ThreadKey { repository, number: row.int("thread_number")? })
}

/// Binds the limit as a value, so that the statement is the same for every limit.
fn limit_clause(values: &mut BoundValues<'_>, limit: u64) -> String {
    let limit = BoundValue::Int(i64::try_from(limit).unwrap_or(i64::MAX));
    format!("limit {}", values.bind(limit))
}

/// The weights that rows are scored with.
pub(super) struct ScoreWeights<'a> {
    terms: Vec<(f64, &'a QueryTerm)>,
    unions: &'a [TermUnion],
    average_length: f64,
}

/// Returns the weight of terms whose texts are not counted: it assumes that one text in ten contains them.
fn default_idf() -> f64 {
    ranking::idf(10, 1)
}

impl<'a> ScoreWeights<'a> {
    /// Weighs each term by how few of the newest texts contain it. A single term needs no weight.
    pub(super) fn new(
        tx: &mut Transaction<'_>,
        query: &'a Query,
        facts: &CachedFacts,
    ) -> Result<Self, StoreError> {
        let recent = &facts.recent;
        let mut terms = Vec::new();
        for (index, term) in query.terms.iter().enumerate() {
            let is_single = query.terms.len() == 1 && query.unions.is_empty();
            let weight = if is_single || index >= MAX_WEIGHTED_TERMS {
                1.0
            } else if term.is_prefix {
                // counting the matches of a prefix takes longer than the search itself
                default_idf()
            } else {
                let term_query = IndexQuery::for_term(term, recent.first_row, tx.dialect());
                ranking::idf(recent.texts, count_matches(tx, &term_query, recent.texts)?)
            };
            terms.push((weight, term));
        }
        Ok(Self { terms, unions: &query.unions, average_length: recent.average_length })
    }

    fn score_profile(&self, profile: &WordProfile) -> f64 {
        let terms = self.terms.iter().map(|(weight, term)| (*weight, count_term(term, profile)));
        let unions = self.unions.iter().map(|union| (default_idf(), count_union(union, profile)));
        ranking::bm25_score(terms.chain(unions), profile.length, self.average_length)
    }
}

/// Returns the number of times that all tokens of a term occur.
fn count_term(term: &QueryTerm, profile: &WordProfile) -> u32 {
    term.tokens.iter().map(|token| profile.word_count(token)).min().unwrap_or(1)
}

/// Returns the count of the alternative that occurs most often.
fn count_union(union: &TermUnion, profile: &WordProfile) -> u32 {
    union
        .iter()
        .map(|terms| terms.iter().map(|term| count_term(term, profile)).min().unwrap_or(1))
        .max()
        .unwrap_or(1)
}
