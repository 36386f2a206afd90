//! `highwater list`: filters compared with the simulated world, and CSV that reads back.

use hw_sim::{ThreadKind, TrueThread};
use serde_json::Value;

use crate::fixture::{
    failure_output, pull_hostile_world, pull_with_comments, run_command, run_command_json,
    stderr_text, success_stdout,
};

const THREAD_KINDS: [(&str, ThreadKind); 3] = [
    ("issues", ThreadKind::Issue),
    ("prs", ThreadKind::PullRequest),
    ("discussions", ThreadKind::Discussion),
];
/// Returns one of a thread's times.
type ThreadTimeFn = dyn Fn(&TrueThread) -> Option<String>;
const LIST_NAMES: [&str; 5] = ["issues", "prs", "discussions", "comments", "repos"];

#[test]
fn list_filters_threads_by_created_closed_and_merged_dates() {
    let (fixture, home) = pull_with_comments();
    let truth = fixture.with_github(|github| github.world().truth());
    let mut narrowed = 0;
    for (list, kind) in THREAD_KINDS {
        let times: [(&str, &ThreadTimeFn); 3] = [
            ("created", &|thread| Some(thread.created_at.clone())),
            ("closed", &|thread| thread.closed_at.clone()),
            ("merged", &|thread| thread.pull_request.as_ref()?.merged_at.clone()),
        ];
        let times = times.iter().filter(|(name, _)| *name != "merged" || list == "prs");
        for (name, time) in times {
            let Some(pivot) = median_time(truth.threads_of_kind(kind).filter_map(time)) else {
                continue;
            };
            for (side, is_in) in [
                ("from", &(|at: &str| pivot.as_str() <= at) as &dyn Fn(&str) -> bool),
                ("to", &|at: &str| at <= pivot.as_str()),
            ] {
                let flag = format!("--{name}-{side}");
                let found = run_command_json(
                    home.path(),
                    "list",
                    &[list, &flag, &with_other_offset(&pivot)],
                );
                let matching = truth
                    .threads_of_kind(kind)
                    .filter(|thread| time(thread).is_some_and(|at| is_in(&at)));
                let expected = thread_urls(matching);
                assert_eq!(row_urls(&found), expected, "{list} {flag} {pivot}");
                narrowed += 1;
            }
        }
    }
    assert!(narrowed >= 8, "too few filters were tested: {narrowed}");
}

#[test]
fn list_takes_a_plain_date_as_the_whole_day() {
    let (fixture, home) = pull_with_comments();
    let truth = fixture.with_github(|github| github.world().truth());
    let day = &median_time(
        truth.threads_of_kind(ThreadKind::Issue).map(|thread| thread.created_at.clone()),
    )
    .unwrap()[..10];
    let args = ["issues", "--created-from", day, "--created-to", day];
    let found = run_command_json(home.path(), "list", &args);
    let issues = truth.threads_of_kind(ThreadKind::Issue);
    let expected = thread_urls(issues.filter(|issue| issue.created_at.starts_with(day)));
    assert_eq!(row_urls(&found), expected);
}

#[test]
fn list_takes_several_authors_in_any_case() {
    let (fixture, home) = pull_with_comments();
    let truth = fixture.with_github(|github| github.world().truth());
    let mut authors: Vec<&str> = truth
        .threads_of_kind(ThreadKind::Issue)
        .filter_map(|thread| thread.author.as_deref())
        .collect();
    authors.sort_unstable();
    authors.dedup();
    let (one, other) = (authors[0].to_uppercase(), authors[1].to_owned());
    let by_them = |author: Option<&str>| author.is_some_and(|name| authors[..2].contains(&name));
    let issues =
        truth.threads_of_kind(ThreadKind::Issue).filter(|thread| by_them(thread.author.as_deref()));
    let expected = thread_urls(issues);
    let both = format!("{one}, {other}");
    for args in [vec!["--author", &both], vec!["--author", &one, "--author", &other]] {
        let found = run_command_json(home.path(), "list", &[&["issues"], &args[..]].concat());
        assert_eq!(row_urls(&found), expected);
        let listed = run_command_json(home.path(), "list", &[&["comments"], &args[..]].concat());
        let comments = truth.comments.values().filter(|comment| by_them(comment.author.as_deref()));
        assert_eq!(listed.len(), comments.count());
    }
}

