//! Shares request numbers, and the requests of a minute, among the processes of a workspace.

use hw_rules::principal::Principal;
use hw_rules::rate_limit::ApiKind;

use crate::StoreWriter;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};

/// The request numbers `first .. first + count`, reserved for one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestReservation {
    pub first: i64,
    pub count: i64,
}

/// The result of reserving request numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// Some or all of the requested numbers.
    Granted(RequestReservation),
    /// The numbers of this minute are used up; the next minute begins at `until_ms`.
    Full { until_ms: i64 },
}

const RESERVE: TransactionStep = step!("reserve");

const MINUTE_MS: i64 = 60_000;

impl StoreWriter {
    /// Reserves up to `count` request numbers for one API. All processes of the principal together get `per_minute` of
    /// them in a minute.
    ///
    /// A number never repeats in a workspace: the numbers order the observations within one second of the source's
    /// clock.
    pub fn reserve_requests(
        &self,
        principal: &Principal,
        api: ApiKind,
        count: i64,
        now_ms: i64,
        per_minute: i64,
    ) -> Result<ReserveOutcome, StoreError> {
        const NEXT: Sql = Sql::portable(
            "insert into counters (name, value) values ('requests', $1)
             on conflict (name) do update set value = counters.value + excluded.value
             returning value",
        );
        let principal = principal.to_string();
        self.write(RESERVE, |tx| {
            let minute = MinuteReservations::current(tx, &principal, api, now_ms)?;
            let count = count.min(per_minute.saturating_sub(minute.reserved));
            if count <= 0 {
                return Ok(ReserveOutcome::Full {
                    until_ms: minute.began_ms.saturating_add(MINUTE_MS),
                });
            }
            minute.record_reserved(tx, &principal, api, count)?;
            let last =
                tx.query_first(NEXT, &params![count], |mut row| row.int("value"))?.unwrap_or(count);
            Ok(ReserveOutcome::Granted(RequestReservation { first: last - count + 1, count }))
        })
    }
}

/// The number of requests to one API that a principal has reserved in one minute.
#[derive(Debug, Clone, Copy)]
struct MinuteReservations {
    began_ms: i64,
    reserved: i64,
}

impl MinuteReservations {
    /// Returns the current minute.
    ///
    /// If the clocks of two processes differ a little, one of them reaches the next minute first, and both count
    /// there. A minute further ahead was written under a clock that has been corrected since.
    fn current(
        tx: &mut Transaction<'_>,
        principal: &str,
        api: ApiKind,
        now_ms: i64,
    ) -> Result<Self, StoreError> {
        const SELECT_MINUTE: Sql = Sql::portable(
            "select started_ms, reserved_requests from request_minutes
              where principal = $1 and bucket = $2",
        );
        let began_ms = now_ms - now_ms.rem_euclid(MINUTE_MS);
        let stored =
            tx.query_first(SELECT_MINUTE, &params![principal, api.bucket()], |mut row| {
                Ok(Self {
                    began_ms: row.int("started_ms")?,
                    reserved: row.int("reserved_requests")?,
                })
            })?;
        let current = stored
            .filter(|minute| (0..=MINUTE_MS).contains(&minute.began_ms.saturating_sub(began_ms)));
        Ok(current.unwrap_or(Self { began_ms, reserved: 0 }))
    }

    fn record_reserved(
        self,
        tx: &mut Transaction<'_>,
        principal: &str,
        api: ApiKind,
        count: i64,
    ) -> Result<(), StoreError> {
        const UPSERT_MINUTE: Sql = Sql::portable(
            "insert into request_minutes (principal, bucket, started_ms, reserved_requests)
             values ($1, $2, $3, $4)
             on conflict (principal, bucket) do update
                set started_ms = excluded.started_ms,
                    reserved_requests = excluded.reserved_requests",
        );
        let params = params![principal, api.bucket(), self.began_ms, self.reserved + count];
        tx.send_statement(UPSERT_MINUTE, &params)
    }
}
