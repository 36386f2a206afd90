//! Compares the texts of the tools character by character.

use hw_rules::item::{
    Comment, CommentKind, DiscussionDetails, ObjectKind, PullRequestDetails, Thread, ThreadDetails,
    ThreadKind,
};
use hw_rules::snippet::SnippetPiece;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_store::{
    CommentRow, Completeness, Hit, MatchCount, MatchedComment, RankedMatches, SearchResults,
    SkippedRows, ThreadRow, ThreadView,
};
use serde_json::json;

use super::{get_thread, list_discussions, list_issues, list_pull_requests, offered_tools, search};
use crate::bounded_text::{BoundedText, MAX_ANSWER_BYTES};
use crate::list_tool::{ListTool, thread_field};
use crate::server::INSTRUCTIONS;
use crate::tool_error::ToolError;
use crate::tools::Toolset;

/// The tools and their parameters as prescribed; only `limit` and `cursor` are our own.
const EXPECTED_TOOLS: &str = r#"list_discussions
Lists discussions with optional filtering. Discussions are separated by ---.
  repository: Filter by repository name. Example: auth-service. Defaults to any repository in the organization.
  created_from: Filter by created_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  created_to: Filter by created_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  authors: Array of author usernames. Example: [john_doe, jane_doe]. Defaults to any author.
  fields: Array of fields to include in the response. Available fields: ["title", "url", "repository", "created_at", "author", "body"]. Defaults to all fields.
list_issues
Lists issues with optional filtering. Issues are separated by ---.
  repository: Filter by repository name. Example: auth-service. Defaults to any repository in the organization.
  created_from: Filter by created_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  created_to: Filter by created_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  closed_from: Filter by closed_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  closed_to: Filter by closed_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  authors: Array of author usernames. Example: [john_doe, jane_doe]. Defaults to any author.
  fields: Array of fields to include in the response. Available fields: ["title", "url", "repository", "created_at", "closed_at", "author", "status", "body"]. Defaults to all fields.
list_pull_requests
Lists pull requests with optional filtering. Pull requests are separated by ---.
  repository: Filter by repository name. Example: auth-service. Defaults to any repository in the organization.
  created_from: Filter by created_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  created_to: Filter by created_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  merged_from: Filter by merged_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  merged_to: Filter by merged_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  closed_from: Filter by closed_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  closed_to: Filter by closed_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.
  authors: Array of author usernames. Example: [john_doe, jane_doe]. Defaults to any author.
  fields: Array of fields to include in the response. Available fields: ["title", "url", "repository", "created_at", "merged_at", "closed_at", "author", "status", "body"]. Defaults to all fields.
search
Full-text search across discussions, issues, and pull requests.
  query: Search query string. Example: authentication bug. (required)
  fields: Array of fields to include in the response. Available fields: ["title", "url", "repository", "created_at", "author", "type", "state", "body"]. Defaults to all fields.
"#;

#[test]
fn tools_have_the_prescribed_descriptions_and_parameters() {
    let mut text = String::new();
    for tool in offered_tools(&[]) {
        text.push_str(&format!("{}\n{}\n", tool.name, tool.description));
        let prescribed = tool
            .parameters
            .iter()
            .filter(|parameter| !["limit", "cursor"].contains(&parameter.name));
        for parameter in prescribed {
            let required = if parameter.is_required { " (required)" } else { "" };
            text.push_str(&format!("  {}: {}{required}\n", parameter.name, parameter.description));
        }
    }
    assert_eq!(text, EXPECTED_TOOLS);
}

#[test]
fn tools_say_what_they_change_and_have_an_output_schema() {
    for tool in offered_tools(&Toolset::ALL) {
        let tool = serde_json::to_value(tool.to_mcp_tool()).unwrap();
        // only these move a consumer of events on
        let name = tool["name"].as_str().unwrap();
        let hints = json!({
            "title": tool["title"], "readOnlyHint": !["read_events", "ack_events"].contains(&name),
            "destructiveHint": false, "idempotentHint": name != "read_events", "openWorldHint": false
        });
        assert_eq!(tool["annotations"], hints);
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["type"], "object");
    }
}

