use proptest::prelude::*;

use super::*;

/// A time at which no account of these tests has its daily read.
const NOW: i64 = 1_767_225_600_000;

#[test]
fn feed_is_due_for_the_first_reason_that_applies() {
    let base = quiet_account();
    let moved = ProfileSign::Readable { posts_count: Some(8) };
    for (account, profile, due) in [
        (base.clone(), SAME_COUNT, FeedDue::NotDue),
        (base.clone(), ProfileSign::Unknown, FeedDue::NotDue),
        (base.clone(), ProfileSign::Unreadable, FeedDue::Moved),
        (base.clone(), ProfileSign::Readable { posts_count: None }, FeedDue::NotDue),
        (base.clone(), moved, FeedDue::Moved),
        (base.clone(), ProfileSign::Readable { posts_count: Some(6) }, FeedDue::Moved),
        (AccountFeed { posts_count: None, ..base.clone() }, SAME_COUNT, FeedDue::Moved),
        (AccountFeed { read_ms: None, ..base.clone() }, moved, FeedDue::First),
        (AccountFeed { is_unfinished: true, ..base.clone() }, moved, FeedDue::Unfinished),
        (AccountFeed { is_requested: true, ..base.clone() }, moved, FeedDue::Requested),
        (AccountFeed { daily_read_ms: None, ..base.clone() }, SAME_COUNT, FeedDue::Daily),
        (
            AccountFeed { daily_read_ms: Some(NOW - DAY_MS), ..base.clone() },
            SAME_COUNT,
            FeedDue::Daily,
        ),
        (AccountFeed { daily_read_ms: Some(NOW + 1), ..base.clone() }, SAME_COUNT, FeedDue::Daily),
        (AccountFeed { interval_ms: 2 * HOUR_MS, ..base.clone() }, SAME_COUNT, FeedDue::Rate),
        (AccountFeed { interval_ms: 4 * HOUR_MS, ..base.clone() }, SAME_COUNT, FeedDue::NotDue),
        (
            AccountFeed { interval_ms: 4 * HOUR_MS, read_ms: Some(NOW + 1), ..base.clone() },
            SAME_COUNT,
            FeedDue::Rate,
        ),
        (
            AccountFeed { interval_ms: DAY_MS, read_ms: Some(0), ..base },
            SAME_COUNT,
            FeedDue::NotDue,
        ),
    ] {
        assert_eq!(judge_feed_due(&account, profile, NOW), due, "{account:?} {profile:?}");
    }
}

#[test]
fn feed_of_an_unavailable_account_is_tried_again_for_ever() {
    let delays: Vec<i64> =
        (1..=8).map(|failures| unavailable_delay_ms(failures) / HOUR_MS).collect();
    assert_eq!(delays, [1, 2, 4, 8, 16, 24, 24, 24]);
    assert_eq!(unavailable_delay_ms(u32::MAX), DAY_MS);
    for (failures, hours_ago, due) in [
        (1, 1, FeedDue::Retry),
        (2, 1, FeedDue::NotDue),
        (2, 2, FeedDue::Retry),
        (1_000, 23, FeedDue::NotDue),
        (1_000, 24, FeedDue::Retry),
        (1, -1, FeedDue::Retry),
    ] {
        let account = unavailable_account(failures, NOW - hours_ago * HOUR_MS);
        let judged = judge_feed_due(&account, ProfileSign::Unknown, NOW);
        assert_eq!(judged, due, "{failures} failures, {hours_ago} h ago");
    }
}

#[test]
fn feed_of_an_account_that_returned_is_read_in_the_same_round() {
    let account = unavailable_account(9, NOW - 1);
    assert_eq!(judge_feed_due(&account, SAME_COUNT, NOW), FeedDue::Returned);
    assert_eq!(judge_feed_due(&account, ProfileSign::Unreadable, NOW), FeedDue::NotDue, "blocked");
    let refused = AccountFeed { state: AccountState::Refused, ..account };
    assert_eq!(
        judge_feed_due(&refused, SAME_COUNT, NOW),
        FeedDue::NotDue,
        "it always has a profile"
    );
}

#[test]
fn feed_that_was_never_read_is_read_whole_as_soon_as_it_can_be() {
    let unavailable = AccountFeed { read_ms: None, ..unavailable_account(2, NOW - HOUR_MS) };
    let requested = AccountFeed { is_requested: true, ..unavailable.clone() };
    for (account, profile, due) in [
        (&unavailable, ProfileSign::Unknown, FeedDue::NotDue),
        (&unavailable, SAME_COUNT, FeedDue::First),
        (&requested, ProfileSign::Unknown, FeedDue::First),
    ] {
        assert_eq!(judge_feed_due(account, profile, NOW), due, "{account:?}");
        assert_eq!(due.is_whole_read(), due == FeedDue::First);
    }
}

