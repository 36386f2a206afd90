//! Hits, gathered tier by tier, each thread once.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::address::ThreadAddress;
use hw_rules::item::{Key, Kind, Thread};
use hw_rules::query::Query;

use super::asks::{Asked, asks};
use super::hit::{self, Place};
use super::memory::Remembered;
use super::rank::{Candidate, Scale};
use super::reading::Reading;
use super::{Found, Hit, Matches, Ranked};
use crate::error::Error;
use crate::tx::Tx;
use crate::views::skipped::SkippedRows;
use crate::views::thread;

/// How many threads are looked at to learn whether they are wanted, for what is said in them.
const LOOKED_UP: usize = 200;
/// How many candidates are looked up at once.
const AT_ONCE: usize = 32;

pub(super) struct Gather<'a> {
    limit: u64,
    remembered: &'a Remembered,
    hits: Vec<Hit>,
    seen: BTreeSet<(String, Key)>,
    /// The threads among the hits, by their numbers: what is said in them is not looked up.
    shown: BTreeSet<Numbered>,
    matches: Matches,
    ranked: Ranked,
    skipped: SkippedRows,
}

/// What matches: a thread, however often it is said there, or a comment for itself.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    Thread(Numbered),
    Text(i64),
}

impl Match {
    fn of(candidate: &Candidate, for_itself: bool) -> Self {
        if for_itself { Self::Text(candidate.rowid) } else { Self::Thread(numbered(candidate)) }
    }
}

/// A thread by its host, its repository and its number.
type Numbered = (String, i64, i64);

fn numbered(candidate: &Candidate) -> Numbered {
    (candidate.host.clone(), candidate.repository_id, candidate.thread)
}

/// A candidate, and which reading it is from.
struct Scored {
    candidate: Candidate,
    reading: usize,
}

impl<'a> Gather<'a> {
    pub(super) fn new(limit: u64, remembered: &'a Remembered) -> Self {
        Self {
            limit,
            remembered,
            hits: Vec::new(),
            seen: BTreeSet::new(),
            shown: BTreeSet::new(),
            matches: Matches::default(),
            ranked: Ranked::All,
            skipped: SkippedRows::default(),
        }
    }

    pub(super) fn found(self, query: &Query) -> Found {
        let Self { hits, matches, ranked, remembered, skipped, .. } = self;
        // the thread that was named may have none of the words
        let matches = matches.but_not_less_than(hits.len() as u64);
        let mut behind = remembered.behind(&query.filters).clone();
        behind.missing.extend(skipped.sentence());
        Found { hits, matches, ranked, behind, misread: query.misread.clone(), skipped }
    }

    /// Adds the thread whose address the whole query is, if it is one.
    pub(super) fn named(
        &mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        text: &str,
    ) -> Result<(), Error> {
        let Ok(address) = ThreadAddress::parse(text) else { return Ok(()) };
        let named = self.skipped.unless_unreadable(thread::at(tx, &address))?;
        if let Some((owner, row)) = named.flatten() {
            let Thread { repository_id, number, .. } = row.thread;
            self.shown.insert((row.host.clone(), repository_id, number));
            let place = Place::of(owner, row);
            self.seen.insert((place.host.clone(), place.key(false)));
            self.hits.extend(hit::of(tx, place, false, query)?);
        }
        Ok(())
    }

    /// Adds what one way to read the query finds; each is wider than the one before.
    pub(super) fn tier(
        &mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        literally: bool,
    ) -> Result<(), Error> {
        let asks = asks(tx, query, literally)?;
        let scale = Scale::new(tx, query, self.remembered)?;
        let mut readings: Vec<_> =
            asks.iter().map(|asked| Reading::of(asked, self.limit)).collect();
        let mut tier = Tier::default();
        // many newest matches may be said in few threads: then the ones before them are read, too
        while !self.is_full() && !tier.is_out_of_looks && readings.iter().any(Reading::goes_on) {
            let mut scored = Vec::new();
            for (reading, read) in readings.iter_mut().enumerate() {
                let next = read.next(tx, &scale)?;
                scored.extend(next.into_iter().map(|candidate| Scored { candidate, reading }));
            }
            self.sort(&mut scored);
            self.add(tx, query, &scored, (&readings, &mut tier))?;
        }
        let is_cut = readings.iter().any(Reading::is_cut);
        let is_whole = !is_cut && !tier.has_left;
        let count = tier.matches.len() as u64;
        self.matches = if is_whole { Matches::Exactly(count) } else { Matches::AtLeast(count) };
        // without words the newest come first anyway, as long as there are enough
        if (is_cut && query.has_words()) || (!self.is_full() && !is_whole) || tier.is_out_of_looks {
            self.ranked = Ranked::Newest;
        }
        Ok(())
    }

