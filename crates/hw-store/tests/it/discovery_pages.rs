//! The record of a discovery, for the worker that takes over its pull.

use hw_rules::discovered_page::{DiscoveredPage, DiscoveredViewer};
use hw_rules::item::MirrorItem;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::PageCursor;
use hw_store::{DatabaseLocation, LeasedStore, StoreError};

use crate::fixture::{crash_at, open_store, repositories_page, repository, with_older_lease};

const HOST: &str = "github.com";

both![
    discovery_record_is_returned_to_the_worker_that_takes_over,
    discovery_record_starts_over_with_its_first_page,
    discovery_record_and_page_are_stored_together_or_not_at_all,
    discovery_record_needs_the_lease,
];

fn discovery_record_is_returned_to_the_worker_that_takes_over(location: &DatabaseLocation) {
    let store = open_store(location);
    let pages = [page(1, Some("a")), page(2, None)];
    record(&store, 0, &pages[0]).unwrap();
    record(&store, 1, &pages[1]).unwrap();
    let epoch = store.lease().epoch;
    assert_eq!(store.resume_discovery(HOST, epoch + 1).unwrap(), [], "of another claim");
    assert_eq!(store.resume_discovery("elsewhere", epoch).unwrap(), []);
    store.release_duty().unwrap();

    let next = open_store(location);
    assert_eq!(next.resume_discovery(HOST, epoch).unwrap(), pages);
    let third = page(3, None);
    record(&next, 2, &third).unwrap();
    let [first, second] = pages;
    let whole = [first, second, third];
    assert_eq!(next.resume_discovery(HOST, next.lease().epoch).unwrap(), whole, "it is its own");
    assert_eq!(next.resume_discovery(HOST, epoch).unwrap(), []);
    next.forget_discovery(HOST).unwrap();
    assert_eq!(next.resume_discovery(HOST, next.lease().epoch).unwrap(), []);
}

fn discovery_record_starts_over_with_its_first_page(location: &DatabaseLocation) {
    let store = open_store(location);
    record(&store, 0, &page(1, Some("a"))).unwrap();
    record(&store, 1, &page(2, None)).unwrap();
    record(&store, 0, &page(3, None)).unwrap();
    assert_eq!(store.resume_discovery(HOST, store.lease().epoch).unwrap(), [page(3, None)]);
}

fn discovery_record_and_page_are_stored_together_or_not_at_all(location: &DatabaseLocation) {
    let store = open_store(location);
    record(&crash_at(&store, "ingest: before commit"), 0, &page(1, None)).unwrap_err();
    assert_eq!(store.resume_discovery(HOST, store.lease().epoch).unwrap(), []);
    assert!(!has_hose(&store));
    record(&store, 0, &page(1, None)).unwrap();
    assert_eq!(store.resume_discovery(HOST, store.lease().epoch).unwrap(), [page(1, None)]);
    assert!(has_hose(&store));
}

fn discovery_record_needs_the_lease(location: &DatabaseLocation) {
    let old = with_older_lease(&open_store(location));
    let lost = [
        record(&old, 0, &page(1, None)),
        old.resume_discovery(HOST, old.lease().epoch).map(drop),
        old.forget_discovery(HOST),
    ];
    for refused in lost {
        assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    }
}

fn record(store: &LeasedStore, number: u32, page: &DiscoveredPage) -> Result<(), StoreError> {
    let observations = vec![repository(9, "hose", page.date.0)];
    store.ingest_discovered_page(&repositories_page(observations), number, page).map(drop)
}

fn has_hose(store: &LeasedStore) -> bool {
    store.repositories(HOST).unwrap().iter().any(|repository| repository.name == "hose")
}

fn page(second: i64, next: Option<&str>) -> DiscoveredPage {
    let MirrorItem::Repository(repository) = repository(9, "hose", second).item else {
        unreachable!("it is a repository")
    };
    DiscoveredPage {
        owner: Some("acme".to_owned()),
        next: next.map(|next| PageCursor(next.to_owned())),
        date: SourceInstant(second),
        viewer: Some(DiscoveredViewer { id: 7, login: "ada".to_owned() }),
        repositories: vec![repository],
        probes: Vec::new(),
    }
}
