//! Writes are sent once: afterwards the world has the comment once, or not at all.

use hw_rules::followed_source::RepositoryName;
use hw_rules::rate_limit::RequestClass;
use hw_sim::{ApiFault, RateLimitSpec, ThreadKind, TrueThread, WorldSpec};
use hw_sources::error::SourceError;
use hw_sources::github::writes::{RestWrite, WriteOutcome};
use hw_sources::transport::{ExchangeStage, TransportError};

use crate::altered_answers::AlteringTransport;
use crate::harness::{SimFixture, on_virtual_time};

const BODY: &str = "Fixed in 1.2.";
/// Faults that lose the answer to a request, whether it was executed or not.
const LOSSES: [ApiFault; 5] = [
    ApiFault::BadGateway,
    ApiFault::GatewayTimeout,
    ApiFault::Reset,
    ApiFault::Stall,
    ApiFault::Truncated,
];
const LIMITS: [ApiFault; 4] = [
    ApiFault::SecondaryWithRetryAfter,
    ApiFault::SecondaryWithoutHeaders,
    ApiFault::PrimaryExhausted,
    ApiFault::PrimaryExhaustedLegacy,
];

#[test]
fn write_creates_a_comment_once() {
    let fixture = build_fixture(1);
    let outcome = send_comment(&fixture);
    let WriteOutcome::Done(response) = outcome else { panic!("{outcome:?}") };
    assert!(response.meta.observed_at.request > 0, "it has the id of its request");
    assert_eq!((count_comments(&fixture), count_requests(&fixture)), (1, 1));
}

#[test]
fn write_whose_answer_is_lost_is_unknown_and_not_repeated() {
    let (mut executed, mut lost) = (0, 0);
    for fault in LOSSES {
        for seed in 1..=20 {
            let fixture = build_fixture(seed);
            fixture.with_github(|github| github.arm_fault(fault, 1));
            let outcome = send_comment(&fixture);
            assert!(
                matches!(outcome, WriteOutcome::Unknown(_)),
                "{fault:?}, seed {seed}: {outcome:?}"
            );
            assert_eq!(count_requests(&fixture), 1, "{fault:?}, seed {seed}");
            match count_comments(&fixture) {
                0 => lost += 1,
                1 => executed += 1,
                count => panic!("{fault:?}, seed {seed}: {count} comments"),
            }
        }
    }
    assert!(executed > 10 && lost > 10, "{executed} executed, {lost} lost");
}

#[test]
fn write_with_a_page_of_a_proxy_for_an_answer_is_unknown() {
    let fixture = build_fixture(1);
    fixture.with_github(|github| github.arm_fault(ApiFault::HtmlInsteadOfJson, 1));
    let outcome = send_comment(&fixture);
    assert!(
        matches!(outcome, WriteOutcome::Unknown(SourceError::InvalidResponse(_))),
        "{outcome:?}"
    );
    assert_eq!((count_comments(&fixture), count_requests(&fixture)), (0, 1));
}

#[test]
fn write_that_the_source_refuses_changes_nothing_and_is_not_repeated() {
    for fault in [ApiFault::Unauthorized, ApiFault::Forbidden] {
        let fixture = build_fixture(1);
        fixture.with_github(|github| github.arm_fault(fault, 1));
        assert_refused(&fixture, &comment_on(&first_issue(&fixture)));
    }
    let fixture = build_fixture(1);
    let issue = first_issue(&fixture);
    assert_refused(&fixture, &comment_on(&TrueThread { number: 9_999, ..issue.clone() }));
    let fixture = build_fixture(1);
    let empty = RestWrite { body: serde_json::json!({ "body": "" }), ..comment_on(&issue) };
    assert_refused(&fixture, &empty);
    let fixture = build_fixture(1);
    let now_ms = fixture.world_now_ms();
    fixture.with_github(|github| github.world_mut().delete_issue(issue.id, now_ms));
    assert_refused(&fixture, &comment_on(&issue));
}

