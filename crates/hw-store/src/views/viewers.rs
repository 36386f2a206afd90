//! For whom was this read?

use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;

/// Keeps whose token a host answered to: search prefers where he has written something.
pub(crate) fn keep(tx: &mut Tx<'_>, host: &str, login: &str) -> Result<(), Error> {
    const KEEP: Sql = Sql::both(
        "insert into viewers (host, login) values ($1, $2)
         on conflict (host) do update set login = excluded.login",
    );
    tx.execute(KEEP, &params![host, login]).map(drop)
}

/// The repositories in which a viewer has written something himself, each with its host.
pub(crate) fn repositories(tx: &mut Tx<'_>) -> Result<Vec<(String, i64)>, Error> {
    const WRITTEN: Sql = Sql::both(
        "select viewers.host, issues.repository_id
           from viewers join issues
             on lower(issues.author) = lower(viewers.login) and issues.host = viewers.host
         union
         select viewers.host, pull_requests.repository_id
           from viewers join pull_requests
             on lower(pull_requests.author) = lower(viewers.login)
            and pull_requests.host = viewers.host
         union
         select viewers.host, discussions.repository_id
           from viewers join discussions
             on lower(discussions.author) = lower(viewers.login)
            and discussions.host = viewers.host",
    );
    tx.query(WRITTEN, &[], |mut row| Ok((row.text(0)?, row.int(1)?)))
}
