//! Answers larger than the limit for one answer.

use hw_sim::{CommentKind, SimulatedGitHub, ThreadKind, WorldSpec};
use serde_json::json;

use super::HOUR_MS;
use super::impossible_ids::node_ids;
use crate::harness::shortcuts::{FULL_PULL, one_repository};
use crate::harness::{CheckLevel, SimFixture, check_comments, check_mirror, on_virtual_time};

/// More than the limit of 32 MB.
const OVERSIZED_BYTES: usize = 33 << 20;

#[test]
fn oversized_thread_is_quarantined_and_the_rest_is_read() {
    let fixture = SimFixture { largest_page: 20, ..SimFixture::new(&one_repository(30), 1) };
    let node = node_ids(&fixture, ThreadKind::Issue)[9].clone();
    check_set_aside(&fixture, &node, |fixture| fixture.store.object_counts().unwrap().issues, 29);
}

#[test]
fn oversized_comment_is_quarantined_and_the_rest_is_read() {
    for kind in [CommentKind::Conversation, CommentKind::Discussion] {
        let spec = WorldSpec { repositories: 1, comments_per_thread: 4, ..WorldSpec::small() };
        let fixture = SimFixture { largest_page: 10, ..SimFixture::new(&spec, 2) };
        let comments = fixture.with_github(|github| github.world().truth().comments);
        let mut of_kind =
            comments.values().filter(|comment| comment.kind == kind && comment.parent_id.is_none());
        let node = of_kind.nth(1).unwrap().node_id.clone();
        let all = comments.len() as u64;
        check_set_aside(
            &fixture,
            &node,
            |fixture| fixture.store.object_counts().unwrap().comments,
            all - 1,
        );
    }
}

/// Makes one node larger than the limit: the first pull reads everything else, and the next one reads nothing again.
fn check_set_aside(
    fixture: &SimFixture,
    node: &str,
    stored_count: fn(&SimFixture) -> u64,
    others: u64,
) {
    let body = json!("x".repeat(OVERSIZED_BYTES));
    fixture.with_github(|github| github.override_field(node, "body", body));
    on_virtual_time(async {
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
        assert_eq!(stored_count(fixture), others);
        let waiting = fixture.store.quarantined_items().unwrap();
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        fixture.clock.advance_by(HOUR_MS).await;
        let before = fixture.with_github(|github| github.request_log().total);
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        let requests = fixture.with_github(|github| github.request_log().total) - before;
        assert!(requests < 40, "{requests} requests");
        assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
        fixture.with_github(SimulatedGitHub::clear_overrides);
        for _ in 0..2 {
            fixture.clock.advance_by(HOUR_MS).await;
            fixture.pull(&crate::harness::TestPull { reconcile: true, ..FULL_PULL }).await.unwrap();
        }
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_mirror(fixture, CheckLevel::Everything).unwrap();
        check_comments(fixture, CheckLevel::Everything).unwrap();
    });
}
