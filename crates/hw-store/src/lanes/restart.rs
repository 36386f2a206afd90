//! Restarts lanes as if they had never been read.

use hw_rules::coverage::Coverage;
use hw_rules::repository_key::RepositoryKey;

use super::{FIRST_PAGE_SIZE, serialize_coverage};
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// Restarts the lanes of a removed repository, so that they are read from the beginning if it returns.
pub(crate) fn restart_repository_lanes(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    const LANES: Sql = Sql::portable("select id from lanes where host = $1 and repository_id = $2");
    tracing::warn!(%repository, "the repository is gone; restarting its lanes");
    let lanes =
        tx.query(LANES, &params![&repository.host, repository.id], |mut row| row.int("id"))?;
    lanes.into_iter().try_for_each(|lane| restart_lane(tx, lane))
}

/// Returns a lane to its initial state: it claims nothing, is due, and has no failures.
pub(crate) fn restart_lane(tx: &mut Transaction<'_>, lane: i64) -> Result<(), StoreError> {
    const RESTART: Sql = Sql::portable(
        "update lanes
            set coverage = $1, watermark_ms = null, checked_at_ms = null, sweep_due_ms = null, sweep_request_ms = null,
                sweep_started_at_ms = null, sweep_started_request = null, sweep_cursor = null,
                sweep_complete = $2, due_ms = 0, failure_count = 0, page_size = $3, last_error = null,
                etag = null, etag_principal = null, etag_sent_at_ms = null, object_count = 0
          where id = $4",
    );
    const UNSTAGE: Sql = Sql::portable("delete from sweep_inventory where lane_id = $1");
    tx.send_statement(UNSTAGE, &params![lane])?;
    let coverage = serialize_coverage(&Coverage::default());
    tx.send_statement(RESTART, &params![&coverage, false, i64::from(FIRST_PAGE_SIZE), lane])
}
