//! Brings a database's schema up to date. There are no downgrades.
//!
//! Each migration is a pair of files with one number. Its digest is recorded, because a migration that is edited after
//! it was applied somewhere is a bug that must not go unnoticed.
//!
//! A new database is created from `migrations/schema` at once: the migrations' renames would take longer than everything else.
//! A test compares the two ways.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::Store;
use crate::error::StoreError;
use crate::leases;
use crate::sql::{Dialect, Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};

/// Identifies the format of the tables that can be refetched. If it changes, they are emptied and refetched.
pub const SCHEMA_GUID: &str = "4a3fc17e-582f-4b55-9a78-f0faaace35b8";

const MIGRATE: TransactionStep = step!("migrate");

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
    Migration {
        number: 7,
        name: "names",
        sqlite: include_str!("../migrations/sqlite/0007_names.sql"),
        postgres: include_str!("../migrations/postgres/0007_names.sql"),
    },
    Migration {
        number: 8,
        name: "buckets",
        sqlite: include_str!("../migrations/sqlite/0008_buckets.sql"),
        postgres: include_str!("../migrations/postgres/0008_buckets.sql"),
    },
    Migration {
        number: 9,
        name: "chores",
        sqlite: include_str!("../migrations/sqlite/0009_chores.sql"),
        postgres: include_str!("../migrations/postgres/0009_chores.sql"),
    },
];

/// The schema of a new database: what all migrations together create.
const NEW_SCHEMA: Migration = Migration {
    number: MIGRATIONS.len() as i64,
    name: "schema",
    sqlite: include_str!("../migrations/schema/sqlite.sql"),
    postgres: include_str!("../migrations/schema/postgres.sql"),
};

impl Migration {
    fn script(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

/// Returns true if a migration creates a table or view, or gives one this name.
pub(crate) fn is_our_relation(name: &str) -> bool {
    let scripts = MIGRATIONS.iter().chain([&NEW_SCHEMA]);
    let mut lines = scripts.flat_map(|migration| migration.postgres.lines());
    name == "migrations" || lines.any(|line| named_relation(line) == Some(name))
}

/// Returns the table or view that a line of a migration creates or renames: its new name.
fn named_relation(line: &str) -> Option<&str> {
    let created = line.strip_prefix("create table ").or_else(|| line.strip_prefix("create view "));
    let renamed = || line.strip_prefix("alter table ")?.split_once(" rename to ");
    let relation = created.or_else(|| Some(renamed()?.1))?;
    relation.split([' ', '(', ';']).next()
}

struct AppliedMigration {
    number: i64,
    name: String,
    digest: String,
}

/// Applies the missing migrations, each in a transaction of its own.
///
/// A migration may rewrite or empty a table of millions of rows, so it has no time limit.
pub(crate) fn apply_migrations(store: &Store) -> Result<(), StoreError> {
    store.write(MIGRATE, |tx| {
        tx.execute_batch(CREATE_MIGRATIONS)?;
        if read_applied(tx)?.is_empty() { create_schema(tx) } else { Ok(()) }
    })?;
    for migration in MIGRATIONS {
        store.write(MIGRATE, |tx| {
            tx.lift_time_limit()?;
            let applied = read_applied(tx)?;
            check_applied(&applied, tx.dialect())?;
            let is_applied = applied.iter().any(|step| step.number == migration.number);
            if is_applied { Ok(()) } else { apply_migration(tx, migration) }
        })?;
    }
    store.write(MIGRATE, |tx| {
        tx.lift_time_limit()?;
        check_guid(tx)
    })
}

/// Rejects a database whose schema is not the current one, for stores that must not upgrade it.
pub(crate) fn check_schema(store: &Store) -> Result<(), StoreError> {
    store.read("open", |tx| {
        if tx.query_count(HAS_MIGRATIONS, &[])? == 0 {
            return Err(store.inner.location.no_database());
        }
        let applied = read_applied(tx)?;
        check_applied(&applied, tx.dialect())?;
        // another process may be migrating: before the first migration there is no version to read
        if applied.len() != MIGRATIONS.len() {
            return Err(StoreError::OlderSchema);
        }
        let guid = tx.query_first(SELECT_GUID, &[], |mut row| row.text(0))?;
        if guid.as_deref() == Some(SCHEMA_GUID) { Ok(()) } else { Err(StoreError::OlderSchema) }
    })
}

const CREATE_MIGRATIONS: &str = "create table if not exists migrations (
    number bigint primary key,
    name text not null,
    digest text not null
)";

const HAS_MIGRATIONS: Sql = Sql::per_dialect(
    "select count(*) from sqlite_master where type = 'table' and name = 'migrations'",
    "select count(*) from pg_tables
      where schemaname = current_schema() and tablename = 'migrations'",
);

fn read_applied(tx: &mut Transaction<'_>) -> Result<Vec<AppliedMigration>, StoreError> {
    const APPLIED: Sql =
        Sql::portable("select number, name, digest from migrations order by number");
    tx.query(APPLIED, &[], |mut row| {
        Ok(AppliedMigration { number: row.int(0)?, name: row.text(1)?, digest: row.text(2)? })
    })
}

fn check_applied(applied: &[AppliedMigration], dialect: Dialect) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i64;
    for step in applied {
        let migration = MIGRATIONS.iter().find(|migration| migration.number == step.number);
        let Some(migration) = migration else {
            return Err(StoreError::NewerSchema { found: step.number, known });
        };
        if script_digest(migration.script(dialect)) != step.digest {
            return Err(StoreError::ChangedMigration {
                number: step.number,
                name: step.name.clone(),
            });
        }
    }
    Ok(())
}

