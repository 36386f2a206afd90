use hw_rules::probe::Probe;
use hw_rules::time::SourceTime;
use serde_json::{Value, json};

use super::super::answers::{answer, edge, error, fault, probed, repository, with_errors};
use super::*;
use crate::page::Subject;

const EACH: [Surface; 3] = Surface::THREADS;

#[test]
fn a_list_brings_repositories_their_probes_and_the_viewer() {
    let list = read_list(&answer(list(&[edge(1, &probed(1)), edge(2, &probed(2))])), None, 9);
    let list = list.unwrap();
    assert_eq!(list.viewer, Some(Viewer { id: 31, login: "ann".into() }));
    assert_eq!(ids(&list), [1, 2]);
    assert_eq!(list.probes.len(), 6);
    let newest = |id| Some((id, SourceTime::parse("2026-01-03T00:00:00Z").unwrap()));
    let probe = |surface| list.probes[&(2, surface)].clone();
    assert_eq!(probe(Surface::Issues), Probe { newest: newest(11), total_count: 3 });
    let large = newest(9_007_199_254_740_993);
    assert_eq!(probe(Surface::PullRequests), Probe { newest: large, total_count: 2 });
    assert_eq!(probe(Surface::Discussions), Probe { newest: None, total_count: 0 });
}

#[test]
fn a_probe_that_cannot_be_read_costs_its_repository_nothing() {
    let mut node = probed(1);
    node["issues"] = Value::Null;
    node["pullRequests"]["nodes"] = json!([null]);
    let other = probed(2);
    let edges = [edge(1, &node), edge(2, &other), edge(3, &repository(3))];
    let errors = vec![
        fault("organization.repositories.edges.0.node.issues"),
        fault("organization.repositories.edges.1.node.discussions.nodes.0.updatedAt"),
    ];
    let list = read_list(&with_errors(list(&edges), errors), None, 9).unwrap();
    assert_eq!((ids(&list), list.page.unreadable.len()), (vec![1, 2, 3], 0));
    let probes: Vec<_> = list.probes.keys().copied().collect();
    let issues_and_pulls = [(2, Surface::Issues), (2, Surface::PullRequests)];
    assert_eq!(probes, [&[(1, Surface::Discussions)][..], &issues_and_pulls].concat());
}

#[test]
fn any_other_error_inside_a_row_makes_it_unreadable() {
    for inside in ["node.owner", "node.hasIssuesEnabled", "node", "cursor", "node.issuesOfOld"] {
        let place = format!("organization.repositories.edges.0.{inside}");
        let of_a_probe = fault("organization.repositories.edges.0.node.issues");
        let errors = vec![of_a_probe, fault(&place)];
        let list = with_errors(list(&[edge(1, &probed(1)), edge(2, &probed(2))]), errors);
        let list = read_list(&list, None, 9).unwrap();
        assert_eq!(ids(&list), [2], "{inside}");
        assert_eq!(list.page.unreadable[0].subject, Subject::Node("R_1".into()));
    }
}

#[test]
fn a_row_that_a_probe_took_with_it_is_unreadable() {
    let errors = vec![fault("organization.repositories.edges.0.node.issues")];
    let list = with_errors(list(&[edge(1, &Value::Null)]), errors);
    let list = read_list(&list, None, 9).unwrap();
    assert_eq!(list.page.unreadable[0].reason, "Something went wrong");
}

#[test]
fn an_organization_that_is_missing_is_hidden() {
    let data = json!({ "organization": null, "viewer": { "login": "ann", "databaseId": 31 } });
    let missing = with_errors(data.clone(), vec![error("NOT_FOUND", "organization")]);
    assert!(matches!(read_list(&missing, None, 9), Err(Trouble::Hidden(_))));
    assert!(matches!(read_list(&answer(data), None, 9), Err(Trouble::Garbled(_))));
}

#[test]
fn the_first_page_must_say_who_is_asking() {
    let mut anonymous = list(&[edge(1, &probed(1))]);
    anonymous["viewer"] = Value::Null;
    let anonymous = answer(anonymous);
    assert!(matches!(read_list(&anonymous, None, 9), Err(Trouble::Garbled(_))));
    let later = read_list(&anonymous, Some(&Cursor("c0".into())), 9).unwrap();
    assert_eq!(later.viewer, None);
}

#[test]
fn a_full_page_with_all_probes_is_a_hundred_connections() {
    let query = list_query("acme", 33, None, &EACH);
    let count = |text: &str| query.document.matches(text).count();
    assert_eq!((count("(first: $first"), count("(first: 1,")), (1, 3));
    assert_eq!(count("(first"), 4, "1 + 33 * 3 = 100 connections: one point");
    assert_eq!(count("rateLimit { cost }"), 1);
    assert_eq!(query.variables, json!({ "login": "acme", "first": 33, "after": null }));
}

#[test]
fn a_list_probes_what_it_is_asked_to_and_introduces_itself_once() {
    let after = Cursor("c1".into());
    let asks = |after, surfaces: &[Surface]| {
        let document = list_query("acme", 33, after, surfaces).document;
        ["viewer {", "issues(", "pullRequests(", "discussions("].map(|text| document.contains(text))
    };
    assert_eq!(asks(None, &[]), [true, false, false, false]);
    assert_eq!(asks(Some(&after), &EACH), [false, true, true, true]);
    let chosen = [Surface::Repositories, Surface::Issues];
    assert_eq!(asks(Some(&after), &chosen), [false, true, false, false]);
}

fn list(edges: &[Value]) -> Value {
    json!({
        "viewer": { "login": "ann", "databaseId": 31 },
        "organization": { "repositories": {
            "totalCount": edges.len(), "edges": edges,
            "pageInfo": { "hasNextPage": false, "endCursor": null },
        } },
    })
}

fn ids(list: &ListPage) -> Vec<i64> {
    list.page.observations.iter().map(|seen| seen.key().id).collect()
}
