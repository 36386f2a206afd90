//! The pull console, as it looks on a terminal.

use std::process::Command;

use hw_sim::{Fault, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use vt100::{Color, Screen};

use crate::house::House;
use crate::terminal::Terminal;

const FRAME_ROWS: u16 = 18;
const CTRL_C: &str = "\u{3}";
const CTRL_S: &str = "\u{13}";
const CTRL_Z: &str = "\u{1a}";

#[test]
fn the_last_frame_stays_and_the_summary_follows_it() {
    for columns in [64, 80, 160] {
        let (house, home) = (House::small(), tempfile::tempdir().unwrap());
        let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), columns);
        assert_eq!(terminal.end(), 0);
        let screen = terminal.screen();
        let top = framed(screen).expect("all borders stand in one column each");
        assert_is_tidy(screen);
        for line in ["  ✅ Repositories: 2 ", "  ✅ Discussions: 4 ", "  ✅ Issues: 12 "] {
            assert!(screen.contents().contains(line), "{}", screen.contents());
        }
        let below = text(screen, top + FRAME_ROWS);
        assert!(below.starts_with("pulled acme from 127.0.0.1:"), "{}", screen.contents());
        assert_eq!(colour_at(screen, "Repositories: 2"), Color::Idx(2), "green");
    }
}

#[test]
fn a_frame_follows_the_size_of_the_terminal_and_leaves_nothing_behind() {
    let (house, home) = (slow(), tempfile::tempdir().unwrap());
    let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), 80);
    terminal.until(|screen| framed(screen).is_some() && screen.contents().contains("🔄"));
    for (columns, rows) in [(160, 50), (64, 24), (100, 18), (64, 40), (40, 10), (80, 30)] {
        terminal.press("what is typed is echoed\r");
        terminal.resize(columns, rows);
        if FRAME_ROWS <= rows {
            terminal.until(|screen| framed(screen) == Some(0) && is_empty_below_frame(screen));
        }
        assert!(terminal.screen().alternate_screen() && terminal.screen().hide_cursor());
    }
    terminal.press(CTRL_C);
    assert_eq!(terminal.end(), 130);
    assert!(framed(terminal.screen()).is_some(), "{}", terminal.screen().contents());
}

#[test]
fn what_is_not_chosen_is_dimmed() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let mut terminal =
        Terminal::run(house.pull(&["-i", "repositories", "-m"]).arg(home.path()), 64);
    assert_eq!(terminal.end(), 0);
    let screen = terminal.screen();
    assert!(framed(screen).is_some(), "{}", screen.contents());
    for title in ["Discussions", "Issues", "Pull Requests"] {
        let line = format!("│  🔕 {title}  ");
        assert!(screen.contents().contains(&line), "{}", screen.contents());
        let (row, column) = place(screen, title);
        assert!(screen.cell(row, column).unwrap().dim(), "{title}");
    }
    let (row, column) = place(screen, "Repositories: 2");
    assert!(!screen.cell(row, column).unwrap().dim());
}

#[test]
fn errors_are_counted_beside_the_item_and_told_in_red() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let mut terminal =
        Terminal::run(house.pull(&["--repo", "pump,nowhere", "-m"]).arg(home.path()), 80);
    assert_eq!(terminal.end(), 1);
    let screen = terminal.screen();
    assert!(framed(screen).is_some(), "{}", screen.contents());
    assert!(screen.contents().contains("❌ Repositories: 1 (1 error)"), "{}", screen.contents());
    assert!(screen.contents().contains("   ❌ 1  "), "{}", screen.contents());
    assert_eq!(colour_at(screen, "Repositories: 1"), Color::Idx(1), "red");
    assert_eq!(colour_at(screen, "Completed with 1 error"), Color::Idx(1), "red");
    assert!(screen.contents().contains("hint: run it again"), "{}", screen.contents());
    assert_is_tidy(screen);
}

#[test]
fn a_pull_that_cannot_go_on_gives_the_terminal_back() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.look(|github| github.arm(Fault::Unauthorized, 100));
    let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), 80);
    assert_eq!(terminal.end(), 1);
    let screen = terminal.screen();
    assert!(framed(screen).is_some(), "{}", screen.contents());
    assert!(screen.contents().contains("❌ the token was refused"), "{}", screen.contents());
    assert!(screen.contents().contains("Error: cannot pull acme"), "{}", screen.contents());
    assert_is_tidy(screen);
}

