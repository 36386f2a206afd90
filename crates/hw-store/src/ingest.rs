//! Ingest: what one page showed, and how far the lane got with it, in one write transaction.

use hw_rules::cells::{self as rule, Change, Write};
use hw_rules::coverage::Coverage;
use hw_rules::item::{Key, Kind, Observation};
use hw_rules::lane::Lane;
use hw_rules::time::Mark;

use crate::Store;
use crate::cells::{self, CellRow, Held};
use crate::error::Error;
use crate::identity;
use crate::lanes;
use crate::late_threads;
use crate::leases::Lease;
use crate::mirror;
use crate::quarantine::{self, Unreadable};
use crate::removed_items::{Cause, RemovalReason};
use crate::sql::{Sql, params};
use crate::talks;
use crate::tx::{Step, Tx, step};
use crate::views::viewers;

/// What one page brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestPage {
    pub lane: Lane,
    pub observations: Vec<Observation>,
    /// The lane's coverage with this page; none for items read by id, which move nothing.
    pub coverage: Option<Coverage>,
    /// Lanes that were looked at as a whole, with the source's time of that look: this one when the page
    /// closed a walk, and, on a listing of repositories, those whose probe showed that nothing moved.
    pub looked_at: Vec<(Lane, i64)>,
    pub page_size: u32,
    pub quarantined: Vec<Unreadable>,
    /// Subjects that were in quarantine and were read now; those known by node id need no naming.
    pub cleared: Vec<String>,
    /// Node ids that the same look did not find: whatever is stored of them has no claim on its id.
    pub absent_nodes: Vec<String>,
    /// What the source calls the lane's newest page, whose rows these are; it vouches for them.
    pub etag: Option<Etag>,
    /// Threads whose talk is read to its end with this page, each with the source's time of its beginning.
    pub read_talks: Vec<(i64, i64)>,
    /// Whom the source told this; it says so at the beginning of a pull.
    pub viewer: Option<String>,
}

/// A name that the source gave to what it showed, and whom it showed it: it may show others something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Etag {
    pub principal: String,
    pub value: String,
    /// When the source sent it, by its own time; not known of those that were kept without it.
    pub at: Option<Mark>,
}

impl IngestPage {
    /// A page of this lane that says nothing and moves nothing.
    pub fn of(lane: Lane, page_size: u32) -> Self {
        Self {
            lane,
            observations: Vec::new(),
            coverage: None,
            looked_at: Vec::new(),
            page_size,
            quarantined: Vec::new(),
            cleared: Vec::new(),
            absent_nodes: Vec::new(),
            etag: None,
            read_talks: Vec::new(),
            viewer: None,
        }
    }
}

/// What one page changed.
///
/// An item whose `updated_at` alone moved counts as unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ingested {
    pub created: u64,
    pub edited: u64,
    pub revived: u64,
    pub removed: u64,
    pub unchanged: u64,
    pub quarantined: u64,
}

const INGEST: Step = step!("ingest");

impl Store {
    /// Compares a page with what is held and writes what follows from it, all of it or nothing.
    pub fn ingest(&self, lease: &Lease, page: &IngestPage) -> Result<Ingested, Error> {
        let done = self.ingest_all(lease, std::slice::from_ref(page))?;
        Ok(done.into_iter().next().unwrap_or_default())
    }

    /// Ingests the pages of several lanes that came in one answer, one after the other, all of them or
    /// none.
    pub fn ingest_all(&self, lease: &Lease, pages: &[IngestPage]) -> Result<Vec<Ingested>, Error> {
        self.write_for(lease, INGEST, |tx| pages.iter().map(|page| take_in(tx, page)).collect())
    }
}

