//! Writes threads of every kind.

use std::collections::BTreeMap;

use hw_rules::item::{
    AuthorKind, DiscussionDetails, MirrorItem, PullRequestDetails, Thread, ThreadDetails,
    ThreadKind,
};
use hw_rules::source_time::SourceTime;

use super::repository_names::{self, NamedRepository, ThreadUrl};
use super::{TextPlaces, WrittenText, WrittenTexts, dated_text, url_holders};
use crate::cells::StoredCells;
use crate::error::StoreError;
use crate::ingest::PreparedTexts;
use crate::search::SearchRow;
use crate::sql::{Sql, SqlParam, params};
use crate::transaction::Transaction;

/// A thread under the current name of its repository.
struct StoredThread<'a> {
    item: &'a MirrorItem,
    thread: &'a Thread,
    repository: String,
    url: String,
    /// A JSON list.
    labels: String,
}

impl StoredThread<'_> {
    fn thread_url(&self) -> ThreadUrl {
        let Thread { id, repository_id, .. } = *self.thread;
        ThreadUrl { id, repository_id, url: self.url.clone() }
    }
}

/// Writes threads under the names of their repositories, and assigns the ids of their search rows.
pub(crate) fn store_threads<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    stored: &StoredCells,
    names: &BTreeMap<i64, NamedRepository>,
    places: &mut TextPlaces,
    items: &[&'a MirrorItem],
    prepared: &PreparedTexts<'a>,
) -> Result<WrittenTexts<'a>, StoreError> {
    let mut by_kind: BTreeMap<ThreadKind, Vec<ObservedThread<'a>>> = BTreeMap::new();
    for observed in items.iter().filter_map(|item| ObservedThread::from_item(item)) {
        by_kind.entry(observed.thread.kind()).or_default().push(observed);
    }
    if by_kind.is_empty() {
        return Ok(WrittenTexts::new());
    }
    let observed = by_kind.values().flatten();
    let dated = observed.filter_map(|ObservedThread { item, .. }| dated_text(item));
    // assigned before the first write is sent, which would have to be awaited as well
    let rowids = places.rowids.assign(tx, stored, dated)?;
    let mut all = Vec::new();
    for (kind, threads) in &by_kind {
        let rows = to_stored_threads(threads, names);
        let urls: Vec<_> = rows.iter().map(StoredThread::thread_url).collect();
        url_holders::free_urls(tx, host, *kind, &urls, &places.urls)?;
        all.push(rows);
    }
    all.iter().try_for_each(|rows| write_threads(tx, host, rows))?;
    let written =
        all.into_iter().flatten().map(|StoredThread { item, repository, url, .. }| {
            let key = item.key();
            let (search_rowid, prepared) = (rowids.get(&key).copied(), prepared.get(&key).copied());
            (key, WrittenText { item, repository, url, search_rowid, prepared })
        });
    Ok(written.collect())
}

/// An item that is a thread.
struct ObservedThread<'a> {
    item: &'a MirrorItem,
    thread: &'a Thread,
}

impl<'a> ObservedThread<'a> {
    fn from_item(item: &'a MirrorItem) -> Option<Self> {
        match item {
            MirrorItem::Thread(thread) => Some(Self { item, thread }),
            MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
        }
    }
}

fn to_stored_threads<'a>(
    threads: &[ObservedThread<'a>],
    names: &BTreeMap<i64, NamedRepository>,
) -> Vec<StoredThread<'a>> {
    let urls = thread_urls(threads, names);
    threads
        .iter()
        .zip(urls)
        .map(|(ObservedThread { item, thread }, ThreadUrl { url, .. })| {
            let repository = match names.get(&thread.repository_id) {
                Some(current) => current.name.clone(),
                None => repository_names::repository_from_url(&thread.url).to_owned(),
            };
            let labels =
                serde_json::to_string(&thread.labels).expect("a list of texts is always JSON");
            StoredThread { item, thread, repository, url, labels }
        })
        .collect()
}

