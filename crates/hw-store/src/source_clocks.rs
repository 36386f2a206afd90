//! Stores the estimate of each source's clock, and corrects the lanes if that clock was wrong.

use hw_rules::OVERLAP_MS;
use hw_rules::source_clock::SourceClock;
use hw_rules::source_time::SourceInstant;

use crate::cells::{self, StoredCell};
use crate::error::StoreError;
use crate::lanes::StoredLane;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader, lanes, quarantine, sweeps};

const STORE_CLOCK: TransactionStep = step!("store clock");
const REDATE: TransactionStep = step!("redate lanes");

impl StoreReader {
    /// Returns this machine's estimate of a source's clock.
    pub fn source_clock(
        &self,
        host: &str,
        machine: &str,
    ) -> Result<Option<SourceClock>, StoreError> {
        const CLOCK: Sql =
            Sql::portable("select clock from source_clocks where host = $1 and machine = $2");
        let text = self.read("clock", |tx| {
            tx.query_first(CLOCK, &params![host, machine], |mut row| row.text("clock"))
        })?;
        // an unreadable estimate is replaced after the next response
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

impl LeasedStore {
    /// Stores this machine's estimate of a source's clock.
    pub fn store_source_clock(
        &self,
        host: &str,
        machine: &str,
        clock: &SourceClock,
    ) -> Result<(), StoreError> {
        const UPSERT: Sql = Sql::portable(
            "insert into source_clocks (host, machine, clock) values ($1, $2, $3)
             on conflict (host, machine) do update set clock = excluded.clock",
        );
        let text = serde_json::to_string(clock).expect("a clock is plain numbers, always JSON");
        self.write_with_lease(STORE_CLOCK, |tx| {
            tx.send_statement(UPSERT, &params![host, machine, &text])
        })
    }

    /// Resets the lanes of a host whose coverage is later than `base`, a time that its source had not reached, and makes
    /// the lanes due that were checked later than that. Returns the number of both.
    ///
    /// A lane that claims nothing yet may contain items of an interrupted first read, so its items are redated as well.
    pub fn reset_lanes_beyond(&self, host: &str, base: SourceInstant) -> Result<u64, StoreError> {
        const FORGET: Sql = Sql::portable(
            "update lanes set checked_at_ms = $1 where host = $2 and checked_at_ms > $3",
        );
        let mut count = 0;
        for (lane, state, _) in self.lanes()?.into_iter().filter(|(lane, ..)| lane.host == *host) {
            if state.coverage.latest_claim() > Some(base) {
                self.reset_lane(&lane, base, "it is later than the source's clock")?;
                count += 1;
            } else {
                self.write_with_lease(REDATE, |tx| {
                    let id = lanes::ensure_lane_id(tx, &lane)?;
                    redate_lane(tx, StoredLane { id, lane: &lane }, base)
                })?;
            }
        }
        let checked_at = base.minus_ms(OVERLAP_MS);
        let forgotten = self.write_with_lease(REDATE, |tx| {
            tx.execute(FORGET, &params![checked_at.0, host, base.0])
        })?;
        Ok(count + forgotten)
    }
}

/// Makes a lane's items from beyond `latest` count as a day old: any later observation replaces or revives them.
pub(crate) fn redate_lane(
    tx: &mut Transaction<'_>,
    StoredLane { id, lane }: StoredLane<'_>,
    latest: SourceInstant,
) -> Result<(), StoreError> {
    quarantine::redate_quarantine(tx, id, latest)?;
    loop {
        let mut beyond = cells::read_cells_beyond(tx, id, latest)?;
        if beyond.is_empty() {
            return Ok(());
        }
        for stored in &mut beyond {
            stored.cell = stored.cell.redate_after(latest);
        }
        let rows: Vec<_> = beyond.iter().map(StoredCell::as_row).collect();
        cells::store_cells(tx, &lane.host, id, &rows)?;
    }
}

/// Makes a lane due for another check, regardless of its last one.
pub(crate) fn forget_last_check(
    tx: &mut Transaction<'_>,
    lane: i64,
    to: SourceInstant,
) -> Result<(), StoreError> {
    const FORGET: Sql = Sql::portable(
        "update lanes
            set etag = null, etag_principal = null, etag_sent_at_ms = null,
                checked_at_ms = case when checked_at_ms > $1 then $1 else checked_at_ms end,
                sweep_due_ms = 0
          where id = $2",
    );
    sweeps::discard_staged_sweep(tx, lane)?;
    tx.send_statement(FORGET, &params![to.0, lane])
}
