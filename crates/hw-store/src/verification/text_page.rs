//! Verifies one page of texts against their cells, repositories and search rows.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::ItemCell;
use hw_rules::item::{Comment, CommentKind, MirrorItem, ObjectId, ObjectKind, ThreadKind};
use hw_rules::item_validation;
use hw_rules::repository_key::{Host, RepositoryKey};

use super::{
    DamagedItem, DamagedRowKind, OUTDATED_DIGEST, REREAD_DIGEST, RowPosition, TextTable,
    VerifiedPage,
};
use crate::cells::{self, StoredCells};
use crate::error::StoreError;
use crate::mirror::repository_names::{self, NamedRepository};
use crate::sql::{Dialect, Sql, SqlRow, params};
use crate::transaction::Transaction;
use crate::views::pending_chores::PendingChores;

/// A verified page of texts.
pub(super) struct PageVerification {
    pub(super) verified: VerifiedPage,
    /// The position of the last row; none after the last page.
    pub(super) last_position: Option<RowPosition>,
}

/// One stored row, as far as it is readable.
struct TextRow {
    identity: DamagedItem,
    item: Result<MirrorItem, StoreError>,
}

/// The data that the rows of a page are compared with.
struct ExpectedState {
    stored_cells: BTreeMap<String, StoredCells>,
    repository_names: BTreeMap<RepositoryKey, NamedRepository>,
    indexed_rowids: BTreeSet<i64>,
}

pub(super) fn verify_texts(
    tx: &mut Transaction<'_>,
    kind: ObjectKind,
    after: &RowPosition,
) -> Result<PageVerification, StoreError> {
    let table = TextTable::for_kind(kind);
    let mut verified = VerifiedPage::default();
    let RowPage { rows, last_position } = match table.next_rows(tx, after) {
        Ok(rows) => {
            let last_position = rows.last().map(row_position);
            RowPage { rows, last_position }
        }
        Err(StoreError::Damaged(reason)) if tx.dialect() == Dialect::Sqlite => {
            read_rows_singly(tx, &table, after, &reason, &mut verified)
        }
        Err(error) => return Err(error),
    };
    verified.checked += rows.len() as u64;
    let texts: Vec<TextRow> = rows.into_iter().map(|row| table.read_text_row(row)).collect();
    let expected = ExpectedState::load(tx, kind, &texts)?;
    for text in texts {
        if let Some(reason) = expected.find_damage(&text) {
            let row_kind = expected.row_kind(&text);
            let repository = expected.repository_name(&text);
            let identity = text.identity;
            verified.damaged.push(DamagedItem { reason, row_kind, repository, ..identity });
        }
    }
    Ok(PageVerification { verified, last_position })
}

/// A page of rows.
struct RowPage {
    rows: Vec<SqlRow>,
    last_position: Option<RowPosition>,
}

/// Reads the rows around an unreadable part of the file one by one, by the rowids that an index lists.
fn read_rows_singly(
    tx: &mut Transaction<'_>,
    table: &TextTable,
    after: &RowPosition,
    reason: &str,
    verified: &mut VerifiedPage,
) -> RowPage {
    let Ok(rowids) = table.next_rowids(tx, after) else {
        let reason = format!("the rest of the table {} cannot be read: {reason}", table.name);
        verified.damaged.push(DamagedItem { reason, ..table.unknown_item(None) });
        return RowPage { rows: Vec::new(), last_position: None };
    };
    let mut rows = Vec::new();
    for rowid in &rowids {
        match table.row_by_rowid(tx, *rowid) {
            Ok(row) => rows.extend(row),
            Err(error) => {
                verified.checked += 1;
                let reason = format!("it cannot be read: {error}");
                verified.damaged.push(DamagedItem { reason, ..table.unknown_item(Some(*rowid)) });
            }
        }
    }
    let last_position =
        rowids.last().map(|rowid| RowPosition { rowid: *rowid, ..RowPosition::START });
    RowPage { rows, last_position }
}

impl TextTable {
    /// Returns an item of which nothing but the rowid is known.
    fn unknown_item(&self, rowid: Option<i64>) -> DamagedItem {
        DamagedItem {
            kind: self.kind,
            host: None,
            id: None,
            repository: None,
            number: None,
            url: None,
            reason: String::new(),
            row_kind: DamagedRowKind::Stray { rowid },
        }
    }

