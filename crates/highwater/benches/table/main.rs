//! `cargo bench`: measures the cost and the speed of pulls, offline, and prints one table.
//!
//! The program pulls from the simulated GitHub over a loopback socket, at GitHub's own limits per minute; the
//! simulator counts requests and points. Machines differ: compare figures of one run only.
//! `cargo bench -- --items 50000` takes a minute. `--postgres postgres://user@host:port/database` measures that server
//! as well.

#![expect(clippy::unwrap_used, reason = "a bench may panic")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::print_stderr, reason = "progress for a run of several minutes")]

mod bench_server;
#[path = "../shared/doc_page.rs"]
mod doc_page;
mod ingest;
mod pulls;

/// The row of one measurement.
pub(crate) struct BenchRow {
    name: String,
    requests: Option<u64>,
    points: Option<u64>,
    items: u64,
    ms: i64,
    /// The peak memory of the program, in kilobytes.
    peak_kb: Option<u64>,
    promise: Option<BenchPromise>,
}

/// A bound that every machine must keep.
pub(crate) struct BenchPromise {
    text: String,
    is_kept: bool,
}

fn main() {
    let items = item_count();
    let mut rows = Vec::new();
    add_measured(&mut rows, ingest::bench_ingest(items / 5));
    if let Some(url) = argument("--postgres") {
        add_measured(&mut rows, ingest::bench_ingest_postgres(&url, items / 5));
        add_measured(&mut rows, pulls::bench_postgres(&url));
    }
    add_measured(&mut rows, pulls::bench_organization());
    add_measured(&mut rows, pulls::bench_small_repositories());
    add_measured(&mut rows, pulls::bench_settled());
    add_measured(&mut rows, pulls::bench_comments());
    add_measured(&mut rows, pulls::bench_large_mirror(items));
    let table = format_table(&rows);
    println!("{table}");
    doc_page::update_table("pulls", &table);
    let promises = rows.iter().filter_map(|row| row.promise.as_ref());
    assert_eq!(promises.filter(|promise| !promise.is_kept).count(), 0, "a promise is broken");
}

fn add_measured(rows: &mut Vec<BenchRow>, measured: Vec<BenchRow>) {
    measured.iter().for_each(|row| eprintln!("measured: {}", row.columns().join("; ")));
    rows.extend(measured);
}

/// Returns the size of the largest mirror: `--items N`, or a million.
fn item_count() -> usize {
    argument("--items").map_or(1_000_000, |number| number.parse().expect("--items takes a number"))
}

/// Returns the argument after this flag.
fn argument(flag: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != flag).nth(1)
}

fn format_table(rows: &[BenchRow]) -> String {
    let heads = ["what", "requests", "points", "items", "time", "items/s", "peak", "promise"];
    let mut table = vec![heads.map(str::to_owned)];
    table.extend(rows.iter().map(BenchRow::columns));
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| table.iter().map(|row| row[column].chars().count()).max().unwrap())
        .collect();
    let mut lines: Vec<String> = table.iter().map(|row| format_line(row, &widths)).collect();
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    lines.insert(1, format!("|-{}-|", rules.join("-|-")));
    lines.join("\n")
}

fn format_line(row: &[String; 8], widths: &[usize]) -> String {
    let cells: Vec<String> = row
        .iter()
        .enumerate()
        .map(|(column, text)| match column {
            0 | 7 => format!("{text:<width$}", width = widths[column]),
            _ => format!("{text:>width$}", width = widths[column]),
        })
        .collect();
    format!("| {} |", cells.join(" | "))
}

fn format_number(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

impl BenchRow {
    fn columns(&self) -> [String; 8] {
        let rate = (self.items * 1_000).checked_div(self.ms.unsigned_abs());
        let promise = self.promise.as_ref().map(|promise| {
            let mark = if promise.is_kept { "kept" } else { "BROKEN" };
            format!("{}: {mark}", promise.text)
        });
        [
            self.name.clone(),
            format_number(self.requests),
            format_number(self.points),
            self.items.to_string(),
            format!("{}.{:01} s", self.ms / 1_000, self.ms % 1_000 / 100),
            format_number(rate.filter(|_| self.items > 0)),
            self.peak_kb.map(|kb| format!("{} MB", kb / 1_024)).unwrap_or_default(),
            promise.unwrap_or_default(),
        ]
    }
}
