//! Reads how far a lane has come: what the next page of the lane is compared with.

use hw_rules::coverage::Coverage;
use hw_rules::lane::Lane;

use super::parse_coverage;
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::Transaction;

/// The stored progress of a lane.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaneProgress {
    pub(crate) coverage: Coverage,
    /// The number of the lane's items, including quarantined ones.
    pub(crate) total: i64,
}

/// A lane's progress that was requested.
pub(crate) struct PendingProgress(PendingRows);

macro_rules! select_progress {
    ($condition:literal) => {
        Sql::portable(concat!(
            "select coverage,
                    object_count
                    + (select count(*) from quarantine where quarantine.lane_id = lanes.id) as total
               from lanes where ",
            $condition
        ))
    };
}

impl PendingProgress {
    /// Requests the progress of a lane that may have no row, and then nothing of it is stored.
    pub(crate) fn send(tx: &mut Transaction<'_>, lane: &Lane) -> Result<Self, StoreError> {
        const OF_NAME: Sql = select_progress!("name = $1");
        Ok(Self(tx.send_query(OF_NAME, &params![&lane.to_string()])?))
    }

    pub(crate) fn send_for_id(tx: &mut Transaction<'_>, lane: i64) -> Result<Self, StoreError> {
        const OF_ID: Sql = select_progress!("id = $1");
        Ok(Self(tx.send_query(OF_ID, &params![lane])?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<LaneProgress, StoreError> {
        let rows = tx.read_pending(self.0, read_progress)?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }
}

fn read_progress(mut row: SqlRow) -> Result<LaneProgress, StoreError> {
    Ok(LaneProgress { coverage: parse_coverage(&row.text("coverage")?), total: row.int("total")? })
}
