//! Polls, one situation at a time.

use hw_rules::bluesky::account_state::AccountState;
use hw_sim::bluesky::{
    AppViewFault, BlueskySpec, CursorFormat, FeedEnd, PostDraft, TrueFeedItem, XrpcEndpoint,
    XrpcError,
};
use hw_sync::SyncError;

use super::feed_check::{FeedCheck, check_feeds};
use super::poll_fixture::PollFixture;
use crate::harness::on_virtual_time;

const HOUR_MS: i64 = 3_600_000;
const LOOKBACK_MS: i64 = 24 * HOUR_MS;

#[test]
fn poll_reads_new_posts_and_nothing_else() {
    for (cursor_format, feed_end) in [
        (CursorFormat::IsoTime, FeedEnd::EmptyPage),
        (CursorFormat::IsoTime, FeedEnd::MissingCursor),
        (CursorFormat::MillisecondsCid, FeedEnd::EmptyPage),
    ] {
        let spec = BlueskySpec { cursor_format, feed_end, ..BlueskySpec::small() };
        let fixture = PollFixture::new(&spec, 1);
        on_virtual_time(async {
            let first = fixture.poll().await;
            assert_eq!((first.round.initial, first.round.feeds), (6, 6));
            assert_complete(&fixture, &spec);
            let lines = fixture.take_lines();
            assert!(lines.iter().all(|line| line.starts_with("[INITIAL] ")), "{lines:?}");
            assert_eq!(lines.len(), 6, "{lines:?}");
            fixture.pass_minutes(15).await;
            let (did, handle) = account(&fixture, 2);
            publish(&fixture, &did, 3);
            let before = fixture.requests();
            let second = fixture.poll().await;
            assert_eq!(fixture.take_lines(), [format!("[POLL] {handle}: 3 posts, 0 URLs")]);
            assert_eq!(fixture.requests() - before, 2, "the profiles, and one feed");
            assert_eq!((second.round.posts, second.round.active, second.round.initial), (3, 1, 0));
            assert_complete(&fixture, &spec);
        });
    }
}

#[test]
fn account_without_posts_is_read_for_the_first_time_once() {
    let fixture = PollFixture::new(&BlueskySpec::silent(1), 1);
    on_virtual_time(async {
        fixture.poll().await;
        let (did, handle) = account(&fixture, 0);
        assert_eq!(fixture.take_lines(), [format!("[INITIAL] {handle}: 0 posts, 0 URLs")]);
        fixture.pass_minutes(15).await;
        fixture.poll().await;
        assert_eq!(fixture.take_lines(), Vec::<String>::new());
        publish(&fixture, &did, 1);
        fixture.pass_minutes(15).await;
        fixture.poll().await;
        assert_eq!(fixture.take_lines(), [format!("[POLL] {handle}: 1 posts, 0 URLs")]);
    });
}

#[test]
fn account_whose_first_page_reaches_the_look_back_is_not_read_for_the_first_time_again() {
    let fixture = PollFixture::new(&BlueskySpec::silent(1), 1);
    let (did, handle) = account(&fixture, 0);
    let start_ms = fixture.now_ms();
    fixture.world.with_app_view(|app_view| {
        for day in 1..=3 {
            let at_ms = start_ms - day * 30 * HOUR_MS;
            app_view.world_mut().post(&did, PostDraft::from_text("old news"), at_ms);
        }
    });
    on_virtual_time(async {
        fixture.poll().await;
        assert_eq!(fixture.take_lines(), [format!("[INITIAL] {handle}: 0 posts, 0 URLs")]);
        fixture.pass_minutes(15).await;
        publish(&fixture, &did, 1);
        fixture.poll().await;
        assert_eq!(fixture.take_lines(), [format!("[POLL] {handle}: 1 posts, 0 URLs")]);
        assert_eq!(fixture.stored_posts(&did).len(), 1, "the old ones are below the look-back");
    });
}

