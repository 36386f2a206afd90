use hw_rules::row_subject::RowSubject;
use hw_store::{DatabaseLocation, IngestPage, StoreReader, SweepPage, UnreadableItem};

use crate::fixture::{
    coverage_through, issue, issue_lane, issues_page, issues_page_through, observed_at, open_store,
    organization_lane, repositories_page, source_time,
};

both![
    quarantine_counts_unreadable_items_and_the_lane_continues,
    quarantine_releases_items_that_become_readable,
    quarantine_clears_a_listing_position_only_in_its_own_lane,
    quarantine_is_not_released_by_an_older_version,
    quarantine_lists_items_with_the_fewest_attempts_first,
    quarantine_releases_items_that_a_complete_inventory_does_not_list,
    quarantine_truncates_a_huge_raw_text,
    quarantine_reports_the_lanes_with_items,
];

fn quarantine_counts_unreadable_items_and_the_lane_continues(location: &DatabaseLocation) {
    let store = open_store(location);
    for second in [10, 11] {
        let page = with_unreadable(issues_page_through(vec![issue(6, 10, "x")], 10), "I_5", second);
        assert_eq!(store.ingest_page(&page).unwrap().quarantined, 1);
    }
    let [item] = store.quarantined_items().unwrap().try_into().unwrap();
    assert_eq!((item.lane, item.subject.to_string().as_str()), (issue_lane(), "I_5"));
    assert_eq!((item.tries, item.seen), (2, observed_at(11)));
    assert_eq!((item.reason.as_str(), item.raw.as_str()), ("no title", "{\"a\":\u{fffd}}"));
    assert_eq!(store.object_counts().unwrap().quarantined, 1);
    assert_eq!(store.lane_state(&issue_lane()).unwrap().coverage, coverage_through(10));
}

fn quarantine_releases_items_that_become_readable(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = with_unreadable(with_unreadable(issues_page(vec![]), "I_5", 10), "I_6", 10);
    store.ingest_page(&page).unwrap();
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let left: Vec<_> = store
        .quarantined_items()
        .unwrap()
        .into_iter()
        .map(|item| item.subject.to_string())
        .collect();
    assert_eq!(left, ["I_6"]);
}

fn quarantine_clears_a_listing_position_only_in_its_own_lane(location: &DatabaseLocation) {
    let store = open_store(location);
    for page in [issues_page(vec![]), repositories_page(vec![])] {
        store.ingest_page(&with_unreadable(page, "after:", 10)).unwrap();
    }
    let mut again = issues_page(vec![issue(5, 10, "x")]);
    again.cleared_subjects.push(RowSubject::parse("after:"));
    store.ingest_page(&again).unwrap();
    let left: Vec<_> =
        store.quarantined_items().unwrap().into_iter().map(|item| item.lane).collect();
    assert_eq!(left, [organization_lane()]);
}

fn quarantine_is_not_released_by_an_older_version(location: &DatabaseLocation) {
    let store = open_store(location);
    for (updated, waits_for) in [(20, 20), (30, 30), (25, 30)] {
        let mut page = with_unreadable(issues_page(vec![]), "I_5", 40);
        page.quarantined[0].updated_at = Some(source_time(updated));
        store.ingest_page(&page).unwrap();
        let [item] = store.quarantined_items().unwrap().try_into().unwrap();
        assert_eq!(item.updated_at, Some(source_time(waits_for)));
    }
    store.ingest_page(&with_unreadable(issues_page(vec![]), "I_5", 41)).unwrap();
    store.ingest_page(&issues_page(vec![issue(5, 29, "old")])).unwrap();
    assert_eq!(quarantined_subjects(&store), ["I_5"]);
    store.ingest_page(&issues_page(vec![issue(5, 30, "new")])).unwrap();
    assert_eq!(quarantined_subjects(&store), Vec::<String>::new());
}

fn quarantine_lists_items_with_the_fewest_attempts_first(location: &DatabaseLocation) {
    let store = open_store(location);
    for (subject, second) in [("I_5", 10), ("I_5", 11), ("I_7", 12), ("I_6", 13), ("I_4", 13)] {
        store.ingest_page(&with_unreadable(issues_page(vec![]), subject, second)).unwrap();
    }
    store.ingest_page(&with_unreadable(repositories_page(vec![]), "R_9", 1)).unwrap();
    for (limit, expected) in [(10, &["I_7", "I_4", "I_6", "I_5"][..]), (2, &["I_7", "I_4"])] {
        let rows = store.quarantined_in_lane(&issue_lane(), limit).unwrap();
        let subjects: Vec<_> = rows.into_iter().map(|item| item.subject.to_string()).collect();
        assert_eq!(subjects, expected);
    }
}

fn quarantine_releases_items_that_a_complete_inventory_does_not_list(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut page = issues_page(vec![]);
    for subject in ["I_5", "I_6", "at after:x", "I_7", "I_4"] {
        page = with_unreadable(page, subject, 10);
    }
    (page.quarantined[3].updated_at, page.quarantined[3].seen) =
        (Some(source_time(999)), observed_at(999));
    // the sweep itself reads this one, and cannot read it
    (page.quarantined[4].updated_at, page.quarantined[4].seen) =
        (Some(source_time(10)), observed_at(1_000));
    store.ingest_page(&page).unwrap();
    store.ingest_page(&with_unreadable(issues_page(vec![]), "I_8", 1_001)).unwrap();
    store.ingest_page(&with_unreadable(repositories_page(vec![]), "R_9", 1)).unwrap();
    let rows = vec![(6, "I_6".to_owned(), source_time(10))];
    let inventory = SweepPage { began_at: observed_at(1_000), rows, next: None, complete: true };
    store.stage_sweep_page(&issue_lane(), &inventory).unwrap();
    store.finish_sweep(&issue_lane(), &[], false).unwrap();
    let mut left = quarantined_subjects(&store);
    left.sort_unstable();
    assert_eq!(left, ["I_4", "I_6", "I_7", "I_8", "R_9"], "7 and 8 are too new");
}

fn quarantined_subjects(store: &StoreReader) -> Vec<String> {
    store.quarantined_items().unwrap().into_iter().map(|item| item.subject.to_string()).collect()
}

fn quarantine_truncates_a_huge_raw_text(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut page = with_unreadable(issues_page(vec![]), "I_5", 10);
    page.quarantined[0].raw = "ä".repeat(100_000);
    store.ingest_page(&page).unwrap();
    assert_eq!(store.quarantined_items().unwrap()[0].raw.len(), 64 * 1024);
}

fn quarantine_reports_the_lanes_with_items(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![])).unwrap();
    assert_eq!(store.lanes_with_quarantine().unwrap(), [].into());
    for subject in ["I_5", "I_6"] {
        store.ingest_page(&with_unreadable(issues_page(vec![]), subject, 10)).unwrap();
    }
    assert_eq!(store.lanes_with_quarantine().unwrap(), [issue_lane()].into());
    store.ingest_page(&issues_page(vec![issue(5, 10, "x"), issue(6, 10, "x")])).unwrap();
    assert_eq!(store.lanes_with_quarantine().unwrap(), [].into());
}

fn with_unreadable(mut page: IngestPage, subject: &str, second: i64) -> IngestPage {
    page.quarantined.push(UnreadableItem {
        subject: RowSubject::parse(subject),
        reason: "no title".to_owned(),
        raw: "{\"a\":\0}".to_owned(),
        updated_at: None,
        seen: observed_at(second),
    });
    page
}
