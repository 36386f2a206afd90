//! The words the stories are told with.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hw_rules::coverage::Coverage;
use hw_rules::item::{Issue, Item, Key, Kind, Observation, Repository};
use hw_rules::lane::Lane;
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::Seen;
use hw_store::{IngestPage, IssueFilter, IssueRow, Lease, Place, Store};

pub(crate) const HOST: &str = "github.com";
pub(crate) const PUMP: i64 = 1;

/// A database file of one test.
pub(crate) struct File {
    pub(crate) place: Place,
    _folder: tempfile::TempDir,
}

impl File {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { place: Place::File(folder.path().join("db").join("acme.db")), _folder: folder }
    }
}

/// A PostgreSQL schema of one test; it goes with it.
pub(crate) struct Schema {
    pub(crate) place: Place,
}

impl Schema {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("test_{}_{number}", std::process::id());
        let new = Self { place: Place::Postgres { url: postgres_url(), schema } };
        new.drop_schema();
        new
    }

    fn drop_schema(&self) {
        let Place::Postgres { schema, .. } = &self.place else { return };
        raw(&self.place, &format!("drop schema if exists {schema} cascade"));
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.drop_schema();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "tests are told by `./check` where the server is")]
fn postgres_url() -> String {
    std::env::var("HIGHWATER_TEST_POSTGRES")
        .expect("HIGHWATER_TEST_POSTGRES names no server; `./check` starts one and sets it")
}

/// Runs a script past the store.
pub(crate) fn raw(place: &Place, script: &str) {
    match place {
        Place::Memory => panic!("a database in memory has no back door"),
        Place::File(path) => {
            rusqlite::Connection::open(path).unwrap().execute_batch(script).unwrap();
        }
        Place::Postgres { url, schema } => {
            let script = format!("set search_path to {schema}; {script}");
            on_postgres(url, async |client| client.batch_execute(&script).await.unwrap());
        }
    }
}

/// How many search rows there are, whether or not an item claims them.
pub(crate) fn search_rows(place: &Place) -> i64 {
    match place {
        Place::Memory => panic!("a database in memory has no back door"),
        Place::File(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.query_row("select count(*) from search", [], |row| row.get(0)).unwrap()
        }
        Place::Postgres { url, schema } => {
            let sql = format!("select count(*) from {schema}.search");
            on_postgres(url, async |client| client.query_one(&sql, &[]).await.unwrap().get(0))
        }
    }
}

fn on_postgres<T>(url: &str, job: impl AsyncFnOnce(tokio_postgres::Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        job(client).await
    })
}

/// A store with a lease, and `acme/pump` in it.
pub(crate) fn open(place: &Place) -> (Store, Lease) {
    let store = Store::open(place).unwrap();
    let lease = store.take_lease("pull", "me", 0, 5_000).unwrap().unwrap();
    store.ingest(&lease, &repositories(vec![pump("pump", 0)])).unwrap();
    (store, lease)
}

/// The same store, crashing at one point.
pub(crate) fn crashing_at(store: &Store, point: &'static str) -> Store {
    store.clone().with_interrupts(Arc::new(move |at| at == point))
}

pub(crate) fn lane() -> Lane {
    Lane::issues(HOST, PUMP)
}

pub(crate) fn organization() -> Lane {
    Lane::repositories(HOST, "acme")
}

/// A page of issues that moves no watermark.
pub(crate) fn issues(observations: Vec<Observation>) -> IngestPage {
    page(lane(), observations, None)
}

pub(crate) fn repositories(observations: Vec<Observation>) -> IngestPage {
    page(organization(), observations, None)
}

/// A page of issues with the watermark it justifies.
pub(crate) fn issues_through(observations: Vec<Observation>, second: i64) -> IngestPage {
    page(lane(), observations, Some(through(second)))
}

fn page(lane: Lane, observations: Vec<Observation>, coverage: Option<Coverage>) -> IngestPage {
    let (checked_at_ms, page_size) = (Some(1_000), 100);
    IngestPage {
        lane,
        observations,
        coverage,
        checked_at_ms,
        page_size,
        quarantined: vec![],
        cleared: vec![],
    }
}

pub(crate) fn through(second: i64) -> Coverage {
    Coverage { through: Some(Mark(second * 1_000)), ..Coverage::default() }
}

/// An issue of `acme/pump`, updated and seen then, with this title and body.
pub(crate) fn issue(id: i64, second: i64, text: &str) -> Observation {
    issue_of(PUMP, "pump", id, second, text)
}

pub(crate) fn issue_of(
    repository: i64,
    name: &str,
    id: i64,
    second: i64,
    text: &str,
) -> Observation {
    let issue = Issue {
        id,
        node_id: format!("I_{id}"),
        number: id,
        repository_id: repository,
        url: format!("https://github.com/acme/{name}/issues/{id}"),
        title: format!("title {text}"),
        body: format!("body {text}"),
        state: "OPEN".to_owned(),
        state_reason: None,
        labels: vec!["bug".to_owned(), "help wanted".to_owned()],
        author: Some("ada".to_owned()),
        author_id: Some(7),
        created_at: time(0),
        updated_at: time(second),
        closed_at: None,
    };
    Observation { item: Item::Issue(issue), seen: seen(second) }
}

/// The same observation, looked at another time.
pub(crate) fn seen_at(mut observation: Observation, second: i64) -> Observation {
    observation.seen = seen(second);
    observation
}

/// The repository 1 under a name.
pub(crate) fn pump(name: &str, second: i64) -> Observation {
    repository(PUMP, name, second)
}

pub(crate) fn repository(id: i64, name: &str, second: i64) -> Observation {
    let repository = Repository {
        id,
        node_id: format!("R_{id}"),
        owner: "acme".to_owned(),
        name: name.to_owned(),
        url: format!("https://github.com/acme/{name}"),
        is_archived: false,
        is_fork: false,
        has_issues_enabled: true,
        has_discussions_enabled: false,
        created_at: time(0),
        updated_at: time(second),
    };
    Observation { item: Item::Repository(repository), seen: seen(second) }
}

pub(crate) fn time(second: i64) -> SourceTime {
    SourceTime::parse(&Mark(second * 1_000).to_string()).unwrap()
}

pub(crate) fn seen(second: i64) -> Seen {
    Seen { at_ms: second * 1_000, request: second }
}

pub(crate) fn issue_key(id: i64) -> Key {
    Key { kind: Kind::Issue, id }
}

/// All issues held.
pub(crate) fn held(store: &Store) -> Vec<IssueRow> {
    let mut rows = Vec::new();
    let mut each = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    store.each_issue(&IssueFilter::default(), &mut each).unwrap();
    rows
}

/// The bodies of all issues held.
pub(crate) fn bodies(store: &Store) -> Vec<String> {
    held(store).into_iter().map(|row| row.body).collect()
}

/// The ids a search finds, newest first.
pub(crate) fn found(store: &Store, query: &str) -> Vec<i64> {
    store.search(query, 10).unwrap().into_iter().map(|hit| hit.id).collect()
}
