//! A session on a pooled client, used by one caller at a time.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::try_join_all;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::{PooledClient, PostgresDriver, ResponseTimeout, advisory_lock_key, values};
use crate::driver::semaphore::SemaphorePermit;
use crate::driver::{DatabaseSession, RowCallback};
use crate::error::DriverError;
use crate::sql::{Dialect, Sql, SqlParam};

/// A session that returns its client to the pool when it is dropped.
pub(super) struct PostgresSession<'a> {
    driver: &'a PostgresDriver,
    pooled: Option<PooledClient>,
    _permit: Option<SemaphorePermit<'a>>,
    /// A transaction is open. A client with an open transaction is closed instead of pooled.
    in_transaction: bool,
    /// The server missed a deadline. Its answer may still arrive, in the middle of a later exchange.
    has_timed_out: bool,
    /// The time limit for each answer; none in a transaction whose limit was lifted.
    deadline: Option<Duration>,
}

impl Drop for PostgresSession<'_> {
    fn drop(&mut self) {
        let is_usable = !self.in_transaction && !self.has_timed_out;
        if let Some(pooled) = self.pooled.take().filter(|_| is_usable) {
            self.driver.return_client(pooled);
        }
    }
}

impl<'a> PostgresSession<'a> {
    pub(super) fn checkout(
        driver: &'a PostgresDriver,
        permit: Option<SemaphorePermit<'a>>,
    ) -> Result<Self, DriverError> {
        Ok(Self {
            driver,
            pooled: Some(driver.checkout_client()?),
            _permit: permit,
            in_transaction: false,
            has_timed_out: false,
            deadline: Some(driver.timeouts.write_deadline()),
        })
    }

    /// Begins a transaction. Replaces a connection that broke or stopped responding while it was idle, which loses
    /// nothing.
    fn begin_transaction(&mut self, script: &str) -> Result<(), DriverError> {
        self.in_transaction = true;
        let client = &self.pooled_client().client;
        let begun = self
            .driver
            .wait_for(Some(self.driver.timeouts.begin_deadline()), client.batch_execute(script));
        match begun {
            Ok(Err(error)) if !client.is_closed() && !is_server_shutdown(&error) => {
                Err(error.into())
            }
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(ResponseTimeout) => {
                self.pooled = Some(self.driver.connect()?);
                self.execute_batch(script)
            }
        }
    }

    /// Waits for an answer. A session whose server missed a deadline fails at once.
    fn wait_for<F: Future>(&self, answer: F) -> Result<F::Output, ResponseTimeout> {
        if self.has_timed_out {
            Err(ResponseTimeout)
        } else {
            self.driver.wait_for(self.deadline, answer)
        }
    }

    /// Runs `job`, and records if the server misses its deadline.
    fn track_timeout<T>(
        &mut self,
        job: impl FnOnce(&Self) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let done = job(self);
        self.has_timed_out |= done.as_ref().is_err_and(|error| error.is::<ResponseTimeout>());
        done
    }

    fn pooled_client(&self) -> &PooledClient {
        self.pooled.as_ref().expect("a session keeps its client until it is dropped")
    }

    fn prepare_statement(&mut self, sql: Sql<'_>) -> Result<Statement, DriverError> {
        let text = sql.text_for(Dialect::Postgres);
        if let Some(statement) = self.pooled_client().statements.get(text) {
            return Ok(statement.clone());
        }
        let statement = self
            .track_timeout(|this| Ok(this.wait_for(this.pooled_client().client.prepare(text))??))?;
        if let Some(pooled) = &mut self.pooled {
            pooled.statements.insert(text.to_owned(), statement.clone());
        }
        Ok(statement)
    }
}

/// Returns true if the server closed the connection (class 57P: shutdown, termination).
fn is_server_shutdown(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|state| state.code().starts_with("57P"))
}

impl DatabaseSession for PostgresSession<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn begin_write(&mut self) -> Result<(), DriverError> {
        let lock = advisory_lock_key(&self.driver.schema);
        self.begin_transaction(&format!(
            "begin isolation level read committed; select pg_advisory_xact_lock({lock})"
        ))
    }

    fn begin_read(&mut self) -> Result<(), DriverError> {
        self.deadline = Some(self.driver.timeouts.read_deadline());
        let limits = self.driver.timeouts.read_script();
        self.begin_transaction(&format!(
            "begin isolation level repeatable read read only; {limits}"
        ))
    }

    fn lift_time_limit(&mut self) -> Result<(), DriverError> {
        self.execute_batch("set local statement_timeout = 0")?;
        self.deadline = None;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.execute_batch("commit")?;
        self.in_transaction = false;
        Ok(())
    }

    /// Skips a lost connection: the server has rolled it back.
    fn rollback(&mut self) -> Result<(), DriverError> {
        if self.has_timed_out || self.pooled_client().client.is_closed() {
            return Ok(());
        }
        self.execute_batch("rollback")?;
        self.in_transaction = false;
        Ok(())
    }

    fn execute_batch(&mut self, script: &str) -> Result<(), DriverError> {
        self.track_timeout(|this| {
            Ok(this.wait_for(this.pooled_client().client.batch_execute(script))??)
        })
    }

    fn execute(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<u64, DriverError> {
        let statement = self.prepare_statement(sql)?;
        self.track_timeout(|this| {
            let client = &this.pooled_client().client;
            Ok(this.wait_for(client.execute_raw(&statement, param_refs(params)))??)
        })
    }

    fn execute_each(
        &mut self,
        sql: Sql<'_>,
        rows: &[Vec<SqlParam<'_>>],
    ) -> Result<(), DriverError> {
        let statement = self.prepare_statement(sql)?;
        self.track_timeout(|this| {
            let client = &this.pooled_client().client;
            // each statement is sent without waiting for the answer to the one before, and the server runs them in order
            let runs = rows.iter().map(|params| client.execute_raw(&statement, param_refs(params)));
            this.wait_for(try_join_all(runs))??;
            Ok(())
        })
    }

    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        each: &mut RowCallback<'_>,
    ) -> Result<(), DriverError> {
        let statement = self.prepare_statement(sql)?;
        self.track_timeout(|this| {
            let client = &this.pooled_client().client;
            let rows = this.wait_for(client.query_raw(&statement, param_refs(params)))??;
            let mut rows = pin!(rows);
            while let Some(row) = this.wait_for(rows.next())? {
                if each(values::read_row(&row?)?).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}

fn param_refs<'a>(
    params: &'a [SqlParam<'a>],
) -> impl ExactSizeIterator<Item = &'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync))
}
