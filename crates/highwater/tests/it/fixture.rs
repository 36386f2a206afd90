//! A simulated GitHub on a loopback port, and the program pointed at it.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use hw_sim::server::{WaitFuture, serve};
use hw_sim::{SimulatedGitHub, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A text that occurs nowhere else, so that tests can search for it.
pub(crate) const TOKEN: &str = "ghp_0nlyTheDoorMayHearThis";
const DAY_MS: i64 = 86_400_000;

pub(crate) struct GitHubFixture {
    github: Arc<Mutex<SimulatedGitHub>>,
    url: String,
    _runtime: Runtime,
}

impl GitHubFixture {
    /// Serves a world whose history ended yesterday, until it is dropped.
    pub(crate) fn start(spec: WorldSpec, seed: u64) -> Self {
        Self::start_behind(spec, seed, 0)
    }

    /// Serves the small world with a clock that is behind.
    pub(crate) fn start_late(ms: i64) -> Self {
        Self::start_behind(WorldSpec { latency_ms: 0..=1, ..WorldSpec::small() }, 1, ms)
    }

    fn start_behind(spec: WorldSpec, seed: u64, behind_ms: i64) -> Self {
        let spec = WorldSpec { start_ms: MachineClock.now_ms() - DAY_MS, ..spec };
        let github = Arc::new(Mutex::new(SimulatedGitHub::new(&spec, seed)));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let now = move || MachineClock.now_ms() - behind_ms;
        let wait = |ms| -> WaitFuture {
            let until = MachineClock.now_ms().saturating_add_unsigned(ms);
            Box::pin(async move { MachineClock.sleep_until(until).await })
        };
        runtime.spawn(serve(Arc::clone(&github), now, wait, listener));
        Self { github, url, _runtime: runtime }
    }

    /// Serves the small world, two repositories of which one is `pump`, with quick answers.
    pub(crate) fn start_small() -> Self {
        Self::start(WorldSpec { latency_ms: 0..=1, ..WorldSpec::small() }, 1)
    }

    pub(crate) fn with_github<T>(&self, action: impl FnOnce(&mut SimulatedGitHub) -> T) -> T {
        action(&mut self.github.lock().unwrap())
    }

    /// Returns the URL of its REST API.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn request_count(&self) -> usize {
        self.with_github(|github| github.request_log().entries.len())
    }

    /// Builds `highwater pull` of acme, with a token.
    pub(crate) fn pull_command(&self, args: &[&str]) -> Command {
        let mut command = program_command(&["pull", "--api-url", &self.url]);
        command.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", TOKEN).args(args);
        command
    }

    /// Builds `highwater doctor` for this world, with a token.
    pub(crate) fn doctor_command(&self, args: &[&str]) -> Command {
        let mut command = program_command(&["doctor", "--api-url", &self.url]);
        command.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", TOKEN).args(args);
        command
    }

    /// Runs a pull into this home that succeeds, and returns its summary.
    pub(crate) fn pull_json(&self, home: &Path, args: &[&str]) -> Value {
        let output = self.pull_command(args).arg("--json").arg("-m").arg(home).output().unwrap();
        serde_json::from_str(&success_stdout(&output)).unwrap()
    }

    /// Runs a pull into this home that fails, and returns its exit code and stderr.
    pub(crate) fn pull_failure(&self, home: &Path, args: &[&str]) -> (Option<i32>, String) {
        failure_output(&self.pull_command(args).arg("-m").arg(home).output().unwrap())
    }
}

/// Builds a command of the program without the developer's own environment.
pub(crate) fn program_command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_string_lossy().starts_with("HIGHWATER_")) {
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
        "BLUESKY_URL",
        "BLUESKY_HANDLE",
        "BLUESKY_APP_PASSWORD",
    ] {
        command.env_remove(name);
    }
    // a path without `gh`
    command.env("PATH", "/nonexistent");
    command.env("HOME", "/nonexistent").args(args);
    command
}

/// Starts the command with the default SIGHUP, as a terminal's shell does. Tests may run where it is ignored.
pub(crate) fn with_default_hangup(command: &Command) -> Command {
    with_env_option(command, "--default-signal=HUP")
}

/// Starts the command by `env` with this option.
pub(crate) fn with_env_option(command: &Command, option: &str) -> Command {
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

/// Returns the folder of a `gh` that prints `FAKE_GH`; the values `fails` and `hangs` make it fail or hang.
pub(crate) fn fake_gh() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake")
}

