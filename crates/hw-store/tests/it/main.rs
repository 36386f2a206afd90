//! Tests of the store against both databases.

#![expect(clippy::unwrap_used, reason = "an unexpected error fails the test")]

/// Runs each test against SQLite and against PostgreSQL.
macro_rules! both {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                super::$test(&crate::fixture::FileDatabase::new().location);
            })*
        }
        mod postgres {
            $(#[test]
            fn $test() {
                super::$test(&crate::fixture::SchemaDatabase::new().location);
            })*
        }
    };
}

mod accounts;
mod change_story;
mod changes;
mod chores;
mod closing_references;
mod comments;
mod concurrency;
mod connections;
mod consumers;
mod damage;
mod databases;
mod discovery_pages;
mod duties;
mod engine;
mod events;
mod fixture;
mod follows;
mod hosts;
mod ingest;
mod lanes;
mod page_groups;
mod post_pages;
mod posts;
mod principals;
mod proxy;
mod quarantine;
mod removals;
mod removed_items;
mod repository_names;
mod round_trips;
mod schema;
mod search;
mod seed_feedback;
mod seed_schema;
mod sweep;
mod thread_kinds;
mod undigested_columns;
mod watches;
mod workers;
