//! Accounts: followed, named, read, reset, and shown with the seed's columns.

use hw_rules::bluesky::account_state::AccountState;
use hw_rules::coverage::Coverage;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;
use hw_store::{
    AccountRow, CheckedAccount, DatabaseLocation, FeedProgress, FinishedFeed, IngestPage,
    LeasedStore, PollRound, RemoveCondition, StoreReader, StoreWriter, WorkspaceRemoval,
    remove_database_file,
};

use crate::databases::{execute_raw, query_raw};
use crate::posts::{HOST, did, feed, ingest_at, name_accounts, open_accounts, post};

both![
    account_is_followed_once_and_keeps_what_is_known_of_it,
    account_name_belongs_to_the_account_that_was_seen_with_it_last,
    account_whose_feed_was_read_shows_its_head,
    account_that_is_unavailable_is_counted_and_recovers,
    account_that_is_reset_starts_over,
    account_that_is_removed_keeps_its_posts,
    posts_that_a_walk_did_not_see_are_suspects,
    polls_are_kept_for_a_week,
    poll_state_has_the_columns_and_answers_the_queries_of_its_documentation,
];

/// A pull that failed removes the workspace that it created. Meanwhile, another process may have followed accounts there.
#[test]
fn account_keeps_a_workspace_from_being_removed_as_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.db");
    let store = StoreWriter::open(&DatabaseLocation::File(path.clone())).unwrap();
    store.follow_accounts(HOST, &[CheckedAccount { did: did("alice"), handle: None }], 0).unwrap();
    drop(store);
    let remove = || remove_database_file(&path, RemoveCondition::IfUntouched).unwrap();
    assert_eq!(remove(), WorkspaceRemoval::InUse);
    let store = StoreWriter::open(&DatabaseLocation::File(path.clone())).unwrap();
    store.unfollow_accounts(HOST, &[did("alice")]).unwrap();
    drop(store);
    assert_eq!(remove(), WorkspaceRemoval::Removed);
}

fn account_is_followed_once_and_keeps_what_is_known_of_it(location: &DatabaseLocation) {
    let store = open_accounts(location);
    assert_eq!(follow(&store, "alice", Some("alice.test")), 1);
    finish(&store, "alice", 100);
    assert_eq!(follow(&store, "alice", None), 0);
    let row = only_account(&store);
    assert_eq!((row.name(), row.feed.read_ms), ("alice.test", Some(1_000)));
}

fn account_name_belongs_to_the_account_that_was_seen_with_it_last(location: &DatabaseLocation) {
    let store = open_accounts(location);
    follow(&store, "alice", Some("alice.test"));
    follow(&store, "bob", Some("bob.test"));
    name_accounts(&store, "bob", &[("bob", "alice.test")]);
    let names: Vec<_> = store.accounts().unwrap().iter().map(|row| row.name().to_owned()).collect();
    assert_eq!(names, ["alice.test", "did:plc:alice"]);
    // a placeholder is no name
    name_accounts(&store, "bob", &[("bob", "handle.invalid")]);
    assert_eq!(store.account(HOST, &did("bob")).unwrap().unwrap().name(), "alice.test");
}

fn account_whose_feed_was_read_shows_its_head(location: &DatabaseLocation) {
    let store = open_accounts(location);
    follow(&store, "alice", Some("alice.test"));
    let before = only_account(&store);
    assert_eq!((before.head_at, before.feed.read_ms), (None, None));
    ingest_at(&store, "alice", &[post("alice", "a1", 10, "first")], 300);
    finish(&store, "alice", 100);
    assert_eq!(only_account(&store).feed.daily_read_ms, None, "not before it was checked");
    store.record_daily_read(HOST, &did("alice"), 1_000).unwrap();
    let row = only_account(&store);
    assert_eq!(row.complete_from, Some(ListingFloor::Beginning));
    assert_eq!(row.head_at.as_deref(), Some("1970-01-01T00:01:40Z"));
    let feed = &row.feed;
    assert_eq!(
        (feed.read_ms, feed.daily_read_ms, row.posts_fetched),
        (Some(1_000), Some(1_000), 1)
    );
    assert_eq!((feed.posts_count, feed.interval_ms, feed.is_unfinished), (Some(7), 60, false));
}

fn account_that_is_unavailable_is_counted_and_recovers(location: &DatabaseLocation) {
    let store = open_accounts(location);
    follow(&store, "alice", None);
    for failures in 1..=2 {
        let state = AccountState::Suspended;
        store.record_unavailable_account(HOST, &did("alice"), state, "taken down", 50).unwrap();
        let row = only_account(&store);
        assert_eq!((row.feed.state, row.feed.failures), (state, failures));
        assert_eq!(
            (row.feed.failed_ms, row.state_reason.as_deref()),
            (Some(50), Some("taken down"))
        );
    }
    finish(&store, "alice", 100);
    let row = only_account(&store);
    assert_eq!((row.feed.state, row.feed.failures), (AccountState::Active, 0));
}

fn account_that_is_reset_starts_over(location: &DatabaseLocation) {
    let store = open_accounts(location);
    follow(&store, "alice", None);
    finish(&store, "alice", 100);
    assert!(!store.restart_reset_account(HOST, &did("alice")).unwrap());
    assert_eq!(store.reset_accounts(HOST, &[did("alice"), did("bob")]).unwrap(), 1);
    let row = only_account(&store);
    assert_eq!((row.is_reset, row.head_at, row.feed.read_ms), (true, None, None));
    // what a poll that was under way finishes does not undo the reset
    finish(&store, "alice", 200);
    assert_eq!(only_account(&store).feed.read_ms, None);
    assert!(store.restart_reset_account(HOST, &did("alice")).unwrap());
    assert_eq!(store.lane_state(&feed("alice")).unwrap().coverage, Coverage::default());
    assert!(!only_account(&store).is_reset);
}

