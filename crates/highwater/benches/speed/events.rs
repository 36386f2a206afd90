//! Measures events: a hundred of 100,000 unread ones are read, and the ingest of a page that makes a hundred of them.

use std::time::Instant;

use hw_rules::duty::DutyName;
use hw_rules::followed_source::RepositoryName;
use hw_rules::item::{AuthorKind, Comment, CommentKind, ItemObservation, MirrorItem};
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::{Host, RepositoryId, RepositoryKey};
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_rules::watch::{WatchMode, WatchSubject};
use hw_store::{
    ConsumerRead, ConsumerStart, DatabaseLocation, IngestPage, LeasedStore, NewConsumer, NewWatch,
    StoreWriter, WatchResolution,
};

use crate::postgres_workspace::PostgresWorkspace;
use crate::promise::{BenchPromise, are_kept, format_promises};
use crate::{BenchOptions, BenchTable};

const EVENTS: i64 = 100_000;
const EVENTS_PER_PAGE: i64 = 100;
const READS: usize = 100;
const MAX_READ_MS: f64 = 50.0;
const HOST: &str = "github.com";
const CONSUMER: &str = "agent";

const HEADS: &[&str] =
    &["what", "ingest of 100 p50", "read of 100 p50", "p95", "max", "consumers", "promise"];

/// Measures a file, and the server if there is one.
pub(crate) fn measure(options: &BenchOptions) -> Option<BenchTable> {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseLocation::File(folder.path().join("bench.db"));
    let mut times = vec![measure_events(&file, "SQLite")];
    if let Some(url) = &options.postgres {
        let workspace = PostgresWorkspace::new(url, "events");
        times.push(measure_events(&workspace.location(), "PostgreSQL"));
    }
    let is_kept = times.iter().all(|times| are_kept(&times.promises()));
    let rows = times.iter().map(EventTimes::columns).collect();
    Some(BenchTable { heads: HEADS, rows, is_kept })
}

/// The times of one database, each in order.
struct EventTimes {
    database: &'static str,
    ingests_ms: Vec<f64>,
    reads_ms: Vec<f64>,
    consumers_ms: f64,
}

impl EventTimes {
    fn promises(&self) -> [BenchPromise; 1] {
        let is_kept = percentile(&self.reads_ms, 95) <= MAX_READ_MS;
        [BenchPromise::new("p95 ≤ 50 ms", is_kept)]
    }

    fn columns(&self) -> Vec<String> {
        vec![
            format!("{EVENTS} unread events, {}", self.database),
            format!("{:.1} ms", percentile(&self.ingests_ms, 50)),
            format!("{:.1} ms", percentile(&self.reads_ms, 50)),
            format!("{:.1} ms", percentile(&self.reads_ms, 95)),
            format!("{:.1} ms", percentile(&self.reads_ms, 100)),
            format!("{:.1} ms", self.consumers_ms),
            format_promises(&self.promises()),
        ]
    }
}

fn measure_events(location: &DatabaseLocation, database: &'static str) -> EventTimes {
    let store = StoreWriter::open(location).unwrap();
    let store = store.claim_duty(&DutyName::pull(HOST), "bench", 0).unwrap().unwrap();
    watch_repository(&store);
    let mut ingests_ms = Vec::new();
    for page in 0..EVENTS / EVENTS_PER_PAGE {
        let page = comment_page(page * EVENTS_PER_PAGE);
        let began = Instant::now();
        store.ingest_page(&page).unwrap();
        ingests_ms.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    let new =
        NewConsumer { name: CONSUMER.to_owned(), start: ConsumerStart::Beginning, max_tries: 5 };
    store.add_consumer(&new, 0).unwrap();
    let began = Instant::now();
    assert_eq!(store.consumers().unwrap()[0].unread, EVENTS.unsigned_abs());
    let consumers_ms = began.elapsed().as_secs_f64() * 1_000.0;
    let mut reads_ms: Vec<f64> = (0..READS).map(|number| read_hundred(&store, number)).collect();
    ingests_ms.sort_by(f64::total_cmp);
    reads_ms.sort_by(f64::total_cmp);
    store.release_duty().unwrap();
    EventTimes { database, ingests_ms, reads_ms, consumers_ms }
}

fn read_hundred(store: &LeasedStore, number: usize) -> f64 {
    let read = ConsumerRead {
        consumer: CONSUMER.to_owned(),
        limit: 100,
        lease_token: format!("lease {number}"),
        lease_ms: 600_000,
        now_ms: 0,
    };
    let began = Instant::now();
    assert_eq!(store.lease_events(&read).unwrap().len(), 100);
    began.elapsed().as_secs_f64() * 1_000.0
}

fn watch_repository(store: &LeasedStore) {
    let repository = RepositoryName::from_known("acme", "pump");
    let new = NewWatch {
        host: Host::from(HOST),
        subject: WatchSubject { repository: repository.clone(), number: None, label: None },
        mode: WatchMode::Feedback,
        start: None,
        source_issue: None,
    };
    let id = store.add_watch(&new, 0).unwrap().watch.id;
    let resolution = WatchResolution {
        repository_id: RepositoryId(1),
        repository,
        thread: None,
        source_issue: None,
        floor: SourceInstant::BEGINNING,
    };
    store.resolve_watch(id, &resolution).unwrap();
    while !store.derive_stored_events(id, 200).unwrap() {}
}

/// Builds a page of new comments in a thousand threads.
fn comment_page(first: i64) -> IngestPage {
    let time = SourceTime::parse("2026-01-02T03:04:05Z").unwrap();
    let observations = (first..first + EVENTS_PER_PAGE).map(|id| {
        let thread = id % 1_000 + 1;
        let comment = Comment {
            kind: CommentKind::Conversation,
            id,
            node_id: format!("IC_{id}"),
            repository_id: 1,
            thread,
            reply_to: None,
            review_id: None,
            url: format!("https://github.com/acme/pump/issues/{thread}#issuecomment-{id}"),
            body: "the pump leaks ".repeat(60),
            state: None,
            path: None,
            line: None,
            author: Some("ada".to_owned()),
            author_id: Some(7),
            author_kind: Some(AuthorKind::User),
            association: Some("MEMBER".to_owned()),
            created_at: time.clone(),
            updated_at: time.clone(),
        };
        let observed_at = ObservedAt::new(time.instant().0, id + 1);
        ItemObservation { item: MirrorItem::Comment(comment), observed_at }
    });
    let surface = Surface::Comments(CommentKind::Conversation);
    let lane = Lane::for_repository(RepositoryKey::new(HOST, 1), surface);
    IngestPage { observations: observations.collect(), ..IngestPage::new(lane, 100) }
}

/// Returns the value below which this percentage of sorted values lies.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.max(1) - 1).copied().unwrap_or_default()
}
