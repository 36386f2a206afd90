//! Hits, gathered tier by tier, each thread once.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::Key;
use hw_rules::query::Query;

use super::asks::{Asked, Check, asks};
use super::hit::{self, Place};
use super::memory::Remembered;
use super::rank::{self, Candidate};
use super::{Found, Hit, Matches, Ranked};
use crate::error::Error;
use crate::tx::Tx;

/// How many threads are looked at to learn whether they are wanted, for what is said in them.
const LOOKED_UP: usize = 200;
/// How many comments are ranked for that.
const CHECKED: u64 = 500;
/// How many matches are ranked at most, whoever asks for how many.
const MOST: u64 = 10_000;

pub(super) struct Gather<'a> {
    limit: u64,
    remembered: &'a Remembered,
    hits: Vec<Hit>,
    seen: BTreeSet<(String, Key)>,
    matches: Matches,
    ranked: Ranked,
}

/// A candidate, and how it is taken.
struct Scored<'a> {
    candidate: Candidate,
    asked: &'a Asked,
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

    pub(super) fn found(self, query: &Query) -> Found {
        let Self { hits, matches, ranked, remembered, .. } = self;
        let behind = remembered.behind(&query.filters).clone();
        Found { hits, matches, ranked, behind, misread: query.misread.clone() }
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
            return asks.iter().try_for_each(|asked| self.count(tx, asked));
        }
        let (mut scored, mut cut) = (Vec::new(), None);
        for asked in &asks {
            let most = if asked.check.is_some() { CHECKED } else { self.most() };
            let found = rank::candidates(tx, (&asked.ask, most), query, self.remembered)?;
            if asked.check.is_none() {
                self.matches = self.matches.and(found.matches);
            }
            cut = cut.or(found.is_cut.then_some(most));
            scored.extend(found.rows.into_iter().map(|candidate| Scored { candidate, asked }));
        }
        self.sort(&mut scored);
        self.add(tx, query, scored)?;
        // without words the newest come first anyway, as long as there are enough
        if let Some(most) = cut.filter(|_| query.has_words() || !self.is_full()) {
            self.ranked = self.ranked.and(Ranked::Newest(most));
        }
        Ok(())
    }

    /// Only counts: there are hits enough.
    fn count(&mut self, tx: &mut Tx<'_>, asked: &Asked) -> Result<(), Error> {
        let matches = match asked.check {
            Some(_) => Matches::AtLeast(0),
            None => rank::count(tx, &asked.ask)?,
        };
        self.matches = self.matches.and(matches);
        Ok(())
    }

    /// How many matches are ranked: more only for who wants to see more.
    fn most(&self) -> u64 {
        self.limit.clamp(rank::CAP, MOST)
    }

    fn is_full(&self) -> bool {
        self.limit <= self.hits.len() as u64
    }

    /// Best first; the newest of equals.
    fn sort(&self, scored: &mut [Scored<'_>]) {
        for Scored { candidate, .. } in scored.iter_mut() {
            candidate.score *= self.remembered.boost(&candidate.host, candidate.repository_id);
        }
        scored.sort_by(|a, b| {
            let (a, b) = (&a.candidate, &b.candidate);
            b.score.total_cmp(&a.score).then(b.rowid.cmp(&a.rowid))
        });
    }

    fn add(
        &mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        scored: Vec<Scored<'_>>,
    ) -> Result<(), Error> {
        let mut checked = Checked::default();
        for Scored { candidate, asked } in scored {
            let check = asked.check.as_ref();
            if self.is_full() || (check.is_some() && checked.is_full()) {
                self.leave(check, checked.is_full());
                continue;
            }
            if let Some(check) = check {
                if !checked.lets(tx, check, &candidate)? {
                    continue;
                }
                self.matches = self.matches.and(Matches::Exactly(1));
            }
            if let Some(place) = hit::place(tx, &candidate)? {
                self.take(tx, place, asked.for_itself, query)?;
            }
        }
        Ok(())
    }

    /// Leaves a candidate aside. What was not checked may be a match, or not.
    fn leave(&mut self, check: Option<&Check>, is_out_of_look_ups: bool) {
        if check.is_some() {
            self.matches = self.matches.and(Matches::AtLeast(0));
            if is_out_of_look_ups && !self.is_full() {
                self.ranked = self.ranked.and(Ranked::Newest(LOOKED_UP as u64));
            }
        }
    }

    /// Its words are marked as they were found: by their beginnings, where those were asked for.
    fn take(
        &mut self,
        tx: &mut Tx<'_>,
        place: Place,
        for_itself: bool,
        query: &Query,
    ) -> Result<(), Error> {
        if self.seen.insert((place.host.clone(), place.key(for_itself))) {
            self.hits.extend(hit::of(tx, place, for_itself, query)?);
        }
        Ok(())
    }
}

/// The threads of comments that were looked at, and whether they are wanted.
#[derive(Default)]
struct Checked(BTreeMap<(String, i64, i64), bool>);

impl Checked {
    fn is_full(&self) -> bool {
        LOOKED_UP <= self.0.len()
    }

    fn lets(&mut self, tx: &mut Tx<'_>, check: &Check, comment: &Candidate) -> Result<bool, Error> {
        let Candidate { host, repository_id, thread, .. } = comment;
        let thread = (host.clone(), *repository_id, *thread);
        if let Some(known) = self.0.get(&thread) {
            return Ok(*known);
        }
        let lets = check.lets(tx, comment)?;
        self.0.insert(thread, lets);
        Ok(lets)
    }
}

impl Matches {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly(a), Self::Exactly(b)) => Self::Exactly(a + b),
            (Self::AtLeast(a), Self::Exactly(b) | Self::AtLeast(b))
            | (Self::Exactly(a), Self::AtLeast(b)) => Self::AtLeast(a + b),
            (Self::MoreThan(a), Self::Exactly(b) | Self::AtLeast(b) | Self::MoreThan(b))
            | (Self::Exactly(a) | Self::AtLeast(a), Self::MoreThan(b)) => {
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
