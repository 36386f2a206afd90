//! Posts and accounts on Bluesky as pages show them.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::post::Post;
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::safe_text::sanitize_for_display;
use hw_store::PostRow;

use crate::format::{self, DisplayTime, format_name};

/// Characters of a post on a page; Bluesky's limit is 300.
const MAX_TEXT: usize = 3_000;
/// Links of a post on a page.
const MAX_LINKS: usize = 10;

/// A post or a repost.
pub(crate) struct PostView {
    /// The id of its element, which stays the same across updates.
    pub(crate) id: String,
    /// `post`, `reply`, `quote` or `repost`.
    pub(crate) kind: &'static str,
    /// The account that posted or reposted.
    pub(crate) account: AccountLink,
    /// The author of the text, if it is a repost.
    pub(crate) author: Option<AccountLink>,
    pub(crate) posted: DisplayTime,
    pub(crate) text: String,
    pub(crate) references: Vec<PostReference>,
    pub(crate) links: Vec<ExternalLink>,
    /// Its page on bsky.app.
    pub(crate) url: Option<String>,
}

/// The name of an account, and the page of its posts.
pub(crate) struct AccountLink {
    pub(crate) name: String,
    /// None if the name cannot be one of an account.
    pub(crate) href: Option<String>,
}

/// A post that another one refers to.
pub(crate) struct PostReference {
    pub(crate) relation: &'static str,
    pub(crate) address: ExternalLink,
}

/// An address outside of the site.
pub(crate) struct ExternalLink {
    pub(crate) text: String,
    /// None if a page must not link to it.
    pub(crate) href: Option<String>,
}

impl PostView {
    pub(crate) fn new(row: &PostRow) -> Self {
        let post = &row.post;
        let reply = post.reply.as_ref().map(|reply| PostReference::new("reply to", &reply.parent));
        let quote = post.quote.as_ref().map(|quote| PostReference::new("quotes", quote));
        Self {
            id: format!("post-{}", post.id()),
            kind: post.kind_name(),
            account: AccountLink::new(row.sharer_name()),
            author: post.repost.as_ref().map(|_| AccountLink::new(row.author_name())),
            posted: DisplayTime::new(post.sort_at.instant()),
            text: format_post_text(&post.text),
            references: reply.into_iter().chain(quote).collect(),
            links: first_links(post),
            url: format::external_url(&post.web_url()),
        }
    }
}

impl AccountLink {
    pub(crate) fn new(name: &str) -> Self {
        let account = name.parse::<AccountRef>().ok();
        let href = account.map(|account| account_url(account.as_str()));
        Self { name: format_name(name), href }
    }
}

impl PostReference {
    fn new(relation: &'static str, uri: &RecordUri) -> Self {
        let address = uri.web_url().unwrap_or_else(|| uri.to_string());
        Self { relation, address: ExternalLink::new(&address) }
    }
}

impl ExternalLink {
    pub(crate) fn new(url: &str) -> Self {
        Self { text: format::format_path(url), href: format::external_url(url) }
    }
}

/// Returns the URL of the page with the posts of an account.
fn account_url(account: &str) -> String {
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair("account", account).finish();
    format!("/posts?{query}")
}

/// Cleans the text of a post, and cuts it where it is longer than any sensible one. Line breaks stay.
pub(crate) fn format_post_text(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", sanitize_for_display(&text[..end])),
        None => sanitize_for_display(text),
    }
}

/// Returns the first links of a post, each page once.
fn first_links(post: &Post) -> Vec<ExternalLink> {
    post.distinct_urls().into_iter().take(MAX_LINKS).map(ExternalLink::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_link_leads_to_its_posts_and_a_wrong_name_to_nothing() {
        let link = AccountLink::new("did:web:example.com");
        assert_eq!(link.href.as_deref(), Some("/posts?account=did%3Aweb%3Aexample.com"));
        assert!(AccountLink::new("javascript:alert(1)").href.is_none());
    }

    #[test]
    fn external_link_is_one_of_the_web() {
        assert!(ExternalLink::new("https://one.test/").href.is_some());
        for url in
            ["javascript:alert(1)", "data:text/html,x", "//evil.example", "at://did:plc:a/b/c"]
        {
            let link = ExternalLink::new(url);
            assert_eq!((link.href, link.text.as_str()), (None, url));
        }
    }

    #[test]
    fn post_text_keeps_line_breaks_and_is_cut() {
        assert_eq!(format_post_text("a\n\u{202e}b\0"), "a\nb");
        let long = "é".repeat(10_000);
        assert_eq!(format_post_text(&long), format!("{}…", "é".repeat(MAX_TEXT)));
    }
}
