//! Tests of events: what watched threads say becomes an event once, whatever the mirror does meanwhile.

use std::cell::Cell;

use hw_rules::closing_references::ClosingReferences;
use hw_rules::event::StateChange;
use hw_rules::event_policy::EventPolicy;
use hw_rules::item::{
    AuthorKind, Comment, CommentKind, ItemObservation, MirrorItem, ThreadDetails, ThreadKind,
};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::{WatchId, WatchMode, WatchSubject};
use hw_store::{
    DERIVE_ROWS, DatabaseLocation, EventFilter, EventRow, IngestPage, LeasedStore, OpenPullRequest,
    ReadReferences, StoreError, SweepPage,
};

use crate::fixture::{
    HOST, PUMP_ID, as_thread_mut, comment, crash_at, finish_chores, issue, lane_for_kind,
    observed_at, open_store, organization_lane, source_time, thread, threads_page,
    with_observed_at,
};
use crate::watches::{WatchSpec, add_watch, repository_watch, thread_watch};

both![
    events_of_comments_are_created_edited_and_withdrawn,
    events_carry_a_full_snapshot,
    events_of_a_refetch_are_none,
    events_of_a_renamed_login_or_a_moved_time_are_none,
    events_of_two_edits_in_one_second_end_with_the_last_text,
    events_of_a_lagging_replica_are_none,
    events_of_comments_below_the_floor_are_none,
    events_of_a_thread_are_changes_of_its_state,
    events_of_a_closed_pull_request_end_with_its_close,
    events_come_from_the_most_specific_watch,
    events_of_a_label_that_comes_late_include_what_was_said_before,
    events_of_a_source_issue_are_followups_until_a_pull_request_closes_it,
    events_of_a_paused_watch_come_when_it_is_resumed,
    events_of_stored_items_are_derived_in_steps_that_survive_a_crash,
    events_of_a_removed_watch_are_not_repeated_by_another_one,
    events_of_a_removed_thread_withdraw_its_comments_and_those_of_a_removed_repository_do_not,
    events_of_bots_commands_and_our_own_account_have_classes_of_their_own,
    events_commit_with_their_page,
    events_are_listed_newest_first_in_pages,
];

const TALK: CommentKind = CommentKind::Conversation;
const REVIEW: CommentKind = CommentKind::Review;

fn events_of_comments_are_created_edited_and_withdrawn(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::Issue);
    watched.say(vec![comment(TALK, 7, 5, 10, "leaks"), comment(TALK, 8, 6, 10, "elsewhere")]);
    assert_eq!(watched.take(), ["created issue_comment 7 said leaks"]);
    watched.say(vec![comment(TALK, 7, 5, 11, "leaks more")]);
    assert_eq!(watched.take(), ["edited issue_comment 7 said leaks more"]);
    watched.remove(TALK, &[7, 8], 100);
    assert_eq!(watched.take(), ["withdrawn issue_comment 7 said leaks more"]);
    watched.remove(TALK, &[7], 101);
    assert_eq!(watched.take(), [""; 0]);
    watched.say(vec![comment(TALK, 7, 5, 110, "leaks more")]);
    assert_eq!(watched.take(), ["edited issue_comment 7 said leaks more"], "it is back");
    let kinds = [CommentKind::ReviewComment, CommentKind::Review, CommentKind::DiscussionComment];
    for kind in kinds {
        watched.store.ingest_page(&threads_page(kind, vec![comment(kind, 9, 5, 20, "x")])).unwrap();
    }
    let expected = kinds.map(|kind| format!("created {} 9 said x", kind.name()));
    assert_eq!(watched.take(), expected);
    let mut pending = comment(REVIEW, 10, 5, 20, "not submitted");
    as_comment_mut(&mut pending).state = Some("PENDING".to_owned());
    watched.store.ingest_page(&threads_page(REVIEW, vec![pending])).unwrap();
    assert_eq!(watched.take(), [""; 0]);
}

