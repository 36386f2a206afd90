//! The door to the source: whose limits they are, one place at the gate for each request, and the pauses
//! that every process keeps.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hw_rules::backoff::Jitter;
use hw_rules::pace::{self, Pace};
use hw_rules::time::Mark;
use hw_sources::gate::{Admission, Advice, Api, Gate, Settled};
use hw_sources::github::limits::Sample;
use hw_sources::trouble::{BELIEVED_MS, Limit, LimitKind, Trouble, Wait};
use hw_store::{PauseRow, Store, reserve_name};
use tokio::sync::Notify;

use crate::Error;
use crate::budget::{Next, Numbers};
use crate::clock::Clock;
use crate::crash::{self, CrashPoints};
use crate::news::{Herald, News};

/// The reason for a pause after which requests stay slow for a while.
const SLOW_AFTER_SECONDARY: &str =
    "secondary limit; after it 5 to 10 s between requests until eight answers in a row are clean";

/// What a source may name, and what our own waits may add to it.
const LONGEST_PAUSE_MS: i64 = BELIEVED_MS + 45 * 60_000;

pub(crate) struct Door {
    store: Store,
    settings: Settings,
    /// Whose limits these are: host and user, never a token.
    principal: Mutex<String>,
    gate: Mutex<Gate>,
    freed: Notify,
    numbers: Mutex<Numbers>,
    dice: Mutex<fastrand::Rng>,
    /// Until when this run has reported that it waits.
    reported_until_ms: AtomicI64,
    /// The end of the last pause for the reserve that the source was asked about, and what came of it.
    reviewed: Mutex<Option<ReviewedReserve>>,
}

/// A pause for the reserve that the source was asked about.
#[derive(Debug, Clone, Copy)]
struct ReviewedReserve {
    until_ms: i64,
    is_lifted: bool,
}

/// How a door is kept.
pub(crate) struct Settings {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) crash: CrashPoints,
    pub(crate) herald: Herald,
    pub(crate) pace: Pace,
    /// How much of the hour's budget is left for the user's other tools.
    pub(crate) reserve_percent: i64,
    /// Where the dice for jitter start.
    pub(crate) seed: u64,
}

/// A place at the gate: given back with what came, or, if nobody gets to that, when it is dropped.
pub(crate) struct Place<'a> {
    door: &'a Door,
    /// The request's number.
    pub(crate) number: i64,
    started_ms: i64,
    is_open: bool,
}

impl Door {
    pub(crate) fn new(store: Store, principal: &str, settings: Settings) -> Self {
        Self {
            store,
            principal: Mutex::new(principal.to_owned()),
            gate: Mutex::default(),
            freed: Notify::new(),
            numbers: Mutex::default(),
            dice: Mutex::new(fastrand::Rng::with_seed(settings.seed)),
            reported_until_ms: AtomicI64::new(i64::MIN),
            reviewed: Mutex::default(),
            settings,
        }
    }

