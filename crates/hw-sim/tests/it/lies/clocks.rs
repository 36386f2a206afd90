//! The source's clock is wrong, for one answer or for hours.

use hw_rules::time::Mark;
use hw_sim::{ThreadKind, WorldSpec};

use super::{HOUR_MS, MINUTE_MS, edit_comment};
use crate::harness::words::{ALL, issue_ids, one_repository};
use crate::harness::{Judge, Scene, check_comments, check_mirror, on_virtual_time};

const HOUR: i64 = 3_600_000;
const YEAR: i64 = 365 * 24 * HOUR;

#[test]
fn clock_of_one_answer_silences_no_list() {
    for wrong_ms in [10 * YEAR, -10 * YEAR, 3 * HOUR] {
        for request in 0..10 {
            let spec = WorldSpec { comments_per_thread: 3, ..one_repository(5) };
            let scene = Scene::new(&spec, 1);
            on_virtual_time(async {
                scene.pull(&ALL).await.unwrap();
                scene.clock.pass(2 * HOUR_MS).await;
                let mut offsets = vec![0; request];
                offsets.push(wrong_ms);
                scene.world(|github| github.misdate(&offsets));
                edit_comment(&scene, "first edit");
                scene.pull(&ALL).await.unwrap();
                for turn in 0..6 {
                    edit_comment(&scene, &format!("edit {turn}"));
                    scene.clock.pass(5 * HOUR_MS).await;
                    scene.pull(&ALL).await.unwrap();
                    let about = format!("{wrong_ms} ms at request {request}, pull {turn}");
                    assert_eq!(check_comments(&scene, Judge::Everything), Ok(()), "{about}");
                    assert_eq!(check_mirror(&scene, Judge::Everything), Ok(()), "{about}");
                    claims_nothing_of_the_future(&scene, &about);
                }
            });
        }
    }
}

#[test]
fn clock_of_a_text_in_the_future_does_not_keep_later_texts_out() {
    let scene = Scene::new(&WorldSpec { comments_per_thread: 2, ..one_repository(6) }, 2);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.world(|github| github.set_clock_by(10 * YEAR));
        let ids = issue_ids(&scene);
        edit(&scene, &ids, "from the future");
        edit_comment(&scene, "from the future");
        scene.world(|github| github.set_clock_by(-10 * YEAR));
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
        let named = scene.store.future_items().unwrap();
        assert_eq!(named.total, ids.len() + 1, "each issue and a comment: {named}");
        scene.clock.pass(HOUR_MS).await;
        edit(&scene, &ids, "of today");
        edit_comment(&scene, "of today");
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        check_comments(&scene, Judge::Everything).unwrap();
        assert_eq!(scene.store.future_items().unwrap().total, 0);
    });
}

/// A3 of the repairs. The next pull comes soon, or after the source's clock has passed the old watermark.
#[test]
fn clock_that_is_set_back_hides_no_edit() {
    for wait_ms in [10 * MINUTE_MS, 3 * HOUR_MS] {
        let spec = WorldSpec { comments_per_thread: 2, ..one_repository(250) };
        let scene = Scene::new(&spec, 3);
        scene.world(|github| github.set_clock_by(2 * HOUR));
        on_virtual_time(async {
            let ids = issue_ids(&scene);
            edit(&scene, &ids[..3], "by the wrong clock");
            edit_comment(&scene, "by the wrong clock");
            scene.clock.pass(10 * MINUTE_MS).await;
            scene.pull(&ALL).await.unwrap();
            scene.clock.pass(5 * MINUTE_MS).await;
            scene.world(|github| github.set_clock_by(-2 * HOUR));
            for id in &ids {
                edit(&scene, &[*id], "by the right clock");
                scene.clock.pass(4_000).await;
            }
            edit_comment(&scene, "by the right clock");
            scene.clock.pass(wait_ms).await;
            let pulled = scene.pull(&ALL).await.unwrap();
            assert_eq!(pulled.failures, []);
            check_mirror(&scene, Judge::Everything).unwrap();
            check_comments(&scene, Judge::Everything).unwrap();
            claims_nothing_of_the_future(&scene, "after the clock was set back");
            let before = scene.world(|github| github.requests().total);
            scene.clock.pass(10 * MINUTE_MS).await;
            scene.pull(&ALL).await.unwrap();
            let requests = scene.world(|github| github.requests().total) - before;
            assert!(requests < 10, "the next pull is a plain one: {requests} requests");
        });
    }
}

#[test]
fn clock_that_runs_ahead_for_good_is_believed_after_ten_minutes() {
    let scene = Scene::new(&WorldSpec { comments_per_thread: 2, ..one_repository(20) }, 4);
    on_virtual_time(async {
        scene.pull(&ALL).await.unwrap();
        scene.clock.pass(HOUR_MS).await;
        scene.world(|github| github.set_clock_by(5 * HOUR));
        for turn in 0..4 {
            let ids = issue_ids(&scene);
            edit(&scene, &ids[turn..turn + 2], &format!("edit {turn}"));
            edit_comment(&scene, &format!("edit {turn}"));
            scene.clock.pass(7 * MINUTE_MS).await;
            scene.pull(&ALL).await.unwrap();
            check_mirror(&scene, Judge::Everything).unwrap();
            check_comments(&scene, Judge::Everything).unwrap();
        }
        let looked = scene.store.lanes().unwrap();
        let latest = looked.iter().filter_map(|(_, state, _)| state.checked_at_ms).max();
        assert!(latest.unwrap() > scene.now() + 4 * HOUR, "its time is believed by now");
    });
}

/// A tombstone of a time that the source had not reached gives way to what is shown again.
#[test]
fn clock_of_a_tombstone_in_the_future_does_not_keep_a_thread_out() {
    let scene = Scene::new(&one_repository(30), 5);
    on_virtual_time(async {
        scene.world(|github| github.set_clock_by(20 * HOUR));
        scene.pull(&ALL).await.unwrap();
        let author = scene.world(|github| {
            let truth = github.world().truth();
            truth.of_kind(ThreadKind::Issue).find_map(|it| it.author.clone()).unwrap()
        });
        scene.clock.pass(HOUR_MS).await;
        let now = scene.now();
        scene.world(|github| github.world_mut().hide_author(&author, now));
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
        scene.world(|github| github.set_clock_by(-20 * HOUR));
        let now = scene.now();
        scene.world(|github| github.world_mut().show_author(now));
        scene.clock.pass(HOUR_MS).await;
        scene.pull(&ALL).await.unwrap();
        check_mirror(&scene, Judge::Everything).unwrap();
    });
}

fn edit(scene: &Scene, ids: &[i64], body: &str) {
    let now = scene.now();
    for id in ids {
        scene.world(|github| github.world_mut().edit_issue(*id, None, Some(body), now));
    }
}

fn claims_nothing_of_the_future(scene: &Scene, about: &str) {
    let latest = Mark(scene.now() + 60_000);
    for (lane, state, _) in scene.store.lanes().unwrap() {
        let marks = state.coverage.through.into_iter().chain(state.checked_at_ms.map(Mark));
        for mark in marks {
            assert!(mark <= latest, "{about}: {lane} claims {mark}");
        }
    }
}
