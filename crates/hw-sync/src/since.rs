//! Reading a list that takes `since`: the newest page, and what does not fit on it.

use hw_rules::coverage::{Coverage, Refused};
use hw_rules::page_guard::SinceGuard;
use hw_rules::plan::LaneState;
use hw_rules::since::{SincePage, SinceWalk};
use hw_rules::time::Mark;
use hw_rules::version::Seen;
use hw_rules::walk::{Cursor, Floor};
use hw_sources::github::comments::{self, ListPage, Listed};
use hw_sources::github::rest::Get;
use hw_sources::page::{Subject, Unreadable};
use hw_sources::trouble::Trouble;
use hw_store::{Etag, IngestPage};

use crate::Error;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::retry;
use crate::turn::{Followed, Room, Tally};

/// How often the pages of one second are read before they are left to the next turn.
const TRIES: u32 = 3;
/// How long an ETag is relied on.
const ETAG_LASTS_MS: i64 = 24 * 3_600_000;
/// How many rows of a list may be too large in one turn: each takes several large answers to find out.
const MOST_HOLES: u32 = 20;

/// One list being read.
pub(crate) struct List<'a> {
    pub(crate) room: &'a Room<'a>,
    pub(crate) followed: &'a Followed,
    pub(crate) size: &'a mut u32,
    /// Rows that were too large to be read.
    pub(crate) holes: u32,
    pub(crate) tally: Tally,
}

/// Pages that were turned within one second, with their size and what the source called each.
type Turned = Vec<(SinceWalk, u32, Option<String>)>;

/// Reads a list until nothing is left of its walk.
pub(crate) async fn scan(
    room: &Room<'_>,
    followed: &Followed,
    state: &LaneState,
    size: &mut u32,
) -> Result<Tally, Stop> {
    let window = room.window(followed.surface());
    let mut list = List { room, followed, size, holes: 0, tally: Tally::default() };
    if !followed.can_be_swept() {
        // what is out of sight now comes back with its old times
        room.store.request_sweep(&followed.lane, 0)?;
    }
    let coverage = state.coverage.clone().open_since(window);
    let done = list.read_all(coverage, window).await;
    match done {
        // without issues there may be no such list, whatever the pull requests say
        Err(Stop::Trouble(Trouble::Hidden(_))) if !followed.home.has_issues => {
            list.note_no_list()?;
            Ok(list.tally)
        }
        Err(stop) => Err(list.of_this_lane(stop)),
        Ok(()) => {
            let mut tally = list.tally;
            retry::quarantined(room, followed, &mut tally).await?;
            Ok(tally)
        }
    }
}

