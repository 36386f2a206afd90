use hw_rules::item::Kind;
use hw_rules::time::Mark;
use hw_store::{
    Counts, Error, ItemTally, Lease, Place, RemovalReason, RemovedItem, RemovedQuery, Store,
};

use crate::removals::{LATE, full, roll};
use crate::world::{
    HOST, PUMP, bodies, comment, crashing_at, found, issue, issue_key, issues, lane, lane_of, open,
    organization, raw, repositories, repository, rows, search_rows, seen, seen_at, thread_in,
    threads,
};

both![
    removed_thread_is_restored_with_its_comments,
    removed_repository_is_restored_with_everything_in_it,
    removed_comment_is_restored_with_its_removed_thread,
    restore_that_is_interrupted_is_completed_by_the_next,
    restore_leaves_what_came_back_as_it_is,
    restore_survives_a_cleared_lane_and_another_guid,
    removed_items_are_purged_when_old,
    removal_tally_counts_threads_and_comments_until_the_run_ends,
    brakes_name_what_would_be_removed,
];

fn removed_thread_is_restored_with_its_comments(place: &Place) {
    let (store, lease) = open(place);
    let hostile = || {
        let mut hostile = issue(5, 10, "leaks");
        thread_in(&mut hostile).body = "leaks \u{0} \u{202e} 'quoted'".to_owned();
        hostile
    };
    store.ingest(&lease, &issues(vec![hostile(), issue(6, 10, "holds")])).unwrap();
    let said = [9, 10].map(|id| comment(Kind::IssueComment, id, 5, 10, "leaks"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.to_vec())).unwrap();
    let (before, texts, rows) = (store.counts().unwrap(), bodies(&store), search_rows(place));
    sweep_away(&store, &lease, &[5]);
    assert_eq!((found(&store, "leaks"), bodies(&store).len()), (vec![], 1));
    assert_eq!(store.count_removed_items().unwrap(), 3);
    let removed = only_removed(&store);
    assert_eq!((removed.key, removed.with_it), (issue_key(5), 2));
    assert_eq!((removed.repository.as_str(), removed.number), ("acme/pump", Some(5)));
    assert_eq!(removed.reason, RemovalReason::NotListed);
    assert_eq!(removed.removed_at, Mark(LATE * 1_000));
    assert_eq!(removed.kept_until(), Mark(LATE * 1_000 + 30 * 86_400_000));

    assert_eq!(restored(&store, &lease, &removed), 3);
    assert_eq!((store.counts().unwrap(), bodies(&store)), (before, texts));
    assert_eq!((found(&store, "leaks"), search_rows(place)), (vec![5], rows));
    assert_eq!(store.count_removed_items().unwrap(), 0);
    let cell = store.cell(HOST, issue_key(5)).unwrap();
    assert_eq!((cell.is_present(), cell.gone), (true, None));
    for lane in [lane(), lane_of(Kind::IssueComment)] {
        assert_eq!(store.lane_state(&lane).unwrap().sweep_due_ms, Some(0), "{lane}");
    }
    let same = seen_at(hostile(), LATE + 1);
    assert_eq!(store.ingest(&lease, &issues(vec![same])).unwrap().unchanged, 1);
    store.stage_sweep(&lease, &lane(), &roll(&[])).unwrap();
    store.finish_sweep(&lease, &lane(), &[(5, seen(LATE + 2))], false).unwrap();
    assert_eq!(only_removed(&store).with_it, 2, "another confirmed absence");
}

fn removed_repository_is_restored_with_everything_in_it(place: &Place) {
    let (store, lease) = open(place);
    full(&store, &lease);
    let many = (0..1_100).map(|id| comment(Kind::IssueComment, id, 5, 10, "leaks")).collect();
    store.ingest(&lease, &threads(Kind::IssueComment, many)).unwrap();
    let before = store.counts().unwrap();
    let gone = [(PUMP, seen(LATE))];
    store.remove_repositories(&lease, &organization(), &gone, false).unwrap();
    let removed = only_removed(&store);
    assert_eq!((removed.key.kind, removed.with_it), (Kind::Repository, 1_106));
    assert_eq!(removed.reason, RemovalReason::RepositoryGone);
    // another one has taken its name
    store.ingest(&lease, &repositories(vec![repository(2, "pump", LATE)])).unwrap();
    assert_eq!(restored(&store, &lease, &removed), 1_107);
    let after = store.counts().unwrap();
    assert_eq!((after.repositories, after.issues), (2, before.issues));
    assert_eq!((after.comments, after.tombstones), (before.comments, 0));
    let names: Vec<_> = store.repositories(HOST).unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["pump", "pump~1"], "the name stays with the one that was seen last");
}

