//! `highwater service` on virtual time: what it does when, beside others, through restarts, limits and faults.

mod long_run;
mod service_fixture;

use std::pin::pin;
use std::sync::atomic::Ordering;

use hw_rules::duty::DutyName;
use hw_rules::lane::PullItem;
use hw_sim::{RateLimitSpec, WorldSpec};
use hw_sync::SyncError;
use hw_sync::service::ServiceMode;

use crate::harness::shortcuts::{FULL_PULL, issue_ids};
use crate::harness::{
    CheckLevel, HOST, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
    test_seeds,
};
use service_fixture::ServiceFixture;

const MINUTE_MS: i64 = 60_000;

#[test]
fn service_pulls_polls_and_sweeps_at_their_intervals() {
    let mut service = ServiceFixture::new(&world_spec());
    service.settings.reconcile_interval_hours = 3;
    on_virtual_time(async {
        service.sim.pull(&FULL_PULL).await.unwrap();
        let watched = service.watch_first_repository();
        service.run_for(4 * 60 * MINUTE_MS).await;
        let pulls = service.runs_of(&pull_duty());
        assert!((16..=17).contains(&pulls), "{pulls} pulls in four hours");
        let polls = service.runs_of(&watched);
        assert!((236..=241).contains(&polls), "{polls} polls in four hours");
        let swept = service.requested_sweeps();
        assert!(swept.len() >= 6, "{swept:?}");
        let waiting = service.sim.store.lanes().unwrap();
        let waiting = waiting.iter().filter(|(_, state, _)| {
            state.sweep_due_ms.is_some_and(|due_ms| due_ms < service.now_ms() - 31 * MINUTE_MS)
        });
        assert_eq!(waiting.count(), 0, "two pulls after its request, a list is swept");
        check_mirror(&service.sim, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn service_that_was_stopped_continues_at_its_due_times() {
    let service = ServiceFixture::new(&world_spec());
    on_virtual_time(async {
        service.run_for(5 * MINUTE_MS).await;
        assert_eq!(service.runs_of(&pull_duty()), 1);
        let due_ms = service.duty(&pull_duty()).due_ms;
        service.run_for(5 * MINUTE_MS).await;
        assert_eq!(service.runs_of(&pull_duty()), 1, "the pull was not due");
        assert_eq!(service.duty(&pull_duty()).due_ms, due_ms);
        service.run_for(6 * MINUTE_MS).await;
        assert_eq!(service.runs_of(&pull_duty()), 2);
    });
}

#[test]
fn service_keeps_its_due_time_when_somebody_pulls_by_hand() {
    let service = ServiceFixture::new(&world_spec());
    on_virtual_time(async {
        service.run_for(2 * MINUTE_MS).await;
        let due_ms = service.duty(&pull_duty()).due_ms;
        assert!(due_ms.is_some());
        service.sim.pull(&TestPull { owner: "by hand", ..FULL_PULL }).await.unwrap();
        assert_eq!(service.duty(&pull_duty()).due_ms, due_ms);
    });
}

#[test]
fn pull_beside_a_service_is_performed_by_the_service() {
    for reconcile in [false, true] {
        let service = ServiceFixture::new(&world_spec());
        on_virtual_time(async {
            let summary = service.pull_beside(TestPull { reconcile, ..FULL_PULL }).await.unwrap();
            assert_eq!(summary.followed.as_deref(), Some("process 1 on here"), "{reconcile}");
            let pull = service.duty(&pull_duty());
            assert_eq!(pull.ended_epoch, Some(2), "the first one, and the requested one");
            check_mirror(&service.sim, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn pull_beside_a_service_finds_what_is_gone_when_it_sweeps() {
    let service = ServiceFixture::new(&world_spec());
    on_virtual_time(async {
        service.run_for(5 * MINUTE_MS).await;
        let gone = issue_ids(&service.sim)[2];
        let now_ms = service.sim.world_now_ms();
        service.sim.with_github(|github| github.world_mut().delete_issue(gone, now_ms));
        service.sim.clock.advance_by(300_000).await;
        service.pull_beside(TestPull { reconcile: true, ..FULL_PULL }).await.unwrap();
        check_mirror(&service.sim, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn pull_beside_a_service_performs_itself_what_the_service_does_not_cover() {
    let service = ServiceFixture::new(&world_spec());
    on_virtual_time(async {
        let summary = service.pull_beside(TestPull { only: &["pump"], ..FULL_PULL }).await;
        assert_eq!(summary.unwrap().followed, None);
    });
}

#[test]
fn service_is_refused_beside_another_one_in_a_workspace_without_a_server() {
    let service = ServiceFixture::new(&world_spec());
    on_virtual_time(async {
        let mut first = pin!(service.serve(ServiceMode::Forever));
        tokio::select! {
            biased;
            ended = first.as_mut() => panic!("it ended: {ended:?}"),
            () = service.sim.clock.advance_by(10_000) => {}
        }
        let second = tokio::select! {
            biased;
            ended = first.as_mut() => panic!("it ended: {ended:?}"),
            second = service.serve(ServiceMode::Once) => second,
        };
        let Err(SyncError::ServiceRunning { owner, .. }) = second else {
            panic!("it was not refused: {second:?}")
        };
        assert_eq!(owner, "process 1 on here");
    });
}

#[test]
fn service_once_polls_now_and_pulls_only_when_due() {
    let service = ServiceFixture::new(&world_spec());
    on_virtual_time(async {
        let first = service.serve(ServiceMode::Once).await.unwrap();
        assert_eq!((first.pulls, first.failures.len()), (1, 0));
        service.watch_first_repository();
        for round in 1..=3 {
            let summary = service.serve(ServiceMode::Once).await.unwrap();
            assert_eq!((summary.pulls, summary.repository_polls), (0, 1), "round {round}");
        }
        service.sim.clock.advance_by(20 * 60_000).await;
        assert_eq!(service.serve(ServiceMode::Once).await.unwrap().pulls, 1);
        check_mirror(&service.sim, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn service_whose_pulls_fail_still_polls_and_retries_less_and_less_often() {
    let service = ServiceFixture::new(&world_spec());
    on_virtual_time(async {
        service.run_for(5 * MINUTE_MS).await;
        let watched = service.watch_first_repository();
        // the pull needs GraphQL, the poll of a quiet repository does not
        service.rejects_graphql.store(true, Ordering::SeqCst);
        service.run_for(60 * MINUTE_MS).await;
        let pull = service.duty(&pull_duty());
        assert!(pull.failures >= 4 && pull.last_error.is_some(), "{pull:?}");
        assert!(pull.failures <= 12, "it is retried with a growing delay: {pull:?}");
        let polls = service.runs_of(&watched);
        assert!(polls >= 55, "{polls} polls while pulls failed");
        service.rejects_graphql.store(false, Ordering::SeqCst);
        service.run_for(16 * MINUTE_MS).await;
        let pull = service.duty(&pull_duty());
        assert_eq!((pull.failures, pull.last_error), (0, None));
    });
}

#[test]
fn service_polls_watched_repositories_while_a_cold_pull_waits_for_the_budget() {
    let limits = RateLimitSpec { graphql_points_per_hour: 60, ..RateLimitSpec::default() };
    let spec = WorldSpec {
        repositories: 3,
        issues: 300,
        pull_requests: 60,
        comments_per_thread: 4,
        no_archives_or_forks: true,
        limits,
        ..world_spec()
    };
    let service =
        ServiceFixture::with_sim(SimFixture { largest_page: 5, ..SimFixture::new(&spec, 1) });
    on_virtual_time(async {
        let listing = TestPull { items: &[PullItem::Repositories], ..FULL_PULL };
        service.sim.pull(&listing).await.unwrap();
        let watched = service.watch_first_repository();
        service.run_for(120 * MINUTE_MS).await;
        let pull = service.duty(&pull_duty());
        assert!(pull.requested_ms.is_some(), "it runs until the service is stopped: {pull:?}");
        let gaps = service.gaps_ms(&watched);
        assert!(gaps.len() >= 110, "{} polls: {gaps:?}", gaps.len());
        let late = gaps.iter().filter(|gap| **gap > 2 * MINUTE_MS + 30_000).count();
        assert_eq!(late, 0, "{gaps:?}");
    });
}

#[test]
fn service_that_crashes_anywhere_continues_where_it_was() {
    for seed in test_seeds() {
        let service = ServiceFixture::with_sim(SimFixture::new(&world_spec(), seed));
        on_virtual_time(async {
            service.sim.pull(&FULL_PULL).await.unwrap();
            service.watch_first_repository();
            for _ in 0..4 {
                service.run_until_crash(16 * MINUTE_MS).await;
                service.edit_an_issue();
            }
            service.sim.clock.advance_by(120_000).await;
            service.run_for(17 * MINUTE_MS).await;
            check_mirror(&service.sim, CheckLevel::Everything)
                .and_then(|()| check_comments(&service.sim, CheckLevel::Everything))
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        });
    }
}

fn pull_duty() -> DutyName {
    DutyName::pull(HOST)
}

fn world_spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 17, latency_ms: 50..=50, ..WorldSpec::small() }
}
