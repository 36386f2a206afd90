//! Reads everything that a page is compared with, in one round trip.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Lane;

use super::IngestPage;
use crate::cells::{PendingCells, StoredCells};
use crate::comment_queue;
use crate::error::StoreError;
use crate::lanes::lane_rows::{FollowedLanes, PendingLaneId, PendingLanes};
use crate::late_threads;
use crate::mirror;
use crate::mirror::repository_names::{NamedRepository, PendingNames};
use crate::quarantine::PendingNodes;
use crate::transaction::Transaction;

/// The stored state around a page.
pub(super) struct PageState {
    pub(super) lane: i64,
    pub(super) cells: StoredCells,
    /// The names of the repositories that the page's texts belong to.
    pub(super) names: BTreeMap<i64, NamedRepository>,
    /// The followed lanes of the comments of the page's threads.
    pub(super) comment_lanes: FollowedLanes,
    /// The page's nodes that are in quarantine.
    pub(super) quarantined: BTreeSet<String>,
}

impl PageState {
    /// Reads the state, and creates the lane's row if it is missing.
    pub(super) fn read(tx: &mut Transaction<'_>, page: &IngestPage) -> Result<Self, StoreError> {
        let host = page.lane.host.as_str();
        let repositories = mirror::text_repositories(page_items(page));
        let lane = PendingLaneId::send(tx, &page.lane)?;
        let cells =
            PendingCells::send(tx, host, page.observations.iter().map(ItemObservation::key))?;
        let names = PendingNames::send(tx, host, &repositories)?;
        let comment_lanes = PendingLanes::send(tx, thread_comment_lanes(page))?;
        let quarantined = PendingNodes::send(tx, page)?;
        Ok(Self {
            lane: lane.read_or_insert(tx)?,
            cells: cells.read(tx)?,
            names: names.read(tx)?,
            comment_lanes: comment_lanes.read(tx)?,
            quarantined: quarantined.read(tx)?,
        })
    }
}

fn page_items(page: &IngestPage) -> impl Iterator<Item = &MirrorItem> {
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
