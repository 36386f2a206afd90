//! Compares `docs/console.svg` with a picture of the pull screen.

use std::fmt::Write as _;
use std::path::Path;

use hw_rules::item::ThreadKind;
use hw_rules::lane::{PullItem, Surface};
use hw_rules::progress_event::ProgressEvent;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::tests::{START_MS, complete_first_item, draw_at, start_first_item};
use super::*;
use crate::text_width::display_width;

const COLUMNS: u16 = 72;
/// The size of a cell, in pixels.
const CELL_PIXELS: (u16, u16) = (9, 19);

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may read its own environment")]
fn screen_picture_in_docs_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/console.svg");
    let drawn = render_svg(&sample_frame());
    if std::env::var_os("HIGHWATER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == drawn,
        "docs/console.svg differs: run the tests once with HIGHWATER_UPDATE_DOCS=1"
    );
}

/// Draws a screen with complete repositories, and with discussions and issues in progress.
fn sample_frame() -> Buffer {
    let mut state = ScreenState::new(&PullItem::DEFAULT.into(), START_MS);
    start_first_item(&mut state);
    complete_first_item(&mut state);
    let (surface, now_ms) = (Surface::Threads(ThreadKind::Issue), START_MS + 64_000);
    state.apply(
        ProgressEvent::PageStored { surface, page: 1, observed: 1_247, stored: 100 },
        now_ms,
    );
    draw_at(&state, COLUMNS, now_ms)
}

/// Renders the cells as a picture: each run of one style is a text element, and so is each wide character.
fn render_svg(buffer: &Buffer) -> String {
    let (across, down) =
        (CELL_PIXELS.0 * (buffer.area.width + 2), CELL_PIXELS.1 * (buffer.area.height + 1));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{across}\" height=\"{down}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <title>The pull console</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16161e\"/>\n"
    );
    for y in 0..buffer.area.height {
        write_svg_row(&mut out, buffer, y);
    }
    out.push_str("</svg>\n");
    out
}

fn write_svg_row(out: &mut String, buffer: &Buffer, y: u16) {
    let mut x = 0;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let mut text = cell.symbol().to_owned();
        let mut end = x + u16::try_from(display_width(&text)).unwrap();
        while end < buffer.area.width && can_extend_run(cell, &buffer[(end, y)]) {
            text.push_str(buffer[(end, y)].symbol());
            end += 1;
        }
        if !text.trim().is_empty() {
            let (left, base) = (CELL_PIXELS.0 * (x + 1), CELL_PIXELS.1 * (y + 1));
            let length = CELL_PIXELS.0 * (end - x);
            let bold =
                if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
            writeln!(
                out,
                "<text x=\"{left}\" y=\"{base}\" textLength=\"{length}\" fill=\"{}\"{bold} \
                 xml:space=\"preserve\">{text}</text>",
                svg_color(cell.fg)
            )
            .unwrap();
        }
        x = end;
    }
}

fn can_extend_run(first: &Cell, next: &Cell) -> bool {
    let is_plain = first.symbol().is_ascii() && next.symbol().is_ascii();
    let is_line = first.symbol() == "─" && next.symbol() == "─";
    first.style() == next.style() && (is_plain || is_line)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the frame has no other colors")]
fn svg_color(color: Color) -> &'static str {
    match color {
        Color::Red => "#f7768e",
        Color::Green => "#9ece6a",
        Color::Blue => "#7aa2f7",
        Color::White => "#ffffff",
        Color::LightCyan => "#7dcfff",
        Color::DarkGray => "#6b7089",
        _ => "#d5d8e6",
    }
}
