//! Limits: whoever is limited stops, and so does everybody else who speaks for the same user.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::lane::Choice;
use hw_rules::pace::Pace;
use hw_sim::{Fault, Limits, WorldSpec};
use hw_sources::transport::{Broken, BrokenStage, Response};
use hw_store::{PauseRow, reserve_name};
use hw_sync::news::{Herald, News};

use crate::harness::words::ISSUES;
use crate::harness::{HOST, Judge, Puller, Scene, check_mirror, on_virtual_time};
use crate::misheard::Misheard;

const EVERY_LIMIT: [Fault; 5] = [
    Fault::SecondaryWithRetryAfter,
    Fault::SecondaryWithoutHeaders,
    Fault::SecondaryAs200,
    Fault::PrimaryExhausted,
    Fault::RateLimited200Old,
];

#[test]
fn nothing_is_started_while_paused() {
    for fault in EVERY_LIMIT {
        for after in 0..4 {
            let scene = Scene { largest_page: 10, ..Scene::new(&spec(), after) };
            on_virtual_time(async {
                let (store, fetch) = scene.process(None);
                let plan = scene.plan(&Puller::default());
                let mut pull = std::pin::pin!(hw_sync::run::pull(&store, &fetch, &plan));
                assert!(!scene.poll_until(&mut pull, after).await, "it is still at work");
                scene.world(|github| github.arm(fault, 2));
                pull.await.unwrap();
                assert_eq!(scene.world(|g| g.fired().get(&fault).copied()), Some(2), "{fault:?}");
                assert_eq!(scene.world(|g| g.started_while_limited()), 0, "{fault:?}");
                check_mirror(&scene, Judge::Everything).unwrap();
            });
        }
    }
}

#[test]
fn a_new_process_respects_the_pause_that_an_ended_one_met() {
    for fault in EVERY_LIMIT {
        let scene = Scene::new(&spec(), 5);
        on_virtual_time(async {
            scene.pull(&Puller::default()).await.unwrap();
            scene.world(|github| github.arm(fault, 1));
            let plug: hw_sync::crash::Plug = Arc::new(|point| point == "fetch: pause written");
            let crash = Puller { plug: Some(plug), ..Puller::default() };
            scene.pull(&crash).await.unwrap_err();
            scene.clock.pass(6_000).await;
            scene.pull(&Puller::default()).await.unwrap();
            assert_eq!(scene.world(|g| g.started_while_limited()), 0, "{fault:?}");
        });
    }
}

