//! The words that stories are told in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hw_rules::coverage::Coverage;
use hw_rules::freshness::Freshness;
use hw_rules::lane::{Choice, Lane, Surface};
use hw_sim::{ThreadKind, WorldSpec};
use hw_store::IngestPage;
use hw_sync::crash::Plug;

use super::{Puller, Scene};

/// A plain pull.
pub(crate) const OK: Puller = Puller::PLAIN;
/// A pull that also reads the whole rolls.
pub(crate) const SWEEP: Puller = Puller { reconcile: true, ..Puller::PLAIN };
/// A pull of everything, and of what is said in it.
pub(crate) const ALL: Puller = Puller { items: &Choice::ALL, ..Puller::PLAIN };
/// A pull of issues alone.
pub(crate) const ISSUES: Puller = Puller { items: &[Choice::Issues], ..Puller::PLAIN };

pub(crate) fn nothing_but(lane: &Lane, coverage: Coverage) -> IngestPage {
    IngestPage { coverage: Some(coverage), ..IngestPage::of(lane.clone(), 5) }
}

pub(crate) fn freshness(scene: &Scene) -> Freshness {
    let lanes = scene.store.lanes().unwrap();
    let issues = lanes.iter().filter(|(lane, _, _)| lane.surface == Surface::Issues);
    Freshness::of(issues.map(|(lane, state, _)| (lane.to_string(), state)))
}

/// Crashes at the n-th passing of a point.
pub(crate) fn at(point: &'static str, nth: u32) -> Plug {
    let passed = AtomicU32::new(0);
    Arc::new(move |reached| reached == point && passed.fetch_add(1, Ordering::SeqCst) + 1 == nth)
}

pub(crate) fn one_repository(issues: usize) -> WorldSpec {
    WorldSpec { repositories: 1, issues, pull_requests: 0, discussions: 0, ..WorldSpec::small() }
}

pub(crate) fn repository_id(scene: &Scene) -> i64 {
    scene.world(|github| *github.world().truth().repositories.keys().next().unwrap())
}

pub(crate) fn issue_ids(scene: &Scene) -> Vec<i64> {
    scene.world(|github| github.world().truth().ids(ThreadKind::Issue))
}

pub(crate) fn delete_all(scene: &Scene) {
    for id in issue_ids(scene) {
        scene.world(|github| github.world_mut().delete_issue(id, scene.now()));
    }
}
