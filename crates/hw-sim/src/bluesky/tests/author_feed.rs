//! Tests of feeds and their pages.

use serde_json::json;

use super::*;

#[test]
fn feed_lists_posts_newest_first_with_their_records() {
    let (mut app_view, did) = one_account();
    let posts = publish_posts(&mut app_view, &did, 3);
    let page = read_page(&mut app_view, &did, "");
    let newest_first: Vec<String> = posts.iter().rev().map(|post| post.uri.to_string()).collect();
    assert_eq!(item_uris(std::slice::from_ref(&page)), newest_first);
    let first = &page["feed"][0]["post"];
    assert_eq!(first["cid"], *posts[2].cid);
    assert_eq!(first["author"]["did"], *did);
    assert_eq!(first["author"]["handle"], "harbor-gazette.harbor.example");
    assert_eq!(first["record"]["$type"], "app.bsky.feed.post");
    assert_eq!(first["record"]["text"], "a plain post");
    assert_eq!(first["record"]["createdAt"], "2026-01-02T03:04:05.000Z");
    assert_eq!(first["indexedAt"], "2026-01-02T03:04:05.000Z");
}

#[test]
fn feed_is_read_whole_by_a_walk_in_both_cursor_formats() {
    for cursor_format in [CursorFormat::IsoTime, CursorFormat::MillisecondsCid] {
        for feed_end in [FeedEnd::EmptyPage, FeedEnd::MissingCursor] {
            let spec = BlueskySpec { cursor_format, feed_end, ..BlueskySpec::small() };
            let mut app_view = SimulatedAppView::new(&spec, 5);
            let did = app_view.world().dids().remove(0);
            let walked = item_uris(&walk_feed(&mut app_view, &did, 7));
            let truth = app_view.world().truth(app_view.now_ms);
            let mut expected: Vec<&TrueFeedItem> = truth.feed(&did).items.values().collect();
            expected.sort_by_key(|item| (-item.sort_ms, std::cmp::Reverse(&item.cid)));
            let expected: Vec<String> = expected.iter().map(|item| item.uri.clone()).collect();
            assert!(expected.len() > 50 && walked == expected, "{cursor_format:?} {feed_end:?}");
        }
    }
}

#[test]
fn feed_ends_with_an_empty_page_or_without_a_cursor() {
    for (feed_end, pages) in
        [(FeedEnd::EmptyPage, vec![2, 2, 0]), (FeedEnd::MissingCursor, vec![2, 2])]
    {
        let spec = BlueskySpec { feed_end, ..BlueskySpec::silent(1) };
        let mut app_view = SimulatedAppView::new(&spec, 1);
        let did = app_view.world().dids().remove(0);
        publish_posts(&mut app_view, &did, 4);
        let walked = walk_feed(&mut app_view, &did, 2);
        let sizes: Vec<usize> =
            walked.iter().map(|page| page["feed"].as_array().unwrap().len()).collect();
        assert_eq!(sizes, pages, "{feed_end:?}");
    }
}

#[test]
fn cursor_in_production_is_the_time_of_the_last_item() {
    let (mut app_view, did) = one_account();
    publish_posts(&mut app_view, &did, 3);
    let page = read_page(&mut app_view, &did, "&limit=2");
    assert_eq!(page["cursor"], "2026-01-02T03:04:04.000Z");
}

#[test]
fn cursor_stays_good_after_its_item_is_deleted() {
    for cursor_format in [CursorFormat::IsoTime, CursorFormat::MillisecondsCid] {
        let spec = BlueskySpec { cursor_format, ..BlueskySpec::silent(1) };
        let mut app_view = SimulatedAppView::new(&spec, 1);
        let did = app_view.world().dids().remove(0);
        let posts = publish_posts(&mut app_view, &did, 4);
        let page = read_page(&mut app_view, &did, "&limit=2");
        let cursor = page["cursor"].as_str().unwrap().to_owned();
        let now_ms = app_view.now_ms;
        app_view.world_mut().delete_post(&posts[2].uri, now_ms);
        let next = read_page(&mut app_view, &did, &format!("&limit=2&cursor={cursor}"));
        assert_eq!(item_uris(&[next]), [&*posts[1].uri, &*posts[0].uri], "{cursor_format:?}");
    }
}

#[test]
fn cursor_that_is_a_time_skips_items_of_the_same_time() {
    for (cursor_format, lost) in [(CursorFormat::IsoTime, 1), (CursorFormat::MillisecondsCid, 0)] {
        let spec = BlueskySpec { cursor_format, ..BlueskySpec::silent(1) };
        let mut app_view = SimulatedAppView::new(&spec, 1);
        let (did, now_ms) = (app_view.world().dids().remove(0), app_view.now_ms);
        for back_ms in [0, 5000, 5000, 9000] {
            let draft = PostDraft::from_text("x");
            app_view.world_mut().post(&did, draft, now_ms - back_ms);
        }
        let walked = item_uris(&walk_feed(&mut app_view, &did, 2));
        assert_eq!(walked.len(), 4 - lost, "{cursor_format:?}");
        let skipped = app_view.world().items_skipped_by_walk(&did, 2, cursor_format, now_ms);
        assert_eq!(skipped.len(), lost);
        assert!(skipped.iter().all(|uri| !walked.contains(uri)));
        let unreachable = app_view.world().unreachable_items(&did, cursor_format, now_ms);
        assert!(unreachable.is_empty(), "a larger page shows both");
    }
}

