//! One question to GitHub, asked until it is answered: door, request, classification, waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hw_rules::backoff::Jitter;
use hw_rules::pace::Pace;
use hw_rules::page_size;
use hw_rules::time::Mark;
use hw_sources::gate::{Advice, Api};
use hw_sources::github::graphql::{self, Endpoint, Query};
use hw_sources::github::receipt::Receipt;
use hw_sources::github::rest::{self, Content, Get, Rest};
use hw_sources::github::user::{self, Budget};
use hw_sources::transport::{self, Request, Response, Transport};
use hw_sources::trouble::Trouble;
use hw_store::Store;

use crate::Error;
use crate::clock::Clock;
use crate::crash::{self, CrashPoints};
use crate::door::{Door, Place, Settings, lock};
use crate::news::{Herald, News};
use crate::patience::{Patience, Spent};
use crate::source_time::SourceTime;
use crate::wire::{GRAPHQL, REST, Wire};

/// A request has this long; GitHub's own time-out of 10 s answers first.
const REQUEST_MS: i64 = 12_000;

/// What fetching needs from outside.
#[derive(Clone)]
pub struct Line {
    pub transport: Arc<dyn Transport>,
    pub endpoint: Endpoint,
    pub rest: Rest,
    pub clock: Arc<dyn Clock>,
    pub crash: CrashPoints,
    pub herald: Herald,
    pub pace: Pace,
    /// How much of the hour's budget is left for the user's other tools.
    pub reserve_percent: i64,
    /// The largest page to ask for.
    pub largest_page: u32,
    /// Where the dice for jitter start.
    pub seed: u64,
}

/// What was asked of the source so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub requests: u64,
    pub points: i64,
    pub retries: u64,
    /// Characters that no Unicode text can hold, replaced in what came.
    pub replaced: u64,
    /// Answers that said that nothing changed, and cost nothing.
    pub not_modified: u64,
}

pub struct Fetch {
    line: Line,
    door: Door,
    cost: Mutex<Cost>,
    source_time: Mutex<SourceTime>,
    /// Whether anything was answered in this run.
    was_reached: AtomicBool,
}

