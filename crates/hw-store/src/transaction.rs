//! Runs transactions. Each has a name, which errors report and crash tests refer to.

use std::ops::ControlFlow;
use std::sync::Arc;

use hw_rules::event_policy::EventPolicy;

use crate::driver::{DatabaseSession, Durability, PendingRows, error_mapping};
use crate::error::{DriverError, StoreError};
use crate::leases::{self, LeaseAnswer, LeaseQuestion};
use crate::sql::{Dialect, Sql, SqlParam, SqlRow};
use crate::store_writer::ChangeObserver;
use crate::views::change_counter;
use crate::views::skipped_rows::{ReadableRows, SkippedRows};
use crate::{LeasedStore, StoreReader, StoreWriter};

/// The name of a write transaction, its two crash points, and whether its commit survives a power cut.
#[derive(Clone, Copy)]
pub(crate) struct TransactionStep {
    pub(crate) name: &'static str,
    pub(crate) before_commit: &'static str,
    pub(crate) after_commit: &'static str,
    pub(crate) durability: Durability,
}

/// Names a step. `durable` marks one that stores a person's decision, which nothing else remembers.
macro_rules! step {
    ($name:literal) => {
        $crate::transaction::step!($name, $crate::driver::Durability::Usual)
    };
    ($name:literal, durable) => {
        $crate::transaction::step!($name, $crate::driver::Durability::Durable)
    };
    ($name:literal, $durability:expr) => {
        $crate::transaction::TransactionStep {
            name: $name,
            before_commit: concat!($name, ": before commit"),
            after_commit: concat!($name, ": after commit"),
            durability: $durability,
        }
    };
}
pub(crate) use step;

/// The number of rows that one statement inserts: more would only take memory.
const MAX_ROWS_PER_INSERT: usize = 500;

/// An open transaction, rolled back if it is dropped without a commit.
pub(crate) struct Transaction<'a> {
    session: Box<dyn DatabaseSession + 'a>,
    step: &'static str,
    is_open: bool,
    change_observer: Option<ChangeObserver>,
    event_policy: Arc<EventPolicy>,
    lease_question: LeaseQuestion,
}

impl StoreReader {
    /// Runs `job` on a consistent snapshot of the database.
    pub(crate) fn read<T>(
        &self,
        name: &'static str,
        job: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read_unexplained(name, job).map_err(|error| self.explain_failure(error))
    }

    pub(crate) fn read_unexplained<T>(
        &self,
        name: &'static str,
        job: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut tx =
            Transaction::new(self.inner.driver.read_session().map_err(map_step_error(name))?, name);
        tx.session.begin_read().map_err(map_step_error(name))?;
        tx.is_open = true;
        let answer = job(&mut tx)?;
        tx.commit()?;
        Ok(answer)
    }
}

impl StoreWriter {
    /// Runs `job` in a write transaction. An error of `job`, or a crash before the commit, rolls everything back.
    pub(crate) fn write<T>(
        &self,
        step: TransactionStep,
        job: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut tx = self.begin_write(step)?;
        let done = job(&mut tx)?;
        self.check_crash_point(step.before_commit)?;
        tx.commit()?;
        self.check_crash_point(step.after_commit)?;
        Ok(done)
    }

    fn begin_write(&self, step: TransactionStep) -> Result<Transaction<'_>, StoreError> {
        let session = self.inner.driver.write_session();
        let mut tx = Transaction::new(session.map_err(map_step_error(step.name))?, step.name);
        tx.change_observer = self.change_observer.clone();
        tx.event_policy = Arc::clone(&self.event_policy);
        tx.session.begin_write(step.durability).map_err(map_step_error(step.name))?;
        tx.is_open = true;
        Ok(tx)
    }

    fn check_crash_point(&self, point: &'static str) -> Result<(), StoreError> {
        let crashes = self.crash_hook.as_ref().is_some_and(|hook| hook(point));
        if crashes { Err(StoreError::Interrupted(point)) } else { Ok(()) }
    }
}

impl LeasedStore {
    /// Runs `job` in a write transaction if the lease is still valid, and bumps the change counter so that the user
    /// interfaces refresh.
    pub(crate) fn write_with_lease<T>(
        &self,
        step: TransactionStep,
        job: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.write(step, |tx| {
            tx.lease_question = leases::ask_lease(tx, self.lease())?;
            let done = job(tx);
            // first of all: what an owner finds wrong after it lost its lease may be the work of the next owner
            let checked = match leases::check_lease(tx, self.lease()) {
                Err(error) if error.is_lease_revoked() => return Err(error),
                checked => checked,
            };
            let done = done?;
            checked?;
            change_counter::bump_change_counter(tx)?;
            Ok(done)
        })
    }
}

/// Maps the driver errors of a step.
pub(crate) fn map_step_error(step: &'static str) -> impl Fn(DriverError) -> StoreError {
    move |error| error_mapping::map_error(step, &*error)
}