#[test]
fn account_that_posts_a_thousand_times_is_shown_as_a_gap_and_read_whole() {
    let spec =
        BlueskySpec { cursor_format: CursorFormat::MillisecondsCid, ..BlueskySpec::silent(1) };
    let fixture = PollFixture::new(&spec, 1);
    on_virtual_time(async {
        let (did, handle) = account(&fixture, 0);
        publish(&fixture, &did, 1);
        fixture.poll().await;
        fixture.take_lines();
        fixture.pass_minutes(15).await;
        publish_every(&fixture, &did, 1_000, 800);
        let summary = fixture.poll().await;
        let lines = fixture.take_lines();
        let expected = [
            format!("[POLL] {handle}: High volume detected, fetching more pages"),
            format!("[POLL] {handle}: 500 posts, 0 URLs across 10 pages"),
        ];
        assert_eq!(lines, expected);
        assert_eq!(summary.unfinished, 1);
        assert!(fixture.account(&did).feed.is_unfinished);
        fixture.poll_rounds(1, 15).await;
        let stored = fixture.stored_posts(&did).len();
        assert!(
            (751..1_001).contains(&stored),
            "the head is read again, and the gap goes on: {stored}"
        );
        fixture.poll_rounds(1, 15).await;
        assert!(!fixture.account(&did).feed.is_unfinished);
        assert_complete(&fixture, &spec);
    });
}

#[test]
fn burst_within_the_overlap_of_reads_is_read_whole_and_then_left_alone() {
    let spec =
        BlueskySpec { cursor_format: CursorFormat::MillisecondsCid, ..BlueskySpec::silent(1) };
    let fixture = PollFixture::new(&spec, 1);
    on_virtual_time(async {
        let (did, _) = account(&fixture, 0);
        publish(&fixture, &did, 1);
        fixture.poll().await;
        fixture.pass_minutes(15).await;
        publish_every(&fixture, &did, 1_000, 10);
        fixture.poll().await;
        fixture.poll_rounds(5, 15).await;
        assert!(!fixture.account(&did).feed.is_unfinished);
        assert_complete(&fixture, &spec);
        let before = fixture.requests();
        fixture.poll_rounds(1, 15).await;
        assert_eq!(fixture.requests() - before, 1, "its profile");
    });
}

#[test]
fn quiet_round_of_342_accounts_costs_14_requests() {
    let spec =
        BlueskySpec { posts_per_account: 1..=3, repost_percent: 0, ..BlueskySpec::silent(342) };
    let fixture = PollFixture::new(&spec, 1);
    on_virtual_time(async {
        fixture.poll().await;
        // a feed without an older post ends with an empty page
        let now_ms = fixture.now_ms();
        let truth = fixture.world.with_app_view(|app_view| app_view.world().truth(now_ms));
        let is_young = |item: &TrueFeedItem| item.sort_ms >= spec.start_ms - LOOKBACK_MS;
        let young = truth.feeds.values().filter(|feed| feed.items.values().all(is_young));
        assert_eq!(fixture.requests(), 14 + 342 + young.count() as u64);
        let before = fixture.requests();
        let summary = fixture.poll().await;
        assert_eq!((fixture.requests() - before, summary.round.feeds), (14, 0));
        for index in 0..30 {
            publish(&fixture, &account(&fixture, index).0, 1);
        }
        let before = fixture.requests();
        let summary = fixture.poll().await;
        assert_eq!((fixture.requests() - before, summary.round.posts), (14 + 30, 30));
        // a day of quiet rounds: each feed once
        let mut feeds = 0;
        for _ in 0..96 {
            fixture.pass_minutes(15).await;
            let round = fixture.poll().await.round;
            feeds += round.feeds;
            assert!(round.feeds <= 12, "{} in one round: they are not spread", round.feeds);
        }
        assert_eq!(feeds, 342);
    });
}

