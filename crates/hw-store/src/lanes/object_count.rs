//! Counts the items of a lane, for comparison with the total that its listing reports.

use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// Adds to the number of a lane's items; a negative number records a loss.
pub(crate) fn add_objects(
    tx: &mut Transaction<'_>,
    lane: i64,
    gained: i64,
) -> Result<(), StoreError> {
    const COUNT: Sql =
        Sql::portable("update lanes set object_count = object_count + $1 where id = $2");
    if gained == 0 {
        return Ok(());
    }
    tx.send_statement(COUNT, &params![gained, lane])
}
