//! The texts of the tools, compared character by character.

use hw_rules::item::{Comment, Discussion, Kind, PullRequest, Sort, Thread};
use hw_rules::snippet::Piece;
use hw_rules::time::{Mark, SourceTime};
use hw_store::{
    Behind, CommentRow, Found, Hit, Matches, Ranked, Said, SkippedRows, ThreadRow, ThreadView,
};
use serde_json::json;

use super::{get_thread, list_discussions, list_issues, list_pull_requests, offered, search};
use crate::arguments::Refusal;
use crate::listing::{Listing, value};
use crate::server::INSTRUCTIONS;
use crate::sheet::{MOST_BYTES, Sheet};
use crate::tools::Toolset;

/// What the tools are and take, as it was ordered; only `limit` and `cursor` were added.
const ORDERED: &str = r#"list_discussions
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
fn the_tools_and_their_parameters_are_those_that_were_ordered() {
    let mut told = String::new();
    for tool in offered(&[]) {
        told.push_str(&format!("{}\n{}\n", tool.name, tool.about));
        let ordered = tool.parameters.iter().filter(|it| !["limit", "cursor"].contains(&it.name));
        for parameter in ordered {
            let required = if parameter.is_required { " (required)" } else { "" };
            told.push_str(&format!("  {}: {}{required}\n", parameter.name, parameter.about));
        }
    }
    assert_eq!(told, ORDERED);
}

#[test]
fn every_tool_only_reads_and_says_what_it_gives() {
    for tool in offered(&Toolset::ALL) {
        let tool = serde_json::to_value(tool.tool()).unwrap();
        let hints = json!({
            "title": tool["title"], "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false
        });
        assert_eq!(tool["annotations"], hints);
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["type"], "object");
    }
}

#[test]
fn more_tools_are_offered_only_to_those_who_ask() {
    let names =
        |toolsets: &[Toolset]| offered(toolsets).iter().map(|it| it.name).collect::<Vec<_>>();
    let usual = ["list_discussions", "list_issues", "list_pull_requests", "search"];
    assert_eq!(names(&[]), usual);
    assert_eq!(names(&[Toolset::Threads]), [&usual[..], &["get_thread"]].concat());
}

#[test]
fn a_list_of_nothing_is_one_sentence() {
    assert_eq!(text(&list_discussions::LISTING, &[], &[]), "No discussions found.");
    assert_eq!(text(&list_issues::LISTING, &[], &[]), "No issues found.");
    assert_eq!(text(&list_pull_requests::LISTING, &[], &[]), "No pull requests found.");
}

#[test]
fn a_list_of_discussions_is_as_ordered() {
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Author: anchor\n\nA *body*\nof two lines\n\n---";
    let row = discussion();
    assert_eq!(text(&list_discussions::LISTING, std::slice::from_ref(&row), &[]), expected);
    let twice = text(&list_discussions::LISTING, &[row.clone(), row], &[]);
    assert_eq!(twice, format!("{expected}\n\n{expected}"));
}

#[test]
fn a_list_of_issues_is_as_ordered() {
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Closed at: 2025-07-01T00:00:00Z\n- Author: anchor\n\
                    - Status: closed\n\nA *body*\nof two lines\n\n---";
    assert_eq!(text(&list_issues::LISTING, &[issue()], &[]), expected);
}

#[test]
fn what_is_null_is_printed_as_nothing() {
    let mut row = issue();
    row.thread.closed_at = None;
    row.thread.author = None;
    row.thread.body = String::new();
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Closed at: \n- Author: \n- Status: open\n\n\n\n---";
    assert_eq!(text(&list_issues::LISTING, &[row], &[]), expected);
}

#[test]
fn a_list_of_pull_requests_begins_with_how_many_there_are() {
    let expected = "Total 1 pull requests found.\n\n## A title\n\n\
                    - URL: https://github.com/acme/pump/issues/7\n- Repository: pump\n\
                    - Created at: 2025-06-18T19:19:08Z\n- Merged at: 2025-06-30T00:00:00Z\n\
                    - Closed at: 2025-07-01T00:00:00Z\n- Author: anchor\n- Status: closed\n\n\
                    A *body*\nof two lines\n\n---";
    assert_eq!(text(&list_pull_requests::LISTING, &[pull_request()], &[]), expected);
}

