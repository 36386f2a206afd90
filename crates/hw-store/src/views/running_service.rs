//! The service of a workspace, as frontends report it.

use hw_rules::worker_watch::DEAD_AFTER_MS;

use crate::StoreReader;
use crate::error::StoreError;

/// The role under which a service registers.
const SERVICE_ROLE: &str = "service";

/// A service that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningService {
    /// Its process as printed.
    pub worker: String,
    pub started_ms: i64,
}

impl StoreReader {
    /// Returns the service that reads what is watched; none if no process runs as one. Without locks, this compares the
    /// clocks of two machines, so it serves for display only.
    pub fn running_service(&self, now_ms: i64) -> Result<Option<RunningService>, StoreError> {
        let mut services = self.workers()?;
        services.retain(|worker| {
            let has_beat = now_ms < worker.beat_ms.saturating_add(DEAD_AFTER_MS);
            worker.identity.role == SERVICE_ROLE && worker.is_running.unwrap_or(has_beat)
        });
        let first = services.into_iter().min_by_key(|worker| worker.started_ms);
        Ok(first.map(|worker| RunningService {
            worker: worker.identity.display_name(),
            started_ms: worker.started_ms,
        }))
    }
}
