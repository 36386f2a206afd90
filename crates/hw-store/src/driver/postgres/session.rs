//! One client, used by one caller at a time.

use std::pin::Pin;
use std::task::Poll;

use futures_executor::{block_on, block_on_stream};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::{Connected, Postgres, READING_LIMITS, lock_key, values};
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
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Some(connected) = self.connected.take().filter(|_| !self.open) {
            self.home.give_back(connected);
        }
    }
}

impl<'a> Loan<'a> {
    pub(super) fn of(home: &'a Postgres, permit: Option<Permit<'a>>) -> Result<Self, DriverError> {
        Ok(Self { home, connected: Some(home.take()?), _permit: permit, open: false })
    }

    /// Begins a transaction. A connection that broke while it was idle is replaced: nothing was lost.
    fn begin(&mut self, script: &str) -> Result<(), DriverError> {
        self.open = true;
        let client = &self.connected().client;
        match block_on(client.batch_execute(script)) {
            Err(error) if client.is_closed() || is_farewell(&error) => {
                self.connected = Some(self.home.connect()?);
                self.batch(script)
            }
            begun => Ok(begun?),
        }
    }

    fn connected(&mut self) -> &mut Connected {
        self.connected.as_mut().expect("a loan keeps its client until it is dropped")
    }
}

/// Whether the server has closed the connection from its side (class 57P: shutdown, termination).
fn is_farewell(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|state| state.code().starts_with("57P"))
}

impl Connected {
    fn statement(&mut self, sql: Sql<'_>) -> Result<Statement, DriverError> {
        let text = sql.text(Dialect::Postgres);
        if let Some(statement) = self.statements.get(text) {
            return Ok(statement.clone());
        }
        let statement = block_on(self.client.prepare(text))?;
        self.statements.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }
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
        self.begin(&format!("begin isolation level repeatable read read only; {READING_LIMITS}"))
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.batch("commit")?;
        self.open = false;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), DriverError> {
        self.batch("rollback")?;
        self.open = false;
        Ok(())
    }

    fn batch(&mut self, script: &str) -> Result<(), DriverError> {
        Ok(block_on(self.connected().client.batch_execute(script))?)
    }

    fn execute(&mut self, sql: Sql<'_>, params: &[Param<'_>]) -> Result<u64, DriverError> {
        let connected = self.connected();
        let statement = connected.statement(sql)?;
        Ok(block_on(connected.client.execute_raw(&statement, references(params)))?)
    }

    fn execute_each(&mut self, sql: Sql<'_>, rows: &[Vec<Param<'_>>]) -> Result<(), DriverError> {
        let connected = self.connected();
        let statement = connected.statement(sql)?;
        let runs = rows.iter().map(|params| {
            Box::pin(connected.client.execute_raw(&statement, references(params))) as Run<'_>
        });
        Ok(block_on(all(runs.collect()))?)
    }

    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), DriverError> {
        let connected = self.connected();
        let statement = connected.statement(sql)?;
        let rows = block_on(connected.client.query_raw(&statement, references(params)))?;
        for row in block_on_stream(Box::pin(rows)) {
            if each(values::read(&row?)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn references<'a>(
    params: &'a [Param<'a>],
) -> impl ExactSizeIterator<Item = &'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync))
}

/// A statement under way.
type Run<'a> = Pin<Box<dyn Future<Output = Result<u64, tokio_postgres::Error>> + 'a>>;

/// Drives statements together: each is sent without waiting for the answer to the one before it, and
/// the server runs them in order.
fn all(mut runs: Vec<Run<'_>>) -> impl Future<Output = Result<(), tokio_postgres::Error>> {
    std::future::poll_fn(move |context| {
        let mut failed = None;
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
            None if runs.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
}
