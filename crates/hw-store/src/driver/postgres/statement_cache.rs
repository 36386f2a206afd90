//! Remembers which statements a connection has prepared.
//!
//! Preparing one and waiting for the answer would cost a round trip for each statement of each connection. So the first
//! use sends the text alone, the second one also sends the preparation, and later ones find it answered.
//!
//! The server plans a prepared statement once. A plan that suits an empty table reads all of a large one, and a first pull
//! fills its tables sooner than the server collects statistics, so the plans are made again from time to time.

use std::collections::HashMap;

use tokio_postgres::Statement;

/// The number of write transactions for which plans are kept. Planning all statements takes the server some milliseconds.
const TRANSACTIONS_PER_PLAN: u32 = 16;

/// The statements that a connection has sent.
#[derive(Default)]
pub(super) struct StatementCache {
    by_text: HashMap<String, CachedStatement>,
    /// The number of write transactions since the plans were made.
    plan_age: u32,
}

enum CachedStatement {
    SentOnce,
    /// Its preparation was sent.
    Preparing,
    Prepared(Statement),
}

/// How to send a statement.
pub(super) enum StatementUse {
    Prepared(Statement),
    Text,
    /// As a text, after its preparation for later uses.
    TextAfterPreparing,
}

impl StatementCache {
    /// Counts a write transaction, and returns true if it begins with new plans.
    pub(super) fn renew_plans(&mut self) -> bool {
        self.plan_age += 1;
        let is_old = self.plan_age >= TRANSACTIONS_PER_PLAN;
        if is_old {
            self.plan_age = 0;
        }
        is_old
    }

    /// Returns how to send a statement, and counts the use.
    pub(super) fn use_statement(&mut self, text: &str) -> StatementUse {
        match self.by_text.get_mut(text) {
            Some(CachedStatement::Prepared(statement)) => StatementUse::Prepared(statement.clone()),
            Some(CachedStatement::Preparing) => StatementUse::Text,
            Some(once @ CachedStatement::SentOnce) => {
                *once = CachedStatement::Preparing;
                StatementUse::TextAfterPreparing
            }
            None => {
                self.by_text.insert(text.to_owned(), CachedStatement::SentOnce);
                StatementUse::Text
            }
        }
    }

    pub(super) fn add_prepared(&mut self, text: String, statement: Statement) {
        self.by_text.insert(text, CachedStatement::Prepared(statement));
    }

    /// Forgets preparations whose answers nobody will read.
    pub(super) fn forget_unanswered(&mut self) {
        self.by_text.retain(|_, cached| !matches!(cached, CachedStatement::Preparing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_is_prepared_at_its_second_use() {
        let mut cache = StatementCache::default();
        assert!(matches!(cache.use_statement("select 1"), StatementUse::Text));
        assert!(matches!(cache.use_statement("select 1"), StatementUse::TextAfterPreparing));
        assert!(matches!(cache.use_statement("select 1"), StatementUse::Text), "not answered yet");
        assert!(matches!(cache.use_statement("select 2"), StatementUse::Text), "another one");
    }

    #[test]
    fn plans_are_renewed_from_time_to_time() {
        let mut cache = StatementCache::default();
        let renewed: Vec<_> = (1..=40).filter(|_| cache.renew_plans()).collect();
        assert_eq!(renewed, [16, 32]);
    }

    #[test]
    fn statement_whose_preparation_was_lost_is_prepared_again() {
        let mut cache = StatementCache::default();
        cache.use_statement("select 1");
        cache.use_statement("select 1");
        cache.forget_unanswered();
        assert!(matches!(cache.use_statement("select 1"), StatementUse::Text));
        assert!(matches!(cache.use_statement("select 1"), StatementUse::TextAfterPreparing));
    }
}
