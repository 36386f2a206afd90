//! Sweeps: stages the inventory of a listing page by page, and uses it only when it is complete.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use hw_rules::OVERLAP_MS;
use hw_rules::cells::ItemCell;
use hw_rules::item::ThreadKind;
use hw_rules::item_validation::is_different_node;
use hw_rules::lane::{Lane, Surface};
use hw_rules::reconcile::{self, ReconcileFindings};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::second_lookup;
use hw_rules::source_clock::DATE_TOLERANCE_MS;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingFloor, PageCursor};

use crate::error::StoreError;
use crate::lanes::{StoredLane, lane_rows};
use crate::mirror::undigested_columns;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{
    LeasedStore, StoreReader, cells, id_conflicts, lanes, quarantine, removals, repair,
    source_clocks,
};

/// The progress of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepState {
    /// The time of its first page.
    pub began_at: ObservedAt,
    /// The position of the next page.
    pub cursor: Option<PageCursor>,
    pub listed: u64,
    pub complete: bool,
}

/// One page of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepPage {
    /// The time of the page; that of the first page is stored as the beginning of the sweep.
    pub began_at: ObservedAt,
    /// The id, node id and `updated_at` of each row.
    pub rows: Vec<(i64, String, SourceTime)>,
    pub next: Option<PageCursor>,
    pub complete: bool,
}

/// The findings of a complete sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepFindings {
    pub findings: ReconcileFindings,
    /// The node ids of the ids in `findings`.
    pub node_ids: BTreeMap<i64, String>,
    /// Up to three items, spread over the inventory, that are both listed and stored. The second request includes them
    /// as a control; one of them may be gone at that point.
    pub siblings: Vec<(i64, String)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemovalResult {
    pub removed: u64,
}

/// The result of staging one page of an inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageOutcome {
    Stored,
    /// The inventory lists several nodes under this id, so it cannot be compared with anything.
    SharedId(i64),
}

const STAGE: TransactionStep = step!("stage");
const RESTART: TransactionStep = step!("restart sweep");
const SWEEP: TransactionStep = step!("sweep");

impl StoreReader {
    /// Returns the unfinished sweep of a lane.
    pub fn sweep_state(&self, lane: &Lane) -> Result<Option<SweepState>, StoreError> {
        self.read("sweep", |tx| {
            let Some(id) = lanes::find_lane_id(tx, lane)? else { return Ok(None) };
            read_sweep_state(tx, id)
        })
    }

    /// Compares a complete sweep with the stored items, a range of ids at a time: its memory does not grow with the
    /// lane.
    pub fn sweep_findings(&self, lane: &Lane) -> Result<SweepFindings, StoreError> {
        self.read("sweep", |tx| {
            let CompleteSweep { lane_id, state } = find_complete_sweep(tx, lane)?;
            let from = lanes::read_coverage(tx, lane_id)?.from.unwrap_or(ListingFloor::Beginning);
            let (mut found, mut known) = (SweepFindings::default(), KnownItems::default());
            let mut first = Some(i64::MIN);
            while let Some(start) = first {
                let range = range_from(tx, lane_id, start)?;
                let stored = cells::read_lane_cells(tx, lane_id, lane.surface.kind(), &range)?;
                let listed = read_staged_rows(tx, lane_id, &range)?;
                let unfilled = undigested_columns::unfilled_threads(tx, lane, &range)?;
                let times = listed.iter().map(|(id, row)| (*id, row.updated_at)).collect();
                let mut findings =
                    reconcile::compare_listing(&stored, &times, from, state.began_at);
                findings.add_unfilled(&unfilled, &times);
                let node_ids = findings.fetch.iter().filter_map(|id| listed.get_key_value(id));
                found.node_ids.extend(node_ids.map(|(id, row)| (*id, row.node_id.clone())));
                found.findings.fetch.extend(findings.fetch);
                found.findings.suspects.extend(findings.suspects);
                known.add_range(&listed, &stored);
                first = range.end().checked_add(1);
            }
            let (kind, suspects) = (lane.surface.kind(), &found.findings.suspects);
            found.node_ids.extend(id_conflicts::read_node_ids(tx, &lane.host, kind, suspects)?);
            found.siblings = known.pick_siblings();
            Ok(found)
        })
    }
}

