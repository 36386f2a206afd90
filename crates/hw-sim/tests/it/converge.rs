//! Whatever happens, the mirror ends equal to the world.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use hw_rules::lane::Choice;
use hw_sim::{Circle, Echo, Fault, FaultRates, GitHub, Limits, ThreadKind, WorldSpec, Writers};
use hw_store::Store;
use hw_sync::crash::Plug;

use crate::harness::words::ALL;
use crate::harness::{
    Judge, Puller, Scene, TOKEN, Watch, check_comments, check_complete_pull, check_mirror,
    on_virtual_time, postgres, seeds, seeds_postgres,
};
use crate::lies::echoes;

const MINUTE_MS: i64 = 60_000;

/// The points at which every large run must have crashed.
const POINTS: [&str; 14] = [
    "clear: before commit",
    "run: lease taken",
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
    "lease: before commit",
    "lease: after commit",
];

/// And those at which a run of a thousand must have.
const RARER_POINTS: [&str; 18] = [
    "pause: before commit",
    "pause: after commit",
    "queue talks: before commit",
    "queue talks: after commit",
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

/// What happened over all seeds, to prove that the trouble was real.
#[derive(Debug, Default)]
struct Trouble {
    faults: BTreeMap<Fault, u64>,
    crashes: BTreeMap<&'static str, u64>,
    removed: u64,
    quarantined: u64,
    pages: u64,
    /// How many threads were checked after lying pulls that called themselves complete.
    claims: u64,
}

#[test]
fn the_mirror_always_ends_equal_to_the_world() {
    let mut trouble = Trouble::default();
    for seed in seeds() {
        let spec = spec(seed);
        let scene = Scene::new(&spec, seed).skewed(skew(seed));
        let scene = Scene { largest_page: u32::try_from(3 + seed % 9).unwrap(), ..scene };
        survive(&scene, &spec, &mut trouble).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    trouble.was_real();
}

#[test]
fn the_mirror_always_ends_equal_to_the_world_on_postgres() {
    for seed in seeds_postgres() {
        let spec = spec(seed);
        let place = postgres(&format!("converge_{}_{seed}", std::process::id()));
        let store = Store::open(&place).unwrap();
        let scene = Scene::with_store(&spec, seed, store).skewed(skew(seed));
        let scene = Scene { largest_page: 10, ..scene };
        survive(&scene, &spec, &mut Trouble::default())
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
}

/// The same with answers that are well formed and wrong: clocks, replicas, ETags, rights, endless pages, impossible
/// items, quoted tokens.
#[test]
fn the_mirror_ends_equal_to_a_world_that_lies() {
    let mut trouble = Trouble::default();
    let mut lies = 0;
    for seed in seeds() {
        let mut spec = spec(seed);
        spec.writers.weights.hide_or_show_author = 3;
        let scene = Scene::new(&spec, seed).skewed(skew(seed));
        let scene = Scene { largest_page: u32::try_from(3 + seed % 9).unwrap(), ..scene };
        let liar = Liar::new(seed, spec.replica_lag_ms);
        scene.world(|github| github.read_since_strictly(seed.is_multiple_of(2)));
        let survived = survive_lies(&scene, &spec, &liar, &mut trouble);
        survived.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        lies += scene.world(|github| github.lies_told());
    }
    assert!(lies > 0, "no lie was told");
    let is_one_alone = seeds().count() == 1;
    assert!(trouble.claims > 0 || is_one_alone, "no pull called itself complete");
}

/// Pulls again and again while people write, answers lie and processes die; then the truth.
fn survive_lies(
    scene: &Scene,
    spec: &WorldSpec,
    liar: &Liar,
    trouble: &mut Trouble,
) -> Result<(), String> {
    let crashes = Arc::new(Mutex::new(BTreeMap::new()));
    on_virtual_time(async {
        let mut turns = 0;
        while scene.now() < spec.writers.until_ms || turns < 4 {
            liar.lie(scene, turns);
            let puller = Puller {
                reconcile: turns % 3 == 2,
                window_days: window(scene.seed, turns),
                allow_mass_removal: turns % 2 == 1,
                plug: Some(plug(scene.seed ^ (turns << 32), &crashes)),
                ..choice(scene.seed, turns)
            };
            let began_ms = scene.now();
            // it may fail, and the next one goes on
            let pulled = scene.pull(&puller).await;
            if pulled.is_ok_and(|summary| summary.failures.is_empty()) {
                trouble.claims += check_complete_pull(scene, &puller, began_ms)?;
            }
            scene.clock.pass(20_000).await;
            turns += 1;
        }
        liar.rest(scene);
        let stored = echoes::stored_texts(scene);
        if stored.contains(TOKEN) {
            return Err(format!("the token is stored: {stored}"));
        }
        calm(scene, spec).await;
        quiet_turns(scene, trouble).await
    })
}

/// Who makes the world lie, differently before each pull.
struct Liar {
    seed: u64,
    /// When the service's clock is set, and by how much: more than its answers may disagree by.
    steps_at: Option<u64>,
    step_ms: i64,
    /// How far a replica may lag.
    lag_ms: u64,
}

impl Liar {
    fn new(seed: u64, lag_ms: u64) -> Self {
        let mut dice = fastrand::Rng::with_seed(seed.rotate_left(7));
        let hours = dice.i64(1..=5);
        let step_ms = if dice.bool() { hours * 3_600_000 } else { -hours * 3_600_000 };
        Self { seed, steps_at: dice.bool().then(|| dice.u64(..8)), step_ms, lag_ms }
    }

    fn lie(&self, scene: &Scene, turn: u64) {
        const HOUR_MS: i64 = 3_600_000;
        const WRONG: [i64; 5] =
            [87_600 * HOUR_MS, -87_600 * HOUR_MS, 3 * HOUR_MS, -3 * HOUR_MS, 9 * 60_000];
        let mut dice = fastrand::Rng::with_seed(self.seed.rotate_left(41) ^ turn);
        let repositories: Vec<i64> =
            scene.world(|github| github.world().truth().repositories.keys().copied().collect());
        scene.world(|github| {
            github.forbid_nothing();
            github.turn_in_circles(None);
            github.blind_etags(dice.u8(..) < 40);
            // one wrong date at a time: two that agree are a clock that was set
            github.date_and_serve_rightly();
            let mut offsets = vec![0; dice.usize(3..15)];
            offsets.push(WRONG[dice.usize(..5)]);
            if dice.u8(..) < 80 {
                github.misdate(&offsets);
            }
            if dice.u8(..) < 80 {
                let lags: Vec<u64> = (0..12).map(|_| dice.u64(..=self.lag_ms)).collect();
                github.lag_in_order(&lags);
            }
            if Some(turn) == self.steps_at {
                github.set_clock_by(self.step_ms);
            }
            if dice.u8(..) < 40 && !repositories.is_empty() {
                let kind = ThreadKind::ALL[dice.usize(..3)];
                github.forbid(repositories[dice.usize(..repositories.len())], kind);
            }
            if dice.u8(..) < 20 {
                let circles = [Circle::Wrapping, Circle::Empty, Circle::Repeating];
                github.turn_in_circles(Some(circles[dice.usize(..3)]));
            }
            github.falsify_nothing();
            if dice.u8(..) < 60 {
                falsify_some(github, &mut dice);
            }
            let echo = |dice: &mut fastrand::Rng| Echo::ALL[dice.usize(..4)];
            let echoes = (0..20).map(|_| (dice.u8(..) < 30).then(|| echo(&mut dice)));
            let echoes: Vec<_> = echoes.collect();
            github.echo_authorization(if dice.u8(..) < 60 { &echoes } else { &[] });
        });
    }

    /// No new lies; the clock stays where it is.
    fn rest(&self, scene: &Scene) {
        scene.world(|github| {
            github.forbid_nothing();
            github.turn_in_circles(None);
            github.blind_etags(false);
            github.date_and_serve_rightly();
            github.falsify_nothing();
            github.echo_authorization(&[]);
        });
    }
}

/// Gives a few things ids, addresses or names that cannot be theirs.
///
/// An id that nobody else has is as good as the right one until a sweep, so a wrong one is that of a sibling.
fn falsify_some(github: &mut GitHub, dice: &mut fastrand::Rng) {
    let truth = github.world().truth();
    let home = |kind: String, repository: i64| format!("{kind} of {repository}");
    let threads = truth.threads.values();
    let threads =
        threads.map(|it| (&it.node_id, it.id, home(format!("{:?}", it.kind), it.repository_id)));
    let comments = truth.comments.values();
    let comments =
        comments.map(|it| (&it.node_id, it.id, home(format!("{:?}", it.kind), it.repository_id)));
    let repositories = truth.repositories.values();
    let repositories = repositories.map(|it| (&it.node_id, it.id, it.node_id.clone()));
    let all: Vec<_> = threads.chain(comments).chain(repositories).collect();
    for _ in 0..dice.usize(1..=4).min(all.len()) {
        let (node_id, _, home) = &all[dice.usize(..all.len())];
        let siblings: Vec<_> = all.iter().filter(|(.., of)| of == home).collect();
        match dice.u8(..6) {
            0 => github.renumber(node_id, 0),
            1 => github.renumber(node_id, -7),
            2 | 3 => github.renumber(node_id, siblings[dice.usize(..siblings.len())].1),
            4 => ["url", "html_url"].into_iter().for_each(|field| {
                github.falsify(node_id, field, "javascript:alert(1)".into());
            }),
            _ => ["title", "name"].into_iter().for_each(|field| {
                github.falsify(node_id, field, "x".repeat(10_000).into());
            }),
        }
    }
}

/// A small busy world in bad weather, different for each seed.
fn spec(seed: u64) -> WorldSpec {
    let mut dice = fastrand::Rng::with_seed(seed);
    let small = WorldSpec::rough();
    let busy = dice.u32(1..=20);
    let until_ms = small.start_ms + 20 * MINUTE_MS;
    // every other world also takes features, names and whole repositories away and gives them back
    let writers =
        if dice.bool() { Writers::rough(busy, until_ms) } else { Writers::busy(busy, until_ms) };
    let lag = dice.u64(0..=60_000);
    WorldSpec {
        repositories: dice.usize(1..=3),
        issues: dice.usize(0..=30),
        pull_requests: dice.usize(0..=12),
        discussions: dice.usize(0..=4),
        comments_per_thread: 1,
        hostile_text: true,
        writers,
        heaviest: dice.bool().then(|| dice.u64(5..=12)),
        list_lag_ms: lag,
        replica_lag_ms: 60_000 - lag,
        faults: faults(dice.f64() * 0.02),
        limits: Limits::default(),
        ..small
    }
}

/// Every fault; those inside an answer more often, because they have to come twice to leave a row unread.
fn faults(rate: f64) -> FaultRates {
    FaultRates::every(rate).with(Fault::BadNode, 5.0 * rate).with(Fault::PartialError, 5.0 * rate)
}

/// The machine's clock is up to ten minutes off.
fn skew(seed: u64) -> i64 {
    fastrand::Rng::with_seed(!seed).i64(-600_000..=600_000)
}

/// Pulls again and again while people write, answers fail and processes die; then calm, and the truth.
fn survive(scene: &Scene, spec: &WorldSpec, trouble: &mut Trouble) -> Result<(), String> {
    let crashes = Arc::new(Mutex::new(BTreeMap::new()));
    on_virtual_time(async {
        let mut watch = Watch::default();
        let mut turns = 0;
        while scene.now() < spec.writers.until_ms || turns < 4 {
            let puller = Puller {
                reconcile: turns % 3 == 2,
                window_days: window(scene.seed, turns),
                allow_mass_removal: turns % 2 == 1,
                plug: Some(plug(scene.seed ^ (turns << 32), &crashes)),
                ..choice(scene.seed, turns)
            };
            if puller.force {
                // what is read anew may be older for a while
                watch = Watch::default();
            }
            if let Ok(summary) = scene.pull(&puller).await {
                trouble.pages += summary.total().pages;
            }
            trouble.quarantined += scene.store.quarantined().unwrap().len() as u64;
            watch.look(scene)?;
            scene.clock.pass(20_000).await;
            turns += 1;
        }
        calm(scene, spec).await;
        quiet_turns(scene, trouble).await
    })?;
    scene.world(|github| {
        for (fault, times) in github.fired() {
            *trouble.faults.entry(*fault).or_default() += times;
        }
        // a process that dies with a limit in hand, or on its way, takes it to the grave; the next one
        // learns it anew with one request
        let lost = crashes.lock().unwrap().get("pause: before commit").copied().unwrap_or(0)
            + scene.undelivered.load(Ordering::SeqCst);
        let started = github.started_while_limited();
        if lost < started {
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

/// Sometimes a window, wider and narrower from pull to pull; none at the end.
fn window(seed: u64, turn: u64) -> Option<u32> {
    let mut dice = fastrand::Rng::with_seed(seed.rotate_left(17) ^ turn);
    (seed.is_multiple_of(3)).then(|| dice.u32(1..=40))
}

/// Mostly everything; sometimes some of it, sometimes from scratch.
fn choice(seed: u64, turn: u64) -> Puller {
    const SOME: [&[Choice]; 5] = [
        &[Choice::Discussions, Choice::Issues, Choice::Comments],
        &[Choice::Issues],
        &[Choice::PullRequests, Choice::Discussions],
        &[Choice::Repositories],
        &[Choice::Repositories, Choice::Issues],
    ];
    const EXCLUDED: [&[&str]; 3] = [&[], &["pump"], &["PUMP", "annex-3", "nowhere"]];
    let mut dice = fastrand::Rng::with_seed(seed.rotate_left(29) ^ turn);
    // every other reader wants to know what is said, too
    let usual: &[Choice] = if seed.is_multiple_of(2) { &Choice::ALL } else { &Choice::USUAL };
    let items = if dice.u8(..) < 60 { SOME[dice.usize(..5)] } else { usual };
    let excluded = EXCLUDED[usize::from(dice.u8(..) < 60) * dice.usize(..3)];
    Puller { items, excluded, force: dice.u8(..) < 20, ..Puller::PLAIN }
}

/// Writers rest, faults end, and everything that was on its way arrives.
async fn calm(scene: &Scene, spec: &WorldSpec) {
    scene.world(|github| github.change_weather(FaultRates::none()));
    let rest = spec.writers.until_ms - scene.now();
    // after an hour lists of comments are looked at, whether their threads moved or not
    scene.clock.pass(u64::try_from(rest).unwrap_or(0) + 63 * 60_000).await;
}

async fn quiet_turns(scene: &Scene, trouble: &mut Trouble) -> Result<(), String> {
    let calm = Puller { allow_mass_removal: true, ..ALL };
    let mut pulled = scene.pull(&calm).await.map_err(|error| error.to_string())?;
    if pulled.failures.iter().any(|it| it.message.contains("clock was set back")) {
        pulled = scene.pull(&calm).await.map_err(|error| error.to_string())?;
    }
    if !pulled.failures.is_empty() {
        let waiting = scene.store.quarantined().unwrap();
        return Err(format!(
            "a quiet pull had errors: {:?}; waiting: {waiting:?}",
            pulled.failures
        ));
    }
    check_mirror(scene, Judge::CreationsAndEdits)?;
    check_comments(scene, Judge::CreationsAndEdits)?;
    let sweep = Puller { reconcile: true, ..calm };
    let swept = scene.pull(&sweep).await.map_err(|error| error.to_string())?;
    if !swept.failures.is_empty() {
        return Err(format!("a quiet sweep had errors: {:?}", swept.failures));
    }
    trouble.removed += swept.total().removed;
    check_mirror(scene, Judge::Everything)?;
    check_comments(scene, Judge::Everything)
}

/// Pulls the plug now and then, at whichever point is reached.
fn plug(seed: u64, crashes: &Arc<Mutex<BTreeMap<&'static str, u64>>>) -> Plug {
    let dice = Mutex::new(fastrand::Rng::with_seed(seed));
    let crashes = Arc::clone(crashes);
    // some pulls come to their end, others hardly begin
    let odds = [10, 20, 40][usize::try_from(seed % 3).unwrap()];
    Arc::new(move |point| {
        // the lease is renewed each second of every wait
        let odds = if point.starts_with("lease") { 2 } else { odds };
        let crash = dice.lock().unwrap().u32(0..1_000) < odds;
        if crash {
            *crashes.lock().unwrap().entry(point).or_default() += 1;
        }
        crash
    })
}

impl Trouble {
    /// A test that armed trouble and met none proved nothing.
    fn was_real(&self) {
        if seeds().count() < 50 {
            return;
        }
        for fault in Fault::ALL.into_iter().filter(|fault| *fault != Fault::Unauthorized) {
            assert!(
                self.faults.contains_key(&fault),
                "{fault:?} never happened: {:?}",
                self.faults
            );
        }
        let rarer = if seeds().count() < 1_000 { &[][..] } else { &RARER_POINTS };
        for point in POINTS.iter().chain(rarer) {
            assert!(self.crashes.contains_key(point), "no crash at {point:?}: {:?}", self.crashes);
        }
        assert!(0 < self.removed && 0 < self.pages && 0 < self.quarantined, "{self:?}");
    }
}
