//! The toolset `bluesky` of `highwater mcp`.

use serde_json::{Value, json};

use crate::mcp::stdio_client::{McpStdioClient, first_text};
use crate::post_fixture::{
    PostFixture, did, post_at, recent_post, reply_to, repost_of, with_links,
};

fn start_client(fixture: &PostFixture) -> McpStdioClient {
    let home = fixture.home().to_str().unwrap();
    McpStdioClient::start_initialized(&["-m", home, "--toolsets", "bluesky"])
}

#[test]
fn mcp_list_posts_returns_the_newest_first() {
    let fixture = PostFixture::new();
    let first = with_links(post_at("alice", "a1", 60, "first\nline"), &["https://one.test/"]);
    let reply = reply_to(&first, post_at("bob", "b1", 120, "answer"));
    fixture.read_feed("alice", std::slice::from_ref(&first));
    fixture.read_feed("bob", &[reply, repost_of(&first, "bob", "r1")]);
    let mut client = start_client(&fixture);
    let answer = client.call_tool("list_posts", &json!({ "limit": 2 }));
    let url = "https://bsky.app/profile/did:plc";
    assert_eq!(
        first_text(&answer),
        format!(
            "- URL: {url}:alice/post/a1\n- URI: at://did:plc:bob/app.bsky.feed.repost/r1\n- Kind: repost\n\
             - Account: did:plc:bob\n- Author: alice.test\n- Posted at: 2026-01-01T01:01:00Z\n- Reply to: \n\
             - Quote: \n- Links: https://one.test/\n\nfirst\nline\n\n---\n\n\
             - URL: {url}:bob/post/b1\n- URI: at://did:plc:bob/app.bsky.feed.post/b1\n- Kind: reply\n\
             - Account: did:plc:bob\n- Author: did:plc:bob\n- Posted at: 2026-01-01T00:02:00Z\n\
             - Reply to: {url}:alice/post/a1\n- Quote: \n- Links: \n\nanswer\n\n---"
        )
    );
    let facts = &answer["structuredContent"];
    assert_eq!((&facts["total"], &facts["shown"]), (&json!(3), &json!(2)));
    assert_eq!(facts["items"][0]["repost_of"], json!(first.uri));
    assert_eq!(facts["fresh_through"], "2023-11-14T22:13:20Z");
    let next = json!({ "limit": 2, "cursor": facts["next_cursor"] });
    let rest = client.call_tool("list_posts", &next);
    let rest = &rest["structuredContent"];
    assert_eq!((&rest["total"], &rest["shown"]), (&json!(3), &json!(1)));
    assert_eq!((&rest["items"][0]["kind"], &rest["next_cursor"]), (&json!("post"), &Value::Null));
    client.close_and_wait();
}

#[test]
fn mcp_list_posts_filters_and_names_wrong_arguments() {
    let fixture = PostFixture::new();
    let first = post_at("alice", "a1", 60, "first");
    let reply = reply_to(&first, post_at("bob", "b1", 120, "answer"));
    fixture.read_feed("alice", std::slice::from_ref(&first));
    fixture.read_feed("bob", &[reply, repost_of(&first, "bob", "r1")]);
    let mut client = start_client(&fixture);
    for (arguments, total) in [
        (json!({}), 3),
        (json!({ "accounts": ["@alice.test"] }), 1),
        (json!({ "accounts": "did:plc:bob" }), 2),
        (json!({ "no_reposts": true }), 2),
        (json!({ "no_reposts": true, "no_replies": true }), 1),
        (
            json!({ "created_from": "2026-01-01T00:02:00Z", "created_to": "2026-01-01T00:03:00Z" }),
            1,
        ),
        (json!({ "accounts": ["nobody.test"] }), 0),
    ] {
        let answer = client.call_tool("list_posts", &arguments);
        assert_eq!(answer["structuredContent"]["total"], total, "{arguments}: {answer}");
    }
    for (arguments, expected) in [
        (json!({ "no_replies": "yes" }), "`no_replies` must be true or false; got a string"),
        (json!({ "accounts": ["a\0b.test"] }), "`accounts`: not an account: "),
        (json!({ "cursor": "issue:1" }), "`cursor` is invalid"),
        (json!({ "cursor": "post:1_2_\0" }), "`cursor` is invalid"),
        (json!({ "fields": ["title"] }), "Invalid fields: title"),
        (json!({ "account": ["x"] }), "unknown parameter `account`"),
    ] {
        let answer = client.call_tool("list_posts", &arguments);
        assert_eq!(answer["isError"], true, "{arguments}");
        assert!(first_text(&answer).starts_with(expected), "{answer}");
    }
    client.close_and_wait();
}

