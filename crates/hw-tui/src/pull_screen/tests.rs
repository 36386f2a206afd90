//! Compares drawn screens with text.

use std::collections::BTreeSet;

use hw_rules::item::ThreadKind;
use hw_rules::lane::{PullItem, Surface};
use hw_rules::progress_event::{LanesToRead, ProgressEvent};
use ratatui::buffer::Buffer;

use super::*;
use crate::text_width::display_width;

/// The start of each pull: 21:37:54.
pub(super) const START_MS: i64 = 77_874_000;
const MINUTE_MS: i64 = 60_000;

#[test]
fn screen_starts_with_pending_items() {
    let state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
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
    assert_eq!(frame_text(&state, 64, START_MS), expected);
}

#[test]
fn screen_mutes_skipped_items() {
    let state = ScreenState::new(&BTreeSet::from([PullItem::Repositories]), START_MS);
    let expected = "\
│  ⚪ Repositories                                             │
│  🔕 Discussions                                              │
│  🔕 Issues                                                   │
│  🔕 Pull Requests                                            │
";
    let screen = frame_text(&state, 64, START_MS);
    assert_eq!(line_range(&screen, 2..6), expected);
    assert!(screen.contains("│     21:37:54 Starting selective sync...  "), "{screen}");
    let encoded = encode_rows(&draw_at(&state, 64, START_MS), 18, ColorMode::Colors);
    assert!(encoded[3].contains("\u{1b}[0;2;90m  \u{1b}[2X🔕"), "{:?}", encoded[3]);
    assert!(!encoded[2].contains(";2;90m"), "{:?}", encoded[2]);
}

#[test]
fn screen_shows_the_spinner_and_the_count_of_an_active_item() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
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
│     21:37:58 Signed in as anchor                                             │
│                                                                              │
└──────────────────────────────────────────────────────────────────────────────┘
";
    assert_eq!(frame_text(&state, 80, START_MS + 4_000), expected);
}

#[test]
fn screen_moves_the_spinner_when_an_item_completes() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
    complete_first_item(&mut state);
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
    assert_eq!(frame_text(&state, 64, START_MS + MINUTE_MS + 4_000), expected);
}

#[test]
fn row_of_plain_text_has_no_color() {
    let state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    let encoded = encode_rows(&draw_at(&state, 64, START_MS), 18, ColorMode::Colors);
    assert!(encoded[11].starts_with("\u{1b}[0;96m│\u{1b}[0m     21:37:54"), "{:?}", encoded[11]);
    assert!(encoded[11].ends_with(" \u{1b}[0;96m│\u{1b}[0m"), "{:?}", encoded[11]);
}

#[test]
fn screen_counts_errors_in_red() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
    complete_first_item(&mut state);
    for name in ["pump", "valve", "crank"] {
        let scope = format!("acme/{name} discussions");
        let message = "not found, or this token has no access".to_owned();
        let failed = ProgressEvent::LaneFailed {
            surface: Surface::Threads(ThreadKind::Discussion),
            scope,
            message,
        };
        state.apply(failed, START_MS + 2 * MINUTE_MS);
    }
    let screen = frame_text(&state, 64, START_MS + 2 * MINUTE_MS);
    assert!(screen.contains("│  ❌ Discussions: 156 (3 errors)   "), "{screen}");
    assert!(screen.contains("   ❌ 3   "), "{screen}");
    let line = "│     21:39:54 ❌ acme/crank discussions: not found, or thi... │";
    assert!(screen.contains(line), "{screen}");
    let encoded = encode_rows(&draw_at(&state, 64, START_MS), 18, ColorMode::Colors);
    assert!(encoded[3].contains("\u{1b}[0;31m"), "{:?}", encoded[3]);
    assert!(encoded[15].contains("\u{1b}[0;31m"), "{:?}", encoded[15]);
}

