use serde_json::{Value, json};

use super::*;
use crate::bluesky::sample_responses::{ALICE, BOB, response_with_body};

#[test]
fn profile_shows_the_handle_and_the_number_of_posts() {
    let account: AccountRef = "alice.test".parse().unwrap();
    let query = ProfileQuery { account: &account };
    assert_eq!(query.request(1).params, [("actor", "alice.test".to_owned())]);
    let body = json!({
        "did": ALICE, "handle": "alice.test", "displayName": "Alice", "followersCount": 3,
        "followsCount": 4, "postsCount": 1_234, "indexedAt": "2025-01-01T00:00:00Z",
        "labels": [{ "src": ALICE, "val": "!no-unauthenticated" }], "viewer": { "muted": false, "blockedBy": false },
    });
    let profile = query.parse(&response_with_body(&body), 1).unwrap();
    assert_eq!((profile.did.as_str(), profile.handle.as_str()), (ALICE, "alice.test"));
    assert_eq!((profile.posts_count, profile.is_blocked), (Some(1_234), false));
    assert!(profile.is_for_logged_in);
    assert_eq!(profile.sign(), ProfileSign::Readable { posts_count: Some(1_234) });
}

#[test]
fn profile_of_another_account_is_refused() {
    let account: AccountRef = ALICE.parse().unwrap();
    let query = ProfileQuery { account: &account };
    for body in [profile_json(BOB), json!({}), json!({ "did": "alice" })] {
        let error = query.parse(&response_with_body(&body), 1).unwrap_err();
        assert!(matches!(error, SourceError::InvalidResponse(_)), "{error}");
    }
}

#[test]
fn profile_shows_blocks_in_both_directions() {
    let account: AccountRef = ALICE.parse().unwrap();
    for (viewer, is_blocked) in [
        (json!({ "blocking": format!("at://{BOB}/app.bsky.graph.block/3k1") }), true),
        (json!({ "blockedBy": true }), true),
        (json!({ "blockedBy": false, "muted": true }), false),
        (json!(null), false),
    ] {
        let mut body = profile_json(ALICE);
        body["viewer"] = viewer;
        let profile = ProfileQuery { account: &account }.parse(&response_with_body(&body), 1);
        let profile = profile.unwrap();
        assert_eq!(profile.is_blocked, is_blocked);
        assert_eq!(profile.sign() == ProfileSign::Unreadable, is_blocked);
    }
}

#[test]
fn profiles_are_read_25_at_a_time_and_name_the_missing_ones() {
    let accounts: Vec<AccountRef> =
        (0..30).map(|number| format!("did:plc:a{number}").parse().unwrap()).collect();
    let query = ProfilesQuery { accounts: &accounts };
    assert_eq!(query.request(100).params.len(), MAX_PROFILES);
    assert_eq!(query.request(2).params[1], ("actors", "did:plc:a1".to_owned()));
    let rows = json!([profile_json("did:plc:a0"), { "did": "did:plc:a1", "postsCount": -1 }, {
        "did": 7,
    }, profile_json("did:plc:stranger")]);
    let page = query.parse(&response_with_body(&json!({ "profiles": rows })), 3).unwrap();
    let counts: Vec<_> =
        page.profiles.iter().map(|profile| (profile.did.as_str(), profile.posts_count)).collect();
    assert_eq!(counts, [("did:plc:a0", Some(7)), ("did:plc:a1", None)]);
    assert!(page.profiles[1].handle.is_placeholder());
    assert_eq!(page.missing, accounts[2..3]);
}

#[test]
fn profiles_are_found_by_handle() {
    let accounts: Vec<AccountRef> =
        ["any.test", "other.test"].map(|handle| handle.parse().unwrap()).to_vec();
    let query = ProfilesQuery { accounts: &accounts };
    let body = json!({ "profiles": [profile_json(ALICE)] });
    let page = query.parse(&response_with_body(&body), 25).unwrap();
    assert_eq!((page.profiles.len(), page.missing.as_slice()), (1, &accounts[1..]));
}

fn profile_json(did: &str) -> Value {
    json!({ "did": did, "handle": "any.test", "postsCount": 7 })
}