fn account_that_is_removed_keeps_its_posts(location: &DatabaseLocation) {
    let store = open_accounts(location);
    follow(&store, "alice", None);
    let written = post("alice", "a1", 10, "first");
    ingest_at(&store, "alice", std::slice::from_ref(&written), 300);
    finish(&store, "alice", 100);
    assert_eq!(store.unfollow_accounts(HOST, &[did("alice"), did("bob")]).unwrap(), 1);
    assert_eq!(store.accounts().unwrap(), []);
    assert_eq!(store.post_by_uri(&written.uri).unwrap().unwrap().post, written);
    assert_eq!(store.lane_state(&feed("alice")).unwrap().coverage, Coverage::default());
}

fn posts_that_a_walk_did_not_see_are_suspects(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let [low, old, seen, high] =
        [10, 20, 30, 40].map(|second| post("alice", &format!("a{second}"), second, "x"));
    ingest_at(&store, "alice", &[low, old.clone(), seen.clone(), high], 300);
    ingest_at(&store, "bob", &[post("bob", "b1", 25, "x")], 300);
    ingest_at(&store, "alice", std::slice::from_ref(&seen), 400);
    let [from, to, since] = [10_000, 40_000, 400_000].map(SourceInstant);
    let suspects = store.unlisted_posts(HOST, &did("alice"), from, to, since).unwrap();
    let uris: Vec<_> = suspects.into_iter().map(|suspect| suspect.uri).collect();
    assert_eq!(uris, [old.uri]);
    assert_eq!(store.listed_posts(HOST, &did("alice"), since, 5).unwrap(), [seen.uri]);
}

fn poll_state_has_the_columns_and_answers_the_queries_of_its_documentation(
    location: &DatabaseLocation,
) {
    let store = open_accounts(location);
    follow(&store, "alice", Some("alice.test"));
    follow(&store, "bob", Some("bob.test"));
    finish(&store, "alice", 100);
    let checked = [did("alice"), did("bob")];
    store.record_checked_accounts(HOST, &[], &checked, 86_400_000).unwrap();
    let one = "SELECT user_handle, last_cursor, cast(last_polled_at as text)
               FROM poll_state
               WHERE user_handle = 'alice.test'";
    let expected = [["alice.test", "1970-01-01T00:01:40Z", "1970-01-02 00:00:00"]];
    assert_eq!(query_raw(location, one), expected);
    let counts = "SELECT cast(has_cursor as text), cast(no_cursor as text) FROM (SELECT
            COUNT(CASE WHEN last_cursor IS NOT NULL AND last_cursor != ''
                       THEN 1 END) as has_cursor,
            COUNT(CASE WHEN last_cursor IS NULL OR last_cursor = ''
                       THEN 1 END) as no_cursor
        FROM poll_state) as counted;";
    assert_eq!(query_raw(location, counts), [["1", "1"]]);
    let without =
        "SELECT user_handle, cast(last_polled_at as text) FROM (SELECT user_handle, last_polled_at
        FROM poll_state
        WHERE last_cursor IS NULL OR last_cursor = ''
        ORDER BY last_polled_at DESC) as polled;";
    assert_eq!(query_raw(location, without), [["bob.test", "1970-01-02 00:00:00"]]);
    execute_raw(location, "DELETE FROM poll_state WHERE user_handle = 'alice.test';");
    assert_eq!(query_raw(location, counts), [["0", "2"]]);
    let reset: Vec<_> = store.accounts().unwrap().iter().map(|row| row.is_reset).collect();
    assert_eq!(reset, [true, false]);
}

fn follow(store: &LeasedStore, name: &str, handle: Option<&str>) -> u64 {
    let handle = handle.map(|handle| handle.parse().unwrap());
    store.follow_accounts(HOST, &[CheckedAccount { did: did(name), handle }], 5).unwrap()
}

fn polls_are_kept_for_a_week(location: &DatabaseLocation) {
    const DAY_MS: i64 = 86_400_000;
    let store = open_accounts(location);
    let round = |day: i64| PollRound {
        began_ms: day * DAY_MS,
        took_ms: 900,
        accounts: 342,
        feeds: 31,
        active: 20,
        initial: 1,
        skipped: 2,
        failed: 3,
        posts: 45,
        links: 12,
        removed: 4,
        requests: 46,
    };
    for day in [1, 2, 10] {
        store.record_poll(HOST, &round(day)).unwrap();
    }
    assert_eq!(store.poll_rounds(HOST, 10).unwrap(), [round(10), round(2)]);
    assert_eq!(store.poll_rounds(HOST, 1).unwrap(), [round(10)]);
    assert_eq!(store.poll_rounds("other", 1).unwrap(), []);
    // the clock was set back
    store.record_poll(HOST, &round(3)).unwrap();
    assert_eq!(store.poll_rounds(HOST, 10).unwrap(), [round(3), round(2)]);
}

/// Ends a walk of a feed whose newest item is of this second.
fn finish(store: &LeasedStore, name: &str, head_second: i64) {
    let coverage = Coverage {
        from: Some(ListingFloor::Beginning),
        through: Some(SourceInstant(head_second * 1_000)),
        ..Coverage::default()
    };
    let page = IngestPage { coverage: Some(coverage), ..IngestPage::new(feed(name), 50) };
    let finished = FinishedFeed { read_ms: 1_000, posts_count: Some(7), interval_ms: 60 };
    let progress = FeedProgress { names: Vec::new(), finished: Some(finished) };
    store.ingest_feed_page(&store.page_preparer().prepare_page(page), &progress).unwrap();
}

fn only_account(store: &StoreReader) -> AccountRow {
    let mut rows = store.accounts().unwrap();
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}
