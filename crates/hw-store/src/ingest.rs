//! Ingests pages: writes a page's items and the lane's progress in one transaction.

use std::collections::BTreeSet;

use hw_rules::cells::{self as rule, CellChange, CellWrite};
use hw_rules::coverage::Coverage;
use hw_rules::follow_reason::LaneUse;
use hw_rules::item::{ItemObservation, MirrorItem, ObjectKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::moved_thread::MovedThread;
use hw_rules::principal::Principal;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::SourceInstant;

use crate::LeasedStore;
use crate::cells;
use crate::changes::{self, CellUpdate, ChangeTarget, LaneCounting};
use crate::comment_queue;
use crate::error::StoreError;
use crate::follows;
use crate::id_conflicts;
use crate::lanes::{self, StoredLane};
use crate::mirror::{self, WrittenTexts, repository_names};
use crate::quarantine::{self, UnreadableItem};
use crate::removed_items::{RemovalCause, RemovalReason};
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::viewers;
use crate::watches::{moved_threads, watched_threads};

mod counts;
mod page_group;
mod page_state;
mod prepared_page;

use page_group::leading_group;
use page_state::{PageState, PendingState};
pub(crate) use prepared_page::PreparedTexts;
pub use prepared_page::{PagePreparer, PreparedPage};

/// One page to ingest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestPage {
    pub lane: Lane,
    pub observations: Vec<ItemObservation>,
    /// The lane's coverage including this page; none for items read by id, which advance nothing.
    pub coverage: Option<Coverage>,
    /// Lanes that were checked as a whole, with the source's time of that check: this lane if the page completes a
    /// walk, and, for a listing of repositories, the lanes whose probe found no change.
    pub checked_lanes: Vec<(Lane, i64)>,
    pub page_size: u32,
    pub quarantined: Vec<UnreadableItem>,
    /// Quarantined subjects that are readable now. Those identified by node id are released without being listed.
    pub cleared_subjects: Vec<RowSubject>,
    /// Node ids that the same request did not find: a stored row of such a node has no claim to its id.
    pub absent_nodes: Vec<String>,
    /// The source's ETag of the lane's newest page, which is this page.
    pub etag: Option<Etag>,
    /// Threads whose comments are complete with this page, each with the source's time at which reading them began.
    pub read_threads: Vec<(i64, i64)>,
    /// The login of the token's user, which the source reports at the beginning of a pull.
    pub viewer: Option<String>,
    /// What the lane is read for.
    pub lane_use: LaneUse,
    /// Threads that a page of the list of activity showed as moved. Such a page has no items.
    pub moved_threads: Vec<MovedThread>,
    /// How far watched threads are read whole with this page.
    pub thread_scans: Vec<ThreadScanStep>,
}

/// The state of reading a watched thread whole, after a page of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadScanStep {
    pub number: i64,
    /// Where reading continues; none at the beginning, and at the end.
    pub cursor: Option<String>,
    /// The source's time at which the thread was read to its end; none before that.
    pub finished_at: Option<SourceInstant>,
}

/// An ETag, with the principal that received it: the source may answer others differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Etag {
    pub principal: Principal,
    pub value: String,
    /// The source's time when it sent the ETag; unknown for ETags stored by older versions.
    pub sent_at: Option<SourceInstant>,
}

impl IngestPage {
    /// Creates an empty page that advances nothing.
    pub fn new(lane: Lane, page_size: u32) -> Self {
        Self {
            lane,
            observations: Vec::new(),
            coverage: None,
            checked_lanes: Vec::new(),
            page_size,
            quarantined: Vec::new(),
            cleared_subjects: Vec::new(),
            absent_nodes: Vec::new(),
            etag: None,
            read_threads: Vec::new(),
            viewer: None,
            lane_use: LaneUse::Mirror,
            moved_threads: Vec::new(),
            thread_scans: Vec::new(),
        }
    }
}

/// The changes made by one page.
///
/// An item of which only `updated_at` changed counts as unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IngestCounts {
    pub created: u64,
    pub edited: u64,
    pub revived: u64,
    pub removed: u64,
    pub unchanged: u64,
    pub quarantined: u64,
    /// The links of posts that were created or revived.
    pub links: u64,
}

const INGEST: TransactionStep = step!("ingest");

impl LeasedStore {
    /// Compares a page with the stored items and writes the changes, all of them or none.
    pub fn ingest_page(&self, page: &IngestPage) -> Result<IngestCounts, StoreError> {
        let counts = self.ingest_pages(std::slice::from_ref(page))?;
        Ok(counts.into_iter().next().unwrap_or_default())
    }

