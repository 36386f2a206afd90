//! What a pull costs: pages that must be read, and one request for every 33 repositories.

use hw_sim::{ThreadKind, WorldSpec};

use crate::harness::words::OK;
use crate::harness::{Judge, Scene, check_mirror, on_virtual_time};

#[test]
fn a_cold_pull_reads_each_page_once() {
    let scene = Scene::new(&organization(50, (200, 200, 20)), 1);
    on_virtual_time(async {
        let asked = pull(&scene).await;
        check_mirror(&scene, Judge::Everything).unwrap();
        let pages = 50 * (2 + 2 + 1);
        assert!(asked <= pages * 105 / 100 + listing(50) + 3, "{asked} requests");
    });
}

#[test]
fn a_pull_of_settled_repositories_costs_the_listing() {
    for count in [50, 1_000] {
        let scene = Scene::new(&organization(count, (3, 2, 1)), 2);
        on_virtual_time(async {
            pull(&scene).await;
            check_mirror(&scene, Judge::Everything).unwrap();
            scene.clock.pass(600_000).await;
            let unsettled = pull(&scene).await;
            assert!(unsettled <= listing(count) + 3, "{unsettled} requests");
            let (asked, points) = (pull(&scene).await, points(&scene));
            assert!(asked <= listing(count) + 3, "{asked} requests for {count} repositories");
            assert_eq!(pull(&scene).await, asked);
            assert_eq!(crate::costs::points(&scene) - points, asked, "a point each");
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
}

#[test]
fn twenty_edits_in_twenty_repositories_cost_at_most_twenty_requests() {
    let scene = Scene::new(&organization(50, (200, 20, 5)), 3);
    on_virtual_time(async {
        pull(&scene).await;
        scene.clock.pass(600_000).await;
        pull(&scene).await;
        let issues = scene.world(|github| github.world().truth().ids(ThreadKind::Issue));
        let edited: Vec<i64> = issues.iter().copied().step_by(500).take(20).collect();
        for id in &edited {
            let now = scene.now();
            scene.world(|github| github.world_mut().edit_issue(*id, None, Some("edited"), now));
            scene.clock.pass(1_000).await;
        }
        scene.clock.pass(120_000).await;
        let asked = pull(&scene).await;
        check_mirror(&scene, Judge::Everything).unwrap();
        assert!(asked <= listing(50) + 3 + 20, "{asked} requests");
    });
}

#[test]
fn a_thousand_small_repositories_share_two_hundred_requests() {
    let scene = Scene::new(&organization(1_000, (5, 5, 1)), 4);
    on_virtual_time(async {
        let asked = pull(&scene).await;
        check_mirror(&scene, Judge::Everything).unwrap();
        assert!(asked <= 200, "{asked} requests");
    });
}

fn organization(
    repositories: usize,
    (issues, pull_requests, discussions): (usize, usize, usize),
) -> WorldSpec {
    WorldSpec {
        repositories,
        issues,
        pull_requests,
        discussions,
        comments_per_thread: 0,
        plain: true,
        ..WorldSpec::small()
    }
}

/// Pulls, and tells how many requests that took.
async fn pull(scene: &Scene) -> u64 {
    let before = scene.world(|github| github.requests().total);
    let summary = scene.pull(&OK).await.unwrap();
    assert_eq!(summary.failures, []);
    let asked = scene.world(|github| github.requests().total) - before;
    assert_eq!(summary.cost.requests, asked);
    asked
}

fn points(scene: &Scene) -> u64 {
    scene.world(|github| github.requests().points)
}

fn listing(repositories: usize) -> u64 {
    repositories.div_ceil(33) as u64
}
