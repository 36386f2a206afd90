//! Checks which thread numbers are stored.

use std::collections::BTreeSet;

use hw_rules::item::ThreadKind;

use super::thread_list::ThreadTable;
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};

impl StoreReader {
    /// Returns the given numbers that belong to a stored thread of a repository. Names match in any case.
    pub fn stored_thread_numbers(
        &self,
        host: &str,
        owner: &str,
        repository: &str,
        numbers: &[i64],
    ) -> Result<BTreeSet<i64>, StoreError> {
        const NAMED: Sql = Sql::portable(
            "select id from repositories
              where host = $1 and lower(owner) = lower($2) and lower(name) = lower($3)",
        );
        self.read("stored threads", |tx| {
            let mut stored = BTreeSet::new();
            for id in tx.query(NAMED, &params![host, owner, repository], |mut row| row.int("id"))? {
                for table in ThreadKind::ALL.into_iter().map(ThreadTable::for_kind) {
                    let sqlite = number_query(&table, "in (select value from json_each($3))");
                    let postgres = number_query(&table, "= any($3)");
                    let text = Sql::per_dialect(&sqlite, &postgres);
                    stored.extend(
                        tx.query(text, &params![host, id, numbers], |mut row| row.int("number"))?,
                    );
                }
            }
            Ok(stored)
        })
    }
}

fn number_query(table: &ThreadTable, is_listed: &str) -> String {
    let name = table.name();
    format!(
        "select number from {name} where host = $1 and repository_id = $2 and number {is_listed}"
    )
}
