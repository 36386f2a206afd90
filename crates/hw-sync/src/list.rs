//! The repositories of the organisation: read whole, kept, and each followed.

use hw_rules::item::{Item, Repository};
use hw_rules::lane::Lane;
use hw_rules::walk::Cursor;
use hw_sources::github::{repositories, viewer};
use hw_sources::page::ItemsPage;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::retry;
use crate::turn::{Room, named};

/// Learns whom the token speaks for; limits are this user's from then on.
pub(crate) async fn introduce(room: &Room<'_>, host: &str) -> Result<String, Error> {
    let read = |answer: &_, _| viewer::read(answer);
    let asked = room.fetch.ask(&mut 1, |_| viewer::query(), read).await;
    let viewer = asked.map_err(|stop| named(stop, &Lane::repositories(host, "viewer")))?;
    room.fetch.speak_for(format!("{host}/{}", viewer.id));
    Ok(viewer.login)
}

/// How often a page with unreadable rows is asked for again before it is taken as it is.
const TRIES: u32 = 3;

/// Reads the whole listing and keeps it; returns what it showed.
pub(crate) async fn list(
    room: &Room<'_>,
    host: &str,
    organization: &str,
) -> Result<Vec<Repository>, Error> {
    let lane = Lane::repositories(host, organization);
    let mut found = Vec::new();
    let mut size = room.store.lane_state(&lane)?.page_size;
    let mut after: Option<Cursor> = None;
    loop {
        let asked = page(room, organization, &mut size, after.as_ref()).await;
        let page = asked.map_err(|stop| named(stop, &lane))?;
        found.extend(page.observations.iter().filter_map(|observation| match &observation.item {
            Item::Repository(repository) => Some(repository.clone()),
            Item::Issue(_) => None,
        }));
        after = page.shape.next.clone();
        keep(room, &lane, page, size)?;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// One page, every row of it readable if asking again can make it so.
async fn page(
    room: &Room<'_>,
    organization: &str,
    size: &mut u32,
    after: Option<&Cursor>,
) -> Result<ItemsPage, Stop> {
    let mut tries = 0;
    loop {
        let query = |first| repositories::query(organization, first, after);
        let read = |answer: &_, number| repositories::read(answer, after, number);
        let page = room.fetch.ask(size, query, read).await?;
        tries += 1;
        if page.unreadable.is_empty() || TRIES <= tries {
            return Ok(page);
        }
    }
}

/// What is quarantined here is asked for anew with the next listing, which is read whole each time; so
/// what was known only by its place is let go as soon as a page is readable.
fn keep(room: &Room<'_>, lane: &Lane, page: ItemsPage, page_size: u32) -> Result<(), Error> {
    let name = lane.to_string();
    let held = room.store.quarantined()?.into_iter().filter(|held| held.lane == name);
    let cleared = held.map(|held| held.subject).collect();
    room.store.ingest(
        room.lease,
        &IngestPage {
            lane: lane.clone(),
            checked_at_ms: page.shape.date.0,
            quarantined: page.unreadable.iter().map(retry::quarantine).collect(),
            observations: page.observations,
            coverage: None,
            page_size,
            cleared,
        },
    )?;
    Ok(())
}
