//! Reconcile: whatever happened behind our back, one `--reconcile` makes the mirror equal to the world, and
//! asks for no more than it must.

mod story;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hw_rules::item::{Key, Kind};
use hw_rules::lane::Choice;
use hw_sim::{ThreadKind, WorldSpec};
use hw_store::{Hit, Search, SearchEngine, Store, Workspace};
use hw_sync::Summary;
use hw_sync::crash::Plug;

use crate::harness::words::{OK, SWEEP, issue_ids, one_repository, repository_id};
use crate::harness::{
    HOST, Judge, Puller, Scene, Watch, all_rows, check_mirror, on_virtual_time, postgres,
};
use story::{Story, edit_all_and_later_one};

/// A reconcile by somebody who knows that two repositories went.
const ALLOWED: Puller = Puller { allow_mass_removal: true, ..SWEEP };
/// Longer than lists may lag.
const A_WHILE: u64 = 300_000;

#[test]
fn a_reconcile_finds_everything_that_happened_and_asks_no_more_than_it_must() {
    tell_whole_story(Store::open(&hw_store::Place::Memory).unwrap());
}

#[test]
fn a_reconcile_finds_everything_that_happened_on_postgres_too() {
    let place = postgres(&format!("reconcile_{}", std::process::id()));
    tell_whole_story(Store::open(&place).unwrap());
}

