//! Answers that are well formed and wrong: clocks, ETags, replicas, rights and pages that lie.

mod circles;
mod clocks;
pub(crate) mod echoes;
mod ids;
mod sizes;

use hw_rules::lane::Choice;
use hw_sim::{CommentKind, ThreadKind, WorldSpec};

use crate::harness::words::{ALL, SWEEP, one_repository, repository_id};
use crate::harness::{
    Judge, Puller, Scene, check_comments, check_mirror, missing_comments, on_virtual_time,
};

pub(super) const MINUTE_MS: u64 = 60_000;
pub(super) const HOUR_MS: u64 = 60 * MINUTE_MS;

/// A1 of the repairs: the newest page comes from a replica that is up to date, the last page of the walk
/// from one that lags.
#[test]
fn etag_is_kept_only_with_the_rows_it_vouches_for() {
    for request in 0..12 {
        let spec = WorldSpec { comments_per_thread: 0, ..one_repository(1) };
        let scene = Scene { largest_page: 20, ..Scene::new(&spec, 1) };
        say(&scene, 149, -20);
        say(&scene, 1, -1);
        let mut lags = vec![0; request];
        lags.push(10 * MINUTE_MS);
        scene.world(|github| github.lag_in_order(&lags));
        on_virtual_time(async {
            scene.pull(&ALL).await.unwrap();
            assert_eq!(scene.world(|github| github.lies_told()), 1);
            for _ in 0..3 {
                scene.clock.pass(HOUR_MS).await;
                scene.pull(&ALL).await.unwrap();
            }
            let wrong = check_comments(&scene, Judge::Everything);
            assert_eq!(wrong, Ok(()), "request {request} came from a replica that lags");
        });
    }
}

#[test]
fn etag_that_misses_a_change_is_not_sent_for_more_than_a_day() {
    let scene = Scene::new(&one_repository(3), 2);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        scene.world(|github| github.blind_etags(true));
        say(&scene, 1, 0);
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        assert!(check_comments(&scene, Judge::CreationsAndEdits).is_err(), "the ETag lied");
        scene.clock.pass(24 * HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn since_is_read_right_whether_it_means_after_or_at_or_after() {
    for is_strict in [false, true] {
        let scene = Scene { largest_page: 50, ..Scene::new(&one_repository(1), 3) };
        scene.world(|github| github.read_since_strictly(is_strict));
        let at_ms = scene.now() - 600_000;
        scene.world(|github| {
            let issue = github.world().truth().ids(ThreadKind::Issue)[0];
            for n in 0..150 {
                // sixty in the second that a page ends in
                let second = if (20..80).contains(&n) { 20 } else { n };
                let body = format!("word {n}");
                let at_ms = at_ms + second * 1_000;
                github.world_mut().add_comment(ThreadKind::Issue, issue, &body, at_ms);
            }
        });
        on_virtual_time(async {
            scene.pull(&ALL).await.unwrap();
            let wrong = check_comments(&scene, Judge::Everything);
            assert_eq!(wrong, Ok(()), "since means after: {is_strict}");
        });
    }
}

#[test]
fn comments_of_a_transferred_issue_come_with_it() {
    let spec =
        WorldSpec { repositories: 2, comments_per_thread: 5, issues: 40, ..WorldSpec::small() };
    let scene = Scene { largest_page: 20, ..Scene::new(&spec, 4) };
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(HOUR_MS).await;
        let now = scene.now();
        scene.world(|github| {
            let truth = github.world().truth();
            let (from, to) = (truth.repositories.keys().next(), truth.repositories.keys().nth(1));
            let is_of = |repository| {
                truth
                    .of_kind(ThreadKind::Issue)
                    .filter(move |it| Some(&it.repository_id) == repository)
            };
            let issue = is_of(from).next().unwrap().id;
            github.world_mut().transfer_issue(issue, *to.unwrap(), now);
        });
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn forbidden_listing_of_one_repository_leaves_the_others_alone() {
    let spec = WorldSpec { repositories: 8, plain: true, ..WorldSpec::small() };
    let scene = Scene::new(&spec, 5);
    let closed = repository_id(&scene);
    scene.world(|github| github.forbid(closed, ThreadKind::Issue));
    on_virtual_time(async {
        let pulled = scene.pull(&ALL).await.unwrap();
        let named: Vec<_> = pulled.failures.iter().map(|it| it.scope.as_str()).collect();
        assert_eq!(named.len(), 1, "{named:?}");
        assert!(named[0].ends_with(" issues"), "{named:?}");
        let truth = scene.world(|github| github.world().truth());
        let open = truth.of_kind(ThreadKind::Issue).filter(|it| it.repository_id != closed);
        assert_eq!(scene.store.counts().unwrap().issues, open.count() as u64);
        scene.world(hw_sim::GitHub::forbid_nothing);
        scene.clock.pass(HOUR_MS).await;
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

/// Whoever is taken for a spammer vanishes with everything they wrote, and comes back with the old times.
#[test]
fn hidden_author_who_is_shown_again_comes_back_by_plain_pulls() {
    let spec = WorldSpec { issues: 40, users: 3, comments_per_thread: 4, ..WorldSpec::small() };
    for seed in 6..9 {
        let scene = Scene { largest_page: 20, ..Scene::new(&spec, seed) };
        on_virtual_time(async {
            let pull = Puller { allow_mass_removal: true, ..ALL };
            scene.pull(&pull).await.unwrap();
            let before = scene.store.counts().unwrap();
            let author = scene.world(|github| {
                let truth = github.world().truth();
                truth.of_kind(ThreadKind::Issue).find_map(|it| it.author.clone()).unwrap()
            });
            scene.clock.pass(HOUR_MS).await;
            let now = scene.now();
            scene.world(|github| github.world_mut().hide_author(&author, now));
            scene.clock.pass(HOUR_MS).await;
            scene.pull(&pull).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();
            assert!(scene.store.counts().unwrap().issues < before.issues, "some were hidden");
            let now = scene.now();
            scene.world(|github| github.world_mut().show_author(now));
            scene.clock.pass(HOUR_MS).await;
            scene.pull(&pull).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();
            // what they wrote below other people's threads is found by a sweep only
            let missing = missing_comments(&scene).into_iter();
            let by_others = missing.filter(|comment| comment.author.as_ref() != Some(&author));
            assert_eq!(by_others.collect::<Vec<_>>(), [], "seed {seed}");
            scene
                .pull(&Puller { items: &Choice::ALL, allow_mass_removal: true, ..SWEEP })
                .await
                .unwrap();
            check_comments(&scene, Judge::Everything).unwrap();
        });
    }
}

/// So many comments on the first issue, a second apart, the last of them so many minutes from now.
pub(super) fn say(scene: &Scene, count: i64, minutes: i64) {
    let last = scene.now() + minutes * 60_000;
    scene.world(|github| {
        let issue = github.world().truth().ids(ThreadKind::Issue)[0];
        for n in (0..count).rev() {
            let (body, at_ms) = (format!("word {n}"), last - n * 1_000);
            github.world_mut().add_comment(ThreadKind::Issue, issue, &body, at_ms);
        }
    });
}

/// Edits some comment now.
pub(super) fn edit_comment(scene: &Scene, body: &str) {
    let now = scene.now();
    scene.world(|github| {
        let kind = CommentKind::Conversation;
        let said = github.world().truth().comments;
        let id = said.values().find(|it| it.kind == kind).unwrap().id;
        github.world_mut().edit_comment(kind, id, body, now);
    });
}
