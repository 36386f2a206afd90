//! Quarantine: what a page contained and could not be read, until it can.

use std::collections::BTreeSet;

use hw_rules::lane::Lane;
use hw_rules::source_clock::SAFE_BACKFILL_MS;
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::{Seen, ordered_at};
use hw_rules::{OVERLAP_MS, clean};

use crate::Store;
use crate::error::Error;
use crate::ingest::IngestPage;
use crate::sql::{Row, Sql, params};
use crate::tx::Tx;
use crate::views::repositories::time;

/// How much of an unreadable text is kept.
const RAW_BYTES: usize = 64 * 1024;

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its node id, or where it stood.
    pub subject: String,
    pub reason: String,
    pub raw: String,
    /// Which version of it, as far as that much could be read.
    pub updated_at: Option<SourceTime>,
    pub seen: Seen,
}

/// Something in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The name of the lane it came by.
    pub lane: String,
    pub subject: String,
    pub reason: String,
    pub raw: String,
    /// The newest version of it that could not be read.
    pub updated_at: Option<SourceTime>,
    /// How often it was tried.
    pub tries: u64,
    /// The last time it was met.
    pub seen: Seen,
}

macro_rules! quarantined {
    ($rest:literal) => {
        Sql::both(concat!(
            "select lanes.name, subject, reason, raw, tries, seen_at_ms, seen_request, updated_at
               from quarantine join lanes on lanes.id = quarantine.lane ",
            $rest
        ))
    };
}

impl Store {
    /// What is in quarantine, for views: by lane and subject, a thousand at most.
    ///
    /// Each comes with its raw text; [`Store::counts`] tells how many there are.
    pub fn quarantined(&self) -> Result<Vec<Quarantined>, Error> {
        const ALL: Sql = quarantined!("order by lanes.name, subject limit 1000");
        self.read("quarantine", |tx| tx.query(ALL, &[], read))
    }

    /// Some of what is in quarantine, by subject and reason: what was tried most often comes first.
    pub fn quarantine_names(&self, limit: u32) -> Result<Vec<(String, String)>, Error> {
        const NAMES: Sql = Sql::both(
            "select subject, reason from quarantine order by tries desc, subject limit $1",
        );
        self.read("quarantine", |tx| {
            tx.query(NAMES, &params![i64::from(limit)], |mut row| Ok((row.text(0)?, row.text(1)?)))
        })
    }

    /// What one lane has in quarantine: what was tried least, and longest ago, comes first.
    pub fn quarantined_of(&self, lane: &Lane, limit: u64) -> Result<Vec<Quarantined>, Error> {
        const OF_LANE: Sql = quarantined!(
            "where lanes.name = $1 order by tries, seen_at_ms, seen_request, subject limit $2"
        );
        let (name, limit) = (lane.to_string(), i64::try_from(limit).unwrap_or(i64::MAX));
        self.read("quarantine", |tx| tx.query(OF_LANE, &params![&name, limit], read))
    }

    /// The names of the lanes that have something in quarantine.
    pub fn waiting_lanes(&self) -> Result<BTreeSet<String>, Error> {
        const WAITING: Sql =
            Sql::both("select name from lanes where id in (select lane from quarantine)");
        self.read("quarantine", |tx| {
            Ok(tx.query(WAITING, &[], |mut row| row.text(0))?.into_iter().collect())
        })
    }
}

fn read(mut row: Row) -> Result<Quarantined, Error> {
    Ok(Quarantined {
        lane: row.text(0)?,
        subject: row.text(1)?,
        reason: row.text(2)?,
        raw: row.text(3)?,
        tries: row.int(4)?.unsigned_abs(),
        seen: Seen::at(row.int(5)?, row.int(6)?),
        updated_at: row.maybe_text(7)?.as_deref().map(time).transpose()?,
    })
}

/// Releases what a page could read, and takes in what it could not.
pub(crate) fn settle(tx: &mut Tx<'_>, lane: i64, page: &IngestPage) -> Result<(), Error> {
    release_nodes(tx, page)?;
    release_places(tx, lane, page)?;
    page.quarantined.iter().try_for_each(|unreadable| take_in(tx, lane, unreadable))
}

/// A node id means one object, whichever lane it came by. An older version of it releases nothing: what
/// could not be read is still missing.
fn release_nodes(tx: &mut Tx<'_>, page: &IngestPage) -> Result<(), Error> {
    const RELEASE: Sql = Sql::both(
        "delete from quarantine
          where subject = $1 and (updated_at_ms is null or updated_at_ms <= $2)
            and lane in (select id from lanes where host = $3)",
    );
    let held = held_nodes(tx, page)?;
    let read: Vec<_> = page
        .observations
        .iter()
        .map(|observation| (observation.item.node_id(), observation))
        .filter(|(node, _)| held.contains(*node))
        .map(|(node, observation)| {
            let updated_at = observation.item.updated_at().mark();
            params![node, ordered_at(updated_at, observation.seen).0, &page.lane.host].to_vec()
        })
        .collect();
    tx.execute_each(RELEASE, &read)
}

