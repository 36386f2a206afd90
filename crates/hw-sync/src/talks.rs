//! Reading what is said in threads that moved, thread by thread.

use std::collections::VecDeque;

use hw_rules::page_guard::PageGuard;
use hw_rules::plan::LaneState;
use hw_rules::time::Mark;
use hw_rules::version::Seen;
use hw_sources::github::comments::{self, Lack, More, Talk};
use hw_sources::page::RollRow;
use hw_sources::trouble::Trouble;
use hw_store::{DueTalk, IngestPage};

use crate::Error;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::retry;
use crate::turn::{Followed, Room, Tally};

/// Talks being read.
pub(crate) struct Talks<'a> {
    room: &'a Room<'a>,
    followed: &'a Followed,
    /// Threads in a request.
    batch: u32,
    /// Rows in a page, for a talk that does not fit.
    size: u32,
    /// Threads that could not be read, and why the last of them.
    unread: u64,
    why: String,
    pub(crate) tally: Tally,
}

/// What was said in some threads.
pub(crate) struct Said {
    pub(crate) seen: Seen,
    pub(crate) rows: Vec<RollRow>,
    /// How many threads were asked for.
    pub(crate) count: usize,
}

/// Reads every talk that is due.
pub(crate) async fn scan(
    room: &Room<'_>,
    followed: &Followed,
    state: &LaneState,
    size: u32,
) -> Result<Tally, Stop> {
    room.store.follow_talks(room.lease, &followed.lane)?;
    let looked_at = room.threads_looked_at(followed)?;
    let mut talks = Talks::of(room, followed, size);
    let mut after = i64::MIN;
    loop {
        let due = room.store.due_talks(&followed.lane, after, talks.at_once())?;
        let Some(last) = due.last() else { break };
        after = last.id;
        talks.read_all(&due).await?;
    }
    talks.close(state, looked_at)?;
    let mut tally = talks.tally;
    retry::quarantined(room, followed, &mut tally).await?;
    Ok(tally)
}

impl<'a> Talks<'a> {
    pub(crate) fn of(room: &'a Room<'a>, followed: &'a Followed, size: u32) -> Self {
        let batch = size.min(at_once(followed));
        let tally = Tally::default();
        Self { room, followed, batch, size, unread: 0, why: String::new(), tally }
    }

    pub(crate) fn at_once(&self) -> u32 {
        at_once(self.followed)
    }

    async fn read_all(&mut self, mut due: &[DueTalk]) -> Result<(), Stop> {
        while !due.is_empty() {
            let said = self.read(due).await?;
            due = &due[said.count..];
        }
        Ok(())
    }

    /// Reads and keeps the talk of as many of these threads as can be served at once.
    pub(crate) async fn read(&mut self, due: &[DueTalk]) -> Result<Said, Stop> {
        let (surface, id) = (self.followed.surface(), self.followed.home.id);
        let most = self.at_once();
        let some = |size: u32| -> Vec<String> {
            let count = due.len().min(size.min(most) as usize);
            due[..count].iter().map(|talk| talk.node_id.clone()).collect()
        };
        let query = |size| comments::talks_query(surface, &some(size));
        let read = |answer: &hw_sources::github::graphql::Answer, number, size| {
            let talks = comments::read_talks(answer, surface, &some(size), id, number)?;
            Ok((talks, answer.receipt.seen(number)))
        };
        let patience = self.followed.patience(Patience::PAGE);
        let asked = self.room.fetch.ask(patience, &mut self.batch, query, read).await;
        let (talks, seen) = match asked {
            // one talk that the server cannot serve must not stand before all that follow it
            Err(Stop::Trouble(Trouble::TooMuch(_))) if self.batch == 1 => {
                return self.read_in_parts(&due[0]).await;
            }
            other => other?,
        };
        let mut said = Said { seen, rows: Vec::new(), count: talks.len() };
        self.keep(due, talks, &mut said).await?;
        Ok(said)
    }

    /// Reads a talk that is too much at once page by page, as large as they can be served.
    async fn read_in_parts(&mut self, thread: &DueTalk) -> Result<Said, Stop> {
        let at_ms = self.room.fetch.last_date().map_or(0, |date| date.0);
        let mut said = Said { seen: Seen::at(at_ms, 0), rows: Vec::new(), count: 1 };
        self.read_more(thread.id, vec![More::of_thread(&thread.node_id)], &mut said).await?;
        Ok(said)
    }

    /// Keeps what is whole at once, and reads the rest of what is not.
    async fn keep(
        &mut self,
        due: &[DueTalk],
        talks: Vec<Talk>,
        said: &mut Said,
    ) -> Result<(), Stop> {
        let mut page = self.page();
        let mut long = Vec::new();
        for (thread, talk) in due.iter().zip(talks) {
            let is_whole = self.take_in(&talk)?;
            let more = talk.more.clone();
            add(&mut page, talk, said);
            match (is_whole, more.is_empty()) {
                (true, true) => page.read_talks.push((thread.id, said.seen.at_ms)),
                (true, false) => long.push((thread.id, more)),
                (false, _) => {}
            }
        }
        self.ingest(&page)?;
        for (thread, more) in long {
            self.read_more(thread, more, said).await?;
        }
        Ok(())
    }

