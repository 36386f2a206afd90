//! Progress events of a running pull.

use std::sync::{Arc, Mutex};

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::progress::{ProgressEvent, ProgressSink};

use crate::harness::shortcuts::USUAL_PULL;
use crate::harness::{SimFixture, on_virtual_time};

#[test]
fn progress_reports_a_failure_while_other_lanes_are_read() {
    let events = Arc::<Mutex<Vec<ProgressEvent>>>::default();
    let mut fixture = SimFixture::new(&two_repositories(), 1);
    fixture.largest_page = 5;
    on_virtual_time(async { fixture.pull(&USUAL_PULL).await.unwrap() });
    let sink = Arc::clone(&events);
    fixture.progress = ProgressSink::new(move |event| sink.lock().unwrap().push(event));
    forbid_one_and_fill_other(&fixture);
    let pulled = on_virtual_time(async {
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap()
    });
    assert_eq!(pulled.failures.len(), 1, "{:?}", pulled.failures);
    let events = events.lock().unwrap();
    let failed =
        matching_positions(&events, |event| matches!(event, ProgressEvent::LaneFailed { .. }));
    let read =
        matching_positions(&events, |event| matches!(event, ProgressEvent::LaneFinished { .. }));
    assert_eq!(failed.len(), 1, "reported once");
    assert!(failed[0] < *read.last().unwrap(), "the other repository was still being read");
}

fn matching_positions(
    events: &[ProgressEvent],
    matches: impl Fn(&ProgressEvent) -> bool,
) -> Vec<usize> {
    events.iter().enumerate().filter(|(_, event)| matches(event)).map(|(at, _)| at).collect()
}

/// Makes one list of the first repository unreadable and gives the second repository many pages.
fn forbid_one_and_fill_other(fixture: &SimFixture) {
    let (truth, now) =
        (fixture.with_github(|github| github.world().truth()), fixture.world_now_ms());
    let ids: Vec<i64> = truth.repositories.keys().copied().collect();
    fixture.with_github(|github| {
        github.forbid_list(ids[0], ThreadKind::Issue);
        for number in 0..400 {
            let title = format!("new {number}");
            github.world_mut().create_issue(ids[1], &title, "much to read", now);
        }
    });
}

fn two_repositories() -> WorldSpec {
    WorldSpec { issues: 30, comments_per_thread: 0, ..WorldSpec::small() }
}
