//! Accounts, their handles and their states.

use std::sync::Arc;

use super::{BlueskyWorld, FeedIndex, identifiers};

/// The state of an account, as `getProfile` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountState {
    Active,
    Deactivated,
    TakenDown,
    /// Its posts are deleted with it.
    Deleted,
}

/// An account and the indexes of its records.
#[derive(Debug)]
pub(in crate::bluesky) struct SimAccount {
    pub(in crate::bluesky) index: usize,
    pub(in crate::bluesky) did: Arc<str>,
    /// `None` after another account took it.
    pub(in crate::bluesky) handle: Option<Arc<str>>,
    pub(in crate::bluesky) display_name: String,
    pub(in crate::bluesky) created_ms: i64,
    pub(in crate::bluesky) state: AccountState,
    pub(in crate::bluesky) is_blocking_viewer: bool,
    pub(in crate::bluesky) is_blocked_by_viewer: bool,
    /// The rows that exist, including those that are not indexed yet.
    pub(in crate::bluesky) feed: FeedIndex,
    /// The posts that exist, including those that are not indexed yet.
    pub(super) living_posts: usize,
    /// Those among them that were not indexed at the latest time.
    pub(super) unindexed_posts: Vec<usize>,
    /// Every post and repost that ever was, oldest first.
    pub(in crate::bluesky) post_history: Vec<usize>,
    pub(in crate::bluesky) repost_history: Vec<usize>,
    pub(in crate::bluesky) pinned_post: Option<usize>,
    /// In the order of following.
    pub(in crate::bluesky) follows: Vec<usize>,
    pub(in crate::bluesky) followers: usize,
}

impl SimAccount {
    pub(in crate::bluesky) fn is_active(&self) -> bool {
        self.state == AccountState::Active
    }
}

impl BlueskyWorld {
    /// Creates an account and returns its DID.
    pub fn create_account(&mut self, handle: &str, display_name: &str, now_ms: i64) -> String {
        let did = identifiers::generate_did(&mut self.rng);
        let index = self.accounts.len();
        self.accounts.push(SimAccount {
            index,
            did: Arc::clone(&did),
            handle: None,
            display_name: display_name.to_owned(),
            created_ms: now_ms,
            state: AccountState::Active,
            is_blocking_viewer: false,
            is_blocked_by_viewer: false,
            feed: FeedIndex::new(),
            living_posts: 0,
            unindexed_posts: Vec::new(),
            post_history: Vec::new(),
            repost_history: Vec::new(),
            pinned_post: None,
            follows: Vec::new(),
            followers: 0,
        });
        self.accounts_by_did.insert(Arc::clone(&did), index);
        self.change_handle(&did, handle);
        did.to_string()
    }

    /// Gives an account another handle. Whoever had it before is left without.
    pub fn change_handle(&mut self, did: &str, handle: &str) {
        let index = self.account_index(did);
        self.release_handle(index);
        if let Some(previous) = self.accounts_by_handle.insert(handle.to_lowercase(), index) {
            self.accounts[previous].handle = None;
        }
        self.accounts[index].handle = Some(handle.into());
    }

    /// Moves the handle of one account to another one.
    pub fn move_handle(&mut self, from_did: &str, to_did: &str) {
        let from = self.account_index(from_did);
        if let Some(handle) = self.accounts[from].handle.clone() {
            self.change_handle(to_did, &handle);
        }
    }

    pub fn rename_account(&mut self, did: &str, display_name: &str) {
        let index = self.account_index(did);
        self.accounts[index].display_name = display_name.to_owned();
    }

    pub fn deactivate(&mut self, did: &str) {
        self.set_account_state(did, AccountState::Deactivated);
    }

    pub fn take_down(&mut self, did: &str) {
        self.set_account_state(did, AccountState::TakenDown);
    }

    /// Makes a deactivated or taken-down account active again; a deleted one stays deleted.
    pub fn reactivate(&mut self, did: &str) {
        self.set_account_state(did, AccountState::Active);
    }

    /// Deletes an account with its posts and reposts, and frees its handle.
    pub fn delete_account(&mut self, did: &str, now_ms: i64) {
        let index = self.account_index(did);
        for post in self.accounts[index].post_history.clone() {
            self.remove_post(post, now_ms);
        }
        for repost in self.accounts[index].repost_history.clone() {
            self.remove_repost(repost, now_ms);
        }
        self.release_handle(index);
        self.set_account_state(did, AccountState::Deleted);
    }

    /// Makes an account block the user of every session.
    pub fn block_viewer(&mut self, did: &str) {
        let index = self.account_index(did);
        self.accounts[index].is_blocking_viewer = true;
    }

    pub fn unblock_viewer(&mut self, did: &str) {
        let index = self.account_index(did);
        self.accounts[index].is_blocking_viewer = false;
    }

    /// Makes the user of every session block an account.
    pub fn block_by_viewer(&mut self, did: &str) {
        let index = self.account_index(did);
        self.accounts[index].is_blocked_by_viewer = true;
    }

    /// Makes one account follow another; nothing changes if it does already.
    pub fn follow(&mut self, did: &str, followed_did: &str) {
        let (index, followed) = (self.account_index(did), self.account_index(followed_did));
        if index != followed && !self.accounts[index].follows.contains(&followed) {
            self.accounts[index].follows.push(followed);
            self.accounts[followed].followers += 1;
        }
    }

    pub fn unfollow(&mut self, did: &str, followed_did: &str) {
        let (index, followed) = (self.account_index(did), self.account_index(followed_did));
        if let Some(position) = self.accounts[index].follows.iter().position(|at| *at == followed) {
            self.accounts[index].follows.remove(position);
            self.accounts[followed].followers -= 1;
        }
    }

    fn set_account_state(&mut self, did: &str, state: AccountState) {
        let index = self.account_index(did);
        if self.accounts[index].state != AccountState::Deleted {
            self.accounts[index].state = state;
        }
    }

    fn release_handle(&mut self, index: usize) {
        if let Some(handle) = self.accounts[index].handle.take() {
            self.accounts_by_handle.remove(&handle.to_lowercase());
        }
    }
}
