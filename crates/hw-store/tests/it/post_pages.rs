//! Posts: read in pages, without replies, with what may be missing from them, and their reposts.

use hw_rules::bluesky::account_state::AccountState;
use hw_rules::bluesky::post::{Post, PostReply, Repost};
use hw_rules::missing_text::describe_missing;
use hw_rules::source_time::SourceInstant;
use hw_store::{
    CheckedAccount, DatabaseLocation, FeedProgress, FinishedFeed, IngestPage, LeasedStore,
    PostFilter, ReplySelection, StoreError,
};

use crate::databases::execute_raw;
use crate::posts::{HOST, did, feed, ingest_at, open_accounts, post};

both![
    posts_are_read_in_pages_up_to_the_limit,
    posts_that_are_damaged_are_counted_once_over_all_pages,
    posts_are_listed_without_replies,
    reposts_of_a_post_are_found,
    post_completeness_names_feeds_that_were_not_read_or_failed,
];

fn posts_are_read_in_pages_up_to_the_limit(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let posts: Vec<Post> =
        (0..7).map(|n| post("alice", &format!("a{n}"), 10 + n / 2, &n.to_string())).collect();
    ingest_at(&store, "alice", &posts, 300);
    let (all, skipped) = read_pages(&store, &PostFilter::default(), 100);
    assert_eq!((all.len(), skipped), (7, 0));
    for size in 1..=8 {
        assert_eq!(read_pages(&store, &PostFilter::default(), size).0, all, "{size}");
        let limited = PostFilter { limit: Some(5), ..PostFilter::default() };
        assert_eq!(read_pages(&store, &limited, size).0, all[..5], "{size}");
    }
}

fn posts_that_are_damaged_are_counted_once_over_all_pages(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let posts: Vec<Post> =
        (0..7).map(|n| post("alice", &format!("a{n}"), 10 + n, &n.to_string())).collect();
    ingest_at(&store, "alice", &posts, 300);
    execute_raw(location, "update posts set langs = 'x' where sort_ms in (10000, 13000, 14000)");
    for size in 1..=8 {
        let (texts, skipped) = read_pages(&store, &PostFilter::default(), size);
        assert_eq!((texts.concat().as_str(), skipped), ("6521", 3), "{size}");
    }
}

fn posts_are_listed_without_replies(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let first = post("alice", "a1", 10, "first");
    let mut reply = post("alice", "a2", 20, "reply");
    reply.reply = Some(PostReply { parent: first.uri.clone(), root: first.uri.clone() });
    ingest_at(&store, "alice", &[first, reply], 300);
    let filter = PostFilter { replies: ReplySelection::Excluded, ..PostFilter::default() };
    assert_eq!(read_pages(&store, &filter, 100).0, ["first"]);
    assert!(!filter.is_unfiltered() && PostFilter::default().is_unfiltered());
}

fn reposts_of_a_post_are_found(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let original = post("carol", "c1", 10, "shared");
    let repost = |second| Post {
        uri: format!("at://did:plc:bob/app.bsky.feed.repost/r{second}").parse().unwrap(),
        sort_at: crate::fixture::source_time(second),
        repost: Some(Repost {
            by: did("bob"),
            subject: original.uri.clone(),
            reposted_at: crate::fixture::source_time(second),
        }),
        ..original.clone()
    };
    ingest_at(&store, "bob", &[repost(30), repost(40)], 300);
    assert_eq!(store.post_by_uri(&original.uri).unwrap(), None);
    let found = store.reposts_of(&original.uri).unwrap().rows;
    let times: Vec<_> = found.iter().map(|row| row.post.sort_at.instant().0).collect();
    assert_eq!(times, [40_000, 30_000]);
    assert!(store.reposts_of(&repost(30).uri).unwrap().rows.is_empty());
}

fn post_completeness_names_feeds_that_were_not_read_or_failed(location: &DatabaseLocation) {
    let store = open_accounts(location);
    assert_eq!(missing(&store, &[]), [""; 0]);
    let accounts = ["alice", "bob", "carol", "dave"];
    let accounts = accounts.map(|name| CheckedAccount { did: did(name), handle: None });
    store.follow_accounts(HOST, &accounts, 0).unwrap();
    finish_feed(&store, "alice", 50_000);
    finish_feed(&store, "bob", 40_000);
    store.record_failed_account(HOST, &did("bob"), "timed out").unwrap();
    let suspended = AccountState::Suspended;
    store.record_unavailable_account(HOST, &did("dave"), suspended, "taken down", 0).unwrap();
    let expected = [
        "the posts of did:plc:carol were never pulled",
        "the last update of the posts of did:plc:bob failed",
    ];
    assert_eq!(missing(&store, &[]), expected);
    assert_eq!(store.post_completeness(&[]).unwrap().fresh_through, None);
    let named = ["alice.test", "@Alice.test"].map(str::to_owned);
    let completeness = store.post_completeness(&named).unwrap();
    assert_eq!(completeness.fresh_through, Some(SourceInstant(50_000)));
    assert!(completeness.missing.is_empty());
    let failed = "the last update of the posts of did:plc:dave failed";
    assert_eq!(missing(&store, &["did:plc:dave"]), [failed]);
}

fn missing(store: &LeasedStore, names: &[&str]) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let missing = store.post_completeness(&names).unwrap().missing;
    missing.iter().map(describe_missing).collect()
}

fn finish_feed(store: &LeasedStore, account: &str, read_ms: i64) {
    let finished =
        FinishedFeed { read_ms, is_daily: true, posts_count: Some(1), interval_ms: 60_000 };
    let progress = FeedProgress { names: Vec::new(), finished: Some(finished) };
    let page = store.page_preparer().prepare_page(IngestPage::new(feed(account), 50));
    store.ingest_feed_page(&page, &progress).unwrap();
}

/// Returns the texts of all pages, and the number of damaged posts.
fn read_pages(store: &LeasedStore, filter: &PostFilter, size: u64) -> (Vec<String>, u64) {
    let mut texts = Vec::new();
    let skipped = store.each_post_in_pages(filter, size, &mut |row| -> Result<(), StoreError> {
        texts.push(row.post.text);
        Ok(())
    });
    (texts, skipped.unwrap().0)
}
