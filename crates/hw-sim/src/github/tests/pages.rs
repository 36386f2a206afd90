//! Promises of pages, prices and fields.

use super::*;

#[test]
fn a_page_is_newest_first_and_ends_where_it_says() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let mut seen = Vec::new();
    let mut after = Value::Null;
    loop {
        let page =
            ask(&mut github, ISSUES, json!({ "after": after }))["data"]["repository"]["issues"]
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
    assert!(seen.is_sorted_by(|a, b| b <= a));
}

#[test]
fn a_cursor_survives_the_deletion_of_its_item() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let whole = titles(&ask(&mut github, ISSUES, json!({ "first": 100 })));
    let page = ask(&mut github, ISSUES, json!({}));
    let edge = &page["data"]["repository"]["issues"]["edges"][1];
    let id = edge["node"]["fullDatabaseId"].as_str().unwrap().parse().unwrap();
    let now = github.now_ms;
    github.world_mut().delete_issue(id, now);
    let rest = ask(&mut github, ISSUES, json!({ "after": edge["cursor"], "first": 100 }));
    assert_eq!(titles(&rest), whole[2..]);
}

#[test]
fn the_price_of_33_repositories_with_three_connections_is_one_point() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let query = "{ organization(login: \"acme\") { repositories(first: 33) { nodes {
        a: issues(first: 1) { totalCount nodes { updatedAt } }
        b: pullRequests(first: 1) { totalCount nodes { updatedAt } }
        c: discussions(first: 1) { totalCount nodes { updatedAt } } } } }
        rateLimit { cost nodeCount used } }";
    let answer = ask(&mut github, query, json!({}));
    assert_eq!(answer["data"]["rateLimit"], json!({ "cost": 1, "nodeCount": 132, "used": 1 }));
    assert_eq!(answer["data"]["organization"]["repositories"]["nodes"][0]["a"]["totalCount"], 6);
    assert_eq!(github.requests().points, 1);
}

#[test]
fn labels_and_closing_references_make_a_page_of_pull_requests_cost_two() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let query = "{ repository(owner: \"acme\", name: \"pump\") { pullRequests(first: 100) { nodes {
        labels(first: 20) { nodes { name } } closingIssuesReferences(first: 10) { nodes { number } } } } }
        rateLimit { cost } }";
    assert_eq!(ask(&mut github, query, json!({}))["data"]["rateLimit"]["cost"], 2);
}

#[test]
fn the_log_says_what_was_asked() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    ask(&mut github, ISSUES, json!({ "first": 3 }));
    let entry = &github.requests().entries[0];
    assert!(
        entry.what.starts_with(
            "repository(owner: \"acme\", name: \"pump\") { issues(first: 3, after: null"
        ),
        "{}",
        entry.what
    );
    assert_eq!((entry.status, entry.points), (200, 1));
}

#[test]
fn every_plain_field_of_every_node_has_a_value_of_its_type() {
    let mut github = GitHub::new(&WorldSpec { comments_per_thread: 6, ..WorldSpec::small() }, 5);
    let nodes = every_sort_of_node(&mut github);
    assert_eq!(nodes.len(), 10, "{nodes:?}");
    for (type_name, id) in nodes {
        let fields = graphql::leaves(&type_name);
        let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
        let query = format!(
            "query($id: ID!) {{ node(id: $id) {{ ... on {type_name} {{ {} }} }} }}",
            names.join(" ")
        );
        let node = ask(&mut github, &query, json!({ "id": id }))["data"]["node"].take();
        for (name, wanted) in &fields {
            let value = &node[name];
            let fits = match wanted.trim_end_matches('!') {
                "Int" => value.is_i64(),
                "Boolean" => value.is_boolean(),
                _ => value.is_string(),
            };
            let nullable = !wanted.ends_with('!') && value.is_null();
            assert!(fits || nullable, "{type_name}.{name}: {wanted} is {value}");
        }
    }
}

/// The id of one object of each type that a walk through everything meets.
fn every_sort_of_node(github: &mut GitHub) -> BTreeMap<String, String> {
    let query = "{ organization(login: \"acme\") { __typename id repositories(first: 5) { nodes { __typename id
        issues(first: 20) { nodes { __typename id comments(first: 5) { nodes { __typename id } } } }
        pullRequests(first: 20) { nodes { __typename id reviews(first: 5) { nodes { __typename id
            comments(first: 5) { nodes { __typename id } } } } } }
        discussions(first: 20) { nodes { __typename id comments(first: 5) { nodes { __typename id
            replies(first: 5) { nodes { __typename id } } } } } } } } }
        viewer { __typename id } }";
    let mut found = BTreeMap::new();
    let mut open = vec![ask(github, query, json!({}))];
    while let Some(value) = open.pop() {
        if let (Some(name), Some(id)) = (value["__typename"].as_str(), value["id"].as_str()) {
            found.insert(name.to_owned(), id.to_owned());
        }
        open.extend(value.as_object().into_iter().flat_map(|it| it.values().cloned()));
        open.extend(value.as_array().into_iter().flatten().cloned());
    }
    found
}