#[test]
fn each_field_can_be_left_out_of_each_list() {
    let lists = [&list_discussions::LISTING, &list_issues::LISTING, &list_pull_requests::LISTING];
    for listing in lists {
        let whole = text(listing, &[pull_request()], &[]);
        for left_out in listing.form.fields {
            let others: Vec<&str> =
                listing.form.fields.iter().filter(|it| *it != left_out).copied().collect();
            let gone = match *left_out {
                "title" => "## A title\n\n".to_owned(),
                "body" => "A *body*\nof two lines\n\n".to_owned(),
                name => {
                    let label = listing.form.lines.iter().find(|(it, _)| *it == name).unwrap().1;
                    whole
                        .split_inclusive('\n')
                        .find(|it| it.starts_with(&format!("- {label}: ")))
                        .unwrap()
                        .to_owned()
                }
            };
            // the last line of a list keeps its end: what follows is a blank line
            let expected = whole.replacen(&gone, "", 1);
            assert_eq!(text(listing, &[pull_request()], &others), expected, "{left_out}");
        }
    }
}

#[test]
fn fields_that_nobody_knows_are_named() {
    let expected = [
        (&list_discussions::LISTING, "title, url, repository, created_at, author, body"),
        (
            &list_issues::LISTING,
            "title, url, repository, created_at, closed_at, author, status, body",
        ),
        (
            &list_pull_requests::LISTING,
            "title, url, repository, created_at, merged_at, closed_at, author, status, body",
        ),
    ];
    for (listing, available) in expected {
        let wanted = ["state", "title", "Body"].map(str::to_owned);
        let told = listing.form.choose(&wanted).err().unwrap();
        let text =
            format!("Invalid fields: state, Body\n\nUse one of the available fields: {available}");
        assert_eq!(told, Refusal(text));
    }
    let told = search::FORM.choose(&["status".to_owned()]).err().unwrap();
    let text = "Invalid fields: status\n\n\
                Use one of the available fields: title, url, repository, created_at, author, type, state, body";
    assert_eq!(told, Refusal(text.to_owned()));
}

#[test]
fn a_list_that_is_too_long_begins_with_what_is_missing() {
    let mut row = pull_request();
    row.thread.body = "b".repeat(300_000);
    let rows = vec![row; 5];
    for (listing, told) in [
        (
            &list_discussions::LISTING,
            "Showing only the first 3 discussions. There's 2 more, please refine your search. Use `created_from` and `created_to` parameters\nto narrow the results.\n\n---\n\n## A title",
        ),
        (
            &list_issues::LISTING,
            "Showing only the first 3 issues. There's 2 more, please refine your search.\n\n---\n\n## A title",
        ),
        (
            &list_pull_requests::LISTING,
            "Showing only the first 3 pull requests. There's 2 more, please refine your search.\n\n---\n\nTotal 5 pull requests found.\n\n## A title",
        ),
    ] {
        let text = text(listing, &rows, &[]);
        assert!(text.starts_with(told), "{}", &text[..200]);
        assert!(text.len() <= MOST_BYTES);
        assert_eq!(text.matches("\n## A title").count(), 3);
        assert!(text.ends_with("bb\n\n---"));
    }
}

#[test]
fn results_are_as_ordered() {
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/pull/7\n- Type: pull_request\n\
                    - Repository: pump\n- Created at: 2025-06-18T19:19:08Z\n- Author: anchor\n\
                    - State: merged\n\nA *body*\n\n---";
    let chosen = search::FORM.choose(&[]).unwrap();
    let found =
        Found { hits: vec![hit(), hit()], matches: Matches::Exactly(2), ..Found::default() };
    let answer = search::told("a", &chosen, found, None);
    assert_eq!(answer.page.text, format!("{expected}\n\n{expected}"));
    assert!(answer.notes.is_empty());
}

