//! `highwater events`: reading, acknowledging, running programs, dead letters, and what a terminal gets to see.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::event_fixture::{EventFixture, comment, json_lines, time_at};
use crate::fixture::{
    documented_fields, failure_output, field_names, program_command, stderr_text, success_stdout,
};

#[test]
fn events_read_prints_the_documented_fields_with_the_id_first() {
    let fixture = EventFixture::new();
    fixture.say(101, "It \"drips\".\n\u{1b}[2J");
    let output = fixture.events(&["read", "--consumer", "a"]);
    let stdout = success_stdout(&output);
    assert!(stdout.starts_with("{\"id\":\"") && !stdout.contains('\u{1b}'), "{stdout}");
    let event: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(field_names(&event), documented_fields("`highwater events read`"));
    let expected = json!({
        "seq": 1, "key": "7:issue_comment:101:2026-01-01T00:01:41Z", "change": "created",
        "class": "feedback", "thread": "acme/pump#7", "kind": "issue_comment", "author": "bob",
        "body": "It \"drips\".\n\u{1b}[2J", "tries": 1, "association": "MEMBER",
        "url": "https://github.com/acme/pump/issues/7#issuecomment-101",
        "updated_at": "2026-01-01T00:01:41Z",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&event[name], value, "{name}");
    }
    assert!(
        stderr_text(&output).contains("new consumer a: it starts with the oldest stored event")
    );
    assert_eq!(fixture.read("a").len(), 0, "it is leased");
    assert_eq!(fixture.read("b").len(), 1, "another consumer has a position of its own");
}

#[test]
fn events_are_acknowledged_by_id_token_and_stdin() {
    let fixture = EventFixture::new();
    (101..=103).for_each(|id| fixture.say(id, "text"));
    let events = fixture.read("a");
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    let by_id = fixture.events(&["ack", "--consumer", "a", &text(&events[0], "id")]);
    assert_eq!(stderr_text(&by_id), "1 event acknowledged\n");
    let by_token = fixture.events(&["ack", "--consumer", "a", &text(&events[1], "token")]);
    assert!(by_token.status.success(), "{by_token:?}");
    let mut command = program_command(&["events", "ack", "--consumer", "a", "-"]);
    command.env("HIGHWATER_HOME", fixture.home()).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = format!("{}\n\n{}\n", text(&events[2], "id"), text(&events[0], "id"));
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert_eq!(stderr_text(&child.wait_with_output().unwrap()), "2 events acknowledged\n");
    let consumers = json_lines(&fixture.events(&["consumers", "--json"]));
    assert_eq!(
        field_names(&consumers[0]),
        documented_fields("`highwater events consumers --json`")
    );
    let left = ["unread", "leased", "waiting", "dead"].map(|name| consumers[0][name].clone());
    assert_eq!(left, [0, 0, 0, 0].map(Value::from));
}

#[test]
fn events_given_back_come_again_and_end_as_dead_letters() {
    let fixture = EventFixture::new();
    fixture.say(101, "poison");
    fixture.say(102, "fine");
    success_stdout(&fixture.events(&["consumers", "add", "a", "--max-tries", "2"]));
    let first = fixture.read("a");
    let id = first[0]["id"].as_str().unwrap();
    let nack = ["nack", "--consumer", "a", "--retry-after", "0", "--reason", "bad \u{1b}[2J", id];
    assert_eq!(stderr_text(&fixture.events(&nack)), "1 event given back\n");
    let again = fixture.read("a");
    assert_eq!((again.len(), &again[0]["id"], &again[0]["tries"]), (1, &json!(id), &json!(2)));
    let last = fixture.events(&nack);
    assert!(stderr_text(&last).contains("failed too often and is a dead letter now"), "{last:?}");
    assert_eq!(fixture.read("a").len(), 0);
    let dead = json_lines(&fixture.events(&["dead", "--json"]));
    assert_eq!(field_names(&dead[0]), documented_fields("`highwater events dead --json`"));
    assert_eq!((&dead[0]["consumer"], &dead[0]["tries"]), (&json!("a"), &json!(2)));
    let line = success_stdout(&fixture.events(&["dead", "--consumer", "a"]));
    assert!(line.contains("acme/pump#7 comment by bob: bad [2J (2 tries)"), "{line}");
    let retried = fixture.events(&["retry", "--consumer", "a", "--all"]);
    assert_eq!(success_stdout(&retried), "1 event again for a\n");
    assert_eq!(fixture.read("a")[0]["tries"], 1);
}

