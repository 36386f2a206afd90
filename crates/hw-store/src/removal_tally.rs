//! Counts the items that the current run has removed, over all of its lanes.
//!
//! The removals of a killed run stay, so the next run continues its count. So does the run after one that the brake
//! stopped, which would otherwise remove the rest piece by piece.

use hw_rules::item::ObjectKind;

use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};

/// The items of a run, in the groups that the brake counts separately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ItemTally {
    pub threads: u64,
    pub comments: u64,
}

impl ItemTally {
    /// Adds items of one kind. Repositories and feeds have brakes of their own.
    pub fn add(&mut self, kind: ObjectKind, count: u64) {
        match kind {
            ObjectKind::Repository | ObjectKind::Post => {}
            ObjectKind::Thread(_) => self.threads += count,
            ObjectKind::Comment(_) => {
                self.comments += count;
            }
        }
    }
}

const END: TransactionStep = step!("end removals");

impl StoreReader {
    /// Returns the number of items that the current run has removed.
    pub fn removal_tally(&self, host: &str) -> Result<ItemTally, StoreError> {
        const TALLY: Sql =
            Sql::portable("select threads, comments from removal_tallies where host = $1");
        let tally = self.read("removal tally", |tx| {
            tx.query_first(TALLY, &params![host], |mut row| {
                let (threads, comments) =
                    (row.int("threads")?.unsigned_abs(), row.int("comments")?.unsigned_abs());
                Ok(ItemTally { threads, comments })
            })
        })?;
        Ok(tally.unwrap_or_default())
    }

    /// Counts the items of these kinds in these repositories.
    pub fn count_items(
        &self,
        host: &str,
        repositories: &[i64],
        kinds: &[ObjectKind],
    ) -> Result<ItemTally, StoreError> {
        const COUNT: KindStatements = of_kind!(
            "select count(*) as matching from",
            "where host = $1 and repository_id in (select value from json_each($2))",
            "where host = $1 and repository_id = any($2)"
        );
        self.read("count items", |tx| {
            let mut tally = ItemTally::default();
            for kind in kinds.iter().filter(|kind| ObjectKind::REPOSITORY_TEXTS.contains(kind)) {
                tally.add(
                    *kind,
                    tx.query_count(COUNT.for_kind(*kind), &params![host, repositories])?,
                );
            }
            Ok(tally)
        })
    }
}

impl LeasedStore {
    /// Ends a run that the brake did not stop, so the next one counts from zero.
    pub fn reset_removal_tally(&self, host: &str) -> Result<(), StoreError> {
        const CLEAR: Sql = Sql::portable("delete from removal_tallies where host = $1");
        if self.removal_tally(host)? == ItemTally::default() {
            return Ok(());
        }
        self.write_with_lease(END, |tx| tx.send_statement(CLEAR, &params![host]))
    }
}

/// Counts removals of one kind, in the transaction that removes the items.
pub(crate) fn add_removals(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    removed: u64,
) -> Result<(), StoreError> {
    const COUNT: Sql = Sql::portable(
        "insert into removal_tallies (host, threads, comments) values ($1, $2, $3)
         on conflict (host) do update
            set threads = removal_tallies.threads + excluded.threads,
                comments = removal_tallies.comments + excluded.comments",
    );
    let mut tally = ItemTally::default();
    tally.add(kind, removed);
    if tally == ItemTally::default() {
        return Ok(());
    }
    let [threads, comments] =
        [tally.threads, tally.comments].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    tx.send_statement(COUNT, &params![host, threads, comments])
}