fn removed_comment_is_restored_with_its_removed_thread(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    let said = [9, 10].map(|id| comment(Kind::IssueComment, id, 5, 10, "leaks"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.to_vec())).unwrap();
    let lane_of_comments = lane_of(Kind::IssueComment);
    store.stage_sweep(&lease, &lane_of_comments, &roll(&[10])).unwrap();
    store.finish_sweep(&lease, &lane_of_comments, &[(9, seen(LATE))], false).unwrap();
    sweep_away(&store, &lease, &[5]);
    assert_eq!(store.removed_items(9).unwrap().len(), 2);
    let url = "https://github.com/acme/pump/issues/5#issue_comment-9".to_owned();
    let found = store.find_removed_items(&RemovedQuery::Url(url)).unwrap();
    assert_eq!(
        restored(&store, &lease, &found[0]),
        3,
        "the comment, its thread and what was in it"
    );
    assert_eq!((store.counts().unwrap().issues, store.counts().unwrap().comments), (1, 2));
}

fn restore_that_is_interrupted_is_completed_by_the_next(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    let many = (0..600).map(|id| comment(Kind::IssueComment, id, 5, 10, "leaks")).collect();
    store.ingest(&lease, &threads(Kind::IssueComment, many)).unwrap();
    sweep_away(&store, &lease, &[5]);
    let removed = only_removed(&store);
    let crashing = crashing_at(&store, "restore: after commit");
    for _ in 0..3 {
        crashing.restore_removed(&lease, &removed, &|| Ok(())).unwrap_err();
    }
    let never = crashing_at(&store, "restore: before commit");
    never.restore_removed(&lease, &removed, &|| Ok(())).unwrap_err();
    restored(&store, &lease, &removed);
    assert_eq!((store.counts().unwrap().issues, store.counts().unwrap().comments), (1, 600));
    assert_eq!(store.count_removed_items().unwrap(), 0);
    assert_eq!(rows(place, "select url from removed"), Vec::<Vec<String>>::new());
    let old = Lease { epoch: lease.epoch - 1, ..lease };
    let refused = store.restore_removed(&old, &removed, &|| Ok(()));
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
}

fn restore_leaves_what_came_back_as_it_is(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "old")])).unwrap();
    sweep_away(&store, &lease, &[5]);
    let removed = only_removed(&store);
    store.ingest(&lease, &issues(vec![seen_at(issue(5, 20, "new"), LATE + 1)])).unwrap();
    assert_eq!(store.removed_items(9).unwrap(), [], "it is there");
    assert_eq!(restored(&store, &lease, &removed), 0);
    assert_eq!(bodies(&store), ["body new"]);
}

fn restore_survives_a_cleared_lane_and_another_guid(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    sweep_away(&store, &lease, &[5]);
    store.clear_lane(&lease, &lane()).unwrap();
    assert_eq!(restored(&store, &lease, &only_removed(&store)), 1);
    assert_eq!((bodies(&store).len(), found(&store, "leaks")), (1, vec![5]));
    sweep_away(&store, &lease, &[5]);
    drop(store);
    raw(place, "update schema_version set guid = 'another'");
    let store = Store::open(place).unwrap();
    let lease = store.take_lease("pull", "me", 9_000_000, 5_000).unwrap().unwrap();
    assert_eq!(store.counts().unwrap(), Counts::default());
    assert_eq!(restored(&store, &lease, &only_removed(&store)), 1);
    assert_eq!((bodies(&store).len(), found(&store, "leaks")), (1, vec![5]));
}

