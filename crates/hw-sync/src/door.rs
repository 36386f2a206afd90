//! The door to the source: whose limits they are, one place at the gate for each request, and the pauses
//! that every process keeps.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hw_rules::backoff::Jitter;
use hw_rules::pace::{self, Pace};
use hw_sources::gate::{Admission, Advice, Api, Gate, Settled, Usage};
use hw_sources::trouble::{BELIEVED_MS, Limit, LimitKind, Trouble};
use hw_store::Store;
use tokio::sync::Notify;

use crate::Error;
use crate::budget::Numbers;
use crate::clock::Clock;
use crate::crash::{self, CrashPoints};

/// What a source may name, and what our own waits may add to it.
const LONGEST_PAUSE_MS: i64 = BELIEVED_MS + 45 * 60_000;

pub(crate) struct Door {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) crash: CrashPoints,
    pub(crate) pace: Pace,
    /// Whose limits these are: host and user, never a token.
    principal: Mutex<String>,
    gate: Mutex<Gate>,
    freed: Notify,
    numbers: Mutex<Numbers>,
    dice: Mutex<fastrand::Rng>,
}

/// A place at the gate: given back with what came, or, if nobody gets to that, when it is dropped.
pub(crate) struct Place<'a> {
    door: &'a Door,
    /// The request's number.
    pub(crate) number: i64,
    is_open: bool,
}

impl Door {
    pub(crate) fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        crash: CrashPoints,
        pace: Pace,
        principal: &str,
        seed: u64,
    ) -> Self {
        Self {
            store,
            clock,
            crash,
            pace,
            principal: Mutex::new(principal.to_owned()),
            gate: Mutex::default(),
            freed: Notify::new(),
            numbers: Mutex::default(),
            dice: Mutex::new(fastrand::Rng::with_seed(seed)),
        }
    }

    pub(crate) fn principal(&self) -> String {
        lock(&self.principal).clone()
    }

    /// From now on the limits are those of this user.
    pub(crate) fn speak_for(&self, principal: String) {
        *lock(&self.principal) = principal;
    }

    pub(crate) fn jitter(&self) -> Jitter {
        Jitter(lock(&self.dice).f64())
    }

    pub(crate) fn observe(&self, usage: Usage) {
        lock(&self.gate).observe_usage(usage);
    }

    /// Takes a number, waits for a place at the gate, and takes it.
    ///
    /// The number comes first: it may have to wait for the database, and nothing may come between the
    /// last look at the pauses and the request.
    pub(crate) async fn enter(&self) -> Result<Place<'_>, Error> {
        self.keep_pace().await;
        let number = lock(&self.numbers).next(&self.store, &self.principal())?;
        loop {
            let freed = self.freed.notified();
            if let Some(until) = self.paused_until()? {
                lock(&self.gate).pause(until);
            }
            let admission = lock(&self.gate).admit(Api::Graphql, 1, self.clock.now_ms());
            match admission {
                Admission::Go => break,
                Admission::WaitUntil(until) => self.clock.sleep_until(until).await,
                Admission::Full => freed.await,
            }
        }
        let place = Place { door: self, number, is_open: true };
        self.crash.pass(crash::BEFORE_SENDING)?;
        Ok(place)
    }

    /// Until when all who speak for this principal wait.
    ///
    /// A pause far beyond any limit was written by a clock that stood elsewhere.
    pub(crate) fn paused_until(&self) -> Result<Option<i64>, Error> {
        let until_ms = self.store.paused_until(&self.principal())?;
        let latest_ms = self.clock.now_ms() + LONGEST_PAUSE_MS;
        if until_ms.is_some_and(|until_ms| latest_ms < until_ms) {
            tracing::warn!(until_ms, "a pause that lasts longer than any limit is not kept");
        }
        Ok(until_ms.filter(|until_ms| *until_ms <= latest_ms))
    }

    async fn keep_pace(&self) {
        let jitter = self.jitter();
        let delay = {
            let gate = lock(&self.gate);
            let usage = gate.usage();
            pace::delay_ms(self.pace, usage.used, usage.limit, gate.is_recovering(), jitter)
        };
        if 0 < delay {
            self.clock.sleep_until(self.clock.now_ms() + delay).await;
        }
    }

    /// Writes a pause down before anybody learns of it, so that nobody starts after it.
    fn pause(&self, limit: &Limit, now_ms: i64) -> (Settled, Result<(), Error>) {
        let in_a_row = lock(&self.gate).limits_in_a_row() + 1;
        let until_ms = limit.wait.until_ms(now_ms, in_a_row, self.jitter());
        tracing::warn!(%limit.kind, wait_s = (until_ms - now_ms) / 1_000, "limited: pausing");
        let written = self.store.pause(&self.principal(), until_ms, &limit.kind.to_string());
        let written = written.map_err(Error::from);
        let written = written.and_then(|()| self.crash.pass(crash::PAUSE_WRITTEN));
        (Settled::Limited { until_ms, secondary: limit.kind == LimitKind::Secondary }, written)
    }
}

impl Place<'_> {
    /// Gives the place back with what came, and says whether the connections are to be made anew.
    ///
    /// Should the store fail at writing a pause, this process at least keeps it.
    pub(crate) fn settle(mut self, trouble: Option<&Trouble>) -> Result<Advice, Error> {
        let now_ms = self.door.clock.now_ms();
        let (settled, written) = match trouble {
            None => (Settled::Clean, Ok(())),
            Some(Trouble::Limited(limit)) => self.door.pause(limit, now_ms),
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
        let advice = self.give_back(settled, now_ms);
        written.map(|()| advice)
    }

    fn give_back(&mut self, settled: Settled, now_ms: i64) -> Advice {
        self.is_open = false;
        let advice = lock(&self.door.gate).settle(settled, now_ms);
        self.door.freed.notify_waiters();
        advice
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.give_back(Settled::Trouble, self.door.clock.now_ms());
        }
    }
}

/// A poisoned lock means that another task panicked; its numbers are still numbers.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