#[test]
fn tools_of_a_toolset_are_offered_on_request() {
    let usual = ["list_discussions", "list_issues", "list_pull_requests", "search"];
    assert_eq!(tool_names(&[]), usual);
    assert_eq!(tool_names(&[Toolset::Threads]), [&usual[..], &["get_thread"]].concat());
    let posts = [&usual[..], &["list_posts", "trending_links"]].concat();
    assert_eq!(tool_names(&[Toolset::Bluesky]), posts);
    let events = [&usual[..], &["read_events", "ack_events"]].concat();
    assert_eq!(tool_names(&[Toolset::Events]), events);
}

#[test]
fn list_of_no_items_is_one_sentence() {
    assert_eq!(list_text(&list_discussions::LIST_TOOL, &[], &[]), "No discussions found.");
    assert_eq!(list_text(&list_issues::LIST_TOOL, &[], &[]), "No issues found.");
    assert_eq!(list_text(&list_pull_requests::LIST_TOOL, &[], &[]), "No pull requests found.");
}

#[test]
fn list_of_discussions_is_as_prescribed() {
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Author: anchor\n\nA *body*\nof two lines\n\n---";
    let row = discussion_row();
    assert_eq!(list_text(&list_discussions::LIST_TOOL, std::slice::from_ref(&row), &[]), expected);
    let twice = list_text(&list_discussions::LIST_TOOL, &[row.clone(), row], &[]);
    assert_eq!(twice, format!("{expected}\n\n{expected}"));
}

#[test]
fn list_of_issues_is_as_prescribed() {
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Closed at: 2025-07-01T00:00:00Z\n- Author: anchor\n\
                    - Status: closed\n\nA *body*\nof two lines\n\n---";
    assert_eq!(list_text(&list_issues::LIST_TOOL, &[issue_row()], &[]), expected);
}

#[test]
fn list_prints_null_as_empty() {
    let mut row = issue_row();
    row.thread.closed_at = None;
    row.thread.author = None;
    row.thread.body = String::new();
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Closed at: \n- Author: \n- Status: open\n\n\n\n---";
    assert_eq!(list_text(&list_issues::LIST_TOOL, &[row], &[]), expected);
}

#[test]
fn list_of_pull_requests_begins_with_the_total() {
    let expected = "Total 1 pull requests found.\n\n## A title\n\n\
                    - URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Merged at: 2025-06-30T00:00:00Z\n\
                    - Closed at: 2025-07-01T00:00:00Z\n- Author: anchor\n- Status: closed\n\n\
                    A *body*\nof two lines\n\n---";
    assert_eq!(list_text(&list_pull_requests::LIST_TOOL, &[pull_request_row()], &[]), expected);
}

#[test]
fn list_leaves_out_any_field_that_is_not_requested() {
    let lists =
        [&list_discussions::LIST_TOOL, &list_issues::LIST_TOOL, &list_pull_requests::LIST_TOOL];
    for list in lists {
        let whole = list_text(list, &[pull_request_row()], &[]);
        for left_out in list.template.fields {
            let others: Vec<&str> =
                list.template.fields.iter().filter(|name| *name != left_out).copied().collect();
            let removed = match *left_out {
                "title" => "## A title\n\n".to_owned(),
                "body" => "A *body*\nof two lines\n\n".to_owned(),
                name => {
                    let label =
                        list.template.lines.iter().find(|(line, _)| *line == name).unwrap().1;
                    whole
                        .split_inclusive('\n')
                        .find(|line| line.starts_with(&format!("- {label}: ")))
                        .unwrap()
                        .to_owned()
                }
            };
            // the last line keeps its end, because a blank line follows
            let expected = whole.replacen(&removed, "", 1);
            assert_eq!(list_text(list, &[pull_request_row()], &others), expected, "{left_out}");
        }
    }
}

