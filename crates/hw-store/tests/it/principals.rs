use std::collections::BTreeSet;

use hw_store::{Place, Reservation, Reserved, Store};

use crate::world::{crashing_at, open};

both![
    request_numbers_never_repeat,
    all_processes_share_what_a_minute_has,
    a_new_minute_starts_at_nothing,
    a_clock_that_stood_elsewhere_keeps_nobody_waiting,
    each_principal_has_a_minute_of_its_own,
    a_pause_is_never_shortened,
    a_pause_holds_for_what_is_above_and_below,
];

const MINUTE: i64 = 60_000;

fn request_numbers_never_repeat(place: &Place) {
    let stores = [Store::open(place).unwrap(), Store::open(place).unwrap()];
    let numbers: Vec<i64> = std::thread::scope(|scope| {
        let asking = |(store, principal): (&Store, &'static str)| {
            let store = store.clone();
            scope.spawn(move || {
                let reserve = |_| reserve(&store, principal, 3);
                (0..20).map(reserve).flat_map(|r| r.first..r.first + r.count).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = stores.iter().zip(["ada", "bot"]).map(asking).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 120);
    let crashed = crashing_at(&stores[0], "reserve: after commit").reserve("ada", 5, 0, 1_000);
    assert!(crashed.is_err());
    assert_eq!(reserve(&stores[1], "ada", 1).first, 126, "what was given out stays given");
}

fn all_processes_share_what_a_minute_has(place: &Place) {
    let stores = [(); 3].map(|()| Store::open(place).unwrap());
    let granted: i64 = std::thread::scope(|scope| {
        let asking = |store: &Store| {
            let store = store.clone();
            scope.spawn(move || (0..20).filter_map(|at| granted(&store, 3, at, 100)).sum::<i64>())
        };
        let threads: Vec<_> = stores.iter().map(asking).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(granted, 100, "33 blocks of three, and one more");
    let full = stores[0].reserve("ada", 1, MINUTE - 1, 100).unwrap();
    assert_eq!(full, Reserved::Full { until_ms: MINUTE });
    assert_eq!(granted_first(&stores[0], MINUTE), Some(101), "nobody gave a number for nothing");
}

fn a_new_minute_starts_at_nothing(place: &Place) {
    let (store, _) = open(place);
    for minute in [0, MINUTE, 5 * MINUTE] {
        assert_eq!(granted(&store, 10, minute + 59_999, 10), Some(10));
        let full = store.reserve("ada", 1, minute + 59_999, 10).unwrap();
        assert_eq!(full, Reserved::Full { until_ms: minute + MINUTE });
        assert_eq!(granted(&store, 2, minute + 59_999, 11), Some(1), "as many as there are");
    }
}

fn a_clock_that_stood_elsewhere_keeps_nobody_waiting(place: &Place) {
    let (store, _) = open(place);
    let year_2030 = 1_900_000_000_000;
    assert_eq!(granted(&store, 10, year_2030, 10), Some(10));
    assert_eq!(granted(&store, 4, -1, 10), Some(4), "that clock was set right");
    let ahead = store.reserve("ada", 9, 1, 10).unwrap();
    assert!(matches!(ahead, Reserved::Granted(Reservation { count: 9, .. })), "{ahead:?}");
    assert_eq!(granted(&store, 5, -1, 10), Some(1), "a clock a little behind counts there, too");
    let full = store.reserve("ada", 5, -1, 10).unwrap();
    assert_eq!(full, Reserved::Full { until_ms: MINUTE });
    assert_eq!(granted(&store, 5, -MINUTE - 1, 10), Some(5));
}

fn each_principal_has_a_minute_of_its_own(place: &Place) {
    let (store, _) = open(place);
    for principal in ["github.com", "github.com/ada", "github.com/bot"] {
        store.pause(principal, 5, i64::MAX, "secondary limit").unwrap();
        let granted = store.reserve(principal, 10, 0, 10).unwrap();
        assert!(matches!(granted, Reserved::Granted(Reservation { count: 10, .. })), "{granted:?}");
        assert_eq!(
            store.reserve(principal, 1, 0, 10).unwrap(),
            Reserved::Full { until_ms: MINUTE }
        );
        assert_eq!(store.paused_until(principal, i64::MAX).unwrap(), Some(5), "a row for both");
    }
}

fn a_pause_is_never_shortened(place: &Place) {
    let (store, _) = open(place);
    assert_eq!(store.paused_until("ada", i64::MAX).unwrap(), None);
    assert_eq!(reserve(&store, "ada", 1).paused_until_ms, None);
    assert_eq!(store.paused_until("ada", i64::MAX).unwrap(), None, "a reservation is no pause");
    for (until, known) in [(500, 500), (300, 500), (700, 700)] {
        store.pause("ada", until, i64::MAX, "secondary limit").unwrap();
        assert_eq!(store.paused_until("ada", i64::MAX).unwrap(), Some(known));
    }
    assert_eq!(reserve(&store, "ada", 1).paused_until_ms, Some(700));
    assert_eq!(reserve(&store, "bot", 1).paused_until_ms, None);
}

fn a_pause_holds_for_what_is_above_and_below(place: &Place) {
    let (store, _) = open(place);
    store.pause("github.com/ada", 500, i64::MAX, "secondary limit").unwrap();
    assert_eq!(
        store.paused_until("github.com", i64::MAX).unwrap(),
        Some(500),
        "it may be ada's token"
    );
    assert_eq!(store.paused_until("github.com/bot", i64::MAX).unwrap(), None);
    store.pause("github.com", 700, i64::MAX, "bad credentials").unwrap();
    assert_eq!(store.paused_until("github.com/ada", i64::MAX).unwrap(), Some(700));
    assert_eq!(reserve(&store, "github.com/bot", 1).paused_until_ms, Some(700));
    assert_eq!(store.paused_until("github.community/ada", i64::MAX).unwrap(), None);
    store.pause("github.com/ada", 9_000_000, i64::MAX, "a clock in another year").unwrap();
    assert_eq!(store.paused_until("github.com/ada", 1_000).unwrap(), Some(700), "not believed");
    store.pause("github.com/ada", 800, 1_000, "secondary limit").unwrap();
    assert_eq!(store.paused_until("github.com/ada", i64::MAX).unwrap(), Some(800), "replaced");
}

/// Reserves in a minute that has enough.
fn reserve(store: &Store, principal: &str, count: i64) -> Reservation {
    match store.reserve(principal, count, 0, 1_000).unwrap() {
        Reserved::Granted(reservation) => reservation,
        full @ Reserved::Full { .. } => panic!("{full:?}"),
    }
}

/// How many ada gets.
fn granted(store: &Store, count: i64, now_ms: i64, a_minute: i64) -> Option<i64> {
    match store.reserve("ada", count, now_ms, a_minute).unwrap() {
        Reserved::Granted(reservation) => Some(reservation.count),
        Reserved::Full { .. } => None,
    }
}

/// Which number ada gets next.
fn granted_first(store: &Store, now_ms: i64) -> Option<i64> {
    match store.reserve("ada", 1, now_ms, 100).unwrap() {
        Reserved::Granted(reservation) => Some(reservation.first),
        Reserved::Full { .. } => None,
    }
}
