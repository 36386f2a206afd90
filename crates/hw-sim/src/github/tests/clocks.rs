//! Promises of clocks that disagree, and of time-outs that are not forgotten.

use std::collections::BTreeSet;

use super::*;

const QUOTA: &str = "{ rateLimit { used resetAt } }";

#[test]
fn resets_jitter_by_a_second_within_one_window() {
    let mut github = GitHub::new(&WorldSpec::rough(), 1);
    let start = github.now_ms;
    let mut resets = BTreeSet::new();
    for step in 0..60 {
        let (head, body) = told(&mut github, start + step * 1000);
        let reset: i64 = header(&head, "x-ratelimit-reset").unwrap().parse().unwrap();
        assert_eq!(body["data"]["rateLimit"]["resetAt"], crate::rfc3339(reset * 1000));
        resets.insert(reset - start / 1000 - 3600);
    }
    assert_eq!(resets, BTreeSet::from([-1, 0, 1]));
}

#[test]
fn a_limit_ends_at_the_latest_of_what_was_told() {
    let mut early = 0;
    for seed in 0..30 {
        let mut github = GitHub::new(&WorldSpec::rough(), seed);
        let start = github.now_ms;
        let (head, _) = told(&mut github, start);
        let first: i64 = header(&head, "x-ratelimit-reset").unwrap().parse().unwrap();
        github.arm(Fault::PrimaryExhausted, 1);
        let (head, _) = told(&mut github, start + 1000);
        let second: i64 = header(&head, "x-ratelimit-reset").unwrap().parse().unwrap();
        let end = first.max(second) * 1000;
        if second < first {
            github.handle(&post(QUOTA, &json!({})), second * 1000);
            assert_eq!(github.started_while_limited(), 1, "seed {seed}");
            early += 1;
            continue;
        }
        let answer = at(&mut github, QUOTA, json!({}), end);
        assert!(answer.get("errors").is_none(), "seed {seed}: {answer}");
        assert_eq!(github.started_while_limited(), 0, "seed {seed}");
    }
    assert!(0 < early, "no answer told less than the one before, so nothing was proven");
}

#[test]
fn dates_of_one_moment_can_be_a_second_apart() {
    let spec = WorldSpec { latency_ms: 0..=0, ..WorldSpec::rough() };
    let mut github = GitHub::new(&spec, 1);
    let dates: BTreeSet<String> =
        (0..40).map(|_| header(&told(&mut github, spec.start_ms).0, "date").unwrap()).collect();
    let dates: Vec<&str> = dates.iter().map(String::as_str).collect();
    assert_eq!(dates, ["Fri, 02 Jan 2026 03:04:05 GMT", "Fri, 02 Jan 2026 03:04:06 GMT"]);
}

#[test]
fn clocks_agree_unless_asked_not_to() {
    let mut github = GitHub::new(&WorldSpec::small(), 1);
    let start = github.now_ms;
    let resets: BTreeSet<_> = (0..40)
        .map(|step| header(&told(&mut github, start + step * 1000).0, "x-ratelimit-reset"))
        .collect();
    assert_eq!(resets.len(), 1);
}

#[test]
fn a_time_out_costs_points_at_the_start_of_the_next_window() {
    for (fault, cost) in [(Fault::GatewayTimeout, 10), (Fault::BadGateway, 10), (Fault::Reset, 0)] {
        let mut github = GitHub::new(&WorldSpec::rough(), 1);
        let start = github.now_ms;
        github.arm(fault, 1);
        github.handle(&post(QUOTA, &json!({})), start);
        let used = |body: Value| body["data"]["rateLimit"]["used"].as_i64().unwrap();
        assert_eq!(used(told(&mut github, start + 1000).1), 2, "{fault:?}");
        assert_eq!(used(told(&mut github, start + 3_602_000).1), cost + 1, "{fault:?}");
        assert_eq!(used(told(&mut github, start + 7_206_000).1), 1, "{fault:?}");
    }
}

fn told(github: &mut GitHub, now_ms: i64) -> (String, Value) {
    let (_, head, body) = parts(&response(github.handle(&post(QUOTA, &json!({})), now_ms)));
    (head, body)
}
