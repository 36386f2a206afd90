//! `highwater mcp` as its clients meet it: lines over stdio, requests over HTTP.

mod http;
pub(crate) mod talk;

use std::process::Stdio;

use hw_mcp::Server;
use hw_sim::WorldSpec;
use hw_store::{Place, Workspace};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use crate::house::{House, failed, listed, program, pulled};
use crate::nasty;
use talk::{Talk, text};

#[test]
fn a_client_of_the_first_era_is_greeted_and_answered() {
    let (_house, home) = pulled();
    let mut talk = Talk::with(&["-m", home.path().to_str().unwrap()]);
    let hello = talk.initialize();
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    assert_eq!(hello["serverInfo"]["name"], "highwater");
    assert_eq!(hello["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let tools = talk.ask("tools/list", &json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["list_discussions", "list_issues", "list_pull_requests", "search"]);
    let prompt = talk.ask(
        "prompts/get",
        &json!({ "name": "user_summary", "arguments": { "username": "anchor" } }),
    );
    assert!(
        prompt["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .starts_with("Summarize the accomplishments of the user anchor during ")
    );
    talk.end();
}

#[test]
fn a_client_of_the_second_era_needs_no_greeting() {
    let (_house, home) = pulled();
    let mut talk = Talk::with(&["-m", home.path().to_str().unwrap()]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let found = talk.ask("server/discover", &json!({ "_meta": meta }));
    assert!(
        found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{found}"
    );
    let params = json!({ "_meta": meta, "name": "list_issues", "arguments": { "limit": 1 } });
    let answer = talk.ask("tools/call", &params);
    assert!(text(&answer).starts_with("## "), "{answer}");
    talk.end();
}

/// The text and the facts of a whole list agree with what `list --json` says of the same database.
#[test]
fn a_list_is_what_is_held_oldest_first() {
    let (_house, home) = pulled();
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    for (tool, kind) in [
        ("list_issues", "issues"),
        ("list_pull_requests", "prs"),
        ("list_discussions", "discussions"),
    ] {
        let held = listed(home.path(), &[kind]);
        let fields = json!({ "fields": ["title", "url", "created_at", "author"] });
        let answer = talk.call(tool, &fields);
        let mut blocks: Vec<String> = held.iter().map(entry).collect();
        if kind == "prs" {
            blocks.insert(0, format!("Total {} pull requests found.", held.len()));
        }
        assert_eq!(text(&answer), blocks.join("\n\n"), "{tool}");
        assert_eq!(answer["content"].as_array().unwrap().len(), 1, "all is well: {answer}");
        for item in answer["structuredContent"]["items"].as_array().unwrap() {
            let names: Vec<&String> = item.as_object().unwrap().keys().collect();
            assert_eq!(names, ["author", "created_at", "title", "url"], "{tool}");
        }
        let facts = &talk.call(tool, &json!({}))["structuredContent"];
        assert_eq!(facts["total"], held.len());
        assert!(facts["fresh_through"].is_string() && facts["next_cursor"].is_null());
        for (item, held) in facts["items"].as_array().unwrap().iter().zip(&held) {
            for name in
                ["type", "number", "url", "updated_at", "state", "labels", "node_id", "closed_at"]
            {
                assert_eq!(item[name], held[name], "{name}");
            }
            assert!(item.get("body").is_none());
        }
    }
    talk.end();
}

#[test]
fn pages_follow_each_other_until_all_was_shown_once() {
    let (_house, home) = pulled();
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    let held = listed(home.path(), &["issues"]);
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let answer = talk.call("list_issues", &json!({ "limit": 3, "cursor": cursor }));
        let facts = &answer["structuredContent"];
        seen.extend(facts["items"].as_array().unwrap().iter().map(|it| it["url"].clone()));
        assert_eq!(facts["total"], held.len(), "however far one is");
        cursor = facts["next_cursor"].clone();
        let second = answer["content"].get(1).map(|it| it["text"].as_str().unwrap().to_owned());
        match cursor.as_str() {
            Some(cursor) => assert!(second.unwrap().contains(cursor)),
            None => break,
        }
    }
    assert_eq!(seen, held.iter().map(|it| it["url"].clone()).collect::<Vec<_>>());
    talk.end();
}

#[test]
fn filters_choose_and_what_is_wrong_is_named() {
    let (_house, home) = pulled();
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    let held = listed(home.path(), &["issues"]);
    let (author, at) =
        (held[0]["author"].as_str().unwrap(), held[0]["created_at"].as_str().unwrap());
    let of_author = held.iter().filter(|it| it["author"] == author).count();
    let count = |answer: &Value| answer["structuredContent"]["total"].clone();
    for authors in [json!([author.to_uppercase()]), json!(author)] {
        assert_eq!(count(&talk.call("list_issues", &json!({ "authors": authors }))), of_author);
    }
    let same = held.iter().filter(|it| it["created_at"] == at).count();
    assert_eq!(
        count(&talk.call("list_issues", &json!({ "created_from": at, "created_to": at }))),
        same
    );
    let closed = held.iter().filter(|it| !it["closed_at"].is_null()).count();
    assert_eq!(count(&talk.call("list_issues", &json!({ "closed_from": "2000-01-01" }))), closed);
    for (arguments, told) in [
        (json!({ "created_from": "yesterday" }), "`created_from`: not a date"),
        (json!({ "cursor": "nonsense" }), "`cursor` is not one"),
        (json!({ "limit": "3" }), "`limit` must be a whole number"),
        (json!({ "merged_from": "2025-01-01" }), "there is no parameter `merged_from`"),
        (
            json!({ "fields": ["x", "y"] }),
            "Invalid fields: x, y\n\nUse one of the available fields: title, url, ",
        ),
    ] {
        let answer = talk.call("list_issues", &arguments);
        assert_eq!(answer["isError"], true, "{arguments}");
        assert!(text(&answer).starts_with(told), "{answer}");
    }
    let nobody = talk.call("list_discussions", &json!({ "authors": ["nobody-at-all"] }));
    assert_eq!(text(&nobody), "No discussions found.");
    talk.end();
}

#[test]
fn a_workspace_that_is_made_later_is_found_without_a_restart() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    assert_eq!(talk.ask("tools/list", &json!({}))["tools"].as_array().unwrap().len(), 4);
    for (tool, arguments) in [("search", json!({ "query": "a" })), ("list_issues", json!({}))] {
        let answer = talk.call(tool, &arguments);
        assert_eq!(answer["isError"], true);
        assert!(text(&answer).contains("Run `highwater pull -o ORGANISATION`"), "{answer}");
    }
    house.pulled(home.path(), &[]);
    let answer = talk.call("list_issues", &json!({ "limit": 1 }));
    assert!(text(&answer).starts_with("## "), "{answer}");
    talk.end();
}

#[test]
fn a_workspace_that_is_not_there_is_told_at_the_start() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program(&["mcp", "-o", "acme", "-m", home.path().to_str().unwrap()]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.starts_with("warning: ") && told.contains("acme.db"), "{told}");
    assert_eq!(output.stdout, b"", "which is the protocol's alone");
}

#[test]
fn an_answer_that_is_not_whole_says_so() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &["-i", "repositories,issues"]);
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    let answer = talk.call("list_discussions", &json!({}));
    assert_eq!(text(&answer), "No discussions found.");
    let warning = "no discussions were ever pulled into this workspace";
    assert_eq!(answer["content"][1]["text"], format!("Warning: {warning}."));
    assert_eq!(answer["structuredContent"]["warnings"][0], warning);
    assert!(answer["structuredContent"]["fresh_through"].is_null());
    talk.end();
}

