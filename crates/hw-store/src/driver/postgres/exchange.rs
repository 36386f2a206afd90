//! The messages of one session: which were sent, and whose answers have arrived.
//!
//! A message is sent at once, and its answer is awaited only where it is needed. The server answers in order, so an
//! answer that is awaited brings all that were sent before it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_postgres::{Client, Statement};

use super::message::{Answer, OutgoingStatement, StatementMessage, send_message};
use super::sent_queries::{QueryCopy, QueryRows, SentQueries};
use super::statement_cache::StatementUse;
use super::values::EncodedParam;
use super::{PooledClient, PostgresDriver, ResponseTimeout};
use crate::error::DriverError;
use crate::sql::SqlRow;

/// The number of statements that are sent before their answers are awaited.
const MAX_UNANSWERED_MESSAGES: usize = 500;

const KEEPS_CLIENT: &str = "an exchange keeps its client until the session ends";

/// The messages on one client.
pub(super) struct Exchange<'a> {
    driver: &'a PostgresDriver,
    pooled: Option<PooledClient>,
    sent_queries: SentQueries,
    /// The statements and preparations whose answers nobody has awaited, in order.
    unanswered: VecDeque<SentMessage>,
    /// The number of messages that were sent.
    sent: u64,
    /// The number of messages whose answers have arrived.
    answered: u64,
    /// The server missed a deadline. Its answer may still arrive, in the middle of a later exchange.
    has_timed_out: bool,
    /// The time limit for each answer; none in a transaction whose limit was lifted.
    deadline: Option<Duration>,
}

/// A message that was sent, with its number.
pub(super) struct Sent<A> {
    pub(super) number: u64,
    pub(super) answer: A,
}

/// A message whose answer nobody has awaited.
type SentMessage = Sent<MessageAnswer>;

enum MessageAnswer {
    Executed(Answer<u64>),
    Prepared { text: String, answer: Answer<Statement> },
}

