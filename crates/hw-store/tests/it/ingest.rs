use hw_rules::item::{MirrorItem, ThreadKind};
use hw_store::{DatabaseLocation, IngestCounts, StoreError, StoreReader, ThreadFilter, ThreadRow};

use crate::fixture::{
    as_thread_mut, coverage_through, crash_at, issue, issue_bodies, issue_key, issue_lane,
    issues_page, issues_page_through, open_store, stored_issues, stored_threads, thread,
    threads_page, with_observed_at,
};

both![
    ingest_stores_a_page_completely,
    ingest_commits_data_and_watermark_together_or_not_at_all,
    ingest_that_crashes_after_the_commit_is_stored_and_repeatable,
    ingest_keeps_the_newer_version,
    ingest_stores_a_key_listed_twice_once,
    ingest_stores_a_body_with_u0000_unchanged,
    watermark_never_moves_back,
    ingest_stores_an_issue_of_an_unknown_repository_under_the_name_in_its_url,
    ingest_of_several_pages_is_atomic,
    ingest_of_several_pages_equals_ingesting_them_in_order,
];

fn ingest_stores_a_page_completely(location: &DatabaseLocation) {
    let store = open_store(location);
    let observation = issue(5, 10, "leaks");
    let counts = store.ingest_page(&issues_page(vec![observation.clone()])).unwrap();
    assert_eq!(counts, IngestCounts { created: 1, ..IngestCounts::default() });
    let MirrorItem::Thread(thread) = observation.item else { panic!("expected a thread") };
    let (host, repository) = ("github.com".to_owned(), "pump".to_owned());
    assert_eq!(stored_issues(&store), [ThreadRow { host, repository, thread, closes: vec![] }]);
}

fn ingest_commits_data_and_watermark_together_or_not_at_all(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = issues_page_through(vec![issue(5, 10, "leaks")], 10);
    let crashed = crash_at(&store, "ingest: before commit").ingest_page(&page);
    assert!(
        matches!(crashed, Err(StoreError::Interrupted("ingest: before commit"))),
        "{crashed:?}"
    );
    assert_eq!(issue_bodies(&store), Vec::<String>::new());
    assert_eq!(store.lane_state(&issue_lane()).unwrap().coverage.through, None);
    store.ingest_page(&page).unwrap();
    assert_eq!(issue_bodies(&store), ["body leaks"]);
    assert_eq!(store.lane_state(&issue_lane()).unwrap().coverage, coverage_through(10));
}

fn ingest_that_crashes_after_the_commit_is_stored_and_repeatable(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = issues_page_through(vec![issue(5, 10, "leaks")], 10);
    let crashed = crash_at(&store, "ingest: after commit").ingest_page(&page);
    assert!(matches!(crashed, Err(StoreError::Interrupted("ingest: after commit"))), "{crashed:?}");
    assert_eq!(issue_bodies(&store), ["body leaks"]);
    let again = store.ingest_page(&page).unwrap();
    assert_eq!(again, IngestCounts { unchanged: 1, ..IngestCounts::default() });
}

fn ingest_keeps_the_newer_version(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "new")])).unwrap();
    let late = with_observed_at(issue(5, 9, "old"), 99);
    let done = store.ingest_page(&issues_page(vec![late])).unwrap();
    assert_eq!(done, IngestCounts { unchanged: 1, ..IngestCounts::default() });
    assert_eq!(issue_bodies(&store), ["body new"]);
    let done = store.ingest_page(&issues_page(vec![issue(5, 11, "newer")])).unwrap();
    assert_eq!(done, IngestCounts { edited: 1, ..IngestCounts::default() });
    assert_eq!(issue_bodies(&store), ["body newer"]);
}

fn ingest_stores_a_key_listed_twice_once(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = issues_page(vec![issue(5, 11, "new"), issue(5, 10, "old")]);
    assert_eq!(store.ingest_page(&page).unwrap().created, 1);
    assert_eq!(issue_bodies(&store), ["body new"]);
    assert_eq!(store.cell(&issue_key(5)).unwrap().version.unwrap().observed_at.request, 11);
}

fn ingest_stores_a_body_with_u0000_unchanged(location: &DatabaseLocation) {
    let store = open_store(location);
    let text = "before\0after \u{fffd} 日本 \u{1f600}\r\n";
    let mut with_null = issue(5, 10, "x");
    text.clone_into(&mut as_thread_mut(&mut with_null).body);
    store.ingest_page(&issues_page(vec![with_null])).unwrap();
    assert_eq!(issue_bodies(&store), [text]);
}

