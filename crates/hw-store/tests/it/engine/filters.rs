//! What filters leave.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use hw_rules::item::Kind;
use hw_store::{Found, Lease, Matches, Place, Search, Store, ThreadFilter};

use super::{engine, ids};
use crate::world::{
    comment, found, issue, issue_of, issues, open, repository, thread, thread_in, threads, time,
};

both![
    each_filter_narrows,
    filters_of_one_sort_widen_and_labels_narrow,
    dates_are_compared_as_instants,
    an_owner_tells_two_repositories_apart,
    filters_alone_show_the_newest,
    filters_of_threads_hold_for_matches_in_comments,
    persons_and_times_are_those_of_the_text_that_matches,
    a_repository_that_is_not_held_is_told,
    names_of_any_sort_and_number_are_answered,
    comments_can_be_narrowed_by_what_their_threads_are,
    without_words_only_threads_are_shown,
];

fn each_filter_narrows(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    for (filter, expected) in [
        ("type:issue", vec![5, 6]),
        ("type:pr", vec![7]),
        ("type:discussion", vec![8]),
        ("repo:PUMP", vec![5, 7, 8]),
        ("repo:valve", vec![6]),
        ("author:Bob", vec![6]),
        ("author:@ada", vec![5, 7, 8]),
        ("state:open", vec![5, 8]),
        ("state:closed", vec![6]),
        ("state:merged", vec![7]),
        ("label:\"Help Wanted\"", vec![5, 7, 8]),
        ("label:odd", vec![6]),
        ("label:help", vec![]),
        ("repo:pump type:pr state:merged author:ada", vec![7]),
        ("repo:pump type:pr state:open", vec![]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        assert_eq!(ids(&store, &format!("leaks {filter}")), expected, "{filter}");
        assert_eq!(ids(&store, filter), expected, "{filter} alone");
    }
}

fn filters_of_one_sort_widen_and_labels_narrow(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    assert_eq!(ids(&store, "type:pr type:discussion leaks"), [7, 8].into());
    assert_eq!(ids(&store, "author:ada author:bob leaks").len(), 4);
    assert_eq!(ids(&store, "label:bug label:\"help wanted\" leaks"), [5, 7, 8].into());
    assert_eq!(ids(&store, "label:bug label:odd leaks"), [6].into());
    assert_eq!(ids(&store, "label:\"help wanted\" label:odd leaks"), BTreeSet::new());
}

fn dates_are_compared_as_instants(place: &Place) {
    let (store, lease) = open(place);
    let day = 20_089 * 86_400; // 2025-01-01
    let made = |id: i64, created: i64, updated: i64| {
        let mut made = issue(id, updated, "leaks");
        thread_in(&mut made).created_at = time(created);
        made
    };
    let page =
        vec![made(5, day - 1, day), made(6, day, day + 86_400), made(7, day + 3_600, day + 90_000)];
    store.ingest(&lease, &issues(page)).unwrap();
    for (filter, expected) in [
        ("created:2025-01-01", vec![6, 7]),
        ("created:<2025-01-01", vec![5]),
        ("created:>=2025-01-01", vec![6, 7]),
        ("created:>2025-01-01", vec![]),
        ("created:<=2025-01-01T01:00:00+01:00", vec![5, 6]),
        ("created:>2025-01-01T00:00:00Z", vec![7]),
        ("created:2024-12-31..2025-01-01T00:00:00Z", vec![5, 6]),
        ("updated:2025-01-01", vec![5]),
        ("updated:>2025-01-01", vec![6, 7]),
        ("updated:<=2025-01-02T00:00:00Z", vec![5, 6]),
        ("updated:>=2025-01-02T00:00:01Z created:<2026-01-01", vec![7]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        assert_eq!(ids(&store, &format!("leaks {filter}")), expected, "{filter}");
        assert_eq!(ids(&store, filter), expected, "{filter} alone");
    }
}

fn an_owner_tells_two_repositories_apart(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    assert_eq!(found(&store, "leaks repo:Acme/pump"), [5]);
    assert_eq!(found(&store, "leaks repo:other/pump"), Vec::<i64>::new());
}

fn filters_alone_show_the_newest(place: &Place) {
    let (store, lease) = open(place);
    let page = (5..30).map(|id| issue(id, id, "leaks")).collect();
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, "type:issue"), (20..30).rev().collect::<Vec<_>>());
}

fn filters_of_threads_hold_for_matches_in_comments(place: &Place) {
    let (store, lease) = open(place);
    let mut closed = issue(6, 11, "x");
    thread_in(&mut closed).state = "CLOSED".into();
    thread_in(&mut closed).labels = vec!["odd".into()];
    store.ingest(&lease, &issues(vec![issue(5, 10, "x"), closed])).unwrap();
    let said =
        [(50, 5), (60, 6)].map(|(id, thread)| comment(Kind::IssueComment, id, thread, id, "drips"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.into())).unwrap();
    for (filter, expected) in [
        ("state:open", vec![5]),
        ("state:closed", vec![6]),
        ("label:odd", vec![6]),
        ("type:issue", vec![5, 6]),
        ("type:pr", vec![]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        let search = Search { limit: 100, ..Search::new(format!("drips {filter}")) };
        let Found { hits, matches, .. } = engine(&store).search(&search).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.id).collect::<BTreeSet<_>>(), expected, "{filter}");
        assert_eq!(matches, Matches::Exactly(expected.len() as u64), "{filter}");
    }
}

