//! Caches facts that every search needs, until the database changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use hw_rules::lane::Surface;
use hw_rules::query::{ItemTypeFilter, QueryFilters};

use super::scoring::ThreadKey;
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;
use crate::views::completeness::Completeness;
use crate::views::viewers;

/// The cache, shared by the clones of an engine.
#[derive(Clone, Default)]
pub(super) struct EngineCache(Arc<Mutex<Option<Arc<CachedFacts>>>>);

pub(super) struct CachedFacts {
    change_counter: i64,
    /// The database that the facts describe: another one can replace it at the same location.
    store: StoreReader,
    completeness: Completeness,
    comment_completeness: Completeness,
    post_completeness: Completeness,
    /// The repositories in which a viewer has opened a thread, by host.
    preferred_repositories: BTreeMap<String, BTreeSet<i64>>,
    pub(super) recent: RecentSample,
}

/// The factor for matches in preferred repositories.
const PREFERRED_BOOST: f64 = 2.0;

impl CachedFacts {
    /// Returns the completeness of an answer: that of the comments, or posts, if the query asks for nothing else.
    pub(super) fn completeness_for(&self, filters: &QueryFilters) -> &Completeness {
        if filters.is_comments_only() {
            &self.comment_completeness
        } else if filters.types.iter().eq(&[ItemTypeFilter::Post]) {
            &self.post_completeness
        } else {
            &self.completeness
        }
    }

    pub(super) fn thread_boost(&self, thread: &ThreadKey) -> f64 {
        let preferred = self.preferred_repositories.get(thread.repository.host.as_str());
        let is_preferred = preferred.is_some_and(|ids| ids.contains(&thread.repository.id.0));
        if is_preferred { PREFERRED_BOOST } else { 1.0 }
    }
}

impl EngineCache {
    /// Returns the cached facts; reads them again if the database has changed.
    pub(super) fn load(&self, store: &StoreReader) -> Result<Arc<CachedFacts>, StoreError> {
        let change_counter = store.change_counter()?;
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = cached.as_ref()
            && facts.change_counter == change_counter
            && facts.store.is_same_database(store)
        {
            return Ok(Arc::clone(facts));
        }
        let facts = Arc::new(CachedFacts {
            change_counter,
            store: store.clone(),
            completeness: store.overall_completeness()?,
            comment_completeness: store.completeness(&Surface::COMMENTS, None)?,
            post_completeness: store.post_completeness(&[])?,
            preferred_repositories: store.read("viewers", viewers::preferred_repositories)?,
            recent: store.read("recent", RecentSample::read)?,
        });
        *cached = Some(Arc::clone(&facts));
        Ok(facts)
    }
}

/// A sample of the newest texts, from which word frequencies and the average length are estimated.
pub(super) struct RecentSample {
    pub(super) texts: u64,
    pub(super) first_row: i64,
    pub(super) average_length: f64,
}

/// The size of the sample.
const SAMPLE_TEXTS: i64 = 3_000;

impl RecentSample {
    fn read(tx: &mut Transaction<'_>) -> Result<Self, StoreError> {
        const NEWEST: Sql = Sql::portable(
            "select count(*) as texts, min(rowid) as first_row,
                    cast(coalesce(avg(token_count), 0) as double precision) as average_length
               from (select rowid, token_count from search_documents order by rowid desc limit $1) as newest",
        );
        let recent = tx.query_first(NEWEST, &params![SAMPLE_TEXTS], |mut row| {
            let texts = row.int("texts")?.unsigned_abs();
            let first_row = row.maybe_int("first_row")?.unwrap_or(i64::MIN);
            Ok(Self { texts, first_row, average_length: row.real("average_length")? })
        })?;
        Ok(recent.unwrap_or(Self { texts: 0, first_row: i64::MIN, average_length: 0.0 }))
    }
}
