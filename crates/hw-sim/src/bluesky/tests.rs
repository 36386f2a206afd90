//! Tests of the service, and their helpers.

mod author_feed;
mod faults;
mod profiles;
mod sessions;
mod world_truth;

use super::*;

/// The number of milliseconds in an hour.
const HOUR_MS: i64 = 3_600_000;

/// A response whose body is null if it is not JSON.
struct ParsedReply {
    status: u16,
    head: String,
    body: Value,
}

impl ParsedReply {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the status and the name of the error.
    fn error(&self) -> (u16, &str) {
        (self.status, self.body["error"].as_str().unwrap_or_default())
    }
}

/// Sends a GET request at the current time; the target is a method with its parameters.
fn send_get(app_view: &mut SimulatedAppView, target: &str) -> ParsedReply {
    send_get_with(app_view, target, "")
}

/// Sends a GET request with further header lines, each with its line end.
fn send_get_with(app_view: &mut SimulatedAppView, target: &str, headers: &str) -> ParsedReply {
    let request = format!("GET /xrpc/{target} HTTP/1.1\r\nHost: api.bsky.example\r\n{headers}\r\n");
    let now_ms = app_view.now_ms;
    parse_reply(&expect_response(app_view.respond(request.as_bytes(), now_ms)))
}

fn send_post(
    app_view: &mut SimulatedAppView,
    method: &str,
    headers: &str,
    body: &str,
) -> ParsedReply {
    let request = format!(
        "POST /xrpc/{method} HTTP/1.1\r\nHost: api.bsky.example\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let now_ms = app_view.now_ms;
    parse_reply(&expect_response(app_view.respond(request.as_bytes(), now_ms)))
}

fn expect_response(response: DelayedResponse) -> Vec<u8> {
    match response.outcome {
        WireOutcome::Response(bytes) => bytes,
        other @ (WireOutcome::Truncated(_) | WireOutcome::Reset | WireOutcome::Stall) => {
            panic!("expected a whole response, got {other:?}")
        }
    }
}

fn parse_reply(bytes: &[u8]) -> ParsedReply {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    ParsedReply {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: serde_json::from_str(body).unwrap_or(Value::Null),
    }
}

/// Requests a page of a feed; fails if it is refused.
fn read_page(app_view: &mut SimulatedAppView, did: &str, parameters: &str) -> Value {
    let reply = send_get(app_view, &format!("app.bsky.feed.getAuthorFeed?actor={did}{parameters}"));
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.body
}

/// Requests all pages of a feed, until one has no cursor.
fn walk_feed(app_view: &mut SimulatedAppView, did: &str, limit: usize) -> Vec<Value> {
    let mut pages = vec![read_page(app_view, did, &format!("&limit={limit}"))];
    while let Some(cursor) = pages.last().and_then(|page| page["cursor"].as_str()) {
        let parameters = format!("&limit={limit}&cursor={}", cursor.replace(':', "%3A"));
        let next = read_page(app_view, did, &parameters);
        pages.push(next);
    }
    pages
}

/// Returns the URI of each item: of the repost, or else of the post.
fn item_uris(pages: &[Value]) -> Vec<String> {
    let items = pages.iter().flat_map(|page| page["feed"].as_array().unwrap());
    items
        .map(|item| {
            item["reason"]["uri"].as_str().or(item["post"]["uri"].as_str()).unwrap().to_owned()
        })
        .collect()
}

/// Returns an empty world and the DID of its first account.
fn one_account() -> (SimulatedAppView, String) {
    let app_view = SimulatedAppView::new(&BlueskySpec::silent(3), 1);
    let did = app_view.world().dids().remove(0);
    (app_view, did)
}

/// Publishes plain posts, one a second, up to the present time, and returns them, oldest first.
fn publish_posts(app_view: &mut SimulatedAppView, did: &str, count: i64) -> Vec<RecordRef> {
    let first_ms = app_view.now_ms - (count - 1) * 1000;
    let times = (0..count).map(|index| first_ms + index * 1000);
    let world = app_view.world_mut();
    times.map(|at_ms| world.post(did, PostDraft::from_text("a plain post"), at_ms)).collect()
}

/// Opens a session for an account and returns its access token.
fn log_in(app_view: &mut SimulatedAppView, did: &str) -> String {
    let login = serde_json::json!({ "identifier": did, "password": app_view.app_password });
    let method = "com.atproto.server.createSession";
    let session = send_post(app_view, method, "", &login.to_string());
    session.body["accessJwt"].as_str().unwrap().to_owned()
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}
