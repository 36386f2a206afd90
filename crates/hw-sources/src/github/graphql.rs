//! GraphQL: documents out, data and errors in, told apart.
//!
//! An answer can carry data and errors at once, and usually that is fine: the caller takes the nodes that
//! are there and asks for the others again. What concerns the whole answer becomes [`Trouble`] here.

use hw_rules::time::Mark;
use hw_rules::version::Seen;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::headers::{self, plain};
use super::limits::{self, MESSAGE_BYTES};
use super::receipt::Receipt;
use crate::json;
use crate::raw_json::{RawDocument, RawNode};
use crate::transport::{Method, Request, Response};
use crate::trouble::{LimitKind, Trouble};

/// How many steps of an error's path are read: a row's own place has seven at most.
const DEEPEST: usize = 32;
/// How much of a step that is no name is read.
const STEP_BYTES: usize = 100;

/// Where GraphQL is spoken, and as whom.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub url: String,
    pub token: SecretString,
}

/// A document with its variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub document: String,
    pub variables: Value,
}

/// An answer that can be used, wholly or in part.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub data: RawDocument,
    pub errors: Vec<GraphqlError>,
    pub receipt: Receipt,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GraphqlError {
    pub kind: String,
    pub message: String,
    /// Where in the data, as `a.b.0.c`.
    pub path: String,
}

impl Endpoint {
    /// The HTTP request for a query.
    pub fn request(&self, query: &Query) -> Request {
        let mut headers = headers::usual(&self.token, "application/json");
        headers.push(("content-type", plain("application/json")));
        let body = json!({ "query": query.document, "variables": query.variables });
        let body = Some(body.to_string().into_bytes());
        Request { method: Method::Post, url: self.url.clone(), headers, body }
    }
}

/// The cheapest question there is: whether anybody answers.
pub fn ping() -> Query {
    Query { document: "query Ping { rateLimit { cost } }".into(), variables: json!({}) }
}

/// Reads an answer, or says what is wrong with it as a whole.
pub fn read(response: &Response) -> Result<Answer, Trouble> {
    if let Some(trouble) = limits::trouble_of_status(response) {
        return Err(trouble);
    }
    let (bytes, replaced) = json::mend(&response.body);
    let body: Body<'_> =
        serde_json::from_slice(&bytes).map_err(|error| Trouble::Garbled(error.to_string()))?;
    let errors = errors_of(body.errors)?;
    if let Some(trouble) = trouble_of_errors(response, &errors) {
        return Err(trouble);
    }
    let Some(data) = body.data else { return Err(without_data(&errors)) };
    let data = RawDocument::from(data.to_owned());
    let cost = data.root().find(&["rateLimit", "cost"]).and_then(RawNode::as_i64).unwrap_or(0);
    let receipt = Receipt::of(response, cost, replaced)?;
    Ok(Answer { data, errors, receipt })
}

/// An answer as it came; null is nothing.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
}

/// The errors; so many that nobody counts them are too much.
fn errors_of(listed: Option<&RawValue>) -> Result<Vec<GraphqlError>, Trouble> {
    let Some(listed) = listed.filter(|listed| listed.get().starts_with('[')) else {
        return Ok(Vec::new());
    };
    let errors = RawNode::from(listed).elements();
    let errors = errors.ok_or_else(|| Trouble::TooMuch("too many errors".into()))?;
    Ok(errors.into_iter().map(GraphqlError::of).collect())
}

impl GraphqlError {
    fn of(error: RawNode<'_>) -> Self {
        let text = |names: &[&str]| error.find(names).and_then(RawNode::as_text);
        let clipped = |names: &[&str]| limits::clip(text(names).unwrap_or_default(), MESSAGE_BYTES);
        let steps = error.get("path").and_then(RawNode::elements).unwrap_or_default();
        let steps = steps.into_iter().take(DEEPEST);
        let steps = steps.map(|step| step.as_text().unwrap_or_else(|| step.clip(STEP_BYTES)));
        let kind = if text(&["type"]).is_some() { &["type"][..] } else { &["extensions", "code"] };
        Self {
            kind: clipped(kind),
            message: clipped(&["message"]),
            path: steps.collect::<Vec<_>>().join("."),
        }
    }

