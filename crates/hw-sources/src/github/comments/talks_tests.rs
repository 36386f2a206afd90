use hw_rules::walk::Cursor;
use serde_json::{Value, json};

use super::*;
use crate::github::answers::{answer, error, fault, not_found, with_errors};
use crate::github::comments::samples::{comment, connection, ids, node};
use crate::github::comments::{more_query, read_more};

const REVIEWS: Surface = Surface::Reviews;
const TALK: Surface = Surface::DiscussionComments;

#[test]
fn a_talk_holds_comments_with_their_replies() {
    let first = replied_to(1, &[reply(11, 1), reply(12, 1)], None);
    let data = json!({ "nodes": [discussion(&[first, replied_to(2, &[], None)], None)] });
    let talk = only(&answer(data), TALK);
    assert_eq!(ids(&talk.observations), [1, 2, 11, 12]);
    assert_eq!(comment(&talk.observations[2]).reply_to, Some(1));
    assert_eq!((talk.whole, talk.more, talk.node_id.as_str()), (Ok(()), vec![], "T_0"));
}

#[test]
fn talks_come_in_the_order_of_their_threads() {
    let data = json!({ "nodes": [pull_request(&[1], None), null, pull_request(&[3, 4], None)] });
    let talks = talks(&with_errors(data, vec![not_found("nodes.1")]), REVIEWS, 3);
    let read = talks.iter().map(|talk| (talk.node_id.as_str(), ids(&talk.observations)));
    assert!(read.eq([("T_0", vec![1]), ("T_1", vec![]), ("T_2", vec![3, 4])]));
    assert_eq!(comment(&talks[0].observations[0]).state.as_deref(), Some("APPROVED"));
    assert!(talks[1].whole.is_err(), "not there");
}

#[test]
fn what_does_not_fit_is_still_to_be_asked_for() {
    let comments = [replied_to(1, &[reply(11, 1)], Some("r100")), replied_to(2, &[], None)];
    let data = json!({ "nodes": [discussion(&comments, Some("c20"))] });
    let talk = only(&answer(data), TALK);
    assert_eq!(talk.more, [more(None, "c20"), more(Some("C_1"), "r100")]);
    assert_eq!(talk.whole, Ok(()));
}

#[test]
fn more_of_a_thread_is_read_like_its_first_page() {
    let rest = more(None, "c20");
    let data = json!({ "node": discussion(&[replied_to(3, &[], Some("r9"))], Some("c40")) });
    let talk = read_more(&answer(data), TALK, &rest, 7, 9).unwrap();
    assert_eq!((ids(&talk.observations), talk.node_id.as_str()), (vec![3], "T_0"));
    assert_eq!(talk.more, [more(None, "c40"), more(Some("C_3"), "r9")]);
    let query = more_query(TALK, &rest, 20);
    assert_eq!(query.variables, json!({ "id": "T_0", "first": 20, "after": "c20" }));
}

#[test]
fn more_replies_are_asked_of_their_comment() {
    let rest = more(Some("C_1"), "r100");
    let query = more_query(TALK, &rest, 100);
    assert_eq!(query.variables, json!({ "id": "C_1", "first": 100, "after": "r100" }));
    let mut root = node(TALK, 1);
    root["replies"] = connection(&[reply(11, 1)], Some("r200"));
    let talk = read_more(&answer(json!({ "node": root })), TALK, &rest, 7, 9).unwrap();
    assert_eq!((ids(&talk.observations), talk.whole.clone()), (vec![11], Ok(())));
    assert_eq!((talk.more, talk.node_id.as_str()), (vec![more(Some("C_1"), "r200")], "T_0"));
    let gone = with_errors(json!({ "node": null }), vec![not_found("node")]);
    assert!(read_more(&gone, TALK, &rest, 7, 9).unwrap().whole.is_err());
}

#[test]
fn a_thread_that_is_not_what_was_asked_for_is_left_due() {
    let whole =
        |root: Value, errors| only(&with_errors(json!({ "nodes": [root] }), errors), REVIEWS).whole;
    assert_eq!(
        whole(Value::Null, vec![not_found("nodes.0")]),
        Err(Lack::Thread("not there any more"))
    );
    assert!(whole(Value::Null, vec![error("FORBIDDEN", "nodes.0")]).is_err());
    assert!(whole(Value::Null, vec![]).is_err());
    let mut moved = pull_request(&[1], None);
    moved["repository"]["databaseId"] = json!(99);
    assert_eq!(whole(moved, vec![]), Err(Lack::Thread("it belongs to another repository")));
    let other = discussion(&[], None);
    assert_eq!(whole(other, vec![]), Err(Lack::Thread("the id answers as something else")));
    let mut bare = pull_request(&[1], None);
    bare["reviews"] = Value::Null;
    assert!(whole(bare.clone(), vec![]).is_err());
    assert!(whole(bare, vec![fault("nodes.0.reviews")]).is_err());
    assert!(whole(pull_request(&[1], None), vec![fault("nodes.0.repository")]).is_err());
}

#[test]
fn an_error_in_a_row_spoils_nothing_but_the_row() {
    let data = json!({ "nodes": [pull_request(&[1, 2], None), pull_request(&[3], None)] });
    let fault = fault("nodes.0.reviews.edges.1.node.author");
    let talks = talks(&with_errors(data, vec![fault]), REVIEWS, 2);
    assert_eq!((ids(&talks[0].observations), &talks[0].whole), (vec![1], &Ok(())));
    assert_eq!(talks[0].unreadable[0].subject, Subject::Node("C_2".into()));
    assert_eq!((ids(&talks[1].observations), talks[1].unreadable.len()), (vec![3], 0));
}

