//! What is held of each object, and what one more look changes about it.
//!
//! A cell is two maxima: the greatest version ever seen, and the latest look that confirmed the object
//! gone. Maxima do not care about order or repetition, so neither does the mirror. The object is there
//! when its greatest version was seen after it was last confirmed gone.

use std::collections::BTreeMap;

use crate::item::{Key, Observation};
use crate::source_clock::{SAFE_BACKFILL_MS, TOLERANCE_MS};
use crate::time::Mark;
use crate::version::{Seen, Version};

/// What is held of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The greatest version seen.
    pub version: Option<Version>,
    /// The tombstone: the latest look that confirmed the object gone.
    pub gone: Option<Seen>,
}

impl Cell {
    /// Whether the object belongs into the mirror.
    ///
    /// An older version seen after the tombstone does not revive: it is a lagging replica speaking.
    pub fn is_present(&self) -> bool {
        self.version
            .as_ref()
            .is_some_and(|version| self.gone.is_none_or(|gone| gone < version.seen))
    }

    /// The cell after one more look that showed this version.
    pub fn observe(&self, version: &Version) -> Self {
        let known = self.as_of(version.seen);
        if known.version.as_ref() > Some(version) {
            return self.clone();
        }
        Self { version: Some(version.clone()), gone: known.gone }
    }

    /// The cell after one more look that confirmed the object gone.
    pub fn bury(&self, seen: Seen) -> Self {
        let known = self.as_of(seen);
        Self { gone: known.gone.max(Some(seen)), version: known.version }
    }

    /// The cell as a look at this time may take it.
    fn as_of(&self, seen: Seen) -> Self {
        self.redated(Mark(seen.at_ms).plus(TOLERANCE_MS))
    }

    /// The cell with whatever is later than `latest` dated a day back: the source had not reached that time,
    /// so a clock was wrong. What is there stays there, and what is gone stays gone.
    pub fn redated(&self, latest: Mark) -> Self {
        let day_before = latest.minus(SAFE_BACKFILL_MS);
        let bound = |at_ms: i64| if at_ms > latest.0 { day_before.0 } else { at_ms };
        let version = self.version.clone().map(|mut version| {
            version.ordered_at = Mark(bound(version.ordered_at.0));
            version.seen.at_ms = bound(version.seen.at_ms);
            version
        });
        let gone = self.gone.map(|gone| Seen { at_ms: bound(gone.at_ms), ..gone });
        let seen = version.as_ref().map(|version| version.seen);
        let gone = if self.is_present() {
            let just_before = seen.map(|seen| Seen { request: seen.request - 1, ..seen });
            gone.min(just_before)
        } else {
            gone.map(|gone| seen.map_or(gone, |seen| gone.max(seen)))
        };
        Self { version, gone }
    }
}

/// What one look changed about one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Never held before.
    Created,
    /// Held, with another content.
    Edited,
    /// Held, same content, a newer `updated_at` (a cross-reference, a reaction).
    Bumped,
    /// It was gone and is back.
    Revived,
    /// It was there and is gone.
    Removed,
    /// Nothing a person could see; only our record of when we looked.
    Touched,
    /// Nothing at all: an older version, or one already held.
    Nothing,
}

impl Change {
    /// Tells the change between two states of one cell.
    pub fn between(before: &Cell, after: &Cell) -> Self {
        match (before.is_present(), after.is_present()) {
            (false, true) if before.gone.is_some() => Self::Revived,
            (false, true) => Self::Created,
            (true, false) => Self::Removed,
            _ if before == after => Self::Nothing,
            (true, true) => Self::while_present(before, after),
            (false, false) => Self::Touched,
        }
    }

    fn while_present(before: &Cell, after: &Cell) -> Self {
        let (Some(old), Some(new)) = (&before.version, &after.version) else {
            return Self::Touched;
        };
        if old.digest != new.digest {
            Self::Edited
        } else if old.updated_at != new.updated_at {
            Self::Bumped
        } else {
            Self::Touched
        }
    }

    /// Whether the text held must be written anew.
    pub fn writes_text(self) -> bool {
        matches!(self, Self::Created | Self::Edited | Self::Bumped | Self::Revived)
    }
}

/// One cell to write: its new state, why, and which of the observations carries its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    pub key: Key,
    pub cell: Cell,
    pub change: Change,
    /// Index into the observations, when the text comes from there.
    pub text: Option<usize>,
}

/// Compares what one page showed with what is held. A key that a page shows twice is written once.
pub fn diff(held: &BTreeMap<Key, Cell>, observations: &[Observation]) -> Vec<Write> {
    let mut after: BTreeMap<Key, (Cell, Option<usize>)> = BTreeMap::new();
    for (index, observation) in observations.iter().enumerate() {
        let key = observation.key();
        let version = observation.version();
        let (cell, text) =
            after.entry(key).or_insert_with(|| (held.get(&key).cloned().unwrap_or_default(), None));
        let next = cell.observe(&version);
        if next.version.as_ref() == Some(&version) && next.version != cell.version {
            *text = Some(index);
        }
        *cell = next;
    }
    after.into_iter().map(|(key, (cell, text))| write(held, key, cell, text)).collect()
}

fn write(held: &BTreeMap<Key, Cell>, key: Key, cell: Cell, text: Option<usize>) -> Write {
    let before = held.get(&key).cloned().unwrap_or_default();
    let change = Change::between(&before, &cell);
    Write { key, cell, change, text }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
