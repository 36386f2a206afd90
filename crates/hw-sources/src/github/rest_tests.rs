use http::HeaderMap;

use super::*;
use crate::transport::test_headers;

#[test]
fn rest_request_names_its_version_and_etag() {
    let rest = RestEndpoint { url: "https://api.github.com".into(), token: "hunter2".into() };
    let unconditional = RestRequest { path: "/user?a=1".into(), etag: None };
    let conditional = RestRequest { etag: Some("W/\"abc\"".into()), ..unconditional.clone() };
    let request = rest.build_request(&conditional);
    assert_eq!((&request.method, request.body.is_none()), (&Method::GET, true));
    assert_eq!(request.url, "https://api.github.com/user?a=1");
    for (name, value) in [
        ("authorization", "Bearer hunter2"),
        ("accept", "application/vnd.github+json"),
        ("x-github-api-version", "2022-11-28"),
        ("x-github-next-global-id", "1"),
        ("if-none-match", "W/\"abc\""),
    ] {
        assert_eq!(request_header(&request, name), Some(value));
    }
    assert!(request_header(&request, "user-agent").unwrap().starts_with("highwater/"));
    assert_eq!(request_header(&rest.build_request(&unconditional), "if-none-match"), None);
    assert!(!format!("{rest:?} {request:?}").contains("hunter2"));
}

#[test]
fn rest_document_costs_one_point_and_has_an_etag() {
    let response =
        read_response(&dated_response(200, &[("etag", "W/\"a\"")], r#"["\ud800"]"#)).unwrap();
    assert_eq!(
        response.content,
        RestContent::Document(serde_json::from_str(r#"["\ufffd"]"#).unwrap())
    );
    assert_eq!(response.etag.as_deref(), Some("W/\"a\""));
    assert_eq!((response.meta.cost, response.meta.replaced_chars), (1, 1));
    assert_eq!(response.observed_at(), ObservedAt::new(1_767_225_600_000, 0));
}

#[test]
fn rest_not_modified_costs_nothing_and_has_no_etag() {
    let response = read_response(&dated_response(304, &[("etag", "\"a\"")], "")).unwrap();
    assert_eq!(
        (response.content, response.etag, response.meta.cost),
        (RestContent::NotModified, None, 0)
    );
    assert_eq!(response.meta.date(), SourceInstant(1_767_225_600_000));
    let altered = read_response(&dated_response(203, &[("etag", "\"a\"")], "[]")).unwrap();
    assert_eq!(altered.etag, None, "a proxy changed it on the way");
}

#[test]
fn rest_list_continues_by_its_link() {
    let first = r#"<https://x/?a=1,2&page=2>; rel="next", <https://x/?page=9>; rel="last""#;
    let last = r#"<https://x/?page=1&rel="next">; rel="prev""#;
    for (headers, expected) in [
        (&[("link", first)][..], NextLink::Present),
        (&[("link", last)], NextLink::Absent),
        (&[], NextLink::Unknown),
    ] {
        let response = read_response(&dated_response(200, headers, "[]")).unwrap();
        assert_eq!(response.next_link, expected, "{headers:?}");
    }
}

#[test]
fn rest_errors_are_classified() {
    assert!(matches!(read_error(422, "{}"), SourceError::InvalidRequest(_)), "a page too deep");
    assert!(matches!(read_error(301, ""), SourceError::InvalidRequest(_)));
    assert!(matches!(read_error(404, "{}"), SourceError::Hidden(_)));
    assert!(matches!(read_error(429, "{}"), SourceError::RateLimited(_)));
    assert!(matches!(read_error(502, ""), SourceError::TooExpensive(_)));
    assert!(matches!(read_error(200, "<html>"), SourceError::InvalidResponse(_)));
    for status in [200, 304] {
        let undated =
            HttpResponse { headers: HeaderMap::new(), ..dated_response(status, &[], "[]") };
        assert!(
            matches!(read_response(&undated), Err(SourceError::InvalidResponse(_))),
            "{status}"
        );
    }
}

fn read_error(status: u16, body: &str) -> SourceError {
    read_response(&dated_response(status, &[], body)).unwrap_err()
}

fn request_header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(|value| value.to_str().unwrap())
}

fn dated_response(status: u16, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let date = ("date", "Thu, 01 Jan 2026 00:00:00 GMT");
    let headers = test_headers(&[headers, &[date]].concat());
    HttpResponse { status, headers, body: body.as_bytes().to_vec() }
}
