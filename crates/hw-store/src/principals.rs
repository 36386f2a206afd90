//! Shares request numbers and rate limit pauses among the processes of a workspace.

use hw_rules::safe_text;

use crate::Store;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::health::PauseRow;

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
const PAUSE: TransactionStep = step!("pause");

const MINUTE_MS: i64 = 60_000;

impl Store {
    /// Reserves up to `count` request numbers. All processes together get `per_minute` of them in a minute.
    ///
    /// A number never repeats in a workspace: the numbers order the observations within one second of the source's
    /// clock.
    pub fn reserve_requests(
        &self,
        principal: &str,
        count: i64,
        now_ms: i64,
        per_minute: i64,
    ) -> Result<ReserveOutcome, StoreError> {
        const NEXT: Sql = Sql::portable(
            "insert into counters (name, value) values ('requests', $1)
             on conflict (name) do update set value = counters.value + excluded.value
             returning value",
        );
        self.write(RESERVE, |tx| {
            let minute = MinuteReservations::current(tx, principal, now_ms)?;
            let count = count.min(per_minute.saturating_sub(minute.reserved));
            if count <= 0 {
                return Ok(ReserveOutcome::Full {
                    until_ms: minute.began_ms.saturating_add(MINUTE_MS),
                });
            }
            minute.record_reserved(tx, principal, count)?;
            let last =
                tx.query_first(NEXT, &params![count], |mut row| row.int(0))?.unwrap_or(count);
            Ok(ReserveOutcome::Granted(RequestReservation { first: last - count + 1, count }))
        })
    }

    /// Pauses a principal. A longer pause stays, unless it ends after `latest_ms`: no limit lasts that long, so it was
    /// written under a wrong clock.
    pub fn pause_principal(
        &self,
        principal: &str,
        until_ms: i64,
        latest_ms: i64,
        why: &str,
    ) -> Result<(), StoreError> {
        const UPSERT_PAUSE: Sql = Sql::portable(
            "insert into principals (name, paused_until_ms, pause_reason) values ($1, $2, $3)
             on conflict (name) do update
                set paused_until_ms = excluded.paused_until_ms, pause_reason = excluded.pause_reason
              where principals.paused_until_ms is null
                 or principals.paused_until_ms < excluded.paused_until_ms
                 or $4 < principals.paused_until_ms",
        );
        let why = safe_text::sanitize_for_storage(why);
        let params = params![principal, until_ms, &why, latest_ms];
        self.write(PAUSE, |tx| tx.execute(UPSERT_PAUSE, &params).map(drop))
    }

    /// Deletes the pause stored under exactly this name if it ends no later than `until_ms`.
    pub fn lift_pause(&self, principal: &str, until_ms: i64) -> Result<(), StoreError> {
        const LIFT: Sql = Sql::portable(
            "update principals set paused_until_ms = null, pause_reason = null
              where name = $1 and paused_until_ms <= $2",
        );
        self.write(PAUSE, |tx| tx.execute(LIFT, &params![principal, until_ms]).map(drop))
    }

    /// Returns the pauses of a principal, the longest first. They may be over. Pauses that end after `latest_ms` are
    /// ignored.
    pub fn principal_pauses(
        &self,
        principal: &str,
        latest_ms: i64,
    ) -> Result<Vec<PauseRow>, StoreError> {
        const PAUSES: Sql = Sql::per_dialect(
            "select name, paused_until_ms, pause_reason from principals
              where (name in (select value from json_each($1)) or substr(name, 1, $2) = $3)
                and paused_until_ms <= $4 order by paused_until_ms desc, name",
            "select name, paused_until_ms, pause_reason from principals
              where (name = any($1) or substr(name, 1, $2) = $3) and paused_until_ms <= $4
              order by paused_until_ms desc, name",
        );
        let scope = PrincipalScope::new(principal);
        let names: Vec<&str> = scope.names.iter().map(String::as_str).collect();
        let params =
            params![names.as_slice(), scope.child_prefix_chars, &scope.child_prefix, latest_ms];
        self.read("pause", |tx| {
            tx.query(PAUSES, &params, |mut row| {
                let (principal, until_ms) = (row.text(0)?, row.int(1)?);
                Ok(PauseRow { principal, until_ms, reason: row.maybe_text(2)?.unwrap_or_default() })
            })
        })
    }

