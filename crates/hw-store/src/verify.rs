//! Does each stored text say what the source said when it was read?
//!
//! Every object has a cell with a digest of what was read. Here the digest is computed again from the stored row. What
//! the digest leaves out (the address, the time of the last update, the search row) is compared with where it comes
//! from. Rows are read a few hundred at a time, each page in a transaction of its own.

mod page;

use hw_rules::item::{Item, Kind};
use hw_rules::version::Digest;

use crate::Store;
use crate::error::Error;
use crate::sql::{Dialect, Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;
use crate::views::threads::Table;
use crate::views::{comments, repositories};

/// How many rows are verified in one transaction.
const PAGE: i64 = 500;

/// A digest that no text has: the object waits to be read again.
pub(crate) const WAITING: Digest = Digest([0; 32]);

/// Something stored that is not what the source showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedItem {
    pub kind: Kind,
    /// As much as can be read of where it belongs.
    pub host: Option<String>,
    pub id: Option<i64>,
    /// The repository's name, with its owner where that is known.
    pub repository: Option<String>,
    /// The number of the thread, also of a comment's.
    pub number: Option<i64>,
    pub url: Option<String>,
    pub reason: String,
    pub(crate) row: StoredRow,
}

/// What can be done about a damaged row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoredRow {
    /// It is written over when the object is read again.
    Replaceable,
    /// Nothing says whose text it is. SQLite's row id, or nothing where the key is sound.
    Stray { rowid: Option<i64> },
}

/// How far a verification has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyCursor {
    kind: usize,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// Among the texts: after this row.
    Texts(After),
    /// Among the cells whose text is missing: after this object.
    Missing { host: String, id: i64 },
}

/// SQLite numbers its rows, whatever is in them; PostgreSQL goes by the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct After {
    rowid: i64,
    host: String,
    id: i64,
}

impl After {
    const BEGINNING: Self = Self { rowid: i64::MIN, host: String::new(), id: i64::MIN };
}

/// One page of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifiedPage {
    /// How many rows were verified.
    pub checked: u64,
    pub damaged: Vec<DamagedItem>,
    /// Where the next page begins; none after the last.
    pub next: Option<VerifyCursor>,
}

impl Store {
    /// Verifies the next few hundred objects.
    pub fn verify_page(&self, after: Option<&VerifyCursor>) -> Result<VerifiedPage, Error> {
        let first = VerifyCursor { kind: 0, stage: Stage::Texts(After::BEGINNING) };
        let at = after.unwrap_or(&first);
        let Some(kind) = Kind::ALL.get(at.kind).copied() else {
            return Ok(VerifiedPage::default());
        };
        self.read("verify", |tx| match &at.stage {
            Stage::Texts(after) => {
                let mut page = page::verify(tx, kind, after)?;
                let stage = page.last.map_or_else(Stage::first_missing, Stage::Texts);
                page.verified.next = Some(VerifyCursor { kind: at.kind, stage });
                Ok(page.verified)
            }
            Stage::Missing { host, id } => {
                let damaged = missing(tx, kind, host, *id)?;
                let last = damaged.last().and_then(|it| Some((it.host.clone()?, it.id?)));
                let next = match last {
                    Some((host, id)) => {
                        VerifyCursor { kind: at.kind, stage: Stage::Missing { host, id } }
                    }
                    None => {
                        VerifyCursor { kind: at.kind + 1, stage: Stage::Texts(After::BEGINNING) }
                    }
                };
                let next = Some(next).filter(|next| next.kind < Kind::ALL.len());
                Ok(VerifiedPage { checked: 0, damaged, next })
            }
        })
    }
}

impl Stage {
    fn first_missing() -> Self {
        Self::Missing { host: String::new(), id: i64::MIN }
    }
}

/// Objects that should be there, and have no text.
fn missing(tx: &mut Tx<'_>, kind: Kind, host: &str, id: i64) -> Result<Vec<DamagedItem>, Error> {
    const MISSING: OfKind = of_kind!(
        "select cells.host, cells.id from cells left join",
        "as texts on texts.host = cells.host and texts.id = cells.id
          where cells.kind = $1 and texts.id is null
            and cells.updated_at is not null
            and (cells.gone_at_ms is null
                 or (cells.gone_at_ms, cells.gone_request) < (cells.seen_at_ms, cells.seen_request))
            and (cells.host, cells.id) > ($2, cast($3 as bigint))
          order by cells.host, cells.id limit $4"
    );
    let read = |mut row: Row| {
        Ok(DamagedItem {
            kind,
            host: Some(row.text(0)?),
            id: Some(row.int(1)?),
            repository: None,
            number: None,
            url: None,
            reason: "its text is missing".to_owned(),
            row: StoredRow::Replaceable,
        })
    };
    Ok(tx.query_readable(MISSING.of(kind), &params![kind.name(), host, id, PAGE], read)?.rows)
}

