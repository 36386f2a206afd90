//! What is believed of each source's clock, and what follows when that clock was wrong.

use hw_rules::OVERLAP_MS;
use hw_rules::lane::Lane;
use hw_rules::source_clock::SourceClock;
use hw_rules::time::Mark;

use crate::cells::{self, CellRow};
use crate::error::Error;
use crate::leases::Lease;
use crate::sql::{Row, Sql, params};
use crate::tx::{Step, Tx, step};
use crate::{Store, lanes, quarantine, sweeps};

const KEEP_CLOCK: Step = step!("keep clock");
const DISTRUST: Step = step!("distrust");

impl Store {
    /// What this machine knows of a source's clock.
    pub fn source_clock(&self, host: &str, machine: &str) -> Result<Option<SourceClock>, Error> {
        const CLOCK: Sql =
            Sql::both("select clock from source_clocks where host = $1 and machine = $2");
        let text = self.read("clock", |tx| {
            tx.first(CLOCK, &params![host, machine], |mut row: Row| row.text(0))
        })?;
        // one that cannot be read is learned again from the next answer
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Keeps what this machine knows of a source's clock.
    pub fn keep_source_clock(
        &self,
        lease: &Lease,
        host: &str,
        machine: &str,
        clock: &SourceClock,
    ) -> Result<(), Error> {
        const KEEP: Sql = Sql::both(
            "insert into source_clocks (host, machine, clock) values ($1, $2, $3)
             on conflict (host, machine) do update set clock = excluded.clock",
        );
        let text = serde_json::to_string(clock).expect("a clock is plain numbers, always JSON");
        self.write_for(lease, KEEP_CLOCK, |tx| {
            tx.execute(KEEP, &params![host, machine, &text]).map(drop)
        })
    }

    /// Resets the lanes of a host that rely on something later than `base`, a time that its source had not
    /// reached, and has those looked at that were looked at later; counts them.
    ///
    /// A lane that claims nothing yet may hold texts all the same: those of a first reading that was interrupted.
    pub fn distrust_beyond(&self, lease: &Lease, host: &str, base: Mark) -> Result<u64, Error> {
        const FORGET: Sql =
            Sql::both("update lanes set checked_at_ms = $1 where host = $2 and checked_at_ms > $3");
        let mut count = 0;
        for (lane, state, _) in self.lanes()?.into_iter().filter(|(lane, ..)| lane.host == host) {
            if state.coverage.latest_claim() > Some(base) {
                self.reset_lane(lease, &lane, base, "it lies beyond the source's own time")?;
                count += 1;
            } else {
                self.write_for(lease, DISTRUST, |tx| {
                    let id = lanes::lane_id(tx, &lane)?;
                    redate_lane(tx, (id, &lane), base)
                })?;
            }
        }
        let looked_at = base.minus(OVERLAP_MS);
        let forgotten = self.write_for(lease, DISTRUST, |tx| {
            tx.execute(FORGET, &params![looked_at.0, host, base.0])
        })?;
        Ok(count + forgotten)
    }
}

/// Has what a lane holds from beyond `latest` count as a day old: whatever the source shows next supersedes it,
/// and presence revives it.
pub(crate) fn redate_lane(tx: &mut Tx<'_>, lane: (i64, &Lane), latest: Mark) -> Result<(), Error> {
    let (id, lane) = lane;
    quarantine::redate(tx, id, latest)?;
    loop {
        let beyond = cells::beyond(tx, id, latest)?;
        if beyond.is_empty() {
            return Ok(());
        }
        let redated: Vec<_> = beyond
            .iter()
            .map(|(key, cell, search_rowid)| (*key, cell.redated(latest), *search_rowid))
            .collect();
        let rows: Vec<_> = redated
            .iter()
            .map(|(key, cell, search_rowid)| CellRow {
                key: *key,
                cell,
                search_rowid: *search_rowid,
            })
            .collect();
        cells::keep(tx, &lane.host, id, &rows)?;
    }
}

/// Has a lane looked at again, whatever its last look was.
pub(crate) fn forget_look(tx: &mut Tx<'_>, lane: i64, to: Mark) -> Result<(), Error> {
    const FORGET: Sql = Sql::both(
        "update lanes
            set etag = null, etag_principal = null, etag_at_ms = null,
                checked_at_ms = case when checked_at_ms > $1 then $1 else checked_at_ms end,
                sweep_due_ms = coalesce(sweep_due_ms, 0)
          where id = $2",
    );
    sweeps::unstage(tx, lane)?;
    tx.execute(FORGET, &params![to.0, lane]).map(drop)
}
