//! Retries unreadable rows: each is requested again alone, then quarantined and requested again by later turns.

use std::collections::BTreeSet;

use hw_rules::OVERLAP_MS;
use hw_rules::item::{ItemObservation, ObjectId};
use hw_rules::item_validation::ImpossibleItem;
use hw_rules::lane::ReadStrategy;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::PageCursor;
use hw_sources::error::SourceError;
use hw_sources::github::threads::{ThreadListing, ThreadPageQuery};
use hw_sources::page::{ItemsPage, LookupPage, UnreadableRow};
use hw_store::{LeasedStore, QuarantinedItem};

use crate::SyncError;
use crate::api_client::FetchError;
use crate::lane_turn::LaneTurn;
use crate::lookup::{self, ItemLookupQuery, TwinLookupQuery};
use crate::retry_policy::RequestOptions;

/// Rows of one page that are retried at once; the others wait in quarantine.
const MAX_RETRIES_PER_PAGE: usize = 10;
/// Attempts during which a row that is not found has its lane swept each time.
const FREQUENT_SWEEP_TRIES: u64 = 16;
/// Quarantined rows that are retried in one turn.
const MAX_RETRIES_PER_TURN: usize = 20;
/// Quarantined rows that are read from the store: as many ids as GitHub accepts in one list.
const QUARANTINE_READ_LIMIT: u64 = 100;

/// The result of retrying one row.
enum RetryOutcome {
    /// The row is readable, and so are the others in `found` that were requested with it.
    Readable {
        found: Vec<ItemObservation>,
        absent: Vec<String>,
    },
    /// Another row is at its position now: it changed and reappears at the head of the lane, or it is gone and a
    /// sweep will find out. Or it moved to another repository.
    Moved,
    /// The row is not found by its id: it is gone, or this is a fault. A sweep decides.
    Absent,
    StillUnreadable,
}

/// Retries unreadable rows of a page; rows that are readable now join the page.
pub(crate) async fn retry_unreadable(
    turn: &LaneTurn<'_>,
    page: &mut ItemsPage,
) -> Result<(), FetchError> {
    let (impossible, mut rows): (Vec<_>, Vec<_>) =
        std::mem::take(&mut page.unreadable).into_iter().partition(UnreadableRow::is_impossible);
    let later = rows.split_off(rows.len().min(MAX_RETRIES_PER_PAGE));
    for unreadable in rows {
        match retry_row(turn, &unreadable, &[]).await? {
            RetryOutcome::Readable { found, .. } => page.observations.extend(found),
            RetryOutcome::Moved | RetryOutcome::Absent | RetryOutcome::StillUnreadable => {
                page.unreadable.push(unreadable);
            }
        }
    }
    page.unreadable.extend(later);
    page.unreadable.extend(impossible);
    Ok(())
}

/// Retries rows that earlier turns could not read, the least tried first.
pub(crate) async fn retry_quarantined(turn: &mut LaneTurn<'_>) -> Result<(), FetchError> {
    let waiting = read_waiting(turn).await?;
    retry_rows(turn, &waiting, &waiting).await
}

/// Retries rows that a sweep found under the id of another node, together with that node: a second lookup shows
/// which node has the id.
pub(crate) async fn retry_taken_ids(turn: &mut LaneTurn<'_>) -> Result<(), FetchError> {
    let waiting = read_waiting(turn).await?;
    let mut taken = waiting.clone();
    taken.retain(|row| ImpossibleItem::parse_taken_id(&row.reason).is_some());
    retry_rows(turn, &taken, &waiting).await
}

async fn read_waiting(turn: &LaneTurn<'_>) -> Result<Vec<QuarantinedItem>, SyncError> {
    let lane = turn.target.lane.clone();
    let read = move |store: &LeasedStore| store.quarantined_in_lane(&lane, QUARANTINE_READ_LIMIT);
    turn.context.ask_store(read).await
}

