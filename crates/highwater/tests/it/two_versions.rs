//! Two versions of highwater on one database: neither loses what the other one stored, and the older one says what to do.
//!
//! No second version is built: a script leaves the database as the other version would.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::json;

use crate::database_snapshot::TestDatabase;
use crate::fixture::{GitHubFixture, failure_output, program_command, success_stdout};
use crate::mcp::stdio_client::{McpStdioClient, first_text};
use crate::web::WebProcess;

/// Runs each test with a file and with PostgreSQL.
macro_rules! both {
    ($($test:ident),* $(,)?) => {
        mod file {
            $(#[test]
            fn $test() {
                super::$test(&super::TestDatabase::file());
            })*
        }
        mod postgres {
            $(#[test]
            fn $test() {
                super::$test(&super::TestDatabase::postgres());
            })*
        }
    };
}

both![
    newer_version_keeps_its_database_from_every_command,
    newer_version_stops_a_pull_of_the_older_one,
    newer_version_takes_over_an_older_database_without_a_refetch,
];

/// The next version: another migration, another format of the mirror, a table and a column that this one does not know.
const NEXT_SCHEMA: Upgrade = Upgrade {
    script: "create table later (id bigint primary key, note text not null);
             insert into later values (1, 'written by the next version');
             alter table issues add column later text;
             update issues set later = title;
             insert into migrations (number, name, digest)
                 select max(number) + 1, 'later', 'x' from migrations;
             update schema_version set number = number + 1, guid = 'the next format';
             update duties set owner = null, epoch = epoch + 1",
    reason: "this database was written by a newer highwater (schema ",
};

/// A version with the same tables, whose search rows are others.
const NEXT_INDEX: Upgrade = Upgrade {
    script: "update schema_version set search_index = search_index + 1;
             update duties set owner = null, epoch = epoch + 1",
    reason: "the search index of this database was built by a newer highwater (index ",
};

const HINT: &str =
    "install the newer highwater, or select another database with --database or --home";

/// What the newer version does to a database in one transaction, and why this version refuses it then.
#[derive(Clone, Copy)]
struct Upgrade {
    script: &'static str,
    reason: &'static str,
}

fn newer_version_keeps_its_database_from_every_command(database: &TestDatabase) {
    let fixture = GitHubFixture::start_small();
    let removed = pull_with_a_removed_issue(&fixture, database);
    for (upgrade, undo) in [
        (NEXT_INDEX, "update schema_version set search_index = search_index - 1"),
        (NEXT_SCHEMA, ""),
    ] {
        database.execute(upgrade.script);
        let (requests, before) = (fixture.request_count(), database.snapshot(|_| true));
        for command in pulls(&fixture, database) {
            assert_refused(command, upgrade.reason);
        }
        for args in offline_commands(&removed) {
            let mut command = program_command(&args);
            command.args(database.args());
            assert_refused(command, upgrade.reason);
        }
        assert_doctor_fails(&fixture, database, upgrade.reason);
        assert_servers_refuse(database, upgrade.reason);
        assert_eq!(fixture.request_count(), requests, "nothing was requested");
        assert_eq!(database.snapshot(|_| true), before, "nothing was changed");
        if !undo.is_empty() {
            database.execute(undo);
        }
    }
}

fn newer_version_stops_a_pull_of_the_older_one(database: &TestDatabase) {
    for upgrade in [NEXT_INDEX, NEXT_SCHEMA] {
        let database = database.another();
        let spec = WorldSpec { latency_ms: 100..=100, ..WorldSpec::small() };
        let fixture = GitHubFixture::start(spec, 1);
        let mut pull = fixture.pull_command(&database.args());
        let pull = pull.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // the first threads are stored, and others are on their way
        while fixture.request_count() < 4 {
            std::thread::sleep(Duration::from_millis(1));
        }
        database.execute(upgrade.script);
        let before = database.snapshot(is_mirrored);
        let output = pull.wait_with_output().unwrap();
        assert_error(&output, upgrade.reason);
        assert_eq!(database.snapshot(is_mirrored), before, "nothing was changed");
    }
}