impl LeasedStore {
    /// Stages one more page of a sweep, unless the inventory lists several nodes under one id.
    pub fn stage_sweep_page(
        &self,
        lane: &Lane,
        page: &SweepPage,
    ) -> Result<StageOutcome, StoreError> {
        // the first page takes the request over, so that a later one is told apart from it
        const BEGIN_SWEEP: Sql = Sql::portable(
            "update lanes set sweep_request_ms = sweep_due_ms, sweep_due_ms = null
              where id = $1 and sweep_started_at_ms is null",
        );
        const ADVANCE_SWEEP: Sql = Sql::portable(
            "update lanes
                set sweep_started_at_ms = coalesce(sweep_started_at_ms, $1),
                    sweep_started_request = coalesce(sweep_started_request, $2),
                    sweep_cursor = $3, sweep_complete = $4
              where id = $5",
        );
        self.write_with_lease(STAGE, |tx| {
            let id = lanes::ensure_lane_id(tx, lane)?;
            if let Some(shared) = find_shared_id(tx, id, &page.rows)? {
                return Ok(StageOutcome::SharedId(shared));
            }
            stage_rows(tx, id, &page.rows)?;
            let ObservedAt { at_ms, request, .. } = page.began_at;
            let cursor = page.next.as_ref().map(|cursor| cursor.0.as_str());
            if page.complete {
                let latest = SourceInstant(at_ms).plus_ms(DATE_TOLERANCE_MS);
                source_clocks::redate_lane(tx, StoredLane { id, lane }, latest)?;
            }
            tx.send_statement(BEGIN_SWEEP, &params![id])?;
            tx.send_statement(ADVANCE_SWEEP, &params![at_ms, request, cursor, page.complete, id])?;
            Ok(StageOutcome::Stored)
        })
    }

    /// Discards the staged pages of a sweep, so that it starts over. It stays due.
    pub fn restart_sweep(&self, lane: &Lane) -> Result<(), StoreError> {
        self.write_with_lease(RESTART, |tx| {
            let id = lanes::ensure_lane_id(tx, lane)?;
            discard_staged_sweep(tx, id)
        })
    }

    /// Ends a complete sweep: removes items that were confirmed gone, unless the brake stops it, and releases unlisted
    /// items from quarantine.
    ///
    /// The lane stays due for a sweep while a stored item is unlisted and too new to be suspected.
    pub fn finish_sweep(
        &self,
        lane: &Lane,
        gone: &[(i64, ObservedAt)],
        allow_mass_removal: bool,
    ) -> Result<RemovalResult, StoreError> {
        self.write_with_lease(SWEEP, |tx| {
            let CompleteSweep { lane_id: id, state } = find_complete_sweep(tx, lane)?;
            let kind = lane.surface.kind();
            let gone = removals::absences_of_kind(kind, gone);
            let removed =
                removals::remove_confirmed(tx, StoredLane { id, lane }, &gone, allow_mass_removal)?;
            quarantine::release_unlisted(tx, id, state.began_at)?;
            repair::forget_unlisted(tx, id, kind)?;
            let began = SourceInstant(state.began_at.at_ms);
            let is_whole = lanes::settle_object_count(tx, id, state.listed, began)?;
            let is_done = is_whole && is_settled(tx, id, state.began_at)?;
            if is_done { end_sweep(tx, id) } else { discard_staged_sweep(tx, id) }?;
            Ok(RemovalResult { removed })
        })
    }
}

/// The number of rows of each table that are compared at once.
const RANGE_ROWS: i64 = 500;

/// Returns a range of ids from `first` on in which neither the inventory nor the lane has more than [`RANGE_ROWS`]
/// rows. The last range has no end.
fn range_from(
    tx: &mut Transaction<'_>,
    lane: i64,
    first: i64,
) -> Result<RangeInclusive<i64>, StoreError> {
    const LISTED: Sql = Sql::portable(
        "select id from sweep_inventory where lane_id = $1 and $2 <= id
          order by id limit 1 offset $3",
    );
    const STORED: Sql = Sql::portable(
        "select id from cells where lane_id = $1 and $2 <= id order by id limit 1 offset $3",
    );
    let params = params![lane, first, RANGE_ROWS - 1];
    let listed = tx.query_first(LISTED, &params, |mut row| row.int("id"))?;
    let stored = tx.query_first(STORED, &params, |mut row| row.int("id"))?;
    let end = listed.into_iter().chain(stored).min();
    Ok(first..=end.unwrap_or(i64::MAX))
}

