//! Keeps removed items for 30 days, so that they can be restored.
//!
//! Only items that were confirmed gone are kept. Items that the user downloads again (`-f`) or excludes are still at
//! their source, and need no second copy.

mod restore;
mod writer;

use hw_rules::item::{ObjectKey, ObjectKind};
use hw_rules::repository_key::Host;
use hw_rules::source_time::SourceInstant;

use crate::error::StoreError;
use crate::sql::{Sql, SqlParam, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};

pub use restore::RestoreResult;
pub(crate) use writer::{RemovalCause, store_removed_items};

/// The time for which removed items can be restored.
pub const RETENTION_MS: i64 = 30 * 86_400_000;
/// The maximum number of rows that one transaction purges.
const PURGE_BATCH_ROWS: i64 = 500;

/// The evidence that an item is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalReason {
    /// Its list no longer contains it, and a lookup by id did not find it.
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
    pub key: ObjectKey,
    /// The item that was confirmed gone and with which this one was removed; the item itself if it has no such parent.
    pub root: ObjectKey,
    pub repository_id: i64,
    /// Owner and name.
    pub repository: String,
    /// The number of the thread, or of the thread that a comment belongs to.
    pub number: Option<i64>,
    pub title: String,
    pub url: String,
    pub reason: RemovalReason,
    /// The source's time of the request that confirmed it gone.
    pub removed_at: SourceInstant,
    /// The number of other items that were removed with it.
    pub dependents: u64,
}

impl RemovedItem {
    /// Returns the time until which the item can be restored; it may be kept longer.
    pub fn restorable_until(&self) -> SourceInstant {
        self.removed_at.plus_ms(RETENTION_MS)
    }
}

/// A selection of removed items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovedQuery {
    /// Items that were confirmed gone at this time or later, without those removed with them.
    Since(SourceInstant),
    Id(i64),
    Url(String),
    /// The threads with this number, in any repository.
    Number(i64),
    Repositories,
}

const COLUMNS: &str =
    "host, kind, id, root_kind, root_id, repository_id, repository, number, title, url,
    reason, removed_at_ms,
    (select count(*) from removed_items as others
      where others.host = removed_items.host and others.root_kind = removed_items.kind
        and others.root_id = removed_items.id
        and (others.kind <> removed_items.kind or others.id <> removed_items.id)) as dependents";

/// The condition that an item has not returned.
const STILL_GONE: &str = "not exists (select 1 from cells
      where cells.host = removed_items.host and cells.kind = removed_items.kind and cells.id = removed_items.id
        and cells.updated_at is not null
        and (cells.tombstone_at_ms is null
             or (cells.tombstone_at_ms, cells.tombstone_request) < (cells.observed_at_ms, cells.observed_request)))";

/// The condition that an item was itself confirmed gone.
const IS_ROOT: &str = "root_kind = kind and root_id = id";

const PURGE: TransactionStep = step!("purge removed");

impl StoreReader {
    /// Returns the removed items that have not returned, newest first, without those removed with them.
    pub fn removed_items(&self, limit: u64) -> Result<Vec<RemovedItem>, StoreError> {
        let condition =
            format!("{IS_ROOT} and {STILL_GONE} order by removed_at_ms desc, kind, id limit $1");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("removed items", |tx| select_removed(tx, &condition, &params![limit]))
    }

    /// Counts the removed items that have not returned, including those removed with them.
    pub fn count_removed_items(&self) -> Result<u64, StoreError> {
        let text = format!("select count(*) as matching from removed_items where {STILL_GONE}");
        self.read("removed items", |tx| tx.query_count(Sql::portable(&text), &[]))
    }

    /// Returns the removed items that match a query, including those that have returned.
    pub fn find_removed_items(&self, query: &RemovedQuery) -> Result<Vec<RemovedItem>, StoreError> {
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
            RemovedQuery::Repositories => {
                ("kind = $1".to_owned(), ObjectKind::Repository.name().into())
            }
        };
        let condition = format!("{condition} order by removed_at_ms desc, kind, id");
        self.read("removed items", |tx| select_removed(tx, &condition, &[param]))
    }
}

impl LeasedStore {
    /// Deletes the items that were removed before a time, a few hundred rows per transaction. Returns their number.
    pub fn purge_removed(&self, before: SourceInstant) -> Result<u64, StoreError> {
        const OLD: Sql = Sql::portable(
            "delete from removed_items
              where (host, kind, id) in (select host, kind, id from removed_items
                                          where removed_at_ms < $1 limit $2)",
        );
        const ANY: Sql =
            Sql::portable("select id from removed_items where removed_at_ms < $1 limit 1");
        let mut purged = 0;
        loop {
            let next = self.read("removed items", |tx| {
                tx.query_first(ANY, &params![before.0], |mut row| row.int("id"))
            })?;
            if next.is_none() {
                return Ok(purged);
            }
            purged += self.write_with_lease(PURGE, |tx| {
                tx.execute(OLD, &params![before.0, PURGE_BATCH_ROWS])
            })?;
        }
    }
}

fn select_removed(
    tx: &mut Transaction<'_>,
    condition: &str,
    params: &[SqlParam<'_>],
) -> Result<Vec<RemovedItem>, StoreError> {
    let text = format!("select {COLUMNS} from removed_items where {condition}");
    tx.query(Sql::portable(&text), params, read_removed)
}

fn read_removed(mut row: SqlRow) -> Result<RemovedItem, StoreError> {
    let host = Host::from(row.text("host")?);
    let (key, root) = (
        ObjectKey::new(&host, parse_kind(&row.text("kind")?)?, row.int("id")?),
        ObjectKey::new(&host, parse_kind(&row.text("root_kind")?)?, row.int("root_id")?),
    );
    let reason = row.text("reason")?;
    let known = RemovalReason::ALL.into_iter().find(|known| known.name() == reason);
    Ok(RemovedItem {
        key,
        root,
        repository_id: row.int("repository_id")?,
        repository: row.text("repository")?,
        number: row.maybe_int("number")?,
        title: row.text("title")?,
        url: row.text("url")?,
        reason: known
            .ok_or_else(|| StoreError::Damaged(format!("unknown removal reason {reason:?}")))?,
        removed_at: SourceInstant(row.int("removed_at_ms")?),
        dependents: row.int("dependents")?.unsigned_abs(),
    })
}

fn parse_kind(name: &str) -> Result<ObjectKind, StoreError> {
    let known = ObjectKind::from_name(name);
    known.ok_or_else(|| StoreError::Damaged(format!("unknown kind {name:?}")))
}
