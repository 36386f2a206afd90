//! Refusals, the number of requests in flight, and hosts that do not answer.

use std::sync::atomic::{AtomicU64, Ordering};

use hw_sim::{ApiFault, WorldSpec};
use hw_sources::transport::{ExchangeStage, HttpResponse, TransportError};

use super::{request_starts, world_spec};
use crate::altered_answers::AlteringTransport;
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

/// The 403 is a firewall's page, or a limit without a marker.
#[test]
fn refusal_that_passes_does_not_end_the_pull() {
    for refused in 0..4 {
        let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 7) };
        on_virtual_time(async {
            let requests = AtomicU64::new(0);
            let transport = AlteringTransport::with_filter(&fixture, move |_, answer| {
                let is_refused = requests.fetch_add(1, Ordering::SeqCst) == refused;
                Ok(if is_refused { forbidden_response(answer) } else { answer })
            });
            let pulled = fixture.pull_via(transport, &TestPull::default()).await.unwrap();
            assert_eq!((pulled.failures, pulled.cost.retries), (vec![], 1), "request {refused}");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn refusal_that_comes_twice_is_believed() {
    let fixture = SimFixture::new(&world_spec(), 8);
    on_virtual_time(async {
        let transport =
            AlteringTransport::with_filter(&fixture, |_, answer| Ok(forbidden_response(answer)));
        let ended = fixture.pull_via(transport, &TestPull::default()).await.unwrap_err();
        assert!(ended.to_string().contains("the token was refused"), "{ended}");
        assert_eq!(fixture.with_github(|github| github.request_log().total), 2);
    });
}

#[test]
fn requests_in_flight_never_exceed_fifty() {
    let many = WorldSpec {
        repositories: 100,
        latency_ms: 500..=500,
        no_archives_or_forks: true,
        ..world_spec()
    };
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&many, 10) };
    on_virtual_time(async { fixture.pull(&TestPull::default()).await.unwrap() });
    let starts = request_starts(&fixture);
    let in_flight = starts
        .iter()
        .map(|at| starts.iter().filter(|start| (at - 499..=*at).contains(start)).count());
    assert_eq!(in_flight.max(), Some(50));
}

#[test]
fn connections_are_reset_after_three_failures_in_a_row() {
    let fixture = SimFixture::new(&world_spec(), 11);
    on_virtual_time(async {
        fixture.with_github(|github| github.arm_fault(ApiFault::Reset, 2));
        fixture.pull(&TestPull::default()).await.unwrap();
        assert_eq!(fixture.reconnects.load(Ordering::SeqCst), 0);
        fixture.with_github(|github| github.arm_fault(ApiFault::Reset, 3));
        fixture.pull(&TestPull::default()).await.unwrap();
        assert_eq!(fixture.reconnects.load(Ordering::SeqCst), 1);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn unreachable_host_ends_a_run_soon_unless_it_answered_before() {
    for (answered, at_most_s) in [(0, 10), (1, 900)] {
        let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 7) };
        on_virtual_time(async {
            let requests = AtomicU64::new(0);
            let transport = AlteringTransport::with_filter(&fixture, move |_, answer| {
                if requests.fetch_add(1, Ordering::SeqCst) < answered {
                    return Ok(answer);
                }
                let refused = TransportError::new("Connection refused");
                Err(TransportError { stage: ExchangeStage::Connect, ..refused })
            });
            let start_ms = fixture.world_now_ms();
            let ended = fixture.pull_via(transport, &TestPull::default()).await.unwrap_err();
            assert!(ended.to_string().contains("cannot connect to api.github.com"), "{ended}");
            let took_s = (fixture.world_now_ms() - start_ms) / 1_000;
            assert!(took_s <= at_most_s, "{took_s} s");
            assert_eq!(took_s > 60, answered > 0, "retries go on only after a first answer");
        });
    }
}

fn forbidden_response(answer: HttpResponse) -> HttpResponse {
    HttpResponse { status: 403, body: b"<html>Forbidden</html>".to_vec(), ..answer }
}
