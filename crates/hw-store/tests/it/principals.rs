use std::collections::BTreeSet;
use std::sync::Arc;

use hw_rules::pause_end::PauseEnd;
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};
use hw_rules::source_clock::SourceClock;
use hw_rules::source_time::SourceInstant;
use hw_store::{
    DatabaseLocation, NewPause, PendingPause, RequestReservation, ReserveOutcome, StoreReader,
    StoreWriter,
};

use crate::fixture::{UNDO_EVENTS, execute_raw, open_store};

both![
    request_numbers_never_repeat,
    request_numbers_of_a_minute_are_shared_by_all_processes,
    reservation_count_restarts_in_a_new_minute,
    reservation_under_a_wrong_clock_blocks_no_later_one,
    reservation_count_is_separate_for_each_principal_and_api,
    pause_is_never_shortened,
    pause_longer_than_any_limit_is_replaced,
    pause_applies_to_parent_and_child_principals,
    pause_of_one_api_does_not_stop_the_other,
    pause_of_each_class_is_stored_by_itself,
    pause_is_deleted_unless_it_was_prolonged,
    pauses_of_two_machines_are_not_compared,
    pauses_of_another_machine_end_by_the_sources_clock,
    pauses_of_an_older_version_end_by_the_readers_clock,
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
    assert!(stored_ends(&store, "ada").is_empty());
    reserve_granted(&store, "ada", 1);
    assert!(stored_ends(&store, "ada").is_empty(), "a reservation is not a pause");
    for (until, known) in [(500, 500), (300, 500), (700, 700)] {
        store_pause(&store, "ada", until);
        assert_eq!(stored_ends(&store, "ada"), [known]);
    }
    assert!(stored_ends(&store, "bot").is_empty());
}

fn pause_longer_than_any_limit_is_replaced(location: &DatabaseLocation) {
    let store = open_store(location);
    store_pause(&store, "ada", 30 * 24 * 60 * MINUTE);
    store_pause(&store, "ada", 800);
    assert_eq!(stored_ends(&store, "ada"), [800]);
}

fn pause_applies_to_parent_and_child_principals(location: &DatabaseLocation) {
    let store = open_store(location);
    store_pause(&store, "github.com/1", 500);
    assert_eq!(stored_ends(&store, "github.com"), [500], "it may be that user's token");
    assert!(stored_ends(&store, "github.com/2").is_empty());
    store_pause(&store, "github.com", 700);
    assert_eq!(stored_ends(&store, "github.com/1"), [700, 500]);
    assert_eq!(stored_ends(&store, "github.com/2"), [700]);
    assert!(stored_ends(&store, "github.community/1").is_empty());
}

fn pause_of_one_api_does_not_stop_the_other(location: &DatabaseLocation) {
    let store = open_store(location);
    let ends = |api| {
        let pauses = store.principal_pauses(&Principal::parse("ada"), api).unwrap();
        pauses.iter().map(|pause| (pause.span.until_ms, pause.cause)).collect::<Vec<_>>()
    };
    let scope = PauseScope::Api(ApiKind::Rest);
    let rest = NewPause { scope, reason: "used up", ..new_pause("ada", 500) };
    store.store_pause(rest.clone()).unwrap();
    assert_eq!(
        (ends(ApiKind::Rest), ends(ApiKind::Graphql)),
        (vec![(500, PauseCause::SourceLimit)], vec![])
    );
    assert_eq!(pending(&store, "here", 0)[0].pause.target(), "ada (REST)");
    let all = NewPause { scope: PauseScope::Everything, until_ms: 700, ..rest };
    store.store_pause(all).unwrap();
    assert_eq!(ends(ApiKind::Graphql), [(700, PauseCause::SourceLimit)]);
    assert_eq!(pending(&store, "here", 0)[0].pause.target(), "ada");
}

fn pause_of_each_class_is_stored_by_itself(location: &DatabaseLocation) {
    let store = open_store(location);
    let read = || {
        let pauses = store.principal_pauses(&Principal::parse("ada"), ApiKind::Rest).unwrap();
        pauses.into_iter().map(|pause| (pause.cause, pause.span.until_ms)).collect::<Vec<_>>()
    };
    let mut expected = vec![(PauseCause::SourceLimit, 900)];
    store_pause(&store, "ada", 900);
    for (class, until_ms) in RequestClass::ALL.into_iter().zip([500, 600, 300, 400, 200]) {
        let cause = PauseCause::Reserve(class);
        store.store_pause(NewPause { cause, ..new_pause("ada", until_ms) }).unwrap();
        expected.push((cause, until_ms));
    }
    let mut stored = read();
    stored.sort_unstable();
    assert_eq!(stored, expected);
}