fn watermark_never_moves_back(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page_through(vec![], 10)).unwrap();
    let back = store.ingest_page(&issues_page_through(vec![issue(5, 9, "x")], 9));
    assert!(matches!(back, Err(StoreError::WatermarkRegression { .. })), "{back:?}");
    let mut nothing = issues_page_through(vec![], 10);
    nothing.coverage = Some(hw_rules::coverage::Coverage::default());
    let gone = store.ingest_page(&nothing);
    assert!(matches!(gone, Err(StoreError::WatermarkRegression { to: None, .. })), "{gone:?}");
    assert_eq!(store.lane_state(&issue_lane()).unwrap().coverage, coverage_through(10));
    assert_eq!(
        issue_bodies(&store),
        Vec::<String>::new(),
        "the page is rejected with its watermark"
    );
}

fn ingest_stores_an_issue_of_an_unknown_repository_under_the_name_in_its_url(
    location: &DatabaseLocation,
) {
    let store = open_store(location);
    let stray = crate::fixture::issue_in(77, "valve", 5, 10, "x");
    store.ingest_page(&issues_page(vec![stray])).unwrap();
    let [row] = stored_issues(&store).try_into().unwrap();
    assert_eq!(row.repository, "valve");
    assert_eq!(row.thread.url, "https://github.com/acme/valve/issues/5");
}

fn ingest_of_several_pages_is_atomic(location: &DatabaseLocation) {
    let store = open_store(location);
    let [discussions, pull_requests] =
        [ThreadKind::Discussion, ThreadKind::PullRequest].map(|kind| {
            let page = threads_page(
                kind,
                vec![thread(kind, 5, 10, "leaks"), thread(kind, 6, 10, "leaks")],
            );
            hw_store::IngestPage { coverage: Some(coverage_through(10)), ..page }
        });
    let pages = [issues_page_through(vec![issue(5, 10, "leaks")], 10), discussions, pull_requests];
    let crashed = crash_at(&store, "ingest: before commit").ingest_pages(&pages);
    assert!(
        matches!(crashed, Err(StoreError::Interrupted("ingest: before commit"))),
        "{crashed:?}"
    );
    let mut regressed = pages.clone();
    store.ingest_page(&regressed[2]).unwrap();
    regressed[2].coverage = Some(coverage_through(9));
    let refused = store.ingest_pages(&regressed);
    assert!(matches!(refused, Err(StoreError::WatermarkRegression { .. })), "{refused:?}");
    assert_eq!(thread_counts(&store), [0, 0, 2]);
    let counts = store.ingest_pages(&pages).unwrap();
    assert_eq!(
        counts,
        [
            IngestCounts { created: 1, ..IngestCounts::default() },
            IngestCounts { created: 2, ..IngestCounts::default() },
            IngestCounts { unchanged: 2, ..IngestCounts::default() }
        ]
    );
    assert_eq!(thread_counts(&store), [2, 1, 2]);
    for page in pages {
        assert_eq!(store.lane_state(&page.lane).unwrap().coverage, coverage_through(10));
    }
    assert_eq!(store.ingest_pages(&[]).unwrap(), []);
}

fn ingest_of_several_pages_equals_ingesting_them_in_order(location: &DatabaseLocation) {
    let store = open_store(location);
    let pages = [
        issues_page(vec![issue(5, 10, "old"), issue(6, 10, "x")]),
        issues_page(vec![issue(5, 11, "new")]),
        issues_page(vec![issue(5, 9, "older"), issue(6, 10, "x")]),
    ];
    let done = store.ingest_pages(&pages).unwrap();
    let counts: Vec<_> =
        done.iter().map(|page| (page.created, page.edited, page.unchanged)).collect();
    assert_eq!(counts, [(2, 0, 0), (0, 1, 0), (0, 0, 2)]);
    assert_eq!(issue_bodies(&store), ["body new", "body x"]);
    assert_eq!(
        (crate::fixture::search_ids(&store, "new"), crate::fixture::count_search_rows(location)),
        (vec![5], 2)
    );
}

fn thread_counts(store: &StoreReader) -> [usize; 3] {
    ThreadKind::ALL.map(|kind| stored_threads(store, kind, &ThreadFilter::default()).len())
}
