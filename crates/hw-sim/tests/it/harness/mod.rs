//! What the tests are built from: a virtual clock, a wire to the simulated GitHub, and the judge's eye.

mod claims;
mod clock;
mod judge;
mod said;
mod wire;
pub(crate) mod words;

use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use hw_rules::lane::Choice;
use hw_rules::pace::{Pace, RESERVE_PERCENT};
use hw_sim::{GitHub, WorldSpec};
use hw_sources::github::graphql::Endpoint;
use hw_sources::github::rest::Rest;
use hw_sources::transport::Transport;
use hw_store::{Place, Store};
use hw_sync::Summary;
use hw_sync::crash::{CrashPoints, Plug};
use hw_sync::fetch::{Fetch, Line};
use hw_sync::news::Herald;
use hw_sync::run::{Pull, pull};

pub(crate) use claims::check_complete_pull;
pub(crate) use clock::VirtualClock;
pub(crate) use judge::{Judge, Watch, all_rows, check_mirror};
pub(crate) use said::{check_comments, missing_comments};
pub(crate) use wire::Wire;

pub(crate) const HOST: &str = "github.com";
/// Like no other text.
pub(crate) const TOKEN: &str = "t0ken-l1ke-n0-0ther-text";

/// A simulated GitHub, a store, and a clock that both live by.
pub(crate) struct Scene {
    pub(crate) github: Arc<Mutex<GitHub>>,
    pub(crate) store: Store,
    pub(crate) clock: Arc<VirtualClock>,
    pub(crate) organization: String,
    pub(crate) largest_page: u32,
    pub(crate) pace: Pace,
    pub(crate) reserve_percent: i64,
    pub(crate) seed: u64,
    /// How far the machine's clock is off from the world's: rules must never compare the two.
    pub(crate) skew_ms: i64,
    /// Who hears what a pull tells.
    pub(crate) herald: Herald,
    /// How often connections were made anew.
    pub(crate) renewed: Arc<AtomicU64>,
    /// Answers that were sent to a process that died before they arrived.
    pub(crate) undelivered: Arc<AtomicU64>,
}

/// Who pulls, and how.
pub(crate) struct Puller {
    pub(crate) owner: &'static str,
    pub(crate) reconcile: bool,
    pub(crate) plug: Option<Plug>,
    pub(crate) window_days: Option<u32>,
    pub(crate) items: &'static [Choice],
    pub(crate) only: &'static [&'static str],
    pub(crate) excluded: &'static [&'static str],
    pub(crate) force: bool,
    pub(crate) allow_mass_removal: bool,
    pub(crate) repair: bool,
}

impl Puller {
    /// A plain pull of everything.
    pub(crate) const PLAIN: Self = Self {
        owner: "test",
        reconcile: false,
        plug: None,
        window_days: None,
        items: &Choice::USUAL,
        only: &[],
        excluded: &[],
        force: false,
        allow_mass_removal: false,
        repair: false,
    };
}

impl Default for Puller {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Scene {
    /// A world made from a seed, and an empty store in memory.
    pub(crate) fn new(spec: &WorldSpec, seed: u64) -> Self {
        Self::with_store(spec, seed, Store::open(&Place::Memory).unwrap())
    }

    pub(crate) fn with_store(spec: &WorldSpec, seed: u64, store: Store) -> Self {
        Self {
            github: Arc::new(Mutex::new(GitHub::new(spec, seed))),
            store,
            clock: Arc::new(VirtualClock::starting_at(spec.start_ms)),
            organization: spec.organization.clone(),
            largest_page: 100,
            pace: Pace::Adaptive,
            reserve_percent: RESERVE_PERCENT,
            seed,
            skew_ms: 0,
            herald: Herald::default(),
            renewed: Arc::default(),
            undelivered: Arc::default(),
        }
    }

    /// The same scene on a machine whose clock is this much behind the world's.
    pub(crate) fn skewed(self, skew_ms: i64) -> Self {
        let start_ms = self.now();
        let clock = Arc::new(VirtualClock::starting_at(start_ms - skew_ms));
        Self { clock, skew_ms, ..self }
    }

    /// A new process: everything but the store and the world starts anew.
    pub(crate) fn process(&self, plug: Option<Plug>) -> (Store, Fetch) {
        self.process_over(Arc::new(Wire::of(self)), plug)
    }

