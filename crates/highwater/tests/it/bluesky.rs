//! `highwater bluesky`, against a simulated AppView on a loopback port.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use hw_sim::bluesky::{BlueskySpec, PostDraft, SimulatedAppView, XrpcEndpoint, XrpcError};
use hw_sim::server::{WaitFuture, serve};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::fixture::{failure_output, field_names, program_command, stderr_text, success_stdout};

/// A simulated AppView on a loopback port, and a home of its own.
struct AppViewServer {
    app_view: Arc<Mutex<SimulatedAppView>>,
    url: String,
    home: TempDir,
    _runtime: Runtime,
}

impl AppViewServer {
    /// Serves a world whose history ended just now.
    fn start(spec: &BlueskySpec) -> Self {
        let spec =
            BlueskySpec { start_ms: MachineClock.now_ms(), latency_ms: 0..=1, ..spec.clone() };
        let app_view = Arc::new(Mutex::new(SimulatedAppView::new(&spec, 1)));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let wait = |ms| -> WaitFuture {
            let until = MachineClock.now_ms().saturating_add_unsigned(ms);
            Box::pin(async move { MachineClock.sleep_until(until).await })
        };
        runtime.spawn(serve(Arc::clone(&app_view), || MachineClock.now_ms(), wait, listener));
        Self { app_view, url, home: tempfile::tempdir().unwrap(), _runtime: runtime }
    }

