//! Reading what changed: the walk from the top, then the gap, then what could not be read before.

use hw_rules::coverage::{Ask, Coverage, Place, Refused};
use hw_rules::page_guard::PageGuard;
use hw_rules::plan::LaneState;
use hw_rules::walk::Floor;
use hw_sources::github::threads;
use hw_sources::page::ItemsPage;
use hw_sources::trouble::Trouble;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::retry;
use crate::turn::{Followed, Room, Start, Tally};

/// One scan under way.
struct Scan<'a> {
    room: &'a Room<'a>,
    followed: &'a Followed,
    window: Floor,
    size: &'a mut u32,
    /// Whether a place was given up already: a source that refuses what it has just named is in trouble.
    has_forgotten: bool,
    /// How many pages this pull has read of the lane before.
    pages_before: u64,
    /// What the walk under way has shown.
    guard: PageGuard,
    tally: Tally,
}

/// Reads a lane until its walk and its gap have closed.
pub(crate) async fn scan(
    room: &Room<'_>,
    followed: &Followed,
    start: Start,
    state: &LaneState,
    size: &mut u32,
) -> Result<Tally, Stop> {
    let window = room.window(followed.surface());
    let tally = Tally::default();
    let pages_before = u64::from(start != Start::Anew);
    let guard = PageGuard::default();
    let mut scan =
        Scan { room, followed, window, size, has_forgotten: false, pages_before, guard, tally };
    let mut coverage = match start {
        Start::UnderWay(coverage) => *coverage,
        Start::Anew | Start::Roll => {
            let coverage = state.coverage.clone().open_turn(window);
            if coverage.has_unfinished_head() { scan.walk_head(coverage).await? } else { coverage }
        }
    };
    coverage = scan.walk_head(coverage).await?;
    scan.guard = PageGuard::default();
    while let Some(ask) = coverage.ask_gap() {
        coverage = scan.page(coverage, &ask).await?.open_turn(window);
    }
    let mut tally = scan.tally;
    retry::quarantined(room, followed, &mut tally).await?;
    Ok(tally)
}

impl Scan<'_> {
    async fn walk_head(&mut self, mut coverage: Coverage) -> Result<Coverage, Stop> {
        self.guard = PageGuard::default();
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
        if page.shape.next.is_some() {
            let (ids, places, total) = (page.ids(), page.places(), page.shape.total_count);
            self.guard.check_page(ids, places, total).map_err(|it| self.refused(it.into()))?;
        }
        let next = match step_over(coverage, ask, &mut page, self.window) {
            Ok(next) => next,
            Err(refused) => return self.refuse(refused, ask.place).await,
        };
        retry::alone(self.room, self.followed, &mut page).await?;
        self.keep(page, &next, ask)?;
        Ok(next)
    }

    async fn read(&mut self, ask: &Ask) -> Result<ItemsPage, Stop> {
        let (surface, home) = (self.followed.surface(), &self.followed.home);
        let after = ask.after.as_ref();
        self.room.tell_asking(self.followed, self.pages_before + self.tally.pages + 1);
        let query = |size| threads::page_query(surface, &home.node_id, size, after);
        let read =
            |answer: &_, number, _| threads::read_page(answer, surface, home.id, after, number);
        let patience = self.followed.patience(Patience::PAGE);
        match self.room.fetch.ask(patience, self.size, query, read).await {
            // one row that the server cannot serve must not stand before all that follow it
            Err(Stop::Trouble(Trouble::TooMuch(_))) if *self.size == 1 => {
                self.read_light(ask).await
            }
            other => other,
        }
    }

    /// The next row by its id and time alone.
    async fn read_light(&mut self, ask: &Ask) -> Result<ItemsPage, Stop> {
        let (surface, home) = (self.followed.surface(), &self.followed.home);
        let after = ask.after.as_ref();
        let query = |_| threads::light_query(surface, &home.node_id, 1, after);
        let read =
            |answer: &_, number, _| threads::read_light(answer, surface, home.id, after, number);
        let patience = self.followed.patience(Patience::PAGE);
        self.room.fetch.ask(patience, &mut 1, query, read).await
    }

    fn keep(&mut self, page: ItemsPage, next: &Coverage, ask: &Ask) -> Result<(), Stop> {
        let page = kept(self.followed, page, next, ask, *self.size);
        let ingested = self.room.store.ingest(self.room.lease, &page)?;
        self.tally.count(&ingested, page.observations.len());
        self.room.tell_kept(
            self.followed.surface(),
            self.tally.pages,
            page.observations.len(),
            &ingested,
        );
        Ok(())
    }

    /// A watermark from the future is taken back, and the lane read again from there.
    async fn refuse(&mut self, refused: Refused, place: Place) -> Result<Coverage, Stop> {
        let Refused::Future { date, .. } = refused else {
            return Err(self.refused(refused).into());
        };
        let lane = &self.followed.lane;
        self.room.distrust(lane, date)?;
        let state = self.room.store.lane_state(lane)?;
        self.again(state.coverage.open_turn(self.window), place).await
    }

    fn refused(&self, refused: Refused) -> Error {
        Error::Page { lane: self.followed.lane.to_string(), refused }
    }

    /// The page that is next by now, at the same of the lane's two places.
    async fn again(&mut self, coverage: Coverage, place: Place) -> Result<Coverage, Stop> {
        self.guard = PageGuard::default();
        let head = || coverage.ask_head(self.window);
        let ask = match place {
            Place::Head => head(),
            Place::Gap => coverage.ask_gap().unwrap_or_else(head),
        };
        Box::pin(self.page(coverage, &ask)).await
    }
}

/// What the lane is after this page, which loses the rows that lie below what is kept.
///
/// What is read alone afterwards had no place in the step, so none of it may be left out.
pub(crate) fn step_over(
    coverage: Coverage,
    ask: &Ask,
    page: &mut ItemsPage,
    window: Floor,
) -> Result<Coverage, Refused> {
    let floor = coverage.keeps_down_to(ask, window);
    let next = coverage.step(ask, &page.shape)?;
    page.observations.retain(|row| !floor.is_above(row.item.updated_at().mark()));
    Ok(next)
}

/// A page of a walk as the store keeps it, together with its step.
pub(crate) fn kept(
    followed: &Followed,
    page: ItemsPage,
    next: &Coverage,
    ask: &Ask,
    page_size: u32,
) -> IngestPage {
    let looked_at = next.looked_at(ask).map(|date| (followed.lane.clone(), date.0));
    IngestPage {
        observations: page.observations,
        coverage: Some(next.clone()),
        looked_at: looked_at.into_iter().collect(),
        quarantined: page.unreadable.iter().map(retry::quarantine).collect(),
        ..IngestPage::of(followed.lane.clone(), page_size)
    }
}
