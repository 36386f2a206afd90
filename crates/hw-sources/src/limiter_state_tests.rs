use hw_rules::pause_end::LONGEST_PAUSE_MS;

use super::*;

const RESET: SourceInstant = SourceInstant(3_600_000);

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
        (limiter.limits_in_a_row(), admit(&mut limiter, ApiKind::Rest, 0, 3_000)),
        (1, AdmissionDecision::WaitUntil(62_007))
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
    limiter.record_usage(ApiKind::Graphql, RateLimitUsage { used: 9, limit: 10 }, RESET);
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
fn limiter_resumes_slowly_after_a_secondary_limit_that_another_process_met() {
    for (scope, cause, is_recovering) in [
        (PauseScope::Everything, PauseCause::SourceLimit, true),
        (PauseScope::Api(ApiKind::Graphql), PauseCause::SourceLimit, false),
        (PauseScope::Everything, PauseCause::Reserve(RequestClass::Mirror), false),
    ] {
        let mut limiter = LimiterState::default();
        limiter.obey_stored_pause(scope, cause, 5_000);
        assert_eq!(limiter.is_recovering(), is_recovering, "{scope:?} {cause:?}");
        assert_ne!(admit(&mut limiter, ApiKind::Graphql, 0, 4_999), AdmissionDecision::Admitted);
        assert_eq!(
            admit(&mut limiter, ApiKind::Graphql, 7_000, 5_000),
            AdmissionDecision::Admitted
        );
        let other_api = admit(&mut limiter, ApiKind::Rest, 0, 5_000);
        assert_eq!(other_api != AdmissionDecision::Admitted, is_recovering, "{scope:?} {cause:?}");
    }
}

#[test]
fn limiter_counts_requests_in_flight_against_the_reserve() {
    let mut limiter = LimiterState::default();
    limiter.record_usage(ApiKind::Rest, RateLimitUsage { used: 87, limit: 100 }, RESET);
    let decisions = [(); 4].map(|()| admit(&mut limiter, ApiKind::Rest, 0, 0));
    let admitted = AdmissionDecision::Admitted;
    assert_eq!(decisions, [admitted, admitted, admitted, AdmissionDecision::ReserveNear]);
    assert_eq!(admit(&mut limiter, ApiKind::Graphql, 0, 0), admitted, "another budget");
    let free = AdmissionRequest { floor_percent: None, ..request(ApiKind::Rest, 0) };
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

#[test]
fn limiter_pauses_a_class_and_those_below_it_for_the_reserve() {
    let mut limiter = LimiterState::default();
    let scope = PauseScope::Api(ApiKind::Rest);
    limiter.pause_until(scope, PauseCause::Reserve(RequestClass::Mirror), 5_000);
    let mut admit_all = |floor_percent, now_ms| {
        RequestClass::ALL.map(|class| {
            let wanted = AdmissionRequest { class, floor_percent, ..request(ApiKind::Rest, 0) };
            limiter.admit_request(wanted, now_ms)
        })
    };
    let (admitted, waits) = (AdmissionDecision::Admitted, AdmissionDecision::ReservedUntil(5_000));
    assert_eq!(admit_all(Some(10), 4_999), [admitted, admitted, admitted, waits, waits]);
    assert_eq!(admit_all(Some(10), 5_000)[4], admitted);
    let mut free = LimiterState::default();
    free.pause_until(scope, PauseCause::Reserve(RequestClass::Replies), 5_000);
    let wanted = AdmissionRequest { floor_percent: None, ..request(ApiKind::Rest, 0) };
    assert_eq!(free.admit_request(wanted, 0), admitted, "it may cost nothing");
}

#[test]
fn limiter_counts_requests_in_flight_against_the_floor_of_each_class() {
    let mut limiter = LimiterState::default();
    limiter.record_usage(ApiKind::Rest, RateLimitUsage { used: 68, limit: 100 }, RESET);
    let mut admit_to = |floor| {
        let wanted = AdmissionRequest { floor_percent: Some(floor), ..request(ApiKind::Rest, 0) };
        limiter.admit_request(wanted, 0)
    };
    let (admitted, near) = (AdmissionDecision::Admitted, AdmissionDecision::ReserveNear);
    assert_eq!([(); 3].map(|()| admit_to(30)), [admitted, admitted, near]);
    assert_eq!(admit_to(10), admitted, "the rest is for more important requests");
    assert_eq!(admit_to(45), near);
}

#[test]
fn limiter_keeps_the_greatest_use_of_a_window() {
    let mut limiter = LimiterState::default();
    let mut used_after = |used, limit, resets_at: i64| {
        let usage = RateLimitUsage { used, limit };
        limiter.record_usage(ApiKind::Rest, usage, SourceInstant(resets_at));
        limiter.api_usage(ApiKind::Rest).used
    };
    assert_eq!(used_after(40, 100, 1_000_000), 40);
    assert_eq!(used_after(38, 100, 1_001_000), 40, "a slow response");
    assert_eq!(used_after(41, 100, 1_000_000), 41);
    assert_eq!(used_after(3, 100, 4_600_000), 3, "another window");
    assert_eq!(used_after(2, 60, 4_600_000), 2, "another quota");
}

#[test]
fn limiter_lifts_the_pauses_that_stop_a_class_and_no_others() {
    let mut limiter = LimiterState::default();
    let scope = PauseScope::Api(ApiKind::Rest);
    for first in [RequestClass::Accounts, RequestClass::Sweeps] {
        limiter.pause_until(scope, PauseCause::Reserve(first), 5_000);
    }
    limiter.lift_reserve(ApiKind::Rest, RequestClass::Mirror);
    let wanted = |class| AdmissionRequest { class, ..request(ApiKind::Rest, 0) };
    assert!(!limiter.is_paused(wanted(RequestClass::Mirror), 0));
    assert!(limiter.is_paused(wanted(RequestClass::Sweeps), 0));
}

#[test]
fn limiter_waits_until_the_minute_has_room_for_all_points_of_a_request() {
    let mut limiter = LimiterState::default();
    for at_ms in 0..900 {
        assert_eq!(admit(&mut limiter, ApiKind::Rest, 0, at_ms), AdmissionDecision::Admitted);
        limiter.record_outcome(ApiKind::Rest, RequestOutcome::Clean, at_ms);
    }
    let write = AdmissionRequest { points: 5, ..request(ApiKind::Rest, 0) };
    assert_eq!(limiter.admit_request(write, 1_000), AdmissionDecision::WaitUntil(60_004));
    assert_eq!(limiter.admit_request(write, 60_004), AdmissionDecision::Admitted);
}

fn request(api: ApiKind, delay_ms: i64) -> AdmissionRequest {
    let class = RequestClass::Mirror;
    AdmissionRequest { api, class, points: 1, delay_ms, floor_percent: Some(10) }
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
