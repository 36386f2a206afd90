//! Prints the times of searches as a table of Markdown.

use crate::search_times::SearchTimes;

/// Prints the table row by row.
pub(crate) struct ResultTable {
    pub(crate) lines: Vec<String>,
    /// True if all promises are kept.
    pub(crate) is_kept: bool,
}

impl ResultTable {
    pub(crate) fn new() -> Self {
        let mut table = Self { lines: Vec::new(), is_kept: true };
        table.print_line("| search | CPU p50 | p95 | max | wall p50 | p95 | promise |".to_owned());
        table.print_line("|---|---|---|---|---|---|---|".to_owned());
        table
    }

    fn print_line(&mut self, line: String) {
        println!("{line}");
        self.lines.push(line);
    }

    pub(crate) fn print_row(
        &mut self,
        name: &str,
        measured: &SearchTimes,
        promise: Option<(&str, bool)>,
    ) {
        let [p50, p95, max] = [0.5, 0.95, 1.0].map(|part| format_ms(measured.cpu_quantile(part)));
        let [wall, late] = [0.5, 0.95].map(|part| format_ms(measured.wall_quantile(part)));
        let promise_text = promise
            .map(|(text, is_kept)| format!("{text}: {}", if is_kept { "kept" } else { "BROKEN" }))
            .unwrap_or_default();
        self.is_kept &= promise.is_none_or(|(_, is_kept)| is_kept);
        self.print_line(format!(
            "| {name} | {p50} | {p95} | {max} | {wall} | {late} | {promise_text} |"
        ));
    }
}

fn format_ms(value: f64) -> String {
    if value == 0.0 { String::new() } else { format!("{value:.1} ms") }
}
