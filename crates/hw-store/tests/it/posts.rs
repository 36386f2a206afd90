//! Posts and reposts: stored, listed, found, ranked by their links, and removed.

use std::ops::ControlFlow;

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::links::{LinkOrigin, PostLink};
use hw_rules::bluesky::post::{Post, Repost};
use hw_rules::date_range::DateRange;
use hw_rules::duty::DutyName;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Lane;
use hw_rules::source_time::SourceInstant;
use hw_store::{
    AccountName, DatabaseLocation, FeedProgress, IngestCounts, IngestPage, LeasedStore, PostCursor,
    PostFilter, PostRow, RepostSelection, StoreReader, StoreWriter,
};

use crate::databases::execute_raw;
use crate::fixture::{observed_at, search_hits, source_time};

pub(crate) const HOST: &str = "bsky.app";

both![
    posts_are_listed_newest_first_with_the_names_of_their_accounts,
    posts_are_filtered_by_account_time_and_kind,
    post_that_is_edited_has_its_newest_text_and_links,
    post_is_found_by_its_words_and_by_the_name_of_its_account,
    post_that_is_removed_leaves_search_and_links_and_can_be_restored,
    post_whose_row_was_changed_is_found_by_the_verification,
    repost_is_an_item_of_its_own,
    trending_links_are_ranked_by_distinct_accounts,
    posts_outlive_a_mirror_that_is_fetched_again,
];

fn posts_are_listed_newest_first_with_the_names_of_their_accounts(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let page = [post("alice", "a1", 10, "first"), post("alice", "a2", 20, "second\0third")];
    ingest(&store, "alice", &page);
    ingest(&store, "bob", &[post("bob", "b1", 15, "other")]);
    let rows = list(&store, &PostFilter::default());
    let texts: Vec<_> = rows.iter().map(|row| (row.sharer_name(), &*row.post.text)).collect();
    let expected =
        [("alice.test", "second\0third"), ("did:plc:bob", "other"), ("alice.test", "first")];
    assert_eq!(texts, expected);
    let stored = store.post_by_uri(&page[0].uri).unwrap().unwrap();
    assert_eq!(stored.post, page[0]);
}

fn posts_are_filtered_by_account_time_and_kind(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let first = post("alice", "a1", 10, "first");
    ingest(&store, "alice", &[first.clone(), post("alice", "a2", 20, "second")]);
    ingest(&store, "bob", &[repost("bob", "r1", 30, &first)]);
    let all = PostFilter::default();
    let texts = |filter: &PostFilter| -> Vec<String> {
        list(&store, filter).into_iter().map(|row| row.post.text).collect()
    };
    assert_eq!(texts(&all), ["first", "second", "first"]);
    let of = |names: &[&str]| PostFilter {
        accounts: names.iter().map(|name| (*name).to_owned()).collect(),
        ..all.clone()
    };
    assert_eq!(texts(&of(&["@Alice.Test"])), ["second", "first"]);
    assert_eq!(texts(&of(&["did:plc:bob"])), ["first"]);
    assert_eq!(texts(&of(&["alice.test", "did:plc:bob"])).len(), 3);
    assert_eq!(texts(&of(&["nobody.test"])), [""; 0]);
    assert_eq!(
        texts(&PostFilter { reposts: RepostSelection::Excluded, ..all.clone() }),
        ["second", "first"]
    );
    let since = DateRange { from: Some(SourceInstant(20_000)), to: None };
    assert_eq!(texts(&PostFilter { created: since, ..all.clone() }), ["first", "second"]);
    let newest = list(&store, &PostFilter { limit: Some(1), ..all.clone() });
    let after = Some(PostCursor::from_row(&newest[0]));
    assert_eq!(texts(&PostFilter { after, ..all }), ["second", "first"]);
}

fn post_that_is_edited_has_its_newest_text_and_links(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let mut written = post("alice", "a1", 10, "before");
    written.links = vec![link("https://old.test/a")];
    ingest(&store, "alice", &[written.clone()]);
    written.text = "after".to_owned();
    written.cid = "bafyreignewer".parse().unwrap();
    written.links = vec![link("https://new.test/b")];
    let counts = ingest_at(&store, "alice", &[written.clone()], 500);
    assert_eq!(counts.edited, 1);
    // an older look at it changes nothing
    let older = Post { text: "before".to_owned(), ..written.clone() };
    ingest_at(&store, "alice", &[older], 400);
    assert_eq!(list(&store, &PostFilter::default())[0].post, written);
    let links: Vec<_> = trending(&store, 0).into_iter().map(|(url, _)| url).collect();
    assert_eq!(links, ["https://new.test/b"]);
    assert!(search_hits(&store, "before", 9).is_empty());
    assert_eq!(search_hits(&store, "after", 9).len(), 1);
}

