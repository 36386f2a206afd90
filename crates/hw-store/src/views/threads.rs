//! Which threads of one kind are held?

use std::ops::ControlFlow;

use hw_rules::item::{Discussion, Kind, PullRequest, Sort, Thread};
use serde::de::DeserializeOwned;

use super::repositories::time;
use crate::Store;
use crate::error::Error;
use crate::sql::{Param, Row, Sql};

/// Which threads to list; everything without a wish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// The repository's name, without its owner.
    pub repository: Option<String>,
    pub author: Option<String>,
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

/// What every thread has, and after it what only its sort has.
macro_rules! threads {
    ($rest:literal) => {
        OfThreads {
            discussions: threads!(", category, is_answered", "discussions", $rest),
            issues: threads!("", "issues", $rest),
            pull_requests: threads!(
                ", is_draft, merged_at, head_ref, closes",
                "pull_requests",
                $rest
            ),
        }
    };
    ($columns:literal, $table:literal, $rest:literal) => {
        Sql::both(concat!(
            "select host, repository, id, node_id, number, repository_id, url, title, body, state,
                    state_reason, labels, author, author_id, created_at, updated_at, closed_at",
            $columns,
            " from ",
            $table,
            " ",
            $rest
        ))
    };
}

/// One statement for each kind of threads.
struct OfThreads {
    discussions: Sql,
    issues: Sql,
    pull_requests: Sql,
}

impl OfThreads {
    fn of(&self, kind: Kind) -> Option<Sql> {
        match kind {
            Kind::Discussion => Some(self.discussions),
            Kind::Issue => Some(self.issues),
            Kind::PullRequest => Some(self.pull_requests),
            Kind::Repository
            | Kind::IssueComment
            | Kind::ReviewComment
            | Kind::Review
            | Kind::DiscussionComment => None,
        }
    }
}

const ALL: OfThreads = threads!("order by created_at, id limit $1");
const OF_REPOSITORY: OfThreads = threads!("where repository = $1 order by created_at, id limit $2");
const OF_AUTHOR: OfThreads =
    threads!("where lower(author) = lower($1) order by created_at, id limit $2");
const OF_BOTH: OfThreads = threads!(
    "where repository = $1 and lower(author) = lower($2) order by created_at, id limit $3"
);

impl Store {
    /// Calls `each` with the threads of one kind, one by one, oldest first, without holding them all.
    /// Of a kind that is none of threads there are none.
    ///
    /// `each` must not call the store: in a database in memory there is but one connection.
    pub fn each_thread(
        &self,
        kind: Kind,
        filter: &ThreadFilter,
        each: &mut dyn FnMut(ThreadRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let sql = match (&filter.repository, &filter.author) {
            (None, None) => ALL,
            (Some(_), None) => OF_REPOSITORY,
            (None, Some(_)) => OF_AUTHOR,
            (Some(_), Some(_)) => OF_BOTH,
        };
        let Some(sql) = sql.of(kind) else { return Ok(()) };
        let limit = filter.limit.map_or(i64::MAX, |limit| limit.try_into().unwrap_or(i64::MAX));
        let wishes = filter.repository.iter().chain(&filter.author).map(Param::from);
        let params: Vec<_> = wishes.chain([Param::from(limit)]).collect();
        self.read("threads", |tx| tx.query_each(sql, &params, |row| Ok(each(read(row, kind)?))))
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
        .map_err(|error| Error::Damaged(format!("a list in a thread's row: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use crate::sql::Dialect;

    #[test]
    fn the_threads_of_a_repository_are_found_by_its_name_and_come_in_order() {
        let store = Store::open(&Place::Memory).unwrap();
        for kind in Kind::THREADS {
            let plan = plan(&store, OF_REPOSITORY.of(kind).unwrap(), &["pump".into(), 9.into()]);
            let index = format!("{}s_repository_created_at (repository=?)", kind.name());
            assert!(plan.contains(&index), "{plan}");
        }
    }

    fn plan(store: &Store, sql: Sql, params: &[Param<'_>]) -> String {
        let explain = format!("explain query plan {}", sql.text(Dialect::Sqlite));
        let explain = Sql::both(explain.leak());
        let steps = store.read("plan", |tx| tx.query(explain, params, |mut row| row.text(3)));
        steps.unwrap().join("; ")
    }
}
