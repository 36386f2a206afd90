//! Reading what changed: the walk from the top, then the gap, then what could not be read before.

use hw_rules::coverage::{Ask, Coverage, Place, Refused};
use hw_rules::plan::LaneState;
use hw_rules::walk::Floor;
use hw_sources::github::issues;
use hw_sources::page::ItemsPage;
use hw_sources::trouble::Trouble;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::retry;
use crate::turn::{Followed, Room, Tally};

/// One scan under way.
struct Scan<'a> {
    room: &'a Room<'a>,
    followed: &'a Followed,
    window: Floor,
    size: &'a mut u32,
    /// Whether a place was given up already: a source that refuses what it has just named is in trouble.
    has_forgotten: bool,
    tally: Tally,
}

/// Reads a lane until its walk and its gap have closed.
pub(crate) async fn scan(
    room: &Room<'_>,
    followed: &Followed,
    state: &LaneState,
    size: &mut u32,
) -> Result<Tally, Stop> {
    let window = room.window();
    let tally = Tally::default();
    let mut scan = Scan { room, followed, window, size, has_forgotten: false, tally };
    let mut coverage = state.coverage.clone().open_turn(window);
    if coverage.has_unfinished_head() {
        coverage = scan.walk_head(coverage).await?;
    }
    coverage = scan.walk_head(coverage).await?;
    while let Some(ask) = coverage.ask_gap() {
        coverage = scan.page(coverage, &ask).await?.open_turn(window);
    }
    let mut tally = scan.tally;
    retry::quarantined(room, followed, &mut tally).await?;
    Ok(tally)
}

impl Scan<'_> {
    async fn walk_head(&mut self, mut coverage: Coverage) -> Result<Coverage, Stop> {
        loop {
            let ask = coverage.ask_head(self.window);
            coverage = self.page(coverage, &ask).await?;
            if !coverage.has_unfinished_head() {
                return Ok(coverage.open_turn(self.window));
            }
        }
    }

    /// One page: read, stepped over, and kept together with the step.
    async fn page(&mut self, coverage: Coverage, ask: &Ask) -> Result<Coverage, Stop> {
        let mut page = match self.read(ask).await {
            Err(Stop::Trouble(Trouble::BadCursor(_)))
                if ask.after.is_some() && !self.has_forgotten =>
            {
                self.has_forgotten = true;
                tracing::warn!(lane = %self.followed.lane, "the source forgot our place: from the top");
                return self.again(coverage.forget_place(ask.place), ask.place).await;
            }
            other => other?,
        };
        let floor = coverage.keeps_down_to(ask, self.window);
        let next = match coverage.step(ask, &page.shape) {
            Ok(next) => next,
            Err(refused) => return self.refuse(refused, ask.place).await,
        };
        page.observations.retain(|row| !floor.is_above(row.item.updated_at().mark()));
        // what is read alone had no place in the step, so none of it may be left out
        retry::alone(self.room, self.followed, &mut page).await?;
        self.keep(page, &next, ask)?;
        Ok(next)
    }

    async fn read(&mut self, ask: &Ask) -> Result<ItemsPage, Stop> {
        let Followed { repository_id, node_id, .. } = self.followed;
        let after = ask.after.as_ref();
        let query = |size| issues::page_query(node_id, size, after);
        let read = |answer: &_, number, _| issues::read_page(answer, *repository_id, after, number);
        match self.room.fetch.ask(Patience::PAGE, self.size, query, read).await {
            // one row that the server cannot serve must not stand before all that follow it
            Err(Stop::Trouble(Trouble::TooMuch(_))) if *self.size == 1 => {
                self.read_light(ask).await
            }
            other => other,
        }
    }

    /// The next row by its id and time alone.
    async fn read_light(&mut self, ask: &Ask) -> Result<ItemsPage, Stop> {
        let Followed { repository_id, node_id, .. } = self.followed;
        let after = ask.after.as_ref();
        let query = |_| issues::light_query(node_id, 1, after);
        let read =
            |answer: &_, number, _| issues::read_light(answer, *repository_id, after, number);
        self.room.fetch.ask(Patience::PAGE, &mut 1, query, read).await
    }

    fn keep(&mut self, page: ItemsPage, next: &Coverage, ask: &Ask) -> Result<(), Stop> {
        let seen = page.observations.len();
        let page = IngestPage {
            lane: self.followed.lane.clone(),
            observations: page.observations,
            coverage: Some(next.clone()),
            checked_at_ms: next.looked_at(ask).map(|date| date.0),
            page_size: *self.size,
            quarantined: page.unreadable.iter().map(retry::quarantine).collect(),
            cleared: Vec::new(),
        };
        let ingested = self.room.store.ingest(self.room.lease, &page)?;
        self.tally.count(&ingested, seen);
        Ok(())
    }

    /// A watermark from the future is taken back, and the lane read again from there.
    async fn refuse(&mut self, refused: Refused, place: Place) -> Result<Coverage, Stop> {
        let lane = &self.followed.lane;
        let Refused::Future { date, .. } = refused else {
            return Err(Error::Page { lane: lane.to_string(), refused }.into());
        };
        self.room.distrust(lane, date)?;
        let state = self.room.store.lane_state(lane)?;
        self.again(state.coverage.open_turn(self.window), place).await
    }

    /// The page that is next by now, at the same of the lane's two places.
    async fn again(&mut self, coverage: Coverage, place: Place) -> Result<Coverage, Stop> {
        let head = || coverage.ask_head(self.window);
        let ask = match place {
            Place::Head => head(),
            Place::Gap => coverage.ask_gap().unwrap_or_else(head),
        };
        Box::pin(self.page(coverage, &ask)).await
    }
}
