use hw_rules::item::{AuthorKind, Comment, CommentKind, ThreadKind};
use hw_rules::since_walk::SinceWalk;
use hw_rules::walk::ListingFloor;
use serde_json::{Value, json};

use super::*;
use crate::github::comments::sample_comments::{
    observation_ids, rest_comment_json, unwrap_comment,
};
use crate::github::rest::RestContent;
use crate::response_meta::ResponseMeta;

const CONVERSATION: SinceList = SinceList::Comments(SinceCommentKind::Conversation);
const COMMENT_KINDS: [SinceCommentKind; 2] =
    [SinceCommentKind::Conversation, SinceCommentKind::ReviewComment];

#[test]
fn comment_list_has_a_fixed_url_for_its_newest_page() {
    let request = newest_request(CONVERSATION, 7, 100, Some("\"a\""));
    let path = "/repositories/7/issues/comments?sort=updated&direction=desc&per_page=100";
    assert_eq!(request, RestRequest { path: path.into(), etag: Some("\"a\"".into()) });
    let request = newest_request(SinceList::Comments(SinceCommentKind::ReviewComment), 7, 30, None);
    assert_eq!(
        request.path,
        "/repositories/7/pulls/comments?sort=updated&direction=desc&per_page=30"
    );
}

#[test]
fn comment_list_since_a_time_starts_a_second_earlier_and_counts_its_pages() {
    let base = "/repositories/7/issues/comments?sort=updated&direction=asc&per_page=100";
    let whole = SinceWalk::from_floor(ListingFloor::Beginning);
    assert_eq!(since_path(&whole), base);
    assert_eq!(since_path(&SinceWalk { page: 2, ..whole }), format!("{base}&page=2"));
    let later = SinceWalk::from_floor(ListingFloor::At(SourceInstant(1_767_225_600_999)));
    assert_eq!(since_path(&later), format!("{base}&since=2025-12-31T23:59:59Z"));
    let turned = SinceWalk { page: 3, ..later };
    assert_eq!(since_path(&turned), format!("{base}&since=2025-12-31T23:59:59Z&page=3"));
}

#[test]
fn comment_list_since_the_epoch_or_earlier_is_read_from_the_beginning() {
    for mark in [SourceInstant(0), SourceInstant(-5), SourceInstant::BEGINNING] {
        let walk = SinceWalk::from_floor(ListingFloor::At(mark));
        assert!(!since_request(CONVERSATION, 7, walk.position(), 100, None).path.contains("since"));
    }
}

#[test]
fn comment_list_row_is_read_completely() {
    let page = read_rows(
        &[rest_comment_json(SinceCommentKind::ReviewComment, 4)],
        SinceCommentKind::ReviewComment,
    );
    let expected = Comment {
        kind: CommentKind::ReviewComment,
        id: 4,
        node_id: "C_4".into(),
        repository_id: 7,
        thread: 3,
        reply_to: Some(80),
        review_id: Some(90),
        url: "https://github.com/acme/pump/pull/3#c-4".into(),
        body: "It\0drips\r\n".into(),
        state: None,
        path: Some("src/a.rs".into()),
        line: Some(5),
        author: Some("ann".into()),
        author_id: Some(31),
        author_kind: Some(AuthorKind::User),
        association: Some("MEMBER".into()),
        created_at: parse_time("2026-01-01T00:00:00Z"),
        updated_at: parse_time("2026-01-02T00:00:00Z"),
    };
    assert_eq!(unwrap_comment(&page.observations[0]), &expected);
    assert_eq!(page.since_page.rows, [(4, parse_time("2026-01-02T00:00:00Z"))]);
    assert_eq!((page.since_page.date, page.etag.as_deref()), (SourceInstant(0), Some("\"e\"")));
}

#[test]
fn comment_list_spells_authors_as_graphql_does() {
    for (user, login, id) in [
        (json!({ "login": "tidy[bot]", "id": 5 }), Some("tidy"), Some(5)),
        (json!({ "login": "a\0", "id": 5 }), Some("a\u{fffd}"), Some(5)),
        (json!({ "login": "ghost", "id": 10137 }), None, None),
        (Value::Null, None, None),
    ] {
        let mut row = rest_comment_json(SinceCommentKind::Conversation, 1);
        row["user"] = user;
        let page = read_rows(&[row], SinceCommentKind::Conversation);
        let comment = unwrap_comment(&page.observations[0]);
        assert_eq!((comment.author.as_deref(), comment.author_id), (login, id));
    }
}

