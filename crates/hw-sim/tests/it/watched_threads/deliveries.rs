//! Single promises about what becomes an event, each in a world of its own.

use hw_rules::event::EventChange;
use hw_rules::item;
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::watch::{WatchMode, WatchStart, WatchState};
use hw_sim::{CommentKind, ThreadKind, WorldSpec};
use hw_store::NewWatch;

use super::costs::one_of_each;
use super::watch_fixture::{INTERVAL_MS, WatchFixture};
use crate::harness::shortcuts::{FULL_PULL, coverage_only_page};
use crate::harness::{HOST, TestPull, on_virtual_time};

const DAY_MS: u64 = 24 * 3_600_000;

#[test]
fn watch_emits_what_was_said_before_it_only_if_it_begins_there() {
    for (start, expected) in [
        (WatchStart::Beginning, vec!["created:before", "created:after"]),
        (WatchStart::Now, vec!["created:after"]),
    ] {
        let fixture = WatchFixture::new(&one_of_each(), 1);
        let thread = fixture.thread(ThreadKind::Issue);
        on_virtual_time(async {
            fixture.say(&thread, "before");
            fixture.sim.clock.advance_by(600_000).await;
            fixture.watch(&fixture.subject(&thread), Some(start));
            fixture.poll_times(3).await;
            fixture.say(&thread, "after");
            fixture.poll_times(3).await;
            assert_eq!(fixture.said(), expected, "{start}");
        });
    }
}

#[test]
fn watch_that_waited_for_the_service_misses_nothing() {
    let fixture = WatchFixture::new(&one_of_each(), 2);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Now));
        fixture.sim.clock.advance_by(3_600_000).await;
        fixture.say(&thread, "meanwhile");
        fixture.sim.clock.advance_by(3_600_000).await;
        fixture.poll_times(3).await;
        assert_eq!(fixture.said(), ["created:meanwhile"]);
    });
}

#[test]
fn edit_of_an_older_comment_in_the_second_of_the_watermark_is_emitted() {
    let fixture = WatchFixture::new(&one_of_each(), 3);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        let older = fixture.say(&thread, "older");
        fixture.sim.clock.advance_by(600_000).await;
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
        fixture.poll_times(3).await;
        wait_for_a_new_second(&fixture).await;
        fixture.say(&thread, "newest");
        fixture.poll().await;
        // in the same second, and with a smaller id
        fixture.edit(older, "edited");
        fixture.poll_times(2).await;
        assert_eq!(fixture.said(), ["created:older", "created:newest", "edited:edited"]);
    });
}

#[test]
fn comment_that_becomes_visible_late_is_emitted() {
    let fixture = WatchFixture::new(&one_of_each(), 4);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Now));
        fixture.poll_times(3).await;
        let late = fixture.say(&thread, "late");
        let visible_ms = fixture.sim.world_now_ms() + 50_000;
        fixture.sim.with_github(|github| {
            github.world_mut().delay_comment(CommentKind::Conversation, late, visible_ms);
        });
        fixture.sim.clock.advance_by(20_000).await;
        fixture.say(&thread, "in time");
        fixture.sim.clock.advance_by(10_000).await;
        fixture.poll().await;
        assert_eq!(fixture.said(), ["created:in time"]);
        fixture.poll_times(2).await;
        assert_eq!(fixture.said(), ["created:in time", "created:late"]);
    });
}

#[test]
fn two_edits_in_one_second_emit_the_last_text() {
    let fixture = WatchFixture::new(&one_of_each(), 5);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Now));
        fixture.poll_times(3).await;
        let comment = fixture.say(&thread, "first");
        fixture.poll_times(2).await;
        wait_for_a_new_second(&fixture).await;
        fixture.edit(comment, "second");
        fixture.poll().await;
        fixture.edit(comment, "third");
        fixture.poll_times(2).await;
        assert_eq!(fixture.said(), ["created:first", "edited:second", "edited:third"]);
    });
}

#[test]
fn deletion_while_pages_are_read_loses_nothing() {
    let fixture = WatchFixture::new(&one_of_each(), 6);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Now));
        fixture.poll_times(3).await;
        let ids: Vec<i64> = (0..350).map(|n| fixture.say(&thread, &format!("word {n}"))).collect();
        fixture.sim.clock.advance_by(120_000).await;
        for n in [5, 120, 210] {
            let gone = ids[n];
            fixture.sim.with_github(|github| {
                github.act_after(
                    "issues/comments",
                    u32::try_from(n / 100).unwrap(),
                    move |world, now_ms| {
                        world.delete_comment(CommentKind::Conversation, gone, now_ms);
                    },
                );
            });
        }
        fixture.poll_times(3).await;
        let said = fixture.said();
        for n in (0..350).filter(|n| ![5, 120, 210].contains(n)) {
            assert!(said.contains(&format!("created:word {n}")), "word {n} is missing");
        }
        fixture.check_no_doubles();
    });
}

