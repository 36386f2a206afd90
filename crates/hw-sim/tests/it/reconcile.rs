//! Reconcile: whatever happened since the last pull, one `--reconcile` makes the mirror equal to the world, with
//! as few requests as possible.

mod scenario;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hw_rules::item::{self, ObjectId, ObjectKind};
use hw_rules::lane::PullItem;
use hw_sim::{ThreadKind, WorldSpec};
use hw_store::{Hit, SearchEngine, SearchRequest, StoreReader, StoreWriter, Workspace};
use hw_sync::PullSummary;
use hw_sync::crash_points::CrashTrigger;

use crate::harness::shortcuts::{
    SWEEP_PULL, USUAL_PULL, first_repository_id, issue_ids, one_repository,
};
use crate::harness::{
    CheckLevel, HOST, RegressionWatch, SimFixture, TestPull, check_mirror, on_virtual_time,
    postgres_location, stored_rows,
};
use scenario::{ReconcileScenario, edit_all_and_later_one};

/// A reconcile that may remove two repositories.
const ALLOWED_SWEEP: TestPull = TestPull { allow_mass_removal: true, ..SWEEP_PULL };
/// Longer than any list lags.
const LISTS_SETTLE_MS: u64 = 300_000;

#[test]
fn reconcile_finds_every_change_with_few_requests() {
    run_whole_scenario(StoreWriter::open(&hw_store::DatabaseLocation::Memory).unwrap());
}

#[test]
fn reconcile_finds_every_change_on_postgres() {
    let location = postgres_location(&format!("reconcile_{}", std::process::id()));
    run_whole_scenario(StoreWriter::open(&location).unwrap());
}

fn run_whole_scenario(store: StoreWriter) {
    let fixture = SimFixture::with_store(&large_spec(), 1, store);
    on_virtual_time(async {
        let scenario = ReconcileScenario::pull_first(&fixture).await;
        scenario.make_changes(&fixture).await;
        let (summary, requests) = pull_and_count(&fixture, &ALLOWED_SWEEP).await;
        assert_eq!(summary.failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        scenario.check_store(&fixture);
        check_uniqueness(&fixture);
        let most = scenario.max_requests(&fixture);
        assert!(requests <= most, "{requests} requests, at most {most}");
        assert_eq!(summary.items[&PullItem::Repositories].removed, 2);
        assert_eq!(summary.items[&PullItem::Issues].removed, 7, "5 deleted, 1 left, 1 converted");
    });
}

#[test]
fn reconcile_keeps_and_names_two_missing_repositories_until_allowed() {
    let fixture = SimFixture::new(&small_spec(), 1);
    on_virtual_time(async {
        let scenario = ReconcileScenario::pull_first(&fixture).await;
        scenario.make_changes(&fixture).await;
        let braked = fixture.pull(&SWEEP_PULL).await.unwrap();
        let [failure] = &braked.failures[..] else { panic!("{:?}", braked.failures) };
        assert!(
            failure.is_brake() && failure.message.contains("2 of 7 repositories"),
            "{failure:?}"
        );
        assert_eq!(braked.items[&PullItem::Repositories].removed, 0);
        assert_eq!(fixture.store.repositories(HOST).unwrap().len(), 7);
        for repository in [scenario.archived, scenario.deleted] {
            let rows = stored_rows(&fixture.store)
                .into_iter()
                .filter(|row| row.repository_id == repository);
            assert_eq!(rows.count(), 8 + 4 + 3, "nothing is removed from it");
        }
        assert_eq!(fixture.pull(&ALLOWED_SWEEP).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn reconcile_ends_equal_to_the_world_after_an_interruption_anywhere() {
    let mut points = BTreeSet::new();
    for nth in 1.. {
        let Some(point) = interrupt_reconcile(nth) else { break };
        points.insert(point);
    }
    for point in
        ["fetch: answered", "stage: after commit", "sweep: after commit", "gone: looked again"]
    {
        assert!(points.contains(point), "no crash at {point:?}: {points:?}");
    }
}

/// Crashes a reconcile at the nth point it passes and runs a second one; returns the point, or `None` if the first
/// reconcile passed fewer points.
fn interrupt_reconcile(nth: u32) -> Option<&'static str> {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&small_spec(), 2) };
    on_virtual_time(async {
        let scenario = ReconcileScenario::pull_first(&fixture).await;
        scenario.make_changes(&fixture).await;
        let died_at = Arc::new(std::sync::OnceLock::new());
        let crash_hook = Some(crash_at_nth_point(nth, &died_at));
        let died = fixture.pull(&TestPull { crash_hook, ..ALLOWED_SWEEP }).await.is_err();
        let point = died_at.get().copied();
        // a process that dies while it signs off has done its work
        assert!(died == point.is_some() || point.is_some_and(|point| point.starts_with("worker")));
        scenario.make_unlisted_changes(&fixture).await;
        let (again, requests) = pull_and_count(&fixture, &ALLOWED_SWEEP).await;
        assert_eq!(again.failures, [], "after {nth} points");
        check_mirror(&fixture, CheckLevel::Everything)
            .unwrap_or_else(|wrong| panic!("after {nth} points: {wrong}"));
        scenario.check_store(&fixture);
        check_uniqueness(&fixture);
        let most = scenario.max_requests(&fixture);
        assert!(requests <= most, "after {nth} points, {requests} requests, at most {most}");
        died_at.get().copied()
    })
}

#[test]
fn reconcile_neither_loses_nor_undoes_changes_between_its_pages() {
    let mut moments = 0;
    for after in 1.. {
        let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&one_repository(40), 7) };
        let ended = on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            let mut watch = RegressionWatch::default();
            watch.check_rows(&fixture).unwrap();
            let ids = issue_ids(&fixture);
            let deleted = [ids[1], ids[21]];
            deleted.iter().for_each(|id| delete_issue(&fixture, *id));
            fixture.clock.advance_by(LISTS_SETTLE_MS).await;
            let requests = fixture.with_github(|github| github.request_log().total);
            let mut pull = std::pin::pin!(fixture.pull(&SWEEP_PULL));
            if fixture.poll_until_requests(&mut pull, requests + after).await {
                return true;
            }
            // on pages already read and on pages still to come
            let fresh = change_some_issues(&fixture, &ids);
            let swept = pull.await.unwrap();
            assert_eq!(swept.failures, [], "after {after} requests");
            watch.check_rows(&fixture).unwrap();
            deleted.iter().for_each(|id| assert!(!is_stored(&fixture, *id), "{id} is gone"));
            fixture.clock.advance_by(LISTS_SETTLE_MS).await;
            assert_eq!(
                fixture.pull(&USUAL_PULL).await.unwrap().failures,
                [],
                "after {after} requests"
            );
            check_mirror(&fixture, CheckLevel::CreationsAndEdits).unwrap();
            watch.check_rows(&fixture).unwrap();
            assert!(is_stored(&fixture, fresh), "the created issue is stored");
            assert_eq!(
                fixture.pull(&SWEEP_PULL).await.unwrap().failures,
                [],
                "after {after} requests"
            );
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            false
        });
        if ended {
            break;
        }
        moments += 1;
    }
    assert!(moments >= 8, "the inventory has eight pages, but only {moments} moments were tried");
}