#[test]
fn comment_list_reads_the_kind_of_each_author() {
    for (user, kind) in [
        (json!({ "login": "tidy[bot]", "id": 5, "type": "Bot" }), Some(AuthorKind::Bot)),
        (json!({ "login": "old", "id": 5, "type": "Mannequin" }), Some(AuthorKind::Mannequin)),
        (json!({ "login": "x", "id": 5, "type": "Robot" }), Some(other_kind("Robot"))),
        (json!({ "login": "ghost", "id": 10137, "type": "User" }), None),
        (Value::Null, None),
    ] {
        let mut row = rest_comment_json(SinceCommentKind::Conversation, 1);
        row["user"] = user;
        let page = read_rows(&[row], SinceCommentKind::Conversation);
        let comment = unwrap_comment(&page.observations[0]);
        assert_eq!(comment.author_kind, kind);
        assert_eq!(comment.association.as_deref(), Some("MEMBER"), "a ghost has one as well");
    }
}

fn other_kind(name: &str) -> AuthorKind {
    AuthorKind::Other(name.to_owned())
}

#[test]
fn comment_list_keeps_the_position_of_an_unreadable_row() {
    for (kind, field) in COMMENT_KINDS
        .into_iter()
        .flat_map(|kind| ["body", "user", "created_at", "html_url"].map(|field| (kind, field)))
    {
        let mut broken = rest_comment_json(kind, 2);
        broken[field] = json!({ "unexpected": true });
        let page =
            read_rows(&[rest_comment_json(kind, 1), broken, rest_comment_json(kind, 3)], kind);
        assert_eq!(observation_ids(&page.observations), [1, 3], "{field}");
        assert_eq!(page.since_page.rows.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
        let unreadable = &page.unreadable[0];
        assert_eq!(unreadable.subject, RowSubject::Node("C_2".into()));
        assert_eq!(unreadable.updated_at, Some(parse_time("2026-01-02T00:00:00Z")));
    }
}

#[test]
fn comment_list_row_without_a_required_field_is_unreadable() {
    for field in ["body", "user", "issue_url", "id", "updated_at"] {
        let mut broken = rest_comment_json(SinceCommentKind::Conversation, 2);
        broken.as_object_mut().unwrap().remove(field);
        let page = read_rows(&[broken], SinceCommentKind::Conversation);
        assert_eq!((page.observations.len(), page.unreadable.len()), (0, 1), "{field}");
    }
    let mut elsewhere = rest_comment_json(SinceCommentKind::Conversation, 2);
    elsewhere["issue_url"] = json!("https://api.github.com/nowhere");
    assert_eq!(read_rows(&[elsewhere], SinceCommentKind::Conversation).unreadable.len(), 1);
}

#[test]
fn comment_list_row_may_have_a_null_body() {
    let mut silent = rest_comment_json(SinceCommentKind::Conversation, 2);
    silent["body"] = Value::Null;
    assert_eq!(
        unwrap_comment(&read_rows(&[silent], SinceCommentKind::Conversation).observations[0]).body,
        ""
    );
}

#[test]
fn comment_list_with_a_row_without_node_id_is_unusable() {
    for document in [json!([{ "id": 1 }]), json!([null]), json!({ "message": "hello" })] {
        let response = list_response(document, NextLink::Absent);
        let read = read_list(&response, CONVERSATION, 7, 2);
        assert!(matches!(read, Err(SourceError::InvalidResponse(_))), "{read:?}");
    }
}

#[test]
fn comment_list_continues_by_its_link_or_if_the_page_is_full() {
    for (next_link, count, has_next) in [
        (NextLink::Present, 1, true),
        (NextLink::Absent, 2, false),
        (NextLink::Unknown, 2, true),
        (NextLink::Unknown, 1, false),
    ] {
        let rows: Vec<Value> =
            (1..=count).map(|n| rest_comment_json(SinceCommentKind::Conversation, n)).collect();
        let Ok(SinceListResult::Page(page)) =
            read_list(&list_response(json!(rows), next_link), CONVERSATION, 7, 2)
        else {
            panic!()
        };
        assert_eq!(page.since_page.has_next, has_next, "{next_link:?} with {count} of 2 rows");
    }
}

#[test]
fn comment_list_that_is_unchanged_has_a_date() {
    let response = RestResponse {
        content: RestContent::NotModified,
        ..list_response(Value::Null, NextLink::Unknown)
    };
    assert_eq!(
        read_list(&response, CONVERSATION, 7, 2),
        Ok(SinceListResult::NotModified(SourceInstant(0)))
    );
}

#[test]
fn activity_list_has_a_fixed_url_for_its_newest_page() {
    let request = newest_request(SinceList::Activity, 7, 100, None);
    let path = "/repositories/7/issues?state=all&sort=updated&direction=desc&per_page=100";
    assert_eq!(request.path, path);
    let walk = SinceWalk::from_floor(ListingFloor::At(SourceInstant(1_767_225_600_999)));
    let request = since_request(SinceList::Activity, 7, walk.position(), 100, None);
    let path = "/repositories/7/issues?state=all&sort=updated&direction=asc&per_page=100";
    assert_eq!(request.path, format!("{path}&since=2025-12-31T23:59:59Z"));
}

#[test]
fn activity_list_shows_which_threads_moved_and_stores_none() {
    let rows = [activity_row(3, None), activity_row(4, Some(json!({ "url": "…" })))];
    let response = list_response(json!(rows), NextLink::Absent);
    let Ok(SinceListResult::Page(page)) = read_list(&response, SinceList::Activity, 7, 100) else {
        panic!()
    };
    let moved = |number, kind| MovedThread {
        number,
        kind,
        node_id: format!("T_{number}"),
        updated_at: parse_time("2026-01-02T00:00:00Z"),
    };
    assert_eq!(
        page.moved_threads,
        [moved(3, ThreadKind::Issue), moved(4, ThreadKind::PullRequest)]
    );
    assert_eq!((page.observations.len(), page.unreadable.len()), (0, 0));
    assert_eq!(page.row_ids().collect::<Vec<_>>(), [1_003, 1_004]);
}

#[test]
fn activity_list_with_an_unreadable_row_is_unusable() {
    for field in ["id", "node_id", "number", "updated_at"] {
        let mut row = activity_row(3, None);
        row.as_object_mut().unwrap().remove(field);
        let response = list_response(json!([row]), NextLink::Absent);
        let read = read_list(&response, SinceList::Activity, 7, 100);
        assert!(matches!(read, Err(SourceError::InvalidResponse(_))), "{field}: {read:?}");
    }
}

fn activity_row(number: i64, pull_request: Option<Value>) -> Value {
    let mut row = json!({
        "id": 1_000 + number,
        "node_id": format!("T_{number}"),
        "number": number,
        "updated_at": "2026-01-02T00:00:00Z",
        "state": "open",
    });
    if let Some(pull_request) = pull_request {
        row["pull_request"] = pull_request;
    }
    row
}

fn since_path(walk: &SinceWalk) -> String {
    since_request(CONVERSATION, 7, walk.position(), 100, None).path
}

fn list_response(document: Value, next_link: NextLink) -> RestResponse {
    let meta = ResponseMeta { cost: 1, ..ResponseMeta::from_date(SourceInstant(0)) };
    RestResponse {
        content: RestContent::Document(document.into()),
        meta,
        etag: Some("\"e\"".into()),
        next_link,
    }
}

fn read_rows(rows: &[Value], kind: SinceCommentKind) -> SinceListPage {
    let list = SinceList::Comments(kind);
    match read_list(&list_response(json!(rows), NextLink::Absent), list, 7, 100) {
        Ok(SinceListResult::Page(page)) => page,
        other => panic!("{other:?}"),
    }
}

fn parse_time(text: &str) -> SourceTime {
    SourceTime::parse(text).unwrap()
}
