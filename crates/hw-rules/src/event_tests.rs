use proptest::prelude::*;

use super::*;
use crate::item::{AuthorKind, CommentKind, ObjectKind};

const FLOOR: SourceInstant = SourceInstant(10_000);

#[test]
fn event_of_a_comment_depends_on_what_was_last_emitted() {
    let last = emitted(12, 1, "old");
    let cases = [
        ("never emitted", None, seen(12, 1, "old"), Some(EventChange::Created)),
        ("below the floor", None, seen(9, 1, "old"), None),
        ("seen again", Some(&last), seen(12, 1, "old"), None),
        ("read again later", Some(&last), seen(12, 9, "old"), None),
        ("moved time", Some(&last), seen(20, 9, "old"), None),
        ("edited", Some(&last), seen(13, 2, "new"), Some(EventChange::Edited)),
        ("edited in its second", Some(&last), seen(12, 2, "new"), Some(EventChange::Edited)),
        ("older replica", Some(&last), seen(11, 9, "older"), None),
        ("older answer of its second", Some(&last), seen(12, 0, "older"), None),
    ];
    for (name, last, now, expected) in cases {
        assert_eq!(change(last, &now, FLOOR), expected, "{name}");
    }
}

#[test]
fn event_of_a_text_that_came_back_within_one_second_is_an_edit() {
    let mut last = None;
    let mut changes = Vec::new();
    for (request, text) in [(1, "A"), (2, "B"), (3, "A")] {
        let now = seen(12, request, text);
        changes.extend(change(last.as_ref(), &now, FLOOR));
        last = Some(last_event(now));
    }
    assert_eq!(changes, [EventChange::Created, EventChange::Edited, EventChange::Edited]);
}

#[test]
fn event_of_a_withdrawn_comment_comes_once_and_its_return_is_an_edit() {
    let last = emitted(12, 1, "text");
    assert_eq!(withdrawal(None), None, "what nobody heard of");
    assert_eq!(withdrawal(Some(&last)), Some(EventChange::Withdrawn));
    let gone = LastEvent { is_withdrawn: true, ..last };
    assert_eq!(withdrawal(Some(&gone)), None);
    assert_eq!(change(Some(&gone), &seen(12, 1, "text"), FLOOR), Some(EventChange::Edited));
    assert_eq!(change(Some(&gone), &seen(11, 9, "older"), FLOOR), None, "a lagging replica");
}

#[test]
fn event_dated_in_the_future_does_not_hide_later_ones() {
    let wrong = emitted(90_000, 1, "ahead");
    assert_eq!(change(Some(&wrong), &seen(50, 2, "now"), FLOOR), Some(EventChange::Edited));
}

