//! Tests of profiles, posts by URI, handles and follows.

use super::*;

#[test]
fn profile_counts_own_posts_and_no_reposts() {
    let (mut app_view, did) = one_account();
    let now_ms = app_view.now_ms;
    let posts = publish_posts(&mut app_view, &did, 3);
    app_view.world_mut().repost(&did, &posts[0].uri, now_ms);
    app_view.world_mut().delete_post(&posts[1].uri, now_ms);
    let profile = send_get(&mut app_view, &format!("app.bsky.actor.getProfile?actor={did}")).body;
    assert_eq!(profile["postsCount"], 2);
    assert_eq!(profile["displayName"], "Harbor Gazette");
    let handle = profile["handle"].as_str().unwrap();
    let by_handle = send_get(&mut app_view, &format!("app.bsky.actor.getProfile?actor={handle}"));
    assert_eq!(by_handle.body, profile);
}

#[test]
fn profile_names_the_reason_that_a_feed_hides() {
    let (mut app_view, did) = one_account();
    let feed = format!("app.bsky.feed.getAuthorFeed?actor={did}");
    let profile = format!("app.bsky.actor.getProfile?actor={did}");
    let errors = |app_view: &mut SimulatedAppView| {
        let replies = [send_get(app_view, &profile), send_get(app_view, &feed)];
        replies
            .map(|reply| (reply.status, reply.body["error"].clone(), reply.body["message"].clone()))
    };
    let not_found = (400, "InvalidRequest".into(), "Profile not found".into());
    app_view.world_mut().deactivate(&did);
    let [profile_error, feed_error] = errors(&mut app_view);
    assert_eq!((profile_error.0, profile_error.1), (400, "AccountDeactivated".into()));
    assert_eq!(feed_error, not_found);
    app_view.world_mut().take_down(&did);
    let [profile_error, feed_error] = errors(&mut app_view);
    assert_eq!((profile_error.0, profile_error.1), (400, "AccountTakedown".into()));
    assert_eq!(feed_error, not_found);
    let now_ms = app_view.now_ms;
    app_view.world_mut().delete_account(&did, now_ms);
    assert_eq!(errors(&mut app_view), [not_found.clone(), not_found]);
    app_view.world_mut().reactivate(&did);
    assert_eq!(errors(&mut app_view)[0].0, 400, "a deleted account stays deleted");
}

#[test]
fn feed_of_a_reactivated_account_shows_its_posts_again() {
    let (mut app_view, did) = one_account();
    publish_posts(&mut app_view, &did, 2);
    app_view.world_mut().deactivate(&did);
    app_view.world_mut().reactivate(&did);
    assert_eq!(item_uris(&[read_page(&mut app_view, &did, "")]).len(), 2);
}

#[test]
fn profiles_leave_out_what_is_unavailable_and_take_25_actors() {
    let (mut app_view, did) = one_account();
    let dids = app_view.world().dids();
    app_view.world_mut().take_down(&dids[1]);
    let actors =
        format!("actors={did}&actors={}&actors={}&actors=nobody.example", dids[1], dids[2]);
    let reply = send_get(&mut app_view, &format!("app.bsky.actor.getProfiles?{actors}"));
    let profiles = reply.body["profiles"].as_array().unwrap();
    let found: Vec<&str> =
        profiles.iter().map(|profile| profile["did"].as_str().unwrap()).collect();
    assert_eq!(found, [&did, &dids[2]]);
    let too_many = vec![format!("actors={did}"); 26].join("&");
    let refused = send_get(&mut app_view, &format!("app.bsky.actor.getProfiles?{too_many}"));
    assert_eq!(refused.error(), (400, "InvalidRequest"));
}

#[test]
fn posts_by_uri_leave_out_deleted_ones_and_reposts() {
    let (mut app_view, did) = one_account();
    let (other, now_ms) = (app_view.world().dids().remove(1), app_view.now_ms);
    let posts = publish_posts(&mut app_view, &did, 2);
    let others = publish_posts(&mut app_view, &other, 1).remove(0);
    let repost = app_view.world_mut().repost(&did, &posts[0].uri, now_ms);
    app_view.world_mut().delete_post(&posts[1].uri, now_ms);
    app_view.world_mut().deactivate(&other);
    let uris = [&posts[0].uri, &posts[1].uri, &others.uri, &repost.uri];
    let uris = uris.map(|uri| format!("uris={uri}")).join("&");
    let reply = send_get(&mut app_view, &format!("app.bsky.feed.getPosts?{uris}"));
    let found = reply.body["posts"].as_array().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["uri"], *posts[0].uri);
}

#[test]
fn handle_that_moved_resolves_to_its_new_account_and_the_old_one_has_none() {
    let (mut app_view, did) = one_account();
    let other = app_view.world().dids().remove(1);
    publish_posts(&mut app_view, &did, 1);
    let handle = app_view.world().handle_of(&did).unwrap().to_owned();
    app_view.world_mut().move_handle(&did, &other);
    let resolve = format!("com.atproto.identity.resolveHandle?handle={}", handle.to_uppercase());
    assert_eq!(send_get(&mut app_view, &resolve).body["did"], *other);
    let page = read_page(&mut app_view, &did, "");
    assert_eq!(page["feed"][0]["post"]["author"]["handle"], "handle.invalid");
    assert_eq!(page["feed"][0]["post"]["author"]["did"], *did);
    assert!(item_uris(&[read_page(&mut app_view, &handle, "")]).is_empty(), "the new owner's feed");
    let unknown = send_get(&mut app_view, "com.atproto.identity.resolveHandle?handle=no.example");
    assert_eq!(unknown.error(), (400, "InvalidRequest"));
}

#[test]
fn follows_come_in_pages_without_unavailable_accounts() {
    let mut app_view =
        SimulatedAppView::new(&BlueskySpec { follows_per_account: 0, ..BlueskySpec::silent(6) }, 1);
    let dids = app_view.world().dids();
    for other in &dids[1..] {
        app_view.world_mut().follow(&dids[0], other);
    }
    app_view.world_mut().deactivate(&dids[4]);
    let follows = format!("app.bsky.graph.getFollows?actor={}&limit=2", dids[0]);
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = send_get(&mut app_view, &format!("{follows}{cursor}")).body;
        let names = page["follows"].as_array().unwrap();
        found.extend(names.iter().map(|follow| follow["did"].as_str().unwrap().to_owned()));
        let Some(next) = page["cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(found, [&dids[5], &dids[3], &dids[2], &dids[1]].map(Clone::clone));
}

#[test]
fn unknown_methods_and_wrong_verbs_are_refused() {
    let (mut app_view, _) = one_account();
    let unknown = send_get(&mut app_view, "app.bsky.feed.getEverything");
    assert_eq!(unknown.error(), (501, "MethodNotImplemented"));
    let verb = send_post(&mut app_view, "app.bsky.actor.getProfile", "", "{}");
    assert_eq!(verb.error(), (400, "InvalidRequest"));
}
