use std::collections::BTreeSet;

use hw_rules::followed_source::FollowedSource;
use hw_rules::item::ThreadKind;
use hw_rules::pause_end::PauseEnd;
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{PauseCause, PauseScope};
use hw_store::{
    ClaimReason, ClaimTask, DatabaseLocation, DutyClaim, NewPause, ObjectCounts, SCHEMA_GUID,
    StoreError, StoreReader, StoreWriter, StoredSource,
};
use sha2::{Digest as _, Sha256};

use crate::fixture::{
    HOST, SchemaDatabase, UNDO_DUTIES, execute_raw, finish_chores, issue, issue_bodies,
    issues_page, issues_page_through, open_store, pull_duty, pump_repository, query_raw,
    refusals_to_open, repositories_page, search_ids, thread, threads_page, undo_author_columns,
    worker_identity,
};

both![
    reader_sees_written_data,
    reader_creates_no_database,
    schema_that_is_newer_is_rejected,
    migration_that_was_changed_is_rejected,
    schema_guid_change_empties_the_mirror_and_a_reader_rejects_it,
    schema_guid_change_stops_a_running_writer,
    schema_upgrade_stops_a_worker_of_the_older_version,
    index_upgrade_stops_a_worker_of_the_older_version,
    schema_upgrade_is_the_reason_for_a_question_that_fails,
    reader_between_two_migrations_finds_an_older_schema,
    migrations_run_once_when_opened_concurrently,
    migrations_to_new_names_and_buckets_keep_everything,
    migrations_create_the_same_schema_as_a_new_database,
];

fn reader_sees_written_data(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let reader = StoreReader::open(location).unwrap();
    assert_eq!(
        (issue_bodies(&reader), search_ids(&reader, "x")),
        (vec!["body x".to_owned()], vec![5])
    );
}

fn reader_creates_no_database(location: &DatabaseLocation) {
    for _ in 0..2 {
        let refused = StoreReader::open(location).err();
        assert!(matches!(refused, Some(StoreError::NoDatabase(_))), "{refused:?}");
    }
    if let DatabaseLocation::File(path) = location {
        assert!(!path.exists());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        let refused = StoreReader::open(location).err();
        assert!(matches!(refused, Some(StoreError::NoDatabase(_))), "{refused:?}");
        assert_eq!(std::fs::read(path).unwrap(), b"", "an empty file stays empty");
    }
}

fn schema_that_is_newer_is_rejected(location: &DatabaseLocation) {
    drop(open_store(location));
    execute_raw(
        location,
        "insert into migrations (number, name, digest) values (999, 'later', 'x');
         update schema_version set guid = 'another', number = 999",
    );
    for refused in refusals_to_open(location) {
        assert!(matches!(refused, StoreError::NewerSchema { found: 999, .. }), "{refused:?}");
        assert!(refused.to_string().contains("newer highwater"), "{refused}");
    }
    let kept = query_raw(location, "select cast(count(*) as text) from repositories");
    assert_eq!(kept, [["1"]], "another guid does not matter then");
}

fn migration_that_was_changed_is_rejected(location: &DatabaseLocation) {
    drop(open_store(location));
    execute_raw(location, "update migrations set digest = 'another' where number = 1");
    for refused in [StoreWriter::open(location).err(), StoreReader::open(location).err()] {
        assert!(
            matches!(refused, Some(StoreError::ChangedMigration { number: 1, .. })),
            "{refused:?}"
        );
    }
}

fn schema_guid_change_empties_the_mirror_and_a_reader_rejects_it(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in ThreadKind::ALL {
        store.ingest_page(&threads_page(kind, vec![thread(kind, 5, 10, "x")])).unwrap();
    }
    store.store_pause(secondary_pause()).unwrap();
    drop(store);
    execute_raw(location, "update schema_version set guid = 'another'");
    let refused = StoreReader::open(location).err();
    assert!(matches!(refused, Some(StoreError::OlderSchema)), "{refused:?}");
    let store = StoreWriter::open(location).unwrap();
    assert_eq!((search_ids(&store, "x"), issue_bodies(&store)), (vec![], vec![]), "at once");
    let store = store.claim_duty(&pull_duty(), "me", 9_000_000).unwrap().unwrap();
    finish_chores(&store);
    assert_eq!(
        (store.object_counts().unwrap(), search_ids(&store, "x")),
        (ObjectCounts::default(), vec![])
    );
    assert_eq!(store.lanes().unwrap(), []);
    assert_eq!(
        store.pending_pauses("here", 0).unwrap().first().map(|pending| pending.end),
        Some(PauseEnd::At(7)),
        "data that cannot be refetched stays"
    );
    drop(store);
    assert!(StoreReader::open(location).is_ok(), "the guid is {SCHEMA_GUID} again");
}

