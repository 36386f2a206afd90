//! Tests of the oracle of events: each kind of wrong event is named.

use super::*;
use crate::TrueThread;
use crate::github::SimulatedGitHub;
use crate::timestamps::format_rfc3339;
use crate::world::ThreadKind;
use crate::world_spec::{ActivitySpec, WorldSpec};

const MINUTE_MS: i64 = 60_000;

/// A world, a watched thread in it, and the time at which it is watched.
struct WatchedWorld {
    github: SimulatedGitHub,
    thread: TrueThread,
    start_ms: i64,
}

#[test]
fn event_oracle_accepts_exactly_what_happened() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let id = watched.comment("first", 1);
    watched.edit(id, "second", 2);
    let both = [watched.said(id, "first", 1, true), watched.said(id, "second", 2, false)];
    watched.check(&both).unwrap();
    watched.check(&[watched.said(id, "second", 2, true)]).unwrap();
}

#[test]
fn event_oracle_names_a_missing_final_text() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let id = watched.comment("first", 1);
    watched.edit(id, "second", 2);
    let first = watched.said(id, "first", 1, true);
    for seen in [vec![], vec![first]] {
        let wrong = watched.check(&seen).unwrap_err();
        assert!(
            wrong.contains(&format!("Conversation {id}: its final text is missing")),
            "{wrong}"
        );
    }
}

#[test]
fn event_oracle_names_the_last_text_of_a_second() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let id = watched.comment("first", 1);
    let now = watched.at(2);
    for (text, ms) in [("b", 0), ("first", 1), ("c", 2)] {
        watched.github.world_mut().edit_comment(CommentKind::Conversation, id, text, now + ms);
    }
    let first = watched.said(id, "first", 1, true);
    let [b, last] = ["b", "c"].map(|text| watched.said(id, text, 2, false));
    watched.check(&[first.clone(), last.clone()]).unwrap();
    watched.check(&[first.clone(), b.clone(), last.clone()]).unwrap();
    // a lagging replica shows the second text again
    watched.check(&[first.clone(), last.clone(), b.clone(), last.clone()]).unwrap();
    let wrong = watched.check(&[first, last, b]).unwrap_err();
    assert!(wrong.contains("final text is missing"), "{wrong}");
}

#[test]
fn event_oracle_names_invented_repeated_and_older_texts() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let id = watched.comment("first", 1);
    watched.edit(id, "second", 2);
    let [first, second] =
        [watched.said(id, "first", 1, true), watched.said(id, "second", 2, false)];
    for (seen, problem) in [
        (vec![first.clone(), watched.said(id, "other", 2, false)], "was invented"),
        (vec![first.clone(), watched.said(id, "second", 3, false)], "was invented"),
        (vec![first.clone(), first.clone(), second.clone()], "delivered twice"),
        (vec![first.clone(), second.clone(), second.clone()], "delivered twice"),
        (vec![second.clone()], "or as the wrong change"),
        (
            vec![watched.said(id, "second", 2, true), watched.said(id, "first", 1, false)],
            "older text came after",
        ),
    ] {
        let wrong = watched.check(&seen).unwrap_err();
        assert!(wrong.contains(problem) && wrong.contains(&id.to_string()), "{problem}: {wrong}");
    }
}

#[test]
fn event_oracle_requires_withdrawals_after_a_sweep_only() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let id = watched.comment("first", 1);
    let first = watched.said(id, "first", 1, true);
    let gone = watched.event(SeenChange::Withdrawn { kind: CommentKind::Conversation, id });
    let wrong = watched.check(&[first.clone(), gone.clone()]).unwrap_err();
    assert!(wrong.contains("it was never gone"), "{wrong}");
    let now = watched.at(2);
    watched.github.world_mut().delete_comment(CommentKind::Conversation, id, now);
    watched.check(std::slice::from_ref(&first)).unwrap();
    watched.check(&[]).unwrap();
    let wrong = watched.oracle().after_sweep().check([first.clone()].into_iter()).unwrap_err();
    assert!(wrong.contains("gone, but not withdrawn"), "{wrong}");
    let seen = [first.clone(), gone.clone()];
    watched.oracle().after_sweep().check(seen.into_iter()).unwrap();
    let wrong = watched.check(&[first, gone.clone(), gone]).unwrap_err();
    assert!(wrong.contains("withdrawn twice"), "{wrong}");
}

