//! Objects as the service shows them.

use serde_json::{Value, json};

use super::endpoint::Viewer;
use super::post_record::{media_view, post_record};
use super::world::{BlueskyWorld, FeedRow, PostEmbed, RecordRef, SimAccount, SimPost, SimRepost};
use crate::timestamps::format_rfc3339_ms;

/// Writes the views of a world at one time, for one viewer.
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewBuilder<'w> {
    world: &'w BlueskyWorld,
    now_ms: i64,
    viewer: Viewer,
}

impl<'w> ViewBuilder<'w> {
    pub(super) fn new(world: &'w BlueskyWorld, now_ms: i64, viewer: Viewer) -> Self {
        Self { world, now_ms, viewer }
    }

    /// Returns an item of a feed; `None` if its post cannot be shown.
    pub(super) fn feed_item(self, account: &SimAccount, row: FeedRow) -> Option<Value> {
        match row {
            FeedRow::Post(index) => self.post_item(self.world.post_at(index)),
            FeedRow::Repost(index) => self.repost_item(account, self.world.repost_at(index)),
        }
    }

    /// Returns the item of a pinned post.
    pub(super) fn pinned_item(self, account: &SimAccount, post: usize) -> Option<Value> {
        let post = self.world.post_at(post);
        let mut item = self.post_item(post).filter(|_| post.author == account.index)?;
        item["reason"] = json!({ "$type": "app.bsky.feed.defs#reasonPin" });
        Some(item)
    }

    fn repost_item(self, account: &SimAccount, repost: &SimRepost) -> Option<Value> {
        let mut item = self.post_item(self.world.post_at(repost.subject))?;
        item["reason"] = json!({
            "$type": "app.bsky.feed.defs#reasonRepost",
            "by": self.author(account),
            "uri": &*repost.uri,
            "cid": &*repost.cid,
            "indexedAt": format_rfc3339_ms(repost.indexed_ms),
        });
        Some(item)
    }

    fn post_item(self, post: &SimPost) -> Option<Value> {
        let mut item = json!({ "post": self.post(post)? });
        if let Some(reply) = &post.draft.reply {
            item["reply"] = json!({
                "root": self.replied_post(&reply.root),
                "parent": self.replied_post(&reply.parent),
            });
        }
        Some(item)
    }

    /// Returns a post; `None` if it is gone, its author unavailable, or one of both blocks the other.
    pub(super) fn post(self, post: &SimPost) -> Option<Value> {
        let author = self.world.account(post.author);
        if !post.exists_at(self.now_ms) || !author.is_active() || self.is_blocked(author) {
            return None;
        }
        let mut view = json!({
            "uri": &*post.uri,
            "cid": &*post.cid,
            "author": self.author(author),
            "record": post_record(post),
            "bookmarkCount": 0,
            "replyCount": 0,
            "repostCount": post.repost_count,
            "likeCount": 0,
            "quoteCount": 0,
            "indexedAt": format_rfc3339_ms(post.indexed_ms),
            "labels": [],
        });
        if let Some(embed) = &post.draft.embed {
            view["embed"] = self.embed(embed, &author.did);
        }
        if self.viewer == Viewer::SignedIn {
            view["viewer"] = json!({ "threadMuted": false, "embeddingDisabled": false });
        }
        Some(view)
    }

    /// Returns the short profile beside posts.
    pub(super) fn author(self, account: &SimAccount) -> Value {
        let mut view = json!({
            "did": &*account.did,
            "handle": shown_handle(account),
            "labels": [],
            "createdAt": format_rfc3339_ms(account.created_ms),
        });
        if !account.display_name.is_empty() {
            view["displayName"] = account.display_name.as_str().into();
        }
        if self.viewer == Viewer::SignedIn {
            view["viewer"] = json!({
                "muted": false,
                "blockedBy": account.is_blocking_viewer,
            });
        }
        view
    }

    /// Returns the profile of `getProfile` and `getProfiles`.
    pub(super) fn detailed_profile(self, account: &SimAccount) -> Value {
        let mut view = self.author(account);
        view["followersCount"] = account.followers.into();
        view["followsCount"] = account.follows.len().into();
        view["postsCount"] = self.world.count_posts(account, self.now_ms).into();
        view["indexedAt"] = format_rfc3339_ms(account.created_ms).into();
        if let Some(pin) = account.pinned_post {
            let pin = self.world.post_at(pin);
            view["pinnedPost"] = json!({ "cid": &*pin.cid, "uri": &*pin.uri });
        }
        view
    }

    fn is_blocked(self, account: &SimAccount) -> bool {
        let blocks = account.is_blocking_viewer || account.is_blocked_by_viewer;
        self.viewer == Viewer::SignedIn && blocks
    }

    fn replied_post(self, record: &RecordRef) -> Value {
        let post = self.world.find_visible_post(&record.uri, self.now_ms);
        match post.and_then(|post| self.post(post)) {
            Some(mut view) => {
                view["$type"] = "app.bsky.feed.defs#postView".into();
                view
            }
            None => json!({
                "$type": "app.bsky.feed.defs#notFoundPost",
                "uri": &*record.uri,
                "notFound": true,
            }),
        }
    }

    fn embed(self, embed: &PostEmbed, author: &str) -> Value {
        match embed {
            PostEmbed::Media(media) => media_view(media, author),
            PostEmbed::Record(record) => json!({
                "$type": "app.bsky.embed.record#view",
                "record": self.quoted_post(record),
            }),
            PostEmbed::RecordWithMedia { record, media } => json!({
                "$type": "app.bsky.embed.recordWithMedia#view",
                "record": { "record": self.quoted_post(record) },
                "media": media_view(media, author),
            }),
        }
    }

    /// Returns the present version of a quoted post, without what it quotes itself.
    fn quoted_post(self, record: &RecordRef) -> Value {
        let post = self.world.find_visible_post(&record.uri, self.now_ms);
        let Some(post) = post else {
            return json!({
                "$type": "app.bsky.embed.record#viewNotFound",
                "uri": &*record.uri,
                "notFound": true,
            });
        };
        let author = self.world.account(post.author);
        if self.is_blocked(author) {
            return json!({
                "$type": "app.bsky.embed.record#viewBlocked",
                "uri": &*record.uri,
                "blocked": true,
                "author": { "did": &*author.did },
            });
        }
        json!({
            "$type": "app.bsky.embed.record#viewRecord",
            "uri": &*post.uri,
            "cid": &*post.cid,
            "author": self.author(author),
            "value": post_record(post),
            "labels": [],
            "likeCount": 0,
            "replyCount": 0,
            "repostCount": post.repost_count,
            "quoteCount": 0,
            "indexedAt": format_rfc3339_ms(post.indexed_ms),
            "embeds": [],
        })
    }
}

/// Returns an account's handle, or the one that stands for none.
pub(super) fn shown_handle(account: &SimAccount) -> &str {
    account.handle.as_deref().unwrap_or("handle.invalid")
}
