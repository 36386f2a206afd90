//! The gate before every request: how many at once, how many a minute, and not at all while paused.
//!
//! A state machine without a clock: it is told the time and says go, or until when to wait. One gate per
//! principal and process; pauses and request numbers are shared between processes through the store.

use std::collections::{BTreeMap, VecDeque};

const FIRST_CONCURRENCY: u32 = 8;
const LARGEST_CONCURRENCY: u32 = 50;
/// Clean answers in a row after which one more request may be in flight.
const CLEAN_TO_GROW: u32 = 8;
const MINUTE_MS: i64 = 60_000;
/// After this long without any answer, what was learned about the source is forgotten.
const FORGET_AFTER_MS: i64 = 5 * MINUTE_MS;
/// Network failures in a row after which connections are made anew.
const RENEW_AFTER: u32 = 3;

/// What may be spent in a minute before the source calls it abuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    Rest,
    Graphql,
}

impl Api {
    pub fn points_a_minute(self) -> i64 {
        match self {
            Self::Rest => 900,
            Self::Graphql => 2_000,
        }
    }
}

/// Whether a request may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Go,
    /// Not before this time.
    WaitUntil(i64),
    /// As many are in flight as may be; ask again when one has come back.
    Full,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Clean,
    /// A limit: nothing starts before this time.
    Limited {
        until_ms: i64,
        secondary: bool,
        /// When the request was started.
        started_ms: i64,
    },
    /// An answer, but not a clean one.
    Trouble,
    NoAnswer,
}

/// What the caller has to do besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    Nothing,
    /// Make the connections anew.
    Renew,
}

/// The use of the hour's budget as the source last told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub used: i64,
    pub limit: i64,
}

#[derive(Debug)]
pub struct Gate {
    concurrency: u32,
    in_flight: u32,
    clean_in_a_row: u32,
    limits_in_a_row: u32,
    failures_in_a_row: u32,
    paused_until_ms: i64,
    /// When the last limit was met: what was started before met the same one.
    limited_at_ms: i64,
    /// The pace: nothing starts before this.
    next_start_ms: i64,
    recovering: bool,
    /// Since when requests go unanswered.
    silent_since_ms: Option<i64>,
    spent: VecDeque<(i64, Api, i64)>,
    usage: BTreeMap<Api, Usage>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            concurrency: FIRST_CONCURRENCY,
            in_flight: 0,
            clean_in_a_row: 0,
            limits_in_a_row: 0,
            failures_in_a_row: 0,
            paused_until_ms: i64::MIN,
            limited_at_ms: i64::MIN,
            next_start_ms: i64::MIN,
            recovering: false,
            silent_since_ms: None,
            spent: VecDeque::new(),
            usage: BTreeMap::new(),
        }
    }
}

impl Gate {
    /// Asks for a place. On `Go` the place is taken and must be given back with [`Gate::settle`], and the
    /// next one is given `pace_ms` later at the earliest.
    pub fn admit(&mut self, api: Api, points: i64, pace_ms: i64, now_ms: i64) -> Admission {
        self.forget_if_stale(now_ms);
        if now_ms < self.paused_until_ms {
            return Admission::WaitUntil(self.paused_until_ms);
        }
        if self.concurrency <= self.in_flight {
            return Admission::Full;
        }
        if now_ms < self.next_start_ms {
            return Admission::WaitUntil(self.next_start_ms);
        }
        if let Some(until) = self.minute_is_full(api, points, now_ms) {
            return Admission::WaitUntil(until);
        }
        self.in_flight += 1;
        self.next_start_ms = now_ms.saturating_add(pace_ms);
        self.spent.push_back((now_ms, api, points));
        Admission::Go
    }

    /// Gives the place back, and learns from what came.
    pub fn settle(&mut self, settled: Settled, now_ms: i64) -> Advice {
        self.in_flight = self.in_flight.saturating_sub(1);
        if settled != Settled::NoAnswer {
            self.silent_since_ms = None;
            self.failures_in_a_row = 0;
        }
        match settled {
            Settled::Clean => self.learn_clean(),
            Settled::Limited { until_ms, started_ms, .. } if self.is_known(started_ms) => {
                self.pause(until_ms);
            }
            Settled::Limited { until_ms, secondary, .. } => {
                self.learn_limit(until_ms, secondary, now_ms);
            }
            Settled::Trouble => self.clean_in_a_row = 0,
            Settled::NoAnswer => return self.learn_silence(now_ms),
        }
        Advice::Nothing
    }

    /// Nothing starts before this time, whoever found out. A pause is never shortened.
    pub fn pause(&mut self, until_ms: i64) {
        self.paused_until_ms = self.paused_until_ms.max(until_ms);
    }

    pub fn paused_until_ms(&self) -> Option<i64> {
        (self.paused_until_ms != i64::MIN).then_some(self.paused_until_ms)
    }

    /// How many limits came in a row, this one included if one was just met.
    pub fn limits_in_a_row(&self) -> u32 {
        self.limits_in_a_row
    }

    /// Whether answers are not clean yet after a limit.
    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Each has an hour of its own.
    pub fn usage(&self, api: Api) -> Usage {
        self.usage.get(&api).copied().unwrap_or_default()
    }

    pub fn observe_usage(&mut self, api: Api, usage: Usage) {
        self.usage.insert(api, usage);
    }

    fn learn_clean(&mut self) {
        self.limits_in_a_row = 0;
        self.clean_in_a_row += 1;
        if CLEAN_TO_GROW <= self.clean_in_a_row {
            self.clean_in_a_row = 0;
            self.recovering = false;
            self.concurrency = (self.concurrency + 1).min(LARGEST_CONCURRENCY);
        }
    }

    /// Whether a limit met by a request that was started then is the one that was met last: many can be in
    /// flight when it begins.
    pub fn is_known(&self, started_ms: i64) -> bool {
        started_ms <= self.limited_at_ms
    }

    fn learn_limit(&mut self, until_ms: i64, secondary: bool, now_ms: i64) {
        self.limited_at_ms = now_ms;
        self.clean_in_a_row = 0;
        self.limits_in_a_row += 1;
        self.pause(until_ms);
        if secondary {
            self.recovering = true;
            self.concurrency = (self.concurrency / 2).max(1);
        }
    }

    fn learn_silence(&mut self, now_ms: i64) -> Advice {
        self.silent_since_ms.get_or_insert(now_ms);
        self.clean_in_a_row = 0;
        self.failures_in_a_row += 1;
        if self.failures_in_a_row.is_multiple_of(RENEW_AFTER) {
            Advice::Renew
        } else {
            Advice::Nothing
        }
    }

    fn forget_if_stale(&mut self, now_ms: i64) {
        let silent = self.silent_since_ms.is_some_and(|since| since + FORGET_AFTER_MS < now_ms);
        if silent {
            tracing::info!("no answer for five minutes: the remembered limits are learned anew");
            self.silent_since_ms = Some(now_ms);
            self.usage.clear();
            self.limits_in_a_row = 0;
            self.recovering = false;
        }
    }

    /// When the minute's points have room again, if they have none now.
    fn minute_is_full(&mut self, api: Api, points: i64, now_ms: i64) -> Option<i64> {
        while self.spent.front().is_some_and(|(at, _, _)| at + MINUTE_MS <= now_ms) {
            self.spent.pop_front();
        }
        let of_api = || self.spent.iter().filter(|(_, spent_on, _)| *spent_on == api);
        let spent: i64 = of_api().map(|(_, _, points)| points).sum();
        if spent + points <= api.points_a_minute() {
            return None;
        }
        of_api().next().map(|(at, _, _)| at + MINUTE_MS)
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
