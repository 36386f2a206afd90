//! Pagination that never ends.

use hw_sim::{PaginationLoop, WorldSpec};

use super::{HOUR_MS, add_comments};
use crate::harness::shortcuts::{FULL_PULL, SWEEP_PULL};
use crate::harness::{
    CheckLevel, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
};

const PAGINATION_LOOPS: [PaginationLoop; 3] =
    [PaginationLoop::Wrapping, PaginationLoop::Empty, PaginationLoop::Repeating];

#[test]
fn endless_pages_are_detected_and_reported() {
    for pagination in PAGINATION_LOOPS {
        for pull in [FULL_PULL, TestPull { reconcile: true, ..FULL_PULL }] {
            let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 1) };
            add_comments(&fixture, 40, -5);
            fixture.with_github(|github| github.set_pagination_loop(Some(pagination)));
            on_virtual_time(async {
                let pulled = fixture.pull(&pull).await.unwrap();
                let requests = fixture.with_github(|github| github.request_log().total);
                assert!(requests < 200, "{pagination:?}: {requests} requests");
                let mut messages = pulled.failures.iter().map(|failure| &failure.message);
                let is_reported =
                    messages.any(|message| message.contains("endless listing from the source"));
                assert!(is_reported, "{pagination:?}: {:?}", pulled.failures);
                fixture.with_github(|github| github.set_pagination_loop(None));
                fixture.clock.advance_by(HOUR_MS).await;
                assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, [], "{pagination:?}");
                check_mirror(&fixture, CheckLevel::Everything).unwrap();
                check_comments(&fixture, CheckLevel::Everything).unwrap();
            });
        }
    }
}

#[test]
fn endless_sweep_is_detected_and_removes_nothing() {
    for pagination in PAGINATION_LOOPS {
        let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 2) };
        on_virtual_time(async {
            fixture.pull(&SWEEP_PULL).await.unwrap();
            let before = fixture.store.object_counts().unwrap();
            fixture.with_github(|github| github.set_pagination_loop(Some(pagination)));
            fixture.clock.advance_by(HOUR_MS).await;
            let pulled = fixture.pull(&SWEEP_PULL).await.unwrap();
            assert!(!pulled.failures.is_empty(), "{pagination:?}");
            assert_eq!(
                fixture.store.object_counts().unwrap().issues,
                before.issues,
                "{pagination:?}"
            );
        });
    }
}

fn world_spec() -> WorldSpec {
    WorldSpec { issues: 30, pull_requests: 20, ..WorldSpec::small() }
}
