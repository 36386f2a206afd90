//! For whom was this read?

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::Kind;

use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;

/// Keeps whose token a host answered to: search prefers where he has written something.
pub(crate) fn keep(tx: &mut Tx<'_>, host: &str, login: &str) -> Result<(), Error> {
    const KEEP: Sql = Sql::both(
        "insert into viewers (host, login) values ($1, $2)
         on conflict (host) do update set login = excluded.login",
    );
    tx.execute(KEEP, &params![host, login]).map(drop)
}

/// The repositories in which a viewer has written something himself, by host.
pub(crate) fn repositories(tx: &mut Tx<'_>) -> Result<BTreeMap<String, BTreeSet<i64>>, Error> {
    const VIEWERS: Sql = Sql::both("select host, lower(login) from viewers");
    // by the author alone: a condition on the host would tempt SQLite to look at everything that is there
    const WRITTEN: OfKind =
        of_kind!("select distinct host, repository_id from", "where lower(author) = $1");
    let viewers = tx.query(VIEWERS, &[], |mut row| Ok((row.text(0)?, row.text(1)?)))?;
    let mut written = BTreeMap::<_, BTreeSet<i64>>::new();
    for (host, login) in viewers {
        for kind in Kind::THREADS {
            let read = |mut row: Row| Ok((row.text(0)?, row.int(1)?));
            let there = tx.query(WRITTEN.of(kind), &params![&login], read)?;
            let ids = there.into_iter().filter(|(at, _)| *at == host).map(|(_, id)| id);
            written.entry(host.clone()).or_default().extend(ids);
        }
    }
    Ok(written)
}
