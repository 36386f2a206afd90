//! Tests of sessions, blocks and rate limits.

use serde_json::json;

use super::*;

#[test]
fn session_is_needed_where_the_host_wants_one() {
    let spec = BlueskySpec { requires_session: true, ..BlueskySpec::silent(2) };
    let mut app_view = SimulatedAppView::new(&spec, 1);
    let did = app_view.world().dids().remove(0);
    let feed = format!("app.bsky.feed.getAuthorFeed?actor={did}");
    assert_eq!(send_get(&mut app_view, &feed).error(), (401, "AuthMissing"));
    let access = log_in(&mut app_view, &did);
    let answer = send_get_with(&mut app_view, &feed, &bearer(&access));
    assert_eq!(answer.status, 200);
    let handle = app_view.world().handle_of(&did).unwrap().to_owned();
    let resolve = format!("com.atproto.identity.resolveHandle?handle={handle}");
    assert_eq!(send_get(&mut app_view, &resolve).status, 200, "a handle needs no session");
}

#[test]
fn session_is_refused_with_a_wrong_password_or_account() {
    let (mut app_view, did) = one_account();
    let method = "com.atproto.server.createSession";
    for (identifier, password) in [(&*did, "guess"), ("nobody.example", "abcd-efgh-ijkl-mnop")] {
        let login = json!({ "identifier": identifier, "password": password }).to_string();
        let refused = send_post(&mut app_view, method, "", &login);
        assert_eq!(refused.error(), (401, "AuthenticationRequired"));
    }
    assert_eq!(send_post(&mut app_view, method, "", "{").error(), (400, "InvalidRequest"));
    app_view.world_mut().take_down(&did);
    let login = json!({ "identifier": did, "password": app_view.app_password }).to_string();
    let refused = send_post(&mut app_view, method, "", &login);
    assert_eq!(refused.error(), (401, "AccountTakedown"));
}

#[test]
fn session_expires_and_is_refreshed() {
    let (mut app_view, did) = one_account();
    let login = json!({ "identifier": did, "password": app_view.app_password }).to_string();
    let session = send_post(&mut app_view, "com.atproto.server.createSession", "", &login).body;
    assert_eq!(session["did"], *did);
    let token = |session: &Value, name: &str| bearer(session[name].as_str().unwrap());
    let feed = format!("app.bsky.feed.getAuthorFeed?actor={did}");
    app_view.advance_to(app_view.now_ms + 2 * HOUR_MS);
    let expired = send_get_with(&mut app_view, &feed, &token(&session, "accessJwt"));
    assert_eq!(expired.error(), (400, "ExpiredToken"));
    let refresh = "com.atproto.server.refreshSession";
    let wrong = send_post(&mut app_view, refresh, &token(&session, "accessJwt"), "");
    assert_eq!(wrong.error(), (400, "InvalidToken"));
    assert_eq!(send_post(&mut app_view, refresh, "", "").error(), (401, "AuthMissing"));
    let renewed = send_post(&mut app_view, refresh, &token(&session, "refreshJwt"), "").body;
    let answer = send_get_with(&mut app_view, &feed, &token(&renewed, "accessJwt"));
    assert_eq!(answer.status, 200);
    app_view.expire_sessions();
    let expired = send_get_with(&mut app_view, &feed, &token(&renewed, "accessJwt"));
    assert_eq!(expired.error(), (400, "ExpiredToken"));
    app_view.revoke_sessions();
    let revoked = send_post(&mut app_view, refresh, &token(&renewed, "refreshJwt"), "");
    assert_eq!(revoked.error(), (400, "InvalidToken"));
}

#[test]
fn block_hides_a_feed_from_its_viewer_only() {
    let (mut app_view, did) = one_account();
    let other = app_view.world().dids().remove(1);
    let access = bearer(&log_in(&mut app_view, &other));
    publish_posts(&mut app_view, &did, 1);
    app_view.world_mut().block_viewer(&did);
    let feed = format!("app.bsky.feed.getAuthorFeed?actor={did}");
    let blocked = send_get_with(&mut app_view, &feed, &access);
    assert_eq!(blocked.error(), (400, "BlockedByActor"));
    assert_eq!(send_get(&mut app_view, &feed).status, 200, "there is no viewer without a session");
    let profile = format!("app.bsky.actor.getProfile?actor={did}");
    assert_eq!(send_get_with(&mut app_view, &profile, &access).body["viewer"]["blockedBy"], true);
    app_view.world_mut().unblock_viewer(&did);
    assert_eq!(send_get_with(&mut app_view, &feed, &access).status, 200);
    app_view.world_mut().block_by_viewer(&did);
    let blocked = send_get_with(&mut app_view, &feed, &access);
    assert_eq!(blocked.error(), (400, "BlockedActor"));
}

