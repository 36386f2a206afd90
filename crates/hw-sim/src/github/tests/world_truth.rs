//! Tests of the world, its replicas and its lists.

use super::*;
use crate::TrueThread;

#[test]
fn world_truth_matches_responses_without_faults() {
    let spec = WorldSpec { activity: ActivitySpec::busy(30, i64::MAX), ..WorldSpec::small() };
    let mut github = SimulatedGitHub::new(&spec, 4);
    github.advance_to(spec.start_ms + 600_000);
    let truth = github.world().truth();
    for thread in truth.threads.values() {
        let read =
            post_query(&mut github, THREAD, json!({ "id": thread.node_id }))["data"]["node"].take();
        assert_eq!(read, expected_node(thread));
    }
    for kind in ThreadKind::ALL {
        let mut threads = truth.threads_of_kind(kind);
        assert!(threads.any(|thread| thread.closed_at.is_some()), "no {kind:?} was closed");
    }
    let mut pulls = truth.threads.values().filter_map(|thread| thread.pull_request.as_ref());
    assert!(pulls.any(|pull| !pull.closing_issues.is_empty()));
    let associations: std::collections::BTreeSet<_> =
        truth.threads.values().map(|thread| &thread.author_association).collect();
    assert!(associations.len() > 2, "{associations:?}");
}

#[test]
fn pull_request_gets_another_head_commit_by_a_push() {
    let spec = WorldSpec { activity: ActivitySpec::busy(30, i64::MAX), ..WorldSpec::small() };
    let mut github = SimulatedGitHub::new(&spec, 4);
    github.advance_to(spec.start_ms + 600_000);
    let truth = github.world().truth();
    let pulls = truth.threads_of_kind(ThreadKind::PullRequest);
    let pushed = pulls.filter(|pull| {
        let history = github.world().thread_history(ThreadKind::PullRequest, pull.id);
        let heads = history.iter().filter_map(|(_, then)| then.pull_request.as_ref());
        let heads: std::collections::BTreeSet<_> = heads.map(|pull| &pull.head_ref_oid).collect();
        heads.len() > 1
    });
    assert!(pushed.count() > 0);
}

/// A key has one type in a response, so fields whose types differ between kinds have aliases.
const THREAD: &str = "query($id: ID!) { node(id: $id) { __typename
    ... on Issue { title body url state stateReason updatedAt closedAt authorAssociation }
    ... on PullRequest { title body url pullState: state updatedAt closedAt authorAssociation isDraft mergedAt headRefName headRefOid
        closingIssuesReferences(first: 10) { nodes { number } } }
    ... on Discussion { title body url closed discussionReason: stateReason updatedAt closedAt isAnswered
        authorAssociation category { name } } } }";

fn expected_node(thread: &TrueThread) -> Value {
    let mut node = json!({
        "__typename": thread.kind.type_name(), "title": thread.title, "body": thread.body,
        "url": thread.url, "updatedAt": thread.updated_at, "closedAt": thread.closed_at,
        "authorAssociation": thread.author_association,
    });
    match thread.kind {
        ThreadKind::Issue => {
            node["state"] = json!(thread.state);
            node["stateReason"] = json!(thread.state_reason);
        }
        ThreadKind::PullRequest => {
            let pull = thread.pull_request.as_ref().unwrap();
            node["pullState"] = json!(thread.state);
            node["isDraft"] = json!(pull.is_draft);
            node["mergedAt"] = json!(pull.merged_at);
            node["headRefName"] = json!(pull.head_ref_name);
            node["headRefOid"] = json!(pull.head_ref_oid);
            let numbers = pull.closing_issues.iter().map(|number| json!({ "number": number }));
            node["closingIssuesReferences"] = json!({ "nodes": numbers.collect::<Vec<_>>() });
        }
        ThreadKind::Discussion => {
            let discussion = thread.discussion.as_ref().unwrap();
            node["closed"] = json!(thread.state == "CLOSED");
            node["discussionReason"] = json!(thread.state_reason);
            node["isAnswered"] = json!(discussion.is_answered);
            node["category"] = json!({ "name": discussion.category });
        }
    }
    node
}

#[test]
fn replica_that_lags_serves_the_older_text() {
    let spec = WorldSpec { replica_lag_ms: 10_000, ..WorldSpec::small() };
    let mut github = SimulatedGitHub::new(&spec, 3);
    let TrueThread { id, node_id: node, .. } = first_issue(&github);
    github.world_mut().edit_issue(id, Some("new"), None, spec.start_ms + 1000);
    let query = "query($id: ID!) { node(id: $id) { ... on Issue { title } } }";
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..40 {
        let response =
            post_query_at(&mut github, query, json!({ "id": node }), spec.start_ms + 5000);
        seen.insert(response["data"]["node"]["title"].as_str().unwrap() == "new");
    }
    assert_eq!(seen.len(), 2, "both the new and the old text are shown");
}

