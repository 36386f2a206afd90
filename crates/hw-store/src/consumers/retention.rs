//! Removes events that no consumer needs any more, 90 days after the last one acknowledged them.

use hw_rules::delivery::RETENTION_MS;

use crate::StoreWriter;
use crate::error::StoreError;
use crate::events::IS_DELIVERED;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::watches::watched_threads;

const PURGE: TransactionStep = step!("purge events");

/// The condition that no consumer needs an event: none gets it, or each has acknowledged it or given it up.
const IS_SETTLED: &str = "not exists (select 1 from consumers
                       where consumers.floor_seq < events.seq
                         and not exists (select 1 from deliveries
                                          where deliveries.consumer = consumers.name
                                            and deliveries.seq = events.seq
                                            and deliveries.state = 'acknowledged'))
      and not exists (select 1 from deliveries
                       where deliveries.seq = events.seq and deliveries.state in ('leased', 'waiting'))";

impl StoreWriter {
    /// Looks at up to `limit` events: notes since when nobody needs them, and removes those that nobody has needed for
    /// 90 days. Also removes what is left of removed watches. Returns the number of changed rows: zero once nothing is
    /// left to do.
    pub fn purge_events(&self, now_ms: i64, limit: u32) -> Result<u64, StoreError> {
        const EXPIRED: Sql = Sql::portable(
            "select seq from events where settled_ms is not null and settled_ms < $1
              order by settled_ms limit $2",
        );
        const DELETE_EVENTS: Sql = Sql::per_dialect(
            "delete from events where seq in (select value from json_each($1))",
            "delete from events where seq = any($1)",
        );
        const DELETE_DELIVERIES: Sql = Sql::per_dialect(
            "delete from deliveries where seq in (select value from json_each($1))",
            "delete from deliveries where seq = any($1)",
        );
        let settle = format!(
            "update events set settled_ms = $1
              where seq in (select events.seq from events
                             where events.settled_ms is null and (not ({IS_DELIVERED}) or ({IS_SETTLED}))
                             order by events.seq limit $2)"
        );
        let settle = Sql::portable(&settle);
        let limit = i64::from(limit);
        self.write(PURGE, |tx| {
            let settled = tx.execute(settle, &params![now_ms, limit])?;
            let cutoff = now_ms.saturating_sub(RETENTION_MS);
            let expired = tx.query(EXPIRED, &params![cutoff, limit], |mut row| row.int("seq"))?;
            tx.send_statement(DELETE_EVENTS, &params![expired.as_slice()])?;
            tx.send_statement(DELETE_DELIVERIES, &params![expired.as_slice()])?;
            let orphans = watched_threads::delete_orphans(tx)?;
            Ok(settled + expired.len() as u64 + orphans)
        })
    }
}

/// Notes that nobody needs these events any more, as far as that is so.
pub(super) fn settle_events(
    tx: &mut Transaction<'_>,
    seqs: &[i64],
    now_ms: i64,
) -> Result<(), StoreError> {
    if seqs.is_empty() {
        return Ok(());
    }
    let sqlite = format!(
        "update events set settled_ms = $1
          where seq in (select value from json_each($2)) and settled_ms is null and {IS_SETTLED}"
    );
    let postgres = format!(
        "update events set settled_ms = $1
          where seq = any($2) and settled_ms is null and {IS_SETTLED}"
    );
    tx.send_statement(Sql::per_dialect(&sqlite, &postgres), &params![now_ms, seqs])
}
