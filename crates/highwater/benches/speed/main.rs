//! `cargo bench --bench speed`: measures the speed, the processor time and the memory of the program, offline.
//!
//! `-- NAME …` measures only the parts with these names: `ingest`, `events`, `cold`, `chores`, `feeds`, `reconcile`,
//! `postgres`.
//! `--postgres postgres://user@host:port/database` also measures that server, in `ingest`, `events` and `postgres`, and
//! `--comments 50000` shortens `reconcile`. Each part has a table of its own in `docs/bench.md`. The simulated GitHub and the
//! simulated Bluesky are other processes; on a machine with other work, compare processor times.

#![expect(clippy::unwrap_used, reason = "a bench may panic")]
#![expect(clippy::print_stdout, reason = "the tables are the result")]
#![expect(clippy::print_stderr, reason = "progress for a run of several minutes")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

mod app_view_process;
mod chores;
mod cold_pull;
#[path = "../shared/doc_page.rs"]
mod doc_page;
mod events;
mod feeds;
mod ingest;
#[path = "../shared/markdown_table.rs"]
mod markdown_table;
mod postgres;
#[path = "../shared/postgres_workspace.rs"]
mod postgres_workspace;
mod process_usage;
mod program;
mod promise;
mod reconcile;
mod sim_process;

/// One part of the bench: its name, which is also that of its table, and its measurement.
struct BenchPart {
    name: &'static str,
    measure: fn(&BenchOptions) -> Option<BenchTable>,
}

/// The arguments that parts take.
pub(crate) struct BenchOptions {
    /// The server to measure.
    pub(crate) postgres: Option<String>,
    /// The number of comments to reconcile.
    pub(crate) comments: usize,
}

/// A measured table.
pub(crate) struct BenchTable {
    pub(crate) heads: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
    /// True if all promises are kept.
    pub(crate) is_kept: bool,
}

const PARTS: &[BenchPart] = &[
    BenchPart { name: "ingest", measure: ingest::measure },
    BenchPart { name: "events", measure: events::measure },
    BenchPart { name: "cold", measure: cold_pull::measure },
    BenchPart { name: "chores", measure: chores::measure },
    BenchPart { name: "feeds", measure: feeds::measure },
    BenchPart { name: "reconcile", measure: reconcile::measure },
    BenchPart { name: "postgres", measure: postgres::measure },
];

fn main() {
    if sim_process::serve_if_requested() || app_view_process::serve_if_requested() {
        return;
    }
    let BenchArguments { names, options } = read_arguments();
    let mut broken = Vec::new();
    for part in PARTS.iter().filter(|part| names.is_empty() || names.contains(&part.name.into())) {
        eprintln!("measuring {}", part.name);
        let Some(measured) = (part.measure)(&options) else {
            eprintln!("{} needs --postgres", part.name);
            continue;
        };
        let table = markdown_table::format_table(measured.heads, &measured.rows);
        println!("{table}\n");
        doc_page::update_table(part.name, &table);
        if !measured.is_kept {
            broken.push(part.name);
        }
    }
    assert!(broken.is_empty(), "a promise is broken: {}", broken.join(", "));
}

/// The arguments of the bench.
struct BenchArguments {
    /// The requested parts; all if there are none.
    names: Vec<String>,
    options: BenchOptions,
}

/// Reads the arguments. Cargo adds `--bench`.
fn read_arguments() -> BenchArguments {
    let mut args = std::env::args().skip(1);
    let mut names = Vec::new();
    let mut options = BenchOptions { postgres: None, comments: 500_000 };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" => {}
            "--postgres" => options.postgres = args.next(),
            "--comments" => options.comments = args.next().unwrap().parse().unwrap(),
            name if PARTS.iter().any(|part| part.name == name) => names.push(arg),
            other => panic!("unknown part {other:?}"),
        }
    }
    BenchArguments { names, options }
}
