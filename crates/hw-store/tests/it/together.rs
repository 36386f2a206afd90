//! Several processes at once: each thread here has a store of its own.

use hw_rules::item::Kind;
use hw_store::{Error, IngestPage, Place, Store, ThreadFilter};

use crate::world::{File, Schema, bodies, found, held, hits, issue, issues, open, raw};

both![the_comparison_happens_inside_the_transaction, a_reader_is_not_kept_waiting_by_a_writer,];

/// One thread brings old versions, one new ones, of the same items at the same time. Whoever reads what
/// is held before its own transaction would overwrite the newer text, or make an item twice.
fn the_comparison_happens_inside_the_transaction(place: &Place) {
    let (store, lease) = open(place);
    let stores = [(); 3].map(|()| Store::open(place).unwrap());
    for round in 0..20 {
        let ids = round * 10..round * 10 + 10;
        let versions = [10, 20, 30].map(|second| {
            let text = format!("version{second}");
            issues(ids.clone().map(|id| issue(id, second, &text)).collect())
        });
        let created: u64 = std::thread::scope(|scope| {
            let lease = &lease;
            let ingest = |(store, page): (&'_ Store, &'_ IngestPage)| {
                let (store, page) = (store.clone(), page.clone());
                scope.spawn(move || store.ingest(lease, &page).unwrap().created)
            };
            let threads: Vec<_> = stores.iter().zip(&versions).map(ingest).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(created, 10, "round {round}: each item is new once");
    }
    assert!(bodies(&store).iter().all(|body| body == "body version30"));
    assert_eq!(held(&store).len(), 200);
    assert_eq!((found(&store, "version10"), found(&store, "version20")), (vec![], vec![]));
    assert_eq!(hits(&store, "version30", 1_000).len(), 200);
}

fn a_reader_is_not_kept_waiting_by_a_writer(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "before")])).unwrap();
    let reader = Store::open_reader(place).unwrap();
    let look = {
        let reader = reader.clone();
        move |point: &str| {
            assert!(!point.contains("before commit") || bodies(&reader) == ["body before"]);
            false
        }
    };
    let watched = store.with_interrupts(std::sync::Arc::new(look));
    watched.ingest(&lease, &issues(vec![issue(5, 11, "after")])).unwrap();
    assert_eq!(bodies(&reader), ["body after"]);
    let mut stopped = 0;
    let mut each = |_| {
        stopped += 1;
        std::ops::ControlFlow::Break(())
    };
    reader.each_thread(Kind::Issue, &ThreadFilter::default(), &mut each).unwrap();
    assert_eq!(stopped, 1);
}

#[test]
fn a_database_in_memory_is_shared_by_the_clones_of_its_store() {
    let (store, lease) = open(&Place::Memory);
    store.clone().ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    assert_eq!((bodies(&store), found(&store, "leaks")), (vec!["body leaks".to_owned()], vec![5]));
    assert_eq!(
        held(&Store::open(&Place::Memory).unwrap()),
        [],
        "another store is another database"
    );
}

/// A log that is being read cannot be begun anew, and grows for as long as somebody looks at a page.
#[test]
fn a_list_in_pages_keeps_nobody_from_tidying() {
    let file = File::new();
    let Place::File(path) = &file.place else { panic!("it is a file") };
    let (store, lease) = open(&file.place);
    store.ingest(&lease, &issues((1..=3).map(|id| issue(id, 10, "x")).collect())).unwrap();
    let (other, mut tidied) = (rusqlite::Connection::open(path).unwrap(), 0);
    let mut each = |_| -> Result<(), Error> {
        store.ingest(&lease, &issues(vec![issue(9, 10 + tidied, "x")])).unwrap();
        let checkpoint = "pragma wal_checkpoint(truncate)";
        let is_busy: i64 = other.query_row(checkpoint, [], |row| row.get(0)).unwrap();
        assert_eq!(is_busy, 0);
        tidied += 1;
        Ok(())
    };
    let filter = ThreadFilter { limit: Some(3), ..ThreadFilter::default() };
    Store::open_reader(&file.place)
        .unwrap()
        .each_thread_in_pages(Kind::Issue, &filter, 2, &mut each)
        .unwrap();
    assert_eq!(tidied, 3);
}

#[test]
fn a_connection_that_broke_while_it_was_idle_is_replaced() {
    let schema = Schema::new();
    let Place::Postgres { url, schema: name } = &schema.place else { panic!("it is PostgreSQL") };
    let url = format!("{url}?application_name={name}");
    let (store, lease) = open(&Place::Postgres { url, schema: name.clone() });
    raw(
        &schema.place,
        &format!(
            "select pg_terminate_backend(pid) from pg_stat_activity
              where application_name = '{name}'"
        ),
    );
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    assert_eq!(found(&store, "leaks"), [5]);
}

#[test]
fn many_may_read_at_once_and_each_has_its_turn() {
    for place in [&File::new().place, &Schema::new().place] {
        let (store, lease) = open(place);
        store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
        std::thread::scope(|scope| {
            let read = || (0..5).all(|_| found(&store, "leaks") == [5]);
            let threads: Vec<_> = (0..30).map(|_| scope.spawn(read)).collect();
            assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
        });
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://me@{}/db?connect_timeout=1", silent.local_addr().unwrap());
    let failed = Store::open(&Place::Postgres { url, schema: "acme".to_owned() }).err();
    let Some(Error::Unreachable(reason)) = failed else { panic!("{failed:?}") };
    assert_eq!(reason, "timed out waiting for the server");
}
