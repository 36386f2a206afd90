//! Counts the damaged rows that an answer leaves out.

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

    /// Formats a warning for users; `None` if no row was skipped.
    pub fn to_sentence(self) -> Option<String> {
        let advice = "`highwater doctor --deep` lists the damage";
        match self.0 {
            0 => None,
            1 => Some(format!("1 item is damaged and was left out; {advice}")),
            count => Some(format!("{count} items are damaged and were left out; {advice}")),
        }
    }
}
