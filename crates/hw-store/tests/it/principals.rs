use std::collections::BTreeSet;
use std::sync::Arc;

use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope};
use hw_store::{
    DatabaseLocation, NewPause, RequestReservation, ReserveOutcome, StoreReader, StoreWriter,
};

use crate::fixture::open_store;

both![
    request_numbers_never_repeat,
    request_numbers_of_a_minute_are_shared_by_all_processes,
    reservation_count_restarts_in_a_new_minute,
    reservation_under_a_wrong_clock_blocks_no_later_one,
    reservation_count_is_separate_for_each_principal_and_api,
    pause_is_never_shortened,
    pause_applies_to_parent_and_child_principals,
    pause_of_one_api_does_not_stop_the_other,
];

const MINUTE: i64 = 60_000;

fn request_numbers_never_repeat(location: &DatabaseLocation) {
    let stores = [StoreWriter::open(location).unwrap(), StoreWriter::open(location).unwrap()];
    let numbers: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = stores
            .iter()
            .zip(["ada", "bot"])
            .map(|(store, principal)| {
                scope.spawn(move || {
                    (0..20)
                        .map(|_| reserve_granted(store, principal, 3))
                        .flat_map(|reservation| {
                            reservation.first..reservation.first + reservation.count
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 120);
    let crashing =
        stores[0].clone().with_crash_hook(Arc::new(|point| point == "reserve: after commit"));
    let crashed = crashing.reserve_requests(&Principal::parse("ada"), ApiKind::Rest, 5, 0, 1_000);
    assert!(crashed.is_err());
    assert_eq!(reserve_granted(&stores[1], "ada", 1).first, 126, "reserved numbers are not reused");
}

fn request_numbers_of_a_minute_are_shared_by_all_processes(location: &DatabaseLocation) {
    let stores = [(); 3].map(|()| StoreWriter::open(location).unwrap());
    let granted: i64 = std::thread::scope(|scope| {
        let threads: Vec<_> = stores
            .iter()
            .map(|store| {
                scope.spawn(move || {
                    (0..20).filter_map(|at_ms| granted_count(store, 3, at_ms, 100)).sum::<i64>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(granted, 100, "33 blocks of three, and one more");
    let full = stores[0]
        .reserve_requests(&Principal::parse("ada"), ApiKind::Rest, 1, MINUTE - 1, 100)
        .unwrap();
    assert_eq!(full, ReserveOutcome::Full { until_ms: MINUTE });
    assert_eq!(granted_first(&stores[0], MINUTE), Some(101), "no number was wasted");
}

fn reservation_count_restarts_in_a_new_minute(location: &DatabaseLocation) {
    let store = open_store(location);
    for minute in [0, MINUTE, 5 * MINUTE] {
        assert_eq!(granted_count(&store, 10, minute + 59_999, 10), Some(10));
        let full = store
            .reserve_requests(&Principal::parse("ada"), ApiKind::Rest, 1, minute + 59_999, 10)
            .unwrap();
        assert_eq!(full, ReserveOutcome::Full { until_ms: minute + MINUTE });
        assert_eq!(
            granted_count(&store, 2, minute + 59_999, 11),
            Some(1),
            "only the remaining one"
        );
    }
}

fn reservation_under_a_wrong_clock_blocks_no_later_one(location: &DatabaseLocation) {
    let store = open_store(location);
    let year_2030 = 1_900_000_000_000;
    assert_eq!(granted_count(&store, 10, year_2030, 10), Some(10));
    assert_eq!(granted_count(&store, 4, -1, 10), Some(4), "that clock was corrected");
    let ahead = store.reserve_requests(&Principal::parse("ada"), ApiKind::Rest, 9, 1, 10).unwrap();
    assert!(
        matches!(ahead, ReserveOutcome::Granted(RequestReservation { count: 9, .. })),
        "{ahead:?}"
    );
    assert_eq!(
        granted_count(&store, 5, -1, 10),
        Some(1),
        "a clock slightly behind counts in the same minute"
    );
    let full = store.reserve_requests(&Principal::parse("ada"), ApiKind::Rest, 5, -1, 10).unwrap();
    assert_eq!(full, ReserveOutcome::Full { until_ms: MINUTE });
    assert_eq!(granted_count(&store, 5, -MINUTE - 1, 10), Some(5));
}

fn reservation_count_is_separate_for_each_principal_and_api(location: &DatabaseLocation) {
    let store = open_store(location);
    for principal in ["github.com", "github.com/1", "github.com/2"] {
        let granted =
            store.reserve_requests(&Principal::parse(principal), ApiKind::Rest, 10, 0, 10).unwrap();
        assert!(
            matches!(granted, ReserveOutcome::Granted(RequestReservation { count: 10, .. })),
            "{granted:?}"
        );
        assert_eq!(
            store.reserve_requests(&Principal::parse(principal), ApiKind::Rest, 1, 0, 10).unwrap(),
            ReserveOutcome::Full { until_ms: MINUTE }
        );
        let granted = store
            .reserve_requests(&Principal::parse(principal), ApiKind::Graphql, 10, 0, 10)
            .unwrap();
        assert!(matches!(granted, ReserveOutcome::Granted(_)), "each API has a minute of its own");
    }
}

fn pause_is_never_shortened(location: &DatabaseLocation) {
    let store = open_store(location);
    assert_eq!(paused_until(&store, "ada", i64::MAX), None);
    reserve_granted(&store, "ada", 1);
    assert_eq!(paused_until(&store, "ada", i64::MAX), None, "a reservation is not a pause");
    for (until, known) in [(500, 500), (300, 500), (700, 700)] {
        pause(&store, "ada", until, i64::MAX);
        assert_eq!(paused_until(&store, "ada", i64::MAX), Some(known));
    }
    assert_eq!(paused_until(&store, "bot", i64::MAX), None);
}

fn pause_applies_to_parent_and_child_principals(location: &DatabaseLocation) {
    let store = open_store(location);
    pause(&store, "github.com/1", 500, i64::MAX);
    assert_eq!(
        paused_until(&store, "github.com", i64::MAX),
        Some(500),
        "it may be that user's token"
    );
    assert_eq!(paused_until(&store, "github.com/2", i64::MAX), None);
    pause(&store, "github.com", 700, i64::MAX);
    assert_eq!(paused_until(&store, "github.com/1", i64::MAX), Some(700));
    assert_eq!(paused_until(&store, "github.com/2", i64::MAX), Some(700));
    assert_eq!(paused_until(&store, "github.community/1", i64::MAX), None);
    pause(&store, "github.com/1", 9_000_000, i64::MAX);
    assert_eq!(paused_until(&store, "github.com/1", 1_000), Some(700), "ignored");
    pause(&store, "github.com/1", 800, 1_000);
    assert_eq!(paused_until(&store, "github.com/1", i64::MAX), Some(800), "replaced");
}

fn pause_of_one_api_does_not_stop_the_other(location: &DatabaseLocation) {
    let store = open_store(location);
    let ends = |api| {
        let pauses = store.principal_pauses(&Principal::parse("ada"), api, i64::MAX).unwrap();
        pauses.iter().map(|pause| (pause.until_ms, pause.cause)).collect::<Vec<_>>()
    };
    let rest = NewPause {
        principal: Principal::parse("ada"),
        scope: PauseScope::Api(ApiKind::Rest),
        cause: PauseCause::SourceLimit,
        until_ms: 500,
        reason: "used up",
    };
    store.store_pause(rest.clone(), i64::MAX).unwrap();
    let reserve = NewPause { cause: PauseCause::Reserve, until_ms: 900, ..rest.clone() };
    store.store_pause(reserve, i64::MAX).unwrap();
    let both = [(900, PauseCause::Reserve), (500, PauseCause::SourceLimit)];
    assert_eq!((ends(ApiKind::Rest), ends(ApiKind::Graphql)), (both.to_vec(), vec![]));
    assert_eq!(store.pauses(0).unwrap()[0].target(), "ada (REST)");
    let found = store.principal_pauses(&Principal::parse("ada"), ApiKind::Rest, i64::MAX).unwrap();
    store.lift_pause(&found[0], 899).unwrap();
    assert_eq!(ends(ApiKind::Rest).len(), 2, "it ends later than what was reviewed");
    store.lift_pause(&found[0], 900).unwrap();
    assert_eq!(ends(ApiKind::Rest), [(500, PauseCause::SourceLimit)]);
    let all = NewPause { scope: PauseScope::Everything, until_ms: 700, ..rest };
    store.store_pause(all, i64::MAX).unwrap();
    assert_eq!(ends(ApiKind::Graphql), [(700, PauseCause::SourceLimit)]);
    assert_eq!(store.pauses(0).unwrap()[0].target(), "ada");
}

fn pause(store: &StoreWriter, principal: &str, until_ms: i64, latest_ms: i64) {
    let (scope, cause) = (PauseScope::Everything, PauseCause::SourceLimit);
    let principal = Principal::parse(principal);
    let pause = NewPause { principal, scope, cause, until_ms, reason: "secondary limit" };
    store.store_pause(pause, latest_ms).unwrap();
}

fn paused_until(store: &StoreReader, principal: &str, latest_ms: i64) -> Option<i64> {
    let pauses =
        store.principal_pauses(&Principal::parse(principal), ApiKind::Rest, latest_ms).unwrap();
    pauses.first().map(|pause| pause.until_ms)
}

/// Reserves numbers in a minute that has enough of them.
fn reserve_granted(store: &StoreWriter, principal: &str, count: i64) -> RequestReservation {
    match store
        .reserve_requests(&Principal::parse(principal), ApiKind::Rest, count, 0, 1_000)
        .unwrap()
    {
        ReserveOutcome::Granted(reservation) => reservation,
        full @ ReserveOutcome::Full { .. } => panic!("{full:?}"),
    }
}

/// Returns the number of requests granted to ada.
fn granted_count(store: &StoreWriter, count: i64, now_ms: i64, per_minute: i64) -> Option<i64> {
    match store
        .reserve_requests(&Principal::parse("ada"), ApiKind::Rest, count, now_ms, per_minute)
        .unwrap()
    {
        ReserveOutcome::Granted(reservation) => Some(reservation.count),
        ReserveOutcome::Full { .. } => None,
    }
}

/// Returns the next request number granted to ada.
fn granted_first(store: &StoreWriter, now_ms: i64) -> Option<i64> {
    match store.reserve_requests(&Principal::parse("ada"), ApiKind::Rest, 1, now_ms, 100).unwrap() {
        ReserveOutcome::Granted(reservation) => Some(reservation.first),
        ReserveOutcome::Full { .. } => None,
    }
}
