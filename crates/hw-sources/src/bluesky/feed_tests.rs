use hw_rules::bluesky::links::LinkOrigin;
use hw_rules::bluesky::record_uri;
use serde_json::{Value, json};

use super::*;
use crate::bluesky::sample_responses::{
    ALICE, BOB, DATE_SECONDS, FEED_PAGE, alice_post, response_with_body,
};

#[test]
fn feed_is_requested_without_pins_and_after_its_cursor() {
    let cursor = PageCursor("1767225600000::bafy".into());
    for (position, size, last) in [
        (FeedPosition::Top, 50, ("includePins", "false")),
        (FeedPosition::After(&cursor), 500, ("cursor", "1767225600000::bafy")),
    ] {
        let request = AuthorFeedQuery { did: &alice(), position }.request(size);
        assert_eq!(request.method, "app.bsky.feed.getAuthorFeed");
        let params: Vec<_> =
            request.params.iter().map(|(name, text)| (*name, text.as_str())).collect();
        assert_eq!(params[..2], [("actor", ALICE), ("limit", &size.min(100).to_string())]);
        assert_eq!(params.last(), Some(&last));
    }
}

#[test]
fn feed_page_has_posts_reposts_and_quotes() {
    let page = read_feed(&serde_json::from_str(&FEED_PAGE.replace("\\ud83d", "x")).unwrap());
    assert_eq!(page.unreadable, []);
    assert_eq!(page.rows.count, 3);
    assert_eq!(page.listing.next, Some(PageCursor("2025-12-31T21:00:00Z".into())));
    let [reply, repost, quote] = &page.posts[..] else { panic!("{:?}", page.posts) };

    assert_eq!(reply.post.text, "@bob é example.com/a?u... or https://b.example/x.");
    assert_eq!(reply.post.langs, ["en", "de"]);
    assert_eq!(reply.post.sort_at.as_str(), "2025-12-31T23:00:00.123Z");
    assert_eq!(reply.post.indexed_at.as_str(), "2025-12-31T23:00:01.000Z");
    let thread = reply.post.reply.as_ref().unwrap();
    assert!(thread.parent.as_str().ends_with("3m2bbbbbbbb2c"));
    assert!(thread.root.as_str().ends_with("3m2cccccccc2c"));
    let links: Vec<_> =
        reply.post.links.iter().map(|link| (link.origin, link.normal.as_str())).collect();
    assert_eq!(
        links,
        [(LinkOrigin::Facet, "https://example.com/a"), (LinkOrigin::Text, "https://b.example/x")]
    );
    assert_eq!(reply.observed_at.request, 9);

    assert_eq!(
        repost.post.uri.as_str(),
        format!("at://{ALICE}/app.bsky.feed.repost/3m2eeeeeeee2c")
    );
    assert_eq!((repost.post.did.as_str(), repost.post.sharer().as_str()), (BOB, ALICE));
    assert_eq!(repost.post.sort_at.as_str(), "2025-12-31T22:00:00.000Z");
    assert_eq!(repost.post.indexed_at.as_str(), "2025-11-01T00:00:01.000Z");
    assert!(repost.post.text_uri().as_str().ends_with("3m2dddddddd2c"));

    assert!(quote.post.quote.as_ref().unwrap().as_str().ends_with("3m2gggggggg2c"));
    assert_eq!(quote.post.links[0].normal, "https://news.example/story");
    assert_eq!(quote.post.links[0].origin, LinkOrigin::Embed);
}

#[test]
fn feed_page_shows_the_rules_the_time_and_place_of_its_rows() {
    let page = read_feed(&serde_json::from_str(&FEED_PAGE.replace("\\ud83d", "x")).unwrap());
    let ids: Vec<i64> = page.listing.entries.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, page.posts.iter().map(|row| row.post.id()).collect::<Vec<_>>());
    assert_eq!(page.listing.date, SourceInstant(DATE_SECONDS * 1_000));
    assert!(page.listing.entries.iter().all(|entry| entry.cursor.0 == TOP_CURSOR));
    let handles: Vec<&str> = page.handles.values().map(Handle::as_str).collect();
    assert_eq!(handles, ["alice.test", "bob.test"]);
    let newest = ListingFloor::At(page.posts[0].post.sort_at.instant());
    assert_eq!(page.judge_end(FeedPosition::Top, newest), FeedEnd::ReachedStop);
    let cursor = PageCursor("2025-12-31T21:00:00Z".into());
    let beginning = page.judge_end(FeedPosition::Top, ListingFloor::Beginning);
    assert_eq!(beginning, FeedEnd::Continues(cursor));
}

