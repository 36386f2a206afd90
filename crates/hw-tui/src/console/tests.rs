//! Pictures of the console, as text.

use std::collections::BTreeSet;

use hw_rules::lane::{Choice, Surface};
use hw_rules::news::{LanesToRead, News};
use ratatui::buffer::Buffer;

use super::*;
use crate::words::width;

/// 21:37:54.
pub(super) const START_MS: i64 = 77_874_000;
const MINUTE_MS: i64 = 60_000;

#[test]
fn at_the_beginning_everything_is_pending() {
    let state = State::new(&Choice::USUAL.into(), START_MS);
    let expected = "\
┌─ highwater 🧠 pull ──────────────────────────────────────────┐
│                                                              │
│  ⚪ Repositories                                             │
│  ⚪ Discussions                                              │
│  ⚪ Issues                                                   │
│  ⚪ Pull Requests                                            │
│                                                              │
│  📊 API Status    ✅ 0   ⚠️ 0   ❌ 0                         │
│  🚀 Rate Limit    ? / ? used, resets ?                       │
│                                                              │
│  💬 Activity                                                 │
│     21:37:54 Starting GitHub data synchronization...         │
│                                                              │
│                                                              │
│                                                              │
│                                                              │
│                                                              │
└──────────────────────────────────────────────────────────────┘
";
    assert_eq!(shown(&state, 64, START_MS), expected);
}

#[test]
fn what_is_not_pulled_is_muted() {
    let state = State::new(&BTreeSet::from([Choice::Repositories]), START_MS);
    let expected = "\
│  ⚪ Repositories                                             │
│  🔕 Discussions                                              │
│  🔕 Issues                                                   │
│  🔕 Pull Requests                                            │
";
    let picture = shown(&state, 64, START_MS);
    assert_eq!(lines(&picture, 2..6), expected);
    assert!(picture.contains("│     21:37:54 Starting selective sync...  "), "{picture}");
    let painted = paint(&drawn(&state, 64, START_MS), 18, Paint::Colours);
    assert!(painted[3].contains("\u{1b}[0;2;90m  \u{1b}[2X🔕"), "{:?}", painted[3]);
    assert!(!painted[2].contains(";2;90m"), "{:?}", painted[2]);
}

#[test]
fn during_the_first_item_the_wheel_and_the_count_are_shown() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    let expected = "\
┌─ highwater 🧠 pull ──────────────────────────────────────────────────────────┐
│                                                                              │
│  🔄 Repositories: 1,247                                                      │
│  ⚪ Discussions                                                              │
│  ⚪ Issues                                                                   │
│  ⚪ Pull Requests                                                            │
│                                                                              │
│  📊 API Status    ✅ 120   ⚠️ 1   ❌ 0                                       │
│  🚀 Rate Limit    1000/5000 used, resets in 2h 15m                           │
│                                                                              │
│  💬 Activity                                                                 │
│     21:37:55 Fetching page 12 of repositories                                │
│     21:37:56 ⚠️ the server answered 502                                      │
│     21:37:56 🔄 Retrying in 30 seconds...                                    │
│     21:37:57 Rate limit: 80% remaining                                       │
│     21:37:58 The token speaks for anchor                                     │
│                                                                              │
└──────────────────────────────────────────────────────────────────────────────┘
";
    assert_eq!(shown(&state, 80, START_MS + 4_000), expected);
}

#[test]
fn when_the_first_item_completes_the_wheel_moves_on() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    first_item_complete(&mut state);
    let expected = "\
┌─ highwater 🧠 pull ──────────────────────────────────────────┐
│                                                              │
│  ✅ Repositories: 2,847                                      │
│  🔄 Discussions: 156                                         │
│  ⚪ Issues                                                   │
│  ⚪ Pull Requests                                            │
│                                                              │
│  📊 API Status    ✅ 120   ⚠️ 1   ❌ 0                       │
│  🚀 Rate Limit    1000/5000 used, resets in 2h 14m           │
│                                                              │
│  💬 Activity                                                 │
│     21:38:54 ✅ Repositories completed (2,847 synced)        │
│     21:38:55 🔄 Starting discussions sync...                 │
│     21:38:55 Fetching discussions from repo-1                │
│     21:38:56 Saved 23 discussions to database                │
│     21:38:57 Fetching page 2 of discussions from repo-1      │
│                                                              │
└──────────────────────────────────────────────────────────────┘
";
    assert_eq!(shown(&state, 64, START_MS + MINUTE_MS + 4_000), expected);
}

