//! Tests of behavior that all kinds of threads share.

use hw_rules::item::{
    DiscussionDetails, MirrorItem, ObjectKey, PullRequestDetails, ThreadDetails, ThreadKind,
};
use hw_store::{
    DatabaseLocation, IngestCounts, ObjectCounts, RemovalResult, StoreError, StoreReader,
    SweepPage, ThreadFilter, ThreadRow,
};

use crate::fixture::{
    HOST, PUMP_ID, as_thread_mut, count_search_rows, finish_chores, lane_for_kind, observed_at,
    open_store, organization_lane, pump_repository, repositories_page, repository, search_hits,
    search_ids, source_time, stored_threads, thread, thread_in_repository, threads_page,
    with_observed_at,
};

both![
    threads_of_every_kind_are_stored_completely,
    thread_details_of_one_kind_can_be_edited_and_cleared,
    thread_ids_are_independent_between_kinds,
    rename_moves_threads_of_every_kind,
    kind_facet_survives_a_rename,
    threads_read_before_their_repository_follow_its_name,
    threads_are_listed_oldest_first_and_filtered,
    repository_filter_ignores_case_and_accepts_an_owner,
    thread_pages_add_up_to_the_list,
    sweep_of_each_kind_removes_only_its_own_items,
];

fn threads_of_every_kind_are_stored_completely(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in ThreadKind::ALL {
        let mut observation = thread(kind, 5, 10, "leaks");
        let full_thread = as_thread_mut(&mut observation);
        full_thread.state_reason = Some("DUPLICATE".to_owned());
        full_thread.closed_at = Some(source_time(9));
        let done = store.ingest_page(&threads_page(kind, vec![observation.clone()])).unwrap();
        assert_eq!(done, IngestCounts { created: 1, ..IngestCounts::default() });
        assert_eq!(all_threads(&store, kind), [thread_row(&observation.item)]);
        assert_eq!(store.ingest_page(&threads_page(kind, vec![observation])).unwrap().unchanged, 1);
    }
    let one_each = ObjectCounts {
        repositories: 1,
        discussions: 1,
        issues: 1,
        pull_requests: 1,
        comments: 0,
        posts: 0,
        quarantined: 0,
        tombstones: 0,
    };
    assert_eq!(store.object_counts().unwrap(), one_each);
}

fn thread_details_of_one_kind_can_be_edited_and_cleared(location: &DatabaseLocation) {
    let store = open_store(location);
    let open_pull = PullRequestDetails {
        is_draft: false,
        merged_at: None,
        head_ref: "x\"'é".to_owned(),
        head_sha: None,
    };
    let open_discussion = DiscussionDetails { category: "Ideas".to_owned(), is_answered: None };
    let answered = DiscussionDetails { is_answered: Some(true), ..open_discussion.clone() };
    let cases = [
        (ThreadKind::PullRequest, ThreadDetails::PullRequest(open_pull)),
        (ThreadKind::Discussion, ThreadDetails::Discussion(open_discussion)),
        (ThreadKind::Discussion, ThreadDetails::Discussion(answered)),
    ];
    for (second, (kind, details)) in (11..).zip(cases) {
        store.ingest_page(&threads_page(kind, vec![thread(kind, 5, 10, "leaks")])).unwrap();
        let mut later = with_observed_at(thread(kind, 5, 10, "leaks"), second);
        as_thread_mut(&mut later).details = details;
        assert_eq!(store.ingest_page(&threads_page(kind, vec![later.clone()])).unwrap().edited, 1);
        assert_eq!(all_threads(&store, kind), [thread_row(&later.item)]);
    }
}

fn thread_ids_are_independent_between_kinds(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in ThreadKind::ALL {
        store.ingest_page(&threads_page(kind, vec![thread(kind, 5, 10, "leaks")])).unwrap();
    }
    let mut three = search_hits(&store, "leaks", 10);
    three.sort_by_key(|hit| hit.kind);
    let found: Vec<_> = three.iter().map(|hit| (hit.kind, hit.url.as_str(), hit.id)).collect();
    let urls = ["discussions", "issues", "pull"]
        .map(|part| format!("https://github.com/acme/pump/{part}/5"));
    let expected =
        ThreadKind::ALL.into_iter().zip(&urls).map(|(kind, url)| (kind.into(), url.as_str(), 5));
    assert_eq!(found, expected.collect::<Vec<_>>());
    assert!(three.iter().all(|hit| hit.title == "title leaks"));
    let edit = thread(ThreadKind::PullRequest, 5, 10, "drips");
    store
        .ingest_page(&threads_page(ThreadKind::PullRequest, vec![with_observed_at(edit, 11)]))
        .unwrap();
    assert_eq!((search_hits(&store, "leaks", 10).len(), count_search_rows(location)), (2, 3));
    assert_eq!(search_hits(&store, "drips", 10)[0].kind, ThreadKind::PullRequest.into());
}

