//! Convergence: whatever happens, the mirror ends equal to the simulated world.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use hw_rules::lane::PullItem;
use hw_sim::{
    ActivitySpec, ApiFault, FaultRates, OwnerKind, OwnerSpec, PaginationLoop, RateLimitSpec,
    SimulatedGitHub, ThreadKind, TokenEcho, WorldSpec,
};
use hw_store::StoreWriter;
use hw_sync::PullSummary;
use hw_sync::crash_points::CrashTrigger;

use crate::harness::shortcuts::FULL_PULL;
use crate::harness::{
    CheckLevel, RegressionWatch, SimFixture, TOKEN, TestPull, check_comments, check_complete_pull,
    check_mirror, on_virtual_time, postgres_location, postgres_seeds, test_seeds,
};
use crate::wrong_answers::token_echoes;

const MINUTE_MS: i64 = 60_000;

/// The points at which every large run must have crashed.
const CRASH_POINTS: [&str; 21] = [
    "clear: before commit",
    "chore: before commit",
    "chore: after commit",
    "chore: chunk done",
    "run: duty claimed",
    "fetch: before sending",
    "fetch: answered",
    "fetch: pause written",
    "sweep: looked again",
    "ingest: before commit",
    "ingest: after commit",
    "stage: before commit",
    "stage: after commit",
    "sweep: before commit",
    "sweep: after commit",
    "claim: before commit",
    "claim: after commit",
    "worker: before commit",
    "worker: after commit",
    "beat: before commit",
    "beat: after commit",
];

/// The points at which a run of a thousand seeds must have crashed, too.
const RARE_CRASH_POINTS: [&str; 22] = [
    "store closing references: before commit",
    "store closing references: after commit",
    "pause: before commit",
    "pause: after commit",
    "lift pause: before commit",
    "lift pause: after commit",
    "queue comments: before commit",
    "queue comments: after commit",
    "restart sweep: before commit",
    "restart sweep: after commit",
    "gone: looked again",
    "clear: after commit",
    "remove repositories: before commit",
    "remove repositories: after commit",
    "reserve: before commit",
    "reserve: after commit",
    "make due: before commit",
    "make due: after commit",
    "request sweep: before commit",
    "request sweep: after commit",
    "postpone: before commit",
    "postpone: after commit",
];

/// Counts over all seeds, to prove that faults and crashes really happened.
#[derive(Debug, Default)]
struct TroubleTally {
    faults: BTreeMap<ApiFault, u64>,
    crashes: BTreeMap<&'static str, u64>,
    removed: u64,
    quarantined: u64,
    pages: u64,
    /// Pulls that followed another one.
    followed: u64,
    /// Threads checked after pulls that called themselves complete while the source lied.
    claims: u64,
}

