//! Issues: their texts and their search rows.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Issue, Item, Key, Kind};
use hw_rules::time::SourceTime;

use super::names::{self, Named};
use crate::cells::Held;
use crate::error::Error;
use crate::search::{self, SearchRow};
use crate::sql::{Param, Sql, params};
use crate::tx::Tx;

/// An issue as it is stored: under its repository's present name.
struct Placed<'a> {
    issue: &'a Issue,
    repository: String,
    url: String,
    labels: String,
}

/// Writes issues and their search rows; tells where the search rows are.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    host: &str,
    held: &Held,
    items: &[&Item],
) -> Result<BTreeMap<Key, i64>, Error> {
    let issues: Vec<_> = items.iter().filter_map(|item| issue(item)).collect();
    if issues.is_empty() {
        return Ok(BTreeMap::new());
    }
    let repositories: BTreeSet<_> = issues.iter().map(|issue| issue.repository_id).collect();
    let repositories: Vec<_> = repositories.into_iter().collect();
    let names = names::of_repositories(tx, host, &repositories)?;
    let placed = place(&issues, &names);
    let urls: Vec<_> = placed.iter().map(|placed| (placed.issue.id, placed.url.clone())).collect();
    names::free_urls(tx, host, &urls)?;
    let rows: Vec<_> = placed.iter().map(|placed| values(host, placed)).collect();
    tx.execute_each(KEEP, &rows)?;
    index(tx, held, &placed)
}

fn issue<'a>(item: &&'a Item) -> Option<&'a Issue> {
    match item {
        Item::Issue(issue) => Some(issue),
        Item::Repository(_) => None,
    }
}

fn place<'a>(issues: &[&'a Issue], names: &BTreeMap<i64, Named>) -> Vec<Placed<'a>> {
    let place = |(issue, (_, url)): (&&'a Issue, (i64, String))| {
        let named = names.get(&issue.repository_id);
        let repository =
            named.map_or_else(|| names::repository_in(&issue.url), |named| &named.name);
        let labels = serde_json::to_string(&issue.labels).expect("a list of texts is always JSON");
        Placed { issue, repository: repository.to_owned(), url, labels }
    };
    issues.iter().zip(urls(issues, names)).map(place).collect()
}

/// The URLs the issues are to have, in their order.
fn urls(issues: &[&Issue], names: &BTreeMap<i64, Named>) -> Vec<(i64, String)> {
    let url = |issue: &&Issue| match names.get(&issue.repository_id) {
        Some(named) => (issue.id, names::issue_url(&named.url, &issue.url)),
        None => (issue.id, issue.url.clone()),
    };
    names::apart(issues.iter().map(url).collect())
}

const KEEP: Sql = Sql::both(
    "insert into issues (host, id, node_id, number, repository_id, repository, url, title, body,
                         state, state_reason, labels, author, author_id, created_at, updated_at,
                         closed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (host, id) do update
        set node_id = excluded.node_id, number = excluded.number,
            repository_id = excluded.repository_id, repository = excluded.repository,
            url = excluded.url, title = excluded.title, body = excluded.body,
            state = excluded.state, state_reason = excluded.state_reason,
            labels = excluded.labels, author = excluded.author, author_id = excluded.author_id,
            created_at = excluded.created_at, updated_at = excluded.updated_at,
            closed_at = excluded.closed_at",
);

fn values<'a>(host: &'a str, placed: &'a Placed<'a>) -> Vec<Param<'a>> {
    let issue = placed.issue;
    params![
        host,
        issue.id,
        &issue.node_id,
        issue.number,
        issue.repository_id,
        &placed.repository,
        &placed.url,
        &issue.title,
        &issue.body,
        &issue.state,
        issue.state_reason.as_deref(),
        &placed.labels,
        issue.author.as_deref(),
        issue.author_id,
        issue.created_at.as_str(),
        issue.updated_at.as_str(),
        issue.closed_at.as_ref().map(SourceTime::as_str),
    ]
    .to_vec()
}

/// Writes the search rows anew, at the place their `updated_at` gives them.
fn index(tx: &mut Tx<'_>, held: &Held, placed: &[Placed<'_>]) -> Result<BTreeMap<Key, i64>, Error> {
    let wanted: Vec<_> = placed.iter().map(|placed| (key(placed), placed.issue)).collect();
    let old: Vec<_> =
        wanted.iter().filter_map(|(key, _)| held.search_rowids.get(key).copied()).collect();
    let wanted: Vec<_> = wanted
        .into_iter()
        .map(|(key, issue)| (key, issue.updated_at.mark(), held.search_rowids.get(&key).copied()))
        .collect();
    let rowids = search::rowids(tx, &wanted)?;
    search::remove(tx, &old)?;
    let rows: Vec<_> = placed
        .iter()
        .filter_map(|placed| Some((*rowids.get(&key(placed))?, search_row(placed))))
        .collect();
    search::insert(tx, &rows)?;
    Ok(rowids)
}

fn key(placed: &Placed<'_>) -> Key {
    Key { kind: Kind::Issue, id: placed.issue.id }
}

fn search_row<'a>(placed: &'a Placed<'a>) -> SearchRow<'a> {
    let issue = placed.issue;
    SearchRow {
        kind: Kind::Issue,
        title: &issue.title,
        body: &issue.body,
        repository: &placed.repository,
        author: issue.author.as_deref(),
        state: &issue.state,
        labels: &issue.labels,
        created_at: issue.created_at.as_str(),
    }
}