/// Items that are both listed and stored: a few of each range.
#[derive(Default)]
struct KnownItems(Vec<(i64, String)>);

impl KnownItems {
    fn add_range(&mut self, listed: &BTreeMap<i64, StagedRow>, stored: &BTreeMap<i64, ItemCell>) {
        let is_stored = |id: &i64| stored.get(id).is_some_and(ItemCell::is_present);
        let known: Vec<_> = listed.iter().filter(|(id, _)| is_stored(id)).collect();
        let spread = second_lookup::pick_siblings(&known).into_iter();
        self.0.extend(spread.map(|(id, row)| (**id, row.node_id.clone())));
    }

    /// Returns a few items, spread over all ranges.
    fn pick_siblings(self) -> Vec<(i64, String)> {
        second_lookup::pick_siblings(&self.0).into_iter().cloned().collect()
    }
}

/// A sweep that has listed everything, and the id of its lane's row.
struct CompleteSweep {
    lane_id: i64,
    state: SweepState,
}

fn find_complete_sweep(tx: &mut Transaction<'_>, lane: &Lane) -> Result<CompleteSweep, StoreError> {
    if let Some(lane_id) = lanes::find_lane_id(tx, lane)?
        && let Some(state) = read_sweep_state(tx, lane_id)?.filter(|sweep| sweep.complete)
    {
        return Ok(CompleteSweep { lane_id, state });
    }
    Err(StoreError::NoCompleteSweep { lane: Box::new(lane.clone()) })
}

fn read_sweep_state(tx: &mut Transaction<'_>, lane: i64) -> Result<Option<SweepState>, StoreError> {
    const STATE: Sql = Sql::portable(
        "select sweep_started_at_ms, sweep_started_request, sweep_cursor, sweep_complete,
                (select count(*) from sweep_inventory where sweep_inventory.lane_id = lanes.id) as listed
           from lanes where id = $1 and sweep_started_at_ms is not null",
    );
    tx.query_first(STATE, &params![lane], |mut row| {
        Ok(SweepState {
            began_at: ObservedAt::new(
                row.int("sweep_started_at_ms")?,
                row.int("sweep_started_request")?,
            ),
            cursor: row.maybe_text("sweep_cursor")?.map(PageCursor),
            complete: row.flag("sweep_complete")?,
            listed: row.int("listed")?.unsigned_abs(),
        })
    })
}

/// Returns an id under which these rows, or staged ones, list several nodes: only one of them could be staged, and the
/// others would count as gone.
fn find_shared_id(
    tx: &mut Transaction<'_>,
    lane: i64,
    rows: &[(i64, String, SourceTime)],
) -> Result<Option<i64>, StoreError> {
    const STAGED: Sql = Sql::per_dialect(
        "select id, node_id from sweep_inventory
          where lane_id = $1 and id in (select value from json_each($2))",
        "select id, node_id from sweep_inventory where lane_id = $1 and id = any($2)",
    );
    let ids: Vec<i64> = rows.iter().map(|(id, ..)| *id).collect();
    let staged = tx.query(STAGED, &params![lane, ids.as_slice()], |mut row| {
        Ok((row.int("id")?, row.text("node_id")?))
    })?;
    let mut nodes: BTreeMap<i64, &str> = staged.iter().map(|(id, node)| (*id, &**node)).collect();
    let shared =
        rows.iter().find(|(id, node, _)| is_different_node(nodes.entry(*id).or_insert(node), node));
    Ok(shared.map(|(id, ..)| *id))
}

