//! Reads everything that a page is compared with, in one round trip.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::CellWrite;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Lane;

use super::IngestPage;
use crate::cells::{PendingCells, StoredCells};
use crate::changes;
use crate::comment_queue;
use crate::error::StoreError;
use crate::lanes::lane_progress::{LaneProgress, PendingProgress};
use crate::lanes::lane_rows::{FollowedLanes, PendingLaneId, PendingLanes};
use crate::late_threads;
use crate::mirror::repository_names::{NamedRepository, PendingNames};
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
    /// Where the page's texts may go. A server is asked in advance, a file when a text is written.
    pub(super) places: TextPlaces,
}

impl PageState {
    /// Reads the state, and creates the lane's row if it is missing.
    pub(super) fn read(tx: &mut Transaction<'_>, page: &IngestPage) -> Result<Self, StoreError> {
        let host = page.lane.host.as_str();
        let repositories = mirror::text_repositories(page_items(page));
        let lane = PendingLaneId::send(tx, &page.lane)?;
        let progress = PendingProgress::send(tx, &page.lane)?;
        let cells =
            PendingCells::send(tx, host, page.observations.iter().map(ItemObservation::key))?;
        let names = PendingNames::send(tx, host, &repositories)?;
        let comment_lanes = PendingLanes::send(tx, thread_comment_lanes(page))?;
        let quarantined = PendingNodes::send(tx, page)?;
        let places = match tx.dialect() {
            Dialect::Postgres => Some(PendingPlaces::send(tx, host, page_items(page))?),
            Dialect::Sqlite => None,
        };
        Ok(Self {
            lane: lane.read_or_insert(tx)?,
            progress: progress.read(tx)?,
            cells: cells.read(tx)?,
            names: names.read(tx)?,
            comment_lanes: comment_lanes.read(tx)?,
            quarantined: quarantined.read(tx)?,
            places: places.map(|places| places.read(tx)).transpose()?.unwrap_or_default(),
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
fn thread_comment_lanes(page: &IngestPage) -> BTreeSet<Lane> {
    let host = page.lane.host.as_str();
    let mut lanes = BTreeSet::new();
    for item in page_items(page) {
        if let MirrorItem::Thread(thread) = item {
            lanes.extend(late_threads::comment_lanes(host, thread));
            lanes.extend(comment_queue::per_thread_lane(host, thread));
        }
    }
    lanes
}
