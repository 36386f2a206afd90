//! Tests of requests that are too heavy, and of invalid cursors.

use std::collections::BTreeSet;

use super::*;

#[test]
fn heavy_request_fails_on_every_retry() {
    let spec = WorldSpec { max_request_weight: Some(50), ..WorldSpec::small() };
    for seed in 0..6 {
        let mut github = SimulatedGitHub::new(&spec, seed);
        let mut statuses = BTreeSet::new();
        for attempt in 0..9 {
            let now = spec.start_ms + attempt * 30_000;
            let request = graphql_request(ISSUES, &json!({ "first": 51 }));
            let refused = parse_response(&expect_response(github.handle_request(&request, now)));
            assert!(refused.body["data"]["repository"].is_null(), "{}", refused.body);
            statuses.insert(refused.status);
        }
        assert_eq!(statuses, BTreeSet::from([200, 502, 504]), "seed {seed}");
        let faults = [ApiFault::BadGateway, ApiFault::GatewayTimeout, ApiFault::ResourceLimits];
        assert_eq!(github.fired_faults(), &faults.map(|fault| (fault, 3)).into());
        assert_eq!(issue_titles(&post_query(&mut github, ISSUES, json!({ "first": 50 }))).len(), 6);
    }
}

#[test]
fn heavy_request_is_one_with_many_ids_or_roots() {
    let spec = WorldSpec { max_request_weight: Some(2), ..WorldSpec::small() };
    let mut github = SimulatedGitHub::new(&spec, 1);
    let node = first_issue(&github).node_id;
    let nodes = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Issue {
        title labels(first: 100) { totalCount } } } }";
    let light = post_query(&mut github, nodes, json!({ "ids": [node, node] }));
    assert!(light.get("errors").is_none(), "{light}");
    github.handle_request(
        &graphql_request(nodes, &json!({ "ids": [node, node, node] })),
        spec.start_ms,
    );
    let roots = "{ a: viewer { login } b: viewer { login } c: viewer { login } }";
    github.handle_request(&graphql_request(roots, &json!({})), spec.start_ms);
    assert_eq!(github.fired_faults().values().sum::<u64>(), 2);
}

#[test]
fn resource_limits_always_leave_a_root_unanswered() {
    for seed in 0..40 {
        let mut github = SimulatedGitHub::new(&WorldSpec::small(), seed);
        github.arm_fault(ApiFault::ResourceLimits, 1);
        let query = "{ repository(owner: \"acme\", name: \"pump\") { id } rateLimit { cost } }";
        let response = post_query(&mut github, query, json!({}));
        assert_eq!(response["errors"][0]["type"], "RESOURCE_LIMITS_EXCEEDED", "seed {seed}");
        assert!(response["data"]["repository"].is_null());
    }
}

#[test]
fn cursor_that_is_invalid_is_refused_at_its_field() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "query($after: String) {
        bad: repository(owner: \"acme\", name: \"pump\") {
            name issues(first: 2, after: $after) { totalCount nodes { id } } }
        good: repository(owner: \"acme\", name: \"gauge\") { name } }";
    let response = post_query(&mut github, query, json!({ "after": "xyz" }));
    // a list of issues cannot be null, so its parent is
    assert_eq!(response["data"], json!({ "bad": null, "good": { "name": "gauge" } }));
    let error = &response["errors"][0];
    assert_eq!(error["type"], "INVALID_CURSOR_ARGUMENTS");
    assert_eq!(error["message"], "`xyz` does not appear to be a valid cursor.");
    assert_eq!(error["path"], json!(["bad", "issues"]));
    assert_eq!(response["errors"].as_array().unwrap().len(), 1);
}

#[test]
fn cursor_of_another_kind_of_list_is_refused() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let page = post_query(&mut github, ISSUES, json!({}));
    let cursor = &page["data"]["repository"]["issues"]["pageInfo"]["endCursor"];
    for list in [
        "pullRequests(first: 2, after: $after, orderBy: {field: UPDATED_AT, direction: DESC})",
        "issues(first: 2, after: $after, orderBy: {field: CREATED_AT, direction: DESC})",
    ] {
        let query = format!(
            "query($after: String) {{ repository(owner: \"acme\", name: \"pump\") {{
                {list} {{ nodes {{ id }} }} }} }}"
        );
        let response = post_query(&mut github, &query, json!({ "after": cursor }));
        assert_eq!(response["errors"][0]["type"], "INVALID_CURSOR_ARGUMENTS", "{list}");
    }
}

#[test]
fn null_propagates_to_the_first_nullable_parent() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "{ repository(owner: \"acme\", name: \"pump\") { issues(first: 2) { nodes {
        number labels(first: 1, after: \"xyz\") { totalCount } } } } }";
    let response = post_query(&mut github, query, json!({}));
    let nodes = response["data"]["repository"]["issues"]["nodes"].as_array().unwrap();
    assert!(nodes.iter().all(|node| node["number"].is_i64() && node["labels"].is_null()));
    let query = query.replace("labels(", "comments(");
    let response = post_query(&mut github, &query, json!({}));
    assert_eq!(response["data"]["repository"]["issues"]["nodes"], json!([null, null]));
}
