//! What watched threads cost, by the world's own count.

use hw_rules::watch::{WatchStart, WatchState};
use hw_sim::{ThreadKind, WorldSpec};

use super::watch_fixture::{INTERVAL_MS, WatchFixture};
use crate::harness::on_virtual_time;

/// One repository with an issue and a pull request that is open.
pub(super) fn one_of_each() -> WorldSpec {
    WorldSpec {
        repositories: 1,
        issues: 1,
        pull_requests: 1,
        open_pull_request_percent: Some(100),
        discussions: 0,
        comments_per_thread: 0,
        ..WorldSpec::small()
    }
}

#[test]
fn watched_thread_that_is_quiet_costs_the_same_however_long_it_is() {
    for comments in [100, 1_000, 10_000] {
        let fixture = WatchFixture::new(&one_of_each(), 1);
        let thread = fixture.thread(ThreadKind::PullRequest);
        add_old_comments(&fixture, comments);
        on_virtual_time(async {
            let watch = fixture.watch(&fixture.subject(&thread), None);
            fixture.poll_times(6).await;
            assert_eq!(fixture.state(watch), WatchState::Active, "{comments} comments");
            assert_eq!(fixture.events().len(), comments + opened_events(&fixture), "{comments}");
            let cost = fixture.cost_of(10).await;
            assert!(cost.requests <= 30, "{comments} comments: {cost:?}");
            assert_eq!((cost.points, cost.rest_documents), (0, 0), "{comments} comments");
        });
    }
}

fn opened_events(fixture: &WatchFixture) -> usize {
    fixture.events().len() - fixture.said().len()
}

fn add_old_comments(fixture: &WatchFixture, comments: usize) {
    let thread = fixture.thread(ThreadKind::PullRequest);
    let now_ms = fixture.sim.world_now_ms();
    fixture.sim.with_github(|github| {
        for n in 0..comments {
            let age_ms = i64::try_from(comments - n).unwrap() * 1_000 + 600_000;
            let body = format!("word {n}");
            github.world_mut().add_comment(thread.kind, thread.id, &body, now_ms - age_ms);
        }
    });
}

#[test]
fn two_hundred_quiet_watches_cost_three_requests_for_each_repository() {
    let spec = WorldSpec {
        repositories: 10,
        issues: 15,
        pull_requests: 5,
        open_pull_request_percent: Some(100),
        discussions: 0,
        comments_per_thread: 3,
        no_archives_or_forks: true,
        ..WorldSpec::small()
    };
    let fixture = WatchFixture::new(&spec, 2);
    let threads = fixture.threads();
    assert_eq!(threads.len(), 200);
    on_virtual_time(async {
        for thread in &threads {
            fixture.watch(&fixture.subject(thread), None);
        }
        fixture.poll_times(5).await;
        let cost = fixture.cost_of(1).await;
        assert!(cost.requests <= 30, "{cost:?}");
        assert_eq!((cost.points, cost.rest_documents), (0, 0));
    });
}

#[test]
fn one_new_comment_costs_at_most_three_points_more() {
    for kind in [ThreadKind::Issue, ThreadKind::PullRequest] {
        let fixture = WatchFixture::new(&one_of_each(), 3);
        add_old_comments(&fixture, 1_000);
        on_virtual_time(async {
            for thread in fixture.threads() {
                fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
            }
            fixture.poll_times(6).await;
            let before = fixture.said().len();
            fixture.sim.clock.advance_by(INTERVAL_MS / 2).await;
            fixture.say(&fixture.thread(kind), "drip");
            fixture.sim.clock.advance_by(INTERVAL_MS / 2).await;
            let first = fixture.cost_of(1).await;
            let said = fixture.said();
            assert_eq!(said[before..], ["created:drip"], "the first poll after it delivers it");
            let later = fixture.cost_of(4).await;
            assert!(first.points + later.points <= 3, "{kind:?}: {first:?}, then {later:?}");
            assert!(first.rest_documents + later.rest_documents <= 3, "{first:?}, {later:?}");
        });
    }
}

#[test]
fn watched_thread_is_read_without_its_etag_once_a_day() {
    let fixture = WatchFixture::new(&one_of_each(), 4);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Now));
        fixture.poll_times(4).await;
        assert_eq!(fixture.cost_of(3).await.rest_documents, 0);
        fixture.sim.clock.advance_by(25 * 3_600_000).await;
        let daily = fixture.cost_of(2).await;
        assert!(daily.rest_documents >= 2, "{daily:?}");
        fixture.poll_times(3).await;
        assert_eq!(fixture.cost_of(3).await.rest_documents, 0);
    });
}

/// A full scan of every thread is what the lists replace.
#[test]
fn watched_threads_are_read_whole_while_incremental_reading_is_off() {
    let mut fixture = WatchFixture::new(&one_of_each(), 5);
    fixture.settings.enable_incremental_comment_fetch = false;
    let thread = fixture.thread(ThreadKind::PullRequest);
    add_old_comments(&fixture, 250);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
        fixture.poll_times(3).await;
        assert_eq!(fixture.said().len(), 250);
        let quiet = fixture.cost_of(1).await;
        assert!(quiet.points >= 5, "{quiet:?}: three pages of comments, and the reviews");
        fixture.say(&thread, "drip");
        fixture.poll_times(1).await;
        assert_eq!(fixture.said().last().unwrap(), "created:drip");
        fixture.check_no_doubles();
    });
}