fn migrations_run_once_when_opened_concurrently(location: &DatabaseLocation) {
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| StoreWriter::open(location).map(drop))).collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    assert!(StoreReader::open(location).is_ok());
}

fn migrations_to_new_names_and_buckets_keep_everything(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in ThreadKind::ALL {
        store.ingest_page(&threads_page(kind, vec![thread(kind, 5, 10, "x")])).unwrap();
    }
    store.store_pause(secondary_pause()).unwrap();
    store.record_pull_end(HOST, "Acme", 7, None).unwrap();
    store.ingest_page(&repositories_page(vec![])).unwrap();
    let stored = |store: &StoreReader| {
        (
            store.object_counts().unwrap(),
            store.lanes().unwrap(),
            search_ids(store, "x"),
            store.verify_page(None).unwrap().damaged,
            store.pending_pauses("here", 0).unwrap()[0].end,
        )
    };
    let before = stored(&store);
    drop(store);
    execute_raw(location, &undo_migrations());
    if let DatabaseLocation::Postgres { .. } = location {
        execute_raw(
            location,
            "alter index comment_queue_pkey rename to talks_pkey;
             alter index sweep_inventory_pkey rename to sweep_rows_pkey;
             alter index removed_items_pkey rename to removed_pkey;
             alter index search_documents_pkey rename to search_places_pkey;
             alter index last_pulls_pkey rename to pulls_pkey",
        );
    }
    let refused = StoreReader::open(location).err();
    assert!(matches!(refused, Some(StoreError::OlderSchema)), "{refused:?}");
    let migrated = StoreWriter::open(location).unwrap();
    assert_eq!(stored(&migrated), before);
    // every list of repositories was followed, under the name that was pulled
    let source = FollowedSource::from_stored("Acme");
    let source = StoredSource { host: HOST.to_owned(), source, repository_id: None };
    assert_eq!(migrated.sources().unwrap(), [source]);
}

fn migrations_create_the_same_schema_as_a_new_database(location: &DatabaseLocation) {
    drop(StoreWriter::open(location).unwrap());
    let new = describe_schema(location);
    let tables = match location {
        DatabaseLocation::File(path) => {
            std::fs::remove_file(path).unwrap();
            create_first_migration(
                location,
                include_str!("../../migrations/sqlite/0001_ground.sql"),
            );
            "from sqlite_master"
        }
        DatabaseLocation::Postgres { schema, .. } => {
            execute_raw(location, &format!("drop schema {schema} cascade; create schema {schema}"));
            let script = include_str!("../../migrations/postgres/0001_ground.sql");
            create_first_migration(location, script);
            "from pg_tables where schemaname = current_schema()"
        }
        DatabaseLocation::Memory => panic!("a database in memory has one store"),
    };
    let old = query_raw(location, &format!("select cast(count(*) as text) {tables}"));
    assert_ne!(old, [["0"]], "an old database");
    drop(StoreWriter::open(location).unwrap());
    let migrated = describe_schema(location);
    assert!(new.len() > 150, "{}", new.len());
    let difference: Vec<_> = new.symmetric_difference(&migrated).collect();
    assert!(difference.is_empty(), "{difference:#?}");
}

/// Applies the first migration, and records it as the store does.
fn create_first_migration(location: &DatabaseLocation, script: &str) {
    let digest =
        Sha256::digest(script).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let version = format!(
        "insert into schema_version (guid, number) values ('{SCHEMA_GUID}', 1);
         create table migrations (number bigint primary key, name text not null, digest text not null);
         insert into migrations (number, name, digest) values (1, 'ground', '{digest}')"
    );
    execute_raw(location, &format!("{script};{version}"));
}

