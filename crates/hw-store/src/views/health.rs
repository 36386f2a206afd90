//! The state of the database itself: its schema version, and the duties that are being performed.

use std::collections::BTreeMap;

use hw_rules::duty::DutyName;
use hw_rules::worker_watch::DEAD_AFTER_MS;

use crate::StoreReader;
use crate::duties::DutyHolder;
use crate::error::StoreError;
use crate::sql::Sql;
use crate::workers;

/// A duty that a worker performs, or performed when it died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeldDuty {
    pub name: DutyName,
    pub holder: DutyHolder,
    /// The id of the worker.
    owner: String,
    /// The time of the worker's last beat, by its own clock; none if it has no row.
    beat_ms: Option<i64>,
}

/// A worker that performs duties, or performed them when it died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusyWorker {
    /// Its name as printed.
    pub worker: String,
    /// The time of its first claim.
    pub since_ms: i64,
    pub duties: Vec<DutyName>,
    beat_ms: Option<i64>,
    /// True if its process runs; none for a database without locks.
    is_running: Option<bool>,
}

impl BusyWorker {
    /// Returns true if it seems to be alive. Without locks, this compares the clocks of two machines, so it serves for
    /// display only.
    pub fn is_alive(&self, now_ms: i64) -> bool {
        let has_beat =
            self.beat_ms.is_some_and(|beat_ms| now_ms < beat_ms.saturating_add(DEAD_AFTER_MS));
        self.is_running.unwrap_or(has_beat)
    }
}

impl StoreReader {
    /// Returns the number of the newest applied migration.
    pub fn schema_number(&self) -> Result<i64, StoreError> {
        const NUMBER: Sql = Sql::portable("select number from schema_version");
        self.read("schema", |tx| {
            Ok(tx.query_first(NUMBER, &[], |mut row| row.int("number"))?.unwrap_or(0))
        })
    }

    /// Returns the workers that perform duties, or did when they died, in the order of their first claims.
    pub fn busy_workers(&self) -> Result<Vec<BusyWorker>, StoreError> {
        let mut by_owner: BTreeMap<String, BusyWorker> = BTreeMap::new();
        let mut held = self.held_duties()?;
        // a service holds this one whether it does anything or not
        held.retain(|held| held.name != DutyName::Service);
        for HeldDuty { name, holder, owner, beat_ms } in held {
            let is_running = self.inner.locks.is_worker_running(&owner);
            let busy = by_owner.entry(owner).or_insert(BusyWorker {
                worker: holder.worker,
                since_ms: holder.since_ms,
                duties: Vec::new(),
                beat_ms,
                is_running,
            });
            busy.since_ms = busy.since_ms.min(holder.since_ms);
            busy.duties.push(name);
        }
        let mut busy: Vec<BusyWorker> = by_owner.into_values().collect();
        busy.sort_by_key(|worker| worker.since_ms);
        Ok(busy)
    }

    /// Returns the duties that are performed, or were when their worker died, ordered by name.
    pub(crate) fn held_duties(&self) -> Result<Vec<HeldDuty>, StoreError> {
        const HELD: Sql = Sql::portable(
            "select name, owner, taken_at_ms, machine, process, beat_ms
               from duties left join workers on workers.id = duties.owner
              where owner is not null order by name",
        );
        let held = self.read("duties", |tx| {
            tx.query(HELD, &[], |mut row| {
                let Ok(name) = row.text("name")?.parse() else { return Ok(None) };
                let (owner, since_ms) =
                    (row.text("owner")?, row.maybe_int("taken_at_ms")?.unwrap_or(0));
                let worker = match (row.maybe_text("machine")?, row.maybe_int("process")?) {
                    (Some(machine), Some(process)) => workers::display_name(&machine, process),
                    _ => owner.clone(),
                };
                let holder = DutyHolder { worker, since_ms };
                Ok(Some(HeldDuty { name, holder, owner, beat_ms: row.maybe_int("beat_ms")? }))
            })
        })?;
        Ok(held.into_iter().flatten().collect())
    }
}
