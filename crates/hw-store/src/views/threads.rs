//! Which threads of one kind are held?

use std::ops::ControlFlow;

use hw_rules::dates::Span;
use hw_rules::item::{Discussion, Kind, PullRequest, Sort, Thread};
use serde::de::DeserializeOwned;

use super::after::After;
use super::meant::Meant;
use super::repositories::time;
use super::skipped::SkippedRows;
use super::wishes::{Bounds, Wishes, limited, lower};
use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql};
use crate::tx::Tx;

/// Which threads to list; everything without a wish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// The repository's name, with or without its owner, in any case.
    pub repository: Option<String>,
    /// The login of the repository's owner, in any case.
    pub owner: Option<String>,
    /// Any of these, in any case, with or without an `@`; everybody when there are none.
    pub authors: Vec<String>,
    pub created: Span,
    /// What was never closed is in no span but the open one.
    pub closed: Span,
    /// Likewise; nothing but pull requests is ever merged.
    pub merged: Span,
    /// Only what comes after this one.
    pub after: Option<After>,
    pub limit: Option<u64>,
}

/// One thread as it is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
    pub host: String,
    /// The repository's name, without its owner.
    pub repository: String,
    pub thread: Thread,
}

impl Store {
    /// Calls `each` with the threads of one kind, one by one, oldest first, without holding them all; returns
    /// how many cannot be read. Of a kind that is none of threads there are none.
    ///
    /// `each` must not call the store: in a database in memory there is but one connection.
    pub fn each_thread(
        &self,
        kind: Kind,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(ThreadRow) -> ControlFlow<()>,
    ) -> Result<SkippedRows, Error> {
        let Some(table) = Table::of(kind) else { return Ok(SkippedRows::default()) };
        self.read("threads", |tx| table.each_readable(tx, filter, each))
    }

    /// The same, with a place for each thread that cannot be read.
    pub(crate) fn each_thread_or_gap(
        &self,
        kind: Kind,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(Option<ThreadRow>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let Some(table) = Table::of(kind) else { return Ok(()) };
        self.read("threads", |tx| table.each(tx, filter, each))
    }

    /// The same, and tells how many there are in all, whatever the limit, in the same state of the database.
    pub fn each_thread_of(
        &self,
        kind: Kind,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(ThreadRow) -> ControlFlow<()>,
    ) -> Result<ThreadsFound, Error> {
        let Some(table) = Table::of(kind) else { return Ok(ThreadsFound::default()) };
        self.read("threads", |tx| {
            let total = table.count(tx, filter)?;
            let skipped = table.each_readable(tx, filter, each)?;
            Ok(ThreadsFound { total, skipped })
        })
    }
}

/// How many threads a filter finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadsFound {
    /// Whatever the limit.
    pub total: u64,
    /// Among those that were read.
    pub skipped: SkippedRows,
}

/// What every thread has; `sort` reads what only its sort has, from the columns after these.
const COLUMNS: &str =
    "host, repository, id, node_id, number, repository_id, url, title, body, state,
    state_reason, labels, author, author_id, created_at, updated_at, closed_at";

/// Where the threads of one kind are.
pub(crate) struct Table {
    kind: Kind,
    name: &'static str,
    more_columns: &'static str,
}

impl Table {
    pub(crate) fn of(kind: Kind) -> Option<Self> {
        let (name, more_columns) = match kind {
            Kind::Discussion => ("discussions", ", category, is_answered"),
            Kind::Issue => ("issues", ""),
            Kind::PullRequest => ("pull_requests", ", is_draft, merged_at, head_ref, closes"),
            Kind::Repository
            | Kind::IssueComment
            | Kind::ReviewComment
            | Kind::Review
            | Kind::DiscussionComment => return None,
        };
        Some(Self { kind, name, more_columns })
    }

    /// The columns of a thread, as [`Table::read`] takes them.
    pub(crate) fn columns(&self) -> String {
        format!("{COLUMNS}{}", self.more_columns)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The threads that fulfil some wishes, in the order that `rest` says.
    pub(crate) fn select(&self, conditions: &str, rest: &str) -> String {
        let Self { name, more_columns, .. } = self;
        format!("select {COLUMNS}{more_columns} from {name} {conditions} {rest}")
    }

    pub(crate) fn read(&self, row: Row) -> Result<ThreadRow, Error> {
        read(row, self.kind)
    }

    fn each_readable(
        &self,
        tx: &mut Tx<'_>,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(ThreadRow) -> ControlFlow<()>,
    ) -> Result<SkippedRows, Error> {
        let mut skipped = SkippedRows::default();
        self.each(tx, filter, &mut |row| match row {
            Some(row) => each(row),
            None => {
                skipped.0 += 1;
                ControlFlow::Continue(())
            }
        })?;
        Ok(skipped)
    }

    fn each(
        &self,
        tx: &mut Tx<'_>,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(Option<ThreadRow>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let (texts, limit) = (filter.texts(tx)?, limited(filter.limit));
        let Some(mut wishes) = self.wishes(tx, filter, &texts) else { return Ok(()) };
        let limit = wishes.place(limit.into());
        let text = self.select(&wishes.text(), &format!("order by created_at, id limit {limit}"));
        tx.query_each(Sql::both(&text), &wishes.params, |row| {
            Ok(each(SkippedRows::default().unless_unreadable(self.read(row))?))
        })
    }

    fn count(&self, tx: &mut Tx<'_>, filter: &ThreadFilter) -> Result<u64, Error> {
        let texts = filter.texts(tx)?;
        let Some(wishes) = self.wishes(tx, filter, &texts) else { return Ok(0) };
        let text = format!("select count(*) from {} {}", self.name, wishes.text());
        tx.count(Sql::both(&text), &wishes.params)
    }

    /// None when nothing of this kind can fulfil them.
    fn wishes<'a>(
        &self,
        tx: &Tx<'_>,
        filter: &'a ThreadFilter,
        texts: &'a Texts,
    ) -> Option<Wishes<'a>> {
        let mut wishes = Wishes::new(tx.dialect());
        wishes.repository(texts.repository.as_ref());
        wishes.author(&texts.authors);
        wishes.within("created_at", &texts.created);
        wishes.within("closed_at", &texts.closed);
        if self.kind == Kind::PullRequest {
            wishes.within("merged_at", &texts.merged);
        } else if !filter.merged.is_open() {
            return None;
        }
        wishes.after(filter.after.as_ref());
        Some(wishes)
    }
}