#[test]
fn event_oracle_requires_nothing_below_the_floor() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let old = watched.comment("old", 1);
    let edited = watched.comment("to be edited", 2);
    watched.edit(edited, "edited", 5);
    let new = watched.comment("in the second of the floor", 4);
    let floor = EventFloor::At(watched.at(4));
    let watch = EventWatch { floor, ..watched.watch() };
    let [edited, new] = [
        watched.said(edited, "edited", 5, true),
        watched.said(new, "in the second of the floor", 4, true),
    ];
    let check = |seen: Vec<SeenEvent>| {
        EventOracle::new(watched.github.world(), vec![watch.clone()]).check(seen.into_iter())
    };
    check(vec![edited.clone(), new.clone()]).unwrap();
    assert!(check(vec![edited.clone()]).unwrap_err().contains("final text is missing"));
    let old = watched.said(old, "old", 1, true);
    let wrong = check(vec![old, edited, new]).unwrap_err();
    assert!(wrong.contains("older than the watch"), "{wrong}");
}

#[test]
fn event_oracle_ends_a_pull_request_with_its_merge() {
    let mut watched = WatchedWorld::new(ThreadKind::PullRequest);
    let before = watched.comment("before", 1);
    let (id, now) = (watched.thread.id, watched.at(2));
    watched.github.world_mut().merge_pull_request(id, now);
    let after = watched.comment("after", 3);
    let merged = watched.event(SeenChange::State(SeenState::Merged));
    let [before, after] =
        [watched.said(before, "before", 1, true), watched.said(after, "after", 3, true)];
    watched.check_said(&[before.clone(), merged.clone()]).unwrap();
    watched.check_said(&[merged.clone(), before.clone()]).unwrap();
    // the reader learns of the merge after the comment
    watched.check_said(&[before.clone(), after.clone(), merged.clone()]).unwrap();
    let reopened = watched.event(SeenChange::State(SeenState::Reopened));
    for (seen, problem) in [
        (vec![before.clone(), merged.clone(), after.clone()], "after the end of the pull request"),
        (vec![before.clone(), merged.clone(), reopened], "Reopened"),
        (vec![before.clone(), after], "it is MERGED"),
        (vec![merged], "final text is missing"),
    ] {
        let wrong = watched.check_said(&seen).unwrap_err();
        assert!(wrong.contains(problem), "{problem}: {wrong}");
    }
}

#[test]
fn event_oracle_does_not_end_an_issue() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let (id, now) = (watched.thread.id, watched.at(1));
    watched.github.world_mut().close_thread(ThreadKind::Issue, id, now);
    let after = watched.comment("after", 2);
    let closed = watched.event(SeenChange::State(SeenState::Closed));
    let after = watched.said(after, "after", 2, true);
    watched.check(&[closed.clone(), after.clone()]).unwrap();
    assert!(watched.check(&[closed]).unwrap_err().contains("final text is missing"));
    assert!(watched.check(&[after]).unwrap_err().contains("it is CLOSED"));
}

#[test]
fn event_oracle_follows_the_head_of_a_pull_request() {
    let mut watched = WatchedWorld::new(ThreadKind::PullRequest);
    let (id, first, second) = (watched.thread.id, watched.at(1), watched.at(2));
    let mut heads = Vec::new();
    watched.github.world_mut().push_commit(id, first);
    heads.push(watched.head());
    watched.github.world_mut().force_push(id, second);
    heads.push(watched.head());
    let moved = |head: &str| SeenChange::State(SeenState::HeadMoved(head.to_owned()));
    let [one, two] = [&heads[0], &heads[1]].map(|head| watched.event(moved(head)));
    watched.check_said(&[one.clone(), two.clone()]).unwrap();
    watched.check_said(std::slice::from_ref(&two)).unwrap();
    for seen in [vec![], vec![one.clone()], vec![two, one]] {
        let wrong = watched.check_said(&seen).unwrap_err();
        assert!(wrong.contains("the move of its head"), "{wrong}");
    }
    let wrong = watched.check_said(&[watched.event(moved("f00"))]).unwrap_err();
    assert!(wrong.contains("never happened"), "{wrong}");
}

