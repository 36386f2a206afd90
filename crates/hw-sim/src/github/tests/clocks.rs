//! Tests of clocks that disagree, and of timeouts that cost points.

use std::collections::BTreeSet;

use super::*;

const QUOTA: &str = "{ rateLimit { used resetAt } }";

#[test]
fn clock_jitter_moves_resets_by_a_second_within_one_window() {
    let mut github = SimulatedGitHub::new(&WorldSpec::with_clock_jitter(), 1);
    let start = github.now_ms;
    let mut resets = BTreeSet::new();
    for step in 0..60 {
        let response = read_quota(&mut github, start + step * 1000);
        let reset = reset_header(&response);
        let reset_at = &response.body["data"]["rateLimit"]["resetAt"];
        assert_eq!(*reset_at, crate::format_rfc3339(reset * 1000));
        resets.insert(reset - start / 1000 - 3600);
    }
    assert_eq!(resets, BTreeSet::from([-1, 0, 1]));
}

#[test]
fn clock_jitter_ends_a_limit_at_the_latest_reported_reset() {
    let mut early = 0;
    for seed in 0..30 {
        let mut github = SimulatedGitHub::new(&WorldSpec::with_clock_jitter(), seed);
        let start = github.now_ms;
        let first = reset_header(&read_quota(&mut github, start));
        github.arm_fault(ApiFault::PrimaryExhausted, 1);
        let second = reset_header(&read_quota(&mut github, start + 1000));
        let end = first.max(second) * 1000;
        if second < first {
            github.handle_request(&graphql_request(QUOTA, &json!({})), second * 1000);
            assert_eq!(github.requests_while_limited(), 1, "seed {seed}");
            early += 1;
            continue;
        }
        let response = post_query_at(&mut github, QUOTA, json!({}), end);
        assert!(response.get("errors").is_none(), "seed {seed}: {response}");
        assert_eq!(github.requests_while_limited(), 0, "seed {seed}");
    }
    assert!(early > 0, "no reset was earlier than the one before, so nothing was proven");
}

#[test]
fn clock_jitter_moves_dates_by_a_second() {
    let spec = WorldSpec { latency_ms: 0..=0, ..WorldSpec::with_clock_jitter() };
    let mut github = SimulatedGitHub::new(&spec, 1);
    let dates: BTreeSet<String> = (0..40)
        .map(|_| read_quota(&mut github, spec.start_ms).header("date").unwrap().to_owned())
        .collect();
    let dates: Vec<&str> = dates.iter().map(String::as_str).collect();
    assert_eq!(dates, ["Fri, 02 Jan 2026 03:04:05 GMT", "Fri, 02 Jan 2026 03:04:06 GMT"]);
}

#[test]
fn clocks_agree_without_jitter() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let start = github.now_ms;
    let resets: BTreeSet<_> =
        (0..40).map(|step| reset_header(&read_quota(&mut github, start + step * 1000))).collect();
    assert_eq!(resets.len(), 1);
}

#[test]
fn clock_jitter_charges_timeouts_to_the_next_window() {
    for (fault, cost) in
        [(ApiFault::GatewayTimeout, 10), (ApiFault::BadGateway, 10), (ApiFault::Reset, 0)]
    {
        let mut github = SimulatedGitHub::new(&WorldSpec::with_clock_jitter(), 1);
        let start = github.now_ms;
        github.arm_fault(fault, 1);
        github.handle_request(&graphql_request(QUOTA, &json!({})), start);
        for (elapsed_ms, used) in [(1000, 2), (3_602_000, cost + 1), (7_206_000, 1)] {
            let response = read_quota(&mut github, start + elapsed_ms);
            assert_eq!(response.body["data"]["rateLimit"]["used"], used, "{fault:?}");
        }
    }
}

fn read_quota(github: &mut SimulatedGitHub, now_ms: i64) -> ParsedResponse {
    let response = github.handle_request(&graphql_request(QUOTA, &json!({})), now_ms);
    parse_response(&expect_response(response))
}

fn reset_header(response: &ParsedResponse) -> i64 {
    response.header("x-ratelimit-reset").unwrap().parse().unwrap()
}
