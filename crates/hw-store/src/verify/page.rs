//! One page of texts, each compared with its cell, its repository and its search row.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::Cell;
use hw_rules::item::{Item, Key, Kind};

use super::{After, DamagedItem, StoredRow, TextTable, VerifiedPage, WAITING};
use crate::cells::{self, Held};
use crate::error::Error;
use crate::mirror::names::{self, Named};
use crate::sql::{Dialect, Row, Sql, params};
use crate::tx::Tx;

/// What was verified, and where to go on; nowhere after the last row.
pub(super) struct Page {
    pub(super) verified: VerifiedPage,
    pub(super) last: Option<After>,
}

/// One stored row, as far as it can be read.
struct Text {
    identity: DamagedItem,
    item: Result<Item, Error>,
}

/// What the rows of a page are compared with.
struct Known {
    held: BTreeMap<String, Held>,
    names: BTreeMap<(String, i64), Named>,
    indexed: BTreeSet<i64>,
}

pub(super) fn verify(tx: &mut Tx<'_>, kind: Kind, after: &After) -> Result<Page, Error> {
    let table = TextTable::of(kind);
    let mut verified = VerifiedPage::default();
    let (rows, last) = match table.rows(tx, after) {
        Ok(rows) => {
            let last = rows.last().map(|row| table.place(row));
            (rows, last)
        }
        Err(Error::Damaged(reason)) if tx.dialect() == Dialect::Sqlite => {
            one_by_one(tx, &table, after, &reason, &mut verified)
        }
        Err(error) => return Err(error),
    };
    verified.checked += rows.len() as u64;
    let texts: Vec<Text> = rows.into_iter().map(|row| table.text(row)).collect();
    let known = Known::of(tx, kind, &texts)?;
    for text in texts {
        if let Some(reason) = known.judge(&text) {
            let (row, repository) = (known.stored_row(&text), known.full_name(&text));
            verified.damaged.push(DamagedItem { reason, row, repository, ..text.identity });
        }
    }
    Ok(Page { verified, last })
}

/// The rows around a part of the file that cannot be read: an index names them, and each is read alone.
fn one_by_one(
    tx: &mut Tx<'_>,
    table: &TextTable,
    after: &After,
    reason: &str,
    verified: &mut VerifiedPage,
) -> (Vec<Row>, Option<After>) {
    let Ok(rowids) = table.rowids(tx, after) else {
        let reason = format!("the rest of the table {} cannot be read: {reason}", table.name);
        verified.damaged.push(DamagedItem { reason, ..table.nothing(None) });
        return (Vec::new(), None);
    };
    let mut rows = Vec::new();
    for rowid in &rowids {
        match table.row_by_rowid(tx, *rowid) {
            Ok(row) => rows.extend(row),
            Err(error) => {
                verified.checked += 1;
                let reason = format!("it cannot be read: {error}");
                verified.damaged.push(DamagedItem { reason, ..table.nothing(Some(*rowid)) });
            }
        }
    }
    let last = rowids.last().map(|rowid| After { rowid: *rowid, ..After::BEGINNING });
    (rows, last)
}

impl TextTable {
    /// A row of which nothing is known.
    fn nothing(&self, rowid: Option<i64>) -> DamagedItem {
        DamagedItem {
            kind: self.kind,
            host: None,
            id: None,
            repository: None,
            number: None,
            url: None,
            reason: String::new(),
            row: StoredRow::Stray { rowid },
        }
    }

    /// A row's place among the others.
    fn place(&self, row: &Row) -> After {
        let (host, _, id) = self.identity();
        After {
            rowid: row.peek_int(self.rowid_column()).unwrap_or(i64::MAX),
            host: row.peek_text(host).unwrap_or_default(),
            id: row.peek_int(id).unwrap_or(i64::MAX),
        }
    }

    fn text(&self, row: Row) -> Text {
        let (host, repository, id) = self.identity();
        let identity = DamagedItem {
            host: row.peek_text(host),
            id: row.peek_int(id),
            repository: row.peek_text(repository),
            number: self.number.and_then(|column| row.peek_int(column)),
            url: row.peek_text(self.url),
            ..self.nothing(row.peek_int(self.rowid_column()))
        };
        Text { identity, item: self.item(row) }
    }
}