#[test]
fn cursor_that_is_malformed_fails_and_an_outdated_one_gets_an_empty_page() {
    let (mut app_view, did) = one_account();
    publish_posts(&mut app_view, &did, 2);
    let feed = format!("app.bsky.feed.getAuthorFeed?actor={did}&cursor=");
    let malformed = send_get(&mut app_view, &format!("{feed}tomorrow"));
    assert_eq!(malformed.error(), (500, "InternalServerError"));
    let outdated = send_get(&mut app_view, &format!("{feed}1767323045000%3A%3Abafyrei"));
    assert_eq!((outdated.status, outdated.body), (200, json!({ "feed": [] })));
}

#[test]
fn feed_puts_backdated_posts_below_and_future_ones_at_their_arrival() {
    let (mut app_view, did) = one_account();
    let now_ms = app_view.now_ms;
    let posts = publish_posts(&mut app_view, &did, 2);
    let world = app_view.world_mut();
    let old = world.backdate_post(&did, PostDraft::from_text("old"), now_ms - HOUR_MS, now_ms + 1);
    let future =
        world.backdate_post(&did, PostDraft::from_text("new"), now_ms + HOUR_MS, now_ms + 2);
    app_view.advance_to(now_ms + 10);
    let page = read_page(&mut app_view, &did, "");
    let expected = [&future, &posts[1], &posts[0], &old].map(|post| post.uri.to_string());
    assert_eq!(item_uris(&[page]), expected);
    let truth = app_view.world().truth(now_ms + 10);
    let backdated: Vec<&str> =
        truth.feed(&did).backdated_since(0).map(|item| item.uri.as_str()).collect();
    assert_eq!(backdated, [&*old.uri]);
}

#[test]
fn feed_contains_reposts_with_their_own_uri_and_the_original_author() {
    let (mut app_view, did) = one_account();
    let (other, now_ms) = (app_view.world().dids().remove(1), app_view.now_ms);
    let original = publish_posts(&mut app_view, &other, 1).remove(0);
    let repost = app_view.world_mut().repost(&did, &original.uri, now_ms + 60_000);
    app_view.advance_to(now_ms + 60_000);
    let page = read_page(&mut app_view, &did, "");
    let item = &page["feed"][0];
    assert_eq!(item["post"]["uri"], *original.uri);
    assert_eq!(item["post"]["author"]["did"], *other);
    assert_eq!(item["reason"]["$type"], "app.bsky.feed.defs#reasonRepost");
    assert_eq!(item["reason"]["by"]["did"], *did);
    assert_eq!(item["reason"]["uri"], *repost.uri);
    assert_eq!(item["reason"]["cid"], *repost.cid);
    assert_eq!(item["reason"]["indexedAt"], "2026-01-02T03:05:05.000Z");
    assert!(repost.uri.starts_with(&format!("at://{did}/app.bsky.feed.repost/")));
}

#[test]
fn feed_repeats_a_post_that_its_author_reposts() {
    let (mut app_view, did) = one_account();
    let now_ms = app_view.now_ms;
    let post = publish_posts(&mut app_view, &did, 1).remove(0);
    app_view.world_mut().repost(&did, &post.uri, now_ms);
    let page = read_page(&mut app_view, &did, "");
    let uris: Vec<&str> = page["feed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["post"]["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, [&*post.uri, &*post.uri]);
}

#[test]
fn feed_page_is_short_or_empty_where_reposted_posts_are_gone() {
    let (mut app_view, did) = one_account();
    let (other, now_ms) = (app_view.world().dids().remove(1), app_view.now_ms);
    let own = publish_posts(&mut app_view, &did, 1).remove(0);
    let originals = publish_posts(&mut app_view, &other, 3);
    for (after_ms, original) in (1..).zip(&originals) {
        app_view.world_mut().repost(&did, &original.uri, now_ms + after_ms);
    }
    app_view.advance_to(now_ms + 10);
    app_view.world_mut().delete_post(&originals[2].uri, now_ms + 10);
    let sizes = |app_view: &mut SimulatedAppView| -> Vec<usize> {
        let pages = walk_feed(app_view, &did, 2);
        pages.iter().map(|page| page["feed"].as_array().unwrap().len()).collect()
    };
    assert_eq!(sizes(&mut app_view), [1, 2, 0], "a short page before the end");
    app_view.world_mut().deactivate(&other);
    assert_eq!(sizes(&mut app_view), [0, 1, 0], "an empty page with a cursor");
    let truth = app_view.world().truth(now_ms + 10);
    assert_eq!(truth.feed(&did).items.keys().collect::<Vec<_>>(), [&*own.uri]);
    assert_eq!(truth.feed(&did).hidden.len(), 3);
}