#[test]
fn reposts_and_posts_dated_back_are_found_within_a_day() {
    let fixture = PollFixture::new(&BlueskySpec::silent(2), 1);
    on_virtual_time(async {
        let (alice, _) = account(&fixture, 0);
        let (bob, _) = account(&fixture, 1);
        publish(&fixture, &alice, 2);
        fixture.poll().await;
        let now_ms = fixture.now_ms();
        let uri = fixture.world.with_app_view(|app_view| {
            let world = app_view.world_mut();
            let post = world.posts_of(&alice).remove(0);
            world.repost(&bob, &post.uri, now_ms);
            world.backdate_post(
                &alice,
                PostDraft::from_text("yesterday"),
                now_ms - 5 * HOUR_MS,
                now_ms,
            );
            post.uri
        });
        fixture.poll_rounds(24, 61).await;
        let reposts = fixture.stored_posts(&bob);
        assert_eq!(reposts.len(), 1);
        assert_eq!(reposts[0].post.text_uri().as_str(), &*uri);
        assert_eq!(fixture.stored_posts(&alice).len(), 3);
        // and gone again
        let now_ms = fixture.now_ms();
        fixture.world.with_app_view(|app_view| {
            let repost = app_view.world().reposts_of(&bob).remove(0);
            app_view.world_mut().delete_repost(&repost.uri, now_ms);
        });
        fixture.poll_rounds(24, 61).await;
        assert_eq!(fixture.stored_posts(&bob).len(), 0);
    });
}

#[test]
fn deleted_posts_are_removed_after_a_second_look() {
    let fixture = PollFixture::new(&BlueskySpec::silent(2), 1);
    on_virtual_time(async {
        let (did, _) = account(&fixture, 0);
        publish(&fixture, &did, 5);
        publish(&fixture, &account(&fixture, 1).0, 1);
        fixture.poll().await;
        delete_oldest(&fixture, &did);
        fixture.poll_rounds(24, 61).await;
        assert_eq!(fixture.stored_posts(&did).len(), 4);
        let lookups = fixture
            .world
            .with_app_view(|app_view| app_view.request_log().count(XrpcEndpoint::Posts));
        assert_eq!(lookups, 1, "all suspects together");
        for _ in 0..4 {
            delete_oldest(&fixture, &did);
        }
        fixture.poll_rounds(24, 61).await;
        assert_eq!(fixture.stored_posts(&did).len(), 0, "nothing is left to vouch but others");
    });
}

#[test]
fn post_that_only_its_feed_hides_is_kept() {
    let fixture = PollFixture::new(&BlueskySpec::silent(1), 1);
    on_virtual_time(async {
        let (did, _) = account(&fixture, 0);
        publish(&fixture, &did, 60);
        fixture.poll().await;
        // the daily read sees a page that ends early, as if that were all
        for _ in 0..24 {
            fixture.world.with_app_view(|app_view| {
                app_view.script_fault(XrpcEndpoint::AuthorFeed, 1, AppViewFault::CursorToNothing);
                app_view.script_fault(XrpcEndpoint::AuthorFeed, 2, AppViewFault::CursorToNothing);
            });
            fixture.poll_rounds(1, 61).await;
        }
        assert_eq!(fixture.stored_posts(&did).len(), 60);
    });
}

