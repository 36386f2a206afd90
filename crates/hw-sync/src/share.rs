//! First pages that share a request: many small repositories, or many lanes that moved a little.

use std::sync::atomic::Ordering;

use hw_rules::coverage::Coverage;
use hw_rules::plan::LaneState;
use hw_rules::probe;
use hw_sources::github::threads::{self, FirstPage};
use hw_sources::page::ItemsPage;
use hw_sources::trouble::Trouble;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::retry;
use crate::scan::{kept, step_over};
use crate::turn::{Followed, Room, Start, Tally};

/// A lane whose first page is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) followed: Followed,
    pub(crate) state: LaneState,
    pub(crate) rows: u32,
}

/// What came of a lane.
pub(crate) enum Shared {
    /// Its walk reached its stop.
    Closed(Tally),
    /// There is more to read, by a turn of its own.
    Left(Start, Tally),
}

/// A lane after its first page.
struct Stepped {
    page: IngestPage,
    next: Coverage,
}

/// Splits lanes into groups whose first pages fit into one request each.
pub(crate) fn groups(room: &Room<'_>, mut lanes: Vec<Wanted>) -> Vec<Vec<Wanted>> {
    let mut groups = Vec::new();
    while !lanes.is_empty() {
        let most = room.share.load(Ordering::Relaxed);
        let count = probe::fitting(lanes.iter().map(|wanted| wanted.rows), most);
        let rest = lanes.split_off(count.min(lanes.len()));
        groups.push(std::mem::replace(&mut lanes, rest));
    }
    groups
}

/// Reads and keeps the first pages of these lanes, in as few requests as the server can serve.
pub(crate) async fn first_pages(room: &Room<'_>, lanes: &[Wanted]) -> Result<Vec<Shared>, Error> {
    let mut came = Vec::with_capacity(lanes.len());
    while came.len() < lanes.len() {
        let rest = &lanes[came.len()..];
        match read(room, rest).await {
            Ok(pages) => came.extend(keep(room, rest, pages).await?),
            // whatever ails one of them, each alone has a turn in which it is dealt with
            Err(Stop::Trouble(trouble)) if !matches!(trouble, Trouble::Denied(_)) => {
                came.extend(rest.iter().map(|_| Shared::Left(Start::Anew, Tally::default())));
            }
            Err(Stop::Trouble(trouble)) => {
                let lane = rest.first().map_or_else(String::new, |wanted| wanted.followed.scope());
                return Err(Error::Source { lane, trouble });
            }
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    Ok(came)
}

/// The first pages of as many of these lanes as fit, the first of them at least.
async fn read(room: &Room<'_>, lanes: &[Wanted]) -> Result<Vec<Result<ItemsPage, Trouble>>, Stop> {
    let pages = |size: u32| -> Vec<FirstPage> {
        let count = probe::fitting(lanes.iter().map(|wanted| wanted.rows), size);
        lanes.iter().take(count).map(|wanted| wanted.page(size)).collect()
    };
    let query = |size| threads::first_pages_query(&pages(size));
    let read =
        |answer: &_, number, size| Ok(threads::read_first_pages(answer, &pages(size), number));
    let mut size = room.share.load(Ordering::Relaxed);
    let first = probe::fitting(lanes.iter().map(|wanted| wanted.rows), size);
    lanes.iter().take(first).for_each(|wanted| room.tell_asking(&wanted.followed, 1));
    let asked = room.fetch.ask(Patience::PAGE, &mut size, query, read).await;
    room.share.store(size, Ordering::Relaxed);
    asked
}

impl Wanted {
    fn page(&self, most: u32) -> FirstPage {
        FirstPage {
            surface: self.followed.surface(),
            repository_id: self.followed.home.id,
            node_id: self.followed.home.node_id.clone(),
            rows: self.rows.min(most),
        }
    }
}

/// Keeps the pages that came with one answer in one transaction.
async fn keep(
    room: &Room<'_>,
    lanes: &[Wanted],
    pages: Vec<Result<ItemsPage, Trouble>>,
) -> Result<Vec<Shared>, Error> {
    let mut kept = Vec::new();
    let mut nexts = Vec::with_capacity(pages.len());
    for (wanted, page) in lanes.iter().zip(pages) {
        let stepped = match page {
            Ok(page) => step(room, wanted, page).await?,
            Err(_) => None,
        };
        nexts.push(stepped.map(|Stepped { page, next }| {
            kept.push(page);
            next
        }));
    }
    let ingested = room.store.ingest_all(room.lease, &kept)?;
    let mut of_pages = kept.iter().zip(&ingested);
    let shared = nexts.into_iter().map(|next| {
        let came = next.and_then(|next| Some((next, of_pages.next()?)));
        let Some((next, (page, ingested))) = came else {
            return Shared::Left(Start::Anew, Tally::default());
        };
        let mut tally = Tally::default();
        tally.count(ingested, page.observations.len());
        room.tell_kept(page.lane.surface, 1, page.observations.len(), ingested);
        if next.has_unfinished_head() {
            Shared::Left(Start::UnderWay(Box::new(next)), tally)
        } else {
            Shared::Closed(tally)
        }
    });
    Ok(shared.collect())
}

/// The step over a first page; none when the lane's own turn has to deal with it.
async fn step(
    room: &Room<'_>,
    wanted: &Wanted,
    mut page: ItemsPage,
) -> Result<Option<Stepped>, Error> {
    let Wanted { followed, state, .. } = wanted;
    let window = room.window(followed.surface());
    let coverage = state.coverage.clone().open_turn(window);
    let ask = coverage.ask_head(window);
    let Ok(next) = step_over(coverage, &ask, &mut page, window) else { return Ok(None) };
    match retry::alone(room, followed, &mut page).await {
        Ok(()) => {
            let page = kept(followed, page, &next, &ask, state.page_size);
            Ok(Some(Stepped { page, next }))
        }
        Err(Stop::Trouble(_)) => Ok(None),
        Err(Stop::Error(error)) => Err(error),
    }
}
