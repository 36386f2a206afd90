//! Rate limits: a limited process stops, and so does every other process of the same user.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::lane::PullItem;
use hw_rules::pace::RequestPace;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope};
use hw_sim::{ApiFault, RateLimitSpec, RequestKind, ThreadKind, WorldSpec};
use hw_sources::transport::{ExchangeStage, HttpResponse, TransportError};
use hw_store::NewPause;
use hw_sync::progress::{ProgressEvent, ProgressSink};

use crate::altered_answers::AlteringTransport;
use crate::harness::shortcuts::{FULL_PULL, ISSUES_PULL};
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

/// The 403 is a firewall's page, or a limit without a marker.
#[test]
fn refusal_that_passes_does_not_end_the_pull() {
    for refused in 0..4 {
        let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 7) };
        on_virtual_time(async {
            let requests = AtomicU64::new(0);
            let transport = AlteringTransport::with_filter(&fixture, move |_, answer| {
                let is_refused = requests.fetch_add(1, Ordering::SeqCst) == refused;
                Ok(if is_refused { forbidden_response(answer) } else { answer })
            });
            let pulled = fixture.pull_via(transport, &TestPull::default()).await.unwrap();
            assert_eq!((pulled.failures, pulled.cost.retries), (vec![], 1), "request {refused}");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn refusal_that_comes_twice_is_believed() {
    let fixture = SimFixture::new(&world_spec(), 8);
    on_virtual_time(async {
        let transport =
            AlteringTransport::with_filter(&fixture, |_, answer| Ok(forbidden_response(answer)));
        let ended = fixture.pull_via(transport, &TestPull::default()).await.unwrap_err();
        assert!(ended.to_string().contains("the token was refused"), "{ended}");
        assert_eq!(fixture.with_github(|github| github.request_log().total), 2);
    });
}

fn forbidden_response(answer: HttpResponse) -> HttpResponse {
    HttpResponse { status: 403, body: b"<html>Forbidden</html>".to_vec(), ..answer }
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
fn reserve_is_left_for_other_tools() {
    for (reserve_percent, most) in [(10, 36), (50, 20), (0, 40)] {
        let limits = RateLimitSpec { graphql_points_per_hour: 40, ..RateLimitSpec::default() };
        let world = SimFixture::new(&WorldSpec { limits, ..world_spec() }, 7);
        let fixture = SimFixture { largest_page: 1, reserve_percent, ..world };
        on_virtual_time(async {
            assert_eq!(fixture.pull(&TestPull::default()).await.unwrap().failures, []);
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
        let starts = request_starts(&fixture);
        let first_hour = starts[0]..starts[0] + 3_600_000;
        let used = starts.iter().filter(|start| first_hour.contains(start)).count();
        assert_eq!(used, most, "{reserve_percent} %: requests in flight count, too");
    }
}

#[test]
fn pace_slows_as_the_hourly_limit_is_used() {
    let limits = RateLimitSpec { graphql_points_per_hour: 60, ..RateLimitSpec::default() };
    let fixture = SimFixture::new(&WorldSpec { limits, ..world_spec() }, 8);
    let fixture = SimFixture { largest_page: 1, reserve_percent: 0, ..fixture };
    on_virtual_time(async { fixture.pull(&TestPull::default()).await.unwrap() });
    let starts = request_starts(&fixture);
    let spaces: Vec<i64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // the cost of requests in flight is not known yet: pauses grow a few requests later than the rule
    for (used, least, most) in [(40, 1_000, 2_000), (50, 2_000, 3_000), (58, 3_000, 5_000)] {
        let space = spaces[used - 1];
        assert!((least..=most).contains(&space), "after {used}: {space} ms");
    }
    assert!(spaces[1..29].iter().all(|space| *space < 1_000), "no pauses below half");
}

#[test]
fn pace_conservative_spaces_all_requests_by_a_second() {
    let fixture = SimFixture {
        largest_page: 5,
        pace: RequestPace::Conservative,
        ..SimFixture::new(&world_spec(), 9)
    };
    on_virtual_time(async { fixture.pull(&TestPull::default()).await.unwrap() });
    let starts = request_starts(&fixture);
    assert!(starts.len() > 5);
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 1_000), "{starts:?}");
}

#[test]
fn requests_in_flight_never_exceed_fifty() {
    let many = WorldSpec {
        repositories: 100,
        latency_ms: 500..=500,
        no_archives_or_forks: true,
        ..world_spec()
    };
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&many, 10) };
    on_virtual_time(async { fixture.pull(&TestPull::default()).await.unwrap() });
    let starts = request_starts(&fixture);
    let in_flight = starts
        .iter()
        .map(|at| starts.iter().filter(|start| (at - 499..=*at).contains(start)).count());
    assert_eq!(in_flight.max(), Some(50));
}

#[test]
fn connections_are_reset_after_three_failures_in_a_row() {
    let fixture = SimFixture::new(&world_spec(), 11);
    on_virtual_time(async {
        fixture.with_github(|github| github.arm_fault(ApiFault::Reset, 2));
        fixture.pull(&TestPull::default()).await.unwrap();
        assert_eq!(fixture.reconnects.load(Ordering::SeqCst), 0);
        fixture.with_github(|github| github.arm_fault(ApiFault::Reset, 3));
        fixture.pull(&TestPull::default()).await.unwrap();
        assert_eq!(fixture.reconnects.load(Ordering::SeqCst), 1);
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
        let far_ms = fixture.world_now_ms() + month_ms;
        let far = NewPause { until_ms: far_ms, principal: &client.principal(), ..SECONDARY_PAUSE };
        store.store_pause(far, i64::MAX).unwrap();
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
        let pause = NewPause { until_ms, reason: "the reason", ..SECONDARY_PAUSE };
        fixture.store.store_pause(pause, i64::MAX).unwrap();
        let plain = TestPull::default();
        let mut pull = std::pin::pin!(fixture.pull(&plain));
        tokio::select! {
            biased;
            _ = pull.as_mut() => panic!("the pull did not wait"),
            () = fixture.clock.advance_by(1_000) => {}
        }
        let paused = ProgressEvent::RequestsPaused { reason: "the reason".into(), until_ms };
        let count = events.lock().unwrap().iter().filter(|event| **event == paused).count();
        assert_eq!((count, fixture.with_github(|github| github.request_log().total)), (1, 0));
        pull.await.unwrap();
    });
}

#[test]
fn reserve_pause_is_lifted_when_the_budget_allows_it() {
    for (reserve_percent, graphql_points_per_hour, lifts) in [(0, 5_000, true), (90, 10, false)] {
        let limits = RateLimitSpec { graphql_points_per_hour, ..RateLimitSpec::default() };
        let fixture = SimFixture::new(&WorldSpec { limits, ..world_spec() }, 5);
        let fixture = SimFixture { reserve_percent, ..fixture };
        on_virtual_time(async {
            fixture
                .pull(&TestPull { items: &[PullItem::Repositories], ..TestPull::default() })
                .await
                .ok();
            let start_ms = fixture.world_now_ms();
            let reserve = reserve_pause(start_ms + 1_800_000);
            fixture.store.store_pause(reserve, i64::MAX).unwrap();
            fixture.pull(&TestPull::default()).await.unwrap();
            let waited = fixture.world_now_ms() - start_ms >= 1_800_000;
            assert_eq!(waited, !lifts, "reserve {reserve_percent} %");
            let reported = fixture.store.pauses(start_ms).unwrap();
            let is_reported = reported.iter().any(|pause| pause.cause == PauseCause::Reserve);
            assert_eq!(is_reported, !lifts, "no command reports a lifted pause: {reported:?}");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn reserve_pause_is_lifted_for_all_requests_that_wait_for_it() {
    let spec = WorldSpec {
        repositories: 6,
        comments_per_thread: 3,
        no_archives_or_forks: true,
        ..world_spec()
    };
    let fixture = SimFixture { reserve_percent: 0, ..SimFixture::new(&spec, 5) };
    on_virtual_time(async {
        let start_ms = fixture.world_now_ms();
        let scope = PauseScope::Api(ApiKind::Rest);
        let reserve = NewPause { scope, ..reserve_pause(start_ms + 1_800_000) };
        fixture.store.store_pause(reserve, i64::MAX).unwrap();
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        let took_s = (fixture.world_now_ms() - start_ms) / 1_000;
        assert!(took_s < 600, "{took_s} s: twelve lists met the pause at once");
    });
}

#[test]
fn reserve_pause_with_a_limit_of_the_source_is_obeyed_without_a_check() {
    let fixture = SimFixture { reserve_percent: 0, ..SimFixture::new(&world_spec(), 5) };
    on_virtual_time(async {
        let (start_ms, store) = (fixture.world_now_ms(), &fixture.store);
        store.store_pause(reserve_pause(start_ms + 1_800_000), i64::MAX).unwrap();
        let secondary = NewPause { until_ms: start_ms + 60_000, ..SECONDARY_PAUSE };
        store.store_pause(secondary, i64::MAX).unwrap();
        fixture.pull(&TestPull::default()).await.unwrap();
        assert!(
            request_starts(&fixture)[0] >= start_ms + 60_000,
            "{:?}",
            request_starts(&fixture)[0] - start_ms
        );
    });
}

#[test]
fn budget_that_is_used_up_stops_only_its_own_api() {
    let mut stopped = [false; 2];
    for seed in 0..12 {
        let spec = WorldSpec {
            pull_requests: 25,
            discussions: 10,
            comments_per_thread: 5,
            no_archives_or_forks: true,
            ..world_spec()
        };
        let fixture = SimFixture { largest_page: 4, ..SimFixture::new(&spec, seed) };
        on_virtual_time(async {
            let mut pull = std::pin::pin!(fixture.pull(&FULL_PULL));
            assert!(
                !fixture.poll_until_requests(&mut pull, 25 + 2 * seed).await,
                "it is still running"
            );
            fixture.with_github(|github| github.arm_fault(ApiFault::PrimaryExhausted, 1));
            assert_eq!(pull.await.unwrap().failures, []);
            assert_eq!(fixture.with_github(|github| github.requests_while_limited()), 0);
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
        fixture.with_github(|github| {
            let entries = &github.request_log().entries;
            let limited = entries.iter().position(|entry| entry.fault.is_some()).unwrap();
            let (kind, at_ms) = (entries[limited].kind, entries[limited].at_ms);
            let (same, other): (Vec<_>, Vec<_>) =
                entries[limited + 1..].iter().partition(|entry| entry.kind == kind);
            // requests that were in flight already do not count
            let in_flight_until_ms = at_ms + 250;
            let waited = same.iter().filter(|entry| entry.at_ms > in_flight_until_ms);
            assert!(waited.into_iter().all(|entry| entry.at_ms > at_ms + 3_000_000));
            let soon = in_flight_until_ms..at_ms + 600_000;
            if other.iter().any(|entry| soon.contains(&entry.at_ms)) {
                stopped[usize::from(kind == RequestKind::Rest)] = true;
            }
        });
    }
    assert_eq!(stopped, [true, true], "GraphQL was limited while REST went on, and vice versa");
}

#[test]
fn pull_of_issues_does_not_wait_for_the_rest_budget() {
    let limits = RateLimitSpec { core_per_hour: 2, ..RateLimitSpec::default() };
    let spec = WorldSpec { limits, comments_per_thread: 3, ..world_spec() };
    let fixture = SimFixture::new(&spec, 4);
    on_virtual_time(async {
        {
            let mut pull = std::pin::pin!(fixture.pull(&FULL_PULL));
            tokio::select! {
                biased;
                _ = pull.as_mut() => panic!("two REST requests cannot be enough"),
                () = fixture.clock.advance_by(600_000) => {}
            }
        }
        let start_ms = fixture.world_now_ms();
        assert_eq!(fixture.pull(&ISSUES_PULL).await.unwrap().failures, []);
        let took_s = (fixture.world_now_ms() - start_ms) / 1_000;
        assert!(took_s < 60, "{took_s} s");
        assert_eq!(fixture.with_github(|github| github.requests_while_limited()), 0);
    });
}

#[test]
fn requests_that_may_be_free_do_not_wait_for_the_reserve() {
    let limits = RateLimitSpec { core_per_hour: 10, ..RateLimitSpec::default() };
    let spec = WorldSpec {
        limits,
        repositories: 1,
        comments_per_thread: 3,
        no_archives_or_forks: true,
        ..world_spec()
    };
    let fixture = SimFixture { reserve_percent: 90, ..SimFixture::new(&spec, 4) };
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        let start_ms = fixture.world_now_ms();
        let reserve = NewPause {
            scope: PauseScope::Api(ApiKind::Rest),
            ..reserve_pause(start_ms + 1_800_000)
        };
        fixture.store.store_pause(reserve, i64::MAX).unwrap();
        fixture.with_github(|github| {
            let issue =
                github.world().truth().threads_of_kind(ThreadKind::Issue).next().unwrap().id;
            github.world_mut().edit_issue(issue, Some("another title"), None, start_ms - 600_000);
        });
        let before = fixture.with_github(|github| github.request_log().not_modified);
        fixture.pull(&FULL_PULL).await.unwrap();
        let took_s = (fixture.world_now_ms() - start_ms) / 1_000;
        let free = fixture.with_github(|github| github.request_log().not_modified) - before;
        assert!(took_s < 60 && free > 0, "{took_s} s, {free} responses that cost nothing");
    });
}

#[test]
fn unreachable_host_ends_a_run_soon_unless_it_answered_before() {
    for (answered, at_most_s) in [(0, 10), (1, 900)] {
        let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 7) };
        on_virtual_time(async {
            let requests = AtomicU64::new(0);
            let transport = AlteringTransport::with_filter(&fixture, move |_, answer| {
                if requests.fetch_add(1, Ordering::SeqCst) < answered {
                    return Ok(answer);
                }
                Err(TransportError {
                    reason: "Connection refused".into(),
                    stage: ExchangeStage::Connect,
                })
            });
            let start_ms = fixture.world_now_ms();
            let ended = fixture.pull_via(transport, &TestPull::default()).await.unwrap_err();
            assert!(ended.to_string().contains("cannot connect to api.github.com"), "{ended}");
            let took_s = (fixture.world_now_ms() - start_ms) / 1_000;
            assert!(took_s <= at_most_s, "{took_s} s");
            assert_eq!(took_s > 60, answered > 0, "retries go on only after a first answer");
        });
    }
}

const USER: &str = "github.com/1000";

const SECONDARY_PAUSE: NewPause<'static> = NewPause {
    principal: USER,
    scope: PauseScope::Everything,
    cause: PauseCause::SourceLimit,
    until_ms: 0,
    reason: "secondary limit",
};

fn reserve_pause(until_ms: i64) -> NewPause<'static> {
    let (cause, reason) = (PauseCause::Reserve, "kept in reserve");
    NewPause { cause, reason, until_ms, ..SECONDARY_PAUSE }
}

/// Returns the start times of all requests.
fn request_starts(fixture: &SimFixture) -> Vec<i64> {
    fixture.with_github(|github| {
        github.request_log().entries.iter().map(|entry| entry.at_ms).collect()
    })
}

fn world_spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 25, ..WorldSpec::small() }
}
