use super::*;

#[test]
fn limiter_admits_nothing_while_paused() {
    let mut limiter = LimiterState::default();
    limiter.pause_until(5_000);
    limiter.pause_until(3_000);
    assert_eq!(
        limiter.admit_request(ApiKind::Graphql, 1, 0, 4_999),
        AdmissionDecision::WaitUntil(5_000)
    );
    assert_eq!(limiter.admit_request(ApiKind::Graphql, 1, 0, 5_000), AdmissionDecision::Admitted);
}

#[test]
fn limiter_concurrency_grows_when_clean_and_halves_on_a_secondary_limit() {
    let mut limiter = LimiterState::default();
    assert_eq!(count_admitted(&mut limiter, 0), 8);
    (0..8).for_each(|_| {
        assert_eq!(limiter.record_outcome(RequestOutcome::Clean, 0), ConnectionAdvice::Keep);
    });
    assert_eq!(count_admitted(&mut limiter, 0), 9);
    limiter.record_outcome(
        RequestOutcome::RateLimited {
            until_ms: 60_000,
            kind: RateLimitKind::Secondary,
            started_ms: 0,
        },
        0,
    );
    (0..8).for_each(|_| {
        assert_eq!(limiter.record_outcome(RequestOutcome::Failed, 0), ConnectionAdvice::Keep);
    });
    assert_eq!(count_admitted(&mut limiter, 59_999), 0);
    assert_eq!(count_admitted(&mut limiter, 60_000), 4);
}

#[test]
fn limiter_keeps_its_concurrency_on_a_primary_limit() {
    let mut limiter = LimiterState::default();
    assert_eq!(limiter.admit_request(ApiKind::Rest, 1, 0, 0), AdmissionDecision::Admitted);
    limiter.record_outcome(
        RequestOutcome::RateLimited { until_ms: 10, kind: RateLimitKind::Primary, started_ms: 0 },
        0,
    );
    assert_eq!(count_admitted(&mut limiter, 10), 8);
}

#[test]
fn limiter_counts_a_limit_met_by_all_requests_in_flight_once() {
    let mut limiter = LimiterState::default();
    assert_eq!(count_admitted(&mut limiter, 1_000), 8);
    for n in 0..8 {
        let until_ms = 62_000 + n;
        let limited = RequestOutcome::RateLimited {
            until_ms,
            kind: RateLimitKind::Secondary,
            started_ms: 1_000,
        };
        limiter.record_outcome(limited, 2_000 + n);
    }
    assert_eq!((limiter.limits_in_a_row(), limiter.paused_until_ms()), (1, Some(62_007)));
    assert_eq!(count_admitted(&mut limiter, 62_007), 4, "halved once");
}

#[test]
fn limiter_bounds_the_points_of_a_minute() {
    let mut limiter = LimiterState::default();
    for _ in 0..900 {
        assert_eq!(limiter.admit_request(ApiKind::Rest, 1, 0, 1_000), AdmissionDecision::Admitted);
        limiter.record_outcome(RequestOutcome::Clean, 1_000);
    }
    assert_eq!(
        limiter.admit_request(ApiKind::Rest, 1, 0, 1_001),
        AdmissionDecision::WaitUntil(61_000)
    );
    assert_eq!(limiter.admit_request(ApiKind::Graphql, 1, 0, 1_001), AdmissionDecision::Admitted);
    assert_eq!(limiter.admit_request(ApiKind::Rest, 1, 0, 61_000), AdmissionDecision::Admitted);
}

#[test]
fn limiter_keeps_the_pace_between_starts() {
    let mut limiter = LimiterState::default();
    assert_eq!(limiter.admit_request(ApiKind::Graphql, 1, 2_000, 0), AdmissionDecision::Admitted);
    assert_eq!(
        limiter.admit_request(ApiKind::Graphql, 1, 2_000, 1_999),
        AdmissionDecision::WaitUntil(2_000)
    );
    assert_eq!(limiter.admit_request(ApiKind::Graphql, 1, 0, 2_000), AdmissionDecision::Admitted);
    assert_eq!(limiter.admit_request(ApiKind::Graphql, 1, 0, 2_000), AdmissionDecision::Admitted);
}

#[test]
fn limiter_advises_new_connections_after_the_third_failure_in_a_row() {
    let mut limiter = LimiterState::default();
    let advice: Vec<ConnectionAdvice> =
        (0..4).map(|_| limiter.record_outcome(RequestOutcome::NoResponse, 0)).collect();
    assert_eq!(
        advice,
        [
            ConnectionAdvice::Keep,
            ConnectionAdvice::Keep,
            ConnectionAdvice::Reset,
            ConnectionAdvice::Keep
        ]
    );
}

#[test]
fn limiter_forgets_after_five_silent_minutes_but_not_after_a_long_pause() {
    let mut limiter = LimiterState::default();
    limiter.record_usage(ApiKind::Graphql, RateLimitUsage { used: 9, limit: 10 });
    limiter.record_outcome(
        RequestOutcome::RateLimited {
            until_ms: 600_000,
            kind: RateLimitKind::Secondary,
            started_ms: 0,
        },
        0,
    );
    assert_eq!(limiter.admit_request(ApiKind::Graphql, 1, 0, 600_000), AdmissionDecision::Admitted);
    assert_eq!(
        (limiter.limits_in_a_row(), limiter.is_recovering()),
        (1, true),
        "nothing is forgotten"
    );

    limiter.record_outcome(RequestOutcome::NoResponse, 600_000);
    assert_eq!(limiter.admit_request(ApiKind::Graphql, 1, 0, 900_001), AdmissionDecision::Admitted);
    assert_eq!((limiter.limits_in_a_row(), limiter.is_recovering()), (0, false));
    assert_eq!(limiter.api_usage(ApiKind::Graphql), RateLimitUsage::default());
}

fn count_admitted(limiter: &mut LimiterState, now_ms: i64) -> usize {
    (0..100)
        .take_while(|_| {
            limiter.admit_request(ApiKind::Graphql, 1, 0, now_ms) == AdmissionDecision::Admitted
        })
        .count()
}
