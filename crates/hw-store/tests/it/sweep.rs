use std::ops::ControlFlow;

use hw_rules::item::{Key, Kind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::LaneState;
use hw_rules::reconcile::{Brake, Findings};
use hw_rules::time::Mark;
use hw_rules::walk::{Cursor, Floor};
use hw_store::{
    Error, IngestPage, Lease, Place, Store, SweepPage, SweepState, Swept, ThreadFilter, ThreadRow,
};

use crate::world::{
    HOST, PUMP, comment, crashing_at, found, held, issue, issue_key, issues, issues_through, lane,
    open, organization, pump, repositories, repository, search_rows, seen, seen_at, thread_in,
    thread_of, threads, time,
};

both![
    a_sweep_is_staged_page_by_page_and_keeps_its_beginning,
    a_sweep_finds_what_is_missing_newer_and_absent,
    an_unfinished_sweep_finds_and_removes_nothing,
    what_is_confirmed_gone_leaves_text_and_search_and_keeps_a_tombstone,
    a_tombstone_is_respected_and_revived_by_a_later_look_only,
    the_brake_stops_a_mass_removal_and_changes_nothing,
    two_repositories_do_not_go_in_one_sweep,
    siblings_come_from_all_over_the_roll,
    what_lies_below_the_coverage_is_not_missed,
    a_sweep_that_starts_over_stays_due,
    a_crash_before_the_commit_removes_nothing,
    a_repository_takes_its_issues_with_it_and_is_read_anew_when_it_returns,
    sweep_removes_nothing_that_another_lane_has_read_since,
    url_returns_to_its_thread_when_a_wrong_id_is_removed,
    url_returns_to_its_thread_when_a_wrong_id_gets_its_own_node,
];

const LATE: i64 = 1_000;

fn a_sweep_is_staged_page_by_page_and_keeps_its_beginning(place: &Place) {
    let (store, lease) = open(place);
    store.request_sweep(&lane(), 7).unwrap();
    assert_eq!(store.sweep(&lane()).unwrap(), None);
    let mut page = listing(LATE, &[5, 6], false);
    page.next = Some(Cursor("after 6".to_owned()));
    store.stage_sweep(&lease, &lane(), &page).unwrap();
    let state = |cursor: Option<Cursor>, listed, complete| {
        Some(SweepState { began: seen(LATE), cursor, listed, complete })
    };
    assert_eq!(store.sweep(&lane()).unwrap(), state(page.next, 2, false));
    assert!(store.lane_state(&lane()).unwrap().sweeping);
    store.stage_sweep(&lease, &lane(), &listing(LATE + 1, &[6, 7], true)).unwrap();
    assert_eq!(store.sweep(&lane()).unwrap(), state(None, 3, true));
    store.finish_sweep(&lease, &lane(), &[], false).unwrap();
    assert_eq!(store.sweep(&lane()).unwrap(), None);
    let LaneState { sweeping, sweep_due_ms, .. } = store.lane_state(&lane()).unwrap();
    assert_eq!((sweeping, sweep_due_ms), (false, None));
}

/// A comment of a transferred issue: gone from the list where it was, and read from another one meanwhile.
fn sweep_removes_nothing_that_another_lane_has_read_since(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "a")])).unwrap();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &[6], true)).unwrap();
    let elsewhere = Lane::of_repository(HOST, 2, Surface::Issues);
    let moved = thread_of(Kind::Issue, 2, "pipe", 5, 10, "a");
    let page = IngestPage::of(elsewhere, 100);
    let page = IngestPage { observations: vec![seen_at(moved, LATE)], ..page };
    store.ingest(&lease, &page).unwrap();
    let gone = [(5, seen(LATE + 1))];
    assert!(store.check_removal(&lane(), &gone, false).unwrap().is_empty());
    assert_eq!(store.finish_sweep(&lease, &lane(), &gone, false).unwrap(), Swept { removed: 0 });
    assert_eq!(store.counts().unwrap().issues, 1);
}

fn url_returns_to_its_thread_when_a_wrong_id_is_removed(place: &Place) {
    let (store, lease) = open(place);
    shown_under_a_wrong_id(&store, &lease);
    let said = comment(Kind::IssueComment, 50, 5, 10, "a word");
    store.ingest(&lease, &threads(Kind::IssueComment, vec![said])).unwrap();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &[5], true)).unwrap();
    store.finish_sweep(&lease, &lane(), &[(9, seen(LATE))], false).unwrap();
    assert_eq!(store.counts().unwrap().comments, 1, "what is said there stays");
    assert_eq!(urls(&store), ["https://github.com/acme/pump/issues/5"]);
}

fn url_returns_to_its_thread_when_a_wrong_id_gets_its_own_node(place: &Place) {
    let (store, lease) = open(place);
    shown_under_a_wrong_id(&store, &lease);
    let truth = vec![seen_at(issue(5, 10, "a"), 30), seen_at(issue(9, 8, "b"), 30)];
    store.ingest(&lease, &issues(truth)).unwrap();
    let own = [5, 9].map(|number| format!("https://github.com/acme/pump/issues/{number}"));
    assert_eq!(urls(&store), own);
}

