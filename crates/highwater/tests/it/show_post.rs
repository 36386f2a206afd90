//! `highwater show` of a post, and posts among the results of `highwater search`.

use hw_rules::bluesky::post::Post;
use serde_json::json;

use crate::fixture::{
    documented_fields, failure_output, field_names, run_command, run_command_json, stderr_text,
    success_stdout,
};
use crate::post_fixture::{PostFixture, post_at, reply_to, repost_of, with_links};

const URL: &str = "https://bsky.app/profile/did:plc";

#[test]
fn show_prints_a_post_with_its_thread_reposts_and_links() {
    let fixture = PostFixture::new();
    let first = post_at("alice", "a1", 60, "first\nline");
    let links = ["https://one.test/", "https://two.test/"];
    let mut reply = with_links(post_at("bob", "b1", 120, "an answer\n\nof two lines"), &links);
    reply.quote = Some("at://did:plc:carol/app.bsky.graph.list/l1".parse().unwrap());
    let reply = reply_to(&first, reply);
    fixture.read_feed("alice", &[first.clone(), repost_of(&reply, "alice", "r1")]);
    fixture.read_feed("bob", &[reply]);
    let expected = format!(
        "# Post by did:plc:bob\n\n\
         - by did:plc:bob, 2026-01-01T00:02:00Z\n\
         - reply to <{URL}:alice/post/a1> by alice.test: first line\n\
         - quotes at://did:plc:carol/app.bsky.graph.list/l1\n\
         - reposted by alice.test (did:plc:alice), 2026-01-01T01:02:00Z\n\
         - languages: en\n\
         - <{URL}:bob/post/b1>\n\
         - at://did:plc:bob/app.bsky.feed.post/b1\n\n\
         an answer\n\nof two lines\n\n\
         ## Links\n\n- <https://one.test/>\n- <https://two.test/>\n"
    );
    for name in [
        format!("{URL}:bob/post/b1"),
        "at://did:plc:bob/app.bsky.feed.post/b1".to_owned(),
        "at://did:plc:alice/app.bsky.feed.repost/r1".to_owned(),
    ] {
        let output = run_command(fixture.home(), "show", &[&name]);
        assert_eq!(
            (success_stdout(&output), stderr_text(&output)),
            (expected.clone(), String::new())
        );
    }
    let by_handle = "https://bsky.app/profile/alice.test/post/a1";
    let printed = success_stdout(&run_command(fixture.home(), "show", &[by_handle]));
    assert!(printed.starts_with("# Post by alice.test\n\n- by alice.test (did:plc:alice), "));
    assert!(printed.ends_with("\n\nfirst\nline\n"), "{printed}");
}

#[test]
fn show_prints_a_post_of_which_only_the_repost_is_stored() {
    let fixture = PostFixture::new();
    let mut original = post_at("carol", "c1", 60, "shared");
    original.created_at =
        original.created_at.map(|_| "2025-01-01T00:00:00Z".to_owned().try_into().unwrap());
    fixture.read_feed("bob", &[repost_of(&original, "bob", "r1")]);
    let printed =
        success_stdout(&run_command(fixture.home(), "show", &[&format!("{URL}:carol/post/c1")]));
    for line in [
        "# Post by did:plc:carol",
        "- by did:plc:carol, 2025-01-01T00:00:00Z (first seen by the server at 2026-01-01T00:01:00Z)",
        "- reposted by did:plc:bob, 2026-01-01T01:01:00Z",
        "shared",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}: {printed}");
    }
}

#[test]
fn show_prints_a_post_as_json() {
    let fixture = PostFixture::new();
    let first = post_at("alice", "a1", 60, "first");
    fixture.read_feed("alice", std::slice::from_ref(&first));
    fixture.read_feed("bob", &[repost_of(&first, "bob", "r1")]);
    let shown = run_command_json(fixture.home(), "show", &[first.uri.as_str()]).remove(0);
    let rows = run_command_json(fixture.home(), "list", &["posts"]);
    assert_eq!(shown["reposts"], json!([rows[0]]));
    let mut fields = documented_fields("`highwater list posts --json`");
    fields.push("reposts".to_owned());
    fields.sort_unstable();
    assert_eq!(field_names(&shown), fields);
    assert_eq!((&shown["uri"], &shown["body"]), (&rows[1]["uri"], &json!("first")));
}

