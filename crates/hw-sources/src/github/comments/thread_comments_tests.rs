use serde_json::{Value, json};

use super::*;
use crate::github::comments::continuation::read_continuation;
use crate::github::comments::continuation_query;
use crate::github::comments::sample_comments::{
    connection_json, graphql_comment_json, observation_ids, unwrap_comment,
};
use crate::github::graphql::GraphqlError;
use crate::github::sample_responses::{
    graphql_error, not_found_error, response_with_data, response_with_errors, server_error,
};

const REVIEWS: PerThreadCommentKind = PerThreadCommentKind::Review;
const DISCUSSION_COMMENTS: PerThreadCommentKind = PerThreadCommentKind::DiscussionComment;

#[test]
fn thread_comments_include_replies() {
    let first = comment_with_replies_json(1, &[reply_json(11, 1), reply_json(12, 1)], None);
    let data = json!({ "nodes": [discussion_json(&[first, comment_with_replies_json(2, &[], None)], None)] });
    let thread = read_only_thread(&response_with_data(data), DISCUSSION_COMMENTS);
    assert_eq!(observation_ids(&thread.observations), [1, 2, 11, 12]);
    assert_eq!(unwrap_comment(&thread.observations[2]).reply_to, Some(1));
    assert_eq!(
        (thread.completeness, thread.continuations, thread.thread_node_id.as_str()),
        (Ok(()), vec![], "T_0")
    );
}

#[test]
fn thread_comments_come_in_the_order_of_the_request() {
    let data =
        json!({ "nodes": [pull_request_json(&[1], None), null, pull_request_json(&[3, 4], None)] });
    let threads =
        read_threads(&response_with_errors(data, vec![not_found_error("nodes.1")]), REVIEWS, 3);
    let read = threads
        .iter()
        .map(|thread| (thread.thread_node_id.as_str(), observation_ids(&thread.observations)));
    assert!(read.eq([("T_0", vec![1]), ("T_1", vec![]), ("T_2", vec![3, 4])]));
    assert_eq!(unwrap_comment(&threads[0].observations[0]).state.as_deref(), Some("APPROVED"));
    assert!(threads[1].completeness.is_err(), "it does not exist");
}

#[test]
fn thread_comments_of_different_threads_cannot_share_an_id() {
    let mut wrong = pull_request_json(&[2, 9], None);
    wrong["reviews"]["edges"][1]["node"]["fullDatabaseId"] = json!("1");
    let data = json!({ "nodes": [pull_request_json(&[1], None), wrong] });
    let threads = read_threads(&response_with_data(data), REVIEWS, 2);
    let read = threads.iter().map(|thread| observation_ids(&thread.observations));
    assert!(read.eq([vec![], vec![2]]), "either of them may be wrong");
    let unreadable = threads.iter().map(|thread| thread.unreadable.len());
    assert!(unreadable.eq([1, 1]));
}

#[test]
fn thread_comments_beyond_a_page_become_continuations() {
    let comments = [
        comment_with_replies_json(1, &[reply_json(11, 1)], Some("r100")),
        comment_with_replies_json(2, &[], None),
    ];
    let data = json!({ "nodes": [discussion_json(&comments, Some("c20"))] });
    let thread = read_only_thread(&response_with_data(data), DISCUSSION_COMMENTS);
    assert_eq!(
        thread.continuations,
        [continuation_after(None, "c20"), continuation_after(Some("C_1"), "r100")]
    );
    assert_eq!(thread.completeness, Ok(()));
}

#[test]
fn continuation_of_a_thread_is_read_like_its_first_page() {
    let continuation = continuation_after(None, "c20");
    let data = json!({ "node": discussion_json(&[comment_with_replies_json(3, &[], Some("r9"))], Some("c40")) });
    let thread =
        read_continuation(&response_with_data(data), DISCUSSION_COMMENTS, &continuation, 7);
    assert_eq!(
        (observation_ids(&thread.observations), thread.thread_node_id.as_str()),
        (vec![3], "T_0")
    );
    assert_eq!(
        thread.continuations,
        [continuation_after(None, "c40"), continuation_after(Some("C_3"), "r9")]
    );
    let query = continuation_query(DISCUSSION_COMMENTS, &continuation, 20);
    assert_eq!(query.variables, json!({ "id": "T_0", "first": 20, "after": "c20" }));
}

