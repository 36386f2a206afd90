//! Tests of faults: armed, scripted and at random.

use std::collections::HashSet;

use super::*;

#[test]
fn fault_that_is_armed_fires_once_and_is_counted() {
    for fault in AppViewFault::ALL {
        let (mut app_view, did) = one_account();
        publish_posts(&mut app_view, &did, 9);
        let session = log_in(&mut app_view, &did);
        let target = if fault == AppViewFault::MissingEntry {
            format!("app.bsky.actor.getProfiles?actors={did}")
        } else {
            format!(
                "app.bsky.feed.getAuthorFeed?actor={did}&limit=5&cursor=2026-01-02T03%3A04%3A06.000Z"
            )
        };
        let request =
            format!("GET /xrpc/{target} HTTP/1.1\r\nAuthorization: Bearer {session}\r\n\r\n");
        let now_ms = app_view.now_ms;
        let good = app_view.respond(request.as_bytes(), now_ms).outcome;
        app_view.arm_fault(fault, 1);
        let bad = app_view.respond(request.as_bytes(), now_ms).outcome;
        assert_eq!(app_view.fired_faults().get(&fault), Some(&1), "{fault:?}");
        assert!(good != bad, "{fault:?} changes nothing");
        let later = app_view.respond(request.as_bytes(), now_ms + 100_000).outcome;
        assert_eq!(parse_reply(&whole(later)).body, parse_reply(&whole(good)).body, "{fault:?}");
    }
}

#[test]
fn fault_that_is_scripted_hits_the_nth_request_of_its_endpoint() {
    let (mut app_view, did) = one_account();
    let profile = format!("app.bsky.actor.getProfile?actor={did}");
    app_view.script_fault(XrpcEndpoint::Profile, 2, AppViewFault::Unavailable);
    let error = XrpcError::new(400, "BlockedActor", "Requester has blocked actor");
    app_view.script_error(XrpcEndpoint::Profile, 3, error);
    let mut statuses = Vec::new();
    for _ in 0..4 {
        read_page(&mut app_view, &did, "");
        statuses.push(send_get(&mut app_view, &profile).status);
    }
    assert_eq!(statuses, [200, 503, 400, 200]);
}

#[test]
fn page_that_is_empty_leads_to_what_it_should_have_had() {
    let (mut app_view, did) = one_account();
    publish_posts(&mut app_view, &did, 10);
    for fault in [AppViewFault::EmptyPage, AppViewFault::ShortPage] {
        let whole = item_uris(&walk_feed(&mut app_view, &did, 3));
        app_view.set_fault_rates(BlueskyFaults::none().with_rate(fault, 0.5));
        let disturbed = item_uris(&walk_feed(&mut app_view, &did, 3));
        app_view.set_fault_rates(BlueskyFaults::none());
        assert_eq!(disturbed, whole, "{fault:?}");
        assert!(app_view.fired_faults().contains_key(&fault), "{fault:?} never fired");
    }
}

#[test]
fn cursor_that_is_missing_hides_what_follows() {
    let (mut app_view, did) = one_account();
    publish_posts(&mut app_view, &did, 10);
    app_view.arm_fault(AppViewFault::MissingCursor, 1);
    let page = read_page(&mut app_view, &did, "&limit=4");
    assert_eq!((item_uris(std::slice::from_ref(&page)).len(), &page["cursor"]), (4, &Value::Null));
    app_view.arm_fault(AppViewFault::MissingCursor, 1);
    let last = read_page(&mut app_view, &did, "&limit=10");
    assert!(last["cursor"].is_string(), "nothing follows this page, so nothing can be hidden");
}

