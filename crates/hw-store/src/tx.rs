//! A step of the store: one transaction, with a name for errors and for the points a crash is tried at.

use std::ops::ControlFlow;

use crate::Store;
use crate::driver::{Session, sorting};
use crate::error::{DriverError, Error};
use crate::leases::{self, Lease};
use crate::sql::{Dialect, Param, Row, Sql};
use crate::views::changes;
use crate::views::skipped::{ReadableRows, SkippedRows};

/// What is done in one transaction.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) before_commit: &'static str,
    pub(crate) after_commit: &'static str,
}

macro_rules! step {
    ($name:literal) => {
        $crate::tx::Step {
            name: $name,
            before_commit: concat!($name, ": before commit"),
            after_commit: concat!($name, ": after commit"),
        }
    };
}
pub(crate) use step;

/// How many statements may be on their way to a database at once.
const UNDER_WAY: usize = 500;

/// An open transaction. Dropped without a commit, it never happened.
pub(crate) struct Tx<'a> {
    session: Box<dyn Session + 'a>,
    step: &'static str,
    open: bool,
}

impl Store {
    /// Runs `job` in a write transaction; its error, or a crash before the commit, undoes everything.
    pub(crate) fn write<T>(
        &self,
        step: Step,
        job: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut tx = self.begin(step)?;
        let done = job(&mut tx)?;
        self.interrupt(step.before_commit)?;
        tx.commit()?;
        self.interrupt(step.after_commit)?;
        Ok(done)
    }

    /// The same for whoever holds the lease, and for him alone; faces are to look again after it.
    pub(crate) fn write_for<T>(
        &self,
        lease: &Lease,
        step: Step,
        job: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.write(step, |tx| {
            leases::check(tx, lease)?;
            let done = job(tx)?;
            changes::note(tx)?;
            Ok(done)
        })
    }

    fn begin(&self, step: Step) -> Result<Tx<'_>, Error> {
        if self.inner.read_only {
            return Err(Error::ReadOnly);
        }
        let session = self.inner.driver.writer();
        let mut tx = Tx::new(session.map_err(at(step.name))?, step.name);
        tx.session.begin_write().map_err(at(step.name))?;
        tx.open = true;
        Ok(tx)
    }

    /// Runs `job` on one state of the database.
    pub(crate) fn read<T>(
        &self,
        name: &'static str,
        job: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut tx = Tx::new(self.inner.driver.reader().map_err(at(name))?, name);
        tx.session.begin_read().map_err(at(name))?;
        tx.open = true;
        let answer = job(&mut tx)?;
        tx.commit()?;
        Ok(answer)
    }

    fn interrupt(&self, point: &'static str) -> Result<(), Error> {
        let crashes = self.interrupts.as_ref().is_some_and(|hook| hook(point));
        if crashes { Err(Error::Interrupted(point)) } else { Ok(()) }
    }
}

fn at(step: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| sorting::sorted(step, &*error)
}

impl<'a> Tx<'a> {
    fn new(session: Box<dyn Session + 'a>, step: &'static str) -> Self {
        Self { session, step, open: false }
    }

    fn commit(mut self) -> Result<(), Error> {
        self.session.commit().map_err(at(self.step))?;
        self.open = false;
        Ok(())
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.session.dialect()
    }

    /// Lets the statements of this transaction take as long as they need.
    pub(crate) fn lift_time_limit(&mut self) -> Result<(), Error> {
        self.session.lift_time_limit().map_err(at(self.step))
    }

    pub(crate) fn batch(&mut self, script: &str) -> Result<(), Error> {
        self.session.batch(script).map_err(at(self.step))
    }

    pub(crate) fn execute(&mut self, sql: Sql<'_>, params: &[Param<'_>]) -> Result<u64, Error> {
        self.session.execute(sql, params).map_err(at(self.step))
    }

    /// Runs one statement for each row of parameters, in order; a few hundred are under way at a time.
    pub(crate) fn execute_each(
        &mut self,
        sql: Sql<'_>,
        rows: &[Vec<Param<'_>>],
    ) -> Result<(), Error> {
        let mut chunks = rows.chunks(UNDER_WAY);
        chunks.try_for_each(|rows| self.session.execute_each(sql, rows)).map_err(at(self.step))
    }

    /// Calls `each` with the rows one by one, without holding them all.
    pub(crate) fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        mut each: impl FnMut(Row) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        let mut failed = None;
        let done = self.session.query_each(sql, params, &mut |row| {
            each(row).unwrap_or_else(|error| {
                failed = Some(error);
                ControlFlow::Break(())
            })
        });
        done.map_err(at(self.step))?;
        failed.map_or(Ok(()), Err)
    }

    /// All rows of an answer, each turned into a value.
    pub(crate) fn query<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        read: impl Fn(Row) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        self.query_each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    /// The rows of an answer that can be read, and how many cannot.
    pub(crate) fn query_readable<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        read: impl Fn(Row) -> Result<T, Error>,
    ) -> Result<ReadableRows<T>, Error> {
        let mut readable = ReadableRows { rows: Vec::new(), skipped: SkippedRows::default() };
        self.query_each(sql, params, |row| {
            readable.rows.extend(readable.skipped.unless_unreadable(read(row))?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(readable)
    }

    /// The first row of an answer, if there is one.
    pub(crate) fn first<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        read: impl Fn(Row) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        Ok(self.query(sql, params, read)?.into_iter().next())
    }

    /// The number a counting statement answers.
    pub(crate) fn count(&mut self, sql: Sql<'_>, params: &[Param<'_>]) -> Result<u64, Error> {
        let count = self.first(sql, params, |mut row| row.int(0))?.unwrap_or(0);
        Ok(count.unsigned_abs())
    }
}

impl Drop for Tx<'_> {
    fn drop(&mut self) {
        if self.open
            && let Err(error) = self.session.rollback()
        {
            tracing::warn!(step = self.step, %error, "rolling back failed; the database does it on its own");
        }
    }
}
