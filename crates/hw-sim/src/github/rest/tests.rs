//! Tests of the REST API.

use serde_json::{Value, json};

use super::*;
use crate::github::tests::{ParsedResponse, expect_response, parse_response, send_get};
use crate::world_spec::WorldSpec;
use crate::{CommentKind, TrueThread};

#[test]
fn rest_issues_contain_pull_requests_under_another_id() {
    let mut github = build_github();
    let list = send_get(&mut github, "/repos/acme/pump/issues?state=all&per_page=100").body;
    let truth = github.world().truth();
    let rows = list.as_array().unwrap();
    let pulls: Vec<&Value> = rows.iter().filter(|row| row.get("pull_request").is_some()).collect();
    assert_eq!((rows.len(), pulls.len()), (9, 3));
    for pull in pulls {
        let number = pull["number"].as_i64().unwrap();
        let expected = truth
            .threads_of_kind(ThreadKind::PullRequest)
            .find(|thread| thread.repository == "pump" && thread.number == number)
            .unwrap();
        assert_eq!(pull["node_id"], expected.node_id);
        assert_ne!(pull["id"], expected.id);
    }
}

#[test]
fn rest_page_that_is_unchanged_is_a_304_and_costs_nothing() {
    let mut github = build_github();
    let first = send_get(&mut github, "/repos/acme/pump/issues");
    let etag = first.header("etag").unwrap();
    assert!(first.status == 200 && etag.starts_with("W/"));
    let extra = format!("If-None-Match: {etag}\r\n");
    let second = send_request(&mut github, "GET", "/repos/acme/pump/issues", &extra, "");
    assert_eq!((second.status, second.header("x-ratelimit-used")), (304, Some("1")));
    assert_eq!(github.request_log().not_modified, 1);
    let id = pump_issue(&github).id;
    let now = github.now_ms;
    github.world_mut().edit_issue(id, Some("other"), None, now);
    github.world_mut().reopen_issue(id, now);
    let third = send_request(&mut github, "GET", "/repos/acme/pump/issues", &extra, "");
    assert_eq!(third.status, 200);
}

#[test]
fn rest_links_lead_to_every_comment_once_in_the_order_of_ids() {
    let mut github = build_github();
    let TrueThread { id, number, .. } = pump_issue(&github);
    let now = github.now_ms;
    for text in ["a", "b", "c", "d", "e"] {
        github.world_mut().add_comment(ThreadKind::Issue, id, text, now);
    }
    let mut target = format!("/repos/acme/pump/issues/{number}/comments?per_page=2");
    let mut ids = Vec::new();
    loop {
        let page = send_get(&mut github, &target);
        ids.extend(page.body.as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()));
        let Some(next) = page.header("link").and_then(next_link) else { break };
        target = next.trim_start_matches("https://api.github.com").to_owned();
    }
    let truth = github.world().truth();
    let expected: Vec<i64> = truth
        .comments
        .values()
        .filter(|comment| comment.thread_kind == ThreadKind::Issue && comment.thread_id == id)
        .map(|comment| comment.id)
        .collect();
    assert_eq!(ids, expected);
    assert!(ids.len() >= 5);
}

#[test]
fn rest_since_is_at_or_after_but_the_epoch_lists_no_issue() {
    let mut github = build_github();
    let id = pump_issue(&github).id;
    let now = github.now_ms + 5_500;
    github.world_mut().edit_issue(id, Some("late"), None, now);
    let since = crate::timestamps::format_rfc3339(now);
    let target = format!("/repos/acme/pump/issues?state=all&since={since}");
    github.advance_to(now);
    assert_eq!(send_get(&mut github, &target).body.as_array().unwrap().len(), 1);
    let epoch = "/repos/acme/pump/issues?state=all&since=1970-01-01T00:00:00Z";
    assert_eq!(send_get(&mut github, epoch).body, json!([]));
}

#[test]
fn rest_distinguishes_deleted_moved_and_unknown_issues() {
    let mut github = build_github();
    let TrueThread { id, number, .. } = pump_issue(&github);
    let other = *github.world().truth().repositories.keys().last().unwrap();
    let now = github.now_ms;
    let moved = github.world_mut().transfer_issue(id, other, now);
    let target = format!("/repos/acme/pump/issues/{number}");
    let redirect = send_get(&mut github, &target);
    let to = github.world().truth().threads[&(ThreadKind::Issue, moved)].number;
    let location = format!("https://api.github.com/repositories/{other}/issues/{to}");
    assert_eq!((redirect.status, redirect.header("location")), (301, Some(&*location)));
    github.world_mut().delete_issue(moved, now);
    assert_eq!(send_get(&mut github, &target).status, 410);
    assert_eq!(send_get(&mut github, "/repos/acme/pump/issues/999").status, 404);
}

