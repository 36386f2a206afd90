//! Verifies that each stored text is the one that was read from the source.
//!
//! Every item has a cell with a digest of the text that was read. The verification computes the digest again from the
//! stored row. It also checks what the digest does not cover: the URL, the update time and the search row, and that the
//! words of the other columns can be right. Rows are read a few hundred at a time, each page in a transaction of its own.

mod text_page;

use hw_rules::item::{CommentKind, MirrorItem, ObjectKey, ObjectKind, ThreadKind};
use hw_rules::version::ContentDigest;

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Dialect, Sql, SqlRow, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;
use crate::views::thread_list::ThreadTable;
use crate::views::{comment_list, post_list, repositories};

/// The number of rows that are verified in one transaction.
const PAGE_ROWS: i64 = 500;

/// A digest that no text has. It marks an item that is waiting to be read again.
pub(crate) const REREAD_DIGEST: ContentDigest = ContentDigest([0; 32]);

/// A digest that no text has. It marks a pull request whose digest included its closing references, written by an older
/// version; the next observation records a digest again.
const OUTDATED_DIGEST: ContentDigest = ContentDigest([1; 32]);

/// A stored item that differs from the one that was read. Its identity is known as far as it is readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedItem {
    pub kind: ObjectKind,
    pub host: Option<String>,
    pub id: Option<i64>,
    /// The repository's name, with its owner if that is known.
    pub repository: Option<String>,
    /// The number of the thread, or of a comment's thread.
    pub number: Option<i64>,
    pub url: Option<String>,
    pub reason: String,
    pub(crate) row_kind: DamagedRowKind,
}

impl DamagedItem {
    /// Returns the item's key, if all of it is readable.
    pub(crate) fn key(&self) -> Option<ObjectKey> {
        Some(ObjectKey::new(self.host.as_ref()?, self.kind, self.id?))
    }
}

/// The kind of a damaged row, which decides how it is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DamagedRowKind {
    /// The row is overwritten when its item is read again.
    Replaceable,
    /// The row belongs to no known item. It has SQLite's rowid, or none if its key is sound.
    Stray { rowid: Option<i64> },
}

/// The progress of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyCursor {
    kind: usize,
    stage: VerifyStage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum VerifyStage {
    /// Verifies the texts after this row.
    Texts(RowPosition),
    /// Looks for missing texts after this item.
    Missing { host: String, id: i64 },
}

/// The position of a row: its rowid in SQLite, which is independent of its content, and its key in PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowPosition {
    rowid: i64,
    host: String,
    id: i64,
}

impl RowPosition {
    const START: Self = Self { rowid: i64::MIN, host: String::new(), id: i64::MIN };
}

/// One page of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifiedPage {
    /// The number of verified rows.
    pub checked: u64,
    pub damaged: Vec<DamagedItem>,
    /// The position of the next page; none after the last.
    pub next: Option<VerifyCursor>,
}

impl StoreReader {
    /// Verifies the next few hundred items.
    pub fn verify_page(&self, after: Option<&VerifyCursor>) -> Result<VerifiedPage, StoreError> {
        let first = VerifyCursor { kind: 0, stage: VerifyStage::Texts(RowPosition::START) };
        let at = after.unwrap_or(&first);
        let Some(kind) = ObjectKind::ALL.get(at.kind).copied() else {
            return Ok(VerifiedPage::default());
        };
        self.read("verify", |tx| match &at.stage {
            VerifyStage::Texts(after) => {
                let mut page = text_page::verify_texts(tx, kind, after)?;
                let stage =
                    page.last_position.map_or_else(VerifyStage::first_missing, VerifyStage::Texts);
                page.verified.next = Some(VerifyCursor { kind: at.kind, stage });
                Ok(page.verified)
            }
            VerifyStage::Missing { host, id } => {
                let damaged = find_missing_texts(tx, kind, host, *id)?;
                let last = damaged.last().and_then(|item| Some((item.host.clone()?, item.id?)));
                let next = match last {
                    Some((host, id)) => {
                        VerifyCursor { kind: at.kind, stage: VerifyStage::Missing { host, id } }
                    }
                    None => VerifyCursor {
                        kind: at.kind + 1,
                        stage: VerifyStage::Texts(RowPosition::START),
                    },
                };
                let next = Some(next).filter(|next| next.kind < ObjectKind::ALL.len());
                Ok(VerifiedPage { checked: 0, damaged, next })
            }
        })
    }
}

impl VerifyStage {
    fn first_missing() -> Self {
        Self::Missing { host: String::new(), id: i64::MIN }
    }
}

/// Returns items that are present but have no text.
fn find_missing_texts(
    tx: &mut Transaction<'_>,
    kind: ObjectKind,
    host: &str,
    id: i64,
) -> Result<Vec<DamagedItem>, StoreError> {
    const MISSING: KindStatements = of_kind!(
        "select cells.host, cells.id from cells left join",
        "as texts on texts.host = cells.host and texts.id = cells.id
          where cells.kind = $1 and texts.id is null
            and cells.updated_at is not null
            and (cells.tombstone_at_ms is null
                 or (cells.tombstone_at_ms, cells.tombstone_request) < (cells.observed_at_ms, cells.observed_request))
            and (cells.host, cells.id) > ($2, cast($3 as bigint))
          order by cells.host, cells.id limit $4"
    );
    let params = params![kind.name(), host, id, PAGE_ROWS];
    let readable = tx.query_readable(MISSING.for_kind(kind), &params, |mut row| {
        Ok(DamagedItem {
            kind,
            host: Some(row.text("host")?),
            id: Some(row.int("id")?),
            repository: None,
            number: None,
            url: None,
            reason: "its text is missing".to_owned(),
            row_kind: DamagedRowKind::Replaceable,
        })
    })?;
    Ok(readable.rows)
}