#[test]
fn screen_ends_with_completed_items() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
    complete_first_item(&mut state);
    state.finish_pull(&PullEnding::Completed, START_MS + 3 * MINUTE_MS);
    let expected = "\
│  ✅ Repositories: 2,847                                      │
│  ✅ Discussions: 156                                         │
│  ✅ Issues: 0                                                │
│  ✅ Pull Requests: 0                                         │
";
    let screen = frame_text(&state, 64, START_MS + 3 * MINUTE_MS);
    assert_eq!(line_range(&screen, 2..6), expected);
    assert!(screen.contains("21:40:54 ✅ Synchronization completed"), "{screen}");
    let encoded = encode_rows(&draw_at(&state, 64, START_MS), 18, ColorMode::Colors);
    assert!(encoded[2].contains("\u{1b}[0;32m"), "{:?}", encoded[2]);
}

#[test]
fn screen_marks_active_items_as_failed_when_the_pull_fails() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
    complete_first_item(&mut state);
    state.finish_pull(
        &PullEnding::Failed("the token was refused".to_owned()),
        START_MS + 3 * MINUTE_MS,
    );
    let expected = "\
│  ✅ Repositories: 2,847                                      │
│  ❌ Discussions: 156                                         │
│  ⚪ Issues                                                   │
│  ⚪ Pull Requests                                            │
│                                                              │
│  📊 API Status    ✅ 120   ⚠️ 1   ❌ 1                       │
";
    let screen = frame_text(&state, 64, START_MS + 3 * MINUTE_MS);
    assert_eq!(line_range(&screen, 2..8), expected);
    assert!(screen.contains("21:40:54 ❌ the token was refused"), "{screen}");
}

#[test]
fn screen_shows_a_wait_while_it_lasts() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
    let until_ms = START_MS + MINUTE_MS;
    state.apply(
        ProgressEvent::RequestsPaused {
            reason: "secondary limit".to_owned(),
            until_ms,
            resumes_slowly: true,
        },
        START_MS,
    );
    let waiting = line_range(&frame_text(&state, 64, START_MS + 40_000), 8..9);
    assert!(waiting.contains("1000/5000 used, resets in 2h 15m; wait 20s "), "{waiting}");
    let over = line_range(&frame_text(&state, 64, until_ms), 8..9);
    assert!(!over.contains("; wait"), "{over}");
}

#[test]
fn screen_shows_several_active_items() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    for surface in Surface::THREADS {
        state.apply(moved_event(surface, 1), START_MS);
        state.apply(request_event(surface, "acme/pump", 1), START_MS);
    }
    state.apply(read_event(Surface::Threads(ThreadKind::Issue)), START_MS);
    let screen = frame_text(&state, 64, START_MS);
    for line in ["🔄 Discussions: 0 ", "✅ Issues: 0 ", "🔄 Pull Requests: 0 "] {
        assert!(screen.contains(line), "{screen}");
    }
}

#[test]
fn screen_completes_an_item_without_lanes_to_read() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    state.apply(moved_event(Surface::Threads(ThreadKind::Issue), 0), START_MS);
    let screen = frame_text(&state, 64, START_MS);
    assert!(screen.contains("✅ Issues completed (0 synced)"), "{screen}");
}

#[test]
fn screen_adds_a_row_for_comments() {
    let mut state = ScreenState::new(&PullItem::ALL.into(), START_MS);
    let screen = frame_text(&state, 64, START_MS);
    assert_eq!(screen.lines().count(), 19);
    assert!(screen.contains("│  ⚪ Comments   "), "{screen}");
    assert_has_frame(&state, 64);
    for surface in Surface::COMMENTS {
        state.apply(moved_event(surface, 1), START_MS);
        state.apply(
            ProgressEvent::PageStored { surface, page: 1, observed: 7, stored: 7 },
            START_MS,
        );
    }
    let screen = frame_text(&state, 64, START_MS);
    assert!(screen.contains("Comments: 28"), "all kinds of comments share the row: {screen}");
}