fn events_carry_a_full_snapshot(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::PullRequest);
    let kind = CommentKind::ReviewComment;
    let mut said = comment(kind, 7, 5, 10, "leaks\0");
    let content = as_comment_mut(&mut said);
    (content.path, content.line) = (Some("src/lib.rs".to_owned()), Some(12));
    content.review_id = Some(4);
    let content = content.clone();
    watched.store.ingest_page(&threads_page(kind, vec![said])).unwrap();
    let EventRow { seq, event, settled_ms } = watched.events().remove(0);
    assert!(seq > 0 && settled_ms.is_none());
    assert_eq!(event.key, "5:review_comment:7:1970-01-01T00:00:10Z");
    assert_eq!((event.body, event.url), (content.body, content.url));
    assert_eq!((event.author, event.author_id), (content.author, content.author_id));
    assert_eq!((event.author_kind, event.association), (content.author_kind, content.association));
    assert_eq!((event.path, event.line), (content.path, content.line));
    assert_eq!((event.reply_to, event.review_id), (Some(3), Some(4)));
    assert_eq!((event.created_at, event.updated_at), (content.created_at, content.updated_at));
    assert_eq!((event.repository_name.as_str(), event.number), ("acme/pump", 5));
    assert_eq!(event.title.as_deref(), Some("thread 5"));
    assert_eq!(event.thread_kind, ThreadKind::PullRequest);
    assert_eq!(event.observed_at, SourceInstant(10_000));
    assert_eq!(watched.store.event(&event.id).unwrap().map(|row| row.seq), Some(seq));
    assert_eq!(watched.store.event("another").unwrap(), None);
}

fn events_of_a_refetch_are_none(location: &DatabaseLocation) {
    let watched = Watched::repository(location);
    let say = || {
        watched
            .store
            .ingest_page(&threads_page(ThreadKind::Issue, vec![issue(5, 10, "x")]))
            .unwrap();
        watched.say(vec![comment(TALK, 7, 5, 10, "leaks"), comment(TALK, 8, 5, 11, "drips")]);
    };
    say();
    assert_eq!(watched.take().len(), 3);
    for kind in [lane_for_kind(TALK), lane_for_kind(ThreadKind::Issue)] {
        watched.store.clear_lane(&kind).unwrap();
    }
    finish_chores(&watched.store);
    assert_eq!(watched.take(), [""; 0]);
    say();
    assert_eq!(watched.take(), [""; 0]);
    watched.say(vec![comment(TALK, 8, 5, 12, "drips more")]);
    assert_eq!(watched.take(), ["edited issue_comment 8 said drips more"]);
}

fn events_of_a_renamed_login_or_a_moved_time_are_none(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::Issue);
    watched.say(vec![comment(TALK, 7, 5, 10, "leaks")]);
    watched.take();
    let mut renamed = comment(TALK, 7, 5, 10, "leaks");
    as_comment_mut(&mut renamed).author = Some("countess".to_owned());
    watched.say(vec![with_observed_at(renamed, 20)]);
    watched.say(vec![comment(TALK, 7, 5, 30, "leaks")]);
    assert_eq!(watched.take(), [""; 0]);
    // the mirror forgets, and a replica shows the text of between
    watched.store.clear_lane(&lane_for_kind(TALK)).unwrap();
    finish_chores(&watched.store);
    watched.say(vec![with_observed_at(comment(TALK, 7, 5, 25, "between"), 40)]);
    assert_eq!(watched.take(), [""; 0], "older than what was seen last");
}

fn events_of_two_edits_in_one_second_end_with_the_last_text(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::Issue);
    for (second, text) in [(10, "A"), (11, "B"), (12, "A"), (13, "B"), (14, "A")] {
        watched.say(vec![with_observed_at(comment(TALK, 7, 5, 10, text), second)]);
    }
    let texts =
        ["created", "edited", "edited", "edited", "edited"].iter().zip(["A", "B", "A", "B", "A"]);
    let expected: Vec<_> =
        texts.map(|(change, text)| format!("{change} issue_comment 7 said {text}")).collect();
    let events = watched.events();
    assert_eq!(watched.take(), expected);
    assert!(events.iter().all(|row| row.event.key == events[0].event.key), "one second, one key");
}

fn events_of_a_lagging_replica_are_none(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::Issue);
    watched.say(vec![comment(TALK, 7, 5, 20, "new")]);
    watched.take();
    watched.say(vec![with_observed_at(comment(TALK, 7, 5, 10, "old"), 30)]);
    watched.store.clear_lane(&lane_for_kind(TALK)).unwrap();
    finish_chores(&watched.store);
    watched.say(vec![with_observed_at(comment(TALK, 7, 5, 10, "old"), 40)]);
    assert_eq!(watched.take(), [""; 0]);
    watched.say(vec![with_observed_at(comment(TALK, 7, 5, 20, "new"), 50)]);
    assert_eq!(watched.take(), [""; 0]);
}