/// Returns a line for each column, index and view.
fn describe_schema(location: &DatabaseLocation) -> BTreeSet<Vec<String>> {
    let queries = match location {
        DatabaseLocation::Postgres { .. } => [
            "select table_name::text || '.' || column_name::text, data_type::text, is_nullable::text,
                    coalesce(column_default::text, ''), coalesce(collation_name::text, '')
               from information_schema.columns where table_schema = current_schema()",
            "select tablename::text, indexname::text,
                    replace(indexdef, current_schema() || '.', ''), '', ''
               from pg_indexes where schemaname = current_schema()",
            "select viewname::text, replace(definition, current_schema() || '.', ''), '', '', ''
               from pg_views where schemaname = current_schema()",
        ],
        DatabaseLocation::Memory | DatabaseLocation::File(_) => [
            "select tables.name || '.' || columns.name, columns.type, cast(columns.\"notnull\" as text),
                    coalesce(columns.dflt_value, ''), cast(columns.pk as text)
               from sqlite_master as tables, pragma_table_info(tables.name) as columns
              where tables.type in ('table', 'view')",
            "select tbl_name, indexes.name, coalesce(columns.name, 'expression'), cast(columns.seqno as text),
                    columns.coll
               from sqlite_master as indexes, pragma_index_xinfo(indexes.name) as columns
              where indexes.type = 'index'",
            "select name, replace(replace(sql, '\"', ''), char(10), ''), '', '', '' from sqlite_master
              where type = 'view' or name = 'search' or type = 'index' and sql like '%where%'",
        ],
    };
    queries.iter().flat_map(|query| query_raw(location, query)).collect()
}

/// Returns a script that undoes migrations 15 to 8, and migration 7 by its renames.
fn undo_migrations() -> String {
    let migration = include_str!("../../migrations/sqlite/0007_names.sql");
    let mut script = vec![
        undo_author_columns(),
        UNDO_DUTIES.to_owned(),
        "drop table sources; alter table last_pulls rename column source to organization"
            .to_owned(),
        "alter table lanes drop column sweep_request_ms;
         alter table schema_version drop column search_index; drop table chores;
         create table principals (
            name text primary key, paused_until_ms bigint, pause_reason text,
            minute_started_ms bigint, reserved_requests bigint not null default 0);
         insert into principals (name, paused_until_ms, pause_reason)
         select case when cause = 'reserve' then principal || '/reserve' else principal end,
                until_ms, reason from pauses;
         drop table pauses; drop table request_minutes; drop view comments;
         drop index pull_requests_closes_due; alter table pull_requests drop column closes_due"
            .to_owned(),
    ];
    for line in migration.lines().rev().filter(|line| line.starts_with("alter table")) {
        let words: Vec<&str> = line.trim_end_matches(';').split(' ').collect();
        script.push(match words[..] {
            ["alter", "table", table, "rename", "column", old, "to", new] => {
                format!("alter table {table} rename column {new} to {old}")
            }
            ["alter", "table", old, "rename", "to", new] => {
                format!("alter table {new} rename to {old}")
            }
            _ => panic!("cannot undo {line:?}"),
        });
    }
    script.push(
        "create view comments as select id from issues;
         drop index comment_queue_repository_id; create index talks_repository_id on talks (id);
         drop index removed_items_root; create index removed_root on removed (id);
         drop index removed_items_removed_at; create index removed_at on removed (id);
         delete from migrations where number >= 7"
            .to_owned(),
    );
    script.join(";")
}

fn schema_guid_change_stops_a_running_writer(location: &DatabaseLocation) {
    let store = open_store(location);
    execute_raw(location, "update schema_version set guid = 'another'");
    let other = StoreWriter::open(location).unwrap();
    let refused = store.ingest_page(&issues_page_through(vec![], 10));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    store.release_duty().unwrap();
    let next = other.claim_duty(&pull_duty(), "me", 1).unwrap().unwrap();
    assert!(store.lease().epoch < next.lease().epoch);
}

fn schema_upgrade_stops_a_worker_of_the_older_version(location: &DatabaseLocation) {
    upgrade_stops_a_worker(
        location,
        "insert into migrations (number, name, digest) values (999, 'later', 'x');
         update schema_version set guid = 'another', number = 999",
        |error| matches!(error, StoreError::NewerSchema { found: 999, .. }),
    );
}

fn index_upgrade_stops_a_worker_of_the_older_version(location: &DatabaseLocation) {
    upgrade_stops_a_worker(location, "update schema_version set search_index = 99", |error| {
        matches!(error, StoreError::NewerIndex { found: 99, .. })
    });
}

