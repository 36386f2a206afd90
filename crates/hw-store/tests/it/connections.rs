//! PostgreSQL behind a connection that stalls or breaks.

use std::sync::mpsc;
use std::time::Duration;

use hw_store::{DatabaseTimeouts, Error, IngestPage, Lease, Place, Store};

use crate::proxy::{Fault, Proxy};
use crate::world::{Schema, bodies, found, issue, issues, issues_through, lane, open, raw};

/// A hang is a failed test, not a stuck suite.
const DEADLINE: Duration = Duration::from_secs(60);

/// As it is sent: the end of a transaction, and not a `read committed` at its beginning.
const COMMIT: &str = "commit\0";

const QUICK: DatabaseTimeouts = DatabaseTimeouts {
    write: Duration::from_secs(2),
    read: Duration::from_secs(2),
    lock: Duration::from_secs(1),
    grace: Duration::from_secs(1),
};

#[test]
fn connection_that_stays_up_and_says_nothing_is_given_up() {
    let story = Story::new();
    story.proxy.stall();
    let refused = within(DEADLINE, story.store.clone(), |store| store.counts().err());
    assert!(matches!(refused, Some(Error::Unreachable(_))), "{refused:?}");
    story.proxy.resume();
    assert_eq!(story.store.counts().unwrap().repositories, 1, "and the store goes on");
}

#[test]
fn connection_that_falls_silent_within_a_transaction_is_given_up_and_the_transaction_repeated() {
    for text in ["insert into issues", COMMIT] {
        let story = Story::new();
        story.proxy.arm(text, 0, Fault::Stall);
        let (lease, page) = (story.lease.clone(), page());
        let refused =
            within(DEADLINE, story.store.clone(), move |store| store.ingest(&lease, &page).err());
        assert!(matches!(refused, Some(Error::Unreachable(_))), "{text}: {refused:?}");
        assert_eq!(story.proxy.fired(), 1, "{text}");
        story.proxy.resume();
        story.repeat();
    }
}

#[test]
fn connection_that_is_cut_at_a_commit_loses_nothing_and_doubles_nothing() {
    for fault in [Fault::CutBefore, Fault::CutAfter] {
        let story = Story::new();
        story.proxy.arm(COMMIT, 0, fault);
        let refused = story.store.ingest(&story.lease, &page()).unwrap_err();
        assert!(refused.is_lost_connection(), "{refused}");
        assert_eq!(story.proxy.fired(), 1);
        story.repeat();
    }
}

/// The reconnected owner still holds its lease, and one that lost it is still refused.
#[test]
fn connection_that_was_cut_leaves_the_lease_to_its_owner_and_to_nobody_else() {
    let story = Story::new();
    story.proxy.arm(COMMIT, 0, Fault::CutBefore);
    story.store.ingest(&story.lease, &page()).unwrap_err();
    story.store.renew_lease(&story.lease, 1_000, 5_000).unwrap();
    let next = story.store.take_lease("pull", "next", 7_000, 5_000).unwrap().unwrap();
    assert!(story.lease.epoch < next.epoch);
    let refused = story.store.ingest(&story.lease, &page()).unwrap_err();
    assert!(matches!(refused, Error::LeaseLost { .. }), "{refused}");
}

#[test]
fn migrations_and_the_wipe_are_not_ended_by_the_statement_limit() {
    let schema = Schema::new();
    let (store, lease) = open(&schema.place);
    store.ingest(&lease, &page()).unwrap();
    drop(store);
    raw(
        &schema.place,
        "create function dawdle() returns trigger language plpgsql as
            'begin perform pg_sleep(0.5); return old; end';
         create trigger dawdle before delete on cells for each statement execute function dawdle();
         update schema_version set guid = 'another'",
    );
    let limited = DatabaseTimeouts { write: Duration::from_millis(250), ..QUICK };
    let store = Store::open_with(&schema.place, limited).unwrap();
    assert_eq!(store.counts().unwrap().issues, 0);
}

#[test]
fn statement_that_takes_too_long_is_not_reported_as_a_lock() {
    let schema = Schema::new();
    let (store, lease) = open(&schema.place);
    raw(
        &schema.place,
        "create function dawdle() returns trigger language plpgsql as
            'begin perform pg_sleep(5); return new; end';
         create trigger dawdle before insert on issues for each row execute function dawdle()",
    );
    drop(store);
    let limited = DatabaseTimeouts { write: Duration::from_millis(250), ..QUICK };
    let store = Store::open_with(&schema.place, limited).unwrap();
    let refused = store.ingest(&lease, &page()).unwrap_err();
    assert!(matches!(refused, Error::StatementTimeout(_)), "{refused}");
}

/// A store behind a proxy, with a lease.
struct Story {
    proxy: Proxy,
    store: Store,
    lease: Lease,
    _schema: Schema,
}

impl Story {
    fn new() -> Self {
        let schema = Schema::new();
        let Place::Postgres { url, schema: name } = &schema.place else {
            panic!("it is PostgreSQL")
        };
        let (_, lease) = open(&schema.place);
        let proxy = Proxy::before(url);
        let place = Place::Postgres { url: proxy.url(url), schema: name.clone() };
        let store = Store::open_with(&place, QUICK).unwrap();
        Self { proxy, store, lease, _schema: schema }
    }

    /// Writes the same page again, and finds each text once, with its watermark.
    fn repeat(&self) {
        self.store.ingest(&self.lease, &page()).unwrap();
        assert_eq!(bodies(&self.store), ["body leaks"]);
        assert_eq!(found(&self.store, "leaks"), [5]);
        let through = self.store.lane_state(&lane()).unwrap().coverage.through;
        assert_eq!(through.map(|mark| mark.0), Some(10_000));
    }
}

fn page() -> IngestPage {
    issues_through(issues(vec![issue(5, 10, "leaks")]).observations, 10)
}

/// What the work answers, or a failed test when it hangs.
fn within<T: Send + 'static>(
    deadline: Duration,
    store: Store,
    work: impl FnOnce(&Store) -> T + Send + 'static,
) -> T {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || done.send(work(&store)).ok());
    is_done.recv_timeout(deadline).expect("it hangs")
}
