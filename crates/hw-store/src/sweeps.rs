//! Sweeps: a whole listing, staged page by page, and swapped in only when it is complete.

use std::collections::BTreeMap;

use hw_rules::OVERLAP_MS;
use hw_rules::cells::Cell;
use hw_rules::item::Key;
use hw_rules::lane::Lane;
use hw_rules::plausible::is_other_node;
use hw_rules::reconcile::{self, Findings};
use hw_rules::source_clock::TOLERANCE_MS;
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::Seen;
use hw_rules::walk::{Cursor, Floor};

use crate::error::Error;
use crate::leases::Lease;
use crate::removals::remove_at_once;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::{Step, Tx, step};
use crate::{Store, cells, lanes, quarantine, repair, source_clocks};

/// How far a sweep got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepState {
    /// Its first look.
    pub began: Seen,
    /// Where the next page begins.
    pub cursor: Option<Cursor>,
    pub listed: u64,
    pub complete: bool,
}

/// One page of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepPage {
    /// The look that brought it; the first page's is kept as the sweep's beginning.
    pub began: Seen,
    /// Id, node id and `updated_at` of each row.
    pub rows: Vec<(i64, String, SourceTime)>,
    pub next: Option<Cursor>,
    pub complete: bool,
}

/// What a complete sweep found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepFindings {
    pub findings: Findings,
    /// The node id of each id found.
    pub node_ids: BTreeMap<i64, String>,
    /// Up to three items that were listed and are held, from all over the roll: the second look asks
    /// for them, too. One of them may be gone by then.
    pub siblings: Vec<(i64, String)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    pub removed: u64,
}

/// What became of one page of a roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StagedPage {
    Stored,
    /// The roll shows several nodes under this id, so it cannot be compared with anything.
    SharedId(i64),
}

const STAGE: Step = step!("stage");
const RESTART: Step = step!("restart sweep");
const SWEEP: Step = step!("sweep");

impl Store {
    /// The sweep a lane is in the middle of.
    pub fn sweep(&self, lane: &Lane) -> Result<Option<SweepState>, Error> {
        self.read("sweep", |tx| {
            let Some(id) = lanes::known_id(tx, lane)? else { return Ok(None) };
            state(tx, id)
        })
    }

    /// Keeps one more page of a sweep, unless the roll shows one id for several nodes.
    pub fn stage_sweep(
        &self,
        lease: &Lease,
        lane: &Lane,
        page: &SweepPage,
    ) -> Result<StagedPage, Error> {
        const MOVE: Sql = Sql::both(
            "update lanes
                set sweep_began_at_ms = coalesce(sweep_began_at_ms, $1),
                    sweep_began_request = coalesce(sweep_began_request, $2),
                    sweep_cursor = $3, sweep_complete = $4
              where id = $5",
        );
        self.write_for(lease, STAGE, |tx| {
            let id = lanes::lane_id(tx, lane)?;
            if let Some(shared) = shared_id(tx, id, &page.rows)? {
                return Ok(StagedPage::SharedId(shared));
            }
            stage(tx, id, &page.rows)?;
            let Seen { at_ms, request, .. } = page.began;
            let cursor = page.next.as_ref().map(|cursor| cursor.0.as_str());
            if page.complete {
                let latest = Mark(at_ms).plus(TOLERANCE_MS);
                source_clocks::redate_lane(tx, (id, lane), latest)?;
            }
            tx.execute(MOVE, &params![at_ms, request, cursor, page.complete, id])?;
            Ok(StagedPage::Stored)
        })
    }

    /// Forgets what a sweep has listed so far, so that it starts over; it stays due.
    pub fn restart_sweep(&self, lease: &Lease, lane: &Lane) -> Result<(), Error> {
        self.write_for(lease, RESTART, |tx| {
            let id = lanes::lane_id(tx, lane)?;
            unstage(tx, id)
        })
    }