#[test]
fn mirror_always_ends_equal_to_the_world() {
    let mut trouble = TroubleTally::default();
    for seed in test_seeds() {
        let spec = random_spec(seed);
        let fixture = SimFixture::new(&spec, seed)
            .with_clock_skew(random_skew(seed))
            .with_sources(random_sources(seed));
        let fixture = SimFixture { largest_page: u32::try_from(3 + seed % 9).unwrap(), ..fixture };
        survive_faults(&fixture, &spec, Machines::One, &mut trouble)
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    trouble.assert_happened();
}

#[test]
fn mirror_always_ends_equal_to_the_world_on_postgres() {
    for seed in postgres_seeds() {
        let spec = random_spec(seed);
        let location = postgres_location(&format!("converge_{}_{seed}", std::process::id()));
        let store = StoreWriter::open(&location).unwrap();
        let fixture = SimFixture::with_store(&spec, seed, store)
            .with_clock_skew(random_skew(seed))
            .with_sources(random_sources(seed));
        let fixture = SimFixture { largest_page: 10, ..fixture };
        survive_faults(&fixture, &spec, Machines::Two, &mut TroubleTally::default())
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
}

/// Covers answers that are well formed and wrong: clocks, replicas, ETags, permissions, endless pages, impossible
/// items, echoed tokens.
#[test]
fn mirror_ends_equal_to_a_world_that_lies() {
    let mut trouble = TroubleTally::default();
    let mut lies = 0;
    for seed in test_seeds() {
        let mut spec = random_spec(seed);
        spec.activity.weights.hide_or_show_author = 3;
        let fixture = SimFixture::new(&spec, seed)
            .with_clock_skew(random_skew(seed))
            .with_sources(random_sources(seed));
        let fixture = SimFixture { largest_page: u32::try_from(3 + seed % 9).unwrap(), ..fixture };
        let plan = WrongAnswerPlan::new(seed, spec.replica_lag_ms);
        fixture.with_github(|github| github.set_strict_since(seed.is_multiple_of(2)));
        let survived = survive_wrong_answers(&fixture, &spec, &plan, &mut trouble);
        survived.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        lies += fixture.with_github(|github| github.wrong_answers_served());
    }
    assert!(lies > 0, "no wrong answer was served");
    let is_single_seed = test_seeds().count() == 1;
    assert!(trouble.claims > 0 || is_single_seed, "no pull called itself complete");
}

/// Pulls repeatedly while people write, answers are wrong and processes crash; then compares with the world.
fn survive_wrong_answers(
    fixture: &SimFixture,
    spec: &WorldSpec,
    plan: &WrongAnswerPlan,
    trouble: &mut TroubleTally,
) -> Result<(), String> {
    let crashes = Arc::new(Mutex::new(BTreeMap::new()));
    on_virtual_time(async {
        let mut turns = 0;
        while fixture.world_now_ms() < spec.activity.until_ms || turns < 4 {
            plan.apply_turn(fixture, turns);
            let pull = TestPull {
                reconcile: turns % 3 == 2,
                window_days: random_window(fixture.seed, turns),
                allow_mass_removal: turns % 2 == 1,
                crash_hook: Some(random_crash_hook(fixture.seed ^ (turns << 32), &crashes)),
                ..random_pull(fixture.seed, turns)
            };
            let began_ms = fixture.world_now_ms();
            // a failed pull is continued by the next one
            let pulled = fixture.pull(&pull).await;
            if pulled.is_ok_and(|summary| summary.failures.is_empty()) {
                trouble.claims += check_complete_pull(fixture, &pull, began_ms)?;
            }
            fixture.clock.advance_by(20_000).await;
            turns += 1;
        }
        plan.clear_all(fixture);
        let stored = token_echoes::stored_texts(fixture);
        if stored.contains(TOKEN) {
            return Err(format!("the token is stored: {stored}"));
        }
        wait_for_calm(fixture, spec).await;
        check_quiet_pulls(fixture, trouble).await
    })
}

/// Chooses which wrong answers the world serves; the choice differs before each pull.
struct WrongAnswerPlan {
    seed: u64,
    /// The turn at which the service's clock is shifted.
    steps_at: Option<u64>,
    /// The shift, larger than the disagreement allowed between answers.
    step_ms: i64,
    /// The longest lag of a replica.
    lag_ms: u64,
}

impl WrongAnswerPlan {
    fn new(seed: u64, lag_ms: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed.rotate_left(7));
        let hours = rng.i64(1..=5);
        let step_ms = if rng.bool() { hours * 3_600_000 } else { -hours * 3_600_000 };
        Self { seed, steps_at: rng.bool().then(|| rng.u64(..8)), step_ms, lag_ms }
    }

    fn apply_turn(&self, fixture: &SimFixture, turn: u64) {
        const HOUR_MS: i64 = 3_600_000;
        const WRONG_OFFSETS: [i64; 5] =
            [87_600 * HOUR_MS, -87_600 * HOUR_MS, 3 * HOUR_MS, -3 * HOUR_MS, 9 * 60_000];
        let mut rng = fastrand::Rng::with_seed(self.seed.rotate_left(41) ^ turn);
        let repositories: Vec<i64> = fixture
            .with_github(|github| github.world().truth().repositories.keys().copied().collect());
        fixture.with_github(|github| {
            github.allow_all_lists();
            github.set_pagination_loop(None);
            github.set_blind_etags(rng.u8(..) < 40);
            // one wrong date at a time: two dates that agree mean that the clock was changed
            github.clear_dates_and_lags();
            let mut offsets = vec![0; rng.usize(3..15)];
            offsets.push(WRONG_OFFSETS[rng.usize(..5)]);
            if rng.u8(..) < 80 {
                github.offset_next_dates(&offsets);
            }
            if rng.u8(..) < 80 {
                let lags: Vec<u64> = (0..12).map(|_| rng.u64(..=self.lag_ms)).collect();
                github.lag_next_replicas(&lags);
            }
            if Some(turn) == self.steps_at {
                github.shift_clock(self.step_ms);
            }
            if rng.u8(..) < 40 && !repositories.is_empty() {
                let kind = ThreadKind::ALL[rng.usize(..3)];
                github.forbid_list(repositories[rng.usize(..repositories.len())], kind);
            }
            if rng.u8(..) < 20 {
                let loops =
                    [PaginationLoop::Wrapping, PaginationLoop::Empty, PaginationLoop::Repeating];
                github.set_pagination_loop(Some(loops[rng.usize(..3)]));
            }
            github.clear_overrides();
            if rng.u8(..) < 60 {
                override_some_fields(github, &mut rng);
            }
            let echoes = (0..20).map(|_| (rng.u8(..) < 30).then(|| TokenEcho::ALL[rng.usize(..4)]));
            let echoes: Vec<_> = echoes.collect();
            github.echo_authorization(if rng.u8(..) < 60 { &echoes } else { &[] });
        });
    }

    /// Ends all wrong answers; a shifted clock stays shifted.
    fn clear_all(&self, fixture: &SimFixture) {
        fixture.with_github(|github| {
            github.allow_all_lists();
            github.set_pagination_loop(None);
            github.set_blind_etags(false);
            github.clear_dates_and_lags();
            github.clear_overrides();
            github.echo_authorization(&[]);
        });
    }
}

/// Gives a few items impossible ids, URLs or names.
///
/// An unused id is believed until a sweep, so a wrong id is always a sibling's.
fn override_some_fields(github: &mut SimulatedGitHub, rng: &mut fastrand::Rng) {
    let truth = github.world().truth();
    let threads = truth.threads.values().map(|thread| OverrideTarget {
        node_id: &thread.node_id,
        id: thread.id,
        list: format!("{:?} threads of {}", thread.kind, thread.repository_id),
    });
    let comments = truth.comments.values().map(|comment| OverrideTarget {
        node_id: &comment.node_id,
        id: comment.id,
        list: format!("{:?} comments of {}", comment.kind, comment.repository_id),
    });
    let repositories = truth.repositories.values().map(|repository| OverrideTarget {
        node_id: &repository.node_id,
        id: repository.id,
        list: repository.node_id.clone(),
    });
    let all: Vec<_> = threads.chain(comments).chain(repositories).collect();
    for _ in 0..rng.usize(1..=4).min(all.len()) {
        let OverrideTarget { node_id, list, .. } = &all[rng.usize(..all.len())];
        let siblings: Vec<_> = all.iter().filter(|other| other.list == *list).collect();
        match rng.u8(..6) {
            0 => github.override_id(node_id, 0),
            1 => github.override_id(node_id, -7),
            2 | 3 => github.override_id(node_id, siblings[rng.usize(..siblings.len())].id),
            4 => ["url", "html_url"].into_iter().for_each(|field| {
                github.override_field(node_id, field, "javascript:alert(1)".into());
            }),
            _ => ["title", "name"].into_iter().for_each(|field| {
                github.override_field(node_id, field, "x".repeat(10_000).into());
            }),
        }
    }
}

/// An item whose id, URL or name may be overridden.
struct OverrideTarget<'a> {
    node_id: &'a str,
    id: i64,
    /// The list it is in; items with the same text are siblings.
    list: String,
}

