use hw_rules::item::{Item, Kind};
use hw_store::{Error, Ingested, Place, ThreadFilter, ThreadRow};

use crate::world::{
    bodies, crashing_at, held, held_of, issue, issue_key, issues, issues_through, lane, open,
    seen_at, thread, thread_in, threads, through,
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
    pages_that_came_in_one_answer_are_kept_together_or_not_at_all,
    what_two_pages_of_one_answer_show_is_as_if_they_came_one_after_the_other,
];

fn a_page_is_kept_with_everything_it_says(place: &Place) {
    let (store, lease) = open(place);
    let seen = issue(5, 10, "leaks");
    let done = store.ingest(&lease, &issues(vec![seen.clone()])).unwrap();
    assert_eq!(done, Ingested { created: 1, ..Ingested::default() });
    let Item::Thread(thread) = seen.item else { panic!("a thread was made") };
    let (host, repository) = ("github.com".to_owned(), "pump".to_owned());
    assert_eq!(held(&store), [ThreadRow { host, repository, thread }]);
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
    text.clone_into(&mut thread_in(&mut with_null).body);
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
    assert_eq!(row.thread.url, "https://github.com/acme/valve/issues/5");
}

fn pages_that_came_in_one_answer_are_kept_together_or_not_at_all(place: &Place) {
    let (store, lease) = open(place);
    let [talk, pull] = [Kind::Discussion, Kind::PullRequest].map(|kind| {
        let page = threads(kind, vec![thread(kind, 5, 10, "leaks"), thread(kind, 6, 10, "leaks")]);
        hw_store::IngestPage { coverage: Some(through(10)), ..page }
    });
    let pages = [issues_through(vec![issue(5, 10, "leaks")], 10), talk, pull];
    let crashed = crashing_at(&store, "ingest: before commit").ingest_all(&lease, &pages);
    assert!(matches!(crashed, Err(Error::Interrupted("ingest: before commit"))), "{crashed:?}");
    let mut nonsense = pages.clone();
    store.ingest(&lease, &nonsense[2]).unwrap();
    nonsense[2].coverage = Some(through(9));
    let refused = store.ingest_all(&lease, &nonsense);
    assert!(matches!(refused, Err(Error::WatermarkBack { .. })), "{refused:?}");
    let kept = |kind| held_of(&store, kind, &ThreadFilter::default()).len();
    assert_eq!(Kind::THREADS.map(kept), [0, 0, 2]);
    let done = store.ingest_all(&lease, &pages).unwrap();
    let created = |created| Ingested { created, ..Ingested::default() };
    assert_eq!(done, [created(1), created(2), Ingested { unchanged: 2, ..Ingested::default() }]);
    assert_eq!(Kind::THREADS.map(kept), [2, 1, 2]);
    for page in pages {
        assert_eq!(store.lane_state(&page.lane).unwrap().coverage, through(10));
    }
    assert_eq!(store.ingest_all(&lease, &[]).unwrap(), []);
}

fn what_two_pages_of_one_answer_show_is_as_if_they_came_one_after_the_other(place: &Place) {
    let (store, lease) = open(place);
    let pages = [
        issues(vec![issue(5, 10, "old"), issue(6, 10, "x")]),
        issues(vec![issue(5, 11, "new")]),
        issues(vec![issue(5, 9, "older"), issue(6, 10, "x")]),
    ];
    let done = store.ingest_all(&lease, &pages).unwrap();
    let counts: Vec<_> =
        done.iter().map(|page| (page.created, page.edited, page.unchanged)).collect();
    assert_eq!(counts, [(2, 0, 0), (0, 1, 0), (0, 0, 2)]);
    assert_eq!(bodies(&store), ["body new", "body x"]);
    assert_eq!(
        (crate::world::found(&store, "new"), crate::world::search_rows(place)),
        (vec![5], 2)
    );
}
