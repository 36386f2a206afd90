//! The roll: who is there, page by page, in the way of the lane's surface.

use hw_rules::lane::Reading;
use hw_rules::page_guard::PageGuard;
use hw_rules::since::SinceWalk;
use hw_rules::time::Mark;
use hw_rules::version::Seen;
use hw_rules::walk::{Cursor, Floor};
use hw_sources::github::threads;
use hw_sources::page::{RollPage, RollRow};
use hw_sources::trouble::Trouble;
use hw_store::{StagedPage, SweepPage};

use super::{Sweep, lists};
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::since::{List, is_hole};
use crate::talks::Talks;
use crate::turn::Tally;

/// How often a page of the roll with unreadable rows is asked for again.
const ROLL_TRIES: u32 = 4;

impl Sweep<'_> {
    /// Stages the rest of the roll.
    pub(super) async fn stage_roll(&mut self) -> Result<(), Stop> {
        let lane = &self.followed.lane;
        let staged = self.room.store.sweep(lane)?;
        let mut began = staged.as_ref().map(|sweep| sweep.began);
        let mut complete = staged.as_ref().is_some_and(|sweep| sweep.complete);
        let mut after = staged.and_then(|sweep| sweep.cursor);
        let mut has_forgotten = false;
        while !complete {
            let page = match self.roll(after.as_ref()).await {
                Err(Stop::Trouble(Trouble::BadCursor(_))) if after.is_some() && !has_forgotten => {
                    has_forgotten = true;
                    tracing::warn!(%lane, "the source forgot our place in the roll: it starts over");
                    self.room.store.restart_sweep(self.room.lease, lane)?;
                    self.guard = PageGuard::default();
                    (began, after) = (None, None);
                    continue;
                }
                other => other?,
            };
            if let StagedPage::SharedId(id) = self.stage(&page, *began.get_or_insert(page.seen))? {
                self.room.store.restart_sweep(self.room.lease, lane)?;
                if !std::mem::take(&mut self.has_waited) {
                    let reason = format!("the list shows several items under one id, {id}");
                    return Err(self.stopped(&reason).into());
                }
                // what an earlier turn read of it may have been wrong
                self.guard = PageGuard::default();
                (began, after) = (None, None);
                continue;
            }
            complete = page.next.is_none();
            after = page.next;
        }
        Ok(())
    }

    fn stage(&mut self, page: &RollPage, began: Seen) -> Result<StagedPage, Stop> {
        let row = |row: &RollRow| (row.id, row.node_id.clone(), row.updated_at.clone());
        let rows = page.rows.iter().map(row).collect();
        let (next, complete) = (page.next.clone(), page.next.is_none());
        let page = SweepPage { began, rows, next, complete };
        self.tally.pages += 1;
        Ok(self.room.store.stage_sweep(self.room.lease, &self.followed.lane, &page)?)
    }

    /// One page of the roll, every row of it readable: a roll with holes would invent suspects.
    async fn roll(&mut self, after: Option<&Cursor>) -> Result<RollPage, Stop> {
        let (surface, home) = (self.followed.surface(), &self.followed.home);
        match surface.reading() {
            Reading::Since => return self.roll_since(after).await,
            Reading::Talks => return self.roll_talks(after).await,
            Reading::Walk => {}
        }
        let patience = self.followed.patience(Patience::PAGE);
        for _ in 0..ROLL_TRIES {
            let query = |size| threads::roll_query(surface, &home.node_id, size, after);
            let read =
                |answer: &_, number, _| threads::read_roll(answer, surface, home.id, after, number);
            let page = self.room.fetch.ask(patience, self.size, query, read).await?;
            if page.unreadable > 0 {
                continue;
            }
            if page.next.is_some() {
                let ids = page.rows.iter().map(|row| row.id);
                let checked = self.guard.check_page(ids, [], None);
                checked.map_err(|nonsense| self.stopped(&nonsense.to_string()))?;
            }
            return Ok(page);
        }
        Err(self.stopped("a row of the roll stays unreadable").into())
    }

    /// A page of a list is a page of its roll, too; what it shows is kept.
    async fn roll_since(&mut self, after: Option<&Cursor>) -> Result<RollPage, Stop> {
        let walk = match after {
            Some(place) => lists::walk_at(place),
            None => {
                let coverage = self.room.store.lane_state(&self.followed.lane)?.coverage;
                SinceWalk::from(coverage.from.unwrap_or(Floor::Beginning))
            }
        };
        let (room, followed) = (self.room, self.followed);
        let tally = Tally::default();
        let mut list = List { room, followed, size: self.size, holes: self.holes, tally };
        let page = list.page(&walk).await.map_err(|stop| list.of_this_lane(stop))?;
        self.holes = list.holes;
        if page.page.has_next && !is_hole(&page) {
            let checked = self.since_guard.check_page(walk.since, page.ids());
            checked.map_err(|nonsense| self.stopped(&nonsense.to_string()))?;
        }
        let rolled = lists::of_list(&walk, &page);
        let next = rolled.as_ref().and_then(|rolled| rolled.next.as_ref());
        if next.is_some_and(|next| 1 < lists::walk_at(next).page) {
            // a page that is turned to begins where the last one ended, if it has the same size
            *self.size = page.size;
        }
        let kept = self.page(page.observations, &page.unreadable);
        let ingested = self.room.store.ingest(self.room.lease, &kept)?;
        self.tally.count(&ingested, kept.observations.len());
        rolled.ok_or_else(|| self.stopped("the list turns in a circle").into())
    }

    /// The talk of the next threads, whether they moved or not; what is said there is kept.
    async fn roll_talks(&mut self, after: Option<&Cursor>) -> Result<RollPage, Stop> {
        let mut talks = Talks::of(self.room, self.followed, *self.size);
        let after = after.and_then(|place| place.0.parse().ok()).unwrap_or(i64::MIN);
        let threads = self.room.store.talks(&self.followed.lane, after, talks.at_once())?;
        let date = self.room.fetch.last_date().unwrap_or(Mark::BEGINNING);
        if threads.is_empty() {
            let seen = Seen::at(date.0, 0);
            return Ok(RollPage { date, seen, rows: Vec::new(), next: None, unreadable: 0 });
        }
        let said = talks.read(&threads).await?;
        talks.whole()?;
        self.tally.add(&talks.tally);
        let next = said.count.checked_sub(1).and_then(|last| threads.get(last));
        let next = next.map(|thread| Cursor(thread.id.to_string()));
        Ok(RollPage { date, seen: said.seen, rows: said.rows, next, unreadable: 0 })
    }
}
