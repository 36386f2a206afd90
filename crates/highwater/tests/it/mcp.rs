//! `highwater mcp` as its clients use it: lines over stdio, requests over HTTP.

mod http;
pub(crate) mod stdio_client;

use std::process::Stdio;

use hw_mcp::McpServer;
use hw_sim::WorldSpec;
use hw_store::{DatabaseLocation, Workspace, WorkspaceHandle};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use crate::fixture::{GitHubFixture, failure_output, list_json, program_command, pull_small_world};
use crate::nasty_queries;
use stdio_client::{McpStdioClient, first_text};

#[test]
fn mcp_client_that_initializes_is_answered() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start(&["-m", home.path().to_str().unwrap()]);
    let hello = client.initialize();
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    assert_eq!(hello["serverInfo"]["name"], "highwater");
    assert_eq!(hello["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let tools = client.request_result("tools/list", &json!({}));
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["list_discussions", "list_issues", "list_pull_requests", "search"]);
    let prompt = client.request_result(
        "prompts/get",
        &json!({ "name": "user_summary", "arguments": { "username": "anchor" } }),
    );
    assert!(
        prompt["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .starts_with("Summarize the accomplishments of the user anchor during ")
    );
    client.close_and_wait();
}

#[test]
fn mcp_client_that_does_not_initialize_is_answered() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start(&["-m", home.path().to_str().unwrap()]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let found = client.request_result("server/discover", &json!({ "_meta": meta }));
    assert!(
        found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{found}"
    );
    let params = json!({ "_meta": meta, "name": "list_issues", "arguments": { "limit": 1 } });
    let answer = client.request_result("tools/call", &params);
    assert!(first_text(&answer).starts_with("## "), "{answer}");
    client.close_and_wait();
}

/// Compares the text and the structured content of a whole list with `list --json`.
#[test]
fn mcp_list_returns_stored_threads_oldest_first() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    for (tool, kind) in [
        ("list_issues", "issues"),
        ("list_pull_requests", "prs"),
        ("list_discussions", "discussions"),
    ] {
        let stored = list_json(home.path(), &[kind]);
        let fields = json!({ "fields": ["title", "url", "created_at", "author"] });
        let answer = client.call_tool(tool, &fields);
        let mut blocks: Vec<String> = stored.iter().map(issue_entry).collect();
        if kind == "prs" {
            blocks.insert(0, format!("Total {} pull requests found.", stored.len()));
        }
        assert_eq!(first_text(&answer), blocks.join("\n\n"), "{tool}");
        assert_eq!(answer["content"].as_array().unwrap().len(), 1, "no warning: {answer}");
        for item in answer["structuredContent"]["items"].as_array().unwrap() {
            let names: Vec<&String> = item.as_object().unwrap().keys().collect();
            assert_eq!(names, ["author", "created_at", "title", "url"], "{tool}");
        }
        let content = &client.call_tool(tool, &json!({}))["structuredContent"];
        assert_eq!(content["total"], stored.len());
        assert!(content["fresh_through"].is_string() && content["next_cursor"].is_null());
        for (item, row) in content["items"].as_array().unwrap().iter().zip(&stored) {
            for name in
                ["type", "number", "url", "updated_at", "state", "labels", "node_id", "closed_at"]
            {
                assert_eq!(item[name], row[name], "{name}");
            }
            assert!(item.get("body").is_none());
        }
    }
    client.close_and_wait();
}

#[test]
fn mcp_list_pages_return_every_thread_once() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    let stored = list_json(home.path(), &["issues"]);
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let answer = client.call_tool("list_issues", &json!({ "limit": 3, "cursor": cursor }));
        let content = &answer["structuredContent"];
        seen.extend(content["items"].as_array().unwrap().iter().map(|value| value["url"].clone()));
        assert_eq!(content["total"], stored.len(), "on every page");
        cursor = content["next_cursor"].clone();
        let second = answer["content"].get(1).map(|row| row["text"].as_str().unwrap().to_owned());
        match cursor.as_str() {
            Some(cursor) => assert!(second.unwrap().contains(cursor)),
            None => break,
        }
    }
    assert_eq!(seen, stored.iter().map(|row| row["url"].clone()).collect::<Vec<_>>());
    client.close_and_wait();
}

