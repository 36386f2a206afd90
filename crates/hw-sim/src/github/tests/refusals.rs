//! Tests of refused requests, and of missing and moved objects.

use super::*;

#[test]
fn graphql_missing_repository_is_null_and_does_not_affect_others() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "{ a: repository(owner: \"acme\", name: \"pump\") { name }
                   b: repository(owner: \"acme\", name: \"none\") { name } }";
    let response = post_query(&mut github, query, json!({}));
    assert_eq!(response["data"], json!({ "a": { "name": "pump" }, "b": null }));
    assert_eq!(response["errors"][0]["type"], "NOT_FOUND");
    assert_eq!(response["errors"][0]["path"], json!(["b"]));
    assert_eq!(response["errors"][0]["locations"], json!([{ "line": 2, "column": 20 }]));
}

#[test]
fn graphql_renamed_repository_is_found_by_its_old_name_unless_disabled() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let id = *github.world().truth().repositories.keys().next().unwrap();
    let now = github.now_ms;
    github.world_mut().rename_repository(id, "engine", now);
    let query = "{ a: repository(owner: \"acme\", name: \"pump\") { databaseId name }
        b: repository(owner: \"acme\", name: \"pump\", followRenames: false) { name } }";
    let response = post_query(&mut github, query, json!({}));
    assert_eq!(response["data"], json!({ "a": { "databaseId": id, "name": "engine" }, "b": null }));
}

#[test]
fn graphql_transferred_issue_has_a_new_id_and_is_not_found_by_the_old_one() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let crate::TrueThread { id, node_id: node, .. } = first_issue(&github);
    let other = *github.world().truth().repositories.keys().last().unwrap();
    let now = github.now_ms;
    let moved = github.world_mut().transfer_issue(id, other, now);
    let truth = github.world().truth();
    assert!(!truth.threads.contains_key(&(ThreadKind::Issue, id)));
    assert_eq!(truth.threads[&(ThreadKind::Issue, moved)].repository_id, other);
    let response =
        post_query(&mut github, "query($id: ID!) { node(id: $id) { id } }", json!({ "id": node }));
    assert_eq!(
        (&response["data"]["node"], &response["errors"][0]["type"]),
        (&Value::Null, &json!("NOT_FOUND"))
    );
}

#[test]
fn graphql_unknown_field_is_refused_with_githubs_message() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let response = post_query(&mut github, "{ viewer { login shoeSize } }", json!({}));
    assert!(response.get("data").is_none());
    assert_eq!(response["errors"][0]["message"], "Field 'shoeSize' doesn't exist on type 'User'");
    assert_eq!(response["errors"][0]["extensions"]["code"], "undefinedField");
}

#[test]
fn graphql_page_without_a_size_or_beyond_a_hundred_is_refused() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    for (arguments, kind) in
        [("", "MISSING_PAGINATION_BOUNDARIES"), ("(first: 101)", "EXCESSIVE_PAGINATION")]
    {
        let query = format!(
            "{{ repository(owner: \"acme\", name: \"pump\") {{ issues{arguments} {{ nodes {{ id }} }} }} }}"
        );
        assert_eq!(post_query(&mut github, &query, json!({}))["errors"][0]["type"], kind);
    }
    let counting = "{ repository(owner: \"acme\", name: \"pump\") { issues { totalCount } } }";
    assert_eq!(
        post_query(&mut github, counting, json!({}))["data"]["repository"]["issues"]["totalCount"],
        6
    );
}

#[test]
fn graphql_request_without_a_token_is_refused() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let request = b"POST /graphql HTTP/1.1\r\nUser-Agent: t\r\nContent-Length: 2\r\n\r\n{}";
    let refused = parse_response(&expect_response(github.handle_request(request, 0)));
    assert_eq!((refused.status, &refused.body["message"]), (401, &json!("Bad credentials")));
    let request = b"POST /graphql HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n{}";
    assert_eq!(parse_response(&expect_response(github.handle_request(request, 0))).status, 403);
}

