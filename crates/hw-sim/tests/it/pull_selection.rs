//! Selection of a pull: items, repositories, a window, `--force`. A pull fetches exactly what is missing.

use hw_rules::lane::PullItem;
use hw_sim::{ThreadKind, WorldSpec};
use hw_store::ObjectCounts;

use crate::harness::shortcuts::{
    ISSUES_PULL, USUAL_PULL, crash_at, first_repository_id, issues_freshness,
};
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

#[test]
fn selection_reads_only_the_chosen_items() {
    let fixture = page_logging_fixture(&world_spec(), 1);
    on_virtual_time(async {
        let pulled = fixture.pull(&ISSUES_PULL).await.unwrap();
        assert_eq!(pulled.items.keys().copied().collect::<Vec<_>>(), [PullItem::Issues]);
        assert_eq!(stored_counts(&fixture), (3, 30, 0, 0));
        let before = served_lists(&fixture);
        fixture.pull(&USUAL_PULL).await.unwrap();
        let read = &served_lists(&fixture)[before.len()..];
        assert!(read.iter().all(|(_, kind)| *kind != ThreadKind::Issue), "{read:?}");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn force_on_issues_leaves_other_items_alone() {
    let fixture = page_logging_fixture(&world_spec(), 2);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        let before = served_lists(&fixture);
        let fresh = TestPull { force: true, ..ISSUES_PULL };
        let pulled = fixture.pull(&fresh).await.unwrap();
        assert_eq!(pulled.items[&PullItem::Issues].stored, 30, "all of them again");
        let read = &served_lists(&fixture)[before.len()..];
        assert_eq!(read.len(), 3, "one page each: {read:?}");
        assert!(read.iter().all(|(_, kind)| *kind == ThreadKind::Issue), "{read:?}");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn force_that_is_interrupted_shows_gaps_until_completed() {
    let fixture = SimFixture { largest_page: 5, ..page_logging_fixture(&world_spec(), 3) };
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.clock.advance_by(300_000).await;
        let crash = crash_at("ingest: after commit", 4);
        let fresh = TestPull { force: true, crash_hook: Some(crash), ..ISSUES_PULL };
        fixture.pull(&fresh).await.unwrap_err();
        assert!(!issues_freshness(&fixture).is_complete());
        let (repositories, issues, pull_requests, discussions) = stored_counts(&fixture);
        assert!(issues < 30, "{issues}");
        assert_eq!((repositories, pull_requests, discussions), (3, 18, 9));
        fixture.clock.advance_by(10_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        assert!(issues_freshness(&fixture).is_complete());
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn excluded_repository_is_listed_but_not_read() {
    let fixture = page_logging_fixture(&world_spec(), 4);
    on_virtual_time(async {
        let id = rename_first_to_pump(&fixture);
        let without = TestPull { excluded: &["PUMP"], ..USUAL_PULL };
        fixture.pull(&without).await.unwrap();
        assert_eq!(stored_counts(&fixture), (3, 20, 12, 6));
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&without).await.unwrap();
        let before = served_lists(&fixture);
        fixture.pull(&USUAL_PULL).await.unwrap();
        let read = &served_lists(&fixture)[before.len()..];
        assert!(read.iter().all(|(repository, _)| *repository == id), "{read:?}");
        assert_eq!(read.len(), 3, "one page of each kind: {read:?}");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn excluded_repository_catches_up_when_included_again() {
    let fixture = page_logging_fixture(&world_spec(), 5);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let (id, now) = (rename_first_to_pump(&fixture), fixture.world_now_ms());
        fixture
            .with_github(|github| github.world_mut().create_issue(id, "while excluded", "b", now));
        fixture.clock.advance_by(300_000).await;
        let without = TestPull { excluded: &["pump"], ..USUAL_PULL };
        fixture.pull(&without).await.unwrap();
        assert_eq!(stored_counts(&fixture), (3, 30, 18, 9), "stored items stay");
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn selection_requests_only_the_named_repositories() {
    let fixture = page_logging_fixture(&world_spec(), 6);
    on_virtual_time(async {
        let id = rename_first_to_pump(&fixture);
        let named = TestPull { only: &["PUMP", "nowhere"], ..USUAL_PULL };
        let pulled = fixture.pull(&named).await.unwrap();
        assert_eq!(stored_counts(&fixture), (1, 10, 6, 3));
        let failed: Vec<_> = pulled.failures.iter().map(|failure| failure.scope.as_str()).collect();
        assert_eq!(failed, ["acme/nowhere"]);
        assert!(served_lists(&fixture).iter().all(|(repository, _)| *repository == id));
        fixture.clock.advance_by(300_000).await;
        let quiet = fixture.with_github(|github| github.request_log().total);
        fixture.pull(&TestPull { only: &["pump"], ..USUAL_PULL }).await.unwrap();
        assert!(fixture.with_github(|github| github.request_log().total) - quiet <= 2);
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn named_repository_is_removed_when_gone_and_refused_when_archived() {
    let fixture = page_logging_fixture(&world_spec(), 7);
    on_virtual_time(async {
        let id = rename_first_to_pump(&fixture);
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.with_github(|github| {
            github.world_mut().archive_repository(id, fixture.world_now_ms());
        });
        fixture.clock.advance_by(300_000).await;
        let pulled = fixture.pull(&TestPull { only: &["pump"], ..USUAL_PULL }).await.unwrap();
        assert!(pulled.failures[0].message.contains("archived"), "{pulled:?}");
        fixture.with_github(|github| {
            github.world_mut().unarchive_repository(id, fixture.world_now_ms());
        });
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture
            .with_github(|github| github.world_mut().delete_repository(id, fixture.world_now_ms()));
        fixture.clock.advance_by(300_000).await;
        let pulled = fixture.pull(&TestPull { only: &["pump"], ..USUAL_PULL }).await.unwrap();
        assert_eq!(pulled.items[&PullItem::Repositories].removed, 1, "{pulled:?}");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn window_widening_fetches_the_missing_part_and_shows_a_gap_until_then() {
    let spec = WorldSpec { issues: 60, pull_requests: 60, ..world_spec() };
    let fixture = SimFixture { largest_page: 5, ..page_logging_fixture(&spec, 8) };
    on_virtual_time(async {
        let narrow = TestPull { window_days: Some(10), ..USUAL_PULL };
        fixture.pull(&narrow).await.unwrap();
        let (_, issues, pull_requests, discussions) = stored_counts(&fixture);
        assert!((1..180).contains(&issues) && (1..180).contains(&pull_requests));
        assert_eq!(discussions, 9, "discussions are read whole");
        let few = served_lists(&fixture).len();
        fixture.clock.advance_by(300_000).await;
        fixture.pull(&narrow).await.unwrap();
        let quiet = served_lists(&fixture).len() - few;
        assert!(quiet <= 9, "a window that moved by minutes opens no gap: {quiet} pages");

        let crash = crash_at("ingest: after commit", 5);
        fixture.pull(&TestPull { crash_hook: Some(crash), ..USUAL_PULL }).await.unwrap_err();
        assert!(open_gap_count(&fixture) > 0, "the gap is visible");
        fixture.clock.advance_by(10_000).await;
        let before = served_lists(&fixture).len();
        fixture.pull(&USUAL_PULL).await.unwrap();
        let read = served_lists(&fixture).len() - before;
        let whole = 2 * 3 * 60 / 5;
        assert!(read < whole, "{read} pages, and all of them would be {whole}");
        assert_eq!(open_gap_count(&fixture), 0);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

fn open_gap_count(fixture: &SimFixture) -> usize {
    let lanes = fixture.store.lanes().unwrap();
    lanes.iter().filter(|(_, state, _)| state.coverage.gap.is_some()).count()
}

/// Counts repositories, issues, pull requests and discussions.
fn stored_counts(fixture: &SimFixture) -> (u64, u64, u64, u64) {
    let ObjectCounts { repositories, issues, pull_requests, discussions, .. } =
        fixture.store.object_counts().unwrap();
    (repositories, issues, pull_requests, discussions)
}

/// Returns the lists served newest first, in order of their requests.
fn served_lists(fixture: &SimFixture) -> Vec<(i64, ThreadKind)> {
    fixture.with_github(|github| {
        let pages = github.request_log().entries.iter().flat_map(|entry| &entry.pages);
        // a probe is a page of one
        let full = pages.filter(|page| page.first > 1 || page.after.is_some());
        full.map(|page| (page.repository_id, page.kind)).collect()
    })
}

/// Renames the first repository to pump, and returns its id.
fn rename_first_to_pump(fixture: &SimFixture) -> i64 {
    let id = first_repository_id(fixture);
    fixture.with_github(|github| {
        github.world_mut().rename_repository(id, "pump", fixture.world_now_ms());
    });
    id
}

/// Creates a fixture whose world logs what was on each page.
fn page_logging_fixture(spec: &WorldSpec, seed: u64) -> SimFixture {
    let fixture = SimFixture::new(spec, seed);
    fixture.with_github(|github| github.set_page_logging(true));
    fixture
}

fn world_spec() -> WorldSpec {
    WorldSpec {
        repositories: 3,
        issues: 10,
        pull_requests: 6,
        discussions: 3,
        comments_per_thread: 0,
        no_archives_or_forks: true,
        ..WorldSpec::small()
    }
}