    fn with<T>(&self, action: impl FnOnce(&mut SimulatedAppView) -> T) -> T {
        let mut app_view = self.app_view.lock().unwrap();
        app_view.advance_to(MachineClock.now_ms());
        action(&mut app_view)
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    /// Builds `highwater bluesky`.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = program_command(&["bluesky"]);
        command.args(args).env("HIGHWATER_HOME", self.home()).env("BLUESKY_URL", &self.url);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn stdout(&self, args: &[&str]) -> String {
        success_stdout(&self.run(args))
    }

    fn failure(&self, args: &[&str]) -> (Option<i32>, String) {
        failure_output(&self.run(args))
    }

    /// Returns the handles of all accounts.
    fn handles(&self) -> Vec<String> {
        self.with(|app_view| {
            let world = app_view.world();
            world.dids().iter().map(|did| world.handle_of(did).unwrap().to_owned()).collect()
        })
    }

    fn publish(&self, index: usize, text: &str) {
        let now_ms = MachineClock.now_ms();
        self.with(|app_view| {
            let did = app_view.world().dids().remove(index);
            app_view.world_mut().post(&did, PostDraft::from_text(text), now_ms);
        });
    }
}

#[test]
fn bluesky_accounts_are_added_polled_and_listed() {
    let server = AppViewServer::start(&BlueskySpec::small());
    let handles = server.handles();
    let first = format!("@{}", handles[0]);
    let added = server.stdout(&["add", &first, &handles[1], &handles[1].to_uppercase()]);
    assert_eq!(added, "added 2 accounts\n");
    assert_eq!(server.stdout(&["add", &handles[0]]), "added 0 accounts (1 already followed)\n");
    let lines = server.stdout(&["poll"]);
    let initial = lines.lines().filter(|line| line.starts_with("[INITIAL] ")).count();
    assert_eq!(initial, 2, "{lines}");
    assert!(lines.contains("polled 2 accounts in "), "{lines}");
    server.publish(1, "the tide turns https://example.com/tide");
    let lines = server.stdout(&["poll"]);
    let poll_line = format!("[POLL] {}: 1 posts, 1 URLs\n", handles[1]);
    assert!(lines.starts_with(&poll_line), "{lines}");
    assert!(lines.contains(": 1 feed read, 1 new post with 1 link, 2 requests\n"), "{lines}");
    let listed = server.stdout(&["list"]);
    assert_eq!(listed.lines().count(), 2);
    assert!(listed.contains(" posts, read 20"), "{listed}");
    let rows = server.stdout(&["list", "--json"]);
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!((&row["state"], &row["is_complete"]), (&"active".into(), &true.into()));
    assert_eq!(field_names(&row).len(), 12);
}

#[test]
fn bluesky_accounts_come_from_a_file_and_from_the_follows_of_another() {
    let server = AppViewServer::start(&BlueskySpec::small());
    let handles = server.handles();
    let file = server.home().join("accounts.txt");
    std::fs::write(&file, format!("\u{feff}{}\r\n\n# newsrooms\n  {}  \n", handles[2], handles[3]))
        .unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(server.stdout(&["add", "--from-file", file]), "added 2 accounts\n");
    std::fs::write(file, format!("{}\nnot an account\n", handles[4])).unwrap();
    let (code, stderr) = server.failure(&["add", "--from-file", file]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("accounts.txt:2: "), "{stderr}");
    let follows = server.stdout(&["add", "--follows-of", &handles[0]]);
    assert!(follows.starts_with("added "), "{follows}");
    let followed = server.with(|app_view| app_view.request_log().count(XrpcEndpoint::Follows));
    assert_eq!(followed, 1);
}

#[test]
fn bluesky_account_that_does_not_exist_is_named_and_the_others_are_followed() {
    let server = AppViewServer::start(&BlueskySpec::small());
    let handle = server.handles().remove(0);
    let output = server.run(&["add", "nobody.example", &handle]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = stderr_text(&output);
    assert!(stderr.contains("nobody.example: not found, or deleted (API error: 400"), "{stderr}");
    assert!(stderr.contains("1 account could not be found"), "{stderr}");
    assert!(server.stdout(&["list"]).starts_with(&handle));
}

#[test]
fn bluesky_accounts_are_removed_and_reset_by_name() {
    let server = AppViewServer::start(&BlueskySpec::small());
    let handles = server.handles();
    server.stdout(&["add", &handles[0], &handles[1]]);
    server.stdout(&["poll"]);
    let reset = server.stdout(&["reset", &handles[0]]);
    assert_eq!(reset, "the next poll reads 1 account as if for the first time\n");
    let listed = server.stdout(&["list"]);
    assert!(listed.contains(" posts, reset; the next poll reads it as if for the"), "{listed}");
    assert!(server.stdout(&["poll"]).starts_with(&format!("[INITIAL] {}: 0 posts", handles[0])));
    let removed = server.stdout(&["remove", &handles[1]]);
    assert_eq!(removed, "no longer following 1 account; stored posts stay\n");
    assert_eq!(server.stdout(&["list"]).lines().count(), 1);
    let (code, stderr) = server.failure(&["remove", "stranger.example"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("stranger.example is not followed\nhint: "), "{stderr}");
}

#[test]
fn bluesky_status_shows_cursors_and_the_last_poll() {
    let server = AppViewServer::start(&BlueskySpec::small());
    let handles = server.handles();
    let handles: Vec<&str> = handles.iter().map(String::as_str).collect();
    server.stdout(&[&["add"], handles.as_slice()].concat());
    let never = server.stdout(&["status"]);
    assert!(never.contains("never polled; `highwater bluesky poll`"), "{never}");
    server.stdout(&["poll"]);
    let status = server.stdout(&["status"]);
    assert!(status.starts_with("6 accounts, "), "{status}");
    assert!(
        status.contains("6 feeds read: 0 with new posts (0 % of the accounts), 6 for the"),
        "{status}"
    );
    let json: Value = serde_json::from_str(&server.stdout(&["status", "--json"])).unwrap();
    assert_eq!(json["last_poll"]["initial"], 6);
    let began_at = json["last_poll"]["began_at"].as_str().unwrap();
    assert!(began_at.starts_with("20") && began_at.ends_with('Z'), "{began_at}");
    assert_eq!(json["warnings"], serde_json::json!([]));
    let doctor = program_command(&["doctor", "store"])
        .env("HIGHWATER_HOME", server.home())
        .output()
        .unwrap();
    let doctor = success_stdout(&doctor);
    assert!(doctor.contains("bluesky        – 6 accounts, "), "{doctor}");
}

#[test]
fn bluesky_poll_that_fails_for_an_account_says_so_and_exits_with_an_error() {
    let server = AppViewServer::start(&BlueskySpec::silent(1));
    let handle = server.handles().remove(0);
    server.stdout(&["add", &handle]);
    server.with(|app_view| {
        let error = XrpcError::new(502, "UpstreamFailure", "Upstream Failure");
        app_view.script_error(XrpcEndpoint::AuthorFeed, 1, error);
    });
    let mut poll = server.command(&["poll", "--json"]);
    let output = poll.env("BLUESKY_MAX_RETRIES", "0").output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &json["failed"]), (Some(1), &1.into()));
    assert!(stderr_text(&output).contains("not read completely: 1 account\nhint: "));
    let listed = server.stdout(&["list"]);
    assert!(listed.contains("failed: server error: status 502"), "{listed}");
    assert!(server.stdout(&["poll"]).contains("[INITIAL] "));
}

#[test]
fn bluesky_poll_logs_in_where_it_has_to() {
    let spec = BlueskySpec { requires_session: true, ..BlueskySpec::small() };
    let server = AppViewServer::start(&spec);
    let handle = server.handles().remove(0);
    let (_, stderr) = server.failure(&["add", &handle]);
    assert!(stderr.contains("set BLUESKY_HANDLE and BLUESKY_APP_PASSWORD"), "{stderr}");
    let with_login = |args: &[&str], password: &str| {
        let mut command = server.command(args);
        command.env("BLUESKY_HANDLE", &handle).env("BLUESKY_APP_PASSWORD", password);
        command.output().unwrap()
    };
    let wrong = with_login(&["add", &handle], "not-the-password");
    let stderr = stderr_text(&wrong);
    assert!(
        stderr.contains(&format!("cannot log in as {handle}: AuthenticationRequired")),
        "{stderr}"
    );
    assert!(!stderr.contains("not-the-password"), "{stderr}");
    success_stdout(&with_login(&["add", &handle], &spec.app_password));
    assert!(success_stdout(&with_login(&["poll"], &spec.app_password)).contains("[INITIAL]"));
    let mut half = server.command(&["poll"]);
    let (_, stderr) = failure_output(&half.env("BLUESKY_HANDLE", &handle).output().unwrap());
    assert!(stderr.contains("BLUESKY_HANDLE is set, and BLUESKY_APP_PASSWORD is not"), "{stderr}");
}

#[test]
fn bluesky_commands_explain_a_missing_workspace_and_wrong_names() {
    let server = AppViewServer::start(&BlueskySpec::silent(1));
    let (_, stderr) = server.failure(&["poll"]);
    assert!(stderr.contains("cannot open the workspace"), "{stderr}");
    let (code, stderr) = server.failure(&["add", "alice"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("the whole handle, with its domain"), "{stderr}");
    let (code, _) = server.failure(&["add"]);
    assert_eq!(code, Some(2));
    let mut poll = server.command(&["add", "alice.example"]);
    let output = poll.env("BLUESKY_URL", "http://127.0.0.1:1").output().unwrap();
    let (_, stderr) = failure_output(&output);
    assert!(stderr.contains("cannot connect to 127.0.0.1:1"), "{stderr}");
}

#[test]
fn bluesky_posts_are_listed_searched_and_trending() {
    let server = AppViewServer::start(&BlueskySpec::silent(2));
    let handles = server.handles();
    server.publish(0, "the lighthouse blinks https://www.example.com/light?utm_source=x");
    server.publish(1, "look at this https://example.com/light");
    server.stdout(&["add", &handles[0], &handles[1]]);
    server.stdout(&["poll"]);
    let trending = server.stdout(&["trending"]);
    assert!(trending.starts_with("2 accounts  https://"), "{trending}");
    let run = |args: &[&str]| {
        program_command(args).env("HIGHWATER_HOME", server.home()).output().unwrap()
    };
    let found = success_stdout(&run(&["search", "type:post lighthouse"]));
    assert!(found.contains(&handles[0]) && found.contains("blinks"), "{found}");
    let listed = success_stdout(&run(&["list", "posts", "--account", &handles[1]]));
    assert_eq!(listed.lines().count(), 1, "{listed}");
}
