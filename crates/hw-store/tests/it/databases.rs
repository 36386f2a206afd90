//! Creates a database for each test, and accesses it directly, past the store.

use std::sync::atomic::{AtomicU64, Ordering};

use hw_store::DatabaseLocation;

/// The database file of one test.
pub(crate) struct FileDatabase {
    pub(crate) location: DatabaseLocation,
    _folder: tempfile::TempDir,
}

impl FileDatabase {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            location: DatabaseLocation::File(folder.path().join("db").join("acme.db")),
            _folder: folder,
        }
    }
}

/// The PostgreSQL schema of one test, dropped when the test passes.
pub(crate) struct SchemaDatabase {
    pub(crate) location: DatabaseLocation,
}

impl SchemaDatabase {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("test_{}_{number}", std::process::id());
        let new = Self { location: DatabaseLocation::Postgres { url: postgres_url(), schema } };
        new.drop_schema();
        new
    }

    fn drop_schema(&self) {
        let DatabaseLocation::Postgres { schema, .. } = &self.location else { return };
        execute_raw(&self.location, &format!("drop schema if exists {schema} cascade"));
    }
}

impl Drop for SchemaDatabase {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.drop_schema();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "`./check` passes the server's URL to the tests")]
fn postgres_url() -> String {
    std::env::var("HIGHWATER_TEST_POSTGRES")
        .expect("HIGHWATER_TEST_POSTGRES is not set; `./check` starts a server and sets it")
}

/// Runs a script directly on the database.
pub(crate) fn execute_raw(location: &DatabaseLocation, script: &str) {
    match location {
        DatabaseLocation::Memory => panic!("a database in memory is not accessible"),
        DatabaseLocation::File(path) => {
            rusqlite::Connection::open(path).unwrap().execute_batch(script).unwrap();
        }
        DatabaseLocation::Postgres { url, schema } => {
            let script = format!("set search_path to {schema}; {script}");
            with_postgres_client(url, async |client| client.batch_execute(&script).await.unwrap());
        }
    }
}

/// Returns the rows of a query that runs directly on the database.
pub(crate) fn query_raw(location: &DatabaseLocation, sql: &str) -> Vec<Vec<String>> {
    match location {
        DatabaseLocation::Memory => panic!("a database in memory is not accessible"),
        DatabaseLocation::File(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            let mut statement = connection.prepare(sql).unwrap();
            let columns = statement.column_count();
            let rows = statement
                .query_map([], |row| (0..columns).map(|column| row.get(column)).collect())
                .unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        }
        DatabaseLocation::Postgres { url, schema } => with_postgres_client(url, async |client| {
            client.batch_execute(&format!("set search_path to {schema}")).await.unwrap();
            let rows = client.query(sql, &[]).await.unwrap();
            rows.iter().map(|row| (0..row.len()).map(|column| row.get(column)).collect()).collect()
        }),
    }
}

/// Counts all search rows, including those that belong to no item.
pub(crate) fn count_search_rows(location: &DatabaseLocation) -> i64 {
    let [row] =
        query_raw(location, "select cast(count(*) as text) from search").try_into().unwrap();
    row.concat().parse().unwrap()
}

fn with_postgres_client<T>(url: &str, job: impl AsyncFnOnce(tokio_postgres::Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        job(client).await
    })
}
