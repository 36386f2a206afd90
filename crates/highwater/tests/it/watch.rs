//! `highwater watch`: adding, listing, pausing and removing watches.

use hw_rules::watch::WatchState;
use hw_store::{DatabaseLocation, StoreWriter, WorkerIdentity};

use crate::event_fixture::{EventFixture, json_lines};
use crate::fixture::{
    documented_fields, failure_output, field_names, program_command, stderr_text, success_stdout,
};

#[test]
fn watch_is_added_before_anything_is_pulled_and_names_the_next_step() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = program_command(&["watch"]);
        command.env("HIGHWATER_HOME", home.path()).args(args).args(["-o", "acme"]);
        command.output().unwrap()
    };
    let added = success_stdout(&run(&["add", "acme/pump#12"]));
    assert_eq!(
        added,
        "watching acme/pump#12, from its start if it is a pull request, else from now on\n\
         no service is running: start `highwater service`, or read once with `highwater service --once`\n"
    );
    for (args, expected) in [
        (
            &["add", "acme/pump", "--label", "agent"][..],
            "watching acme/pump --label \"agent\", from now on",
        ),
        (
            &["add", "acme/pump", "--source-issue", "7"],
            "watching acme/pump --source-issue 7, through its source issue",
        ),
        (
            &["add", "acme/pump#3", "--from", "2026-01-31T18:00:00Z"],
            "watching acme/pump#3, since 2026-01-31T18:00:00Z",
        ),
        (&["add", "ACME/Pump#12"], "acme/pump#12 is already watched"),
    ] {
        let stdout = success_stdout(&run(args));
        assert_eq!(stdout.lines().next(), Some(expected), "{args:?}");
    }
    let again = run(&["add", "acme/pump#12", "--from", "now"]);
    assert!(stderr_text(&again).contains("warning: its options stay as they were"), "{again:?}");
    let list = run(&["list"]);
    let stdout = success_stdout(&list);
    let expected =
        "unresolved    acme/pump#12                     not looked up yet; the service does";
    assert_eq!(stdout.lines().next(), Some(expected), "{stdout}");
    assert_eq!(stdout.lines().count(), 4, "{stdout}");
    assert!(stderr_text(&list).contains("warning: no service is running"), "{list:?}");
}

#[test]
fn watch_reports_a_service_that_runs() {
    let fixture = EventFixture::new();
    let location = DatabaseLocation::File(fixture.home().join("db").join("acme.db"));
    let worker = WorkerIdentity {
        id: "s".to_owned(),
        machine: "here".to_owned(),
        process: 41,
        version: "1".to_owned(),
        role: "service".to_owned(),
    };
    let service = StoreWriter::open(&location).unwrap().register_worker(&worker, 0).unwrap();
    let added = success_stdout(&fixture.run("watch", &["add", "acme/pump#8"]));
    assert!(
        added.contains("\nthe service (process 41 on here) reads it within a minute"),
        "{added}"
    );
    let list = fixture.run("watch", &["list"]);
    assert!(stderr_text(&list).contains("(process 41 on here)"), "{list:?}");
    drop(service);
    let list = fixture.run("watch", &["list"]);
    assert!(stderr_text(&list).contains("no service is running"), "{list:?}");
}

#[test]
fn watch_list_shows_what_came_of_each_watch() {
    let fixture = EventFixture::new();
    let rows = json_lines(&fixture.run("watch", &["list", "--json"]));
    assert_eq!(field_names(&rows[0]), documented_fields("`highwater watch list --json`"));
    assert_eq!((&rows[0]["state"], &rows[0]["kind"]), (&"active".into(), &"issue".into()));
    assert_eq!(rows[0]["threads"][0]["is_complete"], true);
    let line = success_stdout(&fixture.run("watch", &["list"]));
    let expected = "active        acme/pump#7                      issue, awaiting feedback, since 2026-01-01T00:00:01Z\n";
    assert_eq!(line, expected);
    let gone = "acme/pump#7: not found, or this token has no access \u{1b}[2J\u{202e}";
    fixture.store.set_watch_state(fixture.watch(), WatchState::Gone, Some(gone)).unwrap();
    let line = success_stdout(&fixture.run("watch", &["list"]));
    assert!(line.starts_with("gone          acme/pump#7  "), "{line}");
    assert!(line.ends_with("not found, or this token has no access [2J\n"), "{line}");
}

#[test]
fn watch_is_paused_resumed_and_removed_by_name() {
    let fixture = EventFixture::new();
    let stdout = |args: &[&str]| success_stdout(&fixture.run("watch", args));
    assert!(stdout(&["pause", "Acme/Pump#7"]).starts_with("paused acme/pump#7; "));
    assert_eq!(stdout(&["pause", "acme/pump#7"]), "acme/pump#7 is already paused\n");
    fixture.say(101, "while it is paused");
    assert_eq!(fixture.read("a").len(), 0);
    assert!(stdout(&["resume", "acme/pump#7"]).starts_with("resumed acme/pump#7; "));
    assert_eq!(stdout(&["resume", "acme/pump#7"]), "acme/pump#7 is not paused\n");
    while !fixture.store.derive_stored_events(fixture.watch(), 100).unwrap() {}
    assert_eq!(fixture.read("a")[0]["body"], "while it is paused");
    assert_eq!(
        stdout(&["remove", "acme/pump#7"]),
        "no longer watching acme/pump#7; its events stay\n"
    );
    assert_eq!(json_lines(&fixture.events(&["list", "--json"])).len(), 1);
    let list = fixture.run("watch", &["list"]);
    assert!(stderr_text(&list).contains("this workspace watches nothing"), "{list:?}");
}

#[test]
fn watch_errors_have_hints() {
    let fixture = EventFixture::new();
    let failure = |args: &[&str]| failure_output(&fixture.run("watch", args));
    let (code, stderr) = failure(&["remove", "acme/valve"]);
    assert_eq!(
        (code, stderr.as_str()),
        (
            Some(1),
            "Error: acme/valve is not watched\n\
         hint: `highwater watch list` lists the watches, with the options that name them\n"
        )
    );
    for (args, expected) in [
        (&["add", "pump#7"][..], "expected owner/repo#12 or owner/repo, got \"pump#7\""),
        (&["add", "acme/pump#0"], "expected owner/repo#12 or owner/repo"),
        (&["add", "acme/pump", "--from", "yesterday"], "expected start, now or an RFC 3339 time"),
        (&["add", "acme/pump#7", "--label", "x"], "--label selects threads of a repository"),
        (&["add", "acme/pump", "--source-issue", "x"], "expected the number of an issue"),
    ] {
        let (code, stderr) = failure(args);
        assert_eq!(code, Some(2), "{args:?}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
    let home = tempfile::tempdir().unwrap();
    let mut command = program_command(&["watch", "remove", "acme/pump"]);
    let output = command.env("HIGHWATER_HOME", home.path()).output().unwrap();
    assert_eq!(failure_output(&output).0, Some(1));
    assert!(!home.path().join("db").exists(), "a mistyped name creates no workspace");
}
