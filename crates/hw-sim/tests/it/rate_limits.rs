//! Rate limits, and the requests that they stop.

mod class_shares;
mod connections;
mod machines;
mod pauses;
mod reserves;

use hw_rules::principal::Principal;
use hw_rules::rate_limit::{PauseCause, PauseScope};
use hw_sim::WorldSpec;
use hw_store::NewPause;

use crate::harness::SimFixture;

/// Returns a pause of the simulated user, stored an hour before its end.
fn secondary_pause(until_ms: i64) -> NewPause<'static> {
    NewPause {
        principal: user(),
        scope: PauseScope::Everything,
        cause: PauseCause::SourceLimit,
        machine: "here",
        stored_ms: until_ms - 3_600_000,
        until_ms,
        source_until: None,
        reason: "secondary limit",
    }
}

/// Returns the simulated user.
fn user() -> Principal {
    Principal::from_user("github.com", 1_000)
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
