//! Measures the store alone: pages of a hundred new issues with their search rows, in one transaction each. As in a pull,
//! the next page is prepared on another thread while one is written.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use hw_rules::coverage::Coverage;
use hw_rules::duty::DutyName;
use hw_rules::item::{ItemObservation, MirrorItem, Thread, ThreadDetails};
use hw_rules::lane::Lane;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_store::{DatabaseLocation, IngestPage, StoreWriter};

use crate::postgres_workspace::PostgresWorkspace;
use crate::process_usage::{read_usage, read_usage_by_name};
use crate::promise::{BenchPromise, are_kept, format_promises};
use crate::{BenchOptions, BenchTable};

const ITEMS: usize = 50_000;
const ITEMS_PER_PAGE: usize = 100;
/// GitHub's fastest burst: 2,000 requests a minute, 100 items each.
const BURST_ITEMS_PER_SECOND: u64 = 3_300;

const HEADS: &[&str] =
    &["what", "items", "time", "items/s", "CPU per item", "server's CPU per item", "promise"];

/// Measures a file, and the server if there is one.
pub(crate) fn measure(options: &BenchOptions) -> Option<BenchTable> {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseLocation::File(folder.path().join("bench.db"));
    let mut speeds = vec![measure_ingest(&file, "SQLite")];
    if let Some(url) = &options.postgres {
        let workspace = PostgresWorkspace::new(url, "ingest");
        speeds.push(measure_ingest(&workspace.location(), "PostgreSQL"));
    }
    let is_kept = speeds.iter().all(|speed| are_kept(&speed.promises()));
    let rows = speeds.iter().map(IngestSpeed::columns).collect();
    Some(BenchTable { heads: HEADS, rows, is_kept })
}

/// The speed of one database.
struct IngestSpeed {
    database: &'static str,
    elapsed: Duration,
    /// The processor time of this process.
    cpu_ms: u64,
    /// The processor time of the database server.
    server_cpu_ms: u64,
}

impl IngestSpeed {
    fn items_per_second(&self) -> u64 {
        ITEMS as u64 * 1_000 / u64::try_from(self.elapsed.as_millis()).unwrap().max(1)
    }

    fn promises(&self) -> [BenchPromise; 1] {
        let is_kept = self.items_per_second() >= BURST_ITEMS_PER_SECOND;
        [BenchPromise::new(format!("≥ {BURST_ITEMS_PER_SECOND} items/s"), is_kept)]
    }

    fn columns(&self) -> Vec<String> {
        vec![
            format!("ingest with search rows, {}, bodies of 1 kB", self.database),
            ITEMS.to_string(),
            format!("{:.1} s", self.elapsed.as_secs_f64()),
            self.items_per_second().to_string(),
            format_per_item(self.cpu_ms),
            format_per_item(self.server_cpu_ms),
            format_promises(&self.promises()),
        ]
    }
}

fn measure_ingest(location: &DatabaseLocation, database: &'static str) -> IngestSpeed {
    let store = StoreWriter::open(location).unwrap();
    let store = store.claim_duty(&DutyName::pull("github.com"), "bench", 0).unwrap().unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let bodies: Vec<String> = (0..500).map(|_| random_body(&mut rng)).collect();
    let before = measured_cpu_ms();
    let began = Instant::now();
    thread::scope(|scope| {
        let (prepared, pages) = mpsc::sync_channel(1);
        let preparer = store.page_preparer();
        scope.spawn(move || {
            for page in 0..ITEMS / ITEMS_PER_PAGE {
                prepared.send(preparer.prepare_page(issue_page(page, &bodies))).unwrap();
            }
        });
        for page in pages {
            store.ingest_prepared(&[page]).unwrap();
        }
    });
    let (elapsed, after) = (began.elapsed(), measured_cpu_ms());
    store.release_duty().unwrap();
    IngestSpeed {
        database,
        elapsed,
        cpu_ms: after.0 - before.0,
        server_cpu_ms: after.1.saturating_sub(before.1),
    }
}

/// Returns the processor time that this process has used, and that of all PostgreSQL servers on this machine.
fn measured_cpu_ms() -> (u64, u64) {
    (read_usage(std::process::id()).unwrap().cpu_ms, read_usage_by_name("postgres").cpu_ms)
}

fn format_per_item(cpu_ms: u64) -> String {
    match cpu_ms * 1_000 / ITEMS as u64 {
        0 => String::new(),
        micros => format!("{micros} µs"),
    }
}

fn issue_page(number: usize, bodies: &[String]) -> IngestPage {
    let repository = i64::try_from(number / 50).unwrap();
    let first = number * ITEMS_PER_PAGE;
    let rows = (first..first + ITEMS_PER_PAGE)
        .map(|id| new_issue(id, repository, &bodies[id % bodies.len()]));
    IngestPage {
        observations: rows.collect(),
        coverage: Some(Coverage::default()),
        ..IngestPage::new(
            Lane::repository_issues(RepositoryKey::new("github.com", repository)),
            100,
        )
    }
}

fn new_issue(id: usize, repository_id: i64, body: &str) -> ItemObservation {
    let id = i64::try_from(id).unwrap();
    // newest first, as a walk reads them
    let updated_at =
        SourceTime::parse(&SourceInstant(1_767_323_045_000 - id * 7_000).to_string()).unwrap();
    let item = MirrorItem::Thread(Thread {
        id,
        node_id: format!("I_{id}"),
        number: id % 5_000,
        repository_id,
        url: format!("https://github.com/acme/r{repository_id}/issues/{id}"),
        title: format!("Number {id} leaks after {} hours", id % 97),
        body: body.to_owned(),
        state: "OPEN".to_owned(),
        state_reason: None,
        labels: vec!["bug".to_owned()],
        author: Some(format!("user-{}", id % 300)),
        author_id: Some(id % 300),
        author_kind: None,
        association: None,
        created_at: updated_at.clone(),
        updated_at,
        closed_at: None,
        details: ThreadDetails::Issue,
    });
    ItemObservation { item, observed_at: ObservedAt::new(1_767_323_046_000, id) }
}

/// Returns a kilobyte of words, of which some are common and most are rare.
fn random_body(rng: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    while text.len() < 1_024 {
        let rank = rng.u32(1..60) * rng.u32(1..60) * rng.u32(1..10);
        text.push_str(&format!("w{rank} "));
    }
    text.truncate(1_024);
    text
}
