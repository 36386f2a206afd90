//! What holds for every kind of threads.

use hw_rules::item::{Discussion, Item, Key, Kind, PullRequest, Sort};
use hw_store::{Counts, Error, Ingested, Place, Store, SweepPage, Swept, ThreadFilter, ThreadRow};

use crate::world::{
    HOST, PUMP, found, held_of, hits, lane_of, open, organization, pump, repositories, repository,
    search_rows, seen, seen_at, thread, thread_in, thread_of, threads, time,
};

both![
    every_kind_is_kept_with_everything_it_says,
    what_only_one_kind_has_is_edited_and_emptied,
    one_id_in_three_kinds_is_three_threads,
    a_rename_moves_the_threads_of_every_kind,
    the_kind_is_a_facet_also_after_a_rename,
    threads_that_were_there_before_their_repository_follow_its_name,
    threads_are_listed_oldest_first_and_by_wish,
    a_repository_is_meant_by_any_spelling_of_its_name,
    pages_together_are_the_list,
    a_sweep_of_any_kind_finds_and_removes_its_own,
];

fn every_kind_is_kept_with_everything_it_says(place: &Place) {
    let (store, lease) = open(place);
    for kind in Kind::THREADS {
        let mut said = thread(kind, 5, 10, "leaks");
        let with_everything = thread_in(&mut said);
        with_everything.state_reason = Some("DUPLICATE".to_owned());
        with_everything.closed_at = Some(time(9));
        let done = store.ingest(&lease, &threads(kind, vec![said.clone()])).unwrap();
        assert_eq!(done, Ingested { created: 1, ..Ingested::default() });
        assert_eq!(all(&store, kind), [row(&said.item)]);
        assert_eq!(store.ingest(&lease, &threads(kind, vec![said])).unwrap().unchanged, 1);
    }
    let one_each = Counts {
        repositories: 1,
        discussions: 1,
        issues: 1,
        pull_requests: 1,
        comments: 0,
        quarantined: 0,
        tombstones: 0,
    };
    assert_eq!(store.counts().unwrap(), one_each);
    assert_eq!(all(&store, Kind::Repository), [], "a repository is no thread");
}

fn what_only_one_kind_has_is_edited_and_emptied(place: &Place) {
    let (store, lease) = open(place);
    let open_pull = PullRequest {
        is_draft: false,
        merged_at: None,
        head_ref: "x\"'é".to_owned(),
        closes: vec![],
    };
    let open_talk = Discussion { category: "Ideas".to_owned(), is_answered: None };
    let answered = Discussion { is_answered: Some(true), ..open_talk.clone() };
    let sorts = [
        (Kind::PullRequest, Sort::PullRequest(open_pull)),
        (Kind::Discussion, Sort::Discussion(open_talk)),
        (Kind::Discussion, Sort::Discussion(answered)),
    ];
    for (look, (kind, sort)) in (11..).zip(sorts) {
        store.ingest(&lease, &threads(kind, vec![thread(kind, 5, 10, "leaks")])).unwrap();
        let mut later = seen_at(thread(kind, 5, 10, "leaks"), look);
        thread_in(&mut later).sort = sort;
        assert_eq!(store.ingest(&lease, &threads(kind, vec![later.clone()])).unwrap().edited, 1);
        assert_eq!(all(&store, kind), [row(&later.item)]);
    }
}

fn one_id_in_three_kinds_is_three_threads(place: &Place) {
    let (store, lease) = open(place);
    for kind in Kind::THREADS {
        store.ingest(&lease, &threads(kind, vec![thread(kind, 5, 10, "leaks")])).unwrap();
    }
    let mut three = hits(&store, "leaks", 10);
    three.sort_by_key(|hit| hit.kind);
    let places: Vec<_> = three.iter().map(|hit| (hit.kind, hit.url.as_str(), hit.id)).collect();
    let url = |part: &str| format!("https://github.com/acme/pump/{part}/5");
    let urls = ["discussions", "issues", "pull"].map(url);
    let expected = Kind::THREADS.into_iter().zip(&urls).map(|(kind, url)| (kind, url.as_str(), 5));
    assert_eq!(places, expected.collect::<Vec<_>>());
    assert!(three.iter().all(|hit| hit.title == "title leaks"));
    let edit = thread(Kind::PullRequest, 5, 10, "drips");
    store.ingest(&lease, &threads(Kind::PullRequest, vec![seen_at(edit, 11)])).unwrap();
    assert_eq!((hits(&store, "leaks", 10).len(), search_rows(place)), (2, 3));
    assert_eq!(hits(&store, "drips", 10)[0].kind, Kind::PullRequest);
}

