//! A counter that moves with every visible change, so that caches know when to reload.

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

const COUNTER_NAME: &str = "changes";

impl StoreReader {
    /// Returns a number that increases whenever an interface may have something new to show. Only inequality has a
    /// meaning.
    pub fn change_counter(&self) -> Result<i64, StoreError> {
        self.read("changes", read_change_counter)
    }
}

pub(crate) fn read_change_counter(tx: &mut Transaction<'_>) -> Result<i64, StoreError> {
    const VALUE: Sql = Sql::portable("select value from counters where name = $1");
    Ok(tx.query_first(VALUE, &params![COUNTER_NAME], |mut row| row.int("value"))?.unwrap_or(0))
}

/// Increments the counter, in the transaction that makes the change.
pub(crate) fn bump_change_counter(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const INCREMENT: Sql = Sql::portable(
        "insert into counters (name, value) values ($1, 1)
         on conflict (name) do update set value = counters.value + 1",
    );
    tx.send_statement(INCREMENT, &params![COUNTER_NAME])
}
