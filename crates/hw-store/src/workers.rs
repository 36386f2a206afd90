//! Workers: the processes that perform duties. Each has a row, and beats while it lives.
//!
//! Beside a database file, a worker also holds a lock of the operating system. It shows at once that a process is gone,
//! and that one which stands still is not.

use hw_rules::worker_watch::WorkerBeat;

use crate::duties::DutyClaim;
use crate::error::StoreError;
use crate::locks::WorkerLock;
use crate::schema_version::refuse_newer_version;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader, StoreWriter};

const WORKER: TransactionStep = step!("worker");
const BEAT: TransactionStep = step!("beat");

/// The role of a worker that performs everything that is due, until it is stopped.
pub const SERVICE_ROLE: &str = "service";

/// Who a worker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerIdentity {
    /// Belongs to one run of one process, and to no other ever.
    pub id: String,
    pub machine: String,
    pub process: u32,
    pub version: String,
    /// The command that it runs: `pull`, `restore`, …
    pub role: String,
}

/// A worker as its row shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    pub identity: WorkerIdentity,
    pub started_ms: i64,
    pub beat: i64,
    /// The time of the last beat, by the worker's own clock.
    pub beat_ms: i64,
    /// True if its process runs; none for a database without locks.
    pub is_running: Option<bool>,
}

/// A worker that counts as dead, and the last beat that was seen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadWorker {
    pub id: String,
    /// None if it has no row.
    pub beat: Option<i64>,
}

impl WorkerIdentity {
    /// Returns the worker's name in messages: `process 7 on machine`.
    pub fn display_name(&self) -> String {
        display_name(&self.machine, self.process.into())
    }
}

pub(crate) fn display_name(machine: &str, process: i64) -> String {
    match machine {
        "" => format!("process {process}"),
        machine => format!("process {process} on {machine}"),
    }
}

impl WorkerRow {
    pub fn to_beat(&self) -> WorkerBeat {
        WorkerBeat { id: self.identity.id.clone(), beat: self.beat, is_running: self.is_running }
    }
}

/// A registered worker of this process. Gives its duties back and removes its row when it is dropped.
pub struct WorkerHandle {
    writer: StoreWriter,
    identity: WorkerIdentity,
    /// None for a database without locks. Released after the row is gone.
    _lock: Option<WorkerLock>,
    is_abandoned: bool,
}

impl StoreReader {
    /// Returns all workers, the dead ones included, ordered by id.
    pub fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        const WORKERS: Sql = Sql::portable(
            "select id, machine, process, version, role, started_ms, beat, beat_ms
               from workers order by id",
        );
        let mut workers = self.read("workers", |tx| tx.query(WORKERS, &[], read_worker))?;
        for worker in &mut workers {
            worker.is_running = self.inner.locks.is_worker_running(&worker.identity.id);
        }
        Ok(workers)
    }
}

impl StoreWriter {
    /// Registers a worker. One that lost its connection to the database registers again under the same id, and has lost
    /// the duties that it held.
    pub fn register_worker(
        &self,
        identity: &WorkerIdentity,
        now_ms: i64,
    ) -> Result<WorkerHandle, StoreError> {
        const UPSERT: Sql = Sql::portable(
            "insert into workers (id, machine, process, version, role, started_ms, beat, beat_ms)
             values ($1, $2, $3, $4, $5, $6, 1, $7)
             on conflict (id) do update set beat = workers.beat + 1, beat_ms = excluded.beat_ms",
        );
        // the lock comes first: a row without one belongs to a dead worker
        let lock = self.inner.locks.lock_worker(&identity.id)?;
        let WorkerIdentity { id, machine, process, version, role } = identity;
        let params = params![id, machine, i64::from(*process), version, role, now_ms, now_ms];
        self.write(WORKER, |tx| {
            refuse_newer_version(tx)?;
            release_duties_of(tx, id, 1)?;
            tx.send_statement(UPSERT, &params)
        })?;
        let (writer, identity) = (self.clone(), identity.clone());
        Ok(WorkerHandle { writer, identity, _lock: lock, is_abandoned: false })
    }
}

