//! Threads, of every kind: their texts and their search rows.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Discussion, Item, Key, Kind, PullRequest, Sort, Thread};
use hw_rules::time::SourceTime;

use super::names::{self, Named};
use crate::cells::Held;
use crate::error::Error;
use crate::search::{self, SearchRow};
use crate::sql::{Param, Sql, params};
use crate::tx::Tx;

/// A thread as it is stored: under its repository's present name.
struct Placed<'a> {
    thread: &'a Thread,
    repository: String,
    url: String,
    /// Lists are kept as JSON.
    labels: String,
    closes: String,
}

/// Writes threads and their search rows; tells where the search rows are.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    host: &str,
    held: &Held,
    items: &[&Item],
) -> Result<BTreeMap<Key, i64>, Error> {
    let mut threads: BTreeMap<Kind, Vec<&Thread>> = BTreeMap::new();
    for thread in items.iter().filter_map(|item| thread(item)) {
        threads.entry(thread.kind()).or_default().push(thread);
    }
    if threads.is_empty() {
        return Ok(BTreeMap::new());
    }
    let repositories: BTreeSet<_> =
        threads.values().flatten().map(|thread| thread.repository_id).collect();
    let repositories: Vec<_> = repositories.into_iter().collect();
    let names = names::of_repositories(tx, host, &repositories)?;
    let mut all = Vec::new();
    for (kind, threads) in &threads {
        let placed = place(threads, &names);
        let urls: Vec<_> = placed.iter().map(|row| (row.thread.id, row.url.clone())).collect();
        names::free_urls(tx, host, *kind, &urls)?;
        write(tx, host, &placed)?;
        all.extend(placed);
    }
    let rows: Vec<_> = all
        .iter()
        .map(|placed| {
            (placed.thread.key(), placed.thread.updated_at.mark(), search_row(host, placed))
        })
        .collect();
    search::index(tx, held, &rows)
}

fn thread<'a>(item: &&'a Item) -> Option<&'a Thread> {
    match item {
        Item::Thread(thread) => Some(thread),
        Item::Repository(_) | Item::Comment(_) => None,
    }
}

fn place<'a>(threads: &[&'a Thread], names: &BTreeMap<i64, Named>) -> Vec<Placed<'a>> {
    let place = |(thread, (_, url)): (&&'a Thread, (i64, String))| {
        let named = names.get(&thread.repository_id);
        let repository =
            named.map_or_else(|| names::repository_in(&thread.url), |named| &named.name);
        let labels = serde_json::to_string(&thread.labels).expect("a list of texts is always JSON");
        let repository = repository.to_owned();
        Placed { thread, repository, url, labels, closes: closes(&thread.sort) }
    };
    threads.iter().zip(urls(threads, names)).map(place).collect()
}

/// The URLs the threads are to have, in their order.
fn urls(threads: &[&Thread], names: &BTreeMap<i64, Named>) -> Vec<(i64, String)> {
    let url = |thread: &&Thread| match names.get(&thread.repository_id) {
        Some(named) => (thread.id, names::thread_url(&named.url, &thread.url)),
        None => (thread.id, thread.url.clone()),
    };
    names::apart(threads.iter().map(url).collect())
}

fn closes(sort: &Sort) -> String {
    match sort {
        Sort::PullRequest(PullRequest { closes, .. }) => {
            serde_json::to_string(closes).expect("a list of numbers is always JSON")
        }
        Sort::Issue | Sort::Discussion(_) => String::new(),
    }
}

/// Writes threads of one sort.
fn write(tx: &mut Tx<'_>, host: &str, placed: &[Placed<'_>]) -> Result<(), Error> {
    let Some(first) = placed.first() else { return Ok(()) };
    let sql = match first.thread.sort {
        Sort::Issue => KEEP_ISSUE,
        Sort::Discussion(_) => KEEP_DISCUSSION,
        Sort::PullRequest(_) => KEEP_PULL_REQUEST,
    };
    let rows: Vec<_> = placed.iter().map(|placed| values(host, placed)).collect();
    tx.execute_each(sql, &rows)
}

/// What every thread has, and after it what only its sort has: the columns, their places, and how they
/// are replaced.
macro_rules! keep {
    ($table:literal, $columns:literal, $places:literal, $replaced:literal) => {
        Sql::both(concat!(
            "insert into ",
            $table,
            " (host, id, node_id, number, repository_id, repository, url, title, body, state,
               state_reason, labels, author, author_id, created_at, updated_at, closed_at",
            $columns,
            ")
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17",
            $places,
            ")
             on conflict (host, id) do update
                set node_id = excluded.node_id, number = excluded.number,
                    repository_id = excluded.repository_id, repository = excluded.repository,
                    url = excluded.url, title = excluded.title, body = excluded.body,
                    state = excluded.state, state_reason = excluded.state_reason,
                    labels = excluded.labels, author = excluded.author,
                    author_id = excluded.author_id, created_at = excluded.created_at,
                    updated_at = excluded.updated_at, closed_at = excluded.closed_at",
            $replaced,
        ))
    };
}

const KEEP_ISSUE: Sql = keep!("issues", "", "", "");
const KEEP_DISCUSSION: Sql = keep!(
    "discussions",
    ", category, is_answered",
    ", $18, $19",
    ", category = excluded.category, is_answered = excluded.is_answered"
);
const KEEP_PULL_REQUEST: Sql = keep!(
    "pull_requests",
    ", is_draft, merged_at, head_ref, closes",
    ", $18, $19, $20, $21",
    ", is_draft = excluded.is_draft, merged_at = excluded.merged_at,
       head_ref = excluded.head_ref, closes = excluded.closes"
);

fn values<'a>(host: &'a str, placed: &'a Placed<'a>) -> Vec<Param<'a>> {
    let thread = placed.thread;
    let mut values = params![
        host,
        thread.id,
        &thread.node_id,
        thread.number,
        thread.repository_id,
        &placed.repository,
        &placed.url,
        &thread.title,
        &thread.body,
        &thread.state,
        thread.state_reason.as_deref(),
        &placed.labels,
        thread.author.as_deref(),
        thread.author_id,
        thread.created_at.as_str(),
        thread.updated_at.as_str(),
        thread.closed_at.as_ref().map(SourceTime::as_str),
    ]
    .to_vec();
    match &thread.sort {
        Sort::Issue => {}
        Sort::Discussion(Discussion { category, is_answered }) => {
            values.extend(params![category, *is_answered]);
        }
        Sort::PullRequest(PullRequest { is_draft, merged_at, head_ref, .. }) => {
            let merged_at = merged_at.as_ref().map(SourceTime::as_str);
            values.extend(params![*is_draft, merged_at, head_ref, &placed.closes]);
        }
    }
    values
}

fn search_row<'a>(host: &'a str, placed: &'a Placed<'a>) -> SearchRow<'a> {
    let thread = placed.thread;
    SearchRow {
        host,
        repository_id: thread.repository_id,
        thread: thread.number,
        kind: thread.kind(),
        title: &thread.title,
        body: &thread.body,
        repository: &placed.repository,
        author: thread.author.as_deref(),
        state: &thread.state,
        labels: &thread.labels,
        created_at: &thread.created_at,
    }
}
