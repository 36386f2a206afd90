//! Whatever is said, however GitHub fails, and wherever the process dies: the events are those of the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::event::{EventChange, StateChange};
use hw_rules::item::{self, ObjectKind};
use hw_rules::watch::WatchStart;
use hw_sim::{
    ActivitySpec, CommentKind, EventFloor, EventOracle, EventWatch, FaultRates, SeenChange,
    SeenEvent, SeenState, SeenText, WorldSpec,
};
use hw_store::{ConsumerRead, ConsumerStart, DeliveryRef, EventRow, NewConsumer, StoreWriter};
use hw_sync::crash_points::CrashTrigger;

use super::watch_fixture::{INTERVAL_MS, WatchFixture};
use crate::harness::{SimFixture, on_virtual_time, postgres_location, postgres_seeds, test_seeds};

/// The time in which people talk.
const TALK_MS: i64 = 20 * 60_000;
const DAY_MS: u64 = 24 * 3_600_000;
/// Points at which a run of many seeds must have crashed.
const CRASH_POINTS: [&str; 8] = [
    "run: duty claimed",
    "fetch: before sending",
    "fetch: answered",
    "ingest: before commit",
    "ingest: after commit",
    "record moved threads: before commit",
    "record moved threads: after commit",
    "claim: after commit",
];

/// Counts over all seeds, to prove that faults and crashes really happened.
#[derive(Debug, Default)]
struct Troubles {
    faults: u64,
    crashes: BTreeMap<&'static str, u64>,
    events: usize,
}

#[test]
fn events_are_always_those_of_the_world() {
    let mut troubles = Troubles::default();
    let seeds = test_seeds();
    let is_large = seeds.clone().count() >= 200;
    for seed in seeds {
        let story = WatchStory::new(seed, |spec| SimFixture::new(spec, seed));
        on_virtual_time(story.run(&mut troubles));
    }
    assert!(troubles.events > 0, "{troubles:?}");
    if is_large {
        assert!(troubles.faults > 0, "{troubles:?}");
        for point in CRASH_POINTS {
            assert!(troubles.crashes.contains_key(point), "no crash at {point}: {troubles:?}");
        }
    }
}

#[test]
fn events_are_always_those_of_the_world_on_postgres() {
    let mut troubles = Troubles::default();
    for seed in postgres_seeds() {
        let location = postgres_location(&format!("events_{}_{seed}", std::process::id()));
        let store = StoreWriter::open(&location).unwrap();
        let story = WatchStory::new(seed, |spec| SimFixture::with_store(spec, seed, store));
        on_virtual_time(story.run(&mut troubles));
    }
    assert!(troubles.events > 0, "{troubles:?}");
}

/// One world, and a process that watches it and dies at times.
struct WatchStory {
    seed: u64,
    fixture: WatchFixture,
    watches: Vec<EventWatch>,
}

impl WatchStory {
    fn new(seed: u64, open: impl FnOnce(&WorldSpec) -> SimFixture) -> Self {
        let start_ms = WorldSpec::small().start_ms;
        let spec = WorldSpec {
            repositories: 2,
            issues: 3,
            pull_requests: 3,
            discussions: 0,
            comments_per_thread: 3,
            no_archives_or_forks: true,
            activity: ActivitySpec::conversations(6, start_ms + TALK_MS),
            list_lag_ms: if seed.is_multiple_of(3) { 30_000 } else { 0 },
            replica_lag_ms: if seed.is_multiple_of(4) { 10_000 } else { 0 },
            faults: if seed.is_multiple_of(2) {
                FaultRates::all_transient(0.03)
            } else {
                FaultRates::none()
            },
            ..WorldSpec::small()
        };
        Self { seed, fixture: WatchFixture::over(open(&spec)), watches: Vec::new() }
    }

    async fn run(mut self, troubles: &mut Troubles) {
        self.add_watches();
        let crashes = Arc::new(Mutex::new(BTreeMap::new()));
        let first_ms = self.fixture.sim.world_now_ms();
        let mut round = 0;
        while self.fixture.sim.world_now_ms() < first_ms + TALK_MS {
            round += 1;
            let hook = self.crash_hook(round, &crashes);
            if hook.is_some() {
                self.fixture.restart(hook);
            }
            if self.fixture.try_poll().await.is_err() {
                self.fixture.restart(None);
            }
            let wait_ms = INTERVAL_MS / 2 + self.random(round, 1) % INTERVAL_MS;
            self.fixture.sim.clock.advance_by(wait_ms).await;
        }
        self.fixture.sim.with_github(|github| github.set_fault_rates(FaultRates::none()));
        self.fixture.restart(None);
        self.poll_until_quiet(6).await;
        self.fixture.sim.clock.advance_by(DAY_MS + 3_600_000).await;
        self.poll_until_quiet(8).await;
        self.check_events();
        self.check_deliveries();
        troubles.events += self.fixture.events().len();
        let fired =
            self.fixture.sim.with_github(|github| github.fired_faults().values().sum::<u64>());
        troubles.faults += fired;
        let crashes = crashes.lock().unwrap();
        for (point, count) in &*crashes {
            *troubles.crashes.entry(*point).or_default() += count;
        }
    }

