use std::collections::BTreeSet;

use hw_rules::lane::Lane;
use hw_store::{IngestPage, Place, Store, SweepPage};

use crate::world::{
    HOST, PUMP, found, held, hits, issue, issue_of, issues, open, organization, pump, repositories,
    repository, search_rows, seen, seen_at, thread_in,
};

both![
    a_rename_moves_the_issues_and_their_search_rows,
    an_issue_read_before_a_rename_and_kept_after_it_gets_the_new_name,
    a_reused_name_mixes_nothing,
    two_repositories_may_swap_their_names,
    two_repositories_with_one_name_on_a_page_are_both_kept,
    a_repository_that_lost_its_name_gets_it_back_at_its_next_look,
    a_rename_frees_the_urls_it_needs,
    a_large_repository_is_renamed_and_removed_whole,
    two_hosts_may_have_one_url,
];

fn a_rename_moves_the_issues_and_their_search_rows(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks"), issue(6, 11, "drips")])).unwrap();
    assert_eq!(found(&store, "pump leaks"), [5]);
    store.ingest(&lease, &repositories(vec![pump("valve", 20)])).unwrap();
    assert_eq!(names(&store), ["valve"]);
    assert_eq!(places(&store), ["valve/issues/5", "valve/issues/6"]);
    assert_eq!(found(&store, "valve leaks"), [5]);
    assert_eq!((found(&store, "pump"), search_rows(place)), (vec![], 2));
}

fn an_issue_read_before_a_rename_and_kept_after_it_gets_the_new_name(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &repositories(vec![pump("valve", 20)])).unwrap();
    store.ingest(&lease, &issues(vec![issue_of(PUMP, "pump", 5, 10, "leaks")])).unwrap();
    assert_eq!(places(&store), ["valve/issues/5"]);
}

fn a_reused_name_mixes_nothing(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "old")])).unwrap();
    store.ingest(&lease, &repositories(vec![repository(2, "pump", 20)])).unwrap();
    let newer = issue_of(2, "pump", 9, 21, "new");
    let mut same_url = newer.clone();
    let thread = thread_in(&mut same_url);
    thread.url = "https://github.com/acme/pump/issues/5".to_owned();
    thread.number = 5;
    store.ingest(&lease, &issues(vec![same_url])).unwrap();
    assert_eq!(names(&store), ["pump", "pump~1"]);
    assert_eq!(places(&store), ["pump~1/issues/5", "pump/issues/5"]);
    assert_eq!(held(&store).iter().map(|row| row.thread.repository_id).collect::<Vec<_>>(), [1, 2]);
    store.ingest(&lease, &repositories(vec![pump("pump-old", 30)])).unwrap();
    assert_eq!(names(&store), ["pump", "pump-old"]);
    assert_eq!(places(&store), ["pump-old/issues/5", "pump/issues/5"]);
    assert_eq!(found(&store, "old"), [5]);
}

fn two_repositories_may_swap_their_names(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &repositories(vec![repository(2, "valve", 0)])).unwrap();
    store
        .ingest(&lease, &issues(vec![issue(5, 10, "x"), issue_of(2, "valve", 5_000, 10, "y")]))
        .unwrap();
    let swapped = vec![pump("valve", 20), repository(2, "pump", 20)];
    store.ingest(&lease, &repositories(swapped)).unwrap();
    let ids: Vec<_> = store.repositories(HOST).unwrap().iter().map(|row| row.id).collect();
    assert_eq!((names(&store), ids), (vec!["pump".to_owned(), "valve".to_owned()], vec![2, 1]));
    assert_eq!(places(&store), ["valve/issues/5", "pump/issues/5000"]);
}

fn two_repositories_with_one_name_on_a_page_are_both_kept(place: &Place) {
    let (store, lease) = open(place);
    let page = repositories(vec![repository(3, "valve", 20), repository(2, "valve", 21)]);
    for look in 0..3 {
        store.ingest(&lease, &page).unwrap();
        assert_eq!(names(&store), ["pump", "valve", "valve~3"], "look {look}: 2 was updated later");
    }
    let again = seen_at(repository(3, "nozzle", 20), 22);
    store
        .ingest(&lease, &repositories(vec![seen_at(repository(2, "valve", 21), 22), again]))
        .unwrap();
    assert_eq!(names(&store), ["nozzle", "pump", "valve"]);
}

