//! Walks: interrupted, moved under, narrowed, widened, too heavy, misled. Nothing is missing afterwards.

use hw_rules::coverage::Side;
use hw_rules::lane::Lane;
use hw_rules::time::Mark;
use hw_rules::walk::Cursor;
use hw_sim::{Fault, ThreadKind, WorldSpec};

use crate::harness::words::{
    ISSUES, OK, at, issue_ids, nothing_but, one_repository, repository_id,
};
use crate::harness::{HOST, Judge, Puller, Scene, check_mirror, on_virtual_time};

#[test]
fn an_interrupted_first_walk_leaves_no_hole() {
    let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(30), 1) };
    on_virtual_time(async {
        let crash = Puller { plug: Some(at("ingest: after commit", 4)), ..ISSUES };
        scene.pull(&crash).await.unwrap_err();
        let half = scene.store.counts().unwrap().issues;
        assert!(0 < half && half < 30, "the crash came in the middle: {half}");
        scene.clock.pass(10_000).await;
        scene.world(|github| {
            let newest = *github.world().truth().ids(ThreadKind::Issue).last().unwrap();
            github.world_mut().edit_issue(newest, Some("moved to the top"), None, scene.now());
        });
        let before = scene.world(|github| github.requests().total);
        scene.pull(&ISSUES).await.unwrap();
        let asked = scene.world(|github| github.requests().total) - before;
        check_mirror(&scene, Judge::Everything).unwrap();
        let (listing, head, rest) = (1, 1, 3);
        assert_eq!(asked, listing + head + rest, "only the head and what was missing is read");
    });
}

#[test]
fn an_edit_in_the_watermarks_own_second_is_not_lost() {
    let scene = Scene::new(&one_repository(6), 2);
    on_virtual_time(async {
        let second = scene.now() / 1_000 * 1_000;
        let ids = issue_ids(&scene);
        scene.world(|github| {
            github.world_mut().edit_issue(ids[0], None, Some("first"), second + 10);
        });
        scene.pull(&OK).await.unwrap();
        // an older issue, in the very second the watermark stands at, after we looked
        scene.world(|github| {
            github.world_mut().edit_issue(ids[3], None, Some("second"), second + 900);
        });
        scene.world(|github| {
            github.world_mut().edit_issue(ids[0], None, Some("again"), second + 950);
        });
        scene.clock.pass(5_000).await;
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn what_becomes_visible_a_minute_late_is_not_lost() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..one_repository(4) };
    for seed in 1..=20 {
        let scene = Scene::new(&spec, seed);
        on_virtual_time(async {
            let repository = repository_id(&scene);
            for n in 0..8 {
                let now = scene.now();
                scene.world(|github| github.world_mut().create_issue(repository, "t", "b", now));
                scene.pull(&OK).await.unwrap();
                scene.clock.pass(7_000 + n * 1_000).await;
            }
            scene.clock.pass(120_000).await;
            scene.pull(&OK).await.unwrap();
            check_mirror(&scene, Judge::Everything)
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        });
    }
}

#[test]
fn an_edit_that_shows_after_a_newer_one_is_not_lost() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..one_repository(4) };
    for seed in 1..=20 {
        let scene = Scene::new(&spec, seed);
        on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            scene.clock.pass(300_000).await;
            for id in &issue_ids(&scene)[..2] {
                let now = scene.now();
                scene.world(|github| github.world_mut().edit_issue(*id, None, Some("edited"), now));
                scene.clock.pass(1_000).await;
            }
            scene.pull(&OK).await.unwrap();
            // neither the newest nor the number of issues changes when the older edit shows
            scene.clock.pass(120_000).await;
            scene.pull(&OK).await.unwrap();
            check_mirror(&scene, Judge::Everything)
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        });
    }
}

