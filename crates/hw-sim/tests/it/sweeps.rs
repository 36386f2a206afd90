//! Sweeps: deleted items are removed, and nothing else is.

use hw_rules::item::{ObjectId, ObjectKind, ThreadKind};
use hw_rules::lane::PullItem;
use hw_sim::{ApiFault, FaultRates};

use crate::harness::shortcuts::{
    FULL_PULL, ISSUES_PULL, SWEEP_PULL, USUAL_PULL, crash_at, delete_all_issues,
    first_repository_id, issue_ids, one_repository,
};
use crate::harness::{CheckLevel, HOST, SimFixture, TestPull, check_mirror, on_virtual_time};

#[test]
fn sweep_follows_a_shorter_listing_in_the_same_pull() {
    let fixture = SimFixture::new(&one_repository(9), 3);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        let gone = issue_ids(&fixture)[4];
        delete_issue(&fixture, gone);
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().items[&PullItem::Issues].removed, 1);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        fixture.pull(&SWEEP_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.object_counts().unwrap().tombstones, 1);
    });
}

#[test]
fn sweep_that_is_due_later_costs_nothing_now() {
    let fixture = SimFixture::new(&one_repository(9), 3);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        let unchanged = fixture.pull(&FULL_PULL).await.unwrap().cost.requests;
        let tomorrow_ms = fixture.world_now_ms() + 86_400_000;
        for (lane, _, _) in fixture.store.lanes().unwrap() {
            fixture.store.request_sweep(&lane, tomorrow_ms).unwrap();
        }
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().cost.requests, unchanged);
        fixture.clock.advance_by(86_400_000).await;
        assert!(fixture.pull(&FULL_PULL).await.unwrap().cost.requests > unchanged + 3, "swept");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_of_a_shorter_listing_survives_a_crash() {
    for nth in 1..=6 {
        let fixture = SimFixture::new(&one_repository(9), 3);
        on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            fixture.clock.advance_by(300_000).await;
            let gone = issue_ids(&fixture)[4];
            delete_issue(&fixture, gone);
            fixture.clock.advance_by(300_000).await;
            let crash =
                TestPull { crash_hook: Some(crash_at("fetch: answered", nth)), ..USUAL_PULL };
            drop(fixture.pull(&crash).await);
            fixture.clock.advance_by(10_000).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn sweep_restarts_when_the_listing_becomes_shorter_again() {
    let fixture = SimFixture { largest_page: 3, ..SimFixture::new(&one_repository(9), 3) };
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        let ids = issue_ids(&fixture);
        delete_issue(&fixture, ids[4]);
        fixture.clock.advance_by(300_000).await;
        let crash = TestPull { crash_hook: Some(crash_at("stage: after commit", 2)), ..USUAL_PULL };
        fixture.pull(&crash).await.unwrap_err();
        // both are in the part of the inventory that is already staged
        delete_issue(&fixture, ids[0]);
        delete_issue(&fixture, ids[1]);
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_finds_a_deletion_after_an_interrupted_first_walk() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&one_repository(30), 1) };
    on_virtual_time(async {
        let crash =
            TestPull { crash_hook: Some(crash_at("ingest: after commit", 4)), ..ISSUES_PULL };
        fixture.pull(&crash).await.unwrap_err();
        fixture.clock.advance_by(300_000).await;
        let mut ids = issue_ids(&fixture).into_iter();
        let gone = ids.find(|id| is_stored(&fixture, *id)).unwrap();
        delete_issue(&fixture, gone);
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&ISSUES_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_removes_an_issue_deleted_within_a_minute_of_its_change() {
    let fixture = SimFixture::new(&one_repository(9), 3);
    on_virtual_time(async {
        let (repository, now) = (first_repository_id(&fixture), fixture.world_now_ms());
        let id = fixture
            .with_github(|github| github.world_mut().create_issue(repository, "spam", "b", now));
        fixture.clock.advance_by(5_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(5_000).await;
        delete_issue(&fixture, id);
        for _ in 0..2 {
            fixture.clock.advance_by(5_000).await;
            assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        }
        assert_eq!(fixture.store.object_counts().unwrap().issues, 10, "lists may lag by a minute");
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        fixture.clock.advance_by(300_000).await;
        let requests = fixture.with_github(|github| github.request_log().total);
        fixture.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(
            fixture.with_github(|github| github.request_log().total) - requests,
            1,
            "nothing is due"
        );
    });
}

#[test]
fn sweep_finds_a_deletion_that_a_creation_hides() {
    let fixture = SimFixture::new(&one_repository(9), 3);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        let (repository, gone, now) =
            (first_repository_id(&fixture), issue_ids(&fixture)[4], fixture.world_now_ms());
        fixture.with_github(|github| github.world_mut().delete_issue(gone, now));
        fixture.with_github(|github| github.world_mut().create_issue(repository, "new", "b", now));
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(
            fixture.store.object_counts().unwrap().issues,
            10,
            "the list is as long as before"
        );
        assert_eq!(fixture.pull(&SWEEP_PULL).await.unwrap().items[&PullItem::Issues].removed, 1);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        fixture.pull(&SWEEP_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_removes_nothing_on_a_passing_not_found() {
    let fixture = SimFixture::new(&one_repository(9), 4);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        fixture.with_github(|github| github.arm_fault(ApiFault::NotFoundOnce, 3));
        drop(fixture.pull(&SWEEP_PULL).await);
        assert!(
            fixture
                .with_github(|github| github.fired_faults().contains_key(&ApiFault::NotFoundOnce))
        );
        assert_eq!(fixture.store.object_counts().unwrap().issues, 9);
        fixture.with_github(|github| github.set_fault_rates(FaultRates::none()));
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&SWEEP_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_removes_the_last_issue_of_a_repository() {
    let fixture = SimFixture::new(&one_repository(3), 5);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        delete_all_issues(&fixture);
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&SWEEP_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.object_counts().unwrap().issues, 0);
    });
}

#[test]
fn sweep_restarts_when_all_siblings_are_gone() {
    let fixture = SimFixture::new(&one_repository(9), 19);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        let ids = issue_ids(&fixture);
        delete_issue(&fixture, ids[4]);
        fixture.clock.advance_by(300_000).await;
        let crash = TestPull { crash_hook: Some(crash_at("sweep: looked again", 1)), ..SWEEP_PULL };
        fixture.pull(&crash).await.unwrap_err();
        ids.iter()
            .filter(|id| **id != ids[1] && **id != ids[4])
            .for_each(|id| delete_issue(&fixture, *id));
        fixture.clock.advance_by(300_000).await;
        let swept = fixture.pull(&USUAL_PULL).await.unwrap();
        assert!(swept.failures.is_empty(), "{:?}", swept.failures);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_brake_stops_a_mass_removal() {
    let fixture = SimFixture::new(&one_repository(40), 6);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        delete_all_issues(&fixture);
        fixture.clock.advance_by(300_000).await;
        let stopped = fixture.pull(&SWEEP_PULL).await.unwrap();
        assert!(stopped.failures[0].message.contains("40 of 40"), "{:?}", stopped.failures);
        assert_eq!(fixture.store.object_counts().unwrap().issues, 40);
        let (store, client) = fixture.open_process(None);
        let plan =
            hw_sync::pull::PullSpec { allow_mass_removal: true, ..fixture.build_pull(&SWEEP_PULL) };
        hw_sync::pull::run_pull(&store, &client, &plan).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_keeps_issues_while_the_feature_is_disabled() {
    let fixture = SimFixture::new(&one_repository(9), 17);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let (repository, id) = (first_repository_id(&fixture), issue_ids(&fixture)[2]);
        let mut pull = std::pin::pin!(fixture.pull(&SWEEP_PULL));
        let requests = fixture.with_github(|github| github.request_log().total);
        assert!(
            !fixture.poll_until_requests(&mut pull, requests + 1).await,
            "the issues are still to come"
        );
        let now = fixture.world_now_ms();
        fixture
            .with_github(|github| github.world_mut().edit_issue(id, None, Some("while off"), now));
        fixture.with_github(|github| github.world_mut().set_issues_enabled(repository, false, now));
        let swept = pull.await.unwrap();
        assert_eq!(swept.items[&PullItem::Issues].removed, 0, "a disabled feature deletes nothing");
        assert_eq!(fixture.store.object_counts().unwrap().issues, 9);
        fixture.clock.advance_by(600_000).await;
        let now = fixture.world_now_ms();
        fixture.with_github(|github| github.world_mut().set_issues_enabled(repository, true, now));
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn sweep_stays_within_the_window() {
    let fixture = SimFixture::new(&one_repository(60), 13);
    on_virtual_time(async {
        let narrow = TestPull { window_days: Some(10), ..USUAL_PULL };
        fixture.pull(&narrow).await.unwrap();
        let few = fixture.store.object_counts().unwrap().issues;
        assert!((1..60).contains(&few), "{few} within ten days");
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&TestPull { reconcile: true, ..narrow }).await.unwrap();
        assert_eq!(
            fixture.store.object_counts().unwrap().issues,
            few,
            "issues below the window are not fetched"
        );
    });
}

fn delete_issue(fixture: &SimFixture, id: i64) {
    fixture.with_github(|github| github.world_mut().delete_issue(id, fixture.world_now_ms()));
}

fn is_stored(fixture: &SimFixture, id: i64) -> bool {
    fixture
        .store
        .cell(HOST, ObjectId { kind: ObjectKind::Thread(ThreadKind::Issue), id })
        .unwrap()
        .is_present()
}