fn events_of_comments_below_the_floor_are_none(location: &DatabaseLocation) {
    let floor = SourceInstant(15_000);
    let watched =
        Watched::open(location, &WatchSpec { floor, ..thread_watch(5, ThreadKind::Issue) });
    watched.say(vec![comment(TALK, 7, 5, 14, "old"), comment(TALK, 8, 5, 15, "new")]);
    assert_eq!(watched.take(), ["created issue_comment 8 said new"]);
    watched.say(vec![comment(TALK, 7, 5, 20, "old")]);
    assert_eq!(watched.take(), [""; 0], "its time moved, and nothing was said");
    watched.say(vec![comment(TALK, 7, 5, 21, "old and edited")]);
    assert_eq!(watched.take(), ["created issue_comment 7 said old and edited"]);
}

fn events_of_a_thread_are_changes_of_its_state(location: &DatabaseLocation) {
    let watched = Watched::repository(location);
    let observe = |second: i64, change: &dyn Fn(&mut hw_rules::item::Thread)| {
        let mut seen = thread(ThreadKind::Issue, 5, second, "x");
        change(as_thread_mut(&mut seen));
        watched.store.ingest_page(&threads_page(ThreadKind::Issue, vec![seen])).unwrap();
        watched.take()
    };
    assert_eq!(observe(10, &|_| ()), ["opened issue 5 body x"]);
    assert_eq!(observe(11, &|issue| issue.body = "another".to_owned()), [""; 0]);
    assert_eq!(observe(12, &|issue| issue.labels = vec![]), ["labeled issue 5 body x"]);
    let close = |issue: &mut hw_rules::item::Thread| {
        issue.state = "CLOSED".to_owned();
        issue.closed_at = Some(source_time(13));
        issue.labels = vec![];
    };
    assert_eq!(observe(13, &close), ["closed issue 5 body x"]);
    watched.say(vec![comment(TALK, 7, 5, 14, "after")]);
    assert_eq!(watched.take(), ["created issue_comment 7 said after"], "an issue has no end");
    assert_eq!(observe(15, &|issue| issue.labels = vec![]), ["reopened issue 5 body x"]);
    assert_eq!(observe(14, &close), [""; 0], "an older replica");
}

fn events_of_a_closed_pull_request_end_with_its_close(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::PullRequest);
    let observe = |second: i64, change: &dyn Fn(&mut hw_rules::item::Thread)| {
        let mut seen = pull_request(5, second);
        change(as_thread_mut(&mut seen));
        watched.store.ingest_page(&threads_page(ThreadKind::PullRequest, vec![seen])).unwrap();
        watched.take()
    };
    assert_eq!(observe(10, &|_| ()), ["opened pull_request 5 body x"]);
    let push = |pull: &mut hw_rules::item::Thread| set_head(pull, "b");
    assert_eq!(observe(11, &push), ["head_moved pull_request 5 body x"]);
    watched.say(vec![comment(TALK, 7, 5, 11, "before")]);
    watched.take();
    let close = |pull: &mut hw_rules::item::Thread| {
        set_head(pull, "b");
        pull.state = "CLOSED".to_owned();
        pull.closed_at = Some(source_time(20));
    };
    assert_eq!(observe(20, &close), ["closed pull_request 5 body x"]);
    watched.say(vec![comment(TALK, 8, 5, 20, "in time"), comment(TALK, 9, 5, 21, "late")]);
    assert_eq!(watched.take(), ["created issue_comment 8 said in time"]);
    watched.remove(TALK, &[7], 100);
    assert_eq!(observe(30, &push), [""; 0], "reopening changes nothing");
    watched.say(vec![comment(TALK, 10, 5, 31, "reopened")]);
    assert_eq!(watched.take(), [""; 0]);
    let status = watched.store.watched_threads(watched.watch).unwrap()[0].status;
    assert_eq!((status.status.name(), status.at), ("closed", Some(SourceInstant(20_000))));
}

