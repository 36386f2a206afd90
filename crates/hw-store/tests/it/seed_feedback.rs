//! Compares both databases with the tables that seed 000 prints or implies: they are read-only views over ours.

use hw_rules::item::{CommentKind, ItemObservation, MirrorItem, ThreadKind};
use hw_store::{
    ConsumerRead, ConsumerStart, DatabaseLocation, DeliveryRef, LeasedStore, NewConsumer,
};

use crate::fixture::{comment, lane_for_kind, open_store, query_raw, thread, threads_page};
use crate::watches::{WatchSpec, add_watch, repository_watch, thread_watch};

both![
    seed_feedback_tables_have_exactly_the_columns_of_the_seed,
    seed_poll_cursors_show_the_newest_comment_of_each_surface,
    seed_feedback_events_show_each_version_and_when_it_was_processed,
    seed_issue_cursors_show_the_source_issue,
];

/// The seed's tables with their columns, in order. `action_tokens` and `operator_commands` come with replies.
const SEED: [(&str, &[&str]); 3] = [
    (
        "github_comment_poll_cursors",
        &[
            "repo_full_name",
            "surface",
            "scope_number",
            "last_updated_at",
            "last_comment_id",
            "bootstrap_complete",
            "updated_at",
        ],
    ),
    (
        "feedback_events",
        &[
            "repo_full_name",
            "event_key",
            "pr_number",
            "issue_number",
            "kind",
            "comment_id",
            "updated_at",
            "processed_at",
            "created_at",
        ],
    ),
    (
        "issue_comment_cursors",
        &[
            "repo_full_name",
            "issue_number",
            "pre_pr_last_consumed_comment_id",
            "post_pr_last_redirected_comment_id",
            "updated_at",
        ],
    ),
];

const TALK: CommentKind = CommentKind::Conversation;

fn seed_feedback_tables_have_exactly_the_columns_of_the_seed(location: &DatabaseLocation) {
    drop(open_store(location));
    for (table, columns) in SEED {
        let sql = match location {
            DatabaseLocation::Postgres { schema, .. } => format!(
                "select column_name::text from information_schema.columns
                  where table_schema = '{schema}' and table_name = '{table}'
                  order by ordinal_position"
            ),
            DatabaseLocation::Memory | DatabaseLocation::File(_) => {
                format!("select name from pragma_table_info('{table}') order by cid")
            }
        };
        assert_eq!(query_raw(location, &sql).concat(), columns, "{table}");
    }
}

fn seed_poll_cursors_show_the_newest_comment_of_each_surface(location: &DatabaseLocation) {
    let store = open_store(location);
    derive(&store, &thread_watch(5, ThreadKind::PullRequest));
    derive(&store, &WatchSpec { source_issue: Some(6), ..repository_watch() });
    let review = CommentKind::ReviewComment;
    store
        .ingest_page(&threads_page(review, vec![on_pull(comment(review, 9, 5, 12, "x"))]))
        .unwrap();
    let comments = vec![
        comment(TALK, 7, 5, 20, "a"),
        comment(TALK, 8, 5, 20, "b"),
        comment(TALK, 3, 6, 30, "c"),
    ];
    store.ingest_page(&threads_page(TALK, comments)).unwrap();
    let columns = "repo_full_name, surface, cast(scope_number as text), last_updated_at,
         cast(last_comment_id as text), cast(bootstrap_complete as text)";
    let sql =
        format!("select {columns} from github_comment_poll_cursors order by scope_number, surface");
    let (at_20, never) = ("1970-01-01T00:00:20Z", "1970-01-01T00:00:00Z");
    let expected = [
        ["acme/pump", "pr_issue_comments", "5", at_20, "8", "0"],
        ["acme/pump", "pr_review_comments", "5", "1970-01-01T00:00:12Z", "9", "0"],
        ["acme/pump", "pr_reviews", "5", never, "0", "0"],
        ["acme/pump", "issue_pre_pr_followups", "6", "1970-01-01T00:00:30Z", "3", "0"],
    ];
    assert_eq!(query_raw(location, &sql), expected);
    // a mirror that is fetched again keeps its cursors
    store.clear_lane(&lane_for_kind(TALK)).unwrap();
    crate::fixture::finish_chores(&store);
    assert_eq!(query_raw(location, &sql), expected);
    let times = query_raw(location, "select updated_at from github_comment_poll_cursors").concat();
    assert!(
        times.iter().all(|time| time.starts_with("1970-01-01T00:00:") && time.ends_with('Z')),
        "{times:?}"
    );
}

