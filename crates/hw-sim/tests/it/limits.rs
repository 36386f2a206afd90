//! Limits: whoever is limited stops, and so does everybody else who speaks for the same user.

use std::sync::Arc;

use hw_sim::{Fault, Limits, WorldSpec};

use crate::harness::{Judge, Puller, Scene, check_mirror, on_virtual_time};

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

#[test]
fn the_hours_points_are_waited_for_and_the_pull_completes() {
    let limits = Limits { graphql_points_per_hour: 10, ..Limits::default() };
    let scene = Scene { largest_page: 2, ..Scene::new(&WorldSpec { limits, ..spec() }, 6) };
    on_virtual_time(async {
        let start = scene.clock.now();
        let summary = scene.pull(&Puller::default()).await.unwrap();
        assert!(summary.errors.is_empty());
        assert!(3_600_000 < scene.clock.now() - start, "an hour passed");
        assert_eq!(scene.world(|g| g.started_while_limited()), 0);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

fn spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 25, ..WorldSpec::small() }
}