#[test]
fn deleted_comment_is_withdrawn_by_the_daily_sweep() {
    let fixture = WatchFixture::new(&one_of_each(), 7);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
        let gone = fixture.say(&thread, "gone");
        fixture.say(&thread, "stays");
        fixture.sim.clock.advance_by(120_000).await;
        fixture.poll_times(3).await;
        fixture.delete(gone);
        fixture.poll_times(3).await;
        assert_eq!(fixture.said(), ["created:gone", "created:stays"]);
        fixture.sim.clock.advance_by(DAY_MS + 3_600_000).await;
        fixture.poll_times(2).await;
        assert_eq!(fixture.said(), ["created:gone", "created:stays", "withdrawn:gone"]);
    });
}

#[test]
fn every_kind_of_comment_on_a_pull_request_is_emitted_once() {
    for is_old in [true, false] {
        let fixture = WatchFixture::new(&one_of_each(), 8);
        let thread = fixture.thread(ThreadKind::PullRequest);
        on_virtual_time(async {
            let speak = || {
                fixture.say(&thread, "on the thread");
                let now_ms = fixture.sim.world_now_ms();
                fixture.sim.with_github(|github| {
                    let world = github.world_mut();
                    let review = world.add_review(thread.id, "a review", now_ms);
                    let comment = world.add_review_comment(review, "on a line", now_ms);
                    world.add_review_reply(comment, "a reply", now_ms);
                });
            };
            if is_old {
                speak();
                fixture.sim.clock.advance_by(600_000).await;
            }
            fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
            fixture.poll_times(3).await;
            if !is_old {
                speak();
                fixture.poll_times(3).await;
            }
            let mut said = fixture.said();
            said.retain(|said| said != "created:");
            said.sort();
            let expected = [
                "created:a reply",
                "created:a review",
                "created:on a line",
                "created:on the thread",
            ];
            assert_eq!(said, expected, "said before the watch: {is_old}");
            fixture.check_no_doubles();
        });
    }
}

#[test]
fn refetch_and_renamed_login_emit_nothing_twice() {
    let fixture = WatchFixture::new(&WorldSpec { comments_per_thread: 4, ..one_of_each() }, 9);
    on_virtual_time(async {
        fixture.sim.pull(&FULL_PULL).await.unwrap();
        for thread in fixture.threads() {
            fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
        }
        fixture.poll_times(5).await;
        let before = fixture.events().len();
        assert!(before > 0, "what is mirrored already becomes events");
        fixture.sim.pull(&TestPull { force: true, ..FULL_PULL }).await.unwrap();
        fixture.poll_times(2).await;
        let comment = fixture.true_comments(&fixture.thread(ThreadKind::Issue)).remove(0);
        let login = comment.author.unwrap();
        fixture.sim.with_github(|github| {
            github.world_mut().rename_account(&login, "somebody-else");
        });
        fixture.sim.pull(&TestPull { force: true, ..FULL_PULL }).await.unwrap();
        fixture.poll_times(2).await;
        assert_eq!(fixture.events().len(), before);
    });
}

#[test]
fn state_of_a_pull_request_is_emitted_and_merging_ends_reading() {
    let fixture = WatchFixture::new(&one_of_each(), 10);
    let thread = fixture.thread(ThreadKind::PullRequest);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Now));
        fixture.poll_times(3).await;
        let act = |act: &dyn Fn(&mut hw_sim::World, i64)| {
            let now_ms = fixture.sim.world_now_ms();
            fixture.sim.with_github(|github| act(github.world_mut(), now_ms));
        };
        act(&|world, now_ms| world.push_commit(thread.id, now_ms));
        fixture.poll_times(2).await;
        act(&|world, now_ms| world.label_thread(thread.kind, thread.id, "urgent", now_ms));
        fixture.poll_times(2).await;
        act(&|world, now_ms| world.merge_pull_request(thread.id, now_ms));
        fixture.poll_times(3).await;
        let changes = || {
            let events = fixture.events().into_iter();
            let states = events.filter_map(|row| match row.event.change {
                EventChange::State(state) => Some(state.name()),
                EventChange::Created | EventChange::Edited | EventChange::Withdrawn => None,
            });
            states.collect::<Vec<_>>()
        };
        assert_eq!(changes(), ["head_moved", "labeled", "merged"]);
        fixture.say(&thread, "too late");
        fixture.poll_times(3).await;
        assert_eq!(fixture.said(), Vec::<String>::new());
    });
}