impl Known {
    fn of(tx: &mut Tx<'_>, kind: Kind, texts: &[Text]) -> Result<Self, Error> {
        let mut ids: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut homes: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for text in texts {
            let Some(host) = &text.identity.host else { continue };
            ids.entry(host.clone()).or_default().extend(text.identity.id);
            homes.entry(host.clone()).or_default().extend(text.home());
        }
        let mut known =
            Self { held: BTreeMap::new(), names: BTreeMap::new(), indexed: BTreeSet::new() };
        for (host, ids) in ids {
            let keys = ids.iter().map(|id| Key { kind, id: *id });
            let held = cells::held(tx, &host, keys)?;
            let rowids: Vec<i64> = held.search_rowids.values().copied().collect();
            known.indexed.extend(indexed(tx, &rowids)?);
            known.held.insert(host, held);
        }
        for (host, ids) in homes {
            let named = names::of_repositories(tx, &host, &ids)?.into_iter();
            known.names.extend(named.map(|(id, named)| ((host.clone(), id), named)));
        }
        Ok(known)
    }

    fn cell(&self, text: &Text) -> Option<&Cell> {
        let DamagedItem { host, id, kind, .. } = &text.identity;
        self.held.get(host.as_ref()?)?.cells.get(&Key { kind: *kind, id: (*id)? })
    }

    /// Whether the row is somebody's, and so is written over when that is read again.
    fn stored_row(&self, text: &Text) -> StoredRow {
        match self.cell(text) {
            Some(cell) if cell.is_present() => StoredRow::Replaceable,
            Some(_) | None => text.identity.row,
        }
    }

    /// The repository's owner and name; what the row says where its owner is not known.
    fn full_name(&self, text: &Text) -> Option<String> {
        let home = text.home().zip(text.identity.host.clone());
        match home.and_then(|(id, host)| self.names.get(&(host, id))) {
            Some(named) => Some(format!("{}/{}", named.owner, named.name)),
            None => text.identity.repository.clone(),
        }
    }

    /// What is wrong with a text; none when nothing is.
    fn judge(&self, text: &Text) -> Option<String> {
        let item = match &text.item {
            Ok(item) => item,
            Err(error) => return Some(error.to_string()),
        };
        let Some(version) =
            self.cell(text).filter(|it| it.is_present()).and_then(|it| it.version.as_ref())
        else {
            return Some("nothing records that it was read".to_owned());
        };
        let is_waiting = version.digest == WAITING;
        if is_waiting && !matches!(item, Item::Repository(_)) {
            return Some("it waits to be read again".to_owned());
        }
        if !is_waiting && version.digest != item.digest() {
            return Some("its text is not the one that was read".to_owned());
        }
        if version.updated_at != *item.updated_at() {
            return Some("its time of update is not the one that was read".to_owned());
        }
        if !self.has_right_address(text, item) {
            return Some("its address is not the one it should have".to_owned());
        }
        if !self.is_searchable(text, item.key()) {
            return Some("its search row is missing".to_owned());
        }
        None
    }

    /// Its repository's address comes first, its own number or id last; `~` sets an address aside.
    fn has_right_address(&self, text: &Text, item: &Item) -> bool {
        let (url, number) = match item {
            Item::Repository(_) => return true,
            Item::Thread(thread) => (&thread.url, thread.number),
            Item::Comment(comment) => (&comment.url, comment.id),
        };
        let own = url.split_once('~').map_or(url.as_str(), |(own, _)| own);
        let home = text.home().zip(text.identity.host.clone());
        let named = home.and_then(|(id, host)| self.names.get(&(host, id)));
        let is_at_home = named.is_none_or(|named| {
            text.identity.repository.as_ref() == Some(&named.name)
                && url.starts_with(&format!("{}/", named.url))
        });
        is_at_home && (url.contains('~') || own.ends_with(&number.to_string()))
    }

    fn is_searchable(&self, text: &Text, key: Key) -> bool {
        if key.kind == Kind::Repository {
            return true;
        }
        let held = text.identity.host.as_ref().and_then(|host| self.held.get(host));
        let rowid = held.and_then(|held| held.search_rowids.get(&key));
        rowid.is_some_and(|rowid| self.indexed.contains(rowid))
    }
}

impl Text {
    /// The id of the repository it belongs to.
    fn home(&self) -> Option<i64> {
        match self.item.as_ref().ok()? {
            Item::Repository(_) => None,
            Item::Thread(thread) => Some(thread.repository_id),
            Item::Comment(comment) => Some(comment.repository_id),
        }
    }
}

/// Those of the search rows that are there, with their places.
fn indexed(tx: &mut Tx<'_>, rowids: &[i64]) -> Result<Vec<i64>, Error> {
    const INDEXED: Sql = Sql::each(
        "select search.rowid from search join search_places on search_places.rowid = search.rowid
          where search.rowid in (select value from json_each($1))",
        "select search.rowid from search join search_places on search_places.rowid = search.rowid
          where search.rowid = any($1)",
    );
    tx.query(INDEXED, &params![rowids], |mut row| row.int(0))
}