fn a_repository_that_lost_its_name_gets_it_back_at_its_next_look(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    store.ingest(&lease, &repositories(vec![repository(2, "pump", 20)])).unwrap();
    store.ingest(&lease, &repositories(vec![repository(2, "valve", 30)])).unwrap();
    assert_eq!(
        (names(&store), places(&store)),
        (vec!["pump~1".into(), "valve".into()], vec!["pump~1/issues/5".into()])
    );
    let unmoved = seen_at(pump("pump", 0), 31);
    store.ingest(&lease, &repositories(vec![unmoved.clone()])).unwrap();
    assert_eq!(
        (names(&store), places(&store)),
        (vec!["pump".into(), "valve".into()], vec!["pump/issues/5".into()])
    );
    assert_eq!(found(&store, "pump"), [5]);
    let again = store.ingest(&lease, &repositories(vec![unmoved])).unwrap();
    assert_eq!(again.unchanged, 1, "and that is that");
}

fn a_rename_frees_the_urls_it_needs(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &repositories(vec![repository(2, "valve", 0)])).unwrap();
    let mut twin = issue_of(2, "valve", 9, 10, "y");
    thread_in(&mut twin).url = "https://github.com/acme/valve/issues/5".to_owned();
    store.ingest(&lease, &issues(vec![issue(5, 10, "x"), twin])).unwrap();
    let stray = issue_of(77, "nozzle", 5_000, 10, "z");
    store.ingest(&lease, &issues(vec![stray])).unwrap();
    let swapped = vec![pump("valve", 20), repository(2, "pump", 20)];
    store.ingest(&lease, &repositories(swapped)).unwrap();
    assert_eq!(places(&store), ["valve/issues/5", "pump/issues/5", "nozzle/issues/5000"]);
    store.ingest(&lease, &issues(vec![issue(5_000, 11, "ours")])).unwrap();
    store.ingest(&lease, &issues(vec![issue_of(77, "nozzle", 6_000, 10, "z")])).unwrap();
    store.ingest(&lease, &issues(vec![issue(6_001, 11, "ours"), issue(6_000, 9, "old")])).unwrap();
    store.ingest(&lease, &repositories(vec![pump("nozzle", 30)])).unwrap();
    let urls: BTreeSet<_> = held(&store).into_iter().map(|row| row.thread.url).collect();
    assert_eq!(urls.len(), 5, "each has a URL of its own");
}

fn a_large_repository_is_renamed_and_removed_whole(place: &Place) {
    let (store, lease) = open(place);
    for page in 0..12 {
        let ids = page * 100..page * 100 + 100;
        store.ingest(&lease, &issues(ids.map(|id| issue(id, 10, "leaks")).collect())).unwrap();
    }
    store.ingest(&lease, &repositories(vec![pump("valve", 20)])).unwrap();
    assert!(places(&store).iter().all(|place| place.starts_with("valve/issues/")));
    assert_eq!(hits(&store, "valve", 5_000).len(), 1_200);
    assert_eq!((found(&store, "pump"), search_rows(place)), (vec![], 1_200));
    let roll = SweepPage { began: seen(900), rows: vec![], next: None, complete: true };
    store.stage_sweep(&lease, &organization(), &roll).unwrap();
    store.finish_sweep(&lease, &organization(), &[(PUMP, seen(900))], false).unwrap();
    let counts = store.counts().unwrap();
    assert_eq!((counts.issues, counts.tombstones, search_rows(place)), (0, 1_201, 0));
}

fn two_hosts_may_have_one_url(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    for page in [repositories(vec![pump("pump", 0)]), issues(vec![issue(5, 10, "y")])] {
        let lane = Lane { host: "github.example".to_owned(), ..page.lane };
        store.ingest(&lease, &IngestPage { lane, ..page }).unwrap();
    }
    assert_eq!(places(&store), ["pump/issues/5", "pump/issues/5"]);
}

fn names(store: &Store) -> Vec<String> {
    store.repositories(HOST).unwrap().into_iter().map(|repository| repository.name).collect()
}

/// The issues' URLs below the organisation; each agrees with the repository's name.
fn places(store: &Store) -> Vec<String> {
    let place = |row: hw_store::ThreadRow| {
        let place = row.thread.url.strip_prefix("https://github.com/acme/").unwrap().to_owned();
        assert_eq!(place.split('/').next(), Some(row.repository.as_str()));
        place
    };
    held(store).into_iter().map(place).collect()
}