/// Which of a page's node ids are in quarantine: nearly always none.
fn held_nodes(tx: &mut Tx<'_>, page: &IngestPage) -> Result<BTreeSet<String>, Error> {
    const HELD: Sql = Sql::each(
        "select subject from quarantine where subject in (select value from json_each($1))",
        "select subject from quarantine where subject = any($1)",
    );
    let nodes: Vec<_> =
        page.observations.iter().map(|observation| observation.item.node_id()).collect();
    Ok(tx.query(HELD, &params![nodes.as_slice()], |mut row| row.text(0))?.into_iter().collect())
}

/// A place in a listing means something in its own lane only.
fn release_places(tx: &mut Tx<'_>, lane: i64, page: &IngestPage) -> Result<(), Error> {
    const RELEASE: Sql = Sql::both("delete from quarantine where lane = $1 and subject = $2");
    let rows: Vec<_> = page.cleared.iter().map(|place| params![lane, place].to_vec()).collect();
    tx.execute_each(RELEASE, &rows)
}

/// Takes in what could not be read. The newest version of it that was met is the one it waits for.
fn take_in(tx: &mut Tx<'_>, lane: i64, unreadable: &Unreadable) -> Result<(), Error> {
    const KEEP: Sql = Sql::both(
        "insert into quarantine (lane, subject, reason, raw, tries, seen_at_ms, seen_request,
                                 updated_at, updated_at_ms)
         values ($1, $2, $3, $4, 1, $5, $6, $7, $8)
         on conflict (lane, subject) do update
            set reason = excluded.reason, raw = excluded.raw, tries = quarantine.tries + 1,
                seen_at_ms = excluded.seen_at_ms, seen_request = excluded.seen_request,
                updated_at = case when quarantine.updated_at_ms is null
                                    or quarantine.updated_at_ms < excluded.updated_at_ms
                                  then excluded.updated_at else quarantine.updated_at end,
                updated_at_ms = case when quarantine.updated_at_ms is null
                                       or quarantine.updated_at_ms < excluded.updated_at_ms
                                     then excluded.updated_at_ms
                                     else quarantine.updated_at_ms end",
    );
    let Unreadable { subject, reason, raw, updated_at, seen } = unreadable;
    let raw = raw.get(..raw.floor_char_boundary(RAW_BYTES)).unwrap_or_default();
    let [subject, reason, raw] = [subject, reason, raw].map(clean::storable);
    let at = updated_at.as_ref().map(SourceTime::as_str);
    let at_ms = updated_at.as_ref().map(|at| ordered_at(at.mark(), *seen).0);
    let seen = (seen.at_ms, seen.request);
    tx.execute(KEEP, &params![lane, &subject, &reason, &raw, seen.0, seen.1, at, at_ms]).map(drop)
}

/// Has what a lane has in quarantine from beyond `latest` count as a day old: the source's clock was wrong.
pub(crate) fn redate(tx: &mut Tx<'_>, lane: i64, latest: Mark) -> Result<(), Error> {
    const UPDATED: Sql = Sql::both(
        "update quarantine set updated_at_ms = $1 where lane = $2 and updated_at_ms > $3",
    );
    const SEEN: Sql =
        Sql::both("update quarantine set seen_at_ms = $1 where lane = $2 and seen_at_ms > $3");
    let day_before = latest.minus(SAFE_BACKFILL_MS);
    tx.execute(UPDATED, &params![day_before.0, lane, latest.0])?;
    tx.execute(SEEN, &params![day_before.0, lane, latest.0]).map(drop)
}

/// Releases the nodes of a lane that its complete roll does not list, and what was known by its place
/// alone: the roll was compared both ways, so what stood there is held by now, quarantined under its own
/// id, or gone.
///
/// What was met so late that the roll may not show it yet stays.
pub(crate) fn release_unlisted(tx: &mut Tx<'_>, lane: i64, began: Seen) -> Result<(), Error> {
    const RELEASE: Sql = Sql::both(
        "delete from quarantine
          where lane = $1
            and subject not in (select node_id from sweep_rows where lane = $1)
            and (updated_at_ms < $2
                 or updated_at_ms is null and (seen_at_ms, seen_request) < ($3, $4))",
    );
    let old_news = Mark(began.at_ms).minus(OVERLAP_MS).0;
    tx.execute(RELEASE, &params![lane, old_news, began.at_ms, began.request]).map(drop)
}

/// Releases whatever waits at the lanes of a repository that is gone, and the repository itself.
pub(crate) fn release_repository(tx: &mut Tx<'_>, host: &str, id: i64) -> Result<(), Error> {
    const THREADS: Sql = Sql::both(
        "delete from quarantine
          where lane in (select id from lanes where host = $1 and repository_id = $2)",
    );
    const REPOSITORY: Sql = Sql::both(
        "delete from quarantine
          where subject in (select node_id from repositories where host = $1 and id = $2)
            and lane in (select id from lanes where host = $1)",
    );
    tx.execute(THREADS, &params![host, id])?;
    tx.execute(REPOSITORY, &params![host, id]).map(drop)
}

/// Releases whatever waits at one lane.
pub(crate) fn release_lane(tx: &mut Tx<'_>, lane: i64) -> Result<(), Error> {
    const RELEASE: Sql = Sql::both("delete from quarantine where lane = $1");
    tx.execute(RELEASE, &params![lane]).map(drop)
}
