//! One ask, read from the newest match on, as far as it takes.

use super::ask::Ask;
use super::asks::Asked;
use super::rank::{self, Candidate, Scale};
use crate::error::Error;
use crate::tx::Tx;

/// How many comments are ranked at a time where their threads have to be looked at.
const CHECKED: u64 = 500;
/// How many matches are read at most, whoever asks for how many.
const MOST: u64 = 10_000;

pub(super) struct Reading<'a> {
    pub(super) asked: &'a Asked,
    /// What is left to read; nothing after the last match.
    rest: Option<Ask>,
    /// How many are ranked against each other.
    size: u64,
    read: u64,
}

impl<'a> Reading<'a> {
    /// More are ranked only for who wants to see more.
    pub(super) fn of(asked: &'a Asked, limit: u64) -> Self {
        let size = match asked.check {
            Some(_) => CHECKED,
            None => limit.clamp(rank::CAP, MOST),
        };
        let rest = Some(asked.ask.clone());
        Self { asked, rest, size, read: 0 }
    }

    pub(super) fn goes_on(&self) -> bool {
        self.is_cut() && self.read < MOST
    }

    /// The next matches, with their scores.
    pub(super) fn next(
        &mut self,
        tx: &mut Tx<'_>,
        scale: &Scale<'_>,
    ) -> Result<Vec<Candidate>, Error> {
        let Some(rest) = self.rest.as_ref().filter(|_| self.goes_on()) else {
            return Ok(Vec::new());
        };
        let mut found = rank::candidates(tx, rest, self.size + 1, scale)?;
        let is_cut = self.size < found.len() as u64;
        found.truncate(usize::try_from(self.size).unwrap_or(usize::MAX));
        self.read += found.len() as u64;
        self.rest = found.last().filter(|_| is_cut).map(|last| rest.older_than(last.rowid));
        Ok(found)
    }

    /// Whether there are more than were read.
    pub(super) fn is_cut(&self) -> bool {
        self.rest.is_some()
    }
}