/// Runs `highwater list … --json`, and returns its rows.
pub(crate) fn list_json(home: &Path, args: &[&str]) -> Vec<Value> {
    let output =
        program_command(&["list"]).args(args).arg("--json").arg("-m").arg(home).output().unwrap();
    success_stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a read command in this home; its arguments may begin with a hyphen.
pub(crate) fn run_command(home: &Path, command: &str, args: &[&str]) -> Output {
    program_command(&[command]).env("HIGHWATER_HOME", home).args(args).output().unwrap()
}

/// Runs a read command with `--json`, and returns its rows.
pub(crate) fn run_command_json(home: &Path, command: &str, args: &[&str]) -> Vec<Value> {
    // before a query, but after the name of a list
    let is_list = ["list", "removed"].contains(&command);
    let (first, rest) = args.split_at(usize::from(is_list));
    let stdout = success_stdout(&run_command(home, command, &[first, &["--json"], rest].concat()));
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the stderr of a run.
pub(crate) fn stderr_text(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the names of an object's fields, sorted.
pub(crate) fn field_names(object: &Value) -> Vec<String> {
    let mut fields: Vec<String> = object.as_object().unwrap().keys().cloned().collect();
    fields.sort_unstable();
    fields
}

/// Pulls a world of texts that have broken other readers, comments included.
pub(crate) fn pull_hostile_world() -> (GitHubFixture, TempDir) {
    let spec = WorldSpec { hostile_text: true, latency_ms: 0..=1, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 3), tempfile::tempdir().unwrap());
    fixture
        .pull_json(home.path(), &["-i", "repositories,discussions,issues,pull-requests,comments"]);
    (fixture, home)
}

/// Pulls a small world, comments included.
pub(crate) fn pull_with_comments() -> (GitHubFixture, TempDir) {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture
        .pull_json(home.path(), &["-i", "repositories,discussions,issues,pull-requests,comments"]);
    (fixture, home)
}

/// Pulls a small world.
pub(crate) fn pull_small_world() -> (GitHubFixture, TempDir) {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    (fixture, home)
}

/// Lists everything stored in a home, with every text.
pub(crate) fn list_everything(home: &Path) -> Vec<Value> {
    let kinds = ["issues", "prs", "discussions", "repos"];
    let all: Vec<Value> =
        kinds.iter().flat_map(|kind| list_json(home, &[kind, "--workspace", "acme"])).collect();
    assert!(!all.is_empty(), "the home is empty, so nothing could be lost");
    all
}

/// Returns the stdout of a run that succeeded.
pub(crate) fn success_stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the exit code and the stderr of a run that failed.
pub(crate) fn failure_output(output: &Output) -> (Option<i32>, String) {
    assert!(!output.status.success(), "{output:?}");
    (output.status.code(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// Returns the field names in the first column of the table under a heading of `docs/json.md`, sorted.
pub(crate) fn documented_fields(heading: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section =
        page.split(&format!("## {heading}\n")).nth(1).expect("docs/json.md has this heading");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut fields: Vec<String> =
        rows.map(|row| row.split('`').next().unwrap().to_owned()).collect();
    fields.sort_unstable();
    fields
}

/// Returns the permission bits of a file or folder.
#[cfg(unix)]
pub(crate) fn file_mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
pub(crate) fn set_file_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns the URL of the private PostgreSQL that `./check` starts.
pub(crate) fn postgres_url() -> String {
    std::env::var("HIGHWATER_TEST_POSTGRES").expect(
        "HIGHWATER_TEST_POSTGRES is not set: `./check` starts a private PostgreSQL and sets it",
    )
}

/// Runs a trial for the seeds 1 to `count`, one at a time per fixture; returns how many trials took effect.
pub(crate) fn run_seeded(
    name: &str,
    fixtures: &[GitHubFixture],
    count: u64,
    trial: impl Fn(&GitHubFixture, u64) -> bool + Sync,
) -> usize {
    let seeds: Vec<u64> = (1..=count).collect();
    let mut effective = 0;
    for batch in seeds.chunks(fixtures.len()) {
        effective += std::thread::scope(|scope| {
            let start = |(seed, fixture): (&u64, _)| {
                let (seed, trial) = (*seed, &trial);
                // the name of a thread is printed with its panic
                let builder = std::thread::Builder::new().name(format!("{name}, seed {seed}"));
                builder.spawn_scoped(scope, move || trial(fixture, seed))
            };
            let running: Vec<_> = batch.iter().zip(fixtures).map(start).collect();
            let ended = running.into_iter().map(|thread| thread.unwrap().join());
            let ended =
                ended.map(|result| result.expect("the thread printed the failure and its seed"));
            ended.filter(|took_effect| *took_effect).count()
        });
    }
    println!("{name}: {effective} of {count} came while the program was running");
    effective
}
