//! The pull screen, as it looks on a terminal.

use std::process::Command;

use hw_sim::{ApiFault, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use vt100::{Color, Screen};

use crate::fixture::GitHubFixture;
use crate::pseudo_terminal::PseudoTerminal;

const FRAME_ROWS: u16 = 18;
const CTRL_C: &str = "\u{3}";
const CTRL_S: &str = "\u{13}";
const CTRL_Z: &str = "\u{1a}";

#[test]
fn pull_screen_leaves_the_last_frame_and_the_summary_follows() {
    for columns in [64, 80, 160] {
        let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
        let mut terminal =
            PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), columns);
        assert_eq!(terminal.wait_for_exit(), 0);
        let screen = terminal.screen();
        let top = find_frame(screen).expect("each border is in one column");
        assert_terminal_restored(screen);
        for line in ["  ✅ Repositories: 2 ", "  ✅ Discussions: 4 ", "  ✅ Issues: 12 "] {
            assert!(screen.contents().contains(line), "{}", screen.contents());
        }
        let below = row_text(screen, top + FRAME_ROWS);
        assert!(below.starts_with("pulled acme from 127.0.0.1:"), "{}", screen.contents());
        assert_eq!(color_at(screen, "Repositories: 2"), Color::Idx(2), "green");
    }
}

#[test]
fn pull_screen_follows_the_terminal_size_and_leaves_nothing_behind() {
    let (fixture, home) = (start_slow(), tempfile::tempdir().unwrap());
    let mut terminal = PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), 80);
    terminal.wait_until(|screen| find_frame(screen).is_some() && screen.contents().contains("🔄"));
    for (columns, rows) in [(160, 50), (64, 24), (100, 18), (64, 40), (40, 10), (80, 30)] {
        terminal.press_keys("typed text is echoed\r");
        terminal.resize(columns, rows);
        if rows >= FRAME_ROWS {
            terminal
                .wait_until(|screen| find_frame(screen) == Some(0) && is_empty_below_frame(screen));
        }
        assert!(terminal.screen().alternate_screen() && terminal.screen().hide_cursor());
    }
    terminal.press_keys(CTRL_C);
    assert_eq!(terminal.wait_for_exit(), 130);
    assert!(find_frame(terminal.screen()).is_some(), "{}", terminal.screen().contents());
}

#[test]
fn pull_screen_dims_items_that_are_not_chosen() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let mut terminal = PseudoTerminal::run(
        fixture.pull_command(&["-i", "repositories", "-m"]).arg(home.path()),
        64,
    );
    assert_eq!(terminal.wait_for_exit(), 0);
    let screen = terminal.screen();
    assert!(find_frame(screen).is_some(), "{}", screen.contents());
    for title in ["Discussions", "Issues", "Pull Requests"] {
        let line = format!("│  🔕 {title}  ");
        assert!(screen.contents().contains(&line), "{}", screen.contents());
        let (row, column) = find_text(screen, title);
        assert!(screen.cell(row, column).unwrap().dim(), "{title}");
    }
    let (row, column) = find_text(screen, "Repositories: 2");
    assert!(!screen.cell(row, column).unwrap().dim());
}

#[test]
fn pull_screen_counts_errors_beside_the_item_in_red() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let mut terminal = PseudoTerminal::run(
        fixture.pull_command(&["--repo", "pump,nowhere", "-m"]).arg(home.path()),
        80,
    );
    assert_eq!(terminal.wait_for_exit(), 1);
    let screen = terminal.screen();
    assert!(find_frame(screen).is_some(), "{}", screen.contents());
    assert!(screen.contents().contains("❌ Repositories: 1 (1 error)"), "{}", screen.contents());
    assert!(screen.contents().contains("   ❌ 1  "), "{}", screen.contents());
    assert_eq!(color_at(screen, "Repositories: 1"), Color::Idx(1), "red");
    assert_eq!(color_at(screen, "Completed with 1 error"), Color::Idx(1), "red");
    assert!(screen.contents().contains("hint: check the names"), "{}", screen.contents());
    assert_terminal_restored(screen);
}

#[test]
fn pull_screen_restores_the_terminal_after_a_failed_pull() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 100));
    let mut terminal = PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), 80);
    assert_eq!(terminal.wait_for_exit(), 1);
    let screen = terminal.screen();
    assert!(find_frame(screen).is_some(), "{}", screen.contents());
    assert!(screen.contents().contains("❌ the token was refused"), "{}", screen.contents());
    assert!(screen.contents().contains("Error: cannot pull acme"), "{}", screen.contents());
    assert_terminal_restored(screen);
}

#[test]
fn pull_screen_restores_the_terminal_on_ctrl_c_and_sigterm() {
    for signal in ["^C", "-TERM"] {
        let (fixture, home) = (start_slow(), tempfile::tempdir().unwrap());
        let mut terminal = PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), 80);
        terminal.wait_until(|screen| find_frame(screen).is_some());
        assert!(terminal.screen().hide_cursor() && terminal.screen().alternate_screen());
        match signal {
            "^C" => terminal.press_keys(CTRL_C),
            _ => terminal.send_signal(signal),
        }
        assert_eq!(terminal.wait_for_exit(), 130, "{signal}");
        let screen = terminal.screen();
        assert!(find_frame(screen).is_some(), "{}", screen.contents());
        assert!(screen.contents().contains("Stopped; everything read so far is saved"), "{signal}");
        assert!(
            screen.contents().contains("Stopped. Everything done so far is saved."),
            "{}",
            screen.contents()
        );
        assert_terminal_restored(screen);
    }
}