#[test]
fn unavailable_account_is_skipped_and_comes_back() {
    for (make, state) in [
        (Trouble::Deactivate, AccountState::Deactivated),
        (Trouble::TakeDown, AccountState::Suspended),
        (Trouble::Block, AccountState::Blocked),
    ] {
        let spec = BlueskySpec::silent(2);
        let fixture = PollFixture::new(&spec, 1).with_session(&spec);
        on_virtual_time(async {
            let (did, handle) = account(&fixture, 1);
            publish(&fixture, &did, 2);
            fixture.poll().await;
            let before = fixture.account(&did);
            fixture.take_lines();
            make.apply(&fixture, &did);
            fixture.pass_minutes(15).await;
            let summary = fixture.poll().await;
            let expected = format!(
                "[SKIP] {handle}: Account unavailable (invalid/deleted/private): API error: 400"
            );
            assert_eq!(fixture.take_lines(), [expected], "{make:?}");
            assert_eq!(summary.round.skipped, 1);
            let after = fixture.account(&did);
            assert_eq!((after.feed.state, &after.head_at), (state, &before.head_at));
            assert!(after.state_reason.is_some());
            fixture.pass_minutes(15).await;
            fixture.poll().await;
            assert_eq!(fixture.take_lines(), Vec::<String>::new(), "not again for an hour");
            assert_eq!(fixture.stored_posts(&did).len(), 2, "its posts stay");
            make.undo(&fixture, &did);
            publish(&fixture, &did, 1);
            fixture.pass_minutes(15).await;
            fixture.poll().await;
            assert_eq!(fixture.take_lines(), [format!("[POLL] {handle}: 1 posts, 0 URLs")]);
            assert_eq!(fixture.account(&did).feed.state, AccountState::Active);
        });
    }
}

#[test]
fn deleted_account_is_tried_less_and_less_often() {
    let fixture = PollFixture::new(&BlueskySpec::silent(1), 1);
    on_virtual_time(async {
        let (did, _) = account(&fixture, 0);
        fixture.poll().await;
        let now_ms = fixture.now_ms();
        fixture.world.with_app_view(|app_view| app_view.world_mut().delete_account(&did, now_ms));
        fixture.take_lines();
        fixture.poll_rounds(4 * 24 * 7, 15).await;
        let skips = fixture.take_lines().len();
        assert!((9..=11).contains(&skips), "{skips} attempts in a week");
        assert_eq!(fixture.account(&did).feed.state, AccountState::Gone);
    });
}

#[test]
fn failing_account_does_not_stop_the_others() {
    let fixture = PollFixture::new(&BlueskySpec::silent(3), 1);
    on_virtual_time(async {
        for index in 0..3 {
            publish(&fixture, &account(&fixture, index).0, 1);
        }
        fixture.world.with_app_view(|app_view| {
            for nth in 1..=4 {
                let error = XrpcError::new(500, "InternalServerError", "Internal Server Error");
                app_view.script_error(XrpcEndpoint::AuthorFeed, 3 * nth, error);
            }
        });
        let summary = fixture.poll().await;
        let lines = fixture.take_lines();
        assert_eq!(summary.round.initial + summary.round.failed, 3, "{lines:?}");
    });
}

#[test]
fn error_is_printed_after_three_retries_and_the_next_poll_reads_the_account() {
    let fixture = PollFixture::new(&BlueskySpec::silent(1), 1);
    on_virtual_time(async {
        let (did, handle) = account(&fixture, 0);
        publish(&fixture, &did, 1);
        fixture.world.with_app_view(|app_view| {
            for nth in 1..=4 {
                let error = XrpcError::new(502, "UpstreamFailure", "Upstream Failure");
                app_view.script_error(XrpcEndpoint::AuthorFeed, nth, error);
            }
        });
        let began_ms = fixture.now_ms();
        fixture.poll().await;
        assert!(fixture.now_ms() - began_ms >= 7_000, "1 + 2 + 4 s");
        let expected = format!(
            "[ERROR] {handle}: server error: status 502: UpstreamFailure: Upstream Failure"
        );
        assert_eq!(fixture.take_lines(), [expected]);
        assert!(fixture.account(&did).last_error.is_some());
        fixture.poll().await;
        assert_eq!(fixture.take_lines(), [format!("[INITIAL] {handle}: 1 posts, 0 URLs")]);
        assert_eq!(fixture.account(&did).last_error, None);
    });
}