#[test]
fn frame_keeps_its_shape_with_any_content() {
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
        let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
        state.apply(ProgressEvent::ViewerIdentified(hostile.to_owned()), START_MS);
        state.apply(request_event(Surface::Threads(ThreadKind::Issue), hostile, 3), START_MS);
        let (scope, message) = (hostile.to_owned(), hostile.to_owned());
        state.apply(
            ProgressEvent::LaneFailed {
                surface: Surface::Threads(ThreadKind::Issue),
                scope,
                message,
            },
            START_MS,
        );
        state.add_log_line(MessageTone::Plain, hostile, START_MS);
        for columns in [64, 65, 80, 160] {
            assert_has_frame(&state, columns);
        }
        let escapes = encode_rows(&draw_at(&state, 64, START_MS), 18, ColorMode::Colors).concat();
        assert!(!escapes.contains("[2J\u{1b}[H") && !escapes.contains('\u{7}'), "{escapes:?}");
        assert!(!escapes.contains(['\u{202e}', '\u{8}', '\r', '\n', '\t']), "{escapes:?}");
    }
}

#[test]
fn frame_can_be_drawn_at_any_width() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
    for columns in 0..200 {
        let rows = encode_rows(&draw_at(&state, columns, START_MS), 18, ColorMode::NoColors);
        assert_eq!(rows.len(), 18, "{columns}");
        if columns >= 12 {
            assert_has_frame(&state, columns);
        }
    }
}

#[test]
fn rows_without_colors_have_only_bold_and_dim() {
    let state = ScreenState::new(&BTreeSet::from([PullItem::Issues]), START_MS);
    let encoded = encode_rows(&draw_at(&state, 64, START_MS), 18, ColorMode::NoColors).concat();
    let styles = encoded.split("\u{1b}[0").skip(1).map(|rest| rest.split('m').next().unwrap());
    assert_eq!(styles.collect::<BTreeSet<_>>(), BTreeSet::from(["", ";1", ";2"]));
}

#[test]
fn row_sets_the_column_after_characters_of_disputed_width() {
    let state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    let rows = encode_rows(&draw_at(&state, 64, START_MS), 18, ColorMode::NoColors);
    assert!(rows[7].contains("\u{1b}[2X⚠\u{fe0f}\u{1b}[30G"), "{:?}", rows[7]);
    assert!(rows[7].ends_with("│\u{1b}[0m"), "{:?}", rows[7]);
}

#[test]
fn screen_reports_a_limit_once_and_counts_its_retries() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    for _ in 0..3 {
        let reason = "secondary limit".to_owned();
        let until_ms = START_MS + MINUTE_MS;
        state.apply(
            ProgressEvent::RequestsPaused {
                reason: reason.clone(),
                until_ms,
                resumes_slowly: true,
            },
            START_MS,
        );
        state.apply(ProgressEvent::RetryScheduled { reason, wait_ms: 0 }, START_MS);
    }
    let screen = frame_text(&state, 64, START_MS);
    assert_eq!(screen.matches("⚠️ API limit: secondary limit").count(), 1, "{screen}");
    assert!(screen.contains("21:37:54 🔄 Waiting 60s...") && screen.contains("⚠️ 3 "));
}

#[test]
fn screen_reports_clearing() {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    state.apply(
        ProgressEvent::ClearingSurface { surface: Surface::Threads(ThreadKind::PullRequest) },
        START_MS,
    );
    let screen = frame_text(&state, 64, START_MS);
    assert!(screen.contains("21:37:54 Clearing existing pull requests..."), "{screen}");
}

#[test]
fn screen_reports_the_pull_of_another_process() {
    let worker = || "process 7 on vm".to_owned();
    for (event, message) in [
        (
            ProgressEvent::FollowingPull { worker: worker() },
            "process 7 on vm is already pulling; following it",
        ),
        (
            ProgressEvent::WaitingForPull { worker: worker() },
            "process 7 on vm is pulling with other options; waiting for it",
        ),
        (
            ProgressEvent::WaitingForPoll { worker: worker() },
            "process 7 on vm is polling; waiting for it",
        ),
        (
            ProgressEvent::TakingOverPull { worker: worker() },
            "process 7 on vm ended unexpectedly; taking over",
        ),
    ] {
        let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
        state.apply(event, START_MS);
        let screen = frame_text(&state, 100, START_MS);
        assert!(screen.contains(&format!("21:37:54 {message}")), "{screen}");
    }
}