fn newer_version_takes_over_an_older_database_without_a_refetch(database: &TestDatabase) {
    let fixture = GitHubFixture::start_small();
    pull_with_a_removed_issue(&fixture, database);
    pull(&fixture, database, &[]);
    let cold = fixture.request_count();
    pull(&fixture, database, &[]);
    let unchanged = fixture.request_count() - cold;
    let rows = database.snapshot(is_mirrored);
    database.execute(
        "update schema_version set search_index = 0;
         update duties set owner = null, epoch = epoch + 1",
    );
    let requests = fixture.request_count();
    let (mut list, mut search) =
        (program_command(&["list", "issues"]), program_command(&["search", "pump"]));
    for command in [&mut list, &mut search] {
        success_stdout(&command.args(database.args()).output().unwrap());
    }
    pull(&fixture, database, &[]);
    assert_eq!(fixture.request_count() - requests, unchanged);
    assert_eq!(database.snapshot(is_mirrored), rows, "the rebuilt search rows are the same");
}

/// Pulls everything, and again without an issue. Returns the URL of the issue.
fn pull_with_a_removed_issue(fixture: &GitHubFixture, database: &TestDatabase) -> String {
    pull(fixture, database, &[]);
    let url = fixture.with_github(|github| {
        let issue =
            github.world().truth().threads_of_kind(ThreadKind::Issue).next().unwrap().clone();
        let now_ms = MachineClock.now_ms();
        github.world_mut().delete_thread(ThreadKind::Issue, issue.id, now_ms);
        issue.url
    });
    pull(fixture, database, &["--reconcile"]);
    url
}

fn pull(fixture: &GitHubFixture, database: &TestDatabase, args: &[&str]) {
    success_stdout(&fixture.pull_command(args).args(database.args()).output().unwrap());
}

/// Returns a pull of each kind.
fn pulls(fixture: &GitHubFixture, database: &TestDatabase) -> Vec<Command> {
    let kinds: [&[&str]; 4] = [&[], &["-f"], &["--reconcile"], &["--repair"]];
    let pulls = kinds.iter().map(|args| {
        let mut pull = fixture.pull_command(args);
        pull.args(database.args());
        pull
    });
    pulls.collect()
}

/// Returns the commands that contact nobody, some of which write. `removed` is a removed item.
fn offline_commands(removed: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["search", "pump"],
        vec!["list", "issues"],
        vec!["list", "repos", "--json"],
        vec!["show", "acme/pump#1"],
        vec!["export", "--markdown", "/nonexistent/export"],
        vec!["removed", "list"],
        vec!["removed", "restore", removed],
        vec!["sources"],
        vec!["sources", "remove", "acme", "--yes"],
        vec!["backup", "/nonexistent/backup.db"],
    ]
}

fn assert_refused(mut command: Command, reason: &str) {
    assert_error(&command.output().unwrap(), reason);
}

/// Checks that a command failed for this reason, and says what to do.
fn assert_error(output: &Output, reason: &str) {
    let (code, stderr) = failure_output(output);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains(reason) && stderr.contains(&format!("\nhint: {HINT}")), "{stderr}");
}

fn assert_doctor_fails(fixture: &GitHubFixture, database: &TestDatabase, reason: &str) {
    for args in [&["store"][..], &["store", "--deep"]] {
        let output = fixture.doctor_command(args).args(database.args()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains(reason) && stdout.contains(&format!(" → {HINT}")), "{stdout}");
    }
}

/// Checks that the servers answer with the reason, and with what to do.
fn assert_servers_refuse(database: &TestDatabase, reason: &str) {
    let mut client = McpStdioClient::start_initialized(&database.args());
    let answer = client.call_tool("list_issues", &json!({}));
    assert_eq!(answer["isError"], true, "{answer}");
    let text = first_text(&answer).to_owned();
    assert!(text.contains(reason) && text.contains("highwater doctor store"), "{text}");
    client.close_and_wait();
    let home = tempfile::tempdir().unwrap();
    let web = WebProcess::open(&[&["ui", "-p", "0"][..], &database.args()].concat(), home.path());
    let page = web.get_page("/issues");
    assert!(page.contains(reason), "{page}");
}

/// Returns true for the tables that a pull fills, and those that record versions.
fn is_mirrored(table: &str) -> bool {
    const BOOKKEEPING: [&str; 8] = [
        "counters",
        "duties",
        "last_pulls",
        "pauses",
        "request_minutes",
        "source_clocks",
        "viewers",
        "workers",
    ];
    !BOOKKEEPING.contains(&table)
}