#[test]
fn each_field_can_be_left_out_of_the_results() {
    let lines = ["URL", "Type", "Repository", "Created at", "Author", "State"];
    let fields = ["url", "type", "repository", "created_at", "author", "state"];
    for (label, left_out) in lines.iter().zip(fields) {
        let others: Vec<String> = search::FORM
            .fields
            .iter()
            .filter(|it| **it != left_out)
            .map(|it| (*it).to_owned())
            .collect();
        let text = results(&others);
        assert!(!text.contains(&format!("- {label}: ")), "{text}");
        assert_eq!(text.matches("\n- ").count(), 5, "{text}");
    }
    assert_eq!(results(&["title".to_owned(), "body".to_owned()]), "## A title\n\nA *body*\n\n---");
}

#[test]
fn no_result_is_told_with_the_query() {
    let chosen = search::FORM.choose(&[]).unwrap();
    let answer = search::told("a \"b\" AND", &chosen, Found::default(), None);
    assert_eq!(answer.page.text, "No results found for \"a \"b\" AND\".");
}

#[test]
fn a_ranking_of_the_newest_alone_is_told() {
    let chosen = search::FORM.choose(&[]).unwrap();
    let found = Found {
        hits: vec![hit()],
        matches: Matches::AtLeast(5_000),
        ranked: Ranked::Newest,
        ..Found::default()
    };
    let result = search::told("the", &chosen, found, None).result();
    let note = "at least 5000 match: only the newest of them were ranked";
    assert_eq!(result.content[1].as_text().unwrap().text, format!("Note: {note}."));
    let facts = result.structured_content.unwrap();
    assert_eq!((&facts["ranked"], &facts["total"]), (&json!(note), &json!(5_000)));
    assert_eq!(facts["total_is_exact"], false);
}

#[test]
fn search_prints_a_closed_discussion_as_open_and_tells_programs_that_it_is_closed() {
    let chosen = search::FORM.choose(&[]).unwrap();
    let closed = Hit { kind: Kind::Discussion, state: "closed".into(), ..hit() };
    let answer = search::told("a", &chosen, Found { hits: vec![closed], ..Found::default() }, None);
    assert!(answer.page.text.contains("\n- State: open\n"), "{}", answer.page.text);
    assert_eq!(answer.items[0]["state"], "closed");
}

#[test]
fn a_filter_that_is_none_is_told() {
    let chosen = search::FORM.choose(&[]).unwrap();
    let found =
        Found { misread: vec!["type:\nbug was taken for words".into()], ..Found::default() };
    let result = search::told("type:\nbug", &chosen, found, None).result();
    let note = result.content[1].as_text().unwrap().text.clone();
    assert_eq!(note, "Note: type: bug was taken for words.");
}

#[test]
fn search_names_the_comment_that_matched() {
    let chosen = search::FORM.choose(&[]).unwrap();
    let said = Said {
        url: "https://github.com/acme/pump/pull/7#c1".into(),
        author: None,
        created_at: time("2025-06-19T00:00:00Z"),
    };
    let snippet = [("the\ntide ", false), ("gauge", true)];
    let snippet = snippet.map(|(text, is_match)| Piece { text: text.into(), is_match });
    let matched = Hit { said: Some(said), snippet: snippet.into(), ..hit() };
    let found = Found { hits: vec![hit(), matched], ..Found::default() };
    let plain = Found { hits: vec![hit(), hit()], ..Found::default() };
    let result = search::told("a", &chosen, found, None).result();
    let text = |number: usize| result.content[number].as_text().unwrap().text.clone();
    assert_eq!(text(0), search::told("a", &chosen, plain, None).page.text, "as prescribed");
    let note = "Result 2 matches in a comment by a deleted account, https://github.com/acme/pump/pull/7#c1: the tide gauge";
    assert_eq!(text(1), note);
    let comment = json!({
        "url": "https://github.com/acme/pump/pull/7#c1", "author": null,
        "created_at": "2025-06-19T00:00:00Z", "snippet": "the tide gauge"
    });
    let facts = result.structured_content.unwrap();
    assert_eq!(facts["items"][1]["comment"], comment);
    assert_eq!(facts["items"][0].get("comment"), None);
}