#[test]
fn continuation_of_replies_is_requested_from_their_comment() {
    let continuation = continuation_after(Some("C_1"), "r100");
    let query = continuation_query(DISCUSSION_COMMENTS, &continuation, 100);
    assert_eq!(query.variables, json!({ "id": "C_1", "first": 100, "after": "r100" }));
    let mut node = graphql_comment_json(DISCUSSION_COMMENTS.into(), 1);
    node["replies"] = connection_json(&[reply_json(11, 1)], Some("r200"));
    let thread = read_continuation(
        &response_with_data(json!({ "node": node })),
        DISCUSSION_COMMENTS,
        &continuation,
        7,
    );
    assert_eq!(
        (observation_ids(&thread.observations), thread.completeness.clone()),
        (vec![11], Ok(()))
    );
    assert_eq!(
        (thread.continuations, thread.thread_node_id.as_str()),
        (vec![continuation_after(Some("C_1"), "r200")], "T_0")
    );
    let gone = response_with_errors(json!({ "node": null }), vec![not_found_error("node")]);
    assert!(read_continuation(&gone, DISCUSSION_COMMENTS, &continuation, 7).completeness.is_err());
}

#[test]
fn thread_comments_are_incomplete_if_the_thread_is_another_one() {
    assert_eq!(
        reviews_completeness(&Value::Null, vec![not_found_error("nodes.0")]),
        Err(IncompleteReason::ThreadGone("no longer exists"))
    );
    let forbidden = vec![graphql_error("FORBIDDEN", "nodes.0")];
    assert!(reviews_completeness(&Value::Null, forbidden).is_err());
    assert!(reviews_completeness(&Value::Null, vec![]).is_err());
    let mut moved = pull_request_json(&[1], None);
    moved["repository"]["databaseId"] = json!(99);
    assert_eq!(
        reviews_completeness(&moved, vec![]),
        Err(IncompleteReason::ThreadGone("it belongs to another repository"))
    );
    let other = discussion_json(&[], None);
    assert_eq!(
        reviews_completeness(&other, vec![]),
        Err(IncompleteReason::ThreadGone("the id belongs to another kind of item"))
    );
    let mut bare = pull_request_json(&[1], None);
    bare["reviews"] = Value::Null;
    assert!(reviews_completeness(&bare, vec![]).is_err());
    assert!(reviews_completeness(&bare, vec![server_error("nodes.0.reviews")]).is_err());
    let fault = vec![server_error("nodes.0.repository")];
    assert!(reviews_completeness(&pull_request_json(&[1], None), fault).is_err());
}

#[test]
fn thread_comments_confine_an_error_to_its_row() {
    let data =
        json!({ "nodes": [pull_request_json(&[1, 2], None), pull_request_json(&[3], None)] });
    let fault = server_error("nodes.0.reviews.edges.1.node.author");
    let threads = read_threads(&response_with_errors(data, vec![fault]), REVIEWS, 2);
    assert_eq!(
        (observation_ids(&threads[0].observations), &threads[0].completeness),
        (vec![1], &Ok(()))
    );
    assert_eq!(threads[0].unreadable[0].subject, RowSubject::Node("C_2".into()));
    assert_eq!(
        (observation_ids(&threads[1].observations), threads[1].unreadable.len()),
        (vec![3], 0)
    );
}

#[test]
fn thread_comments_leave_out_a_row_of_another_repository() {
    let mut node = pull_request_json(&[1, 2], None);
    node["reviews"]["edges"][0]["node"]["repository"]["databaseId"] = json!(99);
    let thread = read_only_thread(&response_with_data(json!({ "nodes": [node] })), REVIEWS);
    assert_eq!(observation_ids(&thread.observations), [2]);
    assert_eq!(thread.unreadable[0].subject, RowSubject::Node("C_1".into()));
}

#[test]
fn thread_comments_are_incomplete_if_a_row_has_no_id() {
    let mut node = pull_request_json(&[1, 2], None);
    node["reviews"]["edges"][1]["node"] = Value::Null;
    let thread = read_only_thread(&response_with_data(json!({ "nodes": [node] })), REVIEWS);
    assert_eq!((observation_ids(&thread.observations), thread.unreadable.len()), (vec![1], 0));
    assert!(thread.completeness.is_err());
}

#[test]
fn replies_that_are_unreadable_do_not_affect_their_comment() {
    let node = discussion_json(&[comment_with_replies_json(1, &[reply_json(11, 1)], None)], None);
    let path = "nodes.0.comments.edges.0.node.replies";
    let fault = server_error(&format!("{path}.edges.0.node.body"));
    let inside = read_discussion(&node, vec![fault]);
    assert_eq!((observation_ids(&inside.observations), inside.completeness), (vec![1], Ok(())));
    assert_eq!(inside.unreadable[0].subject, RowSubject::Node("C_11".into()));
    let mut without = node.clone();
    without["comments"]["edges"][0]["node"]["replies"] = Value::Null;
    for (node, errors) in [(node, vec![server_error(path)]), (without, vec![])] {
        let thread = read_discussion(&node, errors);
        assert_eq!((observation_ids(&thread.observations), thread.unreadable.len()), (vec![1], 0));
        assert!(thread.completeness.is_err());
    }
}

