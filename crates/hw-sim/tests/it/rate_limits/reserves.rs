//! The reserve for the user's other tools, the pace, and what each API may still spend.

use hw_rules::lane::PullItem;
use hw_rules::pace::RequestPace;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};
use hw_sim::{ApiFault, RateLimitSpec, RequestKind, ThreadKind, WorldSpec};
use hw_store::NewPause;

use super::{request_starts, secondary_pause, world_spec};
use crate::harness::shortcuts::{FULL_PULL, ISSUES_PULL};
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

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
            fixture.store.store_pause(reserve).unwrap();
            fixture.pull(&TestPull::default()).await.unwrap();
            let waited = fixture.world_now_ms() - start_ms >= 1_800_000;
            assert_eq!(waited, !lifts, "reserve {reserve_percent} %");
            if lifts {
                let stored = fixture.store.pending_pauses("here", start_ms).unwrap();
                assert_eq!(stored, [], "no command reports a lifted pause");
            }
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
        fixture.store.store_pause(reserve).unwrap();
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
        store.store_pause(reserve_pause(start_ms + 1_800_000)).unwrap();
        store.store_pause(secondary_pause(start_ms + 60_000)).unwrap();
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
        fixture.store.store_pause(reserve).unwrap();
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

fn reserve_pause(until_ms: i64) -> NewPause<'static> {
    let (cause, reason) = (PauseCause::Reserve(RequestClass::Replies), "kept in reserve");
    NewPause { cause, reason, ..secondary_pause(until_ms) }
}