/// A filter as texts that a statement can compare.
struct Texts {
    repository: Option<Meant>,
    authors: Vec<String>,
    created: Bounds,
    closed: Bounds,
    merged: Bounds,
}

impl ThreadFilter {
    fn texts(&self, tx: &mut Tx<'_>) -> Result<Texts, Error> {
        Ok(Texts {
            repository: Meant::by(tx, self.repository.as_deref(), self.owner.as_deref())?,
            authors: lower(&self.authors),
            created: Bounds::of(self.created),
            closed: Bounds::of(self.closed),
            merged: Bounds::of(self.merged),
        })
    }
}

fn read(mut row: Row, kind: Kind) -> Result<ThreadRow, Error> {
    Ok(ThreadRow {
        host: row.text(0)?,
        repository: row.text(1)?,
        thread: Thread {
            id: row.int(2)?,
            node_id: row.text(3)?,
            number: row.int(4)?,
            repository_id: row.int(5)?,
            url: row.text(6)?,
            title: row.text(7)?,
            body: row.text(8)?,
            state: row.text(9)?,
            state_reason: row.maybe_text(10)?,
            labels: list(&row.text(11)?)?,
            author: row.maybe_text(12)?,
            author_id: row.maybe_int(13)?,
            created_at: time(&row.text(14)?)?,
            updated_at: time(&row.text(15)?)?,
            closed_at: row.maybe_text(16)?.as_deref().map(time).transpose()?,
            sort: sort(row, kind)?,
        },
    })
}

/// What only its sort has, in the columns from 17 on.
fn sort(mut row: Row, kind: Kind) -> Result<Sort, Error> {
    Ok(match kind {
        Kind::Repository
        | Kind::Issue
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => Sort::Issue,
        Kind::Discussion => Sort::Discussion(Discussion {
            category: row.text(17)?,
            is_answered: row.maybe_int(18)?.map(|answered| answered != 0),
        }),
        Kind::PullRequest => Sort::PullRequest(PullRequest {
            is_draft: row.flag(17)?,
            merged_at: row.maybe_text(18)?.as_deref().map(time).transpose()?,
            head_ref: row.text(19)?,
            closes: list(&row.text(20)?)?,
        }),
    })
}

/// A list as it is stored.
pub(crate) fn list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Error> {
    serde_json::from_str(text)
        .map_err(|error| Error::UnreadableRow(format!("a list in a thread's row: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    #[test]
    fn the_threads_of_a_repository_are_found_by_its_name_and_come_in_order() {
        let filter = ThreadFilter { repository: Some("pump".into()), ..ThreadFilter::default() };
        for kind in Kind::THREADS {
            let index = format!("{}s_repository_created_at (repository=?)", kind.name());
            let plan = plan(kind, &filter);
            assert!(plan.contains(&index) && !plan.contains("B-TREE FOR ORDER BY"), "{plan}");
        }
    }

    #[test]
    fn the_threads_of_an_author_are_found_by_his_name_in_any_case_and_come_in_order() {
        let filter = ThreadFilter { authors: vec!["Ann".into()], ..ThreadFilter::default() };
        for kind in Kind::THREADS {
            let index = format!("{}s_author_created_at (<expr>=?)", kind.name());
            let plan = plan(kind, &filter);
            assert!(plan.contains(&index) && !plan.contains("B-TREE FOR ORDER BY"), "{plan}");
        }
    }

    fn plan(kind: Kind, filter: &ThreadFilter) -> String {
        let (store, table) = (Store::open(&Place::Memory).unwrap(), Table::of(kind).unwrap());
        let steps = store.read("plan", |tx| {
            let texts = filter.texts(tx)?;
            let mut wishes = table.wishes(tx, filter, &texts).unwrap();
            let limit = wishes.place(9.into());
            let rest = format!("order by created_at, id limit {limit}");
            let text = format!("explain query plan {}", table.select(&wishes.text(), &rest));
            tx.query(Sql::both(&text), &wishes.params, |mut row| row.text(3))
        });
        steps.unwrap().join("; ")
    }
}
