//! What the processes of a workspace share about asking: request numbers, and pauses the source wants.

use hw_rules::clean;

use crate::Store;
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::{Step, Tx, step};

/// Request numbers `first .. first + count`, ours alone, and whether the principal is to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    pub first: i64,
    pub count: i64,
    pub paused_until_ms: Option<i64>,
}

const RESERVE: Step = step!("reserve");
const PAUSE: Step = step!("pause");

impl Store {
    /// Reserves request numbers. They never repeat in a workspace, whoever asks: they order the looks
    /// within one second of the source's clock.
    pub fn reserve(&self, principal: &str, count: i64) -> Result<Reservation, Error> {
        const NEXT: Sql = Sql::both(
            "insert into counters (name, value) values ('requests', $1)
             on conflict (name) do update set value = counters.value + excluded.value
             returning value",
        );
        self.write(RESERVE, |tx| {
            let last = tx.first(NEXT, &params![count], |mut row| row.int(0))?.unwrap_or(count);
            let paused_until_ms = pause_of(tx, principal)?;
            Ok(Reservation { first: last - count + 1, count, paused_until_ms })
        })
    }

    /// Has a principal wait until then; a longer pause stays.
    pub fn pause(&self, principal: &str, until_ms: i64, why: &str) -> Result<(), Error> {
        const KEEP: Sql = Sql::both(
            "insert into principals (name, paused_until_ms, paused_why) values ($1, $2, $3)
             on conflict (name) do update
                set paused_until_ms = excluded.paused_until_ms, paused_why = excluded.paused_why
              where principals.paused_until_ms < excluded.paused_until_ms",
        );
        let why = clean::storable(why);
        self.write(PAUSE, |tx| tx.execute(KEEP, &params![principal, until_ms, &why]).map(drop))
    }

    /// Until when a principal is to wait; it may be past.
    pub fn paused_until(&self, principal: &str) -> Result<Option<i64>, Error> {
        self.read("pause", |tx| pause_of(tx, principal))
    }
}

/// The pause of a principal, of all below it and of all above it: `host` stands for every `host/user`.
///
/// Before the first answer nobody knows whom a token speaks for: then any pause at the host counts, and
/// what the host asked for then holds for whoever it turns out to be.
fn pause_of(tx: &mut Tx<'_>, principal: &str) -> Result<Option<i64>, Error> {
    const PAUSED: Sql = Sql::each(
        "select max(paused_until_ms) from principals
          where name in (select value from json_each($1)) or substr(name, 1, $2) = $3",
        "select max(paused_until_ms) from principals
          where name = any($1) or substr(name, 1, $2) = $3",
    );
    let above = principal.match_indices('/').filter_map(|(end, _)| principal.get(..end));
    let names: Vec<_> = above.chain([principal]).collect();
    let below = format!("{principal}/");
    let length = i64::try_from(below.chars().count()).unwrap_or(i64::MAX);
    let params = params![names.as_slice(), length, &below];
    Ok(tx.first(PAUSED, &params, |mut row| row.maybe_int(0))?.flatten())
}
