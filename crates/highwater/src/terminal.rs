//! Prints everything, cleaned of control characters and with the secrets of this run masked.
//!
//! Stdout, stderr and the mask are global to the process.

mod panic_hook;
mod read_mask;

use std::io::{BufWriter, IsTerminal as _, StdoutLock, Write as _};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use hw_rules::safe_text::{is_safe_char, sanitize_for_terminal, sanitize_terminal_line};
use hw_rules::snippet::SnippetPiece;
use serde_json::Value;

pub(crate) use panic_hook::install_panic_hook;
pub(crate) use read_mask::SecretMask;

use crate::config::TerminalEnv;
use crate::report::OutputError;

static MASK: RwLock<SecretMask> = RwLock::new(SecretMask::new());

/// Adds secrets to the mask; later output never contains them.
pub(crate) fn update_mask(update: impl FnOnce(&mut SecretMask)) {
    update(&mut MASK.write().unwrap_or_else(PoisonError::into_inner));
}

fn mask() -> RwLockReadGuard<'static, SecretMask> {
    MASK.read().unwrap_or_else(PoisonError::into_inner)
}

/// Cleans a text for people: text from outside cannot affect their terminal.
pub(crate) fn clean_text(text: &str) -> String {
    mask().mask_text(&sanitize_for_terminal(text))
}

/// Cleans a text for people, and puts it on one line.
pub(crate) fn clean_line(text: &str) -> String {
    mask().mask_text(&sanitize_terminal_line(text))
}

/// Cleans JSON for programs. Characters that could affect a terminal are escaped, so that the value stays the same.
pub(crate) fn clean_json(json: &str) -> String {
    mask().mask_tokens(&escape_json(json))
}

/// Cleans a JSON object of the log, which people read as well.
pub(crate) fn clean_log_json(json: &str) -> String {
    mask().mask_text(&escape_json(json))
}

fn escape_json(json: &str) -> String {
    if json.chars().all(is_safe_char) {
        return json.to_owned();
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_safe_char(c) {
            escaped.push(c);
        } else {
            let mut units = [0; 2];
            let units = c.encode_utf16(&mut units);
            units.iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        }
    }
    escaped
}

/// Returns true if stdout or stderr is a terminal.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal() || std::io::stderr().is_terminal()
}

/// Prints one result for people.
pub(crate) fn print_result(text: &str) -> Result<(), OutputError> {
    Ok(writeln!(std::io::stdout(), "{}", clean_text(text))?)
}

/// Prints one result for programs.
pub(crate) fn print_json(object: &Value) -> Result<(), OutputError> {
    Ok(writeln!(std::io::stdout(), "{}", clean_json(&object.to_string()))?)
}

/// Prints text that highwater generated, byte for byte: a script or a manual page.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), OutputError> {
    Ok(std::io::stdout().write_all(bytes)?)
}

/// Prints one line on stderr; ignores errors, because a closed stderr has no reader.
pub(crate) fn print_status(line: &str) {
    writeln!(std::io::stderr(), "{}", clean_line(line)).ok();
}

/// Prints a text of several lines, including the last line break, on stderr.
pub(crate) fn print_status_lines(text: &str) {
    write!(std::io::stderr(), "{}", clean_text(text)).ok();
}

/// Prints a log line, which is already clean.
pub(crate) fn print_log_line(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

/// Prints a warning on stderr.
pub(crate) fn print_warning(text: &str) {
    print_status(&format!("warning: {text}"));
}

/// The style of matched words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchStyle {
    Plain,
    Bold,
}

impl MatchStyle {
    /// Returns the style that stdout supports.
    pub(crate) fn from_terminal(terminal: &TerminalEnv) -> Self {
        let has_styles =
            !terminal.no_color && terminal.term.as_deref().is_some_and(|name| name != "dumb");
        if has_styles && std::io::stdout().is_terminal() { Self::Bold } else { Self::Plain }
    }
}

