use hw_rules::item::ObjectKind;
use serde_json::{Value, json};

use super::*;
use crate::github::sample_responses::{
    edge_json, listing_json, not_found_error, response_with_data, response_with_errors,
    server_error, thread_json,
};

#[test]
fn first_pages_query_has_one_fragment_for_each_kind_of_row() {
    let pages = [
        first_page_target(ThreadKind::Issue, 3),
        first_page_target(ThreadKind::PullRequest, 8),
        first_page_target(ThreadKind::Issue, 1),
    ];
    let query = first_pages_query(&pages);
    for (text, count) in [
        ("...IssueRow", 2),
        ("fragment IssueRow on Issue ", 1),
        ("...PullRequestRow", 1),
        ("fragment PullRequestRow", 1),
        ("p2: node(id: $i2)", 1),
        // GitHub rejects an unused fragment
        ("Discussion", 0),
    ] {
        assert_eq!(query.document.matches(text).count(), count, "{text}");
    }
    let variables = json!({ "i0": "R_7", "n0": 3, "i1": "R_7", "n1": 8, "i2": "R_7", "n2": 1 });
    assert_eq!(query.variables, variables);
}

#[test]
fn first_pages_are_read_in_the_order_of_the_request() {
    let pages = ThreadKind::ALL.map(|kind| first_page_target(kind, 10));
    let response = response_with_data(json!({
        "p0": single_thread_json(ThreadKind::Discussion, 1),
        "p1": single_thread_json(ThreadKind::Issue, 2),
        "p2": single_thread_json(ThreadKind::PullRequest, 3),
    }));
    let read = read_first_pages(&response, &pages);
    let keys = read.iter().map(|page| page.as_ref().unwrap().observations[0].key());
    let keys: Vec<_> = keys.map(|key| (key.kind, key.id)).collect();
    assert_eq!(
        keys,
        [
            (ObjectKind::Thread(ThreadKind::Discussion), 1),
            (ObjectKind::Thread(ThreadKind::Issue), 2),
            (ObjectKind::Thread(ThreadKind::PullRequest), 3)
        ]
    );
}

#[test]
fn first_pages_confine_a_missing_repository() {
    let kind = ThreadKind::Issue;
    let pages: Vec<FirstPageTarget> = (0..12).map(|_| first_page_target(kind, 10)).collect();
    let mut data = json!({});
    for n in 0..12 {
        data[format!("p{n}")] = listing_json(kind, &[edge_json(n, &thread_json(kind, n + 1))]);
    }
    (data["p1"], data["p2"], data["p3"]) = (json!(null), json!(null), json!(null));
    let broken = server_error("p10.issues.edges.0.node.author");
    let response =
        response_with_errors(data, vec![not_found_error("p1"), server_error("p2"), broken]);
    let read = read_first_pages(&response, &pages);
    assert!(matches!(read[1], Err(SourceError::Hidden(_))), "{:?}", read[1]);
    assert!(matches!(read[2], Err(SourceError::Server(_))), "{:?}", read[2]);
    assert!(matches!(read[3], Err(SourceError::InvalidResponse(_))), "{:?}", read[3]);
    assert_eq!(read[10].as_ref().unwrap().unreadable.len(), 1);
    let complete =
        read.iter().filter(|page| page.as_ref().is_ok_and(|page| page.unreadable.is_empty()));
    assert_eq!(complete.count(), 8);
}

#[test]
fn first_pages_of_another_repository_are_never_data() {
    let data = json!({ "p0": listing_json(ThreadKind::Issue, &[]) });
    let other = FirstPageTarget { repository_id: 8, ..first_page_target(ThreadKind::Issue, 1) };
    assert!(matches!(
        read_first_pages(&response_with_data(data), &[other])[0],
        Err(SourceError::InvalidResponse(_))
    ));
}

fn single_thread_json(kind: ThreadKind, n: i64) -> Value {
    listing_json(kind, &[edge_json(n, &thread_json(kind, n))])
}

fn first_page_target(kind: ThreadKind, row_count: u32) -> FirstPageTarget {
    FirstPageTarget { kind, repository_id: 7, node_id: "R_7".into(), row_count }
}