#[test]
fn ctrl_c_and_sigterm_give_the_terminal_back() {
    for signal in ["^C", "-TERM"] {
        let (house, home) = (slow(), tempfile::tempdir().unwrap());
        let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), 80);
        terminal.until(|screen| framed(screen).is_some());
        assert!(terminal.screen().hide_cursor() && terminal.screen().alternate_screen());
        match signal {
            "^C" => terminal.press(CTRL_C),
            _ => terminal.signal(signal),
        }
        assert_eq!(terminal.end(), 130, "{signal}");
        let screen = terminal.screen();
        assert!(framed(screen).is_some(), "{}", screen.contents());
        assert!(screen.contents().contains("Stopped; what was read is kept"), "{signal}");
        assert!(screen.contents().contains("Error: interrupted"), "{}", screen.contents());
        assert_is_tidy(screen);
    }
}

#[test]
fn a_terminal_that_takes_nothing_does_not_keep_it_from_stopping() {
    let (house, home) = (slow(), tempfile::tempdir().unwrap());
    let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), 80);
    terminal.until(|screen| framed(screen).is_some());
    terminal.press(CTRL_S);
    terminal.signal("-INT");
    assert_eq!(terminal.end(), 130);
}

#[test]
fn ctrl_z_gives_the_terminal_back_for_a_while() {
    let (house, home) = (slow(), tempfile::tempdir().unwrap());
    let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), 80);
    terminal.until(|screen| framed(screen).is_some() && screen.alternate_screen());
    terminal.press(CTRL_Z);
    terminal.until(|screen| !screen.alternate_screen() && !screen.hide_cursor());
    terminal.until_stopped();
    terminal.resize(100, 30);
    terminal.signal("-CONT");
    terminal.until(|screen| framed(screen) == Some(0) && screen.alternate_screen());
    assert!(is_empty_below_frame(terminal.screen()) && terminal.screen().hide_cursor());
    terminal.press(CTRL_C);
    assert_eq!(terminal.end(), 130);
}

#[test]
fn frame_holds_whatever_a_repository_is_called() {
    for name in
        ["\u{1b}[2J\u{1b}]0;mine\u{7}", "\u{202e}lairt\u{2066}", "日本語⚠\u{fe0f}👩\u{200d}👧"]
    {
        let (house, home) = (with_a_repository(&name.repeat(20)), tempfile::tempdir().unwrap());
        let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), 64);
        assert_eq!(terminal.end(), 0);
        let screen = terminal.screen();
        assert!(framed(screen).is_some(), "{}", screen.contents());
        // no repository can be called that, so it is set aside
        assert!(screen.contents().contains("✅ Repositories: 2 "), "{}", screen.contents());
        let printed = String::from_utf8_lossy(&terminal.bytes).into_owned();
        assert!(!printed.contains(['\u{7}', '\u{202e}', '\u{2066}']), "{printed:?}");
        assert!(!printed.contains("\u{1b}]"), "{printed:?}");
    }
}

#[test]
fn log_lines_become_activity_lines_and_do_not_tear_the_frame() {
    let (house, home) = (slow(), tempfile::tempdir().unwrap());
    let mut command = house.pull(&["-m"]);
    command.arg(home.path()).env("HIGHWATER_LOG", "trace");
    let mut terminal = Terminal::run(&command, 80);
    terminal.until(|screen| screen.contents().contains("│  🔄 Issues"));
    terminal.until(|screen| framed(screen) == Some(0) && is_empty_below_frame(screen));
    terminal.press(CTRL_C);
    assert_eq!(terminal.end(), 130);
    let told = String::from_utf8_lossy(&terminal.bytes).into_owned();
    let (_, in_frame) = told.split_once("💬").unwrap();
    let (in_frame, _) = in_frame.split_once("\u{1b}[?1049l").unwrap();
    assert!(!in_frame.contains(" TRACE "), "no log line was written past the frame");
}

#[test]
fn frames_are_at_least_200_ms_apart() {
    let start_ms = MachineClock.now_ms();
    let (house, home) = (slow(), tempfile::tempdir().unwrap());
    let mut terminal = Terminal::run(house.pull(&["-m"]).arg(home.path()), 80);
    terminal.until(|screen| screen.contents().contains("🔄 Issues: 1,"));
    terminal.press(CTRL_C);
    terminal.end();
    let told = String::from_utf8_lossy(&terminal.bytes).into_owned();
    let frames = i64::try_from(told.matches("\u{1b}[?2026h").count()).unwrap();
    let most = (MachineClock.now_ms() - start_ms) / 200 + 1;
    assert!((3..=most).contains(&frames), "{frames} frames, {most} at most");
}

