//! Checks the integrity of the database file, and rebuilds its indexes.

use crate::chores::TextPosition;
use crate::error::StoreError;
use crate::search;
use crate::sql::{Dialect, Sql};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};

use hw_rules::item::ObjectKind;

/// The thoroughness with which SQLite checks its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegrityCheck {
    /// Checks every page and the format of every row.
    Quick,
    /// Also compares each index with its table, and checks the search index.
    Full,
}

/// The result of an integrity check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntegrityReport {
    Sound,
    /// The first few problems that SQLite reports.
    Damaged(Vec<String>),
    /// PostgreSQL has no such check. It verifies its pages when it reads them, if data checksums are on.
    NotChecked {
        data_checksums: bool,
    },
}

const REPAIR: TransactionStep = step!("repair");

impl StoreReader {
    /// Checks the whole file.
    pub fn check_integrity(&self, check: IntegrityCheck) -> Result<IntegrityReport, StoreError> {
        let done = self.read("integrity", |tx| match tx.dialect() {
            Dialect::Postgres => read_data_checksums(tx),
            Dialect::Sqlite => check_file(tx, check),
        });
        match done {
            Err(StoreError::Damaged(reason)) => Ok(IntegrityReport::Damaged(vec![reason])),
            done => done,
        }
    }

    /// Checks the file again on a new connection: one that read a damaged search index caches a part of it, and still
    /// reports the damage after the repair.
    fn recheck_integrity(&self) -> Result<IntegrityReport, StoreError> {
        self.inner.driver.drop_idle_readers();
        self.check_integrity(IntegrityCheck::Full)
    }
}

impl LeasedStore {
    /// Rebuilds what derives from the texts: the indexes, and the search rows if they are damaged.
    ///
    /// Fails if the file stays damaged. Then only a backup or a fresh pull helps.
    pub fn rebuild_indexes(&self) -> Result<(), StoreError> {
        let IntegrityReport::Damaged(found) = self.check_integrity(IntegrityCheck::Full)? else {
            return Ok(());
        };
        tracing::warn!(?found, "the database is damaged; rebuilding its indexes");
        self.write_with_lease(REPAIR, |tx| {
            rebuild_cells(tx).and_then(|()| tx.execute_batch("reindex"))
        })
        .map_err(into_beyond_repair)?;
        if let IntegrityReport::Damaged(_) = self.recheck_integrity()? {
            self.write_with_lease(REPAIR, rebuild_search_rows).map_err(into_beyond_repair)?;
        }
        match self.recheck_integrity()? {
            IntegrityReport::Damaged(found) => Err(StoreError::BeyondRepair(found.join("; "))),
            IntegrityReport::Sound | IntegrityReport::NotChecked { .. } => Ok(()),
        }
    }
}

fn into_beyond_repair(error: StoreError) -> StoreError {
    if let StoreError::Damaged(reason) | StoreError::Database { reason, .. } = error {
        return StoreError::BeyondRepair(reason);
    }
    error
}

fn read_data_checksums(tx: &mut Transaction<'_>) -> Result<IntegrityReport, StoreError> {
    const SETTING: Sql = Sql::portable("select current_setting('data_checksums') as setting");
    let setting = tx.query_first(SETTING, &[], |mut row| row.text("setting"))?;
    Ok(IntegrityReport::NotChecked { data_checksums: setting.as_deref() == Some("on") })
}

fn check_file(
    tx: &mut Transaction<'_>,
    check: IntegrityCheck,
) -> Result<IntegrityReport, StoreError> {
    // the column of a pragma has its name
    let (sql, column) = match check {
        IntegrityCheck::Quick => ("pragma quick_check(5)", "quick_check"),
        IntegrityCheck::Full => ("pragma integrity_check(5)", "integrity_check"),
    };
    let mut found = tx.query(Sql::portable(sql), &[], |mut row| row.text(column))?;
    found.retain(|line| line != "ok");
    // SQLite spreads one finding over several lines
    let found = found.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let found: Vec<String> = found.collect();
    Ok(if found.is_empty() { IntegrityReport::Sound } else { IntegrityReport::Damaged(found) })
}

/// Rewrites all cells in the order of their keys: the table is its own index, and SQLite cannot reindex a table that is
/// out of order. A cell with a duplicate key or without a lane is left out. Its text then has no cell, and is read again.
fn rebuild_cells(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const SCHEMA: Sql = Sql::portable(
        "select sql from sqlite_master where tbl_name = 'cells' and sql is not null
          order by type desc",
    );
    let schema = tx.query(SCHEMA, &[], |mut row| row.text("sql"))?;
    // rows cannot be deleted one by one: that fails if an index lacks one of them
    tx.execute_batch("create temp table kept_cells as select * from cells; drop table cells")?;
    schema.iter().try_for_each(|sql| tx.execute_batch(sql))?;
    tx.execute_batch(
        "insert or ignore into cells
         select * from kept_cells where lane_id in (select id from lanes);
         drop table kept_cells",
    )
}

/// Rebuilds all search rows from the stored texts.
///
/// In one transaction: without its search rows, the file is as damaged as before.
fn rebuild_search_rows(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const BATCH_TEXTS: i64 = 500;
    tx.execute_batch(
        "insert into search (search) values ('delete-all'); delete from search_documents",
    )?;
    for kind in ObjectKind::INDEXED {
        let mut after = TextPosition { host: String::new(), id: i64::MIN };
        while let Some(last) = search::reindex::reindex_texts(tx, kind, &after, BATCH_TEXTS)?.last {
            after = last;
        }
    }
    Ok(())
}
