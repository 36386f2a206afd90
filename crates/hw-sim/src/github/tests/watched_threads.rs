//! Tests of what a reader of single threads asks for.

use super::*;
use crate::TrueThread;
use crate::world::CommentKind;

#[test]
fn issue_or_pull_request_is_found_by_its_number() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    for kind in ThreadKind::ALL {
        let TrueThread { number, node_id, .. } = first_thread(&github, kind);
        let read = post_query(&mut github, BY_NUMBER, json!({ "number": number }));
        let found = &read["data"]["repository"]["issueOrPullRequest"];
        if kind == ThreadKind::Discussion {
            assert_eq!((found, &read["errors"][0]["type"]), (&Value::Null, &json!("NOT_FOUND")));
            assert_eq!(
                read["errors"][0]["path"],
                json!(["repository", "issueOrPullRequest"]),
                "{read}"
            );
        } else {
            assert_eq!(*found, json!({ "__typename": kind.type_name(), "id": node_id }));
        }
    }
}

#[test]
fn review_threads_group_the_comments_on_a_line() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { id: pull, node_id, .. } = first_thread(&github, ThreadKind::PullRequest);
    let now = github.now_ms;
    let world = github.world_mut();
    let review = world.add_review(pull, "see below", now);
    let first = world.add_review_comment(review, "first line", now);
    let second = world.add_review_comment(review, "second line", now);
    let reply = world.add_review_reply(first, "a reply", now);
    world.add_review_reply(reply, "a reply to the reply", now);
    let truth = world.truth();
    let reply_to = |id| truth.comments[&(CommentKind::ReviewComment, id)].reply_to_id;
    assert_eq!((reply_to(first), reply_to(reply)), (None, Some(first)));

    let threads = review_threads(&mut github, &node_id);
    let found = find_thread(&threads, "first line");
    assert_eq!(comment_bodies(found), ["first line", "a reply", "a reply to the reply"]);
    assert_eq!(comment_bodies(find_thread(&threads, "second line")), ["second line"]);
    let answered = &found["comments"]["nodes"][2]["replyTo"]["fullDatabaseId"];
    assert_eq!(*answered, json!(first.to_string()), "a reply answers the first comment");

    github.world_mut().delete_comment(CommentKind::ReviewComment, first, now);
    github.world_mut().delete_comment(CommentKind::ReviewComment, second, now);
    let id = find_thread(&threads, "first line")["id"].clone();
    let threads = review_threads(&mut github, &node_id);
    assert_eq!(comment_bodies(find_thread(&threads, "a reply")).len(), 2);
    let node = post_query(&mut github, REVIEW_THREAD, json!({ "id": id }));
    assert_eq!(node["data"]["node"]["comments"]["totalCount"], 2, "{node}");
}

#[test]
fn review_threads_of_a_pull_request_cost_one_point() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { node_id, .. } = first_thread(&github, ThreadKind::PullRequest);
    let nested = "query($id: ID!) { rateLimit { cost } node(id: $id) { ... on PullRequest {
        comments(first: 100) { nodes { body } } reviews(first: 100) { nodes { body } }
        reviewThreads(first: 50) { nodes { comments(first: 100) { nodes { body } } } } } } }";
    let read = post_query(&mut github, nested, json!({ "id": node_id }));
    assert_eq!(read["data"]["rateLimit"]["cost"], 1);
    let wider = nested.replace("first: 50", "first: 100").replace(
        "reviews(first: 100) { nodes { body } }",
        "reviews(first: 100) { nodes { comments(first: 9) { nodes { body } } } }",
    );
    let read = post_query(&mut github, &wider, json!({ "id": node_id }));
    assert_eq!(read["data"]["rateLimit"]["cost"], 2, "{read}");
}

#[test]
fn issue_names_the_pull_requests_that_would_close_it() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let issue = first_thread(&github, ThreadKind::Issue);
    let TrueThread { id: pull, number, .. } = first_thread(&github, ThreadKind::PullRequest);
    let now = github.now_ms;
    github.world_mut().reopen_thread(ThreadKind::PullRequest, pull, now);
    github.world_mut().link_closed_issues(pull, &[issue.number], now);
    let named = closing_pulls(&mut github, &issue);
    assert!(named.contains(&number), "{named:?}");
    github.world_mut().merge_pull_request(pull, now);
    assert!(!closing_pulls(&mut github, &issue).contains(&number), "a closed one is left out");
}

const BY_NUMBER: &str = "query($number: Int!) { repository(owner: \"acme\", name: \"pump\") {
    issueOrPullRequest(number: $number) { __typename
        ... on Issue { id } ... on PullRequest { id } } } }";
const REVIEW_THREADS: &str = "query($id: ID!) { node(id: $id) { ... on PullRequest {
    reviewThreads(first: 100) { nodes { id path comments(first: 100) {
        nodes { body replyTo { fullDatabaseId } } } } } } } }";
const REVIEW_THREAD: &str = "query($id: ID!) { node(id: $id) { ... on PullRequestReviewThread {
    comments(first: 100) { totalCount } } } }";
const CLOSED_BY: &str = "query($id: ID!) { node(id: $id) { ... on Issue {
    closedByPullRequestsReferences(first: 100) { nodes { number } } } } }";

fn first_thread(github: &SimulatedGitHub, kind: ThreadKind) -> TrueThread {
    let truth = github.world().truth();
    let mut threads = truth.threads_of_kind(kind);
    threads.find(|thread| thread.repository == "pump").unwrap().clone()
}

fn review_threads(github: &mut SimulatedGitHub, pull: &str) -> Value {
    let mut read = post_query(github, REVIEW_THREADS, json!({ "id": pull }));
    assert!(read.get("errors").is_none(), "{read}");
    read["data"]["node"]["reviewThreads"]["nodes"].take()
}

fn find_thread<'v>(threads: &'v Value, first: &str) -> &'v Value {
    let mut threads = threads.as_array().unwrap().iter();
    threads.find(|thread| thread["comments"]["nodes"][0]["body"] == first).unwrap()
}

fn comment_bodies(thread: &Value) -> Vec<&str> {
    let comments = thread["comments"]["nodes"].as_array().unwrap();
    comments.iter().map(|comment| comment["body"].as_str().unwrap()).collect()
}

fn closing_pulls(github: &mut SimulatedGitHub, issue: &TrueThread) -> Vec<i64> {
    let read = post_query(github, CLOSED_BY, json!({ "id": issue.node_id }));
    let nodes = read["data"]["node"]["closedByPullRequestsReferences"]["nodes"].as_array().unwrap();
    nodes.iter().map(|pull| pull["number"].as_i64().unwrap()).collect()
}