#[test]
fn a_thread_is_offered_on_request_with_its_comments() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &["-i", "repositories,discussions,issues,pull-requests,comments"]);
    let comments = listed(home.path(), &["comments"]);
    let of = comments.iter().find(|it| it["type"] == "issue_comment").unwrap();
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap(), "--toolsets", "threads"]);
    let name = format!("{}#{}", of["repository"].as_str().unwrap(), of["number"]);
    let answer = talk.call("get_thread", &json!({ "thread": name }));
    assert!(text(&answer).contains(&format!("- URL: {}", of["url"].as_str().unwrap())), "{answer}");
    let missing = talk.call("get_thread", &json!({ "thread": "acme/pump#999999" }));
    assert_eq!(missing["isError"], true);
    assert!(text(&missing).starts_with("acme/pump#999999 is not in this mirror."));
    let nonsense = talk.call("get_thread", &json!({ "thread": "pump" }));
    assert!(text(&nonsense).starts_with("`thread`: not a thread"), "{nonsense}");
    talk.end();
}

#[test]
fn an_unknown_toolset_is_refused_with_the_nearest_name() {
    let (code, told) = failed(&program(&["mcp", "--toolsets", "thread"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(told.contains("did you mean threads?"), "{told}");
}

#[test]
fn hostile_texts_come_as_text() {
    let spec =
        WorldSpec { hostile_text: true, issues: 60, latency_ms: 0..=1, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 7), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let held = listed(home.path(), &["issues"]);
    let hostile = |it: &&Value| it["body"].as_str().unwrap().contains(steers);
    assert!(held.iter().filter(hostile).count() > 3, "there is something to look for");
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    for tool in ["list_issues", "list_discussions", "list_pull_requests"] {
        let answer = talk.call(tool, &json!({}));
        assert_eq!(text(&answer).chars().find(|c| steers(*c)), None, "{tool}");
        for item in answer["structuredContent"]["items"].as_array().unwrap() {
            let labels = item["labels"].as_array().unwrap().iter();
            let texts = labels.chain([&item["title"]]).map(|it| it.as_str().unwrap());
            texts.for_each(|text| assert!(!text.contains(steers), "{text:?}"));
        }
    }
    talk.end();
}

#[test]
fn every_nasty_query_is_answered_and_finds_what_contains_it() {
    let (_house, home) = nasty::pulled();
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    for (number, query) in nasty::found().iter().enumerate() {
        let answer = searched(&mut talk, query);
        assert_ne!(answer, Vec::<Value>::new(), "{query:.40}");
        // the ten best of many may be others, so it is told apart by a word before it
        let found = searched(&mut talk, &format!("case{number} {query}"));
        let title = format!("Case {number}");
        assert!(found.iter().any(|hit| hit["title"] == title.as_str()), "{query:.40}");
    }
    for query in nasty::empty() {
        assert_eq!(searched(&mut talk, &query), Vec::<Value>::new(), "{query:?}");
    }
    talk.end();
}

/// What is found; the text says the same.
fn searched(talk: &mut Talk, query: &str) -> Vec<Value> {
    let answer = talk.call("search", &json!({ "query": query }));
    assert_eq!(answer["isError"], false, "{query:?}: {answer}");
    let found = answer["structuredContent"]["items"].as_array().unwrap().clone();
    if found.is_empty() {
        assert_eq!(text(&answer), format!("No results found for \"{query}\"."));
    } else {
        assert!(found.len() <= 10 && text(&answer).ends_with("\n\n---"), "{answer}");
    }
    found
}

#[test]
fn search_without_hits_names_the_words_that_no_text_contains() {
    let (_house, home) = pulled();
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
    let title = listed(home.path(), &["issues"])[0]["title"].as_str().unwrap().to_owned();
    let word = title.split(' ').max_by_key(|word| word.len()).unwrap();
    let answer = talk.call("search", &json!({ "query": format!("{word} frobnicate type:issue") }));
    let expected = format!("No results found for \"{word} frobnicate type:issue\".");
    assert_eq!(text(&answer), expected, "the first text is prescribed");
    assert_eq!(answer["content"][1]["text"], "Note: no text contains: frobnicate.");
    assert_eq!(answer["structuredContent"]["notes"], json!(["no text contains: frobnicate"]));
    let elsewhere = talk.call("search", &json!({ "query": format!("{word} created:<1999-01-01") }));
    let note = elsewhere["structuredContent"]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("the word occurs, but in nothing"), "{note}");
    let found = talk.call("search", &json!({ "query": word }));
    assert_eq!(found["structuredContent"]["notes"], json!([]));
    talk.end();
}

/// The same engine without a process around it, so that a thousand are quick.
#[test]
fn a_thousand_random_texts_can_be_searched_for() {
    let (_house, home) = pulled();
    let place = Place::File(home.path().join("db/acme.db"));
    let workspace = Workspace::at(place);
    let server = Server::new(move || Ok(workspace.clone()), &[], "0");
    let mut dice = fastrand::Rng::with_seed(5);
    let letters: Vec<char> =
        "ab pump\"*:()-+#@'\\^~{}[]<>|&\u{0}\u{200d}é日🧠\n\tANDORNEAR".chars().collect();
    for round in 1..=1_000 {
        let query: String =
            (0..dice.usize(0..40)).map(|_| letters[dice.usize(0..letters.len())]).collect();
        let answer = server.call("search", &json!({ "query": query }));
        let answer = serde_json::to_value(answer.unwrap()).unwrap();
        assert_eq!(answer["isError"], false, "round {round}, {query:?}: {answer}");
    }
}

#[test]
fn stdio_answers_a_line_that_is_not_json_and_goes_on() {
    let (_house, home) = pulled();
    let mut talk = Talk::with(&["-m", home.path().to_str().unwrap()]);
    for round in ["before the greeting", "after it"] {
        for line in [
            &b"{"[..],
            b"nonsense",
            b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"",
            b"\xff\xfe",
            b"{\"a\": \"\\ud800\"}",
        ] {
            talk.send_line(line);
            let answer = talk.next_answer();
            assert_eq!(answer["error"]["code"], -32700, "{round}: {answer}");
            assert!(answer.as_object().unwrap().contains_key("id"), "{round}: {answer}");
            assert!(answer["id"].is_null(), "{round}: {answer}");
        }
        talk.initialize();
    }
    talk.send_line(b"[1]");
    assert_eq!(talk.next_answer()["error"]["code"], -32600);
    talk.send_line(&vec![b'x'; 17 << 20]);
    let oversized = talk.next_answer();
    assert!(oversized["error"]["message"].as_str().unwrap().contains("16 MiB"), "{oversized}");
    // two lines in one write: the second is not kept waiting
    talk.send_line(b"{\n{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\"}");
    assert_eq!(talk.next_answer()["error"]["code"], -32700);
    assert_eq!(talk.next_answer()["id"], 77);
    let answer = talk.call("list_issues", &json!({ "limit": 1 }));
    assert!(text(&answer).starts_with("## "), "{answer}");
    talk.end();
}

#[test]
fn stdio_answers_the_last_line_before_its_input_ends() {
    let mut command = program(&["mcp", "-m", "/nonexistent"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], -32700);
}

#[test]
fn echo_of_an_argument_ends_after_a_kilobyte() {
    let (_house, home) = pulled();
    let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap(), "--toolsets", "threads"]);
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
        let answer = talk.call(tool, arguments).to_string();
        let echoed = answer.matches("qQ").count() * 2;
        // what is too long is cut in the text and in a note, and for programs
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
        let answer = talk.answer(method, &params).to_string();
        assert!(!answer.contains(&"qQ".repeat(513)), "{method:.40}: {answer:.300}");
    }
    let short = "qQ".repeat(500);
    let answer = talk.call("search", &json!({ "query": short }));
    assert_eq!(text(&answer), format!("No results found for \"{short}\"."));
    talk.end();
}

#[test]
fn it_ends_with_its_input_and_by_a_signal() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let home = tempfile::tempdir().unwrap();
        let mut talk = Talk::begun(&["-m", home.path().to_str().unwrap()]);
        let start_ms = MachineClock.now_ms();
        assert_eq!(talk.stopped_by(signal), Some(0));
        // two seconds, and more for a machine that has other things to do
        assert!(MachineClock.now_ms() - start_ms < 6_000);
    }
    let silent = program(&["mcp", "-m", "/nonexistent"]).stdin(Stdio::null()).output().unwrap();
    assert!(silent.status.success() && silent.stdout.is_empty(), "{silent:?}");
}

/// An issue as the lists set it, from what `list --json` says.
fn entry(held: &Value) -> String {
    let text = |name: &str| held[name].as_str().unwrap_or_default().to_owned();
    format!(
        "## {}\n\n- URL: {}\n- Created at: {}\n- Author: {}\n\n---",
        hw_rules::clean::for_reading(&text("title")),
        text("url"),
        text("created_at"),
        text("author")
    )
}

/// What would steer a terminal, or hide something from a reader.
fn steers(c: char) -> bool {
    let hides = matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}');
    hides || (c.is_control() && !['\n', '\t'].contains(&c))
}