#[test]
fn feed_rows_that_cannot_be_read_do_not_affect_the_others() {
    let readable = json!({ "post": alice_post("3k1", "2026-01-01T00:00:00Z") });
    for (name, row, subject, reason) in [
        ("no post", json!({}), "at 1", "missing field `post`"),
        ("null", json!(null), "at 1", "missing field `post`"),
        ("text is missing", post_row(&["record"], json!({})), KEY_2, "missing field `text`"),
        (
            "endless text",
            post_row(&["record", "text"], json!("x".repeat(70_000))),
            KEY_2,
            "impossible: its text has 70000 bytes",
        ),
        ("time", post_row(&["indexedAt"], json!("yesterday")), KEY_2, "not an RFC 3339 time"),
        ("false URI", post_row(&["uri"], json!("at://x")), "at://x", "not the URI of a record"),
        ("hidden URI", post_row(&["uri"], json!("at://\u{202e}")), "at 1", "not the URI"),
        ("false CID", post_row(&["cid"], json!("")), KEY_2, "not a CID"),
        ("foreign URI", post_row(&["author", "did"], json!(BOB)), KEY_2, "impossible: its account"),
        ("other reason", reason_row(&json!({ "$type": "x#y" })), "at 1", "unknown reason \"x#y\""),
        ("foreign repost", repost_row(BOB, "repost", "3k9"), KEY_9, "impossible: its account"),
        ("no repost", repost_row(ALICE, "like", "3k9"), "app.bsky.feed.like/3k9", "impossible"),
    ] {
        let page = read_feed(&json!({ "feed": [readable, row, readable] }));
        assert_eq!(
            (page.posts.len(), page.rows.count),
            (1, 3),
            "{name}: the third row repeats the first"
        );
        let [unreadable] = &page.unreadable[..] else { panic!("{name}: {:?}", page.unreadable) };
        assert!(unreadable.subject.to_string().contains(subject), "{name}: {unreadable:?}");
        assert!(unreadable.reason.contains(reason), "{name}: {unreadable:?}");
        assert!(unreadable.reason.len() < 1_000 && !unreadable.reason.contains('\u{202e}'));
    }
}

#[test]
fn feed_counts_the_time_of_a_row_that_cannot_be_read() {
    let mut row = post_row(&["record"], json!(7));
    row["post"]["indexedAt"] = json!("2020-01-01T00:00:00Z");
    let page = read_feed(&json!({ "feed": [row] }));
    let time = SourceTime::parse("2020-01-01T00:00:00Z").unwrap();
    assert_eq!(page.rows, FeedRows { count: 1, oldest: Some(time.instant()) });
    assert_eq!(page.unreadable[0].updated_at, Some(time));
    // the time of the readable row, which releases this one from the quarantine
    let mut row = post_row(&["record", "createdAt"], json!("2019-01-01T00:00:00Z"));
    let readable = read_feed(&json!({ "feed": [row] }));
    row["post"]["cid"] = json!("");
    let unreadable = read_feed(&json!({ "feed": [row] }));
    let time = Some(readable.posts[0].post.sort_at.clone());
    assert_eq!(unreadable.unreadable[0].updated_at, time);
    assert_eq!(unreadable.rows, readable.rows);
}

#[test]
fn feed_leaves_pins_to_their_own_place() {
    let mut pin = post_row(&["indexedAt"], json!("2019-01-01T00:00:00Z"));
    pin["reason"] = json!({ "$type": PIN_REASON });
    let post = json!({ "post": alice_post("3k1", "2026-01-01T00:00:00Z") });
    let page = read_feed(&json!({ "feed": [pin, post], "cursor": "c" }));
    assert_eq!((page.posts.len(), page.rows.count, page.unreadable.len()), (1, 1, 0));
    assert_eq!(page.rows.oldest, Some(page.posts[0].post.sort_at.instant()));
}

#[test]
fn feed_stores_a_self_repost_beside_its_post() {
    let post = json!({ "post": alice_post("3k2", "2026-01-01T00:00:00Z") });
    let page = read_feed(&json!({ "feed": [repost_row(ALICE, "repost", "3k9"), post] }));
    let uris: BTreeSet<&str> = page.posts.iter().map(|row| row.post.uri.as_str()).collect();
    assert_eq!((uris.len(), page.unreadable.len()), (2, 0));
    assert_eq!(page.posts[0].post.text_uri(), &page.posts[1].post.uri);
}

#[test]
fn feed_gives_a_repost_without_a_uri_one_that_stays_the_same() {
    let mut rows = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
        .map(|time| {
            let mut row = repost_row(ALICE, "repost", "3k9");
            row["reason"].as_object_mut().unwrap().remove("uri");
            row["reason"]["indexedAt"] = json!(time);
            row
        })
        .to_vec();
    let page = read_feed(&json!({ "feed": rows }));
    assert_eq!(page.posts.len(), 2, "two times, two reposts");
    assert!(page.posts.iter().all(|row| row.post.uri.is_repost()));
    rows.remove(0);
    let again = read_feed(&json!({ "feed": rows }));
    assert_eq!(again.posts, page.posts);
}

