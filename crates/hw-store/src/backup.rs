//! A consistent copy of an SQLite workspace.

use std::path::Path;

use crate::driver::{sorting, sqlite};
use crate::error::Error;
use crate::{Place, Store};

impl Store {
    /// Copies the whole database into an empty file, as it is at one moment, while others read and write.
    ///
    /// Only a database file can be copied so; PostgreSQL has `pg_dump`.
    pub fn copy_into(&self, target: &Path) -> Result<(), Error> {
        let Place::File(source) = &self.inner.place else {
            let reason = "only a database file can be copied".to_owned();
            return Err(Error::Database { step: "backup", reason });
        };
        sqlite::copy(source, target).map_err(|error| sorting::sorted("backup", &*error))
    }
}
