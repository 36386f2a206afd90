use hw_rules::item::ThreadKind;
use serde_json::{Value, json};

use super::*;
use crate::github::sample_responses::{
    graphql_error, not_found_error, probed_repository_json, response_with_data,
    response_with_errors, server_error,
};

#[test]
fn named_repositories_have_probes() {
    let page = read_named(
        &response_with_data(
            json!({ "r0": probed_repository_json(1), "r1": probed_repository_json(2) }),
        ),
        &repository_names(2),
    );
    let page = page.unwrap();
    assert_eq!(repository_ids(&page), [1, 2]);
    assert_eq!((page.probes.len(), page.viewer), (6, None));
}

#[test]
fn named_repositories_are_missing_if_unknown_or_forbidden_but_not_on_a_fault() {
    let data =
        json!({ "r0": null, "r1": probed_repository_json(2), "r2": null, "r3": null, "r4": null });
    let below = not_found_error("r4.owner");
    let errors =
        vec![not_found_error("r0"), graphql_error("FORBIDDEN", "r2"), server_error("r3"), below];
    let page = read_named(&response_with_errors(data, errors), &repository_names(5)).unwrap();
    assert_eq!(
        (repository_ids(&page), page.missing),
        (
            vec![2],
            vec![
                RepositoryName::from_known("acme", "name-0"),
                RepositoryName::from_known("acme", "name-2")
            ]
        )
    );
    let subjects: Vec<_> = page.unreadable.into_iter().map(|row| row.subject).collect();
    assert_eq!(
        subjects,
        [RowSubject::Node("acme/name-3".into()), RowSubject::Node("acme/name-4".into())]
    );
}

#[test]
fn named_repositories_identify_a_partial_one_by_its_id() {
    let mut broken = probed_repository_json(1);
    broken["url"] = Value::Null;
    let data =
        json!({ "r0": broken, "r1": probed_repository_json(2), "r2": probed_repository_json(3) });
    let errors = vec![server_error("r1.owner"), server_error("r2.issues")];
    let page = read_named(&response_with_errors(data, errors), &repository_names(3)).unwrap();
    let subjects: Vec<_> = page.unreadable.iter().map(|row| row.subject.clone()).collect();
    assert_eq!(subjects, [RowSubject::Node("R_1".into()), RowSubject::Node("R_2".into())]);
    assert_eq!(repository_ids(&page), [3], "an error in a probe does not affect the repository");
    assert!(!page.probes.contains_key(&(3, Surface::Threads(ThreadKind::Issue))));
}

#[test]
fn named_repositories_contain_one_with_two_names_once() {
    let page = read_named(
        &response_with_data(
            json!({ "r0": probed_repository_json(1), "r1": probed_repository_json(1) }),
        ),
        &repository_names(2),
    );
    assert_eq!(repository_ids(&page.unwrap()), [1]);
}

#[test]
fn named_repositories_require_the_requested_viewer() {
    let named = json!({ "viewer": { "login": "ann", "databaseId": 31 } });
    let viewer = read_named(&response_with_data(named), &[]).unwrap().viewer;
    assert_eq!(viewer, Some(Viewer { id: 31, login: "ann".into() }));
    let anonymous = response_with_data(json!({ "viewer": null }));
    let read = read_named(&anonymous, &[]);
    assert!(matches!(read, Err(SourceError::InvalidResponse(_))));
}

#[test]
fn named_repositories_query_passes_names_as_variables() {
    let query = named_query(&repository_names(2), &[Surface::Threads(ThreadKind::Issue)], true);
    for (text, is_included) in [
        ("r1: repository(owner: $o1, name: $m1)", true),
        ("issues(first: 1", true),
        ("viewer { login databaseId }", true),
        ("name-1", false),
        ("discussions(", false),
    ] {
        assert_eq!(query.document.contains(text), is_included, "{text}");
    }
    assert!(!named_query(&repository_names(2), &[], false).document.contains("viewer"));
    let variables = json!({ "o0": "acme", "m0": "name-0", "o1": "acme", "m1": "name-1" });
    assert_eq!(query.variables, variables);
}

fn repository_names(count: usize) -> Vec<RepositoryName> {
    (0..count).map(|n| RepositoryName::from_known("acme", &format!("name-{n}"))).collect()
}

fn repository_ids(page: &NamedRepositories) -> Vec<i64> {
    page.observations.iter().map(|observation| observation.key().id).collect()
}
