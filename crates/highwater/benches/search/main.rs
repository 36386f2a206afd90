//! `cargo bench --bench search`: how long a search takes in a million texts, as one table, offline.
//!
//! Time is that of the processor where the engine works on our own thread. `-- --documents 100000` is over in
//! a minute; `-- --database FILE` keeps the texts for the next time; `-- --only WORDS` looks at the classes with these
//! words in their names, and at nothing else.

#![expect(clippy::unwrap_used, reason = "a bench may stop where it stands")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]
#![expect(clippy::print_stderr, reason = "a person waits for minutes")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and ranks are small"
)]

mod classes;
mod mcp;
mod measure;
mod world;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use classes::Class;
use hw_store::{Place, SearchEngine, Store, Workspace};
use mcp::Mcp;
use measure::{Measured, measure};

fn main() {
    let documents = argument("--documents").map_or(1_000_000, |it| it.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = argument("--database").map_or_else(|| folder.path().join("bench.db"), PathBuf::from);
    let store = world::made(&path, documents);
    let engine = engine(&path);
    let mut table = Table::new();
    let only = argument("--only").unwrap_or_default();
    let mut classes = classes::all();
    classes.retain(|class| class.name.contains(&only));

    // what is remembered is asked once
    measure(&engine, &["once".to_owned()]);
    let mut all = Measured::default();
    for Class { name, queries, is_counted } in &classes {
        let measured = measure(&engine, queries);
        table.row(name, &measured, is_counted.then(|| ("p95 ≤ 50 ms", measured.cpu(0.95) <= 50.0)));
        if *is_counted {
            all.extend(&measured);
        }
    }
    table.row("all with a promise, mixed", &all, Some(("p50 ≤ 5 ms", all.cpu(0.5) <= 5.0)));

    if !only.is_empty() {
        return;
    }
    let counted: Vec<&Class> = classes.iter().filter(|class| class.is_counted).collect();
    let written = while_writing(&store, &engine, &counted, documents);
    table.row(
        "the same while a pull writes",
        &written,
        Some(("p95 ≤ 100 ms", written.cpu(0.95) <= 100.0)),
    );
    through_mcp(&mut table, &path, &engine, &counted);
    assert!(table.is_kept, "a promise is broken");
}

fn engine(path: &Path) -> SearchEngine {
    let reader = Store::open_reader(&Place::File(path.to_owned())).unwrap();
    SearchEngine::over(Workspace::over(reader))
}

/// Pages of a hundred new texts go in without a pause, while somebody searches.
fn while_writing(
    store: &Store,
    engine: &SearchEngine,
    classes: &[&Class],
    documents: usize,
) -> Measured {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let lease = world::lease(store);
            let mut next = documents;
            while !is_over.load(Ordering::Relaxed) {
                store.ingest_all(&lease, &world::pages(next..next + 100)).unwrap();
                next += 100;
            }
            next - documents
        });
        let mut measured = Measured::default();
        classes.iter().for_each(|class| measured.extend(&measure(engine, &class.queries)));
        is_over.store(true, Ordering::Relaxed);
        eprintln!("{} texts were written meanwhile", writer.join().unwrap());
        measured
    })
}

/// What MCP adds to a search is the difference of two medians on the wall, in one run.
fn through_mcp(table: &mut Table, path: &Path, engine: &SearchEngine, classes: &[&Class]) {
    let mut mcp = Mcp::over(path);
    mcp.search(&["once".to_owned()]);
    let (mut ours, mut theirs) = (Measured::default(), Measured::default());
    for class in classes {
        ours.extend(&measure(engine, &class.queries));
        theirs.extend(&mcp.search(&class.queries));
    }
    let added = theirs.wall(0.5) - ours.wall(0.5);
    table.row(
        &format!("the same by MCP, which adds {added:.1} ms"),
        &theirs,
        Some(("adds ≤ 5 ms", added <= 5.0)),
    );
    let lists = mcp.list(40);
    table.row(
        "list_issues of 1,000 by MCP",
        &lists,
        Some(("p50 ≤ 50 ms", lists.wall(0.5) <= 50.0)),
    );
}

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}

/// Prints row by row.
struct Table {
    is_kept: bool,
}

impl Table {
    fn new() -> Self {
        println!("| searching | CPU p50 | p95 | max | wall p50 | p95 | promise |");
        println!("|---|---|---|---|---|---|---|");
        Self { is_kept: true }
    }

    fn row(&mut self, name: &str, measured: &Measured, promise: Option<(&str, bool)>) {
        let ms = |value: f64| if value == 0.0 { String::new() } else { format!("{value:.1} ms") };
        let [p50, p95, max] = [0.5, 0.95, 1.0].map(|part| ms(measured.cpu(part)));
        let [wall, late] = [0.5, 0.95].map(|part| ms(measured.wall(part)));
        let told =
            promise.map(|(told, kept)| format!("{told}: {}", if kept { "kept" } else { "BROKEN" }));
        self.is_kept &= promise.is_none_or(|(_, kept)| kept);
        println!(
            "| {name} | {p50} | {p95} | {max} | {wall} | {late} | {} |",
            told.unwrap_or_default()
        );
    }
}
