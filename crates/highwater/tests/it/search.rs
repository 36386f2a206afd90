//! `highwater search`: any text is a query.

use std::collections::BTreeSet;

use std::path::Path;

use hw_rules::safe_text::is_safe_char;
use hw_sim::{CommentKind, ThreadKind};
use hw_sync::clock::{Clock as _, MachineClock};
use tempfile::TempDir;

use crate::fixture::{
    GitHubFixture, documented_fields, failure_output, field_names, program_command,
    pull_hostile_world, pull_small_world, run_command, run_command_json, stderr_text,
    success_stdout,
};
use crate::nasty_queries;
use crate::pseudo_terminal::PseudoTerminal;

const RANDOM_QUERIES: u64 = 1_000;

#[test]
fn search_answers_every_nasty_query_and_finds_its_text() {
    let (_fixture, home) = nasty_queries::pull_nasty_world();
    for (number, query) in nasty_queries::findable_queries().iter().enumerate() {
        let found = run_command_json(home.path(), "search", &["--limit", "1000", "--", query]);
        let title = format!("Case {number}");
        assert!(found.iter().any(|hit| hit["title"] == title.as_str()), "{query:.40}");
    }
    for query in nasty_queries::empty_queries() {
        let output = run_command(home.path(), "search", &["--json", "--", &query]);
        assert_eq!(success_stdout(&output), "", "{query:?}");
        let is_empty = query.trim().is_empty();
        let message =
            if is_empty { "nothing to search for: the query is empty" } else { "no matches" };
        assert_eq!(stderr_text(&output), format!("{message}\n"), "{query:?}");
    }
    let (code, stderr) =
        failure_output(&run_command(home.path(), "search", &["--limit", "0", "x"]));
    assert_eq!(code, Some(2), "{stderr}");
}

#[test]
fn search_answers_a_thousand_random_queries() {
    let (_fixture, home) = pull_small_world();
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..RANDOM_QUERIES {
        let query = random_query(&mut rng);
        let output = run_command(home.path(), "search", &["--", &query]);
        assert_eq!(output.status.code(), Some(0), "{query:?}: {output:?}");
    }
}

#[test]
fn search_reports_a_filter_that_is_not_one() {
    let (_fixture, home) = pull_small_world();
    let output = run_command(home.path(), "search", &["pump created:soon"]);
    success_stdout(&output);
    let printed = "warning: `created:soon` is not a valid filter (use a date or a range such as ";
    assert!(stderr_text(&output).contains(printed), "{output:?}");
    let harmless = run_command(home.path(), "search", &["pump created:>=2020-01-01"]);
    assert!(!stderr_text(&harmless).contains("is not a valid filter"), "{harmless:?}");
}

#[test]
fn search_words_need_no_quotes_and_flags_may_follow() {
    let (_fixture, home) = pull_small_world();
    let title = first_title(home.path());
    let words: Vec<&str> = title.split(' ').collect();
    let one = run_command_json(home.path(), "search", &[&title]);
    assert!(one.iter().any(|hit| hit["title"] == title.as_str()), "{title}");
    assert_eq!(run_command_json(home.path(), "search", &words), one);
    let behind =
        run_command(home.path(), "search", &[&words[..], &["--json", "--limit", "1"]].concat());
    assert_eq!(success_stdout(&behind).lines().count(), 1);
}

#[test]
fn search_exclusions_need_no_double_dash() {
    let (_fixture, home) = pull_small_world();
    let found = |words: &[&str]| -> BTreeSet<String> {
        let args = [words, &["--limit", "10000"]].concat();
        let hits = run_command_json(home.path(), "search", &args);
        hits.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
    };
    let (all, both) = (found(&["the"]), found(&["the", "steps"]));
    assert!(!both.is_empty() && both.len() < all.len(), "{} of {}", both.len(), all.len());
    assert_eq!(found(&["the", "-steps"]), &all - &both);
    let alone = run_command(home.path(), "search", &["-Werror"]);
    assert_eq!(success_stdout(&alone), "");
    assert!(stderr_text(&alone).contains("only exclusions"), "{alone:?}");
}

