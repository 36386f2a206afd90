//! A workspace in PostgreSQL for one measurement.

use std::process::{Command, Stdio};

use hw_store::DatabaseLocation;

/// A workspace in PostgreSQL, removed when it is dropped.
pub(crate) struct PostgresWorkspace {
    url: String,
    name: String,
}

impl PostgresWorkspace {
    /// Names a workspace that no other run uses.
    pub(crate) fn new(url: &str, label: &str) -> Self {
        Self { url: url.to_owned(), name: format!("bench-{}-{label}", std::process::id()) }
    }

    pub(crate) fn location(&self) -> DatabaseLocation {
        DatabaseLocation::Postgres { url: self.url.clone(), schema: self.name.clone() }
    }

    /// Returns the program's arguments that name the workspace.
    pub(crate) fn arguments(&self) -> [&str; 4] {
        ["--database", &self.url, "--workspace", &self.name]
    }
}

impl Drop for PostgresWorkspace {
    fn drop(&mut self) {
        let removed = Command::new(env!("CARGO_BIN_EXE_highwater"))
            .args(["workspaces", "remove", &self.name, "--yes", "--database", &self.url])
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(removed.success(), "the workspace {} stays", self.name);
    }
}
