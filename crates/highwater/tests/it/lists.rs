//! `highwater list`: filters against the world's own truth, and CSV that reads back.

use hw_sim::{ThreadKind, TrueThread};
use serde_json::Value;

use crate::house::{asked, asked_json, failed, hostile, succeeded, talking, warned};

const KINDS: [(&str, ThreadKind); 3] = [
    ("issues", ThreadKind::Issue),
    ("prs", ThreadKind::PullRequest),
    ("discussions", ThreadKind::Discussion),
];
/// A time in a thread's life.
type When = dyn Fn(&TrueThread) -> Option<String>;
const LISTS: [&str; 5] = ["issues", "prs", "discussions", "comments", "repos"];

#[test]
fn threads_are_narrowed_by_when_they_were_written_closed_and_merged() {
    let (house, home) = talking();
    let truth = house.look(|github| github.world().truth());
    let mut narrowed = 0;
    for (list, kind) in KINDS {
        let merged = |it: &TrueThread| it.pull_request.as_ref()?.merged_at.clone();
        let whens: [(&str, &When); 3] = [
            ("created", &|it| Some(it.created_at.clone())),
            ("closed", &|it| it.closed_at.clone()),
            ("merged", &merged),
        ];
        let whens = whens.iter().filter(|(name, _)| *name != "merged" || list == "prs");
        for (name, when) in whens {
            let Some(pivot) = pivot(truth.of_kind(kind).filter_map(when)) else { continue };
            for (side, is_in) in [
                ("from", &(|at: &str| pivot.as_str() <= at) as &dyn Fn(&str) -> bool),
                ("to", &|at: &str| at <= pivot.as_str()),
            ] {
                let flag = format!("--{name}-{side}");
                let found = asked_json(home.path(), "list", &[list, &flag, &elsewhere(&pivot)]);
                let is_true = |it: &&TrueThread| when(it).is_some_and(|at| is_in(&at));
                let expected = urls(truth.of_kind(kind).filter(is_true));
                assert_eq!(found_urls(&found), expected, "{list} {flag} {pivot}");
                narrowed += 1;
            }
        }
    }
    assert!(8 <= narrowed, "too few of the filters had anything to do: {narrowed}");
}

#[test]
fn a_plain_date_means_the_whole_day() {
    let (house, home) = talking();
    let truth = house.look(|github| github.world().truth());
    let day =
        &pivot(truth.of_kind(ThreadKind::Issue).map(|it| it.created_at.clone())).unwrap()[..10];
    let args = ["issues", "--created-from", day, "--created-to", day];
    let found = asked_json(home.path(), "list", &args);
    let of_day = |it: &&TrueThread| it.created_at.starts_with(day);
    assert_eq!(found_urls(&found), urls(truth.of_kind(ThreadKind::Issue).filter(of_day)));
}

#[test]
fn several_authors_are_named_at_once_or_one_by_one_in_any_case() {
    let (house, home) = talking();
    let truth = house.look(|github| github.world().truth());
    let mut authors: Vec<&str> =
        truth.of_kind(ThreadKind::Issue).filter_map(|it| it.author.as_deref()).collect();
    authors.sort_unstable();
    authors.dedup();
    let (one, other) = (authors[0].to_uppercase(), authors[1].to_owned());
    let by_them = |author: Option<&str>| author.is_some_and(|it| authors[..2].contains(&it));
    let issues = truth.of_kind(ThreadKind::Issue).filter(|it| by_them(it.author.as_deref()));
    let expected = urls(issues);
    let both = format!("{one}, {other}");
    for args in [vec!["--author", &both], vec!["--author", &one, "--author", &other]] {
        let found = asked_json(home.path(), "list", &[&["issues"], &args[..]].concat());
        assert_eq!(found_urls(&found), expected);
        let said = asked_json(home.path(), "list", &[&["comments"], &args[..]].concat());
        let comments = truth.comments.values().filter(|it| by_them(it.author.as_deref()));
        assert_eq!(said.len(), comments.count());
    }
}

