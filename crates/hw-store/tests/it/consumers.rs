//! Tests of consumers: each gets every event at least once, and acknowledges each once.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use hw_rules::delivery::RETENTION_MS;
use hw_rules::item::CommentKind;
use hw_store::{
    AckOutcome, ConsumerRead, ConsumerStart, DatabaseLocation, DeliveredEvent, DeliveryRef,
    EventFilter, Execution, ExecutionOutcome, LeasedStore, NewConsumer, RejectOutcome, Rejection,
    StoreError,
};

use crate::fixture::{comment, crash_at, open_store, query_raw, threads_page};
use crate::watches::{add_watch, repository_watch};

both![
    consumer_gets_an_event_again_when_its_lease_ends,
    consumer_acknowledges_a_set_and_no_maximum,
    consumer_that_is_killed_around_an_acknowledgement_loses_nothing,
    consumers_are_independent_of_each_other,
    consumer_starts_at_the_beginning_or_now,
    consumer_rejects_an_event_until_it_is_a_dead_letter_and_goes_on,
    consumer_that_never_acknowledges_ends_with_a_dead_letter,
    consumer_acknowledges_what_nobody_was_given,
    consumer_gets_neither_commands_nor_what_is_ignored,
    consumer_execution_is_recorded_with_its_output,
    consumer_that_does_not_exist_is_an_error,
    consumers_follow_their_model_in_any_order_of_steps,
    events_are_removed_90_days_after_the_last_acknowledgement,
    events_are_numbered_on_after_all_of_them_were_removed,
];

const TALK: CommentKind = CommentKind::Conversation;
const DAY_MS: i64 = 86_400_000;

fn consumer_gets_an_event_again_when_its_lease_ends(location: &DatabaseLocation) {
    let feed = Feed::open(location, 2);
    let first = feed.lease("a", 10, 0);
    assert_eq!(ids(&first), [1, 2]);
    assert_eq!(ids(&feed.lease("a", 10, 999)), [0; 0], "somebody works on them");
    let second = feed.lease("a", 10, 1_000);
    assert_eq!((ids(&second), second[0].tries), (vec![1, 2], 2));
    assert_eq!(second[0].event, first[0].event, "the same event");
    let outcomes = feed.acknowledge("a", &[&first[0], &second[1]]);
    assert_eq!(outcomes, [AckOutcome::LeaseEnded, AckOutcome::Acknowledged]);
    assert_eq!(ids(&feed.lease("a", 10, 2_000)), [1]);
}

fn consumer_acknowledges_a_set_and_no_maximum(location: &DatabaseLocation) {
    let feed = Feed::open(location, 5);
    let events = feed.lease("a", 5, 0);
    feed.acknowledge("a", &[&events[4], &events[1]]);
    assert_eq!(ids(&feed.lease("a", 5, 1_000)), [1, 3, 4]);
    let consumer = &feed.store.consumers().unwrap()[0];
    assert_eq!((consumer.unread, consumer.leased, consumer.waiting, consumer.dead), (0, 3, 0, 0));
}

fn consumer_that_is_killed_around_an_acknowledgement_loses_nothing(location: &DatabaseLocation) {
    let feed = Feed::open(location, 1);
    let killed = |point: &'static str| crash_at(&feed.store, point);
    killed("lease events: before commit").lease_events(&feed.read("a", 1, 0)).unwrap_err();
    killed("lease events: after commit").lease_events(&feed.read("a", 1, 0)).unwrap_err();
    assert_eq!(ids(&feed.lease("a", 1, 999)), [0; 0], "it was given to somebody who died");
    let event = feed.lease("a", 1, 1_000).remove(0);
    let ack = [DeliveryRef::Token(event.token.clone())];
    let crashed = killed("acknowledge events: before commit").acknowledge_events("a", &ack, 0);
    assert!(matches!(crashed, Err(StoreError::Interrupted(_))), "{crashed:?}");
    let event = feed.lease("a", 1, 2_000).remove(0);
    let ack = [DeliveryRef::Event(event.event.event.id.clone())];
    killed("acknowledge events: after commit").acknowledge_events("a", &ack, 0).unwrap_err();
    let again = feed.store.acknowledge_events("a", &ack, 0).unwrap();
    assert_eq!(again, [AckOutcome::AlreadyAcknowledged], "exactly once");
    assert_eq!(ids(&feed.lease("a", 1, 9_000)), [0; 0]);
}

