use std::collections::BTreeSet;

use hw_rules::lane::Lane;
use hw_store::{DatabaseLocation, IngestPage, StoreReader, SweepPage};

use crate::fixture::{
    HOST, PUMP_ID, as_thread_mut, count_search_rows, finish_chores, issue, issue_in, issues_page,
    observed_at, open_store, organization_lane, pump_repository, repositories_page, repository,
    search_hits, search_ids, stored_issues, with_observed_at,
};

both![
    rename_moves_issues_and_their_search_rows,
    rename_applies_to_issues_that_were_read_before_it,
    rename_applies_to_a_page_that_was_prepared_before_it,
    repository_name_that_is_reused_mixes_no_threads,
    repository_names_can_be_swapped,
    repository_name_listed_twice_stores_both_repositories,
    repository_that_lost_its_name_gets_it_back_at_its_next_observation,
    rename_frees_the_urls_it_needs,
    repository_with_many_issues_is_renamed_and_removed_completely,
    hosts_may_share_a_url,
];

fn rename_moves_issues_and_their_search_rows(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks"), issue(6, 11, "drips")])).unwrap();
    assert_eq!(search_ids(&store, "pump leaks"), [5]);
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 20)])).unwrap();
    finish_chores(&store);
    assert_eq!(stored_names(&store), ["valve"]);
    assert_eq!(issue_paths(&store), ["valve/issues/5", "valve/issues/6"]);
    assert_eq!(search_ids(&store, "valve leaks"), [5]);
    assert_eq!((search_ids(&store, "pump"), count_search_rows(location)), (vec![], 2));
}

fn rename_applies_to_issues_that_were_read_before_it(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 20)])).unwrap();
    finish_chores(&store);
    store.ingest_page(&issues_page(vec![issue_in(PUMP_ID, "pump", 5, 10, "leaks")])).unwrap();
    assert_eq!(issue_paths(&store), ["valve/issues/5"]);
}

fn rename_applies_to_a_page_that_was_prepared_before_it(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = issues_page(vec![issue_in(PUMP_ID, "pump", 5, 10, "leaks")]);
    let prepared = store.page_preparer().prepare_page(page);
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 20)])).unwrap();
    finish_chores(&store);
    store.ingest_prepared(&[prepared]).unwrap();
    assert_eq!(issue_paths(&store), ["valve/issues/5"]);
    assert_eq!(search_ids(&store, "valve leaks"), [5]);
    assert!(search_ids(&store, "pump").is_empty());
}

fn repository_name_that_is_reused_mixes_no_threads(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "old")])).unwrap();
    store.ingest_page(&repositories_page(vec![repository(2, "pump", 20)])).unwrap();
    finish_chores(&store);
    let newer = issue_in(2, "pump", 9, 21, "new");
    let mut same_url = newer.clone();
    let thread = as_thread_mut(&mut same_url);
    thread.url = "https://github.com/acme/pump/issues/5".to_owned();
    thread.number = 5;
    store.ingest_page(&issues_page(vec![same_url])).unwrap();
    assert_eq!(stored_names(&store), ["pump", "pump~1"]);
    assert_eq!(issue_paths(&store), ["pump~1/issues/5", "pump/issues/5"]);
    assert_eq!(
        stored_issues(&store).iter().map(|row| row.thread.repository_id).collect::<Vec<_>>(),
        [1, 2]
    );
    store.ingest_page(&repositories_page(vec![pump_repository("pump-old", 30)])).unwrap();
    finish_chores(&store);
    assert_eq!(stored_names(&store), ["pump", "pump-old"]);
    assert_eq!(issue_paths(&store), ["pump-old/issues/5", "pump/issues/5"]);
    assert_eq!(search_ids(&store, "old"), [5]);
}

fn repository_names_can_be_swapped(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&repositories_page(vec![repository(2, "valve", 0)])).unwrap();
    finish_chores(&store);
    store
        .ingest_page(&issues_page(vec![issue(5, 10, "x"), issue_in(2, "valve", 5_000, 10, "y")]))
        .unwrap();
    let swapped = vec![pump_repository("valve", 20), repository(2, "pump", 20)];
    store.ingest_page(&repositories_page(swapped)).unwrap();
    finish_chores(&store);
    let ids: Vec<_> = store.repositories(HOST).unwrap().iter().map(|row| row.id).collect();
    assert_eq!(
        (stored_names(&store), ids),
        (vec!["pump".to_owned(), "valve".to_owned()], vec![2, 1])
    );
    assert_eq!(issue_paths(&store), ["valve/issues/5", "pump/issues/5000"]);
}

fn repository_name_listed_twice_stores_both_repositories(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = repositories_page(vec![repository(3, "valve", 20), repository(2, "valve", 21)]);
    for round in 0..3 {
        store.ingest_page(&page).unwrap();
        assert_eq!(
            stored_names(&store),
            ["pump", "valve", "valve~3"],
            "round {round}: 2 was updated later"
        );
    }
    let again = with_observed_at(repository(3, "nozzle", 20), 22);
    store
        .ingest_page(&repositories_page(vec![
            with_observed_at(repository(2, "valve", 21), 22),
            again,
        ]))
        .unwrap();
    assert_eq!(stored_names(&store), ["nozzle", "pump", "valve"]);
}

