//! Removed items: what was confirmed gone is kept for 30 days, so that it can be brought back.
//!
//! Only what a look confirmed gone comes here. What a person has read again (`-f`) or leaves out by choice is
//! still at its source, and needs no second copy.

mod restore;
mod stored;

use hw_rules::item::{Key, Kind};
use hw_rules::time::Mark;

use crate::Store;
use crate::error::Error;
use crate::leases::Lease;
use crate::sql::{Param, Row, Sql, params};
use crate::tx::{Step, Tx, step};

pub use restore::Restored;
pub(crate) use stored::{Cause, store};

/// How long removed items can be brought back.
pub const KEPT_MS: i64 = 30 * 86_400_000;
/// The most rows that one transaction purges.
const BATCH: i64 = 500;

/// What showed that an item is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalReason {
    /// Its list no longer shows it, and a look by its id did not find it.
    NotListed,
    /// Its repository is gone, archived, a fork, or under another owner.
    RepositoryGone,
}

impl RemovalReason {
    pub const ALL: [Self; 2] = [Self::NotListed, Self::RepositoryGone];

    pub fn name(self) -> &'static str {
        match self {
            Self::NotListed => "not_listed",
            Self::RepositoryGone => "repository_gone",
        }
    }
}

/// An item that was removed and can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedItem {
    pub host: String,
    pub key: Key,
    /// The object that was confirmed gone and took this one along; itself, if it was this one.
    pub root: Key,
    pub repository_id: i64,
    /// Owner and name.
    pub repository: String,
    /// The number of the thread, or of the thread that a comment belongs to.
    pub number: Option<i64>,
    pub title: String,
    pub url: String,
    pub reason: RemovalReason,
    /// The source's time of the look that confirmed it gone.
    pub removed_at: Mark,
    /// How many others went with it.
    pub with_it: u64,
}

impl RemovedItem {
    /// It can be restored at least until then.
    pub fn kept_until(&self) -> Mark {
        self.removed_at.plus(KEPT_MS)
    }
}

/// Which removed items are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovedQuery {
    /// Everything that was confirmed gone at that time or later, without what went with it.
    Since(Mark),
    Id(i64),
    Url(String),
    /// The threads of this number, of whichever repository.
    Number(i64),
    Repositories,
}

const COLUMNS: &str =
    "host, kind, id, root_kind, root_id, repository_id, repository, number, title, url,
    reason, removed_at_ms,
    (select count(*) from removed as others
      where others.host = removed.host and others.root_kind = removed.kind
        and others.root_id = removed.id
        and (others.kind <> removed.kind or others.id <> removed.id))";

/// The condition that the object of a row has not come back.
const STILL_GONE: &str = "not exists (select 1 from cells
      where cells.host = removed.host and cells.kind = removed.kind and cells.id = removed.id
        and cells.updated_at is not null
        and (cells.gone_at_ms is null
             or (cells.gone_at_ms, cells.gone_request) < (cells.seen_at_ms, cells.seen_request)))";

/// The condition that an object was confirmed gone itself.
const IS_ROOT: &str = "root_kind = kind and root_id = id";

const PURGE: Step = step!("purge removed");

impl Store {
    /// Returns what was removed and has not come back, newest first, without what went with it.
    pub fn removed_items(&self, limit: u64) -> Result<Vec<RemovedItem>, Error> {
        let condition =
            format!("{IS_ROOT} and {STILL_GONE} order by removed_at_ms desc, kind, id limit $1");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("removed items", |tx| select(tx, &condition, &params![limit]))
    }

    /// Returns how many items were removed and have not come back, with what went with them.
    pub fn count_removed_items(&self) -> Result<u64, Error> {
        let text = format!("select count(*) from removed where {STILL_GONE}");
        self.read("removed items", |tx| tx.count(Sql::both(&text), &[]))
    }

    /// Returns the removed items that a query means, those that came back included.
    pub fn find_removed_items(&self, query: &RemovedQuery) -> Result<Vec<RemovedItem>, Error> {
        let (condition, param) = match query {
            RemovedQuery::Since(time) => {
                (format!("{IS_ROOT} and removed_at_ms >= $1"), time.0.into())
            }
            RemovedQuery::Id(id) => ("id = $1".to_owned(), (*id).into()),
            RemovedQuery::Url(url) => ("url = $1".to_owned(), url.into()),
            RemovedQuery::Number(number) => (
                "number = $1 and kind in ('issue', 'pull_request', 'discussion')".to_owned(),
                (*number).into(),
            ),
            RemovedQuery::Repositories => ("kind = $1".to_owned(), Kind::Repository.name().into()),
        };
        let condition = format!("{condition} order by removed_at_ms desc, kind, id");
        self.read("removed items", |tx| select(tx, &condition, &[param]))
    }

    /// Deletes what was removed before a time, some hundred rows in a transaction; returns how many.
    pub fn purge_removed(&self, lease: &Lease, before: Mark) -> Result<u64, Error> {
        const OLD: Sql = Sql::both(
            "delete from removed
              where (host, kind, id) in (select host, kind, id from removed
                                          where removed_at_ms < $1 limit $2)",
        );
        const ANY: Sql = Sql::both("select 1 from removed where removed_at_ms < $1 limit 1");
        let mut purged = 0;
        loop {
            let is_old = |tx: &mut Tx<'_>| tx.first(ANY, &params![before.0], |mut row| row.int(0));
            if self.read("removed items", is_old)?.is_none() {
                return Ok(purged);
            }
            purged +=
                self.write_for(lease, PURGE, |tx| tx.execute(OLD, &params![before.0, BATCH]))?;
        }
    }
}

fn select(
    tx: &mut Tx<'_>,
    condition: &str,
    params: &[Param<'_>],
) -> Result<Vec<RemovedItem>, Error> {
    let text = format!("select {COLUMNS} from removed where {condition}");
    tx.query(Sql::both(&text), params, read)
}

fn read(mut row: Row) -> Result<RemovedItem, Error> {
    let (key, root) = (key(&row.text(1)?, row.int(2)?)?, key(&row.text(3)?, row.int(4)?)?);
    let reason = row.text(10)?;
    let known = RemovalReason::ALL.into_iter().find(|known| known.name() == reason);
    Ok(RemovedItem {
        host: row.text(0)?,
        key,
        root,
        repository_id: row.int(5)?,
        repository: row.text(6)?,
        number: row.maybe_int(7)?,
        title: row.text(8)?,
        url: row.text(9)?,
        reason: known
            .ok_or_else(|| Error::Damaged(format!("unknown reason for a removal: {reason:?}")))?,
        removed_at: Mark(row.int(11)?),
        with_it: row.int(12)?.unsigned_abs(),
    })
}

fn key(kind: &str, id: i64) -> Result<Key, Error> {
    let known = Kind::named(kind);
    let kind = known.ok_or_else(|| Error::Damaged(format!("unknown kind of object: {kind:?}")))?;
    Ok(Key { kind, id })
}
