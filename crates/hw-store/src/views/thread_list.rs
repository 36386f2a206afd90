//! Lists the stored threads of one kind.

use std::ops::ControlFlow;

use hw_rules::date_range::DateRange;
use hw_rules::item::{
    AuthorKind, DiscussionDetails, PullRequestDetails, Thread, ThreadDetails, ThreadKind,
};
use hw_rules::repository_key::RepositoryKey;
use serde::de::DeserializeOwned;

use super::conditions::{ConditionBuilder, TimeBounds, limit_or_max, normalize_logins};
use super::cursor::ThreadCursor;
use super::pending_chores::PendingChores;
use super::repositories::parse_time;
use super::repository_match::RepositoryMatch;
use super::skipped_rows::SkippedRows;
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow};
use crate::transaction::Transaction;

/// Selects the threads to list; the default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// The repository's name, with or without its owner, in any case.
    pub repository: Option<String>,
    /// The login of the repository's owner, in any case.
    pub owner: Option<String>,
    /// Any of these logins, in any case, with or without an `@`; empty means every author.
    pub authors: Vec<String>,
    pub created: DateRange,
    /// A bounded range leaves out threads that were never closed.
    pub closed: DateRange,
    /// A bounded range leaves out everything but merged pull requests.
    pub merged: DateRange,
    /// Only threads after this one.
    pub after: Option<ThreadCursor>,
    pub limit: Option<u64>,
}

/// A stored thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
    pub host: String,
    /// The repository's name, without its owner.
    pub repository: String,
    pub thread: Thread,
    /// The numbers of the issues of its own repository that an open pull request closes, in order.
    pub closes: Vec<i64>,
}

impl StoreReader {
    /// Calls `each` with the threads of one kind, oldest first, without loading them all; returns the number of
    /// unreadable ones. Kinds other than threads have no rows.
    ///
    /// `each` must not call the store: a database in memory has only one connection.
    pub fn each_thread(
        &self,
        kind: ThreadKind,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(ThreadRow) -> ControlFlow<()>,
    ) -> Result<SkippedRows, StoreError> {
        let table = ThreadTable::for_kind(kind);
        self.read("threads", |tx| table.each_readable(tx, filter, each))
    }

    /// Like [`Self::each_thread`], with `None` for each thread that cannot be read.
    pub(crate) fn each_thread_or_gap(
        &self,
        kind: ThreadKind,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(Option<ThreadRow>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let table = ThreadTable::for_kind(kind);
        self.read("threads", |tx| table.each_row(tx, filter, each))
    }

    /// Like [`Self::each_thread`], and counts all matching threads in the same snapshot, regardless of the limit.
    pub fn each_thread_with_total(
        &self,
        kind: ThreadKind,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(ThreadRow) -> ControlFlow<()>,
    ) -> Result<ThreadTotals, StoreError> {
        let table = ThreadTable::for_kind(kind);
        self.read("threads", |tx| {
            let total = table.count_rows(tx, filter)?;
            let skipped = table.each_readable(tx, filter, each)?;
            Ok(ThreadTotals { total, skipped })
        })
    }
}

/// The number of threads that match a filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadTotals {
    /// All matches, regardless of the limit.
    pub total: u64,
    /// Unreadable rows within the limit.
    pub skipped: SkippedRows,
}

impl ThreadRow {
    pub fn repository_key(&self) -> RepositoryKey {
        RepositoryKey::new(&self.host, self.thread.repository_id)
    }
}

/// The columns that all kinds of threads share. [`read_details`] reads those of one kind.
const THREAD_COLUMNS: &str =
    "host, repository, id, node_id, number, repository_id, url, title, body, state,
    state_reason, labels, author, author_id, author_kind, association, created_at, updated_at, closed_at";

/// The table of one kind of threads.
pub(crate) struct ThreadTable {
    kind: ThreadKind,
    name: &'static str,
    more_columns: &'static str,
}