fn persons_and_times_are_those_of_the_text_that_matches(place: &Place) {
    let (store, lease) = open(place);
    let mut by_bob = issue(5, 10, "x");
    thread_in(&mut by_bob).author = Some("bob".into());
    store.ingest(&lease, &issues(vec![by_bob])).unwrap();
    let said = vec![comment(Kind::IssueComment, 50, 5, 900, "drips")];
    store.ingest(&lease, &threads(Kind::IssueComment, said)).unwrap();
    for filter in ["author:ada".to_owned(), format!("updated:>={}", time(900))] {
        assert_eq!(ids(&store, &format!("drips {filter}")), [5].into(), "{filter}");
        assert_eq!(ids(&store, &filter).len(), 0, "{filter} alone is about threads");
    }
    assert_eq!(ids(&store, "drips author:bob").len(), 0);
}

fn a_repository_that_is_not_held_is_told(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    let misread = |query: &str| engine(&store).search(&Search::new(query)).unwrap().misread;
    assert_eq!(
        misread("leaks repo:valve repo:pump repo:other/pump"),
        ["valve", "other/pump"].map(|it| format!("no repository named {it} is in this workspace"))
    );
    assert_eq!(misread("leaks repo:acme/Pump"), Vec::<String>::new());
}

/// More than a statement has places for, and names that one database could not even be asked for.
fn names_of_any_sort_and_number_are_answered(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    let count = |filter: ThreadFilter| {
        let mut count = 0;
        let mut each = |_| {
            count += 1;
            ControlFlow::Continue(())
        };
        store.each_thread(Kind::Issue, &filter, &mut each).unwrap();
        count
    };
    let by = |authors| ThreadFilter { authors, ..ThreadFilter::default() };
    let many: Vec<String> = (0..70_000).map(|n| format!("user{n}")).collect();
    assert_eq!(count(by(many.clone())), 0);
    assert_eq!(count(by([many, vec!["ada".into()]].concat())), 1);
    assert_eq!(count(by(vec!["a\0".into()])), 0);
    let repository = Some("pu\0mp".to_owned());
    assert_eq!(count(ThreadFilter { repository, ..ThreadFilter::default() }), 0);
}

fn comments_can_be_narrowed_by_what_their_threads_are(place: &Place) {
    let (store, lease) = open(place);
    let mut closed = thread(Kind::PullRequest, 6, 11, "drips");
    thread_in(&mut closed).state = "CLOSED".into();
    store.ingest(&lease, &issues(vec![issue(5, 10, "drips")])).unwrap();
    store.ingest(&lease, &threads(Kind::PullRequest, vec![closed])).unwrap();
    let said =
        [(50, 5), (60, 6)].map(|(id, thread)| comment(Kind::IssueComment, id, thread, id, "drips"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.into())).unwrap();
    for (filter, expected) in [
        ("type:comment", vec![50, 60]),
        ("type:comment state:open", vec![50]),
        ("type:comment state:closed", vec![60]),
        ("type:comment label:bug", vec![50, 60]),
        ("type:comment label:odd", vec![]),
        ("type:issue type:comment", vec![5, 50, 60]),
        ("type:issue type:comment state:closed", vec![60]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        assert_eq!(ids(&store, &format!("drips {filter}")), expected, "{filter}");
        assert_eq!(ids(&store, filter), expected, "{filter} alone");
    }
}

fn without_words_only_threads_are_shown(place: &Place) {
    let (store, lease) = open(place);
    let mut theirs = issue(5, 10, "x");
    thread_in(&mut theirs).author = Some("bob".into());
    store.ingest(&lease, &issues(vec![theirs, issue(6, 11, "x")])).unwrap();
    let said = comment(Kind::IssueComment, 50, 5, 50, "by ada");
    store.ingest(&lease, &threads(Kind::IssueComment, vec![said])).unwrap();
    assert_eq!(found(&store, "author:ada"), [6], "not where she said something");
    assert_eq!(ids(&store, "author:ada by"), [5].into(), "but with words");
}

/// Four threads that say "leaks".
fn fill(store: &Store, lease: &Lease) {
    store.ingest(lease, &crate::world::repositories(vec![repository(2, "valve", 0)])).unwrap();
    let mut other = issue_of(2, "valve", 6, 20, "leaks");
    let it = thread_in(&mut other);
    (it.author, it.state, it.labels) =
        (Some("bob".into()), "CLOSED".into(), vec!["odd".into(), "bug".into()]);
    let mut merged = thread(Kind::PullRequest, 7, 30, "leaks");
    thread_in(&mut merged).state = "MERGED".into();
    store.ingest(lease, &issues(vec![issue(5, 10, "leaks"), other])).unwrap();
    store.ingest(lease, &threads(Kind::PullRequest, vec![merged])).unwrap();
    store
        .ingest(lease, &threads(Kind::Discussion, vec![thread(Kind::Discussion, 8, 40, "leaks")]))
        .unwrap();
}
