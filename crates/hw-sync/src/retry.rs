//! What could not be read is asked for again alone; what still cannot is quarantined and asked for later.

use std::collections::BTreeSet;

use hw_rules::OVERLAP_MS;
use hw_rules::item::{Key, Observation};
use hw_rules::lane::Reading;
use hw_rules::plausible::Impossible;
use hw_rules::time::Mark;
use hw_rules::walk::Cursor;
use hw_sources::github::threads;
use hw_sources::page::{ItemsPage, Subject, Unreadable};
use hw_sources::trouble::Trouble;
use hw_store::{IngestPage, Quarantined};

use crate::Error;
use crate::fetch::Stop;
use crate::look;
use crate::patience::Patience;
use crate::turn::{Followed, Room, Tally};

/// How many rows of one page are asked for again at once; the others wait in quarantine.
const OF_A_PAGE: usize = 10;
/// So often a row that is not found has its lane swept each time.
const OFTEN: u64 = 16;
/// How many of the quarantined are asked for again in one turn.
const OF_QUARANTINE: usize = 20;
/// As many ids as GitHub takes in one list.
const WITH_TWINS: u64 = 100;

/// What asking for one row again brought.
enum Again {
    /// It can be read, and so can others that were asked for with it; some may not be there.
    Readable {
        found: Vec<Observation>,
        absent: Vec<String>,
    },
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
    let (impossible, mut rows): (Vec<_>, Vec<_>) =
        std::mem::take(&mut page.unreadable).into_iter().partition(Unreadable::is_impossible);
    let later = rows.split_off(rows.len().min(OF_A_PAGE));
    for unreadable in rows {
        match ask(room, followed, &unreadable, &[]).await? {
            Again::Readable { found, .. } => page.observations.extend(found),
            Again::Moved | Again::Absent | Again::Still => page.unreadable.push(unreadable),
        }
    }
    page.unreadable.extend(later);
    page.unreadable.extend(impossible);
    Ok(())
}

/// Asks again for what earlier turns could not read, the least tried first.
pub(crate) async fn quarantined(
    room: &Room<'_>,
    followed: &Followed,
    tally: &mut Tally,
) -> Result<(), Stop> {
    let waiting = room.store.quarantined_of(&followed.lane, WITH_TWINS)?;
    ask_again(room, followed, &waiting, &waiting, tally).await
}

/// Asks again for what a sweep met under the id of another node, together with that node: a second look shows
/// whose id it is.
pub(crate) async fn taken_ids(
    room: &Room<'_>,
    followed: &Followed,
    tally: &mut Tally,
) -> Result<(), Stop> {
    let waiting = room.store.quarantined_of(&followed.lane, WITH_TWINS)?;
    let mut taken = waiting.clone();
    taken.retain(|held| Impossible::parse_taken_id(&held.reason).is_some());
    ask_again(room, followed, &taken, &waiting, tally).await
}

async fn ask_again(
    room: &Room<'_>,
    followed: &Followed,
    chosen: &[Quarantined],
    waiting: &[Quarantined],
    tally: &mut Tally,
) -> Result<(), Stop> {
    let mut read = BTreeSet::new();
    for held in chosen.iter().take(OF_QUARANTINE).cloned() {
        if read.contains(&held.subject) {
            continue;
        }
        let twins = twins(room, followed, &held, waiting)?;
        let unreadable = Unreadable {
            subject: Subject::parse(&held.subject),
            reason: held.reason,
            raw: held.raw,
            updated_at: held.updated_at,
            seen: held.seen,
        };
        let mut page = nothing_of(room, followed)?;
        match ask(room, followed, &unreadable, &twins).await? {
            Again::Readable { found, absent } => {
                read.extend(found.iter().map(|found| found.item.node_id().to_owned()));
                page.observations = found;
                page.absent_nodes = absent;
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

/// The others that claim the id of this one: those that wait for the same reason, or the one that is stored.
fn twins(
    room: &Room<'_>,
    followed: &Followed,
    held: &Quarantined,
    waiting: &[Quarantined],
) -> Result<Vec<String>, Error> {
    if let Some(id) = Impossible::parse_taken_id(&held.reason) {
        let key = Key { kind: followed.surface().kind(), id };
        return Ok(room.store.node_id(&followed.lane.host, key)?.into_iter().collect());
    }
    if !Impossible::is_shared_id(&held.reason) {
        return Ok(Vec::new());
    }
    let twins = waiting.iter().filter(|it| it.reason == held.reason && it.subject != held.subject);
    Ok(twins.map(|it| it.subject.clone()).collect())
}

/// A page of this lane that says nothing and moves nothing.
fn nothing_of(room: &Room<'_>, followed: &Followed) -> Result<IngestPage, Stop> {
    let lane = followed.lane.clone();
    let page_size = room.store.lane_state(&lane)?.page_size;
    Ok(IngestPage::of(lane, page_size))
}

/// One row again, by its id or by its place. Trouble with it alone is no trouble of the lane.
///
/// Twins are looked at in the same request: alone, none of them shows that it shares its id.
async fn ask(
    room: &Room<'_>,
    followed: &Followed,
    row: &Unreadable,
    twins: &[String],
) -> Result<Again, Stop> {
    let is_walked = followed.surface().reading() == Reading::Walk;
    let answer = match &row.subject {
        Subject::Place { .. } if !is_walked => return Ok(Again::Still),
        Subject::Node(id) => by_id(room, followed, id, twins).await,
        Subject::Place { at, after } => at_place(room, followed, at, after.as_ref(), row).await,
    };
    match answer {
        Ok(Again::Readable { found, .. }) if found.iter().any(|it| is_older(it, row)) => {
            Ok(Again::Still)
        }
        Err(Stop::Trouble(trouble)) if !matches!(trouble, Trouble::Denied(_)) => Ok(Again::Still),
        other => other,
    }
}

/// Whether a lagging replica answered with what the row was before.
fn is_older(found: &Observation, row: &Unreadable) -> bool {
    let is_it = row.subject == Subject::Node(found.item.node_id().to_owned());
    let is_place = matches!(row.subject, Subject::Place { .. });
    let is_older = |known| found.item.updated_at() < known;
    (is_it || is_place) && row.updated_at.as_ref().is_some_and(is_older)
}

async fn by_id(
    room: &Room<'_>,
    followed: &Followed,
    id: &str,
    twins: &[String],
) -> Result<Again, Stop> {
    let ids: Vec<String> = [id.to_owned()].into_iter().chain(twins.iter().cloned()).collect();
    let (surface, home) = (followed.surface(), &followed.home);
    let query = |_| look::query(surface, home, &ids, &[]);
    let read = |answer: &_, number, _| look::read(answer, surface, &ids, home, number);
    let look = room.fetch.ask(Patience::ROW, &mut 1, query, read).await?;
    let is_it = |found: &Observation| twins.is_empty() || found.item.node_id() == id;
    let elsewhere: Vec<_> = look.elsewhere.into_iter().filter(is_it).collect();
    if !elsewhere.is_empty() {
        look::keep_elsewhere(room, followed, elsewhere)?;
        return Ok(Again::Moved);
    }
    if look.observations.iter().any(is_it) {
        return Ok(Again::Readable { found: look.observations, absent: look.absent });
    }
    Ok(if look.absent.iter().any(|it| it == id) { Again::Absent } else { Again::Still })
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
            found.map_or(Again::Still, |found| Again::Readable {
                found: vec![found],
                absent: vec![],
            })
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