#[test]
fn saved_cursor_that_is_refused_starts_the_walk_over_once() {
    for fault in [AppViewFault::CursorError, AppViewFault::CursorToNothing] {
        let spec =
            BlueskySpec { cursor_format: CursorFormat::MillisecondsCid, ..BlueskySpec::silent(1) };
        let mut fixture = PollFixture::new(&spec, 1);
        fixture.settings.max_pages_per_user = 2;
        on_virtual_time(async {
            let (did, _) = account(&fixture, 0);
            publish_every(&fixture, &did, 210, 30_000);
            fixture.poll().await;
            assert!(fixture.account(&did).feed.is_unfinished);
            // the second request of the next poll has the saved cursor
            fixture.world.with_app_view(|app_view| {
                // an error is repeated three times
                let last = if fault == AppViewFault::CursorError { 5 } else { 2 };
                for nth in 2..=last {
                    app_view.script_fault(XrpcEndpoint::AuthorFeed, nth, fault);
                }
            });
            fixture.settings.max_pages_per_user = 100;
            fixture.pass_minutes(15).await;
            fixture.poll().await;
            assert_eq!(fixture.account(&did).last_error, None);
            assert_complete(&fixture, &spec);
        });
    }
}

#[test]
fn expired_session_is_renewed() {
    let spec = BlueskySpec { requires_session: true, ..BlueskySpec::small() };
    let fixture = PollFixture::new(&spec, 1).with_session(&spec);
    on_virtual_time(async {
        fixture.poll().await;
        assert_complete(&fixture, &spec);
        let client = fixture.open_client(fixture.store.clone(), None);
        let accounts: Vec<_> = fixture.dids().iter().map(|did| did.parse().unwrap()).collect();
        let find = || hw_sync::bluesky::accounts::find_accounts(&client, &accounts);
        assert_eq!(find().await.unwrap().found.len(), 6);
        fixture.pass_minutes(3 * 60).await;
        assert_eq!(find().await.unwrap().found.len(), 6);
        fixture.pass_minutes(90 * 24 * 60).await;
        assert_eq!(find().await.unwrap().found.len(), 6, "the refresh token has expired, too");
        let counts = fixture.world.with_app_view(|app_view| {
            let log = app_view.request_log();
            [XrpcEndpoint::CreateSession, XrpcEndpoint::RefreshSession]
                .map(|endpoint| log.count(endpoint))
        });
        assert_eq!(counts, [3, 2], "one for the poll");
    });
}

#[test]
fn server_that_wants_a_session_ends_a_poll_without_one() {
    let spec = BlueskySpec { requires_session: true, ..BlueskySpec::small() };
    on_virtual_time(async {
        let error = PollFixture::new(&spec, 1).try_poll(None).await.unwrap_err();
        assert!(error.to_string().contains("BLUESKY_APP_PASSWORD"), "{error}");
        let wrong = BlueskySpec { app_password: "wrong".into(), ..spec.clone() };
        let error = PollFixture::new(&spec, 1).with_session(&wrong).try_poll(None).await;
        assert!(matches!(&error, Err(SyncError::Source { .. })), "{error:?}");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("cannot log in as did:plc:"), "{error}");
    });
}

#[test]
fn limit_is_obeyed_with_and_without_headers() {
    for fault in [AppViewFault::RateLimited, AppViewFault::RateLimitedWithoutHeaders] {
        let fixture = PollFixture::new(&BlueskySpec::small(), 1);
        on_virtual_time(async {
            fixture.world.with_app_view(|app_view| {
                app_view.script_fault(XrpcEndpoint::AuthorFeed, 2, fault);
            });
            let summary = fixture.poll().await;
            assert_eq!((summary.round.initial, summary.round.failed), (6, 0), "{fault:?}");
            let during = fixture.world.with_app_view(|app_view| app_view.requests_while_limited());
            assert_eq!(during, 0);
        });
    }
}