/// Trouble that asking again did not mend, or something that ends the run.
pub(crate) enum Stop {
    Trouble(Trouble),
    Error(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl Fetch {
    pub fn new(line: Line, store: Store, principal: &str) -> Self {
        let settings = Settings {
            clock: Arc::clone(&line.clock),
            crash: line.crash.clone(),
            herald: line.herald.clone(),
            pace: line.pace,
            reserve_percent: line.reserve_percent,
            seed: line.seed,
        };
        let door = Door::new(store, principal, settings);
        Self {
            line,
            door,
            cost: Mutex::default(),
            source_time: Mutex::default(),
            was_reached: AtomicBool::new(false),
        }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.line.clock
    }

    pub(crate) fn crash(&self) -> &CrashPoints {
        &self.line.crash
    }

    pub(crate) fn herald(&self) -> &Herald {
        &self.line.herald
    }

    pub(crate) fn largest_page(&self) -> u32 {
        self.line.largest_page
    }

    /// Whether anything was answered in this run.
    fn was_reached(&self) -> bool {
        self.was_reached.load(Ordering::Relaxed)
    }

    pub fn cost(&self) -> Cost {
        *lock(&self.cost)
    }

    /// The source's own time, as its last answer told it.
    pub(crate) fn last_date(&self) -> Option<Mark> {
        lock(&self.source_time).last()
    }

    /// The source's own time, as this run believes it.
    pub(crate) fn source_time(&self) -> MutexGuard<'_, SourceTime> {
        lock(&self.source_time)
    }

    /// Whose limits these are.
    pub fn principal(&self) -> String {
        self.door.principal()
    }

    /// Until when all who speak for this principal wait.
    pub(crate) fn paused_until(&self) -> Result<Option<i64>, Error> {
        self.door.paused_until()
    }

    /// From now on the limits are those of this user.
    pub(crate) fn speak_for(&self, principal: String) {
        self.door.speak_for(principal);
    }

    pub(crate) fn jitter(&self) -> Jitter {
        self.door.jitter()
    }

    /// Asks GraphQL until it answers, for as much as the server can serve at once.
    ///
    /// `size` is how much to ask for; it shrinks when the server could not, and grows when it could. Both
    /// `query` and `read` are told how much it is this time.
    pub(crate) async fn ask<T>(
        &self,
        patience: Patience<'_>,
        size: &mut u32,
        query: impl Fn(u32) -> Query,
        read: impl Fn(&graphql::Answer, i64, u32) -> Result<T, Trouble>,
    ) -> Result<T, Stop> {
        let request = |size| self.line.endpoint.request(&query(size));
        self.ask_over(GRAPHQL, patience, size, request, read).await
    }

    /// Asks REST in the same way.
    pub(crate) async fn ask_rest<T>(
        &self,
        patience: Patience<'_>,
        size: &mut u32,
        get: impl Fn(u32) -> Get,
        read: impl Fn(&rest::Answer, i64, u32) -> Result<T, Trouble>,
    ) -> Result<T, Stop> {
        let request = |size| self.line.rest.request(&get(size));
        let read = |answer: &rest::Answer, number, size| {
            let is_unchanged = answer.content == Content::Unchanged;
            lock(&self.cost).not_modified += u64::from(is_unchanged);
            read(answer, number, size)
        };
        self.ask_over(REST, patience, size, request, read).await
    }

    async fn ask_over<A, T>(
        &self,
        wire: Wire<A>,
        patience: Patience<'_>,
        size: &mut u32,
        request: impl Fn(u32) -> Request,
        read: impl Fn(&A, i64, u32) -> Result<T, Trouble>,
    ) -> Result<T, Stop> {
        let mut spent = Spent::default();
        loop {
            *size = (*size).min(self.line.largest_page);
            self.review_reserve().await?;
            let place = self.door.enter(wire.api).await?;
            let (number, began_ms) = (place.number, self.clock().now_ms());
            let read = |answer: &A| read(answer, number, *size);
            let came = self.once(wire, request(*size), place, read).await?;
            spent.on_a_request(self.clock().now_ms() - began_ms, patience);
            let trouble = match came {
                Ok(page) => {
                    patience.refresh();
                    *size = page_size::grow(*size, self.line.largest_page);
                    return Ok(page);
                }
                Err(trouble) => trouble,
            };
            let is_first_contact = trouble.is_unreachable() && !self.was_reached();
            let patience = if is_first_contact { Patience::FIRST_CONTACT } else { patience };
            let Some(wait) = spent.bear(&trouble, patience, size, self.jitter()) else {
                if is_first_contact {
                    return Err(Stop::Trouble(trouble));
                }
                return Err(Stop::Trouble(self.blame(trouble.believed()).await?));
            };
            tracing::debug!(%trouble, wait, "asking again");
            lock(&self.cost).retries += 1;
            self.herald().tell(|| News::Retried { why: trouble.to_string(), wait_ms: wait });
            self.clock().sleep_until(self.clock().now_ms() + wait).await;
        }
    }

    /// Asks the source how much is left before a pause of our own making is obeyed: `/rate_limit` costs nothing. It is
    /// the one request that may start during a pause, and only when the reserve alone caused it.
    async fn review_reserve(&self) -> Result<(), Stop> {
        let Some(until_ms) = self.door.reserve_to_review()? else { return Ok(()) };
        let Rest { url, token } = &self.line.rest;
        let came = self.exchange(user::ask_budgets(url, token)).await;
        let budgets = came.and_then(|response| user::read_budgets(&response));
        let is_ours = |budget: &&Budget| ["core", "graphql"].contains(&budget.bucket.as_str());
        let is_free = budgets.is_ok_and(|budgets| {
            let mut ours = budgets.iter().filter(is_ours);
            ours.all(|budget| !self.door.is_reserve(budget.used, budget.limit))
        });
        if is_free {
            tracing::info!("the budget allows requests again: the pause for the reserve is lifted");
            self.door.lift_reserve(until_ms)?;
        }
        Ok(())
    }

    /// Whose trouble it is that no answer came: the line's, or, when something else is answered, that of
    /// what was asked for.
    async fn blame(&self, trouble: Trouble) -> Result<Trouble, Stop> {
        if !trouble.is_network() {
            return Ok(trouble);
        }
        let place = self.door.enter(Api::Graphql).await?;
        let ping = self.line.endpoint.request(&graphql::ping());
        let came = self.once(GRAPHQL, ping, place, |_| Ok(())).await?;
        Ok(match came {
            Ok(()) => Trouble::Server(format!("{trouble}, while others are answered")),
            Err(_) => trouble,
        })
    }

    /// One request and what came of it. The outer error ends the run.
    async fn once<A, T>(
        &self,
        wire: Wire<A>,
        request: Request,
        place: Place<'_>,
        read: impl Fn(&A) -> Result<T, Trouble>,
    ) -> Result<Result<T, Trouble>, Stop> {
        lock(&self.cost).requests += 1;
        let answer = self.exchange(request).await;
        let answer = answer.and_then(|response| (wire.open)(&response));
        let came = match answer {
            Ok(mut answer) => {
                let dated = self.note(wire.api, (wire.receipt)(&mut answer))?;
                dated.and_then(|()| read(&answer))
            }
            Err(trouble) => Err(trouble),
        };
        if came.is_ok() {
            self.herald().tell(|| News::Answered);
        }
        if place.settle(came.as_ref().err())? == Advice::Renew {
            tracing::warn!("three requests in a row failed: making new connections");
            self.line.transport.renew();
        }
        self.line.crash.pass(crash::ANSWERED)?;
        Ok(came)
    }

    async fn exchange(&self, request: Request) -> Result<Response, Trouble> {
        let deadline = self.clock().now_ms() + REQUEST_MS;
        let url = request.url.clone();
        tokio::select! {
            biased;
            answer = transport::exchange(&*self.line.transport, request) => {
                self.was_reached.fetch_or(answer.is_ok(), Ordering::Relaxed);
                answer.map_err(|broken| Trouble::from_broken(broken, &url))
            }
            () = self.clock().sleep_until(deadline) => {
                Err(Trouble::Network(format!("nothing within {} s", REQUEST_MS / 1_000)))
            }
        }
    }

    /// Remembers what an answer says about the source: its time, and how much of the hour is used. From here
    /// on the answer bears the date that is believed.
    ///
    /// The inner error is a date that fell back: the next answer tells whether the clock was set back.
    fn note(&self, api: Api, receipt: &mut Receipt) -> Result<Result<(), Trouble>, Error> {
        match self.source_time().read(receipt.date, self.clock()) {
            Ok(date) => {
                receipt.ahead_ms = receipt.date.0.saturating_sub(date.0);
                receipt.date = date;
            }
            Err(by_ms) => {
                let by_s = by_ms / 1_000;
                return Ok(Err(Trouble::Server(format!("its clock fell back by {by_s} s"))));
            }
        }
        let mut cost = lock(&self.cost);
        cost.replaced += u64::from(receipt.replaced);
        cost.points += receipt.cost;
        drop(cost);
        match &receipt.sample {
            Some(sample) => self.door.observe(api, sample, receipt.date).map(Ok),
            None => Ok(Ok(())),
        }
    }
}
