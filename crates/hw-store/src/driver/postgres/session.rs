//! A session on a pooled client, used by one caller at a time.
//!
//! A transaction's beginning travels with its first statement, and statements that return nothing travel with the next
//! query or the commit. A server that is milliseconds away costs one round trip for each query, not for each statement.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _};
use tokio_postgres::{Client, Error};

use super::exchange::{Exchange, QueryLoss, Sent};
use super::message::{Answer, StatementMessage};
use super::values::{RowReader, SentParams};
use super::{ClientUse, PostgresDriver, ResponseTimeout, advisory_lock_key};
use crate::driver::semaphore::SemaphorePermit;
use crate::driver::{DatabaseSession, Durability, PendingRows, RowCallback};
use crate::error::DriverError;
use crate::sql::{Dialect, Sql, SqlParam, SqlRow};

/// A session that returns its client to the pool when it is dropped.
pub(super) struct PostgresSession<'a> {
    driver: &'a PostgresDriver,
    client_use: ClientUse,
    exchange: Exchange<'a>,
    _permit: Option<SemaphorePermit<'a>>,
    /// A transaction is open. A client with an open transaction is closed instead of pooled.
    in_transaction: bool,
    is_read_only: bool,
    /// The beginning of the transaction, until its answer is awaited.
    sent_begin: Option<SentBegin>,
}

/// A transaction's beginning that was sent.
struct SentBegin {
    script: String,
    message: Sent<Answer<()>>,
}

/// The connection of a transaction that has begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BegunOn {
    SameConnection,
    /// The first connection was lost, and with it everything that was sent.
    NewConnection,
}

impl Drop for PostgresSession<'_> {
    fn drop(&mut self) {
        if let Some(pooled) = self.exchange.take_client().filter(|_| !self.in_transaction) {
            self.driver.return_client(pooled, self.client_use);
        }
    }
}

impl<'a> PostgresSession<'a> {
    pub(super) fn checkout(
        driver: &'a PostgresDriver,
        permit: Option<SemaphorePermit<'a>>,
    ) -> Result<Self, DriverError> {
        let client_use = if permit.is_some() { ClientUse::Reading } else { ClientUse::Writing };
        let pooled = driver.checkout_client(client_use)?;
        Ok(Self {
            driver,
            client_use,
            exchange: Exchange::new(driver, pooled, driver.timeouts.write_deadline()),
            _permit: permit,
            in_transaction: false,
            is_read_only: false,
            sent_begin: None,
        })
    }

    fn begin_transaction(&mut self, script: String) {
        self.in_transaction = true;
        let message = self.exchange.send_script(script.clone());
        self.sent_begin = Some(SentBegin { script, message });
    }

    /// Waits until the transaction has begun. Replaces a connection that broke or stopped responding while it was idle,
    /// which loses nothing but the statements that were sent with the beginning.
    fn confirm_begin(&mut self) -> Result<BegunOn, DriverError> {
        let Some(SentBegin { script, message: Sent { number, answer } }) = self.sent_begin.take()
        else {
            return Ok(BegunOn::SameConnection);
        };
        self.exchange.count_round_trip(number);
        let begun = self.driver.wait_for(Some(self.driver.timeouts.begin_deadline()), answer);
        match begun {
            Ok(Err(error)) if !self.exchange.is_closed() && !is_server_shutdown(&error) => {
                Err(error.into())
            }
            Ok(Ok(())) => Ok(BegunOn::SameConnection),
            Ok(Err(_)) | Err(ResponseTimeout) => {
                self.exchange.reconnect()?;
                let Sent { number, answer } = self.exchange.send_script(script);
                self.exchange.wait_for(number, answer)?;
                self.exchange.resend_queries();
                Ok(BegunOn::NewConnection)
            }
        }
    }

    /// Sends a statement.
    ///
    /// The first one of a transaction is sent together with the beginning, and again if that connection was lost. If the
    /// beginning fails, the server rejects the statement too: it comes after an error in an open transaction.
    fn send_confirmed<A>(
        &mut self,
        sql: Sql<'_>,
        params: SentParams<'_>,
        send: fn(StatementMessage, Arc<Client>) -> A,
    ) -> Result<Sent<A>, DriverError> {
        let text = sql.text_for(Dialect::Postgres);
        let sent = self.exchange.send_statement(text, params.encode()?, send);
        match self.confirm_begin()? {
            BegunOn::SameConnection => Ok(sent),
            BegunOn::NewConnection => {
                Ok(self.exchange.send_statement(text, params.encode()?, send))
            }
        }
    }

    /// Sends a statement whose answer is awaited with a later one.
    fn send_unanswered(&mut self, sql: Sql<'_>, params: SentParams<'_>) -> Result<(), DriverError> {
        let sent = self.send_confirmed(sql, params, StatementMessage::send_execute)?;
        self.exchange.await_later(sent)
    }
}

