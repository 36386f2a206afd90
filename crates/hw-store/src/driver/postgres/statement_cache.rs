//! Remembers which statements a connection has prepared.
//!
//! Preparing one and waiting for the answer would cost a round trip for each statement of each connection. So the first
//! use sends the text alone, the second one also sends the preparation, and later ones find it answered.

use std::collections::HashMap;

use tokio_postgres::Statement;

/// The statements that a connection has sent, by their text.
#[derive(Default)]
pub(super) struct StatementCache(HashMap<String, CachedStatement>);

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
    /// Returns how to send a statement, and counts the use.
    pub(super) fn use_statement(&mut self, text: &str) -> StatementUse {
        match self.0.get_mut(text) {
            Some(CachedStatement::Prepared(statement)) => StatementUse::Prepared(statement.clone()),
            Some(CachedStatement::Preparing) => StatementUse::Text,
            Some(once @ CachedStatement::SentOnce) => {
                *once = CachedStatement::Preparing;
                StatementUse::TextAfterPreparing
            }
            None => {
                self.0.insert(text.to_owned(), CachedStatement::SentOnce);
                StatementUse::Text
            }
        }
    }

    pub(super) fn add_prepared(&mut self, text: String, statement: Statement) {
        self.0.insert(text, CachedStatement::Prepared(statement));
    }

    /// Forgets preparations whose answers nobody will read.
    pub(super) fn forget_unanswered(&mut self) {
        self.0.retain(|_, cached| !matches!(cached, CachedStatement::Preparing));
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
    fn statement_whose_preparation_was_lost_is_prepared_again() {
        let mut cache = StatementCache::default();
        cache.use_statement("select 1");
        cache.use_statement("select 1");
        cache.forget_unanswered();
        assert!(matches!(cache.use_statement("select 1"), StatementUse::Text));
        assert!(matches!(cache.use_statement("select 1"), StatementUse::TextAfterPreparing));
    }
}