fn events_come_from_the_most_specific_watch(location: &DatabaseLocation) {
    let watched = Watched::repository(location);
    watched.say(vec![comment(TALK, 7, 5, 10, "a"), comment(TALK, 8, 6, 10, "b")]);
    let thread = add_watch(&watched.store, &thread_watch(5, ThreadKind::Issue));
    finish(&watched.store, thread);
    watched.say(vec![comment(TALK, 7, 5, 11, "a2"), comment(TALK, 8, 6, 11, "b2")]);
    let watches: Vec<_> =
        watched.events().iter().map(|row| (row.event.object.id, row.event.watch_id)).collect();
    let repository = watched.watch;
    assert_eq!(watches, [(7, repository), (8, repository), (7, thread), (8, repository)]);
    let changes: Vec<_> = watched.take();
    assert_eq!(changes[2], "edited issue_comment 7 said a2", "it was emitted before");
}

fn events_of_a_label_that_comes_late_include_what_was_said_before(location: &DatabaseLocation) {
    let subject = WatchSubject { label: Some("Ready".to_owned()), ..repository_watch().subject };
    let floor = SourceInstant(12_000);
    let watched = Watched::open(location, &WatchSpec { subject, floor, ..repository_watch() });
    watched.store.ingest_page(&threads_page(ThreadKind::Issue, vec![issue(5, 11, "x")])).unwrap();
    watched.say(vec![comment(TALK, 6, 5, 11, "long ago"), comment(TALK, 7, 5, 13, "before")]);
    assert_eq!(watched.take(), [""; 0]);
    let label = |second: i64, label: &str| {
        let mut labeled = issue(5, second, "x");
        as_thread_mut(&mut labeled).labels = vec![label.to_owned()];
        watched.store.ingest_page(&threads_page(ThreadKind::Issue, vec![labeled])).unwrap();
    };
    label(14, "ready");
    assert_eq!(watched.store.watches_to_derive().unwrap(), [watched.watch]);
    finish(&watched.store, watched.watch);
    assert_eq!(watched.take(), ["created issue_comment 7 said before"]);
    watched.say(vec![comment(TALK, 8, 5, 15, "labeled")]);
    assert_eq!(watched.take(), ["created issue_comment 8 said labeled"]);
    label(16, "other");
    watched.say(vec![comment(TALK, 9, 5, 17, "no longer")]);
    assert_eq!(watched.take(), [""; 0]);
}

fn events_of_a_source_issue_are_followups_until_a_pull_request_closes_it(
    location: &DatabaseLocation,
) {
    let spec = WatchSpec { source_issue: Some(5), ..repository_watch() };
    let watched = Watched::open(location, &spec);
    watched.say(vec![comment(TALK, 7, 5, 10, "please"), comment(TALK, 8, 6, 10, "elsewhere")]);
    watched.say(vec![comment(TALK, 7, 5, 11, "please now")]);
    assert_eq!(watched.take_classes(), ["created 7 followup"], "an edit does not fire again");
    watched.say(vec![comment(TALK, 6, 5, 12, "became visible late")]);
    assert_eq!(watched.take_classes(), ["created 6 followup"]);
    let page = threads_page(ThreadKind::PullRequest, vec![pull_request(9, 12)]);
    watched.store.ingest_page(&page).unwrap();
    watched.say(vec![comment(TALK, 20, 9, 12, "on the pull request")]);
    assert_eq!(watched.take_classes(), [""; 0], "nobody knows that it closes the issue");
    store_references(&watched.store, 9, &[5]);
    finish(&watched.store, watched.watch);
    assert_eq!(watched.take_classes(), ["state 9 feedback", "created 20 feedback"]);
    watched.say(vec![comment(TALK, 30, 5, 40, "still here"), comment(TALK, 31, 9, 40, "there")]);
    assert_eq!(watched.take_classes(), ["created 30 ignored redirect", "created 31 feedback"]);
    let threads = watched.store.watched_threads(watched.watch).unwrap();
    let source = &threads[0];
    assert_eq!((source.number, source.source_issue), (5, Some(5)));
    assert_eq!(source.pre_pr_last_consumed_comment_id, 7);
    assert_eq!(source.post_pr_last_redirected_comment_id, 7, "no redirect was sent yet");
    assert_eq!((threads[1].number, threads[1].is_bootstrapped), (9, false), "it is read whole");
}

