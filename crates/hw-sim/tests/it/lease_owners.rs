//! Leases: of two processes one works, the other is refused or finds that it lost its lease.

use std::pin::pin;
use std::sync::Arc;

use hw_sim::WorldSpec;
use hw_store::{DatabaseLocation, StoreWriter};
use hw_sync::clock::{Clock, SleepFuture};

use crate::harness::shortcuts::{crash_at, issue_ids};
use crate::harness::{
    CheckLevel, SimFixture, TestPull, VirtualClock, check_mirror, on_virtual_time,
    postgres_location,
};

#[test]
fn lease_refusal_names_the_owner_and_its_start() {
    let slow = WorldSpec { latency_ms: 2_000..=2_000, ..world_spec() };
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&slow, 1) };
    on_virtual_time(async {
        let start = fixture.clock.virtual_now_ms();
        let first = TestPull { owner: "first", ..TestPull::default() };
        let mut first = pin!(fixture.pull(&first));
        assert!(!fixture.poll_until_requests(&mut first, 3).await, "the pull is still running");
        let second = TestPull { owner: "second", ..TestPull::default() };
        let (first, second) = tokio::join!(first, fixture.pull(&second));
        let refused = second.unwrap_err();
        let hw_sync::SyncError::Busy { owner, since_ms } = refused else {
            panic!("not refused: {refused}")
        };
        assert_eq!((owner.as_str(), since_ms), ("first", start));
        first.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn lease_of_a_live_owner_survives_a_machine_with_a_fast_clock() {
    let slow = WorldSpec { latency_ms: 2_000..=2_000, ..world_spec() };
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&slow, 1) };
    on_virtual_time(async {
        let first = TestPull { owner: "first", ..TestPull::default() };
        let mut first = pin!(fixture.pull(&first));
        assert!(!fixture.poll_until_requests(&mut first, 3).await, "the pull is still running");
        let ahead = FastClock { clock: fixture.clock.clone(), ahead_ms: 6_000 };
        let second = hw_sync::lease::acquire_lease(&fixture.store, &ahead, "pull", "second");
        let (first, second) = tokio::join!(first, second);
        assert!(matches!(second, Err(hw_sync::SyncError::Busy { .. })), "{second:?}");
        first.unwrap();
    });
}

/// A clock that is ahead of the virtual one.
struct FastClock {
    clock: Arc<VirtualClock>,
    ahead_ms: i64,
}

impl Clock for FastClock {
    fn now_ms(&self) -> i64 {
        self.clock.virtual_now_ms() + self.ahead_ms
    }

    fn monotonic_ms(&self) -> i64 {
        self.clock.virtual_now_ms()
    }

    fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_> {
        self.clock.sleep_until(until_ms - self.ahead_ms)
    }
}

#[test]
fn lease_of_a_dead_owner_is_taken_once_it_expires() {
    let fixture = SimFixture::new(&world_spec(), 1);
    on_virtual_time(async {
        let crashing = TestPull {
            owner: "crashing",
            crash_hook: Some(crash_at("fetch: answered", 2)),
            ..TestPull::default()
        };
        fixture.pull(&crashing).await.unwrap_err();
        fixture.pull(&TestPull::default()).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn lease_of_a_file_store_stays_locked_while_its_owner_stalls() {
    let folder = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::File(folder.path().join("one.db"));
    let fixture = SimFixture::with_store(&world_spec(), 1, StoreWriter::open(&location).unwrap());
    on_virtual_time(async {
        let other =
            SimFixture { store: StoreWriter::open(&location).unwrap(), ..share_fixture(&fixture) };
        let stalled = TestPull { owner: "stalled", ..TestPull::default() };
        let mut stalled = pin!(fixture.pull(&stalled));
        assert!(!fixture.poll_until_requests(&mut stalled, 2).await, "the pull is still running");
        fixture.clock.advance_by(600_000).await;
        let refused = other.pull(&TestPull::default()).await.unwrap_err();
        assert!(matches!(&refused, hw_sync::SyncError::Busy { owner, .. } if owner == "stalled"));
        stalled.await.unwrap();
        other.pull(&TestPull::default()).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn lease_lost_by_a_stalled_owner_stops_it_before_older_text_wins() {
    stall_one_of_two(|_| DatabaseLocation::Memory);
}

#[test]
fn lease_lost_by_a_stalled_owner_stops_it_on_postgres() {
    stall_one_of_two(|round| postgres_location(&format!("owners_{}_{round}", std::process::id())));
}

/// Stalls the first process after it requested a page and before it stores the answer. The second process takes
/// the lease, reads the newer text and ends. Then the first one continues with its outdated answer.
fn stall_one_of_two(location: impl Fn(u64) -> DatabaseLocation) {
    for stall_after in 2..12 {
        let (spec, location) = (world_spec(), location(stall_after));
        let fixture = SimFixture {
            largest_page: 5,
            ..SimFixture::with_store(&spec, stall_after, StoreWriter::open(&location).unwrap())
        };
        on_virtual_time(async {
            let other = match &location {
                DatabaseLocation::Memory => share_fixture(&fixture),
                location @ (DatabaseLocation::File(_) | DatabaseLocation::Postgres { .. }) => {
                    SimFixture {
                        store: StoreWriter::open(location).unwrap(),
                        ..share_fixture(&fixture)
                    }
                }
            };
            let stalled = TestPull { owner: "stalled", ..TestPull::default() };
            let mut stalled = pin!(fixture.pull(&stalled));
            if fixture.poll_until_requests(&mut stalled, stall_after).await {
                return;
            }
            for id in issue_ids(&fixture) {
                let now = fixture.world_now_ms();
                fixture.with_github(|github| {
                    github.world_mut().edit_issue(id, None, Some("newer"), now);
                });
            }
            fixture.clock.advance_by(6_000).await;
            let fresh = TestPull { owner: "fresh", ..TestPull::default() };
            other.pull(&fresh).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();

            let error = stalled.await.unwrap_err();
            let lost =
                matches!(&error, hw_sync::SyncError::Store(hw_store::StoreError::LeaseLost { .. }));
            assert!(lost, "after {stall_after} requests: {error}");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

fn share_fixture(fixture: &SimFixture) -> SimFixture {
    SimFixture {
        github: fixture.github.clone(),
        store: fixture.store.clone(),
        clock: fixture.clock.clone(),
        organization: fixture.organization.clone(),
        sources: fixture.sources.clone(),
        single_ids: fixture.single_ids.clone(),
        largest_page: fixture.largest_page,
        pace: fixture.pace,
        reserve_percent: fixture.reserve_percent,
        progress: fixture.progress.clone(),
        reconnects: fixture.reconnects.clone(),
        seed: fixture.seed,
        skew_ms: fixture.skew_ms,
        undelivered: fixture.undelivered.clone(),
    }
}

fn world_spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 17, latency_ms: 50..=50, ..WorldSpec::small() }
}