#[test]
fn search_hit_has_the_documented_fields_and_equals_the_stored_thread() {
    let (_fixture, home) = pull_small_world();
    let title = first_title(home.path());
    let query = format!("type:issue {title}");
    let hits = run_command_json(home.path(), "search", &["--limit", "100", &query]);
    let hit = hits.iter().find(|hit| hit["title"] == title.as_str()).unwrap();
    assert_eq!(field_names(hit), documented_fields("`highwater search --json`"));
    let stored = run_command_json(home.path(), "list", &["issues"]);
    let stored = stored.iter().find(|row| row["url"] == hit["url"]).unwrap();
    for field in ["title", "repository", "created_at", "updated_at", "author", "number", "body"] {
        assert_eq!(hit[field], stored[field], "{field}");
    }
    assert_eq!((&hit["type"], &hit["owner"]), (&"issue".into(), &"acme".into()));
    let snippet = hit["snippet"].as_str().unwrap();
    for range in hit["matches"].as_array().unwrap() {
        assert!(range[1].as_u64().unwrap() <= snippet.chars().count() as u64, "{hit}");
    }
    let chosen = run_command(home.path(), "search", &["--csv", "--fields", "url,number", &title]);
    assert!(success_stdout(&chosen).starts_with("url,number\r\n"), "{chosen:?}");
}

#[test]
fn search_prints_hits_with_repository_and_url() {
    let (_fixture, home) = pull_small_world();
    let title = first_title(home.path());
    let output = run_command(home.path(), "search", &[&title]);
    let stdout = success_stdout(&output);
    let first = stdout.lines().next().unwrap();
    assert!(first.contains(" acme/") && first.contains(" open: "), "{first}");
    assert!(stdout.contains(&format!(": {title}\n")), "{stdout}");
    assert!(stdout.contains("\n  https://github.com/acme/"), "{stdout}");
    assert_eq!(stderr_text(&output), "");
    let nothing = run_command(home.path(), "search", &["nobody ever wrote qxzzyq"]);
    assert_eq!(
        (success_stdout(&nothing).as_str(), stderr_text(&nothing).as_str()),
        ("", "no matches\n")
    );
}

#[test]
fn search_list_and_show_print_no_text_that_steers_the_terminal() {
    let (fixture, home) = pull_hostile_world();
    let truth = fixture.with_github(|github| github.world().truth());
    let mut printed = String::new();
    for query in ["red", "zero", "before", "txt", "line", "half", "week", "seen"] {
        printed += &success_stdout(&run_command(home.path(), "search", &["--limit", "100", query]));
    }
    for list in ["issues", "prs", "discussions", "comments"] {
        printed += &success_stdout(&run_command(home.path(), "list", &[list]));
        let columns = [list, "--fields", "author,body,labels"];
        printed += &success_stdout(&run_command(home.path(), "list", &columns));
    }
    for thread in truth.threads.values() {
        printed += &success_stdout(&run_command(home.path(), "show", &[&thread.url]));
    }
    let bodies = truth.threads.values().map(|thread| &thread.body);
    let mut bodies = bodies.chain(truth.comments.values().map(|comment| &comment.body));
    assert!(bodies.any(|body| !body.chars().all(is_safe_char)));
    let bad: Vec<char> = printed.chars().filter(|c| !is_safe_char(*c)).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn search_does_not_warn_about_excluded_items() {
    for left_out in [["-e", "pump"], ["-i", "issues"]] {
        let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
        fixture.pull_json(home.path(), &left_out);
        let output = run_command(home.path(), "search", &["the"]);
        success_stdout(&output);
        assert_eq!(stderr_text(&output), "", "{left_out:?}");
    }
}

#[test]
fn search_finds_a_thread_by_the_words_of_a_comment() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let (url, comment) = fixture.with_github(|github| {
        let issue =
            github.world().truth().threads_of_kind(ThreadKind::Issue).next().unwrap().clone();
        let now_ms = MachineClock.now_ms() - 1_000;
        let world = github.world_mut();
        let id = world.add_comment(issue.kind, issue.id, "Grease the **qxwinch** first.", now_ms);
        (issue.url, world.truth().comments[&(CommentKind::Conversation, id)].clone())
    });
    fixture.pull_json(home.path(), &["-i", "repositories,issues,comments"]);
    let hits = run_command_json(home.path(), "search", &["qxwinch"]);
    let urls: Vec<_> = hits.iter().map(|hit| (&hit["url"], &hit["comment_url"])).collect();
    assert_eq!(urls, [(&url.into(), &comment.url.as_str().into())]);
    let snippet: Vec<char> = hits[0]["snippet"].as_str().unwrap().chars().collect();
    let range: [usize; 2] = serde_json::from_value(hits[0]["matches"][0].clone()).unwrap();
    assert_eq!(snippet[range[0]..range[1]].iter().collect::<String>(), "qxwinch");
    let stdout = success_stdout(&run_command(home.path(), "search", &["qxwinch"]));
    let author = comment.author.as_deref().unwrap_or("ghost");
    assert!(
        stdout.contains(&format!("\n  {}\n  in a comment by {author}: ", comment.url)),
        "{stdout}"
    );
    let alone = run_command_json(home.path(), "search", &["type:comment qxwinch"]);
    assert_eq!((&alone[0]["type"], &alone[0]["url"]), (&"comment".into(), &comment.url.into()));
}

