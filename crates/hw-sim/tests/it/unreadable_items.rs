//! Unreadable items and their quarantine, renamed repositories, and the freshness that an answer reports.

use hw_sim::{ApiFault, FaultRates, ThreadKind};

use crate::harness::shortcuts::{
    ISSUES_PULL, USUAL_PULL, crash_at, first_repository_id, issue_ids, issues_freshness,
    one_repository,
};
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

#[test]
fn quarantine_keeps_an_unreadable_issue_until_it_is_read() {
    let mut quarantined = 0;
    for seed in 1..=10 {
        let fixture = SimFixture::new(&one_repository(12), seed);
        on_virtual_time(async {
            let mut pull = std::pin::pin!(fixture.pull(&USUAL_PULL));
            assert!(
                !fixture.poll_until_requests(&mut pull, 1).await,
                "the issues are still to come"
            );
            // once in the page, then alone, then again with the quarantined items
            fixture.with_github(|github| github.arm_fault(ApiFault::BadNode, 200));
            pull.await.unwrap();
            let counts = fixture.store.object_counts().unwrap();
            quarantined += counts.quarantined;
            assert!(counts.issues > 8, "seed {seed}: the others are stored: {counts:?}");
            fixture.with_github(|github| github.set_fault_rates(FaultRates::none()));
            fixture.clock.advance_by(300_000).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            assert_eq!(fixture.store.object_counts().unwrap().quarantined, 0, "seed {seed}");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
    assert!(quarantined > 0, "nothing was quarantined, so nothing was proven");
}

#[test]
fn quarantine_keeps_an_issue_that_is_not_found_once() {
    let mut proven = 0;
    for seed in 1..=20 {
        let fixture = SimFixture { largest_page: 3, ..SimFixture::new(&one_repository(12), seed) };
        on_virtual_time(async {
            let mut pull = std::pin::pin!(fixture.pull(&ISSUES_PULL));
            // the list, and three of the four pages
            assert!(
                !fixture.poll_until_requests(&mut pull, 4).await,
                "the last page is still to come"
            );
            fixture.with_github(|github| github.arm_fault(ApiFault::BadNode, 200));
            pull.await.unwrap();
            fixture.with_github(|github| github.set_fault_rates(FaultRates::none()));
            fixture.clock.advance_by(300_000).await;
            let requests = fixture.with_github(|github| github.request_log().total);
            let mut pull = std::pin::pin!(fixture.pull(&ISSUES_PULL));
            // list and head; then the quarantined ones by id
            if fixture.poll_until_requests(&mut pull, requests + 2).await {
                return;
            }
            fixture.with_github(|github| github.arm_fault(ApiFault::NotFoundOnce, 20));
            pull.await.unwrap();
            let fired = fixture
                .with_github(|github| github.fired_faults().get(&ApiFault::NotFoundOnce).copied());
            proven += fired.unwrap_or(0);
            fixture.with_github(|github| github.set_fault_rates(FaultRates::none()));
            fixture.clock.advance_by(300_000).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            assert_eq!(fixture.store.object_counts().unwrap().quarantined, 0);
        });
    }
    assert!(proven > 3, "only {proven} were requested by id");
}

#[test]
fn quarantine_drops_a_deleted_issue_with_the_next_pull() {
    let mut proven = 0;
    for seed in 1..=10 {
        let fixture = SimFixture::new(&one_repository(12), seed);
        on_virtual_time(async {
            let mut pull = std::pin::pin!(fixture.pull(&ISSUES_PULL));
            assert!(
                !fixture.poll_until_requests(&mut pull, 1).await,
                "the issues are still to come"
            );
            fixture.with_github(|github| github.arm_fault(ApiFault::BadNode, 200));
            pull.await.unwrap();
            fixture.with_github(|github| github.set_fault_rates(FaultRates::none()));
            let (repository, now) = (first_repository_id(&fixture), fixture.world_now_ms());
            let waiting = fixture.store.quarantined_items().unwrap();
            for id in issue_ids(&fixture) {
                fixture.with_github(|github| {
                    let node_id = &github.world().truth().threads[&(ThreadKind::Issue, id)].node_id;
                    if waiting.iter().any(|item| item.subject.node_id() == Some(node_id)) {
                        // one new issue for each, so that the list keeps its length
                        github.world_mut().delete_issue(id, now);
                        github.world_mut().create_issue(repository, "instead", "b", now);
                        proven += 1;
                    }
                });
            }
            fixture.clock.advance_by(300_000).await;
            assert_eq!(fixture.pull(&ISSUES_PULL).await.unwrap().failures, [], "seed {seed}");
            assert_eq!(fixture.store.object_counts().unwrap().quarantined, 0, "seed {seed}");
            fixture.pull(&USUAL_PULL).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
    assert!(proven > 0, "nothing was quarantined by its id, so nothing was proven");
}

#[test]
fn freshness_is_incomplete_while_a_walk_is_unfinished() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&one_repository(30), 15) };
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        assert!(issues_freshness(&fixture).is_complete());
        fixture.clock.advance_by(300_000).await;
        for id in issue_ids(&fixture) {
            let now = fixture.world_now_ms();
            fixture.with_github(|github| {
                github.world_mut().edit_issue(id, None, Some("changed"), now);
            });
        }
        let before = issues_freshness(&fixture).fresh_through;
        let crash =
            TestPull { crash_hook: Some(crash_at("ingest: after commit", 3)), ..USUAL_PULL };
        fixture.pull(&crash).await.unwrap_err();
        let fresh = issues_freshness(&fixture);
        assert_eq!(fresh.fresh_through, before, "an unfinished walk makes nothing fresher");
        assert_eq!(fresh.incomplete.len(), 1);
        fixture.clock.advance_by(10_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        assert!(
            issues_freshness(&fixture).is_complete()
                && before < issues_freshness(&fixture).fresh_through
        );
    });
}

#[test]
fn renamed_repository_keeps_its_issues_under_the_new_name() {
    let fixture = SimFixture::new(&one_repository(5), 10);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let id = first_repository_id(&fixture);
        fixture.with_github(|github| {
            github.world_mut().rename_repository(id, "renamed", fixture.world_now_ms());
        });
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.object_counts().unwrap().repositories, 1);
    });
}

#[test]
fn refused_token_stops_the_pull_and_loses_nothing() {
    let fixture = SimFixture::new(&one_repository(5), 11);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 1));
        let error = fixture.pull(&USUAL_PULL).await.unwrap_err();
        assert!(error.to_string().contains("token was refused"), "{error}");
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}