    /// Whether it is about this place, or anything below it.
    pub fn is_at(&self, path: &str) -> bool {
        let below = self.path.strip_prefix(path);
        below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
    }

    pub fn is_not_found(&self) -> bool {
        self.kind == "NOT_FOUND"
    }

    /// Whether the token may not look there; as good as not found.
    pub fn is_forbidden(&self) -> bool {
        matches!(self.kind.as_str(), "FORBIDDEN" | "INSUFFICIENT_SCOPES")
    }

    /// The trouble behind an error that is nobody's fault but the server's.
    pub fn fault(&self) -> Trouble {
        if limits::is_timeout(&self.message) {
            Trouble::TooMuch(self.message.clone())
        } else {
            Trouble::Server(self.message.clone())
        }
    }

    /// Whether the document itself is wrong. GitHub gives those a code of its own, in this style.
    fn is_our_mistake(&self) -> bool {
        let starts_small = self.kind.starts_with(|c: char| c.is_ascii_lowercase());
        (starts_small && !self.kind.contains('_'))
            || self.kind.contains("PAGINATION")
            || self.message.starts_with("Parse error")
            || self.message.contains("doesn't exist on type")
    }
}

/// The errors that concern the answer as a whole.
fn trouble_of_errors(response: &Response, errors: &[GraphqlError]) -> Option<Trouble> {
    let limit = |kind| Some(Trouble::Limited(limits::limit_in_200(response, kind)));
    for error in errors {
        match error.kind.as_str() {
            "RATE_LIMIT" | "RATE_LIMITED" | "graphql_rate_limit" => {
                return limit(LimitKind::Primary);
            }
            "RESOURCE_LIMITS_EXCEEDED" | "MAX_NODE_LIMIT_EXCEEDED" => {
                return Some(Trouble::TooMuch(error.message.clone()));
            }
            "INVALID_CURSOR_ARGUMENTS" => return Some(Trouble::BadCursor(error.message.clone())),
            _ if limits::is_secondary(&error.message) => return limit(LimitKind::Secondary),
            _ if limits::is_primary(&error.message) => return limit(LimitKind::Primary),
            _ => {}
        }
    }
    None
}

/// What an answer without any data means.
fn without_data(errors: &[GraphqlError]) -> Trouble {
    let any = |fits: fn(&GraphqlError) -> bool| errors.iter().find(|error| fits(error));
    if let Some(error) = any(|error| error.is_not_found() || error.is_forbidden()) {
        return Trouble::Hidden(error.message.clone());
    }
    if let Some(error) = any(GraphqlError::is_our_mistake) {
        return Trouble::Wrong(error.message.clone());
    }
    match errors.first() {
        None => Trouble::Garbled("neither data nor errors".into()),
        Some(error) => error.fault(),
    }
}

impl Answer {
    pub fn date(&self) -> Mark {
        self.receipt.date
    }

    /// When the objects in this answer were seen.
    pub fn seen(&self, request: i64) -> Seen {
        self.receipt.seen(request)
    }

    /// What the errors say about one place in the data or anything below it, when they say anything.
    pub fn error_at(&self, path: &str) -> Option<&GraphqlError> {
        self.errors.iter().find(|error| error.is_at(path))
    }

