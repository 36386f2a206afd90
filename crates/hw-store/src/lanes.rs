//! Stores the lanes: how far each one is complete, and when its next turn is due.
//!
//! There is no way to set a watermark by itself: it is written with the page that justifies it.

use hw_rules::coverage::Coverage;
use hw_rules::duty::DutyName;
use hw_rules::follow_reason::LaneUse;
use hw_rules::item::ObjectKind;
use hw_rules::lane::{Lane, ReadStrategy, Scope, Surface};
use hw_rules::login::Login;
use hw_rules::plan::LaneState;
use hw_rules::principal::Principal;
use hw_rules::repository_key::RepositoryId;
use hw_rules::safe_text;
use hw_rules::source_clock::SAFE_BACKFILL_MS;
use hw_rules::source_time::SourceInstant;

use crate::error::StoreError;
use crate::ingest::Etag;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::post_list::parse_identifier;
use crate::{LeasedStore, StoreReader, StoreWriter};
use crate::{leases, source_clocks, sweeps};

pub(crate) mod lane_progress;
pub(crate) mod lane_rows;
pub(crate) mod object_count;
pub(crate) mod restart;

use lane_progress::{LaneProgress, PendingProgress};
use lane_rows::insert_missing_lanes;
pub(crate) use lane_rows::{ensure_lane_id, find_lane_id};

/// A lane, its state, and the message of its last failed turn.
pub type LaneRow = (Lane, LaneState, Option<String>);

/// A failed turn and its consequences for the lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnFailure {
    pub due_ms: i64,
    pub failures: u32,
    pub page_size: u32,
    pub message: String,
}

const FIRST_PAGE_SIZE: u32 = 100;

const FINISH_TURN: TransactionStep = step!("finish turn");
const POSTPONE: TransactionStep = step!("postpone");
const MAKE_DUE: TransactionStep = step!("make due");
const REQUEST_SWEEP: TransactionStep = step!("request sweep");
const FOLLOW: TransactionStep = step!("follow lanes");
const RESET: TransactionStep = step!("reset");

/// The number of lanes that are created in one transaction.
const LANES_PER_TRANSACTION: usize = 1_000;

/// A lane with the id of its row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredLane<'a> {
    pub(crate) id: i64,
    pub(crate) lane: &'a Lane,
}

impl StoreReader {
    /// Returns the state of a lane. An unknown lane is not created, and nothing of it is complete.
    pub fn lane_state(&self, lane: &Lane) -> Result<LaneState, StoreError> {
        const STATE: Sql = Sql::portable(
            "select coverage, due_ms, failure_count, coalesce(sweep_request_ms, sweep_due_ms) as sweep_due_ms,
                    sweep_started_at_ms, page_size, checked_at_ms
               from lanes where name = $1",
        );
        let name = lane.to_string();
        let state =
            self.read("lane", |tx| tx.query_first(STATE, &params![&name], read_lane_state))?;
        Ok(state
            .unwrap_or_else(|| LaneState { page_size: FIRST_PAGE_SIZE, ..LaneState::default() }))
    }

    /// Returns all lanes by name. A lane whose row is damaged is left out, as if it had never been read.
    pub fn lanes(&self) -> Result<Vec<LaneRow>, StoreError> {
        const ALL: Sql = Sql::portable(
            "select host, organization, repository_id, account, surface, last_error, coverage, due_ms,
                    failure_count, coalesce(sweep_request_ms, sweep_due_ms) as sweep_due_ms,
                    sweep_started_at_ms, page_size, checked_at_ms
               from lanes order by name",
        );
        self.read("lanes", |tx| Ok(tx.query_readable(ALL, &[], read_lane_row)?.rows))
    }

    /// Returns the lanes of one use by name, as [`Self::lanes`] does.
    pub fn lanes_used_by(&self, lane_use: LaneUse) -> Result<Vec<LaneRow>, StoreError> {
        const USED: Sql = Sql::portable(
            "select host, organization, repository_id, account, surface, last_error, coverage, due_ms,
                    failure_count, coalesce(sweep_request_ms, sweep_due_ms) as sweep_due_ms,
                    sweep_started_at_ms, page_size, checked_at_ms
               from lanes join lane_uses on lane_uses.lane_id = lanes.id
              where use = $1 order by name",
        );
        let params = params![lane_use.name()];
        self.read("lanes", |tx| Ok(tx.query_readable(USED, &params, read_lane_row)?.rows))
    }