#[test]
fn mcp_list_filters_select_and_wrong_arguments_are_named() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    let stored = list_json(home.path(), &["issues"]);
    let (author, at) =
        (stored[0]["author"].as_str().unwrap(), stored[0]["created_at"].as_str().unwrap());
    let of_author = stored.iter().filter(|row| row["author"] == author).count();
    let count = |answer: &Value| answer["structuredContent"]["total"].clone();
    for authors in [json!([author.to_uppercase()]), json!(author)] {
        assert_eq!(
            count(&client.call_tool("list_issues", &json!({ "authors": authors }))),
            of_author
        );
    }
    let same = stored.iter().filter(|row| row["created_at"] == at).count();
    assert_eq!(
        count(&client.call_tool("list_issues", &json!({ "created_from": at, "created_to": at }))),
        same
    );
    let closed = stored.iter().filter(|row| !row["closed_at"].is_null()).count();
    assert_eq!(
        count(&client.call_tool("list_issues", &json!({ "closed_from": "2000-01-01" }))),
        closed
    );
    for (arguments, message) in [
        (json!({ "created_from": "yesterday" }), "`created_from`: not a date"),
        (json!({ "cursor": "nonsense" }), "`cursor` is invalid"),
        (json!({ "limit": "3" }), "`limit` must be a whole number"),
        (json!({ "merged_from": "2025-01-01" }), "unknown parameter `merged_from`"),
        (
            json!({ "fields": ["x", "y"] }),
            "Invalid fields: x, y\n\nUse one of the available fields: title, url, ",
        ),
    ] {
        let answer = client.call_tool("list_issues", &arguments);
        assert_eq!(answer["isError"], true, "{arguments}");
        assert!(first_text(&answer).starts_with(message), "{answer}");
    }
    let nobody = client.call_tool("list_discussions", &json!({ "authors": ["nobody-at-all"] }));
    assert_eq!(first_text(&nobody), "No discussions found.");
    client.close_and_wait();
}

#[test]
fn mcp_finds_a_workspace_created_later_without_a_restart() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    assert_eq!(
        client.request_result("tools/list", &json!({}))["tools"].as_array().unwrap().len(),
        4
    );
    for (tool, arguments) in [("search", json!({ "query": "a" })), ("list_issues", json!({}))] {
        let answer = client.call_tool(tool, &arguments);
        assert_eq!(answer["isError"], true);
        assert!(first_text(&answer).contains("Run `highwater pull -o NAME`"), "{answer}");
    }
    fixture.pull_json(home.path(), &[]);
    let answer = client.call_tool("list_issues", &json!({ "limit": 1 }));
    assert!(first_text(&answer).starts_with("## "), "{answer}");
    client.close_and_wait();
}

#[test]
fn mcp_reports_a_missing_workspace_at_startup() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program_command(&["mcp", "-o", "acme", "-m", home.path().to_str().unwrap()]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.starts_with("warning: ") && stderr.contains("acme.db"), "{stderr}");
    assert_eq!(output.stdout, b"", "stdout carries the protocol only");
}

#[test]
fn mcp_answer_that_is_incomplete_says_so() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &["-i", "repositories,issues"]);
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    let answer = client.call_tool("list_discussions", &json!({}));
    assert_eq!(first_text(&answer), "No discussions found.");
    let warning = "no discussions have been pulled into this workspace";
    assert_eq!(answer["content"][1]["text"], format!("Warning: {warning}."));
    assert_eq!(answer["structuredContent"]["warnings"][0], warning);
    assert!(answer["structuredContent"]["fresh_through"].is_null());
    client.close_and_wait();
}