impl ThreadTable {
    pub(crate) fn for_kind(kind: ThreadKind) -> Self {
        let (name, more_columns) = match kind {
            ThreadKind::Discussion => ("discussions", ", category, is_answered"),
            ThreadKind::Issue => ("issues", ""),
            ThreadKind::PullRequest => {
                ("pull_requests", ", is_draft, merged_at, head_ref, head_sha, closes")
            }
        };
        Self { kind, name, more_columns }
    }

    /// Returns the columns of a thread that [`Self::read_row`] expects.
    pub(crate) fn columns(&self) -> String {
        format!("{THREAD_COLUMNS}{}", self.more_columns)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Builds a `select` statement; `rest` holds its `order by` and `limit` clauses.
    pub(crate) fn select_sql(&self, conditions: &str, rest: &str) -> String {
        let Self { name, more_columns, .. } = self;
        format!("select {THREAD_COLUMNS}{more_columns} from {name} {conditions} {rest}")
    }

    pub(crate) fn read_row(&self, row: SqlRow) -> Result<ThreadRow, StoreError> {
        read_thread(row, self.kind)
    }

    fn each_readable(
        &self,
        tx: &mut Transaction<'_>,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(ThreadRow) -> ControlFlow<()>,
    ) -> Result<SkippedRows, StoreError> {
        let mut skipped = SkippedRows::default();
        self.each_row(tx, filter, &mut |row| match row {
            Some(row) => each(row),
            None => {
                skipped.0 += 1;
                ControlFlow::Continue(())
            }
        })?;
        Ok(skipped)
    }

    fn each_row(
        &self,
        tx: &mut Transaction<'_>,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(Option<ThreadRow>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let values = filter.resolve_values(tx)?;
        let Some(mut conditions) = self.build_conditions(tx, filter, &values) else {
            return Ok(());
        };
        let limit = conditions.bind_param(limit_or_max(filter.limit).into());
        let rest = format!("order by created_at, id limit {limit}");
        let text = self.select_sql(&conditions.where_clause(), &rest);
        tx.query_each(Sql::portable(&text), &conditions.params, |row| {
            let mut row = SkippedRows::default().skip_unreadable(self.read_row(row))?;
            row.iter_mut().for_each(|row| values.pending.rename_thread(row));
            Ok(each(row))
        })
    }

    fn count_rows(
        &self,
        tx: &mut Transaction<'_>,
        filter: &ThreadFilter,
    ) -> Result<u64, StoreError> {
        let values = filter.resolve_values(tx)?;
        let Some(conditions) = self.build_conditions(tx, filter, &values) else { return Ok(0) };
        let text =
            format!("select count(*) as matching from {} {}", self.name, conditions.where_clause());
        tx.query_count(Sql::portable(&text), &conditions.params)
    }

    /// Returns `None` if no thread of this kind can match the filter.
    fn build_conditions<'a>(
        &self,
        tx: &Transaction<'_>,
        filter: &'a ThreadFilter,
        values: &'a FilterValues,
    ) -> Option<ConditionBuilder<'a>> {
        let mut conditions = ConditionBuilder::new(tx.dialect());
        conditions.add_visible(&values.pending);
        conditions.add_repositories(values.repository.as_ref());
        conditions.add_authors(&values.authors);
        conditions.add_range("created_at", &values.created);
        conditions.add_range("closed_at", &values.closed);
        if self.kind == ThreadKind::PullRequest {
            conditions.add_range("merged_at", &values.merged);
        } else if !filter.merged.is_unbounded() {
            return None;
        }
        conditions.add_after(filter.after.as_ref());
        Some(conditions)
    }
}

/// The values of a filter in the form that a statement compares.
struct FilterValues {
    pending: PendingChores,
    repository: Option<RepositoryMatch>,
    authors: Vec<String>,
    created: TimeBounds,
    closed: TimeBounds,
    merged: TimeBounds,
}

impl ThreadFilter {
    fn resolve_values(&self, tx: &mut Transaction<'_>) -> Result<FilterValues, StoreError> {
        let pending = PendingChores::read(tx)?;
        Ok(FilterValues {
            repository: RepositoryMatch::find(
                tx,
                self.repository.as_deref(),
                self.owner.as_deref(),
                &pending,
            )?,
            pending,
            authors: normalize_logins(&self.authors),
            created: TimeBounds::from_range(self.created),
            closed: TimeBounds::from_range(self.closed),
            merged: TimeBounds::from_range(self.merged),
        })
    }
}