#[test]
fn pin_comes_first_beyond_the_limit_and_again_at_its_place() {
    let (mut app_view, did) = one_account();
    let posts = publish_posts(&mut app_view, &did, 4);
    app_view.world_mut().pin_post(&posts[0].uri);
    let first = read_page(&mut app_view, &did, "&limit=2&includePins=true");
    let uris = item_uris(std::slice::from_ref(&first));
    assert_eq!(uris, [&*posts[0].uri, &*posts[3].uri, &*posts[2].uri]);
    assert_eq!(first["feed"][0]["reason"]["$type"], "app.bsky.feed.defs#reasonPin");
    let cursor = first["cursor"].as_str().unwrap();
    let parameters = format!("&limit=2&includePins=true&cursor={cursor}");
    let second = read_page(&mut app_view, &did, &parameters);
    assert_eq!(item_uris(&[second]), [&*posts[1].uri, &*posts[0].uri]);
    let without = read_page(&mut app_view, &did, "&limit=2");
    assert_eq!(item_uris(&[without]), [&*posts[3].uri, &*posts[2].uri]);
}

#[test]
fn feed_filter_leaves_out_replies_or_everything_without_images() {
    let (mut app_view, did) = one_account();
    let (other, now_ms) = (app_view.world().dids().remove(1), app_view.now_ms);
    let root = publish_posts(&mut app_view, &other, 1).remove(0);
    let world = app_view.world_mut();
    let reply = PostDraft::from_text("a reply").with_reply(&root, &root);
    let reply = world.post(&did, reply, now_ms - 3000);
    let photo = PostDraft::from_text("a photo").with_images(&["quay"]);
    let photo = world.post(&did, photo, now_ms - 2000);
    let repost = world.repost(&did, &root.uri, now_ms - 1000);
    let mut uris = |filter: &str| item_uris(&[read_page(&mut app_view, &did, filter)]);
    assert_eq!(uris(""), [&*repost.uri, &*photo.uri, &*reply.uri]);
    assert_eq!(uris("&filter=posts_no_replies"), [&*repost.uri, &*photo.uri]);
    assert_eq!(uris("&filter=posts_and_author_threads"), [&*repost.uri, &*photo.uri]);
    assert_eq!(uris("&filter=posts_with_media"), [&*photo.uri]);
    assert_eq!(uris("&filter=posts_with_video"), [""; 0]);
}

#[test]
fn feed_refuses_a_limit_that_is_not_between_1_and_100() {
    let (mut app_view, did) = one_account();
    for limit in ["0", "101", "-3", "many"] {
        let feed = format!("app.bsky.feed.getAuthorFeed?actor={did}&limit={limit}");
        assert_eq!(send_get(&mut app_view, &feed).error(), (400, "InvalidRequest"), "{limit}");
    }
    assert_eq!(
        send_get(&mut app_view, "app.bsky.feed.getAuthorFeed").error(),
        (400, "InvalidRequest")
    );
    publish_posts(&mut app_view, &did, 120);
    let sizes = ["", "&limit=100"]
        .map(|limit| read_page(&mut app_view, &did, limit)["feed"].as_array().unwrap().len());
    assert_eq!(sizes, [50, 100]);
}

#[test]
fn post_appears_once_it_is_indexed_below_faster_ones() {
    let spec = BlueskySpec { index_lag_ms: 2000..=2000, ..BlueskySpec::silent(1) };
    let mut app_view = SimulatedAppView::new(&spec, 1);
    let (did, now_ms) = (app_view.world().dids().remove(0), app_view.now_ms);
    let slow = app_view.world_mut().post(&did, PostDraft::from_text("slow"), now_ms);
    app_view.world_mut().post_burst(&did, 1, now_ms + 500, 0);
    app_view.advance_to(now_ms + 1000);
    assert_eq!(item_uris(&[read_page(&mut app_view, &did, "")]).len(), 1);
    assert_eq!(app_view.world().truth(now_ms + 1000).feed(&did).posts_count, 1);
    app_view.advance_to(now_ms + 2000);
    assert_eq!(item_uris(&[read_page(&mut app_view, &did, "")])[1], *slow.uri);
    let truth = app_view.world().truth(now_ms + 2000);
    assert!(truth.feed(&did).items[&*slow.uri].is_backdated);
    assert_eq!(truth.feed(&did).posts_count, 2);
}

#[test]
fn edit_keeps_the_uri_and_changes_the_cid() {
    let (mut app_view, did) = one_account();
    let now_ms = app_view.now_ms;
    let post = publish_posts(&mut app_view, &did, 2).remove(0);
    let edited = PostDraft::from_text("corrected");
    let edited = app_view.world_mut().edit_post(&post.uri, edited, now_ms);
    assert!(edited.uri == post.uri && edited.cid != post.cid);
    let page = read_page(&mut app_view, &did, "");
    let shown = &page["feed"][1]["post"];
    assert_eq!((&shown["uri"], &shown["cid"]), (&json!(&*post.uri), &json!(&*edited.cid)));
    assert_eq!(shown["record"]["text"], "corrected");
    assert_eq!(shown["record"]["createdAt"], "2026-01-02T03:04:04.000Z");
}
