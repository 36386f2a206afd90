//! Where the stories take place: a database of its own for each, with a back door past the store.

use std::sync::atomic::{AtomicU64, Ordering};

use hw_store::Place;

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

/// The texts that a query past the store answers, row by row.
pub(crate) fn rows(place: &Place, sql: &str) -> Vec<Vec<String>> {
    match place {
        Place::Memory => panic!("a database in memory has no back door"),
        Place::File(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            let mut statement = connection.prepare(sql).unwrap();
            let columns = statement.column_count();
            let row =
                |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
            statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
        }
        Place::Postgres { url, schema } => on_postgres(url, async |client| {
            client.batch_execute(&format!("set search_path to {schema}")).await.unwrap();
            let rows = client.query(sql, &[]).await.unwrap();
            let row = |row: &tokio_postgres::Row| (0..row.len()).map(|at| row.get(at)).collect();
            rows.iter().map(row).collect()
        }),
    }
}

/// How many search rows there are, whether or not an item claims them.
pub(crate) fn search_rows(place: &Place) -> i64 {
    let [row] = rows(place, "select cast(count(*) as text) from search").try_into().unwrap();
    row.concat().parse().unwrap()
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
