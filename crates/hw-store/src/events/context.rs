//! Everything that decides about the events of some items: the watches, their threads, and what was emitted before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hw_rules::event_policy::{EventPolicy, is_same_login};
use hw_rules::item::{MirrorItem, ObjectId, ObjectKind};
use hw_rules::repository_key::Host;
use hw_rules::watch::{Watch, WatchId, WatchedPlace, watch_for};

use super::derivation::SeenItem;
use super::emitted_objects::{EmittedObjects, PendingEmitted};
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Dialect, Sql, params};
use crate::transaction::Transaction;
use crate::watches::watched_threads::{self, ThreadRow, read_row};
use crate::watches::{PendingWatches, repository_key};

/// The place of a thread at its host: repository and number.
pub(super) type Place = (i64, i64);

/// What decides about the events of some items.
pub(super) struct EventContext {
    pub(super) host: Host,
    pub(super) watches: Vec<Watch>,
    /// The rows of each thread, one for each of its watches.
    pub(super) threads: BTreeMap<Place, Vec<ThreadRow>>,
    pub(super) emitted: EmittedObjects,
    pub(super) policy: Arc<EventPolicy>,
    /// The login of the account of our token.
    pub(super) own_login: Option<String>,
}

impl EventContext {
    /// Reads the context of items; none if no watch covers them.
    ///
    /// A server is asked everything at once, in one round trip, however many items there are. A file is asked about the
    /// watches first: most pages of a mirror belong to repositories that nobody watches.
    pub(super) fn read(
        tx: &mut Transaction<'_>,
        host: &str,
        items: &[SeenItem<'_>],
    ) -> Result<Option<Self>, StoreError> {
        let repositories: Vec<i64> = unique(items.iter().filter_map(SeenItem::repository_id));
        let watches = PendingWatches::send(tx, host, &repositories)?;
        let (watches, rows) = match tx.dialect() {
            Dialect::Postgres => {
                let rows = PendingContext::send(tx, host, &repositories, items)?;
                (watches.read(tx)?, rows)
            }
            Dialect::Sqlite => {
                let watches = watches.read(tx)?;
                if watches.is_empty() {
                    return Ok(None);
                }
                (watches, PendingContext::send(tx, host, &repositories, items)?)
            }
        };
        let PendingContext { threads, own_login, emitted } = rows;
        let mut by_place: BTreeMap<Place, Vec<ThreadRow>> = BTreeMap::new();
        for row in tx.read_pending(threads, read_row)? {
            let place = (row.thread.repository.id.0, row.thread.number);
            by_place.entry(place).or_default().push(row);
        }
        let own_login = tx.read_pending(own_login, |mut row| row.text("login"))?.into_iter().next();
        let emitted = emitted.read(tx)?;
        if watches.is_empty() {
            return Ok(None);
        }
        let policy = tx.event_policy();
        let host = Host::from(host);
        Ok(Some(Self { host, watches, threads: by_place, emitted, policy, own_login }))
    }

    /// Returns the watch that emits what is said in a thread with these labels.
    pub(super) fn watch_for(&self, place: Place, labels: &[String]) -> Option<&Watch> {
        let joined: Vec<WatchId> = self
            .rows(place)
            .iter()
            .filter(|row| row.thread.source_issue.is_some_and(|issue| issue != place.1))
            .map(|row| row.thread.watch_id)
            .collect();
        let repository = repository_key(&self.host, place.0);
        let place = WatchedPlace { repository, number: place.1, labels, joined: &joined };
        watch_for(&self.watches, &place)
    }

    pub(super) fn rows(&self, place: Place) -> &[ThreadRow] {
        self.threads.get(&place).map_or(&[], Vec::as_slice)
    }

    pub(super) fn row(&self, place: Place, watch: WatchId) -> Option<&ThreadRow> {
        self.rows(place).iter().find(|row| row.thread.watch_id == watch)
    }

    pub(super) fn put_row(&mut self, place: Place, row: ThreadRow) {
        let rows = self.threads.entry(place).or_default();
        rows.retain(|known| known.thread.watch_id != row.thread.watch_id);
        rows.push(row);
    }

    pub(super) fn is_own_account(&self, login: Option<&str>) -> bool {
        login.zip(self.own_login.as_deref()).is_some_and(|(login, own)| is_same_login(login, own))
    }
}

/// The rows that decide about the events of some items, requested.
struct PendingContext {
    threads: PendingRows,
    own_login: PendingRows,
    emitted: PendingEmitted,
}

impl PendingContext {
    fn send(
        tx: &mut Transaction<'_>,
        host: &str,
        repositories: &[i64],
        items: &[SeenItem<'_>],
    ) -> Result<Self, StoreError> {
        const OWN: Sql = Sql::portable("select login from viewers where host = $1");
        let mut ids: BTreeMap<ObjectKind, Vec<i64>> = BTreeMap::new();
        for ObjectId { kind, id } in items.iter().map(|item| item.item.key()) {
            ids.entry(kind).or_default().push(id);
        }
        let numbers = unique(items.iter().filter_map(|item| Some(item.place()?.1)));
        let (sqlite, postgres) = threads_sql();
        let threads = Sql::per_dialect(&sqlite, &postgres);
        Ok(Self {
            threads: tx.send_query(threads, &params![host, repositories, numbers.as_slice()])?,
            own_login: tx.send_query(OWN, &params![host])?,
            emitted: PendingEmitted::send(tx, host, &ids)?,
        })
    }
}

fn threads_sql() -> (String, String) {
    let columns = watched_threads::COLUMNS;
    let select = format!("select {columns} from watched_threads where host = $1 and repository_id");
    (
        format!(
            "{select} in (select value from json_each($2)) and number in (select value from json_each($3))"
        ),
        format!("{select} = any($2) and number = any($3)"),
    )
}

fn unique(ids: impl Iterator<Item = i64>) -> Vec<i64> {
    ids.collect::<BTreeSet<_>>().into_iter().collect()
}

impl SeenItem<'_> {
    pub(super) fn repository_id(&self) -> Option<i64> {
        self.place().map(|place| place.0)
    }

    /// Returns the place of the thread that the item is or belongs to.
    pub(super) fn place(&self) -> Option<Place> {
        match self.item {
            MirrorItem::Thread(thread) => Some((thread.repository_id, thread.number)),
            MirrorItem::Comment(comment) => Some((comment.repository_id, comment.thread)),
            MirrorItem::Repository(_) | MirrorItem::Post(_) => None,
        }
    }
}