proptest! {
    /// Whatever the order and repetition of the answers, the newest text is the last one that is emitted.
    #[test]
    fn events_end_with_the_newest_text_in_any_order(
        (answers, shuffled) in answers_strategy().prop_flat_map(|answers| {
            let mut twice = answers.clone();
            twice.extend(answers.iter().step_by(2).copied());
            (Just(answers), Just(twice).prop_shuffle())
        })
    ) {
        let newest = answers.iter().max_by_key(|seen| seen.order()).unwrap();
        for order in [&answers, &shuffled] {
            let (last, events) = emit_all(order);
            prop_assert_eq!(last.map(|last| last.seen.content), Some(newest.content));
            prop_assert_eq!(events.last(), Some(&newest.content));
            prop_assert!(events.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", events);
        }
    }

    #[test]
    fn events_of_answers_that_come_again_are_none(answers in answers_strategy()) {
        let (last, _) = emit_all(&answers);
        for seen in &answers {
            prop_assert_eq!(change(last.as_ref(), seen, SourceInstant::BEGINNING), None);
        }
    }

    /// A mirror that was emptied reads everything again, and none of it is said again.
    #[test]
    fn events_of_a_refetch_are_none(answers in answers_strategy(), request in 100i64..200) {
        let (last, _) = emit_all(&answers);
        let newest = last.unwrap().seen;
        let again = SeenContent { observed_at: observed(request), ..newest };
        prop_assert_eq!(change(last.as_ref(), &again, SourceInstant::BEGINNING), None);
    }
}

#[test]
fn state_changes_are_those_between_two_sights_of_a_thread() {
    let open = facts(20);
    let closed = ThreadFacts { is_open: false, closed_at: at(21), ..facts(21) };
    let merged = ThreadFacts { is_merged: true, ..closed.clone() };
    let pushed = ThreadFacts { head_sha: Some("b".to_owned()), ..facts(21) };
    let labeled = ThreadFacts { labels: vec!["bug".to_owned()], ..facts(21) };
    let both = ThreadFacts { labels: vec!["bug".to_owned()], ..closed.clone() };
    let unknown_head = ThreadFacts { head_sha: None, ..facts(21) };
    let cases: [(&str, Option<&ThreadFacts>, &ThreadFacts, &[StateChange]); 11] = [
        ("new", None, &open, &[StateChange::Opened]),
        ("new and closed", None, &closed, &[StateChange::Opened, StateChange::Closed]),
        ("unchanged", Some(&open), &open, &[]),
        ("closed", Some(&open), &closed, &[StateChange::Closed]),
        ("merged", Some(&open), &merged, &[StateChange::Merged]),
        (
            "reopened",
            Some(&closed),
            &ThreadFacts { updated_at: SourceInstant(30_000), ..open.clone() },
            &[StateChange::Reopened],
        ),
        ("pushed", Some(&open), &pushed, &[StateChange::HeadMoved]),
        ("labeled", Some(&open), &labeled, &[StateChange::Labeled]),
        ("both", Some(&open), &both, &[StateChange::Closed, StateChange::Labeled]),
        ("older replica", Some(&closed), &open, &[]),
        ("head not shown", Some(&open), &unknown_head, &[]),
    ];
    for (name, before, after, expected) in cases {
        assert_eq!(state_changes(before, after, FLOOR), expected, "{name}");
    }
}

#[test]
fn state_changes_of_a_thread_seen_for_the_first_time_are_those_above_the_floor() {
    let late = SourceInstant(30_000);
    assert_eq!(state_changes(None, &facts(40), late), [], "it was opened before");
    let closed = ThreadFacts { is_open: false, closed_at: at(35), ..facts(40) };
    assert_eq!(state_changes(None, &closed, late), [StateChange::Closed]);
    assert_eq!(state_changes(None, &closed, SourceInstant(36_000)), []);
}

#[test]
fn thread_facts_keep_a_head_that_an_answer_does_not_show() {
    let known = facts(20);
    let next = ThreadFacts { head_sha: None, ..facts(21) }.with_known(Some(&known));
    assert_eq!(next.head_sha, known.head_sha);
}

#[test]
fn event_class_is_own_then_command_then_policy_then_source_issue() {
    let (user, bot) = (AuthorKind::User, AuthorKind::Bot);
    let ada = EventSender { login: Some("ada"), kind: Some(&user), is_own_account: false };
    let robot = EventSender { login: Some("robot"), kind: Some(&bot), is_own_account: false };
    let own = EventSender { is_own_account: true, ..robot };
    let nobody = EventPolicy::default();
    let ignored = EventClass::Ignored;
    let cases = [
        (ada, "hello", WatchMode::Feedback, SourceRouting::None, EventClass::Feedback),
        (ada, "/highwater help", WatchMode::Feedback, SourceRouting::None, EventClass::Command),
        (robot, "/highwater help", WatchMode::Feedback, SourceRouting::None, EventClass::Command),
        (own, "/highwater help", WatchMode::Feedback, SourceRouting::None, EventClass::Own),
        (robot, "hi", WatchMode::Feedback, SourceRouting::None, ignored(IgnoredReason::Bot)),
        (
            ada,
            "hi",
            WatchMode::CommandsOnly,
            SourceRouting::None,
            ignored(IgnoredReason::CommandsOnly),
        ),
        (ada, "hi", WatchMode::Feedback, SourceRouting::BeforePullRequest, EventClass::Followup),
        (
            ada,
            "hi",
            WatchMode::Feedback,
            SourceRouting::AfterPullRequest,
            ignored(IgnoredReason::Redirect),
        ),
    ];
    for (sender, body, mode, routing, expected) in cases {
        let class = classify(&sender, body, &nobody, mode, routing);
        assert_eq!(class, expected, "{sender:?} {body:?} {mode:?} {routing:?}");
    }
}

#[test]
fn event_names_survive_their_tables() {
    for state in StateChange::ALL {
        let change = EventChange::State(state);
        assert_eq!(EventChange::from_names(change.name(), Some(state.name())), Some(change));
    }
    for change in [EventChange::Created, EventChange::Edited, EventChange::Withdrawn] {
        assert_eq!(EventChange::from_names(change.name(), None), Some(change));
    }
    let ignored = IgnoredReason::ALL.map(EventClass::Ignored);
    let others = [EventClass::Feedback, EventClass::Command, EventClass::Followup, EventClass::Own];
    for class in ignored.into_iter().chain(others) {
        let reason = class.reason().map(IgnoredReason::name);
        assert_eq!(EventClass::from_names(class.name(), reason), Some(class));
        assert!(EventClass::NAMES.contains(&class.name()));
    }
    assert_eq!(EventClass::from_names("ignored", None), None);
    assert_eq!(EventChange::from_names("state", None), None);
    assert!(EventClass::Followup.is_delivered() && !EventClass::Command.is_delivered());
}

#[test]
fn event_ids_differ_in_each_part_and_keys_are_those_of_the_seed() {
    let object = ObjectKey::new("github.com", ObjectKind::Comment(CommentKind::ReviewComment), 7);
    let time = SourceTime::parse("2026-01-02T03:04:05Z").unwrap();
    let other_time = SourceTime::parse("2026-01-02T03:04:06Z").unwrap();
    let other = ObjectKey { id: 8, ..object.clone() };
    let identity = EventIdentity {
        watch: WatchId(1),
        object: &object,
        updated_at: &time,
        change: EventChange::Created,
        content: text("a"),
        repeat: 0,
    };
    let others = [
        EventIdentity { watch: WatchId(2), ..identity },
        EventIdentity { object: &other, ..identity },
        EventIdentity { updated_at: &other_time, ..identity },
        EventIdentity { change: EventChange::State(StateChange::Closed), ..identity },
        EventIdentity { change: EventChange::State(StateChange::Merged), ..identity },
        EventIdentity { content: text("b"), ..identity },
        EventIdentity { repeat: 1, ..identity },
    ];
    let mut ids: Vec<String> = others.iter().chain([&identity]).map(event_id).collect();
    assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit())));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
    assert_eq!(event_id(&identity), event_id(&identity.clone()));
    assert_eq!(event_key(12, &object, &time), "12:review_comment:7:2026-01-02T03:04:05Z");
}

