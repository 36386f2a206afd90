//! `highwater search`: any text is a query.

use std::collections::BTreeSet;

use std::path::Path;

use hw_rules::clean::is_harmless;
use hw_sim::{CommentKind, ThreadKind};
use hw_sync::clock::{Clock as _, MachineClock};
use tempfile::TempDir;

use crate::house::{
    House, asked, asked_json, documented_fields, failed, fields, hostile, program, pulled,
    succeeded, warned,
};
use crate::nasty;
use crate::terminal::Terminal;

const RANDOM: u64 = 1_000;

#[test]
fn every_nasty_query_is_answered_and_finds_what_contains_it() {
    let (_house, home) = nasty::pulled();
    for (number, query) in nasty::found().iter().enumerate() {
        let found = asked_json(home.path(), "search", &["--limit", "1000", "--", query]);
        let title = format!("Case {number}");
        assert!(found.iter().any(|hit| hit["title"] == title.as_str()), "{query:.40}");
    }
    for query in nasty::empty() {
        let output = asked(home.path(), "search", &["--json", "--", &query]);
        assert_eq!(succeeded(&output), "", "{query:?}");
        let is_empty = query.trim().is_empty();
        let told = if is_empty {
            "there is nothing to look for: the query is empty"
        } else {
            "nothing was found"
        };
        assert_eq!(warned(&output), format!("{told}\n"), "{query:?}");
    }
    let (code, told) = failed(&asked(home.path(), "search", &["--limit", "0", "x"]));
    assert_eq!(code, Some(2), "{told}");
}

#[test]
fn a_thousand_random_queries_are_answered() {
    let (_house, home) = pulled();
    let mut dice = fastrand::Rng::with_seed(1);
    for _ in 0..RANDOM {
        let query = random(&mut dice);
        let output = asked(home.path(), "search", &["--", &query]);
        assert_eq!(output.status.code(), Some(0), "{query:?}: {output:?}");
    }
}

#[test]
fn a_filter_that_is_none_is_told() {
    let (_house, home) = pulled();
    let output = asked(home.path(), "search", &["pump created:soon"]);
    succeeded(&output);
    let told = "warning: created:soon was taken for words: created: wants a date or two, ";
    assert!(warned(&output).contains(told), "{output:?}");
    let harmless = asked(home.path(), "search", &["pump created:>=2020-01-01"]);
    assert!(!warned(&harmless).contains("taken for words"), "{harmless:?}");
}

#[test]
fn words_need_no_quotes_and_arguments_may_follow_them() {
    let (_house, home) = pulled();
    let title = first_title(home.path());
    let words: Vec<&str> = title.split(' ').collect();
    let one = asked_json(home.path(), "search", &[&title]);
    assert!(one.iter().any(|hit| hit["title"] == title.as_str()), "{title}");
    assert_eq!(asked_json(home.path(), "search", &words), one);
    let behind = asked(home.path(), "search", &[&words[..], &["--json", "--limit", "1"]].concat());
    assert_eq!(succeeded(&behind).lines().count(), 1);
}

#[test]
fn excluded_words_need_no_dashes_before_them() {
    let (_house, home) = pulled();
    let found = |words: &[&str]| -> BTreeSet<String> {
        let args = [words, &["--limit", "10000"]].concat();
        let hits = asked_json(home.path(), "search", &args);
        hits.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
    };
    let (all, both) = (found(&["the"]), found(&["the", "steps"]));
    assert!(!both.is_empty() && both.len() < all.len(), "{} of {}", both.len(), all.len());
    assert_eq!(found(&["the", "-steps"]), &all - &both);
    let alone = asked(home.path(), "search", &["-Werror"]);
    assert_eq!(succeeded(&alone), "");
    assert!(warned(&alone).contains("only exclusions"), "{alone:?}");
}

#[test]
fn a_hit_has_the_documented_fields_and_is_the_thread_that_is_held() {
    let (_house, home) = pulled();
    let title = first_title(home.path());
    let query = format!("type:issue {title}");
    let hits = asked_json(home.path(), "search", &["--limit", "100", &query]);
    let hit = hits.iter().find(|hit| hit["title"] == title.as_str()).unwrap();
    assert_eq!(fields(hit), documented_fields("`highwater search --json`"));
    let held = asked_json(home.path(), "list", &["issues"]);
    let held = held.iter().find(|row| row["url"] == hit["url"]).unwrap();
    for field in ["title", "repository", "created_at", "updated_at", "author", "number", "body"] {
        assert_eq!(hit[field], held[field], "{field}");
    }
    assert_eq!((&hit["type"], &hit["owner"]), (&"issue".into(), &"acme".into()));
    let snippet = hit["snippet"].as_str().unwrap();
    for range in hit["matches"].as_array().unwrap() {
        assert!(range[1].as_u64().unwrap() <= snippet.chars().count() as u64, "{hit}");
    }
    let chosen = asked(home.path(), "search", &["--csv", "--fields", "url,number", &title]);
    assert!(succeeded(&chosen).starts_with("url,number\r\n"), "{chosen:?}");
}

#[test]
fn people_see_what_was_found_and_where() {
    let (_house, home) = pulled();
    let title = first_title(home.path());
    let output = asked(home.path(), "search", &[&title]);
    let told = succeeded(&output);
    let first = told.lines().next().unwrap();
    assert!(first.contains(" acme/") && first.contains(" open: "), "{first}");
    assert!(told.contains(&format!(": {title}\n")), "{told}");
    assert!(told.contains("\n  https://github.com/acme/"), "{told}");
    assert_eq!(warned(&output), "");
    let nothing = asked(home.path(), "search", &["nobody ever wrote qxzzyq"]);
    assert_eq!(
        (succeeded(&nothing).as_str(), warned(&nothing).as_str()),
        ("", "nothing was found\n")
    );
}