/// Returns a small busy world with faults, different for each seed.
fn random_spec(seed: u64) -> WorldSpec {
    let mut rng = fastrand::Rng::with_seed(seed);
    let small = WorldSpec::with_clock_jitter();
    let busy = rng.u32(1..=20);
    let until_ms = small.start_ms + 20 * MINUTE_MS;
    // every other world also disables features, renames and removes repositories, and reverts that
    let writers = if rng.bool() {
        ActivitySpec::disruptive(busy, until_ms)
    } else {
        ActivitySpec::busy(busy, until_ms)
    };
    let lag = rng.u64(0..=60_000);
    WorldSpec {
        repositories: rng.usize(1..=3),
        issues: rng.usize(0..=30),
        pull_requests: rng.usize(0..=12),
        discussions: rng.usize(0..=4),
        comments_per_thread: 1,
        hostile_text: true,
        activity: writers,
        max_request_weight: rng.bool().then(|| rng.u64(5..=12)),
        list_lag_ms: lag,
        replica_lag_ms: 60_000 - lag,
        faults: fault_rates(rng.f64() * 0.02),
        limits: RateLimitSpec::default(),
        other_owners: vec![
            OwnerSpec { login: "carol".to_owned(), kind: OwnerKind::User, repositories: 2 },
            OwnerSpec { login: "bob".to_owned(), kind: OwnerKind::User, repositories: 1 },
        ],
        ..small
    }
}

