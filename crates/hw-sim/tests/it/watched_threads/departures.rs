//! Watched threads and repositories that move, disappear, or cannot be found.

use hw_rules::follow_reason::{FollowReason, LaneUse};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::watch::{WatchStart, WatchState};
use hw_sim::{ThreadKind, WorldSpec};

use super::costs::one_of_each;
use super::watch_fixture::WatchFixture;
use crate::harness::{HOST, TestPull, on_virtual_time};

const DAY_MS: u64 = 24 * 3_600_000;

#[test]
fn watch_of_something_that_does_not_exist_has_a_reason() {
    let fixture = WatchFixture::new(&one_of_each(), 1);
    let thread = fixture.thread(ThreadKind::Issue);
    let subject = fixture.subject(&thread);
    let (repository, _) = subject.split_once('#').unwrap();
    on_virtual_time(async {
        let unknown = ["acme/no-such-repository#1".to_owned(), format!("{repository}#9999")];
        let watches = unknown.map(|subject| fixture.watch(&subject, None));
        let good = fixture.watch(&subject, None);
        let summary = fixture.try_poll().await.unwrap();
        assert_eq!(summary.failures.len(), 2, "{:?}", summary.failures);
        for watch in watches {
            let watch = fixture.sim.store.watch(watch).unwrap().unwrap();
            assert_eq!(watch.state, WatchState::Unresolved);
            assert!(watch.problem.unwrap().contains("not found"));
        }
        assert_ne!(fixture.state(good), WatchState::Unresolved, "it does not wait for the others");
    });
}

#[test]
fn watch_follows_an_issue_that_was_transferred() {
    let spec = WorldSpec { repositories: 2, ..one_of_each() };
    for is_resolved in [true, false] {
        let fixture = WatchFixture::new(&spec, 2);
        let thread = fixture.thread(ThreadKind::Issue);
        let subject = fixture.subject(&thread);
        let other = fixture
            .threads()
            .into_iter()
            .find(|other| other.repository_id != thread.repository_id)
            .unwrap()
            .repository_id;
        on_virtual_time(async {
            let watch = fixture.watch(&subject, Some(WatchStart::Beginning));
            if is_resolved {
                fixture.poll_times(3).await;
            }
            let now_ms = fixture.sim.world_now_ms();
            fixture
                .sim
                .with_github(|github| github.world_mut().transfer_issue(thread.id, other, now_ms));
            fixture.sim.clock.advance_by(DAY_MS + 3_600_000).await;
            for _ in 0..6 {
                fixture.sim.clock.advance_by(60_000).await;
                fixture.try_poll().await.unwrap();
            }
            let watch = fixture.sim.store.watch(watch).unwrap().unwrap();
            assert_eq!(watch.repository_id.map(|id| id.0), Some(other), "{is_resolved}: {watch:?}");
        });
    }
}

#[test]
fn watch_of_a_deleted_issue_ends() {
    let fixture = WatchFixture::new(&one_of_each(), 3);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        let watch = fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
        fixture.poll_times(3).await;
        let now_ms = fixture.sim.world_now_ms();
        fixture.sim.with_github(|github| github.world_mut().delete_issue(thread.id, now_ms));
        fixture.sim.clock.advance_by(DAY_MS + 3_600_000).await;
        fixture.try_poll().await.unwrap();
        assert_eq!(fixture.state(watch), WatchState::Gone);
        let cost = fixture.cost_of(2).await;
        assert_eq!(cost.requests, 0, "nothing is watched any more");
    });
}

#[test]
fn repository_that_is_only_watched_is_not_part_of_the_mirror() {
    let fixture = WatchFixture::new(&one_of_each(), 4);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
        fixture.poll_times(3).await;
        let key = RepositoryKey::new(HOST, thread.repository_id);
        let reasons = fixture.sim.store.follow_reasons(&key).unwrap();
        assert_eq!(reasons, [FollowReason::Watch].into());
        assert_eq!(fixture.sim.store.repositories(HOST).unwrap(), []);
        assert_eq!(fixture.sim.store.lanes_used_by(LaneUse::Mirror).unwrap(), [], "not pulled");
        // the mirror comes and goes, and the watch stays
        fixture.sim.pull(&TestPull::PLAIN).await.unwrap();
        assert_eq!(fixture.sim.store.follow_reasons(&key).unwrap().len(), 2);
        fixture.say(&thread, "drip");
        fixture.poll_times(2).await;
        assert_eq!(fixture.said().last().unwrap(), "created:drip");
    });
}
