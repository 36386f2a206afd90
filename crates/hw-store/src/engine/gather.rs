//! Hits, gathered tier by tier, each thread once.

use std::collections::BTreeSet;

use hw_rules::item::{Key, Kind};
use hw_rules::query::{Filters, Query, Type};

use super::ask::Ask;
use super::hit::{self, Place};
use super::memory::Remembered;
use super::rank::{self, Candidate};
use super::{Found, Hit, Matches, Ranked};
use crate::error::Error;
use crate::search::facets;
use crate::sql::{Sql, params};
use crate::tx::Tx;
use crate::views::threads::ThreadRow;

/// How many comments are looked up to learn whether their thread is wanted.
const LOOKED_UP: usize = 200;

/// How many comments are ranked for that.
const CHECKED: u64 = 500;

pub(super) struct Gather<'a> {
    limit: u64,
    remembered: &'a Remembered,
    hits: Vec<Hit>,
    seen: BTreeSet<(String, Key)>,
    matches: Matches,
    ranked: Ranked,
}

/// A candidate that is a comment, whose thread has to fulfil the filters.
struct Scored {
    candidate: Candidate,
    is_to_be_checked: bool,
}

impl<'a> Gather<'a> {
    pub(super) fn new(limit: u64, remembered: &'a Remembered) -> Self {
        Self {
            limit,
            remembered,
            hits: Vec::new(),
            seen: BTreeSet::new(),
            matches: Matches::default(),
            ranked: Ranked::All,
        }
    }

    pub(super) fn found(self) -> Found {
        let Self { hits, matches, ranked, remembered, .. } = self;
        Found { hits, matches, ranked, behind: remembered.behind.clone() }
    }

    /// Adds what one way to read the query finds; each is wider than the one before.
    pub(super) fn tier(
        &mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        literally: bool,
    ) -> Result<(), Error> {
        let asks = asks(tx, query, literally)?;
        self.matches = Matches::Exactly(0);
        if self.is_full() {
            return asks.iter().try_for_each(|(ask, _)| {
                self.matches = self.matches.and(rank::count(tx, ask)?);
                Ok(())
            });
        }
        let mut scored = Vec::new();
        for (ask, is_to_be_checked) in &asks {
            let most = if *is_to_be_checked { CHECKED } else { rank::CAP };
            let found = rank::candidates(tx, (ask, most), query, self.remembered)?;
            self.matches = self.matches.and(found.matches);
            self.ranked = self.ranked.and(found.ranked);
            let is_to_be_checked = *is_to_be_checked;
            scored.extend(
                found.rows.into_iter().map(|candidate| Scored { candidate, is_to_be_checked }),
            );
        }
        self.sort(&mut scored);
        self.add(tx, query, scored)
    }

    fn is_full(&self) -> bool {
        self.limit <= self.hits.len() as u64
    }

    /// Best first; the newest of equals.
    fn sort(&self, scored: &mut [Scored]) {
        for Scored { candidate, .. } in scored.iter_mut() {
            candidate.score *= self.remembered.boost(&candidate.host, candidate.repository_id);
        }
        scored.sort_by(|a, b| {
            let (a, b) = (&a.candidate, &b.candidate);
            b.score.total_cmp(&a.score).then(b.rowid.cmp(&a.rowid))
        });
    }

    fn add(&mut self, tx: &mut Tx<'_>, query: &Query, scored: Vec<Scored>) -> Result<(), Error> {
        let mut look_ups = LOOKED_UP;
        for Scored { candidate, is_to_be_checked } in scored {
            if self.is_full() {
                break;
            }
            if is_to_be_checked {
                let Some(left) = look_ups.checked_sub(1) else { continue };
                look_ups = left;
            }
            let Some(place) = hit::place(tx, &candidate)? else { continue };
            let is_wanted = |thread: &ThreadRow| fulfils(thread, &query.filters);
            if is_to_be_checked && !place.thread.as_ref().is_some_and(is_wanted) {
                continue;
            }
            self.take(tx, place, query)?;
        }
        Ok(())
    }

    /// Its words are marked as they were found: by their beginnings, where those were asked for.
    fn take(&mut self, tx: &mut Tx<'_>, place: Place, query: &Query) -> Result<(), Error> {
        let for_itself = query.filters.is_for_comments();
        let Some(found) = hit::of(tx, place, for_itself, query)? else { return Ok(()) };
        if self.seen.insert((found.host.clone(), Key { kind: found.kind, id: found.id })) {
            self.hits.push(found);
        }
        Ok(())
    }
}

/// What the index is asked for, and whether what it gives is still to be checked by its threads.
///
/// A thread's type, state and labels are no facets of its comments: they change without them.
fn asks(tx: &mut Tx<'_>, query: &Query, literally: bool) -> Result<Vec<(Ask, bool)>, Error> {
    let (filters, dialect) = (&query.filters, tx.dialect());
    let ids = repositories(tx, filters)?;
    let ask = |wanted| Ask::new(query, literally, &wanted, dialect).in_repositories(ids.clone());
    let mut asks = vec![(ask(facets::wanted(filters)), false)];
    let wants_comments_too = filters.is_about_threads() && query.has_words();
    if wants_comments_too {
        asks.push((ask(facets::wanted_of_comments(filters)), true));
    }
    Ok(asks)
}

/// The repositories that are meant, where one is named with its owner.
fn repositories(tx: &mut Tx<'_>, filters: &Filters) -> Result<Option<Vec<i64>>, Error> {
    const ALL: Sql = Sql::both("select id, lower(owner), lower(name) from repositories");
    if filters.repositories.iter().all(|named| named.owner.is_none()) {
        return Ok(None);
    }
    let all = tx.query(ALL, &params![], |mut row| Ok((row.int(0)?, row.text(1)?, row.text(2)?)))?;
    let is_meant = |owner: &str, name: &str| {
        filters.repositories.iter().any(|named| {
            named.name == name && named.owner.as_deref().is_none_or(|meant| meant == owner)
        })
    };
    let meant = all.into_iter().filter(|(_, owner, name)| is_meant(owner, name));
    Ok(Some(meant.map(|(id, _, _)| id).collect()))
}

/// Whether a thread is one that the filters let through.
fn fulfils(row: &ThreadRow, filters: &Filters) -> bool {
    let thread = &row.thread;
    let kind: Kind = thread.kind();
    let labels: Vec<String> = thread.labels.iter().map(|label| label.to_lowercase()).collect();
    (filters.types.is_empty() || filters.types.contains(&Type::Thread(kind)))
        && (filters.states.is_empty() || filters.states.contains(&thread.state.to_lowercase()))
        && filters.labels.iter().all(|label| labels.contains(label))
}

impl Matches {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly(a), Self::Exactly(b)) => Self::Exactly(a + b),
            (Self::Exactly(a) | Self::MoreThan(a), Self::Exactly(b) | Self::MoreThan(b)) => {
                Self::MoreThan((a + b).min(rank::CAP))
            }
        }
    }
}

impl Ranked {
    fn and(self, other: Self) -> Self {
        if self == Self::All { other } else { self }
    }
}