    fn now_ms(&self) -> i64 {
        self.settings.clock.now_ms()
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

    /// Learns how much of the hour is used; what is left for others is not touched before the hour ends.
    pub(crate) fn observe(&self, api: Api, sample: &Sample, date: Mark) -> Result<(), Error> {
        lock(&self.gate).observe_usage(api, sample.usage());
        let resets_in_ms = sample.reset.0.saturating_sub(date.0);
        let Sample { used, limit, remaining, .. } = *sample;
        if api == Api::Graphql {
            self.settings.herald.tell(|| News::Budget { used, limit, resets_in_ms });
        }
        if resets_in_ms <= 0 || !pace::is_reserve(remaining, limit, self.settings.reserve_percent) {
            return Ok(());
        }
        let until_ms = Wait::Reset(resets_in_ms).until_ms(self.now_ms(), 1, self.jitter());
        let percent = self.settings.reserve_percent;
        let why = match percent {
            0 => "the hour's budget is used up".to_owned(),
            _ => format!("{percent} % kept in reserve for other tools (`--reserve 0` uses it)"),
        };
        let written = self.write_pause(&reserve_name(&self.principal()), until_ms, &why);
        lock(&self.gate).pause(until_ms);
        written
    }

    /// Takes a number, waits for a place at the gate, and takes it.
    ///
    /// The number comes first: it may have to wait for the database, and nothing may come between the
    /// last look at the pauses and the request.
    pub(crate) async fn enter(&self, api: Api) -> Result<Place<'_>, Error> {
        let number = self.number(api).await?;
        loop {
            let freed = self.freed.notified();
            if let Some(pause) = self.current_pause()? {
                self.report_pause(&pause);
                lock(&self.gate).pause(pause.until_ms);
            }
            match self.admit(api) {
                Admission::Go => break,
                Admission::WaitUntil(until) => self.settings.clock.sleep_until(until).await,
                Admission::Full => freed.await,
            }
        }
        let place = Place { door: self, number, started_ms: self.now_ms(), is_open: true };
        self.settings.crash.pass(crash::BEFORE_SENDING)?;
        Ok(place)
    }

    /// The next request number; waits while all processes together have reserved a minute's worth.
    async fn number(&self, api: Api) -> Result<i64, Error> {
        let a_minute = api.points_a_minute();
        loop {
            let next = lock(&self.numbers).next(
                &self.store,
                &self.principal(),
                a_minute,
                self.now_ms(),
            )?;
            match next {
                Next::Number(number) => return Ok(number),
                Next::NotBefore(until_ms) => self.settings.clock.sleep_until(until_ms).await,
            }
        }
    }

    fn admit(&self, api: Api) -> Admission {
        let jitter = self.jitter();
        let mut gate = lock(&self.gate);
        let usage = gate.usage(api);
        let recovering = gate.is_recovering();
        let pace_ms =
            pace::delay_ms(self.settings.pace, usage.used, usage.limit, recovering, jitter);
        gate.admit(api, 1, pace_ms, self.now_ms())
    }

    /// Until when all who speak for this principal wait.
    ///
    /// A pause far beyond any limit was written by a clock that stood elsewhere.
    pub(crate) fn paused_until(&self) -> Result<Option<i64>, Error> {
        Ok(self.current_pause()?.map(|pause| pause.until_ms))
    }

    /// The longest pause that holds for this run; it may be past.
    fn current_pause(&self) -> Result<Option<PauseRow>, Error> {
        let latest_ms = self.now_ms() + LONGEST_PAUSE_MS;
        let pauses = self.store.pauses_of(&self.principal(), latest_ms)?;
        let lifted = lock(&self.reviewed).filter(|reviewed| reviewed.is_lifted);
        let is_lifted = |pause: &PauseRow| {
            pause.is_reserve() && lifted.is_some_and(|lifted| pause.until_ms <= lifted.until_ms)
        };
        Ok(pauses.into_iter().find(|pause| !is_lifted(pause)))
    }

    /// Returns the end of a pause that only the reserve caused, once each: another setting, or a budget that is full
    /// again, may have made it pointless.
    pub(crate) fn reserve_to_review(&self) -> Result<Option<i64>, Error> {
        let (now_ms, latest_ms) = (self.now_ms(), self.now_ms() + LONGEST_PAUSE_MS);
        let mut pauses = self.store.pauses_of(&self.principal(), latest_ms)?;
        pauses.retain(|pause| pause.until_ms > now_ms);
        let Some(longest) = pauses.first().map(|pause| pause.until_ms) else { return Ok(None) };
        if !pauses.iter().all(PauseRow::is_reserve) {
            return Ok(None);
        }
        let mut reviewed = lock(&self.reviewed);
        if reviewed.is_some_and(|reviewed| longest <= reviewed.until_ms)
            || lock(&self.gate).paused_until_ms().is_some_and(|until_ms| longest <= until_ms)
        {
            return Ok(None);
        }
        *reviewed = Some(ReviewedReserve { until_ms: longest, is_lifted: false });
        Ok(Some(longest))
    }

