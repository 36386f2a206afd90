//! Tests of the service, and their helpers.

mod batches;
mod clocks;
mod faults;
mod hidden_items;
mod inline_faults;
mod moved_threads;
mod pages;
mod refusals;
mod switches;
mod thread_order;
mod tokens;
mod too_heavy;
mod watched_threads;
mod world_truth;

use serde_json::{Value, json};

use super::*;
use crate::faults::FaultRates;
use crate::world::ThreadKind;
use crate::world_spec::ActivitySpec;

const ISSUES: &str = "query($after: String, $first: Int = 2) {
    repository(owner: \"acme\", name: \"pump\") {
        issues(first: $first, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
            totalCount
            pageInfo { hasNextPage endCursor }
            edges { cursor node { id fullDatabaseId number title body updatedAt author { login } } }
        }
    }
}";

fn first_issue(github: &SimulatedGitHub) -> crate::TrueThread {
    let truth = github.world().truth();
    let mut issues = truth.threads_of_kind(ThreadKind::Issue);
    issues.find(|issue| issue.repository == "pump").unwrap().clone()
}

/// Returns the value at an error's path, or the null at which the path ends.
fn value_at_path<'v>(response: &'v Value, error: &Value) -> &'v Value {
    let steps = error["path"].as_array().unwrap();
    steps.iter().fold(&response["data"], |value, step| match step.as_str() {
        Some(key) => &value[key],
        None => &value[usize::try_from(step.as_u64().unwrap()).unwrap()],
    })
}

fn issue_titles(response: &Value) -> Vec<String> {
    let edges = response["data"]["repository"]["issues"]["edges"].as_array().unwrap();
    edges.iter().map(|edge| edge["node"]["title"].as_str().unwrap().to_owned()).collect()
}

fn post_query(github: &mut SimulatedGitHub, query: &str, variables: Value) -> Value {
    let now = github.now_ms;
    post_query_at(github, query, variables, now)
}

#[expect(clippy::needless_pass_by_value, reason = "a test writes its variables in place")]
fn post_query_at(
    github: &mut SimulatedGitHub,
    query: &str,
    variables: Value,
    now_ms: i64,
) -> Value {
    let response = github.handle_request(&graphql_request(query, &variables), now_ms);
    parse_response(&expect_response(response)).body
}

fn graphql_request(query: &str, variables: &Value) -> Vec<u8> {
    let body = json!({ "query": query, "variables": variables }).to_string();
    let length = body.len();
    format!(
        "POST /graphql HTTP/1.1\r\nHost: api.github.com\r\nAuthorization: Bearer t\r\n\
         User-Agent: test\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

pub(in crate::github) fn expect_response(response: DelayedResponse) -> Vec<u8> {
    match response.outcome {
        WireOutcome::Response(bytes) => bytes,
        other @ (WireOutcome::Truncated(_) | WireOutcome::Reset | WireOutcome::Stall) => {
            panic!("expected a whole response, got {other:?}")
        }
    }
}

/// Sends a GET request at the current time.
pub(in crate::github) fn send_get(github: &mut SimulatedGitHub, target: &str) -> ParsedResponse {
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: api.github.com\r\nAuthorization: Bearer t\r\n\
         User-Agent: test\r\n\r\n"
    );
    let now = github.now_ms;
    parse_response(&expect_response(github.handle_request(request.as_bytes(), now)))
}

/// A response whose body is null if it is not JSON.
pub(in crate::github) struct ParsedResponse {
    pub(in crate::github) status: u16,
    pub(in crate::github) head: String,
    pub(in crate::github) body: Value,
}

impl ParsedResponse {
    pub(in crate::github) fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.head, name)
    }
}

pub(in crate::github) fn parse_response(bytes: &[u8]) -> ParsedResponse {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let length: usize = find_header(head, "content-length").unwrap().parse().unwrap();
    assert_eq!(length, body.len());
    ParsedResponse {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: serde_json::from_str(body).unwrap_or(Value::Null),
    }
}

fn find_header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