    /// A pull by a process that hears the world over another wire.
    pub(crate) async fn pull_over(
        &self,
        transport: Arc<dyn Transport>,
        puller: &Puller,
    ) -> Result<Summary, hw_sync::Error> {
        let (store, fetch) = self.process_over(transport, puller.plug.clone());
        pull(&store, &fetch, &self.plan(puller)).await
    }

    fn process_over(&self, transport: Arc<dyn Transport>, plug: Option<Plug>) -> (Store, Fetch) {
        let store = match &plug {
            Some(plug) => self.store.clone().with_interrupts(Arc::clone(plug)),
            None => self.store.clone(),
        };
        let line = Line {
            transport,
            endpoint: Endpoint {
                url: "https://api.github.com/graphql".into(),
                token: TOKEN.into(),
            },
            rest: Rest { url: "https://api.github.com".into(), token: TOKEN.into() },
            clock: self.clock.clone(),
            crash: plug.map(CrashPoints::new).unwrap_or_default(),
            herald: self.herald.clone(),
            pace: self.pace,
            reserve_percent: self.reserve_percent,
            largest_page: self.largest_page,
            seed: self.seed,
        };
        (store.clone(), Fetch::new(line, store, HOST))
    }

    pub(crate) async fn pull(&self, puller: &Puller) -> Result<Summary, hw_sync::Error> {
        let (store, fetch) = self.process(puller.plug.clone());
        pull(&store, &fetch, &self.plan(puller)).await
    }

    pub(crate) fn plan(&self, puller: &Puller) -> Pull {
        Pull {
            host: HOST.into(),
            organization: self.organization.clone(),
            owner: puller.owner.into(),
            machine: "here".into(),
            items: puller.items.iter().copied().collect(),
            only: puller.only.iter().map(|name| (*name).to_owned()).collect(),
            excluded: puller.excluded.iter().map(|name| (*name).to_owned()).collect(),
            force: puller.force,
            window_days: puller.window_days,
            reconcile: puller.reconcile,
            allow_mass_removal: puller.allow_mass_removal,
            repair: puller.repair,
        }
    }

    /// The world's own time.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now() + self.skew_ms
    }

    /// Polls a pull until the world has seen so many requests; true when it ended before.
    pub(crate) async fn poll_until<T>(
        &self,
        pull: &mut Pin<&mut impl Future<Output = T>>,
        requests: u64,
    ) -> bool {
        while self.world(|github| github.requests().total) < requests {
            tokio::select! {
                biased;
                _ = pull.as_mut() => return true,
                () = self.clock.pass(5) => {}
            }
        }
        false
    }

    /// Looks into the world, or changes it by hand.
    pub(crate) fn world<T>(&self, look: impl FnOnce(&mut GitHub) -> T) -> T {
        let mut github = self.github.lock().unwrap();
        github.advance(self.now());
        look(&mut github)
    }
}

/// Runs a story on virtual time: whoever waits makes the time jump.
pub(crate) fn on_virtual_time<T>(story: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(story)
}

/// The seeds to try: 1 to `HIGHWATER_SEEDS`, a few without it; `HIGHWATER_SEED` to look at one of them,
/// or at some (`1001..2000`).
pub(crate) fn seeds() -> std::ops::RangeInclusive<u64> {
    if let Some(text) = variable("HIGHWATER_SEED") {
        let (first, last) = text.split_once("..").unwrap_or((&text, &text));
        return first.parse().unwrap()..=last.parse().unwrap();
    }
    1..=number("HIGHWATER_SEEDS").unwrap_or(20)
}

/// The same for PostgreSQL, where each costs more.
pub(crate) fn seeds_postgres() -> std::ops::RangeInclusive<u64> {
    1..=number("HIGHWATER_SEEDS_POSTGRES").unwrap_or(2)
}

/// A place of its own in the private PostgreSQL that `./check` starts.
pub(crate) fn postgres(schema: &str) -> Place {
    let url = variable("HIGHWATER_TEST_POSTGRES").expect(
        "HIGHWATER_TEST_POSTGRES is not set: `./check` starts a private PostgreSQL and sets it",
    );
    Place::Postgres { url, schema: schema.to_owned() }
}

fn number(name: &str) -> Option<u64> {
    variable(name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[expect(clippy::disallowed_methods, reason = "a test's environment is its argument")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
