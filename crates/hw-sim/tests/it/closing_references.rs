//! The issues that open pull requests close: read by id, a hundred in a request, and only when they are due.

use hw_rules::item;
use hw_sim::{ApiFault, FaultRates, ThreadKind, TrueThread, WorldSpec};

use crate::harness::shortcuts::{SWEEP_PULL, USUAL_PULL, crash_at};
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

#[test]
fn closing_references_follow_the_text_of_an_open_pull_request() {
    let fixture = settled_fixture(1);
    on_virtual_time(async {
        settle(&fixture).await;
        let pull = open_pull_request(&fixture);
        rename_closed_issues(&fixture, &pull);
        assert_ne!(closed_issues(&fixture, pull.id), closed_by(&pull), "another one");
        fixture.clock.advance_by(120_000).await;
        assert_eq!(pull_and_count(&fixture, &USUAL_PULL).await, 3, "listing, page, references");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        fixture.clock.advance_by(120_000).await;
        pull_and_count(&fixture, &USUAL_PULL).await;
        assert_eq!(pull_and_count(&fixture, &USUAL_PULL).await, 1, "nothing is due");
    });
}

#[test]
fn closing_references_are_those_of_open_pull_requests() {
    let fixture = settled_fixture(2);
    on_virtual_time(async {
        settle(&fixture).await;
        let pull = open_pull_request(&fixture);
        assert!(stored_closes(&fixture) > 0, "there are references to clear");
        let before = stored_closes(&fixture);
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            github.world_mut().close_thread(ThreadKind::PullRequest, pull.id, now);
        });
        fixture.clock.advance_by(120_000).await;
        assert_eq!(pull_and_count(&fixture, &USUAL_PULL).await, 2, "listing and page");
        assert_eq!(stored_closes(&fixture), before - 1, "they are cleared");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            github.world_mut().reopen_thread(ThreadKind::PullRequest, pull.id, now);
        });
        fixture.clock.advance_by(120_000).await;
        pull_and_count(&fixture, &USUAL_PULL).await;
        assert_eq!(stored_closes(&fixture), before, "they are read again");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// A link in the sidebar changes no time, so that nothing but a reconcile asks for it.