    /// Compares a complete sweep with what is held.
    pub fn sweep_findings(&self, lane: &Lane) -> Result<SweepFindings, Error> {
        self.read("sweep", |tx| {
            let (id, sweep) = complete_sweep(tx, lane)?;
            let held = cells::of_lane(tx, id)?;
            let listed = staged(tx, id)?;
            let marks = listed.iter().map(|(id, (_, mark))| (*id, *mark)).collect();
            let from = lanes::coverage_of(tx, id)?.from.unwrap_or(Floor::Beginning);
            let findings = reconcile::compare(&held, &marks, from, sweep.began);
            let siblings = siblings(&listed, &held);
            let mut node_ids = node_ids(tx, lane, &findings.suspects)?;
            for id in &findings.fetch {
                node_ids.extend(listed.get(id).map(|(node, _)| (*id, node.clone())));
            }
            Ok(SweepFindings { findings, node_ids, siblings })
        })
    }

    /// Ends a complete sweep: what was confirmed gone is removed, unless it would be too much at once,
    /// and what could not be read and is no longer listed leaves quarantine. It stays due while something
    /// is held that is not listed, and too new to be suspected.
    pub fn finish_sweep(
        &self,
        lease: &Lease,
        lane: &Lane,
        gone: &[(i64, Seen)],
        allow_mass_removal: bool,
    ) -> Result<Swept, Error> {
        self.write_for(lease, SWEEP, |tx| {
            let (id, sweep) = complete_sweep(tx, lane)?;
            let kind = lane.surface.kind();
            let gone: Vec<_> =
                gone.iter().map(|(id, seen)| (Key { kind, id: *id }, *seen)).collect();
            let removed = remove_at_once(tx, (id, lane), &gone, allow_mass_removal)?;
            quarantine::release_unlisted(tx, id, sweep.began)?;
            repair::forget_unlisted(tx, id, kind)?;
            let is_whole = lanes::settle_stored(tx, id, sweep.listed, Mark(sweep.began.at_ms))?;
            let is_done = is_whole && is_settled(tx, id, sweep.began)?;
            if is_done { clear(tx, id) } else { unstage(tx, id) }?;
            Ok(Swept { removed })
        })
    }
}

/// Some of what is both listed and held.
fn siblings(
    listed: &BTreeMap<i64, (String, Mark)>,
    held: &BTreeMap<i64, Cell>,
) -> Vec<(i64, String)> {
    let known: Vec<_> =
        listed.iter().filter(|(id, _)| held.get(id).is_some_and(Cell::is_present)).collect();
    let named = |(id, (node, _)): &(&i64, &(String, Mark))| (**id, node.clone());
    reconcile::siblings(&known).into_iter().map(named).collect()
}

fn complete_sweep(tx: &mut Tx<'_>, lane: &Lane) -> Result<(i64, SweepState), Error> {
    let none = || Error::NoSweep { lane: Box::new(lane.clone()) };
    let id = lanes::known_id(tx, lane)?.ok_or_else(none)?;
    let sweep = state(tx, id)?.filter(|sweep| sweep.complete).ok_or_else(none)?;
    Ok((id, sweep))
}

fn state(tx: &mut Tx<'_>, lane: i64) -> Result<Option<SweepState>, Error> {
    const STATE: Sql = Sql::both(
        "select sweep_began_at_ms, sweep_began_request, sweep_cursor, sweep_complete,
                (select count(*) from sweep_rows where sweep_rows.lane = lanes.id)
           from lanes where id = $1 and sweep_began_at_ms is not null",
    );
    let read = |mut row: Row| {
        Ok(SweepState {
            began: Seen::at(row.int(0)?, row.int(1)?),
            cursor: row.maybe_text(2)?.map(Cursor),
            complete: row.flag(3)?,
            listed: row.int(4)?.unsigned_abs(),
        })
    };
    tx.first(STATE, &params![lane], read)
}

