//! Items that no source can have: impossible ids, names and addresses.

use hw_sim::{CommentKind, GitHub, ThreadKind, WorldSpec};
use serde_json::{Value, json};

use super::HOUR_MS;
use crate::harness::words::{ALL, issue_ids, one_repository};
use crate::harness::{Judge, Puller, Scene, check_comments, check_mirror, on_virtual_time};

#[test]
fn impossible_thread_is_set_aside_and_named() {
    let long = "x".repeat(10_000_000);
    let lies: [(&str, Value); 8] = [
        ("fullDatabaseId", json!("0")),
        ("fullDatabaseId", json!("-5")),
        ("number", json!(-1)),
        ("url", json!("javascript:alert(1)")),
        ("url", json!(format!("https://github.com/{long}"))),
        ("title", json!(long)),
        ("labels", json!({ "nodes": [{ "name": long }] })),
        ("author", json!({ "login": "an\u{1b}[31mn", "databaseId": 1 })),
    ];
    for (field, value) in lies {
        let scene = Scene::new(&one_repository(9), 3);
        let node = node_ids(&scene, ThreadKind::Issue)[4].clone();
        scene.world(|github| github.falsify(&node, field, value));
        on_virtual_time(async {
            let pulled = scene.pull(&ALL).await.unwrap();
            assert_eq!(pulled.failures.len(), 1, "{field}: {:?}", pulled.failures);
            assert_eq!(scene.store.counts().unwrap().issues, 8, "{field}");
            let waiting = scene.store.quarantined().unwrap();
            assert_eq!(waiting.len(), 1, "{field}: {waiting:?}");
            assert_eq!(waiting[0].subject, node);
            assert!(waiting[0].reason.starts_with("impossible: its "), "{}", waiting[0].reason);
            assert!(waiting[0].raw.len() <= 65_536, "{field}: {}", waiting[0].raw.len());
            is_well_after_the_lie(&scene).await;
        });
    }
}

#[test]
fn impossible_comment_is_set_aside_and_named() {
    for kind in [CommentKind::Conversation, CommentKind::Review, CommentKind::Discussion] {
        for id in [0, -7] {
            let spec = WorldSpec { comments_per_thread: 3, ..WorldSpec::small() };
            let scene = Scene::new(&spec, 4);
            let said = scene.world(|github| github.world().truth().comments);
            let Some(node) = said.values().find(|it| it.kind == kind).map(|it| &it.node_id) else {
                panic!("the world has no {kind:?}")
            };
            scene.world(|github| github.renumber(node, id));
            on_virtual_time(async {
                let pulled = scene.pull(&ALL).await.unwrap();
                assert_eq!(pulled.failures.len(), 1, "{kind:?}: {:?}", pulled.failures);
                let waiting = scene.store.quarantined().unwrap();
                let named: Vec<_> = waiting.iter().map(|it| &it.subject).collect();
                assert_eq!(named, [node]);
                is_well_after_the_lie(&scene).await;
            });
        }
    }
}

#[test]
fn one_id_for_many_nodes_collapses_nothing() {
    for largest_page in [4, 100] {
        let scene = Scene { largest_page, ..Scene::new(&one_repository(30), 5) };
        let nodes = node_ids(&scene, ThreadKind::Issue);
        let id = issue_ids(&scene)[7];
        scene.world(|github| nodes.iter().for_each(|node| github.renumber(node, id)));
        on_virtual_time(async {
            for _ in 0..2 {
                let pulled = scene.pull(&ALL).await.unwrap();
                assert!(!pulled.failures.is_empty(), "it is not complete");
                let held = scene.store.counts().unwrap();
                assert_eq!((held.issues, held.quarantined), (0, 30), "pages of {largest_page}");
                scene.clock.pass(HOUR_MS).await;
            }
            is_well_after_the_lie(&scene).await;
        });
    }
}

