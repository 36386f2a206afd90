//! Counts the items of a lane, for comparison with the total that its listing reports.

use crate::driver::PendingRows;
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

/// The number of a lane's items, including quarantined ones, that was requested.
pub(crate) struct PendingTotal(PendingRows);

impl PendingTotal {
    pub(crate) fn send(tx: &mut Transaction<'_>, lane: i64) -> Result<Self, StoreError> {
        const STORED: Sql = Sql::portable(
            "select object_count
                    + (select count(*) from quarantine where quarantine.lane_id = lanes.id) as total
               from lanes where id = $1",
        );
        Ok(Self(tx.send_query(STORED, &params![lane])?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<i64, StoreError> {
        Ok(tx.read_pending(self.0, |mut row| row.int("total"))?.into_iter().next().unwrap_or(0))
    }
}
