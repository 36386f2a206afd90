//! Promises of threads that become something else, and of threads that lists are late with.

use super::*;
use crate::world::CommentKind;

const NODE: &str = "query($id: ID!) { node(id: $id) { __typename id } }";
const TALK: &str = "query($id: ID!) { node(id: $id) { ... on Discussion {
    comments(first: 9) { nodes { body createdAt author { login } } } } } }";
const COUNTS: &str = "{ repository(owner: \"acme\", name: \"pump\") {
    issues(first: 100) { totalCount nodes { id } } discussions(first: 100) { totalCount } } }";

#[test]
fn an_issue_that_became_a_discussion_is_no_issue_any_more() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, node) = first_issue(&github);
    let now = github.now_ms + 60_000;
    github.world_mut().add_comment(ThreadKind::Issue, id, "said before", now - 5_000);
    let before = github.world().truth();
    let old = &before.threads[&(ThreadKind::Issue, id)];
    let talk = github.world_mut().convert_to_discussion(id, now);
    let after = github.world().truth();
    let new = &after.threads[&(ThreadKind::Discussion, talk)];

    assert!(!after.threads.contains_key(&(ThreadKind::Issue, id)));
    assert_eq!(after.threads.len(), before.threads.len());
    let same = |it: &crate::TrueThread| {
        (
            it.title.clone(),
            it.body.clone(),
            it.author.clone(),
            it.labels.clone(),
            it.created_at.clone(),
        )
    };
    assert_eq!(same(old), same(new));
    assert!(new.number != old.number && old.updated_at < new.updated_at, "{new:?}");

    let read = at(&mut github, NODE, json!({ "id": node }), now);
    assert_eq!(read["errors"][0]["type"], "NOT_FOUND", "{read}");
    let read = at(&mut github, NODE, json!({ "id": new.node_id }), now);
    assert_eq!(read["data"]["node"]["__typename"], "Discussion");
    let counts = at(&mut github, COUNTS, json!({}), now)["data"]["repository"].take();
    let held = |kind| after.of_kind(kind).filter(|it| it.repository == "pump").count();
    assert_eq!(counts["issues"]["totalCount"], held(ThreadKind::Issue));
    assert_eq!(counts["discussions"]["totalCount"], held(ThreadKind::Discussion));
}

#[test]
fn what_was_said_below_it_is_said_below_the_discussion() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, _) = first_issue(&github);
    let now = github.now_ms + 60_000;
    github.world_mut().add_comment(ThreadKind::Issue, id, "said before", now - 5_000);
    let before = github.world().truth();
    let said: Vec<_> = before
        .comments
        .values()
        .filter(|it| (it.thread_kind, it.thread_id) == (ThreadKind::Issue, id))
        .collect();
    let talk = github.world_mut().convert_to_discussion(id, now);
    let after = github.world().truth();
    let node = after.threads[&(ThreadKind::Discussion, talk)].node_id.clone();
    let read = at(&mut github, TALK, json!({ "id": node }), now)["data"]["node"].take();
    let told = said.iter().map(|it| {
        json!({ "body": it.body, "createdAt": it.created_at,
                "author": it.author.as_ref().map(|login| json!({ "login": login })) })
    });
    assert_eq!(read["comments"]["nodes"], told.collect::<Value>());
    let now_said = after.comments.values().filter(|it| it.thread_id == talk);
    assert!(now_said.clone().all(|it| it.kind == CommentKind::Discussion));
    assert_eq!(now_said.count(), said.len());
    assert_eq!(after.comments.len(), before.comments.len(), "none is left behind");
}

#[test]
fn rest_calls_a_converted_issue_gone() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, _) = first_issue(&github);
    let number = github.world().truth().threads[&(ThreadKind::Issue, id)].number;
    let now = github.now_ms;
    github.world_mut().convert_to_discussion(id, now);
    let request = format!(
        "GET /repos/acme/pump/issues/{number} HTTP/1.1\r\nHost: api.github.com\r\n\
         Authorization: Bearer t\r\nUser-Agent: test\r\n\r\n"
    );
    assert_eq!(parts(&response(github.handle(request.as_bytes(), now))).0, 410);
}

#[test]
fn a_late_issue_answers_by_its_id_and_is_in_no_list_until_then() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (first, _) = first_issue(&github);
    let before = github.world().truth();
    let home = before.threads[&(ThreadKind::Issue, first)].repository_id;
    let (now, until) = (github.now_ms, github.now_ms + 600_000);
    let shown = at(&mut github, COUNTS, json!({}), now)["data"]["repository"].take();
    let late = github.world_mut().create_issue(home, "late", "b", now);
    github.world_mut().show_late(ThreadKind::Issue, late, until);
    let told = github.world().truth().threads[&(ThreadKind::Issue, late)].clone();
    let node = json!({ "id": told.node_id });
    assert_eq!(at(&mut github, COUNTS, json!({}), now)["data"]["repository"], shown);
    assert_eq!(
        at(&mut github, NODE, node.clone(), now)["data"]["node"],
        json!({ "__typename": "Issue", "id": told.node_id })
    );
    github.world_mut().edit_issue(late, None, Some("an edit shows it no earlier"), now + 1_000);
    assert_eq!(at(&mut github, COUNTS, json!({}), until - 1)["data"]["repository"], shown);
    let then = at(&mut github, COUNTS, json!({}), until)["data"]["repository"]["issues"].take();
    assert_eq!(then["totalCount"], shown["issues"]["totalCount"].as_i64().unwrap() + 1);
    assert!(then["nodes"].as_array().unwrap().contains(&node));
}