/// Formats pieces as one line. If the pieces together contain a secret, the line is masked and has no styles.
fn format_pieces(pieces: &[SnippetPiece], style: MatchStyle) -> String {
    let plain: String = pieces.iter().map(|piece| sanitize_terminal_line(&piece.text)).collect();
    let masked = mask().mask_text(&plain);
    if style == MatchStyle::Plain || masked != plain {
        return masked;
    }
    let pieces = pieces.iter().map(|piece| match sanitize_terminal_line(&piece.text) {
        text if piece.is_match => format!("\x1b[1m{text}\x1b[0m"),
        text => text,
    });
    pieces.collect()
}

/// Writes many lines to stdout, buffered.
pub(crate) struct StdoutWriter(BufWriter<StdoutLock<'static>>);

impl StdoutWriter {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(std::io::stdout().lock()))
    }

    /// Writes a line for people.
    pub(crate) fn write_line(&mut self, line: &str) -> Result<(), OutputError> {
        Ok(writeln!(self.0, "{}", clean_line(line))?)
    }

    /// Writes a line for people, with the matches in the given style.
    pub(crate) fn write_pieces(
        &mut self,
        pieces: &[SnippetPiece],
        style: MatchStyle,
    ) -> Result<(), OutputError> {
        Ok(writeln!(self.0, "{}", format_pieces(pieces, style))?)
    }

    /// Writes a line of tab-separated cells for people.
    pub(crate) fn write_columns(&mut self, cells: &[String]) -> Result<(), OutputError> {
        let cells: Vec<String> = cells.iter().map(|cell| clean_line(cell)).collect();
        Ok(writeln!(self.0, "{}", cells.join("\t"))?)
    }

    /// Writes a line of JSON for programs.
    pub(crate) fn write_json(&mut self, json: &str) -> Result<(), OutputError> {
        Ok(writeln!(self.0, "{}", clean_json(json))?)
    }

    /// Writes cells for programs byte for byte; on a terminal, control characters are removed.
    pub(crate) fn write_csv(&mut self, text: &str) -> Result<(), OutputError> {
        let text = mask().mask_tokens(text);
        let text = if self.is_terminal() { sanitize_for_terminal(&text) } else { text };
        Ok(self.0.write_all(text.as_bytes())?)
    }

    fn is_terminal(&self) -> bool {
        self.0.get_ref().is_terminal()
    }

    pub(crate) fn finish(mut self) -> Result<(), OutputError> {
        Ok(self.0.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_escaped_without_changing_its_value() {
        let object =
            serde_json::json!({ "a": "\u{9b}31m \u{202e}x \u{e0041} \u{1b} \"q\" é👩\u{200d}👧" });
        let cleaned = clean_json(&object.to_string());
        assert!(cleaned.chars().all(is_safe_char), "{cleaned}");
        assert_eq!(serde_json::from_str::<Value>(&cleaned).unwrap(), object);
    }

    #[test]
    fn matched_words_are_bold_and_other_escapes_are_removed() {
        let pieces = pieces(&[("a \u{1b}[31m\n", false), ("pu\u{202e}mp\u{9b}", true)]);
        assert_eq!(format_pieces(&pieces, MatchStyle::Bold), "a [31m \u{1b}[1mpump\u{1b}[0m");
        assert_eq!(format_pieces(&pieces, MatchStyle::Plain), "a [31m pump");
    }

    #[test]
    fn secret_is_masked_when_a_match_splits_it() {
        let pieces = pieces(&[("ghp_01234567", false), ("89abcdef", true), ("GHI", false)]);
        assert_eq!(format_pieces(&pieces, MatchStyle::Bold), "[masked]");
    }

    #[test]
    fn cleaned_line_has_no_line_breaks() {
        assert_eq!(clean_line("a\nb\u{1b}[2J\tc"), "a b[2J c");
        assert_eq!(clean_text("a\nb\u{202e}"), "a\nb");
    }

    fn pieces(texts: &[(&str, bool)]) -> Vec<SnippetPiece> {
        let pieces = texts.iter();
        pieces
            .map(|(text, is_match)| SnippetPiece { text: (*text).to_owned(), is_match: *is_match })
            .collect()
    }
}
