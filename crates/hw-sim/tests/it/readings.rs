//! What cannot be read, what changes its name, and what an answer says of itself.

use hw_sim::{Fault, FaultRates, ThreadKind};

use crate::harness::words::{ISSUES, OK, at, freshness, issue_ids, one_repository, repository_id};
use crate::harness::{Judge, Puller, Scene, check_mirror, on_virtual_time};

#[test]
fn an_unreadable_issue_is_quarantined_and_read_later() {
    let mut quarantined = 0;
    for seed in 1..=10 {
        let scene = Scene::new(&one_repository(12), seed);
        on_virtual_time(async {
            let mut pull = std::pin::pin!(scene.pull(&OK));
            assert!(!scene.poll_until(&mut pull, 1).await, "the issues are still to come");
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
fn a_quarantined_issue_that_is_not_found_once_is_not_forgotten() {
    let mut proven = 0;
    for seed in 1..=20 {
        let scene = Scene { largest_page: 3, ..Scene::new(&one_repository(12), seed) };
        on_virtual_time(async {
            let mut pull = std::pin::pin!(scene.pull(&ISSUES));
            // the list, and three of the four pages
            assert!(!scene.poll_until(&mut pull, 4).await, "the last page is still to come");
            scene.world(|github| github.arm(Fault::BadNode, 200));
            pull.await.unwrap();
            scene.world(|github| github.change_weather(FaultRates::none()));
            scene.clock.pass(300_000).await;
            let asked = scene.world(|github| github.requests().total);
            let mut pull = std::pin::pin!(scene.pull(&ISSUES));
            // list and head; then the quarantined ones by id
            if scene.poll_until(&mut pull, asked + 2).await {
                return;
            }
            scene.world(|github| github.arm(Fault::NotFoundOnce, 20));
            pull.await.unwrap();
            let fired = scene.world(|github| github.fired().get(&Fault::NotFoundOnce).copied());
            proven += fired.unwrap_or(0);
            scene.world(|github| github.change_weather(FaultRates::none()));
            scene.clock.pass(300_000).await;
            scene.pull(&OK).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();
            assert_eq!(scene.store.counts().unwrap().quarantined, 0);
        });
    }
    assert!(3 < proven, "only {proven} were asked for by id");
}

#[test]
fn a_quarantined_issue_that_is_deleted_is_forgotten_by_the_next_pull() {
    let mut proven = 0;
    for seed in 1..=10 {
        let scene = Scene::new(&one_repository(12), seed);
        on_virtual_time(async {
            let mut pull = std::pin::pin!(scene.pull(&ISSUES));
            assert!(!scene.poll_until(&mut pull, 1).await, "the issues are still to come");
            scene.world(|github| github.arm(Fault::BadNode, 200));
            pull.await.unwrap();
            scene.world(|github| github.change_weather(FaultRates::none()));
            let (repository, now) = (repository_id(&scene), scene.now());
            let waiting = scene.store.quarantined().unwrap();
            for id in issue_ids(&scene) {
                scene.world(|github| {
                    let node_id = &github.world().truth().threads[&(ThreadKind::Issue, id)].node_id;
                    if waiting.iter().any(|held| held.subject == *node_id) {
                        // a new one for each, so that the listing is as long as before
                        github.world_mut().delete_issue(id, now);
                        github.world_mut().create_issue(repository, "instead", "b", now);
                        proven += 1;
                    }
                });
            }
            scene.clock.pass(300_000).await;
            assert_eq!(scene.pull(&ISSUES).await.unwrap().failures, [], "seed {seed}");
            assert_eq!(scene.store.counts().unwrap().quarantined, 0, "seed {seed}");
            scene.pull(&OK).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
    assert!(0 < proven, "nothing was quarantined by its id, so nothing was proven");
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
