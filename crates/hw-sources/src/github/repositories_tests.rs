use hw_rules::item::ThreadKind;
use hw_rules::probe::ListingProbe;
use hw_rules::source_time::SourceTime;
use serde_json::{Value, json};

use super::super::sample_responses::{
    edge_json, graphql_error, probed_repository_json, repository_json, response_with_data,
    response_with_errors, server_error,
};
use super::*;
use hw_rules::row_subject::RowSubject;

const THREAD_SURFACES: [Surface; 3] = Surface::THREADS;

#[test]
fn repository_list_has_probes_and_the_viewer() {
    let list = read_list(
        &response_with_data(list_json(&[
            edge_json(1, &probed_repository_json(1)),
            edge_json(2, &probed_repository_json(2)),
        ])),
        None,
    );
    let list = list.unwrap();
    assert_eq!(list.viewer, Some(Viewer { id: 31, login: "ann".into() }));
    assert_eq!(repository_ids(&list), [1, 2]);
    assert_eq!(list.probes.len(), 6);
    for (surface, newest_id, total_count) in [
        (Surface::Threads(ThreadKind::Issue), Some(11), 3),
        (Surface::Threads(ThreadKind::PullRequest), Some(9_007_199_254_740_993), 2),
        (Surface::Threads(ThreadKind::Discussion), None, 0),
    ] {
        let newest = newest_id.map(|id| (id, SourceTime::parse("2026-01-03T00:00:00Z").unwrap()));
        assert_eq!(list.probes[&(2, surface)], ListingProbe { newest, total_count });
    }
}

#[test]
fn repository_list_reads_a_repository_with_an_unreadable_probe() {
    let mut node = probed_repository_json(1);
    node["issues"] = Value::Null;
    node["pullRequests"]["nodes"] = json!([null]);
    let other = probed_repository_json(2);
    let edges = [edge_json(1, &node), edge_json(2, &other), edge_json(3, &repository_json(3))];
    let errors = vec![
        server_error("repositoryOwner.repositories.edges.0.node.issues"),
        server_error("repositoryOwner.repositories.edges.1.node.discussions.nodes.0.updatedAt"),
    ];
    let list = read_list(&response_with_errors(list_json(&edges), errors), None).unwrap();
    assert_eq!((repository_ids(&list), list.items_page.unreadable.len()), (vec![1, 2, 3], 0));
    let probes: Vec<_> = list.probes.keys().copied().collect();
    let issues_and_pulls =
        [(2, Surface::Threads(ThreadKind::Issue)), (2, Surface::Threads(ThreadKind::PullRequest))];
    assert_eq!(
        probes,
        [&[(1, Surface::Threads(ThreadKind::Discussion))][..], &issues_and_pulls].concat()
    );
}

#[test]
fn repository_list_row_with_any_other_error_is_unreadable() {
    for inside in ["node.owner", "node.hasIssuesEnabled", "node", "cursor", "node.issuesOfOld"] {
        let path = format!("repositoryOwner.repositories.edges.0.{inside}");
        let probe_error = server_error("repositoryOwner.repositories.edges.0.node.issues");
        let errors = vec![probe_error, server_error(&path)];
        let list = response_with_errors(
            list_json(&[
                edge_json(1, &probed_repository_json(1)),
                edge_json(2, &probed_repository_json(2)),
            ]),
            errors,
        );
        let list = read_list(&list, None).unwrap();
        assert_eq!(repository_ids(&list), [2], "{inside}");
        assert_eq!(list.items_page.unreadable[0].subject, RowSubject::Node("R_1".into()));
    }
}

#[test]
fn repository_list_row_is_unreadable_if_a_probe_made_it_null() {
    let errors = vec![server_error("repositoryOwner.repositories.edges.0.node.issues")];
    let list = response_with_errors(list_json(&[edge_json(1, &Value::Null)]), errors);
    let list = read_list(&list, None).unwrap();
    assert_eq!(list.items_page.unreadable[0].reason, "Something went wrong");
}

#[test]
fn repository_list_of_a_missing_owner_is_hidden() {
    let data = json!({ "repositoryOwner": null, "viewer": { "login": "ann", "databaseId": 31 } });
    let missing =
        response_with_errors(data.clone(), vec![graphql_error("NOT_FOUND", "repositoryOwner")]);
    assert!(matches!(read_list(&missing, None), Err(SourceError::Hidden(_))));
    // GitHub has no error for a login that nobody has
    let unknown = read_list(&response_with_data(data.clone()), None);
    assert!(matches!(unknown, Err(SourceError::Hidden(_))));
    let fault = response_with_errors(data, vec![server_error("repositoryOwner")]);
    assert!(!matches!(read_list(&fault, None), Ok(_) | Err(SourceError::Hidden(_))));
}

#[test]
fn repository_list_requires_the_viewer_on_its_first_page() {
    let mut anonymous = list_json(&[edge_json(1, &probed_repository_json(1))]);
    anonymous["viewer"] = Value::Null;
    let anonymous = response_with_data(anonymous);
    assert!(matches!(read_list(&anonymous, None), Err(SourceError::InvalidResponse(_))));
    let later = read_list(&anonymous, Some(&PageCursor("c0".into()))).unwrap();
    assert_eq!(later.viewer, None);
}

#[test]
fn repository_list_query_has_a_hundred_connections_with_all_probes() {
    let query = list_query("acme", 33, None, &THREAD_SURFACES);
    for (text, count) in [("(first: $first", 1), ("(first: 1,", 3), ("rateLimit { cost }", 1)] {
        assert_eq!(query.document.matches(text).count(), count, "{text}");
    }
    let connections = query.document.matches("(first").count();
    assert_eq!(connections, 4, "1 + 33 * 3 = 100 connections: one point");
    assert_eq!(query.variables, json!({ "login": "acme", "first": 33, "after": null }));
}

#[test]
fn repository_list_query_probes_the_given_surfaces_and_requests_the_viewer_once() {
    let after = PageCursor("c1".into());
    let chosen = [Surface::Repositories, Surface::Threads(ThreadKind::Issue)];
    for (after, surfaces, expected) in [
        (None, &[][..], [true, false, false, false]),
        (Some(&after), &THREAD_SURFACES, [false, true, true, true]),
        (Some(&after), &chosen, [false, true, false, false]),
    ] {
        let document = list_query("acme", 33, after, surfaces).document;
        let requested = ["viewer {", "issues(", "pullRequests(", "discussions("]
            .map(|text| document.contains(text));
        assert_eq!(requested, expected);
    }
}

fn list_json(edges: &[Value]) -> Value {
    json!({
        "viewer": { "login": "ann", "databaseId": 31 },
        "repositoryOwner": { "repositories": {
            "totalCount": edges.len(), "edges": edges,
            "pageInfo": { "hasNextPage": false, "endCursor": null },
        } },
    })
}

fn repository_ids(list: &RepositoryListPage) -> Vec<i64> {
    list.items_page.observations.iter().map(|observation| observation.key().id).collect()
}