#[test]
fn list_takes_names_in_any_case_with_owner_or_at_sign() {
    let (fixture, home) = pull_with_comments();
    let truth = fixture.with_github(|github| github.world().truth());
    let issues = truth.threads_of_kind(ThreadKind::Issue);
    let expected = thread_urls(issues.filter(|issue| issue.repository == "pump"));
    for name in ["pump", "Pump", "acme/pump", "ACME/PUMP"] {
        let output = run_command(home.path(), "list", &["issues", "--json", "--repository", name]);
        assert_eq!(stderr_text(&output), "", "{name}");
        let rows: Vec<Value> = success_stdout(&output)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(row_urls(&rows), expected, "{name}");
        let comments = run_command_json(home.path(), "list", &["comments", "--repository", name]);
        assert!(!comments.is_empty(), "{name}");
        assert!(comments.iter().all(|row| row["repository"] == "pump"), "{name}");
    }
    let author =
        truth.threads_of_kind(ThreadKind::Issue).find_map(|thread| thread.author.clone()).unwrap();
    let by = |name: &str| {
        row_urls(&run_command_json(home.path(), "list", &["issues", "--author", name]))
    };
    assert_eq!(by(&format!("@{author}")), by(&author));
    assert!(!by(&author).is_empty());
    for name in ["elsewhere/pump", "pum"] {
        let output = run_command(home.path(), "list", &["issues", "--repository", name]);
        assert_eq!(success_stdout(&output), "");
        let sentence = format!("this workspace has no repository named {name}");
        assert!(stderr_text(&output).contains(&sentence), "{}", stderr_text(&output));
    }
}

#[test]
fn list_reports_when_filters_match_nothing() {
    let (_fixture, home) = pull_with_comments();
    for list in ["issues", "prs", "discussions", "comments"] {
        let output = run_command(home.path(), "list", &[list, "--created-from", "9999-12-31"]);
        assert_eq!(
            (success_stdout(&output), stderr_text(&output)),
            (String::new(), "no matches\n".into())
        );
    }
}

#[test]
fn list_filters_comments_by_created_date() {
    let (fixture, home) = pull_with_comments();
    let truth = fixture.with_github(|github| github.world().truth());
    let pivot =
        median_time(truth.comments.values().map(|comment| comment.created_at.clone())).unwrap();
    let found = run_command_json(
        home.path(),
        "list",
        &["comments", "--created-from", &with_other_offset(&pivot)],
    );
    let expected = truth.comments.values().filter(|comment| pivot <= comment.created_at);
    assert_eq!(found.len(), expected.count());
    assert!(found.len() < truth.comments.len(), "some are older");
}

#[test]
fn list_csv_reads_back_as_the_json() {
    let (_fixture, home) = pull_hostile_world();
    for list in LIST_NAMES {
        let rows = run_command_json(home.path(), "list", &[list]);
        assert!(!rows.is_empty(), "{list}");
        let printed = success_stdout(&run_command(home.path(), "list", &[list, "--csv"]));
        let mut reader = csv::ReaderBuilder::new().from_reader(printed.as_bytes());
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let records: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), rows.len(), "{list}");
        for (record, row) in records.iter().zip(&rows) {
            let cells = names.iter().map(|name| cell_text(&row[name]));
            assert_eq!(record.iter().collect::<Vec<_>>(), cells.collect::<Vec<_>>(), "{list}");
        }
    }
}

