//! Pages that lead nowhere.

use hw_sim::{Circle, WorldSpec};

use super::{HOUR_MS, say};
use crate::harness::words::{ALL, SWEEP};
use crate::harness::{Judge, Puller, Scene, check_comments, check_mirror, on_virtual_time};

const CIRCLES: [Circle; 3] = [Circle::Wrapping, Circle::Empty, Circle::Repeating];

#[test]
fn endless_pages_end_as_nonsense_from_the_source() {
    for circle in CIRCLES {
        for puller in [ALL, Puller { reconcile: true, ..ALL }] {
            let scene = Scene { largest_page: 5, ..Scene::new(&spec(), 1) };
            say(&scene, 40, -5);
            scene.world(|github| github.turn_in_circles(Some(circle)));
            on_virtual_time(async {
                let pulled = scene.pull(&puller).await.unwrap();
                let requests = scene.world(|github| github.requests().total);
                assert!(requests < 200, "{circle:?}: {requests} requests");
                let named = |it: &hw_sync::Failure| it.message.contains("nonsense from the source");
                assert!(pulled.failures.iter().any(named), "{circle:?}: {:?}", pulled.failures);
                scene.world(|github| github.turn_in_circles(None));
                scene.clock.pass(HOUR_MS).await;
                assert_eq!(scene.pull(&ALL).await.unwrap().failures, [], "{circle:?}");
                check_mirror(&scene, Judge::Everything).unwrap();
                check_comments(&scene, Judge::Everything).unwrap();
            });
        }
    }
}

#[test]
fn endless_sweep_ends_as_nonsense_and_removes_nothing() {
    for circle in CIRCLES {
        let scene = Scene { largest_page: 5, ..Scene::new(&spec(), 2) };
        on_virtual_time(async {
            scene.pull(&SWEEP).await.unwrap();
            let before = scene.store.counts().unwrap();
            scene.world(|github| github.turn_in_circles(Some(circle)));
            scene.clock.pass(HOUR_MS).await;
            let pulled = scene.pull(&SWEEP).await.unwrap();
            assert!(!pulled.failures.is_empty(), "{circle:?}");
            assert_eq!(scene.store.counts().unwrap().issues, before.issues, "{circle:?}");
        });
    }
}

fn spec() -> WorldSpec {
    WorldSpec { issues: 30, pull_requests: 20, ..WorldSpec::small() }
}
