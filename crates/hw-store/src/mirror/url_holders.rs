//! Finds the threads that have a URL, and displaces them if it belongs to another one now.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Thread, ThreadKind};
use hw_rules::repository_key::RepositoryKey;

use super::repository_names::ThreadUrl;
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{SqlRow, params};
use crate::sweeps;
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;

/// The threads that have some URLs. URLs that were looked up before need no question of their own.
#[derive(Default)]
pub(crate) struct UrlHolders(BTreeMap<ThreadKind, KindHolders>);

/// The threads of one kind that have some URLs.
#[derive(Default)]
struct KindHolders {
    looked_up: BTreeSet<String>,
    holders: Vec<ThreadUrl>,
}

/// The holders of URLs, requested.
pub(crate) struct PendingHolders(BTreeMap<ThreadKind, PendingKind>);

/// The holders of URLs of one kind of threads, requested.
struct PendingKind {
    looked_up: BTreeSet<String>,
    rows: PendingRows,
}

impl PendingHolders {
    /// Looks up the URLs that these threads were observed with.
    pub(crate) fn send<'a>(
        tx: &mut Transaction<'_>,
        host: &str,
        threads: impl IntoIterator<Item = &'a Thread>,
    ) -> Result<Self, StoreError> {
        let mut by_kind: BTreeMap<ThreadKind, BTreeSet<String>> = BTreeMap::new();
        for thread in threads {
            by_kind.entry(thread.kind()).or_default().insert(thread.url.clone());
        }
        let sent = by_kind.into_iter().map(|(kind, looked_up)| {
            let urls: Vec<_> = looked_up.iter().map(String::as_str).collect();
            let rows = send_holders(tx, host, kind, &urls)?;
            Ok((kind, PendingKind { looked_up, rows }))
        });
        Ok(Self(sent.collect::<Result<_, StoreError>>()?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<UrlHolders, StoreError> {
        let read = self.0.into_iter().map(|(kind, PendingKind { looked_up, rows })| {
            let holders = tx.read_pending(rows, read_holder)?;
            Ok((kind, KindHolders { looked_up, holders }))
        });
        Ok(UrlHolders(read.collect::<Result<_, StoreError>>()?))
    }
}

impl UrlHolders {
    /// Returns true if each thread that has one of the URLs is the one that it belongs to.
    pub(crate) fn belong_to(&self, owners: &BTreeMap<(ThreadKind, &str), i64>) -> bool {
        self.0.iter().all(|(kind, known)| {
            let mut holders = known.holders.iter();
            holders.all(|holder| owners.get(&(*kind, holder.url.as_str())) == Some(&holder.id))
        })
    }

    /// Returns the threads that have these URLs.
    fn find(
        &self,
        tx: &mut Transaction<'_>,
        host: &str,
        kind: ThreadKind,
        urls: &[&str],
    ) -> Result<Vec<ThreadUrl>, StoreError> {
        match self.0.get(&kind) {
            Some(known) if urls.iter().all(|url| known.looked_up.contains(*url)) => {
                Ok(known.holders.clone())
            }
            Some(_) | None => {
                let rows = send_holders(tx, host, kind, urls)?;
                tx.read_pending(rows, read_holder)
            }
        }
    }
}

fn send_holders(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ThreadKind,
    urls: &[&str],
) -> Result<PendingRows, StoreError> {
    const HOLDERS: KindStatements = of_kind!(
        "select id, repository_id, url from",
        "where host = $1 and url in (select value from json_each($2))",
        "where host = $1 and url = any($2)"
    );
    tx.send_query(HOLDERS.for_kind(kind), &params![host, urls])
}

fn read_holder(mut row: SqlRow) -> Result<ThreadUrl, StoreError> {
    Ok(ThreadUrl {
        id: row.int("id")?,
        repository_id: row.int("repository_id")?,
        url: row.text("url")?,
    })
}

/// Displaces other threads from these URLs: a name was reused, and the previous owner of the URL is stale.
///
/// A repository never gives a number to a second thread. Two threads of one repository with one URL are the same thread
/// under two ids, and a sweep decides which of them is right.
pub(crate) fn free_urls(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ThreadKind,
    wanted: &[ThreadUrl],
    holders: &UrlHolders,
) -> Result<(), StoreError> {
    const DISPLACE: KindStatements = of_kind!("update", "set url = $1 where host = $2 and id = $3");
    let owners: BTreeMap<_, _> = wanted.iter().map(|owner| (owner.url.as_str(), owner)).collect();
    let urls: Vec<_> = owners.keys().copied().collect();
    let mut stale = holders.find(tx, host, kind, &urls)?;
    stale.retain(|holder| owners.get(holder.url.as_str()).is_some_and(|own| own.id != holder.id));
    let marked = stale.iter().map(|holder| format!("{}~{}", holder.url, holder.id));
    let marked: Vec<String> = marked.collect();
    let rows = stale.iter().zip(&marked);
    let rows: Vec<_> = rows.map(|(holder, url)| params![url, host, holder.id].to_vec()).collect();
    tx.execute_each(DISPLACE.for_kind(kind), &rows)?;
    let doubled: BTreeSet<i64> = stale
        .iter()
        .filter(|holder| owners[holder.url.as_str()].repository_id == holder.repository_id)
        .map(|holder| holder.repository_id)
        .collect();
    let mut doubled = doubled.into_iter().map(|id| RepositoryKey::new(host, id));
    doubled.try_for_each(|repository| sweeps::restart_thread_sweep(tx, &repository, kind))
}
