//! Removals of a whole run: the brake, the items it names, and restoring them.

use std::collections::BTreeMap;

use hw_rules::item::{self, ObjectKind};
use hw_sim::{CommentKind, ThreadKind, WorldSpec};
use hw_store::RemovedItem;
use hw_sync::PullFailure;

use crate::harness::shortcuts::{
    FULL_PULL, SWEEP_PULL, USUAL_PULL, crash_at, first_repository_id, one_repository,
};
use crate::harness::{CheckLevel, SimFixture, TestPull, check_mirror, on_virtual_time};

/// A pull that may remove many items.
const ALLOWED_PULL: TestPull = TestPull { allow_mass_removal: true, ..TestPull::PLAIN };
/// Longer than any list lags.
const LISTS_SETTLE_MS: u64 = 300_000;

#[test]
fn run_brake_stops_a_mass_removal_in_small_lanes_and_names_it() {
    let fixture = SimFixture::new(&small_lanes_spec(), 1);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        delete_most_issues(&fixture).await;
        let braked = fixture.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(
            stored_issue_count(&fixture),
            126,
            "{} were removed",
            braked.total_tally().removed
        );
        let [failure] = &braked.failures[..] else { panic!("{:?}", braked.failures) };
        check_run_brake(failure, "105 of 126 threads would be removed in one run");
        assert!(failure.message.ends_with(" and 95 more"), "{}", failure.message);
        assert_eq!((failure.items.names.len(), failure.items.total), (105, 105));
        assert!(failure.message.contains(&failure.items.names[0]), "{}", failure.message);
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let again = fixture.pull(&USUAL_PULL).await.unwrap();
        check_run_brake(&again.failures[0], "105 of 126 threads");
        assert_eq!(
            stored_issue_count(&fixture),
            126,
            "the brake holds until the user allows the removal"
        );
        let allowed = fixture.pull(&ALLOWED_PULL).await.unwrap();
        assert_eq!((allowed.failures.len(), allowed.total_tally().removed), (0, 105));
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn run_brake_holds_wherever_the_run_was_killed() {
    let points =
        ["fetch: answered", "stage: after commit", "sweep: before commit", "sweep: after commit"];
    let mut died = 0;
    for (point, nth) in points.iter().flat_map(|point| [1, 9, 20, 26].map(|nth| (*point, nth))) {
        let fixture = SimFixture::new(&small_lanes_spec(), 2);
        on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            delete_most_issues(&fixture).await;
            for _ in 0..6 {
                let killed = TestPull { crash_hook: Some(crash_at(point, nth)), ..USUAL_PULL };
                died += u32::from(fixture.pull(&killed).await.is_err());
                fixture.clock.advance_by(10_000).await;
            }
            let braked = fixture.pull(&USUAL_PULL).await.unwrap();
            check_run_brake(&braked.failures[0], "105 of 126 threads");
            assert_eq!(stored_issue_count(&fixture), 126, "killed at {point:?}, time {nth}");
        });
    }
    assert!(died > 20, "{died} runs were killed");
}

