//! Single stories, each a promise that went wrong elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hw_rules::coverage::{Coverage, Side};
use hw_rules::freshness::Freshness;
use hw_rules::lane::{Lane, Surface};
use hw_rules::time::Mark;
use hw_rules::walk::Cursor;
use hw_sim::{Fault, FaultRates, WorldSpec};
use hw_store::IngestPage;
use hw_sync::crash::Plug;

use crate::harness::{HOST, Judge, Puller, Scene, check_mirror, on_virtual_time};

const OK: Puller = Puller { owner: "test", reconcile: false, plug: None, window_days: None };
const SWEEP: Puller = Puller { reconcile: true, ..OK };

#[test]
fn an_interrupted_first_walk_leaves_no_hole() {
    let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(30), 1) };
    on_virtual_time(async {
        let crash = Puller { plug: Some(at("ingest: after commit", 4)), ..OK };
        scene.pull(&crash).await.unwrap_err();
        let half = scene.store.counts().unwrap().issues;
        assert!(0 < half && half < 30, "the crash came in the middle: {half}");
        scene.clock.pass(10_000).await;
        scene.world(|github| {
            let newest = *github.world().truth().issues.keys().next_back().unwrap();
            github.world_mut().edit_issue(newest, Some("moved to the top"), None, scene.now());
        });
        let before = scene.world(|github| github.requests().total);
        scene.pull(&OK).await.unwrap();
        let asked = scene.world(|github| github.requests().total) - before;
        check_mirror(&scene, Judge::Everything).unwrap();
        let (introduction, head, rest) = (2, 1, 3);
        assert_eq!(asked, introduction + head + rest, "only the head and what was missing is read");
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
fn a_deleted_issue_goes_with_the_next_sweep_and_stays_gone() {
    let scene = Scene::new(&one_repository(9), 3);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        let gone = issue_ids(&scene)[4];
        scene.world(|github| github.world_mut().delete_issue(gone, scene.now()));
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
        assert_eq!(scene.store.counts().unwrap().issues, 9, "a scan cannot see a deletion");
        assert_eq!(scene.pull(&SWEEP).await.unwrap().issues.removed, 1);
        check_mirror(&scene, Judge::Everything).unwrap();
        scene.pull(&SWEEP).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.counts().unwrap().tombstones, 1);
    });
}

#[test]
fn a_passing_not_found_removes_nothing() {
    let scene = Scene::new(&one_repository(9), 4);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        scene.world(|github| github.arm(Fault::NotFoundOnce, 1));
        let failed = scene.pull(&OK).await;
        let complained = failed.is_err() || !failed.unwrap().errors.is_empty();
        assert!(complained, "a hidden repository is an error, not an empty one");
        assert_eq!(scene.store.counts().unwrap().issues, 9);
        scene.clock.pass(300_000).await;
        scene.pull(&SWEEP).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn the_last_issue_of_a_repository_can_go_too() {
    let scene = Scene::new(&one_repository(3), 5);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        delete_all(&scene);
        scene.clock.pass(300_000).await;
        scene.pull(&SWEEP).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.counts().unwrap().issues, 0);
    });
}