#[test]
fn names_are_taken_in_any_case_with_an_owner_or_an_at_sign() {
    let (house, home) = talking();
    let truth = house.look(|github| github.world().truth());
    let of_pump = |it: &&TrueThread| it.repository == "pump";
    let expected = urls(truth.of_kind(ThreadKind::Issue).filter(of_pump));
    for name in ["pump", "Pump", "acme/pump", "ACME/PUMP"] {
        let output = asked(home.path(), "list", &["issues", "--json", "--repository", name]);
        assert_eq!(warned(&output), "", "{name}");
        let rows: Vec<Value> =
            succeeded(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(found_urls(&rows), expected, "{name}");
        let said = asked_json(home.path(), "list", &["comments", "--repository", name]);
        assert!(!said.is_empty() && said.iter().all(|it| it["repository"] == "pump"), "{name}");
    }
    let author = truth.of_kind(ThreadKind::Issue).find_map(|it| it.author.clone()).unwrap();
    let by =
        |name: &str| found_urls(&asked_json(home.path(), "list", &["issues", "--author", name]));
    assert_eq!(by(&format!("@{author}")), by(&author));
    assert!(!by(&author).is_empty());
    for name in ["elsewhere/pump", "pum"] {
        let output = asked(home.path(), "list", &["issues", "--repository", name]);
        assert_eq!(succeeded(&output), "");
        let sentence = format!("no repository named {name} is in this workspace");
        assert!(warned(&output).contains(&sentence), "{}", warned(&output));
    }
}

#[test]
fn a_list_in_which_nothing_is_says_so_when_it_was_narrowed() {
    let (_house, home) = talking();
    for list in ["issues", "prs", "discussions", "comments"] {
        let output = asked(home.path(), "list", &[list, "--created-from", "9999-12-31"]);
        assert_eq!(
            (succeeded(&output), warned(&output)),
            (String::new(), "nothing matches\n".into())
        );
    }
}

#[test]
fn comments_are_narrowed_by_when_they_were_said() {
    let (house, home) = talking();
    let truth = house.look(|github| github.world().truth());
    let pivot = pivot(truth.comments.values().map(|it| it.created_at.clone())).unwrap();
    let found =
        asked_json(home.path(), "list", &["comments", "--created-from", &elsewhere(&pivot)]);
    let expected = truth.comments.values().filter(|it| pivot <= it.created_at);
    assert_eq!(found.len(), expected.count());
    assert!(found.len() < truth.comments.len(), "some are older");
}

#[test]
fn what_is_printed_as_csv_reads_back_as_what_is_printed_as_json() {
    let (_house, home) = hostile();
    for list in LISTS {
        let rows = asked_json(home.path(), "list", &[list]);
        assert!(!rows.is_empty(), "{list}");
        let printed = succeeded(&asked(home.path(), "list", &[list, "--csv"]));
        let mut reader = csv::ReaderBuilder::new().from_reader(printed.as_bytes());
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let records: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), rows.len(), "{list}");
        for (record, row) in records.iter().zip(&rows) {
            let cells = names.iter().map(|name| cell(&row[name]));
            assert_eq!(record.iter().collect::<Vec<_>>(), cells.collect::<Vec<_>>(), "{list}");
        }
    }
}

#[test]
fn fields_are_chosen_and_ordered_in_every_form() {
    let (_house, home) = talking();
    let told = |form: &[&str]| {
        let args = [&["issues", "--limit", "1", "--fields", "title, number,author"], form].concat();
        succeeded(&asked(home.path(), "list", &args))
    };
    let row = &asked_json(home.path(), "list", &["issues", "--limit", "1"])[0];
    let (title, number, author) = (&row["title"], &row["number"], &row["author"]);
    let expected = format!("{{\"title\":{title},\"number\":{number},\"author\":{author}}}\n");
    assert_eq!(told(&["--json"]), expected);
    assert!(told(&["--csv"]).starts_with("title,number,author\r\n"));
    let [title, author] = [title, author].map(|it| it.as_str().unwrap());
    assert_eq!(told(&[]), format!("{title}\t{number}\t{author}\n"));
}

#[test]
fn a_wrong_field_or_date_is_named_with_what_would_be_right() {
    let (_house, home) = talking();
    for list in LISTS {
        let args = [list, "--fields", "node_id,titel,x"];
        let (code, told) = failed(&asked(home.path(), "list", &args));
        assert_eq!(code, Some(2), "{told}");
        assert!(
            told.starts_with("Error: invalid fields: titel, x; the available fields are type, ")
        );
    }
    for date in ["yesterday", "2026-13-01", "2026-01-01T00:00:00"] {
        let (code, told) = failed(&asked(home.path(), "list", &["prs", "--merged-to", date]));
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("not a date") && told.contains("2025-06-18"), "{told}");
    }
    for list in LISTS {
        let (code, told) = failed(&asked(home.path(), "list", &[list, "--limit", "0"]));
        assert!(code == Some(2) && told.contains("0 is not in 1.."), "{told}");
    }
    let backwards = ["prs", "--closed-from", "2026-02-01", "--closed-to", "2026-01-31"];
    let (code, told) = failed(&asked(home.path(), "list", &backwards));
    let expected = "Error: --closed-from is later than --closed-to: nothing is in between\n";
    assert_eq!((code, told.as_str()), (Some(2), expected));
    let (code, _) = failed(&asked(home.path(), "list", &["issues", "--merged-to", "2026-01-01"]));
    assert_eq!(code, Some(2), "issues are not merged");
    let (code, _) = failed(&asked(home.path(), "list", &["issues", "--json", "--csv"]));
    assert_eq!(code, Some(2), "one form at a time");
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(cell).collect::<Vec<_>>().join(";"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// The one in the middle.
fn pivot(times: impl Iterator<Item = String>) -> Option<String> {
    let mut times: Vec<String> = times.collect();
    times.sort_unstable();
    times.get(times.len() / 2).cloned()
}

/// The same instant, as a clock elsewhere shows it.
fn elsewhere(time: &str) -> String {
    let instant: jiff::Timestamp = time.parse().unwrap();
    let offset = jiff::tz::Offset::from_seconds(-(3 * 3_600 + 1_800)).unwrap();
    instant.display_with_offset(offset).to_string()
}

fn urls<'a>(threads: impl Iterator<Item = &'a TrueThread>) -> Vec<String> {
    let mut urls: Vec<String> = threads.map(|it| it.url.clone()).collect();
    urls.sort_unstable();
    urls
}

fn found_urls(rows: &[Value]) -> Vec<String> {
    let mut urls: Vec<String> =
        rows.iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect();
    urls.sort_unstable();
    urls
}
