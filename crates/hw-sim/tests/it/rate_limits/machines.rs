//! Pauses that another machine stored, whose clock shows another time.

use std::sync::Arc;

use hw_rules::rate_limit::ApiKind;
use hw_sim::ApiFault;
use hw_store::PauseRow;
use hw_sync::crash_points::CrashTrigger;

use super::{request_starts, user, world_spec};
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

const LIMIT_FAULTS: [ApiFault; 3] = [
    ApiFault::SecondaryWithRetryAfter,
    ApiFault::SecondaryWithoutHeaders,
    ApiFault::PrimaryExhausted,
];

#[test]
fn pause_of_another_machine_ends_by_the_sources_clock() {
    for fault in LIMIT_FAULTS {
        for ahead_ms in [-3_600_000, -30_000, 30_000, 3_600_000] {
            let here = SimFixture::new(&world_spec(), 5);
            let there = here.with_clock_ahead(ahead_ms);
            on_virtual_time(async {
                there.pull(&TestPull::default()).await.unwrap();
                let (end_ms, first_ms) = pull_after_a_limit(&here, &there, fault).await;
                let late_ms = first_ms - end_ms;
                assert!((0..=10_000).contains(&late_ms), "{fault:?}, {ahead_ms}: {late_ms} ms");
            });
        }
    }
}

#[test]
fn pause_of_another_machine_lasts_its_length_where_the_sources_clock_is_unknown() {
    for fault in LIMIT_FAULTS {
        for ahead_ms in [-3_600_000, -30_000, 30_000, 3_600_000] {
            let here = SimFixture::new(&world_spec(), 5);
            let there = here.with_clock_ahead(ahead_ms);
            on_virtual_time(async {
                let (end_ms, first_ms) = pull_after_a_limit(&here, &there, fault).await;
                let late_ms = first_ms - end_ms;
                // it saw the pause when its process started
                assert!((0..=10_000).contains(&late_ms), "{fault:?}, {ahead_ms}: {late_ms} ms");
            });
        }
    }
}

#[test]
fn pause_of_another_machine_that_is_over_is_deleted() {
    let here = SimFixture::new(&world_spec(), 5);
    let there = here.with_clock_ahead(-3_600_000);
    on_virtual_time(async {
        there.pull(&TestPull::default()).await.unwrap();
        meet_limit(&here, ApiFault::SecondaryWithoutHeaders).await;
        here.clock.advance_by(1_800_000).await;
        let start_ms = here.world_now_ms();
        there.pull(&TestPull::default()).await.unwrap();
        let took_s = (here.world_now_ms() - start_ms) / 1_000;
        assert!(took_s < 60, "{took_s} s: it was over long ago");
        assert_eq!(stored_pauses(&here), []);
        // a new machine does not know how old it is
        let new = SimFixture { machine: "new".to_owned(), ..there.share() };
        let start_ms = here.world_now_ms();
        new.pull(&TestPull::default()).await.unwrap();
        assert!(here.world_now_ms() - start_ms < 60_000);
        check_mirror(&here, CheckLevel::Everything).unwrap();
    });
}

/// Lets a process meet a limit and die; then pulls on another machine. Returns the end of the pause and the start of the
/// other machine's first request, both in the world's time.
async fn pull_after_a_limit(here: &SimFixture, there: &SimFixture, fault: ApiFault) -> (i64, i64) {
    here.pull(&TestPull::default()).await.unwrap();
    meet_limit(here, fault).await;
    let pauses = stored_pauses(here);
    let until_ms = pauses.iter().map(|pause| pause.span.until_ms).max().unwrap();
    let requests = request_starts(here).len();
    there.pull(&TestPull::default()).await.unwrap();
    assert_eq!(here.with_github(|github| github.requests_while_limited()), 0, "{fault:?}");
    check_mirror(here, CheckLevel::Everything).unwrap();
    (until_ms + here.skew_ms, request_starts(here)[requests])
}

async fn meet_limit(fixture: &SimFixture, fault: ApiFault) {
    fixture.with_github(|github| github.arm_fault(fault, 1));
    let crash_hook: CrashTrigger = Arc::new(|point| point == "fetch: pause written");
    let crashing = TestPull { crash_hook: Some(crash_hook), ..TestPull::default() };
    fixture.pull(&crashing).await.unwrap_err();
}

fn stored_pauses(fixture: &SimFixture) -> Vec<PauseRow> {
    fixture.store.principal_pauses(&user(), ApiKind::Graphql).unwrap()
}
