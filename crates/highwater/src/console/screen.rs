//! Frames for a terminal: each is built whole, to be written at once.
//!
//! While the pull runs the frame has the terminal's alternate screen to itself. Rows of the ordinary screen
//! are wrapped anew by some terminals when their width changes, and by others not, so nobody could tell
//! where a frame drawn among them stands afterwards. The last frame is left on the ordinary screen.

use hw_tui::console::{Ending, Paint, State, draw, paint};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use terminal_size::{Height, Width, terminal_size_of};

/// The alternate screen, which also keeps the cursor's place; no cursor, and no wrapping of rows.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
/// Empty it first: a terminal that has no other screen has shown it all on the ordinary one.
const LEAVE: &str = "\u{1b}[H\u{1b}[2J\u{1b}[?1049l";
const TIDY: &str = "\u{1b}[0m\u{1b}[?7h\u{1b}[?25h";
/// Gives the terminal back, with no frame left on it.
pub(super) const GIVE_BACK: [&str; 2] = [LEAVE, TIDY];
/// What is between these appears at once, where the terminal knows them.
const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HOME: &str = "\u{1b}[H";
const CLEAR: &str = "\u{1b}[2J";

/// A frame that has not changed is still written this often, over whatever else was written there.
const REPAIR_MS: i64 = 1_000;
/// What is assumed of a terminal that does not tell.
const USUAL: (u16, u16) = (80, 24);

/// What is on the terminal.
pub(super) struct Screen {
    pub(super) state: State,
    paint: Paint,
    zone: TimeZone,
    shown: String,
    shown_ms: i64,
    size: (u16, u16),
}

impl Screen {
    /// A screen, and what is written first.
    pub(super) fn open(state: State, paint: Paint, now_ms: i64) -> (Self, String) {
        let (zone, size) = (TimeZone::system(), size().unwrap_or(USUAL));
        let mut screen = Self { state, paint, zone, shown: String::new(), shown_ms: now_ms, size };
        let first = screen.anew(now_ms);
        (screen, first)
    }

    /// A frame on a terminal that shows something else yet.
    pub(super) fn anew(&mut self, now_ms: i64) -> String {
        self.size = size().unwrap_or(self.size);
        let frame = self.frame(now_ms);
        let written = format!("{ENTER}{BEGIN}{CLEAR}{frame}{END}");
        (self.shown, self.shown_ms) = (frame, now_ms);
        written
    }

    pub(super) fn shown_ms(&self) -> i64 {
        self.shown_ms
    }

    /// The next frame, if it differs from what is shown.
    pub(super) fn next(&mut self, now_ms: i64) -> Option<String> {
        self.state.tick(now_ms);
        let size = size().unwrap_or(self.size);
        let clear = if size == self.size { "" } else { CLEAR };
        self.size = size;
        let frame = self.frame(now_ms);
        let is_old = self.shown_ms + REPAIR_MS <= now_ms;
        if !is_old && clear.is_empty() && frame == self.shown {
            return None;
        }
        let written = format!("{BEGIN}{clear}{frame}{END}");
        (self.shown, self.shown_ms) = (frame, now_ms);
        Some(written)
    }

    /// Leaves the last frame on the ordinary screen, and the cursor below it.
    pub(super) fn close(mut self, ending: &Ending, now_ms: i64) -> String {
        self.state.end(ending, now_ms);
        self.size = size().unwrap_or(self.size);
        let rows = self.rows(u16::MAX, now_ms).join("\r\n");
        format!("{LEAVE}{rows}\r\n{TIDY}")
    }

    /// A frame from the top, and nothing below it.
    fn frame(&self, now_ms: i64) -> String {
        let (_, rows) = self.size;
        let frame = self.rows(rows, now_ms).join("\r\n");
        let height = self.state.height();
        let below = height + 1;
        let rest = if height < rows { format!("\u{1b}[{below}H\u{1b}[J") } else { String::new() };
        format!("{HOME}{frame}{rest}")
    }

    fn rows(&self, most: u16, now_ms: i64) -> Vec<String> {
        let (columns, _) = self.size;
        let local = |ms: i64| time_of_day(ms, &self.zone);
        paint(&draw(&self.state, columns, now_ms, &local), most, self.paint)
    }
}

/// Columns and rows, where stderr is a terminal.
pub(super) fn size() -> Option<(u16, u16)> {
    terminal_size_of(std::io::stderr()).map(|(Width(columns), Height(rows))| (columns, rows))
}

fn time_of_day(ms: i64, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(zone.clone());
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_is_local() {
        let summer = 1_750_000_000_000;
        assert_eq!(time_of_day(summer, &TimeZone::UTC), "15:06:40");
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(time_of_day(summer, &zone), "17:06:40");
    }
}
