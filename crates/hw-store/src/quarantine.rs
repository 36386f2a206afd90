//! Stores the unreadable items of pages until they become readable.

use std::collections::BTreeSet;

use hw_rules::lane::Lane;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_clock::SAFE_BACKFILL_MS;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::{ObservedAt, ordering_instant};
use hw_rules::{OVERLAP_MS, safe_text};

use crate::StoreReader;
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::ingest::IngestPage;
use crate::lanes;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::Transaction;
use crate::views::repositories::parse_time;

/// The maximum length of a stored unreadable text.
const MAX_RAW_BYTES: usize = 64 * 1024;

/// An item that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableItem {
    pub subject: RowSubject,
    pub reason: String,
    pub raw: String,
    /// The version, if at least that was readable.
    pub updated_at: Option<SourceTime>,
    pub seen: ObservedAt,
}

/// An item in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedItem {
    /// The lane that it was read from.
    pub lane: Lane,
    pub subject: RowSubject,
    pub reason: String,
    pub raw: String,
    /// The newest unreadable version.
    pub updated_at: Option<SourceTime>,
    /// The number of attempts to read it.
    pub tries: u64,
    /// The last observation.
    pub seen: ObservedAt,
}

macro_rules! quarantined {
    ($rest:literal) => {
        Sql::portable(concat!(
            "select lanes.host, lanes.organization, lanes.repository_id, lanes.account, lanes.surface, subject, reason, raw_json,
                    attempts, observed_at_ms, observed_request, updated_at
               from quarantine join lanes on lanes.id = quarantine.lane_id ",
            $rest
        ))
    };
}

impl StoreReader {
    /// Returns the first thousand items in quarantine with their raw texts, by lane and subject.
    ///
    /// [`StoreReader::object_counts`] returns their total number.
    pub fn quarantined_items(&self) -> Result<Vec<QuarantinedItem>, StoreError> {
        const ALL: Sql = quarantined!("order by lanes.name, subject limit 1000");
        self.read("quarantine", |tx| Ok(tx.query_readable(ALL, &[], read_quarantined)?.rows))
    }

    /// Returns the subject and reason of some items in quarantine, those with the most attempts first.
    pub fn quarantine_reasons(&self, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        const NAMES: Sql = Sql::portable(
            "select subject, reason from quarantine order by attempts desc, subject limit $1",
        );
        self.read("quarantine", |tx| {
            tx.query(NAMES, &params![i64::from(limit)], |mut row| {
                Ok((row.text("subject")?, row.text("reason")?))
            })
        })
    }

    /// Returns the items of one lane in quarantine, those with the fewest and oldest attempts first.
    pub fn quarantined_in_lane(
        &self,
        lane: &Lane,
        limit: u64,
    ) -> Result<Vec<QuarantinedItem>, StoreError> {
        const OF_LANE: Sql = quarantined!(
            "where lanes.name = $1 order by attempts, observed_at_ms, observed_request, subject limit $2"
        );
        let (name, limit) = (lane.to_string(), i64::try_from(limit).unwrap_or(i64::MAX));
        let params = params![&name, limit];
        self.read("quarantine", |tx| {
            Ok(tx.query_readable(OF_LANE, &params, read_quarantined)?.rows)
        })
    }

    /// Returns the lanes that have items in quarantine. A lane whose row is damaged is left out, as in
    /// [`StoreReader::lanes`].
    pub fn lanes_with_quarantine(&self) -> Result<BTreeSet<Lane>, StoreError> {
        const WAITING: Sql = Sql::portable(
            "select host, organization, repository_id, account, surface from lanes
              where id in (select lane_id from quarantine)",
        );
        self.read("quarantine", |tx| {
            let lanes = tx.query_readable(WAITING, &[], |mut row| lanes::read_lane(&mut row))?;
            Ok(lanes.rows.into_iter().collect())
        })
    }
}

