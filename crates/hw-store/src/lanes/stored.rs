//! Counts the objects of a lane, to be compared with what its listing says of itself.

use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;

/// Counts what a lane gained, or lost.
pub(crate) fn count(tx: &mut Tx<'_>, lane: i64, gained: i64) -> Result<(), Error> {
    const COUNT: Sql = Sql::both("update lanes set stored = stored + $1 where id = $2");
    if gained == 0 {
        return Ok(());
    }
    tx.execute(COUNT, &params![gained, lane]).map(drop)
}

/// Returns how many objects are stored by now, unreadable rows included.
pub(crate) fn total(tx: &mut Tx<'_>, lane: i64) -> Result<i64, Error> {
    const STORED: Sql = Sql::both(
        "select stored + (select count(*) from quarantine where quarantine.lane = lanes.id)
           from lanes where id = $1",
    );
    Ok(tx.first(STORED, &params![lane], |mut row| row.int(0))?.unwrap_or(0))
}
