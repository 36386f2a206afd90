//! Tests of duties: who may write, and how a duty passes from one worker to another.

use hw_rules::duty::{DutyName, NextDue};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_store::{
    ClaimReason, ClaimTask, DatabaseLocation, DeadWorker, DutyClaim, DutyEnd, DutyHolder, DutyTask,
    LeasedStore, ScheduledDuty, StoreError, StoreReader, StoreWriter, TurnFailure, WorkerHandle,
};

use crate::fixture::{
    issue, issue_bodies, issue_lane, issues_page, observed_at, open_store, pull_duty,
    worker_identity,
};

both![
    duty_that_is_held_is_refused_with_its_holder,
    duty_of_a_dead_worker_can_be_claimed_and_its_old_owner_cannot_write,
    duty_of_a_worker_that_has_shown_a_beat_since_stays_with_it,
    duty_that_is_released_is_free_at_once_and_its_owner_cannot_write,
    duty_epoch_rises_each_time_it_is_claimed,
    duty_holder_is_visible_to_readers,
    duties_of_one_open_database_are_independent,
    duties_are_claimed_and_ended_together,
    duty_that_ended_shows_which_claim_ended_and_how,
    duty_that_was_interrupted_stays_requested,
    duty_keeps_its_due_time_when_a_request_of_it_ends,
    duty_that_is_claimed_because_it_is_due_leaves_a_request_open,
    duty_is_scheduled_once_and_brought_forward_when_it_would_be_too_late,
    duty_whose_lanes_are_cleared_by_another_is_lost_and_requested_again,
];

fn duty_that_is_held_is_refused_with_its_holder(location: &DatabaseLocation) {
    let store = open_store(location);
    let other = StoreWriter::open(location).unwrap();
    let me = DutyHolder { worker: "me".to_owned(), since_ms: 0 };
    assert_eq!(other.claim_duty(&pull_duty(), "you", 9).unwrap().unwrap_err(), me);
    let again = store.claim_duty(&pull_duty(), "me", 9).unwrap();
    assert!(again.is_err(), "even under the same name: it may be another process");
    let comments = DutyName::Repository(RepositoryKey::new("github.com", 1));
    assert!(other.claim_duty(&comments, "you", 0).unwrap().is_ok());
}

fn duty_of_a_dead_worker_can_be_claimed_and_its_old_owner_cannot_write(
    location: &DatabaseLocation,
) {
    let old = open_store(location);
    let other = register(location, "you");
    let new = take_over(&other, "me", None).unwrap();
    let page = issues_page(vec![issue(5, 10, "x")]);
    let failure = TurnFailure { due_ms: 0, failures: 1, page_size: 1, message: String::new() };
    let lost = [
        old.ingest_page(&page).map(drop),
        old.postpone_lane(&issue_lane(), failure),
        old.reset_lane(&issue_lane(), SourceInstant(0), "no"),
        old.finish_sweep(&issue_lane(), &[(5, observed_at(1))], false).map(drop),
        old.ingest_pages(&[]).map(drop),
    ];
    for refused in lost {
        assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    }
    assert_eq!(issue_bodies(&old), Vec::<String>::new());
    new.ingest_page(&page).unwrap();
    assert_eq!(issue_bodies(&old), ["body x"]);
}

fn duty_of_a_worker_that_has_shown_a_beat_since_stays_with_it(location: &DatabaseLocation) {
    let (first, second) = (register(location, "first"), register(location, "second"));
    let claimed = claim(&first, &[pull_duty()]).pop().unwrap();
    let seen = second.store().workers().unwrap()[0].beat;
    first.beat(1).unwrap();
    assert!(take_over(&second, "first", Some(seen)).is_none());
    claimed.ingest_page(&issues_page(vec![])).unwrap();
    let seen = second.store().workers().unwrap()[0].beat;
    assert!(take_over(&second, "first", Some(seen)).is_some());
    let lost = first.beat(2);
    assert!(matches!(lost, Err(StoreError::LeaseLost { .. })), "its row is gone: {lost:?}");
}

fn duty_that_is_released_is_free_at_once_and_its_owner_cannot_write(location: &DatabaseLocation) {
    let store = open_store(location);
    store.release_duty().unwrap();
    let refused = store.ingest_page(&issues_page(vec![]));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    let next = store.claim_duty(&pull_duty(), "you", 1).unwrap().unwrap();
    store.release_duty().unwrap();
    next.ingest_page(&issues_page(vec![])).expect("an old owner cannot release the new claim");
}

fn duty_epoch_rises_each_time_it_is_claimed(location: &DatabaseLocation) {
    let first = open_store(location);
    first.release_duty().unwrap();
    let second = first.claim_duty(&pull_duty(), "me", 5_000).unwrap().unwrap();
    assert!(second.lease().epoch > first.lease().epoch);
    let refused = first.ingest_page(&issues_page(vec![]));
    assert!(
        matches!(refused, Err(StoreError::LeaseLost { .. })),
        "the owner's name proves nothing"
    );
}

