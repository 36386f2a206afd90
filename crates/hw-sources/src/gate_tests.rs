use super::*;

#[test]
fn nothing_starts_while_paused() {
    let mut gate = Gate::default();
    gate.pause(5_000);
    gate.pause(3_000);
    assert_eq!(gate.admit(Api::Graphql, 1, 0, 4_999), Admission::WaitUntil(5_000));
    assert_eq!(gate.admit(Api::Graphql, 1, 0, 5_000), Admission::Go);
}

#[test]
fn concurrency_starts_at_eight_grows_when_clean_and_halves_on_a_secondary_limit() {
    let mut gate = Gate::default();
    assert_eq!(fill(&mut gate, 0), 8);
    (0..8).for_each(|_| assert_eq!(gate.settle(Settled::Clean, 0), Advice::Nothing));
    assert_eq!(fill(&mut gate, 0), 9);
    gate.settle(Settled::Limited { until_ms: 60_000, secondary: true, started_ms: 0 }, 0);
    (0..8).for_each(|_| assert_eq!(gate.settle(Settled::Trouble, 0), Advice::Nothing));
    assert_eq!(fill(&mut gate, 59_999), 0);
    assert_eq!(fill(&mut gate, 60_000), 4);
}

#[test]
fn a_primary_limit_pauses_and_leaves_the_concurrency_alone() {
    let mut gate = Gate::default();
    assert_eq!(gate.admit(Api::Rest, 1, 0, 0), Admission::Go);
    gate.settle(Settled::Limited { until_ms: 10, secondary: false, started_ms: 0 }, 0);
    assert_eq!(fill(&mut gate, 10), 8);
}

#[test]
fn a_limit_that_all_in_flight_meet_is_one_limit() {
    let mut gate = Gate::default();
    assert_eq!(fill(&mut gate, 1_000), 8);
    for n in 0..8 {
        let until_ms = 62_000 + n;
        let limited = Settled::Limited { until_ms, secondary: true, started_ms: 1_000 };
        gate.settle(limited, 2_000 + n);
    }
    assert_eq!((gate.limits_in_a_row(), gate.paused_until_ms()), (1, Some(62_007)));
    assert_eq!(fill(&mut gate, 62_007), 4, "halved once");
}

#[test]
fn a_minute_holds_so_many_points_and_no_more() {
    let mut gate = Gate::default();
    for _ in 0..900 {
        assert_eq!(gate.admit(Api::Rest, 1, 0, 1_000), Admission::Go);
        gate.settle(Settled::Clean, 1_000);
    }
    assert_eq!(gate.admit(Api::Rest, 1, 0, 1_001), Admission::WaitUntil(61_000));
    assert_eq!(gate.admit(Api::Graphql, 1, 0, 1_001), Admission::Go);
    assert_eq!(gate.admit(Api::Rest, 1, 0, 61_000), Admission::Go);
}

#[test]
fn the_pace_is_kept_between_starts_however_many_may_be_in_flight() {
    let mut gate = Gate::default();
    assert_eq!(gate.admit(Api::Graphql, 1, 2_000, 0), Admission::Go);
    assert_eq!(gate.admit(Api::Graphql, 1, 2_000, 1_999), Admission::WaitUntil(2_000));
    assert_eq!(gate.admit(Api::Graphql, 1, 0, 2_000), Admission::Go);
    assert_eq!(gate.admit(Api::Graphql, 1, 0, 2_000), Admission::Go);
}

#[test]
fn the_third_failure_in_a_row_asks_for_new_connections() {
    let mut gate = Gate::default();
    let advice: Vec<Advice> = (0..4).map(|_| gate.settle(Settled::NoAnswer, 0)).collect();
    assert_eq!(advice, [Advice::Nothing, Advice::Nothing, Advice::Renew, Advice::Nothing]);
}

#[test]
fn a_long_pause_is_not_silence_but_five_minutes_without_an_answer_are() {
    let mut gate = Gate::default();
    gate.observe_usage(Api::Graphql, Usage { used: 9, limit: 10 });
    gate.settle(Settled::Limited { until_ms: 600_000, secondary: true, started_ms: 0 }, 0);
    assert_eq!(gate.admit(Api::Graphql, 1, 0, 600_000), Admission::Go);
    assert_eq!((gate.limits_in_a_row(), gate.is_recovering()), (1, true), "nothing is forgotten");

    gate.settle(Settled::NoAnswer, 600_000);
    assert_eq!(gate.admit(Api::Graphql, 1, 0, 900_001), Admission::Go);
    assert_eq!((gate.limits_in_a_row(), gate.is_recovering()), (0, false));
    assert_eq!(gate.usage(Api::Graphql), Usage::default());
}

fn fill(gate: &mut Gate, now_ms: i64) -> usize {
    (0..100).take_while(|_| gate.admit(Api::Graphql, 1, 0, now_ms) == Admission::Go).count()
}
