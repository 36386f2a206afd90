//! A session on a pooled client, used by one caller at a time.
//!
//! A message is sent at once, and its answer is awaited only where it is needed: a transaction's beginning travels with
//! its first statement, and statements that return nothing travel with the next query or the commit. A server that is
//! milliseconds away costs one round trip for each query, not for each statement.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{FutureExt as _, ready};
use tokio_postgres::{Client, Error, RowStream, Statement};

use super::values::{self, EncodedParam, RowReader};
use super::{ClientUse, PooledClient, PostgresDriver, ResponseTimeout, advisory_lock_key};
use crate::driver::semaphore::SemaphorePermit;
use crate::driver::{DatabaseSession, Durability, PendingRows, RowCallback};
use crate::error::DriverError;
use crate::sql::{Dialect, Sql, SqlParam, SqlRow};

/// The number of statements that are sent before their answers are awaited.
const MAX_UNANSWERED_STATEMENTS: usize = 500;

/// The answer to a message that was sent.
type Answer<T, E = Error> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// A session that returns its client to the pool when it is dropped.
pub(super) struct PostgresSession<'a> {
    driver: &'a PostgresDriver,
    client_use: ClientUse,
    pooled: Option<PooledClient>,
    _permit: Option<SemaphorePermit<'a>>,
    /// A transaction is open. A client with an open transaction is closed instead of pooled.
    in_transaction: bool,
    is_read_only: bool,
    /// The beginning of the transaction, until its answer is awaited.
    sent_begin: Option<SentBegin>,
    /// The queries of this transaction whose rows are read later. Those that were read are none.
    sent_queries: Vec<Option<SentQuery>>,
    /// The statements whose answers nobody has awaited, in order.
    unanswered: VecDeque<SentStatement>,
    /// The number of messages that were sent.
    sent: u64,
    /// The number of messages whose answers have arrived: an answer that is awaited brings all that were sent before.
    answered: u64,
    /// The server missed a deadline. Its answer may still arrive, in the middle of a later exchange.
    has_timed_out: bool,
    /// The time limit for each answer; none in a transaction whose limit was lifted.
    deadline: Option<Duration>,
}

/// A statement that was sent, and its number among the messages.
struct SentStatement {
    number: u64,
    answer: Answer<u64>,
}

/// A transaction's beginning that was sent.
struct SentBegin {
    number: u64,
    script: String,
    answer: Answer<()>,
}

/// A query that was sent.
struct SentQuery {
    number: u64,
    answer: QueryAnswer,
    /// Present if the query was sent with the beginning of the transaction, and may be lost with it.
    copy: Option<QueryCopy>,
}

/// The rows of a query that was sent.
enum QueryAnswer {
    Sent(Answer<Vec<SqlRow>, DriverError>),
    Arrived(Vec<SqlRow>),
}

/// A query whose rows have not arrived: its place among the queries, and among all messages.
struct WaitingQuery {
    index: usize,
    number: u64,
}

/// What it takes to send a query again.
struct QueryCopy {
    text: String,
    params: Vec<EncodedParam>,
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
        let is_usable = !self.in_transaction && !self.has_timed_out;
        if let Some(pooled) = self.pooled.take().filter(|_| is_usable) {
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
        Ok(Self {
            driver,
            client_use,
            pooled: Some(driver.checkout_client(client_use)?),
            _permit: permit,
            in_transaction: false,
            is_read_only: false,
            sent_begin: None,
            sent_queries: Vec::new(),
            unanswered: VecDeque::new(),
            sent: 0,
            answered: 0,
            has_timed_out: false,
            deadline: Some(driver.timeouts.write_deadline()),
        })
    }

    fn begin_transaction(&mut self, script: String) {
        self.in_transaction = true;
        let answer = self.send_script(script.clone());
        self.sent_begin = Some(SentBegin { number: self.sent, script, answer });
    }

