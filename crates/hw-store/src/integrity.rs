//! Is the database file sound, below the level of rows?

use crate::Store;
use crate::error::Error;
use crate::leases::Lease;
use crate::search;
use crate::sql::{Dialect, Sql};
use crate::tables::{OfKind, of_kind};
use crate::tx::{Step, Tx, step};

use hw_rules::item::Kind;

/// How thoroughly SQLite looks through its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegrityCheck {
    /// Every page, and every row's form.
    Quick,
    /// Also whether each index agrees with its table, and the search index with itself.
    Full,
}

/// What a look through the file found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntegrityReport {
    Sound,
    /// What SQLite says is wrong, a few of them.
    Damaged(Vec<String>),
    /// PostgreSQL has no such check. It verifies its pages when it reads them, if this is on.
    NotChecked {
        data_checksums: bool,
    },
}

const REPAIR: Step = step!("repair");

impl Store {
    /// Looks through the whole file.
    pub fn check_integrity(&self, check: IntegrityCheck) -> Result<IntegrityReport, Error> {
        let done = self.read("integrity", |tx| match tx.dialect() {
            Dialect::Postgres => data_checksums(tx),
            Dialect::Sqlite => check_file(tx, check),
        });
        match done {
            Err(Error::Damaged(reason)) => Ok(IntegrityReport::Damaged(vec![reason])),
            done => done,
        }
    }

    /// Makes what can be made from the texts again: the indexes, and the search rows where these are broken.
    /// Fails when the file stays damaged: then only a backup or a fresh pull helps.
    pub fn rebuild_indexes(&self, lease: &Lease) -> Result<(), Error> {
        let IntegrityReport::Damaged(found) = self.check_integrity(IntegrityCheck::Full)? else {
            return Ok(());
        };
        tracing::warn!(?found, "the database is damaged; its indexes are built again");
        self.write_for(lease, REPAIR, |tx| rebuild_cells(tx).and_then(|()| tx.batch("reindex")))
            .map_err(beyond_repair)?;
        if let IntegrityReport::Damaged(_) = self.check_again()? {
            self.write_for(lease, REPAIR, rebuild_search).map_err(beyond_repair)?;
        }
        match self.check_again()? {
            IntegrityReport::Damaged(found) => Err(Error::BeyondRepair(found.join("; "))),
            IntegrityReport::Sound | IntegrityReport::NotChecked { .. } => Ok(()),
        }
    }

    /// Looks through the file with a connection that has not seen it before: one that met a broken search index
    /// keeps a part of it in memory, and goes on reporting it after it was mended.
    fn check_again(&self) -> Result<IntegrityReport, Error> {
        self.inner.driver.drop_idle_readers();
        self.check_integrity(IntegrityCheck::Full)
    }
}

fn beyond_repair(error: Error) -> Error {
    if let Error::Damaged(reason) | Error::Database { reason, .. } = error {
        return Error::BeyondRepair(reason);
    }
    error
}

fn data_checksums(tx: &mut Tx<'_>) -> Result<IntegrityReport, Error> {
    const SETTING: Sql = Sql::both("select current_setting('data_checksums')");
    let setting = tx.first(SETTING, &[], |mut row| row.text(0))?;
    Ok(IntegrityReport::NotChecked { data_checksums: setting.as_deref() == Some("on") })
}

fn check_file(tx: &mut Tx<'_>, check: IntegrityCheck) -> Result<IntegrityReport, Error> {
    let sql = match check {
        IntegrityCheck::Quick => "pragma quick_check(5)",
        IntegrityCheck::Full => "pragma integrity_check(5)",
    };
    let mut found = tx.query(Sql::both(sql), &[], |mut row| row.text(0))?;
    found.retain(|word| word != "ok");
    // SQLite writes one finding over several lines
    let found = found.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let found: Vec<String> = found.collect();
    Ok(if found.is_empty() { IntegrityReport::Sound } else { IntegrityReport::Damaged(found) })
}

/// Writes all cells again, in the order of their keys: the table is its own index, and no index can be built from
/// one that is out of order. A cell that contradicts another, or whose lane is none, is left out; its text then has
/// no cell, and is read again.
fn rebuild_cells(tx: &mut Tx<'_>) -> Result<(), Error> {
    const SCHEMA: Sql = Sql::both(
        "select sql from sqlite_master where tbl_name = 'cells' and sql is not null
          order by type desc",
    );
    let schema = tx.query(SCHEMA, &[], |mut row| row.text(0))?;
    // rows cannot be deleted one by one: an index that lacks one of them refuses
    tx.batch("create temp table kept_cells as select * from cells; drop table cells")?;
    schema.iter().try_for_each(|sql| tx.batch(sql))?;
    tx.batch(
        "insert or ignore into cells
         select * from kept_cells where lane in (select id from lanes);
         drop table kept_cells",
    )
}

/// Makes all search rows again from the texts that are stored.
fn rebuild_search(tx: &mut Tx<'_>) -> Result<(), Error> {
    const HOMES: OfKind = of_kind!("select distinct host, repository_id from", "");
    tx.batch("insert into search (search) values ('delete-all'); delete from search_places")?;
    for kind in Kind::TEXTS {
        let homes = tx.query(HOMES.of(kind), &[], |mut row| Ok((row.text(0)?, row.int(1)?)))?;
        for (host, repository_id) in homes {
            search::again::index(tx, &host, repository_id, kind)?;
        }
    }
    Ok(())
}
