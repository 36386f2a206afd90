//! The shares of the hourly rate limit that less important requests leave to more important ones.

use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};

use hw_rules::followed_source::RepositoryName;
use hw_rules::login::Login;
use hw_rules::pace::RequestPace;
use hw_rules::rate_limit::{ApiKind, PauseCause, RequestClass};
use hw_sim::{RateLimitSpec, RequestKind, ThreadKind, WorldSpec};
use hw_sources::github::writes::{RestWrite, WriteOutcome};
use hw_store::{DatabaseLocation, StoreWriter};
use hw_sync::progress::{ProgressEvent, ProgressSink};

use super::{user, world_spec};
use crate::harness::shortcuts::{FULL_PULL, ISSUES_PULL, SWEEP_PULL, USUAL_PULL};
use crate::harness::{HOST, SimFixture, on_virtual_time};

/// What a workspace has beside its mirror, as SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    WatchedRepository,
    WatchedList,
    /// On a host whose limits are not GitHub's.
    WatchElsewhere,
}

impl Beside {
    /// Adds it to a workspace that was pulled.
    fn add_to(self, path: &Path) {
        let database = rusqlite::Connection::open(path).unwrap();
        let statement = match self {
            Self::Nothing => return,
            Self::WatchedRepository => {
                format!("insert into follows values ('{HOST}', 9, 'watch')")
            }
            Self::WatchedList => {
                "insert into lane_uses select id, 'watch' from lanes limit 1".to_owned()
            }
            Self::WatchElsewhere => "insert into follows values ('ghe.example', 9, 'watch')".into(),
        };
        assert_eq!(database.execute(&statement, []).unwrap(), 1);
    }

    fn divides_the_budget(self) -> bool {
        matches!(self, Self::WatchedRepository | Self::WatchedList)
    }
}

#[test]
fn class_shares_of_the_mirror_are_left_for_watched_threads() {
    let limits = RateLimitSpec { core_per_hour: 60, ..RateLimitSpec::default() };
    let spec = WorldSpec { limits, ..commented_spec() };
    for (beside, used) in [
        (Beside::Nothing, 54),
        (Beside::WatchElsewhere, 54),
        (Beside::WatchedRepository, 42),
        (Beside::WatchedList, 42),
    ] {
        let workspace = tempfile::tempdir().unwrap();
        let fixture = fixture_beside(&spec, workspace.path(), beside);
        on_virtual_time(async {
            let mut pull = pin!(fixture.pull(&FULL_PULL));
            pull_for_minutes(&fixture, &mut pull).await;
            assert_eq!(requests_of(&fixture, RequestKind::Rest), used, "{beside:?}");
            check_reply(&fixture, beside).await;
        });
    }
}

/// Replies from another process. The mirror's share is none of its business, but the reserve is.
async fn check_reply(fixture: &SimFixture, beside: Beside) {
    let pauses = fixture.store.principal_pauses(&user(), ApiKind::Rest).unwrap();
    let causes: Vec<_> = pauses.iter().map(|pause| pause.cause).collect();
    let first =
        if beside.divides_the_budget() { RequestClass::Mirror } else { RequestClass::Replies };
    assert!(causes.contains(&PauseCause::Reserve(first)), "{causes:?}");
    let (_store, client) = fixture.open_process(None);
    let reply = reply_to_an_issue(fixture);
    let mut replied = pin!(client.send_once(&reply, RequestClass::Replies));
    tokio::select! {
        biased;
        outcome = replied.as_mut() => {
            assert!(beside.divides_the_budget(), "only the reserve is left");
            assert!(matches!(outcome.unwrap(), WriteOutcome::Done(_)));
        }
        () = fixture.clock.advance_by(10_000) => {
            assert!(!beside.divides_the_budget(), "a reply does not wait for the mirror's share");
        }
    }
}

#[test]
fn class_shares_of_sweeps_are_larger_and_a_lone_reconcile_has_none() {
    let limits = RateLimitSpec { graphql_points_per_hour: 60, ..RateLimitSpec::default() };
    let spec = WorldSpec { limits, issues: 60, no_archives_or_forks: true, ..world_spec() };
    for (beside, used) in [(Beside::Nothing, 54), (Beside::WatchedRepository, 33)] {
        let workspace = tempfile::tempdir().unwrap();
        let fixture = fixture_beside(&spec, workspace.path(), beside);
        on_virtual_time(async {
            assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
            fixture.clock.advance_by(2 * 3_600_000).await;
            let before = requests_of(&fixture, RequestKind::GraphQl);
            let small_pages = SimFixture { largest_page: 1, ..fixture.share() };
            let mut pull = pin!(small_pages.pull(&SWEEP_PULL));
            pull_for_minutes(&fixture, &mut pull).await;
            let requests = requests_of(&fixture, RequestKind::GraphQl) - before;
            assert_eq!(requests, used, "{beside:?}");
        });
    }
}