    /// Waits until the transaction has begun. Replaces a connection that broke or stopped responding while it was idle,
    /// which loses nothing but the statements that were sent with the beginning.
    fn confirm_begin(&mut self) -> Result<BegunOn, DriverError> {
        let Some(SentBegin { number, script, answer }) = self.sent_begin.take() else {
            return Ok(BegunOn::SameConnection);
        };
        self.count_round_trip(number);
        let begun = self.driver.wait_for(Some(self.driver.timeouts.begin_deadline()), answer);
        let client = &self.pooled_client().client;
        match begun {
            Ok(Err(error)) if !client.is_closed() && !is_server_shutdown(&error) => {
                Err(error.into())
            }
            Ok(Ok(())) => Ok(BegunOn::SameConnection),
            Ok(Err(_)) | Err(ResponseTimeout) => {
                self.pooled = Some(self.driver.connect()?);
                let begun = self.send_script(script);
                self.wait_for(self.sent, begun)?;
                self.resend_queries()?;
                Ok(BegunOn::NewConnection)
            }
        }
    }

    /// Sends a statement.
    ///
    /// The first one of a transaction is sent together with the beginning, and again if that connection was lost. If the
    /// beginning fails, the server rejects the statement too: it comes after an error in an open transaction.
    fn send_prepared<A>(
        &mut self,
        sql: Sql<'_>,
        params: SentParams<'_>,
        send: fn(Arc<Client>, Statement, Vec<EncodedParam>) -> A,
    ) -> Result<A, DriverError> {
        let answer = self.send_once(sql, params, send)?;
        match self.confirm_begin()? {
            BegunOn::SameConnection => Ok(answer),
            BegunOn::NewConnection => self.send_once(sql, params, send),
        }
    }

    fn send_once<A>(
        &mut self,
        sql: Sql<'_>,
        params: SentParams<'_>,
        send: fn(Arc<Client>, Statement, Vec<EncodedParam>) -> A,
    ) -> Result<A, DriverError> {
        let statement = self.prepare_statement(sql)?;
        let params = match params {
            SentParams::Values(params) => values::encode_params(params, statement.params())?,
            SentParams::Columns(rows) => values::encode_columns(rows, statement.params())?,
        };
        self.sent += 1;
        Ok(send(Arc::clone(&self.pooled_client().client), statement, params))
    }

    /// Sends the queries again that were sent with the beginning of the transaction.
    fn resend_queries(&mut self) -> Result<(), DriverError> {
        let lost: Vec<_> = self.sent_queries.iter_mut().map(Option::take).collect();
        for (index, lost) in lost.into_iter().enumerate() {
            let Some(QueryCopy { text, params }) = lost.and_then(|query| query.copy) else {
                continue;
            };
            let statement = self.prepare_statement(Sql::portable(&text))?;
            let client = Arc::clone(&self.pooled_client().client);
            let answer = QueryAnswer::Sent(query_all_prepared(client, statement, params));
            self.sent += 1;
            self.sent_queries[index] = Some(SentQuery { number: self.sent, answer, copy: None });
        }
        Ok(())
    }

    /// Sends a statement whose answer is awaited with a later one.
    fn send_unanswered(&mut self, sql: Sql<'_>, params: SentParams<'_>) -> Result<(), DriverError> {
        let answer = self.send_prepared(sql, params, execute_prepared)?;
        self.unanswered.push_back(SentStatement { number: self.sent, answer });
        if self.unanswered.len() < MAX_UNANSWERED_STATEMENTS { Ok(()) } else { self.settle() }
    }

    /// Waits for the answers to everything that was sent.
    fn settle(&mut self) -> Result<(), DriverError> {
        self.settle_before(u64::MAX)
    }