#[test]
fn event_oracle_follows_labels_and_watches_by_label() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let (id, repository) = (watched.thread.id, watched.thread.repository_id);
    let now = watched.at(1);
    watched.github.world_mut().label_thread(ThreadKind::Issue, id, "agent", now);
    let labels = watched.current().labels;
    let wrong = watched.check(&[]).unwrap_err();
    assert!(wrong.contains("the change of its labels"), "{wrong}");
    let labeled = watched.event(SeenChange::State(SeenState::Labeled(Some(labels))));
    watched.check(&[labeled]).unwrap();

    let late = watched.comment("said to the agent", 600);
    let by_label = EventWatch {
        label: Some("agent".to_owned()),
        ..EventWatch::of_repository(repository, watched.start_ms, watched.start_ms, watched.at(0))
    };
    let oracle = EventOracle::new(watched.github.world(), vec![by_label]);
    let wrong = oracle.check(std::iter::empty()).unwrap_err();
    assert!(wrong.contains(&late.to_string()), "{wrong}");
    oracle.check([watched.said(late, "said to the agent", 600, true)].into_iter()).unwrap();
}

#[test]
fn event_oracle_expects_only_some_authors_and_only_watched_threads() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let (id, now) = (watched.thread.id, watched.at(1));
    let world = watched.github.world_mut();
    let bot = world.bot_login().unwrap().to_owned();
    let ids = ["bosun", bot.as_str()]
        .map(|login| world.add_comment_by(login, ThreadKind::Issue, id, "hello", now));
    let [person, machine] = ids.map(|id| watched.said(id, "hello", 1, true));
    let oracle = || watched.oracle().expecting(|text| text.author_type.as_deref() != Some("Bot"));
    oracle().check([person.clone()].into_iter()).unwrap();
    let wrong = oracle().check([person.clone(), machine].into_iter()).unwrap_err();
    assert!(wrong.contains("not for the consumer"), "{wrong}");
    let truth = watched.github.world().truth();
    let mut others = truth.threads_of_kind(ThreadKind::Issue);
    let other = others.find(|other| other.id != id).unwrap().number;
    let elsewhere = SeenEvent { number: other, ..person.clone() };
    let wrong = oracle().check([person, elsewhere].into_iter()).unwrap_err();
    assert!(wrong.contains("is not watched"), "{wrong}");
}

#[test]
fn event_oracle_leaves_what_is_listed_too_late_to_the_sweep() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let id = watched.comment("late", 1);
    let at = watched.at(1);
    for (delay_ms, is_due) in [(50_000, true), (90_000, false)] {
        let kind = CommentKind::Conversation;
        watched.github.world_mut().delay_comment(kind, id, at + delay_ms);
        assert_eq!(watched.check(&[]).is_err(), is_due, "{delay_ms}");
        assert!(watched.oracle().after_sweep().check(std::iter::empty()).is_err());
    }
}

#[test]
fn event_oracle_requires_texts_that_stood_at_a_perfect_poll() {
    let mut watched = WatchedWorld::new(ThreadKind::Issue);
    let id = watched.comment("first", 1);
    watched.edit(id, "second", 100);
    let [first, second] =
        [watched.said(id, "first", 1, true), watched.said(id, "second", 100, false)];
    let oracle = || watched.oracle().with_perfect_polls(&[watched.at(60), watched.at(120)]);
    oracle().check([first, second].into_iter()).unwrap();
    let wrong = oracle().check([watched.said(id, "second", 100, true)].into_iter()).unwrap_err();
    assert!(wrong.contains("its text at the poll of"), "{wrong}");
}

