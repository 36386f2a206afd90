//! Repositories that go, seem to go, come back, and give their names away.

use hw_rules::lane::Choice;
use hw_sim::{Fault, WorldSpec};
use hw_sync::Summary;

use crate::harness::words::{OK, at, one_repository, repository_id};
use crate::harness::{HOST, Judge, Puller, Scene, check_mirror, on_virtual_time};

#[test]
fn a_repository_that_is_gone_for_good_is_removed_by_the_same_pull() {
    leaves(|scene, id| {
        scene.world(|github| github.world_mut().delete_repository(id, scene.now()));
    });
}

#[test]
fn so_is_one_that_was_archived_or_that_the_token_may_no_longer_see() {
    leaves(|scene, id| {
        scene.world(|github| github.world_mut().archive_repository(id, scene.now()));
    });
    leaves(|scene, id| {
        scene.world(|github| github.world_mut().hide_repository(id, scene.now()));
    });
}

/// Whatever happens to one repository, the next pull removes it with all its items, and it comes back
/// whole when it returns.
fn leaves(happens: impl Fn(&Scene, i64)) {
    let scene = Scene::new(&spec(), 1);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let (before, id) = (scene.store.counts().unwrap(), ids(&scene)[1]);
        happens(&scene, id);
        scene.clock.pass(300_000).await;
        let pulled = scene.pull(&OK).await.unwrap();
        assert_eq!(pulled.failures, []);
        assert_eq!(pulled.items[&Choice::Repositories].removed, 1);
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.counts().unwrap().issues, before.issues - 12);

        scene.world(|github| {
            let now = scene.now();
            github.world_mut().show_repository(id, now);
            github.world_mut().unarchive_repository(id, now);
        });
        scene.clock.pass(300_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn one_that_goes_while_it_is_read_is_removed_by_the_same_pull() {
    let scene = Scene { largest_page: 5, ..Scene::new(&spec(), 2) };
    on_virtual_time(async {
        let gone = ids(&scene)[0];
        let mut pull = std::pin::pin!(scene.pull(&OK));
        assert!(!scene.poll_until(&mut pull, 2).await, "its pages are still to come");
        let now = scene.now();
        scene.world(|github| github.world_mut().delete_repository(gone, now));
        let pulled = pull.await.unwrap();
        assert_eq!(pulled.failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.repositories(HOST).unwrap().len(), 4);
    });
}

#[test]
fn a_repository_that_answers_not_found_once_keeps_its_data() {
    let mut fired = 0;
    for after in 1..12 {
        let scene = Scene { largest_page: 5, ..Scene::new(&spec(), 3) };
        on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            let before = scene.store.counts().unwrap();
            for id in scene.world(|g| g.world().truth().ids(hw_sim::ThreadKind::Issue)) {
                let now = scene.now();
                scene.world(|g| g.world_mut().edit_issue(id, None, Some("edited"), now));
            }
            scene.clock.pass(300_000).await;
            let asked = scene.world(|github| github.requests().total);
            let mut pull = std::pin::pin!(scene.pull(&OK));
            if scene.poll_until(&mut pull, asked + after).await {
                return;
            }
            scene.world(|github| github.arm(Fault::NotFoundOnce, 1));
            let pulled = pull.await.unwrap();
            assert_eq!(removed(&pulled), 0, "after {after}");
            assert_eq!(scene.store.counts().unwrap(), before, "after {after}");
            assert_eq!(pulled.failures, [], "after {after}: it was read when it was there again");
            check_mirror(&scene, Judge::Everything).unwrap();
            fired += scene.world(|g| g.fired().get(&Fault::NotFoundOnce).copied().unwrap_or(0));
        });
    }
    assert!(3 < fired, "{fired} of them happened");
}

