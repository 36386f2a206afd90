//! Responses as servers send them, for the tests of the readers.

use hw_rules::source_time::SourceInstant;
use serde_json::{Value, json};

use super::xrpc::{self, XrpcResponse};
use crate::error::SourceError;
use crate::transport::{HttpResponse, test_headers};

pub(super) const ALICE: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
pub(super) const BOB: &str = "did:plc:z72i7hdynmk6r22z27h6tvur";
/// 2026-01-01, and the same in seconds.
pub(super) const DATE: &str = "Thu, 01 Jan 2026 00:00:00 GMT";
pub(super) const DATE_SECONDS: i64 = 1_767_225_600;

/// Returns a response with this body, as the client passes it to a reader.
pub(super) fn response_with_body(body: &Value) -> XrpcResponse {
    let mut response = read_body(200, &[], &body.to_string()).unwrap();
    response.meta.set_observed_at(9, SourceInstant(DATE_SECONDS * 1_000));
    response
}

/// Reads a response with this status, these headers and this body.
pub(super) fn read_body(
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<XrpcResponse, SourceError> {
    xrpc::read_response(&http_response(status, headers, body))
}

pub(super) fn http_response(status: u16, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let headers = test_headers(&[headers, &[("date", DATE)]].concat());
    HttpResponse { status, headers, body: body.as_bytes().to_vec() }
}

/// A page of Alice's feed as the public server sends it: a reply with a link, a repost and a quote with a card.
pub(super) const FEED_PAGE: &str = r##"{
  "feed": [
    {
      "post": {
        "uri": "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3m2aaaaaaaa2c",
        "cid": "bafyreihffx5a2e7k5uwrmmgofbvzujc5cmw5h4espouwuxt3liqoflx3ee",
        "author": {
          "did": "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "handle": "alice.test", "displayName": "Alice \ud83d",
          "avatar": "https://cdn.bsky.app/img/avatar/plain/x/y@jpeg", "labels": [],
          "createdAt": "2023-04-05T16:00:00.000Z"
        },
        "record": {
          "$type": "app.bsky.feed.post",
          "createdAt": "2025-12-31T23:00:00.123Z",
          "facets": [
            {
              "features": [{ "$type": "app.bsky.richtext.facet#link", "uri": "https://www.example.com/a?utm_source=bsky" }],
              "index": { "byteEnd": 25, "byteStart": 8 }
            },
            {
              "features": [{ "$type": "app.bsky.richtext.facet#mention", "did": "did:plc:z72i7hdynmk6r22z27h6tvur" }],
              "index": { "byteEnd": 5, "byteStart": 0 }
            }
          ],
          "langs": ["en", "de"],
          "reply": {
            "parent": { "cid": "bafyreiabc2222222", "uri": "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.feed.post/3m2bbbbbbbb2c" },
            "root": { "cid": "bafyreiabc3333333", "uri": "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.feed.post/3m2cccccccc2c" }
          },
          "text": "@bob \u00e9 example.com/a?u... or https://b.example/x."
        },
        "bookmarkCount": 0, "replyCount": 0, "repostCount": 2, "likeCount": 7, "quoteCount": 0,
        "indexedAt": "2025-12-31T23:00:01.000Z", "labels": []
      },
      "reply": { "root": { "$type": "app.bsky.feed.defs#postView" }, "parent": { "$type": "app.bsky.feed.defs#notFoundPost" } }
    },
    {
      "post": {
        "uri": "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.feed.post/3m2dddddddd2c",
        "cid": "bafyreibobbobbobbob",
        "author": { "did": "did:plc:z72i7hdynmk6r22z27h6tvur", "handle": "bob.test" },
        "record": { "$type": "app.bsky.feed.post", "createdAt": "2025-11-01T00:00:00Z", "text": "hello" },
        "indexedAt": "2025-11-01T00:00:01.000Z"
      },
      "reason": {
        "$type": "app.bsky.feed.defs#reasonRepost",
        "by": { "did": "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "handle": "alice.test" },
        "uri": "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.repost/3m2eeeeeeee2c",
        "cid": "bafyreirepostrepost",
        "indexedAt": "2025-12-31T22:00:00.000Z"
      }
    },
    {
      "post": {
        "uri": "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3m2ffffffff2c",
        "cid": "bafyreialicealice2",
        "author": { "did": "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "handle": "alice.test" },
        "record": {
          "$type": "app.bsky.feed.post", "createdAt": "2025-12-31T21:00:00.000Z", "text": "look",
          "embed": {
            "$type": "app.bsky.embed.recordWithMedia",
            "media": {
              "$type": "app.bsky.embed.external",
              "external": { "uri": "https://news.example/story#top", "title": "Story", "description": "" }
            },
            "record": {
              "$type": "app.bsky.embed.record",
              "record": { "cid": "bafyreiquoted22", "uri": "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.feed.post/3m2gggggggg2c" }
            }
          }
        },
        "indexedAt": "2025-12-31T21:00:00.500Z"
      }
    }
  ],
  "cursor": "2025-12-31T21:00:00Z"
}"##;

/// A post of Alice, as lookups and feeds show it.
pub(super) fn alice_post(key: &str, time: &str) -> Value {
    json!({
        "uri": format!("at://{ALICE}/app.bsky.feed.post/{key}"),
        "cid": "bafyreialicealice2",
        "author": { "did": ALICE, "handle": "alice.test" },
        "record": { "$type": "app.bsky.feed.post", "text": "hello", "createdAt": time },
        "indexedAt": time,
    })
}