#[test]
fn limit_of_a_client_is_counted_for_each_address_and_window() {
    let limits = XrpcLimits { requests_per_window: 3, has_headers: true, ..XrpcLimits::default() };
    let spec = BlueskySpec { limits, latency_ms: 0..=0, ..BlueskySpec::silent(1) };
    let mut app_view = SimulatedAppView::new(&spec, 1);
    let profile = format!("app.bsky.actor.getProfile?actor={}", app_view.world().dids()[0]);
    let first = send_get(&mut app_view, &profile);
    assert_eq!(first.header("ratelimit-limit"), Some("3"));
    assert_eq!(first.header("ratelimit-remaining"), Some("2"));
    assert_eq!(first.header("ratelimit-policy"), Some("3;w=300"));
    let reset_s: i64 = first.header("ratelimit-reset").unwrap().parse().unwrap();
    assert_eq!(reset_s * 1000, spec.start_ms + 300_000);
    send_get(&mut app_view, &profile);
    send_get(&mut app_view, &profile);
    let refused = send_get(&mut app_view, &profile);
    assert_eq!(refused.error(), (429, "RateLimitExceeded"));
    assert_eq!(refused.header("retry-after"), Some("300"));
    assert_eq!(refused.header("ratelimit-remaining"), Some("0"));
    let neighbor = send_get_with(&mut app_view, &profile, "X-Forwarded-For: 192.0.2.7\r\n");
    assert_eq!(neighbor.status, 200);
    assert_eq!(app_view.requests_while_limited(), 0, "the neighbor has a limit of its own");
    app_view.advance_to(spec.start_ms + 300_000);
    assert_eq!(send_get(&mut app_view, &profile).status, 200);
    assert_eq!(app_view.requests_while_limited(), 0);
}

#[test]
fn limit_of_the_public_service_is_3000_requests_in_five_minutes_without_headers() {
    let (mut app_view, did) = one_account();
    let profile = format!("app.bsky.actor.getProfile?actor={did}");
    for _ in 0..3000 {
        assert_eq!(send_get(&mut app_view, &profile).status, 200);
    }
    let refused = send_get(&mut app_view, &profile);
    assert_eq!(refused.error(), (429, "RateLimitExceeded"));
    assert!(refused.header("retry-after").is_none() && refused.header("ratelimit-reset").is_none());
    app_view.advance_to(app_view.now_ms + 300_000);
    assert_eq!(send_get(&mut app_view, &profile).status, 200);
}

#[test]
fn limit_by_a_fault_refuses_everything_until_its_end() {
    let (mut app_view, did) = one_account();
    let profile = format!("app.bsky.actor.getProfile?actor={did}");
    app_view.arm_fault(AppViewFault::RateLimited, 1);
    let refused = send_get(&mut app_view, &profile);
    let wait_s: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    let start_ms = app_view.now_ms;
    app_view.advance_to(start_ms + wait_s * 1000 - 1);
    assert_eq!(send_get(&mut app_view, &profile).status, 429);
    assert_eq!(app_view.requests_while_limited(), 1);
    app_view.advance_to(start_ms + wait_s * 1000);
    assert_eq!(send_get(&mut app_view, &profile).status, 200);
    assert_eq!(app_view.requests_while_limited(), 1);
}

#[test]
fn limit_of_logins_is_smaller() {
    let (mut app_view, did) = one_account();
    for _ in 0..30 {
        log_in(&mut app_view, &did);
    }
    let login = json!({ "identifier": did, "password": app_view.app_password }).to_string();
    let refused = send_post(&mut app_view, "com.atproto.server.createSession", "", &login);
    assert_eq!(refused.error(), (429, "RateLimitExceeded"));
}

#[test]
fn date_comes_from_the_clock_of_the_service() {
    let spec = BlueskySpec { latency_ms: 0..=0, date_offset_ms: -90_000, ..BlueskySpec::silent(1) };
    let mut app_view = SimulatedAppView::new(&spec, 1);
    let profile = format!("app.bsky.actor.getProfile?actor={}", app_view.world().dids()[0]);
    let reply = send_get(&mut app_view, &profile);
    assert_eq!(reply.header("date"), Some("Fri, 02 Jan 2026 03:02:35 GMT"));
    app_view.set_date_offset(0);
    let reply = send_get(&mut app_view, &profile);
    assert_eq!(reply.header("date"), Some("Fri, 02 Jan 2026 03:04:05 GMT"));
}