#[test]
fn event_urls_name_their_repository_and_kind_of_thread() {
    let url = "https://github.com/acme/pump/pull/5#issuecomment-1";
    assert_eq!(repository_of_url(url).as_deref(), Some("acme/pump"));
    assert_eq!(thread_kind_of_url(url), Some(ThreadKind::PullRequest));
    let discussion = "https://ghe.example/acme/pump/discussions/5";
    assert_eq!(thread_kind_of_url(discussion), Some(ThreadKind::Discussion));
    assert_eq!(
        thread_kind_of_url("https://github.com/acme/pump/issues/5"),
        Some(ThreadKind::Issue)
    );
    assert_eq!(thread_kind_of_url(""), None);
}

/// Returns what is remembered at the end, and the contents that were emitted.
fn emit_all(answers: &[SeenContent]) -> (Option<LastEvent>, Vec<ContentDigest>) {
    let (mut last, mut events) = (None, Vec::new());
    for now in answers {
        if change(last.as_ref(), now, SourceInstant::BEGINNING).is_some() {
            events.push(now.content);
            last = Some(last_event(*now));
        } else if let Some(known) = last.filter(|known| !is_older(known, now)) {
            last = Some(LastEvent { seen: *now, ..known });
        }
    }
    (last, events)
}

/// Answers about one comment: a few texts in a few seconds. One request shows one text.
fn answers_strategy() -> impl Strategy<Value = Vec<SeenContent>> {
    prop::collection::vec((10i64..14, 0usize..3), 1..8).prop_map(|answers| {
        let answers = answers.into_iter().zip(1i64..);
        answers
            .map(|((second, name), request)| seen(second, request, ["a", "b", "c"][name]))
            .collect()
    })
}

fn seen(second: i64, request: i64, name: &str) -> SeenContent {
    SeenContent {
        updated_at: SourceInstant(second * 1_000),
        observed_at: observed(request),
        content: text(name),
    }
}

fn observed(request: i64) -> ObservedAt {
    ObservedAt::new(100_000, request)
}

fn text(name: &str) -> ContentDigest {
    ContentDigest::from_fields([name])
}

fn last_event(seen: SeenContent) -> LastEvent {
    LastEvent { seen, is_withdrawn: false, class: EventClass::Feedback }
}

fn emitted(second: i64, request: i64, name: &str) -> LastEvent {
    last_event(seen(second, request, name))
}

fn at(second: i64) -> Option<SourceInstant> {
    Some(SourceInstant(second * 1_000))
}

/// Returns the facts of an open pull request that was created in second 20.
fn facts(updated: i64) -> ThreadFacts {
    ThreadFacts {
        updated_at: SourceInstant(updated * 1_000),
        created_at: SourceInstant(20_000),
        is_open: true,
        closed_at: None,
        is_merged: false,
        head_sha: Some("a".to_owned()),
        labels: Vec::new(),
    }
}