#[test]
fn list_reports_unknown_fields() {
    let expected = [
        (&list_discussions::LIST_TOOL, "title, url, repository, created_at, author, body"),
        (
            &list_issues::LIST_TOOL,
            "title, url, repository, created_at, closed_at, author, status, body",
        ),
        (
            &list_pull_requests::LIST_TOOL,
            "title, url, repository, created_at, merged_at, closed_at, author, status, body",
        ),
    ];
    for (list, available) in expected {
        let requested = ["state", "title", "Body"].map(str::to_owned);
        let error = list.template.select_fields(&requested).err().unwrap();
        let text =
            format!("Invalid fields: state, Body\n\nUse one of the available fields: {available}");
        assert_eq!(error, ToolError(text));
    }
    let error = search::HIT_TEMPLATE.select_fields(&["status".to_owned()]).err().unwrap();
    let text = "Invalid fields: status\n\n\
                Use one of the available fields: title, url, repository, created_at, author, type, state, body";
    assert_eq!(error, ToolError(text.to_owned()));
}

#[test]
fn list_that_is_too_long_begins_with_the_number_of_missing_items() {
    let mut row = pull_request_row();
    row.thread.body = "b".repeat(300_000);
    let rows = vec![row; 5];
    for (list, head) in [
        (
            &list_discussions::LIST_TOOL,
            "Showing only the first 3 discussions. There's 2 more, please refine your search. Use `created_from` and `created_to` parameters\nto narrow the results.\n\n---\n\n## A title",
        ),
        (
            &list_issues::LIST_TOOL,
            "Showing only the first 3 issues. There's 2 more, please refine your search.\n\n---\n\n## A title",
        ),
        (
            &list_pull_requests::LIST_TOOL,
            "Showing only the first 3 pull requests. There's 2 more, please refine your search.\n\n---\n\nTotal 5 pull requests found.\n\n## A title",
        ),
    ] {
        let text = list_text(list, &rows, &[]);
        assert!(text.starts_with(head), "{}", &text[..200]);
        assert!(text.len() <= MAX_ANSWER_BYTES);
        assert_eq!(text.matches("\n## A title").count(), 3);
        assert!(text.ends_with("bb\n\n---"));
    }
}

#[test]
fn search_results_are_as_prescribed() {
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/pull/7\n- Type: pull_request\n\
                    - Repository: pump\n- Created at: 2025-06-18T19:19:08Z\n- Author: anchor\n\
                    - State: merged\n\nA *body*\n\n---";
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let results = SearchResults {
        hits: vec![sample_hit(), sample_hit()],
        matches: MatchCount::Exactly(2),
        ..SearchResults::default()
    };
    let answer = search::build_answer("a", &selection, results, None);
    assert_eq!(answer.page.text, format!("{expected}\n\n{expected}"));
    assert!(answer.notes.is_empty());
}

#[test]
fn search_leaves_out_any_field_that_is_not_requested() {
    let lines = ["URL", "Type", "Repository", "Created at", "Author", "State"];
    let fields = ["url", "type", "repository", "created_at", "author", "state"];
    for (label, left_out) in lines.iter().zip(fields) {
        let others: Vec<String> = search::HIT_TEMPLATE
            .fields
            .iter()
            .filter(|name| **name != left_out)
            .map(|name| (*name).to_owned())
            .collect();
        let text = search_text(&others);
        assert!(!text.contains(&format!("- {label}: ")), "{text}");
        assert_eq!(text.matches("\n- ").count(), 5, "{text}");
    }
    assert_eq!(
        search_text(&["title".to_owned(), "body".to_owned()]),
        "## A title\n\nA *body*\n\n---"
    );
}

#[test]
fn search_without_results_repeats_the_query() {
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let answer = search::build_answer("a \"b\" AND", &selection, SearchResults::default(), None);
    assert_eq!(answer.page.text, "No results found for \"a \"b\" AND\".");
}

#[test]
fn search_notes_when_only_the_newest_matches_were_ranked() {
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let results = SearchResults {
        hits: vec![sample_hit()],
        matches: MatchCount::AtLeast(5_000),
        ranked_matches: RankedMatches::Newest,
        ..SearchResults::default()
    };
    let result = search::build_answer("the", &selection, results, None).into_result();
    let note = "at least 5000 matches, of which only the newest were ranked";
    assert_eq!(result.content[1].as_text().unwrap().text, format!("Note: {note}."));
    let facts = result.structured_content.unwrap();
    assert_eq!((&facts["ranked"], &facts["total"]), (&json!(note), &json!(5_000)));
    assert_eq!(facts["total_is_exact"], false);
}

