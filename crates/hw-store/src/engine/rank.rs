//! Which rows of the index match, and how well.
//!
//! To rank every match of a word that is in a third of all texts takes a second. So the matches are counted
//! first, up to a cap; above it only the newest are ranked, and the answer says so.

use super::ask::{Ask, Given};
use super::{Matches, Ranked};
use crate::error::Error;
use crate::sql::{Param, Sql};
use crate::tx::Tx;

/// How many matches are ranked against each other, all of them.
pub(super) const CAP: u64 = 5_000;
/// How many are ranked when there are more.
pub(super) const NEWEST: u64 = 2_000;

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
    pub(super) ranked: Ranked,
}

/// How many rows match, up to the cap.
pub(super) fn count(tx: &mut Tx<'_>, ask: &Ask) -> Result<Matches, Error> {
    let (matching, given) = ask.matching();
    let text = format!("select count(*) from (select 1 {matching} limit {}) as matching", CAP + 1);
    let count = tx.count(Sql::both(&text), &params(&given))?;
    Ok(if count <= CAP { Matches::Exactly(count) } else { Matches::MoreThan(CAP) })
}

/// The rows that match, with their scores, in no order.
pub(super) fn candidates(tx: &mut Tx<'_>, ask: &Ask) -> Result<Candidates, Error> {
    let matches = count(tx, ask)?;
    if matches == Matches::Exactly(0) {
        return Ok(Candidates { rows: Vec::new(), matches, ranked: Ranked::All });
    }
    let (matching, given) = ask.matching();
    let (rest, ranked) = match matches {
        Matches::Exactly(_) => (String::new(), Ranked::All),
        Matches::MoreThan(_) => (
            format!("order by {} desc limit {NEWEST}", ask.rowid()),
            // without words the newest come first anyway
            if ask.has_words() { Ranked::Newest(NEWEST) } else { Ranked::All },
        ),
    };
    let text = format!(
        "select {}, {}, places.host, places.repository_id, places.thread {matching} {rest}",
        ask.rowid(),
        ask.score()
    );
    let rows = tx.query(Sql::both(&text), &params(&given), |mut row| {
        Ok(Candidate {
            rowid: row.int(0)?,
            score: row.real(1)?,
            host: row.text(2)?,
            repository_id: row.int(3)?,
            thread: row.int(4)?,
        })
    })?;
    Ok(Candidates { rows, matches, ranked })
}

fn params<'a>(given: &'a [Given<'a>]) -> Vec<Param<'a>> {
    given.iter().map(Given::param).collect()
}
