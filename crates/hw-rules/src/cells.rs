//! Merges observations into cells, and finds out what each observation changed.
//!
//! A cell is two maxima: the greatest version ever observed, and the latest lookup that confirmed the object
//! gone. Maxima do not depend on order or repetition, so neither does the mirror. The object is present
//! if its greatest version was observed after it was last confirmed gone.

use std::collections::BTreeMap;

use crate::item::ObjectId;
use crate::source_clock::{DATE_TOLERANCE_MS, SAFE_BACKFILL_MS};
use crate::source_time::SourceInstant;
use crate::version::{ItemVersion, ObservedAt};

/// The stored state of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemCell {
    /// The greatest version observed.
    pub version: Option<ItemVersion>,
    /// The latest lookup that confirmed the object gone.
    pub tombstone: Option<ObservedAt>,
}

impl ItemCell {
    /// Returns true if the object is part of the mirror.
    ///
    /// An older version observed after the tombstone does not revive the object: it came from a lagging replica.
    pub fn is_present(&self) -> bool {
        self.version
            .as_ref()
            .is_some_and(|version| self.tombstone.is_none_or(|gone| gone < version.observed_at))
    }

    /// Returns the cell after an observation of this version.
    pub fn observe_version(&self, version: &ItemVersion) -> Self {
        let known = self.as_known_at(version.observed_at);
        if known.version.as_ref() > Some(version) {
            return self.clone();
        }
        Self { version: Some(version.clone()), tombstone: known.tombstone }
    }

    /// Returns the cell after a lookup that confirmed the object gone.
    pub fn add_tombstone(&self, looked_up_at: ObservedAt) -> Self {
        let known = self.as_known_at(looked_up_at);
        Self { tombstone: known.tombstone.max(Some(looked_up_at)), version: known.version }
    }

    /// Returns the cell without any date that the source had not reached at this time.
    fn as_known_at(&self, observed_at: ObservedAt) -> Self {
        self.redate_after(SourceInstant(observed_at.at_ms).plus_ms(DATE_TOLERANCE_MS))
    }

    /// Returns the cell with everything later than `latest` dated a day back: the source had not reached that
    /// time, so a clock was wrong. The object stays present or absent as it was.
    pub fn redate_after(&self, latest: SourceInstant) -> Self {
        let version = self.version.clone().map(|mut version| {
            version.ordered_at = SourceInstant(redate_ms(version.ordered_at.0, latest));
            version.observed_at.at_ms = redate_ms(version.observed_at.at_ms, latest);
            version
        });
        let gone_at =
            self.tombstone.map(|gone| ObservedAt { at_ms: redate_ms(gone.at_ms, latest), ..gone });
        let observed_at = version.as_ref().map(|version| version.observed_at);
        let tombstone = if self.is_present() {
            let just_before = observed_at.map(|at| ObservedAt { request: at.request - 1, ..at });
            gone_at.min(just_before)
        } else {
            gone_at.map(|gone| observed_at.map_or(gone, |observed| gone.max(observed)))
        };
        Self { version, tombstone }
    }
}

fn redate_ms(at_ms: i64, latest: SourceInstant) -> i64 {
    if at_ms > latest.0 { latest.minus_ms(SAFE_BACKFILL_MS).0 } else { at_ms }
}

/// The change that one observation made to one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellChange {
    /// Never stored before.
    Created,
    /// Stored with another content.
    Edited,
    /// Stored with the same content, and now a newer `updated_at` (a cross-reference, a reaction).
    Bumped,
    /// It was gone and is back.
    Revived,
    /// It was present and is gone.
    Removed,
    /// No visible change; only the record of the observation is new.
    Touched,
    /// No change at all: an older version, or one already stored.
    Unchanged,
}

impl CellChange {
    /// Classifies the change between two states of one cell.
    pub fn from_cells(before: &ItemCell, after: &ItemCell) -> Self {
        match (before.is_present(), after.is_present()) {
            (false, true) if before.tombstone.is_some() => Self::Revived,
            (false, true) => Self::Created,
            (true, false) => Self::Removed,
            _ if before == after => Self::Unchanged,
            (true, true) => Self::from_present_cells(before, after),
            (false, false) => Self::Touched,
        }
    }

    fn from_present_cells(before: &ItemCell, after: &ItemCell) -> Self {
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

    /// Returns true if the stored text must be replaced.
    pub fn writes_text(self) -> bool {
        matches!(self, Self::Created | Self::Edited | Self::Bumped | Self::Revived)
    }
}

/// One cell to write: its new state, the change, and the observation that carries its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellWrite {
    pub key: ObjectId,
    pub cell: ItemCell,
    pub change: CellChange,
    /// Index into the observations, when the text comes from there.
    pub text_index: Option<usize>,
}

/// The version of one object in one observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedVersion {
    pub key: ObjectId,
    pub version: ItemVersion,
}

/// Compares the observations of one page with the stored cells. A key that a page shows twice is written once.
pub fn diff_cells(
    stored: &BTreeMap<ObjectId, ItemCell>,
    observations: &[ObservedVersion],
) -> Vec<CellWrite> {
    let mut after: BTreeMap<ObjectId, (ItemCell, Option<usize>)> = BTreeMap::new();
    for (index, ObservedVersion { key, version }) in observations.iter().enumerate() {
        let (cell, text_index) = after
            .entry(*key)
            .or_insert_with(|| (stored.get(key).cloned().unwrap_or_default(), None));
        let next = cell.observe_version(version);
        if next.version.as_ref() == Some(version) && next.version != cell.version {
            *text_index = Some(index);
        }
        *cell = next;
    }
    after
        .into_iter()
        .map(|(key, (cell, text_index))| build_write(stored, key, cell, text_index))
        .collect()
}

fn build_write(
    stored: &BTreeMap<ObjectId, ItemCell>,
    key: ObjectId,
    cell: ItemCell,
    text_index: Option<usize>,
) -> CellWrite {
    let before = stored.get(&key).cloned().unwrap_or_default();
    let change = CellChange::from_cells(&before, &cell);
    CellWrite { key, cell, change, text_index }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
