//! Promises of the REST side.

use serde_json::{Value, json};

use super::*;
use crate::github::tests::{header, parts, response};
use crate::spec::WorldSpec;

#[test]
fn issues_contain_pull_requests_under_another_id() {
    let mut github = github();
    let (_, _, list) = get(&mut github, "/repos/acme/pump/issues?state=all&per_page=100");
    let truth = github.world().truth();
    let pulls: Vec<&Value> =
        list.as_array().unwrap().iter().filter(|it| it.get("pull_request").is_some()).collect();
    assert_eq!((list.as_array().unwrap().len(), pulls.len()), (9, 3));
    for pull in pulls {
        let number = pull["number"].as_i64().unwrap();
        let same = |it: &&crate::TrueThread| it.repository == "pump" && it.number == number;
        let told = truth.of_kind(ThreadKind::PullRequest).find(same).unwrap();
        assert_eq!(pull["node_id"], told.node_id);
        assert_ne!(pull["id"], told.id);
    }
}

#[test]
fn an_unchanged_page_is_a_304_that_costs_nothing() {
    let mut github = github();
    let (status, head, _) = get(&mut github, "/repos/acme/pump/issues");
    let etag = header(&head, "etag").unwrap();
    assert!(status == 200 && etag.starts_with("W/"));
    let extra = format!("If-None-Match: {etag}\r\n");
    let (status, head, _) = ask(&mut github, "GET", "/repos/acme/pump/issues", &extra, "");
    assert_eq!((status, header(&head, "x-ratelimit-used").as_deref()), (304, Some("1")));
    assert_eq!(github.requests().not_modified, 1);
    let id = issue(&github).0;
    let now = github.now_ms;
    github.world_mut().edit_issue(id, Some("other"), None, now);
    github.world_mut().reopen_issue(id, now);
    assert_eq!(ask(&mut github, "GET", "/repos/acme/pump/issues", &extra, "").0, 200);
}

#[test]
fn following_next_reads_every_comment_once_in_the_order_of_ids() {
    let mut github = github();
    let (id, number) = issue(&github);
    let now = github.now_ms;
    for text in ["a", "b", "c", "d", "e"] {
        github.world_mut().add_comment(ThreadKind::Issue, id, text, now);
    }
    let mut target = format!("/repos/acme/pump/issues/{number}/comments?per_page=2");
    let mut ids = Vec::new();
    loop {
        let (_, head, page) = get(&mut github, &target);
        ids.extend(page.as_array().unwrap().iter().map(|it| it["id"].as_i64().unwrap()));
        let Some(next) = header(&head, "link").and_then(|link| next_of(&link)) else { break };
        target = next.trim_start_matches("https://api.github.com").to_owned();
    }
    let truth = github.world().truth();
    let told = truth
        .comments
        .values()
        .filter(|it| it.thread_kind == ThreadKind::Issue && it.thread_id == id);
    assert_eq!(ids, told.map(|it| it.id).collect::<Vec<_>>());
    assert!(5 <= ids.len());
}

#[test]
fn since_is_at_or_after_but_the_epoch_lists_no_issue() {
    let mut github = github();
    let (id, _) = issue(&github);
    let now = github.now_ms + 5_500;
    github.world_mut().edit_issue(id, Some("late"), None, now);
    let since = crate::times::rfc3339(now);
    let target = format!("/repos/acme/pump/issues?state=all&since={since}");
    assert_eq!(get_at(&mut github, &target, now).2.as_array().unwrap().len(), 1);
    let epoch = "/repos/acme/pump/issues?state=all&since=1970-01-01T00:00:00Z";
    assert_eq!(get(&mut github, epoch).2, json!([]));
}

#[test]
fn gone_moved_and_unknown_are_told_apart() {
    let mut github = github();
    let (id, number) = issue(&github);
    let other = *github.world().truth().repositories.keys().last().unwrap();
    let now = github.now_ms;
    let moved = github.world_mut().transfer_issue(id, other, now);
    let target = format!("/repos/acme/pump/issues/{number}");
    let (status, head, _) = get(&mut github, &target);
    let to = github.world().truth().threads[&(ThreadKind::Issue, moved)].number;
    let place = format!("https://api.github.com/repositories/{other}/issues/{to}");
    assert_eq!((status, header(&head, "location")), (301, Some(place)));
    github.world_mut().delete_issue(moved, now);
    assert_eq!(get(&mut github, &target).0, 410);
    assert_eq!(get(&mut github, "/repos/acme/pump/issues/999").0, 404);
}

