use hw_rules::item::Kind;
use serde_json::json;

use super::*;
use crate::github::answers::{answer, edge, fault, listed, not_found, thread, with_errors};
use crate::github::threads::first_pages_query;

#[test]
fn first_pages_share_a_document_that_says_each_kind_of_row_once() {
    let pages =
        [page(Surface::Issues, 3), page(Surface::PullRequests, 8), page(Surface::Issues, 1)];
    let query = first_pages_query(&pages);
    let count = |text: &str| query.document.matches(text).count();
    assert_eq!((count("...IssueRow"), count("fragment IssueRow on Issue ")), (2, 1));
    assert_eq!((count("...PullRequestRow"), count("fragment PullRequestRow")), (1, 1));
    assert_eq!(count("Discussion"), 0, "a fragment that nobody uses is refused");
    assert_eq!(count("p2: node(id: $i2)"), 1);
    let variables = json!({ "i0": "R_7", "n0": 3, "i1": "R_7", "n1": 8, "i2": "R_7", "n2": 1 });
    assert_eq!(query.variables, variables);
}

#[test]
fn each_first_page_is_read_in_the_place_it_was_asked_for() {
    let pages = Surface::THREADS.map(|surface| page(surface, 10));
    let of = |surface, n| listed(surface, &[edge(n, &thread(surface, n))]);
    let answer = answer(json!({
        "p0": of(Surface::Discussions, 1), "p1": of(Surface::Issues, 2),
        "p2": of(Surface::PullRequests, 3),
    }));
    let read = read_first_pages(&answer, &pages, 9);
    let keys = read.iter().map(|page| page.as_ref().unwrap().observations[0].key());
    let keys: Vec<_> = keys.map(|key| (key.kind, key.id)).collect();
    assert_eq!(keys, [(Kind::Discussion, 1), (Kind::Issue, 2), (Kind::PullRequest, 3)]);
}

#[test]
fn a_repository_that_is_missing_spoils_nothing_but_its_own_pages() {
    let surface = Surface::Issues;
    let pages: Vec<FirstPage> = (0..12).map(|_| page(surface, 10)).collect();
    let mut data = json!({});
    for n in 0..12 {
        data[format!("p{n}")] = listed(surface, &[edge(n, &thread(surface, n + 1))]);
    }
    (data["p1"], data["p2"], data["p3"]) = (json!(null), json!(null), json!(null));
    let broken = fault("p10.issues.edges.0.node.author");
    let answer = with_errors(data, vec![not_found("p1"), fault("p2"), broken]);
    let read = read_first_pages(&answer, &pages, 9);
    assert!(matches!(read[1], Err(Trouble::Hidden(_))), "{:?}", read[1]);
    assert!(matches!(read[2], Err(Trouble::Server(_))), "{:?}", read[2]);
    assert!(matches!(read[3], Err(Trouble::Garbled(_))), "{:?}", read[3]);
    assert_eq!(read[10].as_ref().unwrap().unreadable.len(), 1);
    let whole = |page: &Result<ItemsPage, Trouble>| {
        page.as_ref().is_ok_and(|page| page.unreadable.is_empty())
    };
    assert_eq!(read.iter().filter(|page| whole(page)).count(), 8);
}

#[test]
fn a_first_page_of_another_repository_is_never_data() {
    let data = json!({ "p0": listed(Surface::Issues, &[]) });
    let other = FirstPage { repository_id: 8, ..page(Surface::Issues, 1) };
    assert!(matches!(read_first_pages(&answer(data), &[other], 9)[0], Err(Trouble::Garbled(_))));
}

fn page(surface: Surface, rows: u32) -> FirstPage {
    FirstPage { surface, repository_id: 7, node_id: "R_7".into(), rows }
}