fn seed_feedback_events_show_each_version_and_when_it_was_processed(location: &DatabaseLocation) {
    let store = open_store(location);
    let new =
        NewConsumer { name: "agent".to_owned(), start: ConsumerStart::Beginning, max_tries: 5 };
    store.add_consumer(&new, 0).unwrap();
    derive(&store, &thread_watch(5, ThreadKind::PullRequest));
    let say = |second: i64, observed: i64, text: &str| {
        let said = crate::fixture::with_observed_at(comment(TALK, 7, 5, second, text), observed);
        store.ingest_page(&threads_page(TALK, vec![on_pull(said)])).unwrap();
    };
    say(10, 10, "a");
    say(10, 11, "edited within a second");
    say(12, 12, "edited");
    let read = ConsumerRead {
        consumer: "agent".to_owned(),
        // the thread was opened, and two versions of one second
        limit: 3,
        lease_token: "t".to_owned(),
        lease_ms: 1_000,
        now_ms: 60_000,
    };
    let delivered = store.lease_events(&read).unwrap();
    let acks: Vec<_> =
        delivered.iter().map(|event| DeliveryRef::Token(event.token.clone())).collect();
    store.acknowledge_events("agent", &acks, 61_500).unwrap();
    let columns = "repo_full_name, event_key, cast(pr_number as text), coalesce(cast(issue_number as text), '-'),
         kind, cast(comment_id as text), updated_at, coalesce(processed_at, '-'), created_at";
    let sql = format!("select {columns} from feedback_events order by updated_at");
    let first = "5:issue_comment:7:1970-01-01T00:00:10Z";
    let second = "5:issue_comment:7:1970-01-01T00:00:12Z";
    let expected = [
        [
            "acme/pump",
            first,
            "5",
            "-",
            "issue_comment",
            "7",
            "1970-01-01T00:00:10Z",
            "1970-01-01T00:01:01.500Z",
            "1970-01-01T00:00:11.000Z",
        ],
        [
            "acme/pump",
            second,
            "5",
            "-",
            "issue_comment",
            "7",
            "1970-01-01T00:00:12Z",
            "-",
            "1970-01-01T00:00:12.000Z",
        ],
    ];
    assert_eq!(query_raw(location, &sql), expected);
}

fn seed_issue_cursors_show_the_source_issue(location: &DatabaseLocation) {
    let store = open_store(location);
    derive(&store, &WatchSpec { source_issue: Some(6), ..repository_watch() });
    derive(&store, &thread_watch(5, ThreadKind::PullRequest));
    store.ingest_page(&threads_page(TALK, vec![comment(TALK, 9, 6, 30, "c")])).unwrap();
    let columns =
        "repo_full_name, cast(issue_number as text), cast(pre_pr_last_consumed_comment_id as text),
         cast(post_pr_last_redirected_comment_id as text), updated_at";
    let sql = format!("select {columns} from issue_comment_cursors");
    let expected = [["acme/pump", "6", "9", "0", "1970-01-01T00:00:30.000Z"]];
    assert_eq!(query_raw(location, &sql), expected);
}

/// Adds a watch, and derives what is stored.
fn derive(store: &LeasedStore, spec: &WatchSpec) {
    let kind = ThreadKind::PullRequest;
    store.ingest_page(&threads_page(kind, vec![thread(kind, 5, 0, "x")])).unwrap();
    let id = add_watch(store, spec);
    while !store.derive_stored_events(id, 10).unwrap() {}
}

/// Gives a comment the URL of a comment on a pull request.
fn on_pull(mut observation: ItemObservation) -> ItemObservation {
    if let MirrorItem::Comment(comment) = &mut observation.item {
        comment.url = comment.url.replace("/issues/", "/pull/");
    }
    observation
}
