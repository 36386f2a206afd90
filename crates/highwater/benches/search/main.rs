//! `cargo bench --bench search`: how long a search takes in a million texts, as one table, offline.
//!
//! Time is that of the processor: the engine works on the caller's thread. `-- --documents 100000` is over in a
//! minute; `-- --database FILE` keeps the texts for the next time.

#![expect(clippy::unwrap_used, reason = "a bench may stop where it stands")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]
#![expect(clippy::print_stderr, reason = "a person waits for minutes")]

mod classes;
mod measure;
mod world;

use std::path::PathBuf;

use hw_store::{SearchEngine, Workspace};
use measure::{Measured, measure};

fn main() {
    let documents = argument("--documents").map_or(1_000_000, |it| it.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = argument("--database").map_or_else(|| folder.path().join("bench.db"), PathBuf::from);
    let store = world::made(&path, documents);
    let reader = hw_store::Store::open_reader(&hw_store::Place::File(path)).unwrap();
    let engine = SearchEngine::over(Workspace::over(reader));

    println!(
        "| {:<46} | {:>9} | {:>9} | {:>9} | {:>10} |",
        "searching", "p50", "p95", "max", "p50, wall"
    );
    println!(
        "|{}|",
        ["-".repeat(48), "-".repeat(11), "-".repeat(11), "-".repeat(11), "-".repeat(12)].join("|")
    );
    let mut all = Measured::default();
    for class in classes::all() {
        let measured = measure(&engine, &class.queries);
        println!("{}", measured.row(class.name));
        if class.is_counted {
            all.extend(measured);
        }
    }
    println!("{}", all.row("all of the first part, mixed"));
    drop(store);
}

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}
