//! Sweeps: what is gone goes, and nothing else does.

use hw_rules::item::{Key, Kind};
use hw_rules::lane::Choice;
use hw_sim::{Fault, FaultRates};

use crate::harness::words::{
    ISSUES, OK, SWEEP, at, delete_all, issue_ids, one_repository, repository_id,
};
use crate::harness::{HOST, Judge, Puller, Scene, check_mirror, on_virtual_time};

#[test]
fn a_listing_that_became_shorter_is_swept_by_the_same_pull() {
    let scene = Scene::new(&one_repository(9), 3);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        let gone = issue_ids(&scene)[4];
        scene.world(|github| github.world_mut().delete_issue(gone, scene.now()));
        scene.clock.pass(300_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().items[&Choice::Issues].removed, 1);
        check_mirror(&scene, Judge::Everything).unwrap();
        scene.pull(&SWEEP).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.counts().unwrap().tombstones, 1);
    });
}

#[test]
fn that_a_listing_became_shorter_survives_a_crash() {
    for nth in 1..=6 {
        let scene = Scene::new(&one_repository(9), 3);
        on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            scene.clock.pass(300_000).await;
            let gone = issue_ids(&scene)[4];
            scene.world(|github| github.world_mut().delete_issue(gone, scene.now()));
            scene.clock.pass(300_000).await;
            let crash = Puller { plug: Some(at("fetch: answered", nth)), ..OK };
            drop(scene.pull(&crash).await);
            scene.clock.pass(10_000).await;
            scene.pull(&OK).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
}

#[test]
fn a_listing_that_becomes_shorter_again_while_a_sweep_waits_is_read_anew() {
    let scene = Scene { largest_page: 3, ..Scene::new(&one_repository(9), 3) };
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        let ids = issue_ids(&scene);
        let delete = |id| scene.world(|github| github.world_mut().delete_issue(id, scene.now()));
        delete(ids[4]);
        scene.clock.pass(300_000).await;
        let crash = Puller { plug: Some(at("stage: after commit", 2)), ..OK };
        scene.pull(&crash).await.unwrap_err();
        // both are in the part of the roll that is staged
        delete(ids[0]);
        delete(ids[1]);
        scene.clock.pass(300_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_deletion_after_an_interrupted_first_walk_is_noticed() {
    let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(30), 1) };
    on_virtual_time(async {
        let crash = Puller { plug: Some(at("ingest: after commit", 4)), ..ISSUES };
        scene.pull(&crash).await.unwrap_err();
        scene.clock.pass(300_000).await;
        let is_held = |id: &i64| {
            let key = Key { kind: Kind::Issue, id: *id };
            scene.store.cell(HOST, key).unwrap().is_present()
        };
        let gone = issue_ids(&scene).into_iter().find(is_held).unwrap();
        scene.world(|github| github.world_mut().delete_issue(gone, scene.now()));
        scene.clock.pass(300_000).await;
        assert_eq!(scene.pull(&ISSUES).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn what_is_deleted_within_a_minute_of_its_change_goes_with_a_later_pull() {
    let scene = Scene::new(&one_repository(9), 3);
    on_virtual_time(async {
        let (repository, now) = (repository_id(&scene), scene.now());
        let id =
            scene.world(|github| github.world_mut().create_issue(repository, "spam", "b", now));
        scene.clock.pass(5_000).await;
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(5_000).await;
        scene.world(|github| github.world_mut().delete_issue(id, scene.now()));
        for _ in 0..2 {
            scene.clock.pass(5_000).await;
            assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        }
        assert_eq!(scene.store.counts().unwrap().issues, 10, "lists may lag by a minute");
        scene.clock.pass(300_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        scene.clock.pass(300_000).await;
        let asked = scene.world(|github| github.requests().total);
        scene.pull(&OK).await.unwrap();
        assert_eq!(scene.world(|github| github.requests().total) - asked, 1, "nothing is due");
    });
}

#[test]
fn a_deletion_that_a_creation_hides_goes_with_the_next_sweep_and_stays_gone() {
    let scene = Scene::new(&one_repository(9), 3);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        let (repository, gone, now) = (repository_id(&scene), issue_ids(&scene)[4], scene.now());
        scene.world(|github| github.world_mut().delete_issue(gone, now));
        scene.world(|github| github.world_mut().create_issue(repository, "new", "b", now));
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
        assert_eq!(scene.store.counts().unwrap().issues, 10, "as many as before are listed");
        assert_eq!(scene.pull(&SWEEP).await.unwrap().items[&Choice::Issues].removed, 1);
        check_mirror(&scene, Judge::Everything).unwrap();
        scene.pull(&SWEEP).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_passing_not_found_removes_nothing() {
    let scene = Scene::new(&one_repository(9), 4);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        scene.world(|github| github.arm(Fault::NotFoundOnce, 3));
        drop(scene.pull(&SWEEP).await);
        assert!(scene.world(|github| github.fired().contains_key(&Fault::NotFoundOnce)));
        assert_eq!(scene.store.counts().unwrap().issues, 9);
        scene.world(|github| github.change_weather(FaultRates::none()));
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
        assert!(swept.failures.is_empty(), "{:?}", swept.failures);
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
        assert!(stopped.failures[0].message.contains("40 of 40"), "{:?}", stopped.failures);
        assert_eq!(scene.store.counts().unwrap().issues, 40);
        let (store, fetch) = scene.process(None);
        let plan = hw_sync::run::Pull { allow_mass_removal: true, ..scene.plan(&SWEEP) };
        hw_sync::run::pull(&store, &fetch, &plan).await.unwrap();
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
        assert!(!scene.poll_until(&mut pull, asked + 1).await, "the issues are still to come");
        let now = scene.now();
        scene.world(|github| github.world_mut().edit_issue(id, None, Some("while off"), now));
        scene.world(|github| github.world_mut().switch_issues(repository, false, now));
        let swept = pull.await.unwrap();
        assert_eq!(
            swept.items[&Choice::Issues].removed,
            0,
            "a feature that is off deletes nothing"
        );
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
