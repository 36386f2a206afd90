//! Tests of items that are absent without being deleted.

use super::*;
use crate::TrueThread;

const NODE: &str = "query($id: ID!) { node(id: $id) { id } }";
const COUNT: &str = "{ repository(owner: \"acme\", name: \"pump\") { hasIssuesEnabled
    issues(first: 5) { totalCount nodes { id } } pullRequests(first: 5) { totalCount } } }";

#[test]
fn issues_that_are_disabled_are_an_empty_list_and_come_back() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { id, node_id, number, repository_id: repository, .. } = first_issue(&github);
    let before = github.world().truth();
    let now = github.now_ms;
    github.world_mut().set_issues_enabled(repository, false, now);
    assert_eq!(
        post_query(&mut github, COUNT, json!({}))["data"]["repository"],
        json!({ "hasIssuesEnabled": false, "issues": { "totalCount": 0, "nodes": [] },
                "pullRequests": { "totalCount": 3 } })
    );
    let read = post_query(&mut github, NODE, json!({ "id": node_id }));
    assert_not_found(&read, "node");
    let gone = send_get(&mut github, &format!("/repos/acme/pump/issues/{number}"));
    let message = json!("Issues are disabled for this repo");
    assert_eq!((gone.status, &gone.body["message"]), (410, &message));
    let list = send_get(&mut github, "/repos/acme/pump/issues?state=all").body;
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert!(!github.world().truth().threads.contains_key(&(ThreadKind::Issue, id)));
    github.world_mut().set_issues_enabled(repository, true, now);
    assert_eq!(github.world().truth().threads, before.threads);
    let read = post_query(&mut github, NODE, json!({ "id": node_id }));
    assert_eq!(read["data"]["node"]["id"], node_id);
}

#[test]
fn repositories_are_filtered_by_enabled_issues() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let id = *github.world().truth().repositories.keys().next().unwrap();
    let now = github.now_ms;
    github.world_mut().set_issues_enabled(id, false, now);
    let query = "{ organization(login: \"acme\") {
        on: repositories(first: 9, hasIssuesEnabled: true) { nodes { name } }
        off: repositories(first: 9, hasIssuesEnabled: false) { nodes { name } } } }";
    assert_eq!(
        post_query(&mut github, query, json!({}))["data"]["organization"],
        json!({ "on": { "nodes": [{ "name": "gauge" }] }, "off": { "nodes": [{ "name": "pump" }] } })
    );
}

#[test]
fn repository_that_is_hidden_is_not_found_until_it_is_shown_again() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..WorldSpec::small() };
    let mut github = SimulatedGitHub::new(&spec, 1);
    let TrueThread { id: issue, node_id: node, repository_id: id, .. } = first_issue(&github);
    let before = github.world().truth();
    let now = github.now_ms;
    github.world_mut().hide_repository(id, now);
    let listed = "{ organization(login: \"acme\") { repositories(first: 9) { totalCount } } }";
    let listed = post_query(&mut github, listed, json!({}));
    assert_eq!(listed["data"]["organization"]["repositories"]["totalCount"], 1);
    for id in [&node, &before.repositories[&id].node_id] {
        let read = post_query(&mut github, NODE, json!({ "id": id }));
        assert_not_found(&read, "node");
    }
    assert_not_found(&post_query(&mut github, COUNT, json!({})), "repository");
    for target in ["/repos/acme/pump".to_owned(), format!("/repositories/{id}/issues")] {
        assert_eq!(send_get(&mut github, &target).status, 404, "{target}");
    }
    let truth = github.world().truth();
    assert!(
        !truth.repositories.contains_key(&id)
            && !truth.threads.contains_key(&(ThreadKind::Issue, issue))
    );
    assert!(truth.comments.values().all(|comment| comment.repository_id != id));
    assert_eq!(
        github.world().thread_history(ThreadKind::Issue, issue).last().unwrap().1,
        before.threads[&(ThreadKind::Issue, issue)]
    );
    github.world_mut().show_repository(id, now);
    assert_eq!(github.world().truth(), before);
}

#[test]
fn issue_that_moved_out_of_sight_is_not_reported_as_deleted() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { id, number, .. } = first_issue(&github);
    let truth = github.world().truth();
    let now = github.now_ms;
    let other = *truth.repositories.keys().last().unwrap();
    github.world_mut().transfer_issue(id, other, now);
    github.world_mut().hide_repository(other, now);
    assert_eq!(send_get(&mut github, &format!("/repos/acme/pump/issues/{number}")).status, 404);
}

#[test]
fn forbidden_response_does_not_look_like_a_limit() {
    let mut statuses = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let mut github = SimulatedGitHub::new(&WorldSpec::small(), seed);
        github.arm_fault(ApiFault::Forbidden, 1);
        let now = github.now_ms;
        let response = github.handle_request(&graphql_request(ISSUES, &json!({ "first": 5 })), now);
        let refused = parse_response(&expect_response(response));
        statuses.insert(refused.status);
        assert_ne!(refused.header("x-ratelimit-remaining"), Some("0"));
        assert!(refused.header("retry-after").is_none());
        let message = "Resource not accessible by personal access token";
        if refused.status == 403 {
            assert_eq!(refused.body["message"], message);
        } else {
            let error = &refused.body["errors"][0];
            assert_eq!((&error["type"], &error["message"]), (&json!("FORBIDDEN"), &json!(message)));
            assert!(value_at_path(&refused.body, error).is_null());
        }
        github.arm_fault(ApiFault::Forbidden, 1);
        assert_eq!(send_get(&mut github, "/repos/acme/pump").status, 403);
        assert_eq!(send_get(&mut github, "/repos/acme/pump").status, 200);
        assert_eq!(github.requests_while_limited(), 0);
    }
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [200, 403]);
}

#[test]
fn disruptive_activity_hides_content_and_brings_it_back() {
    let until = WorldSpec::small().start_ms + 7_200_000;
    let writers = ActivitySpec::disruptive(60, until);
    let spec = WorldSpec { repositories: 6, activity: writers, ..WorldSpec::small() };
    let (mut disabled, mut enabled, mut hidden, mut shown) = (0, 0, 0, 0);
    for seed in 0..5 {
        let mut github = SimulatedGitHub::new(&spec, seed);
        let mut last = github.world().truth();
        for minute in 1..=120 {
            github.advance_to(spec.start_ms + minute * 60_000);
            let next = github.world().truth();
            for (id, before) in &last.repositories {
                let after = next.repositories.get(id);
                hidden += u32::from(after.is_none());
                let Some(after) = after else { continue };
                disabled += u32::from(before.has_issues_enabled && !after.has_issues_enabled);
                enabled += u32::from(!before.has_issues_enabled && after.has_issues_enabled);
            }
            let new = next.repositories.keys().filter(|id| !last.repositories.contains_key(id));
            shown += u32::try_from(new.count()).unwrap();
            last = next;
        }
    }
    let counts = [disabled, enabled, hidden, shown];
    assert!(counts.into_iter().all(|count| count > 0), "{counts:?}");
}

fn assert_not_found(response: &Value, root: &str) {
    assert_eq!(response["data"][root], Value::Null);
    assert_eq!(response["errors"][0]["type"], "NOT_FOUND");
}
