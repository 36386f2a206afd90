//! Promises of the world, its replicas and its lists.

use super::*;
use crate::{TruePull, TrueThread};

#[test]
fn what_is_read_in_fair_weather_is_the_truth() {
    let spec = WorldSpec { writers: Writers::busy(30, i64::MAX), ..WorldSpec::small() };
    let mut github = GitHub::new(&spec, 4);
    github.advance(spec.start_ms + 600_000);
    let truth = github.world().truth();
    for thread in truth.threads.values() {
        let read = ask(&mut github, THREAD, json!({ "id": thread.node_id }))["data"]["node"].take();
        assert_eq!(read, told(thread));
    }
    let some = |kind| 0 < truth.of_kind(kind).filter(|it| it.closed_at.is_some()).count();
    assert!(ThreadKind::ALL.into_iter().all(some), "one of each kind was closed");
    let closes = |it: &TruePull| !it.closing_issues.is_empty();
    assert!(truth.threads.values().any(|it| it.pull_request.as_ref().is_some_and(closes)));
}

/// One name stands for one type, so what differs between kinds needs an alias.
const THREAD: &str = "query($id: ID!) { node(id: $id) { __typename
    ... on Issue { title body url state stateReason updatedAt closedAt }
    ... on PullRequest { title body url pullState: state updatedAt closedAt isDraft mergedAt headRefName
        closingIssuesReferences(first: 10) { nodes { number } } }
    ... on Discussion { title body url closed talkReason: stateReason updatedAt closedAt isAnswered
        category { name } } } }";

fn told(thread: &TrueThread) -> Value {
    let mut told = json!({
        "__typename": thread.kind.type_name(), "title": thread.title, "body": thread.body,
        "url": thread.url, "updatedAt": thread.updated_at, "closedAt": thread.closed_at,
    });
    match thread.kind {
        ThreadKind::Issue => {
            told["state"] = json!(thread.state);
            told["stateReason"] = json!(thread.state_reason);
        }
        ThreadKind::PullRequest => {
            let pull = thread.pull_request.as_ref().unwrap();
            told["pullState"] = json!(thread.state);
            told["isDraft"] = json!(pull.is_draft);
            told["mergedAt"] = json!(pull.merged_at);
            told["headRefName"] = json!(pull.head_ref_name);
            let numbers = pull.closing_issues.iter().map(|number| json!({ "number": number }));
            told["closingIssuesReferences"] = json!({ "nodes": numbers.collect::<Vec<_>>() });
        }
        ThreadKind::Discussion => {
            let talk = thread.talk.as_ref().unwrap();
            told["closed"] = json!(thread.state == "CLOSED");
            told["talkReason"] = json!(thread.state_reason);
            told["isAnswered"] = json!(talk.is_answered);
            told["category"] = json!({ "name": talk.category });
        }
    }
    told
}

#[test]
fn a_lagging_replica_shows_the_older_text() {
    let spec = WorldSpec { replica_lag_ms: 10_000, ..WorldSpec::small() };
    let mut github = GitHub::new(&spec, 3);
    let (id, node) = first_issue(&github);
    github.world_mut().edit_issue(id, Some("new"), None, spec.start_ms + 1000);
    let query = "query($id: ID!) { node(id: $id) { ... on Issue { title } } }";
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..40 {
        let answer = at(&mut github, query, json!({ "id": node }), spec.start_ms + 5000);
        seen.insert(answer["data"]["node"]["title"].as_str().unwrap() == "new");
    }
    assert_eq!(seen.len(), 2, "both the new and the old text are shown");
}

#[test]
fn a_list_is_behind_its_own_items() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..WorldSpec::small() };
    let behind = (0..20).any(|seed| {
        let mut github = GitHub::new(&spec, seed);
        let (id, node) = first_issue(&github);
        github.world_mut().edit_issue(id, Some("new"), None, spec.start_ms);
        let list = titles(&ask(&mut github, ISSUES, json!({ "first": 100 })));
        let query = "query($id: ID!) { node(id: $id) { ... on Issue { title } } }";
        let read = ask(&mut github, query, json!({ "id": node }));
        assert_eq!(read["data"]["node"]["title"], "new");
        !list.contains(&"new".to_owned())
    });
    assert!(behind);
}

#[test]
fn a_deleted_account_leaves_its_words_without_an_author() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let truth = github.world().truth();
    let (key, thread) = truth.threads.iter().find(|(_, it)| it.author.is_some()).unwrap();
    let now = github.now_ms;
    github.world_mut().delete_account(thread.author.as_deref().unwrap(), now);
    let after = &github.world().truth().threads[key];
    assert_eq!((after.author.as_ref(), after.author_id), (None, None));
    assert_eq!(after.updated_at, thread.updated_at);
}

#[test]
fn the_history_of_an_issue_holds_every_state_it_had() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, _) = first_issue(&github);
    let now = github.now_ms;
    let before = github.world().history_of(ThreadKind::Issue, id).len();
    let world = github.world_mut();
    world.edit_issue(id, Some("one"), None, now + 1);
    world.edit_issue(id, Some("two"), None, now + 2);
    world.add_comment(ThreadKind::Issue, id, "moves the time", now + 5000);
    let history = world.history_of(ThreadKind::Issue, id);
    let titles: Vec<&str> = history[before..].iter().map(|(_, issue)| &*issue.title).collect();
    assert_eq!(titles, ["one", "two", "two"]);
    assert_eq!(history.last().unwrap().1, world.truth().threads[&(ThreadKind::Issue, id)]);
}

