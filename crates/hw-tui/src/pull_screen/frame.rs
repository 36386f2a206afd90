//! Draws the frame of the pull screen as cells.

use hw_rules::format::{format_duration, group_digits};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use super::activity_log::{ActivityEntry, MessageTone, VISIBLE_LINES};
use super::item_progress::{ItemProgress, ItemStatus};
use super::screen_state::ScreenState;
use crate::text_width::{display_width, fit_to_width};

const TITLE: &str = "highwater 🧠 pull";
const BORDER_STYLE: Style = Style::new().fg(Color::LightCyan);
const HEADING_STYLE: Style = Style::new().fg(Color::White).add_modifier(Modifier::BOLD);
const TEXT_STYLE: Style = Style::new();
const ERROR_STYLE: Style = Style::new().fg(Color::Red);

/// The spans between the borders of a row.
type StyledRow = Vec<Span<'static>>;

/// Draws the frame at this width and time. `time_of_day` formats an instant in local time.
pub fn draw_frame(
    state: &ScreenState,
    columns: u16,
    now_ms: i64,
    time_of_day: &dyn Fn(i64) -> String,
) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, state.frame_height()));
    let Some(right) = columns.checked_sub(1).filter(|right| *right >= 4) else { return buffer };
    let last = state.frame_height() - 1;
    draw_border(&mut buffer, 0, right, ["┌", "─", "┐"]);
    let title = fit_to_width(&format!(" {TITLE} "), usize::from(right) - 2);
    buffer.set_string(2, 0, title, BORDER_STYLE);
    for (y, row) in (1..last).zip(frame_rows(state, now_ms, time_of_day)) {
        draw_border(&mut buffer, y, right, ["│", " ", "│"]);
        draw_row(&mut buffer, y, right, row);
    }
    draw_border(&mut buffer, last, right, ["└", "─", "┘"]);
    buffer
}

fn frame_rows(
    state: &ScreenState,
    now_ms: i64,
    time_of_day: &dyn Fn(i64) -> String,
) -> Vec<StyledRow> {
    let mut rows = vec![StyledRow::new()];
    rows.extend(state.items.iter().map(|item| item_row(item, state.spinner.frame_at(now_ms))));
    rows.extend([
        StyledRow::new(),
        request_row(state),
        budget_row(state, now_ms),
        StyledRow::new(),
    ]);
    rows.push(vec![Span::styled("  💬 Activity", HEADING_STYLE)]);
    let entries: Vec<StyledRow> =
        state.activity.entries().map(|entry| activity_row(entry, time_of_day)).collect();
    let missing = VISIBLE_LINES - entries.len();
    rows.extend(entries);
    rows.resize_with(rows.len() + missing + 1, StyledRow::new);
    rows
}

fn item_row(item: &ItemProgress, spinner: &str) -> StyledRow {
    let (icon, style) = match item.status() {
        ItemStatus::Pending => ("⚪", TEXT_STYLE),
        ItemStatus::Active => (spinner, Style::new().fg(Color::Blue)),
        ItemStatus::Completed => ("✅", Style::new().fg(Color::Green)),
        ItemStatus::Skipped => ("🔕", Style::new().fg(Color::DarkGray).add_modifier(Modifier::DIM)),
        ItemStatus::Failed => ("❌", ERROR_STYLE),
    };
    vec![Span::styled(format!("  {icon} {}", item.label()), style)]
}

fn request_row(state: &ScreenState) -> StyledRow {
    let [answered, retried, failed] =
        [state.response_count, state.retry_count, state.error_count].map(group_digits);
    let counts = format!("    ✅ {answered}   ⚠\u{fe0f} {retried}   ❌ {failed}");
    vec![Span::styled("  📊 API Status", HEADING_STYLE), Span::styled(counts, TEXT_STYLE)]
}

fn budget_row(state: &ScreenState, now_ms: i64) -> StyledRow {
    let usage = match state.budget {
        None => "? / ? used, resets ?".to_owned(),
        Some(budget) => {
            let resets = format_duration(budget.resets_ms.saturating_sub(now_ms));
            format!("{}/{} used, resets in {resets}", budget.used, budget.limit)
        }
    };
    let waiting = match state.paused_until_ms.saturating_sub(now_ms) {
        ms if ms > 0 => format!("; wait {}", format_duration(ms)),
        _ => String::new(),
    };
    vec![
        Span::styled("  🚀 Rate Limit", HEADING_STYLE),
        Span::styled(format!("    {usage}{waiting}"), TEXT_STYLE),
    ]
}

fn activity_row(entry: &ActivityEntry, time_of_day: &dyn Fn(i64) -> String) -> StyledRow {
    let style = match entry.tone {
        MessageTone::Plain => TEXT_STYLE,
        MessageTone::Error => ERROR_STYLE,
    };
    vec![Span::styled(format!("     {} {}", time_of_day(entry.at_ms), entry.text), style)]
}

fn draw_border(buffer: &mut Buffer, y: u16, right: u16, [left, middle, end]: [&str; 3]) {
    buffer.set_string(0, y, left, BORDER_STYLE);
    if middle != " " {
        (1..right).for_each(|x| buffer.set_string(x, y, middle, BORDER_STYLE));
    }
    buffer.set_string(right, y, end, BORDER_STYLE);
}

/// Draws a row between the borders, with one empty column before the right one.
fn draw_row(buffer: &mut Buffer, y: u16, right: u16, row: StyledRow) {
    let mut x = 1;
    for span in row {
        let text = fit_to_width(&span.content, usize::from(right - x).saturating_sub(1));
        buffer.set_string(x, y, &text, span.style);
        x = x.saturating_add(u16::try_from(display_width(&text)).unwrap_or(right)).min(right);
    }
}