/// A firewall's page, or a limit that does not name itself.
#[test]
fn refusal_that_passes_ends_no_pull() {
    for refused in 0..4 {
        let scene = Scene { largest_page: 5, ..Scene::new(&spec(), 7) };
        on_virtual_time(async {
            let asked = AtomicU64::new(0);
            let wire = Misheard::of(&scene, move |_, answer| {
                let is_refused = asked.fetch_add(1, Ordering::SeqCst) == refused;
                Ok(if is_refused { forbidden(answer) } else { answer })
            });
            let pulled = scene.pull_over(wire, &Puller::default()).await.unwrap();
            assert_eq!((pulled.failures, pulled.cost.retries), (vec![], 1), "request {refused}");
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
}

#[test]
fn refusal_that_comes_twice_is_believed() {
    let scene = Scene::new(&spec(), 8);
    on_virtual_time(async {
        let wire = Misheard::of(&scene, |_, answer| Ok(forbidden(answer)));
        let ended = scene.pull_over(wire, &Puller::default()).await.unwrap_err();
        assert!(ended.to_string().contains("the token was refused"), "{ended}");
        assert_eq!(scene.world(|github| github.requests().total), 2);
    });
}

fn forbidden(answer: Response) -> Response {
    Response { status: 403, body: b"<html>Forbidden</html>".to_vec(), ..answer }
}

#[test]
fn the_hours_points_are_waited_for_and_the_pull_completes() {
    let limits = Limits { graphql_points_per_hour: 10, ..Limits::default() };
    let scene = Scene { largest_page: 2, ..Scene::new(&WorldSpec { limits, ..spec() }, 6) };
    on_virtual_time(async {
        let start = scene.clock.now();
        let summary = scene.pull(&Puller::default()).await.unwrap();
        assert!(summary.failures.is_empty());
        assert!(3_600_000 < scene.clock.now() - start, "an hour passed");
        assert_eq!(scene.world(|g| g.started_while_limited()), 0);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_tenth_of_the_hour_is_left_to_others_unless_the_user_says_otherwise() {
    for (reserve_percent, most) in [(10, 36), (50, 20), (0, 40)] {
        let limits = Limits { graphql_points_per_hour: 40, ..Limits::default() };
        let world = Scene::new(&WorldSpec { limits, ..spec() }, 7);
        let scene = Scene { largest_page: 1, reserve_percent, ..world };
        on_virtual_time(async {
            assert_eq!(scene.pull(&Puller::default()).await.unwrap().failures, []);
            check_mirror(&scene, Judge::Everything).unwrap();
        });
        let start = starts(&scene)[0];
        let within = |hour: i64| {
            let began = start + hour * 3_600_000;
            starts(&scene).iter().filter(|at| (began..began + 3_600_000).contains(*at)).count()
        };
        // many lanes are under way when the last point but one is taken
        assert!((most..=most + 8).contains(&within(0)), "{reserve_percent} %: {}", within(0));
    }
}

#[test]
fn requests_are_spaced_the_more_of_the_hour_is_used() {
    let limits = Limits { graphql_points_per_hour: 60, ..Limits::default() };
    let scene = Scene::new(&WorldSpec { limits, ..spec() }, 8);
    let scene = Scene { largest_page: 1, reserve_percent: 0, ..scene };
    on_virtual_time(async { scene.pull(&Puller::default()).await.unwrap() });
    let starts = starts(&scene);
    let space = |at: usize| starts[at] - starts[at - 1];
    // what is under way is not told yet: a few requests later than the rule
    for (used, least, most) in [(40, 1_000, 2_000), (50, 2_000, 3_000), (58, 3_000, 5_000)] {
        assert!((least..=most).contains(&space(used)), "after {used}: {} ms", space(used));
    }
    assert!((2..30).all(|at| space(at) < 1_000), "nobody waits below half");
}

#[test]
fn a_conservative_pace_is_a_second_and_more_from_the_first_request_on() {
    let scene = Scene { largest_page: 5, pace: Pace::Conservative, ..Scene::new(&spec(), 9) };
    on_virtual_time(async { scene.pull(&Puller::default()).await.unwrap() });
    let starts = starts(&scene);
    assert!(5 < starts.len());
    assert!(starts.windows(2).all(|pair| 1_000 <= pair[1] - pair[0]), "{starts:?}");
}

#[test]
fn many_lanes_are_under_way_at_once_and_never_more_than_fifty() {
    let many = WorldSpec { repositories: 100, latency_ms: 500..=500, plain: true, ..spec() };
    let scene = Scene { largest_page: 5, ..Scene::new(&many, 10) };
    on_virtual_time(async { scene.pull(&Puller::default()).await.unwrap() });
    let starts = starts(&scene);
    let under_way = |at: i64| starts.iter().filter(|it| (at - 499..=at).contains(*it)).count();
    assert_eq!(starts.iter().map(|at| under_way(*at)).max(), Some(50));
}

#[test]
fn three_lost_connections_in_a_row_make_new_ones() {
    let scene = Scene::new(&spec(), 11);
    on_virtual_time(async {
        scene.world(|github| github.arm(Fault::Reset, 2));
        scene.pull(&Puller::default()).await.unwrap();
        assert_eq!(scene.renewed.load(Ordering::SeqCst), 0);
        scene.world(|github| github.arm(Fault::Reset, 3));
        scene.pull(&Puller::default()).await.unwrap();
        assert_eq!(scene.renewed.load(Ordering::SeqCst), 1);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_limit_that_all_in_flight_meet_is_one_limit() {
    let spec = WorldSpec { repositories: 20, issues: 120, latency_ms: 500..=500, ..spec() };
    let scene = Scene::new(&WorldSpec { plain: true, ..spec }, 2);
    on_virtual_time(async {
        let mut pull = std::pin::pin!(scene.pull(&ISSUES));
        assert!(!scene.poll_until(&mut pull, 1).await, "the issues are still to come");
        scene.world(|github| github.arm(Fault::SecondaryWithoutHeaders, 8));
        let start = scene.now();
        pull.await.unwrap();
        let fired = scene.world(|g| g.fired().get(&Fault::SecondaryWithoutHeaders).copied());
        assert!(fired.is_some_and(|times| 3 < times), "{fired:?} met it");
        assert_eq!(scene.world(|g| g.started_while_limited()), 0);
        let took_s = (scene.now() - start) / 1_000;
        assert!(took_s < 600, "{took_s} s: a minute, and a careful return");
    });
}

#[test]
fn a_pause_from_another_year_does_not_hide_the_ones_that_follow() {
    let scene = Scene::new(&spec(), 3);
    on_virtual_time(async {
        let (store, fetch) = scene.process(None);
        hw_sync::run::pull(&store, &fetch, &scene.plan(&Puller::default())).await.unwrap();
        let month_ms = 30 * 86_400_000;
        store.pause(&fetch.principal(), scene.now() + month_ms, i64::MAX, "then").unwrap();
        scene.world(|github| github.arm(Fault::SecondaryWithRetryAfter, 1));
        let plug: hw_sync::crash::Plug = Arc::new(|point| point == "fetch: pause written");
        scene.pull(&Puller { plug: Some(plug), ..Puller::default() }).await.unwrap_err();
        scene.clock.pass(6_000).await;
        scene.pull(&Puller::default()).await.unwrap();
        assert_eq!(scene.world(|g| g.started_while_limited()), 0);
    });
}

#[test]
fn pause_of_an_earlier_run_is_reported_before_it_is_waited_for() {
    let heard: Arc<Mutex<Vec<News>>> = Arc::default();
    let listener = Arc::clone(&heard);
    let scene = Scene::new(&spec(), 5);
    let scene =
        Scene { herald: Herald::new(move |news| listener.lock().unwrap().push(news)), ..scene };
    on_virtual_time(async {
        let until_ms = scene.now() + 600_000;
        scene.store.pause(&format!("{HOST}/1000"), until_ms, i64::MAX, "the reason").unwrap();
        let plain = Puller::default();
        let mut pull = std::pin::pin!(scene.pull(&plain));
        tokio::select! {
            biased;
            _ = pull.as_mut() => panic!("it waits"),
            () = scene.clock.pass(1_000) => {}
        }
        let paused = News::Paused { why: "the reason".into(), until_ms };
        let count = heard.lock().unwrap().iter().filter(|news| **news == paused).count();
        assert_eq!((count, scene.world(|github| github.requests().total)), (1, 0));
        pull.await.unwrap();
    });
}

#[test]
fn reserve_pause_is_lifted_when_the_budget_allows_it() {
    for (reserve_percent, graphql_points_per_hour, lifts) in [(0, 5_000, true), (90, 10, false)] {
        let limits = Limits { graphql_points_per_hour, ..Limits::default() };
        let scene = Scene::new(&WorldSpec { limits, ..spec() }, 5);
        let scene = Scene { reserve_percent, ..scene };
        on_virtual_time(async {
            scene.pull(&Puller { items: &[Choice::Repositories], ..Puller::default() }).await.ok();
            let start_ms = scene.now();
            let name = reserve_name(&format!("{HOST}/1000"));
            scene.store.pause(&name, start_ms + 1_800_000, i64::MAX, "kept in reserve").unwrap();
            scene.pull(&Puller::default()).await.unwrap();
            let waited = scene.now() - start_ms >= 1_800_000;
            assert_eq!(waited, !lifts, "reserve {reserve_percent} %");
            let reported = scene.store.pauses(start_ms).unwrap();
            let is_reported = reported.iter().any(PauseRow::is_reserve);
            assert_eq!(
                is_reported, !lifts,
                "a lifted pause is reported by no command: {reported:?}"
            );
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
}

#[test]
fn reserve_pause_beside_a_limit_of_the_source_is_obeyed_without_asking() {
    let scene = Scene { reserve_percent: 0, ..Scene::new(&spec(), 5) };
    on_virtual_time(async {
        let (principal, start_ms) = (format!("{HOST}/1000"), scene.now());
        let store = &scene.store;
        store.pause(&reserve_name(&principal), start_ms + 1_800_000, i64::MAX, "reserve").unwrap();
        store.pause(&principal, start_ms + 60_000, i64::MAX, "secondary limit").unwrap();
        scene.pull(&Puller::default()).await.unwrap();
        assert!(starts(&scene)[0] >= start_ms + 60_000, "{:?}", starts(&scene)[0] - start_ms);
    });
}

#[test]
fn unreachable_host_ends_a_run_soon_unless_something_was_reached() {
    for (answered, at_most_s) in [(0, 10), (1, 900)] {
        let scene = Scene { largest_page: 5, ..Scene::new(&spec(), 7) };
        on_virtual_time(async {
            let asked = AtomicU64::new(0);
            let wire = Misheard::of(&scene, move |_, answer| {
                if asked.fetch_add(1, Ordering::SeqCst) < answered {
                    return Ok(answer);
                }
                Err(Broken { reason: "Connection refused".into(), stage: BrokenStage::Connect })
            });
            let start_ms = scene.now();
            let ended = scene.pull_over(wire, &Puller::default()).await.unwrap_err();
            assert!(ended.to_string().contains("cannot connect to api.github.com"), "{ended}");
            let took_s = (scene.now() - start_ms) / 1_000;
            assert!(took_s <= at_most_s, "{took_s} s");
            assert_eq!(took_s > 60, answered > 0, "patience begins with the first answer");
        });
    }
}

/// When each request was started.
fn starts(scene: &Scene) -> Vec<i64> {
    scene.world(|github| github.requests().entries.iter().map(|entry| entry.at_ms).collect())
}

fn spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 25, ..WorldSpec::small() }
}