#[test]
fn pull_screen_stops_even_if_the_terminal_accepts_no_output() {
    let (fixture, home) = (start_slow(), tempfile::tempdir().unwrap());
    let mut terminal = PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), 80);
    terminal.wait_until(|screen| find_frame(screen).is_some());
    terminal.press_keys(CTRL_S);
    terminal.send_signal("-INT");
    assert_eq!(terminal.wait_for_exit(), 130);
}

#[test]
fn pull_screen_restores_the_terminal_while_suspended() {
    let (fixture, home) = (start_slow(), tempfile::tempdir().unwrap());
    let mut terminal = PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), 80);
    terminal.wait_until(|screen| find_frame(screen).is_some() && screen.alternate_screen());
    terminal.press_keys(CTRL_Z);
    terminal.wait_until(|screen| !screen.alternate_screen() && !screen.hide_cursor());
    terminal.wait_until_stopped();
    terminal.resize(100, 30);
    terminal.send_signal("-CONT");
    terminal.wait_until(|screen| find_frame(screen) == Some(0) && screen.alternate_screen());
    assert!(is_empty_below_frame(terminal.screen()) && terminal.screen().hide_cursor());
    terminal.press_keys(CTRL_C);
    assert_eq!(terminal.wait_for_exit(), 130);
}

#[test]
fn pull_screen_frame_survives_any_repository_name() {
    for name in
        ["\u{1b}[2J\u{1b}]0;mine\u{7}", "\u{202e}lairt\u{2066}", "日本語⚠\u{fe0f}👩\u{200d}👧"]
    {
        let (fixture, home) =
            (start_with_repository(&name.repeat(20)), tempfile::tempdir().unwrap());
        let mut terminal = PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), 64);
        assert_eq!(terminal.wait_for_exit(), 0);
        let screen = terminal.screen();
        assert!(find_frame(screen).is_some(), "{}", screen.contents());
        // such a name is impossible, so the repository is quarantined
        assert!(screen.contents().contains("✅ Repositories: 2 "), "{}", screen.contents());
        let printed = String::from_utf8_lossy(&terminal.bytes).into_owned();
        assert!(!printed.contains(['\u{7}', '\u{202e}', '\u{2066}']), "{printed:?}");
        assert!(!printed.contains("\u{1b}]"), "{printed:?}");
    }
}

#[test]
fn pull_screen_shows_log_lines_without_tearing_the_frame() {
    let (fixture, home) = (start_slow(), tempfile::tempdir().unwrap());
    let mut command = fixture.pull_command(&["-m"]);
    command.arg(home.path()).env("HIGHWATER_LOG", "trace");
    let mut terminal = PseudoTerminal::run(&command, 80);
    terminal.wait_until(|screen| screen.contents().contains("│  🔄 Issues"));
    terminal.wait_until(|screen| find_frame(screen) == Some(0) && is_empty_below_frame(screen));
    terminal.press_keys(CTRL_C);
    assert_eq!(terminal.wait_for_exit(), 130);
    let printed = String::from_utf8_lossy(&terminal.bytes).into_owned();
    let (_, in_frame) = printed.split_once("💬").unwrap();
    let (in_frame, _) = in_frame.split_once("\u{1b}[?1049l").unwrap();
    assert!(!in_frame.contains(" TRACE "), "no log line was written past the frame");
}

#[test]
fn pull_screen_frames_are_at_least_200_ms_apart() {
    let start_ms = MachineClock.now_ms();
    let (fixture, home) = (start_slow(), tempfile::tempdir().unwrap());
    let mut terminal = PseudoTerminal::run(fixture.pull_command(&["-m"]).arg(home.path()), 80);
    terminal.wait_until(|screen| screen.contents().contains("🔄 Issues: 1,"));
    terminal.press_keys(CTRL_C);
    terminal.wait_for_exit();
    let printed = String::from_utf8_lossy(&terminal.bytes).into_owned();
    let frames = i64::try_from(printed.matches("\u{1b}[?2026h").count()).unwrap();
    let most = (MachineClock.now_ms() - start_ms) / 200 + 1;
    assert!((3..=most).contains(&frames), "{frames} frames, {most} at most");
}

