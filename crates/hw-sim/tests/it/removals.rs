//! What a run removes over all of its lanes: the brake, what it names, and the way back.

use std::collections::BTreeMap;

use hw_rules::item::Kind;
use hw_sim::{CommentKind, ThreadKind, WorldSpec};
use hw_store::RemovedItem;
use hw_sync::Failure;

use crate::harness::words::{ALL, OK, SWEEP, at, one_repository, repository_id};
use crate::harness::{Judge, Puller, Scene, check_mirror, on_virtual_time};

/// A person who knows that so much went.
const ALLOWED: Puller = Puller { allow_mass_removal: true, ..Puller::PLAIN };
/// Longer than lists may lag.
const A_WHILE: u64 = 300_000;

#[test]
fn run_brake_stops_a_mass_removal_in_small_lanes_and_names_it() {
    let scene = Scene::new(&small_lanes(), 1);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        delete_most(&scene).await;
        let braked = scene.pull(&OK).await.unwrap();
        assert_eq!(held_issues(&scene), 126, "{} were removed", braked.total().removed);
        let [failure] = &braked.failures[..] else { panic!("{:?}", braked.failures) };
        check_run_brake(failure, "105 of 126 threads would be removed in one run");
        assert!(failure.message.ends_with(" and 95 more"), "{}", failure.message);
        assert_eq!((failure.items.names.len(), failure.items.total), (105, 105));
        assert!(failure.message.contains(&failure.items.names[0]), "{}", failure.message);
        scene.clock.pass(A_WHILE).await;
        let again = scene.pull(&OK).await.unwrap();
        check_run_brake(&again.failures[0], "105 of 126 threads");
        assert_eq!(held_issues(&scene), 126, "it holds until a person allows it");
        let allowed = scene.pull(&ALLOWED).await.unwrap();
        assert_eq!((allowed.failures.len(), allowed.total().removed), (0, 105));
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn run_brake_holds_wherever_the_run_was_killed() {
    let points =
        ["fetch: answered", "stage: after commit", "sweep: before commit", "sweep: after commit"];
    let mut died = 0;
    for (point, nth) in points.iter().flat_map(|point| [1, 9, 20, 26].map(|nth| (*point, nth))) {
        let scene = Scene::new(&small_lanes(), 2);
        on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            delete_most(&scene).await;
            for _ in 0..6 {
                let killed = Puller { plug: Some(at(point, nth)), ..OK };
                died += u32::from(scene.pull(&killed).await.is_err());
                scene.clock.pass(10_000).await;
            }
            let braked = scene.pull(&OK).await.unwrap();
            check_run_brake(&braked.failures[0], "105 of 126 threads");
            assert_eq!(held_issues(&scene), 126, "killed at {point:?}, time {nth}");
        });
    }
    assert!(died > 20, "{died} runs were killed");
}