    /// Returns the ETag of a lane's newest page that the source sent to this principal.
    pub fn lane_etag(
        &self,
        lane: &Lane,
        principal: &Principal,
    ) -> Result<Option<Etag>, StoreError> {
        const ETAG: Sql = Sql::portable(
            "select etag, etag_sent_at_ms from lanes
              where name = $1 and etag_principal = $2 and etag is not null",
        );
        let (name, stored_principal) = (lane.to_string(), principal.to_string());
        self.read("etag", |tx| {
            tx.query_first(ETAG, &params![&name, &stored_principal], |mut row| {
                let (value, sent_at) =
                    (row.text("etag")?, row.maybe_int("etag_sent_at_ms")?.map(SourceInstant));
                Ok(Etag { principal: principal.clone(), value, sent_at })
            })
        })
    }
}

impl StoreWriter {
    /// Requests a sweep. An earlier due time stays.
    pub fn request_sweep(&self, lane: &Lane, due_ms: i64) -> Result<(), StoreError> {
        const SET_SWEEP_DUE: Sql = Sql::portable(
            "update lanes set sweep_due_ms = $1
              where id = $2 and (sweep_due_ms is null or $1 < sweep_due_ms)",
        );
        self.write(REQUEST_SWEEP, |tx| {
            let id = ensure_lane_id(tx, lane)?;
            tx.send_statement(SET_SWEEP_DUE, &params![due_ms, id])
        })
    }
}

impl LeasedStore {
    /// Records a failed turn.
    pub fn postpone_lane(&self, lane: &Lane, failure: TurnFailure) -> Result<(), StoreError> {
        const RECORD_FAILURE: Sql = Sql::portable(
            "update lanes set due_ms = $1, failure_count = $2, page_size = $3, last_error = $4
              where id = $5",
        );
        let TurnFailure { due_ms, failures, page_size, message } = failure;
        let (failures, page_size) = (i64::from(failures), i64::from(page_size));
        let message = safe_text::sanitize_for_storage(&message);
        self.write_with_lease(POSTPONE, |tx| {
            let id = ensure_lane_id(tx, lane)?;
            tx.send_statement(RECORD_FAILURE, &params![due_ms, failures, page_size, &message, id])
        })
    }

    /// Records a successful turn, which clears earlier failures.
    pub fn finish_turn(&self, lane: &Lane) -> Result<(), StoreError> {
        const CLEAR_FAILURE: Sql =
            Sql::portable("update lanes set failure_count = 0, last_error = null where id = $1");
        self.write_with_lease(FINISH_TURN, |tx| {
            let id = ensure_lane_id(tx, lane)?;
            tx.send_statement(CLEAR_FAILURE, &params![id])
        })
    }

    /// Makes a lane due at once, regardless of any backoff, because the user requested it.
    pub fn make_lane_due(&self, lane: &Lane) -> Result<(), StoreError> {
        const SET_DUE: Sql = Sql::portable("update lanes set due_ms = 0 where id = $1");
        self.write_with_lease(MAKE_DUE, |tx| {
            let id = ensure_lane_id(tx, lane)?;
            tx.send_statement(SET_DUE, &params![id])
        })
    }

    /// Creates the rows of lanes before any of them is read, and records their use. A lane that is excluded on purpose
    /// has no row.
    pub fn follow_lanes(&self, lanes: &[&Lane], lane_use: LaneUse) -> Result<(), StoreError> {
        for chunk in lanes.chunks(LANES_PER_TRANSACTION) {
            self.write_with_lease(FOLLOW, |tx| insert_missing_lanes(tx, chunk, lane_use))?;
        }
        Ok(())
    }

    /// Moves a watermark back, which nothing else does, because a wrong clock stamped the items from beyond `base`.
    ///
    /// The lane then claims nothing later than a day before `base`, has a gap, and is due for a sweep.
    pub fn reset_lane(
        &self,
        lane: &Lane,
        base: SourceInstant,
        why: &str,
    ) -> Result<(), StoreError> {
        self.reset_lane_to(lane, base, base.minus_ms(SAFE_BACKFILL_MS), why)
    }

