//! `cargo bench`: what a pull costs and how fast it is, as one table, offline.
//!
//! The program itself pulls from the simulated GitHub over a loopback socket, at GitHub's own limits for a
//! minute; requests and points are counted by the simulator. Machines differ: compare figures of one run.
//! `cargo bench -- --items 50000` is over in a minute, for a first look.

#![expect(clippy::unwrap_used, reason = "a bench may stop where it stands")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]
#![expect(clippy::print_stderr, reason = "a person waits for minutes")]

mod ingest;
mod pulls;
mod stage;

/// The row of one measurement.
pub(crate) struct Row {
    what: String,
    requests: Option<u64>,
    points: Option<u64>,
    items: u64,
    ms: i64,
    /// The most memory the program held, in kilobytes.
    peak_kb: Option<u64>,
    /// What must hold, and whether it does.
    promise: Option<(String, bool)>,
}

fn main() {
    let items = items();
    let mut rows = Vec::new();
    let mut take = |measured: Vec<Row>| {
        measured.iter().for_each(|row| eprintln!("measured: {}", row.columns().join("; ")));
        rows.extend(measured);
    };
    take(ingest::ingest(items / 5));
    take(pulls::organization());
    take(pulls::small_repositories());
    take(pulls::settled());
    take(pulls::comments());
    take(pulls::many(items));
    print(&rows);
    let broken = rows.iter().filter_map(|row| row.promise.as_ref()).filter(|(_, kept)| !kept);
    assert_eq!(broken.count(), 0, "a promise is broken");
}

/// How many items the largest mirror holds: `--items N`, else a million.
fn items() -> usize {
    let mut args = std::env::args().skip_while(|arg| arg != "--items").skip(1);
    args.next().map_or(1_000_000, |number| number.parse().expect("--items takes a number"))
}

fn print(rows: &[Row]) {
    let heads = ["what", "requests", "points", "items", "time", "items/s", "peak", "promise"];
    let mut table = vec![heads.map(str::to_owned)];
    table.extend(rows.iter().map(Row::columns));
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap();
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    for (at, row) in table.iter().enumerate() {
        println!("{}", line(row, &widths));
        if at == 0 {
            let rules = widths.iter().map(|width| "-".repeat(*width));
            println!("|-{}-|", rules.collect::<Vec<_>>().join("-|-"));
        }
    }
}

fn line(row: &[String; 8], widths: &[usize]) -> String {
    let cell = |(at, text): (usize, &String)| match at {
        0 | 7 => format!("{text:<width$}", width = widths[at]),
        _ => format!("{text:>width$}", width = widths[at]),
    };
    let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
    format!("| {} |", cells.join(" | "))
}

impl Row {
    fn columns(&self) -> [String; 8] {
        let number = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
        let rate = (self.items * 1_000).checked_div(self.ms.unsigned_abs());
        let promise = self.promise.as_ref().map(|(told, kept)| {
            let mark = if *kept { "kept" } else { "BROKEN" };
            format!("{told}: {mark}")
        });
        [
            self.what.clone(),
            number(self.requests),
            number(self.points),
            self.items.to_string(),
            format!("{}.{:01} s", self.ms / 1_000, self.ms % 1_000 / 100),
            number(rate.filter(|_| 0 < self.items)),
            self.peak_kb.map(|kb| format!("{} MB", kb / 1_024)).unwrap_or_default(),
            promise.unwrap_or_default(),
        ]
    }
}