#[test]
fn closing_references_linked_by_hand_are_found_by_a_reconcile() {
    let fixture = settled_fixture(3);
    on_virtual_time(async {
        settle(&fixture).await;
        let pull = open_pull_request(&fixture);
        let numbers = other_issues(&fixture, &pull);
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            github.world_mut().link_closed_issues(pull.id, &numbers, now);
        });
        fixture.clock.advance_by(120_000).await;
        pull_and_count(&fixture, &USUAL_PULL).await;
        assert!(check_mirror(&fixture, CheckLevel::Everything).is_err(), "nothing shows the link");
        pull_and_count(&fixture, &SWEEP_PULL).await;
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn closing_references_are_read_by_the_next_pull_if_one_is_killed_before_it_stores_them() {
    for point in ["store closing references: before commit", "ingest: after commit"] {
        let fixture = settled_fixture(4);
        on_virtual_time(async {
            settle(&fixture).await;
            let pull = open_pull_request(&fixture);
            rename_closed_issues(&fixture, &pull);
            fixture.clock.advance_by(600_000).await;
            // the second page that is stored is that of the pull requests
            let nth = if point.starts_with("ingest") { 2 } else { 1 };
            let killed = TestPull { crash_hook: Some(crash_at(point, nth)), ..USUAL_PULL };
            fixture.pull(&killed).await.unwrap_err();
            assert!(check_mirror(&fixture, CheckLevel::Everything).is_err(), "{point}");
            fixture.clock.advance_by(600_000).await;
            pull_and_count(&fixture, &USUAL_PULL).await;
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn closing_references_that_cannot_be_read_are_reported_and_read_later() {
    let mut unread = 0;
    for seed in 1..=10 {
        let fixture = settled_fixture(seed);
        on_virtual_time(async {
            settle(&fixture).await;
            let pull = open_pull_request(&fixture);
            rename_closed_issues(&fixture, &pull);
            fixture.clock.advance_by(600_000).await;
            let sent = fixture.with_github(|github| github.request_log().total);
            let mut running = std::pin::pin!(fixture.pull(&USUAL_PULL));
            assert!(!fixture.poll_until_requests(&mut running, sent + 2).await);
            // the references are still to come
            fixture.with_github(|github| github.arm_fault(ApiFault::BadNode, 20));
            let summary = running.await.unwrap();
            let failures = summary.failures.iter();
            unread +=
                failures.filter(|failure| failure.message.contains("issues closed by")).count();
            fixture.with_github(|github| github.set_fault_rates(FaultRates::none()));
            fixture.clock.advance_by(600_000).await;
            pull_and_count(&fixture, &USUAL_PULL).await;
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
    assert!(unread > 0, "everything was read, so nothing was proven");
}

/// One repository, so that a listing is one request.
fn settled_fixture(seed: u64) -> SimFixture {
    let spec = WorldSpec {
        repositories: 1,
        issues: 12,
        pull_requests: 12,
        comments_per_thread: 0,
        ..WorldSpec::small()
    };
    SimFixture::new(&spec, seed)
}

/// Pulls until nothing that existed can still show up late.
async fn settle(fixture: &SimFixture) {
    pull_and_count(fixture, &USUAL_PULL).await;
    fixture.clock.advance_by(600_000).await;
    pull_and_count(fixture, &USUAL_PULL).await;
    check_mirror(fixture, CheckLevel::Everything).unwrap();
}

/// Pulls without failures, and returns the number of requests.
async fn pull_and_count(fixture: &SimFixture, pull: &TestPull) -> u64 {
    let summary = fixture.pull(pull).await.unwrap();
    assert_eq!(summary.failures, []);
    summary.cost.requests
}

/// Returns an open pull request that closes an issue.
fn open_pull_request(fixture: &SimFixture) -> TrueThread {
    let truth = fixture.with_github(|github| github.world().truth());
    let mut open =
        truth.threads_of_kind(ThreadKind::PullRequest).filter(|pull| pull.state == "OPEN");
    open.find(|pull| !closed_by(pull).is_empty()).unwrap().clone()
}

fn closed_by(pull: &TrueThread) -> &[i64] {
    &pull.pull_request.as_ref().unwrap().closing_issues
}

fn closed_issues(fixture: &SimFixture, id: i64) -> Vec<i64> {
    let truth = fixture.with_github(|github| github.world().truth());
    let pull = truth.threads_of_kind(ThreadKind::PullRequest).find(|pull| pull.id == id);
    closed_by(pull.unwrap()).to_vec()
}

/// Returns the numbers of two issues that the pull request does not close.
fn other_issues(fixture: &SimFixture, pull: &TrueThread) -> Vec<i64> {
    let truth = fixture.with_github(|github| github.world().truth());
    let issues = truth.threads_of_kind(ThreadKind::Issue).map(|issue| issue.number);
    let mut others: Vec<i64> =
        issues.filter(|number| !closed_by(pull).contains(number)).take(2).collect();
    others.sort_unstable();
    others
}

fn rename_closed_issues(fixture: &SimFixture, pull: &TrueThread) {
    let numbers = other_issues(fixture, pull);
    let now = fixture.world_now_ms();
    fixture.with_github(|github| github.world_mut().name_closed_issues(pull.id, &numbers, now));
}

/// Returns the number of stored closing references.
fn stored_closes(fixture: &SimFixture) -> usize {
    let mut closes = 0;
    let filter = hw_store::ThreadFilter::default();
    fixture
        .store
        .each_thread(item::ThreadKind::PullRequest, &filter, &mut |row| {
            closes += row.closes.len();
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    closes
}
