//! Two processes at the same lanes: one works, the other is refused or finds that it lost its lease.

use std::pin::pin;
use std::sync::Arc;

use hw_sim::WorldSpec;
use hw_store::{Place, Store};
use hw_sync::clock::{Clock, Waiting};

use crate::harness::words::{at, issue_ids};
use crate::harness::{Judge, Puller, Scene, VirtualClock, check_mirror, on_virtual_time, postgres};

#[test]
fn a_second_pull_is_told_who_works_and_since_when() {
    let slow = WorldSpec { latency_ms: 2_000..=2_000, ..spec() };
    let scene = Scene { largest_page: 5, ..Scene::new(&slow, 1) };
    on_virtual_time(async {
        let start = scene.clock.now();
        let first = Puller { owner: "first", ..Puller::default() };
        let mut first = pin!(scene.pull(&first));
        assert!(!scene.poll_until(&mut first, 3).await, "it is still at work");
        let second = Puller { owner: "second", ..Puller::default() };
        let (first, second) = tokio::join!(first, scene.pull(&second));
        let refused = second.unwrap_err();
        let hw_sync::Error::Busy { owner, since_ms } = refused else {
            panic!("not refused: {refused}")
        };
        assert_eq!((owner.as_str(), since_ms), ("first", start));
        first.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_living_owner_is_not_robbed_by_a_machine_whose_clock_is_ahead() {
    let slow = WorldSpec { latency_ms: 2_000..=2_000, ..spec() };
    let scene = Scene { largest_page: 5, ..Scene::new(&slow, 1) };
    on_virtual_time(async {
        let first = Puller { owner: "first", ..Puller::default() };
        let mut first = pin!(scene.pull(&first));
        assert!(!scene.poll_until(&mut first, 3).await, "it is still at work");
        let ahead = Ahead(scene.clock.clone(), 6_000);
        let second = hw_sync::lease::take(&scene.store, &ahead, "pull", "second");
        let (first, second) = tokio::join!(first, second);
        assert!(matches!(second, Err(hw_sync::Error::Busy { .. })), "{second:?}");
        first.unwrap();
    });
}

/// A clock that is this much ahead.
struct Ahead(Arc<VirtualClock>, i64);

impl Clock for Ahead {
    fn now_ms(&self) -> i64 {
        self.0.now() + self.1
    }

    fn monotonic_ms(&self) -> i64 {
        self.0.now()
    }

    fn sleep_until(&self, until_ms: i64) -> Waiting<'_> {
        self.0.sleep_until(until_ms - self.1)
    }
}

#[test]
fn a_dead_owners_lease_is_waited_for_and_taken() {
    let scene = Scene::new(&spec(), 1);
    on_virtual_time(async {
        let dies =
            Puller { owner: "dies", plug: Some(at("fetch: answered", 2)), ..Puller::default() };
        scene.pull(&dies).await.unwrap_err();
        scene.pull(&Puller::default()).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn beside_a_file_a_lock_keeps_the_second_out_however_long_the_first_stalls() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::File(folder.path().join("one.db"));
    let scene = Scene::with_store(&spec(), 1, Store::open(&place).unwrap());
    on_virtual_time(async {
        let other = Scene { store: Store::open(&place).unwrap(), ..share(&scene) };
        let stalled = Puller { owner: "stalled", ..Puller::default() };
        let mut stalled = pin!(scene.pull(&stalled));
        assert!(!scene.poll_until(&mut stalled, 2).await, "it is still at work");
        scene.clock.pass(600_000).await;
        let refused = other.pull(&Puller::default()).await.unwrap_err();
        assert!(matches!(&refused, hw_sync::Error::Busy { owner, .. } if owner == "stalled"));
        stalled.await.unwrap();
        other.pull(&Puller::default()).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn an_owner_that_stalled_past_its_lease_stops_and_its_older_text_never_wins() {
    stall_one_of_two(|_| Place::Memory);
}

#[test]
fn an_owner_that_stalled_past_its_lease_stops_on_postgres_too() {
    stall_one_of_two(|round| postgres(&format!("owners_{}_{round}", std::process::id())));
}

/// The first process has asked for a page and is stopped before the answer is kept. The second takes the
/// lease, reads the newer text and ends. Then the first goes on with what it has in hand.
fn stall_one_of_two(place: impl Fn(u64) -> Place) {
    for stall_after in 2..12 {
        let (spec, place) = (spec(), place(stall_after));
        let scene = Scene {
            largest_page: 5,
            ..Scene::with_store(&spec, stall_after, Store::open(&place).unwrap())
        };
        on_virtual_time(async {
            let other = match &place {
                Place::Memory => share(&scene),
                place @ (Place::File(_) | Place::Postgres { .. }) => {
                    Scene { store: Store::open(place).unwrap(), ..share(&scene) }
                }
            };
            let stalled = Puller { owner: "stalled", ..Puller::default() };
            let mut stalled = pin!(scene.pull(&stalled));
            if scene.poll_until(&mut stalled, stall_after).await {
                return;
            }
            for id in issue_ids(&scene) {
                let now = scene.now();
                scene.world(|g| g.world_mut().edit_issue(id, None, Some("newer"), now));
            }
            scene.clock.pass(6_000).await;
            let fresh = Puller { owner: "fresh", ..Puller::default() };
            other.pull(&fresh).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();

            let error = stalled.await.unwrap_err();
            let lost = matches!(&error, hw_sync::Error::Store(hw_store::Error::LeaseLost { .. }));
            assert!(lost, "after {stall_after} requests: {error}");
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
}

fn share(scene: &Scene) -> Scene {
    Scene {
        github: scene.github.clone(),
        store: scene.store.clone(),
        clock: scene.clock.clone(),
        organization: scene.organization.clone(),
        largest_page: scene.largest_page,
        pace: scene.pace,
        reserve_percent: scene.reserve_percent,
        herald: scene.herald.clone(),
        renewed: scene.renewed.clone(),
        seed: scene.seed,
        skew_ms: scene.skew_ms,
        undelivered: scene.undelivered.clone(),
    }
}

fn spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 17, latency_ms: 50..=50, ..WorldSpec::small() }
}
