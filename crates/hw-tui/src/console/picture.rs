//! `docs/console.svg` is what the console draws; this test keeps it so.

use std::fmt::Write as _;
use std::path::Path;

use hw_rules::lane::{Choice, Surface};
use hw_rules::news::News;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::tests::{START_MS, drawn, first_item_complete, first_item_under_way};
use super::*;
use crate::words::width;

const COLUMNS: u16 = 72;
/// The size of a cell, in pixels.
const CELL: (u16, u16) = (9, 19);

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may read its own environment")]
fn the_picture_is_what_the_console_draws() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/console.svg");
    let drawn = svg(&frame());
    if std::env::var_os("HIGHWATER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        held == drawn,
        "docs/console.svg differs: run the tests once with HIGHWATER_UPDATE_DOCS=1"
    );
}

/// Repositories done, discussions and issues under way.
fn frame() -> Buffer {
    let mut state = State::new(&Choice::USUAL.into(), START_MS);
    first_item_under_way(&mut state);
    first_item_complete(&mut state);
    let (surface, now_ms) = (Surface::Issues, START_MS + 64_000);
    state.hear(News::Kept { surface, page: 1, seen: 1_247, stored: 100 }, now_ms);
    drawn(&state, COLUMNS, now_ms)
}

/// A picture of the cells: each run of one look is a text, and each wide letter one of its own.
fn svg(buffer: &Buffer) -> String {
    let (across, down) = (CELL.0 * (buffer.area.width + 2), CELL.1 * (buffer.area.height + 1));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{across}\" height=\"{down}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <title>The pull console</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16161e\"/>\n"
    );
    for y in 0..buffer.area.height {
        row(&mut out, buffer, y);
    }
    out.push_str("</svg>\n");
    out
}

fn row(out: &mut String, buffer: &Buffer, y: u16) {
    let mut x = 0;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let mut text = cell.symbol().to_owned();
        let mut end = x + u16::try_from(width(&text)).unwrap();
        let is_plain = |x: u16| buffer[(x, y)].symbol().is_ascii() && cell.symbol().is_ascii();
        let is_line = |x: u16| buffer[(x, y)].symbol() == "─" && cell.symbol() == "─";
        while end < buffer.area.width
            && buffer[(end, y)].style() == cell.style()
            && (is_plain(end) || is_line(end))
        {
            text.push_str(buffer[(end, y)].symbol());
            end += 1;
        }
        if !text.trim().is_empty() {
            let (left, base) = (CELL.0 * (x + 1), CELL.1 * (y + 1));
            let length = CELL.0 * (end - x);
            let bold =
                if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
            writeln!(
                out,
                "<text x=\"{left}\" y=\"{base}\" textLength=\"{length}\" fill=\"{}\"{bold} \
                 xml:space=\"preserve\">{text}</text>",
                colour(cell.fg)
            )
            .unwrap();
        }
        x = end;
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the frame has no other colours")]
fn colour(colour: Color) -> &'static str {
    match colour {
        Color::Red => "#f7768e",
        Color::Green => "#9ece6a",
        Color::Blue => "#7aa2f7",
        Color::White => "#ffffff",
        Color::LightCyan => "#7dcfff",
        Color::DarkGray => "#6b7089",
        _ => "#d5d8e6",
    }
}