#[test]
fn handle_that_moves_to_another_account_leaves_the_posts_where_they_were() {
    let fixture = PollFixture::new(&BlueskySpec::silent(2), 1);
    on_virtual_time(async {
        let (alice, handle) = account(&fixture, 0);
        let (bob, _) = account(&fixture, 1);
        publish(&fixture, &alice, 2);
        publish(&fixture, &bob, 1);
        fixture.poll().await;
        fixture.world.with_app_view(|app_view| app_view.world_mut().move_handle(&alice, &bob));
        fixture.poll_rounds(1, 15).await;
        assert_eq!(fixture.account(&bob).handle.as_deref(), Some(handle.as_str()));
        assert_eq!(fixture.account(&alice).name(), alice);
        assert_eq!(fixture.stored_posts(&alice).len(), 2);
    });
}

#[test]
fn reset_account_starts_over_without_losing_posts() {
    let spec = BlueskySpec::small();
    let fixture = PollFixture::new(&spec, 1);
    on_virtual_time(async {
        fixture.poll().await;
        fixture.take_lines();
        let (did, handle) = account(&fixture, 0);
        let before = fixture.stored_posts(&did);
        fixture.store.reset_accounts(super::poll_fixture::HOST, &[did.parse().unwrap()]).unwrap();
        fixture.poll().await;
        assert_eq!(fixture.take_lines(), [format!("[INITIAL] {handle}: 0 posts, 0 URLs")]);
        assert_eq!(fixture.stored_posts(&did), before);
        assert_complete(&fixture, &spec);
    });
}

#[test]
fn two_processes_poll_one_after_the_other() {
    let spec = BlueskySpec::small();
    let fixture = PollFixture::new(&spec, 1);
    on_virtual_time(async {
        let (first, second) = fixture.poll_with_another().await;
        assert_eq!(first.round.initial + second.round.initial, 6);
        assert_complete(&fixture, &spec);
    });
}

#[derive(Debug, Clone, Copy)]
enum Trouble {
    Deactivate,
    TakeDown,
    Block,
}

impl Trouble {
    fn apply(self, fixture: &PollFixture, did: &str) {
        fixture.world.with_app_view(|app_view| {
            let world = app_view.world_mut();
            match self {
                Self::Deactivate => world.deactivate(did),
                Self::TakeDown => world.take_down(did),
                Self::Block => world.block_viewer(did),
            }
        });
    }

    fn undo(self, fixture: &PollFixture, did: &str) {
        fixture.world.with_app_view(|app_view| {
            let world = app_view.world_mut();
            match self {
                Self::Deactivate | Self::TakeDown => world.reactivate(did),
                Self::Block => world.unblock_viewer(did),
            }
        });
    }
}

fn assert_complete(fixture: &PollFixture, spec: &BlueskySpec) {
    let check = FeedCheck {
        since_ms: spec.start_ms - LOOKBACK_MS + HOUR_MS,
        is_daily: false,
        cursor_format: spec.cursor_format,
        feed_end: spec.feed_end,
    };
    check_feeds(fixture, &check).unwrap();
}

/// Returns the DID and the handle of an account.
fn account(fixture: &PollFixture, index: usize) -> (String, String) {
    fixture.world.with_app_view(|app_view| {
        let did = app_view.world().dids().remove(index);
        let handle = app_view.world().handle_of(&did).unwrap().to_owned();
        (did, handle)
    })
}

/// Publishes posts within the last seconds.
fn publish(fixture: &PollFixture, did: &str, count: i64) {
    publish_every(fixture, did, count, 10);
}

/// Publishes posts this long after each other, the last one now.
fn publish_every(fixture: &PollFixture, did: &str, count: i64, interval_ms: i64) {
    let now_ms = fixture.now_ms();
    fixture.world.with_app_view(|app_view| {
        for index in 0..count {
            let at_ms = now_ms - interval_ms * (count - 1 - index);
            app_view.world_mut().post(did, PostDraft::from_text("high water"), at_ms);
        }
    });
}

fn delete_oldest(fixture: &PollFixture, did: &str) {
    let now_ms = fixture.now_ms();
    fixture.world.with_app_view(|app_view| {
        let uri = app_view.world().posts_of(did).remove(0).uri;
        app_view.world_mut().delete_post(&uri, now_ms);
    });
}
