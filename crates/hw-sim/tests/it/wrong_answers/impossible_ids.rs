//! Items with impossible ids, names or URLs.

use hw_sim::{CommentKind, SimulatedGitHub, ThreadKind, WorldSpec};
use serde_json::{Value, json};

use super::HOUR_MS;
use crate::harness::shortcuts::{FULL_PULL, issue_ids, one_repository};
use crate::harness::{
    CheckLevel, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
};

#[test]
fn impossible_thread_is_quarantined_and_named() {
    let long = "x".repeat(10_000_000);
    let overrides: [(&str, Value); 8] = [
        ("fullDatabaseId", json!("0")),
        ("fullDatabaseId", json!("-5")),
        ("number", json!(-1)),
        ("url", json!("javascript:alert(1)")),
        ("url", json!(format!("https://github.com/{long}"))),
        ("title", json!(long)),
        ("labels", json!({ "nodes": [{ "name": long }] })),
        ("author", json!({ "login": "an\u{1b}[31mn", "databaseId": 1 })),
    ];
    for (field, value) in overrides {
        let fixture = SimFixture::new(&one_repository(9), 3);
        let node = node_ids(&fixture, ThreadKind::Issue)[4].clone();
        fixture.with_github(|github| github.override_field(&node, field, value));
        on_virtual_time(async {
            let pulled = fixture.pull(&FULL_PULL).await.unwrap();
            assert_eq!(pulled.failures.len(), 1, "{field}: {:?}", pulled.failures);
            assert_eq!(fixture.store.object_counts().unwrap().issues, 8, "{field}");
            let waiting = fixture.store.quarantined_items().unwrap();
            assert_eq!(waiting.len(), 1, "{field}: {waiting:?}");
            assert_eq!(waiting[0].subject.node_id(), Some(node.as_str()));
            assert!(waiting[0].reason.starts_with("impossible: its "), "{}", waiting[0].reason);
            assert!(waiting[0].raw.len() <= 65_536, "{field}: {}", waiting[0].raw.len());
            check_recovery(&fixture).await;
        });
    }
}

#[test]
fn impossible_comment_is_quarantined_and_named() {
    for kind in [CommentKind::Conversation, CommentKind::Review, CommentKind::Discussion] {
        for id in [0, -7] {
            let spec = WorldSpec { comments_per_thread: 3, ..WorldSpec::small() };
            let fixture = SimFixture::new(&spec, 4);
            let comments = fixture.with_github(|github| github.world().truth().comments);
            let Some(node) =
                comments.values().find(|comment| comment.kind == kind).map(|found| &found.node_id)
            else {
                panic!("the world has no {kind:?}")
            };
            fixture.with_github(|github| github.override_id(node, id));
            on_virtual_time(async {
                let pulled = fixture.pull(&FULL_PULL).await.unwrap();
                assert_eq!(pulled.failures.len(), 1, "{kind:?}: {:?}", pulled.failures);
                let waiting = fixture.store.quarantined_items().unwrap();
                let named: Vec<_> = waiting.iter().map(|item| item.subject.node_id()).collect();
                assert_eq!(named, [Some(node.as_str())]);
                check_recovery(&fixture).await;
            });
        }
    }
}

#[test]
fn id_shared_by_many_nodes_collapses_nothing() {
    for largest_page in [4, 100] {
        let fixture = SimFixture { largest_page, ..SimFixture::new(&one_repository(30), 5) };
        let nodes = node_ids(&fixture, ThreadKind::Issue);
        let id = issue_ids(&fixture)[7];
        fixture.with_github(|github| nodes.iter().for_each(|node| github.override_id(node, id)));
        on_virtual_time(async {
            for _ in 0..2 {
                let pulled = fixture.pull(&FULL_PULL).await.unwrap();
                assert!(!pulled.failures.is_empty(), "the pull is not complete");
                let counts = fixture.store.object_counts().unwrap();
                assert_eq!((counts.issues, counts.quarantined), (0, 30), "pages of {largest_page}");
                fixture.clock.advance_by(HOUR_MS).await;
            }
            check_recovery(&fixture).await;
        });
    }
}

