//! Profiles of accounts: one, or many at once. Their post counts show which feeds moved.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::account_schedule::ProfileSign;
use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::handle::Handle;
use hw_rules::source_time::SourceInstant;

use super::post_view;
use super::xrpc::{XrpcEndpoint, XrpcRequest, XrpcResponse};
use crate::error::SourceError;
use crate::query::Query;
use crate::raw_json::RawNode;

/// The most profiles that one request reads.
pub const MAX_PROFILES: usize = 25;
/// The same, as the size of a request.
pub const PROFILES_SIZE: u32 = 25;
/// The label by which an account asks to be shown only to people who are logged in.
const LOGGED_IN_ONLY_LABEL: &str = "!no-unauthenticated";

/// An account as the server shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub did: Did,
    pub handle: Handle,
    /// The posts of the account, without reposts. None if the server does not say.
    pub posts_count: Option<i64>,
    /// True if it blocks the account whose session is used, or is blocked by it.
    pub is_blocked: bool,
    /// True if it asks to be shown only to people who are logged in. Servers still show it.
    pub is_for_logged_in: bool,
}

impl Profile {
    /// Returns true if this is the profile of an account that was asked for like this.
    pub fn is_of(&self, account: &AccountRef) -> bool {
        match account {
            AccountRef::Did(did) => *did == self.did,
            AccountRef::Handle(handle) => *handle == self.handle,
        }
    }

    /// Returns what the profile shows about the account's feed.
    pub fn sign(&self) -> ProfileSign {
        if self.is_blocked {
            ProfileSign::Unreadable
        } else {
            ProfileSign::Readable { posts_count: self.posts_count }
        }
    }

    fn read(node: RawNode<'_>) -> Result<Self, String> {
        let name = post_view::read_account_name(node)?;
        let posts_count = node.get("postsCount").and_then(RawNode::as_i64);
        Ok(Self {
            did: name.did,
            handle: name.handle,
            posts_count: posts_count.filter(|count| *count >= 0),
            is_blocked: node.get("viewer").is_some_and(is_blocked_viewer),
            is_for_logged_in: node.get("labels").is_some_and(has_logged_in_label),
        })
    }
}

/// Returns true if one of the two accounts blocks the other.
fn is_blocked_viewer(viewer: RawNode<'_>) -> bool {
    // `blocking` is the URI of the block
    let is_blocking = viewer.get("blocking").and_then(RawNode::as_text).is_some();
    is_blocking || viewer.get("blockedBy").and_then(RawNode::as_bool) == Some(true)
}

fn has_logged_in_label(labels: RawNode<'_>) -> bool {
    let labels = labels.as_elements().unwrap_or_default();
    labels.into_iter().any(|label| {
        label.get("val").and_then(RawNode::as_text).as_deref() == Some(LOGGED_IN_ONLY_LABEL)
    })
}

/// Requests the profile of one account: the only query whose errors tell why an account is unavailable.
#[derive(Debug, Clone, Copy)]
pub struct ProfileQuery<'a> {
    pub account: &'a AccountRef,
}

impl Query for ProfileQuery<'_> {
    type Endpoint = XrpcEndpoint;
    type Page = Profile;

    fn request(&self, _size: u32) -> XrpcRequest {
        let params = vec![("actor", self.account.to_string())];
        XrpcRequest::new("app.bsky.actor.getProfile", params)
    }

    fn parse(&self, response: &XrpcResponse, _size: u32) -> Result<Profile, SourceError> {
        let profile = Profile::read(response.body.root()).map_err(SourceError::InvalidResponse)?;
        match self.account {
            AccountRef::Did(did) if *did != profile.did => {
                let message = format!("the profile of {}, not of {did}", profile.did);
                Err(SourceError::InvalidResponse(message))
            }
            AccountRef::Did(_) | AccountRef::Handle(_) => Ok(profile),
        }
    }
}

/// Requests the profiles of many accounts: the first ones, up to [`MAX_PROFILES`].
#[derive(Debug, Clone, Copy)]
pub struct ProfilesQuery<'a> {
    pub accounts: &'a [AccountRef],
}

impl<'a> ProfilesQuery<'a> {
    /// Returns the accounts that a request of this size asks for: the first ones.
    pub fn requested(&self, size: u32) -> &'a [AccountRef] {
        &self.accounts[..self.accounts.len().min(size as usize).min(MAX_PROFILES)]
    }
}

impl Query for ProfilesQuery<'_> {
    type Endpoint = XrpcEndpoint;
    type Page = ProfilesPage;

    fn request(&self, size: u32) -> XrpcRequest {
        let accounts = self.requested(size).iter();
        let params = accounts.map(|account| ("actors", account.to_string())).collect();
        XrpcRequest::new("app.bsky.actor.getProfiles", params)
    }

    fn parse(&self, response: &XrpcResponse, size: u32) -> Result<ProfilesPage, SourceError> {
        let requested = self.requested(size);
        let rows = response.require_rows("profiles")?;
        let read = rows.into_iter().filter_map(|row| Profile::read(row).ok());
        let is_requested =
            |profile: &Profile| requested.iter().any(|account| profile.is_of(account));
        let profiles: Vec<Profile> = read.filter(is_requested).collect();
        let is_missing =
            |account: &&AccountRef| !profiles.iter().any(|profile| profile.is_of(account));
        let missing = requested.iter().filter(is_missing).cloned().collect();
        let requested_count = requested.len();
        Ok(ProfilesPage { date: response.date(), requested_count, profiles, missing })
    }
}

/// The profiles of many accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilesPage {
    pub date: SourceInstant,
    /// The number of accounts that the request asked for.
    pub requested_count: usize,
    pub profiles: Vec<Profile>,
    /// Accounts that the answer leaves out, or whose profile cannot be read. [`ProfileQuery`] shows the reason.
    pub missing: Vec<AccountRef>,
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