fn read_quarantined(mut row: SqlRow) -> Result<QuarantinedItem, StoreError> {
    Ok(QuarantinedItem {
        lane: lanes::read_lane(&mut row)?,
        subject: RowSubject::parse(&row.text("subject")?),
        reason: row.text("reason")?,
        raw: row.text("raw_json")?,
        tries: row.int("attempts")?.unsigned_abs(),
        seen: ObservedAt::new(row.int("observed_at_ms")?, row.int("observed_request")?),
        updated_at: row.maybe_text("updated_at")?.as_deref().map(parse_time).transpose()?,
    })
}

/// Releases the items that a page contained in readable form, and adds its unreadable ones.
pub(crate) fn update_quarantine(
    tx: &mut Transaction<'_>,
    lane: i64,
    page: &IngestPage,
    quarantined: &BTreeSet<String>,
) -> Result<(), StoreError> {
    release_nodes(tx, page, quarantined)?;
    release_subjects(tx, lane, page)?;
    page.quarantined.iter().try_for_each(|unreadable| quarantine_item(tx, lane, unreadable))
}

/// Releases the readable nodes of a page from the quarantine of every lane, because a node id is unique. An older
/// version releases nothing: the unreadable one is still missing.
fn release_nodes(
    tx: &mut Transaction<'_>,
    page: &IngestPage,
    quarantined: &BTreeSet<String>,
) -> Result<(), StoreError> {
    const RELEASE: Sql = Sql::portable(
        "delete from quarantine
          where subject = $1 and (updated_at_ms is null or updated_at_ms <= $2)
            and lane_id in (select id from lanes where host = $3)",
    );
    let rows: Vec<_> = page
        .observations
        .iter()
        .map(|observation| (observation.item.node_id(), observation))
        .filter(|(node, _)| quarantined.contains(*node))
        .map(|(node, observation)| {
            let updated_at = observation.item.updated_at().instant();
            params![node, ordering_instant(updated_at, observation.observed_at).0, &page.lane.host]
                .to_vec()
        })
        .collect();
    tx.execute_each(RELEASE, &rows)
}

/// A page's node ids that are in quarantine, requested. There are nearly always none.
pub(crate) struct PendingNodes(PendingRows);