    async fn read_more(
        &mut self,
        thread: i64,
        more: Vec<More>,
        said: &mut Said,
    ) -> Result<(), Stop> {
        let (surface, id) = (self.followed.surface(), self.followed.home.id);
        let mut left = VecDeque::from(more);
        let mut is_whole = true;
        let mut guard = PageGuard::default();
        while let Some(more) = left.pop_front() {
            let query = |size| comments::more_query(surface, &more, size);
            let read =
                |answer: &_, number, _| comments::read_more(answer, surface, &more, id, number);
            let patience = self.followed.patience(Patience::PAGE);
            let mut asked = self.room.fetch.ask(patience, &mut self.size, query, read).await;
            if let Err(Stop::Trouble(Trouble::TooMuch(reason))) = &asked
                && self.size == 1
            {
                // one comment that the server cannot serve must not stand before all that follow it
                asked = self.read_light(&more, &reason.clone()).await;
            }
            let talk = match asked {
                Err(Stop::Trouble(Trouble::TooMuch(reason))) => {
                    self.lack(&reason);
                    is_whole = false;
                    continue;
                }
                other => other?,
            };
            is_whole &= self.take_in(&talk)?;
            if !talk.more.is_empty()
                && let Err(nonsense) = guard.check_page(ids(&talk), places(&talk), None)
            {
                self.lack(&nonsense.to_string());
                return Ok(());
            }
            left.extend(talk.more.iter().cloned());
            let mut page = self.page();
            add(&mut page, talk, said);
            if left.is_empty() && is_whole {
                page.read_talks.push((thread, said.seen.at_ms));
            }
            self.ingest(&page)?;
        }
        Ok(())
    }

    /// The next comment by its id alone; it waits in quarantine.
    async fn read_light(&mut self, more: &More, reason: &str) -> Result<Talk, Stop> {
        let (surface, id) = (self.followed.surface(), self.followed.home.id);
        let query = |_| comments::light_query(surface, more);
        let read =
            |answer: &_, number, _| Ok(comments::read_light(answer, surface, more, id, number));
        let patience = self.followed.patience(Patience::PAGE);
        let mut talk = self.room.fetch.ask(patience, &mut 1, query, read).await?;
        talk.unreadable.iter_mut().for_each(|row| reason.clone_into(&mut row.reason));
        Ok(talk)
    }

    /// Whether a part of a talk was read as it is; one that was not is read again by the next turn.
    ///
    /// A thread that is not there is no trouble of its talk: a sweep of the threads will tell.
    fn take_in(&mut self, talk: &Talk) -> Result<bool, Stop> {
        match &talk.whole {
            Ok(()) => return Ok(true),
            Err(Lack::Thread(why)) => {
                tracing::info!(thread = talk.node_id, why, "a sweep will tell");
                if let Some(threads) = self.followed.threads() {
                    let now_ms = self.room.fetch.clock().now_ms();
                    self.room.store.request_sweep(&threads, now_ms)?;
                }
            }
            Err(Lack::Rows(reason)) => self.lack(reason),
        }
        Ok(false)
    }

    fn lack(&mut self, reason: &str) {
        self.unread += 1;
        reason.clone_into(&mut self.why);
    }

    fn page(&self) -> IngestPage {
        IngestPage::of(self.followed.lane.clone(), self.size)
    }

    fn ingest(&mut self, page: &IngestPage) -> Result<(), Stop> {
        let ingested = self.room.store.ingest(self.room.lease, page)?;
        let seen = page.observations.len();
        self.tally.count(&ingested, seen);
        self.room.tell_kept(self.followed.surface(), self.tally.pages, seen, &ingested);
        Ok(())
    }

    /// Everything that was due is read: the lane is as fresh as the listing of its threads.
    fn close(&mut self, state: &LaneState, looked_at: Option<i64>) -> Result<(), Stop> {
        self.whole()?;
        let Some(at) = looked_at else { return Ok(()) };
        let coverage = state.coverage.clone().talked(Mark(at));
        let lane = self.followed.lane.clone();
        let page =
            IngestPage { looked_at: vec![(lane, at)], coverage: Some(coverage), ..self.page() };
        self.room.store.ingest(self.room.lease, &page)?;
        Ok(())
    }

    /// An error when some threads could not be read.
    pub(crate) fn whole(&self) -> Result<(), Error> {
        if self.unread == 0 {
            return Ok(());
        }
        let reason = format!("{} could not be read whole: {}", threads(self.unread), self.why);
        Err(Error::Unread { lane: self.followed.lane.to_string(), reason })
    }
}

fn threads(count: u64) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

fn at_once(followed: &Followed) -> u32 {
    u32::try_from(comments::talks_at_once(followed.surface())).unwrap_or(1)
}

fn ids(talk: &Talk) -> impl Iterator<Item = i64> {
    talk.observations.iter().map(|observation| observation.key().id)
}

fn places(talk: &Talk) -> impl Iterator<Item = String> {
    talk.unreadable.iter().map(|row| row.subject.to_string())
}

fn add(page: &mut IngestPage, talk: Talk, said: &mut Said) {
    said.rows.extend(talk.observations.iter().filter_map(RollRow::of));
    page.observations.extend(talk.observations);
    page.quarantined.extend(talk.unreadable.iter().map(retry::quarantine));
}
