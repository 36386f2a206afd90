use futures_util::FutureExt;
use hw_rules::rate_limit::ApiKind;

use super::*;

#[test]
fn queue_wakes_one_waiter_at_a_time_and_the_most_important_first() {
    let queue = PermitQueue::default();
    let sweep = join(&queue, RequestClass::Sweeps, ApiKind::Rest);
    let mirror = join(&queue, RequestClass::Mirror, ApiKind::Rest);
    let reply = join(&queue, RequestClass::Replies, ApiKind::Rest);
    assert_eq!([&sweep, &mirror, &reply].map(is_next), [false, false, true]);
    queue.wake_next(0, any);
    queue.wake_next(0, any);
    assert_eq!([&sweep, &mirror, &reply].map(is_woken), [false, false, true]);
    reply.serve();
    drop(mirror);
    queue.wake_next(0, any);
    assert!(is_woken(&sweep));
}

#[test]
fn queue_gives_the_turn_of_a_dropped_waiter_to_the_next() {
    let queue = PermitQueue::default();
    let wake = || queue.wake_next(0, any);
    let position = queue.next_position(RequestClass::Mirror);
    let first = queue.join(position, request(ApiKind::Rest), &wake);
    let second = join(&queue, RequestClass::Mirror, ApiKind::Rest);
    queue.wake_next(0, any);
    drop(first);
    assert!(is_woken(&second));
}

#[test]
fn queue_skips_waiters_that_may_not_send() {
    let queue = PermitQueue::default();
    let rest = join(&queue, RequestClass::Mirror, ApiKind::Rest);
    let graphql = join(&queue, RequestClass::Mirror, ApiKind::Graphql);
    queue.wake_next(0, |request| request.api == ApiKind::Graphql);
    assert_eq!([&rest, &graphql].map(is_woken), [false, true]);
    graphql.serve();
    assert!(is_next(&rest), "the other is still waiting");
}

#[test]
fn queue_keeps_an_api_for_the_sleeper_in_front() {
    let queue = PermitQueue::default();
    let reply = join(&queue, RequestClass::Replies, ApiKind::Rest);
    let mirror = join(&queue, RequestClass::Mirror, ApiKind::Rest);
    let graphql = join(&queue, RequestClass::Mirror, ApiKind::Graphql);
    let tickets = [&reply, &mirror, &graphql];
    for (hold, next) in
        [(ApiHold::Held, [false, false, true]), (ApiHold::Open, [false, true, false])]
    {
        reply.set_state(WaitState::Sleeping { until_ms: 5, hold });
        assert_eq!(tickets.map(|ticket| ticket.is_next(4, any)), next, "{hold:?}");
        let due = tickets.map(|ticket| ticket.is_next(5, any));
        assert_eq!(due, [true, false, false], "its time has come, although its task did not run");
    }
}

#[test]
fn queue_lets_nobody_overtake_a_waiter_that_was_woken() {
    let queue = PermitQueue::default();
    let first = join(&queue, RequestClass::Mirror, ApiKind::Rest);
    queue.wake_next(0, any);
    let second = join(&queue, RequestClass::Mirror, ApiKind::Graphql);
    queue.wake_next(0, any);
    assert!(!is_next(&second) && !is_woken(&second), "its task did not run yet");
    let reply = join(&queue, RequestClass::Replies, ApiKind::Rest);
    assert!(is_next(&reply), "but it is more important");
    drop((first, second, reply));
}

fn any(_: PermitRequest) -> bool {
    true
}

fn is_next(ticket: &QueueTicket<'_>) -> bool {
    ticket.is_next(0, any)
}

fn is_woken(ticket: &QueueTicket<'_>) -> bool {
    ticket.wait_for_wake().now_or_never().is_some()
}

fn request(api: ApiKind) -> PermitRequest {
    PermitRequest { api, class: RequestClass::Mirror, points: 1, may_be_free: false }
}

fn join(queue: &PermitQueue, class: RequestClass, api: ApiKind) -> QueueTicket<'_> {
    let request = PermitRequest { class, ..request(api) };
    queue.join(queue.next_position(class), request, &|| {})
}
