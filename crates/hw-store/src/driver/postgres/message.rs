//! Messages to the server: each is sent at once, and its answer is awaited where it is needed.

use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::{FutureExt as _, ready};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, RowStream, Statement};

use super::values::{EncodedParam, RowReader};
use crate::error::DriverError;
use crate::sql::SqlRow;

/// The answer to a message that was sent.
pub(super) type Answer<T, E = Error> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// Sends a message: its first poll writes it to the connection's queue. The server answers in order.
pub(super) fn send_message<T: Send + 'static, E: Send + 'static>(
    message: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Answer<T, E> {
    let mut message = Box::pin(message);
    match message.as_mut().now_or_never() {
        Some(answered) => Box::pin(ready(answered)),
        None => message,
    }
}

/// A statement in the form in which it is sent.
pub(super) enum OutgoingStatement {
    Prepared(Statement),
    /// The server parses it, and forgets it.
    Text(String),
}

/// A statement with its parameters.
pub(super) struct StatementMessage {
    pub(super) statement: OutgoingStatement,
    pub(super) params: Vec<EncodedParam>,
}

impl StatementMessage {
    /// Sends a statement that returns the number of rows it changed.
    pub(super) fn send_execute(self, client: Arc<Client>) -> Answer<u64> {
        send_message(async move {
            let Self { statement, params } = self;
            match statement {
                OutgoingStatement::Prepared(statement) => {
                    client.execute_raw(&statement, params).await
                }
                OutgoingStatement::Text(text) => {
                    let params: Vec<(&(dyn ToSql + Sync), Type)> =
                        params.iter().map(|param| (param as _, Type::UNKNOWN)).collect();
                    client.execute_typed(&text, &params).await
                }
            }
        })
    }

    /// Sends a query whose rows are taken one by one.
    pub(super) fn send_query(self, client: Arc<Client>) -> Answer<RowStream> {
        send_message(async move { self.query(&client).await })
    }

    /// Sends a query whose rows are taken together.
    pub(super) fn send_query_all(self, client: Arc<Client>) -> Answer<Vec<SqlRow>, DriverError> {
        send_message(async move {
            let mut rows = pin!(self.query(&client).await?);
            let (mut reader, mut read) = (RowReader::default(), Vec::new());
            while let Some(row) = rows.next().await {
                read.push(reader.read_row(&row?)?);
            }
            Ok(read)
        })
    }

    async fn query(self, client: &Client) -> Result<RowStream, Error> {
        let Self { statement, params } = self;
        match statement {
            OutgoingStatement::Prepared(statement) => client.query_raw(&statement, params).await,
            OutgoingStatement::Text(text) => {
                let params = params.into_iter().map(|param| (param, Type::UNKNOWN));
                client.query_typed_raw(&text, params).await
            }
        }
    }
}
