use hw_store::{Error, Place, SCHEMA_GUID, Store};

use crate::world::{bodies, found, issue, issues, open, raw};

both![
    a_reader_sees_what_is_written_and_writes_nothing,
    a_reader_creates_nothing,
    a_newer_schema_is_refused,
    a_changed_migration_is_refused,
    another_guid_empties_the_mirror_and_a_reader_refuses_it,
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
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    let first = store.reserve("ada", 1).unwrap().first;
    drop(store);
    raw(place, "update schema_version set guid = 'another'");
    let refused = Store::open_reader(place).err();
    assert!(matches!(refused, Some(Error::OlderSchema)), "{refused:?}");
    let store = Store::open(place).unwrap();
    assert_eq!((bodies(&store), found(&store, "x")), (vec![], vec![]));
    assert_eq!(store.lanes().unwrap(), []);
    assert!(first < store.reserve("ada", 1).unwrap().first, "what cannot be refetched stays");
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