#[test]
fn mcp_get_thread_returns_a_thread_with_its_comments() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture
        .pull_json(home.path(), &["-i", "repositories,discussions,issues,pull-requests,comments"]);
    let comments = list_json(home.path(), &["comments"]);
    let comment = comments.iter().find(|comment| comment["type"] == "issue_comment").unwrap();
    let mut client = McpStdioClient::start_initialized(&[
        "-m",
        home.path().to_str().unwrap(),
        "--toolsets",
        "threads",
    ]);
    let name = format!("{}#{}", comment["repository"].as_str().unwrap(), comment["number"]);
    let answer = client.call_tool("get_thread", &json!({ "thread": name }));
    assert!(
        first_text(&answer).contains(&format!("- URL: {}", comment["url"].as_str().unwrap())),
        "{answer}"
    );
    let missing = client.call_tool("get_thread", &json!({ "thread": "acme/pump#999999" }));
    assert_eq!(missing["isError"], true);
    assert!(first_text(&missing).starts_with("acme/pump#999999 is not in this mirror."));
    for thread in ["nonesuch/x#1", "nonesuch/pump#1"] {
        let missing = client.call_tool("get_thread", &json!({ "thread": thread }));
        let repository = thread.trim_end_matches("#1");
        let warning = format!("Warning: this workspace has no repository named {repository}.");
        assert!(first_text(&missing).contains(&warning), "{missing}");
    }
    let nonsense = client.call_tool("get_thread", &json!({ "thread": "pump" }));
    assert!(first_text(&nonsense).starts_with("`thread`: not a thread"), "{nonsense}");
    client.close_and_wait();
}