fn events_of_a_paused_watch_come_when_it_is_resumed(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::Issue);
    let issue_page = |second| threads_page(ThreadKind::Issue, vec![issue(5, second, "x")]);
    watched.store.ingest_page(&issue_page(9)).unwrap();
    watched.say(vec![comment(TALK, 7, 5, 10, "before")]);
    watched.take();
    watched.store.set_watch_paused(watched.watch, true).unwrap();
    watched.say(vec![comment(TALK, 7, 5, 11, "edited"), comment(TALK, 8, 5, 11, "meanwhile")]);
    let mut closed = issue(5, 12, "x");
    as_thread_mut(&mut closed).state = "CLOSED".to_owned();
    watched.store.ingest_page(&threads_page(ThreadKind::Issue, vec![closed])).unwrap();
    watched.remove(TALK, &[9], 100);
    assert_eq!(watched.take(), [""; 0]);
    watched.store.set_watch_paused(watched.watch, false).unwrap();
    finish(&watched.store, watched.watch);
    let expected = [
        "closed issue 5 body x",
        "edited issue_comment 7 said edited",
        "created issue_comment 8 said meanwhile",
    ];
    assert_eq!(watched.take(), expected);
}

fn events_of_stored_items_are_derived_in_steps_that_survive_a_crash(location: &DatabaseLocation) {
    let store = open_store(location);
    let comments = (1..=9).map(|id| comment(TALK, id, 5 + id % 3, 10 + id, "x")).collect();
    store.ingest_page(&threads_page(TALK, comments)).unwrap();
    let issues = (5..=7).map(|id| issue(id, 20, "x")).collect();
    store.ingest_page(&threads_page(ThreadKind::Issue, issues)).unwrap();
    let watch = add_watch(&store, &repository_watch());
    let watched = Watched::new(store, watch);
    assert_eq!(watched.take(), [""; 0]);
    let (mut steps, mut crashes) = (0, 0);
    loop {
        let point = ["derive stored events: before commit", "derive stored events: after commit"];
        let crashed = crash_at(&watched.store, point[steps % 2]);
        let result = crashed.derive_stored_events(watch, 2);
        crashes += usize::from(matches!(result, Err(StoreError::Interrupted(_))));
        steps += 1;
        if watched.store.watches_to_derive().unwrap().is_empty() {
            break;
        }
        assert!(steps < 100, "it does not end");
    }
    assert!(crashes > 5, "{crashes}");
    let events = watched.take();
    assert_eq!(events.len(), 12, "{events:#?}");
    assert_eq!(events.iter().filter(|event| event.starts_with("opened")).count(), 3);
    // the crash came after the commit, so a last call records that nothing is left
    assert!(watched.store.derive_stored_events(watch, 2).unwrap());
    assert_eq!(watched.store.watch(watch).unwrap().unwrap().state.name(), "active");
}

fn events_of_a_removed_watch_are_not_repeated_by_another_one(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::Issue);
    watched.say(vec![comment(TALK, 7, 5, 10, "leaks")]);
    watched.take();
    watched.store.remove_watch(watched.watch).unwrap();
    watched.say(vec![comment(TALK, 8, 5, 11, "unwatched")]);
    assert_eq!(watched.take(), [""; 0]);
    let watch = add_watch(&watched.store, &thread_watch(5, ThreadKind::Issue));
    finish(&watched.store, watch);
    assert_eq!(watched.take(), ["created issue_comment 8 said unwatched"]);
}

fn events_of_a_removed_thread_withdraw_its_comments_and_those_of_a_removed_repository_do_not(
    location: &DatabaseLocation,
) {
    let watched = Watched::repository(location);
    let issues = vec![issue(5, 10, "x"), issue(6, 10, "x")];
    watched.store.ingest_page(&threads_page(ThreadKind::Issue, issues)).unwrap();
    watched.say(vec![comment(TALK, 7, 5, 11, "a"), comment(TALK, 8, 6, 11, "b")]);
    watched.take();
    watched.remove(ThreadKind::Issue, &[5], 100);
    let expected = ["withdrawn issue_comment 7 said a", "withdrawn issue 5 body x"];
    assert_eq!(watched.take(), expected);
    watched.store.remove_watch(watched.watch).unwrap();
    let gone = [(PUMP_ID, observed_at(200))];
    watched.store.remove_repositories(&organization_lane(), &gone, true).unwrap();
    let watch = add_watch(&watched.store, &repository_watch());
    finish_chores(&watched.store);
    finish(&watched.store, watch);
    assert_eq!(watched.take(), [""; 0], "it may have been archived");
}

