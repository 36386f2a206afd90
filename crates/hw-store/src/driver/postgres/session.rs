//! One client, used by one caller at a time.

use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::{Connected, Postgres, Silent, lock_key, values};
use crate::driver::permits::Permit;
use crate::driver::{EachRow, Session};
use crate::error::DriverError;
use crate::sql::{Dialect, Param, Sql};

/// A client on loan.
pub(super) struct Loan<'a> {
    home: &'a Postgres,
    connected: Option<Connected>,
    _permit: Option<Permit<'a>>,
    /// Whether a transaction is open; a client that would take one home is let go instead.
    open: bool,
    /// Whether the server missed a deadline: it may still answer, at the wrong time.
    is_silent: bool,
    /// How long each answer may take; none in a transaction whose limit was lifted.
    deadline: Option<Duration>,
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let is_usable = !self.open && !self.is_silent;
        if let Some(connected) = self.connected.take().filter(|_| is_usable) {
            self.home.give_back(connected);
        }
    }
}

impl<'a> Loan<'a> {
    pub(super) fn of(home: &'a Postgres, permit: Option<Permit<'a>>) -> Result<Self, DriverError> {
        let connected = Some(home.take()?);
        let deadline = Some(home.timeouts.write_deadline());
        Ok(Self { home, connected, _permit: permit, open: false, is_silent: false, deadline })
    }

    /// Begins a transaction. A connection that broke or fell silent while it was idle is replaced: nothing was
    /// lost.
    fn begin(&mut self, script: &str) -> Result<(), DriverError> {
        self.open = true;
        let client = &self.connected().client;
        let begun =
            self.home.wait(Some(self.home.timeouts.begin_deadline()), client.batch_execute(script));
        match begun {
            Ok(Err(error)) if !client.is_closed() && !is_farewell(&error) => Err(error.into()),
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(Silent) => {
                self.connected = Some(self.home.connect()?);
                self.batch(script)
            }
        }
    }

    /// Waits for an answer; a session that missed its deadline answers nothing any more.
    fn wait<F: Future>(&self, answer: F) -> Result<F::Output, Silent> {
        if self.is_silent { Err(Silent) } else { self.home.wait(self.deadline, answer) }
    }

    /// The same, and remembers that the deadline was missed.
    fn noting_silence<T>(
        &mut self,
        job: impl FnOnce(&Self) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let done = job(self);
        self.is_silent |= done.as_ref().is_err_and(|error| error.is::<Silent>());
        done
    }

    fn connected(&self) -> &Connected {
        self.connected.as_ref().expect("a loan keeps its client until it is dropped")
    }

    fn statement(&mut self, sql: Sql<'_>) -> Result<Statement, DriverError> {
        let text = sql.text(Dialect::Postgres);
        if let Some(statement) = self.connected().statements.get(text) {
            return Ok(statement.clone());
        }
        let statement =
            self.noting_silence(|this| Ok(this.wait(this.connected().client.prepare(text))??))?;
        if let Some(connected) = &mut self.connected {
            connected.statements.insert(text.to_owned(), statement.clone());
        }
        Ok(statement)
    }
}

/// Whether the server has closed the connection from its side (class 57P: shutdown, termination).
fn is_farewell(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|state| state.code().starts_with("57P"))
}

impl Session for Loan<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn begin_write(&mut self) -> Result<(), DriverError> {
        let lock = lock_key(&self.home.schema);
        self.begin(&format!(
            "begin isolation level read committed; select pg_advisory_xact_lock({lock})"
        ))
    }

    fn begin_read(&mut self) -> Result<(), DriverError> {
        self.deadline = Some(self.home.timeouts.read_deadline());
        let limits = self.home.timeouts.reading_script();
        self.begin(&format!("begin isolation level repeatable read read only; {limits}"))
    }

    fn lift_time_limit(&mut self) -> Result<(), DriverError> {
        self.batch("set local statement_timeout = 0")?;
        self.deadline = None;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.batch("commit")?;
        self.open = false;
        Ok(())
    }

    /// A connection that is gone has been rolled back by the server.
    fn rollback(&mut self) -> Result<(), DriverError> {
        if self.is_silent || self.connected().client.is_closed() {
            return Ok(());
        }
        self.batch("rollback")?;
        self.open = false;
        Ok(())
    }

    fn batch(&mut self, script: &str) -> Result<(), DriverError> {
        self.noting_silence(|this| Ok(this.wait(this.connected().client.batch_execute(script))??))
    }

    fn execute(&mut self, sql: Sql<'_>, params: &[Param<'_>]) -> Result<u64, DriverError> {
        let statement = self.statement(sql)?;
        self.noting_silence(|this| {
            let client = &this.connected().client;
            Ok(this.wait(client.execute_raw(&statement, references(params)))??)
        })
    }

    fn execute_each(&mut self, sql: Sql<'_>, rows: &[Vec<Param<'_>>]) -> Result<(), DriverError> {
        let statement = self.statement(sql)?;
        self.noting_silence(|this| {
            let client = &this.connected().client;
            let runs = rows.iter().map(|params| {
                Box::pin(client.execute_raw(&statement, references(params))) as Run<'_>
            });
            let mut runs: Vec<_> = runs.collect();
            while !runs.is_empty() {
                this.wait(some(&mut runs))??;
            }
            Ok(())
        })
    }

    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), DriverError> {
        let statement = self.statement(sql)?;
        self.noting_silence(|this| {
            let client = &this.connected().client;
            let rows = this.wait(client.query_raw(&statement, references(params)))??;
            let mut rows = pin!(rows);
            while let Some(row) = this.wait(rows.next())? {
                if each(values::read(&row?)?).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}

fn references<'a>(
    params: &'a [Param<'a>],
) -> impl ExactSizeIterator<Item = &'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync))
}

/// A statement under way.
type Run<'a> = Pin<Box<dyn Future<Output = Result<u64, tokio_postgres::Error>> + 'a>>;

/// Drives statements together until at least one of them is done: each is sent without waiting for the answer to the
/// one before it, and the server runs them in order.
fn some(runs: &mut Vec<Run<'_>>) -> impl Future<Output = Result<(), tokio_postgres::Error>> {
    std::future::poll_fn(move |context| {
        let (mut failed, before) = (None, runs.len());
        runs.retain_mut(|run| match run.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(Ok(_)) => false,
            Poll::Ready(Err(error)) => {
                failed.get_or_insert(error);
                false
            }
        });
        match failed {
            Some(error) => Poll::Ready(Err(error)),
            None if runs.len() < before => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
}
