//! Which rows of the index match, and how well.
//!
//! To rank every match of a word that is in a third of all texts takes a second. So the newest matches are
//! ranked, up to a cap; where there are more, the answer says so.

use hw_rules::query::{Query, Term};
use hw_rules::ranking::{self, Profile};

use super::Matches;
use super::ask::{Ask, Given};
use super::memory::Remembered;
use crate::error::Error;
use crate::sql::{Param, Sql};
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
    pub(super) host: String,
    pub(super) repository_id: i64,
    /// The number of the thread it counts for.
    pub(super) thread: i64,
}

/// The best that one ask gave.
pub(super) struct Candidates {
    pub(super) rows: Vec<Candidate>,
    pub(super) matches: Matches,
    /// Whether there are more, and only the newest are here.
    pub(super) is_cut: bool,
}

/// How many rows match, up to the cap.
pub(super) fn count(tx: &mut Tx<'_>, ask: &Ask) -> Result<Matches, Error> {
    Ok(matches(count_up_to(tx, ask, CAP + 1)?))
}

fn matches(count: u64) -> Matches {
    if count <= CAP { Matches::Exactly(count) } else { Matches::MoreThan(CAP) }
}

fn count_up_to(tx: &mut Tx<'_>, ask: &Ask, most: u64) -> Result<u64, Error> {
    let (matching, given) = ask.matching();
    let text = format!("select count(*) from (select 1 {matching} limit {most}) as matching");
    tx.count(Sql::both(&text), &params(&given))
}

/// The newest rows that match, with their scores.
pub(super) fn candidates(
    tx: &mut Tx<'_>,
    (ask, most): (&Ask, u64),
    query: &Query,
    remembered: &Remembered,
) -> Result<Candidates, Error> {
    let (matching, given) = ask.matching();
    let text = format!(
        "select {rowid}, places.host, places.repository_id, places.thread, places.length, {words}
         {matching} order by {rowid} desc limit {limit}",
        rowid = ask.rowid(),
        words = if ask.has_words() { "places.words" } else { "null" },
        limit = most + 1,
    );
    let scale = Scale::new(tx, query, remembered)?;
    let mut rows = tx.query(Sql::both(&text), &params(&given), |mut row| {
        let rowid = row.int(0)?;
        let (host, repository_id, thread) = (row.text(1)?, row.int(2)?, row.int(3)?);
        let length = u32::try_from(row.int(4)?).unwrap_or(u32::MAX);
        let profile = row.maybe_bytes(5)?.map(|words| Profile { length, words });
        let score = profile.map_or(0.0, |profile| scale.score(&profile));
        Ok(Candidate { rowid, score, host, repository_id, thread })
    })?;
    let count = rows.len() as u64;
    let matches = if count <= most { Matches::Exactly(count) } else { Matches::MoreThan(most) };
    rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(Candidates { rows, matches, is_cut: most < count })
}

/// What a row is weighed with.
struct Scale<'a> {
    terms: Vec<(f64, &'a Term)>,
    average_length: f64,
}

impl<'a> Scale<'a> {
    /// How telling each term is, by how many of the newest texts have it. One term alone needs no weight.
    fn new(tx: &mut Tx<'_>, query: &'a Query, remembered: &Remembered) -> Result<Self, Error> {
        let recent = &remembered.recent;
        let mut terms = Vec::new();
        for (place, term) in query.terms.iter().enumerate() {
            let weight = if query.terms.len() == 1 || WEIGHED <= place {
                1.0
            } else {
                let ask = Ask::for_term(term, recent.first_row, tx.dialect());
                ranking::telling(recent.texts, count_up_to(tx, &ask, recent.texts)?)
            };
            terms.push((weight, term));
        }
        Ok(Self { terms, average_length: recent.average_length })
    }

    fn score(&self, profile: &Profile) -> f64 {
        let times =
            |term: &Term| term.tokens.iter().map(|token| profile.count(token)).min().unwrap_or(1);
        let terms = self.terms.iter().map(|(telling, term)| (*telling, times(term)));
        ranking::score(terms, profile.length, self.average_length)
    }
}

fn params<'a>(given: &'a [Given<'a>]) -> Vec<Param<'a>> {
    given.iter().map(Given::param).collect()
}
