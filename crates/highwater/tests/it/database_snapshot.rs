//! A database in a file or on a server, which tests read and change directly, past the program.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::ValueRef;
use tempfile::TempDir;

use crate::fixture::postgres_url;

/// The rows of each table, sorted.
pub(crate) type DatabaseSnapshot = BTreeMap<String, Vec<String>>;

/// The database of one test, removed with it.
pub(crate) enum TestDatabase {
    File { path: PathBuf, _folder: TempDir },
    Postgres { url: String, schema: String },
}

impl TestDatabase {
    pub(crate) fn file() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::File { path: folder.path().join("acme.db"), _folder: folder }
    }

    pub(crate) fn postgres() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("snapshot_{}_{number}", std::process::id());
        let database = Self::Postgres { url: postgres_url(), schema };
        database.drop_schema();
        database
    }

    /// Creates another database of the same kind.
    pub(crate) fn another(&self) -> Self {
        match self {
            Self::File { .. } => Self::file(),
            Self::Postgres { .. } => Self::postgres(),
        }
    }

    /// Returns the arguments that select the database.
    pub(crate) fn args(&self) -> Vec<&str> {
        match self {
            Self::File { path, .. } => vec!["--database", path.to_str().unwrap()],
            Self::Postgres { url, schema } => vec!["--database", url, "--workspace", schema],
        }
    }

    /// Runs a script in one transaction, in which no other process reads a lease.
    pub(crate) fn execute(&self, script: &str) {
        match self {
            Self::File { path, .. } => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
                connection.execute_batch(&format!("begin immediate; {script}; commit")).unwrap();
            }
            Self::Postgres { url, schema } => with_postgres_client(url, async |client| {
                let script = format!(
                    "begin; set local search_path to {schema};
                     lock table duties in access exclusive mode; {script}; commit"
                );
                client.batch_execute(&script).await.unwrap();
            }),
        }
    }

    /// Returns the rows of all tables whose names pass a filter.
    pub(crate) fn snapshot(&self, is_included: impl Fn(&str) -> bool) -> DatabaseSnapshot {
        let mut snapshot = match self {
            Self::File { path, .. } => {
                let connection = rusqlite::Connection::open(path).unwrap();
                let mut tables = connection
                    .prepare("select name from sqlite_master where type = 'table'")
                    .unwrap();
                let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
                tables
                    .map(Result::unwrap)
                    .filter(|table| is_included(table))
                    .map(|table| {
                        let rows = file_rows(&connection, &format!("select * from {table}"));
                        (table, rows)
                    })
                    .collect()
            }
            Self::Postgres { url, schema } => with_postgres_client(url, async |client| {
                let tables = "select tablename from pg_tables where schemaname = $1";
                let tables = client.query(tables, &[schema]).await.unwrap();
                let mut snapshot = DatabaseSnapshot::new();
                for table in tables.iter().map(|row| row.get::<_, String>(0)) {
                    if is_included(&table) {
                        let rows = format!("select rows::text from {schema}.{table} as rows");
                        let rows = client.query(&rows, &[]).await.unwrap();
                        let rows = rows.iter().map(|row| row.get(0)).collect();
                        snapshot.insert(table, rows);
                    }
                }
                snapshot
            }),
        };
        assert!(!snapshot.is_empty(), "nothing would be compared");
        snapshot.values_mut().for_each(|rows: &mut Vec<String>| rows.sort_unstable());
        snapshot
    }

    fn drop_schema(&self) {
        if let Self::Postgres { url, schema } = self {
            with_postgres_client(url, async |client| {
                let script = format!("drop schema if exists {schema} cascade");
                client.batch_execute(&script).await.unwrap();
            });
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.drop_schema();
        }
    }
}

/// Returns the rows of a query as texts.
fn file_rows(connection: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut texts = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let values: Vec<ValueRef<'_>> =
            (0..columns).map(|column| row.get_ref(column).unwrap()).collect();
        texts.push(format!("{values:?}"));
    }
    texts
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
