//! Duties as rows: what is requested, who performs it, and how it ended.
//!
//! A duty is claimed in one write transaction. At most one write transaction is open per workspace, so of two workers
//! that want the same duty one gets it.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::duty::{DutyName, DutyState, NextDue};
use hw_rules::safe_text;

use crate::error::StoreError;
use crate::leases::Lease;
use crate::schema_version::refuse_newer_version;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::workers::{self, DeadWorker};
use crate::{LeasedStore, StoreReader, StoreWriter};

const CLAIM: TransactionStep = step!("claim");
const RELEASE: TransactionStep = step!("release");
const REQUEST: TransactionStep = step!("request duties");
const SCHEDULE: TransactionStep = step!("schedule duties");

/// A duty that is requested or claimed, and what its performance covers: those with the same text cover the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyTask {
    pub name: DutyName,
    pub detail: String,
}

/// A duty that a worker claims, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimTask {
    pub name: DutyName,
    pub reason: ClaimReason,
}

/// Why a duty is claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimReason {
    /// To perform what is requested or wanted, which this describes.
    Request(String),
    /// Because it is due. A request for something else stays.
    Schedule,
}

impl ClaimTask {
    /// Returns the claim for what is requested.
    pub fn for_request(DutyTask { name, detail }: DutyTask) -> Self {
        Self { name, reason: ClaimReason::Request(detail) }
    }
}

/// Duties that a worker wants.
#[derive(Debug, Clone, Copy)]
pub struct DutyClaim<'a> {
    pub tasks: &'a [ClaimTask],
    /// Workers whose duties are free, unless they have shown a beat since.
    pub dead: &'a [DeadWorker],
    /// Duties that the worker has performed. They end in the same transaction.
    pub ended: &'a [DutyEnd],
    pub now_ms: i64,
}

/// The end of a duty that was performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyEnd {
    pub lease: Lease,
    pub ended_ms: i64,
    pub next_due: NextDue,
    pub error: Option<String>,
}

/// The time at which a duty is due that has a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledDuty {
    pub name: DutyName,
    /// When it is due if it has no due time yet.
    pub first_ms: i64,
    /// The latest time at which it may be due: its interval may be shorter than before, or the clock was set back.
    pub latest_ms: i64,
}

/// The worker that performs a duty, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyHolder {
    /// The worker's name as printed, or its id if it has no row.
    pub worker: String,
    pub since_ms: i64,
}

impl StoreReader {
    /// Returns all duties, ordered by name. Those of a later version are left out.
    pub fn duties(&self) -> Result<Vec<DutyState>, StoreError> {
        self.read("duties", read_duties)
    }

    /// Returns one duty, if it was ever requested or claimed.
    pub fn duty(&self, name: &DutyName) -> Result<Option<DutyState>, StoreError> {
        Ok(self.duties()?.into_iter().find(|duty| duty.name == *name))
    }

    /// Returns the worker that performs a duty. It may be dead.
    pub fn duty_holder(&self, name: &DutyName) -> Result<Option<DutyHolder>, StoreError> {
        let mut held = self.held_duties()?.into_iter();
        Ok(held.find(|held| held.name == *name).map(|held| held.holder))
    }
}

impl StoreWriter {
    /// Claims a duty for a worker that beats for nobody: one that is done at once, or that nobody else waits for.
    /// Returns the holder if another worker has it.
    pub fn claim_duty(
        &self,
        name: &DutyName,
        worker: &str,
        now_ms: i64,
    ) -> Result<Result<LeasedStore, DutyHolder>, StoreError> {
        let reason = ClaimReason::Request(String::new());
        let tasks = [ClaimTask { name: name.clone(), reason }];
        let claim = DutyClaim { tasks: &tasks, dead: &[], ended: &[], now_ms };
        match self.claim_duties(worker, &claim)?.pop() {
            Some(claimed) => Ok(Ok(claimed)),
            None => {
                let unknown = DutyHolder { worker: "another process".to_owned(), since_ms: now_ms };
                Ok(Err(self.duty_holder(name)?.unwrap_or(unknown)))
            }
        }
    }

