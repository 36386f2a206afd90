//! Looks posts up by URI: the second look at a post that its feed no longer lists.

use std::collections::BTreeSet;

use hw_rules::bluesky::post::Post;
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::PageCursor;

use super::feed::PostObservation;
use super::post_view;
use super::xrpc::{XrpcEndpoint, XrpcRequest, XrpcResponse};
use crate::error::SourceError;
use crate::page::UnreadableRow;
use crate::query::Query;
use crate::raw_json::RawNode;

/// The most posts that one request looks up.
pub const MAX_POSTS: usize = 25;
/// The same, as the size of a request.
pub const POSTS_SIZE: u32 = 25;

/// Looks up posts, together with siblings that must be there.
///
/// A server that lost its way answers with an empty list, too; one that shows a sibling was asked the right question.
/// A request has as many posts as fit beside the siblings. Reposts cannot be looked up.
#[derive(Debug, Clone, Copy)]
pub struct PostsQuery<'a> {
    pub uris: &'a [RecordUri],
    pub siblings: &'a [RecordUri],
}

impl<'a> PostsQuery<'a> {
    /// Returns the posts that a request of this size looks up: the first ones.
    pub fn requested(&self, size: u32) -> &'a [RecordUri] {
        let room = MAX_POSTS.saturating_sub(self.siblings.len()).max(1);
        &self.uris[..self.uris.len().min(size as usize).min(room)]
    }
}

impl Query for PostsQuery<'_> {
    type Endpoint = XrpcEndpoint;
    type Page = PostsPage;

    fn request(&self, size: u32) -> XrpcRequest {
        let uris = self.requested(size).iter().chain(self.siblings).take(MAX_POSTS);
        let params = uris.map(|uri| ("uris", uri.to_string())).collect();
        XrpcRequest::new("app.bsky.feed.getPosts", params)
    }

    fn parse(&self, response: &XrpcResponse, size: u32) -> Result<PostsPage, SourceError> {
        let requested = self.requested(size);
        let mut page = PostsPage::new(response.observed_at(), requested.len());
        let mut unread = BTreeSet::new();
        for (index, row) in response.require_rows("posts")?.into_iter().enumerate() {
            match post_view::read_post(row) {
                Ok(item) => page.add_post(item.post, requested, self.siblings),
                Err(reason) => {
                    let at = PageCursor(index.to_string());
                    let position = RowSubject::Position { at, after: None };
                    let observed_at = response.observed_at();
                    let unreadable =
                        post_view::unreadable_row(row, Some(row), position, reason, observed_at);
                    unread.extend(row.get("uri").and_then(RawNode::as_text));
                    page.unreadable.push(unreadable);
                }
            }
        }
        let is_absent = |uri: &&RecordUri| {
            let is_found = page.posts.iter().any(|found| found.post.uri == **uri);
            !is_found && !unread.contains(uri.as_str())
        };
        page.absent = requested.iter().filter(is_absent).cloned().collect();
        Ok(page)
    }
}

/// The result of a lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostsPage {
    pub date: SourceInstant,
    pub observed_at: ObservedAt,
    /// The number of posts looked up, siblings not included.
    pub requested_count: usize,
    /// True if the same response shows one of the siblings: only then an absent post is gone.
    pub is_vouched_for: bool,
    pub posts: Vec<PostObservation>,
    /// Posts that the server does not show.
    pub absent: Vec<RecordUri>,
    pub unreadable: Vec<UnreadableRow>,
}

impl PostsPage {
    fn new(observed_at: ObservedAt, requested_count: usize) -> Self {
        Self {
            date: SourceInstant(observed_at.at_ms),
            observed_at,
            requested_count,
            is_vouched_for: false,
            posts: Vec::new(),
            absent: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    fn add_post(&mut self, post: Post, requested: &[RecordUri], siblings: &[RecordUri]) {
        self.is_vouched_for |= siblings.contains(&post.uri);
        let is_new = !self.posts.iter().any(|found| found.post.uri == post.uri);
        if is_new && requested.contains(&post.uri) {
            self.posts.push(PostObservation { post, observed_at: self.observed_at });
        }
    }
}

#[cfg(test)]
#[path = "posts_tests.rs"]
mod tests;
