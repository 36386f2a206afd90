//! Renders complete frames for the terminal, each to be written at once.
//!
//! While the pull runs, frames are drawn on the alternate screen. On a resize, some terminals rewrap the rows of the
//! ordinary screen and others do not, so the position of a frame there would be unknown. The last frame is left on the
//! ordinary screen.

use hw_tui::pull_screen::{ColorMode, PullEnding, ScreenState, draw_frame, encode_rows};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use terminal_size::{Height, Width, terminal_size_of};

/// Switches to the alternate screen, which also saves the cursor position; hides the cursor and disables wrapping.
const ENTER_SCREEN: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
/// Clears the screen first, for terminals without an alternate screen.
const LEAVE_SCREEN: &str = "\u{1b}[H\u{1b}[2J\u{1b}[?1049l";
const RESET_MODES: &str = "\u{1b}[0m\u{1b}[?7h\u{1b}[?25h";
/// Restores the terminal and leaves no frame on it.
pub(super) const RELEASE_TERMINAL: [&str; 2] = [LEAVE_SCREEN, RESET_MODES];
/// Output between these two appears at once, on terminals that support it.
const BEGIN_SYNC: &str = "\u{1b}[?2026h";
const END_SYNC: &str = "\u{1b}[?2026l";
const CURSOR_HOME: &str = "\u{1b}[H";
const CLEAR_SCREEN: &str = "\u{1b}[2J";

/// An unchanged frame is still redrawn at this interval, to overwrite output of other programs.
const REDRAW_INTERVAL_MS: i64 = 1_000;
/// The size of a terminal that does not report one.
const DEFAULT_SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TerminalSize {
    pub(super) columns: u16,
    pub(super) rows: u16,
}

/// Renders the state of the pull, and remembers the last frame.
pub(super) struct FrameRenderer {
    pub(super) state: ScreenState,
    color_mode: ColorMode,
    zone: TimeZone,
    last_frame: String,
    last_frame_ms: i64,
    size: TerminalSize,
}

impl FrameRenderer {
    pub(super) fn new(state: ScreenState, color_mode: ColorMode, now_ms: i64) -> Self {
        Self {
            state,
            color_mode,
            zone: TimeZone::system(),
            last_frame: String::new(),
            last_frame_ms: now_ms,
            size: stderr_size().unwrap_or(DEFAULT_SIZE),
        }
    }

    /// Returns a frame for a terminal that still shows something else.
    pub(super) fn full_frame(&mut self, now_ms: i64) -> String {
        self.size = stderr_size().unwrap_or(self.size);
        let frame = self.render_frame(now_ms);
        let output = format!("{ENTER_SCREEN}{BEGIN_SYNC}{CLEAR_SCREEN}{frame}{END_SYNC}");
        (self.last_frame, self.last_frame_ms) = (frame, now_ms);
        output
    }

    pub(super) fn last_frame_ms(&self) -> i64 {
        self.last_frame_ms
    }

    /// Returns the next frame, if it differs from the last one or the last one is old.
    pub(super) fn next_frame(&mut self, now_ms: i64) -> Option<String> {
        self.state.tick(now_ms);
        let size = stderr_size().unwrap_or(self.size);
        let clear = if size == self.size { "" } else { CLEAR_SCREEN };
        self.size = size;
        let frame = self.render_frame(now_ms);
        let is_old = now_ms >= self.last_frame_ms + REDRAW_INTERVAL_MS;
        if !is_old && clear.is_empty() && frame == self.last_frame {
            return None;
        }
        let output = format!("{BEGIN_SYNC}{clear}{frame}{END_SYNC}");
        (self.last_frame, self.last_frame_ms) = (frame, now_ms);
        Some(output)
    }

    /// Returns the output that leaves the last frame on the ordinary screen, with the cursor below it.
    pub(super) fn render_closing(mut self, ending: &PullEnding, now_ms: i64) -> String {
        self.state.finish_pull(ending, now_ms);
        self.size = stderr_size().unwrap_or(self.size);
        let rows = self.render_rows(u16::MAX, now_ms).join("\r\n");
        format!("{LEAVE_SCREEN}{rows}\r\n{RESET_MODES}")
    }

    /// Returns a frame that starts at the top and clears the rows below it.
    fn render_frame(&self, now_ms: i64) -> String {
        let rows = self.size.rows;
        let frame = self.render_rows(rows, now_ms).join("\r\n");
        let height = self.state.frame_height();
        let below = height + 1;
        let rest = if height < rows { format!("\u{1b}[{below}H\u{1b}[J") } else { String::new() };
        format!("{CURSOR_HOME}{frame}{rest}")
    }

    fn render_rows(&self, max_rows: u16, now_ms: i64) -> Vec<String> {
        let frame = draw_frame(&self.state, self.size.columns, now_ms, &|ms: i64| {
            local_time_of_day(ms, &self.zone)
        });
        encode_rows(&frame, max_rows, self.color_mode)
    }
}

/// Returns the size of the terminal, if stderr is one.
pub(super) fn stderr_size() -> Option<TerminalSize> {
    let (Width(columns), Height(rows)) = terminal_size_of(std::io::stderr())?;
    Some(TerminalSize { columns, rows })
}

fn local_time_of_day(ms: i64, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(zone.clone());
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_time_of_day_follows_the_time_zone() {
        let summer = 1_750_000_000_000;
        assert_eq!(local_time_of_day(summer, &TimeZone::UTC), "15:06:40");
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(local_time_of_day(summer, &zone), "17:06:40");
    }
}