#[test]
fn run_brake_counts_what_a_killed_run_removed() {
    let scene = Scene::new(&small_lanes(), 3);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let ids = issues_by_repository(&scene);
        delete(&scene, ids.iter().take(18).map(|of_one| of_one[0]));
        scene.clock.pass(A_WHILE).await;
        let killed = Puller { plug: Some(at("sweep: after commit", 12)), ..OK };
        scene.pull(&killed).await.unwrap_err();
        assert_eq!(held_issues(&scene), 126 - 12);
        delete(&scene, ids.iter().take(21).map(|of_one| of_one[1]));
        scene.clock.pass(A_WHILE).await;
        let braked = scene.pull(&OK).await.unwrap();
        check_run_brake(&braked.failures[0], "39 of 126 threads");
        assert_eq!(braked.failures[0].items.total, 27, "the others are gone already");
        assert_eq!(held_issues(&scene), 126 - 12);
        assert_eq!(scene.pull(&ALLOWED).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn run_brake_lets_two_runs_each_remove_what_one_may() {
    let scene = Scene::new(&small_lanes(), 4);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let ids = issues_by_repository(&scene);
        for nth in 0..2 {
            delete(&scene, ids.iter().take(20).map(|of_one| of_one[nth]));
            scene.clock.pass(A_WHILE).await;
            let pulled = scene.pull(&OK).await.unwrap();
            assert_eq!((pulled.failures.len(), pulled.total().removed), (0, 20));
        }
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn run_brake_ignores_the_comments_of_one_deleted_thread() {
    let spec = WorldSpec { repositories: 3, plain: true, ..WorldSpec::small() };
    let scene = Scene::new(&spec, 5);
    on_virtual_time(async {
        let (issue, now) =
            (scene.world(|g| g.world().truth().ids(ThreadKind::Issue))[0], scene.now());
        scene.world(|github| {
            for n in 0..60 {
                let world = github.world_mut();
                world.add_comment(ThreadKind::Issue, issue, &format!("said {n}"), now);
            }
        });
        scene.clock.pass(A_WHILE).await;
        scene.pull(&ALL).await.unwrap();
        let before = scene.store.counts().unwrap().comments;
        delete(&scene, [issue]);
        scene.clock.pass(A_WHILE).await;
        let pulled = scene.pull(&ALL).await.unwrap();
        assert_eq!(pulled.failures, []);
        assert!(scene.store.counts().unwrap().comments + 60 <= before);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn run_brake_stops_comments_that_go_in_many_lanes() {
    let spec = WorldSpec { repositories: 12, pull_requests: 0, discussions: 0, ..small_lanes() };
    let scene = Scene::new(&WorldSpec { comments_per_thread: 1, ..spec }, 6);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        let before = scene.store.counts().unwrap();
        let ids = conversation_ids(&scene);
        let now = scene.now();
        for id in &ids {
            let kind = CommentKind::Conversation;
            scene.world(|github| github.world_mut().delete_comment(kind, *id, now));
        }
        scene.clock.pass(A_WHILE).await;
        let sweep = Puller { reconcile: true, ..ALL };
        let braked = scene.pull(&sweep).await.unwrap();
        let expected = format!("{0} of {0} comments would be removed in one run", ids.len());
        let failure = braked.failures.iter().find(|it| it.is_brake).unwrap();
        check_run_brake(failure, &expected);
        assert!(failure.items.names[0].starts_with("https://github.com/acme/"), "{failure:?}");
        assert_eq!(scene.store.counts().unwrap().comments, before.comments);
    });
}

#[test]
fn unconfirmed_removals_are_named() {
    let scene = Scene::new(&one_repository(9), 11);
    on_virtual_time(async {
        scene.clock.pass(A_WHILE).await;
        scene.pull(&OK).await.unwrap();
        let truth = scene.world(|github| github.world().truth());
        let issue = truth.of_kind(ThreadKind::Issue).nth(4).unwrap();
        let until = scene.now() + 3_600_000;
        scene.world(|github| github.world_mut().show_late(ThreadKind::Issue, issue.id, until));
        scene.world(|github| github.break_node(Some(&issue.node_id)));
        scene.clock.pass(A_WHILE).await;
        let swept = scene.pull(&SWEEP).await.unwrap();
        let expected = format!(
            "1 item may be gone, and gave no answer: acme/{}#{} ({})",
            issue.repository, issue.number, issue.title
        );
        let failure = swept.failures.iter().find(|it| !it.items.is_empty());
        let failure = failure.unwrap_or_else(|| panic!("{:?}", swept.failures));
        assert!(failure.message.ends_with(&expected), "{failure:?}");
        assert_eq!(held_issues(&scene), 9);
    });
}

#[test]
fn restore_brings_back_what_a_pull_removed_and_the_next_pull_checks_it() {
    let scene = Scene::new(&talkative(), 7);
    on_virtual_time(async {
        let ids = scene.world(|g| g.world().truth().ids(ThreadKind::Issue));
        let ([returns, stays_gone], now) = ([ids[0], ids[1]], scene.now());
        for issue in [returns, stays_gone] {
            scene.world(|g| g.world_mut().add_comment(ThreadKind::Issue, issue, "said", now));
        }
        scene.clock.pass(A_WHILE).await;
        scene.pull(&ALL).await.unwrap();
        let before = scene.store.counts().unwrap();
        delete(&scene, [returns, stays_gone]);
        scene.clock.pass(A_WHILE).await;
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        assert_eq!(scene.store.counts().unwrap().issues, before.issues - 2);
        check_mirror(&scene, Judge::Everything).unwrap();

        let removed = scene.store.removed_items(100).unwrap();
        assert_eq!(removed.len(), 2, "comments are counted with their thread: {removed:?}");
        assert!(removed.iter().all(|item| item.with_it > 0), "{removed:?}");
        restore(&scene, &removed).await;
        let after = scene.store.counts().unwrap();
        assert_eq!((after.issues, after.comments), (before.issues, before.comments));

        let (kind, now) = (ThreadKind::Issue, scene.now());
        scene.world(|github| github.world_mut().undelete_thread(kind, returns, now));
        scene.clock.pass(A_WHILE).await;
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(held_issues(&scene), before.issues - 1);
        let again = scene.store.removed_items(100).unwrap();
        assert_eq!(again.iter().map(|item| item.key.id).collect::<Vec<_>>(), [stays_gone]);
    });
}

#[test]
fn restore_is_undone_by_another_confirmed_absence_of_comments_and_repositories() {
    let scene = Scene::new(&talkative(), 8);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        let before = scene.store.counts().unwrap();
        let (comment, repository) = (conversation_ids(&scene)[0], repository_id(&scene));
        let now = scene.now();
        scene.world(|github| {
            github.world_mut().delete_comment(CommentKind::Conversation, comment, now);
        });
        scene.clock.pass(A_WHILE).await;
        let sweep = Puller { reconcile: true, ..ALL };
        assert_eq!(scene.pull(&sweep).await.unwrap().failures, []);
        scene.world(|github| github.world_mut().delete_repository(repository, scene.now()));
        scene.clock.pass(A_WHILE).await;
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        let truly = scene.store.counts().unwrap();

        let mut removed = scene.store.removed_items(100).unwrap();
        assert_eq!(removed.len(), 2, "{removed:?}");
        // the comment needs its thread, and that its repository: one restore brings all of them
        removed.retain(|item| item.key.kind == Kind::IssueComment);
        restore(&scene, &removed).await;
        let back = scene.store.counts().unwrap();
        assert_eq!((back.repositories, back.issues), (before.repositories, before.issues));
        assert_eq!(back.comments, before.comments);
        scene.clock.pass(A_WHILE).await;
        let checked = scene.pull(&ALL).await.unwrap();
        assert_eq!(checked.failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.counts().unwrap().comments, truly.comments);
    });
}

#[test]
fn removed_items_are_purged_after_thirty_days_whatever_our_clock_says() {
    const DAY_MS: u64 = 86_400_000;
    for skew_ms in [0, -400 * 86_400_000, 400 * 86_400_000] {
        let scene = Scene::new(&talkative(), 9).skewed(skew_ms);
        on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            delete(&scene, [scene.world(|g| g.world().truth().ids(ThreadKind::Issue))[0]]);
            scene.clock.pass(A_WHILE).await;
            scene.pull(&OK).await.unwrap();
            scene.clock.pass(29 * DAY_MS).await;
            scene.pull(&OK).await.unwrap();
            assert_eq!(scene.store.removed_items(9).unwrap().len(), 1, "skewed by {skew_ms}");
            scene.clock.pass(2 * DAY_MS).await;
            scene.pull(&OK).await.unwrap();
            assert_eq!(scene.store.count_removed_items().unwrap(), 0, "skewed by {skew_ms}");
        });
    }
}