#[test]
fn event_oracle_accepts_a_reader_of_random_conversations() {
    let (mut texts, mut withdrawn) = (0, 0);
    for seed in 0..20 {
        let start = WorldSpec::small().start_ms;
        let until = start + 40 * MINUTE_MS;
        let activity = ActivitySpec::conversations(40, until);
        let spec = WorldSpec { activity, ..WorldSpec::small() };
        let mut github = SimulatedGitHub::new(&spec, seed);
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        let mut reader = PollingReader::default();
        let mut polls = Vec::new();
        for now in (start..=until + 2 * MINUTE_MS).step_by(60_000) {
            github.advance_to(now);
            // the second of two edits is a millisecond later
            reader.poll(github.world(), repository, now + 1);
            polls.push(now + 1);
        }
        let watch = EventWatch::of_repository(repository, start, start, start);
        let oracle = EventOracle::new(github.world(), vec![watch]);
        let oracle = oracle.after_sweep().with_perfect_polls(&polls);
        let seen = reader.seen.clone();
        oracle.check(seen.into_iter()).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        for left_out in (0..reader.seen.len()).step_by(6) {
            let mut seen = reader.seen.clone();
            let event = seen.remove(left_out);
            // nothing leads to the edit of a review, and what a pull request's end cut off may be missing
            let is_optional = match &event.change {
                SeenChange::Said(text) => text.kind == CommentKind::Review && !text.is_created,
                SeenChange::Withdrawn { .. } => false,
                SeenChange::State(_) => true,
            };
            // a text that came back later may have stood there all the time
            let came_back = seen.iter().any(|other| is_same_text(&other.change, &event.change));
            if is_optional || came_back || reader.ends.contains_key(&event.number) {
                continue;
            }
            let wrong = oracle.check(seen.into_iter());
            assert!(wrong.is_err(), "seed {seed}: {event:?} was not missed");
            texts += usize::from(matches!(event.change, SeenChange::Said(_)));
            withdrawn += usize::from(matches!(event.change, SeenChange::Withdrawn { .. }));
        }
    }
    assert!(texts > 100 && withdrawn > 5, "{texts} texts, {withdrawn} withdrawn");
}

fn is_same_text(one: &SeenChange, other: &SeenChange) -> bool {
    matches!((one, other), (SeenChange::Said(one), SeenChange::Said(other))
        if (one.kind, one.id, &one.body) == (other.kind, other.id, &other.body))
}

/// Compares everything with what it delivered, as no reader of GitHub can.
#[derive(Default)]
struct PollingReader {
    seen: Vec<SeenEvent>,
    texts: BTreeMap<(CommentKind, i64), Option<(SeenEvent, String)>>,
    states: BTreeMap<i64, TrueThread>,
    ends: BTreeMap<i64, String>,
}

impl PollingReader {
    fn poll(&mut self, world: &World, repository: i64, now_ms: i64) {
        let truth = world.truth();
        let start = format_rfc3339(WorldSpec::small().start_ms);
        let threads = truth.threads.values().filter(|thread| {
            thread.repository_id == repository && thread.kind != ThreadKind::Discussion
        });
        for thread in threads {
            self.look(thread, &start);
        }
        for comment in truth.comments.values() {
            let is_listed = world.is_comment_listed(comment.kind, comment.id, now_ms);
            let is_here = comment.repository_id == repository
                && comment.thread_kind != ThreadKind::Discussion;
            let end = self.ends.get(&comment.thread_number);
            let is_ended = end.is_some_and(|end| comment.updated_at > *end);
            if is_here && is_listed && comment.updated_at >= start && !is_ended {
                self.read(comment);
            }
        }
        let gone: Vec<_> = self
            .texts
            .iter()
            .filter(|(key, text)| text.is_some() && !truth.comments.contains_key(key))
            .map(|(key, _)| *key)
            .collect();
        for key in gone {
            let (said, _) = self.texts.insert(key, None).flatten().unwrap();
            if !self.ends.contains_key(&said.number) {
                let change = SeenChange::Withdrawn { kind: key.0, id: key.1 };
                self.seen.push(SeenEvent { change, ..said });
            }
        }
    }

    fn look(&mut self, thread: &TrueThread, start: &String) {
        if self.ends.contains_key(&thread.number) {
            return;
        }
        let before = self.states.insert(thread.number, thread.clone());
        let is_end = thread.state != "OPEN";
        let mut changes = Vec::new();
        let closing = if thread.state == "MERGED" { SeenState::Merged } else { SeenState::Closed };
        match &before {
            None => {
                changes.extend((thread.created_at >= *start).then_some(SeenState::Opened));
                let is_new = thread.closed_at.as_ref().is_some_and(|closed| closed >= start);
                changes.extend((is_end && is_new).then_some(closing));
            }
            Some(before) if before.state != thread.state => {
                changes.push(if is_end { closing } else { SeenState::Reopened });
            }
            Some(_) => {}
        }
        let head = |thread: &TrueThread| {
            thread.pull_request.as_ref().map(|pull| pull.head_ref_oid.clone())
        };
        if let Some(before) = before {
            let moved = head(thread).filter(|new| head(&before).as_ref() != Some(new));
            changes.extend(moved.map(SeenState::HeadMoved));
            let labeled = before.labels != thread.labels;
            changes.extend(labeled.then(|| SeenState::Labeled(Some(thread.labels.clone()))));
        }
        self.seen.extend(changes.into_iter().map(|state| SeenEvent {
            repository_id: thread.repository_id,
            number: thread.number,
            change: SeenChange::State(state),
        }));
        if is_end && thread.pull_request.is_some() {
            self.ends.insert(thread.number, thread.closed_at.clone().unwrap());
        }
    }

