//! Brings a database's schema up to date, step by step, and never back.
//!
//! Each step is a pair of files with one number. Its digest is recorded: a step that was changed after
//! it was applied somewhere is a mistake of ours that must not go unnoticed.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::Store;
use crate::error::Error;
use crate::leases;
use crate::sql::{Dialect, Sql, params};
use crate::tx::{Step, Tx, step};

/// Governs the tables that can be fetched again: with another guid they are emptied and refetched.
pub const SCHEMA_GUID: &str = "4a3fc17e-582f-4b55-9a78-f0faaace35b8";

const MIGRATE: Step = step!("migrate");

struct Migration {
    number: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "ground",
        sqlite: include_str!("../migrations/sqlite/0001_ground.sql"),
        postgres: include_str!("../migrations/postgres/0001_ground.sql"),
    },
    Migration {
        number: 2,
        name: "comments",
        sqlite: include_str!("../migrations/sqlite/0002_comments.sql"),
        postgres: include_str!("../migrations/postgres/0002_comments.sql"),
    },
    Migration {
        number: 3,
        name: "search",
        sqlite: include_str!("../migrations/sqlite/0003_search.sql"),
        postgres: include_str!("../migrations/postgres/0003_search.sql"),
    },
    Migration {
        number: 4,
        name: "gone",
        sqlite: include_str!("../migrations/sqlite/0004_gone.sql"),
        postgres: include_str!("../migrations/postgres/0004_gone.sql"),
    },
    Migration {
        number: 5,
        name: "clocks",
        sqlite: include_str!("../migrations/sqlite/0005_clocks.sql"),
        postgres: include_str!("../migrations/postgres/0005_clocks.sql"),
    },
    Migration {
        number: 6,
        name: "removed",
        sqlite: include_str!("../migrations/sqlite/0006_removed.sql"),
        postgres: include_str!("../migrations/postgres/0006_removed.sql"),
    },
];

impl Migration {
    fn script(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

/// Whether a table or view of this name is one that a migration makes.
pub(crate) fn is_our_relation(name: &str) -> bool {
    name == "migrations"
        || MIGRATIONS.iter().flat_map(|migration| migration.postgres.lines()).any(|line| {
            let made =
                line.strip_prefix("create table ").or_else(|| line.strip_prefix("create view "));
            made.is_some_and(|made| made.split([' ', '(']).next() == Some(name))
        })
}

struct Applied {
    number: i64,
    name: String,
    digest: String,
}

/// Applies what is missing, each step in a transaction of its own.
///
/// A step may rewrite or empty a table of millions of rows, so no time limit holds in it.
pub(crate) fn bring_up_to_date(store: &Store) -> Result<(), Error> {
    store.write(MIGRATE, |tx| tx.batch(KEEP_MIGRATIONS))?;
    for migration in MIGRATIONS {
        store.write(MIGRATE, |tx| {
            tx.lift_time_limit()?;
            let applied = applied(tx)?;
            check_applied(&applied, tx.dialect())?;
            let known = applied.iter().any(|step| step.number == migration.number);
            if known { Ok(()) } else { apply(tx, migration) }
        })?;
    }
    store.write(MIGRATE, |tx| {
        tx.lift_time_limit()?;
        check_guid(tx)
    })
}

/// Refuses a database whose schema is not exactly ours; for stores that must not change it.
pub(crate) fn check(store: &Store, missing: impl Fn() -> Error) -> Result<(), Error> {
    store.read("open", |tx| {
        if tx.count(HAS_MIGRATIONS, &[])? == 0 {
            return Err(missing());
        }
        let applied = applied(tx)?;
        check_applied(&applied, tx.dialect())?;
        // somebody may be at it: before the first step there is no version to read
        if applied.len() != MIGRATIONS.len() {
            return Err(Error::OlderSchema);
        }
        let guid = tx.first(GUID, &[], |mut row| row.text(0))?;
        if guid.as_deref() == Some(SCHEMA_GUID) { Ok(()) } else { Err(Error::OlderSchema) }
    })
}

const KEEP_MIGRATIONS: &str = "create table if not exists migrations (
    number bigint primary key,
    name text not null,
    digest text not null
)";

const HAS_MIGRATIONS: Sql = Sql::each(
    "select count(*) from sqlite_master where type = 'table' and name = 'migrations'",
    "select count(*) from pg_tables
      where schemaname = current_schema() and tablename = 'migrations'",
);

fn applied(tx: &mut Tx<'_>) -> Result<Vec<Applied>, Error> {
    const APPLIED: Sql = Sql::both("select number, name, digest from migrations order by number");
    tx.query(APPLIED, &[], |mut row| {
        Ok(Applied { number: row.int(0)?, name: row.text(1)?, digest: row.text(2)? })
    })
}

fn check_applied(applied: &[Applied], dialect: Dialect) -> Result<(), Error> {
    let known = MIGRATIONS.len() as i64;
    for step in applied {
        let Some(ours) = MIGRATIONS.iter().find(|ours| ours.number == step.number) else {
            return Err(Error::NewerSchema { found: step.number, known });
        };
        if digest(ours.script(dialect)) != step.digest {
            return Err(Error::ChangedMigration { number: step.number, name: step.name.clone() });
        }
    }
    Ok(())
}

fn apply(tx: &mut Tx<'_>, migration: &Migration) -> Result<(), Error> {
    const RECORD: Sql =
        Sql::both("insert into migrations (number, name, digest) values ($1, $2, $3)");
    const FIRST_VERSION: Sql = Sql::both(
        "insert into schema_version (guid, number)
         select $1, 0 where not exists (select 1 from schema_version)",
    );
    const VERSION: Sql = Sql::both("update schema_version set number = $1");
    let script = migration.script(tx.dialect());
    tx.batch(script)?;
    tx.execute(RECORD, &params![migration.number, migration.name, &digest(script)])?;
    tx.execute(FIRST_VERSION, &params![SCHEMA_GUID])?;
    tx.execute(VERSION, &params![migration.number])?;
    leases::end_all(tx)
}

const GUID: Sql = Sql::both("select guid from schema_version");

/// Empties what can be fetched again when it was written under another guid.
///
/// Whoever is writing meanwhile would go on to claim pages that are gone now, and so has to stop.
fn check_guid(tx: &mut Tx<'_>) -> Result<(), Error> {
    const EMPTY: &str = "delete from search; delete from search_places; delete from discussions; delete from issues;
         delete from pull_requests; delete from issue_comments; delete from review_comments;
         delete from reviews; delete from discussion_comments; delete from talks;
         delete from repositories; delete from quarantine;
         delete from sweep_rows; delete from cells; delete from lanes";
    const SET_GUID: Sql = Sql::both("update schema_version set guid = $1");
    let found = tx.first(GUID, &[], |mut row| row.text(0))?;
    if found.as_deref() == Some(SCHEMA_GUID) {
        return Ok(());
    }
    tracing::warn!(?found, ours = SCHEMA_GUID, "another schema; the mirror is fetched anew");
    tx.batch(EMPTY)?;
    tx.execute(SET_GUID, &params![SCHEMA_GUID])?;
    leases::end_all(tx)
}

fn digest(script: &str) -> String {
    Sha256::digest(script).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        hex
    })
}