    /// Ingests the pages of several lanes from one response in order, all of them or none.
    pub fn ingest_pages(&self, pages: &[IngestPage]) -> Result<Vec<IngestCounts>, StoreError> {
        let pages: Vec<_> = pages.iter().map(PreparedPage::without_texts).collect();
        self.ingest_prepared(&pages)
    }

    /// Ingests prepared pages in order, all of them or none.
    pub fn ingest_prepared(
        &self,
        pages: &[PreparedPage<'_>],
    ) -> Result<Vec<IngestCounts>, StoreError> {
        self.write_with_lease(INGEST, |tx| write_pages(tx, pages))
    }

    /// Returns the preparation of pages for this database, which needs no connection to it.
    pub fn page_preparer(&self) -> PagePreparer {
        PagePreparer { dialect: self.dialect() }
    }
}

/// Compares pages with the stored items, including those from earlier ones of these pages.
fn write_pages(
    tx: &mut Transaction<'_>,
    mut pages: &[PreparedPage<'_>],
) -> Result<Vec<IngestCounts>, StoreError> {
    let mut counts = Vec::with_capacity(pages.len());
    while !pages.is_empty() {
        let group = leading_group(pages, tx.dialect());
        let written = write_group(tx, group)?;
        pages = pages.get(written.len()..).unwrap_or_default();
        counts.extend(written);
    }
    Ok(counts)
}

/// Writes pages whose state is read at once, up to the first one that the others may depend on.
fn write_group(
    tx: &mut Transaction<'_>,
    group: &[PreparedPage<'_>],
) -> Result<Vec<IngestCounts>, StoreError> {
    let pending: Vec<_> = group
        .iter()
        .map(|page| PendingState::send(tx, page.page()))
        .collect::<Result<_, StoreError>>()?;
    let states: Vec<_> =
        pending.into_iter().map(|state| state.read(tx)).collect::<Result<_, StoreError>>()?;
    let (mut counts, mut assigned) = (Vec::with_capacity(group.len()), BTreeSet::new());
    for (page, state) in group.iter().zip(states) {
        let is_current = state.is_ordinary && !state.places.rowids.is_outdated_by(&assigned);
        if !counts.is_empty() && !is_current {
            break;
        }
        let written = write_with_state(tx, page, state)?;
        counts.push(written.counts);
        if !written.is_ordinary {
            break;
        }
        assigned.extend(written.rowids);
    }
    Ok(counts)
}

/// Compares a page with the stored items.
pub(crate) fn write_page(
    tx: &mut Transaction<'_>,
    prepared: &PreparedPage<'_>,
) -> Result<IngestCounts, StoreError> {
    let state = PageState::read(tx, prepared.page())?;
    Ok(write_with_state(tx, prepared, state)?.counts)
}

/// A page that was written.
struct WrittenPage {
    counts: IngestCounts,
    /// True if only the rows of its items and of its lane have changed.
    is_ordinary: bool,
    /// The row ids that it assigned.
    rowids: BTreeSet<i64>,
}

fn write_with_state(
    tx: &mut Transaction<'_>,
    prepared: &PreparedPage<'_>,
    mut state: PageState,
) -> Result<WrittenPage, StoreError> {
    let page = prepared.page();
    let host = page.lane.host.as_str();
    let claims = id_conflicts::claim_ids(tx, &mut state.cells, page, &state.nodes)?;
    if !claims.taken.is_empty() {
        let page = id_conflicts::quarantine_taken_ids(page, &claims.taken);
        let counts = write_page(tx, &PreparedPage::without_texts(&page))?;
        return Ok(WrittenPage { counts, is_ordinary: false, rowids: BTreeSet::new() });
    }
    let writes = rule::diff_cells(&state.cells.cells, &prepared.versions);
    let vacated = id_conflicts::vacated_numbers(tx, host, &claims.free)?;
    write_changes(tx, &mut state, &writes, prepared)?;
    id_conflicts::restore_urls(tx, host, &vacated)?;
    if !state.is_ordinary {
        id_conflicts::reclaim_urls(tx, host, &writes)?;
    }
    comment_queue::dequeue_read_threads(tx, &page.lane, &page.read_threads)?;
    if let Some(repository) = page.lane.repository() {
        moved_threads::store_moved(tx, &repository, &page.moved_threads)?;
        watched_threads::record_scans(tx, &repository, &page.thread_scans)?;
    }
    page.viewer.iter().try_for_each(|login| viewers::store_viewer(tx, host, login))?;
    quarantine::update_quarantine(tx, state.lane, page, &state.quarantined)?;
    advance_lane(tx, &state, page, &writes)?;
    Ok(WrittenPage {
        counts: counts::count_changes(page, &writes),
        is_ordinary: state.is_ordinary && claims.free.is_empty(),
        rowids: state.places.rowids.into_assigned(),
    })
}

/// Writes texts and cells, and everything derived from their changes.
fn write_changes(
    tx: &mut Transaction<'_>,
    state: &mut PageState,
    writes: &[CellWrite],
    prepared: &PreparedPage<'_>,
) -> Result<(), StoreError> {
    let IngestPage { lane: page_lane, observations, .. } = prepared.page();
    let host = &page_lane.host;
    let written: Vec<_> = writes
        .iter()
        .filter(|write| write.change.writes_text())
        .filter_map(|write| observations.get(write.text_index?))
        .collect();
    let repositories = mirror::repositories::store_repositories(tx, host, observations, &written)?;
    let items: Vec<_> = written.iter().map(|observation| &observation.item).collect();
    let mut texts = store_texts(tx, host, state, &items, &prepared.written_texts(writes))?;
    texts.extend(repositories.written);
    let updates: Vec<_> = writes
        .iter()
        .map(|CellWrite { key, cell, change, .. }| {
            let search_rowid = state.cells.search_rowids.get(key).copied();
            CellUpdate { key: *key, cell, change: *change, text: texts.get(key), search_rowid }
        })
        .collect();
    let seen_again: Vec<_> = writes
        .iter()
        .filter(|write| write.change == CellChange::Touched && write.cell.is_present())
        .filter_map(|write| Some(&observations.get(write.text_index?)?.item))
        .collect();
    mirror::undigested_columns::refresh_columns(tx, host, &seen_again)?;
    let cause = RemovalCause::new(RemovalReason::NotListed);
    let (lane, counting, followed) = (state.lane, LaneCounting::Counted, &state.comment_lanes);
    let target = ChangeTarget { host, lane, counting, cause, followed };
    changes::apply_cells(tx, target, &updates)?;
    // a repository that another list brings is followed for another reason
    let is_listing = page_lane.surface == Surface::Repositories;
    let listed = writes.iter().filter(|write| {
        is_listing && write.key.kind == ObjectKind::Repository && write.cell.is_present()
    });
    follows::add_to_mirror(tx, host, listed.map(|write| write.key.id))?;
    cells::forget_digests(tx, host, ObjectKind::Repository, &repositories.displaced)
}

/// Writes posts, threads and comments.
fn store_texts<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    state: &mut PageState,
    items: &[&'a MirrorItem],
    prepared: &PreparedTexts<'a>,
) -> Result<WrittenTexts<'a>, StoreError> {
    let PageState { cells, names, places, .. } = state;
    let posts = mirror::posts::store_posts(tx, host, cells, places, items, prepared)?;
    let repositories = mirror::text_repositories(items.iter().copied());
    if repositories.is_empty() {
        return Ok(posts);
    }
    // a repository of the same page may have been renamed since the state was read
    let is_renamed = items.iter().any(|item| matches!(item, MirrorItem::Repository(_)));
    let renamed = if is_renamed {
        Some(repository_names::read_repository_names(tx, host, &repositories)?)
    } else {
        None
    };
    let names = renamed.as_ref().unwrap_or(names);
    let mut texts = posts;
    texts.extend(mirror::threads::store_threads(tx, host, cells, names, places, items, prepared)?);
    texts
        .extend(mirror::comments::store_comments(tx, host, cells, names, places, items, prepared)?);
    Ok(texts)
}

fn advance_lane(
    tx: &mut Transaction<'_>,
    state: &PageState,
    page: &IngestPage,
    writes: &[CellWrite],
) -> Result<(), StoreError> {
    const PAGE_SIZE: Sql = Sql::portable("update lanes set page_size = $1 where id = $2");
    let lane = state.lane;
    if let Some(coverage) = &page.coverage {
        let progress = state.read_progress(tx, page, writes)?;
        let stored = StoredLane { id: lane, lane: &page.lane };
        lanes::advance_coverage(tx, stored, coverage, &progress)?;
    }
    if let Some(etag) = &page.etag {
        lanes::store_etag(tx, lane, etag)?;
    }
    lanes::record_checks(tx, &page.checked_lanes, page.lane_use)?;
    tx.send_statement(PAGE_SIZE, &params![i64::from(page.page_size), lane])
}