#[test]
fn plain_lines_have_no_colour() {
    let state = State::new(&Choice::USUAL.into(), START_MS);
    let painted = paint(&drawn(&state, 64, START_MS), 18, Paint::Colours);
    assert!(painted[11].starts_with("\u{1b}[0;96m│\u{1b}[0m     21:37:54"), "{:?}", painted[11]);
    assert!(painted[11].ends_with(" \u{1b}[0;96m│\u{1b}[0m"), "{:?}", painted[11]);
}

#[test]
fn errors_are_counted_and_red() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    first_item_complete(&mut state);
    for name in ["pump", "valve", "crank"] {
        let scope = format!("acme/{name} discussions");
        let message = "not there, or hidden from this token".to_owned();
        let failed = News::Failed { surface: Surface::Discussions, scope, message };
        state.hear(failed, START_MS + 2 * MINUTE_MS);
    }
    let picture = shown(&state, 64, START_MS + 2 * MINUTE_MS);
    assert!(picture.contains("│  ❌ Discussions: 156 (3 errors)   "), "{picture}");
    assert!(picture.contains("   ❌ 3   "), "{picture}");
    let line = "│     21:39:54 ❌ acme/crank discussions: not there, or hid... │";
    assert!(picture.contains(line), "{picture}");
    let painted = paint(&drawn(&state, 64, START_MS), 18, Paint::Colours);
    assert!(painted[3].contains("\u{1b}[0;31m"), "{:?}", painted[3]);
    assert!(painted[15].contains("\u{1b}[0;31m"), "{:?}", painted[15]);
}

#[test]
fn at_the_end_all_is_done() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    first_item_complete(&mut state);
    state.end(&Ending::Done, START_MS + 3 * MINUTE_MS);
    let expected = "\
│  ✅ Repositories: 2,847                                      │
│  ✅ Discussions: 156                                         │
│  ✅ Issues: 0                                                │
│  ✅ Pull Requests: 0                                         │
";
    let picture = shown(&state, 64, START_MS + 3 * MINUTE_MS);
    assert_eq!(lines(&picture, 2..6), expected);
    assert!(picture.contains("21:40:54 ✅ Synchronization completed"), "{picture}");
    let painted = paint(&drawn(&state, 64, START_MS), 18, Paint::Colours);
    assert!(painted[2].contains("\u{1b}[0;32m"), "{:?}", painted[2]);
}

#[test]
fn what_was_under_way_when_a_pull_could_not_go_on_has_failed() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    first_item_complete(&mut state);
    state.end(&Ending::Failed("the token was refused".to_owned()), START_MS + 3 * MINUTE_MS);
    let expected = "\
│  ✅ Repositories: 2,847                                      │
│  ❌ Discussions: 156                                         │
│  ⚪ Issues                                                   │
│  ⚪ Pull Requests                                            │
│                                                              │
│  📊 API Status    ✅ 120   ⚠️ 1   ❌ 1                       │
";
    let picture = shown(&state, 64, START_MS + 3 * MINUTE_MS);
    assert_eq!(lines(&picture, 2..8), expected);
    assert!(picture.contains("21:40:54 ❌ the token was refused"), "{picture}");
}

#[test]
fn a_wait_is_shown_for_as_long_as_it_lasts() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    let until_ms = START_MS + MINUTE_MS;
    state.hear(News::Paused { why: "secondary limit".to_owned(), until_ms }, START_MS);
    let row = |now_ms| lines(&shown(&state, 64, now_ms), 8..9);
    let waiting = row(START_MS + 40_000);
    assert!(waiting.contains("1000/5000 used, resets in 2h 15m; wait 20s "), "{waiting}");
    assert!(!row(until_ms).contains("; wait"), "it is over");
}

#[test]
fn several_items_can_be_under_way_at_once() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    for surface in Surface::THREADS {
        state.hear(moved(surface, 1), START_MS);
        state.hear(asking(surface, "acme/pump", 1), START_MS);
    }
    state.hear(read(Surface::Issues), START_MS);
    let picture = shown(&state, 64, START_MS);
    for line in ["🔄 Discussions: 0 ", "✅ Issues: 0 ", "🔄 Pull Requests: 0 "] {
        assert!(picture.contains(line), "{picture}");
    }
}

