//! What is said in threads: every word of it, and what that costs.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::pin::pin;

use hw_rules::item::Kind;
use hw_rules::lane::{Choice, Lane, Surface};
use hw_sim::{CommentKind, RequestKind, ThreadKind, WorldSpec};
use hw_store::{CommentFilter, CommentRow};

use crate::harness::words::{ALL, SWEEP};
use crate::harness::{HOST, Judge, Puller, Scene, check_comments, check_mirror, on_virtual_time};

const HOUR_MS: u64 = 3_600_000;
const SWEEP_ALL: Puller = Puller { items: &Choice::ALL, ..SWEEP };

#[test]
fn comments_of_quiet_repositories_stay_fresh() {
    let scene = Scene::new(&one_repository(), 2);
    let fresh = || scene.store.behind(&Surface::COMMENTS, None).unwrap().fresh_through.unwrap();
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(3_600_000).await;
        scene.pull(&ALL).await.unwrap();
        let before = fresh();
        scene.clock.pass(7_200_000).await;
        scene.pull(&ALL).await.unwrap();
        assert!(fresh().0 - before.0 >= 7_200_000, "{before} {}", fresh());
    });
}

#[test]
fn every_sort_of_comment_is_pulled_with_its_thread() {
    let scene = Scene::new(&WorldSpec { comments_per_thread: 4, ..WorldSpec::small() }, 1);
    on_virtual_time(async {
        let pulled = scene.pull(&ALL).await.unwrap();
        assert_eq!(pulled.failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
        let truth = scene.world(|github| github.world().truth());
        for kind in [CommentKind::Conversation, CommentKind::Review, CommentKind::Discussion] {
            assert!(truth.comments.values().any(|said| said.kind == kind), "{kind:?} is said");
        }
        let told = pulled.items[&Choice::Comments];
        assert_eq!((told.seen, told.stored), (truth.comments.len() as u64, told.seen));
    });
}

#[test]
fn without_being_chosen_no_comment_is_pulled() {
    let scene = Scene::new(&WorldSpec::small(), 1);
    on_virtual_time(async {
        scene.pull(&Puller::PLAIN).await.unwrap();
        assert_eq!(scene.store.counts().unwrap().comments, 0);
        scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn ten_thousand_comments_with_hundreds_in_a_second_are_read_without_turning_deep_pages() {
    let scene = Scene::new(&one_repository(), 2);
    let issue = first_issue(&scene);
    scene.world(|github| {
        let world = github.world_mut();
        let from = world_start() + 60_000;
        for n in 0..10_000 {
            // three hundred within one second, the others a second apart
            let at = from + if (4_000..4_300).contains(&n) { 4_000 } else { n } * 1_000;
            world.add_comment(ThreadKind::Issue, issue, &format!("word {n}"), at);
        }
    });
    on_virtual_time(async {
        scene.clock.pass(4 * HOUR_MS).await;
        let before = rest(&scene).len();
        let pulled = scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
        let seen = pulled.items[&Choice::Comments].seen;
        assert!(seen < 10_500, "{seen} seen: next to nothing is read twice");
        let asked = rest(&scene).split_off(before);
        assert!(asked.len() <= 112, "{} requests for a hundred pages", asked.len());
        let deepest = asked.iter().filter_map(|what| page_in(what)).max();
        assert_eq!(deepest, Some(4), "only within that second are pages turned");
    });
}

/// GitHub refuses what lies beyond thirty thousand rows of a list, however one gets there.
#[test]
fn more_comments_than_a_list_can_be_turned_to_are_read() {
    let scene = Scene::new(&one_repository(), 3);
    let issue = first_issue(&scene);
    scene.world(|github| {
        let world = github.world_mut();
        for n in 0..30_300 {
            let at = world_start() + 60_000 + n * 1_000;
            world.add_comment(ThreadKind::Issue, issue, "word", at);
        }
    });
    on_virtual_time(async {
        scene.clock.pass(10 * HOUR_MS).await;
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        check_comments(&scene, Judge::Everything).unwrap();
        assert!(rest(&scene).iter().all(|what| page_in(what).is_none()), "no page was turned");
    });
}

#[test]
fn edits_and_deletions_between_the_pages_lose_nothing() {
    for step in 1..=18 {
        let scene = Scene::new(&one_repository(), 4);
        let issue = first_issue(&scene);
        let ids: Vec<i64> = scene.world(|github| {
            let said = |n: i64| {
                // the second half within one second
                let at = world_start() + 60_000 + n.min(400) * 1_000;
                github.world_mut().add_comment(ThreadKind::Issue, issue, "word", at)
            };
            (0..800).map(said).collect()
        });
        on_virtual_time(async {
            scene.clock.pass(HOUR_MS).await;
            let before = scene.world(|github| github.requests().total);
            {
                let mut pull = pin!(scene.pull(&ALL));
                let ended = scene.poll_until(&mut pull, before + step).await;
                if !ended {
                    disturb(&scene, issue, &ids, step);
                    assert_eq!(pull.await.unwrap().failures, [], "step {step}");
                }
            }
            scene.clock.pass(HOUR_MS).await;
            scene.pull(&ALL).await.unwrap();
            check_comments(&scene, Judge::CreationsAndEdits)
                .unwrap_or_else(|wrong| panic!("step {step}: {wrong}"));
            scene.pull(&SWEEP_ALL).await.unwrap();
            check_comments(&scene, Judge::Everything)
                .unwrap_or_else(|wrong| panic!("step {step}: {wrong}"));
        });
    }
}

/// Deletes some that were read, edits some that were not, and the other way round.
fn disturb(scene: &Scene, issue: i64, ids: &[i64], step: u64) {
    let now = scene.now();
    scene.world(|github| {
        let world = github.world_mut();
        let at = usize::try_from(step).unwrap() * 47;
        for id in ids.iter().skip(at % 700).step_by(61).take(6) {
            world.edit_comment(CommentKind::Conversation, *id, "edited", now);
        }
        // the last three shift every page of the crowded second
        let gone = ids.iter().skip(at % 700 + 1).step_by(61).take(6).chain(&ids[410..413]);
        for id in gone.collect::<BTreeSet<_>>() {
            world.delete_comment(CommentKind::Conversation, *id, now);
        }
        world.add_comment(ThreadKind::Issue, issue, "late", now);
    });
}

#[test]
fn an_unchanged_pull_asks_nothing_and_one_that_is_due_costs_no_point() {
    let scene = Scene::new(&WorldSpec { repositories: 4, plain: true, ..WorldSpec::small() }, 5);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();

        let quiet = asked(&scene, &ALL).await;
        assert_eq!(quiet, Asked { graphql: 1, conditional: 0, points: 0 }, "nothing moved");

        scene.clock.pass(HOUR_MS).await;
        let due = asked(&scene, &ALL).await;
        assert_eq!(due, Asked { graphql: 1, conditional: 8, points: 0 }, "two lists each, hourly");
        let again = asked(&scene, &ALL).await;
        assert_eq!(
            again,
            Asked { graphql: 1, conditional: 0, points: 0 },
            "looked at a moment ago"
        );
    });
}

#[test]
fn a_repository_that_moved_costs_two_conditional_requests_besides() {
    let scene = Scene::new(&WorldSpec { repositories: 4, plain: true, ..WorldSpec::small() }, 6);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        let pull = scene.world(|github| github.world().truth().ids(ThreadKind::PullRequest)[0]);
        let now = scene.now();
        let kind = ThreadKind::PullRequest;
        scene.world(|github| {
            github.world_mut().edit_thread(kind, pull, None, Some("edited"), now);
        });
        scene.clock.pass(120_000).await;
        let moved = asked(&scene, &ALL).await;
        assert_eq!((moved.conditional, moved.points), (2, 0), "nobody said anything: {moved:?}");

        let now = scene.now();
        scene.world(|github| github.world_mut().add_comment(kind, pull, "a word", now));
        scene.clock.pass(120_000).await;
        let said = asked(&scene, &ALL).await;
        assert_eq!((said.conditional, said.points), (2, 1), "one list changed: {said:?}");
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn an_edit_that_moves_no_thread_is_found_within_the_hour() {
    let scene = Scene::new(&WorldSpec { comments_per_thread: 3, ..WorldSpec::small() }, 7);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        let edited = scene.world(|github| {
            let truth = github.world().truth();
            let listed = |kind: CommentKind| {
                matches!(kind, CommentKind::Conversation | CommentKind::ReviewComment)
            };
            let said = truth.comments.values().filter(|said| listed(said.kind));
            let edited: Vec<_> = said.map(|said| (said.kind, said.id)).collect();
            for (kind, id) in &edited {
                github.world_mut().edit_comment(*kind, *id, "edited", world_start() + 700_000);
            }
            edited.len()
        });
        assert!(2 < edited);
        scene.clock.pass(HOUR_MS).await;
        let pulled = scene.pull(&ALL).await.unwrap();
        assert_eq!(pulled.items[&Choice::Comments].stored, edited as u64);
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn long_talks_are_read_to_their_end() {
    let scene = Scene::new(&one_repository(), 8);
    let start = world_start();
    scene.world(|github| {
        let world = github.world_mut();
        let truth = world.truth();
        let pull = truth.ids(ThreadKind::PullRequest)[0];
        let discussion = truth.ids(ThreadKind::Discussion)[0];
        for n in 0..250 {
            world.add_review(pull, &format!("review {n}"), start + n * 1_000);
        }
        let first = world.add_comment(ThreadKind::Discussion, discussion, "first", start);
        for n in 0..230 {
            world.add_comment(ThreadKind::Discussion, discussion, "more", start + n * 1_000);
            world.add_reply(first, &format!("reply {n}"), start + n * 1_000);
        }
    });
    on_virtual_time(async {
        scene.clock.pass(HOUR_MS).await;
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn only_threads_that_moved_are_asked_for_their_talk() {
    let scene = Scene::new(&WorldSpec { pull_requests: 40, ..one_repository() }, 9);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        let pull = scene.world(|github| github.world().truth().ids(ThreadKind::PullRequest)[7]);
        let now = scene.now();
        scene.world(|github| github.world_mut().add_review(pull, "fine", now));
        scene.clock.pass(120_000).await;
        let pulled = scene.pull(&ALL).await.unwrap();
        let truth = scene.world(|github| github.world().truth());
        let of_pull = |said: &&hw_sim::TrueComment| {
            said.thread_id == pull && said.kind == CommentKind::Review
        };
        let reviews = truth.comments.values().filter(of_pull).count() as u64;
        assert_eq!(pulled.items[&Choice::Comments].stored, 1);
        assert!(pulled.items[&Choice::Comments].seen <= reviews + 200, "{pulled:?}");
        check_comments(&scene, Judge::Everything).unwrap();
        let lane = Lane::of_repository(
            HOST,
            truth.threads.values().next().unwrap().repository_id,
            Surface::Reviews,
        );
        assert_eq!(scene.store.due_talks(&lane, 0, 9).unwrap(), [], "nothing is left to read");
    });
}

#[test]
fn a_sweep_finds_deleted_comments_of_every_sort() {
    let scene = Scene::new(&WorldSpec { comments_per_thread: 6, ..one_repository() }, 10);
    on_virtual_time(async {
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        let gone = scene.world(|github| {
            let truth = github.world().truth();
            let mut gone = Vec::new();
            for kind in [CommentKind::Conversation, CommentKind::Review, CommentKind::Discussion] {
                gone.extend(
                    truth.comments.values().find(|said| said.kind == kind).map(|it| (kind, it.id)),
                );
            }
            let now = world_start() + 600_000;
            gone.iter().for_each(|(kind, id)| github.world_mut().delete_comment(*kind, *id, now));
            gone.len()
        });
        assert_eq!(gone, 3);
        scene.clock.pass(600_000).await;
        assert_eq!(scene.pull(&ALL).await.unwrap().items[&Choice::Comments].removed, 0);
        let swept = scene.pull(&SWEEP_ALL).await.unwrap();
        assert!(3 <= swept.items[&Choice::Comments].removed, "{swept:?}");
        check_comments(&scene, Judge::Everything).unwrap();
        let again = scene.pull(&SWEEP_ALL).await.unwrap();
        assert_eq!(again.items[&Choice::Comments].removed, 0);
    });
}

#[test]
fn a_transferred_thread_takes_its_comments_along() {
    let spec = WorldSpec { plain: true, comments_per_thread: 5, ..WorldSpec::small() };
    let scene = Scene::new(&spec, 11);
    on_virtual_time(async {
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        let truth = scene.world(|github| github.world().truth());
        let said = truth.comments.values().find(|it| it.thread_kind == ThreadKind::Issue).unwrap();
        let homes = truth.repositories.keys();
        let other = homes.copied().find(|id| *id != said.repository_id).unwrap();
        let now = scene.now();
        scene.world(|github| github.world_mut().transfer_issue(said.thread_id, other, now));
        scene.clock.pass(600_000).await;
        let swept = scene.pull(&SWEEP_ALL).await.unwrap();
        assert_eq!(swept.failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

/// A pull that leaves comments out reads the threads all the same.
#[test]
fn what_moved_while_comments_were_not_chosen_is_read_by_the_next_pull_that_chooses_them() {
    let scene = Scene::new(&one_repository(), 12);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        let (issue, now) = (first_issue(&scene), scene.now());
        scene.world(|github| github.world_mut().add_comment(ThreadKind::Issue, issue, "a", now));
        scene.clock.pass(120_000).await;
        scene.pull(&Puller::PLAIN).await.unwrap();
        scene.clock.pass(120_000).await;
        scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
        let quiet = asked(&scene, &ALL).await;
        assert_eq!(quiet, Asked { graphql: 1, conditional: 0, points: 0 }, "nothing moved");
    });
}

#[test]
fn a_walk_begun_with_a_wider_window_keeps_what_it_claims() {
    const WIDE: Puller = Puller { window_days: Some(40), ..ALL };
    const NARROW: Puller = Puller { window_days: Some(5), ..ALL };
    let scene = Scene::new(&one_repository(), 13);
    let issue = first_issue(&scene);
    let day = 86_400_000;
    scene.world(|github| {
        for n in 0..300 {
            let at = world_start() - (30 * day) + n * day / 10;
            github.world_mut().add_comment(ThreadKind::Issue, issue, "word", at);
        }
    });
    on_virtual_time(async {
        scene.clock.pass(HOUR_MS).await;
        {
            let mut pull = pin!(scene.pull(&WIDE));
            let walked = || rest(&scene).iter().any(|what| what.contains("since="));
            while !walked() {
                let next = scene.world(|github| github.requests().total) + 1;
                assert!(!scene.poll_until(&mut pull, next).await, "cut off in the walk");
            }
        }
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&NARROW).await.unwrap();
        scene.pull(&WIDE).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
    });
}

/// A list that fits on one page is read whole, whatever the window is, and so it is claimed.
#[test]
fn comments_below_a_narrow_window_are_there_when_it_opens() {
    const NARROW: Puller = Puller { window_days: Some(5), ..ALL };
    let spec = WorldSpec { issues: 1, pull_requests: 0, discussions: 0, ..one_repository() };
    let scene = Scene::new(&spec, 13);
    let issue = first_issue(&scene);
    scene.world(|github| {
        for (days, word) in [(20, "an old word"), (1, "a new one, so that the thread is there")] {
            let at = world_start() - days * 86_400_000;
            github.world_mut().add_comment(ThreadKind::Issue, issue, word, at);
        }
    });
    on_virtual_time(async {
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&NARROW).await.unwrap();
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::CreationsAndEdits).unwrap();
    });
}

/// The newest page does not show what comes late below it.
#[test]
fn a_comment_that_comes_late_below_the_newest_page_is_read() {
    let spec = WorldSpec { list_lag_ms: 50_000, ..one_repository() };
    for seed in 1..=20 {
        let scene = Scene { largest_page: 3, ..Scene::new(&spec, seed) };
        on_virtual_time(async {
            scene.clock.pass(HOUR_MS).await;
            scene.pull(&ALL).await.unwrap();
            let issue = first_issue(&scene);
            for _ in 0..12 {
                scene.clock.pass(2_000).await;
                let now = scene.now();
                scene.world(|it| it.world_mut().add_comment(ThreadKind::Issue, issue, "w", now));
            }
            scene.pull(&ALL).await.unwrap();
            scene.clock.pass(HOUR_MS).await;
            scene.pull(&ALL).await.unwrap();
            check_comments(&scene, Judge::CreationsAndEdits)
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        });
    }
}

/// The second page of larger ones does not begin where the first of smaller ones ended.
#[test]
fn pages_within_a_second_keep_their_size() {
    let scene = Scene { largest_page: 4, ..Scene::new(&one_repository(), 14) };
    let issue = first_issue(&scene);
    on_virtual_time(async {
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(HOUR_MS).await;
        let now = scene.now();
        scene.world(|github| {
            for _ in 0..150 {
                github.world_mut().add_comment(ThreadKind::Issue, issue, "word", now);
            }
        });
        scene.clock.pass(HOUR_MS).await;
        let scene = Scene { largest_page: 100, ..scene };
        assert_eq!(scene.pull(&ALL).await.unwrap().failures, []);
        check_comments(&scene, Judge::CreationsAndEdits).unwrap();
    });
}

#[test]
fn a_first_reading_of_talks_that_was_cut_off_goes_on_where_it_was() {
    let scene = Scene::new(&WorldSpec { pull_requests: 180, ..one_repository() }, 15);
    on_virtual_time(async {
        scene.clock.pass(HOUR_MS).await;
        {
            let mut pull = pin!(scene.pull(&ALL));
            while talks_asked(&scene) < 3 {
                let next = scene.world(|github| github.requests().total) + 1;
                assert!(!scene.poll_until(&mut pull, next).await, "cut off among the talks");
            }
        }
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
        let asked = talks_asked(&scene);
        assert!(asked <= 5, "{asked} requests for four times fifty");
    });
}

fn talks_asked(scene: &Scene) -> usize {
    let is_talk = |entry: &&hw_sim::RequestEntry| entry.what.contains("reviews");
    scene.world(|github| github.requests().entries.iter().filter(is_talk).count())
}

/// The rows after it move up, one of them from a page not yet read to one that was.
#[test]
fn a_deletion_on_a_page_that_was_turned_hides_no_other_comment() {
    let scene = Scene::new(&one_repository(), 16);
    let issue = first_issue(&scene);
    let ids: Vec<i64> = scene.world(|github| {
        let mut said = || {
            let at = world_start() + 60_000;
            github.world_mut().add_comment(ThreadKind::Issue, issue, "word", at)
        };
        (0..400).map(|_| said()).collect()
    });
    on_virtual_time(async {
        scene.clock.pass(HOUR_MS).await;
        let mut pull = pin!(scene.pull(&ALL));
        while !rest(&scene).iter().any(|what| page_in(what) == Some(2)) {
            let next = scene.world(|github| github.requests().total) + 1;
            assert!(!scene.poll_until(&mut pull, next).await, "pages are turned");
        }
        let now = scene.now();
        scene.world(|github| {
            for id in &ids[..3] {
                github.world_mut().delete_comment(CommentKind::Conversation, *id, now);
            }
        });
        assert_eq!(pull.await.unwrap().failures, []);
        check_comments(&scene, Judge::CreationsAndEdits).unwrap();
    });
}

/// The sweep of one repository, in a pull that does not look at the other one, nor at the thread itself.
#[test]
fn a_comment_that_moved_is_kept_where_it_is_now() {
    let spec = WorldSpec { plain: true, comments_per_thread: 5, ..WorldSpec::small() };
    let scene = Scene::new(&spec, 17);
    on_virtual_time(async {
        scene.clock.pass(600_000).await;
        scene.pull(&ALL).await.unwrap();
        let truth = scene.world(|github| github.world().truth());
        let said = truth.comments.values().find(|it| it.thread_kind == ThreadKind::Issue).unwrap();
        let home = &truth.repositories[&said.repository_id];
        let other = truth.repositories.keys().copied().find(|id| *id != home.id).unwrap();
        let now = scene.now();
        scene.world(|github| github.world_mut().transfer_issue(said.thread_id, other, now));
        scene.clock.pass(600_000).await;
        let name: &'static str = home.name.clone().leak();
        let puller = Puller {
            items: &[Choice::PullRequests, Choice::Comments],
            only: vec![name].leak(),
            ..SWEEP
        };
        assert_eq!(scene.pull(&puller).await.unwrap().failures, []);
        let mut held = None;
        let mut find = |row: CommentRow| {
            if row.comment.id == said.id && row.comment.kind == Kind::IssueComment {
                held = Some(row.comment.repository_id);
            }
            ControlFlow::Continue(())
        };
        scene.store.each_comment(&CommentFilter::default(), &mut find).unwrap();
        assert_eq!(held, Some(other));
    });
}

/// What a pull asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    graphql: usize,
    /// REST requests, all of them conditional.
    conditional: usize,
    /// What those cost.
    points: u32,
}

async fn asked(scene: &Scene, puller: &Puller) -> Asked {
    let before = scene.world(|github| github.requests().entries.len());
    assert_eq!(scene.pull(puller).await.unwrap().failures, []);
    let entries = scene.world(|github| github.requests().entries.split_at(before).1.to_vec());
    let of = |kind: RequestKind| entries.iter().filter(move |entry| entry.kind == kind);
    Asked {
        graphql: of(RequestKind::GraphQl).count(),
        conditional: of(RequestKind::Rest).count(),
        points: of(RequestKind::Rest).map(|entry| entry.points).sum(),
    }
}

fn one_repository() -> WorldSpec {
    WorldSpec { repositories: 1, plain: true, comments_per_thread: 2, ..WorldSpec::small() }
}

fn world_start() -> i64 {
    WorldSpec::small().start_ms
}

fn first_issue(scene: &Scene) -> i64 {
    scene.world(|github| github.world().truth().ids(ThreadKind::Issue)[0])
}

/// What was asked of REST.
fn rest(scene: &Scene) -> Vec<String> {
    let of_rest = |entry: &&hw_sim::RequestEntry| entry.kind == RequestKind::Rest;
    scene.world(|github| {
        let entries = github.requests().entries.iter();
        entries.filter(of_rest).map(|entry| entry.what.clone()).collect()
    })
}

fn page_in(what: &str) -> Option<u32> {
    what.split(['?', '&']).find_map(|part| part.strip_prefix("page=")?.parse().ok())
}
