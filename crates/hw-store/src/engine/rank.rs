//! Which rows of the index match, and how well.
//!
//! To rank every match of a word that is in a third of all texts takes a second. So the newest matches are
//! ranked, up to a cap; where there are more, the answer says so.

use hw_rules::query::{Query, Term, Union};
use hw_rules::ranking::{self, Profile};

use super::ask::{Ask, Given};
use super::memory::Remembered;
use crate::error::Error;
use crate::sql::{Param, Row, Sql};
use crate::tx::Tx;

/// How many matches are ranked against each other: the newest.
pub(super) const CAP: u64 = 800;

/// How many terms are weighed against each other; the rest of a longer query counts alike.
const WEIGHED: usize = 6;

/// A row that matches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) rowid: i64,
    pub(super) score: f64,
    /// The thread it counts for.
    pub(super) thread: ThreadPlace,
}

/// A thread by its host, its repository and its number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadPlace {
    pub(super) host: String,
    pub(super) repository_id: i64,
    pub(super) number: i64,
}

/// What matches: a thread, however often it is said there, or a comment for itself.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    Thread(ThreadPlace),
    Comment(i64),
}

impl Match {
    pub(super) fn of(candidate: &Candidate, for_itself: bool) -> Self {
        if for_itself {
            Self::Comment(candidate.rowid)
        } else {
            Self::Thread(candidate.thread.clone())
        }
    }
}

fn count_up_to(tx: &mut Tx<'_>, ask: &Ask, most: u64) -> Result<u64, Error> {
    let (matching, mut given) = ask.matching();
    let limit = limit(&mut given, most);
    let text = format!("select count(*) from (select 1 {matching} {limit}) as matching");
    tx.count(Sql::both(&text), &params(&given))
}

/// The newest rows that match, with their scores.
pub(super) fn candidates(
    tx: &mut Tx<'_>,
    ask: &Ask,
    most: u64,
    scale: &Scale<'_>,
) -> Result<Vec<Candidate>, Error> {
    let (matching, mut given) = ask.matching();
    let text = format!(
        "select {rowid}, places.host, places.repository_id, places.thread, places.length, {words}
         {matching} order by {rowid} desc {limit}",
        rowid = ask.rowid(),
        words = if ask.has_words() { "places.words" } else { "null" },
        limit = limit(&mut given, most),
    );
    let read = |mut row: Row| {
        let rowid = row.int(0)?;
        let thread =
            ThreadPlace { host: row.text(1)?, repository_id: row.int(2)?, number: row.int(3)? };
        let length = u32::try_from(row.int(4)?).unwrap_or(u32::MAX);
        let profile = row.maybe_bytes(5)?.map(|words| Profile { length, words });
        let score = profile.map_or(0.0, |profile| scale.score(&profile));
        Ok(Candidate { rowid, score, thread })
    };
    Ok(tx.query_readable(Sql::both(&text), &params(&given), read)?.rows)
}

/// Every match of an ask, however many there are; nothing is ranked.
pub(super) fn all_matches(
    tx: &mut Tx<'_>,
    ask: &Ask,
    for_itself: bool,
) -> Result<Vec<Candidate>, Error> {
    let (matching, given) = ask.matching();
    let rowid = if for_itself { ask.rowid() } else { "0" };
    let text = format!(
        "select distinct {rowid}, places.host, places.repository_id, places.thread {matching}"
    );
    let read = |mut row: Row| {
        let rowid = row.int(0)?;
        let thread =
            ThreadPlace { host: row.text(1)?, repository_id: row.int(2)?, number: row.int(3)? };
        Ok(Candidate { rowid, score: 0.0, thread })
    };
    Ok(tx.query_readable(Sql::both(&text), &params(&given), read)?.rows)
}

/// A limit is a value, too: the statement stays the same.
fn limit(given: &mut Vec<Given<'_>>, most: u64) -> String {
    given.push(Given::Int(i64::try_from(most).unwrap_or(i64::MAX)));
    format!("limit ${}", given.len())
}

/// What a row is weighed with.
pub(super) struct Scale<'a> {
    terms: Vec<(f64, &'a Term)>,
    unions: &'a [Union],
    average_length: f64,
}

/// How telling what nobody counts is taken to be: one text in ten has it.
fn uncounted() -> f64 {
    ranking::telling(10, 1)
}

impl<'a> Scale<'a> {
    /// How telling each term is, by how many of the newest texts have it. One term alone needs no weight.
    pub(super) fn new(
        tx: &mut Tx<'_>,
        query: &'a Query,
        remembered: &Remembered,
    ) -> Result<Self, Error> {
        let recent = &remembered.recent;
        let mut terms = Vec::new();
        for (place, term) in query.terms.iter().enumerate() {
            let is_alone = query.terms.len() == 1 && query.unions.is_empty();
            let weight = if is_alone || WEIGHED <= place {
                1.0
            } else if term.is_prefix {
                // to count what begins so takes longer than the search itself
                uncounted()
            } else {
                let ask = Ask::for_term(term, recent.first_row, tx.dialect());
                ranking::telling(recent.texts, count_up_to(tx, &ask, recent.texts)?)
            };
            terms.push((weight, term));
        }
        Ok(Self { terms, unions: &query.unions, average_length: recent.average_length })
    }

    fn score(&self, profile: &Profile) -> f64 {
        let times =
            |term: &Term| term.tokens.iter().map(|token| profile.count(token)).min().unwrap_or(1);
        let terms = self.terms.iter().map(|(telling, term)| (*telling, times(term)));
        // a text is as good as the best alternative that it has
        let all = |terms: &Vec<Term>| terms.iter().map(times).min().unwrap_or(1);
        let unions = self.unions.iter().map(|union| union.iter().map(all).max().unwrap_or(1));
        let terms = terms.chain(unions.map(|times| (uncounted(), times)));
        ranking::score(terms, profile.length, self.average_length)
    }
}

fn params<'a>(given: &'a [Given<'a>]) -> Vec<Param<'a>> {
    given.iter().map(Given::param).collect()
}