fn consumers_are_independent_of_each_other(location: &DatabaseLocation) {
    let feed = Feed::open(location, 2);
    feed.add("b", ConsumerStart::Beginning);
    let events = feed.lease("a", 2, 0);
    feed.acknowledge("a", &[&events[0], &events[1]]);
    assert_eq!(ids(&feed.lease("b", 2, 0)), [1, 2]);
    let refused = feed.store.acknowledge_events("b", &[token(&events[0])], 0).unwrap();
    assert_eq!(refused, [AckOutcome::LeaseEnded], "a token of another consumer");
    assert!(feed.store.remove_consumer("b").unwrap() && !feed.store.remove_consumer("b").unwrap());
    feed.add("b", ConsumerStart::Beginning);
    assert_eq!(ids(&feed.lease("b", 2, 0)), [1, 2], "nothing is left of its position");
}

fn consumer_starts_at_the_beginning_or_now(location: &DatabaseLocation) {
    let feed = Feed::open(location, 2);
    feed.add("late", ConsumerStart::Now);
    assert!(!feed.add("late", ConsumerStart::Beginning), "it exists");
    feed.say(3..=3);
    assert_eq!(ids(&feed.lease("late", 9, 0)), [3]);
    let consumers = feed.store.consumers().unwrap();
    let unread: Vec<_> = consumers.iter().map(|row| (row.name.as_str(), row.unread)).collect();
    assert_eq!(unread, [("a", 3), ("late", 0)]);
}

fn consumer_rejects_an_event_until_it_is_a_dead_letter_and_goes_on(location: &DatabaseLocation) {
    let feed = Feed::open(location, 2);
    let rejection = |at| Rejection { retry_at_ms: at, error: Some("cannot parse".to_owned()) };
    for (tries, expected) in
        [(1, RejectOutcome::Waiting), (2, RejectOutcome::Waiting), (3, RejectOutcome::Dead)]
    {
        let now = i64::from(tries) * 100;
        let event = feed.lease("a", 1, now).remove(0);
        assert_eq!((ids(std::slice::from_ref(&event)), event.tries), (vec![1], tries));
        let outcome =
            feed.store.reject_events("a", &[token(&event)], &rejection(now + 100), now).unwrap();
        assert_eq!(outcome, [expected]);
        assert_eq!(
            feed.store.reject_events("a", &[token(&event)], &rejection(0), now).unwrap(),
            [RejectOutcome::LeaseEnded]
        );
    }
    let event = feed.lease("a", 5, 10_000).remove(0);
    assert_eq!(ids(std::slice::from_ref(&event)), [2], "the rest goes on");
    feed.acknowledge("a", &[&event]);
    let dead = feed.store.dead_letters("a").unwrap();
    assert_eq!((dead.len(), dead[0].tries, dead[0].error.as_deref()), (1, 3, Some("cannot parse")));
    let id = dead[0].event.event.id.clone();
    assert_eq!(feed.store.requeue_dead_letters("a", &[id.clone(), "other".to_owned()]).unwrap(), 1);
    assert_eq!(feed.store.dead_letters("a").unwrap(), []);
    let again = feed.lease("a", 5, 10_000);
    assert_eq!((ids(&again), again[0].tries), (vec![1], 1));
    assert_eq!(
        feed.store
            .reject_events("a", &[DeliveryRef::Event("x".to_owned())], &rejection(0), 0)
            .unwrap(),
        [RejectOutcome::Unknown]
    );
}

