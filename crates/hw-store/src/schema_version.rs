//! The version of an open database. Another process may upgrade it at any time, so a worker looks at it again and again.
//!
//! An upgrade revokes all leases in its own transaction. What is left to prevent is that a worker of the older version
//! claims a duty afterwards.

use crate::StoreReader;
use crate::error::StoreError;
use crate::migrations::LATEST_MIGRATION;
use crate::sql::Sql;
use crate::transaction::Transaction;

/// The version of the rows that search reads: tokens, facets and profiles. Older ones are rebuilt from the stored texts.
pub(crate) const INDEX_VERSION: i64 = 1;

/// Rejects a database that a newer version has upgraded since it was opened.
pub(crate) fn refuse_newer_version(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const VERSION: Sql = Sql::portable("select number, search_index from schema_version");
    let version =
        tx.query_first(VERSION, &[], |mut row| Ok((row.int("number")?, row.int("search_index")?)))?;
    let Some((number, index)) = version else { return Ok(()) };
    if number > LATEST_MIGRATION {
        return Err(StoreError::NewerSchema { found: number, known: LATEST_MIGRATION });
    }
    refuse_newer_index(index)
}

pub(crate) fn read_index_version(tx: &mut Transaction<'_>) -> Result<i64, StoreError> {
    const VERSION: Sql = Sql::portable("select search_index from schema_version");
    Ok(tx.query_first(VERSION, &[], |mut row| row.int("search_index"))?.unwrap_or(INDEX_VERSION))
}

pub(crate) fn refuse_newer_index(found: i64) -> Result<(), StoreError> {
    if found > INDEX_VERSION {
        return Err(StoreError::NewerIndex { found, known: INDEX_VERSION });
    }
    Ok(())
}

impl StoreReader {
    /// Returns the reason for a failed question: the tables of a newer version may lack what this one asks for.
    pub(crate) fn explain_failure(&self, error: StoreError) -> StoreError {
        if !matches!(error, StoreError::Database { .. }) {
            return error;
        }
        let version = self.read_unexplained("version", refuse_newer_version);
        match version {
            Err(newer @ (StoreError::NewerSchema { .. } | StoreError::NewerIndex { .. })) => newer,
            Ok(()) | Err(_) => error,
        }
    }
}
