//! Hits, gathered tier by tier, each thread once.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::address::ThreadAddress;
use hw_rules::item::{Key, Kind, Thread};
use hw_rules::query::Query;

use super::asks::{Asked, asks};
use super::hit::{self, Place};
use super::memory::Remembered;
use super::rank::{Candidate, Match, Scale, ThreadPlace};
use super::reading::Reading;
use super::{Found, Hit, Matches, Ranked};
use crate::error::Error;
use crate::tx::Tx;
use crate::views::skipped::SkippedRows;
use crate::views::thread;

/// How many candidates are looked up at once.
const AT_ONCE: usize = 32;

pub(super) struct Gather<'a> {
    limit: u64,
    remembered: &'a Remembered,
    hits: Vec<Hit>,
    seen: BTreeSet<(String, Key)>,
    /// The threads among the hits, by their numbers: what is said in them is not looked up.
    shown: BTreeSet<ThreadPlace>,
    /// What the query leaves out.
    excluded: BTreeSet<Match>,
    matches: Matches,
    ranked: Ranked,
    skipped: SkippedRows,
}

/// A candidate, and which reading it is from.
struct Scored {
    candidate: Candidate,
    reading: usize,
}

impl<'a> Gather<'a> {
    pub(super) fn new(limit: u64, remembered: &'a Remembered, excluded: BTreeSet<Match>) -> Self {
        Self {
            limit,
            excluded,
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
            self.shown.insert(ThreadPlace { host: row.host.clone(), repository_id, number });
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
        while !self.is_full() && readings.iter().any(Reading::is_cut) {
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
        // without words the newest come first anyway
        if is_cut && query.has_words() {
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
            candidate.score *= self.remembered.boost(&candidate.thread);
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
            if !self.is_full() {
                let checked = tier.check_threads(tx, some, readings)?;
                self.skipped.add(checked);
            }
            let rowids: Vec<i64> = some.iter().map(|it| it.candidate.rowid).collect();
            let keys = if self.is_full() { BTreeMap::new() } else { hit::keys(tx, &rowids)? };
            for Scored { candidate, reading } in some {
                let asked = readings[*reading].asked;
                let is_excluded = self.excluded.contains(&Match::of(candidate, asked.for_itself));
                if is_excluded || !tier.wants(candidate, asked) || self.is_full() {
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
        is_comment && !for_itself && self.shown.contains(&candidate.thread)
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
            self.shown.insert(candidate.thread.clone());
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
    checked: BTreeMap<ThreadPlace, bool>,
    /// Whether something was left aside of which nobody knows whether it matches.
    has_left: bool,
}

impl Tier {
    /// Looks at the threads of comments, where the query asks something of them.
    fn check_threads(
        &mut self,
        tx: &mut Tx<'_>,
        some: &[Scored],
        readings: &[Reading<'_>],
    ) -> Result<SkippedRows, Error> {
        let mut skipped = SkippedRows::default();
        for (reading, read) in readings.iter().enumerate() {
            let Some(check) = &read.asked.check else { continue };
            let of_reading = some.iter().filter(|it| it.reading == reading);
            let threads = of_reading.map(|it| it.candidate.thread.clone());
            let threads: BTreeSet<_> =
                threads.filter(|thread| !self.checked.contains_key(thread)).collect();
            let wanted = check.wanted(tx, &threads)?;
            skipped.add(wanted.skipped);
            self.checked.extend(threads.into_iter().map(|thread| (thread, false)));
            self.checked.extend(wanted.rows.into_iter().map(|thread| (thread, true)));
        }
        Ok(skipped)
    }

    /// Whether a candidate is a match, as far as it can be told: a thread is looked at only while hits are missing.
    fn wants(&mut self, candidate: &Candidate, asked: &Asked) -> bool {
        if asked.check.is_some() {
            let known = self.checked.get(&candidate.thread).copied();
            self.has_left |= known.is_none();
            if !known.unwrap_or_default() {
                return false;
            }
        }
        self.matches.insert(Match::of(candidate, asked.for_itself));
        true
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
