//! Tests of PostgreSQL connections that stall or break.

use std::sync::mpsc;
use std::time::Duration;

use hw_store::{
    DatabaseLocation, DatabaseTimeouts, IngestPage, LeasedStore, StoreError, StoreWriter,
};

use crate::fixture::{
    SchemaDatabase, execute_raw, finish_chores, issue, issue_bodies, issue_lane, issues_page,
    issues_page_through, open_store, pull_duty, search_ids,
};
use crate::proxy::{FaultProxy, ProxyFault};

/// The time after which a hanging test fails instead of blocking the suite.
const DEADLINE: Duration = Duration::from_secs(60);

/// The commit as it is sent, which does not match the `read committed` at the beginning of a transaction.
const COMMIT: &str = "commit\0";

const SHORT_TIMEOUTS: DatabaseTimeouts = DatabaseTimeouts {
    write: Duration::from_secs(2),
    read: Duration::from_secs(2),
    lock: Duration::from_secs(1),
    grace: Duration::from_secs(1),
};

#[test]
fn connection_that_stops_responding_times_out() {
    let setup = ProxiedStore::new();
    setup.proxy.stall();
    let refused =
        run_with_deadline(DEADLINE, setup.store.clone(), |store| store.object_counts().err());
    assert!(matches!(refused, Some(StoreError::Unreachable(_))), "{refused:?}");
    setup.proxy.resume();
    assert_eq!(setup.store.object_counts().unwrap().repositories, 1, "the store continues");
}

#[test]
fn connection_that_stalls_in_a_transaction_times_out_and_the_retry_succeeds() {
    for text in ["insert into issues", COMMIT] {
        let setup = ProxiedStore::new();
        setup.proxy.arm_fault(text, 0, ProxyFault::Stall);
        let page = sample_page();
        let refused = run_with_deadline(DEADLINE, setup.store.clone(), move |store| {
            store.ingest_page(&page).err()
        });
        assert!(matches!(refused, Some(StoreError::Unreachable(_))), "{text}: {refused:?}");
        assert_eq!(setup.proxy.fired_faults(), 1, "{text}");
        setup.proxy.resume();
        setup.assert_retry_succeeds();
    }
}

#[test]
fn connection_that_is_cut_at_a_commit_neither_loses_nor_duplicates_data() {
    for fault in [ProxyFault::CutBefore, ProxyFault::CutAfter] {
        let setup = ProxiedStore::new();
        setup.proxy.arm_fault(COMMIT, 0, fault);
        let refused = setup.store.ingest_page(&sample_page()).unwrap_err();
        assert!(refused.is_lost_connection(), "{refused}");
        assert_eq!(setup.proxy.fired_faults(), 1);
        setup.assert_retry_succeeds();
    }
}

/// A reconnected owner still has its lease, and one that lost it is still rejected.
#[test]
fn connection_loss_does_not_change_the_owner_of_the_lease() {
    let setup = ProxiedStore::new();
    setup.proxy.arm_fault(COMMIT, 0, ProxyFault::CutBefore);
    setup.store.ingest_page(&sample_page()).unwrap_err();
    setup.store.release_duty().unwrap();
    let next = setup.store.claim_duty(&pull_duty(), "next", 7_000).unwrap().unwrap();
    assert!(next.lease().epoch > setup.store.lease().epoch);
    let refused = setup.store.ingest_page(&sample_page()).unwrap_err();
    assert!(matches!(refused, StoreError::LeaseLost { .. }), "{refused}");
}

#[test]
fn migrations_and_the_wipe_ignore_the_statement_timeout() {
    let schema = SchemaDatabase::new();
    let store = open_store(&schema.location);
    store.ingest_page(&sample_page()).unwrap();
    drop(store);
    execute_raw(
        &schema.location,
        "create function dawdle() returns trigger language plpgsql as
            'begin perform pg_sleep(0.5); return old; end';
         create trigger dawdle before delete on cells for each statement execute function dawdle();
         update schema_version set guid = 'another'",
    );
    let limited = DatabaseTimeouts { write: Duration::from_millis(250), ..SHORT_TIMEOUTS };
    let store = StoreWriter::open_with_timeouts(&schema.location, limited).unwrap();
    let store = store.claim_duty(&pull_duty(), "me", 9_000_000).unwrap().unwrap();
    finish_chores(&store);
    assert_eq!(store.object_counts().unwrap().issues, 0);
}

#[test]
fn statement_timeout_is_not_reported_as_a_lock() {
    let schema = SchemaDatabase::new();
    let store = open_store(&schema.location);
    execute_raw(
        &schema.location,
        "create function dawdle() returns trigger language plpgsql as
            'begin perform pg_sleep(5); return new; end';
         create trigger dawdle before insert on issues for each row execute function dawdle()",
    );
    let limited = DatabaseTimeouts { write: Duration::from_millis(250), ..SHORT_TIMEOUTS };
    let other = StoreWriter::open_with_timeouts(&schema.location, limited).unwrap();
    let store = other.with_lease(store.lease().clone());
    let refused = store.ingest_page(&sample_page()).unwrap_err();
    assert!(matches!(refused, StoreError::StatementTimeout(_)), "{refused}");
}

/// A store behind a proxy, and its lease.
struct ProxiedStore {
    proxy: FaultProxy,
    store: LeasedStore,
    _schema: SchemaDatabase,
}

impl ProxiedStore {
    fn new() -> Self {
        let schema = SchemaDatabase::new();
        let DatabaseLocation::Postgres { url, schema: name } = &schema.location else {
            panic!("expected PostgreSQL")
        };
        let owner = open_store(&schema.location);
        let proxy = FaultProxy::in_front_of(url);
        let location = DatabaseLocation::Postgres { url: proxy.url(url), schema: name.clone() };
        let store = StoreWriter::open_with_timeouts(&location, SHORT_TIMEOUTS).unwrap();
        let store = store.with_lease(owner.lease().clone());
        Self { proxy, store, _schema: schema }
    }

    /// Writes the same page again, and checks that each text is stored once, with its watermark.
    fn assert_retry_succeeds(&self) {
        self.store.ingest_page(&sample_page()).unwrap();
        assert_eq!(issue_bodies(&self.store), ["body leaks"]);
        assert_eq!(search_ids(&self.store, "leaks"), [5]);
        let through = self.store.lane_state(&issue_lane()).unwrap().coverage.through;
        assert_eq!(through.map(|mark| mark.0), Some(10_000));
    }
}

fn sample_page() -> IngestPage {
    issues_page_through(issues_page(vec![issue(5, 10, "leaks")]).observations, 10)
}

/// Returns the result of `work`, or panics if it hangs.
fn run_with_deadline<T: Send + 'static>(
    deadline: Duration,
    store: LeasedStore,
    work: impl FnOnce(&LeasedStore) -> T + Send + 'static,
) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work(&store)).ok());
    receiver.recv_timeout(deadline).expect("the store hangs")
}