#[test]
fn list_fields_are_chosen_and_ordered_in_every_format() {
    let (_fixture, home) = pull_with_comments();
    let printed = |form: &[&str]| {
        let args = [&["issues", "--limit", "1", "--fields", "title, number,author"], form].concat();
        success_stdout(&run_command(home.path(), "list", &args))
    };
    let row = &run_command_json(home.path(), "list", &["issues", "--limit", "1"])[0];
    let (title, number, author) = (&row["title"], &row["number"], &row["author"]);
    let expected = format!("{{\"title\":{title},\"number\":{number},\"author\":{author}}}\n");
    assert_eq!(printed(&["--json"]), expected);
    assert!(printed(&["--csv"]).starts_with("title,number,author\r\n"));
    let [title, author] = [title, author].map(|value| value.as_str().unwrap());
    assert_eq!(printed(&[]), format!("{title}\t{number}\t{author}\n"));
}

#[test]
fn list_names_a_wrong_field_or_date_and_valid_ones() {
    let (_fixture, home) = pull_with_comments();
    for list in LIST_NAMES {
        let args = [list, "--fields", "node_id,titel,x"];
        let (code, stderr) = failure_output(&run_command(home.path(), "list", &args));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(
            stderr.starts_with("Error: unknown fields: titel, x; the available fields are type, ")
        );
    }
    for date in ["yesterday", "2026-13-01", "2026-01-01T00:00:00"] {
        let (code, stderr) =
            failure_output(&run_command(home.path(), "list", &["prs", "--merged-to", date]));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("not a date") && stderr.contains("2025-06-18"), "{stderr}");
    }
    for list in LIST_NAMES {
        let (code, stderr) =
            failure_output(&run_command(home.path(), "list", &[list, "--limit", "0"]));
        assert!(code == Some(2) && stderr.contains("expected a positive whole number"), "{stderr}");
    }
    for (args, sentence) in [
        (["comments", "--thread", "abc"], "expected a thread number, got \"abc\""),
        (["comments", "--thread", "-1"], "expected a thread number, got \"-1\""),
        (["issues", "--limit", "-3"], "expected a positive whole number, got \"-3\""),
        (["issues", "--author", ""], "expected a login, got \"\""),
        (["issues", "--author", "anchor,@"], "expected a login, got \"@\""),
        (["issues", "--fields", ""], "Error: --fields is empty; the available fields are type, "),
    ] {
        let (code, stderr) = failure_output(&run_command(home.path(), "list", &args));
        assert!(code == Some(2) && stderr.contains(sentence), "{args:?}: {stderr}");
    }
    let backwards = ["prs", "--closed-from", "2026-02-01", "--closed-to", "2026-01-31"];
    let (code, stderr) = failure_output(&run_command(home.path(), "list", &backwards));
    let expected = "Error: --closed-from is later than --closed-to\n";
    assert_eq!((code, stderr.as_str()), (Some(2), expected));
    let (code, _) =
        failure_output(&run_command(home.path(), "list", &["issues", "--merged-to", "2026-01-01"]));
    assert_eq!(code, Some(2), "issues are not merged");
    let (code, _) =
        failure_output(&run_command(home.path(), "list", &["issues", "--json", "--csv"]));
    assert_eq!(code, Some(2), "one format at a time");
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(cell_text).collect::<Vec<_>>().join(";"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns the median.
fn median_time(times: impl Iterator<Item = String>) -> Option<String> {
    let mut times: Vec<String> = times.collect();
    times.sort_unstable();
    times.get(times.len() / 2).cloned()
}

/// Writes the same instant with another offset.
fn with_other_offset(time: &str) -> String {
    let instant: jiff::Timestamp = time.parse().unwrap();
    let offset = jiff::tz::Offset::from_seconds(-(3 * 3_600 + 1_800)).unwrap();
    instant.display_with_offset(offset).to_string()
}

fn thread_urls<'a>(threads: impl Iterator<Item = &'a TrueThread>) -> Vec<String> {
    let mut urls: Vec<String> = threads.map(|thread| thread.url.clone()).collect();
    urls.sort_unstable();
    urls
}

fn row_urls(rows: &[Value]) -> Vec<String> {
    let mut urls: Vec<String> =
        rows.iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect();
    urls.sort_unstable();
    urls
}