/// Upgrades the database under a worker that opened it before. Whatever the worker does next is refused, and what is
/// stored stays.
fn upgrade_stops_a_worker(
    location: &DatabaseLocation,
    upgrade: &str,
    is_newer: fn(&StoreError) -> bool,
) {
    let writer = StoreWriter::open(location).unwrap();
    let worker = writer.register_worker(&worker_identity("older"), 0).unwrap();
    let reason = ClaimReason::Request(String::new());
    let tasks = [ClaimTask { name: pull_duty(), reason }];
    let claim = DutyClaim { tasks: &tasks, dead: &[], ended: &[], now_ms: 1 };
    let store = worker.claim_duties(&claim).unwrap().remove(0);
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 0)])).unwrap();
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let revoke = "update duties set owner = null, epoch = epoch + 1";
    execute_raw(location, &format!("{upgrade}; {revoke}"));
    let refused = [
        store.ingest_page(&issues_page_through(vec![], 10)).map(drop),
        worker.beat(2),
        worker.claim_duties(&claim).map(drop),
        writer.register_worker(&worker_identity("restarted"), 3).map(drop),
        StoreWriter::open(location).map(drop),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(is_newer(&error), "{error:?}");
    }
    let kept = query_raw(location, "select cast(count(*) as text) from issues");
    assert_eq!(kept, [["1"]], "nothing was emptied");
}

fn schema_upgrade_is_the_reason_for_a_question_that_fails(location: &DatabaseLocation) {
    let store = open_store(location);
    let reader = store.reader();
    execute_raw(
        location,
        "alter table sources rename to followed; update schema_version set number = 999",
    );
    let error = reader.sources().unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 999, .. }), "{error:?}");
}

fn reader_between_two_migrations_finds_an_older_schema(location: &DatabaseLocation) {
    const FIRST: &str = "create table migrations (number bigint, name text, digest text)";
    match location {
        DatabaseLocation::Postgres { schema, .. } => {
            execute_raw(location, &format!("create schema {schema}; {FIRST}"));
        }
        DatabaseLocation::File(path) => {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            execute_raw(location, FIRST);
        }
        DatabaseLocation::Memory => panic!("a database in memory has one store"),
    }
    let refused = StoreReader::open(location).err();
    assert!(matches!(refused, Some(StoreError::OlderSchema)), "{refused:?}");
}

#[test]
fn schema_name_that_postgresql_would_change_or_reject_is_rejected() {
    for name in ["", "pg_mirror", "a\0b", &"ä".repeat(32)] {
        let (url, schema) = ("postgres://nowhere.invalid/db".to_owned(), name.to_owned());
        let location = DatabaseLocation::Postgres { url, schema };
        for refused in [StoreWriter::open(&location).err(), StoreReader::open(&location).err()] {
            assert!(matches!(refused, Some(StoreError::InvalidSchemaName { .. })), "{refused:?}");
        }
    }
}

#[test]
fn schema_that_exists_needs_no_permission_to_create_one() {
    let schema = SchemaDatabase::new();
    let DatabaseLocation::Postgres { url, schema: name } = &schema.location else {
        panic!("expected PostgreSQL")
    };
    execute_raw(
        &schema.location,
        &format!("create role {name} login; create schema {name} authorization {name}"),
    );
    let url = format!("{url}?user={name}");
    let store = open_store(&DatabaseLocation::Postgres { url, schema: name.clone() });
    assert_eq!(store.object_counts().unwrap().repositories, 1);
    drop(store);
    execute_raw(&schema.location, &format!("drop owned by {name} cascade; drop role {name}"));
}

#[test]
fn role_with_select_permission_can_read() {
    let schema = SchemaDatabase::new();
    let DatabaseLocation::Postgres { url, schema: name } = &schema.location else {
        panic!("expected PostgreSQL")
    };
    let store = open_store(&schema.location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    execute_raw(
        &schema.location,
        &format!(
            "create role {name} login; grant usage on schema {name} to {name};
             grant select on all tables in schema {name} to {name}"
        ),
    );
    let location =
        DatabaseLocation::Postgres { url: format!("{url}?user={name}"), schema: name.clone() };
    let reader = StoreReader::open(&location).unwrap();
    assert_eq!(
        (issue_bodies(&reader), search_ids(&reader, "leaks")),
        (vec!["body leaks".to_owned()], vec![5])
    );
    assert_eq!(reader.verify_page(None).unwrap().damaged, []);
    drop(reader);
    execute_raw(&schema.location, &format!("drop owned by {name} cascade; drop role {name}"));
}

#[test]
fn location_debug_output_hides_the_password() {
    let url = "postgres://ada:hunter2@host/db".to_owned();
    let location = DatabaseLocation::Postgres { url, schema: "acme".to_owned() };
    assert_eq!(format!("{location:?}"), "Postgres { schema: \"acme\", .. }");
}

fn secondary_pause() -> NewPause<'static> {
    NewPause {
        principal: Principal::from_user(HOST, 7),
        scope: PauseScope::Everything,
        cause: PauseCause::SourceLimit,
        machine: "here",
        stored_ms: 0,
        until_ms: 7,
        source_until: None,
        reason: "secondary limit",
    }
}