#[test]
fn search_without_hits_says_which_word_has_none() {
    let chosen = search::FORM.choose(&[]).unwrap();
    let why = "no text contains: frobnicate";
    let result = search::told("frobnicate", &chosen, Found::default(), Some(why)).result();
    let texts: Vec<&str> =
        result.content.iter().map(|block| block.as_text().unwrap().text.as_str()).collect();
    let note = "Note: no text contains: frobnicate.";
    assert_eq!(texts, ["No results found for \"frobnicate\".", note]);
    assert_eq!(result.structured_content.unwrap()["notes"], json!([why]));
}

#[test]
fn search_teaches_its_grammar_by_examples() {
    let tool = serde_json::to_value(search::DEFINITION.tool()).unwrap();
    let examples = tool["inputSchema"]["properties"]["query"]["examples"].to_string();
    for (place, text) in [("examples", examples.as_str()), ("instructions", INSTRUCTIONS)] {
        for part in [
            "* ", " -", " OR ", "repo:", "author:", "type:", "state:", "label:", "created:",
            "updated:",
        ] {
            assert!(text.contains(part), "{place}: {part}");
        }
    }
    assert!(INSTRUCTIONS.contains("\"last reading\"") && examples.contains("last reading"));
    let fields = tool["inputSchema"]["properties"]["fields"].as_object().unwrap();
    assert!(!fields.contains_key("examples"));
}

#[test]
fn results_too_long_for_one_answer_are_left_out_and_told() {
    let chosen = search::FORM.choose(&[]).unwrap();
    let long = Hit { body: "b".repeat(400_000), ..hit() };
    let found = Found { hits: vec![long.clone(), long.clone(), long], ..Found::default() };
    let answer = search::told("a", &chosen, found, None);
    assert_eq!((answer.page.shown, answer.items.len()), (2, 2));
    let told =
        "Note: 1 results are left out, because the text would exceed 990 kB; name fewer `fields`.";
    assert_eq!(answer.notes, [told]);
}

#[test]
fn a_thread_comes_with_what_was_said_in_it() {
    let view = view_of(issue(), vec![comment()]);
    let behind = Behind { fresh_through: Some(Mark(0)), missing: vec![] };
    let answer = get_thread::told(&view, behind);
    let expected = "## A title\n\n- URL: https://github.com/acme/pump/issues/7\n- Type: issue\n\
                    - Repository: acme/pump\n- Created at: 2025-06-18T19:19:08Z\n\
                    - Closed at: 2025-07-01T00:00:00Z\n- Author: anchor\n- State: closed\n- Labels: bug, ui\n\n\
                    A *body*\nof two lines\n\n---\n\n### Review comment\n\n\
                    - URL: https://github.com/acme/pump/issues/7#r1\n- Created at: 2025-06-19T00:00:00Z\n\
                    - Author: gull\n- File: src/a.rs:3\n\nwords\n\n---";
    assert_eq!(answer.page.text, expected);
    let facts = answer.result().structured_content.unwrap();
    assert_eq!(facts["comments_total"], 1);
    assert_eq!(facts["comments"][0]["id"], 1);
    assert_eq!(facts["items"][0]["labels"], json!(["bug", "ui"]));
    assert_eq!(facts["items"][0].get("body"), None);
}

#[test]
fn comments_that_do_not_fit_are_counted() {
    let mut long = comment();
    long.comment.body = "b".repeat(400_000);
    let view = view_of(issue(), vec![long; 4]);
    let answer = get_thread::told(&view, Behind::default());
    assert!(answer.page.text.len() <= MOST_BYTES && answer.page.is_cut);
    assert_eq!(
        answer.notes,
        ["Note: 2 comments are left out, because the text would exceed 990 kB."]
    );
}