async fn retry_rows(
    turn: &mut LaneTurn<'_>,
    chosen: &[QuarantinedItem],
    waiting: &[QuarantinedItem],
) -> Result<(), FetchError> {
    let LaneTurn { context, target, .. } = *turn;
    let mut read = BTreeSet::new();
    for row in chosen.iter().take(MAX_RETRIES_PER_TURN).cloned() {
        if row.subject.node_id().is_some_and(|id| read.contains(id)) {
            continue;
        }
        let twins = find_twins(turn, &row, waiting)?;
        let unreadable = UnreadableRow {
            subject: row.subject.clone(),
            reason: row.reason,
            raw: row.raw,
            updated_at: row.updated_at,
            observed_at: row.seen,
        };
        let mut page = turn.empty_page();
        match retry_row(turn, &unreadable, &twins).await? {
            RetryOutcome::Readable { found, absent } => {
                read.extend(found.iter().map(|found| found.item.node_id().to_owned()));
                page.observations = found;
                page.absent_nodes = absent;
                page.cleared_subjects.push(row.subject);
            }
            RetryOutcome::Moved => page.cleared_subjects.push(row.subject),
            RetryOutcome::Absent => {
                // a row that stays listed but is never found causes fewer and fewer sweeps
                if row.tries < FREQUENT_SWEEP_TRIES || row.tries.is_power_of_two() {
                    // an inventory in progress may still list it
                    context.store.restart_sweep(&target.lane)?;
                    context.store.request_sweep(&target.lane, context.client.clock().now_ms())?;
                }
                page.quarantined.push(quarantine_row(&unreadable));
            }
            RetryOutcome::StillUnreadable => page.quarantined.push(quarantine_row(&unreadable)),
        }
        turn.store_page(page).await?;
    }
    Ok(())
}

/// Returns the node ids of the others that claim the row's id: those quarantined for the same reason, or the
/// stored one.
fn find_twins(
    turn: &LaneTurn<'_>,
    row: &QuarantinedItem,
    waiting: &[QuarantinedItem],
) -> Result<Vec<String>, SyncError> {
    let LaneTurn { context, target, .. } = *turn;
    if let Some(id) = ImpossibleItem::parse_taken_id(&row.reason) {
        let key = ObjectId { kind: target.surface().kind(), id };
        return Ok(context.store.node_id(&target.lane.host, key)?.into_iter().collect());
    }
    if !ImpossibleItem::is_shared_id_reason(&row.reason) {
        return Ok(Vec::new());
    }
    let twins =
        waiting.iter().filter(|other| other.reason == row.reason && other.subject != row.subject);
    Ok(twins.filter_map(|twin| twin.subject.node_id().map(str::to_owned)).collect())
}

/// Retries one row, by its id or by its position. A failure of one row does not fail the lane.
///
/// Twins are looked up in the same request: alone, none of them shows that it shares its id.
async fn retry_row(
    turn: &LaneTurn<'_>,
    row: &UnreadableRow,
    twins: &[String],
) -> Result<RetryOutcome, FetchError> {
    let outcome = match (&row.subject, turn.target.strategy) {
        (RowSubject::Node(id), _) => retry_by_id(turn, id, twins).await,
        (RowSubject::Position { at, after }, ReadStrategy::NewestFirst(kind)) => {
            let listing = turn.target.thread_listing(kind, after.as_ref());
            retry_at_position(turn, listing, at, row).await
        }
        (RowSubject::Position { .. }, ReadStrategy::Since(_) | ReadStrategy::PerThread(_)) => {
            return Ok(RetryOutcome::StillUnreadable);
        }
    };
    match outcome {
        Ok(RetryOutcome::Readable { found, .. })
            if found.iter().any(|observation| is_stale_answer(observation, row)) =>
        {
            Ok(RetryOutcome::StillUnreadable)
        }
        Err(FetchError::Source(error)) if !matches!(error, SourceError::TokenRejected(_)) => {
            Ok(RetryOutcome::StillUnreadable)
        }
        other => other,
    }
}