fn repository_that_lost_its_name_gets_it_back_at_its_next_observation(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    store.ingest_page(&repositories_page(vec![repository(2, "pump", 20)])).unwrap();
    finish_chores(&store);
    store.ingest_page(&repositories_page(vec![repository(2, "valve", 30)])).unwrap();
    finish_chores(&store);
    assert_eq!(
        (stored_names(&store), issue_paths(&store)),
        (vec!["pump~1".into(), "valve".into()], vec!["pump~1/issues/5".into()])
    );
    let unchanged = with_observed_at(pump_repository("pump", 0), 31);
    store.ingest_page(&repositories_page(vec![unchanged.clone()])).unwrap();
    finish_chores(&store);
    assert_eq!(
        (stored_names(&store), issue_paths(&store)),
        (vec!["pump".into(), "valve".into()], vec!["pump/issues/5".into()])
    );
    assert_eq!(search_ids(&store, "pump"), [5]);
    let again = store.ingest_page(&repositories_page(vec![unchanged])).unwrap();
    assert_eq!(again.unchanged, 1, "the name is stable");
}

fn rename_frees_the_urls_it_needs(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&repositories_page(vec![repository(2, "valve", 0)])).unwrap();
    finish_chores(&store);
    let mut twin = issue_in(2, "valve", 9, 10, "y");
    as_thread_mut(&mut twin).url = "https://github.com/acme/valve/issues/5".to_owned();
    store.ingest_page(&issues_page(vec![issue(5, 10, "x"), twin])).unwrap();
    let stray = issue_in(77, "nozzle", 5_000, 10, "z");
    store.ingest_page(&issues_page(vec![stray])).unwrap();
    let swapped = vec![pump_repository("valve", 20), repository(2, "pump", 20)];
    store.ingest_page(&repositories_page(swapped)).unwrap();
    finish_chores(&store);
    assert_eq!(issue_paths(&store), ["valve/issues/5", "pump/issues/5", "nozzle/issues/5000"]);
    store.ingest_page(&issues_page(vec![issue(5_000, 11, "ours")])).unwrap();
    store.ingest_page(&issues_page(vec![issue_in(77, "nozzle", 6_000, 10, "z")])).unwrap();
    store
        .ingest_page(&issues_page(vec![issue(6_001, 11, "ours"), issue(6_000, 9, "old")]))
        .unwrap();
    store.ingest_page(&repositories_page(vec![pump_repository("nozzle", 30)])).unwrap();
    finish_chores(&store);
    let urls: BTreeSet<_> = stored_issues(&store).into_iter().map(|row| row.thread.url).collect();
    assert_eq!(urls.len(), 5, "each has a URL of its own");
}

fn repository_with_many_issues_is_renamed_and_removed_completely(location: &DatabaseLocation) {
    let store = open_store(location);
    for page in 0..12 {
        let ids = page * 100..page * 100 + 100;
        store.ingest_page(&issues_page(ids.map(|id| issue(id, 10, "leaks")).collect())).unwrap();
    }
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 20)])).unwrap();
    finish_chores(&store);
    assert!(issue_paths(&store).iter().all(|path| path.starts_with("valve/issues/")));
    assert_eq!(search_hits(&store, "valve", 5_000).len(), 1_200);
    assert_eq!((search_ids(&store, "pump"), count_search_rows(location)), (vec![], 1_200));
    let inventory =
        SweepPage { began_at: observed_at(900), rows: vec![], next: None, complete: true };
    store.stage_sweep_page(&organization_lane(), &inventory).unwrap();
    store.finish_sweep(&organization_lane(), &[(PUMP_ID, observed_at(900))], false).unwrap();
    finish_chores(&store);
    let counts = store.object_counts().unwrap();
    assert_eq!((counts.issues, counts.tombstones, count_search_rows(location)), (0, 1_201, 0));
}

fn hosts_may_share_a_url(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    for page in
        [repositories_page(vec![pump_repository("pump", 0)]), issues_page(vec![issue(5, 10, "y")])]
    {
        let lane = Lane { host: "github.example".into(), ..page.lane };
        store.ingest_page(&IngestPage { lane, ..page }).unwrap();
    }
    assert_eq!(issue_paths(&store), ["pump/issues/5", "pump/issues/5"]);
}

fn stored_names(store: &StoreReader) -> Vec<String> {
    store.repositories(HOST).unwrap().into_iter().map(|repository| repository.name).collect()
}

/// Returns the issues' URLs relative to the organization, and checks that each agrees with the repository's name.
fn issue_paths(store: &StoreReader) -> Vec<String> {
    stored_issues(store)
        .into_iter()
        .map(|row| {
            let path = row.thread.url.strip_prefix("https://github.com/acme/").unwrap().to_owned();
            assert_eq!(path.split('/').next(), Some(row.repository.as_str()));
            path
        })
        .collect()
}