fn post_is_found_by_its_words_and_by_the_name_of_its_account(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let pump = post("alice", "a1", 10, "the foo-bar pump leaks\nbadly");
    ingest(&store, "alice", std::slice::from_ref(&pump));
    ingest(&store, "bob", &[post("bob", "b1", 20, "another foo-bar")]);
    let urls = |query: &str| -> Vec<String> {
        search_hits(&store, query, 9).into_iter().map(|hit| hit.url).collect()
    };
    assert_eq!(urls("foo-bar").len(), 2);
    for query in [
        "foo-bar author:alice.test",
        "foo-bar type:post author:@Alice.Test",
        "type:post author:did:plc:alice",
        "author:alice.test",
        "foo-bar -author:did:plc:bob",
        "foo-bar created:1970-01-01 -another -type:issue",
        "leaks type:post",
    ] {
        assert_eq!(urls(query), ["https://bsky.app/profile/did:plc:alice/post/a1"], "{query}");
    }
    for query in [
        "foo-bar type:issue",
        "foo-bar -type:post",
        "foo-bar author:nobody.test",
        "foo-bar repo:pump",
        "foo-bar type:post state:open",
        "type:post -state:open",
        "foo-bar type:post label:bug",
    ] {
        assert!(urls(query).is_empty(), "{query}");
    }
    let hit = search_hits(&store, "leaks", 1).remove(0);
    assert_eq!((hit.type_name(), &*hit.title), ("post", "the foo-bar pump leaks"));
    assert_eq!(hit.author.as_deref(), Some("alice.test"));
    // an account is found by its newest name, whenever its posts were written
    name_accounts(&store, "alice", &[("alice", "renamed.test")]);
    assert_eq!(urls("leaks author:renamed.test").len(), 1);
    assert!(urls("leaks author:alice.test").is_empty());
}

fn post_that_is_removed_leaves_search_and_links_and_can_be_restored(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let mut gone = post("alice", "a1", 10, "gone");
    gone.links = vec![link("https://gone.test/")];
    ingest(&store, "alice", &[gone.clone(), post("alice", "a2", 20, "kept")]);
    let removed = [(gone.id(), observed_at(600))];
    assert_eq!(store.remove_posts(&feed("alice"), &removed, false).unwrap(), 1);
    assert_eq!(list(&store, &PostFilter::default()).len(), 1);
    assert!(trending(&store, 0).is_empty() && search_hits(&store, "gone", 9).is_empty());
    let deleted = store.removed_items(9).unwrap();
    assert_eq!(deleted[0].url, "https://bsky.app/profile/did:plc:alice/post/a1");
    // seen again later, it is back
    ingest_at(&store, "alice", &[gone], 700);
    assert_eq!(search_hits(&store, "gone", 9).len(), 1);
}

fn post_whose_row_was_changed_is_found_by_the_verification(location: &DatabaseLocation) {
    let store = open_accounts(location);
    ingest(&store, "alice", &[post("alice", "a1", 10, "sound"), post("alice", "a2", 20, "fine")]);
    assert!(damaged(&store).is_empty());
    execute_raw(location, "update posts set cid = 'bafyreigother' where sort_ms = 10000");
    assert_eq!(damaged(&store), ["its text differs from the one that was read"]);
}

fn repost_is_an_item_of_its_own(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let original = post("alice", "a1", 10, "mine");
    let own = repost("alice", "r1", 30, &original);
    let counts = ingest(&store, "alice", &[original, own.clone()]);
    assert_eq!(counts.created, 2);
    let rows = list(&store, &PostFilter::default());
    assert_eq!(rows[0].post, own);
    assert_eq!((rows[0].author_name(), rows[0].sharer_name()), ("alice.test", "alice.test"));
    let hits = search_hits(&store, "mine", 9);
    let reposted_by: Vec<_> = hits.iter().map(|hit| hit.reposted_by.as_deref()).collect();
    assert_eq!(reposted_by.iter().filter(|account| account.is_none()).count(), 1);
    assert!(reposted_by.contains(&Some("alice.test")));
}

fn trending_links_are_ranked_by_distinct_accounts(location: &DatabaseLocation) {
    let store = open_accounts(location);
    let shares = [
        ("alice", "a1", 10, "https://one.test/"),
        ("alice", "a2", 11, "https://one.test/"),
        ("alice", "a3", 12, "https://two.test/"),
        ("bob", "b1", 13, "https://two.test/"),
        ("bob", "b2", 14, "https://three.test/"),
    ];
    for (account, key, second, url) in shares {
        let mut shared = post(account, key, second, key);
        shared.links = vec![link(url)];
        ingest(&store, account, &[shared]);
    }
    let ranked = trending(&store, 0);
    let expected = [("https://two.test/", 2), ("https://three.test/", 1), ("https://one.test/", 1)];
    assert_eq!(ranked, expected.map(|(url, count)| (url.to_owned(), count)));
    let two = store.trending_links(SourceInstant(0), 1).unwrap().remove(0);
    assert_eq!(two.sharers, ["did:plc:bob", "alice.test"]);
    assert_eq!((&*two.newest.post.text, two.post_count), ("b1", 2));
    assert_eq!(trending(&store, 14_000).len(), 1);
}

