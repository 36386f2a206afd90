//! Tests of search filters.

use std::collections::BTreeSet;

use hw_rules::item::{CommentKind, ThreadKind};
use hw_store::{
    DatabaseLocation, LeasedStore, MatchCount, SearchRequest, SearchResults, ThreadFilter,
};

use super::{hit_ids, search_engine};
use crate::fixture::{
    as_thread_mut, comment, issue, issue_in, issues_page, open_store, repository, search_ids,
    source_time, stored_threads, thread, threads_page,
};

both![
    filters_narrow_the_matches,
    filters_of_one_kind_widen_and_labels_narrow,
    date_filters_compare_instants,
    repository_filter_distinguishes_owners,
    filters_without_words_list_the_newest,
    thread_filters_apply_to_matches_in_comments,
    author_and_time_filters_apply_to_the_matching_text,
    repository_filter_reports_unknown_repositories,
    filters_accept_any_names_in_any_number,
    comment_filters_include_the_state_and_labels_of_their_threads,
    filters_without_words_list_only_threads,
];

fn filters_narrow_the_matches(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_leaks(&store);
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
        assert_eq!(hit_ids(&store, &format!("leaks {filter}")), expected, "{filter}");
        assert_eq!(hit_ids(&store, filter), expected, "{filter} alone");
    }
}

fn filters_of_one_kind_widen_and_labels_narrow(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_leaks(&store);
    assert_eq!(hit_ids(&store, "type:pr type:discussion leaks"), [7, 8].into());
    assert_eq!(hit_ids(&store, "author:ada author:bob leaks").len(), 4);
    assert_eq!(hit_ids(&store, "label:bug label:\"help wanted\" leaks"), [5, 7, 8].into());
    assert_eq!(hit_ids(&store, "label:bug label:odd leaks"), [6].into());
    assert_eq!(hit_ids(&store, "label:\"help wanted\" label:odd leaks"), BTreeSet::new());
}

fn date_filters_compare_instants(location: &DatabaseLocation) {
    let store = open_store(location);
    let day = 20_089 * 86_400; // 2025-01-01
    let issues = [(5, day - 1, day), (6, day, day + 86_400), (7, day + 3_600, day + 90_000)].map(
        |(id, created, updated)| {
            let mut issue = issue(id, updated, "leaks");
            as_thread_mut(&mut issue).created_at = source_time(created);
            issue
        },
    );
    store.ingest_page(&issues_page(issues.to_vec())).unwrap();
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
        assert_eq!(hit_ids(&store, &format!("leaks {filter}")), expected, "{filter}");
        assert_eq!(hit_ids(&store, filter), expected, "{filter} alone");
    }
}

fn repository_filter_distinguishes_owners(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    assert_eq!(search_ids(&store, "leaks repo:Acme/pump"), [5]);
    assert_eq!(search_ids(&store, "leaks repo:other/pump"), Vec::<i64>::new());
}

fn filters_without_words_list_the_newest(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = (5..30).map(|id| issue(id, id, "leaks")).collect();
    store.ingest_page(&issues_page(page)).unwrap();
    assert_eq!(search_ids(&store, "type:issue"), (20..30).rev().collect::<Vec<_>>());
}

fn thread_filters_apply_to_matches_in_comments(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut closed = issue(6, 11, "x");
    as_thread_mut(&mut closed).state = "CLOSED".into();
    as_thread_mut(&mut closed).labels = vec!["odd".into()];
    store.ingest_page(&issues_page(vec![issue(5, 10, "x"), closed])).unwrap();
    let comments = [(50, 5), (60, 6)]
        .map(|(id, thread)| comment(CommentKind::Conversation, id, thread, id, "drips"));
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.into())).unwrap();
    for (filter, expected) in [
        ("state:open", vec![5]),
        ("state:closed", vec![6]),
        ("label:odd", vec![6]),
        ("type:issue", vec![5, 6]),
        ("type:pr", vec![]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        let search = SearchRequest { limit: 100, ..SearchRequest::new(format!("drips {filter}")) };
        let SearchResults { hits, matches, .. } = search_engine(&store).search(&search).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.id).collect::<BTreeSet<_>>(), expected, "{filter}");
        assert_eq!(matches, MatchCount::Exactly(expected.len() as u64), "{filter}");
    }
}

