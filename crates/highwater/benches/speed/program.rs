//! Runs of the program against the simulator's process.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use hw_store::{DatabaseLocation, StoreReader};

use crate::postgres_workspace::PostgresWorkspace;
use crate::process_usage::{EndedProcess, ProcessUsage, wait_for_child};

/// The program with a home folder of its own.
pub(crate) struct BenchProgram {
    home: tempfile::TempDir,
    url: String,
    /// The database to pull into; `None` means a file.
    database: Option<PostgresWorkspace>,
}

/// A pull that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredPull {
    pub(crate) wall_ms: u64,
    pub(crate) usage: ProcessUsage,
}

impl BenchProgram {
    pub(crate) fn new(url: &str) -> Self {
        Self { home: tempfile::tempdir().unwrap(), url: url.to_owned(), database: None }
    }

    /// Pulls into PostgreSQL.
    pub(crate) fn with_database(self, database: PostgresWorkspace) -> Self {
        Self { database: Some(database), ..self }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn database_file(&self) -> PathBuf {
        self.home().join("db/acme.db")
    }

    pub(crate) fn location(&self) -> DatabaseLocation {
        match &self.database {
            Some(database) => database.location(),
            None => DatabaseLocation::File(self.database_file()),
        }
    }

    /// Starts over with a copy of a closed database.
    pub(crate) fn replace_database(&self, copy: &Path) {
        let file = self.database_file();
        for log in ["db-wal", "db-shm"] {
            // a database that was closed has none
            std::fs::remove_file(file.with_extension(log)).unwrap_or_default();
        }
        std::fs::copy(copy, file).unwrap();
    }

    /// Starts a pull with these further arguments.
    pub(crate) fn start_pull(&self, args: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_highwater"))
            .args(["pull", "-o", "acme", "--json", "--api-url", &self.url, "-m"])
            .arg(self.home())
            .args(args)
            .args(self.database.iter().flat_map(PostgresWorkspace::arguments))
            .env("GITHUB_TOKEN", "simulated")
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Runs a pull to its end.
    pub(crate) fn measure_pull(&self, args: &[&str]) -> MeasuredPull {
        let began = Instant::now();
        let EndedProcess { status, usage } = wait_for_child(self.start_pull(args));
        assert!(status.success(), "the pull failed: {status}");
        MeasuredPull { wall_ms: u64::try_from(began.elapsed().as_millis()).unwrap(), usage }
    }

    /// Returns the number of stored texts.
    pub(crate) fn count_stored(&self) -> u64 {
        let counts = StoreReader::open(&self.location()).unwrap().object_counts().unwrap();
        counts.issues + counts.pull_requests + counts.discussions + counts.comments
    }
}
