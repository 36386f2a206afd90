use hw_rules::item::ItemKind;
use hw_store::{DatabaseLocation, ObjectCounts, SCHEMA_GUID, Store, StoreError};

use crate::fixture::{
    SchemaDatabase, execute_raw, issue, issue_bodies, issues_page, issues_page_through, open_store,
    search_ids, thread, threads_page,
};

both![
    reader_sees_written_data_and_cannot_write,
    reader_creates_no_database,
    schema_that_is_newer_is_rejected,
    migration_that_was_changed_is_rejected,
    schema_guid_change_empties_the_mirror_and_a_reader_rejects_it,
    schema_guid_change_stops_a_running_writer,
    reader_between_two_migrations_finds_an_older_schema,
    migrations_run_once_when_opened_concurrently,
    migration_to_new_names_keeps_everything,
];

fn reader_sees_written_data_and_cannot_write(location: &DatabaseLocation) {
    let (store, lease) = open_store(location);
    store.ingest_page(&lease, &issues_page(vec![issue(5, 10, "x")])).unwrap();
    let reader = Store::open_reader(location).unwrap();
    assert_eq!(
        (issue_bodies(&reader), search_ids(&reader, "x")),
        (vec!["body x".to_owned()], vec![5])
    );
    let refused = reader.ingest_page(&lease, &issues_page(vec![]));
    assert!(matches!(refused, Err(StoreError::ReadOnly)), "{refused:?}");
}

fn reader_creates_no_database(location: &DatabaseLocation) {
    for _ in 0..2 {
        let refused = Store::open_reader(location).err();
        assert!(matches!(refused, Some(StoreError::NoDatabase(_))), "{refused:?}");
    }
    if let DatabaseLocation::File(path) = location {
        assert!(!path.exists());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        let refused = Store::open_reader(location).err();
        assert!(matches!(refused, Some(StoreError::NoDatabase(_))), "{refused:?}");
        assert_eq!(std::fs::read(path).unwrap(), b"", "an empty file stays empty");
    }
}

fn schema_that_is_newer_is_rejected(location: &DatabaseLocation) {
    drop(open_store(location));
    execute_raw(
        location,
        "insert into migrations (number, name, digest) values (999, 'later', 'x')",
    );
    for refused in [Store::open(location).err(), Store::open_reader(location).err()] {
        let refused = refused.expect("a newer schema is refused");
        assert!(matches!(refused, StoreError::NewerSchema { found: 999, .. }), "{refused:?}");
        assert!(refused.to_string().contains("newer highwater"), "{refused}");
    }
}

fn migration_that_was_changed_is_rejected(location: &DatabaseLocation) {
    drop(open_store(location));
    execute_raw(location, "update migrations set digest = 'another' where number = 1");
    for refused in [Store::open(location).err(), Store::open_reader(location).err()] {
        assert!(
            matches!(refused, Some(StoreError::ChangedMigration { number: 1, .. })),
            "{refused:?}"
        );
    }
}

fn schema_guid_change_empties_the_mirror_and_a_reader_rejects_it(location: &DatabaseLocation) {
    let (store, lease) = open_store(location);
    for kind in ItemKind::THREADS {
        store.ingest_page(&lease, &threads_page(kind, vec![thread(kind, 5, 10, "x")])).unwrap();
    }
    store.pause_principal("ada", 7, i64::MAX, "secondary limit").unwrap();
    drop(store);
    execute_raw(location, "update schema_version set guid = 'another'");
    let refused = Store::open_reader(location).err();
    assert!(matches!(refused, Some(StoreError::OlderSchema)), "{refused:?}");
    let store = Store::open(location).unwrap();
    assert_eq!(
        (store.object_counts().unwrap(), search_ids(&store, "x")),
        (ObjectCounts::default(), vec![])
    );
    assert_eq!(store.lanes().unwrap(), []);
    assert_eq!(
        store.paused_until("ada", i64::MAX).unwrap(),
        Some(7),
        "data that cannot be refetched stays"
    );
    drop(store);
    assert!(Store::open_reader(location).is_ok(), "the guid is {SCHEMA_GUID} again");
}

fn migrations_run_once_when_opened_concurrently(location: &DatabaseLocation) {
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| Store::open(location).map(drop))).collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    assert!(Store::open_reader(location).is_ok());
}

fn migration_to_new_names_keeps_everything(location: &DatabaseLocation) {
    let (store, lease) = open_store(location);
    for kind in ItemKind::THREADS {
        store.ingest_page(&lease, &threads_page(kind, vec![thread(kind, 5, 10, "x")])).unwrap();
    }
    store.pause_principal("ada", 7, i64::MAX, "secondary limit").unwrap();
    let stored = |store: &Store| {
        (
            store.object_counts().unwrap(),
            store.lanes().unwrap(),
            search_ids(store, "x"),
            store.verify_page(None).unwrap().damaged,
            store.paused_until("ada", i64::MAX).unwrap(),
        )
    };
    let before = stored(&store);
    drop(store);
    execute_raw(location, &undo_new_names());
    let refused = Store::open_reader(location).err();
    assert!(matches!(refused, Some(StoreError::OlderSchema)), "{refused:?}");
    assert_eq!(stored(&Store::open(location).unwrap()), before);
}

/// Returns a script that undoes migration 7, derived from its renames.
fn undo_new_names() -> String {
    let migration = include_str!("../../migrations/sqlite/0007_names.sql");
    let mut script = vec!["drop view comments".to_owned()];
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
         delete from migrations where number = 7"
            .to_owned(),
    );
    script.join(";")
}

fn schema_guid_change_stops_a_running_writer(location: &DatabaseLocation) {
    let (store, lease) = open_store(location);
    execute_raw(location, "update schema_version set guid = 'another'");
    let other = Store::open(location).unwrap();
    let refused = store.ingest_page(&lease, &issues_page_through(vec![], 10));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    let refused = store.renew_lease(&lease, 1, 5_000);
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    store.release_lease(&lease).unwrap();
    let next = other.take_lease("pull", "me", 1, 5_000).unwrap().unwrap();
    assert!(lease.epoch < next.epoch);
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
    let refused = Store::open_reader(location).err();
    assert!(matches!(refused, Some(StoreError::OlderSchema)), "{refused:?}");
}

#[test]
fn schema_name_that_postgresql_would_change_or_reject_is_rejected() {
    for name in ["", "pg_mirror", "a\0b", &"ä".repeat(32)] {
        let (url, schema) = ("postgres://nowhere.invalid/db".to_owned(), name.to_owned());
        let location = DatabaseLocation::Postgres { url, schema };
        for refused in [Store::open(&location).err(), Store::open_reader(&location).err()] {
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
    let (store, _) = open_store(&DatabaseLocation::Postgres { url, schema: name.clone() });
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
    let (store, lease) = open_store(&schema.location);
    store.ingest_page(&lease, &issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    execute_raw(
        &schema.location,
        &format!(
            "create role {name} login; grant usage on schema {name} to {name};
             grant select on all tables in schema {name} to {name}"
        ),
    );
    let location =
        DatabaseLocation::Postgres { url: format!("{url}?user={name}"), schema: name.clone() };
    let reader = Store::open_reader(&location).unwrap();
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