#[test]
fn a_roll_that_waited_until_all_its_siblings_were_gone_is_read_anew() {
    let scene = Scene::new(&one_repository(9), 19);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        let ids = issue_ids(&scene);
        let delete = |id: i64| {
            scene.world(|github| github.world_mut().delete_issue(id, scene.now()));
        };
        delete(ids[4]);
        scene.clock.pass(300_000).await;
        let crash = Puller { plug: Some(at("sweep: looked again", 1)), ..SWEEP };
        scene.pull(&crash).await.unwrap_err();
        ids.iter().filter(|id| **id != ids[1] && **id != ids[4]).for_each(|id| delete(*id));
        scene.clock.pass(300_000).await;
        let swept = scene.pull(&OK).await.unwrap();
        assert!(swept.errors.is_empty(), "{:?}", swept.errors);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn the_brake_stops_a_mass_removal() {
    let scene = Scene::new(&one_repository(40), 6);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        delete_all(&scene);
        scene.clock.pass(300_000).await;
        let stopped = scene.pull(&SWEEP).await.unwrap();
        assert!(stopped.errors[0].1.contains("40 of 40"), "{:?}", stopped.errors);
        assert_eq!(scene.store.counts().unwrap().issues, 40);
        let (store, fetch) = scene.process(None);
        let plan = hw_sync::run::Pull { allow_mass_removal: true, ..scene.plan(&SWEEP) };
        hw_sync::run::pull(&store, &fetch, &plan).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn an_unreadable_issue_is_quarantined_and_read_later() {
    let mut quarantined = 0;
    for seed in 1..=10 {
        let scene = Scene::new(&one_repository(12), seed);
        on_virtual_time(async {
            let mut pull = std::pin::pin!(scene.pull(&OK));
            assert!(!scene.poll_until(&mut pull, 2).await, "the issues are still to come");
            // once in the page, then alone, then again with the quarantined
            scene.world(|github| github.arm(Fault::BadNode, 200));
            pull.await.unwrap();
            let counts = scene.store.counts().unwrap();
            quarantined += counts.quarantined;
            assert!(8 < counts.issues, "seed {seed}: the others are held: {counts:?}");
            scene.world(|github| github.change_weather(FaultRates::none()));
            scene.clock.pass(300_000).await;
            scene.pull(&OK).await.unwrap();
            assert_eq!(scene.store.counts().unwrap().quarantined, 0, "seed {seed}");
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
    assert!(0 < quarantined, "nothing was quarantined, so nothing was proven");
}

#[test]
fn a_page_that_is_too_much_is_halved_and_the_size_remembered() {
    let scene = Scene::new(&one_repository(60), 8);
    on_virtual_time(async {
        let lane = Lane::issues(HOST, repository_id(&scene));
        scene.pull(&OK).await.unwrap();
        assert_eq!(scene.store.lane_state(&lane).unwrap().page_size, 100);
        scene.clock.pass(300_000).await;
        let mut pull = std::pin::pin!(scene.pull(&OK));
        // the viewer and the list come first
        let asked = scene.world(|github| github.requests().total);
        assert!(!scene.poll_until(&mut pull, asked + 2).await, "the issues are still to come");
        scene.world(|github| github.arm(Fault::GatewayTimeout, 3));
        pull.await.unwrap();
        assert_eq!(
            scene.store.lane_state(&lane).unwrap().page_size,
            13,
            "100, 50, 25, 12, and one step up"
        );
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_row_that_cannot_be_served_does_not_stand_before_the_others() {
    let scene = Scene { largest_page: 1, ..Scene::new(&one_repository(6), 16) };
    on_virtual_time(async {
        let mut pull = std::pin::pin!(scene.pull(&OK));
        assert!(!scene.poll_until(&mut pull, 3).await, "the issues are still to come");
        // as often as a page is tried; after that the row is read by its id and time, and then alone
        scene.world(|github| github.arm(Fault::GatewayTimeout, 10));
        let summary = pull.await.unwrap();
        assert!(summary.errors.is_empty(), "{:?}", summary.errors);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn issues_that_were_switched_off_for_a_while_are_all_there_afterwards() {
    let scene = Scene::new(&one_repository(9), 17);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let (repository, id) = (repository_id(&scene), issue_ids(&scene)[2]);
        let mut pull = std::pin::pin!(scene.pull(&SWEEP));
        let asked = scene.world(|github| github.requests().total);
        assert!(!scene.poll_until(&mut pull, asked + 2).await, "the issues are still to come");
        let now = scene.now();
        scene.world(|github| github.world_mut().edit_issue(id, None, Some("while off"), now));
        scene.world(|github| github.world_mut().switch_issues(repository, false, now));
        let swept = pull.await.unwrap();
        assert_eq!(swept.issues.removed, 0, "a feature that is off deletes nothing");
        assert_eq!(scene.store.counts().unwrap().issues, 9);
        scene.clock.pass(600_000).await;
        let now = scene.now();
        scene.world(|github| github.world_mut().switch_issues(repository, true, now));
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
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
        let lease = hw_sync::lease::take(&store, &*scene.clock, "pull", "test").unwrap();
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
        let lease = hw_sync::lease::take(&store, &*scene.clock, "pull", "test").unwrap();
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
fn a_sweep_stays_within_the_window() {
    let scene = Scene::new(&one_repository(60), 13);
    on_virtual_time(async {
        let narrow = Puller { window_days: Some(10), ..OK };
        scene.pull(&narrow).await.unwrap();
        let few = scene.store.counts().unwrap().issues;
        assert!(0 < few && few < 60, "{few} within ten days");
        scene.clock.pass(300_000).await;
        scene.pull(&Puller { reconcile: true, ..narrow }).await.unwrap();
        assert_eq!(scene.store.counts().unwrap().issues, few, "what lies below is not fetched");
    });
}

#[test]
fn a_quarantined_issue_that_is_not_found_once_is_not_forgotten() {
    let scene = Scene { largest_page: 3, ..Scene::new(&one_repository(12), 14) };
    on_virtual_time(async {
        let mut pull = std::pin::pin!(scene.pull(&OK));
        // viewer, list, and three of the four pages
        assert!(!scene.poll_until(&mut pull, 5).await, "the last page is still to come");
        scene.world(|github| github.arm(Fault::BadNode, 200));
        pull.await.unwrap();
        assert!(0 < scene.store.counts().unwrap().quarantined);
        scene.world(|github| github.change_weather(FaultRates::none()));
        scene.clock.pass(300_000).await;
        let asked = scene.world(|github| github.requests().total);
        let mut pull = std::pin::pin!(scene.pull(&OK));
        // viewer, list and head; then the quarantined ones by id
        assert!(!scene.poll_until(&mut pull, asked + 3).await, "the quarantined are still to come");
        assert!(0 < scene.store.counts().unwrap().quarantined);
        scene.world(|github| github.arm(Fault::NotFoundOnce, 20));
        pull.await.unwrap();
        let fired = scene.world(|github| github.fired().get(&Fault::NotFoundOnce).copied());
        assert!(fired.is_some(), "nothing was asked for by id");
        scene.world(|github| github.change_weather(FaultRates::none()));
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.counts().unwrap().quarantined, 0);
    });
}

#[test]
fn an_answer_is_not_called_whole_while_a_walk_is_left_in_the_middle() {
    let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(30), 15) };
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        assert!(freshness(&scene).is_whole());
        scene.clock.pass(300_000).await;
        for id in issue_ids(&scene) {
            let now = scene.now();
            scene.world(|github| github.world_mut().edit_issue(id, None, Some("changed"), now));
        }
        let before = freshness(&scene).fresh_through;
        let crash = Puller { plug: Some(at("ingest: after commit", 3)), ..OK };
        scene.pull(&crash).await.unwrap_err();
        let fresh = freshness(&scene);
        assert_eq!(fresh.fresh_through, before, "half a look makes nothing fresher");
        assert_eq!(fresh.incomplete.len(), 1);
        scene.clock.pass(10_000).await;
        scene.pull(&OK).await.unwrap();
        assert!(freshness(&scene).is_whole() && before < freshness(&scene).fresh_through);
    });
}

#[test]
fn a_renamed_repository_keeps_its_issues_under_the_new_name() {
    let scene = Scene::new(&one_repository(5), 10);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let id = repository_id(&scene);
        scene.world(|github| github.world_mut().rename_repository(id, "renamed", scene.now()));
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.counts().unwrap().repositories, 1);
    });
}

#[test]
fn a_refused_token_stops_the_pull_and_loses_nothing() {
    let scene = Scene::new(&one_repository(5), 11);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.world(|github| github.arm(Fault::Unauthorized, 1));
        let error = scene.pull(&OK).await.unwrap_err();
        assert!(error.to_string().contains("token was refused"), "{error}");
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

fn nothing_but(lane: &Lane, coverage: Coverage) -> IngestPage {
    IngestPage {
        lane: lane.clone(),
        observations: vec![],
        coverage: Some(coverage),
        checked_at_ms: None,
        page_size: 5,
        quarantined: vec![],
        cleared: vec![],
    }
}

fn freshness(scene: &Scene) -> Freshness {
    let lanes = scene.store.lanes().unwrap();
    let issues = lanes.iter().filter(|(lane, _, _)| lane.surface == Surface::Issues);
    Freshness::of(issues.map(|(lane, state, _)| (lane.to_string(), state)))
}

/// Crashes at the n-th passing of a point.
fn at(point: &'static str, nth: u32) -> Plug {
    let passed = AtomicU32::new(0);
    Arc::new(move |reached| reached == point && passed.fetch_add(1, Ordering::SeqCst) + 1 == nth)
}

fn one_repository(issues: usize) -> WorldSpec {
    WorldSpec { repositories: 1, issues, ..WorldSpec::small() }
}

fn repository_id(scene: &Scene) -> i64 {
    scene.world(|github| *github.world().truth().repositories.keys().next().unwrap())
}

fn issue_ids(scene: &Scene) -> Vec<i64> {
    scene.world(|github| github.world().truth().issues.keys().copied().collect())
}

fn delete_all(scene: &Scene) {
    for id in issue_ids(scene) {
        scene.world(|github| github.world_mut().delete_issue(id, scene.now()));
    }
}