impl<'a> Transaction<'a> {
    fn new(session: Box<dyn DatabaseSession + 'a>, step: &'static str) -> Self {
        Self {
            session,
            step,
            is_open: false,
            change_observer: None,
            event_policy: Arc::default(),
            lease_question: LeaseQuestion::NotAsked,
        }
    }

    fn commit(mut self) -> Result<(), StoreError> {
        self.session.commit().map_err(map_step_error(self.step))?;
        self.is_open = false;
        Ok(())
    }

    /// Returns the observer of this transaction's changes.
    pub(crate) fn change_observer(&self) -> Option<ChangeObserver> {
        self.change_observer.clone()
    }

    /// Returns the settings that decide whose comments count.
    pub(crate) fn event_policy(&self) -> Arc<EventPolicy> {
        Arc::clone(&self.event_policy)
    }

    /// Returns what the database said about this transaction's lease; none if it needs no lease.
    pub(crate) fn lease_answer(&mut self) -> Result<Option<LeaseAnswer>, StoreError> {
        match std::mem::replace(&mut self.lease_question, LeaseQuestion::NotAsked) {
            LeaseQuestion::NotAsked => Ok(None),
            LeaseQuestion::Sent(rows) => {
                let answer = leases::read_lease_answer(self, rows)?;
                self.lease_question = LeaseQuestion::Answered(answer);
                Ok(Some(answer))
            }
            LeaseQuestion::Answered(answer) => {
                self.lease_question = LeaseQuestion::Answered(answer);
                Ok(Some(answer))
            }
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.session.dialect()
    }

    /// Removes the time limit from this transaction's statements.
    pub(crate) fn lift_time_limit(&mut self) -> Result<(), StoreError> {
        self.session.lift_time_limit().map_err(map_step_error(self.step))
    }

    pub(crate) fn execute_batch(&mut self, script: &str) -> Result<(), StoreError> {
        self.session.execute_batch(script).map_err(map_step_error(self.step))
    }

    pub(crate) fn execute(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
    ) -> Result<u64, StoreError> {
        self.session.execute(sql, params).map_err(map_step_error(self.step))
    }

    /// Runs a statement whose effect nothing in this function depends on. Its failure is reported by a later call, at
    /// the latest by the commit, so it costs no round trip of its own.
    pub(crate) fn send_statement(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
    ) -> Result<(), StoreError> {
        self.session.send_statement(sql, params).map_err(map_step_error(self.step))
    }

    /// Runs one statement for each row of parameters, in order. Failures are reported as by `send_statement`.
    pub(crate) fn execute_each(
        &mut self,
        sql: Sql<'_>,
        rows: &[Vec<SqlParam<'_>>],
    ) -> Result<(), StoreError> {
        self.session.execute_each(sql, rows).map_err(map_step_error(self.step))
    }

    /// Inserts rows: SQLite runs the statement for each of them, and PostgreSQL once, with each column as an array.
    /// Failures are reported as by `send_statement`.
    pub(crate) fn insert_rows(
        &mut self,
        sql: Sql<'_>,
        rows: &[Vec<SqlParam<'_>>],
    ) -> Result<(), StoreError> {
        let mut chunks = rows.chunks(MAX_ROWS_PER_INSERT);
        chunks
            .try_for_each(|rows| self.session.insert_rows(sql, rows))
            .map_err(map_step_error(self.step))
    }

    /// Sends a query whose rows are read later: several of them share a round trip. The rows are those of now.
    pub(crate) fn send_query(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
    ) -> Result<PendingRows, StoreError> {
        self.session.send_query(sql, params).map_err(map_step_error(self.step))
    }

    /// Returns the rows of a query that was sent, each converted by `read`.
    pub(crate) fn read_pending<T>(
        &mut self,
        pending: PendingRows,
        read: impl Fn(SqlRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.session.read_pending(pending).map_err(map_step_error(self.step))?;
        rows.into_iter().map(read).collect()
    }

    /// Returns the readable rows of a query that was sent, and the number of unreadable ones.
    pub(crate) fn read_pending_readable<T>(
        &mut self,
        pending: PendingRows,
        read: impl Fn(SqlRow) -> Result<T, StoreError>,
    ) -> Result<ReadableRows<T>, StoreError> {
        let mut readable = ReadableRows { rows: Vec::new(), skipped: SkippedRows::default() };
        for row in self.session.read_pending(pending).map_err(map_step_error(self.step))? {
            readable.rows.extend(readable.skipped.skip_unreadable(read(row))?);
        }
        Ok(readable)
    }

    /// Calls `each` with the rows one by one, without collecting them.
    pub(crate) fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        mut each: impl FnMut(SqlRow) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut failed = None;
        let done = self.session.query_each(sql, params, &mut |row| {
            each(row).unwrap_or_else(|error| {
                failed = Some(error);
                ControlFlow::Break(())
            })
        });
        done.map_err(map_step_error(self.step))?;
        failed.map_or(Ok(()), Err)
    }

    /// Returns all rows of a result, each converted by `read`.
    pub(crate) fn query<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        read: impl Fn(SqlRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.query_each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    /// Returns the readable rows of a result and the number of unreadable ones.
    pub(crate) fn query_readable<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        read: impl Fn(SqlRow) -> Result<T, StoreError>,
    ) -> Result<ReadableRows<T>, StoreError> {
        let mut readable = ReadableRows { rows: Vec::new(), skipped: SkippedRows::default() };
        self.query_each(sql, params, |row| {
            readable.rows.extend(readable.skipped.skip_unreadable(read(row))?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(readable)
    }

    /// Returns the first row of a result, if there is one.
    pub(crate) fn query_first<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        read: impl Fn(SqlRow) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.query(sql, params, read)?.into_iter().next())
    }

    /// Returns the result of a counting statement, whose column is called `matching`.
    pub(crate) fn query_count(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
    ) -> Result<u64, StoreError> {
        let count = self.query_first(sql, params, |mut row| row.int("matching"))?.unwrap_or(0);
        Ok(count.unsigned_abs())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open
            && let Err(error) = self.session.rollback()
        {
            tracing::warn!(step = self.step, %error, "rollback failed; the database rolls back by itself");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DatabaseLocation;
    use crate::sql::params;

    const USUAL: TransactionStep = step!("usual");
    const DURABLE: TransactionStep = step!("durable", durable);

    #[test]
    fn durable_step_waits_for_the_disk_of_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseLocation::File(folder.path().join("acme.db"));
        for location in [DatabaseLocation::Memory, file] {
            let store = StoreWriter::open(&location).unwrap();
            let settings = settings_of_steps(
                &store,
                Sql::portable(
                    "select cast(synchronous as text) as setting from pragma_synchronous",
                ),
            );
            assert_eq!(settings, ["1", "2", "1", "1"], "1 is normal, 2 is full");
        }
    }

    #[test]
    fn durable_step_waits_for_the_disk_of_postgres() {
        let url = test_server();
        let separator = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{separator}options=-c%20synchronous_commit%3Doff");
        with_schema(url, "durable", |store| {
            let setting = Sql::portable("select current_setting('synchronous_commit') as setting");
            assert_eq!(settings_of_steps(store, setting), ["off", "on", "off", "off"]);
        });
    }

    #[test]
    fn statement_is_prepared_from_its_third_use_on() {
        const NUMBER: Sql = Sql::portable("select $1::bigint as prepared_number");
        with_schema(test_server(), "prepared", |store| {
            let prepared: Vec<u64> = (0..4)
                .map(|number| {
                    store
                        .write(USUAL, |tx| {
                            tx.query_first(NUMBER, &params![number], |mut row| {
                                row.int("prepared_number")
                            })?;
                            tx.query_count(PREPARED, &[])
                        })
                        .unwrap()
                })
                .collect();
            assert_eq!(prepared, [0, 1, 1, 1], "the second use prepares it for the third");
        });
        const PREPARED: Sql = Sql::portable(
            "select count(*) as matching from pg_prepared_statements
              where statement = 'select $1::bigint as prepared_number'",
        );
    }

    /// Runs a test in a schema of its own.
    fn with_schema(url: String, name: &str, test: impl FnOnce(&StoreWriter)) {
        let schema = format!("{name}_{}", std::process::id());
        let store = StoreWriter::open(&DatabaseLocation::Postgres { url, schema }).unwrap();
        test(&store);
        let identity = crate::WorkerIdentity {
            id: "me".to_owned(),
            machine: String::new(),
            process: 1,
            version: String::new(),
            role: "test".to_owned(),
        };
        let mut worker = store.register_worker(&identity, 0).unwrap();
        worker.remove_schema(crate::RemoveCondition::Always, &[]).unwrap();
        worker.abandon();
    }

    /// Returns a setting inside of a usual step, a durable one, and a usual one after it was committed and rolled back.
    fn settings_of_steps(store: &StoreWriter, setting: Sql<'_>) -> Vec<String> {
        let before = store.write(USUAL, |tx| read_setting(tx, setting)).unwrap();
        let inside = store.write(DURABLE, |tx| read_setting(tx, setting)).unwrap();
        let committed = store.write(USUAL, |tx| read_setting(tx, setting)).unwrap();
        let failed = store.write(DURABLE, |_| -> Result<(), _> {
            Err(StoreError::Damaged("on purpose".to_owned()))
        });
        assert!(failed.is_err());
        let rolled_back = store.write(USUAL, |tx| read_setting(tx, setting)).unwrap();
        vec![before, inside, committed, rolled_back]
    }

    fn read_setting(tx: &mut Transaction<'_>, setting: Sql<'_>) -> Result<String, StoreError> {
        Ok(tx.query_first(setting, &[], |mut row| row.text("setting"))?.unwrap_or_default())
    }

    #[expect(clippy::disallowed_methods, reason = "a test's environment is its argument")]
    fn test_server() -> String {
        std::env::var("HIGHWATER_TEST_POSTGRES").expect(
            "HIGHWATER_TEST_POSTGRES is not set: `./check` starts a private PostgreSQL and sets it",
        )
    }
}