    /// There are hits enough, and what a wider reading would find is not counted.
    pub(super) fn leave_the_rest(&mut self) {
        let (Matches::Exactly(count) | Matches::AtLeast(count)) = self.matches;
        self.matches = Matches::AtLeast(count);
    }

    pub(super) fn is_full(&self) -> bool {
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

    fn add(
        &mut self,
        tx: &mut Tx<'_>,
        query: &Query,
        scored: &[Scored],
        (readings, tier): (&[Reading<'_>], &mut Tier),
    ) -> Result<(), Error> {
        for some in scored.chunks(AT_ONCE) {
            let rowids: Vec<i64> = some.iter().map(|it| it.candidate.rowid).collect();
            let keys = if self.is_full() { BTreeMap::new() } else { hit::keys(tx, &rowids)? };
            for Scored { candidate, reading } in some {
                let asked = readings[*reading].asked;
                let wants = tier.wants(tx, (candidate, asked), self.is_full());
                let wants = self.skipped.unless_unreadable(wants)?.unwrap_or_default();
                if !wants || self.is_full() {
                    continue;
                }
                if let Some(key) = keys.get(&candidate.rowid).copied()
                    && !self.is_shown(candidate, key, asked.for_itself)
                {
                    let place = hit::place(tx, candidate, key);
                    let taken = place.and_then(|place| {
                        self.take(tx, (candidate, place), asked.for_itself, query)
                    });
                    self.skipped.unless_unreadable(taken)?;
                }
            }
        }
        Ok(())
    }

    /// Whether it is said in a thread that is among the hits.
    fn is_shown(&self, candidate: &Candidate, key: Key, for_itself: bool) -> bool {
        let is_comment = Kind::COMMENTS.contains(&key.kind);
        is_comment && !for_itself && self.shown.contains(&numbered(candidate))
    }

    /// Its words are marked as they were found: by their beginnings, where those were asked for.
    fn take(
        &mut self,
        tx: &mut Tx<'_>,
        (candidate, place): (&Candidate, Place),
        for_itself: bool,
        query: &Query,
    ) -> Result<(), Error> {
        if place.has_thread() && !for_itself {
            self.shown.insert(numbered(candidate));
        }
        if self.seen.insert((place.host.clone(), place.key(for_itself))) {
            self.hits.extend(hit::of(tx, place, for_itself, query)?);
        }
        Ok(())
    }
}

/// What is known while one reading of the query is followed.
#[derive(Default)]
struct Tier {
    matches: BTreeSet<Match>,
    /// The threads of comments that were looked at, and whether they are wanted.
    checked: BTreeMap<Numbered, bool>,
    /// Whether something was left aside of which nobody knows whether it matches.
    has_left: bool,
    /// Whether that was because too many threads had been looked at.
    is_out_of_looks: bool,
}

impl Tier {
    /// Whether a candidate is a match, as far as it can be told; a thread is looked at only while hits are missing.
    fn wants(
        &mut self,
        tx: &mut Tx<'_>,
        (candidate, asked): (&Candidate, &Asked),
        is_full: bool,
    ) -> Result<bool, Error> {
        if let Some(check) = &asked.check {
            let thread = numbered(candidate);
            let wanted = match self.checked.get(&thread) {
                Some(known) => *known,
                None if is_full || LOOKED_UP <= self.checked.len() => {
                    self.has_left = true;
                    self.is_out_of_looks |= !is_full;
                    return Ok(false);
                }
                None => {
                    let wanted = check.lets(tx, candidate)?;
                    self.checked.insert(thread, wanted);
                    wanted
                }
            };
            if !wanted {
                return Ok(false);
            }
        }
        self.matches.insert(Match::of(candidate, asked.for_itself));
        Ok(true)
    }
}

impl Matches {
    fn but_not_less_than(self, least: u64) -> Self {
        match self {
            Self::Exactly(count) => Self::Exactly(count.max(least)),
            Self::AtLeast(count) => Self::AtLeast(count.max(least)),
        }
    }
}
