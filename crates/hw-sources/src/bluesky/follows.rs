//! The accounts that an account follows.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::walk::PageCursor;

use super::post_view;
use super::xrpc::{XrpcEndpoint, XrpcRequest, XrpcResponse};
use crate::error::SourceError;
use crate::query::Query;

pub use super::post_view::AccountName;

/// The most accounts that a page can have.
pub const MAX_FOLLOWS: u32 = 100;

/// Requests one page of the accounts that an account follows.
#[derive(Debug, Clone, Copy)]
pub struct FollowsQuery<'a> {
    pub account: &'a AccountRef,
    pub after: Option<&'a PageCursor>,
}

impl Query for FollowsQuery<'_> {
    type Endpoint = XrpcEndpoint;
    type Page = FollowsPage;

    fn request(&self, size: u32) -> XrpcRequest {
        let limit = size.clamp(1, MAX_FOLLOWS).to_string();
        let mut params = vec![("actor", self.account.to_string()), ("limit", limit)];
        params.extend(self.after.map(|cursor| ("cursor", cursor.0.clone())));
        XrpcRequest::new("app.bsky.graph.getFollows", params)
    }

    fn parse(&self, response: &XrpcResponse, _size: u32) -> Result<FollowsPage, SourceError> {
        let next = response.read_cursor()?.filter(|next| Some(next) != self.after);
        let mut page = FollowsPage { accounts: Vec::new(), unreadable_count: 0, next };
        for row in response.require_rows("follows")? {
            match post_view::read_account_name(row) {
                Ok(account) => page.accounts.push(account),
                Err(_) => page.unreadable_count += 1,
            }
        }
        Ok(page)
    }
}

/// One page of followed accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowsPage {
    pub accounts: Vec<AccountName>,
    pub unreadable_count: usize,
    /// The cursor of the next page; a page may be empty and still have one.
    pub next: Option<PageCursor>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bluesky::sample_responses::{ALICE, BOB, response_with_body};

    #[test]
    fn follows_are_read_page_by_page() {
        let account: AccountRef = ALICE.parse().unwrap();
        let query = FollowsQuery { account: &account, after: Some(&PageCursor("c1".into())) };
        let params = query.request(500).params;
        let params: Vec<(&str, &str)> =
            params.iter().map(|(name, text)| (*name, text.as_str())).collect();
        assert_eq!(params, [("actor", ALICE), ("limit", "100"), ("cursor", "c1")]);
        let body = json!({
            "subject": { "did": ALICE, "handle": "alice.test" },
            "follows": [
                { "did": BOB, "handle": "Bob.test", "displayName": "Bob" },
                { "did": "bob", "handle": "bob.test" },
                { "did": "did:plc:carol", "handle": "not a handle" },
            ],
            "cursor": "c2",
        });
        let page = query.parse(&response_with_body(&body), 100).unwrap();
        let names: Vec<(&str, &str)> = page
            .accounts
            .iter()
            .map(|account| (account.did.as_str(), account.handle.as_str()))
            .collect();
        assert_eq!(names, [(BOB, "bob.test"), ("did:plc:carol", "handle.invalid")]);
        assert_eq!((page.unreadable_count, page.next), (1, Some(PageCursor("c2".into()))));
    }

    #[test]
    fn follows_end_with_a_repeated_cursor() {
        let account: AccountRef = ALICE.parse().unwrap();
        let after = PageCursor("c1".into());
        let query = FollowsQuery { account: &account, after: Some(&after) };
        let response = response_with_body(&json!({ "follows": [], "cursor": "c1" }));
        assert_eq!(query.parse(&response, 100).unwrap().next, None);
    }
}