/// Edits, deletes and creates issues across the whole list; returns the id of the created one.
fn change_some_issues(fixture: &SimFixture, ids: &[i64]) -> i64 {
    let (home, now) = (first_repository_id(fixture), fixture.world_now_ms());
    for id in [ids[0], ids[19], ids[39]] {
        fixture
            .with_github(|github| github.world_mut().edit_issue(id, None, Some("meanwhile"), now));
    }
    for id in [ids[2], ids[20], ids[38]] {
        delete_issue(fixture, id);
    }
    fixture.with_github(|github| {
        let world = github.world_mut();
        let short_lived = world.create_issue(home, "short-lived", "b", now);
        world.delete_issue(short_lived, now + 1);
        world.create_issue(home, "created meanwhile", "b", now)
    })
}

#[test]
fn reconcile_again_changes_nothing_and_equals_a_first_pull() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&small_spec(), 3) };
    on_virtual_time(async {
        let scenario = ReconcileScenario::pull_first(&fixture).await;
        scenario.make_changes(&fixture).await;
        fixture.pull(&ALLOWED_SWEEP).await.unwrap();
        let first = printed_views(&fixture);
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let again = fixture.pull(&SWEEP_PULL).await.unwrap();
        assert_eq!(again.failures, []);
        assert_eq!((again.total_tally().stored, again.total_tally().removed), (0, 0));
        assert_eq!(printed_views(&fixture), first);
        let cold = SimFixture {
            github: Arc::clone(&fixture.github),
            clock: Arc::clone(&fixture.clock),
            ..SimFixture::new(&small_spec(), 3)
        };
        assert_eq!(cold.store.object_counts().unwrap().repositories, 0, "a store of its own");
        cold.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(first, printed_views(&cold));
    });
}

#[test]
fn reconcile_looks_up_a_hundred_ids_per_request() {
    let fixture = SimFixture::new(&one_repository(1_000), 4);
    on_virtual_time(async {
        let (home, start) = (first_repository_id(&fixture), fixture.world_now_ms());
        let unknown: Vec<i64> = (0..150)
            .map(|n| {
                fixture.with_github(|github| {
                    let world = github.world_mut();
                    let id = world.create_issue(home, &format!("late {n}"), "b", start);
                    world.delay_listing(ThreadKind::Issue, id, start + 2 * 600_000);
                    id
                })
            })
            .collect();
        let ids: Vec<i64> =
            issue_ids(&fixture).into_iter().filter(|id| !unknown.contains(id)).collect();
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        edit_all_and_later_one(&fixture, &ids[..110]).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(fixture.store.object_counts().unwrap().issues, 1_000);
        ids[800..].iter().for_each(|id| delete_issue(&fixture, *id));
        fixture.clock.advance_by(900_000).await;
        let (swept, requests) = pull_and_count(&fixture, &SWEEP_PULL).await;
        assert_eq!(swept.failures, []);
        assert_eq!(swept.total_tally().removed, 200);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let (listing, changed, inventories) = (1, 1, 10 + 1 + 1);
        assert_eq!(
            requests,
            listing + changed + inventories + 2 + 2,
            "950 ids, 200 suspects, 150 unknown"
        );
    });
}

