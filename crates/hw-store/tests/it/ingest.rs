use hw_rules::item::Item;
use hw_store::{Error, Ingested, Place};

use crate::world::{
    bodies, crashing_at, held, issue, issue_key, issues, issues_through, lane, open, seen_at,
    through,
};

both![
    a_page_is_kept_with_everything_it_says,
    data_and_watermark_commit_together_or_not_at_all,
    a_crash_after_the_commit_loses_nothing_and_a_second_try_changes_nothing,
    an_older_version_does_not_undo_a_newer_one,
    a_key_shown_twice_on_a_page_is_held_once,
    a_body_with_u0000_is_kept_byte_for_byte,
    the_watermark_never_moves_back,
    an_issue_of_an_unknown_repository_is_kept_under_the_name_in_its_url,
];

fn a_page_is_kept_with_everything_it_says(place: &Place) {
    let (store, lease) = open(place);
    let seen = issue(5, 10, "leaks");
    let done = store.ingest(&lease, &issues(vec![seen.clone()])).unwrap();
    assert_eq!(done, Ingested { created: 1, ..Ingested::default() });
    let Item::Issue(said) = seen.item else { panic!("an issue was made") };
    let [row] = held(&store).try_into().unwrap();
    assert_eq!((row.host.as_str(), row.id, row.number), ("github.com", said.id, said.number));
    assert_eq!((row.repository_id, row.repository.as_str()), (1, "pump"));
    assert_eq!((row.url, row.node_id), (said.url, said.node_id));
    assert_eq!((row.title, row.body), (said.title, said.body));
    assert_eq!((row.state, row.state_reason), (said.state, said.state_reason));
    assert_eq!((row.labels, row.author), (said.labels, said.author));
    assert_eq!((row.author_id, row.closed_at), (said.author_id, said.closed_at));
    assert_eq!((row.created_at, row.updated_at), (said.created_at, said.updated_at));
}

fn data_and_watermark_commit_together_or_not_at_all(place: &Place) {
    let (store, lease) = open(place);
    let page = issues_through(vec![issue(5, 10, "leaks")], 10);
    let crashed = crashing_at(&store, "ingest: before commit").ingest(&lease, &page);
    assert!(matches!(crashed, Err(Error::Interrupted("ingest: before commit"))), "{crashed:?}");
    assert_eq!(bodies(&store), Vec::<String>::new());
    assert_eq!(store.lane_state(&lane()).unwrap().coverage.through, None);
    store.ingest(&lease, &page).unwrap();
    assert_eq!(bodies(&store), ["body leaks"]);
    assert_eq!(store.lane_state(&lane()).unwrap().coverage, through(10));
}

fn a_crash_after_the_commit_loses_nothing_and_a_second_try_changes_nothing(place: &Place) {
    let (store, lease) = open(place);
    let page = issues_through(vec![issue(5, 10, "leaks")], 10);
    let crashed = crashing_at(&store, "ingest: after commit").ingest(&lease, &page);
    assert!(matches!(crashed, Err(Error::Interrupted("ingest: after commit"))), "{crashed:?}");
    assert_eq!(bodies(&store), ["body leaks"]);
    let again = store.ingest(&lease, &page).unwrap();
    assert_eq!(again, Ingested { unchanged: 1, ..Ingested::default() });
}

fn an_older_version_does_not_undo_a_newer_one(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "new")])).unwrap();
    let late = seen_at(issue(5, 9, "old"), 99);
    let done = store.ingest(&lease, &issues(vec![late])).unwrap();
    assert_eq!(done, Ingested { unchanged: 1, ..Ingested::default() });
    assert_eq!(bodies(&store), ["body new"]);
    let done = store.ingest(&lease, &issues(vec![issue(5, 11, "newer")])).unwrap();
    assert_eq!(done, Ingested { edited: 1, ..Ingested::default() });
    assert_eq!(bodies(&store), ["body newer"]);
}

fn a_key_shown_twice_on_a_page_is_held_once(place: &Place) {
    let (store, lease) = open(place);
    let page = issues(vec![issue(5, 11, "new"), issue(5, 10, "old")]);
    assert_eq!(store.ingest(&lease, &page).unwrap().created, 1);
    assert_eq!(bodies(&store), ["body new"]);
    assert_eq!(store.cell("github.com", issue_key(5)).unwrap().version.unwrap().seen.request, 11);
}

fn a_body_with_u0000_is_kept_byte_for_byte(place: &Place) {
    let (store, lease) = open(place);
    let text = "before\0after \u{fffd} 日本 \u{1f600}\r\n";
    let mut with_null = issue(5, 10, "x");
    let Item::Issue(issue) = &mut with_null.item else { panic!("an issue was made") };
    issue.body = text.to_owned();
    store.ingest(&lease, &issues(vec![with_null])).unwrap();
    assert_eq!(bodies(&store), [text]);
}

fn the_watermark_never_moves_back(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues_through(vec![], 10)).unwrap();
    let back = store.ingest(&lease, &issues_through(vec![issue(5, 9, "x")], 9));
    assert!(matches!(back, Err(Error::WatermarkBack { .. })), "{back:?}");
    let mut nothing = issues_through(vec![], 10);
    nothing.coverage = Some(hw_rules::coverage::Coverage::default());
    let gone = store.ingest(&lease, &nothing);
    assert!(matches!(gone, Err(Error::WatermarkBack { to: None, .. })), "{gone:?}");
    assert_eq!(store.lane_state(&lane()).unwrap().coverage, through(10));
    assert_eq!(bodies(&store), Vec::<String>::new(), "the page went with its watermark");
}

fn an_issue_of_an_unknown_repository_is_kept_under_the_name_in_its_url(place: &Place) {
    let (store, lease) = open(place);
    let stray = crate::world::issue_of(77, "valve", 5, 10, "x");
    store.ingest(&lease, &issues(vec![stray])).unwrap();
    let [row] = held(&store).try_into().unwrap();
    assert_eq!(row.repository, "valve");
    assert_eq!(row.url, "https://github.com/acme/valve/issues/5");
}
