//! Identifies accounts by their DID, which never changes.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::identifier::{IdentifierKind, InvalidIdentifier, impl_checked_text};

/// The permanent identifier of an account: `did:plc:…` or `did:web:…`. A clone shares its text.
///
/// The account's handle is an attribute that changes, and can later belong to another account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Did(Arc<str>);

impl Did {
    /// The specification allows 2,048 bytes; the methods in use stay below 300, and DIDs are parts of URLs.
    pub const MAX_LENGTH: usize = 512;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl_checked_text!(Did);

/// Checks a text by the grammar of the AT Protocol. Any method is accepted, because new ones may come.
impl FromStr for Did {
    type Err = InvalidIdentifier;

    fn from_str(text: &str) -> Result<Self, InvalidIdentifier> {
        if is_did(text) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidIdentifier::new(IdentifierKind::Did, text))
        }
    }
}

fn is_did(text: &str) -> bool {
    let Some((method, id)) = text.strip_prefix("did:").and_then(|rest| rest.split_once(':')) else {
        return false;
    };
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_id = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:%-".contains(&byte));
    text.len() <= Did::MAX_LENGTH
        && is_method
        && !id.is_empty()
        && is_id
        && !id.ends_with([':', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn did_has_a_method_and_an_id() {
        for text in [
            "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
            "did:web:example.com",
            "did:web:localhost%3A1234",
            "did:method:val:two",
        ] {
            assert_eq!(text.parse::<Did>().unwrap().as_str(), text);
        }
        let long = format!("did:plc:{}", "a".repeat(Did::MAX_LENGTH));
        for text in [
            "",
            "did",
            "did:plc",
            "did:plc:",
            "did::abc",
            "did:PLC:abc",
            "DID:plc:abc",
            "did:plc:a b",
            "did:plc:abc:",
            "did:plc:abc%",
            "did:plc:a/b",
            "did:plc:a\0b",
            "did:plc:a\u{202e}b",
            " did:plc:abc",
            &long,
        ] {
            assert!(text.parse::<Did>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn did_error_shows_no_hidden_characters() {
        let error = "did:plc:a\u{202e}b\0".parse::<Did>().unwrap_err().to_string();
        assert!(
            error.starts_with("not a DID: \"did:plc:a\\u{202e}b\\0\"; expected did:"),
            "{error}"
        );
        let long = format!("did:plc:{}!", "a".repeat(10_000)).parse::<Did>().unwrap_err();
        assert!(long.to_string().len() < 300);
    }
}
