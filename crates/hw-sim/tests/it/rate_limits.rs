//! Rate limits, and the requests that they stop.

mod connections;
mod pauses;
mod reserves;

use hw_rules::principal::Principal;
use hw_rules::rate_limit::{PauseCause, PauseScope};
use hw_sim::WorldSpec;
use hw_store::NewPause;

use crate::harness::SimFixture;

/// Returns a pause of the simulated user.
fn secondary_pause(until_ms: i64) -> NewPause<'static> {
    NewPause {
        principal: Principal::from_user("github.com", 1_000),
        scope: PauseScope::Everything,
        cause: PauseCause::SourceLimit,
        until_ms,
        reason: "secondary limit",
    }
}

fn world_spec() -> WorldSpec {
    WorldSpec { repositories: 2, issues: 25, ..WorldSpec::small() }
}

/// Returns the start times of all requests.
fn request_starts(fixture: &SimFixture) -> Vec<i64> {
    fixture.with_github(|github| {
        github.request_log().entries.iter().map(|entry| entry.at_ms).collect()
    })
}