fn read_thread(mut row: SqlRow, kind: ThreadKind) -> Result<ThreadRow, StoreError> {
    let closes = match kind {
        ThreadKind::PullRequest => parse_list(&row.text("closes")?)?,
        ThreadKind::Discussion | ThreadKind::Issue => Vec::new(),
    };
    Ok(ThreadRow {
        host: row.text("host")?,
        repository: row.text("repository")?,
        thread: Thread {
            id: row.int("id")?,
            node_id: row.text("node_id")?,
            number: row.int("number")?,
            repository_id: row.int("repository_id")?,
            url: row.text("url")?,
            title: row.text("title")?,
            body: row.text("body")?,
            state: row.text("state")?,
            state_reason: row.maybe_text("state_reason")?,
            labels: parse_list(&row.text("labels")?)?,
            author: row.maybe_text("author")?,
            author_id: row.maybe_int("author_id")?,
            author_kind: row.maybe_text("author_kind")?.map(AuthorKind::from),
            association: row.maybe_text("association")?,
            created_at: parse_time(&row.text("created_at")?)?,
            updated_at: parse_time(&row.text("updated_at")?)?,
            closed_at: row.maybe_text("closed_at")?.as_deref().map(parse_time).transpose()?,
            details: read_details(row, kind)?,
        },
        closes,
    })
}

/// Reads the details of one kind from the columns that only its table has.
fn read_details(mut row: SqlRow, kind: ThreadKind) -> Result<ThreadDetails, StoreError> {
    Ok(match kind {
        ThreadKind::Issue => ThreadDetails::Issue,
        ThreadKind::Discussion => ThreadDetails::Discussion(DiscussionDetails {
            category: row.text("category")?,
            is_answered: row.maybe_int("is_answered")?.map(|answered| answered != 0),
        }),
        ThreadKind::PullRequest => ThreadDetails::PullRequest(PullRequestDetails {
            is_draft: row.flag("is_draft")?,
            merged_at: row.maybe_text("merged_at")?.as_deref().map(parse_time).transpose()?,
            head_ref: row.text("head_ref")?,
            head_sha: row.maybe_text("head_sha")?,
        }),
    })
}

/// Parses a list that is stored as JSON.
pub(crate) fn parse_list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::UnreadableRow(format!("invalid list in a thread: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatabaseLocation, StoreWriter};

    #[test]
    fn thread_list_of_a_repository_uses_an_index_in_order() {
        let filter = ThreadFilter { repository: Some("pump".into()), ..ThreadFilter::default() };
        for kind in ThreadKind::ALL {
            let index = format!("{}s_repository_created_at (repository=?)", kind.name());
            let plan = query_plan(kind, &filter);
            assert!(plan.contains(&index) && !plan.contains("B-TREE FOR ORDER BY"), "{plan}");
        }
    }

    #[test]
    fn thread_list_of_an_author_uses_an_index_in_order() {
        let filter = ThreadFilter { authors: vec!["Ann".into()], ..ThreadFilter::default() };
        for kind in ThreadKind::ALL {
            let index = format!("{}s_author_created_at (<expr>=?)", kind.name());
            let plan = query_plan(kind, &filter);
            assert!(plan.contains(&index) && !plan.contains("B-TREE FOR ORDER BY"), "{plan}");
        }
    }

    fn query_plan(kind: ThreadKind, filter: &ThreadFilter) -> String {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let table = ThreadTable::for_kind(kind);
        let steps = store.read("plan", |tx| {
            let values = filter.resolve_values(tx)?;
            let mut conditions = table.build_conditions(tx, filter, &values).unwrap();
            let limit = conditions.bind_param(9.into());
            let rest = format!("order by created_at, id limit {limit}");
            let select = table.select_sql(&conditions.where_clause(), &rest);
            let text = format!("explain query plan {select}");
            tx.query(Sql::portable(&text), &conditions.params, |mut row| row.text("detail"))
        });
        steps.unwrap().join("; ")
    }
}
