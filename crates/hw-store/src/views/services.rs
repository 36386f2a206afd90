//! The services of a workspace, as their workers show them.

use hw_rules::worker_watch::DEAD_AFTER_MS;

use crate::StoreReader;
use crate::error::StoreError;
use crate::workers::{SERVICE_ROLE, WorkerRow};

/// A service that runs, or ran until it died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceRow {
    /// The name of its worker, as printed.
    pub worker: String,
    pub version: String,
    pub started_ms: i64,
    beat_ms: i64,
    /// True if its process runs; none for a database without locks.
    is_running: Option<bool>,
}

impl ServiceRow {
    /// Returns true if it seems to be alive. Without locks, this compares the clocks of two machines, so it serves for
    /// display only.
    pub fn is_alive(&self, now_ms: i64) -> bool {
        let has_beat = now_ms < self.beat_ms.saturating_add(DEAD_AFTER_MS);
        self.is_running.unwrap_or(has_beat)
    }
}

impl StoreReader {
    /// Returns the services of the workspace, the dead ones included, in the order of their starts.
    pub fn services(&self) -> Result<Vec<ServiceRow>, StoreError> {
        let workers = self.workers()?.into_iter();
        let mut services: Vec<ServiceRow> = workers
            .filter(|worker| worker.identity.role == SERVICE_ROLE)
            .map(|WorkerRow { identity, started_ms, beat_ms, is_running, .. }| ServiceRow {
                worker: identity.display_name(),
                version: identity.version,
                started_ms,
                beat_ms,
                is_running,
            })
            .collect();
        services.sort_by_key(|service| service.started_ms);
        Ok(services)
    }

    /// Returns a service that seems to be alive, so that somebody reads what is watched.
    pub fn running_service(&self, now_ms: i64) -> Result<Option<ServiceRow>, StoreError> {
        Ok(self.services()?.into_iter().find(|service| service.is_alive(now_ms)))
    }
}
