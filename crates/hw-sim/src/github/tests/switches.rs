//! Tests of settings: discussions, lookups by id, the log, and worlds without archives and forks.

use super::*;

const NODE: &str = "query($id: ID!) { node(id: $id) { id } }";
const COUNT: &str = "query($name: String!) { repository(owner: \"acme\", name: $name) {
    hasDiscussionsEnabled issues(first: 5) { totalCount }
    discussions(first: 5) { totalCount nodes { id } } } }";

#[test]
fn discussions_that_are_disabled_are_an_empty_list_and_come_back() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let before = github.world().truth();
    let discussion = before.threads_of_kind(ThreadKind::Discussion).next().unwrap().clone();
    let now = github.now_ms;
    github.world_mut().set_discussions_enabled(discussion.repository_id, false, now);
    assert_eq!(
        post_query(&mut github, COUNT, json!({ "name": discussion.repository }))["data"]["repository"],
        json!({ "hasDiscussionsEnabled": false, "issues": { "totalCount": 6 },
                "discussions": { "totalCount": 0, "nodes": [] } })
    );
    let read = post_query(&mut github, NODE, json!({ "id": discussion.node_id }));
    assert!(read["data"]["node"].is_null());
    assert_eq!(read["errors"][0]["type"], "NOT_FOUND");
    let truth = github.world().truth();
    assert_eq!(truth.thread_ids(ThreadKind::Discussion).len(), 2);
    assert_eq!(truth.thread_ids(ThreadKind::Issue), before.thread_ids(ThreadKind::Issue));
    assert!(!truth.repositories[&discussion.repository_id].has_discussions_enabled);
    github.world_mut().set_discussions_enabled(discussion.repository_id, true, now + 1000);
    assert_eq!(github.world().truth().threads, before.threads);
    let later = post_query_at(&mut github, NODE, json!({ "id": discussion.node_id }), now + 1000);
    assert_eq!(later["data"]["node"]["id"], discussion.node_id);
}

#[test]
fn disruptive_activity_disables_and_enables_discussions() {
    let until = WorldSpec::small().start_ms + 7_200_000;
    let spec = WorldSpec { activity: ActivitySpec::disruptive(60, until), ..WorldSpec::small() };
    let (mut disabled, mut enabled) = (0, 0);
    for seed in 0..5 {
        let mut github = SimulatedGitHub::new(&spec, seed);
        let mut last = github.world().truth();
        for minute in 1..=120 {
            github.advance_to(spec.start_ms + minute * 60_000);
            let next = github.world().truth();
            for (id, before) in &last.repositories {
                let Some(after) = next.repositories.get(id) else { continue };
                let now = after.has_discussions_enabled;
                disabled += u32::from(before.has_discussions_enabled && !now);
                enabled += u32::from(!before.has_discussions_enabled && now);
            }
            last = next;
        }
    }
    assert!(disabled > 0 && enabled > 0, "{disabled} {enabled}");
}

#[test]
fn hidden_nodes_are_listed_but_not_found_by_id() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let truth = github.world().truth();
    let mut ids: Vec<&str> =
        truth.repositories.values().map(|repository| &*repository.node_id).collect();
    ids.extend(truth.threads.values().map(|thread| &*thread.node_id));
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } organization(login: \"acme\") {
        id repositories(first: 9) { nodes { issues(first: 9) { totalCount nodes { id } } } } } }";
    let visible = post_query(&mut github, query, json!({ "ids": ids }));
    github.set_nodes_hidden(true);
    let hidden = post_query(&mut github, query, json!({ "ids": ids }));
    assert!(hidden["data"]["nodes"].as_array().unwrap().iter().all(Value::is_null));
    let errors = hidden["errors"].as_array().unwrap();
    assert_eq!(errors.len(), ids.len());
    assert!(errors.iter().all(|error| error["type"] == "NOT_FOUND"));
    assert_eq!(hidden["data"]["organization"], visible["data"]["organization"]);
    let owner =
        post_query(&mut github, NODE, json!({ "id": visible["data"]["organization"]["id"] }));
    assert!(owner["data"]["node"].is_object());
    assert_eq!(github.world().truth(), truth, "the truth does not depend on the token");
    github.set_nodes_hidden(false);
    assert_eq!(post_query(&mut github, query, json!({ "ids": ids })), visible);
}

#[test]
fn request_log_contains_the_pages_that_arrived_if_enabled() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    post_query(&mut github, ISSUES, json!({ "first": 3 }));
    assert!(github.request_log().entries[0].pages.is_empty());
    github.set_page_logging(true);
    let response = post_query(&mut github, ISSUES, json!({ "first": 3 }));
    let page = &response["data"]["repository"]["issues"];
    let cursor = page["pageInfo"]["endCursor"].as_str().unwrap();
    let ids = page["edges"].as_array().unwrap().iter().map(|edge| {
        let id = edge["node"]["fullDatabaseId"].as_str().unwrap();
        id.parse().unwrap()
    });
    let pump = *github.world().truth().repositories.keys().next().unwrap();
    let expected_page = ServedPage {
        repository_id: pump,
        kind: ThreadKind::Issue,
        order: "UPDATED_AT".into(),
        first: 3,
        after: None,
        ids: ids.collect(),
    };
    assert_eq!(last_pages(&github), &[expected_page]);
    post_query(&mut github, ISSUES, json!({ "first": 3, "after": cursor }));
    assert_eq!(last_pages(&github)[0].after.as_deref(), Some(cursor));
    let query = "{ organization(login: \"acme\") { repositories(first: 9) { nodes {
        issues(first: 1) { totalCount } discussions(first: 2) { totalCount } } } } }";
    post_query(&mut github, query, json!({}));
    let firsts: Vec<u64> = last_pages(&github).iter().map(|page| page.first).collect();
    assert_eq!(firsts, [1, 2, 1, 2]);
    for fault in [ApiFault::Truncated, ApiFault::Reset, ApiFault::BadGateway] {
        github.arm_fault(fault, 1);
        let now = github.now_ms;
        github.handle_request(&graphql_request(ISSUES, &json!({})), now);
        assert!(last_pages(&github).is_empty(), "{fault:?}");
    }
}

#[test]
fn world_without_archives_and_forks_has_none() {
    let spec = WorldSpec { repositories: 15, ..WorldSpec::small() };
    for (no_archives_or_forks, expected) in [(false, 4), (true, 0)] {
        let spec = WorldSpec { no_archives_or_forks, ..spec.clone() };
        let truth = SimulatedGitHub::new(&spec, 1).world().truth();
        let mut repositories: Vec<_> = truth.repositories.into_values().collect();
        repositories.retain(|repository| repository.is_archived || repository.is_fork);
        assert_eq!(repositories.len(), expected);
    }
}

#[test]
fn issues_were_always_visible_unless_something_hid_them() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let ids: Vec<i64> = github.world().truth().repositories.keys().copied().collect();
    let now = github.now_ms;
    github.world_mut().set_issues_enabled(ids[0], false, now + 1);
    github.world_mut().set_issues_enabled(ids[0], true, now + 2);
    assert!(!github.world().were_issues_always_visible(ids[0]));
    assert!(github.world().were_issues_always_visible(ids[1]));
}

fn last_pages(github: &SimulatedGitHub) -> &[ServedPage] {
    &github.request_log().entries.last().unwrap().pages
}
