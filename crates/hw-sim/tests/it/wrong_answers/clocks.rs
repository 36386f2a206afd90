//! Wrong clocks of the source, for one answer or for hours.

use hw_rules::source_time::SourceInstant;
use hw_sim::{ThreadKind, WorldSpec};

use super::{HOUR_MS, MINUTE_MS, edit_any_comment};
use crate::harness::shortcuts::{FULL_PULL, issue_ids, one_repository};
use crate::harness::{CheckLevel, SimFixture, check_comments, check_mirror, on_virtual_time};

const HOUR_OFFSET_MS: i64 = 3_600_000;
const YEAR_OFFSET_MS: i64 = 365 * 24 * HOUR_OFFSET_MS;

#[test]
fn clock_wrong_in_one_answer_silences_no_list() {
    for wrong_ms in [10 * YEAR_OFFSET_MS, -10 * YEAR_OFFSET_MS, 3 * HOUR_OFFSET_MS] {
        for request in 0..10 {
            let spec = WorldSpec { comments_per_thread: 3, ..one_repository(5) };
            let fixture = SimFixture::new(&spec, 1);
            on_virtual_time(async {
                fixture.pull(&FULL_PULL).await.unwrap();
                fixture.clock.advance_by(2 * HOUR_MS).await;
                let mut offsets = vec![0; request];
                offsets.push(wrong_ms);
                fixture.with_github(|github| github.offset_next_dates(&offsets));
                edit_any_comment(&fixture, "first edit");
                fixture.pull(&FULL_PULL).await.unwrap();
                for turn in 0..6 {
                    edit_any_comment(&fixture, &format!("edit {turn}"));
                    fixture.clock.advance_by(5 * HOUR_MS).await;
                    fixture.pull(&FULL_PULL).await.unwrap();
                    let about = format!("{wrong_ms} ms at request {request}, pull {turn}");
                    assert_eq!(check_comments(&fixture, CheckLevel::Everything), Ok(()), "{about}");
                    assert_eq!(check_mirror(&fixture, CheckLevel::Everything), Ok(()), "{about}");
                    check_no_future_claims(&fixture, &about);
                }
            });
        }
    }
}

#[test]
fn clock_of_a_future_text_does_not_block_later_texts() {
    let fixture = SimFixture::new(&WorldSpec { comments_per_thread: 2, ..one_repository(6) }, 2);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.with_github(|github| github.shift_clock(10 * YEAR_OFFSET_MS));
        let ids = issue_ids(&fixture);
        edit_issues(&fixture, &ids, "from the future");
        edit_any_comment(&fixture, "from the future");
        fixture.with_github(|github| github.shift_clock(-10 * YEAR_OFFSET_MS));
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        let future = fixture.store.future_items().unwrap();
        assert_eq!(future.total, ids.len() + 1, "each issue and a comment: {future}");
        fixture.clock.advance_by(HOUR_MS).await;
        edit_issues(&fixture, &ids, "of today");
        edit_any_comment(&fixture, "of today");
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.future_items().unwrap().total, 0);
    });
}

/// The next pull comes soon, or after the source's clock has passed the old watermark.
#[test]
fn clock_that_is_set_back_hides_no_edit() {
    for wait_ms in [10 * MINUTE_MS, 3 * HOUR_MS] {
        let spec = WorldSpec { comments_per_thread: 2, ..one_repository(250) };
        let fixture = SimFixture::new(&spec, 3);
        fixture.with_github(|github| github.shift_clock(2 * HOUR_OFFSET_MS));
        on_virtual_time(async {
            let ids = issue_ids(&fixture);
            edit_issues(&fixture, &ids[..3], "by the wrong clock");
            edit_any_comment(&fixture, "by the wrong clock");
            fixture.clock.advance_by(10 * MINUTE_MS).await;
            fixture.pull(&FULL_PULL).await.unwrap();
            fixture.clock.advance_by(5 * MINUTE_MS).await;
            fixture.with_github(|github| github.shift_clock(-2 * HOUR_OFFSET_MS));
            for id in &ids {
                edit_issues(&fixture, &[*id], "by the right clock");
                fixture.clock.advance_by(4_000).await;
            }
            edit_any_comment(&fixture, "by the right clock");
            fixture.clock.advance_by(wait_ms).await;
            let pulled = fixture.pull(&FULL_PULL).await.unwrap();
            assert_eq!(pulled.failures, []);
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            check_comments(&fixture, CheckLevel::Everything).unwrap();
            check_no_future_claims(&fixture, "after the clock was set back");
            let before = fixture.with_github(|github| github.request_log().total);
            fixture.clock.advance_by(10 * MINUTE_MS).await;
            fixture.pull(&FULL_PULL).await.unwrap();
            let requests = fixture.with_github(|github| github.request_log().total) - before;
            assert!(requests < 10, "the next pull is a plain one: {requests} requests");
        });
    }
}

#[test]
fn clock_that_runs_ahead_for_good_is_believed_after_ten_minutes() {
    let fixture = SimFixture::new(&WorldSpec { comments_per_thread: 2, ..one_repository(20) }, 4);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.with_github(|github| github.shift_clock(5 * HOUR_OFFSET_MS));
        for turn in 0..4 {
            let ids = issue_ids(&fixture);
            edit_issues(&fixture, &ids[turn..turn + 2], &format!("edit {turn}"));
            edit_any_comment(&fixture, &format!("edit {turn}"));
            fixture.clock.advance_by(7 * MINUTE_MS).await;
            fixture.pull(&FULL_PULL).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            check_comments(&fixture, CheckLevel::Everything).unwrap();
        }
        let lanes = fixture.store.lanes().unwrap();
        let latest = lanes.iter().filter_map(|(_, state, _)| state.checked_at_ms).max();
        assert!(
            latest.unwrap() > fixture.world_now_ms() + 4 * HOUR_OFFSET_MS,
            "its time is now believed"
        );
    });
}

/// A tombstone dated in the source's future gives way to a thread that is listed again.
#[test]
fn clock_of_a_future_tombstone_does_not_block_a_thread() {
    let fixture = SimFixture::new(&one_repository(30), 5);
    on_virtual_time(async {
        fixture.with_github(|github| github.shift_clock(20 * HOUR_OFFSET_MS));
        fixture.pull(&FULL_PULL).await.unwrap();
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
        fixture.pull(&FULL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        fixture.with_github(|github| github.shift_clock(-20 * HOUR_OFFSET_MS));
        let now = fixture.world_now_ms();
        fixture.with_github(|github| github.world_mut().show_author(now));
        fixture.clock.advance_by(HOUR_MS).await;
        fixture.pull(&FULL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

fn edit_issues(fixture: &SimFixture, ids: &[i64], body: &str) {
    let now = fixture.world_now_ms();
    for id in ids {
        fixture.with_github(|github| github.world_mut().edit_issue(*id, None, Some(body), now));
    }
}

fn check_no_future_claims(fixture: &SimFixture, about: &str) {
    let latest = SourceInstant(fixture.world_now_ms() + 60_000);
    for (lane, state, _) in fixture.store.lanes().unwrap() {
        let times =
            state.coverage.through.into_iter().chain(state.checked_at_ms.map(SourceInstant));
        for time in times {
            assert!(time <= latest, "{about}: {lane} claims {time}");
        }
    }
}