impl List<'_> {
    async fn read_all(&mut self, coverage: Coverage, window: Floor) -> Result<(), Stop> {
        let coverage =
            if coverage.since.is_none() { self.newest(coverage, window).await? } else { coverage };
        let coverage = self.walk(coverage, window).await?.open_since(window);
        // a walk that was begun with a narrower window left something below it
        self.walk(coverage, window).await.map(drop)
    }

    /// The newest page, unless it is the one we know.
    async fn newest(&mut self, coverage: Coverage, window: Floor) -> Result<Coverage, Stop> {
        let (surface, id) = (self.followed.surface(), self.followed.home.id);
        let principal = self.room.fetch.principal();
        let known = self.room.store.etag(&self.followed.lane, &principal)?;
        let known = known.filter(|etag| coverage.through.is_some() && self.is_fresh(etag));
        let value = known.map(|etag| etag.value);
        let get = |size| comments::newest(surface, id, size, value.as_deref());
        let asked = self.ask(get).await;
        let mut page = match self.or_hole(asked, "the newest page")? {
            Listed::Unchanged(date) => {
                let next = coverage.still(date);
                self.keep(None, &next, Some(date.0), None)?;
                return Ok(next);
            }
            Listed::Page(page) => page,
        };
        let before = coverage.keeps_since(window);
        let next = match coverage.step_newest(&page.page, window) {
            Err(Refused::Future { date, .. }) => return self.distrust(date),
            other => other.map_err(|refused| self.refused(refused))?,
        };
        // a page that is the whole list claims everything in it, whatever the window is
        let floor = before.min(next.keeps_since(window));
        let looked_at = next.since.is_none().then_some(page.page.date.0);
        // a walk brings its own rows, and may do so from a replica that lacks some of these: an ETag vouches
        // for the rows that are stored with it
        let is_kept = next.since.is_none() && page.page.reaches_the_settled();
        let at = Some(page.page.date);
        let etag = page.etag.take().filter(|_| is_kept);
        let etag = etag.map(|value| Etag { principal, value, at });
        let page = Some((page, floor)).filter(|_| next.since.is_none());
        self.keep(page, &next, looked_at, etag)?;
        Ok(next)
    }

    /// Whether an ETag may be relied on: some miss a change, so once a day of the source's time the page is
    /// read without it.
    fn is_fresh(&self, etag: &Etag) -> bool {
        let times = etag.at.zip(self.room.fetch.last_date());
        times.is_some_and(|(at, now)| now < at.plus(ETAG_LASTS_MS))
    }

    /// Everything since, oldest change first.
    async fn walk(&mut self, mut coverage: Coverage, window: Floor) -> Result<Coverage, Stop> {
        let mut turned = Turned::new();
        let mut guard = SinceGuard::default();
        let mut tries = 0;
        while let Some(walk) = coverage.since.clone() {
            let page = self.page(&walk).await?;
            let next = match coverage.clone().step_since(&page.page) {
                Err(Refused::Future { date, .. }) => self.distrust(date)?,
                other => other.map_err(|refused| self.refused(refused))?,
            };
            if next.since.is_some() && !is_hole(&page) {
                guard.check_page(walk.since, page.ids()).map_err(|it| self.refused(it.into()))?;
            }
            let leaves = next.since.as_ref().is_none_or(|next| next.since != walk.since);
            if leaves && !self.hold_still(&turned).await? {
                tries += 1;
                if TRIES <= tries {
                    return Err(self.stopped("a second of it did not hold still").into());
                }
                turned.clear();
                guard.restart_mark();
                coverage.since = Some(SinceWalk { page: 1, ..walk });
                continue;
            }
            turned.push((walk, page.size, page.etag.clone()));
            if leaves {
                turned.clear();
                tries = 0;
            } else {
                // the second of larger pages begins later than the first of smaller ones ended
                *self.size = page.size;
            }
            let looked_at = next.since.is_none().then_some(page.page.date.0);
            let floor = coverage.keeps_since(window).min(next.keeps_since(window));
            self.keep(Some((page, floor)), &next, looked_at, None)?;
            coverage = next;
        }
        Ok(coverage)
    }

    /// One page of a walk.
    pub(crate) async fn page(&mut self, walk: &SinceWalk) -> Result<ListPage, Stop> {
        let (surface, id) = (self.followed.surface(), self.followed.home.id);
        let asked = self.ask(|size| comments::since(surface, id, walk, size, None)).await;
        match self.or_hole(asked, &place_of(walk))? {
            Listed::Page(page) => Ok(page),
            Listed::Unchanged(_) => {
                let trouble = Trouble::Garbled("unchanged, though nothing was named".into());
                Err(Stop::Trouble(trouble))
            }
        }
    }

    /// What was asked for, or a hole where one row is more than the source can serve: the row is quarantined by its
    /// place, and the walk turns to the next one.
    fn or_hole(&mut self, asked: Result<Listed, Stop>, place: &str) -> Result<Listed, Stop> {
        let reason = match asked {
            Err(Stop::Trouble(Trouble::TooMuch(reason))) if *self.size == 1 => reason,
            other => return other,
        };
        self.holes += 1;
        if self.holes > MOST_HOLES {
            return Err(self.stopped(&format!("too many rows are too large: {reason}")).into());
        }
        let date = self.room.fetch.last_date().unwrap_or(Mark::BEGINNING);
        let unreadable = Unreadable {
            subject: Subject::Place { at: Cursor(place.to_owned()), after: None },
            reason,
            raw: String::new(),
            updated_at: None,
            seen: Seen::at(date.0, 0),
        };
        Ok(Listed::Page(ListPage {
            observations: Vec::new(),
            page: SincePage { date, rows: Vec::new(), has_next: true },
            unreadable: vec![unreadable],
            etag: None,
            size: 1,
        }))
    }

    /// Whether the pages that were turned are what they were. One that left them has shifted the others,
    /// and one of those may have slipped from a page not yet read to one that was.
    async fn hold_still(&mut self, turned: &Turned) -> Result<bool, Stop> {
        let (surface, id) = (self.followed.surface(), self.followed.home.id);
        for (walk, size, etag) in turned {
            let Some(etag) = etag else { continue };
            *self.size = *size;
            let get = |size| comments::since(surface, id, walk, size, Some(etag));
            if let Listed::Page(_) = self.ask(get).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A list that is not there is not asked for in every pull.
    fn note_no_list(&self) -> Result<(), Error> {
        let (room, lane) = (self.room, &self.followed.lane);
        let at = room.fetch.last_date().map(|date| (lane.clone(), date.0));
        let looked_at = at.into_iter().collect();
        let page = IngestPage { looked_at, ..IngestPage::of(lane.clone(), *self.size) };
        Ok(room.store.ingest(room.lease, &page).map(drop)?)
    }

    async fn ask(&mut self, get: impl Fn(u32) -> Get) -> Result<Listed, Stop> {
        let (surface, id) = (self.followed.surface(), self.followed.home.id);
        let read =
            |answer: &_, number, size| comments::read_list(answer, surface, id, size, number);
        let patience = self.followed.patience(Patience::PAGE);
        self.room.fetch.ask_rest(patience, self.size, get, read).await
    }

    /// Keeps a page down to its floor, and how far the lane got with it.
    fn keep(
        &mut self,
        page: Option<(ListPage, Floor)>,
        next: &Coverage,
        looked_at: Option<i64>,
        etag: Option<Etag>,
    ) -> Result<(), Stop> {
        let lane = &self.followed.lane;
        let mut kept = IngestPage {
            coverage: Some(next.clone()),
            looked_at: looked_at.map(|at| (lane.clone(), at)).into_iter().collect(),
            etag,
            ..IngestPage::of(lane.clone(), *self.size)
        };
        if let Some((page, floor)) = page {
            kept.observations = page.observations;
            kept.observations.retain(|row| !floor.is_above(row.item.updated_at().mark()));
            kept.quarantined = page.unreadable.iter().map(retry::quarantine).collect();
        }
        let ingested = self.room.store.ingest(self.room.lease, &kept)?;
        let seen = kept.observations.len();
        self.tally.count(&ingested, seen);
        self.room.tell_kept(self.followed.surface(), self.tally.pages, seen, &ingested);
        Ok(())
    }

    /// Takes back a watermark that the source itself has not reached yet.
    fn distrust(&self, date: Mark) -> Result<Coverage, Stop> {
        self.room.distrust(&self.followed.lane, date)?;
        Ok(self.room.store.lane_state(&self.followed.lane)?.coverage)
    }

    fn refused(&self, refused: Refused) -> Error {
        Error::Page { lane: self.followed.lane.to_string(), refused }
    }

    fn stopped(&self, reason: &str) -> Error {
        let lane = self.followed.lane.to_string();
        Error::Unread { lane, reason: reason.to_owned() }
    }

    /// A token may be refused one list and read all others.
    pub(crate) fn of_this_lane(&self, stop: Stop) -> Stop {
        match &stop {
            Stop::Trouble(Trouble::Denied(reason)) => {
                self.stopped(&format!("the token may not read it: {reason}")).into()
            }
            Stop::Trouble(_) | Stop::Error(_) => stop,
        }
    }
}

/// Where a walk is, in a word.
pub(crate) fn place_of(walk: &SinceWalk) -> String {
    let since = walk.since.map_or_else(|| "beginning".to_owned(), |since| since.0.to_string());
    format!("page {} since {since}", walk.page)
}

/// Whether a page stands for a row that is too large: it shows nothing, and its row is known by its place alone.
pub(crate) fn is_hole(page: &ListPage) -> bool {
    let is_place = |row: &Unreadable| matches!(row.subject, Subject::Place { .. });
    page.page.rows.is_empty() && page.unreadable.iter().any(is_place)
}
