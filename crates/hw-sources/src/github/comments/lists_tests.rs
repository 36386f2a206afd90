use hw_rules::item::{Comment, Kind};
use hw_rules::time::SourceTime;
use hw_rules::walk::Floor;
use serde_json::{Value, json};

use super::*;
use crate::github::comments::samples::{comment, ids, row};
use crate::github::receipt::Receipt;

const BOTH: [Surface; 2] = [Surface::IssueComments, Surface::ReviewComments];

#[test]
fn the_newest_page_has_an_address_that_never_changes() {
    let get = newest(Surface::IssueComments, 7, 100, Some("\"a\""));
    let path = "/repositories/7/issues/comments?sort=updated&direction=desc&per_page=100";
    assert_eq!(get, Get { path: path.into(), etag: Some("\"a\"".into()) });
    let get = newest(Surface::ReviewComments, 7, 30, None);
    assert_eq!(get.path, "/repositories/7/pulls/comments?sort=updated&direction=desc&per_page=30");
}

#[test]
fn since_walk_asks_from_the_second_before_its_mark_and_turns_pages_within_it() {
    let path = |walk: &SinceWalk| since(Surface::IssueComments, 7, walk, 100, None).path;
    let base = "/repositories/7/issues/comments?sort=updated&direction=asc&per_page=100";
    let whole = SinceWalk::from(Floor::Beginning);
    assert_eq!(path(&whole), base);
    assert_eq!(path(&SinceWalk { page: 2, ..whole }), format!("{base}&page=2"));
    let later = SinceWalk::from(Floor::At(Mark(1_767_225_600_999)));
    assert_eq!(path(&later), format!("{base}&since=2025-12-31T23:59:59Z"));
    let turned = SinceWalk { page: 3, ..later };
    assert_eq!(path(&turned), format!("{base}&since=2025-12-31T23:59:59Z&page=3"));
}

#[test]
fn nothing_is_asked_for_since_the_epoch_or_before() {
    for mark in [Mark(0), Mark(-5), Mark::BEGINNING] {
        let walk = SinceWalk::from(Floor::At(mark));
        assert!(!since(Surface::IssueComments, 7, &walk, 100, None).path.contains("since"));
    }
}

#[test]
fn a_row_is_read_whole() {
    let page = page(&[row(Surface::ReviewComments, 4)], Surface::ReviewComments);
    let expected = Comment {
        kind: Kind::ReviewComment,
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
        created_at: time("2026-01-01T00:00:00Z"),
        updated_at: time("2026-01-02T00:00:00Z"),
    };
    assert_eq!(comment(&page.observations[0]), &expected);
    assert_eq!(page.page.rows, [(4, time("2026-01-02T00:00:00Z"))]);
    assert_eq!((page.page.date, page.etag.as_deref()), (Mark(0), Some("\"e\"")));
}

#[test]
fn an_author_is_who_the_other_side_says() {
    let author = |user: Value| {
        let mut row = row(Surface::IssueComments, 1);
        row["user"] = user;
        let page = page(&[row], Surface::IssueComments);
        let comment = comment(&page.observations[0]);
        (comment.author.clone(), comment.author_id)
    };
    let named = |login: &str, id| (Some(login.to_owned()), Some(id));
    assert_eq!(author(json!({ "login": "tidy[bot]", "id": 5 })), named("tidy", 5));
    assert_eq!(author(json!({ "login": "a\0", "id": 5 })), named("a\u{fffd}", 5));
    assert_eq!(author(json!({ "login": "ghost", "id": 10137 })), (None, None));
    assert_eq!(author(Value::Null), (None, None));
}

#[test]
fn an_unreadable_row_spoils_nothing_but_itself_and_keeps_its_place() {
    for (surface, field) in BOTH.into_iter().flat_map(|surface| {
        ["body", "user", "created_at", "html_url"].map(|field| (surface, field))
    }) {
        let mut broken = row(surface, 2);
        broken[field] = json!({ "unexpected": true });
        let page = page(&[row(surface, 1), broken, row(surface, 3)], surface);
        assert_eq!(ids(&page.observations), [1, 3], "{field}");
        assert_eq!(page.page.rows.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
        let unreadable = &page.unreadable[0];
        assert_eq!(unreadable.subject, Subject::Node("C_2".into()));
        assert_eq!(unreadable.updated_at, Some(time("2026-01-02T00:00:00Z")));
    }
}

#[test]
fn what_must_be_there_may_not_be_left_out() {
    for field in ["body", "user", "issue_url", "id", "updated_at"] {
        let mut broken = row(Surface::IssueComments, 2);
        broken.as_object_mut().unwrap().remove(field);
        let page = page(&[broken], Surface::IssueComments);
        assert_eq!((page.observations.len(), page.unreadable.len()), (0, 1), "{field}");
    }
    let mut elsewhere = row(Surface::IssueComments, 2);
    elsewhere["issue_url"] = json!("https://api.github.com/nowhere");
    assert_eq!(page(&[elsewhere], Surface::IssueComments).unreadable.len(), 1);
}

#[test]
fn a_body_may_be_null() {
    let mut silent = row(Surface::IssueComments, 2);
    silent["body"] = Value::Null;
    assert_eq!(comment(&page(&[silent], Surface::IssueComments).observations[0]).body, "");
}

#[test]
fn a_row_that_cannot_be_asked_for_again_makes_the_page_unusable() {
    let read = |document: Value| read_list(&answer(document, Next::No), BOTH[0], 7, 2, 9);
    assert!(matches!(read(json!([{ "id": 1 }])), Err(Trouble::Garbled(_))));
    assert!(matches!(read(json!([null])), Err(Trouble::Garbled(_))));
    assert!(matches!(read(json!({ "message": "hello" })), Err(Trouble::Garbled(_))));
}

#[test]
fn a_list_goes_on_by_its_link_or_else_when_the_page_is_full() {
    let has_next = |next: Next, count: i64| {
        let rows: Vec<Value> = (0..count).map(|n| row(BOTH[0], n)).collect();
        let Ok(Listed::Page(page)) = read_list(&answer(json!(rows), next), BOTH[0], 7, 2, 9) else {
            panic!()
        };
        page.page.has_next
    };
    assert!(has_next(Next::Yes, 1), "short, but it says so");
    assert!(!has_next(Next::No, 2), "full, but it says so");
    assert!(has_next(Next::Unsaid, 2));
    assert!(!has_next(Next::Unsaid, 1));
}

#[test]
fn an_unchanged_list_tells_its_date() {
    let answer = Answer { content: Content::Unchanged, ..answer(Value::Null, Next::Unsaid) };
    assert_eq!(read_list(&answer, BOTH[0], 7, 2, 9), Ok(Listed::Unchanged(Mark(0))));
}

fn answer(document: Value, next: Next) -> Answer {
    let receipt = Receipt { date: Mark(0), ahead_ms: 0, sample: None, cost: 1, replaced: 0 };
    Answer {
        content: Content::Document(document.into()),
        receipt,
        etag: Some("\"e\"".into()),
        next,
    }
}

fn page(rows: &[Value], surface: Surface) -> ListPage {
    match read_list(&answer(json!(rows), Next::No), surface, 7, 100, 9) {
        Ok(Listed::Page(page)) => page,
        other => panic!("{other:?}"),
    }
}

fn time(text: &str) -> SourceTime {
    SourceTime::parse(text).unwrap()
}
