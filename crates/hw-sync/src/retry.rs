//! What could not be read is asked for again alone; what still cannot is quarantined and asked for later.

use hw_rules::OVERLAP_MS;
use hw_rules::item::Observation;
use hw_rules::lane::Reading;
use hw_rules::time::Mark;
use hw_rules::walk::Cursor;
use hw_sources::github::threads;
use hw_sources::page::{ItemsPage, Subject, Unreadable};
use hw_sources::trouble::Trouble;
use hw_store::IngestPage;

use crate::fetch::Stop;
use crate::look;
use crate::patience::Patience;
use crate::turn::{Followed, Room, Tally};

/// How many rows of one page are asked for again at once; the others wait in quarantine.
const OF_A_PAGE: usize = 10;
/// So often a row that is not found has its lane swept each time.
const OFTEN: u64 = 16;
/// How many of the quarantined are asked for again in one turn.
const OF_QUARANTINE: u64 = 20;

/// What asking for one row again brought.
enum Again {
    Readable(Box<Observation>),
    /// Something else stands at its place by now: it changed, and comes with the head of the lane, or it
    /// is gone, and the sweep will know. Or it belongs to another repository.
    Moved,
    /// It is not found by its id: gone, or a fault. The sweep knows the difference.
    Absent,
    Still,
}

/// Asks for unreadable rows of a page again; what can be read now joins the page.
pub(crate) async fn alone(
    room: &Room<'_>,
    followed: &Followed,
    page: &mut ItemsPage,
) -> Result<(), Stop> {
    let mut rows = std::mem::take(&mut page.unreadable);
    let later = rows.split_off(rows.len().min(OF_A_PAGE));
    for unreadable in rows {
        match ask(room, followed, &unreadable).await? {
            Again::Readable(found) => page.observations.push(*found),
            Again::Moved | Again::Absent | Again::Still => page.unreadable.push(unreadable),
        }
    }
    page.unreadable.extend(later);
    Ok(())
}

/// Asks again for what earlier turns could not read, the least tried first.
pub(crate) async fn quarantined(
    room: &Room<'_>,
    followed: &Followed,
    tally: &mut Tally,
) -> Result<(), Stop> {
    for held in room.store.quarantined_of(&followed.lane, OF_QUARANTINE)? {
        let unreadable = Unreadable {
            subject: Subject::parse(&held.subject),
            reason: held.reason,
            raw: held.raw,
            updated_at: held.updated_at,
            seen: held.seen,
        };
        let mut page = nothing_of(room, followed)?;
        match ask(room, followed, &unreadable).await? {
            Again::Readable(found) => {
                page.observations.push(*found);
                page.cleared.push(held.subject);
            }
            Again::Moved => page.cleared.push(held.subject),
            Again::Absent => {
                // what the roll goes on to list, and nobody finds, is asked about less and less
                if held.tries < OFTEN || held.tries.is_power_of_two() {
                    // a roll that is under way may list it still
                    room.store.restart_sweep(room.lease, &followed.lane)?;
                    room.store.request_sweep(&followed.lane, room.fetch.clock().now_ms())?;
                }
                page.quarantined.push(quarantine(&unreadable));
            }
            Again::Still => page.quarantined.push(quarantine(&unreadable)),
        }
        let ingested = room.store.ingest(room.lease, &page)?;
        tally.count(&ingested, page.observations.len());
        room.tell_kept(followed.surface(), tally.pages, page.observations.len(), &ingested);
    }
    Ok(())
}

/// A page of this lane that says nothing and moves nothing.
fn nothing_of(room: &Room<'_>, followed: &Followed) -> Result<IngestPage, Stop> {
    let lane = followed.lane.clone();
    let page_size = room.store.lane_state(&lane)?.page_size;
    Ok(IngestPage::of(lane, page_size))
}

/// One row again, by its id or by its place. Trouble with it alone is no trouble of the lane.
async fn ask(room: &Room<'_>, followed: &Followed, row: &Unreadable) -> Result<Again, Stop> {
    let is_walked = followed.surface().reading() == Reading::Walk;
    let answer = match &row.subject {
        Subject::Place { .. } if !is_walked => return Ok(Again::Still),
        Subject::Node(id) => by_id(room, followed, id).await,
        Subject::Place { at, after } => at_place(room, followed, at, after.as_ref(), row).await,
    };
    match answer {
        Ok(Again::Readable(found)) if is_older(&found, row) => Ok(Again::Still),
        Err(Stop::Trouble(trouble)) if !matches!(trouble, Trouble::Denied(_)) => Ok(Again::Still),
        other => other,
    }
}

/// Whether a lagging replica answered with what the row was before.
fn is_older(found: &Observation, row: &Unreadable) -> bool {
    row.updated_at.as_ref().is_some_and(|known| found.item.updated_at() < known)
}

async fn by_id(room: &Room<'_>, followed: &Followed, id: &str) -> Result<Again, Stop> {
    let ids = [id.to_owned()];
    let (surface, home) = (followed.surface(), &followed.home);
    let query = |_| look::query(surface, home, &ids, &[]);
    let read = |answer: &_, number, _| look::read(answer, surface, &ids, home, number);
    let look = room.fetch.ask(Patience::ROW, &mut 1, query, read).await?;
    if !look.elsewhere.is_empty() {
        look::keep_elsewhere(room, followed, look.elsewhere)?;
        return Ok(Again::Moved);
    }
    Ok(match look.observations.into_iter().next() {
        Some(found) => Again::Readable(Box::new(found)),
        None if look.absent.is_empty() => Again::Still,
        None => Again::Absent,
    })
}

/// How many rows are read to find one by its place: others may have appeared before it.
const NEIGHBOURS: u32 = 10;

async fn at_place(
    room: &Room<'_>,
    followed: &Followed,
    at: &Cursor,
    after: Option<&Cursor>,
    row: &Unreadable,
) -> Result<Again, Stop> {
    let (surface, home) = (followed.surface(), &followed.home);
    let query = |size| threads::page_query(surface, &home.node_id, size, after);
    let read = |answer: &_, number, _| threads::read_page(answer, surface, home.id, after, number);
    let page = room.fetch.ask(Patience::ROW, &mut { NEIGHBOURS }, query, read).await?;
    let stands_there = page.shape.entries.iter().find(|entry| entry.cursor == *at);
    // a replica that lags may not show it yet, or show others still
    let is_settled = Mark(row.seen.at_ms).plus(OVERLAP_MS) < page.shape.date;
    Ok(match stands_there.map(|entry| entry.id) {
        Some(id) => {
            let found = page.observations.into_iter().find(|found| found.key().id == id);
            found.map_or(Again::Still, |found| Again::Readable(Box::new(found)))
        }
        None if is_settled && page.unreadable.is_empty() => Again::Moved,
        None => Again::Still,
    })
}

/// An unreadable row as the store keeps it.
pub(crate) fn quarantine(row: &Unreadable) -> hw_store::Unreadable {
    hw_store::Unreadable {
        subject: row.subject.to_string(),
        reason: row.reason.clone(),
        raw: row.raw.clone(),
        updated_at: row.updated_at.clone(),
        seen: row.seen,
    }
}