fn rename_moves_threads_of_every_kind(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in ThreadKind::ALL {
        store.ingest_page(&threads_page(kind, vec![thread(kind, 5, 10, "leaks")])).unwrap();
    }
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 20)])).unwrap();
    finish_chores(&store);
    assert_eq!(thread_urls(&store), ["valve/discussions/5", "valve/issues/5", "valve/pull/5"]);
    assert_eq!((search_ids(&store, "valve leaks").len(), search_ids(&store, "pump").len()), (3, 0));
    assert_eq!(count_search_rows(location), 3);
}

fn kind_facet_survives_a_rename(location: &DatabaseLocation) {
    let store = open_store(location);
    for (count, kind) in (1..).zip(ThreadKind::ALL) {
        let page = (0..count).map(|id| thread(kind, id, 10, "x")).collect();
        store.ingest_page(&threads_page(kind, page)).unwrap();
    }
    let facets = ["discussion", "issue", "pull\u{e000}5f\u{e000}request"]
        .map(|kind| format!("\u{e000}type\u{e000}{kind}"));
    for name in ["pump", "valve"] {
        store.ingest_page(&repositories_page(vec![pump_repository(name, 20)])).unwrap();
        finish_chores(&store);
        assert_eq!(
            facets.each_ref().map(|facet| count_with_facet(location, facet)),
            ["1", "2", "3"],
            "{name}"
        );
    }
}

fn threads_read_before_their_repository_follow_its_name(location: &DatabaseLocation) {
    let store = open_store(location);
    store.clear_lane(&organization_lane()).unwrap();
    finish_chores(&store);
    for kind in ThreadKind::ALL {
        let early =
            [thread_in_repository(kind, PUMP_ID, "pump", 5, 10, "a"), thread(kind, 6, 10, "b")];
        store.ingest_page(&threads_page(kind, early.to_vec())).unwrap();
    }
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 20)])).unwrap();
    finish_chores(&store);
    assert!(thread_urls(&store).iter().all(|url| url.starts_with("pump/")));
    store.clear_lane(&organization_lane()).unwrap();
    finish_chores(&store);
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 30)])).unwrap();
    finish_chores(&store);
    assert!(
        thread_urls(&store).iter().all(|url| url.starts_with("valve/")),
        "{:?}",
        thread_urls(&store)
    );
    assert_eq!((search_ids(&store, "valve").len(), search_ids(&store, "pump").len()), (6, 0));
}

fn threads_are_listed_oldest_first_and_filtered(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in ThreadKind::ALL {
        let mut page: Vec<_> = (1..=4).map(|id| thread(kind, id, 10, "x")).collect();
        for (thread, second) in page.iter_mut().map(as_thread_mut).zip([4, 3, 3, 1]) {
            thread.created_at = source_time(second);
        }
        as_thread_mut(&mut page[1]).author = Some("Bob".to_owned());
        page.push(thread_in_repository(kind, 77, "valve", 9, 10, "x"));
        store.ingest_page(&threads_page(kind, page)).unwrap();
        for (repository, author, limit, expected) in [
            (None, None, None, vec![9, 4, 2, 3, 1]),
            (Some("pump"), None, None, vec![4, 2, 3, 1]),
            (None, Some("bob"), None, vec![2]),
            (Some("pump"), Some("ADA"), Some(2), vec![4, 3]),
            (Some("valve"), Some("bob"), None, vec![]),
        ] {
            let filter = ThreadFilter {
                repository: repository.map(str::to_owned),
                authors: author.map(str::to_owned).into_iter().collect(),
                limit,
                ..ThreadFilter::default()
            };
            let rows = stored_threads(&store, kind, &filter);
            let ids: Vec<_> = rows.into_iter().map(|row| row.thread.id).collect();
            assert_eq!(ids, expected, "{filter:?}");
        }
    }
}

