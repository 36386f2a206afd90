//! Cells, as bytes for a terminal.
//!
//! Terminals disagree about how wide some characters are. After each one that is not plainly one column
//! wide the next column is named, so that a border stands where it belongs whatever they believe.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::words::width;

/// Whether colours may be used. Bold and dim are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Colours,
    NoColours,
}

/// One text a row, the first `rows` of them; each writes every column of the buffer.
pub fn paint(buffer: &Buffer, rows: u16, with: Paint) -> Vec<String> {
    (0..buffer.area.height.min(rows)).map(|y| row(buffer, y, with)).collect()
}

fn row(buffer: &Buffer, y: u16, with: Paint) -> String {
    let mut out = String::new();
    let mut manner = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let wanted = manner_of(cell, with);
        if wanted != manner {
            write!(out, "\u{1b}[0{wanted}m").expect("a text takes everything");
            manner = wanted;
        }
        x += symbol(&mut out, cell.symbol(), x);
    }
    out.push_str("\u{1b}[0m");
    out
}

/// Writes a symbol that stands in column `x`; how many columns it takes.
fn symbol(out: &mut String, symbol: &str, x: u16) -> u16 {
    let columns = u16::try_from(width(symbol)).unwrap_or(1).max(1);
    if symbol.is_ascii() || "┌─┐│└┘".contains(symbol) {
        out.push_str(symbol);
    } else {
        // a terminal that believes it to be narrower would leave what stood beside it
        let next = x + columns + 1;
        write!(out, "\u{1b}[{columns}X{symbol}\u{1b}[{next}G").expect("a text takes everything");
    }
    columns
}

/// The parameters of a cell's look, each after a semicolon.
fn manner_of(cell: &Cell, with: Paint) -> String {
    let bold = if cell.modifier.contains(Modifier::BOLD) { ";1" } else { "" };
    let dim = if cell.modifier.contains(Modifier::DIM) { ";2" } else { "" };
    let colour = match with {
        Paint::Colours => colour(cell.fg),
        Paint::NoColours => "",
    };
    format!("{bold}{dim}{colour}")
}

fn colour(colour: Color) -> &'static str {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the frame has no other colours")]
    match colour {
        Color::Red => ";31",
        Color::Green => ";32",
        Color::Blue => ";94",
        Color::White => ";97",
        Color::LightCyan => ";96",
        Color::DarkGray => ";90",
        _ => "",
    }
}
