//! Answers that are larger than what is read of one.

use hw_sim::{CommentKind, GitHub, ThreadKind, WorldSpec};
use serde_json::json;

use super::HOUR_MS;
use super::ids::node_ids;
use crate::harness::words::{ALL, one_repository};
use crate::harness::{Judge, Scene, check_comments, check_mirror, on_virtual_time};

/// More than 32 MB.
const LARGE: usize = 33 << 20;

#[test]
fn oversized_thread_is_set_aside_and_the_rest_is_read() {
    let scene = Scene { largest_page: 20, ..Scene::new(&one_repository(30), 1) };
    let node = node_ids(&scene, ThreadKind::Issue)[9].clone();
    is_set_aside(&scene, &node, |scene| scene.store.counts().unwrap().issues, 29);
}

#[test]
fn oversized_comment_is_set_aside_and_the_rest_is_read() {
    for kind in [CommentKind::Conversation, CommentKind::Discussion] {
        let spec = WorldSpec { repositories: 1, comments_per_thread: 4, ..WorldSpec::small() };
        let scene = Scene { largest_page: 10, ..Scene::new(&spec, 2) };
        let said = scene.world(|github| github.world().truth().comments);
        let of_kind = said.values().filter(|it| it.kind == kind && it.parent_id.is_none());
        let node = of_kind.clone().nth(1).unwrap().node_id.clone();
        let all = said.len() as u64;
        is_set_aside(&scene, &node, |scene| scene.store.counts().unwrap().comments, all - 1);
    }
}

/// With one node larger than anybody reads, everything else is read by the first pull, and by the next one nothing
/// is read again.
fn is_set_aside(scene: &Scene, node: &str, held: fn(&Scene) -> u64, others: u64) {
    let body = json!("x".repeat(LARGE));
    scene.world(|github| github.falsify(node, "body", body));
    on_virtual_time(async {
        let pulled = scene.pull(&ALL).await.unwrap();
        assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
        assert_eq!(held(scene), others);
        let waiting = scene.store.quarantined().unwrap();
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        scene.clock.pass(HOUR_MS).await;
        let before = scene.world(|github| github.requests().total);
        let pulled = scene.pull(&ALL).await.unwrap();
        let requests = scene.world(|github| github.requests().total) - before;
        assert!(requests < 40, "{requests} requests");
        assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
        scene.world(GitHub::falsify_nothing);
        for _ in 0..2 {
            scene.clock.pass(HOUR_MS).await;
            scene.pull(&crate::harness::Puller { reconcile: true, ..ALL }).await.unwrap();
        }
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        check_mirror(scene, Judge::Everything).unwrap();
        check_comments(scene, Judge::Everything).unwrap();
    });
}
