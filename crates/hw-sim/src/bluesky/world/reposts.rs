//! Reposts: records of their own, in the feed of whoever reposts.

use std::sync::Arc;

use super::{BlueskyWorld, FeedKey, FeedRow, RecordRef, identifiers};

/// A repost; a deleted one stays here.
#[derive(Debug)]
pub(in crate::bluesky) struct SimRepost {
    pub(in crate::bluesky) author: usize,
    pub(in crate::bluesky) uri: Arc<str>,
    pub(in crate::bluesky) cid: Arc<str>,
    /// The post, which may be by the same author.
    pub(in crate::bluesky) subject: usize,
    /// The time from which readers see it, which also decides its place in the feed.
    pub(in crate::bluesky) indexed_ms: i64,
    pub(in crate::bluesky) deleted_ms: Option<i64>,
}

impl SimRepost {
    pub(in crate::bluesky) fn to_ref(&self) -> RecordRef {
        RecordRef { uri: Arc::clone(&self.uri), cid: Arc::clone(&self.cid) }
    }

    fn feed_key(&self, index: usize) -> FeedKey {
        FeedKey {
            sort_ms: self.indexed_ms,
            cid: Arc::clone(&self.cid),
            row: FeedRow::Repost(index),
        }
    }
}

impl BlueskyWorld {
    /// Reposts a post, also one's own. A post can be reposted several times by one account.
    pub fn repost(&mut self, did: &str, post_uri: &str, now_ms: i64) -> RecordRef {
        let (author, subject) = (self.account_index(did), self.post_index(post_uri));
        let key = self.next_record_key(now_ms);
        let uri: Arc<str> = format!("at://{did}/app.bsky.feed.repost/{key}").into();
        let repost = SimRepost {
            author,
            uri: Arc::clone(&uri),
            cid: identifiers::generate_cid(&mut self.rng),
            subject,
            indexed_ms: self.pick_index_time(now_ms),
            deleted_ms: None,
        };
        let index = self.reposts.len();
        self.accounts[author].feed.insert(repost.feed_key(index));
        self.accounts[author].repost_history.push(index);
        self.posts[subject].repost_count += 1;
        self.reposts_by_uri.insert(uri, index);
        let inserted = repost.to_ref();
        self.reposts.push(repost);
        inserted
    }

    pub fn delete_repost(&mut self, uri: &str, now_ms: i64) {
        let index = self.reposts_by_uri.get(uri);
        let index = *index.unwrap_or_else(|| panic!("no repost {uri} in this world"));
        self.remove_repost(index, now_ms);
    }

    pub(super) fn remove_repost(&mut self, index: usize, now_ms: i64) {
        let repost = &mut self.reposts[index];
        if repost.deleted_ms.is_some() {
            return;
        }
        repost.deleted_ms = Some(now_ms);
        let (author, subject, key) = (repost.author, repost.subject, repost.feed_key(index));
        self.accounts[author].feed.remove(&key);
        self.posts[subject].repost_count -= 1;
    }
}
