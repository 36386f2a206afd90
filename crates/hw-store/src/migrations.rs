//! Brings a database's schema up to date. There are no downgrades.
//!
//! Each migration is a pair of files with one number. Its digest is recorded, because a migration that is edited after
//! it was applied somewhere is a bug that must not go unnoticed.
//!
//! A new database is created from `migrations/schema` at once: the migrations' renames would take longer than everything else.
//! A test compares the two ways.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::schema_version::{INDEX_VERSION, read_index_version, refuse_newer_index};
use crate::sql::{Dialect, Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{StoreReader, StoreWriter, chores, leases};

/// A format of the tables that can be fetched again, and the first migration that it belongs to.
struct MirrorFormat {
    since_number: i64,
    guid: &'static str,
}

/// The formats in the order of their migrations. A new one needs a migration of its own: the number tells which of two
/// formats is the newer one, so that two versions of highwater never empty each other's mirror.
const MIRROR_FORMATS: &[MirrorFormat] = &[
    MirrorFormat { since_number: 1, guid: "7d0c3a95-4e1b-4b6e-9f57-d81a2c60e3b4" },
    MirrorFormat { since_number: 3, guid: "4a3fc17e-582f-4b55-9a78-f0faaace35b8" },
];

/// The format that this version fetches. A mirror in an older one is emptied and fetched again.
pub const SCHEMA_GUID: &str = format_at(NEW_SCHEMA.number);

/// Returns the guid of the format that belongs to a migration.
const fn format_at(number: i64) -> &'static str {
    let mut index = MIRROR_FORMATS.len() - 1;
    while index > 0 && MIRROR_FORMATS[index].since_number > number {
        index -= 1;
    }
    MIRROR_FORMATS[index].guid
}

/// Whether a store may have the mirror fetched again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefetchPolicy {
    Allowed,
    /// Nothing would fetch the mirror after it was emptied.
    Refused,
}

const MIGRATE: TransactionStep = step!("migrate");

/// The migration that replaced leases by duties.
const DUTIES_SINCE: i64 = 12;

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
        name: "sources",
        sqlite: include_str!("../migrations/sqlite/0009_sources.sql"),
        postgres: include_str!("../migrations/postgres/0009_sources.sql"),
    },
    Migration {
        number: 10,
        name: "closing_references",
        sqlite: include_str!("../migrations/sqlite/0010_closing_references.sql"),
        postgres: include_str!("../migrations/postgres/0010_closing_references.sql"),
    },
    Migration {
        number: 11,
        name: "chores",
        sqlite: include_str!("../migrations/sqlite/0011_chores.sql"),
        postgres: include_str!("../migrations/postgres/0011_chores.sql"),
    },
    Migration {
        number: 12,
        name: "duties",
        sqlite: include_str!("../migrations/sqlite/0012_duties.sql"),
        postgres: include_str!("../migrations/postgres/0012_duties.sql"),
    },
    Migration {
        number: 13,
        name: "authors",
        sqlite: include_str!("../migrations/sqlite/0013_authors.sql"),
        postgres: include_str!("../migrations/postgres/0013_authors.sql"),
    },
    Migration {
        number: 14,
        name: "reasons",
        sqlite: include_str!("../migrations/sqlite/0014_reasons.sql"),
        postgres: include_str!("../migrations/postgres/0014_reasons.sql"),
    },
    Migration {
        number: 15,
        name: "pause_clocks",
        sqlite: include_str!("../migrations/sqlite/0015_pause_clocks.sql"),
        postgres: include_str!("../migrations/postgres/0015_pause_clocks.sql"),
    },
    Migration {
        number: 16,
        name: "discovery",
        sqlite: include_str!("../migrations/sqlite/0016_discovery.sql"),
        postgres: include_str!("../migrations/postgres/0016_discovery.sql"),
    },
    Migration {
        number: 17,
        name: "bluesky",
        sqlite: include_str!("../migrations/sqlite/0017_bluesky.sql"),
        postgres: include_str!("../migrations/postgres/0017_bluesky.sql"),
    },
    Migration {
        number: 18,
        name: "events",
        sqlite: include_str!("../migrations/sqlite/0018_events.sql"),
        postgres: include_str!("../migrations/postgres/0018_events.sql"),
    },
];

/// The number of the schema that this version reads and writes.
pub(crate) const LATEST_MIGRATION: i64 = MIGRATIONS.len() as i64;

/// The schema of a new database: what all migrations together create.
const NEW_SCHEMA: Migration = Migration {
    number: LATEST_MIGRATION,
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

/// Applies the missing migrations, each in a transaction of its own, and decides what has to be fetched or indexed again.
///
/// A migration may rewrite a table of millions of rows, so it has no time limit.
pub(crate) fn apply_migrations(
    store: &StoreWriter,
    refetch: RefetchPolicy,
) -> Result<(), StoreError> {
    let applied = store.write(MIGRATE, |tx| {
        tx.execute_batch(CREATE_MIGRATIONS)?;
        let applied = read_applied(tx)?;
        if applied.is_empty() {
            create_schema(tx)?;
            return Ok(MIGRATIONS.len());
        }
        check_applied(&applied, tx.dialect())?;
        match refetch {
            RefetchPolicy::Refused if !has_current_format(tx)? => Err(StoreError::RefetchNeeded),
            RefetchPolicy::Allowed | RefetchPolicy::Refused => Ok(applied.len()),
        }
    })?;
    // most databases need none of them, and a server may be far away
    let missing = if applied < MIGRATIONS.len() { MIGRATIONS } else { &[] };
    for migration in missing {
        store.write(MIGRATE, |tx| {
            tx.lift_time_limit()?;
            let applied = read_applied(tx)?;
            check_applied(&applied, tx.dialect())?;
            let is_applied = applied.iter().any(|step| step.number == migration.number);
            if is_applied { Ok(()) } else { apply_migration(tx, migration) }
        })?;
    }
    store.write(MIGRATE, |tx| {
        check_guid(tx)?;
        check_index(tx)
    })
}

/// Rejects a database whose schema is not the current one, for stores that must not upgrade it.
pub(crate) fn check_schema(store: &StoreReader) -> Result<(), StoreError> {
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
        if !has_current_format(tx)? {
            return Err(StoreError::OlderSchema);
        }
        // search goes on while an older index is rebuilt
        refuse_newer_index(read_index_version(tx)?)
    })
}

