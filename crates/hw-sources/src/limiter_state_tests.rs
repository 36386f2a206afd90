use super::*;

#[test]
fn limiter_admits_nothing_while_paused() {
    let mut limiter = LimiterState::default();
    limiter.pause_until(PauseScope::Everything, PauseCause::SourceLimit, 5_000);
    limiter.pause_until(PauseScope::Everything, PauseCause::SourceLimit, 3_000);
    assert_eq!(
        admit(&mut limiter, ApiKind::Graphql, 0, 4_999),
        AdmissionDecision::WaitUntil(5_000)
    );
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 5_000), AdmissionDecision::Admitted);
}

#[test]
fn limiter_concurrency_grows_when_clean_and_halves_on_a_secondary_limit() {
    let mut limiter = LimiterState::default();
    assert_eq!(count_admitted(&mut limiter, 0), 8);
    (0..8).for_each(|_| {
        assert_eq!(
            limiter.record_outcome(ApiKind::Graphql, RequestOutcome::Clean, 0),
            ConnectionAdvice::Keep
        );
    });
    assert_eq!(count_admitted(&mut limiter, 0), 9);
    limiter.record_outcome(
        ApiKind::Graphql,
        RequestOutcome::RateLimited {
            until_ms: 60_000,
            kind: RateLimitKind::Secondary,
            started_ms: 0,
        },
        0,
    );
    (0..8).for_each(|_| {
        assert_eq!(
            limiter.record_outcome(ApiKind::Graphql, RequestOutcome::Failed, 0),
            ConnectionAdvice::Keep
        );
    });
    assert_eq!(count_admitted(&mut limiter, 59_999), 0);
    assert_eq!(count_admitted(&mut limiter, 60_000), 4);
}

#[test]
fn limiter_keeps_its_concurrency_on_a_primary_limit() {
    let mut limiter = LimiterState::default();
    assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 0), AdmissionDecision::Admitted);
    limiter.record_outcome(
        ApiKind::Rest,
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
        limiter.record_outcome(ApiKind::Graphql, limited, 2_000 + n);
    }
    assert_eq!(
        (limiter.limits_in_a_row(), limiter.paused_until(ApiKind::Rest, true, 3_000)),
        (1, Some(62_007))
    );
    assert_eq!(count_admitted(&mut limiter, 62_007), 4, "halved once");
}

#[test]
fn limiter_bounds_the_points_of_a_minute() {
    let mut limiter = LimiterState::default();
    for _ in 0..900 {
        assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 1_000), AdmissionDecision::Admitted);
        limiter.record_outcome(ApiKind::Rest, RequestOutcome::Clean, 1_000);
    }
    assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 1_001), AdmissionDecision::WaitUntil(61_000));
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 1_001), AdmissionDecision::Admitted);
    assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 61_000), AdmissionDecision::Admitted);
}

#[test]
fn limiter_keeps_the_pace_between_starts() {
    let mut limiter = LimiterState::default();
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 2_000, 0), AdmissionDecision::Admitted);
    assert_eq!(
        admit(&mut limiter, ApiKind::Graphql, 2_000, 1_999),
        AdmissionDecision::WaitUntil(2_000)
    );
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 2_000), AdmissionDecision::Admitted);
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 2_000), AdmissionDecision::Admitted);
}

#[test]
fn limiter_advises_new_connections_after_the_third_failure_in_a_row() {
    let mut limiter = LimiterState::default();
    let advice: Vec<ConnectionAdvice> = (0..4)
        .map(|_| limiter.record_outcome(ApiKind::Graphql, RequestOutcome::NoResponse, 0))
        .collect();
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
        ApiKind::Graphql,
        RequestOutcome::RateLimited {
            until_ms: 600_000,
            kind: RateLimitKind::Secondary,
            started_ms: 0,
        },
        0,
    );
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 600_000), AdmissionDecision::Admitted);
    assert_eq!(
        (limiter.limits_in_a_row(), limiter.is_recovering()),
        (1, true),
        "nothing is forgotten"
    );

    limiter.record_outcome(ApiKind::Graphql, RequestOutcome::NoResponse, 600_000);
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 900_001), AdmissionDecision::Admitted);
    assert_eq!((limiter.limits_in_a_row(), limiter.is_recovering()), (0, false));
    assert_eq!(limiter.api_usage(ApiKind::Graphql), RateLimitUsage::default());
}