    /// Does the same, and has the lane claim nothing later than `to`.
    pub fn reset_lane_to(
        &self,
        lane: &Lane,
        base: SourceInstant,
        to: SourceInstant,
        why: &str,
    ) -> Result<(), StoreError> {
        self.write_with_lease(RESET, |tx| {
            let id = ensure_lane_id(tx, lane)?;
            leases::revoke_from_others(tx, &DutyName::for_lane(lane), self.lease())?;
            let before = read_coverage(tx, id)?;
            let after = match lane.surface.read_strategy() {
                Some(ReadStrategy::Since(_)) => before.clone().reset_since(to),
                Some(ReadStrategy::NewestFirst(_)) | None => before.clone().reset_newest_first(to),
                Some(ReadStrategy::PerThread(_)) => before.clone().reset_per_thread(to),
            };
            tracing::warn!(%lane, from = ?before.through, %to, why, "resetting the watermark");
            source_clocks::redate_lane(tx, StoredLane { id, lane }, base)?;
            source_clocks::forget_last_check(tx, id, to)?;
            write_coverage(tx, id, &after)
        })
    }
}

/// Stores the ETag of a lane's newest page.
pub(crate) fn store_etag(
    tx: &mut Transaction<'_>,
    lane: i64,
    etag: &Etag,
) -> Result<(), StoreError> {
    const UPDATE_ETAG: Sql = Sql::portable(
        "update lanes set etag = $1, etag_principal = $2, etag_sent_at_ms = $3 where id = $4",
    );
    let at_ms = etag.sent_at.map(|at| at.0);
    tx.send_statement(UPDATE_ETAG, &params![&etag.value, &etag.principal.to_string(), at_ms, lane])
}

/// Returns the kind of the items that a lane lists; none if there is no such lane.
pub(crate) fn find_lane_kind(
    tx: &mut Transaction<'_>,
    id: i64,
) -> Result<Option<ObjectKind>, StoreError> {
    const SURFACE: Sql = Sql::portable("select surface from lanes where id = $1");
    let surface = tx.query_first(SURFACE, &params![id], |mut row| row.text("surface"))?;
    Ok(surface.and_then(|name| Surface::from_name(&name)).map(Surface::kind))
}

pub(crate) fn read_coverage(tx: &mut Transaction<'_>, id: i64) -> Result<Coverage, StoreError> {
    const COVERAGE: Sql = Sql::portable("select coverage from lanes where id = $1");
    let text = tx.query_first(COVERAGE, &params![id], |mut row| row.text("coverage"))?;
    Ok(parse_coverage(&text.unwrap_or_default()))
}

/// Advances a lane's coverage. `stored` is its progress, which includes the items of this transaction. A watermark that
/// would move back is a bug and is rejected.
///
/// A listing that became shorter lost an item, which a scan cannot notice. One that grew by more than was stored
/// contains an item that no scan found. Both make a sweep due.
pub(crate) fn advance_coverage(
    tx: &mut Transaction<'_>,
    StoredLane { id, lane }: StoredLane<'_>,
    coverage: &Coverage,
    stored: &LaneProgress,
) -> Result<(), StoreError> {
    let LaneProgress { coverage: stored, total } = stored;
    if let Some(from) = stored.through.filter(|from| coverage.through < Some(*from)) {
        let lane = Box::new(lane.clone());
        return Err(StoreError::WatermarkRegression { lane, from, to: coverage.through });
    }
    let mut coverage = coverage.clone();
    let is_new = coverage.head != stored.head || coverage.is_complete() != stored.is_complete();
    let has_more_listed = is_new && coverage.record_stored_count(stored, *total);
    if has_more_listed || coverage.has_shrunk_since(stored) {
        // the staged pages may list items that were removed since
        sweeps::discard_staged_sweep(tx, id)?;
        make_sweep_due(tx, id)?;
    }
    write_coverage(tx, id, &coverage)
}

/// Records the number of items that a sweep listed. Returns false if they are fewer than the listing reported, so that
/// the sweep has to be repeated.
pub(crate) fn settle_object_count(
    tx: &mut Transaction<'_>,
    id: i64,
    listed: u64,
    began: SourceInstant,
) -> Result<bool, StoreError> {
    let LaneProgress { mut coverage, total } = PendingProgress::send_for_id(tx, id)?.read(tx)?;
    let listed = i64::try_from(listed).unwrap_or(i64::MAX);
    let is_whole = coverage.settle_stored_count(listed, total, began);
    write_coverage(tx, id, &coverage)?;
    Ok(is_whole)
}

