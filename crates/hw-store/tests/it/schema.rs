use hw_rules::item::Kind;
use hw_store::{Counts, Error, Place, SCHEMA_GUID, Store};

use crate::world::{
    Schema, bodies, found, issue, issues, issues_through, open, raw, thread, threads,
};

both![
    a_reader_sees_what_is_written_and_writes_nothing,
    a_reader_creates_nothing,
    a_newer_schema_is_refused,
    a_changed_migration_is_refused,
    another_guid_empties_the_mirror_and_a_reader_refuses_it,
    another_guid_stops_whoever_is_writing,
    a_reader_between_two_migrations_finds_an_older_schema,
    opening_twice_at_once_migrates_once,
];

fn a_reader_sees_what_is_written_and_writes_nothing(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    let reader = Store::open_reader(place).unwrap();
    assert_eq!((bodies(&reader), found(&reader, "x")), (vec!["body x".to_owned()], vec![5]));
    let refused = reader.ingest(&lease, &issues(vec![]));
    assert!(matches!(refused, Err(Error::ReadOnly)), "{refused:?}");
}

fn a_reader_creates_nothing(place: &Place) {
    for _ in 0..2 {
        let refused = Store::open_reader(place).err();
        assert!(matches!(refused, Some(Error::NoDatabase(_))), "{refused:?}");
    }
    if let Place::File(path) = place {
        assert!(!path.exists());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        let refused = Store::open_reader(place).err();
        assert!(matches!(refused, Some(Error::NoDatabase(_))), "{refused:?}");
        assert_eq!(std::fs::read(path).unwrap(), b"", "an empty file stays empty");
    }
}

fn a_newer_schema_is_refused(place: &Place) {
    drop(open(place));
    raw(place, "insert into migrations (number, name, digest) values (999, 'later', 'x')");
    for refused in [Store::open(place).err(), Store::open_reader(place).err()] {
        let refused = refused.expect("a newer schema is refused");
        assert!(matches!(refused, Error::NewerSchema { found: 999, .. }), "{refused:?}");
        assert!(refused.to_string().contains("newer highwater"), "{refused}");
    }
}

fn a_changed_migration_is_refused(place: &Place) {
    drop(open(place));
    raw(place, "update migrations set digest = 'another' where number = 1");
    for refused in [Store::open(place).err(), Store::open_reader(place).err()] {
        assert!(matches!(refused, Some(Error::ChangedMigration { number: 1, .. })), "{refused:?}");
    }
}

fn another_guid_empties_the_mirror_and_a_reader_refuses_it(place: &Place) {
    let (store, lease) = open(place);
    for kind in Kind::THREADS {
        store.ingest(&lease, &threads(kind, vec![thread(kind, 5, 10, "x")])).unwrap();
    }
    store.pause("ada", 7, i64::MAX, "secondary limit").unwrap();
    drop(store);
    raw(place, "update schema_version set guid = 'another'");
    let refused = Store::open_reader(place).err();
    assert!(matches!(refused, Some(Error::OlderSchema)), "{refused:?}");
    let store = Store::open(place).unwrap();
    assert_eq!((store.counts().unwrap(), found(&store, "x")), (Counts::default(), vec![]));
    assert_eq!(store.lanes().unwrap(), []);
    assert_eq!(
        store.paused_until("ada", i64::MAX).unwrap(),
        Some(7),
        "what cannot be refetched stays"
    );
    drop(store);
    assert!(Store::open_reader(place).is_ok(), "the guid is {SCHEMA_GUID} again");
}

fn opening_twice_at_once_migrates_once(place: &Place) {
    std::thread::scope(|scope| {
        let open = || Store::open(place).map(drop);
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    assert!(Store::open_reader(place).is_ok());
}

fn another_guid_stops_whoever_is_writing(place: &Place) {
    let (store, lease) = open(place);
    raw(place, "update schema_version set guid = 'another'");
    let other = Store::open(place).unwrap();
    let refused = store.ingest(&lease, &issues_through(vec![], 10));
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
    let refused = store.renew_lease(&lease, 1, 5_000);
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
    store.release_lease(&lease).unwrap();
    let next = other.take_lease("pull", "me", 1, 5_000).unwrap().unwrap();
    assert!(lease.epoch < next.epoch);
}

fn a_reader_between_two_migrations_finds_an_older_schema(place: &Place) {
    const FIRST: &str = "create table migrations (number bigint, name text, digest text)";
    match place {
        Place::Postgres { schema, .. } => {
            raw(place, &format!("create schema {schema}; {FIRST}"));
        }
        Place::File(path) => {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            raw(place, FIRST);
        }
        Place::Memory => panic!("nobody else reads there"),
    }
    let refused = Store::open_reader(place).err();
    assert!(matches!(refused, Some(Error::OlderSchema)), "{refused:?}");
}

#[test]
fn a_schema_name_that_postgresql_would_change_or_refuse_is_refused() {
    for name in ["", "pg_mirror", "a\0b", &"ä".repeat(32)] {
        let (url, schema) = ("postgres://nowhere.invalid/db".to_owned(), name.to_owned());
        let place = Place::Postgres { url, schema };
        for refused in [Store::open(&place).err(), Store::open_reader(&place).err()] {
            assert!(matches!(refused, Some(Error::SchemaName { .. })), "{refused:?}");
        }
    }
}

#[test]
fn a_schema_that_is_there_needs_no_right_to_make_one() {
    let schema = Schema::new();
    let Place::Postgres { url, schema: name } = &schema.place else { panic!("it is PostgreSQL") };
    raw(
        &schema.place,
        &format!("create role {name} login; create schema {name} authorization {name}"),
    );
    let url = format!("{url}?user={name}");
    let (store, _) = open(&Place::Postgres { url, schema: name.clone() });
    assert_eq!(store.counts().unwrap().repositories, 1);
    drop(store);
    raw(&schema.place, &format!("drop owned by {name} cascade; drop role {name}"));
}

#[test]
fn role_that_may_only_select_can_read() {
    let schema = Schema::new();
    let Place::Postgres { url, schema: name } = &schema.place else { panic!("it is PostgreSQL") };
    let (store, lease) = open(&schema.place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    raw(
        &schema.place,
        &format!(
            "create role {name} login; grant usage on schema {name} to {name};
             grant select on all tables in schema {name} to {name}"
        ),
    );
    let place = Place::Postgres { url: format!("{url}?user={name}"), schema: name.clone() };
    let reader = Store::open_reader(&place).unwrap();
    assert_eq!(
        (bodies(&reader), found(&reader, "leaks")),
        (vec!["body leaks".to_owned()], vec![5])
    );
    assert_eq!(reader.verify_page(None).unwrap().damaged, []);
    drop(reader);
    raw(&schema.place, &format!("drop owned by {name} cascade; drop role {name}"));
}

#[test]
fn a_place_shows_no_password() {
    let url = "postgres://ada:hunter2@host/db".to_owned();
    let place = Place::Postgres { url, schema: "acme".to_owned() };
    assert_eq!(format!("{place:?}"), "Postgres { schema: \"acme\", .. }");
}