#[test]
fn list_lags_behind_its_own_items() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..WorldSpec::small() };
    let behind = (0..20).any(|seed| {
        let mut github = SimulatedGitHub::new(&spec, seed);
        let TrueThread { id, node_id: node, .. } = first_issue(&github);
        github.world_mut().edit_issue(id, Some("new"), None, spec.start_ms);
        let list = issue_titles(&post_query(&mut github, ISSUES, json!({ "first": 100 })));
        let query = "query($id: ID!) { node(id: $id) { ... on Issue { title } } }";
        let read = post_query(&mut github, query, json!({ "id": node }));
        assert_eq!(read["data"]["node"]["title"], "new");
        !list.contains(&"new".to_owned())
    });
    assert!(behind);
}

#[test]
fn account_that_is_deleted_leaves_content_without_an_author() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let truth = github.world().truth();
    let (key, thread) = truth.threads.iter().find(|(_, thread)| thread.author.is_some()).unwrap();
    let now = github.now_ms;
    github.world_mut().delete_account(thread.author.as_deref().unwrap(), now);
    let after = &github.world().truth().threads[key];
    assert_eq!((after.author.as_ref(), after.author_id), (None, None));
    assert_eq!(after.updated_at, thread.updated_at);
}

#[test]
fn thread_history_has_every_state() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let id = first_issue(&github).id;
    let now = github.now_ms;
    let before = github.world().thread_history(ThreadKind::Issue, id).len();
    let world = github.world_mut();
    world.edit_issue(id, Some("one"), None, now + 1);
    world.edit_issue(id, Some("two"), None, now + 2);
    world.add_comment(ThreadKind::Issue, id, "moves the time", now + 5000);
    let history = world.thread_history(ThreadKind::Issue, id);
    let titles: Vec<&str> = history[before..].iter().map(|(_, issue)| &*issue.title).collect();
    assert_eq!(titles, ["one", "two", "two"]);
    assert_eq!(history.last().unwrap().1, world.truth().threads[&(ThreadKind::Issue, id)]);
}