    /// Claims those of the duties that are free, and ends those that were performed.
    pub(crate) fn claim_duties(
        &self,
        worker: &str,
        claim: &DutyClaim<'_>,
    ) -> Result<Vec<LeasedStore>, StoreError> {
        let leases = self.write(CLAIM, |tx| {
            refuse_newer_version(tx)?;
            end_in(tx, claim.ended)?;
            workers::remove_dead(tx, claim.dead)?;
            claim_in(tx, worker, claim)
        })?;
        for DeadWorker { id, .. } in claim.dead {
            self.inner.locks.remove_worker_lock(id);
        }
        Ok(leases.into_iter().map(|lease| self.with_lease(lease)).collect())
    }

    /// Requests duties: a worker performs them as soon as it can. What runs is performed again afterwards.
    pub fn request_duties(&self, tasks: &[DutyTask], now_ms: i64) -> Result<(), StoreError> {
        const UPSERT: Sql = Sql::portable(
            "insert into duties (name, detail, requested_ms, epoch, failures)
             values ($1, $2, $3, 0, 0)
             on conflict (name) do update
                set detail = excluded.detail, requested_ms = excluded.requested_ms",
        );
        let names: Vec<String> = tasks.iter().map(|task| task.name.to_string()).collect();
        let rows: Vec<_> = names
            .iter()
            .zip(tasks)
            .map(|(name, task)| params![name, &task.detail, now_ms].to_vec())
            .collect();
        self.write(REQUEST, |tx| tx.execute_each(UPSERT, &rows))
    }

    /// Gives duties a due time: those that have none, and those that would be due too late.
    pub fn schedule_duties(&self, scheduled: &[ScheduledDuty]) -> Result<(), StoreError> {
        const UPSERT: Sql = Sql::portable(
            "insert into duties (name, detail, due_ms, epoch, failures)
             values ($1, '', $2, 0, 0)
             on conflict (name) do update
                set due_ms = case when duties.due_ms is null then excluded.due_ms
                                  when duties.due_ms > $3 then $3
                                  else duties.due_ms end",
        );
        let names: Vec<String> = scheduled.iter().map(|duty| duty.name.to_string()).collect();
        let rows: Vec<_> = names
            .iter()
            .zip(scheduled)
            .map(|(name, duty)| params![name, duty.first_ms, duty.latest_ms].to_vec())
            .collect();
        self.write(SCHEDULE, |tx| tx.execute_each(UPSERT, &rows))
    }

    /// Withdraws the requests of duties that nobody performs.
    pub fn withdraw_requests(&self, names: &[DutyName]) -> Result<(), StoreError> {
        const WITHDRAW: Sql = Sql::portable(
            "update duties set requested_ms = null where name = $1 and owner is null",
        );
        let names: Vec<String> = names.iter().map(DutyName::to_string).collect();
        let rows: Vec<_> = names.iter().map(|name| params![name].to_vec()).collect();
        self.write(REQUEST, |tx| tx.execute_each(WITHDRAW, &rows))
    }

    /// Ends duties that were performed. One that was lost meanwhile is left as it is.
    pub fn end_duties(&self, ended: &[DutyEnd]) -> Result<(), StoreError> {
        self.write(RELEASE, |tx| end_in(tx, ended))
    }
}

impl LeasedStore {
    /// Gives the duty back without having performed it. Does nothing if it is already lost.
    pub fn release_duty(&self) -> Result<(), StoreError> {
        const RELEASE_ONE: Sql = Sql::portable(
            "update duties set owner = null where name = $1 and owner = $2 and epoch = $3",
        );
        let lease = self.lease();
        let name = lease.duty.to_string();
        let params = params![&name, &lease.owner, lease.epoch];
        self.write(RELEASE, |tx| tx.send_statement(RELEASE_ONE, &params))
    }
}

