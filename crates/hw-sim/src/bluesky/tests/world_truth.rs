//! Tests of the world and its oracle.

use std::collections::BTreeSet;

use super::*;

#[test]
fn truth_is_what_a_walk_of_every_feed_shows() {
    let mut backdated = 0;
    let mut hidden = 0;
    for seed in 1..=20 {
        let spec = BlueskySpec {
            hostile_text: seed % 2 == 0,
            cursor_format: CursorFormat::MillisecondsCid,
            index_lag_ms: 0..=5000,
            activity: BlueskyActivity::disruptive(30, i64::MAX),
            ..BlueskySpec::small()
        };
        let mut app_view = SimulatedAppView::new(&spec, seed);
        for minute in 1..=60 {
            app_view.advance_to(spec.start_ms + minute * 60_000);
        }
        let truth = app_view.world().truth(app_view.now_ms);
        for feed in truth.feeds.values() {
            if feed.is_available() {
                check_feed(&mut app_view, feed, seed);
            }
            backdated += feed.backdated_since(0).count();
            hidden += feed.hidden.len();
        }
    }
    assert!(backdated > 20 && hidden > 5, "{backdated} back-dated, {hidden} hidden");
}

/// Compares a feed as it is served with its truth.
fn check_feed(app_view: &mut SimulatedAppView, feed: &TrueFeed, seed: u64) {
    let pages = walk_feed(app_view, &feed.did, 13);
    let shown = pages.iter().flat_map(|page| page["feed"].as_array().unwrap());
    let shown: BTreeMap<String, &Value> = shown
        .map(|item| (item_uris(&[serde_json::json!({ "feed": [item] })]).remove(0), item))
        .collect();
    let uris: BTreeSet<&String> = feed.items.keys().collect();
    assert_eq!(shown.keys().collect::<BTreeSet<_>>(), uris, "seed {seed}");
    for (uri, item) in &feed.items {
        let post = &shown[uri]["post"];
        assert_eq!(post["record"]["text"], item.text, "seed {seed}");
        assert_eq!(post["record"]["createdAt"], item.created_at, "seed {seed}");
        assert_eq!(
            (&post["uri"], &post["cid"]),
            (&item.post_uri.clone().into(), &item.post_cid.clone().into())
        );
        assert_eq!(post["author"]["did"], item.author_did, "seed {seed}");
        let is_repost = shown[uri]["reason"]["$type"] == "app.bsky.feed.defs#reasonRepost";
        assert_eq!(is_repost, item.kind == FeedItemKind::Repost, "seed {seed}");
        let parent = post["record"]["reply"]["parent"]["uri"].as_str();
        assert_eq!(parent, item.reply_parent.as_deref(), "seed {seed}");
    }
    let profile = send_get(app_view, &format!("app.bsky.actor.getProfile?actor={}", feed.did)).body;
    assert_eq!(profile["postsCount"], feed.posts_count, "seed {seed}");
    let posts = feed.items.values().filter(|item| item.kind == FeedItemKind::Post).count();
    assert_eq!(posts, feed.posts_count, "seed {seed}");
}

#[test]
fn truth_keeps_what_was_deleted_with_its_time() {
    let (mut app_view, did) = one_account();
    let now_ms = app_view.now_ms;
    let posts = publish_posts(&mut app_view, &did, 3);
    let repost = app_view.world_mut().repost(&did, &posts[0].uri, now_ms);
    let world = app_view.world_mut();
    world.delete_post(&posts[2].uri, now_ms + 1000);
    world.delete_repost(&repost.uri, now_ms + 2000);
    let truth = world.truth(now_ms + 5000);
    let feed = truth.feed(&did);
    let deleted: Vec<(&str, i64)> = feed
        .deleted
        .values()
        .map(|deleted| (deleted.item.uri.as_str(), deleted.deleted_ms - now_ms))
        .collect();
    assert_eq!(deleted, [(&*posts[2].uri, 1000), (&*repost.uri, 2000)]);
    assert_eq!((feed.items.len(), feed.posts_count), (2, 2));
}

