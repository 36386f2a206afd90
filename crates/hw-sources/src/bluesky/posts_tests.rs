use serde_json::{Value, json};

use super::*;
use crate::bluesky::sample_responses::{ALICE, BOB, alice_post, response_with_body};

#[test]
fn posts_are_looked_up_beside_a_sibling() {
    let uris: Vec<RecordUri> = (0..30).map(|number| uri(&number.to_string())).collect();
    let siblings = [uri("sibling")];
    let query = PostsQuery { uris: &uris, siblings: &siblings };
    let request = query.request(100);
    assert_eq!(request.method, "app.bsky.feed.getPosts");
    assert_eq!(request.params.len(), MAX_POSTS);
    assert_eq!(request.params[0], ("uris", uris[0].to_string()));
    assert_eq!(request.params[24], ("uris", siblings[0].to_string()));
    assert_eq!((query.requested(100).len(), query.requested(3).len()), (24, 3));
    assert_eq!(PostsQuery { uris: &uris, siblings: &[] }.requested(100).len(), 25);
}

#[test]
fn posts_are_absent_only_if_the_answer_leaves_them_out() {
    let page = look_up(
        &["3k1", "3k2", "3k3"],
        &json!([post("3k1"), post("sibling"), {
            "uri": uri("3k3").as_str(), "record": 7,
        }]),
    );
    assert_eq!(page.posts.len(), 1, "the sibling was not asked for");
    assert_eq!(page.posts[0].post.uri, uri("3k1"));
    assert_eq!(page.absent, [uri("3k2")]);
    assert_eq!(page.unreadable.len(), 1);
    assert_eq!((page.is_vouched_for, page.requested_count), (true, 3));
}

#[test]
fn posts_of_an_answer_without_the_sibling_are_not_vouched_for() {
    for posts in [json!([]), json!([post("3k1")])] {
        assert!(!look_up(&["3k1"], &posts).is_vouched_for);
    }
}

#[test]
fn posts_under_the_name_of_another_account_are_not_believed() {
    let mut foreign = post("3k1");
    foreign["author"]["did"] = json!(BOB);
    let page = look_up(&["3k1"], &json!([foreign, post("sibling")]));
    assert_eq!((page.posts.len(), page.absent.len()), (0, 0));
    assert!(page.unreadable[0].is_impossible(), "{:?}", page.unreadable);
}

#[test]
fn posts_with_another_cid_are_edits() {
    let mut edited = post("3k1");
    edited["cid"] = json!("bafyreiedited222");
    let page = look_up(&["3k1"], &json!([edited]));
    assert_eq!(page.posts[0].post.cid.as_str(), "bafyreiedited222");
}

fn look_up(keys: &[&str], posts: &Value) -> PostsPage {
    let uris: Vec<RecordUri> = keys.iter().map(|key| uri(key)).collect();
    let siblings = [uri("sibling")];
    let query = PostsQuery { uris: &uris, siblings: &siblings };
    query.parse(&response_with_body(&json!({ "posts": posts })), 25).unwrap()
}

fn post(key: &str) -> Value {
    alice_post(key, "2026-01-01T00:00:00Z")
}

fn uri(key: &str) -> RecordUri {
    format!("at://{ALICE}/app.bsky.feed.post/{key}").parse().unwrap()
}
