//! The simulated world of accounts: everything that was ever posted.
//!
//! Only the public actions change it, each at a time passed in by the caller. An action on an account or a record that
//! does not exist is a mistake in the test, and panics.

mod accounts;
mod identifiers;
mod post_generator;
mod posts;
mod random_activity;
mod records;
mod reposts;
mod seeding;

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

pub use accounts::AccountState;
pub(super) use accounts::SimAccount;
use post_generator::PostGenerator;
pub(super) use posts::SimPost;
pub use records::{Facet, FacetFeature, MediaEmbed, PostDraft, PostEmbed, RecordRef, ReplyRefs};
pub(super) use reposts::SimRepost;

use super::spec::BlueskyActivity;

/// All accounts with their posts, reposts and follows.
#[derive(Debug)]
pub struct BlueskyWorld {
    accounts: Vec<SimAccount>,
    posts: Vec<SimPost>,
    reposts: Vec<SimRepost>,
    accounts_by_did: HashMap<Arc<str>, usize>,
    /// The present owner of each handle, in lower case.
    accounts_by_handle: HashMap<String, usize>,
    posts_by_uri: HashMap<Arc<str>, usize>,
    reposts_by_uri: HashMap<Arc<str>, usize>,
    rng: fastrand::Rng,
    generator: PostGenerator,
    activity: BlueskyActivity,
    next_action_ms: i64,
    index_lag_ms: RangeInclusive<u64>,
    /// The number of records so far.
    record_count: u64,
}

/// The position of a row in a feed; the greatest one comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FeedKey {
    pub(super) sort_ms: i64,
    pub(super) cid: Arc<str>,
    pub(super) row: FeedRow,
}

/// A row of a feed, as an index into the posts or the reposts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FeedRow {
    Post(usize),
    Repost(usize),
}

/// The rows of a feed, oldest first.
pub(super) type FeedIndex = BTreeSet<FeedKey>;

impl BlueskyWorld {
    /// Returns the DIDs of all accounts, in the order of their creation.
    #[must_use]
    pub fn dids(&self) -> Vec<String> {
        self.accounts.iter().map(|account| account.did.to_string()).collect()
    }

    /// Returns an account's present handle, unless it lost it.
    #[must_use]
    pub fn handle_of(&self, did: &str) -> Option<&str> {
        self.accounts[self.account_index(did)].handle.as_deref()
    }

    /// Returns the current versions of an account's posts, oldest first.
    #[must_use]
    pub fn posts_of(&self, did: &str) -> Vec<RecordRef> {
        let account = &self.accounts[self.account_index(did)];
        let posts = account.post_history.iter().map(|index| &self.posts[*index]);
        posts.filter(|post| post.deleted_ms.is_none()).map(SimPost::to_ref).collect()
    }

    /// Returns an account's reposts that still exist, oldest first.
    #[must_use]
    pub fn reposts_of(&self, did: &str) -> Vec<RecordRef> {
        let account = &self.accounts[self.account_index(did)];
        let reposts = account.repost_history.iter().map(|index| &self.reposts[*index]);
        reposts.filter(|repost| repost.deleted_ms.is_none()).map(SimRepost::to_ref).collect()
    }

    pub(super) fn accounts(&self) -> &[SimAccount] {
        &self.accounts
    }

    pub(super) fn account(&self, index: usize) -> &SimAccount {
        &self.accounts[index]
    }

    pub(super) fn post_at(&self, index: usize) -> &SimPost {
        &self.posts[index]
    }

    pub(super) fn repost_at(&self, index: usize) -> &SimRepost {
        &self.reposts[index]
    }

    /// Finds the account with this DID or handle, whatever its state.
    pub(super) fn find_account(&self, actor: &str) -> Option<&SimAccount> {
        let index = if actor.starts_with("did:") {
            self.accounts_by_did.get(actor)
        } else {
            self.accounts_by_handle.get(&actor.to_lowercase())
        };
        index.map(|index| &self.accounts[*index])
    }

    /// Finds a post that was indexed and not deleted, whatever the state of its author.
    pub(super) fn find_post(&self, uri: &str, now_ms: i64) -> Option<&SimPost> {
        let post = &self.posts[*self.posts_by_uri.get(uri)?];
        post.exists_at(now_ms).then_some(post)
    }

    /// Finds a post that readers can see.
    pub(super) fn find_visible_post(&self, uri: &str, now_ms: i64) -> Option<&SimPost> {
        self.find_post(uri, now_ms).filter(|post| self.accounts[post.author].is_active())
    }

    /// Returns the number of an account's own posts: reposts do not count.
    pub(super) fn count_posts(&self, account: &SimAccount, now_ms: i64) -> usize {
        let unindexed = account.unindexed_posts.iter().map(|index| &self.posts[*index]);
        let pending =
            unindexed.filter(|post| post.deleted_ms.is_none() && post.first_indexed_ms > now_ms);
        account.living_posts - pending.count()
    }

    /// Lets all accounts act up to this time.
    pub(super) fn advance_to(&mut self, now_ms: i64) {
        self.act_until(now_ms);
        for account in &mut self.accounts {
            account.unindexed_posts.retain(|index| self.posts[*index].first_indexed_ms > now_ms);
        }
    }

    fn account_index(&self, did: &str) -> usize {
        let index = self.accounts_by_did.get(did);
        *index.unwrap_or_else(|| panic!("no account {did} in this world"))
    }

    /// Picks the time at which something done now becomes visible.
    fn pick_index_time(&mut self, now_ms: i64) -> i64 {
        now_ms.saturating_add_unsigned(self.rng.u64(self.index_lag_ms.clone()))
    }

    fn next_record_key(&mut self, now_ms: i64) -> String {
        self.record_count += 1;
        identifiers::record_key(now_ms, self.record_count)
    }
}