#[test]
fn run_brake_counts_what_a_killed_run_removed() {
    let fixture = SimFixture::new(&small_lanes_spec(), 3);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let ids = issues_by_repository(&fixture);
        delete_issues(&fixture, ids.iter().take(18).map(|ids| ids[0]));
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let killed =
            TestPull { crash_hook: Some(crash_at("sweep: after commit", 12)), ..USUAL_PULL };
        fixture.pull(&killed).await.unwrap_err();
        assert_eq!(stored_issue_count(&fixture), 126 - 12);
        delete_issues(&fixture, ids.iter().take(21).map(|ids| ids[1]));
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let braked = fixture.pull(&USUAL_PULL).await.unwrap();
        check_run_brake(&braked.failures[0], "39 of 126 threads");
        assert_eq!(braked.failures[0].items.total, 27, "the others are already removed");
        assert_eq!(stored_issue_count(&fixture), 126 - 12);
        assert_eq!(fixture.pull(&ALLOWED_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn run_brake_lets_two_runs_each_remove_what_one_may() {
    let fixture = SimFixture::new(&small_lanes_spec(), 4);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let ids = issues_by_repository(&fixture);
        for nth in 0..2 {
            delete_issues(&fixture, ids.iter().take(20).map(|ids| ids[nth]));
            fixture.clock.advance_by(LISTS_SETTLE_MS).await;
            let pulled = fixture.pull(&USUAL_PULL).await.unwrap();
            assert_eq!((pulled.failures.len(), pulled.total_tally().removed), (0, 20));
        }
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn run_brake_ignores_the_comments_of_one_deleted_thread() {
    let spec = WorldSpec { repositories: 3, no_archives_or_forks: true, ..WorldSpec::small() };
    let fixture = SimFixture::new(&spec, 5);
    on_virtual_time(async {
        let (issue, now) = (
            fixture.with_github(|github| github.world().truth().thread_ids(ThreadKind::Issue))[0],
            fixture.world_now_ms(),
        );
        fixture.with_github(|github| {
            for n in 0..60 {
                let world = github.world_mut();
                world.add_comment(ThreadKind::Issue, issue, &format!("comment {n}"), now);
            }
        });
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let before = fixture.store.object_counts().unwrap().comments;
        delete_issues(&fixture, [issue]);
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        assert_eq!(pulled.failures, []);
        assert!(fixture.store.object_counts().unwrap().comments + 60 <= before);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn run_brake_stops_comments_that_go_in_many_lanes() {
    let spec =
        WorldSpec { repositories: 12, pull_requests: 0, discussions: 0, ..small_lanes_spec() };
    let fixture = SimFixture::new(&WorldSpec { comments_per_thread: 1, ..spec }, 6);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        let before = fixture.store.object_counts().unwrap();
        let ids = conversation_ids(&fixture);
        let now = fixture.world_now_ms();
        for id in &ids {
            let kind = CommentKind::Conversation;
            fixture.with_github(|github| github.world_mut().delete_comment(kind, *id, now));
        }
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let sweep = TestPull { reconcile: true, ..FULL_PULL };
        let braked = fixture.pull(&sweep).await.unwrap();
        let expected = format!("{0} of {0} comments would be removed in one run", ids.len());
        let failure = braked.failures.iter().find(|failure| failure.is_brake()).unwrap();
        check_run_brake(failure, &expected);
        assert!(failure.items.names[0].starts_with("https://github.com/acme/"), "{failure:?}");
        assert_eq!(fixture.store.object_counts().unwrap().comments, before.comments);
    });
}

#[test]
fn unconfirmed_removals_are_named() {
    let fixture = SimFixture::new(&one_repository(9), 11);
    on_virtual_time(async {
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        let truth = fixture.with_github(|github| github.world().truth());
        let issue = truth.threads_of_kind(ThreadKind::Issue).nth(4).unwrap();
        let until = fixture.world_now_ms() + 3_600_000;
        fixture.with_github(|github| {
            github.world_mut().delay_listing(ThreadKind::Issue, issue.id, until);
        });
        fixture.with_github(|github| github.set_broken_node(Some(&issue.node_id)));
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let swept = fixture.pull(&SWEEP_PULL).await.unwrap();
        let expected = format!(
            "1 item may be gone, but GitHub gave no answer: acme/{}#{} ({})",
            issue.repository, issue.number, issue.title
        );
        let failure = swept.failures.iter().find(|failure| !failure.items.is_empty());
        let failure = failure.unwrap_or_else(|| panic!("{:?}", swept.failures));
        assert!(failure.message.ends_with(&expected), "{failure:?}");
        assert_eq!(stored_issue_count(&fixture), 9);
    });
}

#[test]
fn restore_brings_back_what_a_pull_removed_and_the_next_pull_checks_it() {
    let fixture = SimFixture::new(&commented_spec(), 7);
    on_virtual_time(async {
        let ids =
            fixture.with_github(|github| github.world().truth().thread_ids(ThreadKind::Issue));
        let ([returns, stays_gone], now) = ([ids[0], ids[1]], fixture.world_now_ms());
        for issue in [returns, stays_gone] {
            fixture.with_github(|github| {
                github.world_mut().add_comment(ThreadKind::Issue, issue, "comment", now)
            });
        }
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let before = fixture.store.object_counts().unwrap();
        delete_issues(&fixture, [returns, stays_gone]);
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        assert_eq!(fixture.store.object_counts().unwrap().issues, before.issues - 2);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();

        let removed = fixture.store.removed_items(100).unwrap();
        assert_eq!(removed.len(), 2, "comments are counted with their thread: {removed:?}");
        assert!(removed.iter().all(|item| item.dependents > 0), "{removed:?}");
        restore_items(&fixture, &removed).await;
        let after = fixture.store.object_counts().unwrap();
        assert_eq!((after.issues, after.comments), (before.issues, before.comments));

        let (kind, now) = (ThreadKind::Issue, fixture.world_now_ms());
        fixture.with_github(|github| github.world_mut().undelete_thread(kind, returns, now));
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(stored_issue_count(&fixture), before.issues - 1);
        let again = fixture.store.removed_items(100).unwrap();
        assert_eq!(again.iter().map(|item| item.key.id).collect::<Vec<_>>(), [stays_gone]);
    });
}

#[test]
fn restore_is_undone_by_another_confirmed_absence_of_comments_and_repositories() {
    let fixture = SimFixture::new(&commented_spec(), 8);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        let before = fixture.store.object_counts().unwrap();
        let (comment, repository) = (conversation_ids(&fixture)[0], first_repository_id(&fixture));
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            github.world_mut().delete_comment(CommentKind::Conversation, comment, now);
        });
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let sweep = TestPull { reconcile: true, ..FULL_PULL };
        assert_eq!(fixture.pull(&sweep).await.unwrap().failures, []);
        fixture.with_github(|github| {
            github.world_mut().delete_repository(repository, fixture.world_now_ms());
        });
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let expected = fixture.store.object_counts().unwrap();

        let mut removed = fixture.store.removed_items(100).unwrap();
        assert_eq!(removed.len(), 2, "{removed:?}");
        // the comment needs its thread, and the thread its repository: one restore brings all of them back
        removed
            .retain(|item| item.key.kind == ObjectKind::Comment(item::CommentKind::Conversation));
        restore_items(&fixture, &removed).await;
        let back = fixture.store.object_counts().unwrap();
        assert_eq!((back.repositories, back.issues), (before.repositories, before.issues));
        assert_eq!(back.comments, before.comments);
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        let checked = fixture.pull(&FULL_PULL).await.unwrap();
        assert_eq!(checked.failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.object_counts().unwrap().comments, expected.comments);
    });
}

#[test]
fn removed_items_are_purged_after_thirty_days_whatever_our_clock_says() {
    const DAY_MS: u64 = 86_400_000;
    for skew_ms in [0, -400 * 86_400_000, 400 * 86_400_000] {
        let fixture = SimFixture::new(&commented_spec(), 9).with_clock_skew(skew_ms);
        on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            delete_issues(
                &fixture,
                [fixture
                    .with_github(|github| github.world().truth().thread_ids(ThreadKind::Issue))[0]],
            );
            fixture.clock.advance_by(LISTS_SETTLE_MS).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            fixture.clock.advance_by(29 * DAY_MS).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            assert_eq!(fixture.store.removed_items(9).unwrap().len(), 1, "skewed by {skew_ms}");
            fixture.clock.advance_by(2 * DAY_MS).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            assert_eq!(fixture.store.count_removed_items().unwrap(), 0, "skewed by {skew_ms}");
        });
    }
}