    /// What an error says about this very place.
    pub fn error_of(&self, path: &str) -> Option<&GraphqlError> {
        self.errors.iter().find(|error| error.path == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_in_a_200_is_a_limit() {
        for kind in ["RATE_LIMIT", "RATE_LIMITED"] {
            let body =
                format!(r#"{{"data":null,"errors":[{{"type":"{kind}","message":"exceeded"}}]}}"#);
            assert!(matches!(read(&ok(&body)), Err(Trouble::Limited(_))), "{kind}");
        }
        let code = r#"{"errors":[{"message":"x","extensions":{"code":"graphql_rate_limit"}}]}"#;
        assert!(matches!(read(&ok(code)), Err(Trouble::Limited(_))));
        let slow = r#"{"errors":[{"message":"You have exceeded a secondary rate limit."}]}"#;
        let told = r#"{"errors":[{"message":"API rate limit already exceeded for user ID 1."}]}"#;
        assert!(matches!(read(&ok(told)), Err(Trouble::Limited(_))));
        let Err(Trouble::Limited(limit)) = read(&ok(slow)) else { panic!("a limit") };
        assert_eq!(limit.kind, LimitKind::Secondary);
    }

    #[test]
    fn resource_limits_ask_for_less_even_with_partial_data() {
        let body =
            r#"{"data":{"node":{}},"errors":[{"type":"RESOURCE_LIMITS_EXCEEDED","message":"m"}]}"#;
        assert!(matches!(read(&ok(body)), Err(Trouble::TooMuch(_))));
    }

    #[test]
    fn partial_data_is_used_and_its_errors_keep_their_place() {
        let body = r#"{"data":{"a":null,"b":1},"errors":[
            {"type":"NOT_FOUND","path":["a",0,"x"],"message":"gone"}]}"#;
        let answer = read(&ok(body)).unwrap();
        assert!(answer.error_at("a.0").is_some_and(GraphqlError::is_not_found));
        assert!(answer.error_at("b").is_none());
    }

    #[test]
    fn nonsense_is_told_apart_from_our_own_mistakes() {
        assert!(matches!(read(&ok("<html>")), Err(Trouble::Garbled(_))));
        assert!(matches!(read(&ok("{}")), Err(Trouble::Garbled(_))));
        let wrong = r#"{"errors":[{"message":"Field 'x' doesn't exist on type 'Query'"}]}"#;
        assert!(matches!(read(&ok(wrong)), Err(Trouble::Wrong(_))));
        let coded = r#"{"errors":[{"message":"m","extensions":{"code":"undefinedField"}}]}"#;
        assert!(matches!(read(&ok(coded)), Err(Trouble::Wrong(_))));
        let unknown = r#"{"data":null,"errors":[{"type":"INTERNAL","message":"oops"}]}"#;
        assert!(matches!(read(&ok(unknown)), Err(Trouble::Server(_))));
        let slow = r#"{"errors":[{"message":"timedout"}]}"#;
        assert!(matches!(read(&ok(slow)), Err(Trouble::TooMuch(_))));
        let forbidden = r#"{"data":null,"errors":[{"type":"FORBIDDEN","message":"no"}]}"#;
        assert!(matches!(read(&ok(forbidden)), Err(Trouble::Hidden(_))));
        let lost = r#"{"data":{"node":null},"errors":[{"type":"INVALID_CURSOR_ARGUMENTS","message":"m"}]}"#;
        assert!(matches!(read(&ok(lost)), Err(Trouble::BadCursor(_))));
        let undated = Response { headers: vec![], ..ok(r#"{"data":{}}"#) };
        assert!(matches!(read(&undated), Err(Trouble::Garbled(_))));
    }

    #[test]
    fn the_token_is_never_shown() {
        let endpoint = Endpoint { url: "http://x".into(), token: "hunter2".into() };
        let query = Query { document: "{}".into(), variables: Value::Null };
        let shown = format!("{endpoint:?} {:?}", endpoint.request(&query));
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    fn ok(body: &str) -> Response {
        let date = ("date".to_owned(), "Thu, 01 Jan 2026 00:00:00 GMT".to_owned());
        Response { status: 200, headers: vec![date], body: body.as_bytes().to_vec() }
    }
}
