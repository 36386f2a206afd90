//! One question to GitHub, asked until it is answered: gate, request, classification, waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hw_rules::backoff::{self, Jitter};
use hw_rules::pace::{self, Pace};
use hw_rules::page_size;
use hw_rules::time::Mark;
use hw_sources::gate::{Admission, Advice, Api, Gate, Settled};
use hw_sources::github::graphql::{self, Answer, Endpoint, Query};
use hw_sources::transport::{Response, Transport};
use hw_sources::trouble::{Limit, LimitKind, Trouble, Verdict};
use hw_store::Store;
use tokio::sync::Notify;

use crate::Error;
use crate::budget::Numbers;
use crate::clock::Clock;
use crate::crash::{self, CrashPoints};

/// A request has this long; GitHub's own time-out of 10 s answers first.
const REQUEST_MS: i64 = 12_000;

/// How long one question is asked before it is given up. Waits for limits do not count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub tries: u32,
    pub active_ms: i64,
}

impl Patience {
    /// A page of a lane.
    pub(crate) const PAGE: Self = Self { tries: backoff::SERVER_TRIES, active_ms: 5 * 60_000 };
    /// One row among others: the lane does not wait for it.
    pub(crate) const ROW: Self = Self { tries: 2, active_ms: 30_000 };
}

/// What fetching needs from outside.
#[derive(Clone)]
pub struct Line {
    pub transport: Arc<dyn Transport>,
    pub endpoint: Endpoint,
    pub clock: Arc<dyn Clock>,
    pub crash: CrashPoints,
    pub pace: Pace,
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
}

pub struct Fetch {
    line: Line,
    store: Store,
    /// Whose limits these are: host and user, never a token.
    principal: Mutex<String>,
    gate: Mutex<Gate>,
    freed: Notify,
    numbers: Mutex<Numbers>,
    dice: Mutex<fastrand::Rng>,
    cost: Mutex<Cost>,
    last_date: Mutex<Option<Mark>>,
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

/// What asking one thing has taken so far.
#[derive(Default)]
struct Spent {
    server: u32,
    network: u32,
    active_ms: i64,
}

/// A place at the gate: given back with what came, or, if nobody gets to that, when it is dropped.
struct Place<'a> {
    fetch: &'a Fetch,
    is_open: bool,
}

impl Place<'_> {
    fn settle(mut self, settled: Settled, now_ms: i64) -> Advice {
        self.is_open = false;
        let advice = lock(&self.fetch.gate).settle(settled, now_ms);
        self.fetch.freed.notify_waiters();
        advice
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.is_open {
            lock(&self.fetch.gate).settle(Settled::Trouble, self.fetch.clock().now_ms());
            self.fetch.freed.notify_waiters();
        }
    }
}

impl Fetch {
    pub fn new(line: Line, store: Store, principal: &str) -> Self {
        let dice = fastrand::Rng::with_seed(line.seed);
        Self {
            line,
            store,
            principal: Mutex::new(principal.to_owned()),
            gate: Mutex::default(),
            freed: Notify::new(),
            numbers: Mutex::default(),
            dice: Mutex::new(dice),
            cost: Mutex::default(),
            last_date: Mutex::default(),
        }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.line.clock
    }

    pub(crate) fn crash(&self) -> &CrashPoints {
        &self.line.crash
    }

    pub fn cost(&self) -> Cost {
        *lock(&self.cost)
    }

    /// The source's own time, as its last answer told it.
    pub(crate) fn last_date(&self) -> Option<Mark> {
        *lock(&self.last_date)
    }

    pub fn principal(&self) -> String {
        lock(&self.principal).clone()
    }

    /// From now on the limits are those of this user.
    pub(crate) fn speak_for(&self, principal: String) {
        *lock(&self.principal) = principal;
        *lock(&self.numbers) = Numbers::default();
    }

    pub(crate) fn jitter(&self) -> Jitter {
        Jitter(lock(&self.dice).f64())
    }

    /// Asks until it is answered, for as much as the server can serve at once.
    ///
    /// `size` is how much to ask for; it shrinks when the server could not, and grows when it could. Both
    /// `query` and `read` are told how much it is this time.
    pub(crate) async fn ask<T>(
        &self,
        patience: Patience,
        size: &mut u32,
        query: impl Fn(u32) -> Query,
        read: impl Fn(&Answer, i64, u32) -> Result<T, Trouble>,
    ) -> Result<T, Stop> {
        let mut spent = Spent::default();
        loop {
            let now_size = (*size).min(self.line.largest_page);
            let (number, place) = self.start().await?;
            let began_ms = self.clock().now_ms();
            let read = |answer: &Answer| read(answer, number, now_size);
            let came = self.once(&query(now_size), place, read).await?;
            spent.active_ms += self.clock().now_ms() - began_ms;
            match came {
                Ok(page) => {
                    *size = page_size::grow(*size, self.line.largest_page);
                    return Ok(page);
                }
                Err(trouble) => self.bear(trouble, patience, &mut spent, size).await?,
            }
        }
    }

    /// Takes a number, waits for a place at the gate, and takes it.
    ///
    /// The number comes first: it may have to wait for the database, and nothing may come between the
    /// last look at the pauses and the request.
    async fn start(&self) -> Result<(i64, Place<'_>), Stop> {
        self.keep_pace().await;
        let number = lock(&self.numbers).next(&self.store, &self.principal())?;
        loop {
            let freed = self.freed.notified();
            if let Some(until) = self.store.paused_until(&self.principal())? {
                lock(&self.gate).pause(until);
            }
            let admission = lock(&self.gate).admit(Api::Graphql, 1, self.clock().now_ms());
            match admission {
                Admission::Go => break,
                Admission::WaitUntil(until) => self.clock().sleep_until(until).await,
                Admission::Full => freed.await,
            }
        }
        let place = Place { fetch: self, is_open: true };
        self.line.crash.pass(crash::BEFORE_SENDING)?;
        Ok((number, place))
    }