    fn read_text_row(&self, row: SqlRow) -> TextRow {
        let identity = DamagedItem {
            host: row.peek_text("host"),
            id: row.peek_int("id"),
            repository: row.peek_text(self.repository),
            number: self.number.and_then(|column| row.peek_int(column)),
            url: row.peek_text("url"),
            ..self.unknown_item(row.peek_int("rowid"))
        };
        TextRow { identity, item: self.read_item(row) }
    }
}

/// Returns the position of a row. Only SQLite has rowids.
fn row_position(row: &SqlRow) -> RowPosition {
    RowPosition {
        rowid: row.peek_int("rowid").unwrap_or(i64::MAX),
        host: row.peek_text("host").unwrap_or_default(),
        id: row.peek_int("id").unwrap_or(i64::MAX),
    }
}

impl ExpectedState {
    fn load(
        tx: &mut Transaction<'_>,
        kind: ObjectKind,
        texts: &[TextRow],
    ) -> Result<Self, StoreError> {
        let mut ids: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut repositories: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for text in texts {
            let Some(host) = &text.identity.host else { continue };
            ids.entry(host.clone()).or_default().extend(text.identity.id);
            repositories.entry(host.clone()).or_default().extend(text.repository_id());
        }
        let mut expected = Self {
            stored_cells: BTreeMap::new(),
            repository_names: BTreeMap::new(),
            indexed_rowids: BTreeSet::new(),
        };
        for (host, ids) in ids {
            let keys = ids.iter().map(|id| ObjectId { kind, id: *id });
            let stored = cells::read_cells(tx, &host, keys)?;
            let rowids: Vec<i64> = stored.search_rowids.values().copied().collect();
            expected.indexed_rowids.extend(existing_rowids(tx, &rowids)?);
            expected.stored_cells.insert(host, stored);
        }
        let pending = PendingChores::read(tx)?;
        for (host, ids) in repositories {
            let names = repository_names::read_repository_names(tx, &host, &ids)?;
            let host = Host::from(host);
            let names = names.into_iter().map(|(id, name)| (RepositoryKey::new(&host, id), name));
            // texts that are being renamed have either name
            let settled = names.filter(|(key, _)| pending.new_name(key).is_none());
            expected.repository_names.extend(settled);
        }
        Ok(expected)
    }

    fn stored_cell(&self, text: &TextRow) -> Option<&ItemCell> {
        let key = text.identity.key()?;
        self.stored_cells.get(key.host.as_str())?.cells.get(&key.object_id())
    }

    /// Returns the kind of a damaged row: the row of a present item is overwritten when the item is read again.
    fn row_kind(&self, text: &TextRow) -> DamagedRowKind {
        match self.stored_cell(text) {
            Some(cell) if cell.is_present() => DamagedRowKind::Replaceable,
            Some(_) | None => text.identity.row_kind,
        }
    }

    fn stored_repository(&self, text: &TextRow) -> Option<&NamedRepository> {
        let host = text.identity.host.as_deref()?;
        self.repository_names.get(&RepositoryKey::new(host, text.repository_id()?))
    }

    /// Returns the repository's owner and name, or the name in the row if the repository is unknown.
    fn repository_name(&self, text: &TextRow) -> Option<String> {
        match self.stored_repository(text) {
            Some(name) => Some(format!("{}/{}", name.owner, name.name)),
            None => text.identity.repository.clone(),
        }
    }

