//! Promises of absence that is not deletion.

use super::*;

const NODE: &str = "query($id: ID!) { node(id: $id) { id } }";
const COUNT: &str = "{ repository(owner: \"acme\", name: \"pump\") { hasIssuesEnabled
    issues(first: 5) { totalCount nodes { id } } pullRequests(first: 5) { totalCount } } }";

#[test]
fn switched_off_issues_are_an_empty_list_and_come_back() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, node) = first_issue(&github);
    let before = github.world().truth();
    let (repository, now) = (before.threads[&(ThreadKind::Issue, id)].repository_id, github.now_ms);
    github.world_mut().switch_issues(repository, false, now);
    assert_eq!(
        ask(&mut github, COUNT, json!({}))["data"]["repository"],
        json!({ "hasIssuesEnabled": false, "issues": { "totalCount": 0, "nodes": [] },
                "pullRequests": { "totalCount": 3 } })
    );
    let read = ask(&mut github, NODE, json!({ "id": node }));
    assert_eq!((&read["data"]["node"], &read["errors"][0]["type"]), not_found());
    let number = before.threads[&(ThreadKind::Issue, id)].number;
    let (status, body) = get(&mut github, &format!("/repos/acme/pump/issues/{number}"));
    assert_eq!((status, &body["message"]), (410, &json!("Issues are disabled for this repo")));
    assert_eq!(
        get(&mut github, "/repos/acme/pump/issues?state=all").1.as_array().unwrap().len(),
        3
    );
    assert!(!github.world().truth().threads.contains_key(&(ThreadKind::Issue, id)));
    github.world_mut().switch_issues(repository, true, now);
    assert_eq!(github.world().truth().threads, before.threads);
    assert_eq!(ask(&mut github, NODE, json!({ "id": node }))["data"]["node"]["id"], node);
}

#[test]
fn repositories_can_be_listed_by_whether_they_have_issues() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let id = *github.world().truth().repositories.keys().next().unwrap();
    let now = github.now_ms;
    github.world_mut().switch_issues(id, false, now);
    let query = "{ organization(login: \"acme\") {
        on: repositories(first: 9, hasIssuesEnabled: true) { nodes { name } }
        off: repositories(first: 9, hasIssuesEnabled: false) { nodes { name } } } }";
    assert_eq!(
        ask(&mut github, query, json!({}))["data"]["organization"],
        json!({ "on": { "nodes": [{ "name": "gauge" }] }, "off": { "nodes": [{ "name": "pump" }] } })
    );
}

#[test]
fn a_hidden_repository_is_nowhere_until_it_is_shown_again() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..WorldSpec::small() };
    let mut github = GitHub::new(&spec, 1);
    let (issue, node) = first_issue(&github);
    let before = github.world().truth();
    let (id, now) = (before.threads[&(ThreadKind::Issue, issue)].repository_id, github.now_ms);
    github.world_mut().hide_repository(id, now);
    let listed = "{ organization(login: \"acme\") { repositories(first: 9) { totalCount } } }";
    let listed = ask(&mut github, listed, json!({}));
    assert_eq!(listed["data"]["organization"]["repositories"]["totalCount"], 1);
    for id in [&node, &before.repositories[&id].node_id] {
        let read = ask(&mut github, NODE, json!({ "id": id }));
        assert_eq!((&read["data"]["node"], &read["errors"][0]["type"]), not_found());
    }
    let named = ask(&mut github, COUNT, json!({}));
    assert_eq!((&named["data"]["repository"], &named["errors"][0]["type"]), not_found());
    for target in ["/repos/acme/pump".to_owned(), format!("/repositories/{id}/issues")] {
        assert_eq!(get(&mut github, &target).0, 404, "{target}");
    }
    let truth = github.world().truth();
    assert!(
        !truth.repositories.contains_key(&id)
            && !truth.threads.contains_key(&(ThreadKind::Issue, issue))
    );
    assert!(truth.comments.values().all(|comment| comment.repository_id != id));
    assert_eq!(
        github.world().history_of(ThreadKind::Issue, issue).last().unwrap().1,
        before.threads[&(ThreadKind::Issue, issue)]
    );
    github.world_mut().show_repository(id, now);
    assert_eq!(github.world().truth(), before);
}

#[test]
fn an_issue_that_moved_out_of_sight_is_not_called_deleted() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, _) = first_issue(&github);
    let truth = github.world().truth();
    let (number, now) = (truth.threads[&(ThreadKind::Issue, id)].number, github.now_ms);
    let other = *truth.repositories.keys().last().unwrap();
    github.world_mut().transfer_issue(id, other, now);
    github.world_mut().hide_repository(other, now);
    assert_eq!(get(&mut github, &format!("/repos/acme/pump/issues/{number}")).0, 404);
}

#[test]
fn a_forbidden_answer_does_not_look_like_a_limit() {
    let mut statuses = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let mut github = GitHub::new(&WorldSpec::small(), seed);
        github.arm(Fault::Forbidden, 1);
        let now = github.now_ms;
        let answer = github.handle(&post(ISSUES, &json!({ "first": 5 })), now);
        let (status, head, body) = parts(&response(answer));
        statuses.insert(status);
        assert_ne!(header(&head, "x-ratelimit-remaining").as_deref(), Some("0"));
        assert!(header(&head, "retry-after").is_none());
        let words = "Resource not accessible by personal access token";
        if status == 403 {
            assert_eq!(body["message"], words);
        } else {
            let error = &body["errors"][0];
            assert_eq!((&error["type"], &error["message"]), (&json!("FORBIDDEN"), &json!(words)));
            assert!(named(&body, error).is_null());
        }
        github.arm(Fault::Forbidden, 1);
        assert_eq!(get(&mut github, "/repos/acme/pump").0, 403);
        assert_eq!(get(&mut github, "/repos/acme/pump").0, 200);
        assert_eq!(github.started_while_limited(), 0);
    }
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [200, 403]);
}

#[test]
fn rough_people_take_things_away_and_bring_them_back() {
    let until = WorldSpec::small().start_ms + 7_200_000;
    let writers = Writers::rough(60, until);
    let spec = WorldSpec { repositories: 6, writers, ..WorldSpec::small() };
    let (mut off, mut on, mut hidden, mut shown) = (0, 0, 0, 0);
    for seed in 0..5 {
        let mut github = GitHub::new(&spec, seed);
        let mut last = github.world().truth();
        for minute in 1..=120 {
            github.advance(spec.start_ms + minute * 60_000);
            let next = github.world().truth();
            for (id, before) in &last.repositories {
                let after = next.repositories.get(id);
                hidden += u32::from(after.is_none());
                let switched = after.map(|it| (before.has_issues_enabled, it.has_issues_enabled));
                off += u32::from(switched == Some((true, false)));
                on += u32::from(switched == Some((false, true)));
            }
            let fresh = next.repositories.keys().filter(|id| !last.repositories.contains_key(id));
            shown += u32::try_from(fresh.count()).unwrap();
            last = next;
        }
    }
    assert!(0 < off && 0 < on && 0 < hidden && 0 < shown, "{off} {on} {hidden} {shown}");
}

fn not_found() -> (&'static Value, &'static Value) {
    static TYPE: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!("NOT_FOUND"));
    (&Value::Null, &TYPE)
}

fn get(github: &mut GitHub, target: &str) -> (u16, Value) {
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: api.github.com\r\nAuthorization: Bearer t\r\n\
         User-Agent: test\r\n\r\n"
    );
    let now = github.now_ms;
    let (status, _, body) = parts(&response(github.handle(request.as_bytes(), now)));
    (status, body)
}
