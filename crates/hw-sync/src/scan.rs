//! Reading what changed: the walk from the top, then the gap, then what could not be read before.

use hw_rules::coverage::{Ask, Coverage, Place, Refused};
use hw_rules::item::Observation;
use hw_rules::plan::LaneState;
use hw_rules::walk::Floor;
use hw_sources::github::issues;
use hw_sources::page::ItemsPage;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::retry;
use crate::turn::{Followed, Room, Tally};

/// One scan under way.
struct Scan<'a> {
    room: &'a Room<'a>,
    followed: &'a Followed,
    window: Floor,
    size: u32,
    tally: Tally,
}

/// Reads a lane until its walk and its gap have closed.
pub(crate) async fn scan(
    room: &Room<'_>,
    followed: &Followed,
    state: &LaneState,
) -> Result<Tally, Stop> {
    let window = room.window();
    let mut scan = Scan { room, followed, window, size: state.page_size, tally: Tally::default() };
    let mut coverage = state.coverage.clone().open_turn(window);
    if coverage.has_unfinished_head() {
        coverage = scan.walk_head(coverage).await?;
    }
    coverage = scan.walk_head(coverage).await?;
    while let Some(ask) = coverage.ask_gap() {
        coverage = scan.page(coverage, &ask).await?.open_turn(window);
    }
    retry::quarantined(room, followed, &mut scan.size, &mut scan.tally).await?;
    Ok(scan.tally)
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
        let mut page = self.read(ask).await?;
        let next = match coverage.step(ask, &page.shape) {
            Ok(next) => next,
            Err(refused) => return self.refuse(refused, ask).await,
        };
        retry::alone(self.room, self.followed, &mut page, &mut self.size).await?;
        self.keep(page, &next)?;
        Ok(next)
    }

    async fn read(&mut self, ask: &Ask) -> Result<ItemsPage, Stop> {
        let Followed { repository_id, node_id, .. } = self.followed;
        let after = ask.after.as_ref();
        let query = |size| issues::page_query(node_id, size, after);
        let read = |answer: &_, number| issues::read_page(answer, *repository_id, after, number);
        self.room.fetch.ask(&mut self.size, query, read).await
    }

    fn keep(&mut self, page: ItemsPage, next: &Coverage) -> Result<(), Stop> {
        let window = self.window;
        let held_down_to = next.from.map_or(window, |from| from.min(window));
        let kept = |observation: &Observation| {
            !held_down_to.is_above(observation.item.updated_at().mark())
        };
        let observations: Vec<Observation> = page.observations.into_iter().filter(kept).collect();
        let seen = observations.len();
        let ingested = self.room.store.ingest(
            self.room.lease,
            &IngestPage {
                lane: self.followed.lane.clone(),
                observations,
                coverage: Some(next.clone()),
                checked_at_ms: page.shape.date.0,
                page_size: self.size,
                quarantined: page.unreadable.iter().map(retry::quarantine).collect(),
                cleared: Vec::new(),
            },
        )?;
        self.tally.count(&ingested, seen);
        Ok(())
    }

    /// A watermark from the future is taken back, and the lane read again from there.
    async fn refuse(&mut self, refused: Refused, ask: &Ask) -> Result<Coverage, Stop> {
        let lane = &self.followed.lane;
        let Refused::Future { date, .. } = refused else {
            return Err(Error::Page { lane: lane.to_string(), refused }.into());
        };
        self.room.distrust(lane, date)?;
        let state = self.room.store.lane_state(lane)?;
        let coverage = state.coverage.open_turn(self.window);
        let again = match ask.place {
            Place::Head => coverage.ask_head(self.window),
            Place::Gap => coverage.ask_gap().unwrap_or_else(|| coverage.ask_head(self.window)),
        };
        Box::pin(self.page(coverage, &again)).await
    }
}
