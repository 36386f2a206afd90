//! The posts that a request asks for, as a query string and as links.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::identifier::InvalidIdentifier;
use hw_store::{PostCursor, PostFilter, ReplySelection, RepostSelection};

use crate::query_params::QueryParams;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PostSelection {
    account: Option<AccountRef>,
    has_no_reposts: bool,
    has_no_replies: bool,
    after: Option<PostCursor>,
}

/// A link that switches a part of the selection.
pub(super) struct SelectionChip {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) href: String,
    pub(super) is_on: bool,
}

impl PostSelection {
    /// Reads the selection. An invalid cursor means the first page.
    pub(super) fn from_params(params: &QueryParams) -> Result<Self, InvalidIdentifier> {
        let account = params.get("account").map(str::trim).filter(|account| !account.is_empty());
        Ok(Self {
            account: account.map(str::parse).transpose()?,
            has_no_reposts: params.get("reposts") == Some("no"),
            has_no_replies: params.get("replies") == Some("no"),
            after: params.get("after").and_then(|after| after.parse().ok()),
        })
    }

    pub(super) fn store_filter(&self, limit: u64) -> PostFilter {
        PostFilter {
            accounts: self.account.iter().map(AccountRef::to_string).collect(),
            reposts: if self.has_no_reposts {
                RepostSelection::Excluded
            } else {
                RepostSelection::Included
            },
            replies: if self.has_no_replies {
                ReplySelection::Excluded
            } else {
                ReplySelection::Included
            },
            after: self.after.clone(),
            limit: Some(limit),
            ..PostFilter::default()
        }
    }

    /// Returns the URL of the page after this post; of the first page without one.
    pub(super) fn page_url(&self, after: Option<&PostCursor>) -> String {
        Self { after: after.cloned(), ..self.clone() }.url(&[])
    }

    /// Returns the URL from which the page updates its list.
    pub(super) fn live_url(&self) -> String {
        self.url(&[("live", "true")])
    }

    pub(super) fn chips(&self) -> Vec<SelectionChip> {
        let reposts = Self { has_no_reposts: !self.has_no_reposts, after: None, ..self.clone() };
        let replies = Self { has_no_replies: !self.has_no_replies, after: None, ..self.clone() };
        let mut chips = vec![
            SelectionChip {
                id: "no-reposts",
                label: "without reposts",
                href: reposts.url(&[]),
                is_on: self.has_no_reposts,
            },
            SelectionChip {
                id: "no-replies",
                label: "without replies",
                href: replies.url(&[]),
                is_on: self.has_no_replies,
            },
        ];
        if self.account.is_some() {
            let all = Self { account: None, after: None, ..self.clone() };
            let href = all.url(&[]);
            chips.push(SelectionChip { id: "all", label: "all accounts", href, is_on: false });
        }
        chips
    }

    fn url(&self, extra: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(extra);
        query.extend_pairs(self.account.iter().map(|account| ("account", account.as_str())));
        query.extend_pairs(self.has_no_reposts.then_some(("reposts", "no")));
        query.extend_pairs(self.has_no_replies.then_some(("replies", "no")));
        query.extend_pairs(self.after.iter().map(|after| ("after", after.to_string())));
        let query = query.finish();
        if query.is_empty() { "/posts".to_owned() } else { format!("/posts?{query}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_selection_survives_a_round_trip_through_its_url() {
        for query in [
            "",
            "account=alice.test",
            "account=did%3Aplc%3Aalice&reposts=no&replies=no&after=12_7_bsky.app",
            "replies=no",
        ] {
            let selection = PostSelection::from_params(&QueryParams::parse(query)).unwrap();
            let separator = if query.is_empty() { "" } else { "?" };
            assert_eq!(selection.url(&[]), format!("/posts{separator}{query}"));
        }
    }

    #[test]
    fn post_selection_ignores_a_wrong_cursor_and_refuses_a_wrong_account() {
        let odd = QueryParams::parse("after=x&reposts=yes&account=+");
        assert_eq!(PostSelection::from_params(&odd), Ok(PostSelection::default()));
        for account in ["alice", "javascript%3Aalert(1)", "a%00b.test"] {
            let params = QueryParams::parse(&format!("account={account}"));
            assert!(PostSelection::from_params(&params).is_err(), "{account}");
        }
    }
}