#[test]
fn replies_to_an_unreadable_comment_are_read() {
    let mut broken = comment_with_replies_json(1, &[reply_json(11, 1)], None);
    broken["body"] = Value::Null;
    let thread = read_only_thread(
        &response_with_data(json!({ "nodes": [discussion_json(&[broken], None)] })),
        DISCUSSION_COMMENTS,
    );
    assert_eq!((observation_ids(&thread.observations), thread.completeness), (vec![11], Ok(())));
    assert_eq!(thread.unreadable[0].subject, RowSubject::Node("C_1".into()));
}

#[test]
fn review_that_is_pending_is_left_out() {
    let mut node = pull_request_json(&[1, 2], None);
    let pending = &mut node["reviews"]["edges"][0]["node"];
    (pending["state"], pending["submittedAt"]) = (json!("PENDING"), Value::Null);
    let thread = read_only_thread(&response_with_data(json!({ "nodes": [node] })), REVIEWS);
    assert_eq!((observation_ids(&thread.observations), thread.unreadable.len()), (vec![2], 0));
    assert_eq!(thread.completeness, Ok(()));
}

#[test]
fn thread_comments_fail_if_a_thread_is_missing_from_the_response() {
    let response = response_with_data(json!({ "nodes": [pull_request_json(&[1], None)] }));
    let ids = ["T_0".to_owned(), "T_1".to_owned()];
    assert!(matches!(
        read_thread_comments(&response, REVIEWS, &ids, 7),
        Err(SourceError::InvalidResponse(_))
    ));
}

#[test]
fn replies_are_requested_for_discussions_only() {
    let ids = ["T_0".to_owned()];
    let reviews = thread_comments_query(REVIEWS, &ids).document;
    assert!(reviews.contains("reviews(first: 100)") && !reviews.contains("replies"), "{reviews}");
    let comments = thread_comments_query(DISCUSSION_COMMENTS, &ids).document;
    assert!(
        comments.contains("comments(first: 20)") && comments.contains("replies(first: 100)"),
        "{comments}"
    );
}

fn reviews_completeness(node: &Value, errors: Vec<GraphqlError>) -> Result<(), IncompleteReason> {
    read_only_thread(&response_with_errors(json!({ "nodes": [node] }), errors), REVIEWS)
        .completeness
}

fn read_discussion(node: &Value, errors: Vec<GraphqlError>) -> ThreadComments {
    let response = response_with_errors(json!({ "nodes": [node] }), errors);
    read_only_thread(&response, DISCUSSION_COMMENTS)
}

fn pull_request_json(reviews: &[i64], next: Option<&str>) -> Value {
    let nodes: Vec<Value> =
        reviews.iter().map(|n| graphql_comment_json(REVIEWS.into(), *n)).collect();
    json!({
        "__typename": "PullRequest", "repository": { "databaseId": 7 },
        "reviews": connection_json(&nodes, next),
    })
}

fn discussion_json(comments: &[Value], next: Option<&str>) -> Value {
    json!({
        "__typename": "Discussion", "repository": { "databaseId": 7 },
        "comments": connection_json(comments, next),
    })
}

fn comment_with_replies_json(n: i64, replies: &[Value], next: Option<&str>) -> Value {
    let mut comment = graphql_comment_json(DISCUSSION_COMMENTS.into(), n);
    comment["replies"] = connection_json(replies, next);
    comment
}

fn reply_json(n: i64, to: i64) -> Value {
    let mut reply = graphql_comment_json(DISCUSSION_COMMENTS.into(), n);
    reply["replyTo"] = json!({ "databaseId": to });
    reply
}

fn continuation_after(comment: Option<&str>, after: &str) -> Continuation {
    let comment = comment.map(str::to_owned);
    Continuation {
        thread_node_id: "T_0".into(),
        comment_node_id: comment,
        after: Some(PageCursor(after.into())),
    }
}

fn read_threads(
    response: &GraphqlResponse,
    kind: PerThreadCommentKind,
    count: usize,
) -> Vec<ThreadComments> {
    let ids: Vec<String> = (0..count).map(|n| format!("T_{n}")).collect();
    read_thread_comments(response, kind, &ids, 7).unwrap()
}

fn read_only_thread(response: &GraphqlResponse, kind: PerThreadCommentKind) -> ThreadComments {
    read_threads(response, kind, 1).remove(0)
}