fn consumer_that_never_acknowledges_ends_with_a_dead_letter(location: &DatabaseLocation) {
    let feed = Feed::open(location, 1);
    let tries: Vec<_> = (0..6).map(|n| feed.lease("a", 1, n * 1_000).len()).collect();
    assert_eq!(tries, [1, 1, 1, 0, 0, 0], "it kills its consumer each time");
    let dead = feed.store.dead_letters("a").unwrap();
    assert_eq!(dead[0].error.as_deref(), Some("nobody acknowledged it before its lease ended"));
}

fn consumer_acknowledges_what_nobody_was_given(location: &DatabaseLocation) {
    let feed = Feed::open(location, 4);
    let all = feed.store.list_events(&EventFilter { limit: 9, ..EventFilter::default() }).unwrap();
    let second = DeliveryRef::Event(all[2].event.id.clone());
    let ack = |reference: &DeliveryRef| {
        feed.store.acknowledge_events("a", std::slice::from_ref(reference), 0).unwrap()
    };
    assert_eq!(ack(&second), [AckOutcome::Acknowledged]);
    assert_eq!(ack(&second), [AckOutcome::AlreadyAcknowledged]);
    assert_eq!(ack(&DeliveryRef::Event("x".to_owned())), [AckOutcome::Unknown]);
    assert_eq!(feed.store.consumers().unwrap()[0].unread, 3);
    assert_eq!(ids(&feed.lease("a", 9, 0)), [1, 3, 4]);
    assert_eq!(ack(&second), [AckOutcome::AlreadyAcknowledged], "its row is gone");
    let rows = query_raw(
        location,
        "select cast(seq as text) from deliveries where state = 'acknowledged'",
    );
    assert!(rows.is_empty(), "{rows:?}");
}

fn consumer_gets_neither_commands_nor_what_is_ignored(location: &DatabaseLocation) {
    let feed = Feed::open(location, 1);
    let mut command = comment(TALK, 8, 5, 20, "x");
    if let hw_rules::item::MirrorItem::Comment(comment) = &mut command.item {
        "/highwater pause".clone_into(&mut comment.body);
    }
    feed.store.ingest_page(&threads_page(TALK, vec![command])).unwrap();
    feed.say(9..=9);
    let listed =
        feed.store.list_events(&EventFilter { limit: 9, ..EventFilter::default() }).unwrap();
    assert_eq!((listed.len(), listed[1].event.class.name()), (3, "command"));
    assert_eq!(feed.store.consumers().unwrap()[0].unread, 2);
    assert_eq!(ids(&feed.lease("a", 9, 0)), [1, 9]);
}

fn consumer_execution_is_recorded_with_its_output(location: &DatabaseLocation) {
    let feed = Feed::open(location, 2);
    let events = feed.lease("a", 2, 0);
    let done = Execution {
        exit_code: Some(0),
        stdout: b"on it\0\xff".to_vec(),
        ended_ms: 500,
        outcome: ExecutionOutcome::Done,
    };
    let record = |event: &DeliveredEvent, execution: &Execution| {
        feed.store.record_execution("a", &event.token, execution).unwrap()
    };
    assert_eq!(record(&events[0], &done), AckOutcome::Acknowledged);
    assert_eq!(record(&events[0], &done), AckOutcome::LeaseEnded);
    let rejection = Rejection { retry_at_ms: 600, error: Some("exit 75".to_owned()) };
    let later = Execution {
        exit_code: Some(75),
        stdout: Vec::new(),
        ended_ms: 501,
        outcome: ExecutionOutcome::Retry(rejection),
    };
    assert_eq!(record(&events[1], &later), AckOutcome::Acknowledged, "it is recorded");
    assert_eq!(ids(&feed.lease("a", 9, 599)), [0; 0]);
    assert_eq!(ids(&feed.lease("a", 9, 600)), [2]);
    let executions = feed.store.executions("a", 9).unwrap();
    let rows: Vec<_> = executions
        .iter()
        .map(|row| (row.seq, row.state.as_str(), row.exit_code, row.stdout.as_slice()))
        .collect();
    let (first, second) = (events[0].event.seq, events[1].event.seq);
    let expected: [(i64, &str, Option<i64>, &[u8]); 2] =
        [(second, "leased", Some(75), b""), (first, "acknowledged", Some(0), b"on it\0\xff")];
    assert_eq!(rows, expected);
    let again = feed.store.acknowledge_events(
        "a",
        &[DeliveryRef::Event(events[0].event.event.id.clone())],
        0,
    );
    assert_eq!(again.unwrap(), [AckOutcome::AlreadyAcknowledged]);
}

