//! The cost of a pull: the pages that must be read, one request for every 33 repositories, and one for every hundred
//! open pull requests that changed.

use std::collections::BTreeSet;
use std::path::Path;

use hw_rules::lane::PullItem;
use hw_sim::{ThreadKind, WorldSpec};
use hw_store::{DatabaseLocation, StoreWriter};

use crate::harness::shortcuts::USUAL_PULL;
use crate::harness::{
    CheckLevel, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
    postgres_location,
};

#[test]
fn pull_into_an_empty_store_reads_each_page_and_each_hundred_closing_references_once() {
    let counts = ThreadCounts { issues: 200, pull_requests: 200, discussions: 20 };
    let spec = WorldSpec { open_pull_request_percent: Some(10), ..organization_spec(50, counts) };
    let fixture = SimFixture::new(&spec, 1);
    on_virtual_time(async {
        let open = count_open_pull_requests(&fixture);
        assert!((900..=1_100).contains(&open), "{open} of 10,000 pull requests are open");
        let requests = pull_and_count(&fixture).await;
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let points = graphql_points(&fixture);
        assert!(requests <= 225, "{requests} requests");
        assert!(points <= 230, "{points} points");
        let pages = requests - open.div_ceil(100);
        assert!(points <= pages * 102 / 100 + open.div_ceil(100), "{points} points");
    });
}

/// A request waits for the database several times: a database that is milliseconds away must not set the pace.
#[test]
fn pull_into_postgres_takes_few_round_trips_per_request() {
    let location = postgres_location(&format!("round_trips_{}", std::process::id()));
    let counts = ThreadCounts { issues: 200, pull_requests: 200, discussions: 20 };
    let store = StoreWriter::open(&location).unwrap();
    let fixture = SimFixture::with_store(&organization_spec(10, counts), 1, store);
    on_virtual_time(async {
        let before = fixture.store.round_trips();
        let requests = pull_and_count(&fixture).await;
        let trips = fixture.store.round_trips() - before;
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert!(trips > 0, "no round trip was counted, so nothing was proven");
        assert!(trips <= 10 * requests, "{trips} round trips for {requests} requests");
    });
}