/// Each page is compared with what is held by then: what an earlier one of the same answer brought, too.
fn take_in(tx: &mut Tx<'_>, page: &IngestPage) -> Result<Ingested, Error> {
    let lane = lanes::lane_id(tx, &page.lane)?;
    let host = page.lane.host.as_str();
    let mut held = cells::held(tx, host, page.observations.iter().map(Observation::key))?;
    let claims = identity::claim_ids(tx, &mut held, page)?;
    if !claims.taken.is_empty() {
        return take_in(tx, &identity::set_aside(page, &claims.taken));
    }
    let writes = rule::diff(&held.cells, &page.observations);
    let left = identity::places_left(tx, host, &claims.free)?;
    keep(tx, host, lane, &held, &writes, &page.observations)?;
    identity::give_back_urls(tx, host, &left)?;
    late_threads::request_comments(tx, host, &writes, &page.observations)?;
    talks::queue(tx, host, &writes, &page.observations)?;
    talks::done(tx, &page.lane, &page.read_talks)?;
    page.viewer.iter().try_for_each(|login| viewers::keep(tx, host, login))?;
    quarantine::settle(tx, lane, page)?;
    move_lane(tx, lane, page)?;
    Ok(counted(&writes, page.quarantined.len() as u64))
}

/// Writes texts, search rows and cells.
fn keep(
    tx: &mut Tx<'_>,
    host: &str,
    lane: i64,
    held: &Held,
    writes: &[Write],
    observations: &[Observation],
) -> Result<(), Error> {
    let written: Vec<_> = writes
        .iter()
        .filter(|write| write.change.writes_text())
        .filter_map(|write| observations.get(write.text?))
        .collect();
    let nameless = mirror::repositories::keep(tx, host, observations, &written)?;
    let items: Vec<_> = written.iter().map(|observation| &observation.item).collect();
    let mut new_rowids = mirror::threads::keep(tx, host, held, &items)?;
    new_rowids.extend(mirror::comments::keep(tx, host, held, &items)?);
    let removed = writes.iter().filter(|write| write.change == Change::Removed);
    let removed = removed.map(|write| (write.key, &write.cell));
    mirror::removal::remove(tx, host, removed, Cause::new(RemovalReason::NotListed))?;
    let rowid = |key: Key| new_rowids.get(&key).or_else(|| held.search_rowids.get(&key)).copied();
    let rows: Vec<_> = writes
        .iter()
        .filter(|write| write.change != Change::Nothing)
        .map(|Write { key, cell, .. }| CellRow {
            key: *key,
            cell,
            search_rowid: rowid(*key).filter(|_| cell.is_present()),
        })
        .collect();
    cells::keep(tx, host, lane, &rows)?;
    lanes::stored::count(tx, lane, writes.iter().map(gained).sum())?;
    cells::forget_digests(tx, host, Kind::Repository, &nameless)
}

/// How many objects more there are after a write.
fn gained(write: &Write) -> i64 {
    match write.change {
        Change::Created | Change::Revived => 1,
        Change::Removed => -1,
        Change::Edited | Change::Bumped | Change::Touched | Change::Nothing => 0,
    }
}

fn move_lane(tx: &mut Tx<'_>, lane: i64, page: &IngestPage) -> Result<(), Error> {
    const PAGE_SIZE: Sql = Sql::both("update lanes set page_size = $1 where id = $2");
    if let Some(coverage) = &page.coverage {
        lanes::advance(tx, lane, &page.lane, coverage)?;
    }
    if let Some(etag) = &page.etag {
        lanes::keep_etag(tx, lane, etag)?;
    }
    lanes::looked_at(tx, &page.looked_at)?;
    tx.execute(PAGE_SIZE, &params![i64::from(page.page_size), lane]).map(drop)
}

fn counted(writes: &[Write], quarantined: u64) -> Ingested {
    let mut ingested = Ingested { quarantined, ..Ingested::default() };
    for write in writes {
        match write.change {
            Change::Created => ingested.created += 1,
            Change::Edited => ingested.edited += 1,
            Change::Revived => ingested.revived += 1,
            Change::Removed => ingested.removed += 1,
            Change::Bumped | Change::Touched | Change::Nothing => ingested.unchanged += 1,
        }
    }
    ingested
}
