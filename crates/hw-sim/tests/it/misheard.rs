//! Answers that are wrong on the way to us, in ways that the weather does not know.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hw_rules::item::Kind;
use hw_rules::lane::{Lane, Surface};
use hw_rules::time::Mark;
use hw_sim::{CommentKind, ThreadKind, WorldSpec};
use hw_sources::transport::{Broken, Request, Response, Sending, Transport};
use hw_store::{CommentFilter, CommentRow};
use serde_json::{Value, json};

use crate::harness::words::{
    ALL, OK, SWEEP, issue_ids, nothing_but, one_repository, repository_id,
};
use crate::harness::{HOST, Judge, Scene, Wire, check_comments, check_mirror, on_virtual_time};

#[test]
fn a_repository_whose_answers_break_off_never_stops_the_others() {
    let spec = WorldSpec {
        repositories: 12,
        issues: 120,
        pull_requests: 6,
        discussions: 0,
        plain: true,
        ..WorldSpec::small()
    };
    let scene = Scene::new(&spec, 8);
    on_virtual_time(async {
        let bad = repository_id(&scene);
        let (node, name) = scene.world(|github| {
            let repository = &github.world().truth().repositories[&bad];
            (repository.node_id.clone(), repository.name.clone())
        });
        let breaks = Misheard::of(&scene, move |question, answer| {
            if question.contains(&node) { Err(Broken::new("ended early")) } else { Ok(answer) }
        });
        let pulled = scene.pull_over(breaks, &OK).await.unwrap();
        assert!(!pulled.failures.is_empty(), "it is named");
        assert!(pulled.failures.iter().all(|it| it.scope.contains(&name)), "{pulled:?}");
        let held = scene.store.counts().unwrap();
        assert_eq!((held.issues, held.pull_requests), (11 * 120, 11 * 6));
        scene.clock.pass(3_600_000).await;
        assert_eq!(scene.pull(&OK).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_line_that_is_down_ends_the_pull() {
    let scene = Scene::new(&one_repository(60), 8);
    on_virtual_time(async {
        let down = Misheard::of(&scene, |_, _| Err(Broken::new("connection refused")));
        let error = scene.pull_over(down, &OK).await.unwrap_err();
        assert!(error.to_string().contains("no answer"), "{error}");
    });
}

#[test]
fn a_token_that_may_not_read_discussions_still_mirrors_the_rest() {
    let scene = Scene::new(&WorldSpec::small(), 3);
    on_virtual_time(async {
        let refused = Misheard::of(&scene, |question, answer| {
            let lists = question.contains("query Repositories");
            Ok(if lists && question.contains("discussions(first") {
                denied(answer)
            } else {
                answer
            })
        });
        let pulled = scene.pull_over(refused, &OK).await.unwrap();
        let told: Vec<_> = pulled.failures.iter().map(|it| it.surface).collect();
        assert_eq!(told, [Surface::Discussions], "{:?}", pulled.failures);
        let held = scene.store.counts().unwrap();
        assert_eq!((held.issues, held.pull_requests, held.discussions), (12, 6, 0));
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

/// The first of its threads, by id, is more than the server can tell at once.
#[test]
fn a_talk_that_is_too_much_never_stands_before_the_others() {
    for refused in [&["Talks("][..], &["Talks(", "More("], &["Talks(", "More(", "Light("]] {
        // one that is known by its id is read by it
        let is_read = !refused.contains(&"Light(");
        let spec = WorldSpec { repositories: 1, pull_requests: 9, ..WorldSpec::small() };
        let scene = Scene::new(&spec, 4);
        let heavy = scene.world(|github| {
            let world = github.world_mut();
            let truth = world.truth();
            let pulls = truth.ids(ThreadKind::PullRequest);
            for pull in &pulls {
                world.add_review(*pull, "fine", spec.start_ms);
            }
            truth.threads[&(ThreadKind::PullRequest, pulls[0])].node_id.clone()
        });
        on_virtual_time(async {
            scene.clock.pass(3_600_000).await;
            let wire = Misheard::of(&scene, move |question, answer| {
                let is_refused = refused.iter().any(|it| question.contains(it));
                Ok(if is_refused && question.contains(&heavy) {
                    Response { status: 502, ..answer }
                } else {
                    answer
                })
            });
            let pulled = scene.pull_over(wire, &ALL).await.unwrap();
            assert_eq!(pulled.failures.is_empty(), is_read, "{:?}", pulled.failures);
            if !is_read {
                let held = held_reviews(&scene);
                assert!(8 <= held, "{held} reviews are held");
                scene.clock.pass(3_600_000).await;
                assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
            }
            check_comments(&scene, Judge::Everything).unwrap();
        });
    }
}

/// GitHub may have no such list where issues are switched off, and each time it says so is one of too many.
#[test]
fn a_list_that_is_not_there_is_not_asked_for_in_every_pull() {
    let scene = Scene::new(&WorldSpec { repositories: 1, ..WorldSpec::small() }, 5);
    on_virtual_time(async {
        let id = repository_id(&scene);
        scene.world(|github| github.world_mut().switch_issues(id, false, scene.now()));
        scene.clock.pass(3_600_000).await;
        let asked = Arc::new(AtomicU32::new(0));
        for _ in 0..4 {
            let asked = Arc::clone(&asked);
            let gone = Misheard::of(&scene, move |question, answer| {
                let is_list = question.contains("/issues/comments");
                asked.fetch_add(u32::from(is_list), Ordering::SeqCst);
                Ok(if is_list { Response { status: 410, ..answer } } else { answer })
            });
            assert_eq!(scene.pull_over(gone, &ALL).await.unwrap().failures, []);
            scene.clock.pass(300_000).await;
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let now = scene.now();
        scene.world(|github| github.world_mut().switch_issues(id, true, now));
        scene.clock.pass(300_000).await;
        scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

/// Nobody could read it, neither in the list nor by its id, before its thread was transferred.
#[test]
fn an_unreadable_comment_that_moved_waits_no_longer() {
    let scene = Scene::new(&WorldSpec { plain: true, ..WorldSpec::small() }, 6);
    on_virtual_time(async {
        scene.clock.pass(3_600_000).await;
        scene.pull(&ALL).await.unwrap();
        let (issue, now) = (issue_ids(&scene)[0], scene.now());
        let (said, node) = scene.world(|github| {
            let world = github.world_mut();
            let said = world.add_comment(ThreadKind::Issue, issue, "word", now);
            (said, world.truth().comments[&(CommentKind::Conversation, said)].node_id.clone())
        });
        scene.clock.pass(300_000).await;
        let garbled = Misheard::of(&scene, move |question, answer| {
            let is_look = question.contains("Look(") && question.contains(&node);
            Ok(if is_look { Response { status: 502, ..answer } } else { garbled(answer, said) })
        });
        scene.pull_over(garbled, &ALL).await.unwrap();
        assert_eq!(scene.store.quarantined().unwrap().len(), 1);
        let now = scene.now();
        scene.world(|github| {
            let truth = github.world().truth();
            let home = truth.threads[&(ThreadKind::Issue, issue)].repository_id;
            let other = truth.repositories.keys().copied().find(|id| *id != home).unwrap();
            github.world_mut().transfer_issue(issue, other, now);
        });
        scene.clock.pass(300_000).await;
        let pulled = scene.pull(&ALL).await.unwrap();
        assert_eq!(scene.store.quarantined().unwrap(), [], "{:?}", pulled.failures);
    });
}

/// The same list, in which the words of one comment are a number.
fn garbled(mut answer: Response, id: i64) -> Response {
    let Ok(Value::Array(mut rows)) = serde_json::from_slice(&answer.body) else { return answer };
    for row in rows.iter_mut().filter(|row| row["id"] == id) {
        row["body"] = json!(5);
    }
    answer.body = serde_json::to_vec(&rows).unwrap();
    answer
}

fn held_reviews(scene: &Scene) -> usize {
    let mut reviews = 0;
    let mut count = |row: CommentRow| {
        reviews += usize::from(row.comment.kind == Kind::Review);
        ControlFlow::Continue(())
    };
    scene.store.each_comment(&CommentFilter::default(), &mut count).unwrap();
    reviews
}

/// A listing may not be null, so the repository that holds it is.
fn denied(mut answer: Response) -> Response {
    let mut document: Value = serde_json::from_slice(&answer.body).unwrap();
    let edges = document["data"]["organization"]["repositories"]["edges"].as_array_mut().unwrap();
    edges.iter_mut().for_each(|edge| edge["node"] = Value::Null);
    let path =
        |n: usize| json!(["organization", "repositories", "edges", n, "node", "discussions"]);
    let error = |n| json!({ "type": "FORBIDDEN", "path": path(n), "message": "not accessible" });
    document["errors"] = (0..edges.len()).map(error).collect();
    answer.body = document.to_string().into_bytes();
    answer
}

#[test]
fn what_the_roll_lists_and_a_look_denies_is_read_later() {
    for lies in 1..=2 {
        let scene = Scene { largest_page: 3, ..Scene::new(&one_repository(9), 3) };
        on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            scene.clock.pass(300_000).await;
            hold_nothing_of_a_new_issue(&scene).await;
            let left = AtomicU32::new(lies);
            let denies = Misheard::of(&scene, move |question, answer| {
                let takes = |n: u32| n.checked_sub(1);
                let lies = question.contains("IssueLook")
                    && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, takes).is_ok();
                Ok(if lies { nobody_is_there(answer) } else { answer })
            });
            scene.pull_over(denies, &SWEEP).await.unwrap();
            for _ in 0..2 {
                scene.clock.pass(300_000).await;
                assert_eq!(scene.pull(&OK).await.unwrap().failures, [], "{lies} lies");
            }
            check_mirror(&scene, Judge::Everything).unwrap();
        });
    }
}

/// An issue that became visible too late: the watermark stands above it.
async fn hold_nothing_of_a_new_issue(scene: &Scene) {
    let repository = repository_id(scene);
    let lane = Lane::issues(HOST, repository);
    let before = issue_ids(scene);
    scene.world(|github| github.world_mut().create_issue(repository, "late", "b", scene.now()));
    scene.clock.pass(400_000).await;
    for id in before {
        scene.world(|github| github.world_mut().edit_issue(id, None, Some("newer"), scene.now()));
    }
    let lease = hw_sync::lease::take(&scene.store, &*scene.clock, "pull", "test").await.unwrap();
    let mut coverage = scene.store.lane_state(&lane).unwrap().coverage;
    coverage.through = Some(Mark(scene.now()));
    scene.store.ingest(&lease, &nothing_but(&lane, coverage)).unwrap();
    scene.store.release_lease(&lease).unwrap();
    scene.clock.pass(300_000).await;
}

fn nobody_is_there(mut answer: Response) -> Response {
    let mut document: Value = serde_json::from_slice(&answer.body).unwrap();
    let nodes = document["data"]["nodes"].as_array_mut().unwrap();
    nodes.iter_mut().for_each(|node| *node = Value::Null);
    let error = |n: usize| json!({ "type": "NOT_FOUND", "path": ["nodes", n], "message": "m" });
    document["errors"] = (0..nodes.len()).map(error).collect();
    answer.body = document.to_string().into_bytes();
    answer
}

/// What becomes of an answer on its way, by the question.
type Ear = dyn Fn(&str, Response) -> Result<Response, Broken> + Send + Sync;

pub(crate) struct Misheard {
    wire: Wire,
    ear: Box<Ear>,
}

impl Misheard {
    pub(crate) fn of(
        scene: &Scene,
        ear: impl Fn(&str, Response) -> Result<Response, Broken> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { wire: Wire::of(scene), ear: Box::new(ear) })
    }
}

impl Transport for Misheard {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            let body = String::from_utf8(request.body.clone().unwrap_or_default()).unwrap();
            let question = format!("{} {body}", request.url);
            let answer = self.wire.send(request).await?;
            (self.ear)(&question, answer)
        })
    }

    fn renew(&self) {}
}