#[test]
fn class_shares_are_reported_once_and_when_a_request_waits_for_them() {
    let limits = RateLimitSpec { core_per_hour: 60, ..RateLimitSpec::default() };
    let spec = WorldSpec { limits, ..commented_spec() };
    let workspace = tempfile::tempdir().unwrap();
    let fixture = fixture_beside(&spec, workspace.path(), Beside::WatchedRepository);
    let events: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&events);
    let progress = ProgressSink::new(move |event| {
        if let ProgressEvent::RequestsPaused { reason, .. } = event {
            sink.lock().unwrap().push(reason);
        }
    });
    let fixture = SimFixture { progress, ..fixture };
    on_virtual_time(async {
        let mut pull = pin!(fixture.pull(&FULL_PULL));
        pull_for_minutes(&fixture, &mut pull).await;
    });
    let reason = "30% of the REST budget is left for watched threads and other tools";
    assert_eq!(*events.lock().unwrap(), [reason], "sweeps have to leave more, but none waits");
}

#[test]
fn class_shares_apply_to_a_pull_that_runs_when_a_watch_is_added() {
    let limits = RateLimitSpec { graphql_points_per_hour: 40, ..RateLimitSpec::default() };
    let spec = WorldSpec { limits, no_archives_or_forks: true, ..world_spec() };
    let workspace = tempfile::tempdir().unwrap();
    let fixture = fixture_beside(&spec, workspace.path(), Beside::Nothing);
    let fixture = SimFixture { largest_page: 1, pace: RequestPace::Conservative, ..fixture };
    on_virtual_time(async {
        let mut pull = pin!(fixture.pull(&USUAL_PULL));
        assert!(!fixture.poll_until_requests(&mut pull, 10).await, "the pull is still running");
        Beside::WatchedRepository.add_to(&workspace.path().join("one.db"));
        pull_for_minutes(&fixture, &mut pull).await;
        assert_eq!(requests_of(&fixture, RequestKind::GraphQl), 28);
    });
}

#[test]
fn request_starts_before_less_important_ones_that_wait_for_the_pace() {
    let spec = WorldSpec { latency_ms: 20..=20, ..commented_spec() };
    for delay_ms in (0..1_000).step_by(250) {
        let fixture = SimFixture::new(&spec, 3);
        let fixture = SimFixture { pace: RequestPace::Conservative, ..fixture };
        on_virtual_time(async {
            let plan = fixture.build_pull(&FULL_PULL);
            let (store, client) = fixture.open_process(None);
            let mut pull = pin!(hw_sync::pull::run_pull(&store, &client, &plan));
            while requests_of(&fixture, RequestKind::Rest) < 3 {
                assert!(
                    !fixture.poll_until_requests(&mut pull, total_requests(&fixture) + 1).await
                );
            }
            tokio::select! {
                biased;
                ended = pull.as_mut() => panic!("the lists of fifty repositories wait: {ended:?}"),
                () = fixture.clock.advance_by(delay_ms) => {}
            }
            let before = requests_of(&fixture, RequestKind::Rest);
            let reply = reply_to_an_issue(&fixture);
            let replied = tokio::select! {
                biased;
                ended = pull.as_mut() => panic!("the lists of fifty repositories wait: {ended:?}"),
                replied = client.send_once(&reply, RequestClass::Replies) => replied.unwrap(),
            };
            assert!(matches!(replied, WriteOutcome::Done(_)), "{replied:?}");
            let next = fixture.with_github(|github| {
                let entries = github.request_log().entries.iter();
                let mut rest = entries.filter(|entry| entry.kind == RequestKind::Rest);
                rest.nth(before).unwrap().summary.clone()
            });
            assert!(next.starts_with("POST "), "{delay_ms} ms later: {next}");
        });
    }
}

/// Returns a workspace in a file, in which something is watched or not.
fn fixture_beside(spec: &WorldSpec, folder: &Path, beside: Beside) -> SimFixture {
    let path = folder.join("one.db");
    let store = StoreWriter::open(&DatabaseLocation::File(path.clone())).unwrap();
    let fixture = SimFixture::with_store(spec, 7, store);
    if beside == Beside::WatchedList {
        on_virtual_time(async { fixture.pull(&ISSUES_PULL).await.unwrap() });
    }
    beside.add_to(&path);
    fixture
}

/// Returns a world whose comment lists take more than a hundred REST requests.
fn commented_spec() -> WorldSpec {
    WorldSpec {
        repositories: 50,
        issues: 150,
        pull_requests: 50,
        comments_per_thread: 2,
        no_archives_or_forks: true,
        ..world_spec()
    }
}

/// Runs a pull until it has long used what it may use of the hour's budget.
async fn pull_for_minutes<T: std::fmt::Debug>(
    fixture: &SimFixture,
    pull: &mut Pin<&mut impl Future<Output = T>>,
) {
    tokio::select! {
        biased;
        ended = pull.as_mut() => panic!("an hour's budget was enough: {ended:?}"),
        () = fixture.clock.advance_by(400_000) => {}
    }
}

fn reply_to_an_issue(fixture: &SimFixture) -> RestWrite {
    let truth = fixture.with_github(|github| github.world().truth());
    let issue = truth.threads_of_kind(ThreadKind::Issue).next().unwrap();
    let repository =
        RepositoryName::new(Login::from_known(&fixture.organization), &issue.repository);
    RestWrite::issue_comment(&repository, issue.number, "thanks")
}

fn total_requests(fixture: &SimFixture) -> u64 {
    fixture.with_github(|github| github.request_log().total)
}

fn requests_of(fixture: &SimFixture, kind: RequestKind) -> usize {
    fixture.with_github(|github| {
        let entries = github.request_log().entries.iter();
        entries.filter(|entry| entry.kind == kind).count()
    })
}
