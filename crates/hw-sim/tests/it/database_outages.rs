//! Outages of the database server during a pull.

use std::time::Duration;

use hw_sim::WorldSpec;
use hw_store::{DatabaseLocation, DatabaseTimeouts, StoreWriter};
use hw_sync::progress::{ProgressEvent, ProgressSink};

use crate::harness::shortcuts::USUAL_PULL;
use crate::harness::{CheckLevel, SimFixture, check_mirror, on_virtual_time, postgres_location};
use crate::proxy::{FaultProxy, ProxyFault};

const SHORT_TIMEOUTS: DatabaseTimeouts = DatabaseTimeouts {
    write: Duration::from_secs(2),
    read: Duration::from_secs(2),
    lock: Duration::from_secs(1),
    grace: Duration::from_secs(1),
};

/// The commit message of the PostgreSQL protocol.
const COMMIT_MESSAGE: &str = "commit\0";

#[test]
fn outage_by_a_cut_connection_at_any_commit_ends_in_a_complete_pull() {
    let mut fired = 0;
    for (round, fault) in
        [ProxyFault::CutBefore, ProxyFault::CutAfter].into_iter().cycle().take(8).enumerate()
    {
        fired += pull_through_an_outage(round, &|proxy| {
            proxy.arm_fault(COMMIT_MESSAGE, round * 7, fault);
        });
    }
    assert!(fired > 4, "{fired} connections were cut");
}

/// The server answers again as soon as the pull has reported that it will try again.
#[test]
fn outage_by_a_silent_server_is_noticed_and_waited_out() {
    let mut outage =
        open_behind_proxy("silent", &|proxy| proxy.arm_fault(COMMIT_MESSAGE, 9, ProxyFault::Stall));
    let proxy = outage.proxy.clone();
    outage.fixture.progress = ProgressSink::new(move |event| {
        if matches!(&event, ProgressEvent::RetryScheduled { reason, .. } if reason.contains("timed out"))
        {
            proxy.resume();
        }
    });
    on_virtual_time(async {
        outage.fixture.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(outage.proxy.fired_faults(), 1);
        check_mirror(&outage.fixture, CheckLevel::Everything).unwrap();
    });
}

fn pull_through_an_outage(round: usize, arm: &dyn Fn(&FaultProxy)) -> usize {
    let outage = open_behind_proxy(&format!("cut_{round}"), arm);
    on_virtual_time(async {
        let pulled = outage.fixture.pull(&USUAL_PULL).await;
        assert!(pulled.is_ok(), "round {round}: {pulled:?}");
        check_mirror(&outage.fixture, CheckLevel::Everything).unwrap();
    });
    outage.proxy.fired_faults()
}

/// A fixture whose store is behind a proxy, armed once the store is open.
struct OutageFixture {
    fixture: SimFixture,
    proxy: FaultProxy,
}

fn open_behind_proxy(name: &str, arm: &dyn Fn(&FaultProxy)) -> OutageFixture {
    let location = postgres_location(&format!("outages_{}_{name}", std::process::id()));
    let DatabaseLocation::Postgres { url, schema } = location else { panic!("not PostgreSQL") };
    let proxy = FaultProxy::in_front_of(&url);
    let location = DatabaseLocation::Postgres { url: proxy.url(&url), schema };
    let store = StoreWriter::open_with_timeouts(&location, SHORT_TIMEOUTS).unwrap();
    arm(&proxy);
    let spec = WorldSpec { repositories: 3, issues: 30, ..WorldSpec::small() };
    OutageFixture {
        fixture: SimFixture { largest_page: 5, ..SimFixture::with_store(&spec, 1, store) },
        proxy,
    }
}