    /// Returns the end of a principal's pause, which may be over. Pauses that end after `latest_ms` are ignored.
    pub fn paused_until(&self, principal: &str, latest_ms: i64) -> Result<Option<i64>, StoreError> {
        self.read("pause", |tx| read_pause(tx, principal, latest_ms))
    }
}

/// The number of requests that a principal has reserved in one minute.
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
    fn current(tx: &mut Transaction<'_>, principal: &str, now_ms: i64) -> Result<Self, StoreError> {
        const SELECT_MINUTE: Sql = Sql::portable(
            "select minute_started_ms, reserved_requests from principals
              where name = $1 and minute_started_ms is not null",
        );
        let began_ms = now_ms - now_ms.rem_euclid(MINUTE_MS);
        let stored = tx.query_first(SELECT_MINUTE, &params![principal], |mut row| {
            Ok(Self { began_ms: row.int(0)?, reserved: row.int(1)? })
        })?;
        let current = stored
            .filter(|minute| (0..=MINUTE_MS).contains(&minute.began_ms.saturating_sub(began_ms)));
        Ok(current.unwrap_or(Self { began_ms, reserved: 0 }))
    }

    fn record_reserved(
        self,
        tx: &mut Transaction<'_>,
        principal: &str,
        count: i64,
    ) -> Result<(), StoreError> {
        const UPSERT_MINUTE: Sql = Sql::portable(
            "insert into principals (name, minute_started_ms, reserved_requests) values ($1, $2, $3)
             on conflict (name) do update
                set minute_started_ms = excluded.minute_started_ms, reserved_requests = excluded.reserved_requests",
        );
        let params = params![principal, self.began_ms, self.reserved + count];
        tx.execute(UPSERT_MINUTE, &params).map(drop)
    }
}

/// The rows that apply to a principal.
struct PrincipalScope {
    /// The principal, its parents, and the reserve of each.
    names: Vec<String>,
    /// The prefix of the names below the principal.
    child_prefix: String,
    child_prefix_chars: i64,
}

impl PrincipalScope {
    fn new(principal: &str) -> Self {
        let parents = principal.match_indices('/').filter_map(|(end, _)| principal.get(..end));
        let names = parents.chain([principal]);
        let names = names.flat_map(|name| [name.to_owned(), reserve_name(name)]).collect();
        let child_prefix = format!("{principal}/");
        let child_prefix_chars = i64::try_from(child_prefix.chars().count()).unwrap_or(i64::MAX);
        Self { names, child_prefix, child_prefix_chars }
    }
}

/// Returns the name under which a principal's pauses for the reserve are stored. They are separate from the limits of
/// the source, so that lifting one never lifts or hides the other.
pub fn reserve_name(principal: &str) -> String {
    format!("{principal}{RESERVE_SUFFIX}")
}

const RESERVE_SUFFIX: &str = "/reserve";

impl PauseRow {
    /// Returns true for a pause that highwater set itself, to leave the rest of the budget to the user's other tools.
    pub fn is_reserve(&self) -> bool {
        self.principal.ends_with(RESERVE_SUFFIX)
    }
}

/// Returns the pause of a principal, its parents and its children: `host` covers every `host/user`.
///
/// Before the first response the token's user is unknown. Until then, any pause at the host applies, and a pause that
/// the host requests applies to every user.
fn read_pause(
    tx: &mut Transaction<'_>,
    principal: &str,
    latest_ms: i64,
) -> Result<Option<i64>, StoreError> {
    const PAUSED: Sql = Sql::per_dialect(
        "select max(paused_until_ms) from principals
          where (name in (select value from json_each($1)) or substr(name, 1, $2) = $3)
            and paused_until_ms <= $4",
        "select max(paused_until_ms) from principals
          where (name = any($1) or substr(name, 1, $2) = $3) and paused_until_ms <= $4",
    );
    let scope = PrincipalScope::new(principal);
    let names: Vec<&str> = scope.names.iter().map(String::as_str).collect();
    let params =
        params![names.as_slice(), scope.child_prefix_chars, &scope.child_prefix, latest_ms];
    Ok(tx.query_first(PAUSED, &params, |mut row| row.maybe_int(0))?.flatten())
}
