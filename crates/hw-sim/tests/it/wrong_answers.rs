//! Answers that are well formed and wrong: clocks, ETags, replicas, permissions and pagination.

mod clocks;
mod impossible_ids;
mod oversized_items;
mod pagination_loops;
pub(crate) mod token_echoes;

use hw_rules::lane::PullItem;
use hw_sim::{CommentKind, ThreadKind, WorldSpec};

use crate::harness::shortcuts::{FULL_PULL, SWEEP_PULL, first_repository_id, one_repository};
use crate::harness::{
    CheckLevel, SimFixture, TestPull, check_comments, check_mirror, missing_comments,
    on_virtual_time,
};

pub(super) const MINUTE_MS: u64 = 60_000;
pub(super) const HOUR_MS: u64 = 60 * MINUTE_MS;

/// The newest page comes from a replica that is up to date, the last page of the walk from one that lags.
#[test]
fn etag_is_stored_only_with_the_rows_it_covers() {
    for request in 0..12 {
        let spec = WorldSpec { comments_per_thread: 0, ..one_repository(1) };
        let fixture = SimFixture { largest_page: 20, ..SimFixture::new(&spec, 1) };
        add_comments(&fixture, 149, -20);
        add_comments(&fixture, 1, -1);
        let mut lags = vec![0; request];
        lags.push(10 * MINUTE_MS);
        fixture.with_github(|github| github.lag_next_replicas(&lags));
        on_virtual_time(async {
            fixture.pull(&FULL_PULL).await.unwrap();
            assert_eq!(fixture.with_github(|github| github.wrong_answers_served()), 1);
            for _ in 0..3 {
                fixture.clock.advance_by(HOUR_MS).await;
                fixture.pull(&FULL_PULL).await.unwrap();
            }
            let wrong = check_comments(&fixture, CheckLevel::Everything);
            assert_eq!(wrong, Ok(()), "request {request} came from a replica that lags");
        });
    }
}

