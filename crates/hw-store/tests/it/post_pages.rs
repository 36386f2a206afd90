//! Posts: read in pages, without replies, with what may be missing from them, and their reposts.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use hw_rules::bluesky::account_state::AccountState;
use hw_rules::bluesky::post::{Post, PostReply, Repost};
use hw_rules::date_range::DateRange;
use hw_rules::missing_text::describe_missing;
use hw_rules::source_time::SourceInstant;
use hw_store::{
    CheckedAccount, DatabaseLocation, FeedProgress, FinishedFeed, IngestPage, LeasedStore,
    PostCursor, PostFilter, ReplySelection, RepostSelection, StoreError,
};

use crate::databases::execute_raw;
use crate::posts::{HOST, did, feed, ingest_at, open_accounts, post};

both![
    posts_are_read_in_pages_up_to_the_limit,
    posts_that_are_damaged_are_counted_once_over_all_pages,
    posts_are_listed_without_replies,
    reposts_of_a_post_are_found,
    posts_are_counted_as_they_are_listed,
    completeness_of_everything_has_the_feeds_and_no_mirror_that_was_not_pulled,
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

fn posts_are_counted_as_they_are_listed(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let first = post("alice", "a1", 10, "first");
    let mut reply = post("bob", "b1", 20, "reply");
    reply.reply = Some(PostReply { parent: first.uri.clone(), root: first.uri.clone() });
    let repost = Post {
        uri: "at://did:plc:bob/app.bsky.feed.repost/r1".parse().unwrap(),
        sort_at: crate::fixture::source_time(30),
        repost: Some(Repost {
            by: did("bob"),
            subject: first.uri.clone(),
            reposted_at: crate::fixture::source_time(30),
        }),
        ..first.clone()
    };
    ingest_at(&store, "alice", &[first], 300);
    ingest_at(&store, "bob", &[reply, repost], 300);
    let mut counts = BTreeSet::new();
    for accounts in [
        &[][..],
        &["alice.test"],
        &["did:plc:bob"],
        &["@Alice.test", "did:plc:bob"],
        &["alice.test", "did:plc:alice"],
        &["x.test"],
    ] {
        for reposts in [RepostSelection::Included, RepostSelection::Excluded] {
            for replies in [ReplySelection::Included, ReplySelection::Excluded] {
                for from in [None, Some(SourceInstant(20_000))] {
                    let filter = PostFilter {
                        accounts: accounts.iter().map(|name| (*name).to_owned()).collect(),
                        created: DateRange { from, to: None },
                        reposts,
                        replies,
                        ..PostFilter::default()
                    };
                    let count = store.count_posts(&filter).unwrap();
                    let listed = read_pages(&store, &filter, 9).0;
                    assert_eq!(count, listed.len() as u64, "{filter:?}");
                    assert_eq!(read_pages(&store, &filter, 1).0, listed, "{filter:?}");
                    let limited = PostFilter { limit: Some(1), ..filter.clone() };
                    assert_eq!(store.count_posts(&limited).unwrap(), count);
                    let after = first_cursor(&store, &filter);
                    let rest = PostFilter { after, ..filter };
                    let rest = store.count_posts(&rest).unwrap();
                    assert_eq!(rest, count.saturating_sub(1));
                    counts.insert(count);
                }
            }
        }
    }
    assert_eq!(counts, BTreeSet::from([0, 1, 2, 3]), "the filters differ");
}

fn completeness_of_everything_has_the_feeds_and_no_mirror_that_was_not_pulled(
    location: &DatabaseLocation,
) {
    let store = open_accounts(location);
    let overall = |store: &LeasedStore| {
        let missing = store.overall_completeness().unwrap().missing;
        missing.iter().map(describe_missing).collect::<Vec<_>>()
    };
    let unpulled = overall(&store);
    assert!(unpulled.contains(&"no issues have been pulled into this workspace".to_owned()));
    let alice = CheckedAccount { did: did("alice"), handle: None };
    store.follow_accounts(HOST, &[alice], 0).unwrap();
    assert_eq!(overall(&store), ["the posts of alice.test were never polled"]);
    finish_feed(&store, "alice", 50_000);
    let overall = store.overall_completeness().unwrap();
    assert_eq!((overall.fresh_through, overall.missing), (Some(SourceInstant(50_000)), vec![]));
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
        "the posts of did:plc:carol were never polled",
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
    let unknown = "this workspace does not follow nobody.test";
    assert_eq!(missing(&store, &["nobody.test", "alice.test"]), [unknown]);
    store.unfollow_accounts(HOST, &[did("alice")]).unwrap();
    assert_eq!(missing(&store, &["@alice.test"]), ["this workspace does not follow @alice.test"]);
}

fn missing(store: &LeasedStore, names: &[&str]) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let missing = store.post_completeness(&names).unwrap().missing;
    missing.iter().map(describe_missing).collect()
}

fn finish_feed(store: &LeasedStore, account: &str, read_ms: i64) {
    let finished = FinishedFeed { read_ms, posts_count: Some(1), interval_ms: 60_000 };
    let progress = FeedProgress { names: Vec::new(), finished: Some(finished) };
    let page = store.page_preparer().prepare_page(IngestPage::new(feed(account), 50));
    store.ingest_feed_page(&page, &progress).unwrap();
}

fn first_cursor(store: &LeasedStore, filter: &PostFilter) -> Option<PostCursor> {
    let mut first = None;
    let done = store.each_post(filter, &mut |row| {
        first = Some(PostCursor::from_row(&row));
        ControlFlow::Break(())
    });
    done.unwrap();
    first
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