#[test]
fn id_of_another_node_replaces_nothing() {
    let scene = Scene { largest_page: 4, ..Scene::new(&one_repository(12), 6) };
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(HOUR_MS).await;
        let (nodes, ids) = (node_ids(&scene, ThreadKind::Issue), issue_ids(&scene));
        let now = scene.now();
        scene.world(|github| {
            github.world_mut().edit_issue(ids[3], Some("edited"), None, now);
            github.renumber(&nodes[3], ids[9]);
        });
        scene.clock.pass(HOUR_MS).await;
        let pulled = scene.pull(&ALL).await.unwrap();
        assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
        let waiting = scene.store.quarantined().unwrap();
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0].subject, nodes[3]);
        is_well_after_the_lie(&scene).await;
    });
}

#[test]
fn ghost_repository_is_named_and_fails_a_pull_only_if_it_was_known() {
    let long = "n".repeat(10_000_000);
    let lies: [(&str, Value); 6] = [
        ("databaseId", json!(-7)),
        ("databaseId", json!(0)),
        ("name", json!("..")),
        ("name", json!(long)),
        ("url", json!("javascript:alert(1)")),
        ("owner", json!({ "login": "acme/../.." })),
    ];
    for (field, value) in lies {
        for is_known in [false, true] {
            let scene = Scene::new(&WorldSpec { repositories: 3, ..WorldSpec::small() }, 7);
            let truth = scene.world(|github| github.world().truth());
            let ghost = truth.repositories.values().nth(1).unwrap();
            let (ghost, name) = (ghost.node_id.clone(), ghost.name.clone());
            on_virtual_time(async {
                if is_known {
                    scene.pull(&ALL).await.unwrap();
                    scene.clock.pass(HOUR_MS).await;
                }
                scene.world(|github| github.falsify(&ghost, field, value.clone()));
                for puller in [ALL, ALL, Puller { force: true, ..ALL }] {
                    let pulled = scene.pull(&puller).await.unwrap();
                    let failed: Vec<_> = pulled.failures.iter().map(|it| &it.scope).collect();
                    let known = [&format!("acme/{name}")];
                    let expected = if is_known { &known[..] } else { &[] };
                    assert_eq!(failed, expected, "{field}: {:?}", pulled.failures);
                    let waiting = scene.store.quarantined().unwrap();
                    let is_named = waiting
                        .iter()
                        .any(|it| it.subject == ghost && it.reason.starts_with("impossible: its "));
                    assert!(is_named, "{field}: {waiting:?}");
                    scene.clock.pass(HOUR_MS).await;
                }
                is_well_after_the_lie(&scene).await;
            });
        }
    }
}

#[test]
fn list_that_shows_two_nodes_under_one_id_is_not_compared_with_anything() {
    let scene = Scene { largest_page: 4, ..Scene::new(&one_repository(12), 6) };
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(HOUR_MS).await;
        let (node, other) = (node_ids(&scene, ThreadKind::Issue)[3].clone(), issue_ids(&scene)[9]);
        scene.world(|github| github.renumber(&node, other));
        let swept = scene.pull(&Puller { reconcile: true, ..ALL }).await.unwrap();
        let message = &swept.failures[0].message;
        assert!(message.contains("several items under one id"), "{:?}", swept.failures);
        assert_eq!(scene.store.counts().unwrap().issues, 12, "nothing is taken for gone");
        is_well_after_the_lie(&scene).await;
    });
}

/// Once the source tells the truth again, one pull finds everything that was set aside.
async fn is_well_after_the_lie(scene: &Scene) {
    assert!(scene.world(|github| github.lies_told()) > 0, "no lie was told");
    scene.world(GitHub::falsify_nothing);
    for _ in 0..3 {
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&Puller { reconcile: true, ..ALL }).await.unwrap();
    }
    assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
    assert_eq!(scene.store.quarantined().unwrap(), []);
    check_mirror(scene, Judge::Everything).unwrap();
    check_comments(scene, Judge::Everything).unwrap();
}

pub(super) fn node_ids(scene: &Scene, kind: ThreadKind) -> Vec<String> {
    let truth = scene.world(|github| github.world().truth());
    truth.of_kind(kind).map(|thread| thread.node_id.clone()).collect()
}