#[test]
fn a_listing_that_nobody_needs_to_read_is_complete() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    state.hear(moved(Surface::Issues, 0), START_MS);
    let picture = shown(&state, 64, START_MS);
    assert!(picture.contains("✅ Issues completed (0 synced)"), "{picture}");
}

#[test]
fn a_fifth_item_has_a_row_of_its_own() {
    let mut state = State::new(&Choice::ALL.into(), START_MS);
    let picture = shown(&state, 64, START_MS);
    assert_eq!(picture.lines().count(), 19);
    assert!(picture.contains("│  ⚪ Comments   "), "{picture}");
    assert_framed(&state, 64);
    for surface in Surface::COMMENTS {
        state.hear(moved(surface, 1), START_MS);
        state.hear(News::Kept { surface, page: 1, seen: 7, stored: 7 }, START_MS);
    }
    let picture = shown(&state, 64, START_MS);
    assert!(picture.contains("Comments: 28"), "the sorts of comments share it: {picture}");
}

#[test]
fn the_frame_keeps_its_shape_whatever_the_content() {
    let long = "x".repeat(500);
    for hostile in [
        "\u{1b}[2J\u{1b}[H\u{1b}]0;owned\u{7}",
        "\u{202e}gnp.exe\u{2066}",
        "日本語の長い題名はどこまでも続いていく日本語の長い題名はどこまでも続いていく",
        "👩\u{200d}👩\u{200d}👧‍👦🏳\u{fe0f}\u{200d}🌈 ⚠\u{fe0f}⚠\u{fe0f}⚠\u{fe0f} ❤\u{fe0f} 🇩🇪🇫🇷",
        "line\r\nbreak\ttab\u{8}\u{8}\u{8}",
        "e\u{301}\u{301}\u{301}\u{301} Z\u{33f}\u{489}",
        "نص عربي طويل جدا",
        &long,
    ] {
        let mut state = State::new(&Choice::USUAL.into(), START_MS);
        state.hear(News::Viewer(hostile.to_owned()), START_MS);
        state.hear(asking(Surface::Issues, hostile, 3), START_MS);
        let (scope, message) = (hostile.to_owned(), hostile.to_owned());
        state.hear(News::Failed { surface: Surface::Issues, scope, message }, START_MS);
        state.log(Tone::Plain, hostile, START_MS);
        for columns in [64, 65, 80, 160] {
            assert_framed(&state, columns);
        }
        let escapes = paint(&drawn(&state, 64, START_MS), 18, Paint::Colours).concat();
        assert!(!escapes.contains("[2J\u{1b}[H") && !escapes.contains('\u{7}'), "{escapes:?}");
        assert!(!escapes.contains(['\u{202e}', '\u{8}', '\r', '\n', '\t']), "{escapes:?}");
    }
}

#[test]
fn any_width_can_be_drawn() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    for columns in 0..200 {
        let rows = paint(&drawn(&state, columns, START_MS), 18, Paint::NoColours);
        assert_eq!(rows.len(), 18, "{columns}");
        if 12 <= columns {
            assert_framed(&state, columns);
        }
    }
}

#[test]
fn without_colours_there_are_none() {
    let state = State::new(&BTreeSet::from([Choice::Issues]), START_MS);
    let painted = paint(&drawn(&state, 64, START_MS), 18, Paint::NoColours).concat();
    let looks = painted.split("\u{1b}[0").skip(1).map(|rest| rest.split('m').next().unwrap());
    assert_eq!(looks.collect::<BTreeSet<_>>(), BTreeSet::from(["", ";1", ";2"]));
}

#[test]
fn a_row_names_the_column_after_whatever_terminals_disagree_about() {
    let state = State::new(&Choice::USUAL.into(), START_MS);
    let rows = paint(&drawn(&state, 64, START_MS), 18, Paint::NoColours);
    assert!(rows[7].contains("\u{1b}[2X⚠\u{fe0f}\u{1b}[30G"), "{:?}", rows[7]);
    assert!(rows[7].ends_with("│\u{1b}[0m"), "{:?}", rows[7]);
}