fn a_rename_moves_the_threads_of_every_kind(place: &Place) {
    let (store, lease) = open(place);
    for kind in Kind::THREADS {
        store.ingest(&lease, &threads(kind, vec![thread(kind, 5, 10, "leaks")])).unwrap();
    }
    store.ingest(&lease, &repositories(vec![pump("valve", 20)])).unwrap();
    assert_eq!(urls(&store), ["valve/discussions/5", "valve/issues/5", "valve/pull/5"]);
    assert_eq!((found(&store, "valve leaks").len(), found(&store, "pump").len()), (3, 0));
    assert_eq!(search_rows(place), 3);
}

fn the_kind_is_a_facet_also_after_a_rename(place: &Place) {
    let (store, lease) = open(place);
    for (count, kind) in (1..).zip(Kind::THREADS) {
        let page = (0..count).map(|id| thread(kind, id, 10, "x")).collect();
        store.ingest(&lease, &threads(kind, page)).unwrap();
    }
    let facets = ["discussion", "issue", "pull\u{e000}5f\u{e000}request"]
        .map(|kind| format!("\u{e000}type\u{e000}{kind}"));
    for name in ["pump", "valve"] {
        store.ingest(&lease, &repositories(vec![pump(name, 20)])).unwrap();
        assert_eq!(
            facets.each_ref().map(|facet| with_facet(place, facet)),
            ["1", "2", "3"],
            "{name}"
        );
    }
}

fn threads_that_were_there_before_their_repository_follow_its_name(place: &Place) {
    let (store, lease) = open(place);
    store.clear_lane(&lease, &organization()).unwrap();
    for kind in Kind::THREADS {
        let early = [thread_of(kind, PUMP, "pump", 5, 10, "a"), thread(kind, 6, 10, "b")];
        store.ingest(&lease, &threads(kind, early.to_vec())).unwrap();
    }
    store.ingest(&lease, &repositories(vec![pump("pump", 20)])).unwrap();
    assert!(urls(&store).iter().all(|url| url.starts_with("pump/")));
    store.clear_lane(&lease, &organization()).unwrap();
    store.ingest(&lease, &repositories(vec![pump("valve", 30)])).unwrap();
    assert!(urls(&store).iter().all(|url| url.starts_with("valve/")), "{:?}", urls(&store));
    assert_eq!((found(&store, "valve").len(), found(&store, "pump").len()), (6, 0));
}

