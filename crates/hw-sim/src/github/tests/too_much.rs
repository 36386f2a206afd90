//! Promises of what is always too much, and of cursors that lead nowhere.

use std::collections::BTreeSet;

use super::*;

#[test]
fn a_request_that_is_too_much_fails_however_often_it_is_retried() {
    let spec = WorldSpec { heaviest: Some(50), ..WorldSpec::small() };
    for seed in 0..6 {
        let mut github = GitHub::new(&spec, seed);
        let mut guises = BTreeSet::new();
        for attempt in 0..9 {
            let now = spec.start_ms + attempt * 30_000;
            let request = post(ISSUES, &json!({ "first": 51 }));
            let (status, _, body) = parts(&response(github.handle(&request, now)));
            assert!(body["data"]["repository"].is_null(), "{body}");
            guises.insert((status, body["errors"][0]["type"].as_str().map(str::to_owned)));
        }
        let statuses: BTreeSet<u16> = guises.iter().map(|(status, _)| *status).collect();
        assert_eq!(statuses, BTreeSet::from([200, 502, 504]), "seed {seed}");
        let too_much = [Fault::BadGateway, Fault::GatewayTimeout, Fault::ResourceLimits];
        assert_eq!(github.fired(), &too_much.map(|fault| (fault, 3)).into());
        assert_eq!(titles(&ask(&mut github, ISSUES, json!({ "first": 50 }))).len(), 6);
    }
}

#[test]
fn what_a_client_can_make_smaller_is_what_weighs() {
    let spec = WorldSpec { heaviest: Some(2), ..WorldSpec::small() };
    let mut github = GitHub::new(&spec, 1);
    let (_, node) = first_issue(&github);
    let nodes = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Issue {
        title labels(first: 100) { totalCount } } } }";
    let light = ask(&mut github, nodes, json!({ "ids": [node, node] }));
    assert!(light.get("errors").is_none(), "{light}");
    github.handle(&post(nodes, &json!({ "ids": [node, node, node] })), spec.start_ms);
    let roots = "{ a: viewer { login } b: viewer { login } c: viewer { login } }";
    github.handle(&post(roots, &json!({})), spec.start_ms);
    assert_eq!(github.fired().values().sum::<u64>(), 2);
}

#[test]
fn exceeded_resources_always_leave_a_root_unanswered() {
    for seed in 0..40 {
        let mut github = GitHub::new(&WorldSpec::small(), seed);
        github.arm(Fault::ResourceLimits, 1);
        let query = "{ repository(owner: \"acme\", name: \"pump\") { id } rateLimit { cost } }";
        let answer = ask(&mut github, query, json!({}));
        assert_eq!(answer["errors"][0]["type"], "RESOURCE_LIMITS_EXCEEDED", "seed {seed}");
        assert!(answer["data"]["repository"].is_null());
    }
}

#[test]
fn a_cursor_that_is_none_is_refused_where_it_was_used() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let query = "query($after: String) {
        bad: repository(owner: \"acme\", name: \"pump\") {
            name issues(first: 2, after: $after) { totalCount nodes { id } } }
        good: repository(owner: \"acme\", name: \"gauge\") { name } }";
    let answer = ask(&mut github, query, json!({ "after": "xyz" }));
    // a list of issues cannot be null, so what holds it is
    assert_eq!(answer["data"], json!({ "bad": null, "good": { "name": "gauge" } }));
    let error = &answer["errors"][0];
    assert_eq!(error["type"], "INVALID_CURSOR_ARGUMENTS");
    assert_eq!(error["message"], "`xyz` does not appear to be a valid cursor.");
    assert_eq!(error["path"], json!(["bad", "issues"]));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
}

#[test]
fn a_cursor_of_another_sort_of_list_is_foreign() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let page = ask(&mut github, ISSUES, json!({}));
    let cursor = &page["data"]["repository"]["issues"]["pageInfo"]["endCursor"];
    for list in [
        "pullRequests(first: 2, after: $after, orderBy: {field: UPDATED_AT, direction: DESC})",
        "issues(first: 2, after: $after, orderBy: {field: CREATED_AT, direction: DESC})",
    ] {
        let query = format!(
            "query($after: String) {{ repository(owner: \"acme\", name: \"pump\") {{
                {list} {{ nodes {{ id }} }} }} }}"
        );
        let answer = ask(&mut github, &query, json!({ "after": cursor }));
        assert_eq!(answer["errors"][0]["type"], "INVALID_CURSOR_ARGUMENTS", "{list}");
    }
}

#[test]
fn a_null_stops_at_the_first_place_that_may_be_null() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let query = "{ repository(owner: \"acme\", name: \"pump\") { issues(first: 2) { nodes {
        number labels(first: 1, after: \"xyz\") { totalCount } } } } }";
    let answer = ask(&mut github, query, json!({}));
    let nodes = answer["data"]["repository"]["issues"]["nodes"].as_array().unwrap();
    assert!(nodes.iter().all(|node| node["number"].is_i64() && node["labels"].is_null()));
    let query = query.replace("labels(", "comments(");
    let answer = ask(&mut github, &query, json!({}));
    assert_eq!(answer["data"]["repository"]["issues"]["nodes"], json!([null, null]));
}