fn removed_items_are_purged_when_old(place: &Place) {
    let (store, lease) = open(place);
    let all: Vec<i64> = (1..=1_201).collect();
    store.ingest(&lease, &issues(all.iter().map(|id| issue(*id, 10, "x")).collect())).unwrap();
    store.stage_sweep(&lease, &lane(), &roll(&[1])).unwrap();
    let gone: Vec<_> = all[1..].iter().map(|id| (*id, seen(LATE))).collect();
    store.finish_sweep(&lease, &lane(), &gone, true).unwrap();
    assert_eq!(store.removed_items(7).unwrap().len(), 7);
    assert_eq!(store.purge_removed(&lease, Mark(LATE * 1_000)).unwrap(), 0);
    assert_eq!(store.purge_removed(&lease, Mark(LATE * 1_000 + 1)).unwrap(), 1_200);
    assert_eq!(
        (store.count_removed_items().unwrap(), store.counts().unwrap().tombstones),
        (0, 1_200)
    );
}

fn removal_tally_counts_threads_and_comments_until_the_run_ends(place: &Place) {
    let (store, lease) = open(place);
    full(&store, &lease);
    let said = [9, 10].map(|id| comment(Kind::IssueComment, id, 5, 10, "leaks"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.to_vec())).unwrap();
    let kinds = [Kind::Issue, Kind::PullRequest, Kind::IssueComment];
    let held = store.count_items(HOST, &[PUMP, 404], &kinds).unwrap();
    assert_eq!(held, ItemTally { threads: 4, comments: 2 });
    assert_eq!(
        store.check_removal(&lane(), &[(5, seen(LATE)), (404, seen(LATE))], false).unwrap(),
        [5]
    );
    sweep_away(&store, &lease, &[5]);
    let tally = store.removal_tally(HOST).unwrap();
    assert_eq!(tally, ItemTally { threads: 1, comments: 0 }, "two comments went with it");
    let crashing = crashing_at(&store, "sweep: before commit");
    store.stage_sweep(&lease, &lane(), &roll(&[])).unwrap();
    crashing.finish_sweep(&lease, &lane(), &[(6, seen(LATE))], false).unwrap_err();
    assert_eq!(store.removal_tally(HOST).unwrap(), tally);
    store.end_removals(&lease, HOST).unwrap();
    assert_eq!(store.removal_tally(HOST).unwrap(), ItemTally::default());
}

fn brakes_name_what_would_be_removed(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues((1..=30).map(|id| issue(id, 10, "x")).collect())).unwrap();
    let gone: Vec<_> = (1..=21).map(|id| (id, seen(LATE))).collect();
    let stopped = store.check_removal(&lane(), &gone, false).unwrap_err().to_string();
    let expected = "21 of 30 issues would be removed at once: acme/pump#1 (title x), acme/pump#2";
    assert!(stopped.starts_with(expected), "{stopped}");
    assert!(stopped.ends_with("acme/pump#10 (title x) and 11 more"), "{stopped}");
    let said = (1..=30).map(|id| comment(Kind::IssueComment, id, 5, 10, "leaks")).collect();
    store.ingest(&lease, &threads(Kind::IssueComment, said)).unwrap();
    let lane = lane_of(Kind::IssueComment);
    let stopped = store.check_removal(&lane, &gone, false).unwrap_err().to_string();
    let expected =
        "21 of 30 comments would be removed at once: https://github.com/acme/pump/issues/5#";
    assert!(stopped.starts_with(expected), "{stopped}");
}

/// A sweep that confirms these issues gone.
fn sweep_away(store: &Store, lease: &Lease, ids: &[i64]) {
    store.stage_sweep(lease, &lane(), &roll(&[])).unwrap();
    let gone: Vec<_> = ids.iter().map(|id| (*id, seen(LATE))).collect();
    store.finish_sweep(lease, &lane(), &gone, false).unwrap();
}

fn only_removed(store: &Store) -> RemovedItem {
    let mut removed = store.removed_items(9).unwrap();
    assert_eq!(removed.len(), 1, "{removed:?}");
    removed.remove(0)
}

fn restored(store: &Store, lease: &Lease, item: &RemovedItem) -> u64 {
    store.restore_removed(lease, item, &|| Ok(())).unwrap().items
}
