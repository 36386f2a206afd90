//! Promises of what can be switched: discussions, everything found by id, and what the log keeps.

use super::*;

const NODE: &str = "query($id: ID!) { node(id: $id) { id } }";
const COUNT: &str = "query($name: String!) { repository(owner: \"acme\", name: $name) {
    hasDiscussionsEnabled issues(first: 5) { totalCount }
    discussions(first: 5) { totalCount nodes { id } } } }";

#[test]
fn switched_off_discussions_are_an_empty_list_and_come_back() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let before = github.world().truth();
    let talk = before.of_kind(ThreadKind::Discussion).next().unwrap().clone();
    let now = github.now_ms;
    github.world_mut().switch_discussions(talk.repository_id, false, now);
    assert_eq!(
        ask(&mut github, COUNT, json!({ "name": talk.repository }))["data"]["repository"],
        json!({ "hasDiscussionsEnabled": false, "issues": { "totalCount": 6 },
                "discussions": { "totalCount": 0, "nodes": [] } })
    );
    let read = ask(&mut github, NODE, json!({ "id": talk.node_id }));
    assert!(read["data"]["node"].is_null());
    assert_eq!(read["errors"][0]["type"], "NOT_FOUND");
    let truth = github.world().truth();
    assert_eq!(truth.ids(ThreadKind::Discussion).len(), 2);
    assert_eq!(truth.ids(ThreadKind::Issue), before.ids(ThreadKind::Issue));
    assert!(!truth.repositories[&talk.repository_id].has_discussions_enabled);
    github.world_mut().switch_discussions(talk.repository_id, true, now + 1000);
    assert_eq!(github.world().truth().threads, before.threads);
    let later = at(&mut github, NODE, json!({ "id": talk.node_id }), now + 1000);
    assert_eq!(later["data"]["node"]["id"], talk.node_id);
}

#[test]
fn rough_people_switch_discussions_off_and_on() {
    let until = WorldSpec::small().start_ms + 7_200_000;
    let spec = WorldSpec { writers: Writers::rough(60, until), ..WorldSpec::small() };
    let (mut off, mut on) = (0, 0);
    for seed in 0..5 {
        let mut github = GitHub::new(&spec, seed);
        let mut last = github.world().truth();
        for minute in 1..=120 {
            github.advance(spec.start_ms + minute * 60_000);
            let next = github.world().truth();
            for (id, before) in &last.repositories {
                let Some(after) = next.repositories.get(id) else { continue };
                let now = after.has_discussions_enabled;
                off += u32::from(before.has_discussions_enabled && !now);
                on += u32::from(!before.has_discussions_enabled && now);
            }
            last = next;
        }
    }
    assert!(0 < off && 0 < on, "{off} {on}");
}

#[test]
fn when_all_is_hidden_listings_work_and_nothing_is_found_by_id() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let truth = github.world().truth();
    let mut ids: Vec<&str> = truth.repositories.values().map(|it| &*it.node_id).collect();
    ids.extend(truth.threads.values().map(|it| &*it.node_id));
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } organization(login: \"acme\") {
        id repositories(first: 9) { nodes { issues(first: 9) { totalCount nodes { id } } } } } }";
    let fair = ask(&mut github, query, json!({ "ids": ids }));
    github.hide_all(true);
    let hidden = ask(&mut github, query, json!({ "ids": ids }));
    assert!(hidden["data"]["nodes"].as_array().unwrap().iter().all(Value::is_null));
    let errors = hidden["errors"].as_array().unwrap();
    assert_eq!(errors.len(), ids.len());
    assert!(errors.iter().all(|error| error["type"] == "NOT_FOUND"));
    assert_eq!(hidden["data"]["organization"], fair["data"]["organization"]);
    let owner = ask(&mut github, NODE, json!({ "id": fair["data"]["organization"]["id"] }));
    assert!(owner["data"]["node"].is_object());
    assert_eq!(github.world().truth(), truth, "what is true does not depend on who may see it");
    github.hide_all(false);
    assert_eq!(ask(&mut github, query, json!({ "ids": ids })), fair);
}

#[test]
fn the_log_keeps_the_pages_that_arrived_when_asked_to() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    ask(&mut github, ISSUES, json!({ "first": 3 }));
    assert!(github.requests().entries[0].pages.is_empty());
    github.keep_pages(true);
    let answer = ask(&mut github, ISSUES, json!({ "first": 3 }));
    let page = &answer["data"]["repository"]["issues"];
    let cursor = page["pageInfo"]["endCursor"].as_str().unwrap();
    let id = |edge: &Value| edge["node"]["fullDatabaseId"].as_str().unwrap().parse().unwrap();
    let pump = *github.world().truth().repositories.keys().next().unwrap();
    let told = ServedPage {
        repository_id: pump,
        kind: ThreadKind::Issue,
        order: "UPDATED_AT".into(),
        first: 3,
        after: None,
        ids: page["edges"].as_array().unwrap().iter().map(id).collect(),
    };
    assert_eq!(last_pages(&github), &[told]);
    ask(&mut github, ISSUES, json!({ "first": 3, "after": cursor }));
    assert_eq!(last_pages(&github)[0].after.as_deref(), Some(cursor));
    let query = "{ organization(login: \"acme\") { repositories(first: 9) { nodes {
        issues(first: 1) { totalCount } discussions(first: 2) { totalCount } } } } }";
    ask(&mut github, query, json!({}));
    let firsts: Vec<u64> = last_pages(&github).iter().map(|page| page.first).collect();
    assert_eq!(firsts, [1, 2, 1, 2]);
    for fault in [Fault::Truncated, Fault::Reset, Fault::BadGateway] {
        github.arm(fault, 1);
        let now = github.now_ms;
        github.handle(&post(ISSUES, &json!({})), now);
        assert!(last_pages(&github).is_empty(), "{fault:?}");
    }
}

#[test]
fn a_plain_world_has_neither_archives_nor_forks() {
    let spec = WorldSpec { repositories: 15, ..WorldSpec::small() };
    let odd = |spec: &WorldSpec| {
        let truth = GitHub::new(spec, 1).world().truth();
        truth.repositories.values().filter(|it| it.is_archived || it.is_fork).count()
    };
    assert_eq!((odd(&spec), odd(&WorldSpec { plain: true, ..spec.clone() })), (4, 0));
}

#[test]
fn issues_were_always_shown_unless_something_hid_them() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let ids: Vec<i64> = github.world().truth().repositories.keys().copied().collect();
    let now = github.now_ms;
    github.world_mut().switch_issues(ids[0], false, now + 1);
    github.world_mut().switch_issues(ids[0], true, now + 2);
    assert!(!github.world().issues_always_shown(ids[0]));
    assert!(github.world().issues_always_shown(ids[1]));
}

fn last_pages(github: &GitHub) -> &[ServedPage] {
    &github.requests().entries.last().unwrap().pages
}