/// Returns what is followed beside the organization: nothing, a user, a single repository, or both.
fn random_sources(seed: u64) -> &'static [&'static str] {
    match seed % 4 {
        0 => &["carol"],
        1 => &["bob/pump"],
        2 => &["bob/pump", "carol"],
        _ => &[],
    }
}

/// Enables every fault. Faults inside an answer are more frequent: only two of them leave a row unread.
fn fault_rates(rate: f64) -> FaultRates {
    FaultRates::all_transient(rate)
        .with_rate(ApiFault::BadNode, 5.0 * rate)
        .with_rate(ApiFault::PartialError, 5.0 * rate)
}

/// Returns how far the machine's clock is off: up to ten minutes.
fn random_skew(seed: u64) -> i64 {
    fastrand::Rng::with_seed(!seed).i64(-600_000..=600_000)
}

/// Pulls repeatedly while people write, answers fail and processes crash; then waits and compares with the world.
fn survive_faults(
    fixture: &SimFixture,
    spec: &WorldSpec,
    machines: Machines,
    trouble: &mut TroubleTally,
) -> Result<(), String> {
    let crashes = Arc::new(Mutex::new(BTreeMap::new()));
    on_virtual_time(async {
        let mut watch = RegressionWatch::default();
        let mut turns = 0;
        while fixture.world_now_ms() < spec.activity.until_ms || turns < 4 {
            let pull = TestPull {
                reconcile: turns % 3 == 2,
                window_days: random_window(fixture.seed, turns),
                allow_mass_removal: turns % 2 == 1,
                crash_hook: Some(random_crash_hook(fixture.seed ^ (turns << 32), &crashes)),
                ..random_pull(fixture.seed, turns)
            };
            if pull.force {
                // texts that are read again may be older for a while
                watch = RegressionWatch::default();
            }
            let beside = machines.second_process(fixture, turns);
            let (pulled, helped) =
                tokio::join!(fixture.pull(&pull), pull_beside(&beside, &pull, turns, &crashes));
            for summary in pulled.into_iter().chain(helped) {
                trouble.pages += summary.total_tally().pages;
                trouble.followed += u64::from(summary.followed.is_some());
            }
            trouble.quarantined += fixture.store.quarantined_items().unwrap().len() as u64;
            watch.check_rows(fixture)?;
            fixture.clock.advance_by(20_000).await;
            turns += 1;
        }
        wait_for_calm(fixture, spec).await;
        check_quiet_pulls(fixture, trouble).await
    })?;
    fixture.with_github(|github| {
        for (fault, times) in github.fired_faults() {
            *trouble.faults.entry(*fault).or_default() += times;
        }
        // a process that crashes before it stores a limit loses it; another one learns of it with all requests that it
        // sends at once
        const SENT_AT_ONCE: u64 = 8;
        let lost = crashes.lock().unwrap().get("pause: before commit").copied().unwrap_or(0)
            + fixture.undelivered.load(Ordering::SeqCst);
        let started = github.requests_while_limited();
        if started > SENT_AT_ONCE * lost {
            return Err(format!("{started} requests were started while limited"));
        }
        Ok(())
    })?;
    crashes
        .lock()
        .unwrap()
        .iter()
        .for_each(|(point, n)| *trouble.crashes.entry(point).or_default() += n);
    Ok(())
}

