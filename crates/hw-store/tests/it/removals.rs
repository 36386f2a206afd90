use hw_rules::item::{Key, Kind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::LaneState;
use hw_store::{Counts, Error, Failure, Lease, Place, Store, SweepPage, Swept, Unreadable};

use crate::world::{
    HOST, PUMP, crashing_at, found, issue, issues, issues_through, lane, lane_of, open,
    organization, pump, repositories, repository, search_rows, seen, seen_at, thread, thread_of,
    threads, time,
};

both![
    a_repository_that_is_gone_takes_everything_with_it,
    two_repositories_do_not_go_at_once_and_the_message_counts_them,
    a_crash_leaves_every_repository_or_none,
    a_cleared_lane_is_as_if_it_had_never_been_read,
    a_large_lane_is_cleared_whole_or_not_at_all,
    cleared_repositories_stay_and_are_written_anew,
    a_lane_never_seen_is_clear,
];

pub(crate) const LATE: i64 = 1_000;

fn a_repository_that_is_gone_takes_everything_with_it(place: &Place) {
    let (store, lease) = open(place);
    full(&store, &lease);
    let valve = thread_of(Kind::PullRequest, 2, "valve", 50, 10, "leaks");
    let mut page = threads(Kind::PullRequest, vec![valve]);
    page.lane = Lane::of_repository(HOST, 2, Surface::PullRequests);
    store.ingest_all(&lease, &[repositories(vec![repository(2, "valve", 0)]), page]).unwrap();
    let mut unread = repositories(vec![]);
    unread.quarantined = vec![unreadable("R_1"), unreadable("R_2")];
    store.ingest(&lease, &unread).unwrap();
    let gone = [(PUMP, seen(LATE))];
    let done = store.remove_repositories(&lease, &organization(), &gone, false).unwrap();
    assert_eq!(done, Swept { removed: 1 });
    let left = Counts {
        repositories: 1,
        pull_requests: 1,
        quarantined: 1,
        tombstones: 7,
        ..Counts::default()
    };
    assert_eq!(store.counts().unwrap(), left, "what is the valve's stays");
    assert_eq!((found(&store, "leaks"), search_rows(place)), (vec![50], 1));
    for kind in Kind::THREADS {
        assert_eq!(store.cell(HOST, Key { kind, id: 5 }).unwrap().gone, Some(seen(LATE)));
        assert_eq!(store.lane_state(&lane_of(kind)).unwrap(), fresh());
    }
    let back = repositories(vec![seen_at(pump("pump", 0), LATE + 1)]);
    assert_eq!(store.ingest(&lease, &back).unwrap().revived, 1);
    let again = store.remove_repositories(&lease, &organization(), &gone, false).unwrap();
    assert_eq!(again, Swept { removed: 0 }, "an old look, again");
}

fn two_repositories_do_not_go_at_once_and_the_message_counts_them(place: &Place) {
    let (store, lease) = open(place);
    let others = (2..=50).map(|id| repository(id, &format!("r{id}"), 0)).collect();
    store.ingest(&lease, &repositories(others)).unwrap();
    let gone = [(2, seen(LATE)), (3, seen(LATE))];
    let stopped = store.remove_repositories(&lease, &organization(), &gone, false).unwrap_err();
    assert!(matches!(&stopped, Error::Brake { kind: Kind::Repository, .. }), "{stopped:?}");
    let expected = "2 of 50 repositories would be removed at once: acme/r2, acme/r3";
    assert_eq!(stopped.to_string(), expected);
    assert_eq!((store.counts().unwrap().repositories, store.counts().unwrap().tombstones), (50, 0));
    let done = store.remove_repositories(&lease, &organization(), &gone, true).unwrap();
    assert_eq!((done.removed, store.counts().unwrap().repositories), (2, 48));
}

fn a_crash_leaves_every_repository_or_none(place: &Place) {
    let (store, lease) = open(place);
    full(&store, &lease);
    let gone = [(PUMP, seen(LATE))];
    let remove = |point| {
        crashing_at(&store, point).remove_repositories(&lease, &organization(), &gone, false)
    };
    let before = store.counts().unwrap();
    assert!(remove("remove repositories: before commit").is_err());
    assert_eq!(store.counts().unwrap(), before);
    assert!(remove("remove repositories: after commit").is_err());
    assert_eq!(store.counts().unwrap(), Counts { tombstones: 7, ..Counts::default() });
    let old = Lease { epoch: lease.epoch - 1, ..lease };
    let refused = store.remove_repositories(&old, &organization(), &gone, false);
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
}

fn a_cleared_lane_is_as_if_it_had_never_been_read(place: &Place) {
    let (store, lease) = open(place);
    full(&store, &lease);
    store.finish_sweep(&lease, &lane(), &[(6, seen(LATE))], false).unwrap();
    store.stage_sweep(&lease, &lane(), &roll(&[5])).unwrap();
    let failure = Failure { due_ms: 9, failures: 3, page_size: 25, message: "no".to_owned() };
    store.postpone(&lease, &lane(), failure).unwrap();
    assert_eq!(store.clear_lane(&lease, &lane()).unwrap(), 1, "one is a tombstone");
    assert_eq!(store.lane_state(&lane()).unwrap(), fresh());
    assert_eq!(store.sweep(&lane()).unwrap(), None);
    let left = Counts {
        repositories: 1,
        discussions: 2,
        pull_requests: 2,
        quarantined: 2,
        ..Counts::default()
    };
    assert_eq!(store.counts().unwrap(), left, "what is in other lanes stays");
    assert_eq!((found(&store, "leaks").len(), search_rows(place)), (4, 4));
    let errors: Vec<_> = store.lanes().unwrap().into_iter().filter_map(|(.., e)| e).collect();
    assert_eq!(errors, Vec::<String>::new());
    let page = issues_through(vec![issue(6, 10, "leaks")], 1);
    assert_eq!(store.ingest(&lease, &page).unwrap().created, 1, "no tombstone, no watermark");
    let old = Lease { epoch: lease.epoch - 1, ..lease };
    let refused = store.clear_lane(&old, &lane());
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
}

fn a_large_lane_is_cleared_whole_or_not_at_all(place: &Place) {
    let (store, lease) = open(place);
    for page in 0..12 {
        let ids = page * 100..page * 100 + 100;
        store.ingest(&lease, &issues(ids.map(|id| issue(id, 10, "leaks")).collect())).unwrap();
    }
    assert!(crashing_at(&store, "clear: before commit").clear_lane(&lease, &lane()).is_err());
    assert_eq!((store.counts().unwrap().issues, search_rows(place)), (1_200, 1_200));
    assert_eq!(store.clear_lane(&lease, &lane()).unwrap(), 1_200);
    assert_eq!((store.counts().unwrap().issues, search_rows(place)), (0, 0));
}

fn cleared_repositories_stay_and_are_written_anew(place: &Place) {
    let (store, lease) = open(place);
    full(&store, &lease);
    let before = store.counts().unwrap();
    let looked = || repositories(vec![repository(PUMP, "pump", LATE)]);
    store.ingest(&lease, &looked()).unwrap();
    assert_eq!(store.ingest(&lease, &looked()).unwrap().edited, 0);
    assert_eq!(store.clear_lane(&lease, &organization()).unwrap(), 0);
    assert_eq!(store.counts().unwrap(), before);
    assert_eq!(store.ingest(&lease, &looked()).unwrap().edited, 1);
}

fn a_lane_never_seen_is_clear(place: &Place) {
    let (store, lease) = open(place);
    assert_eq!(store.clear_lane(&lease, &lane()).unwrap(), 0);
    assert_eq!(store.lanes().unwrap().len(), 1, "and is not made");
}

/// Two threads of each kind, all of them swept, and something unreadable in each lane.
pub(crate) fn full(store: &Store, lease: &Lease) {
    for kind in Kind::THREADS {
        let page = vec![thread(kind, 5, 10, "leaks"), thread(kind, 6, 10, "leaks")];
        let mut page = threads(kind, page);
        page.coverage = Some(crate::world::through(10));
        page.quarantined = vec![unreadable("x")];
        page.page_size = 50;
        store.ingest(lease, &page).unwrap();
        store.request_sweep(&lane_of(kind), 7).unwrap();
        store.stage_sweep(lease, &lane_of(kind), &roll(&[5])).unwrap();
    }
}

pub(crate) fn roll(ids: &[i64]) -> SweepPage {
    let rows = ids.iter().map(|id| (*id, "x".to_owned(), time(10))).collect();
    SweepPage { began: seen(LATE), rows, next: None, complete: true }
}

fn fresh() -> LaneState {
    LaneState { page_size: 100, ..LaneState::default() }
}

fn unreadable(subject: &str) -> Unreadable {
    Unreadable {
        subject: subject.to_owned(),
        reason: "no title".to_owned(),
        raw: "{}".to_owned(),
        updated_at: None,
        seen: seen(10),
    }
}
