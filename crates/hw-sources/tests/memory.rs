//! How much memory the readers take of one answer: at most eight times its own size, whatever is in it.
//!
//! A program of its own, because the allocator counts for the whole process; one test, because tests run at once.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

use hw_rules::lane::Surface;
use hw_sources::github::comments::{self, Listed};
use hw_sources::github::{graphql, repositories, rest, threads};
use hw_sources::transport::Response;
use hw_sources::trouble::Trouble;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const BODY: usize = 16 << 20;
const TIMES: usize = 8;
const ISSUES: Surface = Surface::Issues;

/// Shapes whose trees are largest for their text.
const TINY: [&str; 3] = ["[]", r#"{"a":{}}"#, "0"];

#[test]
fn answer_takes_at_most_eight_times_its_size() {
    for tiny in TINY {
        let many = many(tiny);
        let unknown = format!(r#"{{"data":{},"extensions":{many}}}"#, page(&[thread(1, "")]));
        measure(&format!("{tiny} in an unknown field"), &unknown, read_page);
        let errors = format!(r#"{{"data":{},"errors":{many}}}"#, page(&[thread(1, "")]));
        measure(&format!("{tiny} as errors"), &errors, read_page);
        let path = format!(r#"[{{"message":"m","path":{many}}}]"#);
        let path = format!(r#"{{"data":{},"errors":{path}}}"#, page(&[thread(1, "")]));
        measure(&format!("{tiny} as the path of an error"), &path, read_page);
        let edges = page(&[]).replace(r#""edges":[]"#, &format!(r#""edges":{many}"#));
        measure(&format!("{tiny} as rows"), &data(&edges), read_page);
        for field in ["extra", "title", "fullDatabaseId", "updatedAt", "author", "labels"] {
            let node = thread(1, &format!(r#""{field}":{many},"#));
            measure(&format!("{tiny} as {field} of a node"), &data(&page(&[node])), read_page);
        }
        let labels = thread(1, &format!(r#""labels":{{"nodes":{many}}},"#));
        measure(&format!("{tiny} as labels"), &data(&page(&[labels])), read_page);
        measure(&format!("{tiny} as a list"), &many, read_list);
        measure(&format!("{tiny} as repositories"), &data(&organization(&many)), read_repositories);
    }
    let rows: Vec<String> = (1..=100).map(|n| thread(n, &body(BODY / 100))).collect();
    measure("an ordinary page", &data(&page(&rows)), read_page);
    let halves = body(BODY / 100).replace('x', r"\ud83d x");
    let rows: Vec<String> = (1..=10).map(|n| thread(n, &halves)).collect();
    measure("a page with halves of pairs", &data(&page(&rows)), read_page);
}

fn measure(what: &str, body: &str, read: fn(&Response)) {
    let date = ("date".to_owned(), "Thu, 01 Jan 2026 00:00:00 GMT".to_owned());
    let response = Response { status: 200, headers: vec![date], body: body.as_bytes().to_vec() };
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    read(&response);
    // the answer itself was there before
    let peak = MEMORY.peak_usage() - before + body.len();
    assert!(peak <= TIMES * body.len(), "{what}: {peak} bytes for an answer of {}", body.len());
}

fn read_page(response: &Response) {
    match graphql::read(response) {
        Ok(answer) => drop(threads::read_page(&answer, ISSUES, 7, None, 1)),
        Err(trouble) => assert!(matches!(trouble, Trouble::TooMuch(_)), "{trouble:?}"),
    }
}

fn read_repositories(response: &Response) {
    drop(repositories::read_list(&graphql::read(response).unwrap(), None, 1));
}

fn read_list(response: &Response) {
    let answer = rest::read(response).unwrap();
    let read = comments::read_list(&answer, Surface::IssueComments, 7, 100, 1);
    assert!(!matches!(read, Ok(Listed::Unchanged(_))));
}

/// An array of this many times over, as large as an answer can be.
fn many(tiny: &str) -> String {
    format!("[{tiny}{}]", format!(",{tiny}").repeat(BODY / (tiny.len() + 1) - 1))
}

fn data(data: &str) -> String {
    format!(r#"{{"data":{data}}}"#)
}

fn organization(edges: &str) -> String {
    let info = r#""pageInfo":{"hasNextPage":false}"#;
    format!(r#"{{"organization":{{"repositories":{{{info},"edges":{edges}}}}}}}"#)
}

fn page(nodes: &[String]) -> String {
    let edge = |(n, node): (usize, &String)| format!(r#"{{"cursor":"c{n}","node":{node}}}"#);
    let edges: Vec<String> = nodes.iter().enumerate().map(edge).collect();
    let info = r#""pageInfo":{"hasNextPage":false}"#;
    let issues = format!(r#"{{"totalCount":1,{info},"edges":[{}]}}"#, edges.join(","));
    format!(r#"{{"node":{{"databaseId":7,"hasIssuesEnabled":true,"issues":{issues}}}}}"#)
}

/// An issue; `first` comes before its own fields.
fn thread(n: usize, first: &str) -> String {
    let body = if first.contains("body") { "" } else { r#""body":"","# };
    format!(
        r#"{{{first}"id":"I_{n}","fullDatabaseId":"{n}","number":{n},"url":"https://github.com/acme/pump/{n}",
        "title":"It leaks",{body}"createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-02T00:00:00Z",
        "closedAt":null,"state":"OPEN","author":null,"repository":{{"databaseId":7}}}}"#
    )
}

fn body(bytes: usize) -> String {
    format!(r#""body":"{}","#, "x".repeat(bytes))
}