const CREATE_MIGRATIONS: &str = "create table if not exists migrations (
    number bigint primary key,
    name text not null,
    digest text not null
)";

const HAS_MIGRATIONS: Sql = Sql::per_dialect(
    "select count(*) as matching from sqlite_master where type = 'table' and name = 'migrations'",
    "select count(*) as matching from pg_tables
      where schemaname = current_schema() and tablename = 'migrations'",
);

fn read_applied(tx: &mut Transaction<'_>) -> Result<Vec<AppliedMigration>, StoreError> {
    const APPLIED: Sql =
        Sql::portable("select number, name, digest from migrations order by number");
    tx.query(APPLIED, &[], |mut row| {
        Ok(AppliedMigration {
            number: row.int("number")?,
            name: row.text("name")?,
            digest: row.text("digest")?,
        })
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
    const REVOKE_OLD_LEASES: Sql =
        Sql::portable("update leases set owner = null, epoch = epoch + 1");
    tx.execute_batch(migration.script(tx.dialect()))?;
    record_migration(tx, migration)?;
    set_version(tx, migration.number)?;
    match migration.number {
        ..DUTIES_SINCE => tx.send_statement(REVOKE_OLD_LEASES, &[]),
        _ => leases::revoke_all(tx),
    }
}

fn record_migration(tx: &mut Transaction<'_>, migration: &Migration) -> Result<(), StoreError> {
    const RECORD: Sql =
        Sql::portable("insert into migrations (number, name, digest) values ($1, $2, $3)");
    let digest = script_digest(migration.script(tx.dialect()));
    tx.send_statement(RECORD, &params![migration.number, migration.name, &digest])
}

fn set_version(tx: &mut Transaction<'_>, number: i64) -> Result<(), StoreError> {
    const FIRST_VERSION: Sql = Sql::portable(
        "insert into schema_version (guid, number)
         select $1, 0 where not exists (select 1 from schema_version)",
    );
    const VERSION: Sql = Sql::portable("update schema_version set number = $1");
    tx.send_statement(FIRST_VERSION, &params![SCHEMA_GUID])?;
    tx.send_statement(VERSION, &params![number])
}

/// Returns true if the mirror has the format that this version fetches.
fn has_current_format(tx: &mut Transaction<'_>) -> Result<bool, StoreError> {
    const SELECT_GUID: Sql = Sql::portable("select guid from schema_version");
    let guid = tx.query_first(SELECT_GUID, &[], |mut row| row.text("guid"))?;
    Ok(guid.as_deref() == Some(SCHEMA_GUID))
}

/// Has the mirror emptied if it was fetched in another format.
///
/// Revokes the leases as well: a process that is writing would otherwise record progress over pages that are gone.
fn check_guid(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const SET_GUID: Sql = Sql::portable("update schema_version set guid = $1");
    const CLAIM_NOTHING: Sql = Sql::portable("update lanes set checked_at_ms = null");
    if has_current_format(tx)? {
        return Ok(());
    }
    tracing::warn!(ours = SCHEMA_GUID, "the stored format changed; refetching the mirror");
    chores::request_empty_mirror(tx)?;
    tx.execute(CLAIM_NOTHING, &[])?;
    tx.execute(SET_GUID, &params![SCHEMA_GUID])?;
    leases::revoke_all(tx)
}

/// Has the search rows rebuilt if they are of an older version. Revokes the leases: an older process that is writing
/// would add rows of that version.
fn check_index(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const SET_INDEX: Sql = Sql::portable("update schema_version set search_index = $1");
    let found = read_index_version(tx)?;
    refuse_newer_index(found)?;
    if found == INDEX_VERSION {
        return Ok(());
    }
    tracing::info!(found, ours = INDEX_VERSION, "rebuilding the search index");
    chores::request_index(tx)?;
    tx.execute(SET_INDEX, &params![INDEX_VERSION])?;
    leases::revoke_all(tx)
}

fn script_digest(script: &str) -> String {
    Sha256::digest(script).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirror_formats_are_bound_to_migrations_in_order() {
        let numbers: Vec<i64> = MIRROR_FORMATS.iter().map(|format| format.since_number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        let known: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.number).collect();
        assert!(numbers.iter().all(|number| known.contains(number)), "{numbers:?}");
        let guids: std::collections::BTreeSet<_> =
            MIRROR_FORMATS.iter().map(|format| format.guid).collect();
        assert_eq!(guids.len(), MIRROR_FORMATS.len(), "one guid per format");
        assert_eq!(MIRROR_FORMATS.last().map(|format| format.guid), Some(SCHEMA_GUID));
        assert_ne!(format_at(2), SCHEMA_GUID);
        assert_eq!(format_at(3), SCHEMA_GUID);
    }
}
