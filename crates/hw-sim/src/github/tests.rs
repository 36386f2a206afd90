//! Promises of the service, and the words they are made of.

mod absence;
mod batches;
mod clocks;
mod departures;
mod doors;
mod orders;
mod pages;
mod partial;
mod refusals;
mod tokens;
mod too_much;
mod truth;
mod weather;

use serde_json::{Value, json};

use super::*;
use crate::faults::FaultRates;
use crate::spec::Writers;
use crate::world::ThreadKind;

const ISSUES: &str = "query($after: String, $first: Int = 2) {
    repository(owner: \"acme\", name: \"pump\") {
        issues(first: $first, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
            totalCount
            pageInfo { hasNextPage endCursor }
            edges { cursor node { id fullDatabaseId number title body updatedAt author { login } } }
        }
    }
}";

fn first_issue(github: &GitHub) -> (i64, String) {
    let truth = github.world().truth();
    let issue = truth.of_kind(ThreadKind::Issue).find(|issue| issue.repository == "pump").unwrap();
    (issue.id, issue.node_id.clone())
}

/// What an error's path leads to, as far as there is something.
fn named<'v>(answer: &'v Value, error: &Value) -> &'v Value {
    let steps = error["path"].as_array().unwrap();
    steps.iter().fold(&answer["data"], |value, step| match step.as_str() {
        Some(key) => &value[key],
        None => &value[usize::try_from(step.as_u64().unwrap()).unwrap()],
    })
}

fn titles(answer: &Value) -> Vec<String> {
    let edges = answer["data"]["repository"]["issues"]["edges"].as_array().unwrap();
    edges.iter().map(|edge| edge["node"]["title"].as_str().unwrap().to_owned()).collect()
}

fn ask(github: &mut GitHub, query: &str, variables: Value) -> Value {
    let now = github.now_ms;
    at(github, query, variables, now)
}

#[expect(clippy::needless_pass_by_value, reason = "a test writes its variables in place")]
fn at(github: &mut GitHub, query: &str, variables: Value, now_ms: i64) -> Value {
    parts(&response(github.handle(&post(query, &variables), now_ms))).2
}

fn post(query: &str, variables: &Value) -> Vec<u8> {
    let body = json!({ "query": query, "variables": variables }).to_string();
    let length = body.len();
    format!(
        "POST /graphql HTTP/1.1\r\nHost: api.github.com\r\nAuthorization: Bearer t\r\n\
         User-Agent: test\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

pub(in crate::github) fn response(answer: Answer) -> Vec<u8> {
    match answer.outcome {
        Outcome::Response(bytes) => bytes,
        other @ (Outcome::Truncated(_) | Outcome::Reset | Outcome::Stall) => {
            panic!("expected a whole response, got {other:?}")
        }
    }
}

pub(in crate::github) fn parts(bytes: &[u8]) -> (u16, String, Value) {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let length: usize = header(head, "content-length").unwrap().parse().unwrap();
    assert_eq!(length, body.len());
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null))
}

pub(in crate::github) fn header(head: &str, name: &str) -> Option<String> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.into_iter().find(|(held, _)| held.eq_ignore_ascii_case(name)).map(|(_, it)| it.to_owned())
}
