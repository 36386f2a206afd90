//! What is chosen: items, repositories, a window, a fresh start. Exactly what is missing is fetched.

use hw_rules::lane::Choice;
use hw_sim::{ThreadKind, WorldSpec};
use hw_store::Counts;

use crate::harness::words::{ISSUES, OK, at, freshness, repository_id};
use crate::harness::{Judge, Puller, Scene, check_mirror, on_virtual_time};

#[test]
fn only_the_chosen_items_are_read() {
    let scene = recorded(&spec(), 1);
    on_virtual_time(async {
        let pulled = scene.pull(&ISSUES).await.unwrap();
        assert_eq!(pulled.items.keys().copied().collect::<Vec<_>>(), [Choice::Issues]);
        assert_eq!(held(&scene), (3, 30, 0, 0));
        let before = lists(&scene);
        scene.pull(&OK).await.unwrap();
        let read = &lists(&scene)[before.len()..];
        assert!(read.iter().all(|(_, kind)| *kind != ThreadKind::Issue), "{read:?}");
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_fresh_start_of_the_issues_leaves_the_others_alone() {
    let scene = recorded(&spec(), 2);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
        let before = lists(&scene);
        let fresh = Puller { force: true, ..ISSUES };
        let pulled = scene.pull(&fresh).await.unwrap();
        assert_eq!(pulled.items[&Choice::Issues].stored, 30, "all of them anew");
        let read = &lists(&scene)[before.len()..];
        assert_eq!(read.len(), 3, "one page each: {read:?}");
        assert!(read.iter().all(|(_, kind)| *kind == ThreadKind::Issue), "{read:?}");
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_fresh_start_that_is_interrupted_shows_its_gaps_until_it_is_completed() {
    let scene = Scene { largest_page: 5, ..recorded(&spec(), 3) };
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        scene.clock.pass(300_000).await;
        let crash = at("ingest: after commit", 4);
        let fresh = Puller { force: true, plug: Some(crash), ..ISSUES };
        scene.pull(&fresh).await.unwrap_err();
        assert!(!freshness(&scene).is_whole());
        let (repositories, issues, pull_requests, discussions) = held(&scene);
        assert!(issues < 30, "{issues}");
        assert_eq!((repositories, pull_requests, discussions), (3, 18, 9));
        scene.clock.pass(10_000).await;
        scene.pull(&OK).await.unwrap();
        assert!(freshness(&scene).is_whole());
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn an_excluded_repository_is_listed_and_not_read_until_it_is_no_longer_excluded() {
    let scene = recorded(&spec(), 4);
    on_virtual_time(async {
        let id = pump(&scene);
        let without = Puller { excluded: &["PUMP"], ..OK };
        scene.pull(&without).await.unwrap();
        assert_eq!(held(&scene), (3, 20, 12, 6));
        scene.clock.pass(300_000).await;
        scene.pull(&without).await.unwrap();
        let before = lists(&scene);
        scene.pull(&OK).await.unwrap();
        let read = &lists(&scene)[before.len()..];
        assert!(read.iter().all(|(repository, _)| *repository == id), "{read:?}");
        assert_eq!(read.len(), 3, "one page of each kind: {read:?}");
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_repository_excluded_for_a_while_is_caught_up_with() {
    let scene = recorded(&spec(), 5);
    on_virtual_time(async {
        scene.pull(&OK).await.unwrap();
        let (id, now) = (pump(&scene), scene.now());
        scene.world(|github| github.world_mut().create_issue(id, "while excluded", "b", now));
        scene.clock.pass(300_000).await;
        let without = Puller { excluded: &["pump"], ..OK };
        scene.pull(&without).await.unwrap();
        assert_eq!(held(&scene), (3, 30, 18, 9), "what was read stays");
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn only_the_named_repositories_are_asked_for() {
    let scene = recorded(&spec(), 6);
    on_virtual_time(async {
        let id = pump(&scene);
        let named = Puller { only: &["PUMP", "nowhere"], ..OK };
        let pulled = scene.pull(&named).await.unwrap();
        assert_eq!(held(&scene), (1, 10, 6, 3));
        let told: Vec<_> = pulled.failures.iter().map(|it| it.scope.as_str()).collect();
        assert_eq!(told, ["acme/nowhere"]);
        assert!(lists(&scene).iter().all(|(repository, _)| *repository == id));
        scene.clock.pass(300_000).await;
        let quiet = scene.world(|github| github.requests().total);
        scene.pull(&Puller { only: &["pump"], ..OK }).await.unwrap();
        assert!(scene.world(|github| github.requests().total) - quiet <= 2);
        scene.pull(&OK).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_named_repository_that_is_gone_is_removed_and_one_that_is_archived_is_refused() {
    let scene = recorded(&spec(), 7);
    on_virtual_time(async {
        let id = pump(&scene);
        scene.pull(&OK).await.unwrap();
        scene.world(|github| github.world_mut().archive_repository(id, scene.now()));
        scene.clock.pass(300_000).await;
        let pulled = scene.pull(&Puller { only: &["pump"], ..OK }).await.unwrap();
        assert!(pulled.failures[0].message.contains("archived"), "{pulled:?}");
        scene.world(|github| github.world_mut().unarchive_repository(id, scene.now()));
        scene.clock.pass(300_000).await;
        scene.pull(&OK).await.unwrap();
        scene.world(|github| github.world_mut().delete_repository(id, scene.now()));
        scene.clock.pass(300_000).await;
        let pulled = scene.pull(&Puller { only: &["pump"], ..OK }).await.unwrap();
        assert_eq!(pulled.items[&Choice::Repositories].removed, 1, "{pulled:?}");
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

#[test]
fn a_wider_window_fetches_what_is_missing_and_shows_a_gap_until_then() {
    let spec = WorldSpec { issues: 60, pull_requests: 60, ..spec() };
    let scene = Scene { largest_page: 5, ..recorded(&spec, 8) };
    on_virtual_time(async {
        let narrow = Puller { window_days: Some(10), ..OK };
        scene.pull(&narrow).await.unwrap();
        let (_, issues, pull_requests, discussions) = held(&scene);
        assert!(0 < issues && issues < 180 && 0 < pull_requests && pull_requests < 180);
        assert_eq!(discussions, 9, "discussions are read whole");
        let few = lists(&scene).len();
        scene.clock.pass(300_000).await;
        scene.pull(&narrow).await.unwrap();
        let quiet = lists(&scene).len() - few;
        assert!(quiet <= 9, "a narrow window that moved by minutes opens no gap: {quiet} pages");

        let crash = at("ingest: after commit", 5);
        scene.pull(&Puller { plug: Some(crash), ..OK }).await.unwrap_err();
        let open =
            scene.store.lanes().unwrap().into_iter().filter(|(_, it, _)| it.coverage.gap.is_some());
        assert!(0 < open.count(), "the gap shows");
        scene.clock.pass(10_000).await;
        let before = lists(&scene).len();
        scene.pull(&OK).await.unwrap();
        let read = lists(&scene).len() - before;
        let whole = 2 * 3 * 60 / 5;
        assert!(read < whole, "{read} pages, and all of them would be {whole}");
        let gaps =
            scene.store.lanes().unwrap().into_iter().filter(|(_, it, _)| it.coverage.gap.is_some());
        assert_eq!(gaps.count(), 0);
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

/// Repositories, issues, pull requests and discussions.
fn held(scene: &Scene) -> (u64, u64, u64, u64) {
    let Counts { repositories, issues, pull_requests, discussions, .. } =
        scene.store.counts().unwrap();
    (repositories, issues, pull_requests, discussions)
}

/// The lists that were served newest first, in order.
fn lists(scene: &Scene) -> Vec<(i64, ThreadKind)> {
    scene.world(|github| {
        let pages = github.requests().entries.iter().flat_map(|entry| &entry.pages);
        // a probe is a page of one
        let full = pages.filter(|page| 1 < page.first || page.after.is_some());
        full.map(|page| (page.repository_id, page.kind)).collect()
    })
}

/// The first repository, which is called pump from now on.
fn pump(scene: &Scene) -> i64 {
    let id = repository_id(scene);
    scene.world(|github| github.world_mut().rename_repository(id, "pump", scene.now()));
    id
}

/// A scene whose world keeps what was on each page.
fn recorded(spec: &WorldSpec, seed: u64) -> Scene {
    let scene = Scene::new(spec, seed);
    scene.world(|github| github.keep_pages(true));
    scene
}

fn spec() -> WorldSpec {
    WorldSpec {
        repositories: 3,
        issues: 10,
        pull_requests: 6,
        discussions: 3,
        comments_per_thread: 0,
        plain: true,
        ..WorldSpec::small()
    }
}
