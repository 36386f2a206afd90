//! Plans the passes over the index that answer a query, and checks the threads of matching comments.
//!
//! A thread's type, state and labels are not facets of its comments, because they change without them. If a query
//! filters by one of them, the thread of each matching comment is looked up.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::ThreadKind;
use hw_rules::query::{ItemTypeFilter, Query, QueryFilters, RepositoryFilter};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::safe_text::truncate_text;

use super::hit::HitTarget;
use super::index_query::{IndexQuery, QueryTier};
use super::scoring::ThreadKey;
use crate::error::StoreError;
use crate::search::facets::{self, FacetFilter};
use crate::sql::{Dialect, Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;
use crate::views::post_list;
use crate::views::repository_match::HostIds;
use crate::views::skipped_rows::{ReadableRows, SkippedRows};
use crate::views::thread_list::parse_list;

/// One pass over the index.
pub(super) struct SearchPass {
    pub(super) index_query: IndexQuery,
    /// The filters that the thread of a comment must pass.
    pub(super) thread_check: Option<ThreadCheck>,
    pub(super) target: HitTarget,
}

/// The filters of a query that concern threads; an empty set allows everything.
pub(super) struct ThreadCheck {
    kinds: BTreeSet<ThreadKind>,
    states: BTreeSet<String>,
    labels: BTreeSet<String>,
}

impl ThreadCheck {
    /// Returns `None` if every thread passes.
    fn from_filters(filters: &QueryFilters, kinds: BTreeSet<ThreadKind>) -> Option<Self> {
        let (states, labels) = (filters.states.clone(), filters.labels.clone());
        let allows_all = kinds.is_empty() && states.is_empty() && labels.is_empty();
        (!allows_all).then_some(Self { kinds, states, labels })
    }

    /// Returns the threads that pass the check.
    pub(super) fn matching_threads(
        &self,
        tx: &mut Transaction<'_>,
        threads: &BTreeSet<ThreadKey>,
    ) -> Result<ReadableRows<ThreadKey>, StoreError> {
        const STATE_AND_LABELS: KindStatements = of_kind!(
            "select number, state, labels from",
            "where host = $1 and repository_id = $2 and number in (select value from json_each($3))",
            "where host = $1 and repository_id = $2 and number = any($3)"
        );
        let mut numbers: BTreeMap<&RepositoryKey, Vec<i64>> = BTreeMap::new();
        for ThreadKey { repository, number } in threads {
            numbers.entry(repository).or_default().push(*number);
        }
        let mut matching = ReadableRows { rows: Vec::new(), skipped: SkippedRows::default() };
        for (repository, numbers) in numbers {
            for kind in ThreadKind::ALL.into_iter().filter(|kind| self.allows_kind(*kind)) {
                let params = params![&repository.host, repository.id, numbers.as_slice()];
                let found =
                    tx.query_readable(STATE_AND_LABELS.for_kind(kind), &params, |mut row| {
                        let number = row.int("number")?;
                        let (state, labels) = (row.text("state")?, row.text("labels")?);
                        Ok(self.is_match(&state, &labels)?.then_some(number))
                    })?;
                matching.skipped.add(found.skipped);
                let numbers = found.rows.into_iter().flatten();
                matching.rows.extend(
                    numbers.map(|number| ThreadKey { repository: repository.clone(), number }),
                );
            }
        }
        Ok(matching)
    }

    fn allows_kind(&self, kind: ThreadKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn is_match(&self, state: &str, labels: &str) -> Result<bool, StoreError> {
        if !self.states.is_empty() && !self.states.contains(&state.to_lowercase()) {
            return Ok(false);
        }
        if self.labels.is_empty() {
            return Ok(true);
        }
        let labels: Vec<String> = parse_list(labels)?;
        let labels: BTreeSet<_> = labels.iter().map(|label| label.to_lowercase()).collect();
        Ok(self.labels.is_subset(&labels))
    }
}

/// Plans the passes of a query: one for threads, and one for comments as matches of their threads or as hits.
pub(super) fn search_passes(
    tx: &mut Transaction<'_>,
    query: &Query,
    tier: QueryTier,
) -> Result<Vec<SearchPass>, StoreError> {
    let query = &with_account_ids(tx, query)?;
    let filters = &query.filters;
    let repositories = owned_repository_ids(tx, filters)?;
    let planner = PassPlanner { query, tier, dialect: tx.dialect(), repositories };
    let kinds = thread_kinds(filters);
    let has_thread_filter =
        !filters.types.is_empty() || !filters.states.is_empty() || !filters.labels.is_empty();
    if !has_thread_filter && query.has_words() {
        // no filter concerns threads alone, so one pass finds threads, comments and posts
        return Ok(vec![planner.thread_pass(&facets::common_facet_filter(filters))]);
    }
    let requests_comments = filters.types.contains(&ItemTypeFilter::Comment);
    let requests_posts = filters.types.contains(&ItemTypeFilter::Post);
    let mut passes = Vec::new();
    if filters.allows_posts() {
        passes.push(planner.thread_pass(&facets::post_facet_filter(filters)));
    }
    let requests_others = requests_comments || requests_posts;
    if !kinds.is_empty() || !requests_others {
        let kinds = if kinds.is_empty() { ThreadKind::ALL.into() } else { kinds.clone() };
        passes.push(planner.thread_pass(&facets::thread_facet_filter(filters, &kinds)));
    }
    if requests_comments {
        passes.push(planner.comment_pass(HitTarget::Comment, BTreeSet::new()));
    } else if query.has_words() && !(requests_posts && kinds.is_empty()) {
        passes.push(planner.comment_pass(HitTarget::Thread, kinds));
    }
    Ok(passes)
}

/// Adds the ids of the accounts that the author filter names: posts are indexed by them, because names change.
fn with_account_ids(tx: &mut Transaction<'_>, query: &Query) -> Result<Query, StoreError> {
    let mut query = query.clone();
    if !query.filters.authors.is_empty() {
        let names: Vec<String> = query.filters.authors.iter().cloned().collect();
        query.filters.authors.extend(post_list::find_dids(tx, &names)?);
    }
    Ok(query)
}

/// The parts that all passes of a query share.
struct PassPlanner<'a> {
    query: &'a Query,
    tier: QueryTier,
    dialect: Dialect,
    repositories: Option<HostIds>,
}

impl PassPlanner<'_> {
    fn thread_pass(&self, facets: &FacetFilter) -> SearchPass {
        let index_query = self.index_query(facets);
        SearchPass { index_query, thread_check: None, target: HitTarget::Thread }
    }

    fn comment_pass(&self, target: HitTarget, kinds: BTreeSet<ThreadKind>) -> SearchPass {
        let filters = &self.query.filters;
        let index_query = self.index_query(&facets::comment_facet_filter(filters));
        SearchPass { index_query, thread_check: ThreadCheck::from_filters(filters, kinds), target }
    }

    fn index_query(&self, facets: &FacetFilter) -> IndexQuery {
        IndexQuery::new(self.query, self.tier, facets, self.dialect)
            .with_repositories(self.repositories.clone())
    }
}