fn tell_whole_story(store: Store) {
    let scene = Scene::with_store(&large(), 1, store);
    on_virtual_time(async {
        let story = Story::begin(&scene).await;
        story.goes_on(&scene).await;
        let (summary, asked) = counted(&scene, &ALLOWED).await;
        assert_eq!(summary.failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
        story.check(&scene);
        check_uniqueness(&scene);
        let most = story.most_requests(&scene);
        assert!(asked <= most, "{asked} requests, at most {most}");
        assert_eq!(summary.items[&Choice::Repositories].removed, 2);
        assert_eq!(summary.items[&Choice::Issues].removed, 7, "5 deleted, 1 left, 1 converted");
    });
}

#[test]
fn without_a_persons_word_two_repositories_stay_and_are_named() {
    let scene = Scene::new(&small(), 1);
    on_virtual_time(async {
        let story = Story::begin(&scene).await;
        story.goes_on(&scene).await;
        let braked = scene.pull(&SWEEP).await.unwrap();
        let [failure] = &braked.failures[..] else { panic!("{:?}", braked.failures) };
        assert!(failure.is_brake && failure.message.contains("2 of 7 repositories"), "{failure:?}");
        assert_eq!(braked.items[&Choice::Repositories].removed, 0);
        assert_eq!(scene.store.repositories(HOST).unwrap().len(), 7);
        for repository in [story.archived, story.deleted] {
            let held =
                all_rows(&scene.store).into_iter().filter(|it| it.repository_id == repository);
            assert_eq!(held.count(), 8 + 4 + 3, "nothing of it is removed");
        }
        assert_eq!(scene.pull(&ALLOWED).await.unwrap().failures, []);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn wherever_a_reconcile_is_interrupted_the_next_one_ends_equal_to_the_world() {
    let mut points = BTreeSet::new();
    for nth in 1.. {
        let Some(point) = interrupted(nth) else { break };
        points.insert(point);
    }
    for point in
        ["fetch: answered", "stage: after commit", "sweep: after commit", "gone: looked again"]
    {
        assert!(points.contains(point), "no crash at {point:?}: {points:?}");
    }
}

/// A reconcile that dies at the nth point it passes, and a second one; where the first died, if it did.
fn interrupted(nth: u32) -> Option<&'static str> {
    let scene = Scene { largest_page: 5, ..Scene::new(&small(), 2) };
    on_virtual_time(async {
        let story = Story::begin(&scene).await;
        story.goes_on(&scene).await;
        let died_at = Arc::new(std::sync::OnceLock::new());
        let plug = Some(at_any_point(nth, &died_at));
        let died = scene.pull(&Puller { plug, ..ALLOWED }).await.is_err();
        assert_eq!(died, died_at.get().is_some());
        story.goes_on_unseen(&scene).await;
        let (again, asked) = counted(&scene, &ALLOWED).await;
        assert_eq!(again.failures, [], "after {nth} points");
        check_mirror(&scene, Judge::Everything)
            .unwrap_or_else(|wrong| panic!("after {nth} points: {wrong}"));
        story.check(&scene);
        check_uniqueness(&scene);
        let most = story.most_requests(&scene);
        assert!(asked <= most, "after {nth} points, {asked} requests, at most {most}");
        died_at.get().copied()
    })
}

#[test]
fn what_happens_between_the_pages_of_a_sweep_is_neither_lost_nor_undone() {
    let mut stories = 0;
    for after in 1.. {
        let scene = Scene { largest_page: 5, ..Scene::new(&one_repository(40), 7) };
        let ended = on_virtual_time(async {
            scene.pull(&OK).await.unwrap();
            let mut watch = Watch::default();
            watch.look(&scene).unwrap();
            let ids = issue_ids(&scene);
            let old = [ids[1], ids[21]];
            old.iter().for_each(|id| delete(&scene, *id));
            scene.clock.pass(A_WHILE).await;
            let asked = scene.world(|github| github.requests().total);
            let mut pull = std::pin::pin!(scene.pull(&SWEEP));
            if scene.poll_until(&mut pull, asked + after).await {
                return true;
            }
            // some are on pages that were read, others on pages still to come
            let fresh = change_some(&scene, &ids);
            let swept = pull.await.unwrap();
            assert_eq!(swept.failures, [], "after {after} requests");
            watch.look(&scene).unwrap();
            old.iter().for_each(|id| assert!(!is_held(&scene, *id), "{id} is gone"));
            scene.clock.pass(A_WHILE).await;
            assert_eq!(scene.pull(&OK).await.unwrap().failures, [], "after {after} requests");
            check_mirror(&scene, Judge::CreationsAndEdits).unwrap();
            watch.look(&scene).unwrap();
            assert!(is_held(&scene, fresh), "what was created is there");
            assert_eq!(scene.pull(&SWEEP).await.unwrap().failures, [], "after {after} requests");
            check_mirror(&scene, Judge::Everything).unwrap();
            false
        });
        if ended {
            break;
        }
        stories += 1;
    }
    assert!(8 <= stories, "the roll alone has eight pages, and {stories} moments were tried");
}

/// Edits, deletes and creates, here and there in the roll; the id of what was created.
fn change_some(scene: &Scene, ids: &[i64]) -> i64 {
    let (home, now) = (repository_id(scene), scene.now());
    for id in [ids[0], ids[19], ids[39]] {
        scene.world(|github| github.world_mut().edit_issue(id, None, Some("meanwhile"), now));
    }
    for id in [ids[2], ids[20], ids[38]] {
        delete(scene, id);
    }
    scene.world(|github| {
        let world = github.world_mut();
        let short_lived = world.create_issue(home, "short-lived", "b", now);
        world.delete_issue(short_lived, now + 1);
        world.create_issue(home, "created meanwhile", "b", now)
    })
}

#[test]
fn a_second_reconcile_changes_nothing_and_leaves_what_a_cold_pull_reads() {
    let scene = Scene { largest_page: 5, ..Scene::new(&small(), 3) };
    on_virtual_time(async {
        let story = Story::begin(&scene).await;
        story.goes_on(&scene).await;
        scene.pull(&ALLOWED).await.unwrap();
        let first = views(&scene);
        scene.clock.pass(A_WHILE).await;
        let again = scene.pull(&SWEEP).await.unwrap();
        assert_eq!(again.failures, []);
        assert_eq!((again.total().stored, again.total().removed), (0, 0));
        assert_eq!(views(&scene), first);
        let cold = Scene {
            github: Arc::clone(&scene.github),
            clock: Arc::clone(&scene.clock),
            ..Scene::new(&small(), 3)
        };
        assert_eq!(cold.store.counts().unwrap().repositories, 0, "a store of its own");
        cold.pull(&OK).await.unwrap();
        assert_eq!(first, views(&cold));
    });
}

#[test]
fn a_hundred_suspects_take_one_look_and_a_hundred_unknown_ones_another() {
    let scene = Scene::new(&one_repository(1_000), 4);
    on_virtual_time(async {
        let (home, start) = (repository_id(&scene), scene.now());
        let unknown: Vec<i64> = (0..150)
            .map(|n| {
                scene.world(|github| {
                    let world = github.world_mut();
                    let id = world.create_issue(home, &format!("late {n}"), "b", start);
                    world.show_late(ThreadKind::Issue, id, start + 2 * 600_000);
                    id
                })
            })
            .collect();
        let ids: Vec<i64> =
            issue_ids(&scene).into_iter().filter(|id| !unknown.contains(id)).collect();
        scene.clock.pass(A_WHILE).await;
        edit_all_and_later_one(&scene, &ids[..110]).await;
        scene.pull(&OK).await.unwrap();
        assert_eq!(scene.store.counts().unwrap().issues, 1_000);
        ids[800..].iter().for_each(|id| delete(&scene, *id));
        scene.clock.pass(900_000).await;
        let (swept, asked) = counted(&scene, &SWEEP).await;
        assert_eq!(swept.failures, []);
        assert_eq!(swept.total().removed, 200);
        check_mirror(&scene, Judge::Everything).unwrap();
        let (listing, moved, rolls) = (1, 1, 10 + 1 + 1);
        assert_eq!(asked, listing + moved + rolls + 2 + 2, "950 ids, 200 suspects, 150 unknown");
    });
}

#[test]
fn what_a_roll_leaves_out_and_a_second_look_finds_stays() {
    let scene = Scene::new(&one_repository(9), 5);
    on_virtual_time(async {
        scene.clock.pass(A_WHILE).await;
        scene.pull(&OK).await.unwrap();
        let (left_out, until) = (issue_ids(&scene)[4], scene.now() + 3_600_000);
        let issue = ThreadKind::Issue;
        scene.world(|github| github.world_mut().show_late(issue, left_out, until));
        scene.clock.pass(A_WHILE).await;
        let (swept, asked) = counted(&scene, &SWEEP).await;
        assert_eq!((swept.total().removed, swept.failures), (0, vec![]));
        assert!(is_held(&scene, left_out));
        assert_eq!(asked, 1 + 1 + 3 + 1, "the listing, what moved, three rolls, and the look");
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

/// Nobody is held, or found, twice.
fn check_uniqueness(scene: &Scene) {
    let rows = all_rows(&scene.store);
    let urls: BTreeSet<&str> = rows.iter().map(|it| &*it.url).collect();
    let nodes: BTreeSet<&str> = rows.iter().map(|it| &*it.node_id).collect();
    assert_eq!((urls.len(), nodes.len()), (rows.len(), rows.len()));
    let held: BTreeSet<(Kind, i64)> = rows.iter().map(|it| (it.kind(), it.id)).collect();
    let mut found = BTreeSet::new();
    for repository in scene.store.repositories(HOST).unwrap() {
        let hits = hits(&scene.store, &repository.name);
        let of_name: BTreeSet<(Kind, i64)> = hits.iter().map(|hit| (hit.kind, hit.id)).collect();
        assert_eq!(of_name.len(), hits.len(), "{}: somebody is found twice", repository.name);
        found.extend(of_name);
    }
    assert_eq!(found, held, "each is found by the name of its repository");
}

/// All that a search finds.
fn hits(store: &Store, query: &str) -> Vec<Hit> {
    let engine = SearchEngine::over(Workspace::over(store.clone()));
    engine.search(&Search { limit: 100_000, ..Search::new(query) }).unwrap().hits
}

/// All that the store shows, to the letter.
fn views(scene: &Scene) -> Vec<String> {
    let repositories = scene.store.repositories(HOST).unwrap();
    let searched = repositories.iter().flat_map(|it| hits(&scene.store, &it.name));
    let searched: Vec<String> = searched.map(|hit| format!("{hit:?}")).collect();
    let rows = all_rows(&scene.store).into_iter().map(|row| format!("{row:?}"));
    let repositories = repositories.iter().map(|it| format!("{it:?}"));
    repositories.chain(rows).chain(searched).collect()
}

/// Pulls, and tells how many requests the world counted.
async fn counted(scene: &Scene, puller: &Puller) -> (Summary, u64) {
    let before = scene.world(|github| github.requests().total);
    let summary = scene.pull(puller).await.unwrap();
    (summary, scene.world(|github| github.requests().total) - before)
}

/// Crashes at the nth point that is passed, whichever it is; the lease is renewed by the clock.
fn at_any_point(nth: u32, died_at: &Arc<std::sync::OnceLock<&'static str>>) -> Plug {
    let (passed, died_at) = (AtomicU32::new(0), Arc::clone(died_at));
    Arc::new(move |point| {
        let dies = !point.starts_with("lease") && passed.fetch_add(1, Ordering::SeqCst) + 1 == nth;
        dies && died_at.set(point).is_ok()
    })
}

fn is_held(scene: &Scene, id: i64) -> bool {
    scene.store.cell(HOST, Key { kind: Kind::Issue, id }).unwrap().is_present()
}

fn delete(scene: &Scene, id: i64) {
    scene.world(|github| github.world_mut().delete_issue(id, scene.now()));
}

/// Seven repositories with issues on several pages.
fn large() -> WorldSpec {
    WorldSpec { issues: 250, pull_requests: 30, discussions: 15, ..small() }
}

fn small() -> WorldSpec {
    WorldSpec {
        repositories: 7,
        issues: 8,
        pull_requests: 4,
        discussions: 3,
        comments_per_thread: 1,
        plain: true,
        ..WorldSpec::small()
    }
}