fn repository_filter_ignores_case_and_accepts_an_owner(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut namesake = repository(77, "Pump", 10);
    if let MirrorItem::Repository(repository) = &mut namesake.item {
        repository.owner = "other".to_owned();
    }
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 10), namesake])).unwrap();
    for kind in ThreadKind::ALL {
        let page =
            vec![thread(kind, 1, 10, "x"), thread_in_repository(kind, 77, "Pump", 2, 10, "x")];
        store.ingest_page(&threads_page(kind, page)).unwrap();
        for (name, ids) in [
            ("PUMP", &[1, 2][..]),
            ("acme/pump", &[1]),
            ("Other/PUMP", &[2]),
            ("nobody/pump", &[]),
            ("pum", &[]),
        ] {
            let filter =
                ThreadFilter { repository: Some(name.to_owned()), ..ThreadFilter::default() };
            let found = stored_threads(&store, kind, &filter).into_iter().map(|row| row.thread.id);
            assert_eq!(found.collect::<Vec<_>>(), ids, "{name}");
        }
    }
}

fn thread_pages_add_up_to_the_list(location: &DatabaseLocation) {
    let store = open_store(location);
    let five = (1..=5).map(|id| thread(ThreadKind::Issue, id, 10, "x")).collect();
    store.ingest_page(&threads_page(ThreadKind::Issue, five)).unwrap();
    for (size, limit, count) in [(2, None, 5), (5, None, 5), (1, Some(3), 3), (9, Some(4), 4)] {
        let (mut ids, filter) = (Vec::new(), ThreadFilter { limit, ..ThreadFilter::default() });
        store
            .each_thread_in_pages(ThreadKind::Issue, &filter, size, &mut |row| {
                ids.push(row.thread.id);
                Ok::<(), StoreError>(())
            })
            .unwrap();
        assert_eq!(ids, (1..=count).collect::<Vec<_>>());
    }
}

fn sweep_of_each_kind_removes_only_its_own_items(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in ThreadKind::ALL {
        let page = vec![thread(kind, 5, 10, "leaks"), thread(kind, 6, 10, "drips")];
        store.ingest_page(&threads_page(kind, page)).unwrap();
    }
    for (left, kind) in [2, 1, 0].into_iter().zip(ThreadKind::ALL) {
        let row = thread_row(&thread(kind, 6, 10, "drips").item);
        let rows = vec![(6, row.thread.node_id.clone(), source_time(10))];
        let inventory =
            SweepPage { began_at: observed_at(1_000), rows, next: None, complete: true };
        store.stage_sweep_page(&lane_for_kind(kind), &inventory).unwrap();
        let findings = store.sweep_findings(&lane_for_kind(kind)).unwrap();
        let gone = expected_row(kind, 5).thread.node_id;
        assert_eq!((findings.findings.suspects, findings.node_ids), (vec![5], [(5, gone)].into()));
        assert_eq!(findings.siblings, [(6, row.thread.node_id.clone())]);
        let done =
            store.finish_sweep(&lane_for_kind(kind), &[(5, observed_at(1_000))], false).unwrap();
        assert_eq!(done, RemovalResult { removed: 1 });
        assert_eq!(
            (all_threads(&store, kind), search_ids(&store, "leaks").len()),
            (vec![row], left)
        );
        assert!(!store.cell(&ObjectKey::new(HOST, kind, 5)).unwrap().is_present());
    }
    assert_eq!(count_search_rows(location), 3);
}

/// Counts the search rows that have a facet.
fn count_with_facet(location: &DatabaseLocation, facet: &str) -> String {
    let condition = match location {
        DatabaseLocation::Postgres { .. } => format!("facets @@ '{facet}'::tsquery"),
        DatabaseLocation::Memory | DatabaseLocation::File(_) => {
            format!("search match 'facets : {facet}'")
        }
    };
    let sql = format!("select cast(count(*) as text) from search where {condition}");
    crate::fixture::query_raw(location, &sql).concat().concat()
}

fn all_threads(store: &StoreReader, kind: ThreadKind) -> Vec<ThreadRow> {
    stored_threads(store, kind, &ThreadFilter::default())
}

fn expected_row(kind: ThreadKind, id: i64) -> ThreadRow {
    thread_row(&thread(kind, id, 10, "").item)
}

/// Returns the row of a thread of `acme/pump`.
fn thread_row(item: &MirrorItem) -> ThreadRow {
    let MirrorItem::Thread(thread) = item else { panic!("expected a thread") };
    ThreadRow {
        host: HOST.to_owned(),
        repository: "pump".to_owned(),
        thread: thread.clone(),
        closes: vec![],
    }
}

/// Returns the URLs of all threads, relative to the organization.
fn thread_urls(store: &StoreReader) -> Vec<String> {
    let rows = ThreadKind::ALL.into_iter().flat_map(|kind| all_threads(store, kind));
    rows.map(|row| row.thread.url.strip_prefix("https://github.com/acme/").unwrap().to_owned())
        .collect()
}