/// How the rows of a kind are read: the columns, in the order that their reader wants them.
pub(crate) struct TextTable {
    kind: Kind,
    name: &'static str,
    columns: String,
    /// An index that knows every row without looking at it.
    index: &'static str,
    number: Option<usize>,
    url: usize,
}

impl TextTable {
    fn of(kind: Kind) -> Self {
        if let Some(table) = Table::of(kind) {
            let index = match kind {
                Kind::Discussion => "discussions_created_at",
                Kind::PullRequest => "pull_requests_created_at",
                Kind::Issue
                | Kind::Repository
                | Kind::IssueComment
                | Kind::ReviewComment
                | Kind::Review
                | Kind::DiscussionComment => "issues_created_at",
            };
            let (name, columns) = (table.name(), table.columns());
            return Self { kind, name, columns, index, number: Some(4), url: 6 };
        }
        let (name, index) = match kind {
            Kind::ReviewComment => ("review_comments", "review_comments_created_at"),
            Kind::Review => ("reviews", "reviews_created_at"),
            Kind::DiscussionComment => ("discussion_comments", "discussion_comments_created_at"),
            Kind::Repository => return Self::of_repositories(),
            Kind::IssueComment | Kind::Issue | Kind::PullRequest | Kind::Discussion => {
                ("issue_comments", "issue_comments_created_at")
            }
        };
        let own = format!("'{}' as kind", kind.name());
        let columns = comments::COLUMNS.replacen("kind", &own, 1);
        Self { kind, name, columns, index, number: Some(6), url: 9 }
    }

    fn of_repositories() -> Self {
        let columns = "id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled, \
                       has_discussions_enabled, created_at, updated_at, host"
            .to_owned();
        let (kind, name) = (Kind::Repository, "repositories");
        Self { kind, name, columns, index: "repositories_updated_at", number: None, url: 4 }
    }

    /// Where the host, the repository's name and the id stand.
    fn identity(&self) -> (usize, usize, usize) {
        match self.kind {
            Kind::Repository => (11, 3, 0),
            Kind::Discussion | Kind::Issue | Kind::PullRequest => (0, 1, 2),
            Kind::IssueComment | Kind::ReviewComment | Kind::Review | Kind::DiscussionComment => {
                (0, 1, 3)
            }
        }
    }

    /// The number of columns; SQLite's row id stands after them.
    fn rowid_column(&self) -> usize {
        match self.kind {
            Kind::Repository => 12,
            Kind::Discussion => 19,
            Kind::Issue => 17,
            Kind::PullRequest => 21,
            Kind::IssueComment | Kind::ReviewComment | Kind::Review | Kind::DiscussionComment => 18,
        }
    }

    fn item(&self, row: Row) -> Result<Item, Error> {
        Ok(match Table::of(self.kind) {
            Some(table) => Item::Thread(table.read(row)?.thread),
            None if self.kind == Kind::Repository => Item::Repository(repositories::read(row)?),
            None => Item::Comment(comments::read(row)?.comment),
        })
    }

    /// The next rows.
    fn rows(&self, tx: &mut Tx<'_>, after: &After) -> Result<Vec<Row>, Error> {
        let Self { name, columns, .. } = self;
        match tx.dialect() {
            Dialect::Sqlite => {
                let text = format!(
                    "select {columns}, rowid from {name} where rowid > $1 order by rowid limit $2"
                );
                tx.query(Sql::both(&text), &params![after.rowid, PAGE], Ok)
            }
            Dialect::Postgres => {
                let text = format!(
                    "select {columns} from {name} where (host, id) > ($1, $2::bigint)
                      order by host, id limit $3"
                );
                tx.query(Sql::both(&text), &params![&after.host, after.id, PAGE], Ok)
            }
        }
    }

    /// The numbers of the next rows in SQLite, as an index knows them.
    fn rowids(&self, tx: &mut Tx<'_>, after: &After) -> Result<Vec<i64>, Error> {
        let Self { name, index, .. } = self;
        let text = format!(
            "select rowid from {name} indexed by {index} where rowid > $1 order by rowid limit $2"
        );
        tx.query(Sql::both(&text), &params![after.rowid, PAGE], |mut row| row.int(0))
    }

    fn row_by_rowid(&self, tx: &mut Tx<'_>, rowid: i64) -> Result<Option<Row>, Error> {
        let Self { name, columns, .. } = self;
        let text = format!("select {columns}, rowid from {name} where rowid = $1");
        tx.first(Sql::both(&text), &params![rowid], Ok)
    }
}
