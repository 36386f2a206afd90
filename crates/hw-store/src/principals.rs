//! What the processes of a workspace share about asking: request numbers, and pauses the source wants.

use hw_rules::clean;

use crate::Store;
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::{Step, Tx, step};
use crate::views::health::PauseRow;

/// Request numbers `first .. first + count`, ours alone, and whether the principal is to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    pub first: i64,
    pub count: i64,
    pub paused_until_ms: Option<i64>,
}

/// What came of asking for request numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// Some of them, or all.
    Granted(Reservation),
    /// This minute's are given out; there are more then.
    Full { until_ms: i64 },
}

const RESERVE: Step = step!("reserve");
const PAUSE: Step = step!("pause");

const MINUTE_MS: i64 = 60_000;

impl Store {
    /// Reserves up to `count` request numbers, of which all processes together get `a_minute`.
    ///
    /// They never repeat in a workspace, whoever asks: they order the looks within one second of the
    /// source's clock.
    pub fn reserve(
        &self,
        principal: &str,
        count: i64,
        now_ms: i64,
        a_minute: i64,
    ) -> Result<Reserved, Error> {
        const NEXT: Sql = Sql::both(
            "insert into counters (name, value) values ('requests', $1)
             on conflict (name) do update set value = counters.value + excluded.value
             returning value",
        );
        self.write(RESERVE, |tx| {
            let minute = Minute::of(tx, principal, now_ms)?;
            let count = count.min(a_minute.saturating_sub(minute.reserved));
            if count <= 0 {
                return Ok(Reserved::Full { until_ms: minute.began_ms.saturating_add(MINUTE_MS) });
            }
            minute.take(tx, principal, count)?;
            let last = tx.first(NEXT, &params![count], |mut row| row.int(0))?.unwrap_or(count);
            let paused_until_ms = pause_of(tx, principal, i64::MAX)?;
            Ok(Reserved::Granted(Reservation { first: last - count + 1, count, paused_until_ms }))
        })
    }

    /// Has a principal wait until then; a longer pause stays, unless it is later than `latest_ms`: no limit
    /// lasts that long, so a clock that stood elsewhere wrote it.
    pub fn pause(
        &self,
        principal: &str,
        until_ms: i64,
        latest_ms: i64,
        why: &str,
    ) -> Result<(), Error> {
        const KEEP: Sql = Sql::both(
            "insert into principals (name, paused_until_ms, paused_why) values ($1, $2, $3)
             on conflict (name) do update
                set paused_until_ms = excluded.paused_until_ms, paused_why = excluded.paused_why
              where principals.paused_until_ms is null
                 or principals.paused_until_ms < excluded.paused_until_ms
                 or $4 < principals.paused_until_ms",
        );
        let why = clean::storable(why);
        let params = params![principal, until_ms, &why, latest_ms];
        self.write(PAUSE, |tx| tx.execute(KEEP, &params).map(drop))
    }

    /// Deletes the pause stored under exactly this name if it ends no later than `until_ms`.
    pub fn lift_pause(&self, principal: &str, until_ms: i64) -> Result<(), Error> {
        const LIFT: Sql = Sql::both(
            "update principals set paused_until_ms = null, paused_why = null
              where name = $1 and paused_until_ms <= $2",
        );
        self.write(PAUSE, |tx| tx.execute(LIFT, &params![principal, until_ms]).map(drop))
    }

    /// The pauses of a principal, the longest first; they may be past. What is later than `latest_ms` does not count.
    pub fn pauses_of(&self, principal: &str, latest_ms: i64) -> Result<Vec<PauseRow>, Error> {
        const PAUSES: Sql = Sql::each(
            "select name, paused_until_ms, paused_why from principals
              where (name in (select value from json_each($1)) or substr(name, 1, $2) = $3)
                and paused_until_ms <= $4 order by paused_until_ms desc, name",
            "select name, paused_until_ms, paused_why from principals
              where (name = any($1) or substr(name, 1, $2) = $3) and paused_until_ms <= $4
              order by paused_until_ms desc, name",
        );
        let reach = Reach::of(principal);
        let names: Vec<&str> = reach.names.iter().map(String::as_str).collect();
        let params = params![names.as_slice(), reach.length, &reach.below, latest_ms];
        self.read("pause", |tx| {
            tx.query(PAUSES, &params, |mut row| {
                let (principal, until_ms) = (row.text(0)?, row.int(1)?);
                Ok(PauseRow { principal, until_ms, why: row.maybe_text(2)?.unwrap_or_default() })
            })
        })
    }

