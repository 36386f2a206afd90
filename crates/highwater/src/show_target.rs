//! Parses references to what `highwater show` prints.

use hw_rules::bluesky::account_ref::PostRef;
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::thread_address::ThreadAddress;

/// A thread of a mirror, or a post on Bluesky.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShowTarget {
    Thread(ThreadAddress),
    Post(PostTarget),
}

/// A post, or a repost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PostTarget {
    /// Names its account by DID.
    Record(RecordUri),
    /// Names its account by handle.
    Named(PostRef),
}

impl ShowTarget {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if is_post_address(text) {
            PostTarget::parse(text).map(Self::Post)
        } else {
            ThreadAddress::parse(text).map(Self::Thread).map_err(|error| error.to_string())
        }
    }
}

impl PostTarget {
    fn parse(text: &str) -> Result<Self, String> {
        // a repost has no page, only a URI
        if let Ok(uri) = text.parse::<RecordUri>()
            && (uri.is_post() || uri.is_repost())
        {
            return Ok(Self::Record(uri));
        }
        text.parse()
            .map(Self::Named)
            .map_err(|error: hw_rules::bluesky::identifier::InvalidIdentifier| error.to_string())
    }
}

/// Returns true if the text can only mean a post: an `at://` URI, or a URL at bsky.app.
fn is_post_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    scheme == "at" || ["bsky.app", "www.bsky.app"].contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn show_target_is_a_thread_or_a_post() {
        let uri = "at://did:plc:alice/app.bsky.feed.post/3k1";
        for text in [
            uri,
            "https://bsky.app/profile/did:plc:alice/post/3k1",
            " at://did:plc:alice/app.bsky.feed.post/3k1 ",
        ] {
            let expected = ShowTarget::Post(PostTarget::Record(uri.parse().unwrap()));
            assert_eq!(ShowTarget::parse(text), Ok(expected), "{text}");
        }
        for text in [
            "https://bsky.app/profile/alice.test/post/3k1",
            "at://alice.test/app.bsky.feed.post/3k1",
        ] {
            let target = ShowTarget::parse(text);
            assert!(matches!(target, Ok(ShowTarget::Post(PostTarget::Named(_)))), "{text}");
        }
        let repost = ShowTarget::parse("at://did:plc:bob/app.bsky.feed.repost/3k2");
        assert!(matches!(repost, Ok(ShowTarget::Post(PostTarget::Record(_)))));
        for text in ["acme/pump#12", "https://github.com/acme/pump/pull/7", "pump#1"] {
            assert!(matches!(ShowTarget::parse(text), Ok(ShowTarget::Thread(_))), "{text}");
        }
    }

    #[test]
    fn show_target_explains_what_is_neither() {
        for (text, part) in [
            ("https://bsky.app/profile/alice.test", "not a post"),
            ("at://did:plc:alice/app.bsky.feed.like/3k1", "not a post"),
            ("at://", "not a post"),
            ("pump", "pump"),
        ] {
            let error = ShowTarget::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
