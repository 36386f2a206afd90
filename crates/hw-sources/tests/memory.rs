//! Bounds the memory that the readers take for one response: at most eight times its size, for any content.
//!
//! A test binary of its own, because the allocator counts for the whole process; a single test, because tests run in
//! parallel.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

use http::header::DATE;
use http::{HeaderMap, HeaderValue};
use hw_rules::item::ThreadKind;
use hw_rules::lane::{SinceCommentKind, SinceList};
use hw_sources::error::SourceError;
use hw_sources::github::repositories::RepositoryListQuery;
use hw_sources::github::since_lists::{ListPart, SinceListQuery, SinceListResult};
use hw_sources::github::threads::{ThreadListing, ThreadPageQuery};
use hw_sources::github::{graphql, rest};
use hw_sources::query::Query as _;
use hw_sources::transport::HttpResponse;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const BODY_BYTES: usize = 16 << 20;
const MAX_MEMORY_FACTOR: usize = 8;

/// Shapes whose trees are largest for their text.
const TINY_VALUES: [&str; 3] = ["[]", r#"{"a":{}}"#, "0"];

#[test]
fn response_takes_at_most_eight_times_its_size() {
    for tiny in TINY_VALUES {
        let many = tiny_array(tiny);
        let unknown =
            format!(r#"{{"data":{},"extensions":{many}}}"#, issues_page_json(&[issue_json(1, "")]));
        assert_memory_bounded(&format!("{tiny} in an unknown field"), &unknown, read_thread_page);
        let errors =
            format!(r#"{{"data":{},"errors":{many}}}"#, issues_page_json(&[issue_json(1, "")]));
        assert_memory_bounded(&format!("{tiny} as errors"), &errors, read_thread_page);
        let path = format!(r#"[{{"message":"m","path":{many}}}]"#);
        let path =
            format!(r#"{{"data":{},"errors":{path}}}"#, issues_page_json(&[issue_json(1, "")]));
        assert_memory_bounded(&format!("{tiny} as the path of an error"), &path, read_thread_page);
        let edges = issues_page_json(&[]).replace(r#""edges":[]"#, &format!(r#""edges":{many}"#));
        assert_memory_bounded(&format!("{tiny} as rows"), &data_json(&edges), read_thread_page);
        for field in ["extra", "title", "fullDatabaseId", "updatedAt", "author", "labels"] {
            let node = issue_json(1, &format!(r#""{field}":{many},"#));
            assert_memory_bounded(
                &format!("{tiny} as {field} of a node"),
                &data_json(&issues_page_json(&[node])),
                read_thread_page,
            );
        }
        let labels = issue_json(1, &format!(r#""labels":{{"nodes":{many}}},"#));
        assert_memory_bounded(
            &format!("{tiny} as labels"),
            &data_json(&issues_page_json(&[labels])),
            read_thread_page,
        );
        assert_memory_bounded(&format!("{tiny} as a list"), &many, read_comment_list);
        assert_memory_bounded(
            &format!("{tiny} as repositories"),
            &data_json(&organization_json(&many)),
            read_repositories,
        );
    }
    let rows: Vec<String> =
        (1..=100).map(|n| issue_json(n, &body_field(BODY_BYTES / 100))).collect();
    assert_memory_bounded(
        "an ordinary page",
        &data_json(&issues_page_json(&rows)),
        read_thread_page,
    );
    let halves = body_field(BODY_BYTES / 100).replace('x', r"\ud83d x");
    let rows: Vec<String> = (1..=10).map(|n| issue_json(n, &halves)).collect();
    assert_memory_bounded(
        "a page with halves of pairs",
        &data_json(&issues_page_json(&rows)),
        read_thread_page,
    );
}

fn assert_memory_bounded(name: &str, body: &str, read: fn(&HttpResponse)) {
    let date = HeaderValue::from_static("Thu, 01 Jan 2026 00:00:00 GMT");
    let headers = HeaderMap::from_iter([(DATE, date)]);
    let response = HttpResponse { status: 200, headers, body: body.as_bytes().to_vec() };
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    read(&response);
    // the response itself was allocated before
    let peak = MEMORY.peak_usage() - before + body.len();
    assert!(
        peak <= MAX_MEMORY_FACTOR * body.len(),
        "{name}: {peak} bytes for a response of {}",
        body.len()
    );
}

fn read_thread_page(response: &HttpResponse) {
    match graphql::read_response(response) {
        Ok(response) => {
            let listing = ThreadListing {
                kind: ThreadKind::Issue,
                repository_id: 7,
                node_id: "R_7",
                after: None,
            };
            drop(ThreadPageQuery(listing).parse(&response, 100));
        }
        Err(error) => assert!(matches!(error, SourceError::TooExpensive(_)), "{error:?}"),
    }
}

fn read_repositories(response: &HttpResponse) {
    let query = RepositoryListQuery { login: "acme", after: None, surfaces: &[] };
    drop(query.parse(&graphql::read_response(response).unwrap(), 100));
}

fn read_comment_list(response: &HttpResponse) {
    let response = rest::read_response(response).unwrap();
    let list = SinceList::Comments(SinceCommentKind::Conversation);
    let query = SinceListQuery { list, repository_id: 7, part: ListPart::Newest, etag: None };
    let read = query.parse(&response, 100);
    assert!(!matches!(read, Ok(SinceListResult::NotModified(_))));
}

/// An array of this value, as large as a response can be.
fn tiny_array(tiny: &str) -> String {
    format!("[{tiny}{}]", format!(",{tiny}").repeat(BODY_BYTES / (tiny.len() + 1) - 1))
}

fn data_json(data: &str) -> String {
    format!(r#"{{"data":{data}}}"#)
}

fn organization_json(edges: &str) -> String {
    let info = r#""pageInfo":{"hasNextPage":false}"#;
    format!(r#"{{"repositoryOwner":{{"repositories":{{{info},"edges":{edges}}}}}}}"#)
}

fn issues_page_json(nodes: &[String]) -> String {
    let edges: Vec<String> = nodes
        .iter()
        .enumerate()
        .map(|(n, node)| format!(r#"{{"cursor":"c{n}","node":{node}}}"#))
        .collect();
    let info = r#""pageInfo":{"hasNextPage":false}"#;
    let issues = format!(r#"{{"totalCount":1,{info},"edges":[{}]}}"#, edges.join(","));
    format!(r#"{{"node":{{"databaseId":7,"hasIssuesEnabled":true,"issues":{issues}}}}}"#)
}

/// An issue; the fields in `first` come before its own.
fn issue_json(n: usize, first: &str) -> String {
    let body = if first.contains("body") { "" } else { r#""body":"","# };
    format!(
        r#"{{{first}"id":"I_{n}","fullDatabaseId":"{n}","number":{n},"url":"https://github.com/acme/pump/{n}",
        "title":"It leaks",{body}"createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-02T00:00:00Z",
        "closedAt":null,"state":"OPEN","author":null,"repository":{{"databaseId":7}}}}"#
    )
}

fn body_field(bytes: usize) -> String {
    format!(r#""body":"{}","#, "x".repeat(bytes))
}
