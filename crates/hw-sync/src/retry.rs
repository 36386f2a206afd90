//! What could not be read is asked for again alone; what still cannot is quarantined and asked for later.

use hw_rules::item::Observation;
use hw_sources::github::issues;
use hw_sources::page::{ItemsPage, Subject, Unreadable};
use hw_sources::trouble::Trouble;
use hw_store::IngestPage;

use crate::fetch::Stop;
use crate::turn::{Followed, Room, Tally};

/// How many of the quarantined are asked for again in one turn.
const AT_ONCE: usize = 20;

/// What asking for one row again brought.
enum Again {
    Readable(Option<Box<Observation>>),
    Still(Unreadable),
}

/// Asks for each unreadable row of a page again; what can be read now joins the page.
pub(crate) async fn alone(
    room: &Room<'_>,
    followed: &Followed,
    page: &mut ItemsPage,
    size: &mut u32,
) -> Result<(), Stop> {
    let mut still = Vec::new();
    for unreadable in std::mem::take(&mut page.unreadable) {
        match ask(room, followed, unreadable, size).await? {
            Again::Readable(found) => page.observations.extend(found.map(|found| *found)),
            Again::Still(unreadable) => still.push(unreadable),
        }
    }
    page.unreadable = still;
    Ok(())
}

/// Asks again for what earlier turns could not read.
pub(crate) async fn quarantined(
    room: &Room<'_>,
    followed: &Followed,
    size: &mut u32,
    tally: &mut Tally,
) -> Result<(), Stop> {
    let lane = followed.lane.to_string();
    let held = room.store.quarantined()?.into_iter().filter(|held| held.lane == lane);
    for held in held.take(AT_ONCE) {
        let subject = Subject::parse(&held.subject);
        let unreadable =
            Unreadable { subject, reason: held.reason, raw: held.raw, seen: held.seen };
        if let Again::Readable(found) = ask(room, followed, unreadable, size).await? {
            let observations: Vec<Observation> = found.into_iter().map(|found| *found).collect();
            let seen = observations.len();
            let ingested = room.store.ingest(
                room.lease,
                &IngestPage {
                    lane: followed.lane.clone(),
                    observations,
                    coverage: None,
                    checked_at_ms: room.fetch.last_date().map_or(0, |date| date.0),
                    page_size: *size,
                    quarantined: Vec::new(),
                    cleared: vec![held.subject],
                },
            )?;
            tally.count(&ingested, seen);
        }
    }
    Ok(())
}

/// One row again, by its id or by its place. Trouble with it alone is no trouble of the lane.
async fn ask(
    room: &Room<'_>,
    followed: &Followed,
    unreadable: Unreadable,
    size: &mut u32,
) -> Result<Again, Stop> {
    let answer = match &unreadable.subject {
        Subject::Node(id) => by_id(room, followed, id, size).await,
        Subject::After(cursor) => at_place(room, followed, cursor.as_ref()).await,
    };
    match answer {
        Ok(again) => Ok(again),
        Err(Stop::Trouble(Trouble::Denied(reason))) => Err(Stop::Trouble(Trouble::Denied(reason))),
        Err(Stop::Trouble(_)) => Ok(Again::Still(unreadable)),
        Err(stop @ Stop::Error(_)) => Err(stop),
    }
}

async fn by_id(
    room: &Room<'_>,
    followed: &Followed,
    id: &str,
    size: &mut u32,
) -> Result<Again, Stop> {
    let ids = [id.to_owned()];
    let query = |_| issues::look_query(&followed.node_id, &ids);
    let read = |answer: &_, number| issues::read_look(answer, &ids, followed.repository_id, number);
    let look = room.fetch.ask(size, query, read).await?;
    Ok(match look.unreadable.into_iter().next() {
        Some(unreadable) => Again::Still(unreadable),
        None => Again::Readable(look.observations.into_iter().next().map(Box::new)),
    })
}

async fn at_place(
    room: &Room<'_>,
    followed: &Followed,
    after: Option<&hw_rules::walk::Cursor>,
) -> Result<Again, Stop> {
    let query = |_| issues::page_query(&followed.node_id, 1, after);
    let read =
        |answer: &_, number| issues::read_page(answer, followed.repository_id, after, number);
    let page = room.fetch.ask(&mut 1, query, read).await?;
    Ok(match page.unreadable.into_iter().next() {
        Some(unreadable) => Again::Still(unreadable),
        None => Again::Readable(page.observations.into_iter().next().map(Box::new)),
    })
}

/// An unreadable row as the store keeps it.
pub(crate) fn quarantine(unreadable: &Unreadable) -> hw_store::Unreadable {
    hw_store::Unreadable {
        subject: unreadable.subject.to_string(),
        reason: unreadable.reason.clone(),
        raw: unreadable.raw.clone(),
        seen: unreadable.seen,
    }
}