#[test]
fn search_prints_a_closed_discussion_as_open_except_in_structured_content() {
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let closed = Hit {
        kind: ObjectKind::Thread(ThreadKind::Discussion),
        state: "closed".into(),
        ..sample_hit()
    };
    let answer = search::build_answer(
        "a",
        &selection,
        SearchResults { hits: vec![closed], ..SearchResults::default() },
        None,
    );
    assert!(answer.page.text.contains("\n- State: open\n"), "{}", answer.page.text);
    assert_eq!(answer.items[0]["state"], "closed");
}

#[test]
fn search_notes_misread_filters() {
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let results = SearchResults {
        misread: vec!["type:\nbug was taken for words".into()],
        ..SearchResults::default()
    };
    let result = search::build_answer("type:\nbug", &selection, results, None).into_result();
    let note = result.content[1].as_text().unwrap().text.clone();
    assert_eq!(note, "Note: type: bug was taken for words.");
}

#[test]
fn search_names_the_comment_that_matched() {
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let comment = MatchedComment {
        url: "https://github.com/acme/pump/pull/7#c1".into(),
        author: None,
        created_at: parse_time("2025-06-19T00:00:00Z"),
    };
    let snippet = [("the\ntide ", false), ("gauge", true)];
    let snippet = snippet.map(|(text, is_match)| SnippetPiece { text: text.into(), is_match });
    let matched = Hit { matched_comment: Some(comment), snippet: snippet.into(), ..sample_hit() };
    let results = SearchResults { hits: vec![sample_hit(), matched], ..SearchResults::default() };
    let plain =
        SearchResults { hits: vec![sample_hit(), sample_hit()], ..SearchResults::default() };
    let result = search::build_answer("a", &selection, results, None).into_result();
    let texts: Vec<&str> =
        result.content.iter().map(|block| block.as_text().unwrap().text.as_str()).collect();
    assert_eq!(texts[0], search::build_answer("a", &selection, plain, None).page.text);
    let note = "Result 2 matches in a comment by a deleted account, https://github.com/acme/pump/pull/7#c1: the tide gauge";
    assert_eq!(texts[1], note);
    let comment = json!({
        "url": "https://github.com/acme/pump/pull/7#c1", "author": null,
        "created_at": "2025-06-19T00:00:00Z", "snippet": "the tide gauge"
    });
    let facts = result.structured_content.unwrap();
    assert_eq!(facts["items"][1]["comment"], comment);
    assert_eq!(facts["items"][0].get("comment"), None);
}

#[test]
fn search_without_results_names_the_missing_words() {
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let explanation = "no text contains: frobnicate";
    let results = SearchResults::default();
    let result =
        search::build_answer("frobnicate", &selection, results, Some(explanation)).into_result();
    let texts: Vec<&str> =
        result.content.iter().map(|block| block.as_text().unwrap().text.as_str()).collect();
    let note = "Note: no text contains: frobnicate.";
    assert_eq!(texts, ["No results found for \"frobnicate\".", note]);
    assert_eq!(result.structured_content.unwrap()["notes"], json!([explanation]));
}

#[test]
fn search_shows_its_grammar_by_examples() {
    let tool = serde_json::to_value(search::DEFINITION.to_mcp_tool()).unwrap();
    let examples = tool["inputSchema"]["properties"]["query"]["examples"].to_string();
    for (source, text) in [("examples", examples.as_str()), ("instructions", INSTRUCTIONS)] {
        for part in [
            "* ", " -", " OR ", "repo:", "author:", "type:", "state:", "label:", "created:",
            "updated:",
        ] {
            assert!(text.contains(part), "{source}: {part}");
        }
    }
    assert!(INSTRUCTIONS.contains("\"last reading\"") && examples.contains("last reading"));
    let fields = tool["inputSchema"]["properties"]["fields"].as_object().unwrap();
    assert!(!fields.contains_key("examples"));
}

