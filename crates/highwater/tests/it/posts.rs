//! `highwater list posts` and `highwater bluesky trending`.

use serde_json::json;

use crate::fixture::{
    documented_fields, failure_output, field_names, run_command, run_command_json, stderr_text,
    success_stdout,
};
use crate::post_fixture::{
    PostFixture, did, post_at, recent_post, reply_to, repost_of, with_links,
};

#[test]
fn list_posts_prints_the_newest_first_with_names_marks_and_urls() {
    let fixture = PostFixture::new();
    let first = post_at("alice", "a1", 60, "first\nline");
    let reply = reply_to(&first, post_at("bob", "b1", 120, "an answer"));
    let mut quote = post_at("alice", "a2", 180, "look at this");
    quote.quote = Some(reply.uri.clone());
    fixture.read_feed("alice", &[first.clone(), quote]);
    fixture.read_feed("bob", &[reply, repost_of(&first, "bob", "r1")]);
    let output = run_command(fixture.home(), "list", &["posts"]);
    assert_eq!(stderr_text(&output), "");
    let url = "https://bsky.app/profile/did:plc";
    assert_eq!(
        success_stdout(&output),
        format!(
            "2026-01-01 01:01  did:plc:bob                  repost  alice.test: first line  {url}:alice/post/a1\n\
             2026-01-01 00:03  alice.test                   quote   look at this  {url}:alice/post/a2\n\
             2026-01-01 00:02  did:plc:bob                  reply   an answer  {url}:bob/post/b1\n\
             2026-01-01 00:01  alice.test                           first line  {url}:alice/post/a1\n"
        )
    );
}

#[test]
fn list_posts_filters_by_account_time_and_kind() {
    let fixture = PostFixture::new();
    let first = post_at("alice", "a1", 60, "first");
    let reply = reply_to(&first, post_at("bob", "b1", 120, "answer"));
    fixture.read_feed("alice", &[first.clone(), post_at("alice", "a2", 90_000, "second")]);
    fixture.read_feed("bob", &[reply, repost_of(&first, "bob", "r1")]);
    for (args, expected) in [
        (&[][..], &["second", "first", "answer", "first"][..]),
        (&["--account", "alice.test"], &["second", "first"]),
        (&["--account", "@Alice.Test,did:plc:bob", "--limit", "3"], &["second", "first", "answer"]),
        (&["--account", "https://bsky.app/profile/did:plc:bob"], &["first", "answer"]),
        (&["--no-reposts"], &["second", "answer", "first"]),
        (&["--no-replies", "--limit", "2"], &["second", "first"]),
        (&["--no-reposts", "--no-replies"], &["second", "first"]),
        (&["--until", "2026-01-01"], &["first", "answer", "first"]),
        (&["--since", "2026-01-02"], &["second"]),
        (
            &["--created-from", "2026-01-01T00:01:30Z", "--until", "2026-01-01"],
            &["first", "answer"],
        ),
    ] {
        let rows = run_command_json(fixture.home(), "list", &[&["posts"], args].concat());
        let texts: Vec<&str> = rows.iter().map(|row| row["body"].as_str().unwrap()).collect();
        assert_eq!(texts, expected, "{args:?}");
    }
}

#[test]
fn list_posts_prints_the_documented_fields_as_json_and_csv() {
    let fixture = PostFixture::new();
    let links = ["https://one.test/", "https://one.test/", "https://two.test/"];
    let first = with_links(post_at("alice", "a1", 60, "zero\0 and \u{202e}"), &links);
    fixture.read_feed("bob", &[repost_of(&first, "bob", "r1")]);
    let row = run_command_json(fixture.home(), "list", &["posts"]).remove(0);
    assert_eq!(field_names(&row), documented_fields("`highwater list posts --json`"));
    for (field, value) in [
        ("type", json!("post")),
        ("uri", json!("at://did:plc:bob/app.bsky.feed.repost/r1")),
        ("url", json!("https://bsky.app/profile/did:plc:alice/post/a1")),
        ("account", json!(null)),
        ("account_did", json!(did("bob"))),
        ("author", json!("alice.test")),
        ("author_did", json!(did("alice"))),
        ("posted_at", json!("2026-01-01T01:01:00Z")),
        ("created_at", json!("2026-01-01T00:01:00Z")),
        ("repost_of", json!(first.uri)),
        ("reply_to", json!(null)),
        ("links", json!(["https://one.test/", "https://two.test/"])),
        ("body", json!("zero\0 and \u{202e}")),
    ] {
        assert_eq!(row[field], value, "{field}");
    }
    let csv = ["posts", "--csv", "--fields", "account_did,links"];
    let csv = success_stdout(&run_command(fixture.home(), "list", &csv));
    let expected = "account_did,links\r\ndid:plc:bob,https://one.test/;https://two.test/\r\n";
    assert_eq!(csv, expected);
}