#[test]
fn when_the_writers_have_stopped_a_walk_reads_the_truth() {
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
            writers: Writers::busy(60, until),
            ..WorldSpec::small()
        };
        let mut github = GitHub::new(&spec, seed);
        github.advance(until + 60_000);
        let truth = github.world().truth();
        let mut read = Vec::new();
        for repository in truth.repositories.values().filter(|it| !it.is_archived && !it.is_fork) {
            let mut after = Value::Null;
            loop {
                let variables = json!({ "name": repository.name, "after": after });
                let page = ask(&mut github, walk, variables)["data"]["repository"]["issues"].take();
                read.extend(page["nodes"].as_array().unwrap().clone());
                after = page["pageInfo"]["endCursor"].clone();
                if page["pageInfo"]["hasNextPage"] == false {
                    break;
                }
            }
        }
        let told = truth.of_kind(ThreadKind::Issue).map(|it| {
            let labels: Vec<Value> = it.labels.iter().map(|name| json!({ "name": name })).collect();
            json!({
                "fullDatabaseId": it.id.to_string(), "title": it.title, "body": it.body,
                "state": it.state, "stateReason": it.state_reason, "updatedAt": it.updated_at,
                "closedAt": it.closed_at, "labels": { "nodes": labels },
                "author": it.author.as_ref().map(|login| json!({ "login": login })),
            })
        });
        read.sort_by_key(|it| it["fullDatabaseId"].to_string());
        assert_eq!(read, told.collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn hostile_words_arrive_as_the_oracle_tells_them() {
    let spec = WorldSpec { hostile_text: true, issues: 40, ..WorldSpec::small() };
    let mut halves = 0;
    for seed in 0..5 {
        let mut github = GitHub::new(&spec, seed);
        let now = github.now_ms;
        let bytes = response(github.handle(&post(ISSUES, &json!({ "first": 100 })), now));
        let text = String::from_utf8(bytes).unwrap();
        let (body, found) = healed(text.split_once("\r\n\r\n").unwrap().1);
        halves += found;
        let answer: Value = serde_json::from_str(&body).unwrap();
        let truth = github.world().truth();
        let edges = answer["data"]["repository"]["issues"]["edges"].as_array().unwrap().clone();
        assert_eq!(edges.len(), 40);
        for edge in edges {
            let id: i64 = edge["node"]["fullDatabaseId"].as_str().unwrap().parse().unwrap();
            let told = &truth.threads[&(ThreadKind::Issue, id)];
            assert_eq!(
                (&edge["node"]["title"], &edge["node"]["body"]),
                (&json!(told.title), &json!(told.body))
            );
        }
    }
    assert!(0 < halves, "no half of a pair was sent, so nothing was proven");
}

/// The JSON with every half of a surrogate pair replaced, and how many there were.
fn healed(json: &str) -> (String, usize) {
    let (mut out, mut found, mut rest) = (String::new(), 0, json);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let half = escape.starts_with("\\ud800") || escape.starts_with("\\udc00");
        out.push_str(if half { "\u{fffd}" } else { &escape[..2] });
        found += usize::from(half);
        rest = &escape[if half { 6 } else { 2 }..];
    }
    out.push_str(rest);
    (out, found)
}

#[test]
fn a_renamed_label_moves_no_time() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, _) = first_issue(&github);
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
fn hostile_people_label_with_hostile_names_and_others_do_not() {
    let query = "{ repository(owner: \"acme\", name: \"pump\") { issues(first: 100) { nodes {
        fullDatabaseId labels(first: 20) { nodes { id name } } } } } }";
    for hostile_text in [false, true] {
        let mut plain = true;
        for seed in 0..5 {
            let spec = WorldSpec { hostile_text, issues: 40, ..WorldSpec::small() };
            let mut github = GitHub::new(&spec, seed);
            let answer = ask(&mut github, query, json!({}));
            let truth = github.world().truth();
            for node in answer["data"]["repository"]["issues"]["nodes"].as_array().unwrap() {
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
fn rough_people_take_over_names_that_others_gave_up() {
    let until = WorldSpec::small().start_ms + 7_200_000;
    for (writers, wanted) in [(Writers::busy(60, until), false), (Writers::rough(60, until), true)]
    {
        let mut taken_over = false;
        for seed in 0..5 {
            let spec =
                WorldSpec { repositories: 4, writers: writers.clone(), ..WorldSpec::small() };
            let mut github = GitHub::new(&spec, seed);
            let mut holders: BTreeMap<String, i64> = BTreeMap::new();
            for minute in 1..=120 {
                github.advance(spec.start_ms + minute * 60_000);
                for repository in github.world().truth().repositories.into_values() {
                    let before = holders.insert(repository.name, repository.id);
                    taken_over |= before.is_some_and(|id| id != repository.id);
                }
            }
        }
        assert_eq!(taken_over, wanted);
    }
}
