//! Tests of queries with many roots, ids or probes.

use super::*;

const PROBES: &str = "query($org: String!, $size: Int!) {
    viewer { login }
    organization(login: $org) { repositories(first: $size, orderBy: {field: NAME, direction: ASC}) {
        totalCount nodes { ...Probed } } }
    rateLimit { cost nodeCount } }
    fragment Probed on Repository { databaseId name
        issues(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { ...Newest }
        pullRequests(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) {
            totalCount nodes { updatedAt } }
        discussions(first: 1) { totalCount nodes { updatedAt } } }
    fragment Newest on IssueConnection { totalCount nodes { updatedAt } }";

#[test]
fn graphql_probes_of_all_repositories_cost_one_point() {
    let mut github = SimulatedGitHub::new(&WorldSpec { repositories: 5, ..WorldSpec::small() }, 1);
    let truth = github.world().truth_where(|_| true);
    let response = post_query(&mut github, PROBES, json!({ "org": "acme", "size": 33 }));
    assert_eq!(response["data"]["viewer"]["login"], "anchor");
    assert_eq!(response["data"]["rateLimit"], json!({ "cost": 1, "nodeCount": 132 }));
    let nodes = response["data"]["organization"]["repositories"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 5);
    for node in nodes {
        for (key, kind) in LISTS {
            let times: Vec<&String> = truth
                .threads_of_kind(kind)
                .filter(|thread| thread.repository_id == node["databaseId"])
                .map(|thread| &thread.updated_at)
                .collect();
            let newest = times.iter().max().unwrap();
            let expected = json!({ "totalCount": times.len(), "nodes": [{ "updatedAt": newest }] });
            assert_eq!(node[key], expected, "{key}");
        }
    }
}

#[test]
fn graphql_cost_depends_on_the_requested_sizes_only() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    for (size, cost, nodes) in [(1, 1, 4), (33, 1, 132), (50, 2, 200), (100, 3, 400)] {
        let response = post_query(&mut github, PROBES, json!({ "org": "acme", "size": size }));
        let cost = json!({ "cost": cost, "nodeCount": nodes });
        assert_eq!(response["data"]["rateLimit"], cost, "{size}");
    }
}

#[test]
fn graphql_probes_lag_like_lists_and_replicas() {
    for (list_lag_ms, replica_lag_ms) in [(20_000, 0), (0, 20_000)] {
        let spec = WorldSpec { list_lag_ms, replica_lag_ms, ..WorldSpec::small() };
        let (start, mut seen) = (spec.start_ms, std::collections::BTreeSet::new());
        for seed in 0..20 {
            let mut github = SimulatedGitHub::new(&spec, seed);
            let pump = *github.world().truth().repositories.keys().next().unwrap();
            github.world_mut().create_issue(pump, "new", "", start + 5000);
            let issues = probe_pump_issues(&mut github, start + 10_000);
            let (count, newest) = (&issues["totalCount"], &issues["nodes"][0]["updatedAt"]);
            assert_eq!(*count == 7, *newest == crate::format_rfc3339(start + 5000));
            seen.insert(count.as_i64().unwrap());
            let issues = probe_pump_issues(&mut github, start + 60_000);
            assert_eq!(issues["totalCount"], 7, "in the end all agree");
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [6, 7], "both the new and the old count");
    }
}

#[test]
fn graphql_query_of_a_hundred_aliased_nodes_with_lists_costs_one_point() {
    let spec = WorldSpec { repositories: 100, comments_per_thread: 0, ..WorldSpec::small() };
    let mut github = SimulatedGitHub::new(&spec, 1);
    let truth = github.world().truth();
    let ids = truth.repositories.values().map(|repository| &*repository.node_id);
    let (query, variables) = aliased_query(ids);
    let response = post_query(&mut github, &query, variables);
    assert!(response.get("errors").is_none(), "{}", response["errors"]);
    assert_eq!(response["data"]["rateLimit"]["cost"], 1);
    for (position, repository) in truth.repositories.values().enumerate() {
        let node = &response["data"][format!("r{position}")];
        assert_eq!(node["databaseId"], repository.id);
        assert_eq!(node["issues"]["nodes"].as_array().unwrap().len(), 6);
    }
    let ids = ["R_none", &truth.repositories.values().next().unwrap().node_id];
    let (query, variables) = aliased_query(ids.into_iter());
    let response = post_query(&mut github, &query, variables);
    assert_eq!(response["errors"][0]["path"], json!(["r0"]));
    assert!(response["data"]["r0"].is_null() && response["data"]["r1"].is_object());
}