#[test]
fn events_exec_acknowledges_retries_and_fails_by_exit_code() {
    let fixture = EventFixture::new();
    for (id, code) in [(101, 0), (102, 75), (103, 3)] {
        fixture.say(id, &format!("exit {code}"));
    }
    let output = exec(
        &fixture,
        "a",
        &[],
        "read -r event; body=${event#*'\"body\":\"'}; echo \"ran ${body%%\\\"*}\"; eval \"${body%%\\\"*}\"",
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(stdout, "ran exit 0\nran exit 75\nran exit 3\n");
    let stderr = stderr_text(&output);
    for expected in [
        "acme/pump#7 comment by bob: comes again later",
        "warning: acme/pump#7 comment by bob: exit code 3 (try 1 of 5); it comes again",
        "3 events: 1 acknowledged, 1 for later, 1 failed",
        "Error: the program failed for 1 event",
    ] {
        assert!(stderr.contains(expected), "{expected}: {stderr}");
    }
    let shown = |n: usize| {
        let rows = json_lines(&fixture.events(&["list", "--json"]));
        let id = rows[2 - n]["id"].as_str().unwrap().to_owned();
        let shown = json_lines(&fixture.events(&["show", &id, "--json"])).remove(0);
        let fields = [event_fields(), documented_fields("`highwater events show --json`")].concat();
        assert_eq!(field_names(&shown), sorted(fields));
        shown["deliveries"][0].clone()
    };
    let state = |n: usize| (shown(n)["state"].clone(), shown(n)["tries"].clone());
    assert_eq!(state(0).0, "acknowledged");
    assert_eq!(state(1), (json!("waiting"), json!(0)), "asking for it later is no failed try");
    assert_eq!(state(2), (json!("waiting"), json!(1)));
    assert_eq!((&shown(2)["stdout"], &shown(2)["exit_code"]), (&json!("ran exit 3\n"), &json!(3)));
}

#[test]
fn events_exec_goes_on_after_a_poisoned_event() {
    let fixture = EventFixture::new();
    fixture.say(101, "poison");
    fixture.say(102, "fine");
    let script = "read -r event; case $event in *poison*) kill -KILL $$;; esac";
    for run in 1..=5 {
        let output = exec(&fixture, "a", &["--retry-after", "0", "--limit", "1"], script);
        // the poisoned event comes first each time, because it has the smaller number
        assert_eq!(output.status.code(), Some(1), "{run}: {output:?}");
        assert_eq!(stderr_text(&output).contains("it is a dead letter now"), run == 5, "{run}");
    }
    let rest = exec(&fixture, "a", &["--retry-after", "0"], script);
    assert!(stderr_text(&rest).contains("1 event: 1 acknowledged"), "{rest:?}");
    let consumer = &json_lines(&fixture.events(&["consumers", "--json"]))[0];
    assert_eq!((&consumer["dead"], &consumer["unread"]), (&json!(1), &json!(0)));
}

#[test]
fn events_exec_whose_program_cannot_start_gives_the_event_back() {
    let fixture = EventFixture::new();
    fixture.say(101, "text");
    let args = ["exec", "--consumer", "a", "--", "/no/such/program"];
    let (code, stderr) = failure_output(&fixture.events(&args));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("Error: cannot run /no/such/program\n"), "{stderr}");
    assert!(stderr.contains("hint: check its path"), "{stderr}");
    assert_eq!(fixture.read("a")[0]["tries"], 1, "nothing was tried");
}

#[test]
fn events_exec_that_is_stopped_gives_the_event_back() {
    let fixture = EventFixture::new();
    fixture.say(101, "text");
    let mut command = program_command(&["events", "exec", "--consumer", "a", "--forever", "--"]);
    command.args(["/bin/sh", "-c", "echo started >&2; exec tail -f /dev/null"]);
    command.env("HIGHWATER_HOME", fixture.home()).env("PATH", "/usr/bin:/bin");
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "started"));
    assert_eq!(fixture.read("a").len(), 0, "the program works on it");
    let id = child.id().to_string();
    let stop = std::process::Command::new("/bin/kill").args(["-TERM", &id]).status();
    assert!(stop.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fixture.read("a")[0]["tries"], 1, "it is there at once, and no try was used up");
}