fn pause_is_deleted_unless_it_was_prolonged(location: &DatabaseLocation) {
    let store = open_store(location);
    let reserve = PauseCause::Reserve(RequestClass::Mirror);
    store_pause(&store, "ada", 500);
    store.store_pause(NewPause { cause: reserve, ..new_pause("ada", 600) }).unwrap();
    let read = || store.principal_pauses(&Principal::parse("ada"), ApiKind::Rest).unwrap();
    let known = read().into_iter().find(|pause| pause.cause == reserve).unwrap();
    store.store_pause(NewPause { cause: reserve, ..new_pause("ada", 601) }).unwrap();
    store.lift_pause(&known).unwrap();
    assert_eq!(stored_ends(&store, "ada"), [601, 500]);
    let known = read().into_iter().find(|pause| pause.cause == reserve).unwrap();
    store.lift_pause(&known).unwrap();
    assert_eq!(stored_ends(&store, "ada"), [500], "the limit of the source stays");
}

fn pauses_of_two_machines_are_not_compared(location: &DatabaseLocation) {
    let store = open_store(location);
    let day = 24 * 60 * MINUTE;
    let ahead = NewPause { stored_ms: day, ..new_pause("ada", day + MINUTE) };
    store.store_pause(NewPause { machine: "ahead", ..ahead }).unwrap();
    store_pause(&store, "ada", 5 * MINUTE);
    assert_eq!(stored_ends(&store, "ada"), [day + MINUTE, 5 * MINUTE], "both stay");
    let ends = |machine, now_ms| {
        let pending = pending(&store, machine, now_ms);
        pending.into_iter().map(|pending| pending.end).collect::<Vec<_>>()
    };
    let (own, other) = (PauseEnd::At(5 * MINUTE), PauseEnd::AtMost(2 * MINUTE));
    assert_eq!(ends("here", MINUTE), [other, own]);
    let (own, other) = (PauseEnd::At(day + MINUTE), PauseEnd::AtMost(day + 5 * MINUTE));
    assert_eq!(ends("ahead", day), [own, other]);
    assert_eq!(ends("ahead", day + MINUTE).len(), 1, "its own is over");
}

fn pauses_of_another_machine_end_by_the_sources_clock(location: &DatabaseLocation) {
    let store = open_store(location);
    // the source's clock is a minute ahead of this machine's
    let (clock, _) = SourceClock::from_first_date(SourceInstant(MINUTE), 0);
    store.store_source_clock("ada", "here", &clock).unwrap();
    let source_until = Some(SourceInstant(4 * MINUTE));
    let far = NewPause { machine: "there", source_until, ..new_pause("ada", 50 * MINUTE) };
    store.store_pause(far).unwrap();
    let pending = pending(&store, "here", 0);
    let PauseEnd::At(until_ms) = pending[0].end else { panic!("{pending:?}") };
    assert!((3 * MINUTE..4 * MINUTE).contains(&until_ms), "{until_ms}");
    assert_eq!(self::pending(&store, "here", 4 * MINUTE), [], "over");
}

fn pauses_of_an_older_version_end_by_the_readers_clock(location: &DatabaseLocation) {
    drop(open_store(location));
    execute_raw(location, UNDO_EVENTS);
    execute_raw(
        location,
        "drop table pauses;
         create table pauses (
             principal text, bucket text, cause text, until_ms bigint, reason text);
         insert into pauses values
             ('ada', 'core', 'limit', 500, 'a'), ('ada', 'graphql', 'reserve', 600, 'b');
         drop table discovery_pages; drop view poll_state; drop table accounts;
         drop table account_names; drop table posts; drop table post_links; drop table poll_rounds; 
         alter table lanes drop column account; delete from migrations where number >= 15",
    );
    let store = StoreWriter::open(location).unwrap();
    let found: Vec<_> = pending(&store, "anywhere", 400)
        .into_iter()
        .map(|PendingPause { pause, end }| (pause.cause, pause.reason, end))
        .collect();
    let (limit, reserve) = (PauseCause::SourceLimit, PauseCause::Reserve(RequestClass::Replies));
    let expected =
        [(limit, "a".to_owned(), PauseEnd::At(500)), (reserve, "b".to_owned(), PauseEnd::At(600))];
    assert_eq!(found, expected);
    assert_eq!(pending(&store, "anywhere", 600), []);
}

/// Returns a pause that this machine stores at its time 0.
fn new_pause(principal: &str, until_ms: i64) -> NewPause<'static> {
    NewPause {
        principal: Principal::parse(principal),
        scope: PauseScope::Everything,
        cause: PauseCause::SourceLimit,
        machine: "here",
        stored_ms: 0,
        until_ms,
        source_until: None,
        reason: "secondary limit",
    }
}

fn store_pause(store: &StoreWriter, principal: &str, until_ms: i64) {
    store.store_pause(new_pause(principal, until_ms)).unwrap();
}

/// Returns the ends of the pauses that stop requests to the REST API, the latest first.
fn stored_ends(store: &StoreReader, principal: &str) -> Vec<i64> {
    let pauses = store.principal_pauses(&Principal::parse(principal), ApiKind::Rest).unwrap();
    let mut ends: Vec<i64> = pauses.iter().map(|pause| pause.span.until_ms).collect();
    ends.sort_unstable_by_key(|end| std::cmp::Reverse(*end));
    ends
}

fn pending(store: &StoreReader, machine: &str, now_ms: i64) -> Vec<PendingPause> {
    store.pending_pauses(machine, now_ms).unwrap()
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