#[test]
fn write_that_is_limited_changes_nothing_and_the_next_one_waits() {
    for fault in LIMITS {
        let fixture = build_fixture(1);
        fixture.with_github(|github| github.arm_fault(fault, 1));
        let write = comment_on(&first_issue(&fixture));
        on_virtual_time(async {
            let (_store, client) = fixture.open_process(None);
            let outcome = client.send_once(&write, RequestClass::Replies).await.unwrap();
            assert!(matches!(outcome, WriteOutcome::Limited(_)), "{fault:?}: {outcome:?}");
            assert_eq!(count_comments(&fixture), 0, "{fault:?}");
            let outcome = client.send_once(&write, RequestClass::Replies).await.unwrap();
            assert!(matches!(outcome, WriteOutcome::Done(_)), "{fault:?}: {outcome:?}");
        });
        assert_eq!(count_comments(&fixture), 1, "{fault:?}");
        assert_eq!(fixture.with_github(|github| github.requests_while_limited()), 0, "{fault:?}");
    }
}

#[test]
fn write_without_a_connection_is_not_sent() {
    let fixture = build_fixture(1);
    let transport = AlteringTransport::with_filter(&fixture, |_, _| {
        let reason = "Connection refused".to_owned();
        Err(TransportError { stage: ExchangeStage::Connect, ..TransportError::new(reason) })
    });
    let write = comment_on(&first_issue(&fixture));
    let outcome = on_virtual_time(async {
        let (_store, client) = fixture.open_process_via(transport, None);
        client.send_once(&write, RequestClass::Replies).await.unwrap()
    });
    assert!(matches!(outcome, WriteOutcome::NotSent(_)), "{outcome:?}");
}

#[test]
fn writes_take_five_points_of_the_minute() {
    let limits = RateLimitSpec { core_per_minute: 900, ..RateLimitSpec::default() };
    let fixture = SimFixture::new(&WorldSpec { limits, ..WorldSpec::small() }, 1);
    let write = comment_on(&first_issue(&fixture));
    on_virtual_time(async {
        let (_store, client) = fixture.open_process(None);
        for number in 1..=400 {
            let outcome = client.send_once(&write, RequestClass::Replies).await.unwrap();
            assert!(matches!(outcome, WriteOutcome::Done(_)), "write {number}: {outcome:?}");
        }
    });
    assert_eq!(count_comments(&fixture), 400);
}

fn assert_refused(fixture: &SimFixture, write: &RestWrite) {
    let outcome = send_once(fixture, write);
    assert!(matches!(outcome, WriteOutcome::Refused(_)), "{}: {outcome:?}", write.path);
    assert_eq!((count_comments(fixture), count_requests(fixture)), (0, 1), "{}", write.path);
}

fn build_fixture(seed: u64) -> SimFixture {
    SimFixture::new(&WorldSpec::small(), seed)
}

fn first_issue(fixture: &SimFixture) -> TrueThread {
    let truth = fixture.with_github(|github| github.world().truth());
    truth.threads_of_kind(ThreadKind::Issue).next().unwrap().clone()
}

fn comment_on(issue: &TrueThread) -> RestWrite {
    let repository = RepositoryName::from_known("acme", &issue.repository);
    RestWrite::issue_comment(&repository, issue.number, BODY)
}

fn send_comment(fixture: &SimFixture) -> WriteOutcome {
    send_once(fixture, &comment_on(&first_issue(fixture)))
}

fn send_once(fixture: &SimFixture, write: &RestWrite) -> WriteOutcome {
    on_virtual_time(async {
        let (_store, client) = fixture.open_process(None);
        client.send_once(write, RequestClass::Replies).await.unwrap()
    })
}

/// Counts the comments with this body in the world.
fn count_comments(fixture: &SimFixture) -> usize {
    let truth = fixture.with_github(|github| github.world().truth());
    truth.comments.values().filter(|comment| comment.body == BODY).count()
}

fn count_requests(fixture: &SimFixture) -> usize {
    fixture.with_github(|github| github.request_log().entries.len())
}
