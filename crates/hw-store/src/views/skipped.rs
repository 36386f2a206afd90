//! Rows that an answer leaves out because they are damaged.

use crate::error::Error;

/// How many rows could not be read and are missing from an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedRows(pub u64);

/// The rows of an answer that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableRows<T> {
    pub rows: Vec<T>,
    pub skipped: SkippedRows,
}

impl SkippedRows {
    /// What was read; nothing, and one more row is counted, when the row alone is to blame.
    pub(crate) fn unless_unreadable<T>(
        &mut self,
        read: Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match read {
            Ok(row) => Ok(Some(row)),
            Err(Error::UnreadableRow(reason)) => {
                tracing::warn!(reason, "a stored row cannot be read");
                self.0 += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub fn add(&mut self, other: Self) {
        self.0 += other.0;
    }

    /// That something is missing, for people; none when nothing is.
    pub fn sentence(self) -> Option<String> {
        let advice = "`highwater doctor --deep` names what is damaged";
        match self.0 {
            0 => None,
            1 => Some(format!("1 item is damaged and left out: {advice}")),
            count => Some(format!("{count} items are damaged and left out: {advice}")),
        }
    }
}