#[test]
fn events_consumer_that_is_killed_before_it_acknowledges_gets_the_event_again() {
    let fixture = EventFixture::new();
    fixture.say(101, "text");
    let mut command =
        program_command(&["events", "exec", "--consumer", "a", "--timeout", "1", "--"]);
    command.args(["/bin/sh", "-c", "echo started >&2; exec tail -f /dev/null"]);
    command.env("HIGHWATER_HOME", fixture.home()).env("PATH", "/usr/bin:/bin");
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "started"));
    child.kill().unwrap();
    child.wait().unwrap();
    let consumer = &json_lines(&fixture.events(&["consumers", "--json"]))[0];
    assert_eq!(consumer["leased"], 1, "the lease outlives its holder");
    let later = hw_store::ConsumerRead {
        consumer: "a".to_owned(),
        limit: 1,
        lease_token: "t".to_owned(),
        lease_ms: 1,
        now_ms: i64::MAX / 2,
    };
    assert_eq!(fixture.store.lease_events(&later).unwrap()[0].tries, 2);
}

#[test]
fn events_read_waits_for_the_next_event() {
    let fixture = EventFixture::new();
    let mut command = program_command(&["events", "read", "--consumer", "a", "--wait", "600"]);
    command.env("HIGHWATER_HOME", fixture.home()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("new consumer a")));
    fixture.say(101, "text");
    let events = json_lines(&child.wait_with_output().unwrap());
    assert_eq!(events[0]["body"], "text");
}

#[test]
fn events_list_cleans_hostile_texts_and_filters() {
    let fixture = EventFixture::new();
    fixture.say(101, "two\nlines \u{1b}[2J\u{202e}evil\u{9b}");
    fixture.ingest_comment(hw_rules::item::Comment {
        author: Some("dependabot[bot]".to_owned()),
        ..comment(102, "bump")
    });
    fixture.ingest_comment(hw_rules::item::Comment {
        updated_at: time_at(200),
        ..comment(101, "edited")
    });
    let list = fixture.events(&["list"]);
    let stdout = success_stdout(&list);
    assert!(
        stdout.lines().all(|line| !line.contains(['\u{1b}', '\u{202e}', '\u{9b}'])),
        "{stdout}"
    );
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(
        lines[0]
            .starts_with("2026-01-01 00:03  feedback  acme/pump#7 edited comment by bob: edited  "),
        "{stdout}"
    );
    assert!(
        lines[1].contains("ignored: bot acme/pump#7 comment by dependabot[bot]: bump"),
        "{stdout}"
    );
    assert!(lines[2].contains("comment by bob: two lines [2Jevil"), "{stdout}");
    let count =
        |args: &[&str]| json_lines(&fixture.events(&[&["list", "--json"], args].concat())).len();
    for (args, expected) in [
        (&["--thread", "acme/pump#7"][..], 3),
        (&["--thread", "Acme/Pump"], 3),
        (&["--thread", "acme/pump#8"], 0),
        (&["--class", "ignored"], 1),
        (&["--author", "BOB"], 2),
        (&["--since", "2026-01-01T00:03:00Z"], 1),
        (&["--limit", "2"], 2),
    ] {
        assert_eq!(count(args), expected, "{args:?}");
    }
    let rows = json_lines(&fixture.events(&["list", "--json"]));
    assert_eq!(field_names(&rows[0]), event_fields());
    let (code, stderr) = failure_output(&fixture.events(&["list", "--class", "feedbak"]));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("did you mean feedback?"), "{stderr}");
    let (_, stderr) = failure_output(&fixture.events(&["list", "--thread", "acme/valve"]));
    assert!(stderr.starts_with("Error: acme/valve has no events\nhint: "), "{stderr}");
}