#[test]
fn removed_items_leave_out_those_that_force_reads_again() {
    let fixture = SimFixture::new(&commented_spec(), 10);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.pull(&TestPull { force: true, ..USUAL_PULL }).await.unwrap();
        assert_eq!(fixture.store.removed_items(9).unwrap(), []);
    });
}

/// Restores items as the program does.
async fn restore_items(fixture: &SimFixture, items: &[RemovedItem]) {
    let restored = hw_sync::restore::restore_removed_items(
        &fixture.store,
        &*fixture.clock,
        &fixture.next_worker("test"),
        items,
    )
    .await;
    assert!(restored.unwrap().iter().all(|restored| restored.items > 0));
}

/// Returns three repositories with threads and comments of every kind.
fn commented_spec() -> WorldSpec {
    WorldSpec { repositories: 3, no_archives_or_forks: true, ..WorldSpec::small() }
}

/// Checks that the brake is one failure of the whole run.
fn check_run_brake(failure: &PullFailure, message: &str) {
    assert!(failure.is_brake() && failure.message.contains(message), "{failure:?}");
    assert_eq!(failure.scope, "acme");
}

/// Deletes five of the six issues of each repository.
async fn delete_most_issues(fixture: &SimFixture) {
    delete_issues(
        fixture,
        issues_by_repository(fixture).into_iter().flat_map(|ids| ids.into_iter().take(5)),
    );
    fixture.clock.advance_by(LISTS_SETTLE_MS).await;
}

fn delete_issues(fixture: &SimFixture, ids: impl IntoIterator<Item = i64>) {
    for id in ids {
        fixture.with_github(|github| github.world_mut().delete_issue(id, fixture.world_now_ms()));
    }
}

fn issues_by_repository(fixture: &SimFixture) -> Vec<Vec<i64>> {
    let mut ids: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for issue in
        fixture.with_github(|github| github.world().truth()).threads_of_kind(ThreadKind::Issue)
    {
        ids.entry(issue.repository_id).or_default().push(issue.id);
    }
    ids.into_values().collect()
}

fn conversation_ids(fixture: &SimFixture) -> Vec<i64> {
    let comments = fixture.with_github(|github| github.world().truth().comments);
    let keys = comments.into_keys().filter(|(kind, _)| *kind == CommentKind::Conversation);
    keys.map(|(_, id)| id).collect()
}

fn stored_issue_count(fixture: &SimFixture) -> u64 {
    fixture.store.object_counts().unwrap().issues
}

/// Returns 21 repositories with six issues each: no lane is large enough for a brake of its own.
fn small_lanes_spec() -> WorldSpec {
    WorldSpec {
        repositories: 21,
        issues: 6,
        pull_requests: 0,
        discussions: 0,
        comments_per_thread: 0,
        no_archives_or_forks: true,
        ..WorldSpec::small()
    }
}
