//! Walks that are interrupted, narrowed, widened or misled, over lists that change: nothing is missing afterwards.

use hw_rules::coverage::GapSide;
use hw_rules::lane::Lane;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::PageCursor;
use hw_sim::{ApiFault, ThreadKind, WorldSpec};

use crate::harness::shortcuts::{
    ISSUES_PULL, USUAL_PULL, coverage_only_page, crash_at, first_repository_id, issue_ids,
    one_repository,
};
use crate::harness::{CheckLevel, HOST, SimFixture, TestPull, check_mirror, on_virtual_time};

#[test]
fn walk_interrupted_at_first_leaves_no_hole() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&one_repository(30), 1) };
    on_virtual_time(async {
        let crash =
            TestPull { crash_hook: Some(crash_at("ingest: after commit", 4)), ..ISSUES_PULL };
        fixture.pull(&crash).await.unwrap_err();
        let half = fixture.store.object_counts().unwrap().issues;
        assert!((1..30).contains(&half), "the crash came in the middle: {half}");
        fixture.clock.advance_by(10_000).await;
        fixture.with_github(|github| {
            let newest = *github.world().truth().thread_ids(ThreadKind::Issue).last().unwrap();
            github.world_mut().edit_issue(
                newest,
                Some("edited, so first in the list"),
                None,
                fixture.world_now_ms(),
            );
        });
        let before = fixture.with_github(|github| github.request_log().total);
        fixture.pull(&ISSUES_PULL).await.unwrap();
        let requests = fixture.with_github(|github| github.request_log().total) - before;
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let (listing, head, rest) = (1, 1, 3);
        assert_eq!(requests, listing + head + rest, "only the head and the missing part are read");
    });
}

#[test]
fn walk_finds_an_edit_in_the_second_of_the_watermark() {
    let fixture = SimFixture::new(&one_repository(6), 2);
    on_virtual_time(async {
        let second = fixture.world_now_ms() / 1_000 * 1_000;
        let ids = issue_ids(&fixture);
        fixture.with_github(|github| {
            github.world_mut().edit_issue(ids[0], None, Some("first"), second + 10);
        });
        fixture.pull(&USUAL_PULL).await.unwrap();
        // an older issue, in the second of the watermark, after the pull
        fixture.with_github(|github| {
            github.world_mut().edit_issue(ids[3], None, Some("second"), second + 900);
        });
        fixture.with_github(|github| {
            github.world_mut().edit_issue(ids[0], None, Some("again"), second + 950);
        });
        fixture.clock.advance_by(5_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn walk_finds_an_issue_listed_a_minute_late() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..one_repository(4) };
    for seed in 1..=20 {
        let fixture = SimFixture::new(&spec, seed);
        on_virtual_time(async {
            let repository = first_repository_id(&fixture);
            for n in 0..8 {
                let now = fixture.world_now_ms();
                fixture.with_github(|github| {
                    github.world_mut().create_issue(repository, "t", "b", now)
                });
                fixture.pull(&USUAL_PULL).await.unwrap();
                fixture.clock.advance_by(7_000 + n * 1_000).await;
            }
            fixture.clock.advance_by(120_000).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything)
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        });
    }
}

#[test]
fn walk_finds_an_edit_listed_after_a_newer_one() {
    let spec = WorldSpec { list_lag_ms: 60_000, ..one_repository(4) };
    for seed in 1..=20 {
        let fixture = SimFixture::new(&spec, seed);
        on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            fixture.clock.advance_by(300_000).await;
            for id in &issue_ids(&fixture)[..2] {
                let now = fixture.world_now_ms();
                fixture.with_github(|github| {
                    github.world_mut().edit_issue(*id, None, Some("edited"), now);
                });
                fixture.clock.advance_by(1_000).await;
            }
            fixture.pull(&USUAL_PULL).await.unwrap();
            // when the older edit appears, neither the newest issue nor the number of issues changes
            fixture.clock.advance_by(120_000).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything)
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        });
    }
}