    fn read(&mut self, comment: &TrueComment) {
        let key = (comment.kind, comment.id);
        let last = self.texts.get(&key);
        let is_known = matches!(last, Some(Some((_, body))) if *body == comment.body);
        if is_known {
            return;
        }
        let event = SeenEvent {
            repository_id: comment.repository_id,
            number: comment.thread_number,
            change: SeenChange::Said(SeenText {
                kind: comment.kind,
                id: comment.id,
                is_created: last.is_none(),
                body: comment.body.clone(),
                updated_at: comment.updated_at.clone(),
                review_state: comment.review_state.clone(),
            }),
        };
        self.seen.push(event.clone());
        self.texts.insert(key, Some((event, comment.body.clone())));
    }
}

impl WatchedWorld {
    /// Creates an open thread without comments.
    fn new(kind: ThreadKind) -> Self {
        let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        let start_ms = WorldSpec::small().start_ms;
        let world = github.world_mut();
        let id = match kind {
            ThreadKind::PullRequest => world.create_pull_request(repository, "t", "b", start_ms),
            ThreadKind::Issue | ThreadKind::Discussion => {
                world.create_issue(repository, "t", "b", start_ms)
            }
        };
        let thread = world.truth().threads[&(kind, id)].clone();
        Self { github, thread, start_ms }
    }

    fn at(&self, second: i64) -> i64 {
        self.start_ms + second * 1000
    }

    fn comment(&mut self, text: &str, second: i64) -> i64 {
        let (at, id) = (self.at(second), self.thread.id);
        self.github.world_mut().add_comment(self.thread.kind, id, text, at)
    }

    fn edit(&mut self, id: i64, text: &str, second: i64) {
        let at = self.at(second);
        self.github.world_mut().edit_comment(CommentKind::Conversation, id, text, at);
    }

    fn current(&self) -> TrueThread {
        let truth = self.github.world().truth();
        truth.threads[&(self.thread.kind, self.thread.id)].clone()
    }

    fn head(&self) -> String {
        self.current().pull_request.unwrap().head_ref_oid
    }

    fn watch(&self) -> EventWatch {
        let TrueThread { repository_id, number, .. } = self.thread;
        EventWatch::from_beginning(repository_id, number, self.start_ms, self.start_ms)
    }

    fn oracle(&self) -> EventOracle {
        EventOracle::new(self.github.world(), vec![self.watch()])
    }

    fn check(&self, seen: &[SeenEvent]) -> Result<(), String> {
        self.oracle().check(seen.iter().cloned())
    }

    /// Checks events that leave out the moves of the head that come with comments.
    fn check_said(&self, seen: &[SeenEvent]) -> Result<(), String> {
        let names_head =
            |event: &SeenEvent| matches!(&event.change, SeenChange::State(SeenState::HeadMoved(_)));
        let mut seen = seen.to_vec();
        let has_comments = seen.iter().any(|event| event.change.comment_key().is_some());
        if has_comments && !seen.iter().any(names_head) {
            let head = SeenChange::State(SeenState::HeadMoved(String::new()));
            seen.insert(0, self.event(head));
        }
        self.oracle().check(seen.into_iter())
    }

    fn event(&self, change: SeenChange) -> SeenEvent {
        let TrueThread { repository_id, number, .. } = self.thread;
        SeenEvent { repository_id, number, change }
    }

    fn said(&self, id: i64, body: &str, second: i64, is_created: bool) -> SeenEvent {
        self.event(SeenChange::Said(SeenText {
            kind: CommentKind::Conversation,
            id,
            is_created,
            body: body.to_owned(),
            updated_at: format_rfc3339(self.at(second)),
            review_state: None,
        }))
    }
}
