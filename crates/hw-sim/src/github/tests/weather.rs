//! Promises of the limits and the faults.

use super::*;

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let spec = WorldSpec {
        hostile_text: true,
        list_lag_ms: 5000,
        replica_lag_ms: 3000,
        faults: FaultRates::every(0.02),
        writers: Writers::busy(60, i64::MAX),
        ..WorldSpec::small()
    };
    let (mut a, mut b) = (GitHub::new(&spec, 9), GitHub::new(&spec, 9));
    for step in 0..300 {
        let request = post(ISSUES, &json!({ "first": 50 }));
        let now = spec.start_ms + step * 7_000;
        assert_eq!(a.handle(&request, now), b.handle(&request, now));
    }
    assert_eq!(a.world().truth(), b.world().truth());
    assert!(3 < a.fired().len(), "no fault fired, so nothing was proven: {:?}", a.fired());
}

#[test]
fn a_limited_client_that_asks_again_is_counted() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    github.arm(Fault::SecondaryWithRetryAfter, 1);
    let start = github.now_ms;
    let answer = github.handle(&post("{ viewer { login } }", &json!({})), start);
    let delivered = start.saturating_add_unsigned(answer.latency_ms);
    let (status, head, _) = parts(&response(answer));
    assert!(matches!(status, 403 | 429));
    let wait: i64 = header(&head, "retry-after").unwrap().parse().unwrap();
    github.handle(&post("{ viewer { login } }", &json!({})), delivered + 1);
    assert_eq!(github.started_while_limited(), 1);
    let patient = at(&mut github, "{ viewer { login } }", json!({}), delivered + wait * 1000);
    assert_eq!(patient["data"]["viewer"]["login"], "anchor");
    assert_eq!(github.started_while_limited(), 1);
}

#[test]
fn an_exhausted_quota_is_a_200_with_an_error_until_the_window_ends() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    github.arm(Fault::PrimaryExhausted, 1);
    let start = github.now_ms;
    let answer = github.handle(&post("{ viewer { login } }", &json!({})), start);
    let (status, head, body) = parts(&response(answer));
    assert_eq!((status, &body["errors"][0]["type"]), (200, &json!("RATE_LIMIT")));
    assert_eq!(header(&head, "x-ratelimit-remaining").as_deref(), Some("0"));
    let reset: i64 = header(&head, "x-ratelimit-reset").unwrap().parse().unwrap();
    assert_eq!(reset, start / 1000 + 3600);
    let later = at(&mut github, "{ viewer { login } }", json!({}), reset * 1000);
    assert_eq!(later["data"]["viewer"]["login"], "anchor");
    assert_eq!(github.started_while_limited(), 0);
}

#[test]
fn every_armed_fault_fires_once_and_is_counted() {
    for fault in Fault::ALL {
        let mut github = GitHub::new(&WorldSpec::small(), 1);
        github.arm(fault, 1);
        let start = github.now_ms;
        github.handle(&post(ISSUES, &json!({ "first": 5 })), start);
        assert_eq!(github.fired().get(&fault), Some(&1), "{fault:?}");
        let healed = at(&mut github, ISSUES, json!({ "first": 5 }), start + 4_000_000);
        assert_eq!(healed["data"]["repository"]["issues"]["totalCount"], 6, "{fault:?}");
    }
}

#[test]
fn a_partial_error_names_the_node_that_is_null() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    github.arm(Fault::PartialError, 1);
    let answer = ask(&mut github, ISSUES, json!({ "first": 5 }));
    assert!(named(&answer, &answer["errors"][0]).is_null());
}
