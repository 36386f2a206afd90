//! The order of a thread's comments, which is the same wherever the thread is shown.

use std::fs;

use hw_sim::ThreadKind;
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::json;

use crate::fixture::{GitHubFixture, run_command, success_stdout};
use crate::mcp::stdio_client::McpStdioClient;
use crate::web::WebProcess;

/// The comments of the pull request below in the order in which they are to be read. They are written in another one.
const READING_ORDER: [&str; 5] = [
    "The first review begins.",
    "A line of the first review.",
    "Meanwhile somebody else comments.",
    "The second review begins.",
    "A line of the second review.",
];

#[test]
fn thread_order_is_the_same_on_the_web_in_show_in_export_and_over_mcp() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let (repository, number) = create_pull_request(&fixture);
    fixture.pull_json(home.path(), &["-i", "repositories,pull-requests,comments"]);
    let (name, folder) = (format!("acme/{repository}#{number}"), home.path().join("out"));

    let shown = success_stdout(&run_command(home.path(), "show", &[&name]));
    assert_eq!(comments_in(&shown), READING_ORDER, "show");

    success_stdout(&run_command(home.path(), "export", &["--markdown", folder.to_str().unwrap()]));
    let path = folder.join("acme").join(&repository).join("pull-requests");
    let exported = fs::read_to_string(path.join(format!("{number}.md"))).unwrap();
    assert_eq!(comments_in(&exported), READING_ORDER, "export");

    let web = WebProcess::open(&["ui", "-p", "0"], home.path());
    let page = web.get_page(&format!("/threads/acme/{repository}/{number}"));
    assert_eq!(comments_in(&page), READING_ORDER, "web");

    let arguments = ["-m", home.path().to_str().unwrap(), "--toolsets", "threads"];
    let mut client = McpStdioClient::start_initialized(&arguments);
    let answer = client.call_tool("get_thread", &json!({ "thread": name }));
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert_eq!(comments_in(text), READING_ORDER, "mcp");
    client.close_and_wait();
}

/// Creates a pull request with two reviews whose line comments come after other comments; returns the name of its
/// repository and its number.
fn create_pull_request(fixture: &GitHubFixture) -> (String, i64) {
    let [first, first_line, other, second, second_line] = READING_ORDER;
    fixture.with_github(|github| {
        let now_ms = MachineClock.now_ms() - 10_000;
        let world = github.world_mut();
        let repository = *world.truth().repositories.keys().next().unwrap();
        let id = world.create_pull_request(repository, "Widen it", "By a foot.", now_ms);
        let first = world.add_review(id, first, now_ms + 1_000);
        world.add_comment(ThreadKind::PullRequest, id, other, now_ms + 2_000);
        let second = world.add_review(id, second, now_ms + 3_000);
        world.add_review_comment(second, second_line, now_ms + 4_000);
        world.add_review_comment(first, first_line, now_ms + 5_000);
        let thread = world.truth().threads[&(ThreadKind::PullRequest, id)].clone();
        (thread.repository, thread.number)
    })
}

/// Returns the comments in the order in which a text contains them.
fn comments_in(text: &str) -> Vec<&'static str> {
    let mut found: Vec<_> = READING_ORDER
        .into_iter()
        .flat_map(|comment| text.match_indices(comment).map(move |(at, _)| (at, comment)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, comment)| comment).collect()
}