fn stage_rows(
    tx: &mut Transaction<'_>,
    lane: i64,
    rows: &[(i64, String, SourceTime)],
) -> Result<(), StoreError> {
    const STAGE: Sql = Sql::portable(
        "insert into sweep_inventory (lane_id, id, node_id, updated_at_ms) values ($1, $2, $3, $4)
         on conflict (lane_id, id) do update
            set node_id = excluded.node_id, updated_at_ms = excluded.updated_at_ms
          where sweep_inventory.updated_at_ms < excluded.updated_at_ms",
    );
    let rows: Vec<_> = rows
        .iter()
        .map(|(id, node, at)| params![lane, *id, node, at.instant().0].to_vec())
        .collect();
    tx.execute_each(STAGE, &rows)
}

/// A staged row of an inventory.
struct StagedRow {
    node_id: String,
    updated_at: SourceInstant,
}

fn read_staged_rows(
    tx: &mut Transaction<'_>,
    lane: i64,
    ids: &RangeInclusive<i64>,
) -> Result<BTreeMap<i64, StagedRow>, StoreError> {
    const STAGED: Sql = Sql::portable(
        "select id, node_id, updated_at_ms from sweep_inventory
          where lane_id = $1 and $2 <= id and id <= $3",
    );
    let rows = tx.query(STAGED, &params![lane, *ids.start(), *ids.end()], |mut row| {
        let id = row.int("id")?;
        Ok((
            id,
            StagedRow {
                node_id: row.text("node_id")?,
                updated_at: SourceInstant(row.int("updated_at_ms")?),
            },
        ))
    })?;
    Ok(rows.into_iter().collect())
}

/// Returns true if the inventory lists every present item that changed shortly before the sweep began.
fn is_settled(tx: &mut Transaction<'_>, lane: i64, began: ObservedAt) -> Result<bool, StoreError> {
    const UNLISTED: Sql = Sql::portable(
        "select count(*) as matching from cells
          where lane_id = $1 and $2 <= updated_at_ms and updated_at_ms <= $3
            and (tombstone_at_ms is null
                 or (tombstone_at_ms, tombstone_request) < (observed_at_ms, observed_request))
            and not exists (select 1 from sweep_inventory
                             where sweep_inventory.lane_id = cells.lane_id and sweep_inventory.id = cells.id)",
    );
    let params = params![lane, began.at_ms.saturating_sub(OVERLAP_MS), began.at_ms];
    Ok(tx.query_count(UNLISTED, &params)? == 0)
}

/// Ends a sweep that is done. One that was requested after it began stays due: it may have listed items that are gone
/// since.
fn end_sweep(tx: &mut Transaction<'_>, lane: i64) -> Result<(), StoreError> {
    const DONE: Sql = Sql::portable("update lanes set sweep_request_ms = null where id = $1");
    tx.send_statement(DONE, &params![lane])?;
    discard_staged_sweep(tx, lane)
}

/// Discards the staged inventory and its progress. The request that it served is due again.
pub(crate) fn discard_staged_sweep(tx: &mut Transaction<'_>, lane: i64) -> Result<(), StoreError> {
    const ROWS: Sql = Sql::portable("delete from sweep_inventory where lane_id = $1");
    const STATE: Sql = Sql::portable(
        "update lanes
            set sweep_started_at_ms = null, sweep_started_request = null, sweep_cursor = null,
                sweep_complete = $1, sweep_due_ms = coalesce(sweep_request_ms, sweep_due_ms),
                sweep_request_ms = null
          where id = $2",
    );
    tx.send_statement(ROWS, &params![lane])?;
    tx.send_statement(STATE, &params![false, lane])
}

/// Makes a sweep due now. One that is under way starts over: it may have passed the position of what it has to find.
pub(crate) fn restart_sweep(tx: &mut Transaction<'_>, lane: i64) -> Result<(), StoreError> {
    discard_staged_sweep(tx, lane)?;
    lanes::make_sweep_due(tx, lane)
}

/// Restarts the sweep of a repository's threads of this kind.
pub(crate) fn restart_thread_sweep(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    kind: ThreadKind,
) -> Result<(), StoreError> {
    let lane = Lane::for_repository(repository.clone(), Surface::Threads(kind));
    lane_rows::find_lane_id(tx, &lane)?.map_or(Ok(()), |id| restart_sweep(tx, id))
}