#[test]
fn rest_redirects_a_renamed_repository_to_its_id() {
    let mut github = build_github();
    let id = *github.world().truth().repositories.keys().next().unwrap();
    let now = github.now_ms;
    github.world_mut().rename_repository(id, "engine", now);
    let redirect = send_get(&mut github, "/repos/acme/pump/issues?state=all");
    let location = format!("https://api.github.com/repositories/{id}/issues?state=all");
    assert_eq!((redirect.status, redirect.header("location")), (301, Some(&*location)));
    let target = location.trim_start_matches("https://api.github.com");
    assert_eq!(send_get(&mut github, target).body.as_array().unwrap().len(), 9);
}

#[test]
fn rest_refuses_deep_pages() {
    let mut github = build_github();
    for target in [
        "/repos/acme/pump/issues?per_page=100&page=101",
        "/repos/acme/pump/issues/comments?per_page=100&page=301",
    ] {
        assert_eq!(send_get(&mut github, target).status, 422, "{target}");
    }
}

#[test]
fn rest_post_creates_a_comment_and_touches_its_thread() {
    let mut github = build_github();
    let TrueThread { id, number, .. } = pump_issue(&github);
    let target = format!("/repos/acme/pump/issues/{number}/comments");
    let created = send_request(&mut github, "POST", &target, "", r#"{"body":"hello"}"#);
    let comment = created.body;
    assert_eq!(
        (created.status, &comment["body"], &comment["user"]["login"]),
        (201, &json!("hello"), &json!("anchor"))
    );
    let truth = github.world().truth();
    let key = (CommentKind::Conversation, comment["id"].as_i64().unwrap());
    assert_eq!(truth.comments[&key].thread_id, id);
    assert_eq!(
        truth.threads[&(ThreadKind::Issue, id)].updated_at,
        crate::timestamps::format_rfc3339(github.now_ms)
    );
}

#[test]
fn rest_rate_limit_request_costs_nothing() {
    let mut github = build_github();
    send_get(&mut github, "/user");
    let limits = send_get(&mut github, "/rate_limit").body;
    assert_eq!(limits["resources"]["core"]["used"], 1);
    assert_eq!(limits["resources"]["graphql"]["remaining"], 5000);
}

#[test]
fn rest_comment_lists_match_the_truth() {
    let mut github = build_github();
    let truth = github.world().truth();
    let mut pulls = truth.threads_of_kind(ThreadKind::PullRequest);
    let pull = pulls.find(|pull| pull.repository == "pump").unwrap();
    for (list, kind) in [
        (format!("pulls/{}/reviews", pull.number), CommentKind::Review),
        (format!("pulls/{}/comments", pull.number), CommentKind::ReviewComment),
        (format!("issues/{}/comments", pull.number), CommentKind::Conversation),
    ] {
        let expected: Vec<_> = truth
            .comments
            .values()
            .filter(|comment| {
                comment.kind == kind
                    && comment.thread_kind == ThreadKind::PullRequest
                    && comment.thread_id == pull.id
            })
            .map(|comment| {
                let author_type = comment.author_type.as_deref();
                (&*comment.body, author_type, &*comment.author_association)
            })
            .collect();
        let page = send_get(&mut github, &format!("/repos/acme/pump/{list}?per_page=100")).body;
        let rows: Vec<_> = page.as_array().unwrap().iter().map(comment_fields).collect();
        assert_eq!(rows, expected, "{list}");
    }
}

/// Returns the body of a comment, and what it reveals of its author.
fn comment_fields(row: &Value) -> (&str, Option<&str>, &str) {
    let (body, association) = (&row["body"], &row["author_association"]);
    (body.as_str().unwrap(), row["user"]["type"].as_str(), association.as_str().unwrap())
}

fn build_github() -> SimulatedGitHub {
    SimulatedGitHub::new(&WorldSpec { comments_per_thread: 4, ..WorldSpec::small() }, 2)
}

fn pump_issue(github: &SimulatedGitHub) -> TrueThread {
    let truth = github.world().truth();
    let mut issues = truth.threads_of_kind(ThreadKind::Issue);
    issues.find(|issue| issue.repository == "pump").unwrap().clone()
}

fn send_request(
    github: &mut SimulatedGitHub,
    method: &str,
    target: &str,
    extra: &str,
    body: &str,
) -> ParsedResponse {
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: api.github.com\r\nAuthorization: Bearer t\r\n\
         User-Agent: test\r\n{extra}Content-Length: {length}\r\n\r\n{body}"
    );
    let now = github.now_ms;
    parse_response(&expect_response(github.handle_request(request.as_bytes(), now)))
}

fn next_link(link: &str) -> Option<String> {
    let next = link.split(", ").find(|part| part.ends_with("rel=\"next\""))?;
    Some(next.split(['<', '>']).nth(1)?.to_owned())
}