/// Returns true if a lagging replica answered with an older version of the row.
fn is_stale_answer(found: &ItemObservation, row: &UnreadableRow) -> bool {
    let is_same_row = match &row.subject {
        RowSubject::Node(id) => id == found.item.node_id(),
        RowSubject::Position { .. } => true,
    };
    is_same_row && row.updated_at.as_ref().is_some_and(|known| found.item.updated_at() < known)
}

async fn retry_by_id(
    turn: &LaneTurn<'_>,
    id: &str,
    twins: &[String],
) -> Result<RetryOutcome, FetchError> {
    let LaneTurn { context, target, .. } = *turn;
    let ids: Vec<String> = [id.to_owned()].into_iter().chain(twins.iter().cloned()).collect();
    let query = TwinLookupQuery(ItemLookupQuery { target, ids: &ids, siblings: &[] });
    let mut page = context.client.fetch(&query, RequestOptions::ROW, &mut 1).await?;
    page.absent.extend(twins_with_other_ids(&page, id));
    page.elsewhere.retain(|found| is_requested_row(found, id, twins));
    if !page.elsewhere.is_empty() {
        lookup::store_moved_items(context, target, page.elsewhere)?;
        return Ok(RetryOutcome::Moved);
    }
    if page.observations.iter().any(|found| is_requested_row(found, id, twins)) {
        return Ok(RetryOutcome::Readable { found: page.observations, absent: page.absent });
    }
    Ok(if page.absent.iter().any(|absent| absent == id) {
        RetryOutcome::Absent
    } else {
        RetryOutcome::StillUnreadable
    })
}

/// Returns the twins that are in another repository by now and have other ids than the row: the row's id is not theirs.
fn twins_with_other_ids(page: &LookupPage, id: &str) -> Vec<String> {
    let own = page.observations.iter().find(|found| found.item.node_id() == id);
    let Some(own) = own.map(ItemObservation::key) else { return Vec::new() };
    let others = page.elsewhere.iter().filter(|found| found.key() != own);
    others.map(|twin| twin.item.node_id().to_owned()).collect()
}

/// Returns true if this is the row itself; without twins, nothing else was requested.
fn is_requested_row(found: &ItemObservation, id: &str, twins: &[String]) -> bool {
    twins.is_empty() || found.item.node_id() == id
}

/// Rows that are read to find one by its position: others may have appeared before it.
const NEIGHBOR_ROWS: u32 = 10;

async fn retry_at_position(
    turn: &LaneTurn<'_>,
    listing: ThreadListing<'_>,
    at: &PageCursor,
    row: &UnreadableRow,
) -> Result<RetryOutcome, FetchError> {
    let query = ThreadPageQuery(listing);
    let mut size = NEIGHBOR_ROWS;
    let page = turn.client().fetch(&query, RequestOptions::ROW, &mut size).await?;
    let entry = page.walk_page.entries.iter().find(|entry| entry.cursor == *at);
    // a lagging replica may not show the row yet, or still show others
    let is_settled = SourceInstant(row.observed_at.at_ms).plus_ms(OVERLAP_MS) < page.walk_page.date;
    Ok(match entry.map(|entry| entry.id) {
        Some(id) => {
            let found = page.observations.into_iter().find(|found| found.key().id == id);
            found.map_or(RetryOutcome::StillUnreadable, |found| RetryOutcome::Readable {
                found: vec![found],
                absent: vec![],
            })
        }
        None if is_settled && page.unreadable.is_empty() => RetryOutcome::Moved,
        None => RetryOutcome::StillUnreadable,
    })
}

/// Converts an unreadable row to the form in which it is stored.
pub(crate) fn quarantine_row(row: &UnreadableRow) -> hw_store::UnreadableItem {
    hw_store::UnreadableItem {
        subject: row.subject.clone(),
        reason: row.reason.clone(),
        raw: row.raw.clone(),
        updated_at: row.updated_at.clone(),
        seen: row.observed_at,
    }
}
