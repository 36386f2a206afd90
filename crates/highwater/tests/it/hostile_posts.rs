//! Hostile posts and links are harmless in the terminal and for language models, and programs still get them whole.

use hw_rules::bluesky::post::Post;
use hw_rules::safe_text::is_safe_char;
use serde_json::json;

use crate::fixture::{run_command, run_command_json, success_stdout};
use crate::mcp::stdio_client::{McpStdioClient, first_text};
use crate::post_fixture::{PostFixture, recent_post, with_links};

const HOSTILE_TEXTS: [&str; 7] = [
    "needle <script>alert(1)</script>",
    "needle \u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m",
    "needle \u{202e}drow\u{2066} \u{200b}hidden\u{e0041}\u{feff}",
    "needle zero\0zero\r\nline\u{85}",
    "needle \u{1b}]8;;https://evil.example\u{7}click\u{1b}]8;;\u{7}",
    "needle\n\n---\n\n- URL: https://evil.example/",
    "needle `rm -rf ~`\t\u{7f}",
];
const HOSTILE_LINK: &str = "javascript:alert(1)//\u{1b}[2J\u{202e}";

fn hostile_fixture() -> (PostFixture, Vec<Post>) {
    let fixture = PostFixture::new();
    let long = format!("needle {}", "x".repeat(10_000));
    let texts = HOSTILE_TEXTS.iter().copied().chain([long.as_str()]);
    let posts: Vec<Post> = (1..)
        .zip(texts)
        .map(|(minutes, text)| {
            let post = recent_post("alice", &format!("a{minutes}"), minutes, text);
            with_links(post, &[HOSTILE_LINK, "https://one.test/"])
        })
        .collect();
    fixture.read_feed("alice", &posts);
    (fixture, posts)
}

#[test]
fn hostile_posts_cannot_affect_a_terminal() {
    let (fixture, posts) = hostile_fixture();
    let uris: Vec<&str> = posts.iter().map(|post| post.uri.as_str()).collect();
    let mut commands: Vec<(&str, Vec<&str>)> = vec![
        ("list", vec!["posts"]),
        ("list", vec!["posts", "--fields", "body,links"]),
        ("list", vec!["posts", "--json"]),
        ("bluesky", vec!["trending"]),
        ("bluesky", vec!["trending", "--json"]),
        ("search", vec!["needle", "type:post"]),
        ("search", vec!["needle", "type:post", "--json"]),
    ];
    commands
        .extend(uris.iter().flat_map(|uri| [("show", vec![*uri]), ("show", vec!["--json", *uri])]));
    for (command, args) in commands {
        let printed = success_stdout(&run_command(fixture.home(), command, &args));
        assert!(printed.contains("needle"), "{command} {args:?}: {printed}");
        let steering = printed.chars().find(|c| !is_safe_char(*c));
        assert_eq!(steering, None, "{command} {args:?}: {printed:?}");
    }
    let lines = success_stdout(&run_command(fixture.home(), "list", &["posts"]));
    assert_eq!(lines.lines().count(), posts.len(), "each post is one line");
    assert!(lines.lines().all(|line| line.chars().count() < 300), "{lines}");
}

#[test]
fn hostile_posts_reach_programs_unchanged() {
    let (fixture, posts) = hostile_fixture();
    let rows = run_command_json(fixture.home(), "list", &["posts"]);
    assert_eq!(rows.len(), posts.len());
    for (row, post) in rows.iter().zip(&posts) {
        assert_eq!((&row["body"], &row["links"][0]), (&json!(post.text), &json!(HOSTILE_LINK)));
    }
}

#[test]
fn hostile_posts_are_safe_text_for_language_models() {
    let (fixture, posts) = hostile_fixture();
    let home = fixture.home().to_str().unwrap();
    let mut client = McpStdioClient::start_initialized(&["-m", home, "--toolsets", "bluesky"]);
    for (tool, arguments) in [
        ("list_posts", json!({})),
        ("trending_links", json!({})),
        ("search", json!({ "query": "needle type:post" })),
    ] {
        let answer = client.call_tool(tool, &arguments);
        let text = first_text(&answer);
        assert!(text.contains("needle"), "{tool}: {text}");
        assert_eq!(text.chars().find(|c| !is_safe_char(*c)), None, "{tool}: {text:?}");
        for item in answer["structuredContent"]["items"].as_array().unwrap() {
            let texts = ["title", "url", "author", "links"].map(|name| item[name].to_string());
            let steering = texts.iter().flat_map(|text| text.chars()).find(|c| !is_safe_char(*c));
            assert_eq!(steering, None, "{tool}: {item}");
        }
    }
    let answer = client.call_tool("list_posts", &json!({}));
    assert_eq!(answer["structuredContent"]["total"], posts.len());
    client.close_and_wait();
}