#[test]
fn search_notes_results_that_do_not_fit() {
    let selection = search::HIT_TEMPLATE.select_fields(&[]).unwrap();
    let long = Hit { body: "b".repeat(400_000), ..sample_hit() };
    let results =
        SearchResults { hits: vec![long.clone(), long.clone(), long], ..SearchResults::default() };
    let answer = search::build_answer("a", &selection, results, None);
    assert_eq!((answer.page.item_count, answer.items.len()), (2, 2));
    let note =
        "Note: 1 result is left out, because the text would exceed 990 kB; request fewer `fields`.";
    assert_eq!(answer.notes, [note]);
}

#[test]
fn thread_answer_contains_the_comments() {
    let view = thread_view(issue_row(), vec![comment_row()]);
    let completeness = Completeness { fresh_through: Some(SourceInstant(0)), missing: vec![] };
    let answer = get_thread::build_answer(&view, completeness);
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Type: issue\n\
                    - Repository: acme/pump\n- Created at: 2025-06-18T19:19:08Z\n\
                    - Closed at: 2025-07-01T00:00:00Z\n- Author: anchor\n- State: closed\n- Labels: bug, ui\n\n\
                    A *body*\nof two lines\n\n---\n\n### Review comment\n\n\
                    - URL: https://github.com/acme/pump/issues/7#r1\n- Created at: 2025-06-19T00:00:00Z\n\
                    - Author: gull\n- File: src/a.rs:3\n\nwords\n\n---";
    assert_eq!(answer.page.text, expected);
    let facts = answer.into_result().structured_content.unwrap();
    assert_eq!(facts["comments_total"], 1);
    assert_eq!(facts["comments"][0]["id"], 1);
    assert_eq!(facts["items"][0]["labels"], json!(["bug", "ui"]));
    assert_eq!(facts["items"][0].get("body"), None);
}

#[test]
fn thread_answer_counts_comments_that_do_not_fit() {
    let mut long = comment_row();
    long.comment.body = "b".repeat(400_000);
    let view = thread_view(issue_row(), vec![long; 4]);
    let answer = get_thread::build_answer(&view, Completeness::default());
    assert!(answer.page.text.len() <= MAX_ANSWER_BYTES && answer.page.is_cut);
    assert_eq!(
        answer.notes,
        ["Note: 2 comments are left out, because the text would exceed 990 kB."]
    );
}

#[test]
fn thread_answer_cuts_a_body_that_does_not_fit() {
    let mut row = issue_row();
    row.thread.body = "ü".repeat(600_000);
    let view = thread_view(row, vec![comment_row()]);
    let answer = get_thread::build_answer(&view, Completeness::default());
    let text = &answer.page.text;
    assert!((MAX_ANSWER_BYTES - 4..=MAX_ANSWER_BYTES).contains(&text.len()) && answer.page.is_cut);
    assert!(text.starts_with("## A title\n\n- URL: ") && text.ends_with("üü\n\n---"));
    assert_eq!(
        answer.notes,
        [
            "Note: only the beginning of the body is shown, because the text would exceed 990 kB.",
            "Note: 1 comment is left out, because the text would exceed 990 kB."
        ]
    );
}

#[test]
fn thread_answer_keeps_structured_comments_and_text_within_the_limit() {
    let view = thread_view(issue_row(), vec![comment_row(); 4_000]);
    let facts = get_thread::build_answer(&view, Completeness::default()).into_result();
    let text = facts.content[0].as_text().unwrap().text.len();
    let comments = &facts.structured_content.unwrap()["comments"];
    let count = comments.as_array().unwrap().len();
    assert!((1..4_000).contains(&count), "{count} comments");
    assert!(text + comments.to_string().len() <= MAX_ANSWER_BYTES + count + 2);
}

