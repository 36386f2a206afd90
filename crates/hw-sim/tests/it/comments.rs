//! Comments of every kind: all of them are mirrored, and the requests they cost are bounded.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::pin::pin;

use hw_rules::item;
use hw_rules::lane::{Lane, PullItem, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_sim::{CommentKind, GroundTruth, RequestKind, ThreadKind, TrueComment, WorldSpec};
use hw_store::{CommentFilter, CommentRow};

use crate::harness::shortcuts::{FULL_PULL, SWEEP_PULL};
use crate::harness::{
    CheckLevel, HOST, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
};

const HOUR_MS: u64 = 3_600_000;
const FULL_SWEEP: TestPull = TestPull { items: &PullItem::ALL, ..SWEEP_PULL };

#[test]
fn comments_of_quiet_repositories_stay_fresh() {
    let fixture = SimFixture::new(&one_repository(), 2);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(3_600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let before = comments_fresh_through(&fixture);
        fixture.clock.advance_by(7_200_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let after = comments_fresh_through(&fixture);
        assert!(after.0 - before.0 >= 7_200_000, "{before} {after}");
    });
}

#[test]
fn comments_of_every_kind_are_pulled_with_their_threads() {
    let fixture = SimFixture::new(&WorldSpec { comments_per_thread: 4, ..WorldSpec::small() }, 1);
    on_virtual_time(async {
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        assert_eq!(pulled.failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let truth = fixture.with_github(|github| github.world().truth());
        for kind in [CommentKind::Conversation, CommentKind::Review, CommentKind::Discussion] {
            assert!(truth.comments.values().any(|comment| comment.kind == kind), "{kind:?} exists");
        }
        let tally = pulled.items[&PullItem::Comments];
        assert_eq!((tally.seen, tally.stored), (truth.comments.len() as u64, tally.seen));
    });
}

#[test]
fn comments_are_pulled_only_when_chosen() {
    let fixture = SimFixture::new(&WorldSpec::small(), 1);
    on_virtual_time(async {
        fixture.pull(&TestPull::PLAIN).await.unwrap();
        assert_eq!(fixture.store.object_counts().unwrap().comments, 0);
        fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn comments_sharing_a_second_are_read_without_deep_pagination() {
    let fixture = SimFixture::new(&one_repository(), 2);
    let issue = first_issue(&fixture);
    fixture.with_github(|github| {
        let world = github.world_mut();
        let from = world_start() + 60_000;
        for n in 0..10_000 {
            // three hundred within one second, the others a second apart
            let at = from + if (4_000..4_300).contains(&n) { 4_000 } else { n } * 1_000;
            world.add_comment(ThreadKind::Issue, issue, &format!("word {n}"), at);
        }
    });
    on_virtual_time(async {
        fixture.clock.advance_by(4 * HOUR_MS).await;
        let before = rest_requests(&fixture).len();
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let seen = pulled.items[&PullItem::Comments].seen;
        assert!(seen < 10_500, "{seen} seen: almost nothing is read twice");
        let requests = rest_requests(&fixture).split_off(before);
        assert!(requests.len() <= 112, "{} requests for a hundred pages", requests.len());
        let deepest = requests.iter().filter_map(|request| page_parameter(request)).max();
        assert_eq!(deepest, Some(4), "only that second is read by page numbers");
    });
}

/// GitHub refuses every page beyond the first thirty thousand rows of a list.
#[test]
fn comments_beyond_the_pagination_limit_are_read() {
    let fixture = SimFixture::new(&one_repository(), 3);
    let issue = first_issue(&fixture);
    fixture.with_github(|github| {
        let world = github.world_mut();
        for n in 0..30_300 {
            let at = world_start() + 60_000 + n * 1_000;
            world.add_comment(ThreadKind::Issue, issue, "word", at);
        }
    });
    on_virtual_time(async {
        fixture.clock.advance_by(10 * HOUR_MS).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        assert!(
            rest_requests(&fixture).iter().all(|request| page_parameter(request).is_none()),
            "no page number was used"
        );
    });
}

#[test]
fn comments_edited_or_deleted_between_pages_are_not_lost() {
    for step in 1..=18 {
        let fixture = SimFixture::new(&one_repository(), 4);
        let issue = first_issue(&fixture);
        let ids: Vec<i64> = fixture.with_github(|github| {
            (0..800)
                .map(|n: i64| {
                    // the second half within one second
                    let at = world_start() + 60_000 + n.min(400) * 1_000;
                    github.world_mut().add_comment(ThreadKind::Issue, issue, "word", at)
                })
                .collect()
        });
        on_virtual_time(async {
            fixture.clock.advance_by(HOUR_MS).await;
            let before = fixture.with_github(|github| github.request_log().total);
            {
                let mut pull = pin!(fixture.pull(&FULL_PULL));
                let ended = fixture.poll_until_requests(&mut pull, before + step).await;
                if !ended {
                    edit_and_delete_some(&fixture, issue, &ids, step);
                    assert_eq!(pull.await.unwrap().failures, [], "step {step}");
                }
            }
            fixture.clock.advance_by(HOUR_MS).await;
            fixture.pull(&FULL_PULL).await.unwrap();
            check_comments(&fixture, CheckLevel::CreationsAndEdits)
                .unwrap_or_else(|wrong| panic!("step {step}: {wrong}"));
            fixture.pull(&FULL_SWEEP).await.unwrap();
            check_comments(&fixture, CheckLevel::Everything)
                .unwrap_or_else(|wrong| panic!("step {step}: {wrong}"));
        });
    }
}

/// Edits and deletes some comments, on pages already read and on pages still to come.
fn edit_and_delete_some(fixture: &SimFixture, issue: i64, ids: &[i64], step: u64) {
    let now = fixture.world_now_ms();
    fixture.with_github(|github| {
        let world = github.world_mut();
        let at = usize::try_from(step).unwrap() * 47;
        for id in ids.iter().skip(at % 700).step_by(61).take(6) {
            world.edit_comment(CommentKind::Conversation, *id, "edited", now);
        }
        // the last three shift every page of the crowded second
        let gone = ids.iter().skip(at % 700 + 1).step_by(61).take(6).chain(&ids[410..413]);
        for id in gone.collect::<BTreeSet<_>>() {
            world.delete_comment(CommentKind::Conversation, *id, now);
        }
        world.add_comment(ThreadKind::Issue, issue, "late", now);
    });
}

#[test]
fn comments_cost_no_points_while_nothing_changes() {
    let fixture = SimFixture::new(
        &WorldSpec { repositories: 4, no_archives_or_forks: true, ..WorldSpec::small() },
        5,
    );
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();

        let quiet = pull_and_count(&fixture, &FULL_PULL).await;
        assert_eq!(
            quiet,
            RequestCounts { graphql: 1, conditional: 0, points: 0 },
            "nothing changed"
        );

        fixture.clock.advance_by(HOUR_MS).await;
        let due = pull_and_count(&fixture, &FULL_PULL).await;
        assert_eq!(
            due,
            RequestCounts { graphql: 1, conditional: 8, points: 0 },
            "two lists each, hourly"
        );
        let again = pull_and_count(&fixture, &FULL_PULL).await;
        assert_eq!(
            again,
            RequestCounts { graphql: 1, conditional: 0, points: 0 },
            "checked a moment ago"
        );
    });
}

#[test]
fn comments_of_a_changed_repository_cost_two_conditional_requests() {
    let fixture = SimFixture::new(
        &WorldSpec { repositories: 4, no_archives_or_forks: true, ..WorldSpec::small() },
        6,
    );
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let pull = fixture
            .with_github(|github| github.world().truth().thread_ids(ThreadKind::PullRequest)[0]);
        let now = fixture.world_now_ms();
        let kind = ThreadKind::PullRequest;
        fixture.with_github(|github| {
            github.world_mut().edit_thread(kind, pull, None, Some("edited"), now);
        });
        fixture.clock.advance_by(120_000).await;
        let edited = pull_and_count(&fixture, &FULL_PULL).await;
        assert_eq!((edited.conditional, edited.points), (2, 0), "no new comment: {edited:?}");

        let now = fixture.world_now_ms();
        fixture.with_github(|github| github.world_mut().add_comment(kind, pull, "a word", now));
        fixture.clock.advance_by(120_000).await;
        let commented = pull_and_count(&fixture, &FULL_PULL).await;
        assert_eq!((commented.conditional, commented.points), (2, 1), "one list: {commented:?}");
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn comments_edited_without_touching_their_thread_are_found_within_an_hour() {
    let fixture = SimFixture::new(&WorldSpec { comments_per_thread: 3, ..WorldSpec::small() }, 7);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let edited = fixture.with_github(|github| {
            let truth = github.world().truth();
            let listed = truth.comments.values().filter(|comment| {
                matches!(comment.kind, CommentKind::Conversation | CommentKind::ReviewComment)
            });
            let edited: Vec<_> = listed.map(|comment| (comment.kind, comment.id)).collect();
            for (kind, id) in &edited {
                github.world_mut().edit_comment(*kind, *id, "edited", world_start() + 700_000);
            }
            edited.len()
        });
        assert!(edited > 2);
        fixture.clock.advance_by(HOUR_MS).await;
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        assert_eq!(pulled.items[&PullItem::Comments].stored, edited as u64);
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn comments_of_long_threads_are_read_to_the_end() {
    let fixture = SimFixture::new(&one_repository(), 8);
    let start = world_start();
    fixture.with_github(|github| {
        let world = github.world_mut();
        let truth = world.truth();
        let pull = truth.thread_ids(ThreadKind::PullRequest)[0];
        let discussion = truth.thread_ids(ThreadKind::Discussion)[0];
        for n in 0..250 {
            world.add_review(pull, &format!("review {n}"), start + n * 1_000);
        }
        let first = world.add_comment(ThreadKind::Discussion, discussion, "first", start);
        for n in 0..230 {
            world.add_comment(ThreadKind::Discussion, discussion, "more", start + n * 1_000);
            world.add_reply(first, &format!("reply {n}"), start + n * 1_000);
        }
    });
    on_virtual_time(async {
        fixture.clock.advance_by(HOUR_MS).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn comments_are_requested_only_for_changed_threads() {
    let fixture = SimFixture::new(&WorldSpec { pull_requests: 40, ..one_repository() }, 9);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let pull = fixture
            .with_github(|github| github.world().truth().thread_ids(ThreadKind::PullRequest)[7]);
        let now = fixture.world_now_ms();
        fixture.with_github(|github| github.world_mut().add_review(pull, "fine", now));
        fixture.clock.advance_by(120_000).await;
        let pulled = fixture.pull(&FULL_PULL).await.unwrap();
        let truth = fixture.with_github(|github| github.world().truth());
        let reviews = truth
            .comments
            .values()
            .filter(|comment| comment.thread_id == pull && comment.kind == CommentKind::Review);
        let reviews = reviews.count() as u64;
        assert_eq!(pulled.items[&PullItem::Comments].stored, 1);
        assert!(pulled.items[&PullItem::Comments].seen <= reviews + 200, "{pulled:?}");
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let lane = Lane::for_repository(
            RepositoryKey::new(HOST, truth.threads.values().next().unwrap().repository_id),
            Surface::Comments(item::CommentKind::Review),
        );
        assert_eq!(fixture.store.due_threads(&lane, 0, 9).unwrap(), [], "no thread is still due");
    });
}

#[test]
fn comments_of_every_kind_that_are_deleted_are_found_by_a_sweep() {
    let fixture = SimFixture::new(&WorldSpec { comments_per_thread: 6, ..one_repository() }, 10);
    on_virtual_time(async {
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let gone = fixture.with_github(|github| {
            let truth = github.world().truth();
            let mut gone = Vec::new();
            for kind in [CommentKind::Conversation, CommentKind::Review, CommentKind::Discussion] {
                gone.extend(
                    truth
                        .comments
                        .values()
                        .find(|comment| comment.kind == kind)
                        .map(|found| (kind, found.id)),
                );
            }
            let now = world_start() + 600_000;
            gone.iter().for_each(|(kind, id)| github.world_mut().delete_comment(*kind, *id, now));
            gone.len()
        });
        assert_eq!(gone, 3);
        fixture.clock.advance_by(600_000).await;
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().items[&PullItem::Comments].removed, 0);
        let swept = fixture.pull(&FULL_SWEEP).await.unwrap();
        assert!(swept.items[&PullItem::Comments].removed >= 3, "{swept:?}");
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let again = fixture.pull(&FULL_SWEEP).await.unwrap();
        assert_eq!(again.items[&PullItem::Comments].removed, 0);
    });
}

#[test]
fn comments_follow_a_transferred_thread() {
    let spec =
        WorldSpec { no_archives_or_forks: true, comments_per_thread: 5, ..WorldSpec::small() };
    let fixture = SimFixture::new(&spec, 11);
    on_virtual_time(async {
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let truth = fixture.with_github(|github| github.world().truth());
        let comment = first_issue_comment(&truth);
        let ids = truth.repositories.keys();
        let other = ids.copied().find(|id| *id != comment.repository_id).unwrap();
        let now = fixture.world_now_ms();
        fixture
            .with_github(|github| github.world_mut().transfer_issue(comment.thread_id, other, now));
        fixture.clock.advance_by(600_000).await;
        let swept = fixture.pull(&FULL_SWEEP).await.unwrap();
        assert_eq!(swept.failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// A pull without comments still reads the threads.
#[test]
fn comments_skipped_by_one_pull_are_read_by_the_next_that_chooses_them() {
    let fixture = SimFixture::new(&one_repository(), 12);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let (issue, now) = (first_issue(&fixture), fixture.world_now_ms());
        fixture.with_github(|github| {
            github.world_mut().add_comment(ThreadKind::Issue, issue, "a", now)
        });
        fixture.clock.advance_by(120_000).await;
        fixture.pull(&TestPull::PLAIN).await.unwrap();
        fixture.clock.advance_by(120_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let quiet = pull_and_count(&fixture, &FULL_PULL).await;
        assert_eq!(
            quiet,
            RequestCounts { graphql: 1, conditional: 0, points: 0 },
            "nothing changed"
        );
    });
}

#[test]
fn comments_walk_begun_with_a_wider_window_keeps_its_claim() {
    const WIDE: TestPull = TestPull { window_days: Some(40), ..FULL_PULL };
    const NARROW: TestPull = TestPull { window_days: Some(5), ..FULL_PULL };
    let fixture = SimFixture::new(&one_repository(), 13);
    let issue = first_issue(&fixture);
    let day = 86_400_000;
    fixture.with_github(|github| {
        for n in 0..300 {
            let at = world_start() - (30 * day) + n * day / 10;
            github.world_mut().add_comment(ThreadKind::Issue, issue, "word", at);
        }
    });
    on_virtual_time(async {
        fixture.clock.advance_by(HOUR_MS).await;
        {
            let mut pull = pin!(fixture.pull(&WIDE));
            while !rest_requests(&fixture).iter().any(|request| request.contains("since=")) {
                let next = fixture.with_github(|github| github.request_log().total) + 1;
                assert!(
                    !fixture.poll_until_requests(&mut pull, next).await,
                    "interrupted during the walk"
                );
            }
        }
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&NARROW).await.unwrap();
        fixture.pull(&WIDE).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// A list that fits on one page is read and claimed whole, whatever the window is.
#[test]
fn comments_below_a_narrow_window_are_stored_when_it_widens() {
    const NARROW: TestPull = TestPull { window_days: Some(5), ..FULL_PULL };
    let spec = WorldSpec { issues: 1, pull_requests: 0, discussions: 0, ..one_repository() };
    let fixture = SimFixture::new(&spec, 13);
    let issue = first_issue(&fixture);
    fixture.with_github(|github| {
        for (days, word) in [(20, "an old word"), (1, "a new one, so that the thread is listed")] {
            let at = world_start() - days * 86_400_000;
            github.world_mut().add_comment(ThreadKind::Issue, issue, word, at);
        }
    });
    on_virtual_time(async {
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&NARROW).await.unwrap();
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::CreationsAndEdits).unwrap();
    });
}

/// The newest page does not reveal a comment that is listed late below it.
#[test]
fn comments_listed_late_below_the_newest_page_are_read() {
    let spec = WorldSpec { list_lag_ms: 50_000, ..one_repository() };
    for seed in 1..=20 {
        let fixture = SimFixture { largest_page: 3, ..SimFixture::new(&spec, seed) };
        on_virtual_time(async {
            fixture.clock.advance_by(HOUR_MS).await;
            fixture.pull(&FULL_PULL).await.unwrap();
            let issue = first_issue(&fixture);
            for _ in 0..12 {
                fixture.clock.advance_by(2_000).await;
                let now = fixture.world_now_ms();
                fixture.with_github(|github| {
                    github.world_mut().add_comment(ThreadKind::Issue, issue, "w", now)
                });
            }
            fixture.pull(&FULL_PULL).await.unwrap();
            fixture.clock.advance_by(HOUR_MS).await;
            fixture.pull(&FULL_PULL).await.unwrap();
            check_comments(&fixture, CheckLevel::CreationsAndEdits)
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        });
    }
}

/// Page numbers depend on the page size: page two of larger pages does not begin where page one of smaller ones ended.
#[test]
fn comments_sharing_a_second_are_read_with_one_page_size() {
    let fixture = SimFixture { largest_page: 4, ..SimFixture::new(&one_repository(), 14) };
    let issue = first_issue(&fixture);
    on_virtual_time(async {
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(HOUR_MS).await;
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            for _ in 0..150 {
                github.world_mut().add_comment(ThreadKind::Issue, issue, "word", now);
            }
        });
        fixture.clock.advance_by(HOUR_MS).await;
        let fixture = SimFixture { largest_page: 100, ..fixture };
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_comments(&fixture, CheckLevel::CreationsAndEdits).unwrap();
    });
}

#[test]
fn comments_of_threads_resume_after_an_interruption() {
    let fixture = SimFixture::new(&WorldSpec { pull_requests: 180, ..one_repository() }, 15);
    on_virtual_time(async {
        fixture.clock.advance_by(HOUR_MS).await;
        {
            let mut pull = pin!(fixture.pull(&FULL_PULL));
            while review_requests(&fixture) < 3 {
                let next = fixture.with_github(|github| github.request_log().total) + 1;
                assert!(
                    !fixture.poll_until_requests(&mut pull, next).await,
                    "interrupted while reviews are read"
                );
            }
        }
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let requests = review_requests(&fixture);
        assert!(requests <= 5, "{requests} requests for four times fifty");
    });
}

fn review_requests(fixture: &SimFixture) -> usize {
    fixture.with_github(|github| {
        let entries = github.request_log().entries.iter();
        entries.filter(|entry| entry.summary.contains("reviews")).count()
    })
}

/// The rows after a deleted one move up, so one row moves from an unread page to a page already read.
#[test]
fn comments_are_not_hidden_by_a_deletion_on_a_page_already_read() {
    let fixture = SimFixture::new(&one_repository(), 16);
    let issue = first_issue(&fixture);
    let ids: Vec<i64> = fixture.with_github(|github| {
        let (world, at) = (github.world_mut(), world_start() + 60_000);
        (0..400).map(|_| world.add_comment(ThreadKind::Issue, issue, "word", at)).collect()
    });
    on_virtual_time(async {
        fixture.clock.advance_by(HOUR_MS).await;
        let mut pull = pin!(fixture.pull(&FULL_PULL));
        while !rest_requests(&fixture).iter().any(|request| page_parameter(request) == Some(2)) {
            let next = fixture.with_github(|github| github.request_log().total) + 1;
            assert!(
                !fixture.poll_until_requests(&mut pull, next).await,
                "still reading by page numbers"
            );
        }
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            for id in &ids[..3] {
                github.world_mut().delete_comment(CommentKind::Conversation, *id, now);
            }
        });
        assert_eq!(pull.await.unwrap().failures, []);
        check_comments(&fixture, CheckLevel::CreationsAndEdits).unwrap();
    });
}

/// Sweeps the old repository in a pull that reads neither the new one nor the thread itself.
#[test]
fn comments_of_a_transferred_issue_survive_a_sweep_of_the_old_repository() {
    let spec =
        WorldSpec { no_archives_or_forks: true, comments_per_thread: 5, ..WorldSpec::small() };
    let fixture = SimFixture::new(&spec, 17);
    on_virtual_time(async {
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        let truth = fixture.with_github(|github| github.world().truth());
        let comment = first_issue_comment(&truth);
        let home = &truth.repositories[&comment.repository_id];
        let other = truth.repositories.keys().copied().find(|id| *id != home.id).unwrap();
        let now = fixture.world_now_ms();
        fixture
            .with_github(|github| github.world_mut().transfer_issue(comment.thread_id, other, now));
        fixture.clock.advance_by(600_000).await;
        let name: &'static str = home.name.clone().leak();
        let pull = TestPull {
            items: &[PullItem::PullRequests, PullItem::Comments],
            only: vec![name].leak(),
            ..SWEEP_PULL
        };
        assert_eq!(fixture.pull(&pull).await.unwrap().failures, []);
        let mut stored_in = None;
        fixture
            .store
            .each_comment(&CommentFilter::default(), &mut |row: CommentRow| {
                if row.comment.id == comment.id
                    && row.comment.kind == item::CommentKind::Conversation
                {
                    stored_in = Some(row.comment.repository_id);
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(stored_in, Some(other));
    });
}

/// Requests of one pull.
#[derive(Debug, PartialEq, Eq)]
struct RequestCounts {
    graphql: usize,
    /// REST requests, all of them conditional.
    conditional: usize,
    /// Rate-limit points of the REST requests.
    points: u32,
}

async fn pull_and_count(fixture: &SimFixture, pull: &TestPull) -> RequestCounts {
    let before = fixture.with_github(|github| github.request_log().entries.len());
    assert_eq!(fixture.pull(pull).await.unwrap().failures, []);
    let entries =
        fixture.with_github(|github| github.request_log().entries.split_at(before).1.to_vec());
    let (rest, graphql): (Vec<_>, Vec<_>) =
        entries.iter().partition(|entry| entry.kind == RequestKind::Rest);
    RequestCounts {
        graphql: graphql.len(),
        conditional: rest.len(),
        points: rest.iter().map(|entry| entry.points).sum(),
    }
}

fn one_repository() -> WorldSpec {
    WorldSpec {
        repositories: 1,
        no_archives_or_forks: true,
        comments_per_thread: 2,
        ..WorldSpec::small()
    }
}

fn world_start() -> i64 {
    WorldSpec::small().start_ms
}

fn first_issue_comment(truth: &GroundTruth) -> &TrueComment {
    truth.comments.values().find(|comment| comment.thread_kind == ThreadKind::Issue).unwrap()
}

fn comments_fresh_through(fixture: &SimFixture) -> SourceInstant {
    fixture.store.completeness(&Surface::COMMENTS, None).unwrap().fresh_through.unwrap()
}

fn first_issue(fixture: &SimFixture) -> i64 {
    fixture.with_github(|github| github.world().truth().thread_ids(ThreadKind::Issue)[0])
}

/// Returns the summaries of the REST requests so far.
fn rest_requests(fixture: &SimFixture) -> Vec<String> {
    fixture.with_github(|github| {
        let entries = github.request_log().entries.iter();
        entries
            .filter(|entry| entry.kind == RequestKind::Rest)
            .map(|entry| entry.summary.clone())
            .collect()
    })
}

fn page_parameter(request: &str) -> Option<u32> {
    request.split(['?', '&']).find_map(|part| part.strip_prefix("page=")?.parse().ok())
}