#[test]
fn reconcile_keeps_an_unlisted_item_that_a_lookup_finds() {
    let fixture = SimFixture::new(&one_repository(9), 5);
    on_virtual_time(async {
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        let (left_out, until) = (issue_ids(&fixture)[4], fixture.world_now_ms() + 3_600_000);
        let issue = ThreadKind::Issue;
        fixture.with_github(|github| github.world_mut().delay_listing(issue, left_out, until));
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let (swept, requests) = pull_and_count(&fixture, &SWEEP_PULL).await;
        assert_eq!((swept.total_tally().removed, swept.failures), (0, vec![]));
        assert!(is_stored(&fixture, left_out));
        assert_eq!(
            requests,
            1 + 1 + 3 + 1,
            "the listing, the changed list, three inventories, and the lookup"
        );
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// Checks that no thread is stored or found twice.
fn check_uniqueness(fixture: &SimFixture) {
    let rows = stored_rows(&fixture.store);
    let urls: BTreeSet<&str> = rows.iter().map(|row| &*row.url).collect();
    let nodes: BTreeSet<&str> = rows.iter().map(|row| &*row.node_id).collect();
    assert_eq!((urls.len(), nodes.len()), (rows.len(), rows.len()));
    let stored: BTreeSet<(ObjectKind, i64)> =
        rows.iter().map(|row| (row.kind().into(), row.id)).collect();
    let mut found = BTreeSet::new();
    for repository in fixture.store.repositories(HOST).unwrap() {
        let hits = search_hits(&fixture.store, &repository.name);
        let unique: BTreeSet<(ObjectKind, i64)> =
            hits.iter().map(|hit| (hit.kind, hit.id)).collect();
        assert_eq!(unique.len(), hits.len(), "{}: a thread is found twice", repository.name);
        found.extend(unique);
    }
    assert_eq!(found, stored, "each is found by the name of its repository");
}

/// Returns every hit of a search.
fn search_hits(store: &StoreReader, query: &str) -> Vec<Hit> {
    let engine = SearchEngine::new(Workspace::from_store(store.clone()));
    engine.search(&SearchRequest { limit: 100_000, ..SearchRequest::new(query) }).unwrap().hits
}

/// Returns everything that the store returns, printed.
fn printed_views(fixture: &SimFixture) -> Vec<String> {
    let repositories = fixture.store.repositories(HOST).unwrap();
    let hits = repositories.iter().flat_map(|found| search_hits(&fixture.store, &found.name));
    let hits: Vec<String> = hits.map(|hit| format!("{hit:?}")).collect();
    let rows = stored_rows(&fixture.store).into_iter().map(|row| format!("{row:?}"));
    let repositories = repositories.iter().map(|repository| format!("{repository:?}"));
    repositories.chain(rows).chain(hits).collect()
}

/// Pulls, and returns the number of requests that the world counted.
async fn pull_and_count(fixture: &SimFixture, pull: &TestPull) -> (PullSummary, u64) {
    let before = fixture.with_github(|github| github.request_log().total);
    let summary = fixture.pull(pull).await.unwrap();
    (summary, fixture.with_github(|github| github.request_log().total) - before)
}

/// Crashes at the nth point that is passed. Beats do not count: the clock decides when they happen.
fn crash_at_nth_point(nth: u32, died_at: &Arc<std::sync::OnceLock<&'static str>>) -> CrashTrigger {
    let (passed, died_at) = (AtomicU32::new(0), Arc::clone(died_at));
    Arc::new(move |point| {
        let crashes =
            !point.starts_with("beat") && passed.fetch_add(1, Ordering::SeqCst) + 1 == nth;
        crashes && died_at.set(point).is_ok()
    })
}

fn is_stored(fixture: &SimFixture, id: i64) -> bool {
    fixture
        .store
        .cell(HOST, ObjectId { kind: ObjectKind::Thread(item::ThreadKind::Issue), id })
        .unwrap()
        .is_present()
}

fn delete_issue(fixture: &SimFixture, id: i64) {
    fixture.with_github(|github| github.world_mut().delete_issue(id, fixture.world_now_ms()));
}

/// Returns seven repositories with issues on several pages.
fn large_spec() -> WorldSpec {
    WorldSpec { issues: 250, pull_requests: 30, discussions: 15, ..small_spec() }
}

fn small_spec() -> WorldSpec {
    WorldSpec {
        repositories: 7,
        issues: 8,
        pull_requests: 4,
        discussions: 3,
        comments_per_thread: 1,
        no_archives_or_forks: true,
        ..WorldSpec::small()
    }
}