#[test]
fn world_truth_matches_a_walk_after_all_activity() {
    let walk = "query($name: String!, $after: String) { repository(owner: \"acme\", name: $name) {
        issues(first: 7, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
            pageInfo { hasNextPage endCursor }
            nodes { fullDatabaseId title body state stateReason updatedAt closedAt
                    author { login } labels(first: 20) { nodes { name } } } } } }";
    for seed in 0..10 {
        let until = WorldSpec::small().start_ms + 1_800_000;
        let spec = WorldSpec {
            repositories: 4,
            list_lag_ms: 20_000,
            replica_lag_ms: 10_000,
            activity: ActivitySpec::busy(60, until),
            ..WorldSpec::small()
        };
        let mut github = SimulatedGitHub::new(&spec, seed);
        github.advance_to(until + 60_000);
        let truth = github.world().truth();
        let mut read = Vec::new();
        for repository in truth.repositories.values() {
            if repository.is_archived || repository.is_fork {
                continue;
            }
            let mut after = Value::Null;
            loop {
                let variables = json!({ "name": repository.name, "after": after });
                let page =
                    post_query(&mut github, walk, variables)["data"]["repository"]["issues"].take();
                read.extend(page["nodes"].as_array().unwrap().clone());
                after = page["pageInfo"]["endCursor"].clone();
                if page["pageInfo"]["hasNextPage"] == false {
                    break;
                }
            }
        }
        let expected = truth.threads_of_kind(ThreadKind::Issue).map(|issue| {
            let labels: Vec<Value> =
                issue.labels.iter().map(|name| json!({ "name": name })).collect();
            json!({
                "fullDatabaseId": issue.id.to_string(), "title": issue.title, "body": issue.body,
                "state": issue.state, "stateReason": issue.state_reason,
                "updatedAt": issue.updated_at, "closedAt": issue.closed_at,
                "labels": { "nodes": labels },
                "author": issue.author.as_ref().map(|login| json!({ "login": login })),
            })
        });
        read.sort_by_key(|node| node["fullDatabaseId"].to_string());
        assert_eq!(read, expected.collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn hostile_texts_arrive_as_the_oracle_reports_them() {
    let spec = WorldSpec { hostile_text: true, issues: 40, ..WorldSpec::small() };
    let mut surrogates = 0;
    for seed in 0..5 {
        let mut github = SimulatedGitHub::new(&spec, seed);
        let now = github.now_ms;
        let bytes = expect_response(
            github.handle_request(&graphql_request(ISSUES, &json!({ "first": 100 })), now),
        );
        let text = String::from_utf8(bytes).unwrap();
        let (body, replaced) = replace_lone_surrogates(text.split_once("\r\n\r\n").unwrap().1);
        surrogates += replaced;
        let response: Value = serde_json::from_str(&body).unwrap();
        let truth = github.world().truth();
        let edges = response["data"]["repository"]["issues"]["edges"].as_array().unwrap().clone();
        assert_eq!(edges.len(), 40);
        for edge in edges {
            let id: i64 = edge["node"]["fullDatabaseId"].as_str().unwrap().parse().unwrap();
            let issue = &truth.threads[&(ThreadKind::Issue, id)];
            assert_eq!(edge["node"]["title"], issue.title);
            assert_eq!(edge["node"]["body"], issue.body);
        }
    }
    assert!(surrogates > 0, "no lone surrogate was sent, so nothing was proven");
}

/// Returns the JSON with every lone surrogate replaced, and their number.
fn replace_lone_surrogates(json: &str) -> (String, usize) {
    let (mut out, mut replaced, mut rest) = (String::new(), 0, json);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let is_lone = escape.starts_with("\\ud800") || escape.starts_with("\\udc00");
        out.push_str(if is_lone { "\u{fffd}" } else { &escape[..2] });
        replaced += usize::from(is_lone);
        rest = &escape[if is_lone { 6 } else { 2 }..];
    }
    out.push_str(rest);
    (out, replaced)
}

#[test]
fn label_rename_changes_no_time() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let id = first_issue(&github).id;
    let now = github.now_ms;
    let world = github.world_mut();
    world.label_thread(ThreadKind::Issue, id, "old name", now);
    let before = world.truth();
    let repository = before.threads[&(ThreadKind::Issue, id)].repository_id;
    world.rename_label(repository, "old name", "new name", now + 60_000);
    let after = &world.truth().threads[&(ThreadKind::Issue, id)];
    assert_eq!(after.updated_at, before.threads[&(ThreadKind::Issue, id)].updated_at);
    assert!(after.labels.contains(&"new name".to_owned()), "{:?}", after.labels);
    assert!(!after.labels.contains(&"old name".to_owned()), "{:?}", after.labels);
}

#[test]
fn hostile_labels_occur_in_hostile_worlds_only() {
    let query = "{ repository(owner: \"acme\", name: \"pump\") { issues(first: 100) { nodes {
        fullDatabaseId labels(first: 20) { nodes { id name } } } } } }";
    for hostile_text in [false, true] {
        let mut plain = true;
        for seed in 0..5 {
            let spec = WorldSpec { hostile_text, issues: 40, ..WorldSpec::small() };
            let mut github = SimulatedGitHub::new(&spec, seed);
            let response = post_query(&mut github, query, json!({}));
            let truth = github.world().truth();
            for node in response["data"]["repository"]["issues"]["nodes"].as_array().unwrap() {
                let id: i64 = node["fullDatabaseId"].as_str().unwrap().parse().unwrap();
                let labels = node["labels"]["nodes"].as_array().unwrap();
                let names: Vec<&str> =
                    labels.iter().map(|label| label["name"].as_str().unwrap()).collect();
                assert_eq!(names, truth.threads[&(ThreadKind::Issue, id)].labels);
                plain &= labels.iter().all(|label| label["id"].as_str().unwrap().is_ascii())
                    && names.iter().all(|name| name.is_ascii());
            }
        }
        assert_eq!(plain, !hostile_text);
    }
}

#[test]
fn disruptive_activity_takes_over_freed_names() {
    let until = WorldSpec::small().start_ms + 7_200_000;
    for (activity, expected) in
        [(ActivitySpec::busy(60, until), false), (ActivitySpec::disruptive(60, until), true)]
    {
        let mut taken_over = false;
        for seed in 0..5 {
            let spec =
                WorldSpec { repositories: 4, activity: activity.clone(), ..WorldSpec::small() };
            let mut github = SimulatedGitHub::new(&spec, seed);
            let mut holders: BTreeMap<String, i64> = BTreeMap::new();
            for minute in 1..=120 {
                github.advance_to(spec.start_ms + minute * 60_000);
                for repository in github.world().truth().repositories.into_values() {
                    let before = holders.insert(repository.name, repository.id);
                    taken_over |= before.is_some_and(|id| id != repository.id);
                }
            }
        }
        assert_eq!(taken_over, expected);
    }
}
