use hw_store::{IngestPage, Place, Store, SweepPage, Unreadable};

use crate::world::{
    issue, issues, issues_through, lane, open, organization, repositories, seen, through, time,
};

both![
    what_cannot_be_read_is_counted_and_the_lane_goes_on,
    what_can_be_read_again_leaves_quarantine,
    a_place_in_a_listing_is_cleared_in_its_own_lane_only,
    an_older_version_releases_nothing,
    what_was_tried_least_comes_first,
    what_a_complete_roll_does_not_list_leaves_quarantine,
    a_huge_raw_text_is_cut,
    the_lanes_that_wait_for_something_are_known,
];

fn what_cannot_be_read_is_counted_and_the_lane_goes_on(place: &Place) {
    let (store, lease) = open(place);
    for second in [10, 11] {
        let page = with_unreadable(issues_through(vec![issue(6, 10, "x")], 10), "I_5", second);
        assert_eq!(store.ingest(&lease, &page).unwrap().quarantined, 1);
    }
    let [kept] = store.quarantined().unwrap().try_into().unwrap();
    assert_eq!((kept.lane, kept.subject.as_str()), (lane().to_string(), "I_5"));
    assert_eq!((kept.tries, kept.seen), (2, seen(11)));
    assert_eq!((kept.reason.as_str(), kept.raw.as_str()), ("no title", "{\"a\":\u{fffd}}"));
    assert_eq!(store.counts().unwrap().quarantined, 1);
    assert_eq!(store.lane_state(&lane()).unwrap().coverage, through(10));
}

fn what_can_be_read_again_leaves_quarantine(place: &Place) {
    let (store, lease) = open(place);
    let page = with_unreadable(with_unreadable(issues(vec![]), "I_5", 10), "I_6", 10);
    store.ingest(&lease, &page).unwrap();
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    let left: Vec<_> = store.quarantined().unwrap().into_iter().map(|q| q.subject).collect();
    assert_eq!(left, ["I_6"]);
}

fn a_place_in_a_listing_is_cleared_in_its_own_lane_only(place: &Place) {
    let (store, lease) = open(place);
    for page in [issues(vec![]), repositories(vec![])] {
        store.ingest(&lease, &with_unreadable(page, "after:", 10)).unwrap();
    }
    let mut again = issues(vec![issue(5, 10, "x")]);
    again.cleared.push("after:".to_owned());
    store.ingest(&lease, &again).unwrap();
    let left: Vec<_> = store.quarantined().unwrap().into_iter().map(|q| q.lane).collect();
    assert_eq!(left, [organization().to_string()]);
}

fn an_older_version_releases_nothing(place: &Place) {
    let (store, lease) = open(place);
    for (updated, waits_for) in [(20, 20), (30, 30), (25, 30)] {
        let mut page = with_unreadable(issues(vec![]), "I_5", 40);
        page.quarantined[0].updated_at = Some(time(updated));
        store.ingest(&lease, &page).unwrap();
        let [kept] = store.quarantined().unwrap().try_into().unwrap();
        assert_eq!(kept.updated_at, Some(time(waits_for)));
    }
    store.ingest(&lease, &with_unreadable(issues(vec![]), "I_5", 41)).unwrap();
    store.ingest(&lease, &issues(vec![issue(5, 29, "old")])).unwrap();
    assert_eq!(subjects(&store), ["I_5"]);
    store.ingest(&lease, &issues(vec![issue(5, 30, "new")])).unwrap();
    assert_eq!(subjects(&store), Vec::<String>::new());
}

fn what_was_tried_least_comes_first(place: &Place) {
    let (store, lease) = open(place);
    for (subject, second) in [("I_5", 10), ("I_5", 11), ("I_7", 12), ("I_6", 13), ("I_4", 13)] {
        store.ingest(&lease, &with_unreadable(issues(vec![]), subject, second)).unwrap();
    }
    store.ingest(&lease, &with_unreadable(repositories(vec![]), "R_9", 1)).unwrap();
    let of = |limit| {
        let rows = store.quarantined_of(&lane(), limit).unwrap();
        rows.into_iter().map(|kept| kept.subject).collect::<Vec<_>>()
    };
    assert_eq!(of(10), ["I_7", "I_4", "I_6", "I_5"]);
    assert_eq!(of(2), ["I_7", "I_4"]);
}

fn what_a_complete_roll_does_not_list_leaves_quarantine(place: &Place) {
    let (store, lease) = open(place);
    let mut page = issues(vec![]);
    for subject in ["I_5", "I_6", "at after:x", "I_7"] {
        page = with_unreadable(page, subject, 10);
    }
    (page.quarantined[3].updated_at, page.quarantined[3].seen) = (Some(time(999)), seen(999));
    store.ingest(&lease, &page).unwrap();
    store.ingest(&lease, &with_unreadable(issues(vec![]), "I_8", 1_001)).unwrap();
    store.ingest(&lease, &with_unreadable(repositories(vec![]), "R_9", 1)).unwrap();
    let rows = vec![(6, "I_6".to_owned(), time(10))];
    let roll = SweepPage { began: seen(1_000), rows, next: None, complete: true };
    store.stage_sweep(&lease, &lane(), &roll).unwrap();
    store.finish_sweep(&lease, &lane(), &[], false).unwrap();
    assert_eq!(subjects(&store), ["R_9", "I_6", "I_7", "I_8"], "7 and 8 are news");
}

fn subjects(store: &Store) -> Vec<String> {
    store.quarantined().unwrap().into_iter().map(|kept| kept.subject).collect()
}

fn a_huge_raw_text_is_cut(place: &Place) {
    let (store, lease) = open(place);
    let mut page = with_unreadable(issues(vec![]), "I_5", 10);
    page.quarantined[0].raw = "ä".repeat(100_000);
    store.ingest(&lease, &page).unwrap();
    assert_eq!(store.quarantined().unwrap()[0].raw.len(), 64 * 1024);
}

fn the_lanes_that_wait_for_something_are_known(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![])).unwrap();
    assert_eq!(store.waiting_lanes().unwrap(), [].into());
    for subject in ["I_5", "I_6"] {
        store.ingest(&lease, &with_unreadable(issues(vec![]), subject, 10)).unwrap();
    }
    assert_eq!(store.waiting_lanes().unwrap(), [lane().to_string()].into());
    store.ingest(&lease, &issues(vec![issue(5, 10, "x"), issue(6, 10, "x")])).unwrap();
    assert_eq!(store.waiting_lanes().unwrap(), [].into());
}

fn with_unreadable(mut page: IngestPage, subject: &str, second: i64) -> IngestPage {
    page.quarantined.push(Unreadable {
        subject: subject.to_owned(),
        reason: "no title".to_owned(),
        raw: "{\"a\":\0}".to_owned(),
        updated_at: None,
        seen: seen(second),
    });
    page
}