#[test]
fn cursor_faults_spare_the_first_page() {
    let (mut app_view, did) = one_account();
    publish_posts(&mut app_view, &did, 10);
    app_view.arm_fault(AppViewFault::CursorToNothing, 1);
    app_view.arm_fault(AppViewFault::CursorError, 1);
    let first = read_page(&mut app_view, &did, "&limit=4");
    assert_eq!(item_uris(std::slice::from_ref(&first)).len(), 4);
    let parameters = format!("&limit=4&cursor={}", first["cursor"].as_str().unwrap());
    let nothing = read_page(&mut app_view, &did, &parameters);
    assert_eq!(nothing, serde_json::json!({ "feed": [] }));
    let feed = format!("app.bsky.feed.getAuthorFeed?actor={did}{parameters}");
    assert_eq!(send_get(&mut app_view, &feed).error(), (500, "InternalServerError"));
    assert_eq!(item_uris(&[send_get(&mut app_view, &feed).body]).len(), 4);
}

#[test]
fn request_log_has_each_request_with_its_outcome() {
    let (mut app_view, did) = one_account();
    publish_posts(&mut app_view, &did, 3);
    let page = read_page(&mut app_view, &did, "&limit=2");
    let cursor = page["cursor"].as_str().unwrap().to_owned();
    app_view.arm_fault(AppViewFault::DroppedAfter, 1);
    let lost = format!("GET /xrpc/app.bsky.actor.getProfile?actor={did} HTTP/1.1\r\n\r\n");
    let now_ms = app_view.now_ms + 5000;
    app_view.respond(lost.as_bytes(), now_ms);
    read_page(&mut app_view, &did, &format!("&cursor={cursor}"));
    send_get(&mut app_view, "app.bsky.actor.getProfile?actor=nobody.example");
    let log = app_view.request_log();
    assert_eq!((log.total, log.count(XrpcEndpoint::AuthorFeed)), (4, 2));
    let entries: Vec<_> = log
        .entries
        .iter()
        .map(|entry| (entry.endpoint, entry.has_cursor, entry.status, entry.fault))
        .collect();
    let expected = [
        (XrpcEndpoint::AuthorFeed, false, 200, None),
        (XrpcEndpoint::Profile, false, 0, Some(AppViewFault::DroppedAfter)),
        (XrpcEndpoint::AuthorFeed, true, 200, None),
        (XrpcEndpoint::Profile, false, 400, None),
    ];
    assert_eq!(entries, expected);
    assert_eq!(log.entries[1].at_ms - log.entries[0].at_ms, 5000);
    assert_eq!(log.entries[0].actor.as_deref(), Some(&*did));
    assert_eq!(log.entries_since(3).len(), 1);
}

#[test]
fn seed_determines_the_bytes_of_all_responses() {
    let spec = BlueskySpec {
        hostile_text: true,
        equal_time_percent: 10,
        index_lag_ms: 0..=3000,
        faults: BlueskyFaults::all(0.02),
        activity: BlueskyActivity::disruptive(60, i64::MAX),
        ..BlueskySpec::small()
    };
    let (mut a, mut b) = (SimulatedAppView::new(&spec, 9), SimulatedAppView::new(&spec, 9));
    let dids = a.world().dids();
    let mut names = HashSet::new();
    for step in 0..600 {
        let did = &dids[usize::try_from(step).unwrap() % dids.len()];
        let target = format!("app.bsky.feed.getAuthorFeed?actor={did}&limit=20");
        let request = format!("GET /xrpc/{target} HTTP/1.1\r\n\r\n");
        let now_ms = spec.start_ms + step * 7_000;
        let response = a.respond(request.as_bytes(), now_ms);
        assert_eq!(response, b.respond(request.as_bytes(), now_ms));
        names.insert(std::mem::discriminant(&response.outcome));
    }
    assert_eq!(a.world().truth(a.now_ms), b.world().truth(b.now_ms));
    assert!(a.fired_faults().len() > 8, "{:?}", a.fired_faults());
    assert_eq!(names.len(), 4, "whole, truncated, reset and stalled answers");
}

fn whole(outcome: WireOutcome) -> Vec<u8> {
    expect_response(DelayedResponse { latency_ms: 0, outcome })
}
