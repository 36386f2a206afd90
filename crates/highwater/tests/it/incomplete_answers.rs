//! Answers that may be old or incomplete: every frontend says so.

use std::path::Path;

use hw_sim::ApiFault;
use serde_json::{Value, json};

use crate::fixture::{GitHubFixture, list_json, run_command, stderr_text};
use crate::mcp::stdio_client::McpStdioClient;
use crate::web::WebProcess;

/// The warning after a pull with a token that GitHub rejects.
const FAILED_PULL_WARNING: &str = "the last pull of acme failed: ";

#[test]
fn failed_pull_is_reported_by_every_frontend_until_the_next_one() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    assert_warned_nowhere(home.path());
    fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 1));
    let (code, _) = fixture.pull_failure(home.path(), &[]);
    assert_eq!(code, Some(1));
    assert_warned_everywhere(home.path());
    fixture.pull_json(home.path(), &[]);
    assert_warned_nowhere(home.path());
}

fn assert_warned_nowhere(home: &Path) {
    for (frontend, text) in frontend_warnings(home) {
        assert!(!text.to_lowercase().contains("the last pull of"), "{frontend}: {text}");
    }
}

fn assert_warned_everywhere(home: &Path) {
    for (frontend, text) in frontend_warnings(home) {
        // a web page starts each warning with a capital letter
        let warning = FAILED_PULL_WARNING.to_lowercase();
        assert!(text.to_lowercase().contains(&warning), "{frontend}: {text}");
    }
}

/// Returns what each frontend prints beside an answer.
fn frontend_warnings(home: &Path) -> Vec<(String, String)> {
    let thread = first_thread(home);
    let missing = missing_thread(&thread);
    let folder = home.join("exported");
    let folder = folder.to_str().unwrap();
    let mut warnings: Vec<(String, String)> = [
        ("list", vec!["issues"]),
        ("list", vec!["repos"]),
        ("search", vec!["pump"]),
        ("show", vec![thread.as_str()]),
        ("show", vec![missing.as_str()]),
        ("export", vec!["--markdown", folder]),
    ]
    .into_iter()
    .map(|(command, args)| (command.to_owned(), stderr_text(&run_command(home, command, &args))))
    .collect();
    warnings.extend(mcp_warnings(home, &thread));
    warnings.extend(web_warnings(home, &thread));
    warnings
}

fn mcp_warnings(home: &Path, thread: &str) -> Vec<(String, String)> {
    let mut client =
        McpStdioClient::start_initialized(&["-m", home.to_str().unwrap(), "--toolsets", "threads"]);
    let calls = [
        ("list_issues", json!({})),
        ("list_pull_requests", json!({})),
        ("search", json!({ "query": "pump" })),
        ("get_thread", json!({ "thread": thread })),
    ];
    let mut warnings = Vec::new();
    for (tool, arguments) in calls {
        let answer = client.call_tool(tool, &arguments);
        let blocks = answer["content"].as_array().unwrap();
        let second = blocks.get(1).map_or("", |block| block["text"].as_str().unwrap());
        warnings.push((tool.to_owned(), second.to_owned()));
        let structured = answer["structuredContent"]["warnings"].to_string();
        warnings.push((format!("{tool}, structured"), structured));
    }
    warnings
}

fn web_warnings(home: &Path, thread: &str) -> Vec<(String, String)> {
    let web = WebProcess::open(&["ui", "-p", "0"], home);
    let (repository, number) = thread.split_once('#').unwrap();
    let paths = [
        "/".into(),
        "/search?q=pump".into(),
        "/health".into(),
        format!("/threads/{repository}/{number}"),
        format!("/threads/{}", missing_thread(thread).replace('#', "/")),
    ];
    paths.into_iter().map(|path: String| (path.clone(), web.get_page(&path))).collect()
}

/// Returns the name of a thread in the same repository that is not stored.
fn missing_thread(thread: &str) -> String {
    format!("{}#99999", thread.split_once('#').unwrap().0)
}

/// Returns the name of any thread: `owner/repository#number`.
fn first_thread(home: &Path) -> String {
    let issue: &Value = &list_json(home, &["issues", "--limit", "1"])[0];
    format!("acme/{}#{}", issue["repository"].as_str().unwrap(), issue["number"])
}
