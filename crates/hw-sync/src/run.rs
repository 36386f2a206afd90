//! The loop over lanes: who is followed, each one's turn, and what came of it all.

use hw_rules::item::Repository;
use hw_rules::lane::Lane;
use hw_store::{Lease, Store};

use crate::fetch::{Cost, Fetch};
use crate::turn::{Followed, Room, Tally, Turned, turn};
use crate::{Error, crash, lease, list};

/// The name of the lease that a pull holds.
pub const PULL: &str = "pull";

/// What to pull, and how.
#[derive(Debug, Clone)]
pub struct Pull {
    pub host: String,
    pub organization: String,
    /// Who pulls, for those who find the lease taken.
    pub owner: String,
    pub window_days: Option<u32>,
    /// Also read the whole rolls, and remove what is gone.
    pub reconcile: bool,
    pub allow_mass_removal: bool,
}

/// What a pull did.
#[derive(Debug, Default)]
pub struct Summary {
    pub viewer: String,
    pub repositories: usize,
    pub issues: Tally,
    pub cost: Cost,
    /// Lanes that failed, by name, and why. The others were read to their ends; what could not be read in
    /// them is in quarantine.
    pub errors: Vec<(String, String)>,
}

/// Pulls everything that is followed, once.
pub async fn pull(store: &Store, fetch: &Fetch, pull: &Pull) -> Result<Summary, Error> {
    let lease = lease::take(store, fetch.clock(), PULL, &pull.owner)?;
    fetch.crash().pass(crash::LEASE_TAKEN)?;
    let done =
        lease::keep(store, fetch.clock(), &lease, pull_all(store, fetch, pull, &lease)).await;
    let is_ours = !matches!(&done, Err(error) if error.loses_the_lease());
    if is_ours && let Err(error) = store.release_lease(&lease) {
        tracing::warn!(%error, "the lease could not be given back; it expires by itself");
    }
    done
}

async fn pull_all(
    store: &Store,
    fetch: &Fetch,
    pull: &Pull,
    lease: &Lease,
) -> Result<Summary, Error> {
    let room = Room {
        store,
        fetch,
        lease,
        window_days: pull.window_days,
        allow_mass_removal: pull.allow_mass_removal,
    };
    let viewer = list::introduce(&room, &pull.host).await?;
    let mut listed = list::list(&room, &pull.host, &pull.organization).await?;
    listed.remember(store.repositories(&pull.host)?);
    let repositories = listed.repositories.len();
    let mut summary = Summary { viewer, repositories, ..Summary::default() };
    let lane_name = Lane::repositories(&pull.host, &pull.organization).to_string();
    for subject in &listed.unreadable {
        summary
            .errors
            .push((lane_name.clone(), format!("a repository could not be read: {subject}")));
    }
    for followed in follow(&pull.host, &listed.repositories) {
        lane(&room, &followed, pull.reconcile, &mut summary).await?;
    }
    summary.cost = fetch.cost();
    Ok(summary)
}

/// The lanes of the repositories that have issues.
fn follow(host: &str, repositories: &[Repository]) -> Vec<Followed> {
    let with_issues = repositories.iter().filter(|repository| repository.has_issues_enabled);
    let followed = with_issues.map(|repository| Followed {
        lane: Lane::issues(host, repository.id),
        repository_id: repository.id,
        node_id: repository.node_id.clone(),
    });
    followed.collect()
}

/// A lane's turn, its sweep included when one is asked for. One failing lane never stops the others.
async fn lane(
    room: &Room<'_>,
    followed: &Followed,
    reconcile: bool,
    summary: &mut Summary,
) -> Result<(), Error> {
    room.store.make_due(room.lease, &followed.lane)?;
    let done = if reconcile {
        reconcile_lane(room, followed).await
    } else {
        wait_for_turn(room, followed).await
    };
    match done {
        Ok(tally) => summary.issues.add(&tally),
        Err(error) if error.is_of_one_lane() => {
            tracing::warn!(%error, "a lane failed; the others go on");
            summary.errors.push((followed.lane.to_string(), error.to_string()));
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// A sweep begun now; what an earlier one left unfinished is finished first, but it began too early to
/// know what was deleted since.
async fn reconcile_lane(room: &Room<'_>, followed: &Followed) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    if room.store.lane_state(&followed.lane)?.sweeping {
        tally.add(&wait_for_turn(room, followed).await?);
    }
    room.store.request_sweep(&followed.lane, room.fetch.clock().now_ms())?;
    tally.add(&wait_for_turn(room, followed).await?);
    Ok(tally)
}

/// A person asked for this pull, so it waits out whatever the lane has to wait for.
async fn wait_for_turn(room: &Room<'_>, followed: &Followed) -> Result<Tally, Error> {
    loop {
        match turn(room, followed).await? {
            Turned::Done(tally) => return Ok(tally),
            Turned::Slept { until_ms, why } => {
                tracing::info!(lane = %followed.lane, ?why, "waiting");
                room.fetch.clock().sleep_until(until_ms).await;
            }
        }
    }
}
