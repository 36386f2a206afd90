//! Ranks the links of recent posts by the number of accounts that shared them.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::source_time::SourceInstant;

use super::post_list::{PostRow, posts_by_ids};
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// A link that several accounts shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendingLink {
    /// As the newest post has it.
    pub url: String,
    /// The spelling by which links to the same page are counted together.
    pub normal: String,
    /// The number of accounts.
    pub sharer_count: u64,
    /// The number of posts and reposts.
    pub post_count: u64,
    /// The names of some of the accounts, those that shared it last first.
    pub sharers: Vec<String>,
    /// The newest post with the link.
    pub newest: PostRow,
}

/// The number of accounts that are named for each link.
const MAX_SHARERS: i64 = 5;

/// A link with its numbers.
struct RankedLink {
    normal: String,
    sharer_count: u64,
    post_count: u64,
}

/// A post that shares a link.
struct LinkShare {
    host: String,
    post_id: i64,
    sharer: String,
}

/// The recent links are selected first: grouped by an index of all links, they would be looked for among all of them.
const RANKED: Sql = Sql::portable(
    "with recent as materialized (select normal, sharer, sort_ms from post_links where sort_ms >= $1)
     select normal, count(distinct sharer) as sharers, count(*) as posts, max(sort_ms) as newest
       from recent
      group by normal order by sharers desc, newest desc, normal limit $2",
);

impl StoreReader {
    /// Returns the links of posts and reposts since this time, those with the most accounts first; among equals, those
    /// that were shared last.
    pub fn trending_links(
        &self,
        since: SourceInstant,
        limit: u64,
    ) -> Result<Vec<TrendingLink>, StoreError> {
        self.read("trending", |tx| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let ranked = tx.query(RANKED, &params![since.0, limit], |mut row| {
                Ok(RankedLink {
                    normal: row.text("normal")?,
                    sharer_count: row.int("sharers")?.unsigned_abs(),
                    post_count: row.int("posts")?.unsigned_abs(),
                })
            })?;
            let links = ranked.into_iter().map(|link| describe_link(tx, link, since));
            Ok(links.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        })
    }
}

/// Adds who shared a link and its newest post. Returns none if that post cannot be read.
fn describe_link(
    tx: &mut Transaction<'_>,
    link: RankedLink,
    since: SourceInstant,
) -> Result<Option<TrendingLink>, StoreError> {
    const SHARES: Sql = Sql::portable(
        "select host, max(post_id) as post_id, sharer, max(sort_ms) as newest from post_links
          where normal = $1 and sort_ms >= $2
          group by host, sharer order by newest desc, sharer limit $3",
    );
    const NEWEST: Sql = Sql::portable(
        "select host, post_id, sharer from post_links
          where normal = $1 and sort_ms >= $2 order by sort_ms desc, post_id desc limit 1",
    );
    let newest = tx.query_first(NEWEST, &params![&link.normal, since.0], read_share)?;
    let Some(newest) = newest else { return Ok(None) };
    let shares = tx.query(SHARES, &params![&link.normal, since.0, MAX_SHARERS], read_share)?;
    let Some(row) = posts_by_ids(tx, &newest.host, &[newest.post_id])?.into_iter().next() else {
        return Ok(None);
    };
    let RankedLink { normal, sharer_count, post_count } = link;
    let found = row.post.links.iter().find(|found| found.normal == normal);
    let url = found.map_or_else(|| normal.clone(), |found| found.url.clone());
    let sharers = read_sharer_names(tx, &shares)?;
    Ok(Some(TrendingLink { url, normal, sharer_count, post_count, sharers, newest: row }))
}

fn read_share(mut row: crate::sql::SqlRow) -> Result<LinkShare, StoreError> {
    Ok(LinkShare {
        host: row.text("host")?,
        post_id: row.int("post_id")?,
        sharer: row.text("sharer")?,
    })
}

/// Returns the handles of the accounts in their order; the DID of one without a handle.
fn read_sharer_names(
    tx: &mut Transaction<'_>,
    shares: &[LinkShare],
) -> Result<Vec<String>, StoreError> {
    const HANDLE: Sql =
        Sql::portable("select handle from account_names where host = $1 and did = $2");
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for LinkShare { host, sharer, .. } in shares {
        let handle =
            tx.query_first(HANDLE, &params![host, sharer], |mut row| row.maybe_text("handle"))?;
        known.insert(sharer, handle.flatten().unwrap_or_else(|| sharer.clone()));
    }
    let mut named = BTreeSet::new();
    let sharers = shares.iter().map(|share| share.sharer.as_str());
    Ok(sharers.filter(|sharer| named.insert(*sharer)).map(|sharer| known[sharer].clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatabaseLocation, StoreWriter};

    #[test]
    fn trending_links_are_selected_by_their_time() {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let text = format!("explain query plan {}", RANKED.text_for(crate::sql::Dialect::Sqlite));
        let plan = store.read("plan", |tx| {
            tx.query(Sql::portable(&text), &params![1, 20], |mut row| row.text("detail"))
        });
        let plan = plan.unwrap().join("; ");
        assert!(plan.contains("COVERING INDEX post_links_sort_ms (sort_ms>?)"), "{plan}");
    }
}