/// Returns the current URLs of threads, in their order.
fn thread_urls(
    threads: &[ObservedThread<'_>],
    names: &BTreeMap<i64, NamedRepository>,
) -> Vec<ThreadUrl> {
    let urls = threads.iter().map(|ObservedThread { thread, .. }| {
        let url = match names.get(&thread.repository_id) {
            Some(current) => repository_names::thread_url(&current.url, &thread.url),
            None => thread.url.clone(),
        };
        ThreadUrl { id: thread.id, repository_id: thread.repository_id, url }
    });
    repository_names::make_urls_unique(urls.collect())
}

/// Writes threads of one kind.
fn write_threads(
    tx: &mut Transaction<'_>,
    host: &str,
    threads: &[StoredThread<'_>],
) -> Result<(), StoreError> {
    let Some(first) = threads.first() else { return Ok(()) };
    let sql = match first.thread.details {
        ThreadDetails::Issue => UPSERT_ISSUE,
        ThreadDetails::Discussion(_) => UPSERT_DISCUSSION,
        ThreadDetails::PullRequest(_) => UPSERT_PULL_REQUEST,
    };
    let rows: Vec<_> = threads.iter().map(|row| thread_params(host, row)).collect();
    tx.insert_rows(sql, &rows)
}

/// Builds an upsert of the columns that every thread has, followed by those of one kind: their names, their parameters
/// in SQLite and in PostgreSQL, and their assignments.
macro_rules! upsert {
    ($table:literal, $columns:literal, $values:literal, $arrays:literal, $assignments:literal) => {
        Sql::per_dialect(
            upsert_rows!(
                $table,
                $columns,
                "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                         $18, $19",
                $values,
                $assignments
            ),
            upsert_rows!(
                $table,
                $columns,
                "select * from unnest(
                     $1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[],
                     $7::text[], $8::text[], $9::bytea[], $10::text[], $11::text[], $12::text[],
                     $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::text[],
                     $19::text[]",
                $arrays,
                $assignments
            ),
        )
    };
}
macro_rules! upsert_rows {
    ($table:literal, $columns:literal, $rows:literal, $more:literal, $assignments:literal) => {
        concat!(
            "insert into ",
            $table,
            " (host, id, node_id, number, repository_id, repository, url, title, body, state,
               state_reason, labels, author, author_id, author_kind, association, created_at, updated_at,
               closed_at",
            $columns,
            ") ",
            $rows,
            $more,
            ")
             on conflict (host, id) do update
                set node_id = excluded.node_id, number = excluded.number,
                    repository_id = excluded.repository_id, repository = excluded.repository,
                    url = excluded.url, title = excluded.title, body = excluded.body,
                    state = excluded.state, state_reason = excluded.state_reason,
                    labels = excluded.labels, author = excluded.author,
                    author_id = excluded.author_id, author_kind = excluded.author_kind,
                    association = excluded.association, created_at = excluded.created_at,
                    updated_at = excluded.updated_at, closed_at = excluded.closed_at",
            $assignments,
        )
    };
}

const UPSERT_ISSUE: Sql = upsert!("issues", "", "", "", "");
const UPSERT_DISCUSSION: Sql = upsert!(
    "discussions",
    ", category, is_answered",
    ", $20, $21",
    ", $20::text[], $21::boolean[]",
    ", category = excluded.category, is_answered = excluded.is_answered"
);
/// An observation does not include the closing references. Those of an open pull request stay until they are read
/// again, which is due from now on; only open pull requests have any.
const UPSERT_PULL_REQUEST: Sql = upsert!(
    "pull_requests",
    ", is_draft, merged_at, head_ref, head_sha, closes, closes_due",
    ", $20, $21, $22, $23, $24, $25",
    ", $20::boolean[], $21::text[], $22::text[], $23::text[], $24::text[], $25::boolean[]",
    ", is_draft = excluded.is_draft, merged_at = excluded.merged_at, head_ref = excluded.head_ref,
       head_sha = excluded.head_sha,
       closes = case when excluded.state = 'OPEN' and excluded.node_id = pull_requests.node_id
                     then pull_requests.closes else '[]' end,
       closes_due = excluded.closes_due"
);

fn thread_params<'a>(host: &'a str, row: &'a StoredThread<'a>) -> Vec<SqlParam<'a>> {
    let thread = row.thread;
    let mut values = params![
        host,
        thread.id,
        &thread.node_id,
        thread.number,
        thread.repository_id,
        &row.repository,
        &row.url,
        &thread.title,
        SqlParam::TextBytes(&thread.body),
        &thread.state,
        thread.state_reason.as_deref(),
        &row.labels,
        thread.author.as_deref(),
        thread.author_id,
        thread.author_kind.as_ref().map(AuthorKind::name),
        thread.association.as_deref(),
        thread.created_at.as_str(),
        thread.updated_at.as_str(),
        thread.closed_at.as_ref().map(SourceTime::as_str),
    ]
    .to_vec();
    match &thread.details {
        ThreadDetails::Issue => {}
        ThreadDetails::Discussion(DiscussionDetails { category, is_answered }) => {
            values.extend(params![category, *is_answered]);
        }
        ThreadDetails::PullRequest(PullRequestDetails {
            is_draft,
            merged_at,
            head_ref,
            head_sha,
        }) => {
            let merged_at = merged_at.as_ref().map(SourceTime::as_str);
            let head_sha = head_sha.as_deref();
            values.extend(params![
                *is_draft,
                merged_at,
                head_ref,
                head_sha,
                "[]",
                thread.is_open()
            ]);
        }
    }
    values
}

/// Returns the searchable parts of a thread in the repository of this name.
pub(super) fn search_row<'a>(
    host: &'a str,
    thread: &'a Thread,
    repository: &'a str,
) -> SearchRow<'a> {
    SearchRow {
        host,
        repository_id: thread.repository_id,
        thread: thread.number,
        kind: thread.kind().into(),
        title: &thread.title,
        body: &thread.body,
        repository,
        author: thread.author.as_deref(),
        accounts: [None; 2],
        state: &thread.state,
        labels: &thread.labels,
        created_at: &thread.created_at,
        prepared: None,
    }
}
