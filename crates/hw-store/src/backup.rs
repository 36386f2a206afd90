//! Copies an SQLite workspace consistently.

use std::path::Path;

use crate::driver::{error_mapping, sqlite};
use crate::error::StoreError;
use crate::{DatabaseLocation, StoreReader};

impl StoreReader {
    /// Copies the whole database into an empty file, as of one moment, while others read and write.
    ///
    /// Only a database file can be copied this way; PostgreSQL has `pg_dump`.
    pub fn copy_database(&self, target: &Path) -> Result<(), StoreError> {
        let DatabaseLocation::File(source) = &self.inner.location else {
            let reason = "only a database file can be copied".to_owned();
            return Err(StoreError::Database { step: "backup", reason });
        };
        sqlite::copy_database(source, target)
            .map_err(|error| error_mapping::map_error("backup", &*error))
    }
}
