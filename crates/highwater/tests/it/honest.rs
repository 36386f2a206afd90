//! What is held may be old or have holes: every face says so beside its answer.

use std::path::Path;

use serde_json::{Value, json};

use crate::house::{House, asked, listed, warned};
use crate::mcp::talk::Talk;
use crate::web::Face;

/// What the pull of an organisation that is not there leaves behind.
const SENTENCE: &str = "the last pull of nobody failed: not there, or hidden from this token";

#[test]
fn after_a_pull_that_failed_every_face_says_so_until_the_next_one() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    said_nowhere(home.path());
    let elsewhere = ["-o", "nobody", "--workspace", "acme"];
    let (code, _) = house.refused(home.path(), &elsewhere);
    assert_eq!(code, Some(1));
    said_everywhere(home.path());
    // whose pull it was matters, not which came last
    house.pulled(home.path(), &[]);
    said_everywhere(home.path());
}

fn said_nowhere(home: &Path) {
    for (face, said) in faces(home) {
        assert!(!said.contains("the last pull of"), "{face}: {said}");
    }
}

fn said_everywhere(home: &Path) {
    for (face, said) in faces(home) {
        assert!(said.contains(SENTENCE), "{face}: {said}");
    }
}

/// What each face says beside an answer.
fn faces(home: &Path) -> Vec<(String, String)> {
    let thread = address(home);
    let missing = missing(&thread);
    let folder = home.join("exported");
    let folder = folder.to_str().unwrap();
    let mut said: Vec<(String, String)> = [
        ("list", vec!["issues"]),
        ("list", vec!["repos"]),
        ("search", vec!["pump"]),
        ("show", vec![thread.as_str()]),
        ("show", vec![missing.as_str()]),
        ("export", vec!["--markdown", folder]),
    ]
    .into_iter()
    .map(|(command, args)| (command.to_owned(), warned(&asked(home, command, &args))))
    .collect();
    said.extend(of_mcp(home, &thread));
    said.extend(of_web(home, &thread));
    said
}

fn of_mcp(home: &Path, thread: &str) -> Vec<(String, String)> {
    let mut talk = Talk::begun(&["-m", home.to_str().unwrap(), "--toolsets", "threads"]);
    let calls = [
        ("list_issues", json!({})),
        ("list_pull_requests", json!({})),
        ("search", json!({ "query": "pump" })),
        ("get_thread", json!({ "thread": thread })),
    ];
    let mut said = Vec::new();
    for (tool, arguments) in calls {
        let answer = talk.call(tool, &arguments);
        let blocks = answer["content"].as_array().unwrap();
        let second = blocks.get(1).map_or("", |block| block["text"].as_str().unwrap());
        said.push((tool.to_owned(), second.to_owned()));
        let warnings = answer["structuredContent"]["warnings"].to_string();
        said.push((format!("{tool}, for programs"), warnings));
    }
    said
}

fn of_web(home: &Path, thread: &str) -> Vec<(String, String)> {
    let face = Face::open(&["ui", "-p", "0"], home);
    let (repository, number) = thread.split_once('#').unwrap();
    let paths = [
        "/".into(),
        "/search?q=pump".into(),
        "/health".into(),
        format!("/threads/{repository}/{number}"),
        format!("/threads/{}", missing(thread).replace('#', "/")),
    ];
    paths.into_iter().map(|path: String| (path.clone(), face.get(&path))).collect()
}

/// A thread of the same repository that is not held.
fn missing(thread: &str) -> String {
    format!("{}#99999", thread.split_once('#').unwrap().0)
}

/// Any thread: `owner/repository#number`.
fn address(home: &Path) -> String {
    let issue: &Value = &listed(home, &["issues", "--limit", "1"])[0];
    format!("acme/{}#{}", issue["repository"].as_str().unwrap(), issue["number"])
}