#[test]
fn graphql_variable_of_a_wrong_type_is_refused() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "query($first: Int, $order: IssueOrder, $states: [IssueState!], $f: IssueFilters) {
        repository(owner: \"acme\", name: \"pump\") {
            issues(first: $first, orderBy: $order, states: $states, filterBy: $f) { totalCount } } }";
    let order = json!({ "field": "UPDATED_AT", "direction": "DESC" });
    for (name, value, explanation) in [
        ("first", json!("5"), "Could not coerce value \"5\" to Int"),
        ("first", json!(2.5), "Could not coerce value 2.5 to Int"),
        ("first", json!(3_000_000_000_i64), "Could not coerce value 3000000000 to Int"),
        ("order", json!("UPDATED_AT"), "Expected \"UPDATED_AT\" to be a key-value object."),
        ("order", json!({ "field": "UPDATED_AT" }), "Expected value to not be null"),
        (
            "order",
            json!({ "field": "AGE", "direction": "DESC" }),
            "Expected \"AGE\" to be one of: \
            CREATED_AT, UPDATED_AT, COMMENTS",
        ),
        (
            "order",
            json!({ "field": "UPDATED_AT", "direction": "DESC", "then": 1 }),
            "Field is not defined on IssueOrder",
        ),
        ("states", json!(["OPEN", "SHUT"]), "Expected \"SHUT\" to be one of: OPEN, CLOSED"),
        ("states", json!([null]), "Expected value to not be null"),
        ("f", json!({ "since": "yesterday" }), "Could not coerce value \"yesterday\" to DateTime"),
    ] {
        let response = post_query(&mut github, query, json!({ "first": 5, name: value }));
        assert!(response.get("data").is_none(), "{name}: {response}");
        let problem = &response["errors"][0]["extensions"]["problems"][0];
        assert_eq!(problem["explanation"], explanation, "{name}");
    }
    let good = json!({ "first": 5, "order": order, "states": "OPEN", "unused": 7,
                       "f": { "since": "2020-01-01T00:00:00Z" } });
    assert!(post_query(&mut github, query, good).get("errors").is_none());
}

#[test]
fn graphql_refused_variable_names_the_position_in_it() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }";
    let response = post_query(&mut github, query, json!({ "ids": ["x", true] }));
    assert_eq!(
        response["errors"][0]["message"],
        "Variable $ids of type [ID!]! was provided invalid value for 1 \
         (Could not coerce value true to ID)"
    );
    assert_eq!(response["errors"][0]["extensions"]["problems"][0]["path"], json!([1]));
}

#[test]
fn graphql_page_cannot_be_requested_from_both_ends() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "{ repository(owner: \"acme\", name: \"pump\") {
        issues(first: 1, last: 1) { totalCount } } }";
    let response = post_query(&mut github, query, json!({}));
    assert!(response.get("data").is_none());
    assert_eq!(
        response["errors"][0]["message"],
        "Passing both `first` and `last` to paginate the `issues` connection is not supported."
    );
}

#[test]
fn graphql_edge_honors_include_and_skip() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let query = "query($with: Boolean!) { repository(owner: \"acme\", name: \"pump\") {
        issues(first: 1) { edges { cursor @include(if: $with) node @skip(if: $with) { id } } } } }";
    for (with, key) in [(true, "cursor"), (false, "node")] {
        let response = post_query(&mut github, query, json!({ "with": with }));
        let edge =
            response["data"]["repository"]["issues"]["edges"][0].as_object().unwrap().clone();
        assert_eq!(edge.keys().collect::<Vec<_>>(), [key]);
    }
}

#[test]
fn graphql_name_that_was_taken_over_never_leads_back() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let truth = github.world().truth();
    let ids: Vec<i64> = truth.repositories.keys().copied().collect();
    let now = github.now_ms;
    let world = github.world_mut();
    world.rename_repository(ids[0], "engine", now);
    world.rename_repository(ids[1], "pump", now + 10_000);
    let query = "{ repository(owner: \"acme\", name: \"pump\") { databaseId } }";
    for (at_ms, id) in [(now + 5000, ids[0]), (now + 10_000, ids[1])] {
        let response = post_query_at(&mut github, query, json!({}), at_ms);
        assert_eq!(response["data"]["repository"]["databaseId"], id);
    }
    github.world_mut().delete_repository(ids[1], now + 20_000);
    assert!(
        post_query_at(&mut github, query, json!({}), now + 20_000)["data"]["repository"].is_null()
    );
}
