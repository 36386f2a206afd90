//! One ask, read from the newest match on, as far as it takes.

use super::ask::Ask;
use super::asks::Asked;
use super::rank::{self, Candidate, Scale};
use crate::error::Error;
use crate::tx::Tx;

/// How many comments are ranked at first where their threads have to be looked at.
const CHECKED: u64 = 500;
/// How many matches are ranked against each other at most, whoever asks for how many.
const MOST: u64 = 10_000;

pub(super) struct Reading<'a> {
    pub(super) asked: &'a Asked,
    /// What is left to read; nothing after the last match.
    rest: Option<Ask>,
    /// How many are ranked against each other.
    size: u64,
}

impl<'a> Reading<'a> {
    /// More are ranked only for who wants to see more.
    pub(super) fn of(asked: &'a Asked, limit: u64) -> Self {
        let size = match asked.check {
            Some(_) => CHECKED,
            None => limit.clamp(rank::CAP, MOST),
        };
        let rest = Some(asked.ask.clone());
        Self { asked, rest, size }
    }

    /// The next matches, with their scores: more each time, as few of the last ones were new.
    pub(super) fn next(
        &mut self,
        tx: &mut Tx<'_>,
        scale: &Scale<'_>,
    ) -> Result<Vec<Candidate>, Error> {
        let Some(rest) = self.rest.as_ref() else { return Ok(Vec::new()) };
        let mut found = rank::candidates(tx, rest, self.size + 1, scale)?;
        let is_cut = self.size < found.len() as u64;
        found.truncate(usize::try_from(self.size).unwrap_or(usize::MAX));
        self.rest = found.last().filter(|_| is_cut).map(|last| rest.older_than(last.rowid));
        self.size = (self.size * 4).min(MOST);
        Ok(found)
    }

    /// Whether there are more than were read.
    pub(super) fn is_cut(&self) -> bool {
        self.rest.is_some()
    }
}
