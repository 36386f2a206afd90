//! Reads the whole inventory of a lane in order to reconcile: the only way to learn of a deletion.
//!
//! The inventory is staged page by page, so an interrupted sweep continues where it stopped. Nothing is removed
//! before the inventory is complete, each suspect was looked up again by id, and a sibling that must exist
//! answered in the same request.

mod inventory;
mod since_inventory;
mod suspects;

use std::collections::BTreeMap;

use hw_rules::item::ItemObservation;
use hw_rules::page_guard::{PageGuard, SinceGuard};
use hw_sources::page::UnreadableRow;
use hw_store::IngestPage;

use crate::SyncError;
use crate::api_client::FetchError;
use crate::lane_turn::LaneTurn;
use crate::lookup::{LOOKUP_BATCH_SIZE, NO_SIBLING_REASON};
use crate::{crash_points, quarantine};
use suspects::SuspectRecheck;

/// The two ids of an item.
#[derive(Debug, Clone)]
struct ItemIdPair {
    id: i64,
    node_id: String,
}

struct LaneSweep<'t, 'a> {
    turn: &'t mut LaneTurn<'a>,
    /// Ids in a lookup.
    batch_size: u32,
    /// True if an earlier turn began the inventory: items that it lists may be gone since.
    is_resumed: bool,
    /// True if an item that the inventory lists is not found by its id.
    has_absent_items: bool,
    /// Detects an inventory that repeats itself.
    guard: PageGuard,
    /// Rows of a list that were too large to read.
    oversized_rows: u32,
    since_guard: SinceGuard,
}

/// Reads the inventory, fetches items that are listed but not stored, and records confirmed deletions. The run
/// removes them once the total over all lanes is known.
///
/// An inventory that an earlier turn began may list items that are gone since, siblings included. So when no
/// sibling answers, or a listed item is not found, a resumed inventory is read again from the start. A suspect
/// without an answer stays stored and is named.
pub(crate) async fn sweep_lane(turn: &mut LaneTurn<'_>) -> Result<(), FetchError> {
    let LaneTurn { context, target, .. } = *turn;
    let is_resumed = context.store.sweep_state(&target.lane)?.is_some();
    let mut sweep = LaneSweep {
        turn,
        batch_size: LOOKUP_BATCH_SIZE,
        is_resumed,
        has_absent_items: false,
        guard: PageGuard::default(),
        oversized_rows: 0,
        since_guard: SinceGuard::default(),
    };
    let mut recheck = sweep.reconcile_inventory().await?;
    if is_resumed && (sweep.has_absent_items || !recheck.is_vouched_for) {
        context.store.restart_sweep(&target.lane)?;
        sweep.is_resumed = false;
        (sweep.guard, sweep.since_guard) = (PageGuard::default(), SinceGuard::default());
        recheck = sweep.reconcile_inventory().await?;
    }
    context.client.crash_points().pass_point(crash_points::SUSPECTS_RECHECKED)?;
    if !recheck.is_vouched_for {
        return Err(sweep.unconfirmed_error(NO_SIBLING_REASON, &recheck.unvouched)?.into());
    }
    if recheck.gone.is_empty() {
        let allow = context.allow_mass_removal;
        context.store.finish_sweep(&target.lane, &[], allow)?;
    } else {
        context.run.removals.add_confirmed(context.store, target, recheck.gone);
    }
    if !recheck.unanswered.is_empty() {
        let reason = match recheck.unanswered.len() {
            1 => "1 item may be gone, but GitHub gave no answer".to_owned(),
            count => format!("{count} items may be gone, but GitHub gave no answer"),
        };
        return Err(sweep.unconfirmed_error(&reason, &recheck.unanswered)?.into());
    }
    Ok(())
}

impl LaneSweep<'_, '_> {
    async fn reconcile_inventory(&mut self) -> Result<SuspectRecheck, FetchError> {
        self.stage_inventory().await?;
        let found = self.turn.context.store.sweep_findings(&self.turn.target.lane)?;
        let missing = pair_node_ids(&found.findings.fetch, &found.node_ids);
        self.fetch_missing(&missing).await?;
        let suspects = pair_node_ids(&found.findings.suspects, &found.node_ids);
        let siblings: Vec<String> =
            found.siblings.iter().map(|(_, node_id)| node_id.clone()).collect();
        self.recheck_suspects(&suspects, &siblings).await
    }

    /// Builds a page of items read by id, which leaves the lane's coverage as it is.
    fn build_ingest_page(
        &self,
        observations: Vec<ItemObservation>,
        unreadable: &[UnreadableRow],
    ) -> IngestPage {
        let quarantined = unreadable.iter().map(quarantine::quarantine_row).collect();
        IngestPage { observations, quarantined, ..self.turn.empty_page() }
    }

    fn stopped_error(&self, reason: &str) -> SyncError {
        SyncError::SweepStopped {
            lane: self.turn.target.lane.to_string(),
            reason: reason.to_owned(),
        }
    }

    /// Returns the error of a sweep that could not decide on some items, with their names.
    fn unconfirmed_error(&self, reason: &str, ids: &[i64]) -> Result<SyncError, SyncError> {
        let lane = &self.turn.target.lane;
        let items = self.turn.context.store.item_names(&lane.host, lane.surface.kind(), ids)?;
        Ok(SyncError::Unconfirmed { lane: lane.to_string(), reason: reason.to_owned(), items })
    }
}

/// Pairs ids with their node ids. Rows without a readable node id wait in quarantine and are left out.
fn pair_node_ids(ids: &[i64], node_ids: &BTreeMap<i64, String>) -> Vec<ItemIdPair> {
    ids.iter()
        .filter_map(|id| Some(ItemIdPair { id: *id, node_id: node_ids.get(id)?.clone() }))
        .filter(|pair| !pair.node_id.is_empty())
        .collect()
}
