use std::sync::atomic::{AtomicI64, Ordering};

use hw_rules::worker_watch::DEAD_AFTER_MS;
use hw_store::DatabaseLocation;

use super::*;
use crate::clock::SleepFuture;

#[tokio::test]
async fn worker_beats_during_long_work() {
    let (store, clock) = open_store();
    let worker = Worker::register(&store, &clock, &identity("first")).unwrap();
    worker.run(|_| (), yield_times(20)).await.unwrap();
    let beat = store.workers().unwrap()[0].beat;
    assert!(beat >= 10, "{beat} beats in {} ms", clock.now_ms());
}

#[tokio::test]
async fn worker_gives_its_duties_back_when_its_work_is_stopped() {
    let (store, clock) = open_store();
    let stopped = Worker::register(&store, &clock, &identity("stopped")).unwrap();
    stopped.claim_at_once(&duty()).await.unwrap();
    drop(stopped);
    assert_eq!(store.duty_holder(&duty()).unwrap(), None);
    assert_eq!(store.workers().unwrap(), []);
    let mut dead = Worker::register(&store, &clock, &identity("dead")).unwrap();
    dead.claim_at_once(&duty()).await.unwrap();
    dead.abandon();
    drop(dead);
    assert_eq!(store.duty_holder(&duty()).unwrap().unwrap().worker, "process 1 on dead");
}

#[tokio::test]
async fn duty_of_a_worker_that_does_not_beat_is_waited_for() {
    let (store, clock) = open_store();
    let silent = Worker::register(&store, &clock, &identity("silent")).unwrap();
    silent.claim_at_once(&duty()).await.unwrap();
    let next = Worker::register(&store, &clock, &identity("next")).unwrap();
    let began_ms = clock.now_ms();
    let leased = next.claim_at_once(&duty()).await.unwrap();
    assert_eq!(leased.lease().owner, "next");
    let waited_ms = clock.now_ms() - began_ms;
    assert!((DEAD_AFTER_MS..DEAD_AFTER_MS + 1_000).contains(&waited_ms), "{waited_ms}");
}

#[tokio::test]
async fn duty_of_a_worker_that_beats_stays_with_it() {
    let (store, clock) = open_store();
    let first = Worker::register(&store, &clock, &identity("first")).unwrap();
    first.claim_at_once(&duty()).await.unwrap();
    let second = Worker::register(&store, &clock, &identity("second")).unwrap();
    let duty = duty();
    let mut claim = pin!(second.claim_at_once(&duty));
    let refused = loop {
        tokio::select! {
            biased;
            result = &mut claim => break result.unwrap_err(),
            () = tokio::task::yield_now() => first.beat().unwrap(),
        }
    };
    assert!(matches!(refused, SyncError::Busy { owner, .. } if owner == "process 1 on first"));
}

#[tokio::test]
async fn worker_that_was_taken_for_dead_stops_its_work() {
    let (store, clock) = open_store();
    let first = Worker::register(&store, &clock, &identity("first")).unwrap();
    first.claim_at_once(&duty()).await.unwrap();
    let second = Worker::register(&store, &clock, &identity("second")).unwrap();
    second.claim_at_once(&duty()).await.unwrap();
    let stopped = first.run(|_| (), yield_times(20)).await.unwrap_err();
    assert!(stopped.has_lost_lease(), "{stopped}");
}

#[tokio::test]
async fn worker_learns_how_many_share_its_limits() {
    let (store, clock) = open_store();
    let first = Worker::register(&store, &clock, &identity("first")).unwrap();
    let _second = Worker::register(&store, &clock, &identity("second")).unwrap();
    let counts = Mutex::new(Vec::new());
    let share = |living| lock_unpoisoned(&counts).push(living);
    first.run(share, yield_times(20)).await.unwrap();
    let counts = counts.into_inner().unwrap();
    assert_eq!((counts[0], counts[1], *counts.last().unwrap()), (1, 2, 1), "{counts:?}");
}

fn open_store() -> (StoreWriter, JumpingClock) {
    (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), JumpingClock::default())
}

fn duty() -> DutyName {
    DutyName::pull("github.com")
}

fn identity(machine: &str) -> WorkerIdentity {
    WorkerIdentity {
        id: machine.to_owned(),
        machine: machine.to_owned(),
        process: 1,
        version: "1".to_owned(),
        role: "pull".to_owned(),
    }
}

/// A clock that jumps to the end of each wait.
#[derive(Default)]
struct JumpingClock(AtomicI64);

impl Clock for JumpingClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic_ms(&self) -> i64 {
        self.now_ms()
    }

    fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_> {
        Box::pin(async move {
            self.0.fetch_max(until_ms, Ordering::SeqCst);
            tokio::task::yield_now().await;
        })
    }
}

/// Yields this many times.
async fn yield_times(count: u32) -> Result<(), SyncError> {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
    Ok(())
}