fn duty_holder_is_visible_to_readers(location: &DatabaseLocation) {
    let worker = register(location, "me");
    let claimed = claim(&worker, &[pull_duty()]).pop().unwrap();
    let reader = StoreReader::open(location).unwrap();
    let me = DutyHolder { worker: "process 7 on me".to_owned(), since_ms: 1 };
    assert_eq!(reader.duty_holder(&pull_duty()).unwrap(), Some(me));
    let busy = reader.busy_workers().unwrap();
    assert_eq!(busy.len(), 1);
    assert_eq!((busy[0].worker.as_str(), busy[0].since_ms), ("process 7 on me", 1));
    assert_eq!(busy[0].duties, [pull_duty()]);
    assert!(busy[0].is_alive(1));
    claimed.release_duty().unwrap();
    assert_eq!(reader.duty_holder(&pull_duty()).unwrap(), None);
    assert_eq!(reader.busy_workers().unwrap(), []);
}

fn duties_of_one_open_database_are_independent(location: &DatabaseLocation) {
    let pull = open_store(location);
    let comments = DutyName::Repository(RepositoryKey::new("github.com", 1));
    let comments = pull.claim_duty(&comments, "me", 0).unwrap().unwrap();
    pull.release_duty().unwrap();
    let refused = pull.ingest_page(&issues_page(vec![]));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    comments.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let pull = comments.claim_duty(&pull_duty(), "you", 1).unwrap().unwrap();
    comments.release_duty().unwrap();
    pull.ingest_page(&issues_page(vec![issue(5, 11, "y")])).unwrap();
    assert_eq!(issue_bodies(&comments), ["body y"]);
}

fn duties_are_claimed_and_ended_together(location: &DatabaseLocation) {
    let (first, second) = (register(location, "first"), register(location, "second"));
    let names = [1, 2, 3].map(|id| DutyName::Repository(RepositoryKey::new("github.com", id)));
    let claimed = claim(&first, &names[..2]);
    assert_eq!(duties_of(&claimed), names[..2]);
    assert_eq!(duties_of(&claim(&second, &names)), names[2..], "what is free");
    let ended: Vec<DutyEnd> = claimed.iter().map(|store| end_of(store, None)).collect();
    let tasks = tasks(&[names[0].clone()]);
    let again = DutyClaim { tasks: &tasks, dead: &[], ended: &ended, now_ms: 2 };
    let again = first.claim_duties(&again).unwrap();
    assert_eq!(duties_of(&again), names[..1]);
    assert!(again[0].lease().epoch > claimed[0].lease().epoch);
    assert_eq!(duties_of(&claim(&second, &names)), names[1..2]);
}

fn duty_that_ended_shows_which_claim_ended_and_how(location: &DatabaseLocation) {
    let worker = register(location, "me");
    for (error, failures) in [(None, 0), (Some("no luck"), 1), (Some("again"), 2), (None, 0)] {
        let claimed = claim(&worker, &[pull_duty()]).pop().unwrap();
        worker.store().end_duties(&[end_of(&claimed, error)]).unwrap();
        let duty = worker.store().duty(&pull_duty()).unwrap().unwrap();
        assert_eq!((duty.owner, duty.ended_epoch), (None, Some(claimed.lease().epoch)));
        assert_eq!((duty.last_error.as_deref(), duty.failures), (error, failures));
        assert_eq!(duty.due_ms, Some(60_000));
    }
}

fn duty_that_was_interrupted_stays_requested(location: &DatabaseLocation) {
    let worker = register(location, "me");
    let request = [DutyTask { name: pull_duty(), detail: String::new() }];
    worker.store().request_duties(&request, 5).unwrap();
    let requested =
        || StoreReader::open(location).unwrap().duty(&pull_duty()).unwrap().unwrap().requested_ms;
    assert_eq!(requested(), Some(5));
    claim(&worker, &[pull_duty()]);
    assert_eq!(requested(), None);
    drop(worker);
    assert_eq!(requested(), Some(1));
    let worker = register(location, "next");
    let claimed = claim(&worker, &[pull_duty()]).pop().unwrap();
    worker.store().end_duties(&[end_of(&claimed, None)]).unwrap();
    assert_eq!(requested(), None);
}