    /// Waits for the answers to everything that was sent before a message, so that the first failure is reported.
    ///
    /// They are read in the order in which they arrive: the client stops reading from the server while rows wait that
    /// nobody takes, so an answer behind them would never come.
    fn settle_before(&mut self, message: u64) -> Result<(), DriverError> {
        loop {
            let query = self.first_waiting_query().filter(|query| query.number < message);
            let until = query.as_ref().map_or(message, |query| query.number);
            if let Some(SentStatement { number, answer }) =
                self.unanswered.pop_front_if(|first| first.number < until)
            {
                self.wait_for(number, answer)?;
            } else if let Some(query) = query {
                self.receive_rows(query.index)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Returns the first query whose rows have not arrived.
    fn first_waiting_query(&self) -> Option<WaitingQuery> {
        self.sent_queries.iter().enumerate().find_map(|(index, query)| {
            let SentQuery { number, answer: QueryAnswer::Sent(_), .. } = query.as_ref()? else {
                return None;
            };
            Some(WaitingQuery { index, number: *number })
        })
    }

    /// Waits for the rows of a query and keeps them.
    fn receive_rows(&mut self, index: usize) -> Result<(), DriverError> {
        let Some(SentQuery { number, answer, .. }) = self.sent_queries[index].take() else {
            return Ok(());
        };
        let rows = match answer {
            QueryAnswer::Sent(answer) => self.wait_for(number, answer)?,
            QueryAnswer::Arrived(rows) => rows,
        };
        let answer = QueryAnswer::Arrived(rows);
        self.sent_queries[index] = Some(SentQuery { number, answer, copy: None });
        Ok(())
    }

    fn send_script(&mut self, script: String) -> Answer<()> {
        self.sent += 1;
        let client = Arc::clone(&self.pooled_client().client);
        send_message(async move { client.batch_execute(&script).await })
    }

    fn run_script(&mut self, script: String) -> Result<(), DriverError> {
        let answer = self.send_script(script);
        self.settle()?;
        self.wait_for(self.sent, answer)
    }

    /// Waits for the answer to a message. A session whose server missed a deadline fails at once.
    fn wait_for<T, E: Into<DriverError>>(
        &mut self,
        number: u64,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, DriverError> {
        if self.has_timed_out {
            return Err(ResponseTimeout.into());
        }
        self.count_round_trip(number);
        let answer = self.driver.wait_for(self.deadline, answer);
        self.has_timed_out = answer.is_err();
        answer?.map_err(Into::into)
    }

    /// Counts a round trip if the answer to this message has not arrived with an earlier one.
    fn count_round_trip(&mut self, number: u64) {
        if number > self.answered {
            self.answered = self.sent;
            self.driver.round_trips.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn pooled_client(&self) -> &PooledClient {
        self.pooled.as_ref().expect("a session keeps its client until it is dropped")
    }

    fn prepare_statement(&mut self, sql: Sql<'_>) -> Result<Statement, DriverError> {
        let text = sql.text_for(Dialect::Postgres);
        if let Some(statement) = self.pooled_client().statements.get(text) {
            return Ok(statement.clone());
        }
        self.confirm_begin()?;
        self.sent += 1;
        let client = Arc::clone(&self.pooled_client().client);
        let prepared = send_message({
            let text = text.to_owned();
            async move { client.prepare(&text).await }
        });
        self.settle()?;
        let statement = self.wait_for(self.sent, prepared)?;
        if let Some(pooled) = &mut self.pooled {
            pooled.statements.insert(text.to_owned(), statement.clone());
        }
        Ok(statement)
    }
}

/// The parameters of a statement.
#[derive(Clone, Copy)]
enum SentParams<'a> {
    Values(&'a [SqlParam<'a>]),
    /// Rows, of which the statement takes each column as an array.
    Columns(&'a [Vec<SqlParam<'a>>]),
}

/// Sends a message: its first poll writes it to the connection's queue. The server answers in order.
fn send_message<T: Send + 'static, E: Send + 'static>(
    message: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Answer<T, E> {
    let mut message = Box::pin(message);
    match message.as_mut().now_or_never() {
        Some(answered) => Box::pin(ready(answered)),
        None => message,
    }
}

fn execute_prepared(
    client: Arc<Client>,
    statement: Statement,
    params: Vec<EncodedParam>,
) -> Answer<u64> {
    send_message(async move { client.execute_raw(&statement, params).await })
}

fn query_prepared(
    client: Arc<Client>,
    statement: Statement,
    params: Vec<EncodedParam>,
) -> Answer<RowStream> {
    send_message(async move { client.query_raw(&statement, params).await })
}

fn query_all_prepared(
    client: Arc<Client>,
    statement: Statement,
    params: Vec<EncodedParam>,
) -> Answer<Vec<SqlRow>, DriverError> {
    send_message(async move {
        let mut rows = pin!(client.query_raw(&statement, params).await?);
        let (mut reader, mut read) = (RowReader::default(), Vec::new());
        while let Some(row) = rows.next().await {
            read.push(reader.read_row(&row?)?);
        }
        Ok(read)
    })
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
        self.begin_transaction(format!(
            "begin isolation level read committed{wait_for_disk}; select pg_advisory_xact_lock({lock})"
        ));
        Ok(())
    }

    fn begin_read(&mut self) -> Result<(), DriverError> {
        self.is_read_only = true;
        self.deadline = Some(self.driver.timeouts.read_deadline());
        let limits = self.driver.timeouts.read_script();
        self.begin_transaction(format!(
            "begin isolation level repeatable read read only; {limits}"
        ));
        Ok(())
    }

    fn lift_time_limit(&mut self) -> Result<(), DriverError> {
        self.execute_batch("set local statement_timeout = 0")?;
        self.deadline = None;
        Ok(())
    }

    /// Sends the commit behind the unanswered statements: if one of them failed, the server rolls back instead.
    ///
    /// A reader has nothing to commit, and does not wait: whoever uses the connection next is answered after it.
    fn commit(&mut self) -> Result<(), DriverError> {
        self.confirm_begin()?;
        if self.is_read_only {
            drop(self.send_script("rollback".to_owned()));
        } else {
            let committed = self.send_script("commit".to_owned());
            self.settle()?;
            self.wait_for(self.sent, committed)?;
        }
        self.in_transaction = false;
        Ok(())
    }

    /// Skips a lost connection: the server has rolled it back.
    fn rollback(&mut self) -> Result<(), DriverError> {
        if self.has_timed_out || self.pooled_client().client.is_closed() {
            return Ok(());
        }
        self.sent_begin = None;
        self.unanswered.clear();
        self.sent_queries.clear();
        self.run_script("rollback".to_owned())?;
        self.in_transaction = false;
        Ok(())
    }

    fn execute_batch(&mut self, script: &str) -> Result<(), DriverError> {
        self.confirm_begin()?;
        let answer = self.send_script(script.to_owned());
        self.settle()?;
        self.wait_for(self.sent, answer)
    }

    fn execute(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<u64, DriverError> {
        let answer = self.send_prepared(sql, SentParams::Values(params), execute_prepared)?;
        self.settle()?;
        self.wait_for(self.sent, answer)
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
        let answer = self.send_prepared(sql, SentParams::Values(params), query_prepared)?;
        self.settle()?;
        let mut rows = pin!(self.wait_for(self.sent, answer)?);
        let mut reader = RowReader::default();
        while let Some(row) = self.wait_for(self.sent, rows.next().map(Option::transpose))? {
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
        let statement = self.prepare_statement(sql)?;
        let encoded = values::encode_params(params, statement.params())?;
        let copy = self.sent_begin.as_ref().map(|_| QueryCopy {
            text: sql.text_for(Dialect::Postgres).to_owned(),
            params: encoded.clone(),
        });
        let client = Arc::clone(&self.pooled_client().client);
        let answer = QueryAnswer::Sent(query_all_prepared(client, statement, encoded));
        self.sent += 1;
        self.sent_queries.push(Some(SentQuery { number: self.sent, answer, copy }));
        Ok(PendingRows::Sent(self.sent_queries.len() - 1))
    }

    fn read_pending(&mut self, pending: PendingRows) -> Result<Vec<SqlRow>, DriverError> {
        let index = match pending {
            PendingRows::Read(rows) => return Ok(rows),
            PendingRows::Sent(index) => index,
        };
        self.confirm_begin()?;
        let sent = self.sent_queries.get(index).and_then(Option::as_ref);
        let number = sent.ok_or("the query was sent in another session")?.number;
        self.settle_before(number)?;
        self.receive_rows(index)?;
        match self.sent_queries.get_mut(index).and_then(Option::take) {
            Some(SentQuery { answer: QueryAnswer::Arrived(rows), .. }) => Ok(rows),
            Some(_) | None => Err("the rows of a query did not arrive".into()),
        }
    }
}
