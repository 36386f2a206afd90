//! A database server that goes away in the middle of a pull, and comes back.

use std::time::Duration;

use hw_sim::WorldSpec;
use hw_store::{DatabaseTimeouts, Place, Store};
use hw_sync::news::{Herald, News};

use crate::harness::words::OK;
use crate::harness::{Judge, Scene, check_mirror, on_virtual_time, postgres};
use crate::proxy::{Fault, Proxy};

const QUICK: DatabaseTimeouts = DatabaseTimeouts {
    write: Duration::from_secs(2),
    read: Duration::from_secs(2),
    lock: Duration::from_secs(1),
    grace: Duration::from_secs(1),
};

/// The end of a transaction, as it is sent.
const COMMIT: &str = "commit\0";

#[test]
fn outage_by_a_cut_connection_at_any_commit_ends_in_a_complete_pull() {
    let mut fired = 0;
    for (round, fault) in
        [Fault::CutBefore, Fault::CutAfter].into_iter().cycle().take(8).enumerate()
    {
        fired += pull_through_an_outage(round, &|proxy| proxy.arm(COMMIT, round * 7, fault));
    }
    assert!(fired > 4, "{fired} connections were cut");
}

/// The server answers again as soon as the pull has reported that it will try again.
#[test]
fn outage_by_a_server_that_falls_silent_is_noticed_and_waited_out() {
    let mut behind = scene("silent", &|proxy| proxy.arm(COMMIT, 9, Fault::Stall));
    let proxy = behind.proxy.clone();
    behind.scene.herald = Herald::new(move |news| {
        if matches!(&news, News::Retried { why, .. } if why.contains("timed out")) {
            proxy.resume();
        }
    });
    on_virtual_time(async {
        behind.scene.pull(&OK).await.unwrap();
        assert_eq!(behind.proxy.fired(), 1);
        check_mirror(&behind.scene, Judge::Everything).unwrap();
    });
}

fn pull_through_an_outage(round: usize, arm: &dyn Fn(&Proxy)) -> usize {
    let scene = scene(&format!("cut_{round}"), arm);
    on_virtual_time(async {
        let done = scene.scene.pull(&OK).await;
        assert!(done.is_ok(), "round {round}: {done:?}");
        check_mirror(&scene.scene, Judge::Everything).unwrap();
    });
    scene.proxy.fired()
}

/// A scene whose store is behind a proxy, armed when the store is open.
struct Behind {
    scene: Scene,
    proxy: Proxy,
}

fn scene(name: &str, arm: &dyn Fn(&Proxy)) -> Behind {
    let place = postgres(&format!("outages_{}_{name}", std::process::id()));
    let Place::Postgres { url, schema } = place else { panic!("it is PostgreSQL") };
    let proxy = Proxy::before(&url);
    let place = Place::Postgres { url: proxy.url(&url), schema };
    let store = Store::open_with(&place, QUICK).unwrap();
    arm(&proxy);
    let spec = WorldSpec { repositories: 3, issues: 30, ..WorldSpec::small() };
    Behind { scene: Scene { largest_page: 5, ..Scene::with_store(&spec, 1, store) }, proxy }
}
