//! Measures pulls: their requests, their time and their memory.

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};

use crate::BenchRow;
use crate::bench_server::{BenchServer, plain_world};

/// Measures 50 repositories: cold, unchanged, and after twenty edits.
pub(crate) fn bench_organization() -> Vec<BenchRow> {
    let server = BenchServer::start(plain_world(50, (200, 200, 20)));
    let cold = server.measure_pull("cold: 50 × (200 issues, 200 PRs, 20 discussions)");
    let cold = cold.with_items(server.count_stored()).expect_requests(225);
    let quiet =
        server.measure_pull("unchanged: the same 50").expect_requests(listing_requests(50) + 3);
    edit_issues(&server, 20);
    let edited = server.measure_pull("20 edits in 20 of them").with_items(20).expect_requests(5);
    vec![cold, quiet, edited]
}

pub(crate) fn bench_small_repositories() -> Vec<BenchRow> {
    let server = BenchServer::start(plain_world(1_000, (5, 5, 1)));
    let cold = server.measure_pull("cold: 1,000 × (5 issues, 5 PRs, 1 discussion)");
    vec![cold.with_items(server.count_stored()).expect_requests(200)]
}

pub(crate) fn bench_settled() -> Vec<BenchRow> {
    let server = BenchServer::start(plain_world(1_000, (3, 2, 1)));
    server.measure_pull("cold");
    vec![
        server
            .measure_pull("unchanged: 1,000 repositories")
            .expect_requests(listing_requests(1_000) + 3),
    ]
}

/// Measures pulls with comments: two lists per repository, and the comments of changed threads.
pub(crate) fn bench_comments() -> Vec<BenchRow> {
    let spec = WorldSpec { comments_per_thread: 10, ..plain_world(20, (200, 100, 20)) };
    let server = BenchServer::start(spec).with_comments();
    let cold =
        server.measure_pull("cold with comments: 20 × (200 issues, 100 PRs, 20 discussions)");
    let cold = cold.with_items(server.count_stored());
    let quiet =
        server.measure_pull("unchanged, with comments").expect_requests(listing_requests(20) + 3);
    vec![cold, quiet]
}

/// Measures time and memory for a mirror of this many items: cold and unchanged.
pub(crate) fn bench_large_mirror(items: usize) -> Vec<BenchRow> {
    let repositories = items / 1_000;
    let server = BenchServer::start(plain_world(repositories, (500, 450, 50)));
    let cold = server.measure_pull(&format!("cold: {items} items in {repositories} repositories"));
    let cold = cold.with_items(server.count_stored()).expect_memory(200);
    let quiet = server.measure_pull(&format!("unchanged: {items} items")).expect_memory(200);
    vec![cold, quiet]
}

/// Edits an issue in each of this many repositories.
fn edit_issues(server: &BenchServer, count: usize) {
    let mut github = server.github.lock().unwrap();
    let truth = github.world().truth();
    let now_ms = MachineClock.now_ms() - 120_000;
    let mut repositories = std::collections::BTreeSet::new();
    let of_each = truth
        .threads_of_kind(ThreadKind::Issue)
        .filter(|thread| repositories.insert(thread.repository_id));
    let ids: Vec<i64> = of_each.take(count).map(|issue| issue.id).collect();
    for id in ids {
        github.world_mut().edit_issue(id, None, Some("edited"), now_ms);
    }
}

fn listing_requests(repositories: u64) -> u64 {
    repositories.div_ceil(33)
}