fn consumer_that_does_not_exist_is_an_error(location: &DatabaseLocation) {
    let feed = Feed::open(location, 1);
    let refused = feed.store.lease_events(&feed.read("other", 1, 0));
    assert!(matches!(refused, Err(StoreError::UnknownConsumer { .. })), "{refused:?}");
    assert_eq!(refused.unwrap_err().to_string(), "there is no consumer \"other\"");
}

/// Random steps of two consumers, compared with a set of acknowledged events.
fn consumers_follow_their_model_in_any_order_of_steps(location: &DatabaseLocation) {
    let feed = Feed::open(location, 0);
    for seed in 0..4 {
        let (mut rng, mut now) = (Rng::with_seed(seed), 0);
        let name = format!("consumer {seed}");
        feed.add(&name, ConsumerStart::Now);
        let first = 1_000 * (i64::try_from(seed).unwrap() + 1);
        let (mut said, mut acknowledged) = (first, BTreeSet::new());
        let mut held: BTreeMap<i64, DeliveredEvent> = BTreeMap::new();
        for step in 0..40 {
            let context = format!("seed {seed}, step {step}");
            match rng.u8(0..5) {
                0 => {
                    feed.say(said..=said + 1);
                    said += 2;
                }
                1 => now += 600,
                2 => {
                    for event in feed.lease(&name, rng.u32(1..4), now) {
                        let id = event.event.event.object.id;
                        assert!(!acknowledged.contains(&id), "{context}: {id} came again");
                        held.insert(id, event);
                    }
                }
                _ => {
                    let Some((id, event)) = pick(&mut rng, &held) else { continue };
                    let by_id = rng.bool();
                    let reference = if by_id {
                        DeliveryRef::Event(event.event.event.id.clone())
                    } else {
                        token(&event)
                    };
                    let outcome =
                        feed.store.acknowledge_events(&name, &[reference], now).unwrap()[0];
                    let is_new = outcome == AckOutcome::Acknowledged && acknowledged.insert(id);
                    assert_eq!(is_new, outcome == AckOutcome::Acknowledged, "{context}: twice");
                    held.remove(&id);
                }
            }
        }
        let mut missing: BTreeSet<_> =
            (first..said).filter(|id| !acknowledged.contains(id)).collect();
        for _ in 0..50 {
            now += 1_000;
            let rest = feed.lease(&name, 100, now);
            feed.acknowledge(&name, &rest.iter().collect::<Vec<_>>());
            missing.retain(|id| !ids(&rest).contains(id));
        }
        let dead: BTreeSet<_> = feed
            .store
            .dead_letters(&name)
            .unwrap()
            .iter()
            .map(|dead| dead.event.event.object.id)
            .collect();
        assert_eq!(missing, dead, "seed {seed}: what was not delivered is a dead letter");
    }
}

fn events_are_removed_90_days_after_the_last_acknowledgement(location: &DatabaseLocation) {
    let feed = Feed::open(location, 3);
    feed.add("b", ConsumerStart::Beginning);
    for (consumer, now) in [("a", 0), ("b", 10 * DAY_MS)] {
        let events = feed.lease_long(consumer, 2, now);
        let refs: Vec<_> = events.iter().map(token).collect();
        feed.store.acknowledge_events(consumer, &refs, now).unwrap();
    }
    let purge = |now_ms| {
        while feed.store.purge_events(now_ms, 1).unwrap() > 0 {}
        feed.store.list_events(&EventFilter { limit: 9, ..EventFilter::default() }).unwrap().len()
    };
    assert_eq!(purge(RETENTION_MS + DAY_MS), 3, "b was later");
    assert_eq!(purge(RETENTION_MS + 10 * DAY_MS), 3);
    assert_eq!(purge(RETENTION_MS + 10 * DAY_MS + 1), 1, "nobody has read the third one");
    feed.say(1..=2);
    let listed =
        feed.store.list_events(&EventFilter { limit: 9, ..EventFilter::default() }).unwrap();
    assert_eq!(listed.len(), 1, "what was emitted outlives its events");
    for consumer in ["a", "b"] {
        feed.store.remove_consumer(consumer).unwrap();
    }
    let late = 500 * DAY_MS;
    assert_eq!(purge(late), 1, "since now, nobody needs it");
    assert_eq!(purge(late + RETENTION_MS + 1), 0);
    let left = query_raw(location, "select cast(count(*) as text) from deliveries");
    assert_eq!(left, [["0"]]);
}

