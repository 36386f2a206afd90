//! The frame, as cells.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::activity::{Entry, SHOWN, Tone};
use super::item::{Item, Status};
use super::state::State;
use crate::words::{fitted, grouped, span, width};

const TITLE: &str = "highwater 🧠 pull";
const BORDER: Style = Style::new().fg(Color::LightCyan);
const HEAD: Style = Style::new().fg(Color::White).add_modifier(Modifier::BOLD);
const TEXT: Style = Style::new();
const BAD: Style = Style::new().fg(Color::Red);

/// A row between the borders: texts, each in its own manner.
type Row = Vec<(String, Style)>;

/// The frame at this width and time; `local` tells an instant as the time of day.
pub fn draw(state: &State, columns: u16, now_ms: i64, local: &dyn Fn(i64) -> String) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, state.height()));
    let Some(right) = columns.checked_sub(1).filter(|right| 4 <= *right) else { return buffer };
    let last = state.height() - 1;
    border(&mut buffer, 0, right, ["┌", "─", "┐"]);
    let title = fitted(&format!(" {TITLE} "), usize::from(right) - 2);
    buffer.set_string(2, 0, title, BORDER);
    for (y, row) in (1..last).zip(rows(state, now_ms, local)) {
        border(&mut buffer, y, right, ["│", " ", "│"]);
        put(&mut buffer, y, right, row);
    }
    border(&mut buffer, last, right, ["└", "─", "┘"]);
    buffer
}

fn rows(state: &State, now_ms: i64, local: &dyn Fn(i64) -> String) -> Vec<Row> {
    let mut rows = vec![Row::new()];
    rows.extend(state.items.iter().map(|item| item_row(item, state.spinner.face(now_ms))));
    rows.extend([Row::new(), calls(state), budget(state, now_ms), Row::new()]);
    rows.push(vec![("  💬 Activity".to_owned(), HEAD)]);
    let entries: Vec<Row> = state.activity.entries().map(|entry| activity(entry, local)).collect();
    let missing = SHOWN - entries.len();
    rows.extend(entries);
    rows.resize_with(rows.len() + missing + 1, Row::new);
    rows
}

fn item_row(item: &Item, spinner: &str) -> Row {
    let (icon, style) = match item.status() {
        Status::Pending => ("⚪", TEXT),
        Status::Active => (spinner, Style::new().fg(Color::Blue)),
        Status::Completed => ("✅", Style::new().fg(Color::Green)),
        Status::Skipped => ("🔕", Style::new().fg(Color::DarkGray).add_modifier(Modifier::DIM)),
        Status::Failed => ("❌", BAD),
    };
    vec![(format!("  {icon} {}", item.label()), style)]
}

fn calls(state: &State) -> Row {
    let [answered, retried, failed] = [state.answered, state.retried, state.failed].map(grouped);
    let counts = format!("    ✅ {answered}   ⚠\u{fe0f} {retried}   ❌ {failed}");
    vec![("  📊 API Status".to_owned(), HEAD), (counts, TEXT)]
}

fn budget(state: &State, now_ms: i64) -> Row {
    let told = match state.budget {
        None => "? / ? used, resets ?".to_owned(),
        Some(budget) => {
            let resets = span(budget.resets_ms.saturating_sub(now_ms));
            format!("{}/{} used, resets in {resets}", budget.used, budget.limit)
        }
    };
    let waiting = match state.paused_until_ms.saturating_sub(now_ms) {
        ms if 0 < ms => format!("; wait {}", span(ms)),
        _ => String::new(),
    };
    vec![("  🚀 Rate Limit".to_owned(), HEAD), (format!("    {told}{waiting}"), TEXT)]
}

fn activity(entry: &Entry, local: &dyn Fn(i64) -> String) -> Row {
    let style = match entry.tone {
        Tone::Plain => TEXT,
        Tone::Error => BAD,
    };
    vec![(format!("     {} {}", local(entry.at_ms), entry.text), style)]
}

fn border(buffer: &mut Buffer, y: u16, right: u16, [left, middle, end]: [&str; 3]) {
    buffer.set_string(0, y, left, BORDER);
    if middle != " " {
        (1..right).for_each(|x| buffer.set_string(x, y, middle, BORDER));
    }
    buffer.set_string(right, y, end, BORDER);
}

/// Writes a row between the borders, with one column of air before the right one.
fn put(buffer: &mut Buffer, y: u16, right: u16, row: Row) {
    let mut x = 1;
    for (text, style) in row {
        let text = fitted(&text, usize::from(right - x).saturating_sub(1));
        buffer.set_string(x, y, &text, style);
        x = x.saturating_add(u16::try_from(width(&text)).unwrap_or(right)).min(right);
    }
}