/// The machines that two processes run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Machines {
    /// As beside a database file.
    One,
    /// With clocks that are up to ten minutes apart.
    Two,
}

impl Machines {
    fn second_process(self, fixture: &SimFixture, turn: u64) -> SimFixture {
        match self {
            Self::One => fixture.share(),
            // every other second machine is a new one each time, and knows nothing of the source's clock
            Self::Two => {
                let number = if fixture.seed.is_multiple_of(2) { turn } else { 0 };
                let mut rng = fastrand::Rng::with_seed(fixture.seed.rotate_left(23) ^ number);
                let machine = format!("there {number}");
                let other = fixture.with_clock_ahead(rng.i64(-600_000..=600_000));
                SimFixture { machine, ..other }
            }
        }
    }
}

/// Pulls the same at the same time in every third turn.
async fn pull_beside(
    fixture: &SimFixture,
    pull: &TestPull,
    turn: u64,
    crashes: &Arc<Mutex<BTreeMap<&'static str, u64>>>,
) -> Option<PullSummary> {
    let mut rng = fastrand::Rng::with_seed(fixture.seed.rotate_left(13) ^ turn);
    if !turn.is_multiple_of(3) {
        return None;
    }
    fixture.clock.advance_by(rng.u64(0..3_000)).await;
    let crash_hook = Some(random_crash_hook(fixture.seed.rotate_left(5) ^ (turn << 32), crashes));
    let pull = TestPull { owner: "beside", crash_hook, ..*pull };
    fixture.pull(&pull).await.ok()
}

/// Returns a window for every third seed, different for each pull.
fn random_window(seed: u64, turn: u64) -> Option<u32> {
    let mut rng = fastrand::Rng::with_seed(seed.rotate_left(17) ^ turn);
    (seed.is_multiple_of(3)).then(|| rng.u32(1..=40))
}

/// Returns a pull that mostly reads everything, sometimes a selection, and sometimes starts from scratch.
fn random_pull(seed: u64, turn: u64) -> TestPull {
    const SOME: [&[PullItem]; 5] = [
        &[PullItem::Discussions, PullItem::Issues, PullItem::Comments],
        &[PullItem::Issues],
        &[PullItem::PullRequests, PullItem::Discussions],
        &[PullItem::Repositories],
        &[PullItem::Repositories, PullItem::Issues],
    ];
    const EXCLUDED: [&[&str]; 3] = [&[], &["pump"], &["PUMP", "annex-3", "nowhere"]];
    let mut rng = fastrand::Rng::with_seed(seed.rotate_left(29) ^ turn);
    // every other seed pulls comments, too
    let usual: &[PullItem] =
        if seed.is_multiple_of(2) { &PullItem::ALL } else { &PullItem::DEFAULT };
    let items = if rng.u8(..) < 60 { SOME[rng.usize(..5)] } else { usual };
    let excluded = EXCLUDED[usize::from(rng.u8(..) < 60) * rng.usize(..3)];
    TestPull { items, excluded, force: rng.u8(..) < 20, ..TestPull::PLAIN }
}

