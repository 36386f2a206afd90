//! Promises of what is refused, missing or moved.

use super::*;

#[test]
fn a_missing_repository_is_null_and_named_while_the_others_are_fine() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let query = "{ a: repository(owner: \"acme\", name: \"pump\") { name }
                   b: repository(owner: \"acme\", name: \"none\") { name } }";
    let answer = ask(&mut github, query, json!({}));
    assert_eq!(answer["data"], json!({ "a": { "name": "pump" }, "b": null }));
    assert_eq!(answer["errors"][0]["type"], "NOT_FOUND");
    assert_eq!(answer["errors"][0]["path"], json!(["b"]));
    assert_eq!(answer["errors"][0]["locations"], json!([{ "line": 2, "column": 20 }]));
}

#[test]
fn a_renamed_repository_answers_to_its_old_name_unless_told_not_to() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let id = *github.world().truth().repositories.keys().next().unwrap();
    let now = github.now_ms;
    github.world_mut().rename_repository(id, "engine", now);
    let query = "{ a: repository(owner: \"acme\", name: \"pump\") { databaseId name }
        b: repository(owner: \"acme\", name: \"pump\", followRenames: false) { name } }";
    let answer = ask(&mut github, query, json!({}));
    assert_eq!(answer["data"], json!({ "a": { "databaseId": id, "name": "engine" }, "b": null }));
}

#[test]
fn a_transferred_issue_has_a_new_id_and_the_old_one_leads_nowhere() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let (id, node) = first_issue(&github);
    let other = *github.world().truth().repositories.keys().last().unwrap();
    let now = github.now_ms;
    let moved = github.world_mut().transfer_issue(id, other, now);
    let truth = github.world().truth();
    assert!(!truth.issues.contains_key(&id));
    assert_eq!(truth.issues[&moved].repository_id, other);
    let answer =
        ask(&mut github, "query($id: ID!) { node(id: $id) { id } }", json!({ "id": node }));
    assert_eq!(
        (&answer["data"]["node"], &answer["errors"][0]["type"]),
        (&Value::Null, &json!("NOT_FOUND"))
    );
}

#[test]
fn an_unknown_field_is_refused_in_githubs_words() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let answer = ask(&mut github, "{ viewer { login shoeSize } }", json!({}));
    assert!(answer.get("data").is_none());
    assert_eq!(answer["errors"][0]["message"], "Field 'shoeSize' doesn't exist on type 'User'");
    assert_eq!(answer["errors"][0]["extensions"]["code"], "undefinedField");
}

#[test]
fn a_page_without_a_size_or_beyond_a_hundred_is_refused() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    for (arguments, kind) in
        [("", "MISSING_PAGINATION_BOUNDARIES"), ("(first: 101)", "EXCESSIVE_PAGINATION")]
    {
        let query = format!(
            "{{ repository(owner: \"acme\", name: \"pump\") {{ issues{arguments} {{ nodes {{ id }} }} }} }}"
        );
        assert_eq!(ask(&mut github, &query, json!({}))["errors"][0]["type"], kind);
    }
    let counting = "{ repository(owner: \"acme\", name: \"pump\") { issues { totalCount } } }";
    assert_eq!(
        ask(&mut github, counting, json!({}))["data"]["repository"]["issues"]["totalCount"],
        6
    );
}

#[test]
fn without_a_token_there_is_no_answer() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let request = b"POST /graphql HTTP/1.1\r\nUser-Agent: t\r\nContent-Length: 2\r\n\r\n{}";
    let (status, _, body) = parts(&response(github.handle(request, 0)));
    assert_eq!((status, &body["message"]), (401, &json!("Bad credentials")));
    let request = b"POST /graphql HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n{}";
    assert_eq!(parts(&response(github.handle(request, 0))).0, 403);
}
