//! Lanes that start over, as if they had never been read.

use hw_rules::coverage::Coverage;

use super::{FIRST_PAGE_SIZE, coverage_text};
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;

/// Has the lanes of a removed repository start over, so that they are read anew if it returns.
pub(crate) fn forget(tx: &mut Tx<'_>, host: &str, repository_id: i64) -> Result<(), Error> {
    const LANES: Sql = Sql::both("select id from lanes where host = $1 and repository_id = $2");
    tracing::warn!(host, repository_id, "the repository is gone; its lanes start over");
    let lanes = tx.query(LANES, &params![host, repository_id], |mut row| row.int(0))?;
    lanes.into_iter().try_for_each(|lane| renew(tx, lane))
}

/// Makes a lane as if it had just been made: nothing is claimed, it is due, and no failure counts.
pub(crate) fn renew(tx: &mut Tx<'_>, lane: i64) -> Result<(), Error> {
    const RENEW: Sql = Sql::both(
        "update lanes
            set coverage = $1, through_ms = null, checked_at_ms = null, sweep_due_ms = null,
                sweep_began_at_ms = null, sweep_began_request = null, sweep_cursor = null,
                sweep_complete = $2, due_ms = 0, failures = 0, page_size = $3, last_error = null,
                etag = null, etag_principal = null, etag_at_ms = null, stored = 0
          where id = $4",
    );
    const UNSTAGE: Sql = Sql::both("delete from sweep_rows where lane = $1");
    tx.execute(UNSTAGE, &params![lane])?;
    let nothing = coverage_text(&Coverage::default());
    tx.execute(RENEW, &params![&nothing, false, i64::from(FIRST_PAGE_SIZE), lane]).map(drop)
}