fn events_of_bots_commands_and_our_own_account_have_classes_of_their_own(
    location: &DatabaseLocation,
) {
    let watched = Watched::repository(location);
    let mode = WatchMode::CommandsOnly;
    let commands = WatchSpec { mode, ..thread_watch(6, ThreadKind::Issue) };
    finish(&watched.store, add_watch(&watched.store, &commands));
    let policy = EventPolicy { authors: vec!["ada".to_owned()], ..EventPolicy::default() };
    let writer = watched.store.writer().with_event_policy(policy);
    let watched = Watched { store: writer.with_lease(watched.store.lease().clone()), ..watched };
    let viewer = IngestPage {
        viewer: Some("robot".to_owned()),
        ..IngestPage::new(organization_lane(), 100)
    };
    watched.store.ingest_page(&viewer).unwrap();
    let by = |id: i64, thread: i64, author: &str, kind: AuthorKind, body: &str| {
        let mut said = comment(TALK, id, thread, 10 + id, "");
        let content = as_comment_mut(&mut said);
        (content.author, content.author_kind) = (Some(author.to_owned()), Some(kind));
        body.clone_into(&mut content.body);
        said
    };
    watched.say(vec![
        by(1, 5, "ada", AuthorKind::User, "hello"),
        by(2, 5, "robot[bot]", AuthorKind::Bot, "done"),
        by(3, 5, "other", AuthorKind::Bot, "beep"),
        by(4, 5, "eve", AuthorKind::User, "hello"),
        by(5, 5, "eve", AuthorKind::User, "do it\n/highwater pause"),
        by(6, 6, "ada", AuthorKind::User, "hello"),
        by(7, 6, "ada", AuthorKind::User, "/highwater status"),
    ]);
    let expected = [
        "created 1 feedback",
        "created 2 own",
        "created 3 ignored bot",
        "created 4 ignored not_allowed",
        "created 5 command",
        "created 6 ignored commands_only",
        "created 7 command",
    ];
    assert_eq!(watched.take_classes(), expected);
    watched.remove(TALK, &[3], 100);
    assert_eq!(watched.take_classes(), ["withdrawn 3 ignored bot"], "nobody heard of it");
}

fn events_commit_with_their_page(location: &DatabaseLocation) {
    let watched = Watched::thread(location, 5, ThreadKind::Issue);
    let page = threads_page(TALK, vec![comment(TALK, 7, 5, 10, "leaks")]);
    let crashed = crash_at(&watched.store, "ingest: before commit").ingest_page(&page);
    assert!(matches!(crashed, Err(StoreError::Interrupted(_))), "{crashed:?}");
    assert_eq!(watched.take(), [""; 0]);
    crash_at(&watched.store, "ingest: after commit").ingest_page(&page).unwrap_err();
    watched.store.ingest_page(&page).unwrap();
    assert_eq!(watched.take(), ["created issue_comment 7 said leaks"]);
}

fn events_are_listed_newest_first_in_pages(location: &DatabaseLocation) {
    let watched = Watched::repository(location);
    watched.say((1..=5).map(|id| comment(TALK, id, 5 + id % 2, 10 + id, "x")).collect());
    let list = |filter: EventFilter| {
        let rows = watched.store.list_events(&EventFilter { limit: 2, ..filter }).unwrap();
        let ids: Vec<_> = rows.iter().map(|row| row.event.object.id).collect();
        (ids, rows.last().map(|row| row.seq))
    };
    let (first, before) = list(EventFilter::default());
    let (second, _) = list(EventFilter { before, ..EventFilter::default() });
    assert_eq!((first, second), (vec![5, 4], vec![3, 2]));
    let repository = Some(RepositoryKey::new(HOST, PUMP_ID));
    let of_thread = EventFilter { repository, number: Some(5), ..EventFilter::default() };
    assert_eq!(list(of_thread).0, [4, 2]);
    let elsewhere = Some(RepositoryKey::new(HOST, 99));
    assert_eq!(list(EventFilter { repository: elsewhere, ..EventFilter::default() }).0, [0; 0]);
    let class = Some("own".to_owned());
    assert_eq!(list(EventFilter { class, ..EventFilter::default() }).0, [0; 0]);
    let change = Some("created".to_owned());
    let watch = Some(watched.watch);
    let filter = EventFilter { change, watch, only_delivered: true, ..EventFilter::default() };
    assert_eq!(list(filter).0, [5, 4]);
}

/// A store in which something of `acme/pump` is watched.
struct Watched {
    store: LeasedStore,
    watch: WatchId,
    last_taken: Cell<i64>,
}

