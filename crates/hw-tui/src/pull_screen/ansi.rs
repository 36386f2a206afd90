//! Encodes cells as text with escape sequences for a terminal.
//!
//! Terminals disagree about the width of some characters. After each character that is not clearly one column wide,
//! the cursor is set to the next column, so that the borders line up in every terminal.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::text_width::display_width;

/// The use of colors. Bold and dim are not colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorMode {
    Colors,
    NoColors,
}

/// Encodes the first `rows` rows, one text each. Each text writes every column of the buffer.
pub fn encode_rows(buffer: &Buffer, rows: u16, colors: ColorMode) -> Vec<String> {
    (0..buffer.area.height.min(rows)).map(|y| encode_row(buffer, y, colors)).collect()
}

fn encode_row(buffer: &Buffer, y: u16, colors: ColorMode) -> String {
    let mut out = String::new();
    let mut style = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let cell_style = style_codes(cell, colors);
        if cell_style != style {
            write!(out, "\u{1b}[0{cell_style}m").expect("writing to a string cannot fail");
            style = cell_style;
        }
        x += write_symbol(&mut out, cell.symbol(), x);
    }
    out.push_str("\u{1b}[0m");
    out
}

/// Writes the symbol of column `x`, and returns the number of columns that it takes.
fn write_symbol(out: &mut String, symbol: &str, x: u16) -> u16 {
    let columns = u16::try_from(display_width(symbol)).unwrap_or(1).max(1);
    if symbol.is_ascii() || "┌─┐│└┘".contains(symbol) {
        out.push_str(symbol);
    } else {
        // erase first: a terminal that draws the symbol narrower would leave an old character beside it
        let next = x + columns + 1;
        write!(out, "\u{1b}[{columns}X{symbol}\u{1b}[{next}G")
            .expect("writing to a string cannot fail");
    }
    columns
}

/// Returns the escape parameters of a cell's style, each after a semicolon.
fn style_codes(cell: &Cell, colors: ColorMode) -> String {
    let bold = if cell.modifier.contains(Modifier::BOLD) { ";1" } else { "" };
    let dim = if cell.modifier.contains(Modifier::DIM) { ";2" } else { "" };
    let color = match colors {
        ColorMode::Colors => color_code(cell.fg),
        ColorMode::NoColors => "",
    };
    format!("{bold}{dim}{color}")
}

fn color_code(color: Color) -> &'static str {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the frame has no other colors")]
    match color {
        Color::Red => ";31",
        Color::Green => ";32",
        Color::Blue => ";94",
        Color::White => ";97",
        Color::LightCyan => ";96",
        Color::DarkGray => ";90",
        _ => "",
    }
}