#[test]
fn pull_screen_writes_no_escapes_where_it_cannot_be_drawn() {
    let small = |columns, rows, name: &str, args: &[&str]| {
        let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
        let mut command = fixture.pull_command(args);
        command.arg("-m").arg(home.path()).env("TERM", name);
        let mut terminal = PseudoTerminal::run_sized(&command, columns, rows);
        assert_eq!(terminal.wait_for_exit(), 0);
        assert!(!terminal.bytes.contains(&0x1b), "{columns}x{rows}, {name}, {args:?}");
        String::from_utf8(terminal.bytes.clone()).unwrap()
    };
    for printed in [
        small(80, 40, "xterm", &["--no-tui"]),
        small(80, 40, "dumb", &[]),
        small(63, 40, "xterm", &[]),
        small(80, 17, "xterm", &[]),
    ] {
        assert!(printed.contains(" 2 repositories listed\r\n"), "{printed}");
    }
    let printed = small(80, 40, "xterm", &["--json"]);
    assert!(printed.starts_with('{') && printed.ends_with("}\r\n"), "{printed}");
}

#[test]
fn pull_screen_respects_no_color() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let mut command = fixture.pull_command(&["-i", "issues", "-m"]);
    let mut terminal = PseudoTerminal::run(command.arg(home.path()).env("NO_COLOR", "1"), 80);
    assert_eq!(terminal.wait_for_exit(), 0);
    let printed = String::from_utf8(terminal.bytes.clone()).unwrap();
    assert!(printed.contains("\u{1b}[0;2m"), "dim is not a color");
    assert!(!printed.contains(";3") && !printed.contains(";9"), "{printed:?}");
}

#[test]
fn pull_screen_leaves_stdout_to_the_summary() {
    let (fixture, folder) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let pull = fixture.pull_command(&["-m"]);
    let file = folder.path().join("out");
    let mut shell = Command::new("/bin/sh");
    let script = "\"$0\" \"$@\" > \"$OUT\"";
    shell.args(["-c", script]).arg(pull.get_program()).args(pull.get_args()).arg(folder.path());
    let known = pull.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.envs(known).env("OUT", &file);
    let mut terminal = PseudoTerminal::run(&shell, 80);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(find_frame(terminal.screen()).is_some(), "{}", terminal.screen().contents());
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("pulled acme from ") && !written.contains('\u{1b}'), "{written}");
}

/// Serves a world whose pull takes long enough to be observed.
fn start_slow() -> GitHubFixture {
    let spec =
        WorldSpec { repositories: 3, issues: 3_000, latency_ms: 200..=200, ..WorldSpec::small() };
    GitHubFixture::start(spec, 1)
}

/// Serves a world of hostile texts with a repository of this name and several pages of issues.
fn start_with_repository(name: &str) -> GitHubFixture {
    let spec = WorldSpec { hostile_text: true, latency_ms: 0..=1, ..WorldSpec::small() };
    let fixture = GitHubFixture::start(spec, 1);
    fixture.with_github(|github| {
        let now_ms = MachineClock.now_ms();
        let id = github.world_mut().create_repository(name, now_ms);
        for _ in 0..350 {
            github.world_mut().create_issue(id, name, name, now_ms);
        }
    });
    fixture
}

/// Returns the frame's first row if every row has its borders in the first and the last column.
fn find_frame(screen: &Screen) -> Option<u16> {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let at = |row, column| screen.cell(row, column).map_or("", vt100::Cell::contents);
    let top = (0..rows).find(|row| at(*row, 0) == "┌")?;
    let title = row_text(screen, top);
    let is_framed = (top..top + FRAME_ROWS).all(|row| {
        let borders = match row - top {
            0 => ("┌", "┐"),
            row if row == FRAME_ROWS - 1 => ("└", "┘"),
            _ => ("│", "│"),
        };
        (at(row, 0), at(row, columns - 1)) == borders
    });
    (is_framed && title.starts_with("┌─ highwater 🧠 pull ─")).then_some(top)
}

fn is_empty_below_frame(screen: &Screen) -> bool {
    let (rows, _) = screen.size();
    (FRAME_ROWS..rows.get()).all(|row| row_text(screen, row).trim().is_empty())
}

/// Checks for the main screen with a visible cursor at the start of an empty row below all output.
fn assert_terminal_restored(screen: &Screen) {
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    let (row, column) = screen.cursor_position();
    assert_eq!((column, row_text(screen, row).trim()), (0, ""), "{}", screen.contents());
    let (rows, _) = screen.size();
    assert!((row..rows.get()).all(|row| row_text(screen, row).trim().is_empty()));
    assert!(find_frame(screen).is_some_and(|top| top + FRAME_ROWS <= row), "{}", screen.contents());
}

fn row_text(screen: &Screen, row: u16) -> String {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).nth(usize::from(row)).unwrap_or_default()
}

/// Returns row and column of the first occurrence of a text.
fn find_text(screen: &Screen, text: &str) -> (u16, u16) {
    let (rows, columns) = screen.size();
    let positions =
        (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let mut positions = positions.filter(|(row, column)| {
        let rest = screen.rows(*column, columns.get() - column).nth(usize::from(*row));
        rest.is_some_and(|rest| rest.starts_with(text))
    });
    positions
        .next()
        .unwrap_or_else(|| panic!("{text} is not on the screen:\n{}", screen.contents()))
}

fn color_at(screen: &Screen, text: &str) -> Color {
    let (row, column) = find_text(screen, text);
    screen.cell(row, column).unwrap().fgcolor()
}
