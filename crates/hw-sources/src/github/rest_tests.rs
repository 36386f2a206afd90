use super::*;

#[test]
fn a_read_names_its_version_and_what_is_already_held() {
    let rest = Rest { url: "https://api.github.com".into(), token: "hunter2".into() };
    let get = |etag: Option<&str>| Get { path: "/user?a=1".into(), etag: etag.map(str::to_owned) };
    let request = rest.request(&get(Some("W/\"abc\"")));
    assert_eq!((request.method, request.body.is_none()), (Method::Get, true));
    assert_eq!(request.url, "https://api.github.com/user?a=1");
    for (name, value) in [
        ("authorization", "Bearer hunter2"),
        ("accept", "application/vnd.github+json"),
        ("x-github-api-version", "2022-11-28"),
        ("x-github-next-global-id", "1"),
        ("if-none-match", "W/\"abc\""),
    ] {
        assert_eq!(header(&request, name), Some(value));
    }
    assert!(header(&request, "user-agent").unwrap().starts_with("highwater/"));
    assert_eq!(header(&rest.request(&get(None)), "if-none-match"), None);
    assert!(!format!("{rest:?} {request:?}").contains("hunter2"));
}

#[test]
fn a_document_costs_one_and_names_its_etag() {
    let answer = read(&response(200, &[("etag", "W/\"a\"")], r#"["\ud800"]"#)).unwrap();
    assert_eq!(answer.content, Content::Document(serde_json::from_str(r#"["\ufffd"]"#).unwrap()));
    assert_eq!(answer.etag.as_deref(), Some("W/\"a\""));
    assert_eq!((answer.receipt.cost, answer.receipt.replaced), (1, 1));
    assert_eq!(answer.seen(9), Seen::at(1_767_225_600_000, 9));
}

#[test]
fn what_is_unchanged_costs_nothing_and_keeps_its_etag() {
    let answer = read(&response(304, &[("etag", "\"a\"")], "")).unwrap();
    assert_eq!((answer.content, answer.etag, answer.receipt.cost), (Content::Unchanged, None, 0));
    assert_eq!(answer.receipt.date, Mark(1_767_225_600_000));
    let altered = read(&response(203, &[("etag", "\"a\"")], "[]")).unwrap();
    assert_eq!(altered.etag, None, "somebody on the way has changed it");
}

#[test]
fn a_list_goes_on_when_it_says_so() {
    let next = |links: &[(&str, &str)]| read(&response(200, links, "[]")).unwrap().next;
    let first = r#"<https://x/?a=1,2&page=2>; rel="next", <https://x/?page=9>; rel="last""#;
    assert_eq!(next(&[("link", first)]), Next::Yes);
    assert_eq!(next(&[("link", r#"<https://x/?page=1&rel="next">; rel="prev""#)]), Next::No);
    assert_eq!(next(&[]), Next::Unsaid);
}

#[test]
fn everything_else_is_told_apart() {
    let trouble = |status, body: &str| read(&response(status, &[], body)).unwrap_err();
    assert!(matches!(trouble(422, "{}"), Trouble::Wrong(_)), "a page too deep");
    assert!(matches!(trouble(301, ""), Trouble::Wrong(_)));
    assert!(matches!(trouble(404, "{}"), Trouble::Hidden(_)));
    assert!(matches!(trouble(429, "{}"), Trouble::Limited(_)));
    assert!(matches!(trouble(502, ""), Trouble::TooMuch(_)));
    assert!(matches!(trouble(200, "<html>"), Trouble::Garbled(_)));
    for status in [200, 304] {
        let undated = Response { headers: vec![], ..response(status, &[], "[]") };
        assert!(matches!(read(&undated), Err(Trouble::Garbled(_))), "{status}");
    }
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let found = request.headers.iter().find(|(it, _)| *it == name);
    found.map(|(_, value)| value.expose())
}

fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
    let date = [("date", "Thu, 01 Jan 2026 00:00:00 GMT")];
    let headers = headers.iter().chain(&date);
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Response { status, headers: headers.collect(), body: body.as_bytes().to_vec() }
}