#[test]
fn id_of_another_node_replaces_nothing() {
    let fixture = SimFixture { largest_page: 4, ..SimFixture::new(&one_repository(12), 6) };
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(HOUR_MS).await;
        let (nodes, ids) = (node_ids(&fixture, ThreadKind::Issue), issue_ids(&fixture));
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            github.world_mut().edit_issue(ids[3], Some("edited"), None, now);
            github.override_id(&nodes[3], ids[9]);
        });
        fixture.clock.advance_by(HOUR_MS).await;
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
        let waiting = fixture.store.quarantined_items().unwrap();
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0].subject.node_id(), Some(nodes[3].as_str()));
        check_recovery(&fixture).await;
    });
}

#[test]
fn ghost_repository_is_named_and_fails_a_pull_only_if_it_was_known() {
    let long = "n".repeat(10_000_000);
    let overrides: [(&str, Value); 6] = [
        ("databaseId", json!(-7)),
        ("databaseId", json!(0)),
        ("name", json!("..")),
        ("name", json!(long)),
        ("url", json!("javascript:alert(1)")),
        ("owner", json!({ "login": "acme/../.." })),
    ];
    for (field, value) in overrides {
        for is_known in [false, true] {
            let fixture = SimFixture::new(&WorldSpec { repositories: 3, ..WorldSpec::small() }, 7);
            let truth = fixture.with_github(|github| github.world().truth());
            let ghost = truth.repositories.values().nth(1).unwrap();
            let (ghost, name) = (ghost.node_id.clone(), ghost.name.clone());
            on_virtual_time(async {
                if is_known {
                    fixture.pull(&FULL_PULL).await.unwrap();
                    fixture.clock.advance_by(HOUR_MS).await;
                }
                fixture.with_github(|github| github.override_field(&ghost, field, value.clone()));
                for pull in [FULL_PULL, FULL_PULL, TestPull { force: true, ..FULL_PULL }] {
                    let pulled = fixture.pull(&pull).await.unwrap();
                    let failed: Vec<_> =
                        pulled.failures.iter().map(|failure| &failure.scope).collect();
                    let known = [&format!("acme/{name}")];
                    let expected = if is_known { &known[..] } else { &[] };
                    assert_eq!(failed, expected, "{field}: {:?}", pulled.failures);
                    let waiting = fixture.store.quarantined_items().unwrap();
                    let is_named = waiting.iter().any(|item| {
                        item.subject.node_id() == Some(ghost.as_str())
                            && item.reason.starts_with("impossible: its ")
                    });
                    assert!(is_named, "{field}: {waiting:?}");
                    fixture.clock.advance_by(HOUR_MS).await;
                }
                check_recovery(&fixture).await;
            });
        }
    }
}

#[test]
fn id_shared_by_two_nodes_stops_the_sweep_of_their_list() {
    let fixture = SimFixture { largest_page: 4, ..SimFixture::new(&one_repository(12), 6) };
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(HOUR_MS).await;
        let (node, other) =
            (node_ids(&fixture, ThreadKind::Issue)[3].clone(), issue_ids(&fixture)[9]);
        fixture.with_github(|github| github.override_id(&node, other));
        let swept = fixture.pull(&TestPull { reconcile: true, ..FULL_PULL }).await.unwrap();
        let message = &swept.failures[0].message;
        assert!(message.contains("several items under one id"), "{:?}", swept.failures);
        assert_eq!(
            fixture.store.object_counts().unwrap().issues,
            12,
            "nothing is considered deleted"
        );
        check_recovery(&fixture).await;
    });
}

/// Checks that pulls find every quarantined item once the source serves correct answers again.
async fn check_recovery(fixture: &SimFixture) {
    assert!(
        fixture.with_github(|github| github.wrong_answers_served()) > 0,
        "no wrong answer was served"
    );
    fixture.with_github(SimulatedGitHub::clear_overrides);
    for _ in 0..3 {
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&TestPull { reconcile: true, ..FULL_PULL }).await.unwrap();
    }
    assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
    assert_eq!(fixture.store.quarantined_items().unwrap(), []);
    check_mirror(fixture, CheckLevel::Everything).unwrap();
    check_comments(fixture, CheckLevel::Everything).unwrap();
}

pub(super) fn node_ids(fixture: &SimFixture, kind: ThreadKind) -> Vec<String> {
    let truth = fixture.with_github(|github| github.world().truth());
    truth.threads_of_kind(kind).map(|thread| thread.node_id.clone()).collect()
}