/// Returns true if the server closed the connection (class 57P: shutdown, termination).
fn is_server_shutdown(error: &Error) -> bool {
    error.code().is_some_and(|state| state.code().starts_with("57P"))
}

impl DatabaseSession for PostgresSession<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn begin_write(&mut self, durability: Durability) -> Result<(), DriverError> {
        let lock = advisory_lock_key(&self.driver.schema);
        // a server or a role may have it off
        let wait_for_disk = match durability {
            Durability::Usual => "",
            Durability::Durable => "; set local synchronous_commit = on",
        };
        let renew_plans = if self.exchange.renew_plans() { "; discard plans" } else { "" };
        self.begin_transaction(format!(
            "begin isolation level read committed{wait_for_disk}{renew_plans}; select pg_advisory_xact_lock({lock})"
        ));
        Ok(())
    }

    fn begin_read(&mut self) -> Result<(), DriverError> {
        self.is_read_only = true;
        self.exchange.set_deadline(Some(self.driver.timeouts.read_deadline()));
        let limits = self.driver.timeouts.read_script();
        self.begin_transaction(format!(
            "begin isolation level repeatable read read only; {limits}"
        ));
        Ok(())
    }

    fn lift_time_limit(&mut self) -> Result<(), DriverError> {
        self.execute_batch("set local statement_timeout = 0")?;
        self.exchange.set_deadline(None);
        Ok(())
    }

    /// Sends the commit behind the unanswered statements: if one of them failed, the server rolls back instead.
    ///
    /// A reader has nothing to commit, and does not wait: whoever uses the connection next is answered after it.
    fn commit(&mut self) -> Result<(), DriverError> {
        self.confirm_begin()?;
        if self.is_read_only {
            drop(self.exchange.send_script("rollback".to_owned()));
        } else {
            let committed = self.exchange.send_script("commit".to_owned());
            self.exchange.wait_for_last(committed)?;
        }
        self.in_transaction = false;
        Ok(())
    }

    /// Skips a lost connection: the server has rolled it back.
    fn rollback(&mut self) -> Result<(), DriverError> {
        if self.exchange.is_lost() {
            return Ok(());
        }
        self.sent_begin = None;
        self.exchange.forget_sent();
        let rolled_back = self.exchange.send_script("rollback".to_owned());
        self.exchange.wait_for_last(rolled_back)?;
        self.in_transaction = false;
        Ok(())
    }

    fn execute_batch(&mut self, script: &str) -> Result<(), DriverError> {
        self.confirm_begin()?;
        let executed = self.exchange.send_script(script.to_owned());
        self.exchange.wait_for_last(executed)
    }

    fn execute(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<u64, DriverError> {
        let params = SentParams::Values(params);
        let sent = self.send_confirmed(sql, params, StatementMessage::send_execute)?;
        self.exchange.wait_for_last(sent)
    }

    fn send_statement(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<(), DriverError> {
        self.send_unanswered(sql, SentParams::Values(params))
    }

    fn execute_each(
        &mut self,
        sql: Sql<'_>,
        rows: &[Vec<SqlParam<'_>>],
    ) -> Result<(), DriverError> {
        rows.iter().try_for_each(|row| self.send_unanswered(sql, SentParams::Values(row)))
    }

    fn insert_rows(&mut self, sql: Sql<'_>, rows: &[Vec<SqlParam<'_>>]) -> Result<(), DriverError> {
        if rows.is_empty() { Ok(()) } else { self.send_unanswered(sql, SentParams::Columns(rows)) }
    }

    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        each: &mut RowCallback<'_>,
    ) -> Result<(), DriverError> {
        let params = SentParams::Values(params);
        let sent = self.send_confirmed(sql, params, StatementMessage::send_query)?;
        let number = sent.number;
        let mut rows = pin!(self.exchange.wait_for_last(sent)?);
        let mut reader = RowReader::default();
        while let Some(row) = self.exchange.wait_for(number, rows.next().map(Option::transpose))? {
            if each(reader.read_row(&row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn send_query(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
    ) -> Result<PendingRows, DriverError> {
        let loss = match self.sent_begin {
            Some(_) => QueryLoss::Possible,
            None => QueryLoss::EndsTransaction,
        };
        let params = SentParams::Values(params).encode()?;
        let text = sql.text_for(Dialect::Postgres);
        Ok(PendingRows::Sent(self.exchange.send_query(text, params, loss)))
    }

    fn read_pending(&mut self, pending: PendingRows) -> Result<Vec<SqlRow>, DriverError> {
        let index = match pending {
            PendingRows::Read(rows) => return Ok(rows),
            PendingRows::Sent(index) => index,
        };
        self.confirm_begin()?;
        self.exchange.read_rows(index)
    }
}
