//! Posts: written, edited and deleted.

use std::sync::Arc;

use super::{BlueskyWorld, FeedKey, FeedRow, PostDraft, RecordRef, identifiers};
use crate::timestamps;

/// The current version of a post; a deleted one keeps its last version.
#[derive(Debug)]
pub(in crate::bluesky) struct SimPost {
    pub(in crate::bluesky) author: usize,
    pub(in crate::bluesky) uri: Arc<str>,
    pub(in crate::bluesky) cid: Arc<str>,
    pub(in crate::bluesky) draft: PostDraft,
    /// The author's claim as written.
    pub(in crate::bluesky) created_at: String,
    /// The author's claim as the AppView reads it.
    created_ms: i64,
    /// The time from which readers see it.
    pub(in crate::bluesky) indexed_ms: i64,
    pub(in crate::bluesky) edited_ms: Option<i64>,
    pub(in crate::bluesky) deleted_ms: Option<i64>,
    /// Its first `indexed_ms`.
    pub(in crate::bluesky) first_indexed_ms: i64,
    /// Its first `sort_ms`.
    pub(in crate::bluesky) first_sort_ms: i64,
    pub(in crate::bluesky) repost_count: usize,
}

impl SimPost {
    /// Returns the time that decides its place in feeds.
    pub(in crate::bluesky) fn sort_ms(&self) -> i64 {
        self.created_ms.min(self.indexed_ms)
    }

    pub(in crate::bluesky) fn exists_at(&self, now_ms: i64) -> bool {
        self.deleted_ms.is_none() && self.first_indexed_ms <= now_ms
    }

    pub(in crate::bluesky) fn to_ref(&self) -> RecordRef {
        RecordRef { uri: Arc::clone(&self.uri), cid: Arc::clone(&self.cid) }
    }

    fn feed_key(&self, index: usize) -> FeedKey {
        FeedKey { sort_ms: self.sort_ms(), cid: Arc::clone(&self.cid), row: FeedRow::Post(index) }
    }
}

impl BlueskyWorld {
    /// Publishes a post.
    pub fn post(&mut self, did: &str, draft: PostDraft, now_ms: i64) -> RecordRef {
        let author = self.account_index(did);
        let indexed_ms = self.pick_index_time(now_ms);
        self.insert_post(author, draft, now_ms, indexed_ms)
    }

    /// Publishes a post that claims to have been written at another time.
    pub fn backdate_post(
        &mut self,
        did: &str,
        draft: PostDraft,
        created_ms: i64,
        now_ms: i64,
    ) -> RecordRef {
        let created_at = timestamps::format_rfc3339_ms(created_ms);
        self.post(did, draft.with_created_at(&created_at), now_ms)
    }

    /// Publishes many posts, `step_ms` apart from `from_ms` on. Each one becomes visible at its own time.
    pub fn post_burst(
        &mut self,
        did: &str,
        count: usize,
        from_ms: i64,
        step_ms: i64,
    ) -> Vec<RecordRef> {
        let author = self.account_index(did);
        let mut at_ms = from_ms;
        let mut posts = Vec::with_capacity(count);
        for _ in 0..count {
            let draft = self.generator.write_post(&mut self.rng);
            posts.push(self.insert_post(author, draft, at_ms, at_ms));
            at_ms += step_ms;
        }
        posts
    }

    /// Replaces the record of a post: the URI stays, the CID is new. The author's claim of the time stays unless the
    /// draft has one.
    pub fn edit_post(&mut self, uri: &str, draft: PostDraft, now_ms: i64) -> RecordRef {
        let index = self.post_index(uri);
        let cid = identifiers::generate_cid(&mut self.rng);
        let post = &mut self.posts[index];
        assert!(post.deleted_ms.is_none(), "{uri} is deleted");
        let old_key = post.feed_key(index);
        let created_at = draft.created_at.clone().unwrap_or_else(|| post.created_at.clone());
        post.created_ms = read_created_at(&created_at);
        post.created_at = created_at;
        post.draft = draft;
        post.cid = cid;
        post.edited_ms = Some(now_ms);
        // a record that is indexed again gets a new time
        post.indexed_ms = post.indexed_ms.max(now_ms);
        let (author, edited) = (post.author, post.to_ref());
        let new_key = post.feed_key(index);
        self.accounts[author].feed.remove(&old_key);
        self.accounts[author].feed.insert(new_key);
        edited
    }

    pub fn delete_post(&mut self, uri: &str, now_ms: i64) {
        let index = self.post_index(uri);
        self.remove_post(index, now_ms);
    }

    /// Pins a post to the profile of its author.
    pub fn pin_post(&mut self, uri: &str) {
        let index = self.post_index(uri);
        let author = self.posts[index].author;
        self.accounts[author].pinned_post = Some(index);
    }

    pub fn unpin_post(&mut self, did: &str) {
        let index = self.account_index(did);
        self.accounts[index].pinned_post = None;
    }

    pub(super) fn insert_post(
        &mut self,
        author: usize,
        draft: PostDraft,
        now_ms: i64,
        indexed_ms: i64,
    ) -> RecordRef {
        let key = self.next_record_key(now_ms);
        let did = &self.accounts[author].did;
        let uri: Arc<str> = format!("at://{did}/app.bsky.feed.post/{key}").into();
        let created_at =
            draft.created_at.clone().unwrap_or_else(|| timestamps::format_rfc3339_ms(now_ms));
        let created_ms = read_created_at(&created_at);
        let post = SimPost {
            author,
            uri: Arc::clone(&uri),
            cid: identifiers::generate_cid(&mut self.rng),
            draft,
            created_ms,
            created_at,
            indexed_ms,
            edited_ms: None,
            deleted_ms: None,
            first_indexed_ms: indexed_ms,
            first_sort_ms: created_ms.min(indexed_ms),
            repost_count: 0,
        };
        let index = self.posts.len();
        let account = &mut self.accounts[author];
        account.feed.insert(post.feed_key(index));
        account.living_posts += 1;
        account.post_history.push(index);
        account.unindexed_posts.push(index);
        let inserted = post.to_ref();
        self.posts_by_uri.insert(uri, index);
        self.posts.push(post);
        inserted
    }

    pub(super) fn remove_post(&mut self, index: usize, now_ms: i64) {
        let post = &mut self.posts[index];
        if post.deleted_ms.is_some() {
            return;
        }
        post.deleted_ms = Some(now_ms);
        let key = post.feed_key(index);
        let account = &mut self.accounts[post.author];
        account.feed.remove(&key);
        account.living_posts -= 1;
        if account.pinned_post == Some(index) {
            account.pinned_post = None;
        }
    }

    pub(super) fn post_index(&self, uri: &str) -> usize {
        let index = self.posts_by_uri.get(uri);
        *index.unwrap_or_else(|| panic!("no post {uri} in this world"))
    }
}

/// Reads an author's claim of a time as the AppView does: what is no time counts as 1970.
fn read_created_at(text: &str) -> i64 {
    timestamps::parse_rfc3339(text).unwrap_or(0)
}