/// Makes a sweep of a lane due now, even if one is planned for later.
pub(crate) fn make_sweep_due(tx: &mut Transaction<'_>, id: i64) -> Result<(), StoreError> {
    const SWEEP_IS_DUE: Sql = Sql::portable("update lanes set sweep_due_ms = 0 where id = $1");
    tx.send_statement(SWEEP_IS_DUE, &params![id])
}

fn write_coverage(
    tx: &mut Transaction<'_>,
    id: i64,
    coverage: &Coverage,
) -> Result<(), StoreError> {
    const UPDATE_COVERAGE: Sql =
        Sql::portable("update lanes set coverage = $1, watermark_ms = $2 where id = $3");
    let through = coverage.through.map(|mark| mark.0);
    tx.send_statement(UPDATE_COVERAGE, &params![&serialize_coverage(coverage), through, id])
}

/// Records successful checks of lanes, each with the source's time. The time of a lane's last check never moves back.
/// Whoever checks a lane uses it, even if another use created it and it needs no read. An unknown lane is not created,
/// because nothing of it is stored yet.
pub(crate) fn record_checks(
    tx: &mut Transaction<'_>,
    checks: &[(Lane, i64)],
    lane_use: LaneUse,
) -> Result<(), StoreError> {
    const UPDATE_CHECKED_AT: Sql = Sql::portable(
        "update lanes
            set checked_at_ms = case when $1 < checked_at_ms then checked_at_ms else $1 end
          where name = $2",
    );
    let checks: Vec<_> = checks.iter().map(|(lane, at_ms)| (lane.to_string(), *at_ms)).collect();
    let rows: Vec<_> = checks.iter().map(|(name, at_ms)| params![*at_ms, name].to_vec()).collect();
    tx.execute_each(UPDATE_CHECKED_AT, &rows)?;
    let names: Vec<_> = checks.iter().map(|(name, _)| name.clone()).collect();
    lane_rows::add_lane_use(tx, &names, lane_use)
}

fn serialize_coverage(coverage: &Coverage) -> String {
    serde_json::to_string(coverage).expect("a coverage is plain values, always JSON")
}

/// Parses a coverage. A damaged one claims nothing, so every view reports the lane as incomplete, and the next pull
/// reads it from the beginning.
pub(crate) fn parse_coverage(text: &str) -> Coverage {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::warn!(%error, "the coverage of a lane is damaged; reading the lane from the beginning");
        Coverage::default()
    })
}

pub(crate) fn read_lane(row: &mut SqlRow) -> Result<Lane, StoreError> {
    let (owner, repository) = (row.maybe_text("organization")?, row.maybe_int("repository_id")?);
    let scope = match (owner, repository, row.maybe_text("account")?) {
        (Some(login), None, None) => Scope::Owner(Login::from_known(login)),
        (None, Some(id), None) => Scope::Repository(RepositoryId(id)),
        (None, None, Some(did)) => Scope::Account(parse_identifier(&did)?),
        (None, None, None) => Scope::SingleRepositories,
        _ => return Err(StoreError::UnreadableRow("a lane with two scopes".to_owned())),
    };
    let name = row.text("surface")?;
    let surface = Surface::from_name(&name)
        .ok_or_else(|| StoreError::UnreadableRow(format!("unknown surface {name:?}")))?;
    Ok(Lane { host: row.text("host")?.into(), scope, surface })
}

fn read_lane_row(mut row: SqlRow) -> Result<LaneRow, StoreError> {
    let (lane, error) = (read_lane(&mut row)?, row.maybe_text("last_error")?);
    Ok((lane, read_lane_state(row)?, error))
}

fn read_lane_state(mut row: SqlRow) -> Result<LaneState, StoreError> {
    Ok(LaneState {
        coverage: parse_coverage(&row.text("coverage")?),
        due_ms: row.int("due_ms")?,
        failures: to_lane_count(row.int("failure_count")?)?,
        sweep_due_ms: row.maybe_int("sweep_due_ms")?,
        is_sweeping: row.maybe_int("sweep_started_at_ms")?.is_some(),
        page_size: to_lane_count(row.int("page_size")?)?,
        checked_at_ms: row.maybe_int("checked_at_ms")?,
    })
}

fn to_lane_count(number: i64) -> Result<u32, StoreError> {
    u32::try_from(number)
        .map_err(|_| StoreError::UnreadableRow(format!("a lane with the count {number}")))
}
