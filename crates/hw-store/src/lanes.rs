//! Lanes: how far each one is complete, and when it is looked at next.
//!
//! There is no way to set a watermark by itself: it comes with the page that justifies it.

use hw_rules::clean;
use hw_rules::coverage::Coverage;
use hw_rules::lane::{Lane, Reading, Scope, Surface};
use hw_rules::plan::LaneState;
use hw_rules::source_clock::SAFE_BACKFILL_MS;
use hw_rules::time::Mark;

use crate::Store;
use crate::error::Error;
use crate::ingest::Etag;
use crate::leases::Lease;
use crate::sql::{Row, Sql, params};
use crate::tx::{Step, Tx, step};
use crate::{source_clocks, sweeps};

pub(crate) mod fresh;
pub(crate) mod stored;

/// A lane, its state, and the message of its last failed turn.
pub type LaneRow = (Lane, LaneState, Option<String>);

/// How a turn failed, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub due_ms: i64,
    pub failures: u32,
    pub page_size: u32,
    pub message: String,
}

const FIRST_PAGE_SIZE: u32 = 100;

const FINISH_TURN: Step = step!("finish turn");
const POSTPONE: Step = step!("postpone");
const MAKE_DUE: Step = step!("make due");
const REQUEST_SWEEP: Step = step!("request sweep");
const FOLLOW: Step = step!("follow lanes");
/// How many lanes are noted in one transaction.
const FOLLOWED_AT_ONCE: usize = 1_000;
const RESET: Step = step!("reset");

impl Store {
    /// What is known of a lane; of one never seen, that nothing is complete. Reading creates nothing.
    pub fn lane_state(&self, lane: &Lane) -> Result<LaneState, Error> {
        const STATE: Sql = Sql::both(
            "select coverage, due_ms, failures, sweep_due_ms, sweep_began_at_ms, page_size,
                    checked_at_ms
               from lanes where name = $1",
        );
        let name = lane.to_string();
        let state = self.read("lane", |tx| tx.first(STATE, &params![&name], |r| state(r, 0)))?;
        Ok(state
            .unwrap_or_else(|| LaneState { page_size: FIRST_PAGE_SIZE, ..LaneState::default() }))
    }

    /// All lanes by name. One whose row is damaged is left out, as if it had never been read.
    pub fn lanes(&self) -> Result<Vec<LaneRow>, Error> {
        const ALL: Sql = Sql::both(
            "select host, organization, repository_id, surface, last_error, coverage, due_ms,
                    failures, sweep_due_ms, sweep_began_at_ms, page_size, checked_at_ms
               from lanes order by name",
        );
        self.read("lanes", |tx| {
            let lanes = tx.query_readable(ALL, &[], |mut row| {
                let (lane, error) = (lane(&mut row)?, row.maybe_text(4)?);
                Ok((lane, state(row, 5)?, error))
            });
            Ok(lanes?.rows)
        })
    }

    /// What the source called a lane's newest page when it told this principal.
    pub fn etag(&self, lane: &Lane, principal: &str) -> Result<Option<Etag>, Error> {
        const ETAG: Sql = Sql::both(
            "select etag, etag_at_ms from lanes
              where name = $1 and etag_principal = $2 and etag is not null",
        );
        let name = lane.to_string();
        let etag = |mut row: Row| {
            let (value, at_ms) = (row.text(0)?, row.maybe_int(1)?);
            Ok(Etag { principal: principal.to_owned(), value, at: at_ms.map(Mark) })
        };
        self.read("etag", |tx| tx.first(ETAG, &params![&name, principal], etag))
    }

    /// Records a failed turn.
    pub fn postpone(&self, lease: &Lease, lane: &Lane, failure: Failure) -> Result<(), Error> {
        const KEEP: Sql = Sql::both(
            "update lanes set due_ms = $1, failures = $2, page_size = $3, last_error = $4
              where id = $5",
        );
        let Failure { due_ms, failures, page_size, message } = failure;
        let (failures, page_size) = (i64::from(failures), i64::from(page_size));
        let message = clean::storable(&message);
        self.write_for(lease, POSTPONE, |tx| {
            let id = lane_id(tx, lane)?;
            tx.execute(KEEP, &params![due_ms, failures, page_size, &message, id]).map(drop)
        })
    }

    /// Records a turn that ended well: earlier failures are over.
    pub fn finish_turn(&self, lease: &Lease, lane: &Lane) -> Result<(), Error> {
        const KEEP: Sql =
            Sql::both("update lanes set failures = 0, last_error = null where id = $1");
        self.write_for(lease, FINISH_TURN, |tx| {
            let id = lane_id(tx, lane)?;
            tx.execute(KEEP, &params![id]).map(drop)
        })
    }