#[test]
fn mcp_trending_links_ranks_links_by_accounts() {
    let fixture = PostFixture::new();
    let [one, two] = ["https://one.test/", "https://two.test/"];
    let old = with_links(recent_post("alice", "a0", 25 * 60, "old"), &[one]);
    let shared = with_links(recent_post("alice", "a2", 90, "look:\nthis"), &[two]);
    fixture.read_feed("alice", &[old, shared.clone()]);
    fixture.read_feed("bob", &[repost_of(&shared, "bob", "r1")]);
    let mut client = start_client(&fixture);
    let answer = client.call_tool("trending_links", &json!({}));
    let text = first_text(&answer);
    let head = "- URL: https://two.test/\n- Accounts: 2\n- Posts: 2\n- Shared by: did:plc:bob, alice.test\n\
                - Newest post: https://bsky.app/profile/did:plc:alice/post/a2\n- Posted at: ";
    assert!(text.starts_with(head), "{text}");
    assert!(text.ends_with("\n- Author: alice.test\n\nlook:\nthis\n\n---"), "{text}");
    let items = &answer["structuredContent"]["items"];
    assert_eq!(items[0]["shared_by"], json!(["did:plc:bob", "alice.test"]));
    let urls = |arguments: Value, client: &mut McpStdioClient| {
        let answer = client.call_tool("trending_links", &arguments);
        let items = answer["structuredContent"]["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(urls(json!({ "hours": 48 }), &mut client), [two, one]);
    assert_eq!(urls(json!({ "hours": u64::MAX, "limit": 1 }), &mut client), [two]);
    let none = client.call_tool("trending_links", &json!({ "hours": 0 }));
    assert_eq!(none["isError"], true);
    client.close_and_wait();
}

#[test]
fn mcp_posts_of_a_workspace_without_accounts_are_explained() {
    let fixture = PostFixture::new();
    fixture.store.unfollow_accounts("bsky.app", &[did("alice"), did("bob")]).unwrap();
    let mut client = start_client(&fixture);
    for (tool, text) in [("list_posts", "No posts found."), ("trending_links", "No links found.")] {
        let answer = client.call_tool(tool, &json!({}));
        assert_eq!(first_text(&answer), text);
        let note = answer["content"][1]["text"].as_str().unwrap();
        assert!(note.contains("`highwater bluesky add HANDLE` adds one"), "{note}");
    }
    client.close_and_wait();
}

#[test]
fn mcp_search_finds_posts_without_a_repository() {
    let fixture = PostFixture::new();
    fixture.read_feed("alice", &[post_at("alice", "a1", 60, "short pumps")]);
    let mut client = start_client(&fixture);
    let answer = client.call_tool("search", &json!({ "query": "pumps type:post" }));
    let item = &answer["structuredContent"]["items"][0];
    assert_eq!((&item["type"], &item["author"]), (&json!("post"), &json!("alice.test")));
    assert_eq!(item["url"], "https://bsky.app/profile/did:plc:alice/post/a1");
    assert!(item.get("repository").is_none() && item.get("number").is_none(), "{item}");
    assert_eq!(answer["structuredContent"]["warnings"], json!([]));
    client.close_and_wait();
}