    /// Until when a principal is to wait; it may be past. What is later than `latest_ms` does not count.
    pub fn paused_until(&self, principal: &str, latest_ms: i64) -> Result<Option<i64>, Error> {
        self.read("pause", |tx| pause_of(tx, principal, latest_ms))
    }
}

/// What a principal reserved in a minute.
#[derive(Debug, Clone, Copy)]
struct Minute {
    began_ms: i64,
    reserved: i64,
}

impl Minute {
    /// The minute that counts now.
    ///
    /// Of two processes whose clocks differ a little, one is in the next minute first, and both count
    /// there. A minute further ahead was written by a clock that has been set right since.
    fn of(tx: &mut Tx<'_>, principal: &str, now_ms: i64) -> Result<Self, Error> {
        const HELD: Sql = Sql::both(
            "select minute_ms, reserved from principals
              where name = $1 and minute_ms is not null",
        );
        let began_ms = now_ms - now_ms.rem_euclid(MINUTE_MS);
        let held = tx.first(HELD, &params![principal], |mut row| {
            Ok(Self { began_ms: row.int(0)?, reserved: row.int(1)? })
        })?;
        let counts =
            |held: &Self| (0..=MINUTE_MS).contains(&held.began_ms.saturating_sub(began_ms));
        Ok(held.filter(counts).unwrap_or(Self { began_ms, reserved: 0 }))
    }

    fn take(self, tx: &mut Tx<'_>, principal: &str, count: i64) -> Result<(), Error> {
        const KEEP: Sql = Sql::both(
            "insert into principals (name, minute_ms, reserved) values ($1, $2, $3)
             on conflict (name) do update
                set minute_ms = excluded.minute_ms, reserved = excluded.reserved",
        );
        let params = params![principal, self.began_ms, self.reserved + count];
        tx.execute(KEEP, &params).map(drop)
    }
}

/// The rows that count for a principal.
struct Reach {
    /// Itself, all above it, and the reserve of each.
    names: Vec<String>,
    /// How the names below it begin, and the length of that.
    below: String,
    length: i64,
}

impl Reach {
    fn of(principal: &str) -> Self {
        let above = principal.match_indices('/').filter_map(|(end, _)| principal.get(..end));
        let names = above.chain([principal]);
        let names = names.flat_map(|name| [name.to_owned(), reserve_name(name)]).collect();
        let below = format!("{principal}/");
        let length = i64::try_from(below.chars().count()).unwrap_or(i64::MAX);
        Self { names, below, length }
    }
}

/// Returns the name under which a principal's pauses for the reserve are kept: beside the limits of the source, which
/// such a pause must neither hide nor take with it when it is lifted.
pub fn reserve_name(principal: &str) -> String {
    format!("{principal}{RESERVE_SUFFIX}")
}

const RESERVE_SUFFIX: &str = "/reserve";

impl PauseRow {
    /// Whether we paused by ourselves, to leave the rest of the budget to the user's other tools.
    pub fn is_reserve(&self) -> bool {
        self.principal.ends_with(RESERVE_SUFFIX)
    }
}

/// The pause of a principal, of all below it and of all above it: `host` stands for every `host/user`.
///
/// Before the first answer nobody knows whom a token speaks for: then any pause at the host counts, and
/// what the host asked for then holds for whoever it turns out to be.
fn pause_of(tx: &mut Tx<'_>, principal: &str, latest_ms: i64) -> Result<Option<i64>, Error> {
    const PAUSED: Sql = Sql::each(
        "select max(paused_until_ms) from principals
          where (name in (select value from json_each($1)) or substr(name, 1, $2) = $3)
            and paused_until_ms <= $4",
        "select max(paused_until_ms) from principals
          where (name = any($1) or substr(name, 1, $2) = $3) and paused_until_ms <= $4",
    );
    let reach = Reach::of(principal);
    let names: Vec<&str> = reach.names.iter().map(String::as_str).collect();
    let params = params![names.as_slice(), reach.length, &reach.below, latest_ms];
    Ok(tx.first(PAUSED, &params, |mut row| row.maybe_int(0))?.flatten())
}
