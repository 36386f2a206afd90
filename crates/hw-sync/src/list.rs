//! The repositories of the organisation: read whole, kept, and each followed.

use hw_rules::item::{Item, Repository};
use hw_rules::lane::Lane;
use hw_rules::walk::Cursor;
use hw_sources::github::{repositories, viewer};
use hw_sources::page::ItemsPage;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::retry;
use crate::turn::{Room, named};

/// Learns whom the token speaks for; limits are this user's from then on.
pub(crate) async fn introduce(room: &Room<'_>, host: &str) -> Result<String, Error> {
    let read = |answer: &_, _, _| viewer::read(answer);
    let asked = room.fetch.ask(Patience::PAGE, &mut 1, |_| viewer::query(), read).await;
    let viewer = asked.map_err(|stop| match stop {
        Stop::Trouble(trouble) => Error::Source { lane: host.to_owned(), trouble },
        Stop::Error(error) => error,
    })?;
    room.fetch.speak_for(format!("{host}/{}", viewer.id));
    Ok(viewer.login)
}

/// How often a page with unreadable rows is asked for again before it is taken as it is.
const TRIES: u32 = 3;

/// What a listing showed.
#[derive(Default)]
pub(crate) struct Listed {
    pub repositories: Vec<Repository>,
    /// Rows that could not be read: who is behind them is not known, or known from earlier.
    pub unreadable: Vec<String>,
}

/// Reads the whole listing and keeps it.
pub(crate) async fn list(room: &Room<'_>, host: &str, organization: &str) -> Result<Listed, Error> {
    let lane = Lane::repositories(host, organization);
    let mut listed = Listed::default();
    let mut size = room.store.lane_state(&lane)?.page_size;
    let mut after: Option<Cursor> = None;
    let mut began = None;
    loop {
        let asked = page(room, organization, &mut size, after.as_ref()).await;
        let page = asked.map_err(|stop| named(stop, &lane))?;
        listed.take_in(&page);
        let next = page.shape.next.clone();
        if next.is_some() && next == after {
            let reason = "the listing turns in a circle".to_owned();
            return Err(Error::Sweep { lane: lane.to_string(), reason });
        }
        after = next;
        let began = *began.get_or_insert(page.shape.date.0);
        let checked_at_ms = after.is_none().then_some(began);
        let cleared = if after.is_none() { listed.no_longer_met(room, &lane)? } else { Vec::new() };
        room.store.ingest(
            room.lease,
            &IngestPage {
                lane: lane.clone(),
                quarantined: page.unreadable.iter().map(retry::quarantine).collect(),
                observations: page.observations,
                coverage: None,
                checked_at_ms,
                page_size: size,
                cleared,
            },
        )?;
        if after.is_none() {
            return Ok(listed);
        }
    }
}

impl Listed {
    fn take_in(&mut self, page: &ItemsPage) {
        let shown = page.observations.iter().filter_map(|observation| match &observation.item {
            Item::Repository(repository) => Some(repository.clone()),
            Item::Issue(_) => None,
        });
        self.repositories.extend(shown);
        self.unreadable.extend(page.unreadable.iter().map(|row| row.subject.to_string()));
    }

    /// What is in quarantine and was not met in this listing: it was read whole, so it is not there.
    fn no_longer_met(&self, room: &Room<'_>, lane: &Lane) -> Result<Vec<String>, Error> {
        let held = room.store.quarantined_of(lane, u64::from(u32::MAX))?.into_iter();
        let subjects = held.map(|held| held.subject);
        Ok(subjects.filter(|subject| !self.unreadable.contains(subject)).collect())
    }

    /// Adds those that could not be read this time and are known from earlier.
    pub(crate) fn remember(&mut self, known: Vec<Repository>) {
        let unread = known.into_iter().filter(|known| self.unreadable.contains(&known.node_id));
        self.repositories.extend(unread);
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
        let read = |answer: &_, number, _| repositories::read(answer, after, number);
        let page = room.fetch.ask(Patience::PAGE, size, query, read).await?;
        tries += 1;
        if page.unreadable.is_empty() || TRIES <= tries {
            return Ok(page);
        }
    }
}