fn threads_are_listed_oldest_first_and_by_wish(place: &Place) {
    let (store, lease) = open(place);
    for kind in Kind::THREADS {
        let mut page: Vec<_> = (1..=4).map(|id| thread(kind, id, 10, "x")).collect();
        for (thread, born) in page.iter_mut().map(thread_in).zip([4, 3, 3, 1]) {
            thread.created_at = time(born);
        }
        thread_in(&mut page[1]).author = Some("Bob".to_owned());
        page.push(thread_of(kind, 77, "valve", 9, 10, "x"));
        store.ingest(&lease, &threads(kind, page)).unwrap();
        let ids = |repository: Option<&str>, author: Option<&str>, limit| {
            let [repository, author] = [repository, author].map(|name| name.map(str::to_owned));
            let rows = held_of(
                &store,
                kind,
                &ThreadFilter {
                    repository,
                    authors: author.into_iter().collect(),
                    limit,
                    ..ThreadFilter::default()
                },
            );
            rows.into_iter().map(|row| row.thread.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(None, None, None), [9, 4, 2, 3, 1]);
        assert_eq!(ids(Some("pump"), None, None), [4, 2, 3, 1]);
        assert_eq!(ids(None, Some("bob"), None), [2]);
        assert_eq!(ids(Some("pump"), Some("ADA"), Some(2)), [4, 3]);
        assert_eq!(ids(Some("valve"), Some("bob"), None), Vec::<i64>::new());
    }
}

fn a_repository_is_meant_by_any_spelling_of_its_name(place: &Place) {
    let (store, lease) = open(place);
    let mut namesake = repository(77, "Pump", 10);
    if let Item::Repository(it) = &mut namesake.item {
        it.owner = "other".to_owned();
    }
    store.ingest(&lease, &repositories(vec![pump("pump", 10), namesake])).unwrap();
    for kind in Kind::THREADS {
        let page = vec![thread(kind, 1, 10, "x"), thread_of(kind, 77, "Pump", 2, 10, "x")];
        store.ingest(&lease, &threads(kind, page)).unwrap();
        for (name, ids) in [
            ("PUMP", &[1, 2][..]),
            ("acme/pump", &[1]),
            ("Other/PUMP", &[2]),
            ("nobody/pump", &[]),
            ("pum", &[]),
        ] {
            let filter =
                ThreadFilter { repository: Some(name.to_owned()), ..ThreadFilter::default() };
            let found = held_of(&store, kind, &filter).into_iter().map(|row| row.thread.id);
            assert_eq!(found.collect::<Vec<_>>(), ids, "{name}");
        }
    }
}

fn pages_together_are_the_list(place: &Place) {
    let (store, lease) = open(place);
    let five = (1..=5).map(|id| thread(Kind::Issue, id, 10, "x")).collect();
    store.ingest(&lease, &threads(Kind::Issue, five)).unwrap();
    for (size, limit, count) in [(2, None, 5), (5, None, 5), (1, Some(3), 3), (9, Some(4), 4)] {
        let (mut ids, filter) = (Vec::new(), ThreadFilter { limit, ..ThreadFilter::default() });
        let mut each = |row: ThreadRow| -> Result<(), Error> {
            ids.push(row.thread.id);
            Ok(())
        };
        store.each_thread_in_pages(Kind::Issue, &filter, size, &mut each).unwrap();
        assert_eq!(ids, (1..=count).collect::<Vec<_>>());
    }
}

fn a_sweep_of_any_kind_finds_and_removes_its_own(place: &Place) {
    let (store, lease) = open(place);
    for kind in Kind::THREADS {
        let page = vec![thread(kind, 5, 10, "leaks"), thread(kind, 6, 10, "drips")];
        store.ingest(&lease, &threads(kind, page)).unwrap();
    }
    for (left, kind) in [2, 1, 0].into_iter().zip(Kind::THREADS) {
        let row = row(&thread(kind, 6, 10, "drips").item);
        let rows = vec![(6, row.thread.node_id.clone(), time(10))];
        let roll = SweepPage { began: seen(1_000), rows, next: None, complete: true };
        store.stage_sweep(&lease, &lane_of(kind), &roll).unwrap();
        let findings = store.sweep_findings(&lane_of(kind)).unwrap();
        let gone = row_of(kind, 5).thread.node_id;
        assert_eq!((findings.findings.suspects, findings.node_ids), (vec![5], [(5, gone)].into()));
        assert_eq!(findings.siblings, [(6, row.thread.node_id.clone())]);
        let done = store.finish_sweep(&lease, &lane_of(kind), &[(5, seen(1_000))], false).unwrap();
        assert_eq!(done, Swept { removed: 1 });
        assert_eq!((all(&store, kind), found(&store, "leaks").len()), (vec![row], left));
        assert!(!store.cell(HOST, Key { kind, id: 5 }).unwrap().is_present());
    }
    assert_eq!(search_rows(place), 3);
}

/// How many search rows have this facet.
fn with_facet(place: &Place, facet: &str) -> String {
    let has_it = match place {
        Place::Postgres { .. } => format!("facets @@ '{facet}'::tsquery"),
        Place::Memory | Place::File(_) => format!("search match 'facets : {facet}'"),
    };
    let sql = format!("select cast(count(*) as text) from search where {has_it}");
    crate::world::rows(place, &sql).concat().concat()
}

fn all(store: &Store, kind: Kind) -> Vec<ThreadRow> {
    held_of(store, kind, &ThreadFilter::default())
}

fn row_of(kind: Kind, id: i64) -> ThreadRow {
    row(&thread(kind, id, 10, "").item)
}

/// How it is held, as a thread of `acme/pump`.
fn row(item: &Item) -> ThreadRow {
    let Item::Thread(thread) = item else { panic!("a thread was made") };
    ThreadRow { host: HOST.to_owned(), repository: "pump".to_owned(), thread: thread.clone() }
}

/// The URLs of all threads below the organisation.
fn urls(store: &Store) -> Vec<String> {
    let rows = Kind::THREADS.into_iter().flat_map(|kind| all(store, kind));
    let below = "https://github.com/acme/";
    rows.map(|row| row.thread.url.strip_prefix(below).unwrap().to_owned()).collect()
}
