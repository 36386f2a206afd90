//! Stores what is about to be removed, in the transaction that removes it.

use std::collections::BTreeMap;

use hw_rules::cells::Cell;
use hw_rules::item::{Item, Key, Kind};

use super::RemovalReason;
use crate::error::Error;
use crate::mirror::names;
use crate::sql::{Param, Sql, params};
use crate::tx::Tx;
use crate::views;

/// Why objects are removed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause {
    pub(crate) reason: RemovalReason,
    /// The object that takes them along; none if each was confirmed gone itself.
    pub(crate) root: Option<Key>,
}

impl Cause {
    pub(crate) fn new(reason: RemovalReason) -> Self {
        Self { reason, root: None }
    }

    /// The cause for what goes along with an object.
    pub(crate) fn with(self, taken_along_by: Key) -> Self {
        Self { root: self.root.or(Some(taken_along_by)), ..self }
    }
}

/// A row to write.
struct StoredItem {
    item: Item,
    repository: String,
    json: String,
}

/// Stores items of one kind with everything that a restore needs. An item without a text has nothing to store.
pub(crate) fn store(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    cells: &BTreeMap<i64, &Cell>,
    cause: Cause,
) -> Result<(), Error> {
    const STORE: Sql = Sql::both(
        "insert into removed (host, kind, id, root_kind, root_id, repository_id, repository, number, title,
                              url, reason, removed_at_ms, seen_at_ms, seen_request, item)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         on conflict (host, kind, id) do update
            set root_kind = excluded.root_kind, root_id = excluded.root_id,
                repository_id = excluded.repository_id, repository = excluded.repository,
                number = excluded.number, title = excluded.title, url = excluded.url,
                reason = excluded.reason, removed_at_ms = excluded.removed_at_ms,
                seen_at_ms = excluded.seen_at_ms, seen_request = excluded.seen_request,
                item = excluded.item",
    );
    let ids: Vec<i64> = cells.keys().copied().collect();
    for ids in ids.chunks(500) {
        let stored = read_items(tx, host, kind, ids)?;
        let rows: Vec<_> =
            stored.iter().filter_map(|stored| stored.values(host, cells, cause)).collect();
        tx.execute_each(STORE, &rows)?;
    }
    Ok(())
}

fn read_items(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<Vec<StoredItem>, Error> {
    let items: Vec<Item> = views::items::by_ids(tx, host, kind, ids)?;
    let homes: Vec<i64> = items.iter().map(repository_id).collect();
    let names = names::of_repositories(tx, host, &homes)?;
    let stored = items.into_iter().map(|item| {
        let named = names.get(&repository_id(&item));
        let repository = named.map(|it| format!("{}/{}", it.owner, it.name)).unwrap_or_default();
        let json = serde_json::to_string(&item).expect("an item is plain values, always JSON");
        StoredItem { item, repository, json }
    });
    Ok(stored.collect())
}

fn repository_id(item: &Item) -> i64 {
    match item {
        Item::Repository(repository) => repository.id,
        Item::Thread(thread) => thread.repository_id,
        Item::Comment(comment) => comment.repository_id,
    }
}

impl StoredItem {
    /// None for one that was never seen, or is not gone: there is nothing to bring back.
    fn values<'a>(
        &'a self,
        host: &'a str,
        cells: &BTreeMap<i64, &Cell>,
        cause: Cause,
    ) -> Option<Vec<Param<'a>>> {
        let key = self.item.key();
        let cell = cells.get(&key.id)?;
        let (seen, gone) = (cell.version.as_ref()?.seen, cell.gone?);
        let root = cause.root.unwrap_or(key);
        let (number, title, url) = match &self.item {
            Item::Repository(repository) => (None, "", &repository.url),
            Item::Thread(thread) => (Some(thread.number), thread.title.as_str(), &thread.url),
            Item::Comment(comment) => (Some(comment.thread), "", &comment.url),
        };
        let row = params![
            host,
            key.kind.name(),
            key.id,
            root.kind.name(),
            root.id,
            repository_id(&self.item),
            &self.repository,
            number,
            title,
            url,
            cause.reason.name(),
            gone.at_ms,
            seen.at_ms,
            seen.request,
            &self.json,
        ];
        Some(row.to_vec())
    }
}