#[test]
fn all_repositories_not_found_at_once_trip_the_brake_and_nothing_is_removed() {
    let scene = Scene::new(&spec(), 4);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let before = scene.store.counts().unwrap();
        for id in scene.world(|g| g.world().truth().ids(hw_sim::ThreadKind::Issue)) {
            let now = scene.now();
            scene.world(|g| g.world_mut().edit_issue(id, None, Some("edited"), now));
        }
        scene.clock.pass(300_000).await;
        scene.world(|github| github.hide_all(true));
        let braked = scene.pull(&OK).await.unwrap();
        let told = braked.failures.iter().any(|it| it.message.contains("5 of 5 repositories"));
        assert!(told, "{:?}", braked.failures);
        assert_eq!(scene.store.counts().unwrap(), before);
        scene.world(|github| github.hide_all(false));
        scene.clock.pass(300_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn the_only_repository_that_seems_gone_waits_for_a_persons_word() {
    let scene = Scene::new(&one_repository(9), 9);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let (id, now) = (repository_id(&scene), scene.now());
        scene.world(|github| github.world_mut().delete_repository(id, now));
        scene.clock.pass(300_000).await;
        let doubted = scene.pull(&OK).await.unwrap();
        assert!(doubted.failures[0].message.contains("nobody vouched"), "{doubted:?}");
        assert!(doubted.failures[0].message.ends_with(&doubted.failures[0].items.names[0]));
        assert_eq!(scene.store.counts().unwrap().issues, 9);
        scene.pull(&Puller { allow_mass_removal: true, ..OK }).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn two_that_are_really_gone_wait_for_a_persons_word() {
    let scene = Scene::new(&spec(), 5);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let before = scene.store.counts().unwrap();
        for id in &ids(&scene)[1..3] {
            scene.world(|github| github.world_mut().delete_repository(*id, scene.now()));
        }
        scene.clock.pass(300_000).await;
        let braked = scene.pull(&OK).await.unwrap();
        assert!(braked.failures[0].message.contains("2 of 5 repositories"), "{braked:?}");
        assert_eq!(scene.store.counts().unwrap(), before);
        let allowed = Puller { allow_mass_removal: true, ..OK };
        assert_eq!(removed(&scene.pull(&allowed).await.unwrap()), 2);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_crash_before_the_removal_loses_nothing_and_the_next_pull_removes() {
    for point in ["gone: looked again", "remove repositories: before commit"] {
        let scene = Scene::new(&spec(), 6);
        on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            let (id, now) = (ids(&scene)[1], scene.now());
            scene.world(|github| github.world_mut().delete_repository(id, now));
            scene.clock.pass(300_000).await;
            let crash = Puller { plug: Some(at(point, 1)), ..OK };
            scene.pull(&crash).await.unwrap_err();
            scene.clock.pass(10_000).await;
            scene.pull(&OK).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
}

#[test]
fn a_name_that_another_repository_takes_over_mixes_nothing() {
    let scene = Scene { largest_page: 5, ..Scene::new(&spec(), 7) };
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let (old, now) = (ids(&scene)[0], scene.now());
        let name = scene.world(|g| g.world().truth().repositories[&old].name.clone());
        let new = scene.world(|github| {
            let world = github.world_mut();
            world.rename_repository(old, "moved-away", now);
            let new = world.create_repository(&name, now + 1_000);
            for n in 0..7 {
                world.create_issue(new, &format!("of the new one {n}"), "b", now + 2_000);
            }
            new
        });
        scene.clock.pass(300_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        let held = scene.store.repositories(HOST).unwrap();
        let name_of = |id: i64| held.iter().find(|it| it.id == id).unwrap().name.clone();
        assert_eq!((name_of(old), name_of(new)), ("moved-away".to_owned(), name));
    });
}

#[test]
fn a_first_page_that_failed_among_others_is_read_alone() {
    let spec = WorldSpec { repositories: 4, issues: 5, ..WorldSpec::small() };
    let scene = Scene::new(&spec, 9);
    on_virtual_time(async {
        let ids: Vec<i64> =
            scene.world(|github| github.world().truth().repositories.keys().copied().collect());
        let mut pull = std::pin::pin!(scene.pull(&OK));
        assert!(!scene.poll_until(&mut pull, 1).await, "the first pages are still to come");
        scene.world(|github| github.world_mut().hide_repository(ids[1], scene.now()));
        assert!(!scene.poll_until(&mut pull, 2).await, "they share a request");
        scene.world(|github| github.world_mut().show_repository(ids[1], scene.now()));
        assert_eq!(pull.await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_failing_repository_never_stops_the_others() {
    let scene = Scene::new(&spec(), 8);
    on_virtual_time(async {
        let bad = ids(&scene)[2];
        let (store, fetch) = scene.process(None);
        let broken = scene.world(|g| g.world().truth().repositories[&bad].node_id.clone());
        scene.world(|github| github.break_node(Some(&broken)));
        let pulled = hw_sync::run::pull(&store, &fetch, &scene.plan(&OK)).await.unwrap();
        assert!(!pulled.failures.is_empty(), "it is named");
        let name = scene.world(|g| g.world().truth().repositories[&bad].name.clone());
        assert!(pulled.failures.iter().all(|it| it.scope.contains(&name)), "{pulled:?}");
        let held = scene.store.counts().unwrap();
        assert_eq!((held.repositories, held.issues), (5, 4 * 12), "the others are complete");
        scene.world(|github| github.break_node(None));
        scene.clock.pass(3_600_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

fn removed(summary: &Summary) -> u64 {
    summary.total().removed
}

fn ids(scene: &Scene) -> Vec<i64> {
    scene.world(|github| github.world().truth().repositories.keys().copied().collect())
}

fn spec() -> WorldSpec {
    WorldSpec {
        repositories: 5,
        issues: 12,
        pull_requests: 6,
        discussions: 3,
        plain: true,
        ..WorldSpec::small()
    }
}