/// The issue 5 is also shown as 9, and takes its URL along.
fn shown_under_a_wrong_id(store: &Store, lease: &Lease) {
    let mut wrong = seen_at(issue(5, 10, "a"), 20);
    thread_in(&mut wrong).id = 9;
    store.ingest(lease, &issues(vec![issue(5, 10, "a")])).unwrap();
    store.ingest(lease, &issues(vec![wrong])).unwrap();
    assert!(urls(store)[0].ends_with("/5~5"), "{:?}", urls(store));
}

fn urls(store: &Store) -> Vec<String> {
    let mut urls = Vec::new();
    let mut take = |row: ThreadRow| {
        urls.push((row.thread.id, row.thread.url));
        ControlFlow::Continue(())
    };
    store.each_thread(Kind::Issue, &ThreadFilter::default(), &mut take).unwrap();
    urls.sort();
    urls.into_iter().map(|(_, url)| url).collect()
}

fn a_sweep_finds_what_is_missing_newer_and_absent(place: &Place) {
    let (store, lease) = open(place);
    let page = vec![issue(5, 10, "a"), issue(6, 10, "b"), issue(7, 10, "c"), issue(8, 999, "d")];
    store.ingest(&lease, &issues(page)).unwrap();
    let mut page = listing(LATE, &[6, 7, 9], true);
    page.rows[1].2 = time(11);
    store.stage_sweep(&lease, &lane(), &page).unwrap();
    let found = store.sweep_findings(&lane()).unwrap();
    assert_eq!(found.findings, Findings { fetch: vec![7, 9], suspects: vec![5] });
    let node = |id: i64| (id, format!("I_{id}"));
    assert_eq!(found.node_ids, [node(5), node(7), node(9)].into());
    assert_eq!(found.siblings, [node(6), node(7)]);
}

fn an_unfinished_sweep_finds_and_removes_nothing(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "a")])).unwrap();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &[6], false)).unwrap();
    let refused = store.sweep_findings(&lane());
    assert!(matches!(refused, Err(Error::NoSweep { .. })), "{refused:?}");
    let refused = store.finish_sweep(&lease, &lane(), &[(5, seen(LATE))], true);
    assert!(matches!(refused, Err(Error::NoSweep { .. })), "{refused:?}");
    assert_eq!(held(&store).len(), 1);
}

fn what_is_confirmed_gone_leaves_text_and_search_and_keeps_a_tombstone(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks"), issue(6, 10, "leaks")])).unwrap();
    assert_eq!(remove(&store, &lease, &[5, 404], LATE), Swept { removed: 1 });
    assert_eq!((found(&store, "leaks"), search_rows(place)), (vec![6], 1));
    assert_eq!(held(&store).into_iter().map(|row| row.thread.id).collect::<Vec<_>>(), [6]);
    let counts = store.counts().unwrap();
    assert_eq!((counts.repositories, counts.issues, counts.tombstones), (1, 1, 2));
    let cell = store.cell(HOST, issue_key(404)).unwrap();
    assert_eq!((cell.version, cell.gone), (None, Some(seen(LATE))));
}

fn a_tombstone_is_respected_and_revived_by_a_later_look_only(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    remove(&store, &lease, &[5], LATE);
    let earlier = seen_at(issue(5, 11, "leaks"), LATE - 1);
    assert_eq!(store.ingest(&lease, &issues(vec![earlier])).unwrap().unchanged, 1);
    assert_eq!((held(&store), found(&store, "leaks")), (vec![], vec![]));
    let later = seen_at(issue(5, 11, "leaks"), LATE + 1);
    assert_eq!(store.ingest(&lease, &issues(vec![later])).unwrap().revived, 1);
    assert_eq!((held(&store).len(), found(&store, "leaks")), (1, vec![5]));
    assert_eq!(remove(&store, &lease, &[5], LATE), Swept { removed: 0 }, "an old look, again");
    assert_eq!(found(&store, "leaks"), [5]);
}

fn the_brake_stops_a_mass_removal_and_changes_nothing(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues((1..=30).map(|id| issue(id, 10, "leaks")).collect())).unwrap();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &[30], true)).unwrap();
    let gone: Vec<_> = (1..=21).map(|id| (id, seen(LATE))).collect();
    let stopped = store.finish_sweep(&lease, &lane(), &gone, false);
    let brake = Brake { removals: 21, held: 30 };
    assert!(matches!(&stopped, Err(Error::Brake { brake: b, .. }) if *b == brake), "{stopped:?}");
    assert_eq!((held(&store).len(), store.counts().unwrap().tombstones), (30, 0));
    assert!(store.sweep(&lane()).unwrap().is_some(), "the sweep waits for a person");
    let done = store.finish_sweep(&lease, &lane(), &gone, true).unwrap();
    assert_eq!((done, held(&store).len()), (Swept { removed: 21 }, 9));
}