fn author_and_time_filters_apply_to_the_matching_text(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut by_bob = issue(5, 10, "x");
    as_thread_mut(&mut by_bob).author = Some("bob".into());
    store.ingest_page(&issues_page(vec![by_bob])).unwrap();
    let comments = vec![comment(CommentKind::Conversation, 50, 5, 900, "drips")];
    store.ingest_page(&threads_page(CommentKind::Conversation, comments)).unwrap();
    for filter in ["author:ada".to_owned(), format!("updated:>={}", source_time(900))] {
        assert_eq!(hit_ids(&store, &format!("drips {filter}")), [5].into(), "{filter}");
        assert_eq!(hit_ids(&store, &filter).len(), 0, "{filter} alone applies to threads");
    }
    assert_eq!(hit_ids(&store, "drips author:bob").len(), 0);
}

fn repository_filter_reports_unknown_repositories(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let query = "leaks repo:valve repo:pump repo:other/pump";
    assert_eq!(
        search_engine(&store).search(&SearchRequest::new(query)).unwrap().misread,
        ["valve", "other/pump"]
            .map(|name| format!("this workspace has no repository named {name}"))
    );
    let query = "leaks repo:acme/Pump";
    let results = search_engine(&store).search(&SearchRequest::new(query)).unwrap();
    assert_eq!(results.misread, Vec::<String>::new());
}

/// Passes more names than a statement can have parameters, and names that PostgreSQL cannot represent.
fn filters_accept_any_names_in_any_number(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let many: Vec<String> = (0..70_000).map(|n| format!("user{n}")).collect();
    let many_and_ada = [many.clone(), vec!["ada".into()]].concat();
    for (authors, count) in [(many, 0), (many_and_ada, 1), (vec!["a\0".into()], 0)] {
        let filter = ThreadFilter { authors, ..ThreadFilter::default() };
        assert_eq!(stored_threads(&store, ThreadKind::Issue, &filter).len(), count);
    }
    let repository = Some("pu\0mp".to_owned());
    let filter = ThreadFilter { repository, ..ThreadFilter::default() };
    assert_eq!(stored_threads(&store, ThreadKind::Issue, &filter), []);
}

fn comment_filters_include_the_state_and_labels_of_their_threads(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut closed = thread(ThreadKind::PullRequest, 6, 11, "drips");
    as_thread_mut(&mut closed).state = "CLOSED".into();
    store.ingest_page(&issues_page(vec![issue(5, 10, "drips")])).unwrap();
    store.ingest_page(&threads_page(ThreadKind::PullRequest, vec![closed])).unwrap();
    let comments = [(50, 5), (60, 6)]
        .map(|(id, thread)| comment(CommentKind::Conversation, id, thread, id, "drips"));
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.into())).unwrap();
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
        assert_eq!(hit_ids(&store, &format!("drips {filter}")), expected, "{filter}");
        assert_eq!(hit_ids(&store, filter), expected, "{filter} alone");
    }
}

fn filters_without_words_list_only_threads(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut by_bob = issue(5, 10, "x");
    as_thread_mut(&mut by_bob).author = Some("bob".into());
    store.ingest_page(&issues_page(vec![by_bob, issue(6, 11, "x")])).unwrap();
    let by_ada = comment(CommentKind::Conversation, 50, 5, 50, "by ada");
    store.ingest_page(&threads_page(CommentKind::Conversation, vec![by_ada])).unwrap();
    assert_eq!(search_ids(&store, "author:ada"), [6], "not the thread with her comment");
    assert_eq!(hit_ids(&store, "author:ada by"), [5].into(), "but with words");
}

/// Ingests four threads that contain "leaks".
fn ingest_leaks(store: &LeasedStore) {
    store.ingest_page(&crate::fixture::repositories_page(vec![repository(2, "valve", 0)])).unwrap();
    let mut other = issue_in(2, "valve", 6, 20, "leaks");
    let thread_in_valve = as_thread_mut(&mut other);
    thread_in_valve.author = Some("bob".into());
    thread_in_valve.state = "CLOSED".into();
    thread_in_valve.labels = vec!["odd".into(), "bug".into()];
    let mut merged = thread(ThreadKind::PullRequest, 7, 30, "leaks");
    as_thread_mut(&mut merged).state = "MERGED".into();
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks"), other])).unwrap();
    store.ingest_page(&threads_page(ThreadKind::PullRequest, vec![merged])).unwrap();
    store
        .ingest_page(&threads_page(
            ThreadKind::Discussion,
            vec![thread(ThreadKind::Discussion, 8, 40, "leaks")],
        ))
        .unwrap();
}