    /// Ignores pauses for the reserve that end no later than this, and deletes them, so that no other command
    /// reports them.
    pub(crate) fn lift_reserve(&self, until_ms: i64) -> Result<(), Error> {
        *lock(&self.reviewed) = Some(ReviewedReserve { until_ms, is_lifted: true });
        // the user may not be known yet: what is stored for the host's users is lifted, too
        for pause in self.store.pauses_of(&self.principal(), until_ms)? {
            if pause.is_reserve() {
                self.store.lift_pause(&pause.principal, until_ms)?;
            }
        }
        Ok(())
    }

    /// Whether so much of a budget is used that the rest is the reserve.
    pub(crate) fn is_reserve(&self, used: i64, limit: i64) -> bool {
        pace::is_reserve(limit.saturating_sub(used), limit, self.settings.reserve_percent)
    }

    /// Reports a pause that another run wrote, once: nothing else happens until it is over.
    fn report_pause(&self, pause: &PauseRow) {
        let PauseRow { until_ms, why, .. } = pause;
        let reported = self.reported_until_ms.fetch_max(*until_ms, Ordering::Relaxed);
        if *until_ms > self.now_ms() && *until_ms > reported {
            self.settings.herald.tell(|| News::Paused { why: why.clone(), until_ms: *until_ms });
        }
    }

    /// Writes a pause down before anybody learns of it, so that nobody starts after it.
    fn pause(&self, limit: &Limit, started_ms: i64, now_ms: i64) -> (Settled, Result<(), Error>) {
        let in_a_row = {
            let gate = lock(&self.gate);
            gate.limits_in_a_row() + u32::from(!gate.is_known(started_ms))
        };
        let until_ms = limit.wait.until_ms(now_ms, in_a_row, self.jitter());
        let secondary = limit.kind == LimitKind::Secondary;
        let why = if secondary { SLOW_AFTER_SECONDARY } else { "the hour's budget is used up" };
        let written = self.write_pause(&self.principal(), until_ms, why);
        (Settled::Limited { until_ms, secondary, started_ms }, written)
    }

    fn write_pause(&self, principal: &str, until_ms: i64, why: &str) -> Result<(), Error> {
        tracing::warn!(why, wait_s = (until_ms - self.now_ms()) / 1_000, "limited: pausing");
        self.reported_until_ms.fetch_max(until_ms, Ordering::Relaxed);
        self.settings.herald.tell(|| News::Paused { why: why.to_owned(), until_ms });
        let latest_ms = self.now_ms() + LONGEST_PAUSE_MS;
        self.store.pause(principal, until_ms, latest_ms, why)?;
        self.settings.crash.pass(crash::PAUSE_WRITTEN)
    }
}

impl Place<'_> {
    /// Gives the place back with what came, and says whether the connections are to be made anew.
    ///
    /// Should the store fail at writing a pause, this process at least keeps it.
    pub(crate) fn settle(mut self, trouble: Option<&Trouble>) -> Result<Advice, Error> {
        let now_ms = self.door.now_ms();
        let (settled, written) = match trouble {
            None => (Settled::Clean, Ok(())),
            Some(Trouble::Limited(limit)) => self.door.pause(limit, self.started_ms, now_ms),
            Some(Trouble::Network(_) | Trouble::Unreachable(_) | Trouble::Untrusted(_)) => {
                (Settled::NoAnswer, Ok(()))
            }
            Some(
                Trouble::TooMuch(_)
                | Trouble::Server(_)
                | Trouble::Garbled(_)
                | Trouble::Denied(_)
                | Trouble::Forbidden(_)
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
            self.give_back(Settled::Trouble, self.door.now_ms());
        }
    }
}

/// A poisoned lock means that another task panicked; its numbers are still numbers.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
