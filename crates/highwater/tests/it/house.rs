//! A simulated GitHub on a loopback port, and the program pointed at it.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use hw_sim::server::{Wait, serve};
use hw_sim::{GitHub, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// Unlike any other text, so that it can be looked for.
pub(crate) const TOKEN: &str = "ghp_0nlyTheDoorMayHearThis";
const DAY_MS: i64 = 86_400_000;

pub(crate) struct House {
    github: Arc<Mutex<GitHub>>,
    url: String,
    _runtime: Runtime,
}

impl House {
    /// Serves a world whose history ended yesterday, until it is dropped.
    pub(crate) fn open(spec: WorldSpec, seed: u64) -> Self {
        Self::behind(spec, seed, 0)
    }

    /// The small world, whose clock is late by so much.
    pub(crate) fn late(ms: i64) -> Self {
        Self::behind(WorldSpec { latency_ms: 0..=1, ..WorldSpec::small() }, 1, ms)
    }

    fn behind(spec: WorldSpec, seed: u64, behind_ms: i64) -> Self {
        let spec = WorldSpec { start_ms: MachineClock.now_ms() - DAY_MS, ..spec };
        let github = Arc::new(Mutex::new(GitHub::new(&spec, seed)));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let now = move || MachineClock.now_ms() - behind_ms;
        let wait = |ms| -> Wait {
            let until = MachineClock.now_ms().saturating_add_unsigned(ms);
            Box::pin(async move { MachineClock.sleep_until(until).await })
        };
        runtime.spawn(serve(Arc::clone(&github), now, wait, listener));
        Self { github, url, _runtime: runtime }
    }

    /// The two repositories of the small world, `pump` and another one, and quick answers.
    pub(crate) fn small() -> Self {
        Self::open(WorldSpec { latency_ms: 0..=1, ..WorldSpec::small() }, 1)
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut GitHub) -> T) -> T {
        look(&mut self.github.lock().unwrap())
    }

    /// Where its REST API is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn requests(&self) -> usize {
        self.look(|github| github.requests().entries.len())
    }

    /// `highwater pull` of acme, with a token.
    pub(crate) fn pull(&self, args: &[&str]) -> Command {
        let mut command = program(&["pull", "--api-url", &self.url]);
        command.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", TOKEN).args(args);
        command
    }

    /// `highwater doctor` of this world, with a token.
    pub(crate) fn doctor(&self, args: &[&str]) -> Command {
        let mut command = program(&["doctor", "--api-url", &self.url]);
        command.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", TOKEN).args(args);
        command
    }

    /// A pull into this home that succeeds; its summary.
    pub(crate) fn pulled(&self, home: &Path, args: &[&str]) -> Value {
        let output = self.pull(args).arg("--json").arg("-m").arg(home).output().unwrap();
        serde_json::from_str(&succeeded(&output)).unwrap()
    }

    /// A pull into this home that fails; its exit code, and what it said on stderr.
    pub(crate) fn refused(&self, home: &Path, args: &[&str]) -> (Option<i32>, String) {
        failed(&self.pull(args).arg("-m").arg(home).output().unwrap())
    }
}

/// The program, with nothing from the developer's own environment.
pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    let ours = std::env::vars_os().map(|(name, _)| name);
    let ours = ours.filter(|name| name.to_string_lossy().starts_with("HIGHWATER_"));
    for name in ours {
        command.env_remove(name);
    }
    for name in [
        "ORGANIZATION",
        "GITHUB_TOKEN",
        "EXCLUDED_REPOSITORIES",
        "GITHUB_API_URL",
        "GITHUB_GRAPHQL_URL",
        "NO_COLOR",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "UI_PORT",
    ] {
        command.env_remove(name);
    }
    // where there is no `gh`
    command.env("PATH", "/nonexistent");
    command.env("HOME", "/nonexistent").args(args);
    command
}

/// The same command, started with SIGHUP as a terminal's shell leaves it. Tests may run where it is ignored.
pub(crate) fn hearing_hangups(command: &Command) -> Command {
    with_hangups(command, "--default-signal=HUP")
}

/// The same command, started by `env` with this option.
pub(crate) fn with_hangups(command: &Command, option: &str) -> Command {
    let mut through_env = Command::new("/usr/bin/env");
    through_env.arg(option).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => through_env.env(name, value),
            None => through_env.env_remove(name),
        };
    }
    through_env
}