#[test]
fn removed_items_are_not_those_that_a_person_has_read_again() {
    let scene = Scene::new(&talkative(), 10);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.pull(&Puller { force: true, ..OK }).await.unwrap();
        assert_eq!(scene.store.removed_items(9).unwrap(), []);
    });
}

/// Restores as the program does.
async fn restore(scene: &Scene, items: &[RemovedItem]) {
    let restored = hw_sync::restore::restore(&scene.store, &*scene.clock, "test", items).await;
    assert!(restored.unwrap().iter().all(|restored| restored.items > 0));
}

/// Three repositories with everything in them.
fn talkative() -> WorldSpec {
    WorldSpec { repositories: 3, plain: true, ..WorldSpec::small() }
}

/// The brake is one failure of the whole run, with a person's way out.
fn check_run_brake(failure: &Failure, message: &str) {
    assert!(failure.is_brake && failure.message.contains(message), "{failure:?}");
    assert_eq!(failure.scope, "acme");
}

/// Five of the six issues of each repository are deleted.
async fn delete_most(scene: &Scene) {
    delete(scene, issues_by_repository(scene).into_iter().flat_map(|ids| ids.into_iter().take(5)));
    scene.clock.pass(A_WHILE).await;
}

fn delete(scene: &Scene, ids: impl IntoIterator<Item = i64>) {
    for id in ids {
        scene.world(|github| github.world_mut().delete_issue(id, scene.now()));
    }
}

fn issues_by_repository(scene: &Scene) -> Vec<Vec<i64>> {
    let mut ids: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for issue in scene.world(|github| github.world().truth()).of_kind(ThreadKind::Issue) {
        ids.entry(issue.repository_id).or_default().push(issue.id);
    }
    ids.into_values().collect()
}

fn conversation_ids(scene: &Scene) -> Vec<i64> {
    let comments = scene.world(|github| github.world().truth().comments);
    let keys = comments.into_keys().filter(|(kind, _)| *kind == CommentKind::Conversation);
    keys.map(|(_, id)| id).collect()
}

fn held_issues(scene: &Scene) -> u64 {
    scene.store.counts().unwrap().issues
}

/// 21 repositories with six issues each: no lane is large enough for a brake of its own.
fn small_lanes() -> WorldSpec {
    WorldSpec {
        repositories: 21,
        issues: 6,
        pull_requests: 0,
        discussions: 0,
        comments_per_thread: 0,
        plain: true,
        ..WorldSpec::small()
    }
}
