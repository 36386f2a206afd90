//! `cargo bench`: measures the cost and the speed of pulls, offline, and prints one table.
//!
//! The program pulls from the simulated GitHub over a loopback socket, at GitHub's own limits per minute; the
//! simulator counts requests and points. Machines differ: compare figures of one run only.
//! `cargo bench --bench table -- --items 50000` takes a minute.

#![expect(clippy::unwrap_used, reason = "a bench may panic")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::print_stderr, reason = "progress for a run of several minutes")]

mod bench_server;
#[path = "../shared/doc_page.rs"]
mod doc_page;
#[path = "../shared/markdown_table.rs"]
mod markdown_table;
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
    let rows: Vec<Vec<String>> = rows.iter().map(BenchRow::columns).collect();
    markdown_table::format_table(&heads, &rows)
}

fn format_number(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

impl BenchRow {
    fn columns(&self) -> Vec<String> {
        let rate = (self.items * 1_000).checked_div(self.ms.unsigned_abs());
        let promise = self.promise.as_ref().map(|promise| {
            let mark = if promise.is_kept { "kept" } else { "BROKEN" };
            format!("{}: {mark}", promise.text)
        });
        vec![
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
