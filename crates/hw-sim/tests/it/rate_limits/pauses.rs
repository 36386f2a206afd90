//! A limited process stops, and so does every other process of the same user.

use std::sync::{Arc, Mutex};

use hw_sim::{ApiFault, RateLimitSpec, WorldSpec};
use hw_store::NewPause;
use hw_sync::progress::{ProgressEvent, ProgressSink};

use super::{secondary_pause, world_spec};
use crate::harness::shortcuts::ISSUES_PULL;
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

const LIMIT_FAULTS: [ApiFault; 5] = [
    ApiFault::SecondaryWithRetryAfter,
    ApiFault::SecondaryWithoutHeaders,
    ApiFault::SecondaryAs200,
    ApiFault::PrimaryExhausted,
    ApiFault::PrimaryExhaustedLegacy,
];

#[test]
fn pause_starts_no_requests() {
    for fault in LIMIT_FAULTS {
        for after in 0..4 {
            let fixture = SimFixture { largest_page: 10, ..SimFixture::new(&world_spec(), after) };
            on_virtual_time(async {
                let (store, client) = fixture.open_process(None);
                let plan = fixture.build_pull(&TestPull::default());
                let mut pull = std::pin::pin!(hw_sync::pull::run_pull(&store, &client, &plan));
                assert!(
                    !fixture.poll_until_requests(&mut pull, after).await,
                    "the pull is still running"
                );
                fixture.with_github(|github| github.arm_fault(fault, 2));
                pull.await.unwrap();
                assert_eq!(
                    fixture.with_github(|github| github.fired_faults().get(&fault).copied()),
                    Some(2),
                    "{fault:?}"
                );
                assert_eq!(
                    fixture.with_github(|github| github.requests_while_limited()),
                    0,
                    "{fault:?}"
                );
                check_mirror(&fixture, CheckLevel::Everything).unwrap();
            });
        }
    }
}

#[test]
fn pause_outlives_the_process_that_met_it() {
    for fault in LIMIT_FAULTS {
        let fixture = SimFixture::new(&world_spec(), 5);
        on_virtual_time(async {
            fixture.pull(&TestPull::default()).await.unwrap();
            fixture.with_github(|github| github.arm_fault(fault, 1));
            let crash_hook: hw_sync::crash_points::CrashTrigger =
                Arc::new(|point| point == "fetch: pause written");
            let crash = TestPull { crash_hook: Some(crash_hook), ..TestPull::default() };
            fixture.pull(&crash).await.unwrap_err();
            fixture.clock.advance_by(6_000).await;
            fixture.pull(&TestPull::default()).await.unwrap();
            assert_eq!(
                fixture.with_github(|github| github.requests_while_limited()),
                0,
                "{fault:?}"
            );
        });
    }
}

#[test]
fn pause_until_the_hourly_reset_lets_the_pull_complete() {
    let limits = RateLimitSpec { graphql_points_per_hour: 10, ..RateLimitSpec::default() };
    let fixture =
        SimFixture { largest_page: 2, ..SimFixture::new(&WorldSpec { limits, ..world_spec() }, 6) };
    on_virtual_time(async {
        let start = fixture.clock.virtual_now_ms();
        let summary = fixture.pull(&TestPull::default()).await.unwrap();
        assert!(summary.failures.is_empty());
        assert!(fixture.clock.virtual_now_ms() - start > 3_600_000, "an hour passed");
        assert_eq!(fixture.with_github(|github| github.requests_while_limited()), 0);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn limit_met_by_all_requests_in_flight_counts_once() {
    let spec = WorldSpec { repositories: 20, issues: 120, latency_ms: 500..=500, ..world_spec() };
    let fixture = SimFixture::new(&WorldSpec { no_archives_or_forks: true, ..spec }, 2);
    on_virtual_time(async {
        let mut pull = std::pin::pin!(fixture.pull(&ISSUES_PULL));
        assert!(!fixture.poll_until_requests(&mut pull, 1).await, "the issues are still to come");
        fixture.with_github(|github| github.arm_fault(ApiFault::SecondaryWithoutHeaders, 8));
        let start = fixture.world_now_ms();
        pull.await.unwrap();
        let fired = fixture.with_github(|github| {
            github.fired_faults().get(&ApiFault::SecondaryWithoutHeaders).copied()
        });
        assert!(fired.is_some_and(|times| times > 3), "{fired:?} requests met it");
        assert_eq!(fixture.with_github(|github| github.requests_while_limited()), 0);
        let took_s = (fixture.world_now_ms() - start) / 1_000;
        assert!(took_s < 600, "{took_s} s: a minute, and a slow restart");
    });
}

#[test]
fn pause_far_in_the_future_does_not_hide_later_ones() {
    let fixture = SimFixture::new(&world_spec(), 3);
    on_virtual_time(async {
        let (store, client) = fixture.open_process(None);
        hw_sync::pull::run_pull(&store, &client, &fixture.build_pull(&TestPull::default()))
            .await
            .unwrap();
        let month_ms = 30 * 86_400_000;
        let stored_ms = fixture.world_now_ms();
        let far = secondary_pause(stored_ms + month_ms);
        store.store_pause(NewPause { principal: client.principal(), stored_ms, ..far }).unwrap();
        fixture.with_github(|github| github.arm_fault(ApiFault::SecondaryWithRetryAfter, 1));
        let crash_hook: hw_sync::crash_points::CrashTrigger =
            Arc::new(|point| point == "fetch: pause written");
        fixture
            .pull(&TestPull { crash_hook: Some(crash_hook), ..TestPull::default() })
            .await
            .unwrap_err();
        fixture.clock.advance_by(6_000).await;
        fixture.pull(&TestPull::default()).await.unwrap();
        assert_eq!(fixture.with_github(|github| github.requests_while_limited()), 0);
    });
}

#[test]
fn pause_of_an_earlier_run_is_reported_before_it_is_waited_for() {
    let events: Arc<Mutex<Vec<ProgressEvent>>> = Arc::default();
    let sink = Arc::clone(&events);
    let fixture = SimFixture::new(&world_spec(), 5);
    let fixture = SimFixture {
        progress: ProgressSink::new(move |event| sink.lock().unwrap().push(event)),
        ..fixture
    };
    on_virtual_time(async {
        let until_ms = fixture.world_now_ms() + 600_000;
        let pause = NewPause { reason: "the reason", ..secondary_pause(until_ms) };
        fixture.store.store_pause(pause).unwrap();
        let plain = TestPull::default();
        let mut pull = std::pin::pin!(fixture.pull(&plain));
        tokio::select! {
            biased;
            _ = pull.as_mut() => panic!("the pull did not wait"),
            () = fixture.clock.advance_by(1_000) => {}
        }
        let paused = ProgressEvent::RequestsPaused {
            reason: "the reason".into(),
            until_ms,
            resumes_slowly: true,
        };
        let count = events.lock().unwrap().iter().filter(|event| **event == paused).count();
        assert_eq!((count, fixture.with_github(|github| github.request_log().total)), (1, 0));
        pull.await.unwrap();
    });
}