#[test]
fn events_errors_have_hints() {
    let fixture = EventFixture::new();
    let id = "0".repeat(32);
    for (args, expected) in [
        (
            vec!["ack", "--consumer", "nobody", &id],
            "Error: there is no consumer named nobody\nhint: `highwater events consumers` lists them\n",
        ),
        (vec!["dead", "--consumer", "nobody"], "Error: there is no consumer named nobody\nhint: "),
        (vec!["show", &id], "Error: there is no event 0000"),
        (vec!["consumers", "remove", "nobody"], "Error: there is no consumer named nobody\nhint: "),
    ] {
        let (code, stderr) = failure_output(&fixture.events(&args));
        assert_eq!(code, Some(1), "{args:?}");
        assert!(stderr.starts_with(expected), "{stderr}");
    }
    fixture.read("a");
    let (_, stderr) = failure_output(&fixture.events(&["ack", "--consumer", "a", &id]));
    assert!(stderr.contains(&format!("warning: there is no event {id}\n")), "{stderr}");
    for args in [
        &["ack", "--consumer", "a", "x"][..],
        &["read", "--consumer", "a b"],
        &["read", "--consumer", "a", "--limit", "0"],
        &["read"],
        &["exec", "--consumer", "a"],
    ] {
        assert_eq!(failure_output(&fixture.events(args)).0, Some(2), "{args:?}");
    }
    let home = tempfile::tempdir().unwrap();
    let mut command = program_command(&["events", "read", "--consumer", "a"]);
    let (code, stderr) =
        failure_output(&command.env("HIGHWATER_HOME", home.path()).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(stderr.contains("hint: run `highwater pull"), "{stderr}");
    assert!(!home.path().join("db").exists(), "reading creates no workspace");
}

#[test]
fn example_in_python_notes_each_event_once() {
    let fixture = EventFixture::new();
    fixture.say(101, "quote \" and\nline");
    let notes = fixture.home().join("notes.jsonl");
    let script = example("consumer.py");
    let args = [
        "exec",
        "--consumer",
        "a",
        "--",
        "python3",
        script.to_str().unwrap(),
        notes.to_str().unwrap(),
    ];
    let run = || with_usual_path(&fixture, &args);
    let stdout = success_stdout(&run());
    assert_eq!(stdout, "noted https://github.com/acme/pump/issues/7#issuecomment-101\n");
    // as after a crash between the program's end and the acknowledgement
    success_stdout(&fixture.events(&["consumers", "remove", "a"]));
    success_stdout(&run());
    let noted = std::fs::read_to_string(&notes).unwrap();
    let noted: Vec<Value> = noted.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(noted.len(), 1);
    assert_eq!(noted[0]["body"], "quote \" and\nline");
}

#[test]
fn example_in_shell_stores_each_event_and_acknowledges_it() {
    let fixture = EventFixture::new();
    fixture.say(101, "a \\ b \"id\":\"x\" $(exit 1) %s");
    fixture.say(102, "second");
    let folder = fixture.home().join("inbox");
    let output = program_environment(&fixture, example("consumer.sh").to_str().unwrap())
        .arg(&folder)
        .output()
        .unwrap();
    success_stdout(&output);
    let mut bodies: Vec<Value> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()["body"].clone()
        })
        .collect();
    bodies.sort_by_key(ToString::to_string);
    assert_eq!(bodies, ["a \\ b \"id\":\"x\" $(exit 1) %s", "second"]);
    let consumer = &json_lines(&fixture.events(&["consumers", "--json"]))[0];
    assert_eq!((&consumer["unread"], &consumer["leased"]), (&json!(0), &json!(0)));
}

/// Returns the documented fields of an event, without those of its delivery.
fn event_fields() -> Vec<String> {
    let mut fields = documented_fields("`highwater events read`");
    fields.retain(|name| !["token", "tries", "leased_until"].contains(&name.as_str()));
    fields
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names
}

fn exec(fixture: &EventFixture, consumer: &str, options: &[&str], script: &str) -> Output {
    let args = [&["exec", "--consumer", consumer], options, &["--", "/bin/sh", "-c", script]];
    fixture.events(&args.concat())
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn with_usual_path(fixture: &EventFixture, args: &[&str]) -> Output {
    let mut command = program_command(&["events"]);
    command.env("HIGHWATER_HOME", fixture.home()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.args(args).output().unwrap()
}

/// Builds a command in an environment where `highwater` is installed.
fn program_environment(fixture: &EventFixture, program: &str) -> std::process::Command {
    let folder = Path::new(env!("CARGO_BIN_EXE_highwater")).parent().unwrap();
    let mut command = std::process::Command::new(program);
    command.env_clear().env("HIGHWATER_HOME", fixture.home());
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    command
}
