//! Pulls: what they ask for, how long they take, what they hold in memory.

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};

use crate::Row;
use crate::stage::{Stage, world};

/// 50 repositories: cold, unchanged, and after twenty edits.
pub(crate) fn organization() -> Vec<Row> {
    let stage = Stage::set(world(50, (200, 200, 20)));
    let cold = stage.pull("cold: 50 × (200 issues, 200 PRs, 20 discussions)");
    let cold = cold.of(stage.held()).at_most(250 * 105 / 100 + listing(50) + 3);
    let quiet = stage.pull("unchanged: the same 50").at_most(listing(50) + 3);
    edit(&stage, 20);
    let edited = stage.pull("20 edits in 20 of them").of(20).at_most(listing(50) + 3 + 20);
    vec![cold, quiet, edited]
}

pub(crate) fn small_repositories() -> Vec<Row> {
    let stage = Stage::set(world(1_000, (5, 5, 1)));
    let cold = stage.pull("cold: 1,000 × (5 issues, 5 PRs, 1 discussion)");
    vec![cold.of(stage.held()).at_most(200)]
}

pub(crate) fn settled() -> Vec<Row> {
    let stage = Stage::set(world(1_000, (3, 2, 1)));
    stage.pull("cold");
    vec![stage.pull("unchanged: 1,000 repositories").at_most(listing(1_000) + 3)]
}

/// What is said in the threads, too: two lists a repository, and the talk of what moved.
pub(crate) fn comments() -> Vec<Row> {
    let spec = WorldSpec { comments_per_thread: 10, ..world(20, (200, 100, 20)) };
    let stage = Stage::set(spec).with_comments();
    let cold = stage.pull("cold with comments: 20 × (200 issues, 100 PRs, 20 discussions)");
    let cold = cold.of(stage.held());
    let quiet = stage.pull("unchanged, with comments").at_most(listing(20) + 3);
    vec![cold, quiet]
}

/// So many items in the mirror: cold and unchanged, with an eye on memory.
pub(crate) fn many(items: usize) -> Vec<Row> {
    let repositories = items / 1_000;
    let stage = Stage::set(world(repositories, (500, 450, 50)));
    let cold = stage.pull(&format!("cold: {items} items in {repositories} repositories"));
    let cold = cold.of(stage.held()).within_mb(200);
    let quiet = stage.pull(&format!("unchanged: {items} items")).within_mb(200);
    vec![cold, quiet]
}

/// Edits an issue in each of so many repositories.
fn edit(stage: &Stage, count: usize) {
    let mut github = stage.github.lock().unwrap();
    let truth = github.world().truth();
    let now_ms = MachineClock.now_ms() - 120_000;
    let mut repositories = std::collections::BTreeSet::new();
    let of_each =
        truth.of_kind(ThreadKind::Issue).filter(|it| repositories.insert(it.repository_id));
    let ids: Vec<i64> = of_each.take(count).map(|it| it.id).collect();
    for id in ids {
        github.world_mut().edit_issue(id, None, Some("edited"), now_ms);
    }
}

fn listing(repositories: u64) -> u64 {
    repositories.div_ceil(33)
}
