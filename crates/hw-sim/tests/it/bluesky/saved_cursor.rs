//! Why a saved cursor cannot find new posts: feeds are read downwards, so that the next page is always an older one.

use std::collections::BTreeSet;

use hw_sim::bluesky::{BlueskySpec, CursorFormat, FeedEnd, PostDraft, SimulatedAppView};

use super::reference_poller::{PollOutcome, ReferencePoller};
use crate::harness::{AppViewFixture, on_virtual_time};

const INTERVAL_MS: i64 = 15 * 60_000;
const HOUR_MS: i64 = 3_600_000;

#[test]
fn saved_cursor_never_leads_to_a_new_post() {
    for (cursor_format, feed_end) in [
        (CursorFormat::IsoTime, FeedEnd::EmptyPage),
        (CursorFormat::IsoTime, FeedEnd::MissingCursor),
        (CursorFormat::MillisecondsCid, FeedEnd::EmptyPage),
    ] {
        let spec = BlueskySpec { cursor_format, feed_end, ..BlueskySpec::silent(1) };
        let fixture = AppViewFixture::new(&spec, 1);
        let (did, handle) = fixture.with_app_view(fill_three_days);
        on_virtual_time(async {
            let mut poller = ReferencePoller::new(&fixture, INTERVAL_MS);
            let first = poller.poll_account(&handle).await;
            assert!(matches!(first, PollOutcome::Initial { posts } if posts >= 48), "{first:?}");
            assert_eq!(missing_posts(&fixture, &did, &poller), 0, "the first day is complete");
            let mut cursor = poller.poll_state[&handle].last_cursor.clone();
            for round in 1..=4 {
                fixture.clock.advance_by(INTERVAL_MS.unsigned_abs()).await;
                publish_posts(&fixture, &did, 5);
                let polled = poller.poll_account(&handle).await;
                assert!(matches!(polled, PollOutcome::Regular { .. }), "{polled:?}");
                let missing = missing_posts(&fixture, &did, &poller);
                assert_eq!(missing, 5 * round, "{cursor_format:?} {feed_end:?}: a new post");
                let saved = poller.poll_state[&handle].last_cursor.clone();
                assert!(saved <= cursor, "the cursor went forward, from {cursor} to {saved}");
                cursor = saved;
            }
        });
    }
}

#[test]
fn saved_cursor_turns_a_regular_poll_into_a_walk_through_the_past() {
    let fixture = AppViewFixture::new(&BlueskySpec::silent(1), 1);
    let (_, handle) = fixture.with_app_view(fill_three_days);
    on_virtual_time(async {
        let mut poller = ReferencePoller::new(&fixture, INTERVAL_MS);
        poller.poll_account(&handle).await;
        let after_first = poller.processed.len();
        let polled = poller.poll_account(&handle).await;
        assert_eq!(polled, PollOutcome::Regular { posts: 50, pages: 1 }, "nothing was new");
        assert_eq!(poller.processed.len(), after_first + 50, "all of them are older");
    });
}

#[test]
fn account_without_posts_has_no_last_post_to_compare() {
    let fixture = AppViewFixture::new(&BlueskySpec::silent(1), 1);
    let handle = fixture.with_app_view(|app_view| first_account(app_view).1);
    on_virtual_time(async {
        let mut poller = ReferencePoller::new(&fixture, INTERVAL_MS);
        assert_eq!(poller.poll_account(&handle).await, PollOutcome::Panicked);
        assert!(poller.poll_state.is_empty(), "it will be polled for the first time again");
    });
}

#[test]
fn account_that_is_deactivated_is_skipped_and_transient_errors_are_retried() {
    let fixture = AppViewFixture::new(&BlueskySpec::silent(1), 1);
    let (did, handle) = fixture.with_app_view(fill_three_days);
    on_virtual_time(async {
        let mut poller = ReferencePoller::new(&fixture, INTERVAL_MS);
        fixture.with_app_view(|app_view| app_view.world_mut().deactivate(&did));
        assert_eq!(poller.poll_account(&handle).await, PollOutcome::Skipped(400));
        fixture.with_app_view(|app_view| {
            app_view.world_mut().reactivate(&did);
            app_view.arm_fault(hw_sim::bluesky::AppViewFault::InternalError, 3);
        });
        assert!(matches!(poller.poll_account(&handle).await, PollOutcome::Initial { .. }));
        fixture.with_app_view(|app_view| {
            app_view.arm_fault(hw_sim::bluesky::AppViewFault::Unavailable, 4);
        });
        assert_eq!(poller.poll_account(&handle).await, PollOutcome::Failed);
    });
}

/// Publishes a post every half hour for three days, and returns the DID and the handle of their author.
fn fill_three_days(app_view: &mut SimulatedAppView) -> (String, String) {
    let (did, handle) = first_account(app_view);
    let start_ms = BlueskySpec::small().start_ms;
    for half_hours in (0..144).rev() {
        let at_ms = start_ms - half_hours * HOUR_MS / 2;
        app_view.world_mut().post(&did, PostDraft::from_text("low water"), at_ms);
    }
    (did, handle)
}

fn first_account(app_view: &SimulatedAppView) -> (String, String) {
    let did = app_view.world().dids().remove(0);
    let handle = app_view.world().handle_of(&did).unwrap().to_owned();
    (did, handle)
}

/// Publishes posts within the last minute.
fn publish_posts(fixture: &AppViewFixture, did: &str, count: i64) {
    let now_ms = fixture.clock.virtual_now_ms();
    fixture.with_app_view(|app_view| {
        for index in 0..count {
            let at_ms = now_ms - 1000 * (count - index);
            app_view.world_mut().post(did, PostDraft::from_text("high water"), at_ms);
        }
    });
}

/// Returns how many posts of the day before the first poll, or later ones, the poller never processed.
fn missing_posts(fixture: &AppViewFixture, did: &str, poller: &ReferencePoller<'_>) -> i64 {
    let now_ms = fixture.clock.virtual_now_ms();
    let since_ms = BlueskySpec::small().start_ms - 24 * HOUR_MS;
    let truth = fixture.with_app_view(|app_view| app_view.world().truth(now_ms));
    let expected: BTreeSet<&String> =
        truth.feed(did).items_since(since_ms).map(|item| &item.uri).collect();
    let missing = expected.into_iter().filter(|uri| !poller.processed.contains(*uri));
    i64::try_from(missing.count()).unwrap()
}