    async fn keep_pace(&self) {
        let jitter = self.jitter();
        let delay = {
            let gate = lock(&self.gate);
            let usage = gate.usage();
            pace::delay_ms(self.line.pace, usage.used, usage.limit, gate.is_recovering(), jitter)
        };
        if 0 < delay {
            self.clock().sleep_until(self.clock().now_ms() + delay).await;
        }
    }

    /// One request and what came of it. The outer error ends the run.
    async fn once<T>(
        &self,
        query: &Query,
        place: Place<'_>,
        read: impl Fn(&Answer) -> Result<T, Trouble>,
    ) -> Result<Result<T, Trouble>, Stop> {
        lock(&self.cost).requests += 1;
        let answer = self.exchange(query).await;
        let came = answer.and_then(|response| graphql::read(&response)).and_then(|answer| {
            self.note(&answer);
            read(&answer)
        });
        self.settle(place, came.as_ref().err())?;
        self.line.crash.pass(crash::ANSWERED)?;
        Ok(came)
    }

    async fn exchange(&self, query: &Query) -> Result<Response, Trouble> {
        let request = self.line.endpoint.request(query);
        let deadline = self.clock().now_ms() + REQUEST_MS;
        tokio::select! {
            biased;
            answer = self.line.transport.send(request) => {
                answer.map_err(|broken| Trouble::Network(broken.0))
            }
            () = self.clock().sleep_until(deadline) => {
                Err(Trouble::Network(format!("nothing within {} s", REQUEST_MS / 1_000)))
            }
        }
    }

    /// Remembers what an answer says about the source: its time, and how much of the hour is used.
    fn note(&self, answer: &Answer) {
        *lock(&self.last_date) = Some(answer.date);
        let mut cost = lock(&self.cost);
        cost.replaced += u64::from(answer.replaced);
        cost.points += answer.cost;
        drop(cost);
        if let Some(sample) = &answer.sample {
            lock(&self.gate).observe_usage(sample.usage());
        }
    }

    /// Gives the place at the gate back. A pause is written first, so that nobody starts after it; should
    /// the store fail at that, this process at least pauses.
    fn settle(&self, place: Place<'_>, trouble: Option<&Trouble>) -> Result<(), Stop> {
        let now_ms = self.clock().now_ms();
        let (settled, written) = match trouble {
            None => (Settled::Clean, Ok(())),
            Some(Trouble::Limited(limit)) => self.pause(limit, now_ms),
            Some(Trouble::Network(_)) => (Settled::NoAnswer, Ok(())),
            Some(
                Trouble::TooMuch(_)
                | Trouble::Server(_)
                | Trouble::Garbled(_)
                | Trouble::Denied(_)
                | Trouble::Hidden(_)
                | Trouble::BadCursor(_)
                | Trouble::Wrong(_),
            ) => (Settled::Trouble, Ok(())),
        };
        if place.settle(settled, now_ms) == Advice::Renew {
            tracing::warn!("three requests in a row failed: making new connections");
            self.line.transport.renew();
        }
        Ok(written?)
    }

    fn pause(&self, limit: &Limit, now_ms: i64) -> (Settled, Result<(), Error>) {
        let in_a_row = lock(&self.gate).limits_in_a_row() + 1;
        let until_ms = limit.wait.until_ms(now_ms, in_a_row, self.jitter());
        tracing::warn!(%limit.kind, wait_s = (until_ms - now_ms) / 1_000, "limited: pausing");
        let written = self.store.pause(&self.principal(), until_ms, &limit.kind.to_string());
        let written = written.map_err(Error::from);
        let written = written.and_then(|()| self.line.crash.pass(crash::PAUSE_WRITTEN));
        (Settled::Limited { until_ms, secondary: limit.kind == LimitKind::Secondary }, written)
    }

    /// Waits as the trouble demands, so that asking again makes sense; gives up when it does not.
    async fn bear(
        &self,
        trouble: Trouble,
        patience: Patience,
        spent: &mut Spent,
        size: &mut u32,
    ) -> Result<(), Stop> {
        let wait = match trouble.verdict() {
            Verdict::Pause => 0,
            Verdict::GiveUp => return Err(Stop::Trouble(trouble)),
            Verdict::AskForLess => {
                *size = page_size::shrink((*size).min(self.line.largest_page));
                spent.server += 1;
                backoff::before_asking_for_less(self.jitter())
            }
            Verdict::RetryServer => {
                spent.server += 1;
                backoff::after_server_error(spent.server, self.jitter())
            }
            Verdict::RetryNetwork => {
                spent.network += 1;
                backoff::after_network_error(spent.network, self.jitter())
            }
        };
        spent.active_ms += wait;
        if patience.tries <= spent.server + spent.network || patience.active_ms < spent.active_ms {
            return Err(Stop::Trouble(trouble));
        }
        tracing::debug!(%trouble, wait, "asking again");
        lock(&self.cost).retries += 1;
        self.clock().sleep_until(self.clock().now_ms() + wait).await;
        Ok(())
    }
}

/// A poisoned lock means that another task panicked; its numbers are still numbers.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