#[test]
fn a_row_of_another_repository_is_not_taken_for_one_of_this() {
    let mut root = pull_request(&[1, 2], None);
    root["reviews"]["edges"][0]["node"]["repository"]["databaseId"] = json!(99);
    let talk = only(&answer(json!({ "nodes": [root] })), REVIEWS);
    assert_eq!(ids(&talk.observations), [2]);
    assert_eq!(talk.unreadable[0].subject, Subject::Node("C_1".into()));
}

#[test]
fn a_row_without_an_id_leaves_its_thread_due() {
    let mut root = pull_request(&[1, 2], None);
    root["reviews"]["edges"][1]["node"] = Value::Null;
    let talk = only(&answer(json!({ "nodes": [root] })), REVIEWS);
    assert_eq!((ids(&talk.observations), talk.unreadable.len()), (vec![1], 0));
    assert!(talk.whole.is_err());
}

#[test]
fn replies_that_cannot_be_read_do_not_spoil_their_comment() {
    let root = discussion(&[replied_to(1, &[reply(11, 1)], None)], None);
    let place = "nodes.0.comments.edges.0.node.replies";
    let with = |root: Value, errors| only(&with_errors(json!({ "nodes": [root] }), errors), TALK);
    let inside = with(root.clone(), vec![fault(&format!("{place}.edges.0.node.body"))]);
    assert_eq!((ids(&inside.observations), inside.whole), (vec![1], Ok(())));
    assert_eq!(inside.unreadable[0].subject, Subject::Node("C_11".into()));
    let mut without = root.clone();
    without["comments"]["edges"][0]["node"]["replies"] = Value::Null;
    for (root, errors) in [(root, vec![fault(place)]), (without, vec![])] {
        let talk = with(root, errors);
        assert_eq!((ids(&talk.observations), talk.unreadable.len()), (vec![1], 0));
        assert!(talk.whole.is_err());
    }
}

#[test]
fn replies_to_an_unreadable_comment_are_kept() {
    let mut broken = replied_to(1, &[reply(11, 1)], None);
    broken["body"] = Value::Null;
    let talk = only(&answer(json!({ "nodes": [discussion(&[broken], None)] })), TALK);
    assert_eq!((ids(&talk.observations), talk.whole), (vec![11], Ok(())));
    assert_eq!(talk.unreadable[0].subject, Subject::Node("C_1".into()));
}

#[test]
fn a_review_that_was_not_handed_in_is_left_out() {
    let mut root = pull_request(&[1, 2], None);
    let pending = &mut root["reviews"]["edges"][0]["node"];
    (pending["state"], pending["submittedAt"]) = (json!("PENDING"), Value::Null);
    let talk = only(&answer(json!({ "nodes": [root] })), REVIEWS);
    assert_eq!((ids(&talk.observations), talk.unreadable.len()), (vec![2], 0));
    assert_eq!(talk.whole, Ok(()));
}

#[test]
fn as_many_threads_must_answer_as_were_asked_for() {
    let answer = answer(json!({ "nodes": [pull_request(&[1], None)] }));
    let ids = ["T_0".to_owned(), "T_1".to_owned()];
    assert!(matches!(read_talks(&answer, REVIEWS, &ids, 7, 9), Err(Trouble::Garbled(_))));
}

#[test]
fn only_discussions_are_asked_for_replies() {
    let document = |surface| talks_query(surface, &["T_0".to_owned()]).document;
    let (reviews, talk) = (document(REVIEWS), document(TALK));
    assert!(reviews.contains("reviews(first: 100)") && !reviews.contains("replies"), "{reviews}");
    assert!(talk.contains("comments(first: 20)") && talk.contains("replies(first: 100)"), "{talk}");
}

fn pull_request(reviews: &[i64], next: Option<&str>) -> Value {
    let nodes: Vec<Value> = reviews.iter().map(|n| node(REVIEWS, *n)).collect();
    json!({
        "__typename": "PullRequest", "repository": { "databaseId": 7 },
        "reviews": connection(&nodes, next),
    })
}

fn discussion(comments: &[Value], next: Option<&str>) -> Value {
    json!({
        "__typename": "Discussion", "repository": { "databaseId": 7 },
        "comments": connection(comments, next),
    })
}

fn replied_to(n: i64, replies: &[Value], next: Option<&str>) -> Value {
    let mut comment = node(TALK, n);
    comment["replies"] = connection(replies, next);
    comment
}

fn reply(n: i64, to: i64) -> Value {
    let mut reply = node(TALK, n);
    reply["replyTo"] = json!({ "databaseId": to });
    reply
}

fn more(comment: Option<&str>, after: &str) -> More {
    let comment = comment.map(str::to_owned);
    More { thread: "T_0".into(), comment, after: Some(Cursor(after.into())) }
}

fn talks(answer: &Answer, surface: Surface, count: usize) -> Vec<Talk> {
    let ids: Vec<String> = (0..count).map(|n| format!("T_{n}")).collect();
    read_talks(answer, surface, &ids, 7, 9).unwrap()
}

fn only(answer: &Answer, surface: Surface) -> Talk {
    talks(answer, surface, 1).remove(0)
}