/// Waits until people stop writing and every list is up to date; ends all faults.
async fn wait_for_calm(fixture: &SimFixture, spec: &WorldSpec) {
    fixture.with_github(|github| github.set_fault_rates(FaultRates::none()));
    let rest = spec.activity.until_ms - fixture.world_now_ms();
    // after an hour lists of comments are checked even if their threads did not change
    fixture.clock.advance_by(u64::try_from(rest).unwrap_or(0) + 63 * 60_000).await;
}

/// Leaves out failures of single repositories that the token cannot see: no pull can read those.
fn forget_missing_sources(fixture: &SimFixture, summary: &mut PullSummary) {
    let visible = fixture.followed_truth().repositories;
    if fixture.single_ids.iter().any(|id| !visible.contains_key(id)) {
        summary.failures.retain(|failure| failure.scope != "bob/pump");
    }
}

async fn check_quiet_pulls(fixture: &SimFixture, trouble: &mut TroubleTally) -> Result<(), String> {
    let calm = TestPull { allow_mass_removal: true, ..FULL_PULL };
    let mut pulled = fixture.pull(&calm).await.map_err(|error| error.to_string())?;
    if pulled.failures.iter().any(|failure| failure.message.contains("clock was set back")) {
        pulled = fixture.pull(&calm).await.map_err(|error| error.to_string())?;
    }
    forget_missing_sources(fixture, &mut pulled);
    if !pulled.failures.is_empty() {
        let waiting = fixture.store.quarantined_items().unwrap();
        return Err(format!(
            "a quiet pull had errors: {:?}; waiting: {waiting:?}",
            pulled.failures
        ));
    }
    check_mirror(fixture, CheckLevel::CreationsAndEdits)?;
    check_comments(fixture, CheckLevel::CreationsAndEdits)?;
    let sweep = TestPull { reconcile: true, ..calm };
    let mut swept = fixture.pull(&sweep).await.map_err(|error| error.to_string())?;
    forget_missing_sources(fixture, &mut swept);
    if !swept.failures.is_empty() {
        return Err(format!("a quiet sweep had errors: {:?}", swept.failures));
    }
    trouble.removed += swept.total_tally().removed;
    check_mirror(fixture, CheckLevel::Everything)?;
    check_comments(fixture, CheckLevel::Everything)
}

/// Crashes at random, at any point.
fn random_crash_hook(seed: u64, crashes: &Arc<Mutex<BTreeMap<&'static str, u64>>>) -> CrashTrigger {
    let rng = Mutex::new(fastrand::Rng::with_seed(seed));
    let crashes = Arc::clone(crashes);
    // some pulls finish, others crash early
    let odds = [10, 20, 40][usize::try_from(seed % 3).unwrap()];
    Arc::new(move |point| {
        let odds = match point {
            // a worker beats every second while a pull waits
            _ if point.starts_with("beat") => 2,
            // few runs get here, and a thousand of them must be enough
            _ if point.starts_with("make due") || point == "fetch: pause written" => 5 * odds,
            _ => odds,
        };
        let crash = rng.lock().unwrap().u32(0..1_000) < odds;
        if crash {
            *crashes.lock().unwrap().entry(point).or_default() += 1;
        }
        crash
    })
}

impl TroubleTally {
    /// Fails unless every fault and every crash point occurred: otherwise the test proves nothing.
    fn assert_happened(&self) {
        if test_seeds().count() < 50 {
            return;
        }
        for fault in ApiFault::ALL.into_iter().filter(|fault| *fault != ApiFault::Unauthorized) {
            assert!(
                self.faults.contains_key(&fault),
                "{fault:?} never happened: {:?}",
                self.faults
            );
        }
        let rare = if test_seeds().count() < 1_000 { &[][..] } else { &RARE_CRASH_POINTS };
        for point in CRASH_POINTS.iter().chain(rare) {
            assert!(self.crashes.contains_key(point), "no crash at {point:?}: {:?}", self.crashes);
        }
        assert!(self.removed > 0 && self.pages > 0 && self.quarantined > 0, "{self:?}");
        assert!(self.followed > 0, "no pull followed another one");
    }
}