#[test]
fn show_explains_where_a_missing_post_can_be() {
    let fixture = PostFixture::new();
    let gone = post_at("alice", "a1", 60, "gone");
    fixture.read_feed("alice", std::slice::from_ref(&gone));
    fixture.remove_post("alice", &gone);
    fixture.store.release_duty().unwrap();
    for (name, message, hint) in [
        (
            "https://bsky.app/profile/nobody.test/post/x",
            "this workspace knows no account named nobody.test",
            "hint: `highwater bluesky add nobody.test` follows it; then ",
        ),
        (
            "at://did:plc:carol/app.bsky.feed.post/x",
            "at://did:plc:carol/app.bsky.feed.post/x is not in this workspace",
            "hint: `highwater bluesky add did:plc:carol` follows its account; then ",
        ),
        (
            "https://bsky.app/profile/alice.test/post/x",
            "at://did:plc:alice/app.bsky.feed.post/x is not in this workspace",
            "hint: this workspace follows alice.test: the post may be deleted, ",
        ),
        (
            gone.uri.as_str(),
            "at://did:plc:alice/app.bsky.feed.post/a1 was deleted; this was confirmed at 2023-11-14T22:15:00Z",
            "hint: `highwater removed restore ",
        ),
    ] {
        let (code, stderr) = failure_output(&run_command(fixture.home(), "show", &[name]));
        assert_eq!(code, Some(1));
        assert!(stderr.starts_with(&format!("Error: {message}\n{hint}")), "{stderr}");
    }
    restore_post(&fixture, &gone);
    success_stdout(&run_command(fixture.home(), "show", &[gone.uri.as_str()]));
    for name in ["https://bsky.app/profile/alice.test", "at://did:plc:alice"] {
        let (code, stderr) = failure_output(&run_command(fixture.home(), "show", &[name]));
        assert!(code == Some(2) && stderr.contains("not a post"), "{stderr}");
    }
}

#[test]
fn search_prints_posts_with_their_author_and_url() {
    let fixture = PostFixture::new();
    let long = format!("a long text\n{}of pumps and more", "word ".repeat(40));
    fixture.read_feed("alice", &[post_at("alice", "a1", 60, "short pumps")]);
    fixture.read_feed("bob", &[post_at("bob", "b1", 120, &long)]);
    let output = run_command(fixture.home(), "search", &["pumps", "type:post"]);
    assert_eq!(stderr_text(&output), "");
    let printed = success_stdout(&output);
    let short = format!("post by alice.test, 2026-01-01: short pumps\n  {URL}:alice/post/a1\n");
    assert!(printed.contains(&short), "{printed}");
    let long = format!("post by did:plc:bob, 2026-01-01: a long text\n  {URL}:bob/post/b1\n  …");
    assert!(printed.contains(&long) && printed.contains("of pumps and"), "{printed}");
    let shared = post_at("alice", "a2", 180, "shared sluices");
    fixture.read_feed("bob", &[repost_of(&shared, "bob", "r1")]);
    let found = success_stdout(&run_command(fixture.home(), "search", &["sluices"]));
    assert!(
        found.starts_with(
            "post by alice.test, reposted by did:plc:bob, 2026-01-01: shared sluices\n"
        ),
        "{found}"
    );
    let by_handle = ["type:post author:alice.test short"];
    let hit = run_command_json(fixture.home(), "search", &by_handle).remove(0);
    assert_eq!(field_names(&hit), documented_fields("`highwater search --json`"));
    for field in ["repository", "owner", "number", "state"] {
        assert_eq!(hit[field], json!(null), "{field}");
    }
    assert_eq!((&hit["type"], &hit["author"]), (&json!("post"), &json!("alice.test")));
    assert_eq!(hit["url"], format!("{URL}:alice/post/a1"));
}

fn restore_post(fixture: &PostFixture, post: &Post) {
    let id = post.id().to_string();
    success_stdout(&run_command(fixture.home(), "removed", &["restore", &id]));
}