    /// Watches every thread of the first repository, and the whole second one, from their beginning.
    fn add_watches(&mut self) {
        let now_ms = self.fixture.sim.world_now_ms();
        let threads = self.fixture.threads();
        let first = threads[0].repository_id;
        for thread in threads.iter().filter(|thread| thread.repository_id == first) {
            self.fixture.watch(&self.fixture.subject(thread), Some(WatchStart::Beginning));
            let active_ms = now_ms + TALK_MS;
            self.watches.push(EventWatch::from_beginning(first, thread.number, now_ms, active_ms));
        }
        let other = threads.iter().find(|thread| thread.repository_id != first).unwrap();
        let subject = self.fixture.subject(other);
        let (repository, _) = subject.split_once('#').unwrap();
        self.fixture.watch(repository, Some(WatchStart::Beginning));
        self.watches.push(EventWatch {
            floor: EventFloor::Beginning,
            ..EventWatch::of_repository(other.repository_id, now_ms, now_ms, now_ms + TALK_MS)
        });
    }

    /// Returns a trigger that kills the process somewhere in this round, for two rounds in three.
    fn crash_hook(
        &self,
        round: u64,
        crashes: &Arc<Mutex<BTreeMap<&'static str, u64>>>,
    ) -> Option<CrashTrigger> {
        let nth = u32::try_from(self.random(round, 2) % 90).unwrap();
        if nth < 30 {
            return None;
        }
        let (passed, crashes) = (AtomicU32::new(0), Arc::clone(crashes));
        Some(Arc::new(move |point| {
            let is_hit = passed.fetch_add(1, Ordering::SeqCst) + 30 == nth;
            if is_hit {
                *crashes.lock().unwrap().entry(point).or_default() += 1;
            }
            is_hit
        }))
    }

    async fn poll_until_quiet(&mut self, polls: u32) {
        for _ in 0..polls {
            self.fixture.sim.clock.advance_by(INTERVAL_MS).await;
            let summary = self.fixture.try_poll().await;
            let summary = summary.unwrap_or_else(|error| panic!("seed {}: {error}", self.seed));
            assert_eq!(summary.failures, Vec::<String>::new(), "seed {}", self.seed);
        }
    }

    fn check_events(&self) {
        let watches = self.watches.clone();
        let oracle = self
            .fixture
            .sim
            .with_github(|github| EventOracle::new(github.world(), watches).after_sweep());
        let seen = self.fixture.events().into_iter().map(to_seen_event);
        oracle.check(seen).unwrap_or_else(|wrong| panic!("seed {}: {wrong}", self.seed));
        self.fixture.check_no_doubles();
    }

    /// Two consumers get all events that are delivered, each once.
    fn check_deliveries(&self) {
        let store = &self.fixture.sim.store;
        let delivered: BTreeSet<String> = self
            .fixture
            .events()
            .into_iter()
            .filter(|row| row.event.class.is_delivered())
            .map(|row| row.event.id)
            .collect();
        for name in ["one", "other"] {
            let (start, max_tries) = (ConsumerStart::Beginning, 5);
            let consumer = NewConsumer { name: name.to_owned(), start, max_tries };
            store.add_consumer(&consumer, 0).unwrap();
            let mut read = BTreeSet::new();
            for batch in 0.. {
                let leased = store
                    .lease_events(&ConsumerRead {
                        consumer: name.to_owned(),
                        limit: 7,
                        lease_token: format!("{name}-{batch}"),
                        lease_ms: 60_000,
                        now_ms: batch,
                    })
                    .unwrap();
                if leased.is_empty() {
                    break;
                }
                let tokens: Vec<DeliveryRef> =
                    leased.iter().map(|leased| DeliveryRef::Token(leased.token.clone())).collect();
                store.acknowledge_events(name, &tokens, batch).unwrap();
                for leased in leased {
                    let id = leased.event.event.id;
                    assert!(read.insert(id.clone()), "seed {}: {id} came twice", self.seed);
                }
            }
            assert_eq!(read, delivered, "seed {}", self.seed);
        }
    }

    fn random(&self, round: u64, salt: u64) -> u64 {
        let mut state = self.seed ^ (round << 20) ^ (salt << 50);
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    }
}

fn to_seen_event(EventRow { event, .. }: EventRow) -> SeenEvent {
    let id = event.object.id;
    let kind = match event.object.kind {
        ObjectKind::Comment(item::CommentKind::ReviewComment) => CommentKind::ReviewComment,
        ObjectKind::Comment(item::CommentKind::Review) => CommentKind::Review,
        ObjectKind::Repository
        | ObjectKind::Thread(_)
        | ObjectKind::Comment(_)
        | ObjectKind::Post => CommentKind::Conversation,
    };
    let change = match event.change {
        EventChange::Withdrawn => SeenChange::Withdrawn { kind, id },
        EventChange::State(state) => SeenChange::State(match state {
            StateChange::Opened => SeenState::Opened,
            StateChange::Closed => SeenState::Closed,
            StateChange::Reopened => SeenState::Reopened,
            StateChange::Merged => SeenState::Merged,
            StateChange::HeadMoved => SeenState::HeadMoved(event.head_sha.unwrap_or_default()),
            StateChange::Labeled => {
                let mut labels = event.labels;
                labels.sort();
                SeenState::Labeled(Some(labels))
            }
        }),
        EventChange::Created | EventChange::Edited => SeenChange::Said(SeenText {
            kind,
            id,
            is_created: event.change == EventChange::Created,
            body: event.body,
            updated_at: event.updated_at.as_str().to_owned(),
            review_state: event.state.filter(|_| kind == CommentKind::Review),
        }),
    };
    SeenEvent { repository_id: event.repository.id.0, number: event.number, change }
}