#[test]
fn page_too_large_to_serve_is_halved_and_the_size_remembered() {
    let fixture = SimFixture::new(&one_repository(60), 8);
    on_virtual_time(async {
        let lane = Lane::repository_issues(RepositoryKey::new(HOST, first_repository_id(&fixture)));
        let mut pull = std::pin::pin!(fixture.pull(&ISSUES_PULL));
        assert!(!fixture.poll_until_requests(&mut pull, 1).await, "the issues are still to come");
        fixture.with_github(|github| github.arm_fault(ApiFault::GatewayTimeout, 3));
        pull.await.unwrap();
        let size = fixture.store.lane_state(&lane).unwrap().page_size;
        assert!((13..25).contains(&size), "100, 50, 25, 12, and a step up with each page: {size}");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn row_that_cannot_be_served_does_not_block_the_others() {
    let fixture = SimFixture { largest_page: 1, ..SimFixture::new(&one_repository(6), 16) };
    on_virtual_time(async {
        let mut pull = std::pin::pin!(fixture.pull(&USUAL_PULL));
        assert!(!fixture.poll_until_requests(&mut pull, 2).await, "the issues are still to come");
        // as often as a page is retried; after that the row is read by its id and time, and then alone
        fixture.with_github(|github| github.arm_fault(ApiFault::GatewayTimeout, 10));
        let summary = pull.await.unwrap();
        assert!(summary.failures.is_empty(), "{:?}", summary.failures);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn watermark_in_the_future_is_reset() {
    let fixture = SimFixture::new(&one_repository(6), 20);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let lane = Lane::repository_issues(RepositoryKey::new(HOST, first_repository_id(&fixture)));
        let (store, client) = fixture.open_process(None);
        let leased = fixture.claim_pull();
        let mut coverage = leased.lane_state(&lane).unwrap().coverage;
        coverage.through = Some(SourceInstant(fixture.world_now_ms() + 86_400_000));
        leased.ingest_page(&coverage_only_page(&lane, coverage)).unwrap();
        leased.release_duty().unwrap();
        fixture.clock.advance_by(10_000).await;
        let (id, now) = (issue_ids(&fixture)[0], fixture.world_now_ms());
        fixture.with_github(|github| {
            github.world_mut().edit_issue(id, None, Some("read all the same"), now);
        });
        hw_sync::pull::run_pull(&store, &client, &fixture.build_pull(&USUAL_PULL)).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let coverage = store.lane_state(&lane).unwrap().coverage;
        assert!(
            coverage.is_complete()
                && coverage.through <= Some(SourceInstant(fixture.world_now_ms()))
        );
    });
}

#[test]
fn walk_restarts_from_the_top_when_its_cursor_is_unknown() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&one_repository(30), 18) };
    on_virtual_time(async {
        let crash =
            TestPull { crash_hook: Some(crash_at("ingest: after commit", 4)), ..USUAL_PULL };
        fixture.pull(&crash).await.unwrap_err();
        fixture.clock.advance_by(10_000).await;
        let lane = Lane::repository_issues(RepositoryKey::new(HOST, first_repository_id(&fixture)));
        let (store, client) = fixture.open_process(None);
        let leased = fixture.claim_pull();
        let mut coverage = leased.lane_state(&lane).unwrap().coverage;
        coverage.walk.as_mut().unwrap().cursor = Some(PageCursor("bm9uc2Vuc2U=".into()));
        leased.ingest_page(&coverage_only_page(&lane, coverage)).unwrap();
        leased.release_duty().unwrap();
        hw_sync::pull::run_pull(&store, &client, &fixture.build_pull(&USUAL_PULL)).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn window_is_respected_and_a_wider_one_shows_as_a_gap_until_filled() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&one_repository(60), 9) };
    on_virtual_time(async {
        let lane = Lane::repository_issues(RepositoryKey::new(HOST, first_repository_id(&fixture)));
        let narrow = TestPull { window_days: Some(10), ..USUAL_PULL };
        fixture.pull(&narrow).await.unwrap();
        let few = fixture.store.object_counts().unwrap().issues;
        assert!((1..60).contains(&few), "{few} within ten days");
        let crash =
            TestPull { crash_hook: Some(crash_at("ingest: after commit", 4)), ..USUAL_PULL };
        fixture.pull(&crash).await.unwrap_err();
        let coverage = fixture.store.lane_state(&lane).unwrap().coverage;
        assert_eq!(coverage.gap.map(|gap| gap.side), Some(GapSide::Below));
        fixture.clock.advance_by(10_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.lane_state(&lane).unwrap().coverage.gap, None);
    });
}

#[test]
fn window_narrowed_during_a_walk_leaves_no_hole() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&one_repository(60), 12) };
    on_virtual_time(async {
        let crash =
            TestPull { crash_hook: Some(crash_at("ingest: after commit", 3)), ..USUAL_PULL };
        fixture.pull(&crash).await.unwrap_err();
        fixture.clock.advance_by(10_000).await;
        // the walk began without a window, so it claims everything
        fixture.pull(&TestPull { window_days: Some(5), ..USUAL_PULL }).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn window_does_not_widen_when_source_clocks_disagree() {
    let spec = WorldSpec { clock_jitter: true, ..one_repository(60) };
    for seed in 1..=10 {
        let fixture = SimFixture::new(&spec, seed);
        on_virtual_time(async {
            let narrow = TestPull { window_days: Some(10), ..USUAL_PULL };
            fixture.pull(&narrow).await.unwrap();
            let requests = fixture.pull(&narrow).await.unwrap().cost.requests;
            assert_eq!(requests, 1, "seed {seed}: nothing changed");
        });
    }
}