#[test]
fn mcp_refuses_an_unknown_toolset_with_the_nearest_name() {
    let (code, stderr) =
        failure_output(&program_command(&["mcp", "--toolsets", "thread"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(stderr.contains("did you mean threads?"), "{stderr}");
}

#[test]
fn mcp_returns_hostile_texts_as_safe_text() {
    let spec =
        WorldSpec { hostile_text: true, issues: 60, latency_ms: 0..=1, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 7), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let stored = list_json(home.path(), &["issues"]);
    let hostile = stored.iter().filter(|row| row["body"].as_str().unwrap().contains(is_steering));
    assert!(hostile.count() > 3, "too few hostile texts, so nothing would be proven");
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    for tool in ["list_issues", "list_discussions", "list_pull_requests"] {
        let answer = client.call_tool(tool, &json!({}));
        assert_eq!(first_text(&answer).chars().find(|c| is_steering(*c)), None, "{tool}");
        for item in answer["structuredContent"]["items"].as_array().unwrap() {
            let labels = item["labels"].as_array().unwrap().iter();
            let texts = labels.chain([&item["title"]]).map(|text| text.as_str().unwrap());
            texts.for_each(|text| assert!(!text.contains(is_steering), "{text:?}"));
        }
    }
    client.close_and_wait();
}

#[test]
fn mcp_search_answers_every_nasty_query_and_finds_its_text() {
    let (_fixture, home) = nasty_queries::pull_nasty_world();
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    for (number, query) in nasty_queries::findable_queries().iter().enumerate() {
        let answer = search_tool(&mut client, query);
        assert_ne!(answer, Vec::<Value>::new(), "{query:.40}");
        // the ten best of many may be others, so a word before the query makes it unique
        let found = search_tool(&mut client, &format!("case{number} {query}"));
        let title = format!("Case {number}");
        assert!(found.iter().any(|hit| hit["title"] == title.as_str()), "{query:.40}");
    }
    for query in nasty_queries::empty_queries() {
        assert_eq!(search_tool(&mut client, &query), Vec::<Value>::new(), "{query:?}");
    }
    client.close_and_wait();
}

/// Returns the hits of a search; the text agrees with them.
fn search_tool(client: &mut McpStdioClient, query: &str) -> Vec<Value> {
    let answer = client.call_tool("search", &json!({ "query": query }));
    assert_eq!(answer["isError"], false, "{query:?}: {answer}");
    let found = answer["structuredContent"]["items"].as_array().unwrap().clone();
    if found.is_empty() {
        assert_eq!(first_text(&answer), format!("No results found for \"{query}\"."));
    } else {
        assert!(found.len() <= 10 && first_text(&answer).ends_with("\n\n---"), "{answer}");
    }
    found
}

#[test]
fn mcp_search_without_hits_names_the_missing_words() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
    let title = list_json(home.path(), &["issues"])[0]["title"].as_str().unwrap().to_owned();
    let word = title.split(' ').max_by_key(|word| word.len()).unwrap();
    let answer =
        client.call_tool("search", &json!({ "query": format!("{word} frobnicate type:issue") }));
    let expected = format!("No results found for \"{word} frobnicate type:issue\".");
    assert_eq!(first_text(&answer), expected, "the first text is prescribed");
    assert_eq!(answer["content"][1]["text"], "Note: no text contains: frobnicate.");
    assert_eq!(answer["structuredContent"]["notes"], json!(["no text contains: frobnicate"]));
    let elsewhere =
        client.call_tool("search", &json!({ "query": format!("{word} created:<1999-01-01") }));
    let note = elsewhere["structuredContent"]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("the word occurs, but not in any"), "{note}");
    let found = client.call_tool("search", &json!({ "query": word }));
    assert_eq!(found["structuredContent"]["notes"], json!([]));
    client.close_and_wait();
}

/// Calls the engine without a process, so that a thousand queries are quick.
#[test]
fn mcp_search_answers_a_thousand_random_queries() {
    let (_fixture, home) = pull_small_world();
    let location = DatabaseLocation::File(home.path().join("db/acme.db"));
    let workspace = Workspace::at_location(location);
    let workspace = WorkspaceHandle::new(move || Ok(workspace.clone()));
    let server = McpServer::new(
        workspace,
        &[],
        "0",
        std::sync::Arc::new(|| 0),
        std::sync::Arc::new(String::new),
    );
    let mut rng = fastrand::Rng::with_seed(5);
    let letters: Vec<char> =
        "ab pump\"*:()-+#@'\\^~{}[]<>|&\u{0}\u{200d}é日🧠\n\tANDORNEAR".chars().collect();
    for round in 1..=1_000 {
        let query: String =
            (0..rng.usize(0..40)).map(|_| letters[rng.usize(0..letters.len())]).collect();
        let answer = server.answer_call("search", &json!({ "query": query }));
        let answer = serde_json::to_value(answer.unwrap()).unwrap();
        assert_eq!(answer["isError"], false, "round {round}, {query:?}: {answer}");
    }
}

#[test]
fn mcp_stdio_answers_a_line_that_is_not_json_and_continues() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start(&["-m", home.path().to_str().unwrap()]);
    for round in ["before initialize", "after it"] {
        for line in [
            &b"{"[..],
            b"nonsense",
            b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"",
            b"\xff\xfe",
            b"{\"a\": \"\\ud800\"}",
        ] {
            client.send_line(line);
            let answer = client.next_answer();
            assert_eq!(answer["error"]["code"], -32700, "{round}: {answer}");
            assert!(answer.as_object().unwrap().contains_key("id"), "{round}: {answer}");
            assert!(answer["id"].is_null(), "{round}: {answer}");
        }
        client.initialize();
    }
    client.send_line(b"[1]");
    assert_eq!(client.next_answer()["error"]["code"], -32600);
    client.send_line(&vec![b'x'; 17 << 20]);
    let oversized = client.next_answer();
    assert!(oversized["error"]["message"].as_str().unwrap().contains("16 MiB"), "{oversized}");
    // two lines in one write: the second is answered at once, too
    client.send_line(b"{\n{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\"}");
    assert_eq!(client.next_answer()["error"]["code"], -32700);
    assert_eq!(client.next_answer()["id"], 77);
    let answer = client.call_tool("list_issues", &json!({ "limit": 1 }));
    assert!(first_text(&answer).starts_with("## "), "{answer}");
    client.close_and_wait();
}