fn posts_outlive_a_mirror_that_is_fetched_again(location: &DatabaseLocation) {
    let store = open_accounts(location);
    ingest(&store, "alice", &[post("alice", "a1", 10, "durable")]);
    drop(store);
    execute_raw(location, "update schema_version set guid = 'another'");
    let store = StoreWriter::open(location).unwrap();
    let store = store.claim_duty(&DutyName::accounts(HOST), "next", 0).unwrap().unwrap();
    crate::fixture::finish_chores(&store);
    assert_eq!(search_hits(&store, "durable type:post", 9).len(), 1);
    assert!(store.lane_state(&feed("alice")).unwrap().coverage.through.is_none());
    assert_eq!(ingest_at(&store, "alice", &[post("alice", "a1", 10, "durable")], 900).created, 0);
}

/// Opens the store of a poll. The name of one account is known.
pub(crate) fn open_accounts(location: &DatabaseLocation) -> LeasedStore {
    let store = StoreWriter::open(location).unwrap();
    let store = store.claim_duty(&DutyName::accounts(HOST), "me", 0).unwrap().unwrap();
    name_accounts(&store, "alice", &[("alice", "alice.test")]);
    store
}

pub(crate) fn did(name: &str) -> Did {
    format!("did:plc:{name}").parse().unwrap()
}

pub(crate) fn feed(name: &str) -> Lane {
    Lane::account_feed(HOST, did(name))
}

/// Stores names through an empty page of a feed.
pub(crate) fn name_accounts(store: &LeasedStore, account: &str, names: &[(&str, &str)]) {
    let names = names.iter().map(|(account, handle)| AccountName {
        did: did(account),
        handle: handle.parse().unwrap(),
    });
    let progress = FeedProgress { names: names.collect(), finished: None };
    let page = store.page_preparer().prepare_page(IngestPage::new(feed(account), 50));
    store.ingest_feed_page(&page, &progress).unwrap();
}

pub(crate) fn post(account: &str, key: &str, second: i64, text: &str) -> Post {
    let at = source_time(second);
    Post {
        uri: format!("at://did:plc:{account}/app.bsky.feed.post/{key}").parse().unwrap(),
        cid: format!("bafyreig{key}").parse().unwrap(),
        did: did(account),
        text: text.to_owned(),
        langs: vec!["en".to_owned()],
        created_at: Some(at.clone()),
        indexed_at: at.clone(),
        sort_at: at,
        reply: None,
        quote: None,
        repost: None,
        links: Vec::new(),
    }
}

fn repost(account: &str, key: &str, second: i64, subject: &Post) -> Post {
    let reposted_at = source_time(second);
    let repost =
        Repost { by: did(account), subject: subject.uri.clone(), reposted_at: reposted_at.clone() };
    Post {
        uri: format!("at://did:plc:{account}/app.bsky.feed.repost/{key}").parse().unwrap(),
        sort_at: reposted_at,
        repost: Some(repost),
        ..subject.clone()
    }
}

fn link(url: &str) -> PostLink {
    PostLink { url: url.to_owned(), normal: url.to_owned(), origin: LinkOrigin::Facet }
}

fn ingest(store: &LeasedStore, account: &str, posts: &[Post]) -> IngestCounts {
    ingest_at(store, account, posts, 300)
}

/// Ingests posts that were seen at this second.
pub(crate) fn ingest_at(
    store: &LeasedStore,
    account: &str,
    posts: &[Post],
    second: i64,
) -> IngestCounts {
    let observations = posts.iter().map(|post| ItemObservation {
        item: MirrorItem::Post(post.clone()),
        observed_at: observed_at(second),
    });
    let page =
        IngestPage { observations: observations.collect(), ..IngestPage::new(feed(account), 50) };
    let page = store.page_preparer().prepare_page(page);
    store.ingest_feed_page(&page, &FeedProgress { names: Vec::new(), finished: None }).unwrap()
}

fn list(store: &StoreReader, filter: &PostFilter) -> Vec<PostRow> {
    let mut rows = Vec::new();
    let skipped = store.each_post(filter, &mut |row| {
        rows.push(row);
        ControlFlow::Continue(())
    });
    assert_eq!(skipped.unwrap().0, 0);
    rows
}

fn trending(store: &StoreReader, since_ms: i64) -> Vec<(String, u64)> {
    let links = store.trending_links(SourceInstant(since_ms), 10).unwrap();
    links.into_iter().map(|link| (link.url, link.sharer_count)).collect()
}

fn damaged(store: &StoreReader) -> Vec<String> {
    let (mut reasons, mut next) = (Vec::new(), None);
    loop {
        let page = store.verify_page(next.as_ref()).unwrap();
        reasons.extend(page.damaged.into_iter().map(|item| item.reason));
        next = page.next;
        if next.is_none() {
            return reasons;
        }
    }
}
