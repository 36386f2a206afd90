//! Quarantine: what a page contained and could not be read, until it can.

use hw_rules::clean;
use hw_rules::item::Item;
use hw_rules::version::Seen;

use crate::Store;
use crate::error::Error;
use crate::ingest::IngestPage;
use crate::sql::{Sql, params};
use crate::tx::Tx;

/// How much of an unreadable text is kept.
const RAW_BYTES: usize = 64 * 1024;

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its node id, or where it stood.
    pub subject: String,
    pub reason: String,
    pub raw: String,
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
    /// How often it was tried.
    pub tries: u64,
    /// The last try.
    pub seen: Seen,
}

impl Store {
    /// All that is in quarantine.
    pub fn quarantined(&self) -> Result<Vec<Quarantined>, Error> {
        const ALL: Sql = Sql::both(
            "select lanes.name, subject, reason, raw, tries, seen_at_ms, seen_request
               from quarantine join lanes on lanes.id = quarantine.lane
              order by lanes.name, subject",
        );
        self.read("quarantine", |tx| {
            tx.query(ALL, &[], |mut row| {
                Ok(Quarantined {
                    lane: row.text(0)?,
                    subject: row.text(1)?,
                    reason: row.text(2)?,
                    raw: row.text(3)?,
                    tries: row.int(4)?.unsigned_abs(),
                    seen: Seen { at_ms: row.int(5)?, request: row.int(6)? },
                })
            })
        })
    }
}

/// Releases what a page could read, and takes in what it could not.
pub(crate) fn settle(tx: &mut Tx<'_>, lane: i64, page: &IngestPage) -> Result<(), Error> {
    release_nodes(tx, page)?;
    release_places(tx, lane, page)?;
    page.quarantined.iter().try_for_each(|unreadable| take_in(tx, lane, unreadable))
}

/// A node id means one object, whichever lane it came by.
fn release_nodes(tx: &mut Tx<'_>, page: &IngestPage) -> Result<(), Error> {
    const RELEASE: Sql = Sql::each(
        "delete from quarantine
          where subject in (select value from json_each($1))
            and lane in (select id from lanes where host = $2)",
        "delete from quarantine
          where subject = any($1) and lane in (select id from lanes where host = $2)",
    );
    let nodes: Vec<_> =
        page.observations.iter().map(|observation| node_id(&observation.item)).collect();
    tx.execute(RELEASE, &params![nodes.as_slice(), &page.lane.host]).map(drop)
}

/// A place in a listing means something in its own lane only.
fn release_places(tx: &mut Tx<'_>, lane: i64, page: &IngestPage) -> Result<(), Error> {
    const RELEASE: Sql = Sql::both("delete from quarantine where lane = $1 and subject = $2");
    let rows: Vec<_> = page.cleared.iter().map(|place| params![lane, place].to_vec()).collect();
    tx.execute_each(RELEASE, &rows)
}

fn node_id(item: &Item) -> &str {
    match item {
        Item::Repository(repository) => &repository.node_id,
        Item::Issue(issue) => &issue.node_id,
    }
}

fn take_in(tx: &mut Tx<'_>, lane: i64, unreadable: &Unreadable) -> Result<(), Error> {
    const KEEP: Sql = Sql::both(
        "insert into quarantine (lane, subject, reason, raw, tries, seen_at_ms, seen_request)
         values ($1, $2, $3, $4, 1, $5, $6)
         on conflict (lane, subject) do update
            set reason = excluded.reason, raw = excluded.raw, tries = quarantine.tries + 1,
                seen_at_ms = excluded.seen_at_ms, seen_request = excluded.seen_request",
    );
    let Unreadable { subject, reason, raw, seen } = unreadable;
    let raw = raw.get(..raw.floor_char_boundary(RAW_BYTES)).unwrap_or_default();
    let [subject, reason, raw] = [subject, reason, raw].map(clean::storable);
    tx.execute(KEEP, &params![lane, &subject, &reason, &raw, seen.at_ms, seen.request]).map(drop)
}