#[test]
fn mcp_stdio_answers_the_last_line_before_its_input_ends() {
    let mut command = program_command(&["mcp", "-m", "/nonexistent"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], -32700);
}

#[test]
fn mcp_echoes_at_most_a_kilobyte_of_an_argument() {
    let (_fixture, home) = pull_small_world();
    let mut client = McpStdioClient::start_initialized(&[
        "-m",
        home.path().to_str().unwrap(),
        "--toolsets",
        "threads",
    ]);
    let long = "qQ".repeat(35_000);
    let (many, dated) = (vec![long.clone(); 3], format!("2025-01-01{long}"));
    let repositories = format!("repo:{long}1 repo:acme/{long}2 repo:{long}3 words");
    let few: String = (0..2_000).map(|number| format!("repo:qQqQqQqQ{number} ")).collect();
    let mut calls = vec![
        ("search", json!({ "query": long })),
        ("search", json!({ "query": format!("\"{long}\" type:{long}") })),
        ("search", json!({ "query": repositories })),
        ("search", json!({ "query": few })),
        ("search", json!({ "query": "a", "fields": many })),
        ("search", json!({ "query": "a", long.as_str(): 1 })),
        ("get_thread", json!({ "thread": long })),
        ("get_thread", json!({ "thread": format!("acme/{long}#1") })),
    ];
    for tool in ["list_issues", "list_discussions", "list_pull_requests"] {
        for name in ["repository", "cursor"] {
            calls.push((tool, json!({ name: long })));
        }
        calls.extend([
            (tool, json!({ "authors": many })),
            (tool, json!({ "created_from": dated })),
            (tool, json!({ "limit": long })),
            (tool, json!({ "fields": many })),
        ]);
    }
    for (tool, arguments) in &calls {
        let answer = client.call_tool(tool, arguments).to_string();
        let echoed = answer.matches("qQ").count() * 2;
        // a long argument is cut in the text, in a note and in the structured content
        assert!(echoed <= 3_100, "{tool} echoes {echoed} bytes: {answer:.300}");
        assert!(!answer.contains(&"qQ".repeat(513)), "{tool}: {answer:.300}");
    }
    for (method, params) in [
        ("tools/call", json!({ "name": long, "arguments": {} })),
        ("prompts/get", json!({ "name": long })),
        (
            "prompts/get",
            json!({ "name": "user_summary", "arguments": { "username": long, "period": long } }),
        ),
        (long.as_str(), json!({})),
    ] {
        let answer = client.request_answer(method, &params).to_string();
        assert!(!answer.contains(&"qQ".repeat(513)), "{method:.40}: {answer:.300}");
    }
    let short = "qQ".repeat(500);
    let answer = client.call_tool("search", &json!({ "query": short }));
    assert_eq!(first_text(&answer), format!("No results found for \"{short}\"."));
    client.close_and_wait();
}

#[test]
fn mcp_ends_with_its_input_and_on_a_signal() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let home = tempfile::tempdir().unwrap();
        let mut client = McpStdioClient::start_initialized(&["-m", home.path().to_str().unwrap()]);
        let start_ms = MachineClock.now_ms();
        assert_eq!(client.stop_with_signal(signal), Some(0));
        // two seconds are promised; a busy machine may need more
        assert!(MachineClock.now_ms() - start_ms < 6_000);
    }
    let silent =
        program_command(&["mcp", "-m", "/nonexistent"]).stdin(Stdio::null()).output().unwrap();
    assert!(silent.status.success() && silent.stdout.is_empty(), "{silent:?}");
}

/// Formats a row of `list --json` as the lists do.
fn issue_entry(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    format!(
        "## {}\n\n- URL: {}\n- Created at: {}\n- Author: {}\n\n---",
        hw_rules::safe_text::sanitize_for_display(&text("title")),
        text("url"),
        text("created_at"),
        text("author")
    )
}

/// Decides whether a character steers a terminal or hides text from a reader.
fn is_steering(c: char) -> bool {
    let hides = matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}');
    hides || (c.is_control() && !['\n', '\t'].contains(&c))
}
