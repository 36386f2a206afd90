//! Pulls that are killed while they work on many rows: the next one goes on where they stopped.

use hw_sim::WorldSpec;
use hw_sync::crash_points::CHUNK_DONE;

use crate::harness::shortcuts::{USUAL_PULL, crash_at, first_repository_id};
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

#[test]
fn rename_that_is_killed_after_any_chunk_is_finished_by_the_next_pull() {
    check_killed(&USUAL_PULL, |fixture| {
        let id = first_repository_id(fixture);
        fixture.with_github(|github| {
            github.world_mut().rename_repository(id, "renamed", fixture.world_now_ms());
        });
    });
}

#[test]
fn removal_that_is_killed_after_any_chunk_is_finished_by_the_next_pull() {
    check_killed(&USUAL_PULL, |fixture| {
        let id = first_repository_id(fixture);
        fixture
            .with_github(|github| github.world_mut().delete_repository(id, fixture.world_now_ms()));
    });
}

#[test]
fn clearing_that_is_killed_after_any_chunk_is_finished_by_the_next_pull() {
    check_killed(&TestPull { force: true, ..USUAL_PULL }, |_| {});
}

/// Kills a pull after its first chunk, its second one, and so on, until it ends before that.
fn check_killed(pull: &TestPull, change: impl Fn(&SimFixture)) {
    for killed_at in 1..50 {
        let fixture = SimFixture::new(&three_repositories(), killed_at.into());
        let has_ended = on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            change(&fixture);
            fixture.clock.advance_by(300_000).await;
            let crash_hook = Some(crash_at(CHUNK_DONE, killed_at));
            let killed = fixture.pull(&TestPull { crash_hook, ..*pull }).await;
            if killed.is_err() {
                assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
            }
            assert_eq!(fixture.store.count_chores().unwrap(), 0, "killed at {killed_at}");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            killed.is_ok()
        });
        if has_ended {
            assert!(killed_at > 3, "too few chunks to prove anything: {killed_at}");
            return;
        }
    }
    panic!("the pull never ends");
}

fn three_repositories() -> WorldSpec {
    WorldSpec { repositories: 3, issues: 40, ..WorldSpec::small() }
}