/// Creates the schema of a new database. All migrations count as applied.
fn create_schema(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    tx.execute_batch(NEW_SCHEMA.script(tx.dialect()))?;
    for migration in MIGRATIONS {
        record_migration(tx, migration)?;
    }
    set_version(tx, NEW_SCHEMA.number)
}

fn apply_migration(tx: &mut Transaction<'_>, migration: &Migration) -> Result<(), StoreError> {
    tx.execute_batch(migration.script(tx.dialect()))?;
    record_migration(tx, migration)?;
    set_version(tx, migration.number)?;
    leases::revoke_all(tx)
}

fn record_migration(tx: &mut Transaction<'_>, migration: &Migration) -> Result<(), StoreError> {
    const RECORD: Sql =
        Sql::portable("insert into migrations (number, name, digest) values ($1, $2, $3)");
    let digest = script_digest(migration.script(tx.dialect()));
    tx.execute(RECORD, &params![migration.number, migration.name, &digest]).map(drop)
}

fn set_version(tx: &mut Transaction<'_>, number: i64) -> Result<(), StoreError> {
    const FIRST_VERSION: Sql = Sql::portable(
        "insert into schema_version (guid, number)
         select $1, 0 where not exists (select 1 from schema_version)",
    );
    const VERSION: Sql = Sql::portable("update schema_version set number = $1");
    tx.execute(FIRST_VERSION, &params![SCHEMA_GUID])?;
    tx.execute(VERSION, &params![number]).map(drop)
}

const SELECT_GUID: Sql = Sql::portable("select guid from schema_version");

/// Empties the refetchable tables if they were written under another guid.
///
/// Revokes the leases as well: a process that is writing would otherwise record progress over pages that are gone.
fn check_guid(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const EMPTY: &str = "delete from search; delete from search_documents; delete from discussions; delete from issues;
         delete from pull_requests; delete from issue_comments; delete from review_comments;
         delete from reviews; delete from discussion_comments; delete from comment_queue;
         delete from repositories; delete from quarantine;
         delete from sweep_inventory; delete from cells; delete from lanes";
    const SET_GUID: Sql = Sql::portable("update schema_version set guid = $1");
    let found = tx.query_first(SELECT_GUID, &[], |mut row| row.text(0))?;
    if found.as_deref() == Some(SCHEMA_GUID) {
        return Ok(());
    }
    tracing::warn!(?found, ours = SCHEMA_GUID, "the stored format changed; refetching the mirror");
    tx.execute_batch(EMPTY)?;
    tx.execute(SET_GUID, &params![SCHEMA_GUID])?;
    leases::revoke_all(tx)
}

fn script_digest(script: &str) -> String {
    Sha256::digest(script).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        hex
    })
}