#[test]
fn pull_of_settled_repositories_costs_only_the_listing() {
    for count in [50, 1_000] {
        let fixture = SimFixture::new(
            &organization_spec(count, ThreadCounts { issues: 3, pull_requests: 2, discussions: 1 }),
            2,
        );
        on_virtual_time(async {
            pull_and_count(&fixture).await;
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            fixture.clock.advance_by(600_000).await;
            let unsettled = pull_and_count(&fixture).await;
            assert!(unsettled <= listing_requests(count) + 3, "{unsettled} requests");
            let (requests, points) = (pull_and_count(&fixture).await, graphql_points(&fixture));
            assert_eq!(requests, listing_requests(count), "requests for {count} repositories");
            assert_eq!(pull_and_count(&fixture).await, requests);
            assert_eq!(graphql_points(&fixture) - points, requests, "a point each");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

/// An upgrade leaves new columns empty: they are filled when an item is read for another reason, and by `--reconcile`.
#[test]
fn pull_after_an_upgrade_costs_no_more_than_before_and_a_reconcile_fills_new_columns() {
    const ALL: TestPull = TestPull { items: &PullItem::ALL, ..USUAL_PULL };
    const RECONCILE: TestPull = TestPull { reconcile: true, ..ALL };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("acme.db");
    let counts = ThreadCounts { issues: 120, pull_requests: 30, discussions: 10 };
    let spec = WorldSpec { comments_per_thread: 2, ..organization_spec(5, counts) };
    let store = StoreWriter::open(&DatabaseLocation::File(path.clone())).unwrap();
    let fixture = SimFixture::with_store(&spec, 6, store);
    on_virtual_time(async {
        for _ in 0..3 {
            fixture.pull(&ALL).await.unwrap();
            fixture.clock.advance_by(600_000).await;
        }
        let before = fixture.pull(&ALL).await.unwrap();
        let reconciled = fixture.pull(&RECONCILE).await.unwrap();
        let threads = clear_new_columns(&path);
        let upgraded = fixture.pull(&ALL).await.unwrap();
        assert_eq!(upgraded.cost, before.cost);
        let filled = fixture.pull(&RECONCILE).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let (extra, lanes) = (filled.cost.requests - reconciled.cost.requests, 15);
        assert!(extra > 0 && extra <= threads / 100 + lanes, "{extra} requests, {threads} threads");
        let again = fixture.pull(&RECONCILE).await.unwrap();
        assert_eq!(again.cost.requests, reconciled.cost.requests);
    });
}

/// Leaves the database as an older version would, and returns the number of threads.
fn clear_new_columns(path: &Path) -> u64 {
    let database = rusqlite::Connection::open(path).unwrap();
    let mut threads = 0;
    for table in ["issues", "pull_requests", "discussions"] {
        let sql = format!("update {table} set author_kind = null, association = null");
        threads += database.execute(&sql, []).unwrap();
    }
    for table in ["issue_comments", "review_comments", "reviews", "discussion_comments"] {
        let sql = format!("update {table} set author_kind = null, association = null");
        assert!(database.execute(&sql, []).unwrap() > 0);
    }
    database.execute("update pull_requests set head_sha = null", []).unwrap();
    threads as u64
}

#[test]
fn pull_of_twenty_edits_costs_at_most_five_requests() {
    let fixture = SimFixture::new(
        &organization_spec(50, ThreadCounts { issues: 200, pull_requests: 20, discussions: 5 }),
        3,
    );
    on_virtual_time(async {
        pull_and_count(&fixture).await;
        fixture.clock.advance_by(600_000).await;
        pull_and_count(&fixture).await;
        let issues =
            fixture.with_github(|github| github.world().truth().thread_ids(ThreadKind::Issue));
        let edited: Vec<i64> = issues.iter().copied().step_by(500).take(20).collect();
        for id in &edited {
            let now = fixture.world_now_ms();
            fixture.with_github(|github| {
                github.world_mut().edit_issue(*id, None, Some("edited"), now);
            });
            fixture.clock.advance_by(1_000).await;
        }
        fixture.clock.advance_by(120_000).await;
        let requests = pull_and_count(&fixture).await;
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert!(requests <= 5, "{requests} requests");
    });
}

/// The edited pull requests are in twenty repositories.
#[test]
fn pull_of_twenty_edited_pull_requests_shares_one_request_for_their_closing_references() {
    let counts = ThreadCounts { issues: 20, pull_requests: 20, discussions: 0 };
    let fixture = SimFixture::new(&organization_spec(50, counts), 5);
    on_virtual_time(async {
        pull_and_count(&fixture).await;
        fixture.clock.advance_by(600_000).await;
        pull_and_count(&fixture).await;
        let truth = fixture.with_github(|github| github.world().truth());
        let mut repositories = BTreeSet::new();
        let open =
            truth.threads_of_kind(ThreadKind::PullRequest).filter(|pull| pull.state == "OPEN");
        let edited = open.filter(|pull| repositories.insert(pull.repository_id)).take(20);
        for pull in edited {
            let now = fixture.world_now_ms();
            fixture.with_github(|github| {
                github.world_mut().name_closed_issues(pull.id, &[1, 2, 3], now);
            });
        }
        fixture.clock.advance_by(120_000).await;
        let requests = pull_and_count(&fixture).await;
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert!(requests <= 5 + 1, "{requests} requests");
    });
}

#[test]
fn pull_of_a_thousand_small_repositories_takes_two_hundred_requests() {
    let fixture = SimFixture::new(
        &organization_spec(1_000, ThreadCounts { issues: 5, pull_requests: 5, discussions: 1 }),
        4,
    );
    on_virtual_time(async {
        let requests = pull_and_count(&fixture).await;
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert!(requests <= 200, "{requests} requests");
    });
}

/// Threads of each repository.
#[derive(Clone, Copy)]
struct ThreadCounts {
    issues: usize,
    pull_requests: usize,
    discussions: usize,
}

fn organization_spec(repositories: usize, counts: ThreadCounts) -> WorldSpec {
    let ThreadCounts { issues, pull_requests, discussions } = counts;
    WorldSpec {
        repositories,
        issues,
        pull_requests,
        discussions,
        comments_per_thread: 0,
        no_archives_or_forks: true,
        ..WorldSpec::small()
    }
}

/// Pulls, and returns the number of requests.
async fn pull_and_count(fixture: &SimFixture) -> u64 {
    let before = fixture.with_github(|github| github.request_log().total);
    let summary = fixture.pull(&USUAL_PULL).await.unwrap();
    assert_eq!(summary.failures, []);
    let requests = fixture.with_github(|github| github.request_log().total) - before;
    assert_eq!(summary.cost.requests, requests);
    requests
}

fn count_open_pull_requests(fixture: &SimFixture) -> u64 {
    let truth = fixture.with_github(|github| github.world().truth());
    let pulls = truth.threads_of_kind(ThreadKind::PullRequest);
    pulls.filter(|pull| pull.state == "OPEN").count() as u64
}

fn graphql_points(fixture: &SimFixture) -> u64 {
    fixture.with_github(|github| github.request_log().points)
}

fn listing_requests(repositories: usize) -> u64 {
    repositories.div_ceil(33) as u64
}