fn two_repositories_do_not_go_in_one_sweep(place: &Place) {
    let (store, lease) = open(place);
    let others = (2..=50).map(|id| repository(id, &format!("r{id}"), 0)).collect();
    store.ingest(&lease, &repositories(others)).unwrap();
    store.stage_sweep(&lease, &organization(), &listing(LATE, &[50], true)).unwrap();
    let gone = [(2, seen(LATE)), (3, seen(LATE))];
    let stopped = store.finish_sweep(&lease, &organization(), &gone, false);
    let brake = Brake { removals: 2, held: 50 };
    assert!(matches!(&stopped, Err(Error::Brake { brake: b, .. }) if *b == brake), "{stopped:?}");
    assert_eq!(store.counts().unwrap().repositories, 50);
    let done = store.finish_sweep(&lease, &organization(), &gone, true).unwrap();
    assert_eq!((done.removed, store.counts().unwrap().repositories), (2, 48));
}

fn siblings_come_from_all_over_the_roll(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues((2..=8).map(|id| issue(id, 10, "x")).collect())).unwrap();
    let ids: Vec<_> = (1..=9).collect();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &ids, true)).unwrap();
    let siblings = store.sweep_findings(&lane()).unwrap().siblings;
    assert_eq!(siblings, [2, 5, 8].map(|id| (id, format!("I_{id}"))));
}

fn what_lies_below_the_coverage_is_not_missed(place: &Place) {
    let (store, lease) = open(place);
    let mut page = issues_through(vec![issue(5, 100, "x")], 100);
    page.coverage.as_mut().unwrap().from = Some(Floor::At(Mark(50_000)));
    store.ingest(&lease, &page).unwrap();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &[6], true)).unwrap();
    let findings = store.sweep_findings(&lane()).unwrap().findings;
    assert_eq!(findings.fetch, Vec::<i64>::new(), "6 was updated at second 10");
}

fn a_sweep_that_starts_over_stays_due(place: &Place) {
    let (store, lease) = open(place);
    store.request_sweep(&lane(), 7).unwrap();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &[5, 6], false)).unwrap();
    store.restart_sweep(&lease, &lane()).unwrap();
    assert_eq!(store.sweep(&lane()).unwrap(), None);
    let LaneState { sweeping, sweep_due_ms, .. } = store.lane_state(&lane()).unwrap();
    assert_eq!((sweeping, sweep_due_ms), (false, Some(7)));
    store.stage_sweep(&lease, &lane(), &listing(LATE + 9, &[7], true)).unwrap();
    let sweep = store.sweep(&lane()).unwrap().unwrap();
    assert_eq!((sweep.began, sweep.listed), (seen(LATE + 9), 1));
}

fn a_crash_before_the_commit_removes_nothing(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    store.stage_sweep(&lease, &lane(), &listing(LATE, &[], true)).unwrap();
    let crashing = crashing_at(&store, "sweep: before commit");
    let crashed = crashing.finish_sweep(&lease, &lane(), &[(5, seen(LATE))], false);
    assert!(matches!(crashed, Err(Error::Interrupted("sweep: before commit"))), "{crashed:?}");
    assert_eq!(found(&store, "leaks"), [5]);
    assert!(store.sweep(&lane()).unwrap().is_some());
}

fn a_repository_takes_its_issues_with_it_and_is_read_anew_when_it_returns(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues_through(vec![issue(5, 10, "leaks")], 10)).unwrap();
    store.ingest(&lease, &repositories(vec![repository(2, "valve", 0)])).unwrap();
    store.stage_sweep(&lease, &organization(), &listing(LATE, &[2], true)).unwrap();
    let gone = [(PUMP, seen(LATE))];
    let done = store.finish_sweep(&lease, &organization(), &gone, false).unwrap();
    assert_eq!(done, Swept { removed: 1 });
    assert_eq!((held(&store), found(&store, "leaks")), (vec![], vec![]));
    assert_eq!(store.repositories(HOST).unwrap().len(), 1);
    assert!(!store.cell(HOST, Key { kind: Kind::Issue, id: 5 }).unwrap().is_present());
    assert_eq!(store.lane_state(&lane()).unwrap().coverage.through, None);
    let back = repositories(vec![seen_at(pump("pump", 0), LATE + 1)]);
    assert_eq!(store.ingest(&lease, &back).unwrap().revived, 1);
    let back = issues(vec![seen_at(issue(5, 10, "leaks"), LATE + 2)]);
    assert_eq!(store.ingest(&lease, &back).unwrap().revived, 1);
    assert_eq!(found(&store, "leaks"), [5]);
}

/// Sweeps the lane and confirms these ids gone.
fn remove(store: &Store, lease: &Lease, ids: &[i64], second: i64) -> Swept {
    store.stage_sweep(lease, &lane(), &listing(second, &[], true)).unwrap();
    let gone: Vec<_> = ids.iter().map(|id| (*id, seen(second))).collect();
    store.finish_sweep(lease, &lane(), &gone, false).unwrap()
}

/// A page that lists these ids, all updated at second 10.
fn listing(second: i64, ids: &[i64], complete: bool) -> SweepPage {
    SweepPage {
        began: seen(second),
        rows: ids.iter().map(|id| (*id, format!("I_{id}"), time(10))).collect(),
        next: None,
        complete,
    }
}
