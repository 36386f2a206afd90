//! The one sink: everything that is printed goes through here, cleaned and without this run's secrets.
//!
//! Stdout and stderr belong to the process, and so does the mask: there is one.

mod mask;
mod panic;

use std::fmt;
use std::io::{BufWriter, IsTerminal as _, StdoutLock, Write as _};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use hw_rules::clean::{for_terminal, for_terminal_line, is_harmless};
use hw_rules::snippet::Piece;
use serde_json::Value;

pub(crate) use mask::Mask;
pub(crate) use panic::end_with_a_report;

use crate::config::Screen;
use crate::report::Unheard;

static MASK: RwLock<Mask> = RwLock::new(Mask::new());

/// From now on this is shown nowhere.
pub(crate) fn hide(hide: impl FnOnce(&mut Mask)) {
    hide(&mut MASK.write().unwrap_or_else(PoisonError::into_inner));
}

fn mask() -> RwLockReadGuard<'static, Mask> {
    MASK.read().unwrap_or_else(PoisonError::into_inner)
}

/// A text as people may see it: what came from outside cannot steer their terminal.
pub(crate) fn shown(text: &str) -> String {
    mask().for_people(&for_terminal(text))
}

/// The same on one line.
pub(crate) fn shown_line(text: &str) -> String {
    mask().for_people(&for_terminal_line(text))
}

/// JSON as programs may see it. What would steer a terminal is written as an escape, so that it stays the same value.
pub(crate) fn shown_json(json: &str) -> String {
    mask().for_programs(&escaped(json))
}

/// A JSON object of the log: people read it, too.
pub(crate) fn shown_log_json(json: &str) -> String {
    mask().for_people(&escaped(json))
}

fn escaped(json: &str) -> String {
    if json.chars().all(is_harmless) {
        return json.to_owned();
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmless(c) {
            escaped.push(c);
        } else {
            let mut units = [0; 2];
            let units = c.encode_utf16(&mut units);
            units.iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        }
    }
    escaped
}

/// Whether results or messages go to a terminal.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal() || std::io::stderr().is_terminal()
}

/// Prints one result for people.
pub(crate) fn say(text: &str) -> Result<(), Unheard> {
    Ok(writeln!(std::io::stdout(), "{}", shown(text))?)
}

/// Prints one result for programs.
pub(crate) fn say_object(object: &Value) -> Result<(), Unheard> {
    Ok(writeln!(std::io::stdout(), "{}", shown_json(&object.to_string()))?)
}

/// Prints what the program has written itself, to the byte: a script or a manual page.
pub(crate) fn say_bytes(bytes: &[u8]) -> Result<(), Unheard> {
    Ok(std::io::stdout().write_all(bytes)?)
}

/// Says one line on stderr; a closed stderr leaves nobody to tell.
pub(crate) fn tell(line: &str) {
    writeln!(std::io::stderr(), "{}", shown_line(line)).ok();
}

/// The same, for a text that has lines of its own and ends with one.
pub(crate) fn tell_lines(text: &str) {
    write!(std::io::stderr(), "{}", shown(text)).ok();
}

/// Says a line of the log, which is shown as it is: it was made fit when it was made.
pub(crate) fn tell_log(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

/// Says on stderr what is no result and no error.
pub(crate) fn warn(text: &str) {
    tell(&format!("warning: {text}"));
}

/// Whether matched words can stand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
}

impl Style {
    /// What stdout can show, by what the environment says of it.
    pub(crate) fn of(screen: &Screen) -> Self {
        let is_able = !screen.no_color && screen.name.as_deref().is_some_and(|it| it != "dumb");
        if is_able && std::io::stdout().is_terminal() { Self::Bold } else { Self::Plain }
    }
}

/// One line of pieces. Should they make up a secret together, nothing of it is shown.
fn shown_pieces(pieces: &[Piece], style: Style) -> String {
    let plain: String = pieces.iter().map(|piece| for_terminal_line(&piece.text)).collect();
    let masked = mask().for_people(&plain);
    if style == Style::Plain || masked != plain {
        return masked;
    }
    let bold = |piece: &Piece| match for_terminal_line(&piece.text) {
        text if piece.is_match => format!("\x1b[1m{text}\x1b[0m"),
        text => text,
    };
    pieces.iter().map(bold).collect()
}

/// Stdout, for as many lines as there are.
pub(crate) struct Page(BufWriter<StdoutLock<'static>>);

impl Page {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(std::io::stdout().lock()))
    }

    /// A line for people.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Unheard> {
        Ok(writeln!(self.0, "{}", shown_line(line))?)
    }

    /// A line for people, some pieces of which stand out where that can be shown.
    pub(crate) fn marked(&mut self, pieces: &[Piece], style: Style) -> Result<(), Unheard> {
        Ok(writeln!(self.0, "{}", shown_pieces(pieces, style))?)
    }

    /// A line of cells for people, with tabs between them.
    pub(crate) fn columns(&mut self, cells: &[String]) -> Result<(), Unheard> {
        let cells: Vec<String> = cells.iter().map(|cell| shown_line(cell)).collect();
        Ok(writeln!(self.0, "{}", cells.join("\t"))?)
    }

    /// A line for programs: JSON in its `Display`.
    pub(crate) fn object(&mut self, object: &dyn fmt::Display) -> Result<(), Unheard> {
        Ok(writeln!(self.0, "{}", shown_json(&object.to_string()))?)
    }

    /// Cells for programs, to the byte; a terminal that they end on is not steered by them.
    pub(crate) fn cells(&mut self, text: &str) -> Result<(), Unheard> {
        let text = mask().for_programs(text);
        let text = if self.is_terminal() { for_terminal(&text) } else { text };
        Ok(self.0.write_all(text.as_bytes())?)
    }

    fn is_terminal(&self) -> bool {
        self.0.get_ref().is_terminal()
    }

    pub(crate) fn end(mut self) -> Result<(), Unheard> {
        Ok(self.0.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_stays_the_same_value_and_steers_no_terminal() {
        let object =
            serde_json::json!({ "a": "\u{9b}31m \u{202e}x \u{e0041} \u{1b} \"q\" é👩\u{200d}👧" });
        let shown = shown_json(&object.to_string());
        assert!(shown.chars().all(is_harmless), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), object);
    }

    #[test]
    fn matched_words_stand_out_and_nothing_else_steers_the_terminal() {
        let piece = |text: &str, is_match| Piece { text: text.to_owned(), is_match };
        let pieces = [piece("a \u{1b}[31m\n", false), piece("pu\u{202e}mp\u{9b}", true)];
        assert_eq!(shown_pieces(&pieces, Style::Bold), "a [31m \u{1b}[1mpump\u{1b}[0m");
        assert_eq!(shown_pieces(&pieces, Style::Plain), "a [31m pump");
    }

    #[test]
    fn a_secret_is_masked_also_where_a_match_is_in_the_middle_of_it() {
        let piece = |text: &str, is_match| Piece { text: text.to_owned(), is_match };
        let pieces = [piece("ghp_01234567", false), piece("89abcdef", true), piece("GHI", false)];
        assert_eq!(shown_pieces(&pieces, Style::Bold), "[masked]");
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(shown_line("a\nb\u{1b}[2J\tc"), "a b[2J c");
        assert_eq!(shown("a\nb\u{202e}"), "a\nb");
    }
}
