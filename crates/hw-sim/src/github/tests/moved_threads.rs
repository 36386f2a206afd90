//! Tests of issues that become discussions, and of threads that reach the lists late.

use super::*;
use crate::TrueThread;
use crate::world::CommentKind;

const NODE: &str = "query($id: ID!) { node(id: $id) { __typename id } }";
const COMMENTS: &str = "query($id: ID!) { node(id: $id) { ... on Discussion {
    comments(first: 9) { nodes { body createdAt author { login } } } } } }";
const COUNTS: &str = "{ repository(owner: \"acme\", name: \"pump\") {
    issues(first: 100) { totalCount nodes { id } } discussions(first: 100) { totalCount } } }";

#[test]
fn converted_issue_is_a_discussion_only() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { id, node_id: node, .. } = first_issue(&github);
    let now = github.now_ms + 60_000;
    github.world_mut().add_comment(ThreadKind::Issue, id, "said before", now - 5_000);
    let before = github.world().truth();
    let old = &before.threads[&(ThreadKind::Issue, id)];
    let discussion = github.world_mut().convert_to_discussion(id, now);
    let after = github.world().truth();
    let new = &after.threads[&(ThreadKind::Discussion, discussion)];

    assert!(!after.threads.contains_key(&(ThreadKind::Issue, id)));
    assert_eq!(after.threads.len(), before.threads.len());
    assert_eq!((&old.title, &old.body, &old.author), (&new.title, &new.body, &new.author));
    assert_eq!((&old.labels, &old.created_at), (&new.labels, &new.created_at));
    assert!(new.number != old.number && old.updated_at < new.updated_at, "{new:?}");

    let read = post_query_at(&mut github, NODE, json!({ "id": node }), now);
    assert_eq!(read["errors"][0]["type"], "NOT_FOUND", "{read}");
    let read = post_query_at(&mut github, NODE, json!({ "id": new.node_id }), now);
    assert_eq!(read["data"]["node"]["__typename"], "Discussion");
    let counts = post_query_at(&mut github, COUNTS, json!({}), now)["data"]["repository"].take();
    for (list, kind) in [("issues", ThreadKind::Issue), ("discussions", ThreadKind::Discussion)] {
        let threads = after.threads_of_kind(kind);
        let expected = threads.filter(|thread| thread.repository == "pump").count();
        assert_eq!(counts[list]["totalCount"], expected, "{list}");
    }
}

#[test]
fn converted_issue_takes_its_comments_along() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let id = first_issue(&github).id;
    let now = github.now_ms + 60_000;
    github.world_mut().add_comment(ThreadKind::Issue, id, "said before", now - 5_000);
    let before = github.world().truth();
    let issue_comments: Vec<_> = before
        .comments
        .values()
        .filter(|comment| (comment.thread_kind, comment.thread_id) == (ThreadKind::Issue, id))
        .collect();
    let discussion = github.world_mut().convert_to_discussion(id, now);
    let after = github.world().truth();
    let node = after.threads[&(ThreadKind::Discussion, discussion)].node_id.clone();
    let read =
        post_query_at(&mut github, COMMENTS, json!({ "id": node }), now)["data"]["node"].take();
    let expected = issue_comments.iter().map(|comment| {
        json!({ "body": comment.body, "createdAt": comment.created_at,
                "author": comment.author.as_ref().map(|login| json!({ "login": login })) })
    });
    assert_eq!(read["comments"]["nodes"], expected.collect::<Value>());
    let moved = after.comments.values().filter(|comment| comment.thread_id == discussion);
    assert!(moved.clone().all(|comment| comment.kind == CommentKind::Discussion));
    assert_eq!(moved.count(), issue_comments.len());
    assert_eq!(after.comments.len(), before.comments.len(), "none is left behind");
}

#[test]
fn converted_issue_is_gone_in_rest() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { id, number, .. } = first_issue(&github);
    let now = github.now_ms;
    github.world_mut().convert_to_discussion(id, now);
    assert_eq!(send_get(&mut github, &format!("/repos/acme/pump/issues/{number}")).status, 410);
}

#[test]
fn delayed_issue_is_found_by_id_but_in_no_list_until_its_time() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let repository = first_issue(&github).repository_id;
    let (now, until) = (github.now_ms, github.now_ms + 600_000);
    let counts = post_query_at(&mut github, COUNTS, json!({}), now)["data"]["repository"].take();
    let late = github.world_mut().create_issue(repository, "late", "b", now);
    github.world_mut().delay_listing(ThreadKind::Issue, late, until);
    let issue = github.world().truth().threads[&(ThreadKind::Issue, late)].clone();
    let node = json!({ "id": issue.node_id });
    assert_eq!(post_query_at(&mut github, COUNTS, json!({}), now)["data"]["repository"], counts);
    assert_eq!(
        post_query_at(&mut github, NODE, node.clone(), now)["data"]["node"],
        json!({ "__typename": "Issue", "id": issue.node_id })
    );
    github.world_mut().edit_issue(late, None, Some("an edit shows it no earlier"), now + 1_000);
    assert_eq!(
        post_query_at(&mut github, COUNTS, json!({}), until - 1)["data"]["repository"],
        counts
    );
    let listed =
        post_query_at(&mut github, COUNTS, json!({}), until)["data"]["repository"]["issues"].take();
    assert_eq!(listed["totalCount"], counts["issues"]["totalCount"].as_i64().unwrap() + 1);
    assert!(listed["nodes"].as_array().unwrap().contains(&node));
}