#[test]
fn one_limit_is_told_once_and_its_retries_are_counted() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    for _ in 0..3 {
        let why = "secondary limit".to_owned();
        let until_ms = START_MS + MINUTE_MS;
        state.hear(News::Paused { why: why.clone(), until_ms }, START_MS);
        state.hear(News::Retried { why, wait_ms: 0 }, START_MS);
    }
    let picture = shown(&state, 64, START_MS);
    assert_eq!(picture.matches("⚠️ API limit: secondary limit").count(), 1, "{picture}");
    assert!(picture.contains("21:37:54 🔄 Waiting 60s...") && picture.contains("⚠️ 3 "));
}

#[test]
fn forgetting_is_told() {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    state.hear(News::Clearing { surface: Surface::PullRequests }, START_MS);
    let picture = shown(&state, 64, START_MS);
    assert!(picture.contains("21:37:54 Clearing existing pull requests..."), "{picture}");
}

pub(super) fn first_item_under_way(state: &mut State) {
    let at = |second: i64| START_MS + second * 1_000;
    (0..120).for_each(|_| state.hear(News::Answered, at(0)));
    state.hear(asking(Surface::Repositories, "acme", 11), at(0));
    state.hear(News::Listed { repositories: 1_247, is_all: false }, at(1));
    state.hear(asking(Surface::Repositories, "acme", 12), at(1));
    let why = "the server answered 502".to_owned();
    state.hear(News::Retried { why, wait_ms: 30_000 }, at(2));
    let resets_in_ms = 135 * MINUTE_MS;
    state.hear(News::Budget { used: 1_000, limit: 5_000, resets_in_ms }, at(3));
    state.hear(News::Viewer("anchor".to_owned()), at(4));
}

pub(super) fn first_item_complete(state: &mut State) {
    let at = |second: i64| START_MS + MINUTE_MS + second * 1_000;
    state.hear(News::Listed { repositories: 2_847, is_all: true }, at(0));
    let surface = Surface::Discussions;
    state.hear(moved(surface, 3), at(1));
    state.hear(asking(surface, "acme/repo-1", 1), at(1));
    state.hear(News::Kept { surface, page: 1, seen: 156, stored: 23 }, at(2));
    state.hear(asking(surface, "acme/repo-1", 2), at(3));
}

fn asking(surface: Surface, scope: &str, page: u64) -> News {
    News::Asking { surface, scope: scope.to_owned(), page }
}

fn moved(surface: Surface, lanes: u64) -> News {
    News::Moved { lanes: [(surface.choice(), LanesToRead { lanes, expected: None })].into() }
}

fn read(surface: Surface) -> News {
    News::Read { surface, scope: "acme/pump".to_owned() }
}

pub(super) fn drawn(state: &State, columns: u16, now_ms: i64) -> Buffer {
    draw(state, columns, now_ms, &time_of_day)
}

fn time_of_day(ms: i64) -> String {
    let seconds = ms / 1_000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// The picture: what stands in each cell, and nothing for the second half of a wide one.
fn shown(state: &State, columns: u16, now_ms: i64) -> String {
    let buffer = drawn(state, columns, now_ms);
    let mut picture = String::new();
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < columns {
            let symbol = buffer[(x, y)].symbol();
            picture.push_str(symbol);
            x += u16::try_from(width(symbol)).unwrap().max(1);
        }
        picture.push('\n');
    }
    picture
}

fn lines(picture: &str, range: std::ops::Range<usize>) -> String {
    picture.split_inclusive('\n').skip(range.start).take(range.len()).collect()
}

/// Every row begins and ends with a border, and has the frame's width.
fn assert_framed(state: &State, columns: u16) {
    let picture = shown(state, columns, START_MS);
    for line in picture.lines() {
        assert!(line.starts_with(['┌', '│', '└']) && line.ends_with(['┐', '│', '┘']), "{picture}");
    }
    let buffer = drawn(state, columns, START_MS);
    for y in 1..buffer.area.height - 1 {
        assert_eq!(buffer[(columns - 1, y)].symbol(), "│", "{picture}");
        assert_eq!(buffer[(columns - 2, y)].symbol(), " ", "{picture}");
    }
}