#[test]
fn feed_takes_a_record_with_other_faults_as_it_is() {
    let mut row = post_row(&["record", "createdAt"], json!("0000-13-99"));
    row["post"]["record"]["facets"] = json!([7, { "index": { "byteStart": -1 } }]);
    row["post"]["record"]["embed"] = json!("x");
    row["post"]["record"]["langs"] = json!({ "a": 1 });
    row["post"]["record"]["reply"] = json!({ "root": null });
    row["post"]["record"]["text"] = json!("nul \u{0} and \u{202e}bidi");
    let page = read_feed(&json!({ "feed": [row] }));
    let post = &page.posts[0].post;
    assert_eq!((post.created_at.is_none(), &post.sort_at), (true, &post.indexed_at));
    assert_eq!((post.reply.is_none(), post.quote.is_none()), (true, true));
    assert_eq!((post.links.len(), post.langs.len()), (0, 0));
    assert_eq!(post.text, "nul \0 and \u{202e}bidi", "texts are stored as they are");
}

#[test]
fn feed_reads_only_so_many_facets_of_a_text() {
    let facet = json!({
        "index": { "byteStart": 0, "byteEnd": 1 },
        "features": vec![json!({ "$type": "app.bsky.richtext.facet#link", "uri": "at://x" }); 900],
    });
    let good = json!({
        "index": { "byteStart": 0, "byteEnd": 1 },
        "features": [{ "$type": "app.bsky.richtext.facet#link", "uri": "https://a.example" }],
    });
    for (facets, links) in [(json!([facet, good]), 0), (json!([good, facet]), 1)] {
        let page = read_feed(&json!({ "feed": [post_row(&["record", "facets"], facets)] }));
        assert_eq!(page.posts[0].post.links.len(), links);
    }
}

#[test]
fn feed_without_rows_or_with_a_false_cursor_is_unusable() {
    for body in [
        json!({}),
        json!([]),
        json!({ "feed": null }),
        json!({ "feed": [], "cursor": 7 }),
        json!({ "feed": [], "cursor": "x".repeat(3_000) }),
    ] {
        let result = query_top(&alice()).parse(&response_with_body(&body), 50);
        assert!(matches!(result, Err(SourceError::InvalidResponse(_))), "{result:?}");
    }
    for cursor in [json!(null), json!("")] {
        let page = read_feed(&json!({ "feed": [], "cursor": cursor }));
        assert_eq!(page.listing.next, None);
    }
}

#[test]
fn feed_believes_a_server_error_to_be_about_a_stored_cursor_only() {
    let cursor = PageCursor("c".into());
    let (after, saved) = (FeedPosition::After(&cursor), FeedPosition::AfterSaved(&cursor));
    let (server, invalid) =
        (SourceError::Server("500".into()), SourceError::InvalidCursor("bad".into()));
    for (error, top, after_page, after_saved) in [
        (&server, false, false, true),
        (&invalid, false, true, true),
        (&SourceError::Network(String::new()), false, false, false),
    ] {
        let refusals =
            [FeedPosition::Top, after, saved].map(|position| is_cursor_refusal(error, position));
        assert_eq!(refusals, [top, after_page, after_saved], "{error}");
    }
}

#[test]
fn feed_items_have_the_id_of_their_uri() {
    let page = read_feed(&json!({ "feed": [repost_row(ALICE, "repost", "3k9")] }));
    let uri = format!("at://{ALICE}/app.bsky.feed.repost/3k9").parse().unwrap();
    assert_eq!(page.listing.entries[0].id, record_uri::record_id(&uri));
}

const KEY_2: &str = "app.bsky.feed.post/3k2";
const KEY_9: &str = "app.bsky.feed.repost/3k9";

fn alice() -> Did {
    ALICE.parse().unwrap()
}

fn query_top(did: &Did) -> AuthorFeedQuery<'_> {
    AuthorFeedQuery { did, position: FeedPosition::Top }
}

fn read_feed(body: &Value) -> FeedPage {
    query_top(&alice()).parse(&response_with_body(body), 50).unwrap()
}

/// Returns a row of Alice's feed whose post has this value at a path.
fn post_row(path: &[&str], value: Value) -> Value {
    let mut post = alice_post("3k2", "2026-01-01T00:00:00Z");
    *path.iter().fold(&mut post, |node, name| &mut node[*name]) = value;
    json!({ "post": post })
}

fn reason_row(reason: &Value) -> Value {
    json!({ "post": alice_post("3k2", "2026-01-01T00:00:00Z"), "reason": reason })
}

/// Returns a row that this account put into Alice's feed by a record of this kind.
fn repost_row(by: &str, kind: &str, key: &str) -> Value {
    reason_row(&json!({
        "$type": REPOST_REASON, "by": { "did": by, "handle": "any.test" },
        "uri": format!("at://{by}/app.bsky.feed.{kind}/{key}"),
        "indexedAt": "2026-01-02T00:00:00Z",
    }))
}