pub(super) fn start_first_item(state: &mut ScreenState) {
    (0..120).for_each(|_| state.apply(ProgressEvent::ResponseReceived, at_second(0)));
    state.apply(request_event(Surface::Repositories, "acme", 11), at_second(0));
    state.apply(
        ProgressEvent::RepositoriesListed { repositories: 1_247, is_all: false },
        at_second(1),
    );
    state.apply(request_event(Surface::Repositories, "acme", 12), at_second(1));
    let reason = "the server answered 502".to_owned();
    state.apply(ProgressEvent::RetryScheduled { reason, wait_ms: 30_000 }, at_second(2));
    let resets_in_ms = 135 * MINUTE_MS;
    state.apply(
        ProgressEvent::BudgetReported { used: 1_000, limit: 5_000, resets_in_ms },
        at_second(3),
    );
    state.apply(ProgressEvent::ViewerIdentified("anchor".to_owned()), at_second(4));
}

pub(super) fn complete_first_item(state: &mut ScreenState) {
    state.apply(
        ProgressEvent::RepositoriesListed { repositories: 2_847, is_all: true },
        at_second(60),
    );
    let surface = Surface::Threads(ThreadKind::Discussion);
    state.apply(moved_event(surface, 3), at_second(61));
    state.apply(request_event(surface, "acme/repo-1", 1), at_second(61));
    state.apply(
        ProgressEvent::PageStored { surface, page: 1, observed: 156, stored: 23 },
        at_second(62),
    );
    state.apply(request_event(surface, "acme/repo-1", 2), at_second(63));
}

fn at_second(second: i64) -> i64 {
    START_MS + second * 1_000
}

fn request_event(surface: Surface, scope: &str, page: u64) -> ProgressEvent {
    ProgressEvent::RequestingPage { surface, scope: scope.to_owned(), page }
}

fn moved_event(surface: Surface, lanes: u64) -> ProgressEvent {
    ProgressEvent::LanesMoved {
        lanes: [(surface.pull_item(), LanesToRead { lanes, expected: None })].into(),
    }
}

fn read_event(surface: Surface) -> ProgressEvent {
    ProgressEvent::LaneFinished { surface, scope: "acme/pump".to_owned() }
}

pub(super) fn draw_at(state: &ScreenState, columns: u16, now_ms: i64) -> Buffer {
    draw_frame(state, columns, now_ms, &time_of_day)
}

fn time_of_day(ms: i64) -> String {
    let seconds = ms / 1_000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// Draws the screen as text: the symbol of each cell, and nothing for the second half of a wide one.
fn frame_text(state: &ScreenState, columns: u16, now_ms: i64) -> String {
    let buffer = draw_at(state, columns, now_ms);
    let mut screen = String::new();
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < columns {
            let symbol = buffer[(x, y)].symbol();
            screen.push_str(symbol);
            x += u16::try_from(display_width(symbol)).unwrap().max(1);
        }
        screen.push('\n');
    }
    screen
}

fn line_range(screen: &str, range: std::ops::Range<usize>) -> String {
    screen.split_inclusive('\n').skip(range.start).take(range.len()).collect()
}

/// Asserts that every row begins and ends with a border, and has the width of the frame.
fn assert_has_frame(state: &ScreenState, columns: u16) {
    let screen = frame_text(state, columns, START_MS);
    for line in screen.lines() {
        assert!(line.starts_with(['┌', '│', '└']) && line.ends_with(['┐', '│', '┘']), "{screen}");
    }
    let buffer = draw_at(state, columns, START_MS);
    for y in 1..buffer.area.height - 1 {
        assert_eq!(buffer[(columns - 1, y)].symbol(), "│", "{screen}");
        assert_eq!(buffer[(columns - 2, y)].symbol(), " ", "{screen}");
    }
}