fn duty_whose_lanes_are_cleared_by_another_is_lost_and_requested_again(
    location: &DatabaseLocation,
) {
    use hw_rules::item::CommentKind;
    use hw_rules::lane::{Lane, Surface};
    let pull = open_store(location);
    let comments = Surface::Comments(CommentKind::Conversation);
    let lane =
        Lane::for_repository(RepositoryKey::new("github.com", crate::fixture::PUMP_ID), comments);
    let duty = DutyName::for_lane(&lane);
    let reader = pull.claim_duty(&duty, "you", 3).unwrap().unwrap();
    let page = hw_store::IngestPage::new(lane.clone(), 100);
    reader.ingest_page(&page).unwrap();
    pull.clear_lane(&lane).unwrap();
    let lost = reader.ingest_page(&page);
    assert!(matches!(&lost, Err(StoreError::LeaseLost { name }) if *name == duty.to_string()));
    assert_eq!(pull.duty(&duty).unwrap().unwrap().requested_ms, Some(3));
}

fn register(location: &DatabaseLocation, id: &str) -> WorkerHandle {
    StoreWriter::open(location).unwrap().register_worker(&worker_identity(id), 0).unwrap()
}

fn duty_keeps_its_due_time_when_a_request_of_it_ends(location: &DatabaseLocation) {
    open_store(location).release_duty().unwrap();
    let worker = register(location, "worker");
    let mut due_times = Vec::new();
    for next_due in [NextDue::At(60_000), NextDue::Kept, NextDue::OnRequest, NextDue::Kept] {
        let claimed = claim(&worker, &[pull_duty()]);
        let end = DutyEnd { next_due, ..end_of(&claimed[0], None) };
        worker.store().end_duties(&[end]).unwrap();
        due_times.push(worker.store().duty(&pull_duty()).unwrap().unwrap().due_ms);
    }
    assert_eq!(due_times, [Some(60_000), Some(60_000), None, None]);
}

fn duty_that_is_claimed_because_it_is_due_leaves_a_request_open(location: &DatabaseLocation) {
    open_store(location).release_duty().unwrap();
    let worker = register(location, "worker");
    let request = DutyTask { name: pull_duty(), detail: "all".to_owned() };
    worker.store().request_duties(std::slice::from_ref(&request), 5).unwrap();
    for (reason, expected) in [
        (ClaimReason::Schedule, (Some(5), "all")),
        (ClaimReason::Request("some".to_owned()), (None, "some")),
    ] {
        let tasks = [ClaimTask { name: pull_duty(), reason }];
        let claim = DutyClaim { tasks: &tasks, dead: &[], ended: &[], now_ms: 6 };
        let claimed = worker.claim_duties(&claim).unwrap();
        worker.store().end_duties(&[end_of(&claimed[0], None)]).unwrap();
        let duty = worker.store().duty(&pull_duty()).unwrap().unwrap();
        assert_eq!((duty.requested_ms, duty.detail.as_str()), expected);
    }
}

fn duty_is_scheduled_once_and_brought_forward_when_it_would_be_too_late(
    location: &DatabaseLocation,
) {
    open_store(location);
    let worker = register(location, "worker");
    let due_after = |first_ms, latest_ms| {
        let name = DutyName::Chores;
        let scheduled = ScheduledDuty { name: name.clone(), first_ms, latest_ms };
        worker.store().schedule_duties(&[scheduled]).unwrap();
        worker.store().duty(&name).unwrap().unwrap().due_ms
    };
    assert_eq!(due_after(100, 1_000), Some(100), "it had no due time");
    assert_eq!(due_after(200, 1_000), Some(100), "it has one");
    assert_eq!(due_after(10, 50), Some(50), "the interval became shorter");
}

fn claim(worker: &WorkerHandle, names: &[DutyName]) -> Vec<LeasedStore> {
    let tasks = tasks(names);
    worker.claim_duties(&DutyClaim { tasks: &tasks, dead: &[], ended: &[], now_ms: 1 }).unwrap()
}

/// Claims the duty of a pull for a worker that takes another one for dead.
fn take_over(worker: &WorkerHandle, dead: &str, beat: Option<i64>) -> Option<LeasedStore> {
    let (tasks, dead) = (tasks(&[pull_duty()]), [DeadWorker { id: dead.to_owned(), beat }]);
    let claim = DutyClaim { tasks: &tasks, dead: &dead, ended: &[], now_ms: 1 };
    worker.claim_duties(&claim).unwrap().pop()
}

fn tasks(names: &[DutyName]) -> Vec<ClaimTask> {
    let reason = ClaimReason::Request(String::new());
    names.iter().map(|name| ClaimTask { name: name.clone(), reason: reason.clone() }).collect()
}

fn end_of(store: &LeasedStore, error: Option<&str>) -> DutyEnd {
    DutyEnd {
        lease: store.lease().clone(),
        ended_ms: 2,
        next_due: NextDue::At(60_000),
        error: error.map(str::to_owned),
    }
}

fn duties_of(claimed: &[LeasedStore]) -> Vec<DutyName> {
    claimed.iter().map(|store| store.lease().duty.clone()).collect()
}