#[test]
fn etag_that_misses_a_change_is_not_sent_for_more_than_a_day() {
    let fixture = SimFixture::new(&one_repository(3), 2);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.with_github(|github| github.set_blind_etags(true));
        add_comments(&fixture, 1, 0);
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        assert!(
            check_comments(&fixture, CheckLevel::CreationsAndEdits).is_err(),
            "the ETag hides the comment"
        );
        fixture.clock.advance_by(24 * HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn since_may_be_inclusive_or_exclusive() {
    for is_strict in [false, true] {
        let fixture = SimFixture { largest_page: 50, ..SimFixture::new(&one_repository(1), 3) };
        fixture.with_github(|github| github.set_strict_since(is_strict));
        let at_ms = fixture.world_now_ms() - 600_000;
        fixture.with_github(|github| {
            let issue = github.world().truth().thread_ids(ThreadKind::Issue)[0];
            for n in 0..150 {
                // sixty in the second at which a page ends
                let second = if (20..80).contains(&n) { 20 } else { n };
                let body = format!("word {n}");
                let at_ms = at_ms + second * 1_000;
                github.world_mut().add_comment(ThreadKind::Issue, issue, &body, at_ms);
            }
        });
        on_virtual_time(async {
            fixture.pull(&FULL_PULL).await.unwrap();
            let wrong = check_comments(&fixture, CheckLevel::Everything);
            assert_eq!(wrong, Ok(()), "since means after: {is_strict}");
        });
    }
}

#[test]
fn comments_of_a_transferred_issue_come_with_it() {
    let spec =
        WorldSpec { repositories: 2, comments_per_thread: 5, issues: 40, ..WorldSpec::small() };
    let fixture = SimFixture { largest_page: 20, ..SimFixture::new(&spec, 4) };
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(HOUR_MS).await;
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            let truth = github.world().truth();
            let (from, to) = (truth.repositories.keys().next(), truth.repositories.keys().nth(1));
            let mut issues = truth.threads_of_kind(ThreadKind::Issue);
            let issue = issues.find(|issue| Some(&issue.repository_id) == from).unwrap();
            github.world_mut().transfer_issue(issue.id, *to.unwrap(), now);
        });
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn forbidden_listing_of_one_repository_leaves_the_others_alone() {
    let spec = WorldSpec { repositories: 8, no_archives_or_forks: true, ..WorldSpec::small() };
    let fixture = SimFixture::new(&spec, 5);
    let closed = first_repository_id(&fixture);
    fixture.with_github(|github| github.forbid_list(closed, ThreadKind::Issue));
    on_virtual_time(async {
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        let named: Vec<_> = pulled.failures.iter().map(|failure| failure.scope.as_str()).collect();
        assert_eq!(named.len(), 1, "{named:?}");
        assert!(named[0].ends_with(" issues"), "{named:?}");
        let truth = fixture.with_github(|github| github.world().truth());
        let open = truth
            .threads_of_kind(ThreadKind::Issue)
            .filter(|thread| thread.repository_id != closed);
        assert_eq!(fixture.store.object_counts().unwrap().issues, open.count() as u64);
        fixture.with_github(hw_sim::SimulatedGitHub::allow_all_lists);
        fixture.clock.advance_by(HOUR_MS).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// An account flagged as spam disappears with everything it wrote, and comes back with the old times.
#[test]
fn hidden_author_shown_again_is_restored_by_plain_pulls() {
    let spec = WorldSpec { issues: 40, users: 3, comments_per_thread: 4, ..WorldSpec::small() };
    for seed in 6..9 {
        let fixture = SimFixture { largest_page: 20, ..SimFixture::new(&spec, seed) };
        on_virtual_time(async {
            let pull = TestPull { allow_mass_removal: true, ..FULL_PULL };
            fixture.pull(&pull).await.unwrap();
            let before = fixture.store.object_counts().unwrap();
            let author = fixture.with_github(|github| {
                let truth = github.world().truth();
                truth
                    .threads_of_kind(ThreadKind::Issue)
                    .find_map(|thread| thread.author.clone())
                    .unwrap()
            });
            fixture.clock.advance_by(HOUR_MS).await;
            let now = fixture.world_now_ms();
            fixture.with_github(|github| github.world_mut().hide_author(&author, now));
            fixture.clock.advance_by(HOUR_MS).await;
            fixture.pull(&pull).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            assert!(
                fixture.store.object_counts().unwrap().issues < before.issues,
                "some were hidden"
            );
            let now = fixture.world_now_ms();
            fixture.with_github(|github| github.world_mut().show_author(now));
            fixture.clock.advance_by(HOUR_MS).await;
            fixture.pull(&pull).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            // only a sweep finds their comments in other people's threads
            let missing = missing_comments(&fixture).into_iter();
            let by_others = missing.filter(|comment| comment.author.as_ref() != Some(&author));
            assert_eq!(by_others.collect::<Vec<_>>(), [], "seed {seed}");
            fixture
                .pull(&TestPull { items: &PullItem::ALL, allow_mass_removal: true, ..SWEEP_PULL })
                .await
                .unwrap();
            check_comments(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

/// Adds comments to the first issue, a second apart, the last one `minutes` from now.
pub(super) fn add_comments(fixture: &SimFixture, count: i64, minutes: i64) {
    let last = fixture.world_now_ms() + minutes * 60_000;
    fixture.with_github(|github| {
        let issue = github.world().truth().thread_ids(ThreadKind::Issue)[0];
        for n in (0..count).rev() {
            let (body, at_ms) = (format!("word {n}"), last - n * 1_000);
            github.world_mut().add_comment(ThreadKind::Issue, issue, &body, at_ms);
        }
    });
}

/// Edits any issue comment now.
pub(super) fn edit_any_comment(fixture: &SimFixture, body: &str) {
    let now = fixture.world_now_ms();
    fixture.with_github(|github| {
        let kind = CommentKind::Conversation;
        let comments = github.world().truth().comments;
        let id = comments.values().find(|comment| comment.kind == kind).unwrap().id;
        github.world_mut().edit_comment(kind, id, body, now);
    });
}