#[test]
fn truth_is_cut_at_the_look_back() {
    let (mut app_view, did) = one_account();
    let now_ms = app_view.now_ms;
    for hours in [1, 23, 25, 70] {
        let at_ms = now_ms - hours * HOUR_MS;
        app_view.world_mut().post(&did, PostDraft::from_text("x"), at_ms);
    }
    let truth = app_view.world().truth(now_ms);
    assert_eq!(truth.feed(&did).items_since(now_ms - 24 * HOUR_MS).count(), 2);
    assert_eq!(truth.feed(&did).items_since(0).count(), 4);
}

#[test]
fn truth_lists_the_links_of_facets_cards_and_texts() {
    let (mut app_view, did) = one_account();
    let (now_ms, quoted) = (app_view.now_ms, publish_posts(&mut app_view, &did, 1).remove(0));
    let draft = PostDraft::from_text("See")
        .with_link("https://a.example/?utm_source=x")
        .with_bare_link("https://b.example/")
        .with_external("https://c.example/#top", "C")
        .with_quote(&quoted);
    let post = app_view.world_mut().post(&did, draft, now_ms);
    let truth = app_view.world().truth(now_ms);
    let item = &truth.feed(&did).items[&*post.uri];
    let links: Vec<(&str, LinkOrigin)> =
        item.links.iter().map(|link| (link.url.as_str(), link.origin)).collect();
    let expected = [
        ("https://a.example/?utm_source=x", LinkOrigin::Facet),
        ("https://c.example/#top", LinkOrigin::Embed),
        ("https://b.example/", LinkOrigin::Text),
    ];
    assert_eq!(links, expected);
    assert_eq!(item.quote.as_deref(), Some(&*quoted.uri));
    let page = read_page(&mut app_view, &did, "&limit=1");
    let shown = &page["feed"][0]["post"];
    assert_eq!(shown["embed"]["$type"], "app.bsky.embed.recordWithMedia#view");
    assert_eq!(shown["embed"]["record"]["record"]["uri"], *quoted.uri);
    assert_eq!(shown["embed"]["media"]["external"]["uri"], "https://c.example/#top");
    assert_eq!(shown["record"]["embed"]["record"]["record"]["cid"], *quoted.cid);
    let facet = &shown["record"]["facets"][0];
    assert_eq!(facet["features"][0]["uri"], "https://a.example/?utm_source=x");
    assert_eq!((&facet["index"]["byteStart"], &facet["index"]["byteEnd"]), (&4.into(), &27.into()));
}

#[test]
fn items_are_unreachable_where_more_share_a_time_than_fit_on_a_page() {
    let (mut app_view, did) = one_account();
    let now_ms = app_view.now_ms;
    for _ in 0..103 {
        app_view.world_mut().post(&did, PostDraft::from_text("x"), now_ms);
    }
    publish_posts(&mut app_view, &did, 5);
    let world = app_view.world();
    let unreachable = world.unreachable_items(&did, CursorFormat::IsoTime, now_ms);
    assert_eq!(unreachable.len(), 4, "103 and one of the five, minus a page of 100");
    assert_eq!(world.unreachable_items(&did, CursorFormat::MillisecondsCid, now_ms).len(), 0);
    let walked = item_uris(&walk_feed(&mut app_view, &did, 100));
    assert_eq!(walked.len(), 104);
    assert!(unreachable.iter().all(|uri| !walked.contains(uri)));
}

