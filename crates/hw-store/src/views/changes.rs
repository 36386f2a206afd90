//! Has anything changed?

use crate::Store;
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;

const NAME: &str = "changes";

impl Store {
    /// A number that moves when what faces show may have changed. It tells nothing else.
    pub fn changes(&self) -> Result<i64, Error> {
        self.read("changes", changes)
    }
}

pub(crate) fn changes(tx: &mut Tx<'_>) -> Result<i64, Error> {
    const VALUE: Sql = Sql::both("select value from counters where name = $1");
    Ok(tx.first(VALUE, &params![NAME], |mut row| row.int(0))?.unwrap_or(0))
}

/// Moves the number, in the transaction of what changed.
pub(crate) fn note(tx: &mut Tx<'_>) -> Result<(), Error> {
    const NOTE: Sql = Sql::both(
        "insert into counters (name, value) values ($1, 1)
         on conflict (name) do update set value = counters.value + 1",
    );
    tx.execute(NOTE, &params![NAME]).map(drop)
}
