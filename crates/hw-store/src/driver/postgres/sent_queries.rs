//! The queries of a session whose rows are read later.

use super::exchange::Sent;
use super::message::Answer;
use super::values::EncodedParam;
use crate::error::DriverError;
use crate::sql::SqlRow;

/// The queries that were sent, by their place. Those that were read are none.
#[derive(Default)]
pub(super) struct SentQueries(Vec<Option<SentQuery>>);

/// A query that was sent.
pub(super) struct SentQuery {
    number: u64,
    pub(super) rows: QueryRows,
    copy: Option<QueryCopy>,
}

/// The rows of a query.
pub(super) enum QueryRows {
    Sent(Answer<Vec<SqlRow>, DriverError>),
    Arrived(Vec<SqlRow>),
}

/// What it takes to send a query again.
pub(super) struct QueryCopy {
    pub(super) text: String,
    pub(super) params: Vec<EncodedParam>,
}

/// A query whose rows have not arrived: its place among the queries, and its number among all messages.
pub(super) struct WaitingQuery {
    pub(super) index: usize,
    pub(super) number: u64,
}

impl SentQueries {
    /// Adds a query, and returns its place.
    pub(super) fn push(
        &mut self,
        Sent { number, answer }: Sent<Answer<Vec<SqlRow>, DriverError>>,
        copy: Option<QueryCopy>,
    ) -> usize {
        self.0.push(Some(SentQuery { number, rows: QueryRows::Sent(answer), copy }));
        self.0.len() - 1
    }

    /// Returns the number of the query at this place, if it was not read.
    pub(super) fn number(&self, index: usize) -> Option<u64> {
        Some(self.0.get(index)?.as_ref()?.number)
    }

    /// Returns the first query whose rows have not arrived.
    pub(super) fn first_waiting(&self) -> Option<WaitingQuery> {
        self.0.iter().enumerate().find_map(|(index, query)| {
            let SentQuery { number, rows: QueryRows::Sent(_), .. } = query.as_ref()? else {
                return None;
            };
            Some(WaitingQuery { index, number: *number })
        })
    }

    /// Takes out the query at this place.
    pub(super) fn take(&mut self, index: usize) -> Option<SentQuery> {
        self.0.get_mut(index)?.take()
    }

    /// Keeps the rows of the query at this place.
    pub(super) fn keep_rows(&mut self, index: usize, number: u64, rows: Vec<SqlRow>) {
        self.0[index] = Some(SentQuery { number, rows: QueryRows::Arrived(rows), copy: None });
    }

    /// Takes out what was lost with its connection: the place of each query, and what it takes to send it again.
    pub(super) fn take_lost(&mut self) -> Vec<(usize, QueryCopy)> {
        let lost = self.0.iter_mut().enumerate();
        lost.filter_map(|(index, query)| Some((index, query.take()?.copy?))).collect()
    }

    /// Puts a query that was sent again at its place.
    pub(super) fn replace(
        &mut self,
        index: usize,
        Sent { number, answer }: Sent<Answer<Vec<SqlRow>, DriverError>>,
    ) {
        self.0[index] = Some(SentQuery { number, rows: QueryRows::Sent(answer), copy: None });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