#[test]
fn feed_interval_follows_the_posting_rate() {
    for (rows, span_ms, hours) in [
        (0, DAY_MS, 24),
        (1, DAY_MS, 24),
        (24, HOUR_MS, 24),
        (25, DAY_MS, 24),
        (50, DAY_MS, 12),
        (100, DAY_MS, 6),
        (50, HOUR_MS, 1),
        (50, 0, 1),
        (50, -5, 1),
        (50, 365 * DAY_MS, 24),
        (u32::MAX, i64::MAX, 24),
    ] {
        assert_eq!(feed_interval_ms(rows, span_ms, 50), hours * HOUR_MS, "{rows} in {span_ms} ms");
    }
    assert_eq!(feed_interval_ms(50, DAY_MS, 1), HOUR_MS);
}

#[test]
fn daily_reads_overlap() {
    let account = quiet_account();
    for (hours, lookback_hours, span_hours) in
        [(24, 24, 48), (24, 72, 96), (240, 24, 264), (-1, 24, 24)]
    {
        let now_ms = NOW + hours * HOUR_MS;
        let span_ms = daily_read_span_ms(&account, lookback_hours * HOUR_MS, now_ms);
        assert_eq!(span_ms, span_hours * HOUR_MS, "{hours} h after the last one");
    }
    let never = AccountFeed { daily_read_ms: None, ..account };
    assert_eq!(daily_read_span_ms(&never, DAY_MS, NOW), DAY_MS);
}

#[test]
fn daily_reads_are_spread_over_the_day() {
    const ACCOUNTS: usize = 342;
    const ROUNDS: i64 = 96;
    let mut most_in_a_round = 0;
    let mut reads = [0; ACCOUNTS];
    let mut accounts: Vec<AccountFeed> = (0..ACCOUNTS)
        .map(|number| AccountFeed {
            did: format!("did:plc:account{number}").parse().unwrap(),
            daily_read_ms: Some(NOW),
            ..quiet_account()
        })
        .collect();
    for round in 1..=ROUNDS {
        let now_ms = NOW + round * DAY_MS / ROUNDS;
        let mut in_this_round = 0;
        for (account, reads) in accounts.iter_mut().zip(&mut reads) {
            if judge_feed_due(account, SAME_COUNT, now_ms) == FeedDue::Daily {
                account.daily_read_ms = Some(now_ms);
                *reads += 1;
                in_this_round += 1;
            }
        }
        most_in_a_round = most_in_a_round.max(in_this_round);
    }
    assert_eq!(reads, [1; ACCOUNTS], "each once a day");
    assert!(most_in_a_round <= 12, "{most_in_a_round} in one round; 3 or 4 are the mean");
}

proptest! {
    #[test]
    fn daily_time_is_within_the_last_day(id in "[a-z2-7]{24}", now_ms in 0..i64::MAX / 2) {
        let did: Did = format!("did:plc:{id}").parse().unwrap();
        let time_ms = last_daily_time_ms(&did, now_ms);
        prop_assert!((0..DAY_MS).contains(&(now_ms - time_ms)));
        prop_assert_eq!(last_daily_time_ms(&did, time_ms), time_ms);
        prop_assert_eq!(last_daily_time_ms(&did, time_ms + DAY_MS), time_ms + DAY_MS);
    }

    #[test]
    fn feed_of_an_active_account_is_read_whole_at_least_once_a_day(
        read_ms in 0..NOW, daily_read_ms in 0..NOW, interval_ms in HOUR_MS..=DAY_MS, late_ms in 0..DAY_MS,
        is_unfinished: bool, is_requested: bool, posts_count in 0_i64..20,
    ) {
        let account = AccountFeed {
            read_ms: Some(read_ms), daily_read_ms: Some(daily_read_ms), interval_ms, is_unfinished, is_requested,
            ..quiet_account()
        };
        let now_ms = daily_read_ms + DAY_MS + late_ms;
        let profile = ProfileSign::Readable { posts_count: Some(posts_count) };
        prop_assert!(judge_feed_due(&account, profile, now_ms).is_whole_read());
    }
}

const SAME_COUNT: ProfileSign = ProfileSign::Readable { posts_count: Some(7) };

/// An account that was read three hours ago.
fn quiet_account() -> AccountFeed {
    AccountFeed {
        did: "did:plc:alice".parse().unwrap(),
        state: AccountState::Active,
        failures: 0,
        failed_ms: None,
        posts_count: Some(7),
        read_ms: Some(NOW - 3 * HOUR_MS),
        daily_read_ms: Some(NOW),
        interval_ms: DAY_MS,
        is_unfinished: false,
        is_requested: false,
    }
}

fn unavailable_account(failures: u32, failed_ms: i64) -> AccountFeed {
    let state = AccountState::Suspended;
    AccountFeed { state, failures, failed_ms: Some(failed_ms), ..quiet_account() }
}
