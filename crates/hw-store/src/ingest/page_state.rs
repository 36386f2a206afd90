//! Reads everything that a page is compared with, in one round trip, which several pages can share.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::CellWrite;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Lane;

use super::{IngestPage, page_group};
use crate::cells::{PendingCells, StoredCells};
use crate::changes;
use crate::comment_queue;
use crate::error::StoreError;
use crate::id_conflicts::{PendingStoredNodes, StoredNodes};
use crate::lanes::lane_progress::{LaneProgress, PendingProgress};
use crate::lanes::lane_rows::{FollowedLanes, PendingLaneId, PendingLanes};
use crate::late_threads;
use crate::mirror::repository_names::{self, NamedRepository, PendingDisplaced, PendingNames};
use crate::mirror::{self, PendingPlaces, TextPlaces};
use crate::quarantine::PendingNodes;
use crate::sql::Dialect;
use crate::transaction::Transaction;

/// The stored state around a page.
pub(super) struct PageState {
    pub(super) lane: i64,
    /// The lane's progress before the page.
    progress: LaneProgress,
    pub(super) cells: StoredCells,
    /// The names of the repositories that the page's texts belong to.
    pub(super) names: BTreeMap<i64, NamedRepository>,
    /// The followed lanes of the comments of the page's threads.
    pub(super) comment_lanes: FollowedLanes,
    /// The page's nodes that are in quarantine.
    pub(super) quarantined: BTreeSet<String>,
    /// Where the page's texts may go.
    pub(super) places: TextPlaces,
    /// The nodes of the page's items.
    pub(super) nodes: StoredNodes,
    /// True if nothing but the rows of the page's items and of its lane has to change.
    pub(super) is_ordinary: bool,
}

/// The state of a page that was requested.
pub(super) struct PendingState<'a> {
    page: &'a IngestPage,
    lane: PendingLaneId<'a>,
    progress: PendingProgress,
    cells: PendingCells,
    names: PendingNames,
    comment_lanes: PendingLanes,
    quarantined: PendingNodes,
    advance: Option<AdvanceReads>,
}

/// What a server is asked in advance. A file is asked when an item turns out to have changed, which is cheaper for the
/// many that have not.
struct AdvanceReads {
    places: PendingPlaces,
    nodes: PendingStoredNodes,
    displaced: PendingDisplaced,
}

impl AdvanceReads {
    fn send(tx: &mut Transaction<'_>, page: &IngestPage) -> Result<Self, StoreError> {
        let host = page.lane.host.as_str();
        Ok(Self {
            places: PendingPlaces::send(tx, host, page_items(page))?,
            nodes: PendingStoredNodes::send(tx, page)?,
            displaced: PendingDisplaced::send(tx, host, page_items(page))?,
        })
    }
}

impl<'a> PendingState<'a> {
    pub(super) fn send(tx: &mut Transaction<'_>, page: &'a IngestPage) -> Result<Self, StoreError> {
        let host = page.lane.host.as_str();
        let repositories = mirror::text_repositories(page_items(page));
        Ok(Self {
            page,
            lane: PendingLaneId::send(tx, &page.lane, page.lane_use)?,
            progress: PendingProgress::send(tx, &page.lane)?,
            cells: PendingCells::send(
                tx,
                host,
                page.observations.iter().map(ItemObservation::key),
            )?,
            names: PendingNames::send(tx, host, &repositories)?,
            comment_lanes: PendingLanes::send(tx, thread_comment_lanes(page))?,
            quarantined: PendingNodes::send(tx, page)?,
            advance: match tx.dialect() {
                Dialect::Postgres => Some(AdvanceReads::send(tx, page)?),
                Dialect::Sqlite => None,
            },
        })
    }

    /// Reads the state, and creates the lane's row if it is missing.
    pub(super) fn read(self, tx: &mut Transaction<'_>) -> Result<PageState, StoreError> {
        let mut state = PageState {
            lane: self.lane.read_or_insert(tx)?,
            progress: self.progress.read(tx)?,
            cells: self.cells.read(tx)?,
            names: self.names.read(tx)?,
            comment_lanes: self.comment_lanes.read(tx)?,
            quarantined: self.quarantined.read(tx)?,
            places: TextPlaces::default(),
            nodes: StoredNodes::default(),
            is_ordinary: false,
        };
        if let Some(AdvanceReads { places, nodes, displaced }) = self.advance {
            state.places = places.read(tx)?;
            state.nodes = nodes.read(tx)?;
            let has_displaced = displaced.read(tx)?;
            state.is_ordinary = !has_displaced && state.fits_page(self.page);
        }
        Ok(state)
    }
}

impl PageState {
    /// Reads the state, and creates the lane's row if it is missing.
    pub(super) fn read(tx: &mut Transaction<'_>, page: &IngestPage) -> Result<Self, StoreError> {
        PendingState::send(tx, page)?.read(tx)
    }

    /// Returns true if no thread has the URL of another one, no repository has another name than in the URLs of its
    /// threads, and nothing of the page is in quarantine.
    fn fits_page(&self, page: &IngestPage) -> bool {
        page_group::writes_own_rows_only(page)
            && self.quarantined.is_empty()
            && self.places.urls.belong_to(&page_group::thread_owners(page))
            && page_items(page).all(|item| match item {
                MirrorItem::Thread(thread) => match self.names.get(&thread.repository_id) {
                    Some(name) => {
                        repository_names::thread_url(&name.url, &thread.url) == thread.url
                    }
                    None => true,
                },
                MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => true,
            })
    }

    /// Returns the lane's progress with the items of the page, before its coverage is advanced. Whatever the page does to
    /// the quarantine is counted by the database.
    pub(super) fn read_progress(
        &self,
        tx: &mut Transaction<'_>,
        page: &IngestPage,
        writes: &[CellWrite],
    ) -> Result<LaneProgress, StoreError> {
        let keeps_quarantine = page.quarantined.is_empty()
            && page.cleared_subjects.is_empty()
            && self.quarantined.is_empty();
        if !keeps_quarantine {
            return PendingProgress::send_for_id(tx, self.lane)?.read(tx);
        }
        let LaneProgress { coverage, total } = &self.progress;
        let gained = changes::gained_items(writes.iter().map(|write| write.change));
        Ok(LaneProgress { coverage: coverage.clone(), total: total + gained })
    }
}

fn page_items(page: &IngestPage) -> impl Iterator<Item = &MirrorItem> + Clone {
    page.observations.iter().map(|observation| &observation.item)
}

/// Returns all lanes that may contain comments of the page's threads.
pub(super) fn thread_comment_lanes(page: &IngestPage) -> BTreeSet<Lane> {
    let host = page.lane.host.as_str();
    let mut lanes = BTreeSet::new();
    let mut repositories = BTreeSet::new();
    for item in page_items(page) {
        if let MirrorItem::Thread(thread) = item
            && repositories.insert((thread.repository_id, thread.kind()))
        {
            lanes.extend(late_threads::comment_lanes(host, thread));
            lanes.extend(comment_queue::per_thread_lane(host, thread));
        }
    }
    lanes
}