impl Watched {
    fn thread(location: &DatabaseLocation, number: i64, kind: ThreadKind) -> Self {
        Self::open(location, &thread_watch(number, kind))
    }

    fn repository(location: &DatabaseLocation) -> Self {
        Self::open(location, &repository_watch())
    }

    fn open(location: &DatabaseLocation, spec: &WatchSpec) -> Self {
        let store = open_store(location);
        let watch = add_watch(&store, spec);
        finish(&store, watch);
        Self::new(store, watch)
    }

    fn new(store: LeasedStore, watch: WatchId) -> Self {
        Self { store, watch, last_taken: Cell::new(0) }
    }

    fn say(&self, comments: Vec<ItemObservation>) {
        self.store.ingest_page(&threads_page(TALK, comments)).unwrap();
    }

    /// Removes items as a sweep does.
    fn remove(&self, kind: impl Into<hw_rules::item::ObjectKind>, ids: &[i64], second: i64) {
        let lane = lane_for_kind(kind);
        let began_at = observed_at(second);
        let page = SweepPage { began_at, rows: vec![], next: None, complete: true };
        self.store.stage_sweep_page(&lane, &page).unwrap();
        let gone: Vec<_> = ids.iter().map(|id| (*id, began_at)).collect();
        self.store.finish_sweep(&lane, &gone, true).unwrap();
    }

    /// Returns all events, oldest first.
    fn events(&self) -> Vec<EventRow> {
        let filter = EventFilter { limit: 1_000, ..EventFilter::default() };
        let mut events = self.store.list_events(&filter).unwrap();
        events.reverse();
        events
    }

    /// Returns the events since the last call.
    fn take_new(&self) -> Vec<EventRow> {
        let after = self.last_taken.get();
        let events: Vec<_> = self.events().into_iter().filter(|row| row.seq > after).collect();
        self.last_taken.set(events.last().map_or(after, |row| row.seq));
        events
    }

    fn take(&self) -> Vec<String> {
        let events = self.take_new();
        events
            .iter()
            .map(|EventRow { event, .. }| {
                let state = event.change.state_change().map(StateChange::name);
                let change = state.unwrap_or(event.change.name());
                format!("{change} {} {}", event.object.object_id(), event.body)
            })
            .collect()
    }

    fn take_classes(&self) -> Vec<String> {
        let events = self.take_new();
        events
            .iter()
            .map(|EventRow { event, .. }| {
                let reason = event.class.reason().map(|reason| format!(" {}", reason.name()));
                let (change, class) = (event.change.name(), event.class.name());
                format!("{change} {} {class}{}", event.object.id, reason.unwrap_or_default())
            })
            .collect()
    }
}

/// Derives everything that is stored of a watch.
fn finish(store: &LeasedStore, watch: WatchId) {
    for _ in 0..100 {
        if store.derive_stored_events(watch, DERIVE_ROWS).unwrap() {
            return;
        }
    }
    panic!("deriving does not end");
}

/// Builds an open pull request of `acme/pump`.
fn pull_request(number: i64, second: i64) -> ItemObservation {
    let mut observed = thread(ThreadKind::PullRequest, number, second, "x");
    if let ThreadDetails::PullRequest(details) = &mut as_thread_mut(&mut observed).details {
        details.merged_at = None;
        details.head_sha = Some("a".to_owned());
    }
    observed
}

fn set_head(thread: &mut hw_rules::item::Thread, sha: &str) {
    if let ThreadDetails::PullRequest(details) = &mut thread.details {
        details.head_sha = Some(sha.to_owned());
    }
}

fn as_comment_mut(observation: &mut ItemObservation) -> &mut Comment {
    match &mut observation.item {
        MirrorItem::Comment(comment) => comment,
        MirrorItem::Repository(_) | MirrorItem::Thread(_) | MirrorItem::Post(_) => {
            panic!("expected a comment")
        }
    }
}

fn store_references(store: &LeasedStore, pull: i64, closes: &[i64]) {
    let read = ReadReferences {
        pull_request: OpenPullRequest {
            id: pull,
            node_id: format!("PR_{pull}"),
            repository_id: PUMP_ID,
        },
        references: ClosingReferences {
            is_open: true,
            updated_at: source_time(12),
            closes: closes.to_vec(),
            observed_at: observed_at(9_000),
        },
    };
    store.store_closing_references(HOST, &[read]).unwrap();
}
