use std::collections::BTreeSet;

use hw_store::{Place, Store};

use crate::world::{crashing_at, open};

both![
    request_numbers_never_repeat,
    a_pause_is_never_shortened,
    a_pause_holds_for_what_is_above_and_below,
];

fn request_numbers_never_repeat(place: &Place) {
    let stores = [Store::open(place).unwrap(), Store::open(place).unwrap()];
    let numbers: Vec<i64> = std::thread::scope(|scope| {
        let asking = |(store, principal): (&Store, &'static str)| {
            let store = store.clone();
            scope.spawn(move || {
                let reserve = |_| store.reserve(principal, 3).unwrap();
                (0..20).map(reserve).flat_map(|r| r.first..r.first + r.count).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = stores.iter().zip(["ada", "bot"]).map(asking).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 120);
    let crashed = crashing_at(&stores[0], "reserve: after commit").reserve("ada", 5);
    assert!(crashed.is_err());
    assert_eq!(stores[1].reserve("ada", 1).unwrap().first, 126, "what was given out stays given");
}

fn a_pause_is_never_shortened(place: &Place) {
    let (store, _) = open(place);
    assert_eq!(store.paused_until("ada").unwrap(), None);
    for (until, known) in [(500, 500), (300, 500), (700, 700)] {
        store.pause("ada", until, "secondary limit").unwrap();
        assert_eq!(store.paused_until("ada").unwrap(), Some(known));
    }
    assert_eq!(store.reserve("ada", 1).unwrap().paused_until_ms, Some(700));
    assert_eq!(store.reserve("bot", 1).unwrap().paused_until_ms, None);
}

fn a_pause_holds_for_what_is_above_and_below(place: &Place) {
    let (store, _) = open(place);
    store.pause("github.com/ada", 500, "secondary limit").unwrap();
    assert_eq!(store.paused_until("github.com").unwrap(), Some(500), "it may be ada's token");
    assert_eq!(store.paused_until("github.com/bot").unwrap(), None);
    store.pause("github.com", 700, "bad credentials").unwrap();
    assert_eq!(store.paused_until("github.com/ada").unwrap(), Some(700));
    assert_eq!(store.reserve("github.com/bot", 1).unwrap().paused_until_ms, Some(700));
    assert_eq!(store.paused_until("github.community/ada").unwrap(), None);
}