/// The table of a kind, with the columns that its reader expects.
pub(crate) struct TextTable {
    kind: ObjectKind,
    name: &'static str,
    columns: String,
    /// An index that lists every row without reading the table.
    index: &'static str,
    /// The column with the repository's name.
    repository: &'static str,
    /// The column with the number of the thread.
    number: Option<&'static str>,
}

impl TextTable {
    fn for_kind(kind: ObjectKind) -> Self {
        match kind {
            ObjectKind::Repository => Self::for_repositories(),
            ObjectKind::Thread(kind) => Self::for_threads(kind),
            ObjectKind::Comment(kind) => Self::for_comments(kind),
            ObjectKind::Post => Self::for_posts(),
        }
    }

    fn for_threads(kind: ThreadKind) -> Self {
        let index = match kind {
            ThreadKind::Discussion => "discussions_created_at",
            ThreadKind::Issue => "issues_created_at",
            ThreadKind::PullRequest => "pull_requests_created_at",
        };
        let table = ThreadTable::for_kind(kind);
        let (name, columns) = (table.name(), table.columns());
        Self {
            kind: kind.into(),
            name,
            columns,
            index,
            repository: "repository",
            number: Some("number"),
        }
    }

    fn for_comments(kind: CommentKind) -> Self {
        let (name, index) = match kind {
            CommentKind::Conversation => ("issue_comments", "issue_comments_created_at"),
            CommentKind::ReviewComment => ("review_comments", "review_comments_created_at"),
            CommentKind::Review => ("reviews", "reviews_created_at"),
            CommentKind::DiscussionComment => {
                ("discussion_comments", "discussion_comments_created_at")
            }
        };
        let kind_column = format!("'{}' as kind", kind.name());
        let columns = comment_list::COMMENT_COLUMNS.replacen("kind", &kind_column, 1);
        Self {
            kind: kind.into(),
            name,
            columns,
            index,
            repository: "repository",
            number: Some("thread_number"),
        }
    }

    fn for_repositories() -> Self {
        let columns = "id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled, \
                       has_discussions_enabled, created_at, updated_at, host"
            .to_owned();
        let (kind, name) = (ObjectKind::Repository, "repositories");
        let index = "repositories_updated_at";
        Self { kind, name, columns, index, repository: "name", number: None }
    }

    fn for_posts() -> Self {
        let columns = "id, uri, cid, did, sharer, text, langs, created_at, indexed_at, sort_at, \
                       reply_parent, reply_root, quote, repost_of, links, host, uri as url"
            .to_owned();
        let (kind, name, index) = (ObjectKind::Post, "posts", "posts_sort_ms");
        Self { kind, name, columns, index, repository: "sharer", number: None }
    }

    fn read_item(&self, mut row: SqlRow) -> Result<MirrorItem, StoreError> {
        Ok(match self.kind {
            ObjectKind::Repository => MirrorItem::Repository(repositories::read_repository(row)?),
            ObjectKind::Thread(kind) => {
                MirrorItem::Thread(ThreadTable::for_kind(kind).read_row(row)?.thread)
            }
            ObjectKind::Comment(_) => MirrorItem::Comment(comment_list::read_comment(row)?.comment),
            ObjectKind::Post => MirrorItem::Post(post_list::read_plain_post(&mut row)?),
        })
    }

    fn next_rows(
        &self,
        tx: &mut Transaction<'_>,
        after: &RowPosition,
    ) -> Result<Vec<SqlRow>, StoreError> {
        let Self { name, columns, .. } = self;
        match tx.dialect() {
            Dialect::Sqlite => {
                let text = format!(
                    "select {columns}, rowid from {name} where rowid > $1 order by rowid limit $2"
                );
                tx.query(Sql::portable(&text), &params![after.rowid, PAGE_ROWS], Ok)
            }
            Dialect::Postgres => {
                let text = format!(
                    "select {columns} from {name} where (host, id) > ($1, $2::bigint)
                      order by host, id limit $3"
                );
                tx.query(Sql::portable(&text), &params![&after.host, after.id, PAGE_ROWS], Ok)
            }
        }
    }

    /// Returns the rowids of the next rows in SQLite, from an index.
    fn next_rowids(
        &self,
        tx: &mut Transaction<'_>,
        after: &RowPosition,
    ) -> Result<Vec<i64>, StoreError> {
        let Self { name, index, .. } = self;
        let text = format!(
            "select rowid from {name} indexed by {index} where rowid > $1 order by rowid limit $2"
        );
        tx.query(Sql::portable(&text), &params![after.rowid, PAGE_ROWS], |mut row| row.int("rowid"))
    }

    fn row_by_rowid(
        &self,
        tx: &mut Transaction<'_>,
        rowid: i64,
    ) -> Result<Option<SqlRow>, StoreError> {
        let Self { name, columns, .. } = self;
        let text = format!("select {columns}, rowid from {name} where rowid = $1");
        tx.query_first(Sql::portable(&text), &params![rowid], Ok)
    }
}
