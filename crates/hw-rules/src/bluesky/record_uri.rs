//! Identifies records, such as posts and reposts.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::account_ref::PostRef;
use super::did::Did;
use super::identifier::{IdentifierKind, InvalidIdentifier, impl_checked_text};

/// The collection of an account's posts.
pub const POST_COLLECTION: &str = "app.bsky.feed.post";
/// The collection of an account's reposts.
pub const REPOST_COLLECTION: &str = "app.bsky.feed.repost";

/// The URI of a record: `at://did/collection/key`. A clone shares its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RecordUri {
    did: Did,
    collection: Arc<str>,
    key: RecordKey,
    text: Arc<str>,
}

impl RecordUri {
    /// Returns the URI of a post.
    pub fn post(did: Did, key: RecordKey) -> Self {
        Self::from_parts(did, POST_COLLECTION, key)
    }

    /// Returns the URI of a repost.
    pub fn repost(did: Did, key: RecordKey) -> Self {
        Self::from_parts(did, REPOST_COLLECTION, key)
    }

    fn from_parts(did: Did, collection: &str, key: RecordKey) -> Self {
        let text = format!("at://{did}/{collection}/{key}").into();
        Self { did, collection: collection.into(), key, text }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the account that the record belongs to.
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// Returns the collection, such as [`POST_COLLECTION`].
    pub fn collection(&self) -> &str {
        &self.collection
    }

    pub fn key(&self) -> &RecordKey {
        &self.key
    }

    pub fn is_post(&self) -> bool {
        &*self.collection == POST_COLLECTION
    }

    pub fn is_repost(&self) -> bool {
        &*self.collection == REPOST_COLLECTION
    }

    /// Returns the URL at which people read a post; none for other records, which have no page of their own.
    ///
    /// It names the account by DID, so that it stays valid when the handle changes.
    pub fn web_url(&self) -> Option<String> {
        let (did, key) = (&self.did, &self.key);
        self.is_post().then(|| format!("https://bsky.app/profile/{did}/post/{key}"))
    }
}

impl_checked_text!(RecordUri);

/// Parses an `at://` URI that names its account by DID, or the URL of a post at bsky.app that does.
impl FromStr for RecordUri {
    type Err = InvalidIdentifier;

    fn from_str(text: &str) -> Result<Self, InvalidIdentifier> {
        let invalid = || InvalidIdentifier::new(IdentifierKind::RecordUri, text);
        let Some(path) = text.strip_prefix("at://") else {
            let post: PostRef = text.parse().map_err(|_| invalid())?;
            return post
                .to_uri()
                .ok_or_else(|| invalid().with_hint("a DID in place of the handle"));
        };
        let mut parts = path.splitn(3, '/');
        let mut next_part = || parts.next().ok_or_else(invalid);
        let (did, collection, key) = (next_part()?, next_part()?, next_part()?);
        if !is_collection(collection) {
            return Err(invalid());
        }
        let did = did.parse().map_err(|_| invalid())?;
        Ok(Self::from_parts(did, collection, key.parse().map_err(|_| invalid())?))
    }
}

/// Returns true if the text names a collection: a domain name in reverse, and a name.
fn is_collection(text: &str) -> bool {
    const MAX_COLLECTION_LENGTH: usize = 317;
    const MIN_PARTS: usize = 3;
    text.len() <= MAX_COLLECTION_LENGTH
        && text.split('.').count() >= MIN_PARTS
        && text.split('.').all(|part| {
            part.starts_with(|first: char| first.is_ascii_alphanumeric())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

/// The last part of a record's URI, unique in its collection. A clone shares its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey(Arc<str>);

impl RecordKey {
    pub const MAX_LENGTH: usize = 512;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RecordKey {
    type Err = InvalidIdentifier;

    fn from_str(text: &str) -> Result<Self, InvalidIdentifier> {
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:~".contains(&byte));
        let is_dots = matches!(text, "." | "..");
        if is_plain && !is_dots && (1..=Self::MAX_LENGTH).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidIdentifier::new(IdentifierKind::RecordUri, text))
        }
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the number by which a record is stored: the first 63 bits of the SHA-256 of its URI.
///
/// Records have no numeric id of their own. The table keeps the URI unique, so that a collision is noticed.
pub fn record_id(uri: &RecordUri) -> i64 {
    let digest = Sha256::digest(uri.as_str());
    let first = digest.first_chunk().expect("a SHA-256 has 32 bytes");
    (u64::from_be_bytes(*first) >> 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const URI: &str = "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3k44deefqdk2g";
    const URL: &str =
        "https://bsky.app/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz/post/3k44deefqdk2g";

    #[test]
    fn record_uri_has_an_account_a_collection_and_a_key() {
        let uri: RecordUri = URI.parse().unwrap();
        assert_eq!(uri.as_str(), URI);
        assert_eq!(uri.did().as_str(), "did:plc:ewvi7nxzyoun6zhxrhs64oiz");
        assert_eq!((uri.collection(), uri.key().as_str()), (POST_COLLECTION, "3k44deefqdk2g"));
        assert!(uri.is_post() && !uri.is_repost());
        assert_eq!(uri.web_url().as_deref(), Some(URL));
        assert_eq!(URL.parse(), Ok(uri));
        let repost: RecordUri = URI.replace("post/", "repost/").parse().unwrap();
        assert_eq!((repost.is_repost(), repost.web_url()), (true, None));
    }

    #[test]
    fn record_uri_is_refused_unless_it_names_one_record_of_a_did() {
        let long = format!("{URI}{}", "a".repeat(RecordKey::MAX_LENGTH));
        for text in [
            "",
            "at://",
            "at://did:plc:abc",
            "at://did:plc:abc/app.bsky.feed.post",
            "at://did:plc:abc/app.bsky.feed.post/",
            "at://did:plc:abc/app.bsky.feed.post/..",
            "at://did:plc:abc/app.bsky.feed.post/a/b",
            "at://did:plc:abc/app.bsky.feed.post/a?x",
            "at://did:plc:abc/app.bsky.feed.post/a#x",
            "at://did:plc:abc/post/a",
            "at://did:plc:abc/app..post/a",
            "at://alice.bsky.social/app.bsky.feed.post/a",
            "at://did:plc:abc/app.bsky.feed.post/a\0",
            "at://did:plc:abc/app.bsky.feed.post/\u{202e}a",
            "https://bsky.app/profile/alice.bsky.social/post/a",
            &long,
        ] {
            assert!(text.parse::<RecordUri>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn record_id_is_the_beginning_of_the_hash() {
        // printf %s URI | sha256sum
        assert_eq!(record_id(&URI.parse().unwrap()), 823_884_941_443_803_900);
    }

    proptest! {
        #[test]
        fn record_uri_round_trips_and_its_id_is_positive(key in "[a-z2-7]{13}", did in "[a-z2-7]{24}") {
            let uri: RecordUri = format!("at://did:plc:{did}/app.bsky.feed.repost/{key}").parse().unwrap();
            prop_assert_eq!(uri.as_str().parse::<RecordUri>().unwrap(), uri.clone());
            prop_assert!(record_id(&uri) > 0);
        }

        #[test]
        fn record_uri_accepts_only_visible_ascii(text in any::<String>()) {
            if let Ok(uri) = format!("at://did:plc:abc/app.bsky.feed.post/{text}").parse::<RecordUri>() {
                prop_assert!(uri.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
            }
        }
    }
}
