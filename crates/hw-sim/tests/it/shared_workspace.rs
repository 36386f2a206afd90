//! Several processes in one workspace: one pulls, the others follow it, help it, and take over when it dies.

use std::pin::pin;
use std::sync::{Arc, Mutex};

use hw_rules::item::CommentKind;
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_sim::WorldSpec;
use hw_store::{DatabaseLocation, StoreWriter};
use hw_sync::PullSummary;
use hw_sync::progress::{ProgressEvent, ProgressSink};

use crate::harness::shortcuts::{FULL_PULL, crash_at, issue_ids};
use crate::harness::{
    CheckLevel, HOST, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
    postgres_location,
};

#[test]
fn pull_beside_another_follows_it_and_sends_no_request_of_its_own() {
    let alone = request_count_of_one_pull();
    let fixture = slow_fixture();
    on_virtual_time(async {
        let mut first = pin!(fixture.pull(&FIRST));
        assert!(!fixture.poll_until_requests(&mut first, 3).await, "the pull is still running");
        let (first, second) = tokio::join!(first, fixture.pull(&SECOND));
        assert_eq!(first.unwrap().followed, None);
        assert_eq!(second.unwrap().followed.as_deref(), Some("process 1 on here"));
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
    assert_eq!(request_count(&fixture), alone);
}

#[test]
fn pull_beside_another_that_covers_less_runs_after_it() {
    let fixture = slow_fixture();
    on_virtual_time(async {
        let partial = TestPull { only: &["pump"], ..FIRST };
        let mut first = pin!(fixture.pull(&partial));
        assert!(!fixture.poll_until_requests(&mut first, 2).await, "the pull is still running");
        let (first, second) = tokio::join!(first, fixture.pull(&SECOND));
        first.unwrap();
        assert_eq!(second.unwrap().followed, None);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn pull_reports_once_that_it_waits_for_one_with_other_options() {
    let fixture = slow_fixture();
    let (other, events) = share_with_events(&fixture);
    on_virtual_time(async {
        let partial = TestPull { only: &["pump"], ..FIRST };
        let mut first = pin!(fixture.pull(&partial));
        assert!(!fixture.poll_until_requests(&mut first, 2).await, "the pull is still running");
        let (first, second) = tokio::join!(first, other.pull(&SECOND));
        (first.unwrap(), second.unwrap())
    });
    let worker = "process 1 on here".to_owned();
    assert_eq!(events_of_other_pulls(&events), [ProgressEvent::WaitingForPull { worker }]);
}

#[test]
fn pull_reports_that_it_follows_another_and_takes_over_when_that_one_dies() {
    for only in [&[] as &[&str], &["pump"]] {
        let fixture = slow_fixture();
        let (other, events) = share_with_events(&fixture);
        on_virtual_time(async {
            let crash_hook = Some(crash_at("fetch: answered", 4));
            let crashing = TestPull { crash_hook, only, ..FIRST };
            let mut first = pin!(fixture.pull(&crashing));
            assert!(!fixture.poll_until_requests(&mut first, 2).await, "the pull is still running");
            let (first, second) = tokio::join!(first, other.pull(&SECOND));
            first.unwrap_err();
            assert_eq!(second.unwrap().followed, None);
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
        let worker = "process 1 on here".to_owned();
        let first = if only.is_empty() {
            ProgressEvent::FollowingPull { worker: worker.clone() }
        } else {
            ProgressEvent::WaitingForPull { worker: worker.clone() }
        };
        let expected = [first, ProgressEvent::TakingOverPull { worker }];
        assert_eq!(events_of_other_pulls(&events), expected);
    }
}

#[test]
fn pull_that_fails_is_repeated_by_the_one_that_follows_it() {
    let fixture = slow_fixture();
    on_virtual_time(async {
        let mut first = pin!(fixture.pull(&FIRST));
        assert!(!fixture.poll_until_requests(&mut first, 3).await, "the pull is still running");
        fixture.with_github(|github| github.arm_fault(hw_sim::ApiFault::Unauthorized, 1));
        let (first, second) = tokio::join!(first, fixture.pull(&SECOND));
        first.unwrap_err();
        assert_eq!(second.unwrap().followed, None);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn pull_of_a_live_process_survives_a_machine_with_a_fast_clock() {
    let fixture = slow_fixture();
    let ahead = fixture.with_clock_ahead(600_000);
    on_virtual_time(async {
        let mut first = pin!(fixture.pull(&FIRST));
        assert!(!fixture.poll_until_requests(&mut first, 3).await, "the pull is still running");
        let (first, second) = tokio::join!(first, ahead.pull(&SECOND));
        first.unwrap();
        assert_eq!(second.unwrap().followed.as_deref(), Some("process 1 on here"));
    });
}

#[test]
fn pull_of_a_dead_process_is_taken_over_within_six_seconds() {
    for ahead_ms in [-600_000, 0, 600_000] {
        let fixture = SimFixture::new(&world_spec(), 1);
        let other = fixture.with_clock_ahead(ahead_ms);
        on_virtual_time(async {
            let crashing =
                TestPull { crash_hook: Some(crash_at("fetch: answered", 2)), ..TestPull::PLAIN };
            fixture.pull(&crashing).await.unwrap_err();
            let (died_ms, requests) = (fixture.world_now_ms(), request_count(&fixture));
            let mut next = pin!(other.pull(&SECOND));
            assert!(!fixture.poll_until_requests(&mut next, requests + 1).await);
            let waited_ms = fixture.world_now_ms() - died_ms;
            assert!((5_000..=6_000).contains(&waited_ms), "{waited_ms} ms");
            next.await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn pull_taken_over_requests_nothing_again_but_what_was_in_flight() {
    let spec = WorldSpec {
        repositories: 90,
        issues: 130,
        pull_requests: 20,
        comments_per_thread: 1,
        latency_ms: 1_500..=1_500,
        ..WorldSpec::small()
    };
    let alone = SimFixture::new(&spec, 3);
    edit_some_issues(&alone);
    on_virtual_time(async { alone.pull(&FULL_PULL).await.unwrap() });
    let (alone, whole_listing) = (request_count(&alone), repository_listings(&alone));
    for nth in [1, 2, 3, 8, 21, 55] {
        let fixture = SimFixture::new(&spec, 3);
        edit_some_issues(&fixture);
        let (in_flight, listings) = on_virtual_time(async {
            let crash_hook = Some(crash_at("fetch: answered", nth));
            let crashing = TestPull { crash_hook, owner: "first", ..FULL_PULL };
            let mut first = pin!(fixture.pull(&crashing));
            assert!(!fixture.poll_until_requests(&mut first, 1).await, "the pull is still running");
            let mut second = pin!(fixture.pull(&TestPull { owner: "second", ..FULL_PULL }));
            let died = tokio::select! {
                biased;
                died = first.as_mut() => died,
                ended = second.as_mut() => panic!("the first one did not die: {ended:?}"),
            };
            died.unwrap_err();
            let sent = request_count(&fixture);
            second.await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            check_comments(&fixture, CheckLevel::Everything).unwrap();
            // all that were sent, less those that were answered before the one whose answer was the end
            (sent - u64::from(nth) + 1, repository_listings(&fixture))
        });
        let again = request_count(&fixture) - alone;
        assert!(again <= in_flight, "killed at answer {nth}: {again} again, {in_flight} in flight");
        assert!(listings <= whole_listing + 1, "killed at answer {nth}: {listings} listings");
    }
}

#[test]
fn pull_that_starts_after_another_died_lists_the_repositories_itself() {
    let spec = WorldSpec { repositories: 80, issues: 20, ..world_spec() };
    let fixture = SimFixture::new(&spec, 1);
    on_virtual_time(async {
        let crashing =
            TestPull { crash_hook: Some(crash_at("fetch: answered", 3)), ..TestPull::PLAIN };
        fixture.pull(&crashing).await.unwrap_err();
        let before = repository_listings(&fixture);
        // the first page of the listing would not show it
        let now_ms = fixture.world_now_ms();
        let edited = issue_ids(&fixture)[0];
        fixture.with_github(|github| {
            github.world_mut().edit_issue(edited, None, Some("newer"), now_ms);
        });
        fixture.clock.advance_by(120_000).await;
        fixture.pull(&SECOND).await.unwrap();
        assert_eq!(repository_listings(&fixture) - before, 2, "all pages of the listing");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn pull_of_a_process_that_stalls_beside_a_file_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::File(folder.path().join("one.db"));
    let fixture = SimFixture::with_store(&world_spec(), 1, StoreWriter::open(&location).unwrap());
    on_virtual_time(async {
        let other = SimFixture { store: StoreWriter::open(&location).unwrap(), ..fixture.share() };
        let mut stalled = pin!(fixture.pull(&FIRST));
        assert!(!fixture.poll_until_requests(&mut stalled, 2).await, "the pull is still running");
        fixture.clock.advance_by(600_000).await;
        let mut waiting = pin!(other.pull(&SECOND));
        let requests = request_count(&fixture);
        tokio::select! {
            biased;
            ended = waiting.as_mut() => panic!("it did not wait: {ended:?}"),
            () = fixture.clock.advance_by(60_000) => {}
        }
        assert_eq!(request_count(&fixture), requests, "the lock shows that its process runs");
        let (stalled, waiting) = tokio::join!(stalled, waiting);
        stalled.unwrap();
        assert_eq!(waiting.unwrap().followed.as_deref(), Some("process 1 on here"));
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn comments_of_many_repositories_are_read_by_two_processes() {
    let spec = WorldSpec {
        repositories: 40,
        issues: 120,
        comments_per_thread: 2,
        latency_ms: 1_500..=1_500,
        ..WorldSpec::small()
    };
    let alone = SimFixture::new(&spec, 3);
    let summary_alone = on_virtual_time(async { alone.pull(&FULL_PULL).await.unwrap() });
    let fixture = SimFixture::new(&spec, 3);
    let (first, second) = on_virtual_time(async {
        let (first, second) = tokio::join!(fixture.pull(&FULL_PULL), fixture.pull(&FULL_PULL));
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        (first.unwrap(), second.unwrap())
    });
    assert_eq!(second.followed.as_deref(), Some("process 1 on here"));
    let read = [&first, &second].map(comments_seen);
    assert!(read.iter().all(|read| *read >= 20), "both read comments: {read:?}");
    assert!(first.was_helped && !second.was_helped && !summary_alone.was_helped);
    assert_eq!(request_count(&fixture), request_count(&alone), "no request is doubled");
}

#[test]
fn comments_that_a_dead_helper_left_are_read_by_the_pull() {
    let spec = WorldSpec {
        repositories: 40,
        issues: 120,
        comments_per_thread: 2,
        latency_ms: 1_500..=1_500,
        ..WorldSpec::small()
    };
    for point in ["fetch: answered", "ingest: before commit", "ingest: after commit"] {
        let fixture = SimFixture::new(&spec, 3);
        on_virtual_time(async {
            let helper = TestPull { crash_hook: Some(crash_at(point, 3)), ..FULL_PULL };
            let (first, helper) = tokio::join!(fixture.pull(&FULL_PULL), fixture.pull(&helper));
            helper.unwrap_err();
            assert_eq!(first.unwrap().failures, []);
            check_comments(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn removals_of_a_run_are_counted_together_when_another_process_helps() {
    let spec = WorldSpec {
        repositories: 30,
        issues: 120,
        comments_per_thread: 2,
        latency_ms: 1_500..=1_500,
        ..WorldSpec::small()
    };
    let fixture = SimFixture::new(&spec, 3);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(3_600_000).await;
        let now_ms = fixture.world_now_ms();
        let (deleted, repositories) = fixture.with_github(|github| {
            let comments = github.world().truth().comments;
            let is_deleted = |comment: &&hw_sim::TrueComment| {
                comment.kind == hw_sim::CommentKind::Conversation && comment.id % 2 == 0
            };
            let deleted: Vec<i64> =
                comments.values().filter(is_deleted).map(|comment| comment.id).collect();
            for id in &deleted {
                github.world_mut().delete_comment(hw_sim::CommentKind::Conversation, *id, now_ms);
            }
            (deleted, github.world().truth().repositories)
        });
        for id in repositories.keys() {
            let surface = Surface::Comments(CommentKind::Conversation);
            let lane = Lane::for_repository(RepositoryKey::new(HOST, *id), surface);
            fixture.store.request_sweep(&lane, fixture.clock.virtual_now_ms()).unwrap();
        }
        let before = fixture.store.object_counts().unwrap().comments;
        let (first, second) = tokio::join!(fixture.pull(&FULL_PULL), fixture.pull(&FULL_PULL));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert!(first.failures.iter().any(hw_sync::PullFailure::is_brake), "{first:?}");
        assert_eq!((first.total_tally().removed, second.total_tally().removed), (0, 0));
        assert_eq!(fixture.store.object_counts().unwrap().comments, before);
        let allowed = TestPull { allow_mass_removal: true, ..FULL_PULL };
        let removed = fixture.pull(&allowed).await.unwrap().total_tally().removed;
        assert_eq!(removed, deleted.len() as u64);
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn duty_lost_by_a_stalled_owner_stops_it_before_older_text_wins() {
    stall_one_of_two(|_| DatabaseLocation::Memory);
}

#[test]
fn duty_lost_by_a_stalled_owner_stops_it_on_postgres() {
    stall_one_of_two(|round| postgres_location(&format!("owners_{}_{round}", std::process::id())));
}

/// Stalls the first process after it requested a page and before it stores the answer. The second process takes its
/// duties, reads the newer text and ends. Then the first one continues with its outdated answer.
fn stall_one_of_two(location: impl Fn(u64) -> DatabaseLocation) {
    for stall_after in 2..12 {
        let (spec, location) = (world_spec(), location(stall_after));
        let fixture = SimFixture {
            largest_page: 5,
            ..SimFixture::with_store(&spec, stall_after, StoreWriter::open(&location).unwrap())
        };
        on_virtual_time(async {
            let other = match &location {
                DatabaseLocation::Memory => fixture.share(),
                location @ (DatabaseLocation::File(_) | DatabaseLocation::Postgres { .. }) => {
                    SimFixture { store: StoreWriter::open(location).unwrap(), ..fixture.share() }
                }
            };
            let mut stalled = pin!(fixture.pull(&FIRST));
            if fixture.poll_until_requests(&mut stalled, stall_after).await {
                return;
            }
            for id in issue_ids(&fixture) {
                let now = fixture.world_now_ms();
                fixture.with_github(|github| {
                    github.world_mut().edit_issue(id, None, Some("newer"), now);
                });
            }
            other.pull(&SECOND).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();

            let error = stalled.await.unwrap_err();
            let lost =
                matches!(&error, hw_sync::SyncError::Store(hw_store::StoreError::LeaseLost { .. }));
            assert!(lost, "after {stall_after} requests: {error}");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

const FIRST: TestPull = TestPull { owner: "first", ..TestPull::PLAIN };
const SECOND: TestPull = TestPull { owner: "second", ..TestPull::PLAIN };

type EventLog = Arc<Mutex<Vec<ProgressEvent>>>;

/// Returns another process in the same workspace, and the events of its pulls.
fn share_with_events(fixture: &SimFixture) -> (SimFixture, EventLog) {
    let events = EventLog::default();
    let sink = Arc::clone(&events);
    let progress = ProgressSink::new(move |event| sink.lock().unwrap().push(event));
    (SimFixture { progress, ..fixture.share() }, events)
}

fn events_of_other_pulls(events: &EventLog) -> Vec<ProgressEvent> {
    let is_of_other = |event: &&ProgressEvent| {
        matches!(
            event,
            ProgressEvent::FollowingPull { .. }
                | ProgressEvent::WaitingForPull { .. }
                | ProgressEvent::TakingOverPull { .. }
        )
    };
    events.lock().unwrap().iter().filter(is_of_other).cloned().collect()
}

fn slow_fixture() -> SimFixture {
    let slow = WorldSpec { latency_ms: 2_000..=2_000, ..world_spec() };
    SimFixture { largest_page: 5, ..SimFixture::new(&slow, 1) }
}

fn request_count_of_one_pull() -> u64 {
    let fixture = slow_fixture();
    on_virtual_time(async { fixture.pull(&FIRST).await.unwrap() });
    request_count(&fixture)
}

fn request_count(fixture: &SimFixture) -> u64 {
    fixture.github.lock().unwrap().request_log().total
}

fn comments_seen(summary: &PullSummary) -> u64 {
    summary.items.get(&hw_rules::lane::PullItem::Comments).map_or(0, |tally| tally.seen)
}

fn world_spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 17, latency_ms: 50..=50, ..WorldSpec::small() }
}

/// Edits issues of many repositories at once: a list with an item this new may still lag, and is read again by the next pull.
fn edit_some_issues(fixture: &SimFixture) {
    let (now_ms, ids) = (fixture.world_now_ms(), issue_ids(fixture));
    fixture.with_github(|github| {
        for id in ids.into_iter().step_by(40) {
            github.world_mut().edit_issue(id, None, Some("new"), now_ms);
        }
    });
}

/// Returns the number of requested pages of the list of repositories.
fn repository_listings(fixture: &SimFixture) -> usize {
    fixture.with_github(|github| {
        let log = github.request_log();
        log.entries.iter().filter(|entry| entry.summary.contains("repositories(first")).count()
    })
}