/// Returns the text of a list of these rows.
fn list_text(list: &'static ListTool, rows: &[ThreadRow], fields: &[&str]) -> String {
    let fields: Vec<String> = fields.iter().map(|name| (*name).to_owned()).collect();
    let selection = list.template.select_fields(&fields).unwrap();
    let mut text = BoundedText::default();
    let _fits = rows
        .iter()
        .all(|row| text.push_item(&selection.render_item(&|name| thread_field(row, name))));
    text.finish_list(&list.wording, rows.len() as u64, rows.len() as u64).text
}

fn tool_names(toolsets: &[Toolset]) -> Vec<&'static str> {
    offered_tools(toolsets).iter().map(|tool| tool.name).collect()
}

fn search_text(fields: &[String]) -> String {
    let selection = search::HIT_TEMPLATE.select_fields(fields).unwrap();
    search::build_answer(
        "a",
        &selection,
        SearchResults { hits: vec![sample_hit()], ..SearchResults::default() },
        None,
    )
    .page
    .text
}

fn thread_view(row: ThreadRow, comments: Vec<CommentRow>) -> ThreadView {
    ThreadView { owner: "acme".into(), row, comments, skipped: SkippedRows::default() }
}

fn issue_row() -> ThreadRow {
    thread_row(ThreadDetails::Issue)
}

fn discussion_row() -> ThreadRow {
    thread_row(ThreadDetails::Discussion(DiscussionDetails {
        category: "Q&A".into(),
        is_answered: None,
    }))
}

fn pull_request_row() -> ThreadRow {
    let merged_at = Some(parse_time("2025-06-30T00:00:00Z"));
    let head_ref = "topic".to_owned();
    thread_row(ThreadDetails::PullRequest(PullRequestDetails {
        is_draft: false,
        merged_at,
        head_ref,
        head_sha: None,
    }))
}

fn thread_row(details: ThreadDetails) -> ThreadRow {
    let thread = Thread {
        id: 70,
        node_id: "T_70".into(),
        number: 7,
        repository_id: 1,
        url: "https://github.com/acme/pump/issues/7".into(),
        title: "A title".into(),
        body: "A *body*\r\nof two\u{200b} lines".into(),
        state: "CLOSED".into(),
        state_reason: None,
        labels: vec!["bug".into(), "ui".into()],
        author: Some("anchor".into()),
        author_id: Some(1),
        author_kind: None,
        association: None,
        created_at: parse_time("2025-06-18T19:19:08Z"),
        updated_at: parse_time("2025-07-01T00:00:00Z"),
        closed_at: Some(parse_time("2025-07-01T00:00:00Z")),
        details,
    };
    ThreadRow { host: "github.com".into(), repository: "pump".into(), thread, closes: vec![] }
}

fn comment_row() -> CommentRow {
    let comment = Comment {
        kind: CommentKind::ReviewComment,
        id: 1,
        node_id: "C_1".into(),
        repository_id: 1,
        thread: 7,
        reply_to: None,
        review_id: None,
        url: "https://github.com/acme/pump/issues/7#r1".into(),
        body: "words".into(),
        state: None,
        path: Some("src/a.rs".into()),
        line: Some(3),
        author: Some("gull".into()),
        author_id: None,
        author_kind: None,
        association: None,
        created_at: parse_time("2025-06-19T00:00:00Z"),
        updated_at: parse_time("2025-06-19T00:00:00Z"),
    };
    CommentRow { host: "github.com".into(), repository: "pump".into(), comment }
}

fn sample_hit() -> Hit {
    Hit {
        kind: ObjectKind::Thread(ThreadKind::PullRequest),
        id: 70,
        host: "github.com".into(),
        owner: "acme".into(),
        repository: "pump".into(),
        number: 7,
        title: "A title".into(),
        url: "https://github.com/acme/pump/pull/7".into(),
        author: Some("anchor".into()),
        reposted_by: None,
        created_at: parse_time("2025-06-18T19:19:08Z"),
        updated_at: parse_time("2025-06-18T19:19:08Z"),
        state: "merged".into(),
        labels: vec![],
        body: "A *body*".into(),
        matched_comment: None,
        marked_title: vec![],
        snippet: vec![],
    }
}

fn parse_time(text: &str) -> SourceTime {
    SourceTime::parse(text).unwrap()
}
