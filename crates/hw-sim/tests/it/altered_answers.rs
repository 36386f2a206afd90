//! Answers altered between the simulator and the client, in ways that its injected faults do not cover.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hw_rules::item;
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_sim::{CommentKind, ThreadKind, WorldSpec};
use hw_sources::transport::{HttpRequest, HttpResponse, ResponseFuture, Transport, TransportError};
use hw_store::{CommentFilter, CommentRow};
use serde_json::{Value, json};

use crate::harness::shortcuts::{
    FULL_PULL, SWEEP_PULL, USUAL_PULL, coverage_only_page, first_repository_id, issue_ids,
    one_repository,
};
use crate::harness::{
    CheckLevel, HOST, SimFixture, SimTransport, check_comments, check_mirror, on_virtual_time,
};

#[test]
fn repository_with_truncated_answers_does_not_stop_the_others() {
    let spec = WorldSpec {
        repositories: 12,
        issues: 120,
        pull_requests: 6,
        discussions: 0,
        no_archives_or_forks: true,
        ..WorldSpec::small()
    };
    let fixture = SimFixture::new(&spec, 8);
    on_virtual_time(async {
        let bad = first_repository_id(&fixture);
        let (node, name) = fixture.with_github(|github| {
            let repository = &github.world().truth().repositories[&bad];
            (repository.node_id.clone(), repository.name.clone())
        });
        let truncated = AlteringTransport::with_filter(&fixture, move |question, answer| {
            if question.contains(&node) {
                Err(TransportError::new("ended early"))
            } else {
                Ok(answer)
            }
        });
        let pulled = fixture.pull_via(truncated, &USUAL_PULL).await.unwrap();
        assert!(!pulled.failures.is_empty(), "it is named");
        assert!(pulled.failures.iter().all(|failure| failure.scope.contains(&name)), "{pulled:?}");
        let stored = fixture.store.object_counts().unwrap();
        assert_eq!((stored.issues, stored.pull_requests), (11 * 120, 11 * 6));
        fixture.clock.advance_by(3_600_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn network_failure_ends_the_pull() {
    let fixture = SimFixture::new(&one_repository(60), 8);
    on_virtual_time(async {
        let down = AlteringTransport::with_filter(&fixture, |_, _| {
            Err(TransportError::new("connection refused"))
        });
        let error = fixture.pull_via(down, &USUAL_PULL).await.unwrap_err();
        assert!(error.to_string().contains("no response"), "{error}");
    });
}

#[test]
fn token_without_access_to_discussions_still_mirrors_the_rest() {
    let fixture = SimFixture::new(&WorldSpec::small(), 3);
    on_virtual_time(async {
        let forbidden = AlteringTransport::with_filter(&fixture, |question, answer| {
            let is_listing = question.contains("query Repositories");
            Ok(if is_listing && question.contains("discussions(first") {
                deny_repositories(answer)
            } else {
                answer
            })
        });
        let pulled = fixture.pull_via(forbidden, &USUAL_PULL).await.unwrap();
        let failed: Vec<_> = pulled.failures.iter().map(|failure| failure.surface).collect();
        assert_eq!(
            failed,
            [Surface::Threads(item::ThreadKind::Discussion)],
            "{:?}",
            pulled.failures
        );
        let stored = fixture.store.object_counts().unwrap();
        assert_eq!((stored.issues, stored.pull_requests, stored.discussions), (12, 6, 0));
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// The first thread by id has more comments than the server can serve at once.
#[test]
fn comments_too_large_to_serve_do_not_block_other_threads() {
    for refused in [
        &["Comments("][..],
        &["Comments(", "Continuation("],
        &["Comments(", "Continuation(", "IdOnly("],
    ] {
        // a comment whose id is known is read by id
        let is_read = !refused.contains(&"IdOnly(");
        let spec = WorldSpec { repositories: 1, pull_requests: 9, ..WorldSpec::small() };
        let fixture = SimFixture::new(&spec, 4);
        let heavy = fixture.with_github(|github| {
            let world = github.world_mut();
            let truth = world.truth();
            let pulls = truth.thread_ids(ThreadKind::PullRequest);
            for pull in &pulls {
                world.add_review(*pull, "fine", spec.start_ms);
            }
            truth.threads[&(ThreadKind::PullRequest, pulls[0])].node_id.clone()
        });
        on_virtual_time(async {
            fixture.clock.advance_by(3_600_000).await;
            let overloaded = AlteringTransport::with_filter(&fixture, move |question, answer| {
                let is_refused = refused.iter().any(|query| question.contains(query));
                Ok(if is_refused && question.contains(&heavy) {
                    HttpResponse { status: 502, ..answer }
                } else {
                    answer
                })
            });
            let pulled = fixture.pull_via(overloaded, &FULL_PULL).await.unwrap();
            assert_eq!(pulled.failures.is_empty(), is_read, "{:?}", pulled.failures);
            if !is_read {
                let stored = stored_reviews(&fixture);
                assert!(stored >= 8, "{stored} reviews are stored");
                fixture.clock.advance_by(3_600_000).await;
                assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
            }
            check_comments(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

/// GitHub may answer 410 for this list if issues are disabled, and each such request counts against the limit.
#[test]
fn missing_list_is_not_requested_by_every_pull() {
    let fixture = SimFixture::new(&WorldSpec { repositories: 1, ..WorldSpec::small() }, 5);
    on_virtual_time(async {
        let id = first_repository_id(&fixture);
        fixture.with_github(|github| {
            github.world_mut().set_issues_enabled(id, false, fixture.world_now_ms());
        });
        fixture.clock.advance_by(3_600_000).await;
        let requests = Arc::new(AtomicU32::new(0));
        for _ in 0..4 {
            let requests = Arc::clone(&requests);
            let gone = AlteringTransport::with_filter(&fixture, move |question, answer| {
                let is_list = question.contains("/issues/comments");
                requests.fetch_add(u32::from(is_list), Ordering::SeqCst);
                Ok(if is_list { HttpResponse { status: 410, ..answer } } else { answer })
            });
            assert_eq!(fixture.pull_via(gone, &FULL_PULL).await.unwrap().failures, []);
            fixture.clock.advance_by(300_000).await;
        }
        assert_eq!(requests.load(Ordering::SeqCst), 1);
        let now = fixture.world_now_ms();
        fixture.with_github(|github| github.world_mut().set_issues_enabled(id, true, now));
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// Before its thread is transferred, the comment can be read neither in the list nor by id.
#[test]
fn quarantine_drops_a_comment_whose_thread_moved() {
    let fixture =
        SimFixture::new(&WorldSpec { no_archives_or_forks: true, ..WorldSpec::small() }, 6);
    on_virtual_time(async {
        fixture.clock.advance_by(3_600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let (issue, now) = (issue_ids(&fixture)[0], fixture.world_now_ms());
        let (comment, node) = fixture.with_github(|github| {
            let world = github.world_mut();
            let comment = world.add_comment(ThreadKind::Issue, issue, "word", now);
            (comment, world.truth().comments[&(CommentKind::Conversation, comment)].node_id.clone())
        });
        fixture.clock.advance_by(300_000).await;
        let garbled = AlteringTransport::with_filter(&fixture, move |question, answer| {
            let is_lookup = question.contains("Lookup(") && question.contains(&node);
            Ok(if is_lookup {
                HttpResponse { status: 502, ..answer }
            } else {
                garble_comment_body(answer, comment)
            })
        });
        fixture.pull_via(garbled, &FULL_PULL).await.unwrap();
        assert_eq!(fixture.store.quarantined_items().unwrap().len(), 1);
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            let truth = github.world().truth();
            let home = truth.threads[&(ThreadKind::Issue, issue)].repository_id;
            let other = truth.repositories.keys().copied().find(|id| *id != home).unwrap();
            github.world_mut().transfer_issue(issue, other, now);
        });
        fixture.clock.advance_by(300_000).await;
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        assert_eq!(fixture.store.quarantined_items().unwrap(), [], "{:?}", pulled.failures);
    });
}

/// Replaces the body of one comment in the list by a number.
fn garble_comment_body(mut answer: HttpResponse, id: i64) -> HttpResponse {
    let Ok(Value::Array(mut rows)) = serde_json::from_slice(&answer.body) else { return answer };
    for row in rows.iter_mut().filter(|row| row["id"] == id) {
        row["body"] = json!(5);
    }
    answer.body = serde_json::to_vec(&rows).unwrap();
    answer
}

fn stored_reviews(fixture: &SimFixture) -> usize {
    let mut reviews = 0;
    fixture
        .store
        .each_comment(&CommentFilter::default(), &mut |row: CommentRow| {
            reviews += usize::from(row.comment.kind == item::CommentKind::Review);
            ControlFlow::Continue(())
        })
        .unwrap();
    reviews
}

/// Nulls the repositories: a listing itself may not be null, so GraphQL nulls its parent.
fn deny_repositories(mut answer: HttpResponse) -> HttpResponse {
    let mut document: Value = serde_json::from_slice(&answer.body).unwrap();
    let edges =
        document["data"]["repositoryOwner"]["repositories"]["edges"].as_array_mut().unwrap();
    edges.iter_mut().for_each(|edge| edge["node"] = Value::Null);
    document["errors"] = (0..edges.len())
        .map(|n| {
            let path =
                json!(["repositoryOwner", "repositories", "edges", n, "node", "discussions"]);
            json!({ "type": "FORBIDDEN", "path": path, "message": "not accessible" })
        })
        .collect();
    answer.body = document.to_string().into_bytes();
    answer
}

#[test]
fn inventory_item_denied_by_a_lookup_is_read_later() {
    for lies in 1..=2 {
        let fixture = SimFixture { largest_page: 3, ..SimFixture::new(&one_repository(9), 3) };
        on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            fixture.clock.advance_by(300_000).await;
            skip_new_issue(&fixture).await;
            let remaining = AtomicU32::new(lies);
            let denying = AlteringTransport::with_filter(&fixture, move |question, answer| {
                let is_denied = question.contains("IssueLookup")
                    && remaining
                        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                        .is_ok();
                Ok(if is_denied { null_all_nodes(answer) } else { answer })
            });
            fixture.pull_via(denying, &SWEEP_PULL).await.unwrap();
            for _ in 0..2 {
                fixture.clock.advance_by(300_000).await;
                assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, [], "{lies} lies");
            }
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

/// Creates an issue that becomes visible too late: the watermark is already past it.
async fn skip_new_issue(fixture: &SimFixture) {
    let repository = first_repository_id(fixture);
    let lane = Lane::repository_issues(RepositoryKey::new(HOST, repository));
    let before = issue_ids(fixture);
    fixture.with_github(|github| {
        github.world_mut().create_issue(repository, "late", "b", fixture.world_now_ms())
    });
    fixture.clock.advance_by(400_000).await;
    for id in before {
        fixture.with_github(|github| {
            github.world_mut().edit_issue(id, None, Some("newer"), fixture.world_now_ms());
        });
    }
    let store = fixture.claim_pull();
    let mut coverage = fixture.store.lane_state(&lane).unwrap().coverage;
    coverage.through = Some(SourceInstant(fixture.world_now_ms()));
    store.ingest_page(&coverage_only_page(&lane, coverage)).unwrap();
    store.release_duty().unwrap();
    fixture.clock.advance_by(300_000).await;
}

fn null_all_nodes(mut answer: HttpResponse) -> HttpResponse {
    let mut document: Value = serde_json::from_slice(&answer.body).unwrap();
    let nodes = document["data"]["nodes"].as_array_mut().unwrap();
    nodes.iter_mut().for_each(|node| *node = Value::Null);
    document["errors"] = (0..nodes.len())
        .map(|n| json!({ "type": "NOT_FOUND", "path": ["nodes", n], "message": "m" }))
        .collect();
    answer.body = document.to_string().into_bytes();
    answer
}

/// Alters an answer on its way, depending on the request's URL and body.
type AnswerFilter =
    dyn Fn(&str, HttpResponse) -> Result<HttpResponse, TransportError> + Send + Sync;

pub(crate) struct AlteringTransport {
    transport: SimTransport,
    filter: Box<AnswerFilter>,
}

impl AlteringTransport {
    pub(crate) fn with_filter(
        fixture: &SimFixture,
        filter: impl Fn(&str, HttpResponse) -> Result<HttpResponse, TransportError>
        + Send
        + Sync
        + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { transport: SimTransport::new(fixture), filter: Box::new(filter) })
    }
}

impl Transport for AlteringTransport {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        Box::pin(async move {
            let body = String::from_utf8(request.body.clone().unwrap_or_default()).unwrap();
            let question = format!("{} {body}", request.url);
            let answer = self.transport.send(request).await?;
            (self.filter)(&question, answer)
        })
    }

    fn reset_connections(&self) {}
}