#[test]
fn list_posts_explains_an_empty_list() {
    let fixture = PostFixture::new();
    let status = |args: &[&str]| {
        let output = run_command(fixture.home(), "list", &[&["posts"], args].concat());
        assert_eq!(success_stdout(&output), "", "{args:?}");
        stderr_text(&output)
    };
    assert_eq!(status(&[]), "no posts are stored yet; `highwater bluesky poll` reads them\n");
    let unknown = "no matches\nwarning: this workspace does not follow nobody.test\n";
    assert_eq!(status(&["--account", "nobody.test"]), unknown);
    fixture.store.unfollow_accounts("bsky.app", &[did("alice"), did("bob")]).unwrap();
    let expected =
        "this workspace follows no accounts on Bluesky; `highwater bluesky add HANDLE` adds one\n";
    assert_eq!(status(&[]), expected);
    assert_eq!(success_stdout(&trending(&fixture, &[])), "");
    assert_eq!(stderr_text(&trending(&fixture, &[])), expected);
}

#[test]
fn list_posts_warns_of_feeds_that_were_not_read() {
    let fixture = PostFixture::new();
    fixture.read_feed("alice", &[post_at("alice", "a1", 60, "first")]);
    fixture.store.record_failed_account("bsky.app", &did("bob"), "timed out").unwrap();
    let warning = "warning: the last update of the posts of did:plc:bob failed\n";
    let warns = |args: &[&str]| {
        stderr_text(&run_command(fixture.home(), "list", &[&["posts"], args].concat()))
    };
    assert_eq!(warns(&[]), warning);
    assert_eq!(warns(&["--account", "alice.test"]), "");
}

#[test]
fn list_posts_refuses_what_is_no_account_or_range() {
    let fixture = PostFixture::new();
    for (args, sentence) in [
        (["--account", "alice"], "expected the whole handle, with its domain"),
        (["--account", "al\u{202e}ice.test"], "not an account"),
        (["--since", "yesterday"], "not a date"),
        (["--limit", "0"], "expected a positive whole number"),
        (["--fields", "text"], "the available fields are type, uri, url, "),
    ] {
        let args = [&["posts"], &args[..]].concat();
        let (code, stderr) = failure_output(&run_command(fixture.home(), "list", &args));
        assert!(code == Some(2) && stderr.contains(sentence), "{args:?}: {stderr}");
    }
    let args = ["posts", "--since", "2026-02-01", "--until", "2026-01-01"];
    let (_, stderr) = failure_output(&run_command(fixture.home(), "list", &args));
    assert_eq!(stderr, "Error: --since is later than --until\n");
}

#[test]
fn trending_ranks_links_by_accounts_and_prints_who_shared_them() {
    let fixture = PostFixture::new();
    let [one, two] = ["https://one.test/", "https://two.test/"];
    let old = with_links(recent_post("alice", "a0", 25 * 60, "old"), &[one]);
    let alone = with_links(recent_post("alice", "a1", 10, "mine"), &[one]);
    let shared = with_links(recent_post("alice", "a2", 90, "look:\nthis"), &[two]);
    fixture.read_feed("alice", &[old, alone, shared.clone()]);
    fixture.read_feed("bob", &[repost_of(&shared, "bob", "r1")]);
    let printed = success_stdout(&trending(&fixture, &[]));
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "2 accounts  https://two.test/");
    assert_eq!(lines[1], "  shared by did:plc:bob, alice.test");
    assert!(lines[2].starts_with("  20") && lines[2].ends_with("  alice.test: look: this"));
    assert_eq!(lines[3..5], ["", "1 account  https://one.test/"]);
    let rows = run_command_json_trending(&fixture, &["--limit", "1"]);
    assert_eq!(rows.len(), 1);
    assert_eq!(field_names(&rows[0]), documented_fields("`highwater bluesky trending --json`"));
    assert_eq!(rows[0]["shared_by"], json!(["did:plc:bob", "alice.test"]));
    assert_eq!(rows[0]["newest_body"], "look:\nthis");
    let posts = |hours: &str| {
        let rows = run_command_json_trending(&fixture, &["--hours", hours]);
        rows.iter().map(|row| row["posts"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((posts("1"), posts("24"), posts("168")), (2, 3, 4));
}

#[test]
fn trending_explains_an_empty_list_and_refuses_wrong_hours() {
    let fixture = PostFixture::new();
    let status = |args: &[&str]| stderr_text(&trending(&fixture, args));
    assert_eq!(status(&["--hours", "1"]), "no links were shared in the last 1 hour\n");
    for hours in ["0", "-1", "x", "9999999999999"] {
        let (code, stderr) = failure_output(&trending(&fixture, &["--hours", hours]));
        let expected = format!("expected a positive whole number of hours, got \"{hours}\"");
        assert!(code == Some(2) && stderr.contains(&expected), "{stderr}");
    }
    assert_eq!(success_stdout(&trending(&fixture, &["--hours", "4294967295"])), "");
}

fn trending(fixture: &PostFixture, args: &[&str]) -> std::process::Output {
    run_command(fixture.home(), "bluesky", &[&["trending"], args].concat())
}

fn run_command_json_trending(fixture: &PostFixture, args: &[&str]) -> Vec<serde_json::Value> {
    let stdout = success_stdout(&trending(fixture, &[args, &["--json"]].concat()));
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