/// Returns an id under which these rows, or those before them, show several nodes: only one of them could be staged,
/// and the others would count as gone.
fn shared_id(
    tx: &mut Tx<'_>,
    lane: i64,
    rows: &[(i64, String, SourceTime)],
) -> Result<Option<i64>, Error> {
    const STAGED: Sql = Sql::each(
        "select id, node_id from sweep_rows
          where lane = $1 and id in (select value from json_each($2))",
        "select id, node_id from sweep_rows where lane = $1 and id = any($2)",
    );
    let ids: Vec<i64> = rows.iter().map(|(id, ..)| *id).collect();
    let read = |mut row: Row| Ok((row.int(0)?, row.text(1)?));
    let staged = tx.query(STAGED, &params![lane, ids.as_slice()], read)?;
    let mut nodes: BTreeMap<i64, &str> = staged.iter().map(|(id, node)| (*id, &**node)).collect();
    let shared =
        rows.iter().find(|(id, node, _)| is_other_node(nodes.entry(*id).or_insert(node), node));
    Ok(shared.map(|(id, ..)| *id))
}

fn stage(tx: &mut Tx<'_>, lane: i64, rows: &[(i64, String, SourceTime)]) -> Result<(), Error> {
    const STAGE: Sql = Sql::both(
        "insert into sweep_rows (lane, id, node_id, updated_at_ms) values ($1, $2, $3, $4)
         on conflict (lane, id) do update
            set node_id = excluded.node_id, updated_at_ms = excluded.updated_at_ms
          where sweep_rows.updated_at_ms < excluded.updated_at_ms",
    );
    let rows: Vec<_> =
        rows.iter().map(|(id, node, at)| params![lane, *id, node, at.mark().0].to_vec()).collect();
    tx.execute_each(STAGE, &rows)
}

fn staged(tx: &mut Tx<'_>, lane: i64) -> Result<BTreeMap<i64, (String, Mark)>, Error> {
    const STAGED: Sql =
        Sql::both("select id, node_id, updated_at_ms from sweep_rows where lane = $1");
    let rows = tx.query(STAGED, &params![lane], |mut row| {
        Ok((row.int(0)?, (row.text(1)?, Mark(row.int(2)?))))
    })?;
    Ok(rows.into_iter().collect())
}

/// The node ids of items that are held.
fn node_ids(tx: &mut Tx<'_>, lane: &Lane, ids: &[i64]) -> Result<BTreeMap<i64, String>, Error> {
    const NODE_IDS: OfKind = of_kind!(
        "select id, node_id from",
        "where host = $1 and id in (select value from json_each($2))",
        "where host = $1 and id = any($2)"
    );
    let sql = NODE_IDS.of(lane.surface.kind());
    let read = |mut row: Row| Ok((row.int(0)?, row.text(1)?));
    Ok(tx.query_readable(sql, &params![&lane.host, ids], read)?.rows.into_iter().collect())
}

/// Whether everything that is held, and changed before the sweep began, was listed or is old news.
fn is_settled(tx: &mut Tx<'_>, lane: i64, began: Seen) -> Result<bool, Error> {
    const UNLISTED: Sql = Sql::both(
        "select count(*) from cells
          where lane = $1 and $2 <= updated_at_ms and updated_at_ms <= $3
            and (gone_at_ms is null
                 or (gone_at_ms, gone_request) < (seen_at_ms, seen_request))
            and not exists (select 1 from sweep_rows
                             where sweep_rows.lane = cells.lane and sweep_rows.id = cells.id)",
    );
    let params = params![lane, began.at_ms.saturating_sub(OVERLAP_MS), began.at_ms];
    Ok(tx.count(UNLISTED, &params)? == 0)
}

fn clear(tx: &mut Tx<'_>, lane: i64) -> Result<(), Error> {
    const DONE: Sql = Sql::both("update lanes set sweep_due_ms = null where id = $1");
    unstage(tx, lane)?;
    tx.execute(DONE, &params![lane]).map(drop)
}

/// Forgets the roll and how far it got.
pub(crate) fn unstage(tx: &mut Tx<'_>, lane: i64) -> Result<(), Error> {
    const ROWS: Sql = Sql::both("delete from sweep_rows where lane = $1");
    const STATE: Sql = Sql::both(
        "update lanes
            set sweep_began_at_ms = null, sweep_began_request = null, sweep_cursor = null,
                sweep_complete = $1
          where id = $2",
    );
    tx.execute(ROWS, &params![lane])?;
    tx.execute(STATE, &params![false, lane]).map(drop)
}
