use hw_rules::lane::Surface;
use serde_json::{Value, json};

use super::*;
use crate::github::answers::{answer, error, fault, not_found, probed, with_errors};
use crate::github::repositories::named_query;

#[test]
fn names_bring_repositories_with_their_probes() {
    let page = read_named(&answer(json!({ "r0": probed(1), "r1": probed(2) })), &names(2), 9);
    let page = page.unwrap();
    assert_eq!(ids(&page), [1, 2]);
    assert_eq!((page.probes.len(), page.viewer), (6, None));
}

#[test]
fn a_name_that_is_unknown_or_forbidden_is_missing_and_a_fault_is_not() {
    let data = json!({ "r0": null, "r1": probed(2), "r2": null, "r3": null, "r4": null });
    let below = not_found("r4.owner");
    let errors = vec![not_found("r0"), error("FORBIDDEN", "r2"), fault("r3"), below];
    let page = read_named(&with_errors(data, errors), &names(5), 9).unwrap();
    assert_eq!((ids(&page), page.missing), (vec![2], vec!["name-0".to_owned(), "name-2".into()]));
    let subjects: Vec<_> = page.unreadable.into_iter().map(|row| row.subject).collect();
    assert_eq!(subjects, [Subject::Node("name-3".into()), Subject::Node("name-4".into())]);
}

#[test]
fn what_is_half_there_is_known_by_its_id() {
    let mut broken = probed(1);
    broken["url"] = Value::Null;
    let data = json!({ "r0": broken, "r1": probed(2), "r2": probed(3) });
    let errors = vec![fault("r1.owner"), fault("r2.issues")];
    let page = read_named(&with_errors(data, errors), &names(3), 9).unwrap();
    let subjects: Vec<_> = page.unreadable.iter().map(|row| row.subject.clone()).collect();
    assert_eq!(subjects, [Subject::Node("R_1".into()), Subject::Node("R_2".into())]);
    assert_eq!(ids(&page), [3], "an error in a probe is none of the repository");
    assert!(!page.probes.contains_key(&(3, Surface::Issues)));
}

#[test]
fn two_names_of_one_repository_are_one_repository() {
    let page = read_named(&answer(json!({ "r0": probed(1), "r1": probed(1) })), &names(2), 9);
    assert_eq!(ids(&page.unwrap()), [1]);
}

#[test]
fn a_viewer_that_was_asked_for_must_come() {
    let with = |viewer| read_named(&answer(json!({ "viewer": viewer })), &[], 9);
    let ann = with(json!({ "login": "ann", "databaseId": 31 })).unwrap().viewer;
    assert_eq!(ann, Some(Viewer { id: 31, login: "ann".into() }));
    assert!(matches!(with(Value::Null), Err(Trouble::Garbled(_))));
}

#[test]
fn names_travel_as_variables() {
    let query = named_query("acme", &names(2), &[Surface::Issues], true);
    let has = |text: &str| query.document.contains(text);
    assert!(has("r1: repository(owner: $owner, name: $m1)") && has("issues(first: 1"));
    assert!(has("viewer { login databaseId }") && !has("name-1") && !has("discussions("));
    assert!(!named_query("acme", &names(2), &[], false).document.contains("viewer"));
    let variables = json!({ "owner": "acme", "m0": "name-0", "m1": "name-1" });
    assert_eq!(query.variables, variables);
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("name-{n}")).collect()
}

fn ids(page: &NamedPage) -> Vec<i64> {
    page.observations.iter().map(|seen| seen.key().id).collect()
}