/// Whether a query may have to be sent again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryLoss {
    /// It is sent with the beginning of a transaction, and may be lost with it.
    Possible,
    /// The server has answered on this connection: if it is lost, the transaction is lost too.
    EndsTransaction,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        driver: &'a PostgresDriver,
        pooled: PooledClient,
        deadline: Duration,
    ) -> Self {
        Self {
            driver,
            pooled: Some(pooled),
            sent_queries: SentQueries::default(),
            unanswered: VecDeque::new(),
            sent: 0,
            answered: 0,
            has_timed_out: false,
            deadline: Some(deadline),
        }
    }

    pub(super) fn set_deadline(&mut self, deadline: Option<Duration>) {
        self.deadline = deadline;
    }

    /// Returns true if nothing can be exchanged any more.
    pub(super) fn is_lost(&self) -> bool {
        self.has_timed_out || self.is_closed()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.pooled().client.is_closed()
    }

    /// Takes the client out for the next session; none if answers of this one may still arrive.
    pub(super) fn take_client(&mut self) -> Option<PooledClient> {
        self.pooled.take().filter(|_| !self.has_timed_out)
    }

    /// Counts a write transaction, and returns true if the server is to make its plans again.
    pub(super) fn renew_plans(&mut self) -> bool {
        self.pooled_mut().statements.renew_plans()
    }

    /// Continues on a new connection, where nothing was sent yet.
    pub(super) fn reconnect(&mut self) -> Result<(), DriverError> {
        self.pooled = Some(self.driver.connect()?);
        self.unanswered.clear();
        Ok(())
    }

    /// Forgets everything that was sent: its transaction is rolled back.
    pub(super) fn forget_sent(&mut self) {
        self.unanswered.clear();
        self.sent_queries.clear();
        self.pooled_mut().statements.forget_unanswered();
    }

    pub(super) fn send_script(&mut self, script: String) -> Sent<Answer<()>> {
        let client = Arc::clone(&self.pooled().client);
        let answer = send_message(async move { client.batch_execute(&script).await });
        self.number_message(answer)
    }

    pub(super) fn send_statement<A>(
        &mut self,
        text: &str,
        params: Vec<EncodedParam>,
        send: fn(StatementMessage, Arc<Client>) -> A,
    ) -> Sent<A> {
        let statement = self.choose_statement(text);
        let client = Arc::clone(&self.pooled().client);
        self.number_message(send(StatementMessage { statement, params }, client))
    }

    /// Takes note of a statement whose answer is awaited with a later one.
    pub(super) fn await_later(
        &mut self,
        Sent { number, answer }: Sent<Answer<u64>>,
    ) -> Result<(), DriverError> {
        let answer = MessageAnswer::Executed(answer);
        self.unanswered.push_back(SentMessage { number, answer });
        if self.unanswered.len() < MAX_UNANSWERED_MESSAGES { Ok(()) } else { self.settle() }
    }

    /// Sends a query whose rows are read later, and returns its place.
    pub(super) fn send_query(
        &mut self,
        text: &str,
        params: Vec<EncodedParam>,
        loss: QueryLoss,
    ) -> usize {
        let copy = (loss == QueryLoss::Possible)
            .then(|| QueryCopy { text: text.to_owned(), params: params.clone() });
        let sent = self.send_statement(text, params, StatementMessage::send_query_all);
        self.sent_queries.push(sent, copy)
    }

    /// Sends the queries again that were lost with the beginning of their transaction.
    pub(super) fn resend_queries(&mut self) {
        for (index, QueryCopy { text, params }) in self.sent_queries.take_lost() {
            let sent = self.send_statement(&text, params, StatementMessage::send_query_all);
            self.sent_queries.replace(index, sent);
        }
    }

    /// Returns the statement in the form in which it is sent, after its preparation if this is the second use.
    fn choose_statement(&mut self, text: &str) -> OutgoingStatement {
        match self.pooled_mut().statements.use_statement(text) {
            StatementUse::Prepared(statement) => return OutgoingStatement::Prepared(statement),
            StatementUse::TextAfterPreparing => self.send_preparation(text),
            StatementUse::Text => {}
        }
        OutgoingStatement::Text(text.to_owned())
    }

    fn send_preparation(&mut self, text: &str) {
        let (client, text) = (Arc::clone(&self.pooled().client), text.to_owned());
        let answer = send_message({
            let text = text.clone();
            async move { client.prepare(&text).await }
        });
        let message = self.number_message(MessageAnswer::Prepared { text, answer });
        self.unanswered.push_back(message);
    }

    fn number_message<A>(&mut self, answer: A) -> Sent<A> {
        self.sent += 1;
        Sent { number: self.sent, answer }
    }

    /// Waits for the answers to everything that was sent.
    pub(super) fn settle(&mut self) -> Result<(), DriverError> {
        self.settle_before(u64::MAX)
    }

    /// Waits for the answers to everything that was sent before a message, so that the first failure is reported.
    ///
    /// They are read in the order in which they arrive: the client stops reading from the server while rows wait that
    /// nobody takes, so an answer behind them would never come.
    fn settle_before(&mut self, message: u64) -> Result<(), DriverError> {
        loop {
            let query = self.sent_queries.first_waiting().filter(|query| query.number < message);
            let until = query.as_ref().map_or(message, |query| query.number);
            if let Some(message) = self.unanswered.pop_front_if(|first| first.number < until) {
                self.receive_answer(message)?;
            } else if let Some(query) = query {
                self.receive_rows(query.index)?;
            } else {
                return Ok(());
            }
        }
    }

    fn receive_answer(
        &mut self,
        SentMessage { number, answer }: SentMessage,
    ) -> Result<(), DriverError> {
        match answer {
            MessageAnswer::Executed(answer) => self.wait_for(number, answer).map(drop),
            MessageAnswer::Prepared { text, answer } => {
                let statement = self.wait_for(number, answer)?;
                self.pooled_mut().statements.add_prepared(text, statement);
                Ok(())
            }
        }
    }

    /// Waits for the rows of a query and keeps them.
    fn receive_rows(&mut self, index: usize) -> Result<(), DriverError> {
        let Some(number) = self.sent_queries.number(index) else { return Ok(()) };
        if let Some(rows) = self.take_rows(index)? {
            self.sent_queries.keep_rows(index, number, rows);
        }
        Ok(())
    }

    /// Returns the rows of the query at this place.
    pub(super) fn read_rows(&mut self, index: usize) -> Result<Vec<SqlRow>, DriverError> {
        let number = self.sent_queries.number(index);
        self.settle_before(number.ok_or("the query was sent in another session")?)?;
        Ok(self.take_rows(index)?.unwrap_or_default())
    }

    /// Takes out a query, and waits for its rows if they have not arrived.
    fn take_rows(&mut self, index: usize) -> Result<Option<Vec<SqlRow>>, DriverError> {
        let number = self.sent_queries.number(index).unwrap_or_default();
        Ok(match self.sent_queries.take(index).map(|query| query.rows) {
            Some(QueryRows::Sent(answer)) => Some(self.wait_for(number, answer)?),
            Some(QueryRows::Arrived(rows)) => Some(rows),
            None => None,
        })
    }

    /// Waits for the answer to the last message, after all others.
    pub(super) fn wait_for_last<T, E: Into<DriverError>>(
        &mut self,
        Sent { number, answer }: Sent<impl Future<Output = Result<T, E>>>,
    ) -> Result<T, DriverError> {
        self.settle()?;
        self.wait_for(number, answer)
    }

    /// Waits for the answer to a message. A session whose server missed a deadline fails at once.
    pub(super) fn wait_for<T, E: Into<DriverError>>(
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
    pub(super) fn count_round_trip(&mut self, number: u64) {
        if number > self.answered {
            self.answered = self.sent;
            self.driver.round_trips.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn pooled(&self) -> &PooledClient {
        self.pooled.as_ref().expect(KEEPS_CLIENT)
    }

    fn pooled_mut(&mut self) -> &mut PooledClient {
        self.pooled.as_mut().expect(KEEPS_CLIENT)
    }
}