/// The folder with a `gh` that says what `FAKE_GH` says; `fails` and `hangs` are what they are.
pub(crate) fn fake_gh() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake")
}

/// `highwater list … --json`, line by line.
pub(crate) fn listed(home: &Path, args: &[&str]) -> Vec<Value> {
    let output = program(&["list"]).args(args).arg("--json").arg("-m").arg(home).output().unwrap();
    succeeded(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One of the commands that only answer, in this home; what follows it may begin with a hyphen.
pub(crate) fn asked(home: &Path, command: &str, args: &[&str]) -> Output {
    program(&[command]).env("HIGHWATER_HOME", home).args(args).output().unwrap()
}

/// The same, told in JSON, line by line.
pub(crate) fn asked_json(home: &Path, command: &str, args: &[&str]) -> Vec<Value> {
    // in front of a query, and behind the name of a list
    let is_list = ["list", "removed"].contains(&command);
    let (first, rest) = args.split_at(usize::from(is_list));
    let told = succeeded(&asked(home, command, &[first, &["--json"], rest].concat()));
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a run said on stderr.
pub(crate) fn warned(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The names of an object's fields, sorted.
pub(crate) fn fields(object: &Value) -> Vec<String> {
    let mut fields: Vec<String> = object.as_object().unwrap().keys().cloned().collect();
    fields.sort_unstable();
    fields
}

/// A world of texts that have broken somebody's reader before, with its comments, in a home.
pub(crate) fn hostile() -> (House, TempDir) {
    let spec = WorldSpec { hostile_text: true, latency_ms: 0..=1, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 3), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &["-i", "repositories,discussions,issues,pull-requests,comments"]);
    (house, home)
}

/// A small world with its comments, and a home that holds all of it.
pub(crate) fn talking() -> (House, TempDir) {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &["-i", "repositories,discussions,issues,pull-requests,comments"]);
    (house, home)
}

/// A small world, and a home that holds all of it.
pub(crate) fn pulled() -> (House, TempDir) {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    (house, home)
}

/// All that a home holds, with every text.
pub(crate) fn everything(home: &Path) -> Vec<Value> {
    let kinds = ["issues", "prs", "discussions", "repos"];
    let all: Vec<Value> =
        kinds.iter().flat_map(|kind| listed(home, &[kind, "--workspace", "acme"])).collect();
    assert!(!all.is_empty(), "there is something that could be lost");
    all
}

/// What a run that succeeded printed.
pub(crate) fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The exit code of a run that failed, and what it said on stderr.
pub(crate) fn failed(output: &Output) -> (Option<i32>, String) {
    assert!(!output.status.success(), "{output:?}");
    (output.status.code(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// The field names in the first column of the table under a heading of `docs/json.md`, sorted.
pub(crate) fn documented_fields(heading: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split(&format!("## {heading}\n")).nth(1).expect("the heading is there");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut fields: Vec<String> =
        rows.map(|row| row.split('`').next().unwrap().to_owned()).collect();
    fields.sort_unstable();
    fields
}

/// The private PostgreSQL that `./check` starts.
pub(crate) fn postgres() -> String {
    std::env::var("HIGHWATER_TEST_POSTGRES").expect(
        "HIGHWATER_TEST_POSTGRES is not set: `./check` starts a private PostgreSQL and sets it",
    )
}

/// Tries the seeds from 1 on, as many at once as there are houses; how many trials met what they were for.
pub(crate) fn seeded(
    what: &str,
    houses: &[House],
    count: u64,
    trial: impl Fn(&House, u64) -> bool + Sync,
) -> usize {
    let seeds: Vec<u64> = (1..=count).collect();
    let mut met = 0;
    for some in seeds.chunks(houses.len()) {
        met += std::thread::scope(|scope| {
            let start = |(seed, house): (&u64, _)| {
                let (seed, trial) = (*seed, &trial);
                // a thread that fails is named before its message
                let named = std::thread::Builder::new().name(format!("{what}, seed {seed}"));
                named.spawn_scoped(scope, move || trial(house, seed))
            };
            let running: Vec<_> = some.iter().zip(houses).map(start).collect();
            let ended = running.into_iter().map(|it| it.unwrap().join());
            let ended = ended.map(|it| it.expect("the thread has said what failed, and its seed"));
            ended.filter(|was_met| *was_met).count()
        });
    }
    println!("{what}: {met} of {count} came while the program was at work");
    met
}