fn claim_in(
    tx: &mut Transaction<'_>,
    worker: &str,
    claim: &DutyClaim<'_>,
) -> Result<Vec<Lease>, StoreError> {
    const HELD: Sql = Sql::portable("select name from duties where owner is not null");
    const UPSERT: Sql = Sql::portable(
        "insert into duties (name, detail, owner, epoch, taken_at_ms, failures)
         values ($1, $2, $3, 1, $4, 0)
         on conflict (name) do update
            set detail = case when $5 = 0 then duties.detail else excluded.detail end,
                requested_ms = case when $5 = 0 then duties.requested_ms else null end,
                owner = excluded.owner, epoch = duties.epoch + 1,
                taken_at_ms = excluded.taken_at_ms",
    );
    const EPOCHS: Sql = Sql::portable("select name, epoch from duties where owner = $1");
    if claim.tasks.is_empty() {
        return Ok(Vec::new());
    }
    let held: BTreeSet<String> =
        tx.query(HELD, &[], |mut row| row.text("name"))?.into_iter().collect();
    let free: Vec<(&ClaimTask, String)> = claim
        .tasks
        .iter()
        .map(|task| (task, task.name.to_string()))
        .filter(|(_, name)| !held.contains(name))
        .collect();
    let rows: Vec<_> = free
        .iter()
        .map(|(task, name)| {
            let (detail, serves_request) = match &task.reason {
                ClaimReason::Request(detail) => (detail.as_str(), 1),
                ClaimReason::Schedule => ("", 0),
            };
            params![name, detail, worker, claim.now_ms, serves_request].to_vec()
        })
        .collect();
    tx.execute_each(UPSERT, &rows)?;
    let epochs: BTreeMap<String, i64> = tx
        .query(EPOCHS, &params![worker], |mut row| Ok((row.text("name")?, row.int("epoch")?)))?
        .into_iter()
        .collect();
    let leases = free.into_iter().filter_map(|(task, name)| {
        let epoch = *epochs.get(&name)?;
        Some(Lease { duty: task.name.clone(), owner: worker.to_owned(), epoch })
    });
    Ok(leases.collect())
}

fn end_in(tx: &mut Transaction<'_>, ended: &[DutyEnd]) -> Result<(), StoreError> {
    const END: Sql = Sql::portable(
        "update duties
            set owner = null, ended_epoch = epoch, ended_ms = $1,
                due_ms = case when $2 = 0 then due_ms else $3 end, last_error = $4,
                failures = case when $5 = 0 then 0 else failures + 1 end
          where name = $6 and owner = $7 and epoch = $8",
    );
    for DutyEnd { lease, ended_ms, next_due, error } in ended {
        let error = error.as_deref().map(safe_text::sanitize_for_storage);
        let name = lease.duty.to_string();
        let (is_rescheduled, due_ms) = match *next_due {
            NextDue::Kept => (false, None),
            NextDue::At(due_ms) => (true, Some(due_ms)),
            NextDue::OnRequest => (true, None),
        };
        let params = params![
            *ended_ms,
            is_rescheduled,
            due_ms,
            error.as_deref(),
            error.is_some(),
            &name,
            &lease.owner,
            lease.epoch
        ];
        tx.send_statement(END, &params)?;
    }
    Ok(())
}

fn read_duties(tx: &mut Transaction<'_>) -> Result<Vec<DutyState>, StoreError> {
    const DUTIES: Sql = Sql::portable(
        "select name, detail, due_ms, requested_ms, owner, epoch, ended_epoch, ended_ms, last_error,
                failures
           from duties order by name",
    );
    Ok(tx.query(DUTIES, &[], read_duty)?.into_iter().flatten().collect())
}

/// Reads a duty; none if its name is that of a later version.
fn read_duty(mut row: SqlRow) -> Result<Option<DutyState>, StoreError> {
    let Ok(name) = row.text("name")?.parse() else { return Ok(None) };
    Ok(Some(DutyState {
        name,
        detail: row.text("detail")?,
        due_ms: row.maybe_int("due_ms")?,
        requested_ms: row.maybe_int("requested_ms")?,
        owner: row.maybe_text("owner")?,
        epoch: row.int("epoch")?,
        ended_epoch: row.maybe_int("ended_epoch")?,
        ended_ms: row.maybe_int("ended_ms")?,
        last_error: row.maybe_text("last_error")?,
        failures: u32::try_from(row.int("failures")?).unwrap_or(u32::MAX),
    }))
}
