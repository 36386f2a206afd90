//! Counts the damaged rows that an answer leaves out.

use hw_rules::missing::Missing;

use crate::error::StoreError;

/// The number of rows that could not be read and are missing from an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedRows(pub u64);

/// The readable rows of an answer, and the number of skipped ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableRows<T> {
    pub rows: Vec<T>,
    pub skipped: SkippedRows,
}

impl SkippedRows {
    /// Turns an unreadable row into `None` and counts it. Other errors concern more than one row and are returned.
    pub(crate) fn skip_unreadable<T>(
        &mut self,
        read: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match read {
            Ok(row) => Ok(Some(row)),
            Err(StoreError::UnreadableRow(reason)) => {
                tracing::warn!(reason, "skipping an unreadable row");
                self.0 += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub fn add(&mut self, other: Self) {
        self.0 += other.0;
    }

    /// Returns what is missing from an answer; `None` if no row was skipped.
    pub fn to_missing(self) -> Option<Missing> {
        (self.0 > 0).then_some(Missing::DamagedRows { count: self.0 })
    }
}
