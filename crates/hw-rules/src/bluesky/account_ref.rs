//! Reads accounts and posts as people write them.

use std::fmt;
use std::str::FromStr;

use super::did::Did;
use super::handle::Handle;
use super::identifier::{IdentifierKind, InvalidIdentifier};
use super::record_uri::{POST_COLLECTION, RecordKey, RecordUri};

/// An account as a person writes it: `alice.bsky.social`, `@alice.bsky.social`, a DID, or the URL of its profile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountRef {
    Did(Did),
    Handle(Handle),
}

impl AccountRef {
    /// Returns the text that the API takes as `actor`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Did(did) => did.as_str(),
            Self::Handle(handle) => handle.as_str(),
        }
    }

    /// Parses a DID or a handle, without the `@` that people put before it.
    fn parse_plain(text: &str) -> Result<Self, InvalidIdentifier> {
        if text.starts_with("did:") {
            text.parse().map(Self::Did)
        } else {
            text.parse().map(Self::Handle)
        }
    }
}

impl FromStr for AccountRef {
    type Err = InvalidIdentifier;

    fn from_str(text: &str) -> Result<Self, InvalidIdentifier> {
        let invalid = InvalidIdentifier::new(IdentifierKind::Account, text);
        let plain = match app_path(text) {
            Some(path) => match path.trim_end_matches('/').strip_prefix("profile/") {
                Some(account) if account.contains("/post/") => {
                    return Err(invalid.with_hint("an account, and this is the URL of a post"));
                }
                Some(account) => account,
                None => return Err(invalid),
            },
            None if text.contains("://") => return Err(invalid),
            None => text,
        };
        match Self::parse_plain(plain.strip_prefix('@').unwrap_or(plain)) {
            // a name without a domain is a common mistake
            Err(_) if is_single_word(plain) => {
                Err(invalid
                    .with_hint("the whole handle, with its domain, such as alice.bsky.social"))
            }
            Err(error) if error.kind == IdentifierKind::Did => Err(error),
            Err(_) => Err(invalid),
            Ok(account) => Ok(account),
        }
    }
}

impl fmt::Display for AccountRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A post as a person writes it: its `at://` URI, or its URL at bsky.app, which may name the account by handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostRef {
    pub account: AccountRef,
    pub key: RecordKey,
}

impl PostRef {
    /// Returns the post's URI, given the DID that the account's handle leads to.
    pub fn with_did(&self, did: Did) -> RecordUri {
        RecordUri::post(did, self.key.clone())
    }

    /// Returns the post's URI, if it names the account by DID.
    pub fn to_uri(&self) -> Option<RecordUri> {
        match &self.account {
            AccountRef::Did(did) => Some(self.with_did(did.clone())),
            AccountRef::Handle(_) => None,
        }
    }
}

impl FromStr for PostRef {
    type Err = InvalidIdentifier;

    fn from_str(text: &str) -> Result<Self, InvalidIdentifier> {
        let invalid = || InvalidIdentifier::new(IdentifierKind::Post, text);
        let (account, key) = match app_path(text) {
            Some(path) => path
                .trim_end_matches('/')
                .strip_prefix("profile/")
                .and_then(|path| path.split_once("/post/")),
            None => text.strip_prefix("at://").and_then(|path| {
                let (account, path) = path.split_once('/')?;
                let (collection, key) = path.split_once('/')?;
                (collection == POST_COLLECTION).then_some((account, key))
            }),
        }
        .ok_or_else(invalid)?;
        Ok(Self {
            account: AccountRef::parse_plain(account).map_err(|_| invalid())?,
            key: key.parse().map_err(|_| invalid())?,
        })
    }
}

/// Returns the path of a URL at bsky.app, without its query and fragment.
fn app_path(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    rest.strip_prefix("bsky.app/")?.split(['?', '#']).next()
}

fn is_single_word(text: &str) -> bool {
    let word = text.strip_prefix('@').unwrap_or(text);
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

    #[test]
    fn account_is_a_handle_a_did_or_a_profile_url() {
        for (text, account) in [
            ("alice.bsky.social", "alice.bsky.social"),
            ("@Alice.bsky.social", "alice.bsky.social"),
            (DID, DID),
            ("https://bsky.app/profile/alice.bsky.social", "alice.bsky.social"),
            ("https://bsky.app/profile/alice.bsky.social/?x=1#y", "alice.bsky.social"),
            (&format!("http://www.bsky.app/profile/{DID}"), DID),
        ] {
            assert_eq!(text.parse::<AccountRef>().unwrap().as_str(), account, "{text}");
        }
        assert_eq!(DID.parse(), Ok(AccountRef::Did(DID.parse().unwrap())));
    }

    #[test]
    fn account_error_says_what_is_expected() {
        for (text, part) in [
            ("", "not an account: \"\"; expected a handle"),
            ("alice", "expected the whole handle, with its domain, such as alice.bsky.social"),
            ("@alice", "expected the whole handle, with its domain"),
            ("did:plc", "not a DID"),
            ("@@alice.bsky.social", "not an account"),
            ("https://example.com/profile/alice.bsky.social", "not an account"),
            ("https://bsky.app/search", "not an account"),
            ("https://bsky.app/profile/a.com/post/3k", "this is the URL of a post"),
            ("https://bsky.app.evil.com/profile/a.com", "not an account"),
            ("alice.bsky.social\0", "alice.bsky.social\\0"),
            ("\u{202e}alice.bsky.social", "\\u{202e}alice"),
        ] {
            let error = text.parse::<AccountRef>().unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn post_is_a_uri_or_its_url() {
        let uri = format!("at://{DID}/app.bsky.feed.post/3k44deefqdk2g");
        for text in [uri.clone(), format!("https://bsky.app/profile/{DID}/post/3k44deefqdk2g?x")] {
            let post: PostRef = text.parse().unwrap();
            assert_eq!(post.to_uri().unwrap().to_string(), uri);
        }
        let by_handle: PostRef =
            "https://bsky.app/profile/alice.bsky.social/post/3k44deefqdk2g".parse().unwrap();
        assert_eq!(by_handle.to_uri(), None);
        assert_eq!(by_handle.with_did(DID.parse().unwrap()).to_string(), uri);
        for text in [
            "",
            "https://bsky.app/profile/alice.bsky.social",
            "https://bsky.app/profile/alice.bsky.social/post/",
            "https://bsky.app/profile/alice.bsky.social/post/a/b",
            &format!("at://{DID}/app.bsky.feed.like/3k44deefqdk2g"),
        ] {
            assert!(text.parse::<PostRef>().is_err(), "{text:?}");
        }
    }
}
