//! Tests of limits and faults.

use super::*;

#[test]
fn seed_determines_the_bytes_of_all_responses() {
    let spec = WorldSpec {
        hostile_text: true,
        list_lag_ms: 5000,
        replica_lag_ms: 3000,
        faults: FaultRates::all_transient(0.02),
        activity: ActivitySpec::busy(60, i64::MAX),
        ..WorldSpec::small()
    };
    let (mut a, mut b) = (SimulatedGitHub::new(&spec, 9), SimulatedGitHub::new(&spec, 9));
    for step in 0..300 {
        let request = graphql_request(ISSUES, &json!({ "first": 50 }));
        let now = spec.start_ms + step * 7_000;
        assert_eq!(a.handle_request(&request, now), b.handle_request(&request, now));
    }
    assert_eq!(a.world().truth(), b.world().truth());
    assert!(
        a.fired_faults().len() > 3,
        "no fault fired, so nothing was proven: {:?}",
        a.fired_faults()
    );
}

#[test]
fn limit_that_a_client_ignores_is_counted() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    github.arm_fault(ApiFault::SecondaryWithRetryAfter, 1);
    let start = github.now_ms;
    let response =
        github.handle_request(&graphql_request("{ viewer { login } }", &json!({})), start);
    let delivered = start.saturating_add_unsigned(response.latency_ms);
    let limited = parse_response(&expect_response(response));
    assert!(matches!(limited.status, 403 | 429));
    let wait: i64 = limited.header("retry-after").unwrap().parse().unwrap();
    github.handle_request(&graphql_request("{ viewer { login } }", &json!({})), delivered + 1);
    assert_eq!(github.requests_while_limited(), 1);
    let patient =
        post_query_at(&mut github, "{ viewer { login } }", json!({}), delivered + wait * 1000);
    assert_eq!(patient["data"]["viewer"]["login"], "anchor");
    assert_eq!(github.requests_while_limited(), 1);
}

#[test]
fn quota_that_is_exhausted_is_a_200_with_an_error_until_the_window_ends() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    github.arm_fault(ApiFault::PrimaryExhausted, 1);
    let start = github.now_ms;
    let response =
        github.handle_request(&graphql_request("{ viewer { login } }", &json!({})), start);
    let limited = parse_response(&expect_response(response));
    assert_eq!((limited.status, &limited.body["errors"][0]["type"]), (200, &json!("RATE_LIMIT")));
    assert_eq!(limited.header("x-ratelimit-remaining"), Some("0"));
    let reset: i64 = limited.header("x-ratelimit-reset").unwrap().parse().unwrap();
    assert_eq!(reset, start / 1000 + 3600);
    let later = post_query_at(&mut github, "{ viewer { login } }", json!({}), reset * 1000);
    assert_eq!(later["data"]["viewer"]["login"], "anchor");
    assert_eq!(github.requests_while_limited(), 0);
}

#[test]
fn fault_that_is_armed_fires_once_and_is_counted() {
    for fault in ApiFault::ALL {
        let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
        github.arm_fault(fault, 1);
        let start = github.now_ms;
        github.handle_request(&graphql_request(ISSUES, &json!({ "first": 5 })), start);
        assert_eq!(github.fired_faults().get(&fault), Some(&1), "{fault:?}");
        let later = post_query_at(&mut github, ISSUES, json!({ "first": 5 }), start + 4_000_000);
        assert_eq!(later["data"]["repository"]["issues"]["totalCount"], 6, "{fault:?}");
    }
}

#[test]
fn fault_in_a_part_of_the_response_names_the_null_node() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    github.arm_fault(ApiFault::PartialError, 1);
    let response = post_query(&mut github, ISSUES, json!({ "first": 5 }));
    assert!(value_at_path(&response, &response["errors"][0]).is_null());
}
