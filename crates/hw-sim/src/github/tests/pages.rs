//! Tests of pages, costs and fields.

use super::*;

#[test]
fn page_is_newest_first_and_has_the_cursor_of_its_last_row() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let mut seen = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = post_query(&mut github, ISSUES, json!({ "after": after }))["data"]["repository"]
            ["issues"]
            .take();
        assert_eq!(page["totalCount"], 6);
        let edges = page["edges"].as_array().unwrap().clone();
        seen.extend(
            edges.iter().map(|edge| edge["node"]["updatedAt"].as_str().unwrap().to_owned()),
        );
        after = page["pageInfo"]["endCursor"].clone();
        assert_eq!(after, edges.last().unwrap()["cursor"]);
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.is_sorted_by(|a, b| a >= b));
}

#[test]
fn cursor_survives_the_deletion_of_its_item() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let whole = issue_titles(&post_query(&mut github, ISSUES, json!({ "first": 100 })));
    let page = post_query(&mut github, ISSUES, json!({}));
    let edge = &page["data"]["repository"]["issues"]["edges"][1];
    let id = edge["node"]["fullDatabaseId"].as_str().unwrap().parse().unwrap();
    let now = github.now_ms;
    github.world_mut().delete_issue(id, now);
    let rest = post_query(&mut github, ISSUES, json!({ "after": edge["cursor"], "first": 100 }));
    assert_eq!(issue_titles(&rest), whole[2..]);
}

#[test]
fn graphql_cost_of_33_repositories_with_three_connections_is_one_point() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "{ organization(login: \"acme\") { repositories(first: 33) { nodes {
        a: issues(first: 1) { totalCount nodes { updatedAt } }
        b: pullRequests(first: 1) { totalCount nodes { updatedAt } }
        c: discussions(first: 1) { totalCount nodes { updatedAt } } } } }
        rateLimit { cost nodeCount used } }";
    let response = post_query(&mut github, query, json!({}));
    assert_eq!(response["data"]["rateLimit"], json!({ "cost": 1, "nodeCount": 132, "used": 1 }));
    assert_eq!(response["data"]["organization"]["repositories"]["nodes"][0]["a"]["totalCount"], 6);
    assert_eq!(github.request_log().points, 1);
}

#[test]
fn graphql_cost_of_pull_requests_with_labels_and_closing_references_is_two() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "{ repository(owner: \"acme\", name: \"pump\") { pullRequests(first: 100) { nodes {
        labels(first: 20) { nodes { name } } closingIssuesReferences(first: 10) { nodes { number } } } } }
        rateLimit { cost } }";
    assert_eq!(post_query(&mut github, query, json!({}))["data"]["rateLimit"]["cost"], 2);
}

#[test]
fn request_log_summarizes_queries() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    post_query(&mut github, ISSUES, json!({ "first": 3 }));
    let entry = &github.request_log().entries[0];
    assert!(
        entry.summary.starts_with(
            "repository(owner: \"acme\", name: \"pump\") { issues(first: 3, after: null"
        ),
        "{}",
        entry.summary
    );
    assert_eq!((entry.status, entry.points), (200, 1));
}

#[test]
fn node_fields_have_values_of_their_types() {
    let mut github =
        SimulatedGitHub::new(&WorldSpec { comments_per_thread: 6, ..WorldSpec::small() }, 5);
    let nodes = one_node_per_type(&mut github);
    assert_eq!(nodes.len(), 10, "{nodes:?}");
    for (type_name, id) in nodes {
        let fields = graphql::leaf_fields(&type_name);
        let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
        let query = format!(
            "query($id: ID!) {{ node(id: $id) {{ ... on {type_name} {{ {} }} }} }}",
            names.join(" ")
        );
        let node = post_query(&mut github, &query, json!({ "id": id }))["data"]["node"].take();
        for (name, field_type) in &fields {
            let value = &node[name];
            let fits = match field_type.trim_end_matches('!') {
                "Int" => value.is_i64(),
                "Boolean" => value.is_boolean(),
                _ => value.is_string(),
            };
            let is_allowed_null = !field_type.ends_with('!') && value.is_null();
            assert!(fits || is_allowed_null, "{type_name}.{name}: {field_type} is {value}");
        }
    }
}

/// Returns the id of one object of each type.
fn one_node_per_type(github: &mut SimulatedGitHub) -> BTreeMap<String, String> {
    let query = "{ organization(login: \"acme\") { __typename id repositories(first: 5) { nodes { __typename id
        issues(first: 20) { nodes { __typename id comments(first: 5) { nodes { __typename id } } } }
        pullRequests(first: 20) { nodes { __typename id reviews(first: 5) { nodes { __typename id
            comments(first: 5) { nodes { __typename id } } } } } }
        discussions(first: 20) { nodes { __typename id comments(first: 5) { nodes { __typename id
            replies(first: 5) { nodes { __typename id } } } } } } } } }
        viewer { __typename id } }";
    let mut found = BTreeMap::new();
    let mut open = vec![post_query(github, query, json!({}))];
    while let Some(value) = open.pop() {
        if let (Some(name), Some(id)) = (value["__typename"].as_str(), value["id"].as_str()) {
            found.insert(name.to_owned(), id.to_owned());
        }
        open.extend(value.as_object().into_iter().flat_map(|fields| fields.values().cloned()));
        open.extend(value.as_array().into_iter().flatten().cloned());
    }
    found
}