    /// Returns the reason why a text is damaged; none for a sound text.
    fn find_damage(&self, text: &TextRow) -> Option<String> {
        let item = match &text.item {
            Ok(item) => item,
            Err(error) => return Some(error.to_string()),
        };
        let cell = self.stored_cell(text).filter(|cell| cell.is_present());
        let Some(version) = cell.and_then(|cell| cell.version.as_ref()) else {
            return Some("there is no record of its download".to_owned());
        };
        let is_waiting = version.digest == REREAD_DIGEST;
        if is_waiting && !matches!(item, MirrorItem::Repository(_)) {
            return Some("it is waiting to be read again".to_owned());
        }
        let is_comparable = !is_waiting && version.digest != OUTDATED_DIGEST;
        if is_comparable && version.digest != item.digest() {
            return Some("its text differs from the one that was read".to_owned());
        }
        if version.updated_at != *item.updated_at() {
            return Some("its update time differs from the one that was read".to_owned());
        }
        if !self.has_right_address(text, item) {
            return Some("its URL does not match its repository and number".to_owned());
        }
        if item_validation::check_undigested_fields(item).is_err() {
            return Some("its author's kind, association or head commit is damaged".to_owned());
        }
        if !self.is_searchable(text, item.key()) {
            return Some("its search row is missing".to_owned());
        }
        None
    }

    /// Checks that a URL begins with that of its repository, ends with the thread's kind and number and the comment's
    /// fragment, and has only characters that a URL can have. A URL with `~` is displaced.
    fn has_right_address(&self, text: &TextRow, item: &MirrorItem) -> bool {
        let (url, kinds, ending) = match item {
            MirrorItem::Repository(_) | MirrorItem::Post(_) => return true,
            MirrorItem::Thread(thread) => {
                (&thread.url, vec![thread.kind()], format!("/{}", thread.number))
            }
            MirrorItem::Comment(comment) => {
                (&comment.url, comment.kind.thread_kinds().to_vec(), comment_url_ending(comment))
            }
        };
        let own = url.split_once('~').map_or(url.as_str(), |(own, _)| own);
        let is_in_repository = self.stored_repository(text).is_none_or(|name| {
            text.identity.repository.as_ref() == Some(&name.name)
                && url.starts_with(&format!("{}/", name.url))
        });
        let is_printable = url.chars().all(|c| !c.is_control() && !c.is_whitespace());
        let thread = own.strip_suffix(&ending);
        let has_kind = |thread: &str| kinds.iter().any(|kind| thread.ends_with(thread_path(*kind)));
        is_in_repository && is_printable && (url.contains('~') || thread.is_some_and(has_kind))
    }

    fn is_searchable(&self, text: &TextRow, key: ObjectId) -> bool {
        if key.kind == ObjectKind::Repository {
            return true;
        }
        let stored = text.identity.host.as_ref().and_then(|host| self.stored_cells.get(host));
        let rowid = stored.and_then(|cells| cells.search_rowids.get(&key));
        rowid.is_some_and(|rowid| self.indexed_rowids.contains(rowid))
    }
}

impl TextRow {
    /// Returns the id of the item's repository; none for a repository or a post.
    fn repository_id(&self) -> Option<i64> {
        match self.item.as_ref().ok()? {
            MirrorItem::Repository(_) | MirrorItem::Post(_) => None,
            MirrorItem::Thread(thread) => Some(thread.repository_id),
            MirrorItem::Comment(comment) => Some(comment.repository_id),
        }
    }
}

/// Returns what precedes the number in the URL of a thread.
fn thread_path(kind: ThreadKind) -> &'static str {
    match kind {
        ThreadKind::Issue => "/issues",
        ThreadKind::PullRequest => "/pull",
        ThreadKind::Discussion => "/discussions",
    }
}

/// Returns the end of a comment's URL, from the thread's number on, as GitHub spells it for each kind.
fn comment_url_ending(comment: &Comment) -> String {
    let name = match comment.kind {
        CommentKind::ReviewComment => "discussion_r",
        CommentKind::Review => "pullrequestreview-",
        CommentKind::DiscussionComment => "discussioncomment-",
        CommentKind::Conversation => "issuecomment-",
    };
    format!("/{}#{name}{}", comment.thread, comment.id)
}

/// Returns those of these search rows that exist and have a document.
fn existing_rowids(tx: &mut Transaction<'_>, rowids: &[i64]) -> Result<Vec<i64>, StoreError> {
    const INDEXED: Sql = Sql::per_dialect(
        "select search.rowid from search join search_documents on search_documents.rowid = search.rowid
          where search.rowid in (select value from json_each($1))",
        "select search.rowid from search join search_documents on search_documents.rowid = search.rowid
          where search.rowid = any($1)",
    );
    tx.query(INDEXED, &params![rowids], |mut row| row.int("rowid"))
}