#[test]
fn limiter_pauses_only_the_api_whose_budget_is_used_up() {
    let mut limiter = LimiterState::default();
    assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 0), AdmissionDecision::Admitted);
    let limited = |kind| RequestOutcome::RateLimited { until_ms: 9_000, kind, started_ms: 0 };
    limiter.record_outcome(ApiKind::Rest, limited(RateLimitKind::Primary), 1);
    assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 2), AdmissionDecision::WaitUntil(9_000));
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 2), AdmissionDecision::Admitted);
    limiter.record_outcome(ApiKind::Graphql, limited(RateLimitKind::Secondary), 3);
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 4), AdmissionDecision::WaitUntil(9_000));
}

#[test]
fn limiter_keeps_a_pace_for_each_api_but_one_while_it_recovers() {
    let mut limiter = LimiterState::default();
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 5_000, 0), AdmissionDecision::Admitted);
    assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 0), AdmissionDecision::Admitted);
    let until_ms = 1;
    let limited =
        RequestOutcome::RateLimited { until_ms, kind: RateLimitKind::Secondary, started_ms: 0 };
    limiter.record_outcome(ApiKind::Rest, limited, 0);
    assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, 2), AdmissionDecision::WaitUntil(5_000));
}

#[test]
fn limiter_counts_requests_in_flight_against_the_reserve() {
    let mut limiter = LimiterState::default();
    limiter.record_usage(ApiKind::Rest, RateLimitUsage { used: 87, limit: 100 });
    let decisions = [(); 4].map(|()| admit(&mut limiter, ApiKind::Rest, 0, 0));
    let admitted = AdmissionDecision::Admitted;
    assert_eq!(decisions, [admitted, admitted, admitted, AdmissionDecision::ReserveNear]);
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 0), admitted, "another budget");
    let free = AdmissionRequest { reserve_percent: None, ..request(ApiKind::Rest, 0) };
    assert_eq!(limiter.admit_request(free, 0), admitted, "it may cost nothing");
}

#[test]
fn limiter_forgets_what_a_clock_that_was_set_back_has_not_reached() {
    const HOUR: i64 = 3_600_000;
    let mut limiter = LimiterState::default();
    for _ in 0..900 {
        assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, HOUR), AdmissionDecision::Admitted);
        limiter.record_outcome(ApiKind::Rest, RequestOutcome::Clean, HOUR);
    }
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 10_000, HOUR), AdmissionDecision::Admitted);
    let far = HOUR + LONGEST_PAUSE_MS;
    limiter.pause_until(PauseScope::Everything, PauseCause::SourceLimit, far);
    let apis = [ApiKind::Rest, ApiKind::Graphql];
    let before = apis.map(|api| admit(&mut limiter, api, 0, HOUR));
    assert_eq!(before, [AdmissionDecision::WaitUntil(far); 2]);
    let after = apis.map(|api| admit(&mut limiter, api, 0, 1));
    assert_eq!(after, [AdmissionDecision::Admitted; 2]);
}

#[test]
fn limiter_takes_back_the_admission_of_a_request_that_was_not_sent() {
    let mut limiter = LimiterState::default();
    for _ in 0..2_000 {
        assert_eq!(admit(&mut limiter, ApiKind::Rest, 5_000, 0), AdmissionDecision::Admitted);
        limiter.cancel_admission(ApiKind::Rest);
    }
}

fn request(api: ApiKind, delay_ms: i64) -> AdmissionRequest {
    AdmissionRequest { api, points: 1, delay_ms, reserve_percent: Some(10) }
}

fn admit(
    limiter: &mut LimiterState,
    api: ApiKind,
    delay_ms: i64,
    now_ms: i64,
) -> AdmissionDecision {
    limiter.admit_request(request(api, delay_ms), now_ms)
}

fn count_admitted(limiter: &mut LimiterState, now_ms: i64) -> usize {
    (0..100)
        .take_while(|_| admit(limiter, ApiKind::Graphql, 0, now_ms) == AdmissionDecision::Admitted)
        .count()
}
