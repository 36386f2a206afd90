use hw_store::{Place, Store};

use crate::world::{
    HOST, PUMP, found, held, issue, issue_of, issues, open, pump, repositories, repository,
    search_rows,
};

both![
    a_rename_moves_the_issues_and_their_search_rows,
    an_issue_read_before_a_rename_and_kept_after_it_gets_the_new_name,
    a_reused_name_mixes_nothing,
    two_repositories_may_swap_their_names,
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
    let hw_rules::item::Item::Issue(issue) = &mut same_url.item else { panic!("an issue") };
    issue.url = "https://github.com/acme/pump/issues/5".to_owned();
    issue.number = 5;
    store.ingest(&lease, &issues(vec![same_url])).unwrap();
    assert_eq!(names(&store), ["pump", "pump~1"]);
    assert_eq!(places(&store), ["pump~1/issues/5", "pump/issues/5"]);
    assert_eq!(held(&store).iter().map(|row| row.repository_id).collect::<Vec<_>>(), [1, 2]);
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

fn names(store: &Store) -> Vec<String> {
    store.repositories(HOST).unwrap().into_iter().map(|repository| repository.name).collect()
}

/// The issues' URLs below the organisation; each agrees with the repository's name.
fn places(store: &Store) -> Vec<String> {
    let place = |row: hw_store::IssueRow| {
        let place = row.url.strip_prefix("https://github.com/acme/").unwrap().to_owned();
        assert_eq!(place.split('/').next(), Some(row.repository.as_str()));
        place
    };
    held(store).into_iter().map(place).collect()
}