#[test]
fn graphql_aliased_names_follow_renames_and_fail_one_by_one() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let id = *github.world().truth().repositories.keys().next().unwrap();
    let now = github.now_ms;
    github.world_mut().rename_repository(id, "engine", now);
    let query = "query($a: String!, $b: String!) {
        r0: repository(owner: \"acme\", name: $a) { ...Known }
        r1: repository(owner: \"acme\", name: $b) { ...Known }
        r2: repository(owner: \"acme\", name: \"none\") { ...Known } }
        fragment Known on Repository { databaseId name issues(first: 1) { totalCount } }";
    let response = post_query(&mut github, query, json!({ "a": "pump", "b": "gauge" }));
    let first = json!({ "databaseId": id, "name": "engine", "issues": { "totalCount": 6 } });
    assert_eq!(response["data"]["r0"], first);
    assert_eq!(
        (&response["data"]["r1"]["name"], &response["data"]["r2"]),
        (&json!("gauge"), &Value::Null)
    );
    assert_eq!(response["errors"][0]["path"], json!(["r2"]));
}

#[test]
fn graphql_nodes_of_any_kind_are_found_by_id() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let truth = github.world().truth();
    let repository = truth.repositories.values().next().unwrap();
    let mut ids = vec![repository.node_id.clone(), "R_none".to_owned()];
    ids.extend(
        ThreadKind::ALL.map(|kind| truth.threads_of_kind(kind).next().unwrap().node_id.clone()),
    );
    let query = "query($ids: [ID!]!, $size: Int!) { nodes(ids: $ids) {
        __typename id ...Home ...Said ... on PullRequest { number } ... on Discussion { number } } }
        fragment Home on Repository { name issues(first: $size) { nodes { ...Said } } }
        fragment Said on Issue { number title }";
    let response = post_query(&mut github, query, json!({ "ids": ids, "size": 2 }));
    let nodes = response["data"]["nodes"].as_array().unwrap();
    let types: Vec<&Value> = nodes.iter().map(|node| &node["__typename"]).collect();
    assert_eq!(json!(types), json!(["Repository", null, "Issue", "PullRequest", "Discussion"]));
    assert_eq!(nodes[0]["issues"]["nodes"].as_array().unwrap().len(), 2);
    assert!(nodes[0]["issues"]["nodes"][1]["title"].is_string() && nodes[2]["title"].is_string());
    assert_eq!(response["errors"][0]["path"], json!(["nodes", 1]));
}

const LISTS: [(&str, ThreadKind); 3] = [
    ("issues", ThreadKind::Issue),
    ("pullRequests", ThreadKind::PullRequest),
    ("discussions", ThreadKind::Discussion),
];

fn probe_pump_issues(github: &mut SimulatedGitHub, at_ms: i64) -> Value {
    let mut response = post_query_at(github, PROBES, json!({ "org": "acme", "size": 33 }), at_ms);
    let nodes = response["data"]["organization"]["repositories"]["nodes"].as_array_mut().unwrap();
    nodes.iter_mut().find(|node| node["name"] == "pump").unwrap()["issues"].take()
}

/// Builds a document with one root for each id, the ids and the size in variables.
fn aliased_query<'i>(ids: impl Iterator<Item = &'i str>) -> (String, Value) {
    let (mut names, mut roots) = (String::new(), String::new());
    let mut variables = json!({ "size": 50 });
    for (position, id) in ids.enumerate() {
        names.push_str(&format!(", $i{position}: ID!"));
        roots.push_str(&format!("r{position}: node(id: $i{position}) {{ ...Home }}\n"));
        variables[format!("i{position}")] = json!(id);
    }
    let query = format!(
        "query($size: Int!{names}) {{ {roots} rateLimit {{ cost }} }}
         fragment Home on Repository {{ databaseId issues(first: $size) {{
            pageInfo {{ hasNextPage endCursor }} nodes {{ fullDatabaseId updatedAt }} }} }}"
    );
    (query, variables)
}