#[test]
fn a_renamed_repository_redirects_to_its_id() {
    let mut github = github();
    let id = *github.world().truth().repositories.keys().next().unwrap();
    let now = github.now_ms;
    github.world_mut().rename_repository(id, "engine", now);
    let (status, head, _) = get(&mut github, "/repos/acme/pump/issues?state=all");
    let place = header(&head, "location").unwrap();
    assert_eq!(
        (status, &*place),
        (301, &*format!("https://api.github.com/repositories/{id}/issues?state=all"))
    );
    let target = place.trim_start_matches("https://api.github.com").to_owned();
    assert_eq!(get(&mut github, &target).2.as_array().unwrap().len(), 9);
}

#[test]
fn deep_pages_are_refused() {
    let mut github = github();
    assert_eq!(get(&mut github, "/repos/acme/pump/issues?per_page=100&page=101").0, 422);
    assert_eq!(get(&mut github, "/repos/acme/pump/issues/comments?per_page=100&page=301").0, 422);
}

#[test]
fn a_posted_comment_is_there_and_moves_its_thread() {
    let mut github = github();
    let (id, number) = issue(&github);
    let target = format!("/repos/acme/pump/issues/{number}/comments");
    let (status, _, made) = ask(&mut github, "POST", &target, "", r#"{"body":"hello"}"#);
    assert_eq!(
        (status, &made["body"], &made["user"]["login"]),
        (201, &json!("hello"), &json!("anchor"))
    );
    let truth = github.world().truth();
    let key = (crate::CommentKind::Conversation, made["id"].as_i64().unwrap());
    assert_eq!(truth.comments[&key].thread_id, id);
    assert_eq!(
        truth.threads[&(ThreadKind::Issue, id)].updated_at,
        crate::times::rfc3339(github.now_ms)
    );
}

#[test]
fn asking_for_the_limits_costs_nothing() {
    let mut github = github();
    get(&mut github, "/user");
    let (_, _, limits) = get(&mut github, "/rate_limit");
    assert_eq!(limits["resources"]["core"]["used"], 1);
    assert_eq!(limits["resources"]["graphql"]["remaining"], 5000);
}

#[test]
fn every_list_answers_with_the_truth() {
    let mut github = github();
    let truth = github.world().truth();
    let pull = truth.of_kind(ThreadKind::PullRequest).find(|it| it.repository == "pump").unwrap();
    let number = pull.number;
    for (target, kind) in [
        (
            format!("/repos/acme/pump/pulls/{number}/reviews?per_page=100"),
            crate::CommentKind::Review,
        ),
        (
            format!("/repos/acme/pump/pulls/{number}/comments?per_page=100"),
            crate::CommentKind::ReviewComment,
        ),
        (
            format!("/repos/acme/pump/issues/{number}/comments?per_page=100"),
            crate::CommentKind::Conversation,
        ),
    ] {
        let told = truth.comments.values().filter(|it| {
            it.kind == kind && it.thread_kind == ThreadKind::PullRequest && it.thread_id == pull.id
        });
        let bodies: Vec<&str> = told.map(|it| &*it.body).collect();
        let (_, _, page) = get(&mut github, &target);
        let read: Vec<&str> =
            page.as_array().unwrap().iter().map(|it| it["body"].as_str().unwrap()).collect();
        assert_eq!(read, bodies, "{target}");
    }
}

fn github() -> GitHub {
    GitHub::new(&WorldSpec { comments_per_thread: 4, ..WorldSpec::small() }, 2)
}

fn issue(github: &GitHub) -> (i64, i64) {
    let truth = github.world().truth();
    let issue = truth.of_kind(ThreadKind::Issue).find(|issue| issue.repository == "pump").unwrap();
    (issue.id, issue.number)
}

fn get(github: &mut GitHub, target: &str) -> (u16, String, Value) {
    ask(github, "GET", target, "", "")
}

fn get_at(github: &mut GitHub, target: &str, now_ms: i64) -> (u16, String, Value) {
    github.advance(now_ms);
    get(github, target)
}

fn ask(
    github: &mut GitHub,
    method: &str,
    target: &str,
    extra: &str,
    body: &str,
) -> (u16, String, Value) {
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: api.github.com\r\nAuthorization: Bearer t\r\n\
         User-Agent: test\r\n{extra}Content-Length: {length}\r\n\r\n{body}"
    );
    let now = github.now_ms;
    parts(&response(github.handle(request.as_bytes(), now)))
}

fn next_of(link: &str) -> Option<String> {
    let next = link.split(", ").find(|part| part.ends_with("rel=\"next\""))?;
    Some(next.split(['<', '>']).nth(1)?.to_owned())
}