#[test]
fn burst_becomes_visible_post_by_post() {
    let (mut app_view, did) = one_account();
    let start_ms = app_view.now_ms;
    app_view.world_mut().post_burst(&did, 1000, start_ms + 1000, 500);
    let visible = |app_view: &SimulatedAppView, at_ms: i64| {
        app_view.world().truth(at_ms).feed(&did).items.len()
    };
    assert_eq!(visible(&app_view, start_ms), 0);
    assert_eq!(visible(&app_view, start_ms + 1000), 1);
    app_view.advance_to(start_ms + 600_000);
    assert_eq!(visible(&app_view, start_ms + 600_000), 1000);
    assert_eq!(item_uris(&walk_feed(&mut app_view, &did, 100)).len(), 1000);
}

#[test]
fn seeded_posts_are_spread_over_accounts_and_times() {
    let spec = BlueskySpec { accounts: 30, posts_per_account: 0..=200, ..BlueskySpec::small() };
    let app_view =
        SimulatedAppView::new(&BlueskySpec { equal_time_percent: 20, ..spec.clone() }, 3);
    let truth = app_view.world().truth(spec.start_ms);
    let counts: Vec<usize> =
        app_view.world().dids().iter().map(|did| truth.feed(did).posts_count).collect();
    assert_eq!((counts[0], counts[29]), (200, 0));
    assert!(counts.is_sorted_by(|left, right| left >= right), "{counts:?}");
    let skipped: usize = app_view
        .world()
        .dids()
        .iter()
        .map(|did| {
            let format = CursorFormat::IsoTime;
            app_view.world().items_skipped_by_walk(did, 10, format, spec.start_ms).len()
        })
        .sum();
    assert!(skipped > 0, "no equal times at the end of a page");
    let links: BTreeSet<&str> = truth
        .feeds
        .values()
        .flat_map(|feed| feed.items.values())
        .flat_map(|item| item.links.iter().map(|link| link.url.as_str()))
        .collect();
    assert!(links.len() > 20, "{links:?}");
}

#[test]
fn hostile_world_has_texts_names_and_links_that_break_readers() {
    let spec = BlueskySpec { hostile_text: true, accounts: 20, ..BlueskySpec::small() };
    let mut app_view = SimulatedAppView::new(&spec, 2);
    let truth = app_view.world().truth(spec.start_ms);
    let items: Vec<&TrueFeedItem> =
        truth.feeds.values().flat_map(|feed| feed.items.values()).collect();
    let has_text = |part: &str| items.iter().any(|item| item.text.contains(part));
    assert!(
        has_text("\u{0}") && has_text("<script>") && has_text("\u{202e}") && has_text("\u{1b}")
    );
    assert!(items.iter().any(|item| item.text.len() >= 10_000 && !item.text.contains(' ')));
    let mut links = items.iter().flat_map(|item| &item.links);
    assert!(links.any(|link| link.url.starts_with("javascript:")));
    assert!(items.iter().any(|item| item.created_at == "yesterday" && item.sort_ms == 0));
    assert!(truth.feeds.values().any(|feed| feed.handle.as_ref().unwrap().contains("<script>")));
    for did in app_view.world().dids() {
        walk_feed(&mut app_view, &did, 100);
    }
}

#[test]
fn random_activity_does_the_same_for_the_same_seed() {
    let spec = BlueskySpec {
        activity: BlueskyActivity {
            weights: BlueskyActionWeights::disruptive(),
            ..BlueskyActivity::none()
        },
        ..BlueskySpec::small()
    };
    let run = || {
        let mut app_view = SimulatedAppView::new(&spec, 4);
        for step in 0..200 {
            app_view.world_mut().random_activity(step, spec.start_ms + 1000);
        }
        app_view.world().truth(spec.start_ms + 600_000)
    };
    let truth = run();
    assert_eq!(truth, run());
    let edited = truth.feeds.values().flat_map(|feed| feed.items.values());
    assert!(edited.filter(|item| item.edited_ms.is_some()).count() > 0);
    assert!(truth.feeds.values().any(|feed| !feed.deleted.is_empty()));
    assert!(truth.feeds.values().any(|feed| feed.state != AccountState::Active));
}