#[test]
fn where_no_console_can_be_there_is_no_escape_at_all() {
    let small = |columns, rows, name: &str, args: &[&str]| {
        let (house, home) = (House::small(), tempfile::tempdir().unwrap());
        let mut command = house.pull(args);
        command.arg("-m").arg(home.path()).env("TERM", name);
        let mut terminal = Terminal::sized(&command, columns, rows);
        assert_eq!(terminal.end(), 0);
        assert!(!terminal.bytes.contains(&0x1b), "{columns}x{rows}, {name}, {args:?}");
        String::from_utf8(terminal.bytes.clone()).unwrap()
    };
    for told in [
        small(80, 40, "xterm", &["--no-tui"]),
        small(80, 40, "dumb", &[]),
        small(63, 40, "xterm", &[]),
        small(80, 17, "xterm", &[]),
    ] {
        assert!(told.contains(" listing acme: 2 repositories\r\n"), "{told}");
    }
    let told = small(80, 40, "xterm", &["--json"]);
    assert!(told.starts_with('{') && told.ends_with("}\r\n"), "{told}");
}

#[test]
fn no_color_is_respected() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let mut command = house.pull(&["-i", "issues", "-m"]);
    let mut terminal = Terminal::run(command.arg(home.path()).env("NO_COLOR", "1"), 80);
    assert_eq!(terminal.end(), 0);
    let told = String::from_utf8(terminal.bytes.clone()).unwrap();
    assert!(told.contains("\u{1b}[0;2m"), "dim is no colour");
    assert!(!told.contains(";3") && !told.contains(";9"), "{told:?}");
}

#[test]
fn stdout_carries_the_summary_alone() {
    let (house, folder) = (House::small(), tempfile::tempdir().unwrap());
    let pull = house.pull(&["-m"]);
    let file = folder.path().join("out");
    let mut shell = Command::new("/bin/sh");
    let script = "\"$0\" \"$@\" > \"$OUT\"";
    shell.args(["-c", script]).arg(pull.get_program()).args(pull.get_args()).arg(folder.path());
    let known = pull.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.envs(known).env("OUT", &file);
    let mut terminal = Terminal::run(&shell, 80);
    assert_eq!(terminal.end(), 0);
    assert!(framed(terminal.screen()).is_some(), "{}", terminal.screen().contents());
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("pulled acme from ") && !written.contains('\u{1b}'), "{written}");
}

/// A pull that takes long enough to be looked at.
fn slow() -> House {
    let spec =
        WorldSpec { repositories: 3, issues: 3_000, latency_ms: 200..=200, ..WorldSpec::small() };
    House::open(spec, 1)
}

/// A repository of this name, with several pages of issues, in a world of hostile texts.
fn with_a_repository(name: &str) -> House {
    let spec = WorldSpec { hostile_text: true, latency_ms: 0..=1, ..WorldSpec::small() };
    let house = House::open(spec, 1);
    house.look(|github| {
        let now_ms = MachineClock.now_ms();
        let id = github.world_mut().create_repository(name, now_ms);
        for _ in 0..350 {
            github.world_mut().create_issue(id, name, name, now_ms);
        }
    });
    house
}

/// The frame's first row, if every one of its rows has its borders in the first and the last column.
fn framed(screen: &Screen) -> Option<u16> {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let at = |row, column| screen.cell(row, column).map_or("", vt100::Cell::contents);
    let top = (0..rows).find(|row| at(*row, 0) == "┌")?;
    let title = text(screen, top);
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
    (FRAME_ROWS..rows.get()).all(|row| text(screen, row).trim().is_empty())
}

/// The ordinary screen, a visible cursor, and that at the beginning of an empty row below everything.
fn assert_is_tidy(screen: &Screen) {
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    let (row, column) = screen.cursor_position();
    assert_eq!((column, text(screen, row).trim()), (0, ""), "{}", screen.contents());
    let (rows, _) = screen.size();
    assert!((row..rows.get()).all(|row| text(screen, row).trim().is_empty()));
    assert!(framed(screen).is_some_and(|top| top + FRAME_ROWS <= row), "{}", screen.contents());
}

fn text(screen: &Screen, row: u16) -> String {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).nth(usize::from(row)).unwrap_or_default()
}

/// Row and column of the first place where this stands.
fn place(screen: &Screen, wanted: &str) -> (u16, u16) {
    let (rows, columns) = screen.size();
    let places =
        (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let mut places = places.filter(|(row, column)| {
        let rest = screen.rows(*column, columns.get() - column).nth(usize::from(*row));
        rest.is_some_and(|rest| rest.starts_with(wanted))
    });
    places.next().unwrap_or_else(|| panic!("{wanted} is not there:\n{}", screen.contents()))
}

fn colour_at(screen: &Screen, wanted: &str) -> Color {
    let (row, column) = place(screen, wanted);
    screen.cell(row, column).unwrap().fgcolor()
}