#[test]
fn no_text_steers_the_terminal_of_whoever_searches_lists_or_shows() {
    let (house, home) = hostile();
    let truth = house.look(|github| github.world().truth());
    let mut told = String::new();
    for query in ["red", "zero", "before", "txt", "line", "half", "week", "seen"] {
        told += &succeeded(&asked(home.path(), "search", &["--limit", "100", query]));
    }
    for list in ["issues", "prs", "discussions", "comments"] {
        told += &succeeded(&asked(home.path(), "list", &[list]));
        let columns = [list, "--fields", "author,body,labels"];
        told += &succeeded(&asked(home.path(), "list", &columns));
    }
    for thread in truth.threads.values() {
        told += &succeeded(&asked(home.path(), "show", &[&thread.url]));
    }
    let is_steering = |text: &str| !text.chars().all(is_harmless);
    let texts = truth.threads.values().map(|it| &it.body);
    assert!(texts.chain(truth.comments.values().map(|it| &it.body)).any(|it| is_steering(it)));
    let bad: Vec<char> = told.chars().filter(|c| !is_harmless(*c)).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn search_does_not_miss_what_was_left_out_on_purpose() {
    for left_out in [["-e", "pump"], ["-i", "issues"]] {
        let (house, home) = (House::small(), tempfile::tempdir().unwrap());
        house.pulled(home.path(), &left_out);
        let output = asked(home.path(), "search", &["the"]);
        succeeded(&output);
        assert_eq!(warned(&output), "", "{left_out:?}");
    }
}

#[test]
fn words_of_a_comment_lead_to_its_thread() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let (url, said) = house.look(|github| {
        let issue = github.world().truth().of_kind(ThreadKind::Issue).next().unwrap().clone();
        let now_ms = MachineClock.now_ms() - 1_000;
        let world = github.world_mut();
        let id = world.add_comment(issue.kind, issue.id, "Grease the **qxwinch** first.", now_ms);
        (issue.url, world.truth().comments[&(CommentKind::Conversation, id)].clone())
    });
    house.pulled(home.path(), &["-i", "repositories,issues,comments"]);
    let hits = asked_json(home.path(), "search", &["qxwinch"]);
    let told: Vec<_> = hits.iter().map(|hit| (&hit["url"], &hit["comment_url"])).collect();
    assert_eq!(told, [(&url.into(), &said.url.as_str().into())]);
    let snippet: Vec<char> = hits[0]["snippet"].as_str().unwrap().chars().collect();
    let range: [usize; 2] = serde_json::from_value(hits[0]["matches"][0].clone()).unwrap();
    assert_eq!(snippet[range[0]..range[1]].iter().collect::<String>(), "qxwinch");
    let told = succeeded(&asked(home.path(), "search", &["qxwinch"]));
    let author = said.author.as_deref().unwrap_or("ghost");
    assert!(told.contains(&format!("\n  {}\n  in a comment by {author}: ", said.url)), "{told}");
    let alone = asked_json(home.path(), "search", &["type:comment qxwinch"]);
    assert_eq!((&alone[0]["type"], &alone[0]["url"]), (&"comment".into(), &said.url.into()));
}

#[test]
fn matched_words_are_bold_on_a_terminal_that_wants_it() {
    let (_house, home) = pulled();
    let word = first_title(home.path()).split(' ').next_back().unwrap().to_owned();
    let bold = |plain: Option<&str>| {
        let mut search = program(&["search", &word]);
        search.env("HIGHWATER_HOME", home.path());
        search.envs(plain.map(|name| (name, "1")));
        let mut terminal = Terminal::run(&search, 200);
        assert_eq!(terminal.end(), 0);
        let told = String::from_utf8(terminal.bytes.clone()).unwrap();
        assert!(told.to_lowercase().contains(&word.to_lowercase()), "{told}");
        told.to_lowercase().contains(&format!("\u{1b}[1m{}\u{1b}[0m", word.to_lowercase()))
    };
    assert!(bold(None), "on a terminal");
    assert!(!bold(Some("NO_COLOR")), "not where nobody wants it");
    let piped = succeeded(&asked(home.path(), "search", &[&word]));
    assert!(!piped.contains('\u{1b}'), "and not in a pipe: {piped}");
}

#[test]
fn a_search_without_a_workspace_says_what_to_do() {
    let home: TempDir = tempfile::tempdir().unwrap();
    for (command, args) in [("search", vec!["x"]), ("show", vec!["a#1"]), ("list", vec!["prs"])] {
        let (code, told) = failed(&asked(home.path(), command, &args));
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("there is no database at") && told.contains("\nhint: "), "{told}");
    }
}

fn first_title(home: &Path) -> String {
    let issues = asked_json(home, "list", &["issues"]);
    issues[0]["title"].as_str().unwrap().to_owned()
}

/// Up to a few dozen characters of any sort that an argument can carry, operators more often.
fn random(dice: &mut fastrand::Rng) -> String {
    const OFTEN: [&str; 14] =
        ["\"", "*", ":", "(", ")", "-", " AND ", " OR ", "NEAR", "repo:", "'", "^", "{", "the "];
    let length = dice.usize(0..30);
    let one = |dice: &mut fastrand::Rng| match dice.u8(0..4) {
        0 => OFTEN[dice.usize(0..OFTEN.len())].to_owned(),
        1 => dice.char('\u{1}'..).to_string(),
        _ => dice.char('\u{20}'..'\u{7f}').to_string(),
    };
    (0..length).map(|_| one(dice)).collect()
}
