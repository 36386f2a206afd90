//! Which of some threads are stored?

use std::collections::BTreeSet;

use hw_rules::item::Kind;

use super::threads::Table;
use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql, params};

impl Store {
    /// Returns those of the numbers that a repository, named in any case, has threads for.
    pub fn stored_thread_numbers(
        &self,
        host: &str,
        owner: &str,
        repository: &str,
        numbers: &[i64],
    ) -> Result<BTreeSet<i64>, Error> {
        const NAMED: Sql = Sql::both(
            "select id from repositories
              where host = $1 and lower(owner) = lower($2) and lower(name) = lower($3)",
        );
        self.read("stored threads", |tx| {
            let mut stored = BTreeSet::new();
            let first = |mut row: Row| row.int(0);
            for id in tx.query(NAMED, &params![host, owner, repository], first)? {
                for table in Kind::THREADS.into_iter().filter_map(Table::of) {
                    let sqlite = number_query(&table, "in (select value from json_each($3))");
                    let postgres = number_query(&table, "= any($3)");
                    let text = Sql::each(&sqlite, &postgres);
                    stored.extend(tx.query(text, &params![host, id, numbers], first)?);
                }
            }
            Ok(stored)
        })
    }
}

fn number_query(table: &Table, is_listed: &str) -> String {
    let name = table.name();
    format!(
        "select number from {name} where host = $1 and repository_id = $2 and number {is_listed}"
    )
}