#[test]
fn search_prints_matches_bold_on_a_terminal_unless_disabled() {
    let (_fixture, home) = pull_small_world();
    let word = first_title(home.path()).split(' ').next_back().unwrap().to_owned();
    let bold = |plain: Option<&str>| {
        let mut search = program_command(&["search", &word]);
        search.env("HIGHWATER_HOME", home.path());
        search.envs(plain.map(|name| (name, "1")));
        let mut terminal = PseudoTerminal::run(&search, 200);
        assert_eq!(terminal.wait_for_exit(), 0);
        let printed = String::from_utf8(terminal.bytes.clone()).unwrap();
        assert!(printed.to_lowercase().contains(&word.to_lowercase()), "{printed}");
        printed.to_lowercase().contains(&format!("\u{1b}[1m{}\u{1b}[0m", word.to_lowercase()))
    };
    assert!(bold(None), "on a terminal");
    assert!(!bold(Some("NO_COLOR")), "not with NO_COLOR");
    let piped = success_stdout(&run_command(home.path(), "search", &[&word]));
    assert!(!piped.contains('\u{1b}'), "and not in a pipe: {piped}");
}

#[test]
fn search_without_a_workspace_gives_a_hint() {
    let home: TempDir = tempfile::tempdir().unwrap();
    for (command, args) in [("search", vec!["x"]), ("show", vec!["a#1"]), ("list", vec!["prs"])] {
        let (code, stderr) = failure_output(&run_command(home.path(), command, &args));
        assert_eq!(code, Some(1), "{stderr}");
        assert!(
            stderr.contains("there is no database at") && stderr.contains("\nhint: "),
            "{stderr}"
        );
    }
}

fn first_title(home: &Path) -> String {
    let issues = run_command_json(home, "list", &["issues"]);
    issues[0]["title"].as_str().unwrap().to_owned()
}

/// Returns up to a few dozen characters of any kind that an argument can carry, operators more often.
fn random_query(rng: &mut fastrand::Rng) -> String {
    const OFTEN: [&str; 14] =
        ["\"", "*", ":", "(", ")", "-", " AND ", " OR ", "NEAR", "repo:", "'", "^", "{", "the "];
    let length = rng.usize(0..30);
    let pieces = (0..length).map(|_| match rng.u8(0..4) {
        0 => OFTEN[rng.usize(0..OFTEN.len())].to_owned(),
        1 => rng.char('\u{1}'..).to_string(),
        _ => rng.char('\u{20}'..'\u{7f}').to_string(),
    });
    pieces.collect()
}