impl PendingNodes {
    pub(crate) fn send(tx: &mut Transaction<'_>, page: &IngestPage) -> Result<Self, StoreError> {
        const SELECT_SUBJECTS: Sql = Sql::per_dialect(
            "select subject from quarantine where subject in (select value from json_each($1))",
            "select subject from quarantine where subject = any($1)",
        );
        let nodes: Vec<_> =
            page.observations.iter().map(|observation| observation.item.node_id()).collect();
        Ok(Self(tx.send_query(SELECT_SUBJECTS, &params![nodes.as_slice()])?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<BTreeSet<String>, StoreError> {
        Ok(tx.read_pending(self.0, |mut row| row.text("subject"))?.into_iter().collect())
    }
}

/// Releases positions of a listing, which identify an item only within their own lane.
fn release_subjects(
    tx: &mut Transaction<'_>,
    lane: i64,
    page: &IngestPage,
) -> Result<(), StoreError> {
    const RELEASE: Sql =
        Sql::portable("delete from quarantine where lane_id = $1 and subject = $2");
    let subjects: Vec<_> = page.cleared_subjects.iter().map(ToString::to_string).collect();
    let rows: Vec<_> = subjects.iter().map(|subject| params![lane, subject].to_vec()).collect();
    tx.execute_each(RELEASE, &rows)
}

/// Adds an unreadable item. It waits for its newest observed version, or a later one.
fn quarantine_item(
    tx: &mut Transaction<'_>,
    lane: i64,
    unreadable: &UnreadableItem,
) -> Result<(), StoreError> {
    const UPSERT: Sql = Sql::portable(
        "insert into quarantine (lane_id, subject, reason, raw_json, attempts, observed_at_ms, observed_request,
                                 updated_at, updated_at_ms)
         values ($1, $2, $3, $4, 1, $5, $6, $7, $8)
         on conflict (lane_id, subject) do update
            set reason = excluded.reason, raw_json = excluded.raw_json, attempts = quarantine.attempts + 1,
                observed_at_ms = excluded.observed_at_ms, observed_request = excluded.observed_request,
                updated_at = case when quarantine.updated_at_ms is null
                                    or quarantine.updated_at_ms < excluded.updated_at_ms
                                  then excluded.updated_at else quarantine.updated_at end,
                updated_at_ms = case when quarantine.updated_at_ms is null
                                       or quarantine.updated_at_ms < excluded.updated_at_ms
                                     then excluded.updated_at_ms
                                     else quarantine.updated_at_ms end",
    );
    let UnreadableItem { subject, reason, raw, updated_at, seen } = unreadable;
    let raw = raw.get(..raw.floor_char_boundary(MAX_RAW_BYTES)).unwrap_or_default();
    let subject = subject.to_string();
    let [subject, reason, raw] =
        [subject.as_str(), reason, raw].map(safe_text::sanitize_for_storage);
    let at = updated_at.as_ref().map(SourceTime::as_str);
    let at_ms = updated_at.as_ref().map(|at| ordering_instant(at.instant(), *seen).0);
    let params = params![lane, &subject, &reason, &raw, seen.at_ms, seen.request, at, at_ms];
    tx.send_statement(UPSERT, &params)
}

/// Makes a lane's quarantined items from beyond `latest` count as a day old, because the source's clock was wrong.
pub(crate) fn redate_quarantine(
    tx: &mut Transaction<'_>,
    lane: i64,
    latest: SourceInstant,
) -> Result<(), StoreError> {
    const UPDATED: Sql = Sql::portable(
        "update quarantine set updated_at_ms = $1 where lane_id = $2 and updated_at_ms > $3",
    );
    const SEEN: Sql = Sql::portable(
        "update quarantine set observed_at_ms = $1 where lane_id = $2 and observed_at_ms > $3",
    );
    let day_before = latest.minus_ms(SAFE_BACKFILL_MS);
    tx.send_statement(UPDATED, &params![day_before.0, lane, latest.0])?;
    tx.send_statement(SEEN, &params![day_before.0, lane, latest.0])
}

/// Releases the nodes of a lane that its complete inventory does not list, and the items known only by their position:
/// the inventory was compared both ways, so such an item is stored, quarantined under its own id, or gone.
///
/// An item that was observed so late that the inventory may not list it yet stays, and so does one that was observed
/// since the sweep began: it is listed, but unreadable.
pub(crate) fn release_unlisted(
    tx: &mut Transaction<'_>,
    lane: i64,
    began: ObservedAt,
) -> Result<(), StoreError> {
    const RELEASE: Sql = Sql::portable(
        "delete from quarantine
          where lane_id = $1
            and subject not in (select node_id from sweep_inventory where lane_id = $1)
            and (updated_at_ms is null or updated_at_ms < $2)
            and (observed_at_ms, observed_request) < ($3, $4)",
    );
    let settled_ms = SourceInstant(began.at_ms).minus_ms(OVERLAP_MS).0;
    tx.send_statement(RELEASE, &params![lane, settled_ms, began.at_ms, began.request])
}

/// Releases the items of a removed repository's lanes, and the repository itself.
pub(crate) fn release_repository(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    const THREADS: Sql = Sql::portable(
        "delete from quarantine
          where lane_id in (select id from lanes where host = $1 and repository_id = $2)",
    );
    const REPOSITORY: Sql = Sql::portable(
        "delete from quarantine
          where subject in (select node_id from repositories where host = $1 and id = $2)
            and lane_id in (select id from lanes where host = $1)",
    );
    let params = params![&repository.host, repository.id];
    tx.send_statement(THREADS, &params)?;
    tx.send_statement(REPOSITORY, &params)
}

/// Releases the items of one lane.
pub(crate) fn release_lane(tx: &mut Transaction<'_>, lane: i64) -> Result<(), StoreError> {
    const RELEASE: Sql = Sql::portable("delete from quarantine where lane_id = $1");
    tx.send_statement(RELEASE, &params![lane])
}
