//! Pulls, worlds and queries that many tests share.

use hw_rules::item;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hw_rules::coverage::Coverage;
use hw_rules::freshness::AnswerFreshness;
use hw_rules::lane::{Lane, PullItem, Surface};
use hw_sim::{ThreadKind, WorldSpec};
use hw_store::IngestPage;
use hw_sync::crash_points::CrashTrigger;

use super::{SimFixture, TestPull};

/// A pull of the default items.
pub(crate) const USUAL_PULL: TestPull = TestPull::PLAIN;
/// A pull that also sweeps every list.
pub(crate) const SWEEP_PULL: TestPull = TestPull { reconcile: true, ..TestPull::PLAIN };
/// A pull of everything, comments included.
pub(crate) const FULL_PULL: TestPull = TestPull { items: &PullItem::ALL, ..TestPull::PLAIN };
/// A pull of issues alone.
pub(crate) const ISSUES_PULL: TestPull = TestPull { items: &[PullItem::Issues], ..TestPull::PLAIN };

pub(crate) fn coverage_only_page(lane: &Lane, coverage: Coverage) -> IngestPage {
    IngestPage { coverage: Some(coverage), ..IngestPage::new(lane.clone(), 5) }
}

pub(crate) fn issues_freshness(fixture: &SimFixture) -> AnswerFreshness {
    let lanes = fixture.store.lanes().unwrap();
    let issues = lanes
        .iter()
        .filter(|(lane, _, _)| lane.surface == Surface::Threads(item::ThreadKind::Issue));
    AnswerFreshness::from_lanes(issues.map(|(lane, state, _)| (lane.to_string(), state)))
}

/// Crashes the n-th time a point is passed.
pub(crate) fn crash_at(point: &'static str, nth: u32) -> CrashTrigger {
    let passed = AtomicU32::new(0);
    Arc::new(move |reached| reached == point && passed.fetch_add(1, Ordering::SeqCst) + 1 == nth)
}

pub(crate) fn one_repository(issues: usize) -> WorldSpec {
    WorldSpec { repositories: 1, issues, pull_requests: 0, discussions: 0, ..WorldSpec::small() }
}

pub(crate) fn first_repository_id(fixture: &SimFixture) -> i64 {
    fixture.with_github(|github| *github.world().truth().repositories.keys().next().unwrap())
}

pub(crate) fn issue_ids(fixture: &SimFixture) -> Vec<i64> {
    fixture.with_github(|github| github.world().truth().thread_ids(ThreadKind::Issue))
}

pub(crate) fn delete_all_issues(fixture: &SimFixture) {
    for id in issue_ids(fixture) {
        fixture.with_github(|github| github.world_mut().delete_issue(id, fixture.world_now_ms()));
    }
}