fn events_are_numbered_on_after_all_of_them_were_removed(location: &DatabaseLocation) {
    let feed = Feed::open(location, 2);
    let events = feed.lease("a", 9, 0);
    feed.acknowledge("a", &events.iter().collect::<Vec<_>>());
    while feed.store.purge_events(RETENTION_MS + DAY_MS, 100).unwrap() > 0 {}
    feed.say(3..=3);
    assert_eq!(ids(&feed.lease("a", 9, RETENTION_MS * 2)), [3]);
}

/// A store with a consumer `a`, in which everything of `acme/pump` is watched.
struct Feed {
    store: LeasedStore,
}

impl Feed {
    /// Opens a store with this number of events.
    fn open(location: &DatabaseLocation, events: i64) -> Self {
        let store = open_store(location);
        let watch = add_watch(&store, &repository_watch());
        while !store.derive_stored_events(watch, 10).unwrap() {}
        let feed = Self { store };
        feed.add("a", ConsumerStart::Beginning);
        if events > 0 {
            feed.say(1..=events);
        }
        feed
    }

    fn say(&self, ids: std::ops::RangeInclusive<i64>) {
        let comments = ids.map(|id| comment(TALK, id, 5, 10, "x")).collect();
        self.store.ingest_page(&threads_page(TALK, comments)).unwrap();
    }

    fn add(&self, name: &str, start: ConsumerStart) -> bool {
        let new = NewConsumer { name: name.to_owned(), start, max_tries: 3 };
        self.store.add_consumer(&new, 0).unwrap()
    }

    fn read(&self, consumer: &str, limit: u32, now_ms: i64) -> ConsumerRead {
        let lease_token = format!("{consumer} {now_ms}");
        ConsumerRead { consumer: consumer.to_owned(), limit, lease_token, lease_ms: 1_000, now_ms }
    }

    fn lease(&self, consumer: &str, limit: u32, now_ms: i64) -> Vec<DeliveredEvent> {
        self.store.lease_events(&self.read(consumer, limit, now_ms)).unwrap()
    }

    fn lease_long(&self, consumer: &str, limit: u32, now_ms: i64) -> Vec<DeliveredEvent> {
        let read = ConsumerRead { lease_ms: DAY_MS, ..self.read(consumer, limit, now_ms) };
        self.store.lease_events(&read).unwrap()
    }

    fn acknowledge(&self, consumer: &str, events: &[&DeliveredEvent]) -> Vec<AckOutcome> {
        let refs: Vec<_> = events.iter().map(|event| token(event)).collect();
        self.store.acknowledge_events(consumer, &refs, 0).unwrap()
    }
}

fn token(event: &DeliveredEvent) -> DeliveryRef {
    DeliveryRef::Token(event.token.clone())
}

fn pick(rng: &mut Rng, held: &BTreeMap<i64, DeliveredEvent>) -> Option<(i64, DeliveredEvent)> {
    let index = rng.usize(..held.len().max(1));
    held.iter().nth(index).map(|(id, event)| (*id, event.clone()))
}

/// Returns the ids of the comments that events are about.
fn ids(events: &[DeliveredEvent]) -> Vec<i64> {
    events.iter().map(|delivered| delivered.event.event.object.id).collect()
}
