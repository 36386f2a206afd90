//! `cargo bench --bench search`: measures searches in a million texts and questions about a million posts, offline.
//!
//! Times are CPU times where the engine runs on the bench's own thread. `-- searches` or `-- posts` measures one of the two.
//! `-- --documents 100000` takes a minute; `-- searches --database FILE` keeps the texts for the next run, and `-- posts
//! --database FILE` the posts; `-- --only WORDS` measures only the classes with these words in their names.

#![expect(clippy::unwrap_used, reason = "a bench may panic")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::print_stderr, reason = "progress for a run of several minutes")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and ranks are small"
)]

mod corpus;
#[path = "../shared/doc_page.rs"]
mod doc_page;
mod mcp_client;
mod post_corpus;
mod post_questions;
mod query_classes;
mod result_table;
mod search_times;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hw_store::{DatabaseLocation, SearchEngine, StoreReader, StoreWriter, Workspace};
use mcp_client::McpBenchClient;
use query_classes::QueryClass;
use result_table::ResultTable;
use search_times::{SearchTimes, measure_searches};

fn main() {
    let documents =
        read_argument("--documents").map_or(1_000_000, |number| number.parse().unwrap());
    let only = read_argument("--only").unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let kept = read_argument("--database").map(PathBuf::from);
    let mut is_kept = true;
    for (name, measure) in PARTS {
        if !is_requested(name) {
            continue;
        }
        let path = kept.clone().unwrap_or_else(|| folder.path().join(name).with_extension("db"));
        let mut table = ResultTable::new();
        measure(&mut table, &path, documents, &only);
        if only.is_empty() {
            doc_page::update_table(name, &table.lines.join("\n"));
        }
        is_kept &= table.is_kept;
    }
    assert!(is_kept, "a promise is broken");
}

/// Measures one part: the table to print, the database, the number of texts, and words in the names of the classes.
type MeasurePart = fn(&mut ResultTable, &Path, usize, &str);

/// The parts of the bench, with the names of their tables.
const PARTS: [(&str, MeasurePart); 2] =
    [("searches", measure_texts), ("posts", post_questions::measure_posts)];

/// Returns true if the arguments name this part, or none.
fn is_requested(part: &str) -> bool {
    let named = |name| std::env::args().any(|arg| arg == name);
    named(part) || !PARTS.iter().any(|(name, _)| named(*name))
}

fn measure_texts(table: &mut ResultTable, path: &Path, documents: usize, only: &str) {
    let store = corpus::open_or_create(path, documents);
    let engine = open_engine(path);
    let mut classes = query_classes::all_classes();
    classes.retain(|class| class.name.contains(only));

    // fills the caches
    measure_searches(&engine, &["once".to_owned()]);
    let mut all = SearchTimes::default();
    for QueryClass { name, queries, is_counted } in &classes {
        let measured = measure_searches(&engine, queries);
        table.print_row(
            name,
            &measured,
            is_counted.then(|| ("p95 ≤ 50 ms", measured.cpu_quantile(0.95) <= 50.0)),
        );
        if *is_counted {
            all.extend(&measured);
        }
    }
    table.print_row(
        "all with a promise, mixed",
        &all,
        Some(("p50 ≤ 5 ms", all.cpu_quantile(0.5) <= 5.0)),
    );

    if !only.is_empty() {
        return;
    }
    let counted: Vec<&QueryClass> = classes.iter().filter(|class| class.is_counted).collect();
    let written = search_while_writing(&store, &engine, &counted, documents);
    table.print_row(
        "the same while a pull writes",
        &written,
        Some(("p95 ≤ 100 ms", written.cpu_quantile(0.95) <= 100.0)),
    );
    search_through_mcp(table, path, &engine, &counted);
}

fn open_engine(path: &Path) -> SearchEngine {
    let reader = StoreReader::open(&DatabaseLocation::File(path.to_owned())).unwrap();
    SearchEngine::new(Workspace::from_store(reader))
}

/// Measures searches while pages of a hundred new texts are written without a pause.
fn search_while_writing(
    store: &StoreWriter,
    engine: &SearchEngine,
    classes: &[&QueryClass],
    documents: usize,
) -> SearchTimes {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let store = corpus::claim_pull(store);
            let mut next = documents;
            while !is_over.load(Ordering::Relaxed) {
                store.ingest_pages(&corpus::new_pages(next..next + 100)).unwrap();
                next += 100;
            }
            next - documents
        });
        let mut measured = SearchTimes::default();
        classes.iter().for_each(|class| measured.extend(&measure_searches(engine, &class.queries)));
        is_over.store(true, Ordering::Relaxed);
        eprintln!("{} texts were written meanwhile", writer.join().unwrap());
        measured
    })
}

/// Measures the overhead of MCP: the difference of two wall-clock medians in one run.
fn search_through_mcp(
    table: &mut ResultTable,
    path: &Path,
    engine: &SearchEngine,
    classes: &[&QueryClass],
) {
    let mut mcp = McpBenchClient::start(path);
    mcp.search(&["once".to_owned()]);
    let (mut direct, mut through_mcp) = (SearchTimes::default(), SearchTimes::default());
    for class in classes {
        direct.extend(&measure_searches(engine, &class.queries));
        through_mcp.extend(&mcp.search(&class.queries));
    }
    let added = through_mcp.wall_quantile(0.5) - direct.wall_quantile(0.5);
    table.print_row(
        &format!("the same by MCP, which adds {added:.1} ms"),
        &through_mcp,
        Some(("adds ≤ 5 ms", added <= 5.0)),
    );
    let lists = mcp.list_issues(40);
    table.print_row(
        "list_issues of 1,000 by MCP",
        &lists,
        Some(("p50 ≤ 50 ms", lists.wall_quantile(0.5) <= 50.0)),
    );
}

fn read_argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}