    /// Makes a lane due at once, whatever it was waiting for: somebody asked.
    pub fn make_due(&self, lease: &Lease, lane: &Lane) -> Result<(), Error> {
        const KEEP: Sql = Sql::both("update lanes set due_ms = 0 where id = $1");
        self.write_for(lease, MAKE_DUE, |tx| {
            let id = lane_id(tx, lane)?;
            tx.execute(KEEP, &params![id]).map(drop)
        })
    }

    /// Asks for a sweep; an earlier request stays.
    pub fn request_sweep(&self, lane: &Lane, due_ms: i64) -> Result<(), Error> {
        const KEEP: Sql = Sql::both(
            "update lanes set sweep_due_ms = $1
              where id = $2 and (sweep_due_ms is null or $1 < sweep_due_ms)",
        );
        self.write(REQUEST_SWEEP, |tx| {
            let id = lane_id(tx, lane)?;
            tx.execute(KEEP, &params![due_ms, id]).map(drop)
        })
    }

    /// Notes that lanes are followed, before any of them is read: what is left out on purpose has none.
    pub fn follow_lanes(&self, lease: &Lease, lanes: &[&Lane]) -> Result<(), Error> {
        for some in lanes.chunks(FOLLOWED_AT_ONCE) {
            self.write_for(lease, FOLLOW, |tx| {
                some.iter().try_for_each(|lane| lane_id(tx, lane).map(drop))
            })?;
        }
        Ok(())
    }

    /// The one way a watermark moves back: whatever the lane holds from beyond `base` was stamped by a
    /// clock that was wrong. Claims nothing later than a day before it, opens a gap, and requests a sweep.
    pub fn reset_lane(
        &self,
        lease: &Lease,
        lane: &Lane,
        base: Mark,
        why: &str,
    ) -> Result<(), Error> {
        let to = base.minus(SAFE_BACKFILL_MS);
        self.write_for(lease, RESET, |tx| {
            let id = lane_id(tx, lane)?;
            let before = coverage_of(tx, id)?;
            let after = match lane.surface.reading() {
                Reading::Since => before.clone().reset_since(to),
                Reading::Walk => before.clone().reset(to),
                Reading::Talks => before.clone().reset_talks(to),
            };
            tracing::warn!(%lane, from = ?before.through, %to, why, "the watermark is reset");
            source_clocks::redate_lane(tx, (id, lane), base)?;
            source_clocks::forget_look(tx, id, to)?;
            write_coverage(tx, id, &after)
        })
    }
}

/// Keeps what the source called a lane's newest page.
pub(crate) fn keep_etag(tx: &mut Tx<'_>, lane: i64, etag: &Etag) -> Result<(), Error> {
    const KEEP: Sql =
        Sql::both("update lanes set etag = $1, etag_principal = $2, etag_at_ms = $3 where id = $4");
    let at_ms = etag.at.map(|at| at.0);
    tx.execute(KEEP, &params![&etag.value, &etag.principal, at_ms, lane]).map(drop)
}

/// The row of a lane; made when it is missing.
pub(crate) fn lane_id(tx: &mut Tx<'_>, lane: &Lane) -> Result<i64, Error> {
    const MAKE: Sql = Sql::both(
        "insert into lanes (name, host, organization, repository_id, surface, coverage, page_size)
         values ($1, $2, $3, $4, $5, $6, $7)
         returning id",
    );
    if let Some(id) = known_id(tx, lane)? {
        return Ok(id);
    }
    let (organization, repository) = match &lane.scope {
        Scope::Organization(login) => (Some(login.as_str()), None),
        Scope::Repository(id) => (None, Some(*id)),
    };
    let (name, surface) = (lane.to_string(), lane.surface.name());
    let nothing = coverage_text(&Coverage::default());
    let size = i64::from(FIRST_PAGE_SIZE);
    let params = params![&name, &lane.host, organization, repository, surface, &nothing, size];
    tx.first(MAKE, &params, |mut row| row.int(0))?
        .ok_or_else(|| Error::Damaged(format!("the lane {name} has no row")))
}

/// The row of a lane, if it was ever seen.
pub(crate) fn known_id(tx: &mut Tx<'_>, lane: &Lane) -> Result<Option<i64>, Error> {
    const ID: Sql = Sql::both("select id from lanes where name = $1");
    tx.first(ID, &params![&lane.to_string()], |mut row| row.int(0))
}

pub(crate) fn coverage_of(tx: &mut Tx<'_>, id: i64) -> Result<Coverage, Error> {
    const COVERAGE: Sql = Sql::both("select coverage from lanes where id = $1");
    let text = tx.first(COVERAGE, &params![id], |mut row| row.text(0))?;
    Ok(parse_coverage(&text.unwrap_or_default()))
}

