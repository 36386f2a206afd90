use std::cell::RefCell;
use std::time::Duration;

use futures_util::FutureExt as _;
use hw_rules::backoff::Jitter;
use hw_rules::duty::NextDue;
use hw_rules::repository_key::RepositoryKey;
use hw_store::{DatabaseLocation, StoreWriter, WorkerIdentity};
use tokio::time::Instant;

use super::*;
use crate::clock::SleepFuture;

const INTERVAL_MS: i64 = 60_000;
const ROUNDS: i64 = 100;
const REPOSITORIES: i64 = 20;
/// It ends with an error each time.
const FAILING: i64 = 7;

#[tokio::test(start_paused = true)]
async fn scheduler_performs_each_duty_once_an_interval_and_never_ends() {
    let (store, clock) = open_store();
    let runs = RefCell::default();
    let performer = PeriodicPerformer { clock: &clock, runs: &runs };
    let worker = Worker::register(&store, &clock, &identity("only")).unwrap();
    let work = worker.run(|_| (), run_duties(&worker, &clock, &performer));
    run_for(ROUNDS * INTERVAL_MS, work).await;
    for id in 1..=REPOSITORIES {
        let count = runs.borrow().iter().filter(|run| run.duty == duty(id)).count();
        // each run takes a while, and the next one is noticed half a second late
        assert!((95..=100).contains(&count), "duty {id} was performed {count} times");
    }
    let duties = store.duties().unwrap();
    assert_eq!(duties.len(), usize::try_from(REPOSITORIES).unwrap());
    let failures: Vec<bool> = duties.iter().map(|duty| duty.failures > 90).collect();
    assert_eq!(failures.iter().filter(|fails| **fails).count(), 1, "one of them fails");
}

#[tokio::test(start_paused = true)]
async fn schedulers_share_duties_and_one_continues_when_the_other_dies() {
    let (store, clock) = open_store();
    let runs = RefCell::default();
    let performer = PeriodicPerformer { clock: &clock, runs: &runs };
    let mut dying = Worker::register(&store, &clock, &identity("dying")).unwrap();
    let other = Worker::register(&store, &clock, &identity("other")).unwrap();
    {
        let dying = dying.run(|_| (), run_duties(&dying, &clock, &performer));
        let other = other.run(|_| (), run_duties(&other, &clock, &performer));
        let both = async { tokio::join!(dying, other).0 };
        run_for(ROUNDS / 2 * INTERVAL_MS + 100, both).await;
    }
    dying.abandon();
    drop(dying);
    let died_ms = clock.now_ms();
    let work = other.run(|_| (), run_duties(&other, &clock, &performer));
    run_for(ROUNDS / 2 * INTERVAL_MS, work).await;
    for id in 1..=REPOSITORIES {
        let runs = runs.borrow();
        let runs: Vec<&DutyRun> = runs.iter().filter(|run| run.duty == duty(id)).collect();
        assert!((90..=100).contains(&runs.len()), "duty {id} was performed {} times", runs.len());
        let overlaps = runs.windows(2).any(|pair| pair[1].began_ms < pair[0].ended_ms);
        assert!(!overlaps, "duty {id} was performed by both at once");
        let next_ms = runs.iter().map(|run| run.began_ms).find(|began_ms| *began_ms > died_ms);
        let waited_ms = next_ms.unwrap() - died_ms;
        assert!(waited_ms <= INTERVAL_MS + 6_000, "duty {id} waited {waited_ms} ms");
    }
    let owners = |owner: &str| runs.borrow().iter().filter(|run| run.owner == owner).count();
    assert!(owners("dying") > 100 && owners("other") > 100, "both have worked");
}

/// Performs every repository's duty, and makes it due again an interval later.
struct PeriodicPerformer<'a> {
    clock: &'a PausedClock,
    runs: &'a RefCell<Vec<DutyRun>>,
}

struct DutyRun {
    duty: DutyName,
    owner: String,
    began_ms: i64,
    ended_ms: i64,
}

impl DutyPerformer for PeriodicPerformer<'_> {
    fn wanted(&self) -> Vec<DutyName> {
        // none has a row before its first run
        let runs = self.runs.borrow();
        let all = (1..=REPOSITORIES).map(duty);
        all.filter(|duty| runs.iter().all(|run| run.duty != *duty)).collect()
    }

    fn accepts(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        Some(AcceptedDuty::on_request(duty, String::new()))
    }

    fn perform(
        &self,
        store: LeasedStore,
        _claimed: ClaimedDuty,
    ) -> LocalBoxFuture<'_, Result<PerformedDuty, SyncError>> {
        async move {
            let (lease, began_ms) = (store.lease().clone(), self.clock.now_ms());
            self.clock.sleep_until(began_ms + 300).await;
            let ended_ms = self.clock.now_ms();
            let has_failed = lease.duty == duty(FAILING);
            // a failed run is retried after a delay that grows, but not later than after the interval
            let failures = if has_failed { 10 } else { 0 };
            let due_ms = duty::next_due_ms(INTERVAL_MS, failures, began_ms, Jitter(0.0));
            let (duty, owner) = (lease.duty.clone(), lease.owner.clone());
            self.runs.borrow_mut().push(DutyRun { duty, owner, began_ms, ended_ms });
            let error = has_failed.then(|| "it fails".to_owned());
            let end = DutyEnd { lease, ended_ms, next_due: NextDue::At(due_ms), error };
            Ok(PerformedDuty::Ended(end))
        }
        .boxed_local()
    }

    fn prepare(&self, _board: &DutyBoard) -> Result<(), SyncError> {
        Ok(())
    }

    fn duties_ended(&self) {}

    fn is_done(&self, _board: &DutyBoard) -> bool {
        false
    }
}

/// Runs work that must not end within this time.
async fn run_for(ms: i64, work: impl Future<Output = Result<(), SyncError>>) {
    let ended = tokio::time::timeout(Duration::from_millis(ms.unsigned_abs()), work).await;
    assert!(ended.is_err(), "it ended: {ended:?}");
}

#[expect(clippy::disallowed_methods, reason = "the runtime's paused clock, not the machine's")]
fn open_store() -> (StoreWriter, PausedClock) {
    (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), PausedClock(Instant::now()))
}

fn duty(id: i64) -> DutyName {
    DutyName::Repository(RepositoryKey::new("github.com", id))
}

fn identity(name: &str) -> WorkerIdentity {
    WorkerIdentity {
        id: name.to_owned(),
        machine: "here".to_owned(),
        process: 1,
        version: "1".to_owned(),
        role: "service".to_owned(),
    }
}

/// The runtime's paused clock.
struct PausedClock(Instant);

impl Clock for PausedClock {
    fn now_ms(&self) -> i64 {
        i64::try_from(self.0.elapsed().as_millis()).unwrap()
    }

    fn monotonic_ms(&self) -> i64 {
        self.now_ms()
    }

    fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_> {
        let until = self.0 + Duration::from_millis(until_ms.max(0).unsigned_abs());
        Box::pin(tokio::time::sleep_until(until))
    }
}