fn thread_kinds(filters: &QueryFilters) -> BTreeSet<ThreadKind> {
    filters
        .types
        .iter()
        .filter_map(|item_type| match item_type {
            ItemTypeFilter::Thread(kind) => Some(*kind),
            ItemTypeFilter::Comment | ItemTypeFilter::Post => None,
        })
        .collect()
}

/// Returns the ids of the repositories that the filters name, if any name includes an owner. The index has
/// names without owners only.
fn owned_repository_ids(
    tx: &mut Transaction<'_>,
    filters: &QueryFilters,
) -> Result<Option<HostIds>, StoreError> {
    if filters.repositories.iter().all(|filter| filter.owner.is_none()) {
        return Ok(None);
    }
    let mut ids = HostIds::new();
    for stored in read_repositories(tx)? {
        if filters.repositories.iter().any(|filter| stored.matches(filter)) {
            ids.entry(stored.host).or_default().push(stored.id);
        }
    }
    Ok(Some(ids))
}

/// The number of unknown repositories that are reported.
const MAX_UNKNOWN_NAMES: usize = 3;
/// The length of a reported name. On GitHub, a name has at most 100 characters.
const MAX_UNKNOWN_NAME_BYTES: usize = 200;

/// Returns a sentence for each repository that a filter names and that is not stored.
pub(super) fn unknown_repositories(
    tx: &mut Transaction<'_>,
    filters: &QueryFilters,
) -> Result<Vec<String>, StoreError> {
    if filters.repositories.is_empty() {
        return Ok(Vec::new());
    }
    let stored = read_repositories(tx)?;
    let unknown = filters
        .repositories
        .iter()
        .filter(|filter| !stored.iter().any(|repository| repository.matches(filter)));
    Ok(unknown.take(MAX_UNKNOWN_NAMES).map(unknown_repository_note).collect())
}

fn unknown_repository_note(filter: &RepositoryFilter) -> String {
    let owner = filter.owner.as_ref().map(|owner| format!("{owner}/")).unwrap_or_default();
    let name = format!("{owner}{}", filter.name);
    let name = truncate_text(&name, MAX_UNKNOWN_NAME_BYTES);
    format!("this workspace has no repository named {name}")
}

/// A repository, with its names in lower case.
struct StoredRepository {
    host: String,
    id: i64,
    owner: String,
    name: String,
}

impl StoredRepository {
    fn matches(&self, filter: &RepositoryFilter) -> bool {
        filter.name == self.name && filter.owner.as_ref().is_none_or(|owner| *owner == self.owner)
    }
}

fn read_repositories(tx: &mut Transaction<'_>) -> Result<Vec<StoredRepository>, StoreError> {
    const ALL: Sql = Sql::portable(
        "select host, id, lower(owner) as owner, lower(name) as name from repositories",
    );
    tx.query(ALL, &[], |mut row| {
        let (host, id) = (row.text("host")?, row.int("id")?);
        Ok(StoredRepository { host, id, owner: row.text("owner")?, name: row.text("name")? })
    })
}