#[test]
fn a_page_that_is_too_much_is_halved_and_the_size_remembered() {
    let scene = Scene::new(&one_repository(60), 8);
    on_virtual_time(async {
        let lane = Lane::issues(HOST, repository_id(&scene));
        let mut pull = std::pin::pin!(scene.pull(&ISSUES));
        assert!(!scene.poll_until(&mut pull, 1).await, "the issues are still to come");
        scene.world(|github| github.arm(Fault::GatewayTimeout, 3));
        pull.await.unwrap();
        let size = scene.store.lane_state(&lane).unwrap().page_size;
        assert!((13..25).contains(&size), "100, 50, 25, 12, and a step up with each page: {size}");
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_row_that_cannot_be_served_does_not_stand_before_the_others() {
    let scene = Scene { largest_page: 1, ..Scene::new(&one_repository(6), 16) };
    on_virtual_time(async {
        let mut pull = std::pin::pin!(scene.pull(&OK));
        assert!(!scene.poll_until(&mut pull, 2).await, "the issues are still to come");
        // as often as a page is tried; after that the row is read by its id and time, and then alone
        scene.world(|github| github.arm(Fault::GatewayTimeout, 10));
        let summary = pull.await.unwrap();
        assert!(summary.failures.is_empty(), "{:?}", summary.failures);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_watermark_from_the_future_is_taken_back() {
    let scene = Scene::new(&one_repository(6), 20);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let lane = Lane::issues(HOST, repository_id(&scene));
        let (store, fetch) = scene.process(None);
        let lease = hw_sync::lease::take(&store, &*scene.clock, "pull", "test").await.unwrap();
        let mut coverage = store.lane_state(&lane).unwrap().coverage;
        coverage.through = Some(Mark(scene.now() + 86_400_000));
        store.ingest(&lease, &nothing_but(&lane, coverage)).unwrap();
        store.release_lease(&lease).unwrap();
        scene.clock.pass(10_000).await;
        let (id, now) = (issue_ids(&scene)[0], scene.now());
        scene.world(|github| {
            github.world_mut().edit_issue(id, None, Some("seen all the same"), now);
        });
        hw_sync::run::pull(&store, &fetch, &scene.plan(&OK)).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        let coverage = store.lane_state(&lane).unwrap().coverage;
        assert!(coverage.is_complete() && coverage.through <= Some(Mark(scene.now())));
    });
}

#[test]
fn a_place_that_the_source_forgot_is_looked_for_from_the_top() {
    let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(30), 18) };
    on_virtual_time(async {
        let crash = Puller { plug: Some(at("ingest: after commit", 4)), ..OK };
        scene.pull(&crash).await.unwrap_err();
        scene.clock.pass(10_000).await;
        let lane = Lane::issues(HOST, repository_id(&scene));
        let (store, fetch) = scene.process(None);
        let lease = hw_sync::lease::take(&store, &*scene.clock, "pull", "test").await.unwrap();
        let mut coverage = store.lane_state(&lane).unwrap().coverage;
        coverage.walk.as_mut().unwrap().cursor = Some(Cursor("bm9uc2Vuc2U=".into()));
        store.ingest(&lease, &nothing_but(&lane, coverage)).unwrap();
        store.release_lease(&lease).unwrap();
        hw_sync::run::pull(&store, &fetch, &scene.plan(&OK)).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn the_window_is_held_and_a_wider_one_shows_as_a_gap_until_it_is_filled() {
    let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(60), 9) };
    on_virtual_time(async {
        let lane = Lane::issues(HOST, repository_id(&scene));
        let narrow = Puller { window_days: Some(10), ..OK };
        scene.pull(&narrow).await.unwrap();
        let few = scene.store.counts().unwrap().issues;
        assert!(0 < few && few < 60, "{few} within ten days");
        let crash = Puller { plug: Some(at("ingest: after commit", 4)), ..OK };
        scene.pull(&crash).await.unwrap_err();
        let coverage = scene.store.lane_state(&lane).unwrap().coverage;
        assert_eq!(coverage.gap.map(|gap| gap.side), Some(Side::Below));
        scene.clock.pass(10_000).await;
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.lane_state(&lane).unwrap().coverage.gap, None);
    });
}

#[test]
fn a_window_that_narrows_while_a_walk_is_under_way_leaves_no_hole_in_what_is_claimed() {
    let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(60), 12) };
    on_virtual_time(async {
        let crash = Puller { plug: Some(at("ingest: after commit", 3)), ..OK };
        scene.pull(&crash).await.unwrap_err();
        scene.clock.pass(10_000).await;
        // the walk was begun without a window, so it claims all the way down
        scene.pull(&Puller { window_days: Some(5), ..OK }).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_window_does_not_widen_when_the_sources_clocks_disagree() {
    let spec = WorldSpec { jitter: true, ..one_repository(60) };
    for seed in 1..=10 {
        let scene = Scene::new(&spec, seed);
        on_virtual_time(async {
            let narrow = Puller { window_days: Some(10), ..OK };
            scene.pull(&narrow).await.unwrap();
            let asked = scene.pull(&narrow).await.unwrap().cost.requests;
            assert_eq!(asked, 1, "seed {seed}: nothing moved");
        });
    }
}