/// Moves a lane's coverage on. A watermark that would move back is our own nonsense, and refused.
///
/// A listing that became shorter lost something that a scan cannot see, and one that grew by more than was
/// stored shows something that no scan met: a sweep is due from now on.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    id: i64,
    lane: &Lane,
    coverage: &Coverage,
) -> Result<(), Error> {
    let held = coverage_of(tx, id)?;
    if let Some(from) = held.through.filter(|from| coverage.through < Some(*from)) {
        let lane = Box::new(lane.clone());
        return Err(Error::WatermarkBack { lane, from, to: coverage.through });
    }
    let mut coverage = coverage.clone();
    let is_new = coverage.head != held.head || coverage.is_complete() != held.is_complete();
    let shows_more = is_new && coverage.note_stored(&held, stored::total(tx, id)?);
    if shows_more || coverage.has_shrunk_since(&held) {
        // a roll that is under way may list what has gone since
        sweeps::unstage(tx, id)?;
        make_sweep_due(tx, id)?;
    }
    write_coverage(tx, id, &coverage)
}

/// Takes what a sweep listed as what the listing shows; returns whether it listed all that was counted.
pub(crate) fn settle_stored(
    tx: &mut Tx<'_>,
    id: i64,
    listed: u64,
    began: Mark,
) -> Result<bool, Error> {
    let mut coverage = coverage_of(tx, id)?;
    let listed = i64::try_from(listed).unwrap_or(i64::MAX);
    let is_whole = coverage.settle_stored(listed, stored::total(tx, id)?, began);
    write_coverage(tx, id, &coverage)?;
    Ok(is_whole)
}

/// Asks for a sweep of a lane; an earlier request stays.
pub(crate) fn make_sweep_due(tx: &mut Tx<'_>, id: i64) -> Result<(), Error> {
    const SWEEP_IS_DUE: Sql =
        Sql::both("update lanes set sweep_due_ms = coalesce(sweep_due_ms, 0) where id = $1");
    tx.execute(SWEEP_IS_DUE, &params![id]).map(drop)
}

fn write_coverage(tx: &mut Tx<'_>, id: i64, coverage: &Coverage) -> Result<(), Error> {
    const KEEP: Sql = Sql::both("update lanes set coverage = $1, through_ms = $2 where id = $3");
    let through = coverage.through.map(|mark| mark.0);
    tx.execute(KEEP, &params![&coverage_text(coverage), through, id]).map(drop)
}

/// Records successful looks at lanes, each with the source's time of it; the time of the last one never
/// moves back. A lane never seen stays so: nothing of it is held yet.
pub(crate) fn looked_at(tx: &mut Tx<'_>, looks: &[(Lane, i64)]) -> Result<(), Error> {
    const KEEP: Sql = Sql::both(
        "update lanes
            set checked_at_ms = case when $1 < checked_at_ms then checked_at_ms else $1 end
          where name = $2",
    );
    let looks: Vec<_> = looks.iter().map(|(lane, at_ms)| (lane.to_string(), *at_ms)).collect();
    let rows: Vec<_> = looks.iter().map(|(name, at_ms)| params![*at_ms, name].to_vec()).collect();
    tx.execute_each(KEEP, &rows)
}

fn coverage_text(coverage: &Coverage) -> String {
    serde_json::to_string(coverage).expect("a coverage is plain values, always JSON")
}

/// Reads a coverage. One that is damaged claims nothing, so every view calls the lane incomplete, and the next
/// pull reads it from the beginning.
fn parse_coverage(text: &str) -> Coverage {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::warn!(%error, "the coverage of a lane is damaged; it is read from the beginning");
        Coverage::default()
    })
}

fn lane(row: &mut Row) -> Result<Lane, Error> {
    let scope = match (row.maybe_text(1)?, row.maybe_int(2)?) {
        (Some(login), None) => Scope::Organization(login),
        (None, Some(id)) => Scope::Repository(id),
        _ => return Err(Error::UnreadableRow("a lane without a scope".to_owned())),
    };
    let name = row.text(3)?;
    let surface = Surface::named(&name)
        .ok_or_else(|| Error::UnreadableRow(format!("no surface is named {name:?}")))?;
    Ok(Lane { host: row.text(0)?, scope, surface })
}

/// The state in the seven columns from `first` on.
fn state(mut row: Row, first: usize) -> Result<LaneState, Error> {
    let small = |number: i64| {
        u32::try_from(number)
            .map_err(|_| Error::UnreadableRow(format!("{number} as a lane's count")))
    };
    Ok(LaneState {
        coverage: parse_coverage(&row.text(first)?),
        due_ms: row.int(first + 1)?,
        failures: small(row.int(first + 2)?)?,
        sweep_due_ms: row.maybe_int(first + 3)?,
        sweeping: row.maybe_int(first + 4)?.is_some(),
        page_size: small(row.int(first + 5)?)?,
        checked_at_ms: row.maybe_int(first + 6)?,
    })
}