impl WorkerHandle {
    pub fn identity(&self) -> &WorkerIdentity {
        &self.identity
    }

    pub fn store(&self) -> &StoreWriter {
        &self.writer
    }

    /// Shows that this worker is alive. Fails if another one has taken it for dead, or has upgraded the database.
    pub fn beat(&self, now_ms: i64) -> Result<(), StoreError> {
        const COUNT_UP: Sql =
            Sql::portable("update workers set beat = beat + 1, beat_ms = $1 where id = $2");
        let params = params![now_ms, &self.identity.id];
        self.writer.write(BEAT, |tx| {
            refuse_newer_version(tx)?;
            match tx.execute(COUNT_UP, &params)? {
                0 => Err(StoreError::LeaseLost { name: self.identity.id.clone() }),
                _ => Ok(()),
            }
        })
    }

    /// Claims those of the duties that are free, and ends those that were performed.
    pub fn claim_duties(&self, claim: &DutyClaim<'_>) -> Result<Vec<LeasedStore>, StoreError> {
        self.writer.claim_duties(&self.identity.id, claim)
    }

    /// Leaves row and duties as they are: another process has them, or the test lets this one die.
    pub fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// Gives back the duties of this worker and removes its row.
    fn unregister(&self) -> Result<(), StoreError> {
        self.writer.write(WORKER, |tx| {
            release_duties_of(tx, &self.identity.id, 0)?;
            delete_worker(tx, &self.identity.id)
        })
    }
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        if !self.is_abandoned
            && let Err(error) = self.unregister()
        {
            tracing::warn!(%error, "could not release the duties; another process takes over within seconds");
        }
    }
}

/// Frees the duties of workers that are dead, unless they have shown a beat since, and removes their rows.
pub(crate) fn remove_dead(tx: &mut Transaction<'_>, dead: &[DeadWorker]) -> Result<(), StoreError> {
    const BEAT_OF: Sql = Sql::portable("select beat from workers where id = $1");
    for DeadWorker { id, beat } in dead {
        let current = tx.query_first(BEAT_OF, &params![id], |mut row| row.int("beat"))?;
        if current == *beat {
            tracing::info!(worker = id, "taking over the duties of a dead worker");
            release_duties_of(tx, id, 1)?;
            delete_worker(tx, id)?;
        }
    }
    Ok(())
}

/// Frees the duties of a worker. A higher epoch keeps it from writing, should it live.
fn release_duties_of(
    tx: &mut Transaction<'_>,
    worker: &str,
    epoch_step: i64,
) -> Result<(), StoreError> {
    // what was not performed to its end stays requested
    const RELEASE: Sql = Sql::portable(
        "update duties
            set owner = null, epoch = epoch + $1, requested_ms = coalesce(requested_ms, taken_at_ms)
          where owner = $2",
    );
    tx.send_statement(RELEASE, &params![epoch_step, worker])
}

fn delete_worker(tx: &mut Transaction<'_>, worker: &str) -> Result<(), StoreError> {
    const DELETE: Sql = Sql::portable("delete from workers where id = $1");
    tx.send_statement(DELETE, &params![worker])
}

fn read_worker(mut row: SqlRow) -> Result<WorkerRow, StoreError> {
    let identity = WorkerIdentity {
        id: row.text("id")?,
        machine: row.text("machine")?,
        process: u32::try_from(row.int("process")?).unwrap_or(0),
        version: row.text("version")?,
        role: row.text("role")?,
    };
    let (started_ms, beat, beat_ms) =
        (row.int("started_ms")?, row.int("beat")?, row.int("beat_ms")?);
    Ok(WorkerRow { identity, started_ms, beat, beat_ms, is_running: None })
}