#[test]
fn cursor_in_the_future_is_reset_and_nothing_is_emitted_twice() {
    let fixture = WatchFixture::new(&one_of_each(), 11);
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Now));
        fixture.say(&thread, "before");
        fixture.sim.clock.advance_by(120_000).await;
        fixture.poll_times(3).await;
        move_cursor_ahead(&fixture, thread.repository_id);
        fixture.say(&thread, "after");
        fixture.poll_times(3).await;
        assert_eq!(fixture.said(), ["created:before", "created:after"]);
    });
}

/// Sets the watermark two days ahead.
fn move_cursor_ahead(fixture: &WatchFixture, repository: i64) {
    let surface = Surface::Comments(item::CommentKind::Conversation);
    let lane = Lane::for_repository(RepositoryKey::new(HOST, repository), surface);
    let mut coverage = fixture.sim.store.lane_state(&lane).unwrap().coverage;
    coverage.through = coverage.through.map(|through| through.plus_ms(2 * 86_400_000));
    fixture.sim.claim_pull().ingest_page(&coverage_only_page(&lane, coverage)).unwrap();
}

#[test]
fn source_issue_is_followed_up_until_a_pull_request_closes_it() {
    let fixture = WatchFixture::new(&one_of_each(), 12);
    let issue = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        let subject = fixture.subject(&issue);
        let (repository, _) = subject.split_once('#').unwrap();
        let watch = fixture.add_watch(&NewWatch {
            host: HOST.into(),
            subject: repository.parse().unwrap(),
            mode: WatchMode::Feedback,
            start: Some(WatchStart::Beginning),
            source_issue: Some(issue.number),
        });
        fixture.poll_times(3).await;
        fixture.say(&issue, "please");
        fixture.poll_times(3).await;
        let now_ms = fixture.sim.world_now_ms();
        let pull_request = fixture.sim.with_github(|github| {
            github.world_mut().create_closing_pull_request(
                issue.repository_id,
                "Fix it",
                &[issue.number],
                now_ms,
            )
        });
        fixture.poll_times(4).await;
        let pull_request = fixture
            .threads()
            .into_iter()
            .find(|thread| thread.kind == ThreadKind::PullRequest && thread.id == pull_request)
            .unwrap();
        fixture.say(&pull_request, "looks good");
        fixture.say(&issue, "too late");
        fixture.poll_times(3).await;
        assert_eq!(fixture.state(watch), WatchState::Active);
        let classes: Vec<(String, String)> = fixture
            .events()
            .into_iter()
            .filter(|row| !matches!(row.event.change, EventChange::State(_)))
            .map(|row| (row.event.body, row.event.class.name().to_owned()))
            .collect();
        let expected =
            [("please", "followup"), ("looks good", "feedback"), ("too late", "ignored")];
        for (body, class) in expected {
            let event = (body.to_owned(), class.to_owned());
            assert!(classes.contains(&event), "{body} is not {class}: {classes:?}");
        }
    });
}

#[test]
fn shadow_comparison_reports_what_the_lists_did_not_bring() {
    let mut fixture = WatchFixture::new(&one_of_each(), 13);
    fixture.settings.shadow_compare = true;
    let thread = fixture.thread(ThreadKind::Issue);
    on_virtual_time(async {
        fixture.watch(&fixture.subject(&thread), Some(WatchStart::Beginning));
        let gone = fixture.say(&thread, "gone");
        fixture.sim.clock.advance_by(120_000).await;
        fixture.poll_times(3).await;
        assert_eq!(fixture.poll().await.differences, []);
        fixture.delete(gone);
        fixture.sim.clock.advance_by(INTERVAL_MS).await;
        let differences = fixture.poll().await.differences;
        assert_eq!(differences.len(), 1, "{differences:?}");
        assert_eq!((differences[0].id, differences[0].difference), (gone, "gone"));
        assert_eq!(fixture.said(), ["created:gone"], "the comparison changes nothing");
    });
}

async fn wait_for_a_new_second(fixture: &WatchFixture) {
    let into_second = fixture.sim.world_now_ms().rem_euclid(1_000);
    // the requests of a poll take about a tenth of a second each
    fixture.sim.clock.advance_by(u64::try_from(1_000 - into_second).unwrap()).await;
}