#[test]
fn a_body_that_does_not_fit_is_cut_at_a_character_and_told() {
    let mut row = issue();
    row.thread.body = "ü".repeat(600_000);
    let view = view_of(row, vec![comment()]);
    let answer = get_thread::told(&view, Behind::default());
    let text = &answer.page.text;
    assert!((MOST_BYTES - 4..=MOST_BYTES).contains(&text.len()) && answer.page.is_cut);
    assert!(text.starts_with("## A title\n\n- URL: ") && text.ends_with("üü\n\n---"));
    assert_eq!(
        answer.notes,
        [
            "Note: only the beginning of the body is shown, because the text would exceed 990 kB.",
            "Note: 1 comments are left out, because the text would exceed 990 kB."
        ]
    );
}

#[test]
fn comments_for_programs_leave_room_for_the_text() {
    let view = view_of(issue(), vec![comment(); 4_000]);
    let facts = get_thread::told(&view, Behind::default()).result();
    let text = facts.content[0].as_text().unwrap().text.len();
    let comments = &facts.structured_content.unwrap()["comments"];
    let count = comments.as_array().unwrap().len();
    assert!((1..4_000).contains(&count), "{count} of them");
    assert!(text + comments.to_string().len() <= MOST_BYTES + count + 2);
}

/// What a list says of these rows.
fn text(listing: &'static Listing, rows: &[ThreadRow], fields: &[&str]) -> String {
    let fields: Vec<String> = fields.iter().map(|it| (*it).to_owned()).collect();
    let chosen = listing.form.choose(&fields).unwrap();
    let mut sheet = Sheet::default();
    let _fits = rows.iter().all(|row| sheet.add(&chosen.entry(&|name| value(row, name))));
    sheet.page(&listing.words, rows.len() as u64, rows.len() as u64).text
}

fn results(fields: &[String]) -> String {
    let chosen = search::FORM.choose(fields).unwrap();
    search::told("a", &chosen, Found { hits: vec![hit()], ..Found::default() }, None).page.text
}

fn view_of(row: ThreadRow, comments: Vec<CommentRow>) -> ThreadView {
    ThreadView { owner: "acme".into(), row, comments, skipped: SkippedRows::default() }
}

fn issue() -> ThreadRow {
    row(Sort::Issue)
}

fn discussion() -> ThreadRow {
    row(Sort::Discussion(Discussion { category: "Q&A".into(), is_answered: None }))
}

fn pull_request() -> ThreadRow {
    let merged_at = Some(time("2025-06-30T00:00:00Z"));
    let head_ref = "topic".to_owned();
    row(Sort::PullRequest(PullRequest { is_draft: false, merged_at, head_ref, closes: vec![] }))
}

fn row(sort: Sort) -> ThreadRow {
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
        created_at: time("2025-06-18T19:19:08Z"),
        updated_at: time("2025-07-01T00:00:00Z"),
        closed_at: Some(time("2025-07-01T00:00:00Z")),
        sort,
    };
    ThreadRow { host: "github.com".into(), repository: "pump".into(), thread }
}

fn comment() -> CommentRow {
    let comment = Comment {
        kind: Kind::ReviewComment,
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
        created_at: time("2025-06-19T00:00:00Z"),
        updated_at: time("2025-06-19T00:00:00Z"),
    };
    CommentRow { host: "github.com".into(), repository: "pump".into(), comment }
}

fn hit() -> Hit {
    Hit {
        kind: Kind::PullRequest,
        id: 70,
        host: "github.com".into(),
        owner: "acme".into(),
        repository: "pump".into(),
        number: 7,
        title: "A title".into(),
        url: "https://github.com/acme/pump/pull/7".into(),
        author: Some("anchor".into()),
        created_at: time("2025-06-18T19:19:08Z"),
        updated_at: time("2025-06-18T19:19:08Z"),
        state: "merged".into(),
        labels: vec![],
        body: "A *body*".into(),
        said: None,
        marked_title: vec![],
        snippet: vec![],
    }
}

fn time(text: &str) -> SourceTime {
    SourceTime::parse(text).unwrap()
}
