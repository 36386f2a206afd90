//! Names accounts by their handle, a domain name that people read and write.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::identifier::{IdentifierKind, InvalidIdentifier, impl_checked_text};

/// The handle of an account, in lower case. A clone shares its text.
///
/// It is for display: accounts change their handles, and [`Did`](super::did::Did) identifies them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Handle(Arc<str>);

impl Handle {
    /// The maximum length of a domain name.
    pub const MAX_LENGTH: usize = 253;
    /// The handle that a server reports if an account's own does not lead back to the account.
    pub const INVALID: &str = "handle.invalid";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if the handle names no account.
    pub fn is_placeholder(&self) -> bool {
        self.as_str() == Self::INVALID
    }
}

impl_checked_text!(Handle);

impl FromStr for Handle {
    type Err = InvalidIdentifier;

    fn from_str(text: &str) -> Result<Self, InvalidIdentifier> {
        if is_handle(text) {
            Ok(Self(text.to_ascii_lowercase().into()))
        } else {
            Err(InvalidIdentifier::new(IdentifierKind::Handle, text))
        }
    }
}

fn is_handle(text: &str) -> bool {
    let mut labels = text.rsplit('.');
    let starts_with_letter =
        |label: &str| label.starts_with(|first: char| first.is_ascii_alphabetic());
    let has_top_level = labels.next().is_some_and(|top| is_label(top) && starts_with_letter(top));
    text.len() <= Handle::MAX_LENGTH && text.contains('.') && has_top_level && labels.all(is_label)
}

/// Returns true if the text is one part of a domain name.
fn is_label(text: &str) -> bool {
    const MAX_LABEL_LENGTH: usize = 63;
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (1..=MAX_LABEL_LENGTH).contains(&text.len())
        && is_plain
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_is_a_domain_name_in_lower_case() {
        for text in ["alice.bsky.social", "washingtonpost.com", "8.cn", "a-b.c", "xn--ls8h.test"] {
            assert_eq!(text.parse::<Handle>().unwrap().as_str(), text);
        }
        assert_eq!("Alice.BSKY.Social".parse::<Handle>().unwrap().as_str(), "alice.bsky.social");
        assert!(Handle::INVALID.parse::<Handle>().unwrap().is_placeholder());
        let long = format!("{}.com", "a.".repeat(130));
        for text in [
            "",
            "alice",
            ".com",
            "alice.",
            "a..b",
            "-a.com",
            "a-.com",
            "alice.123",
            "al_ice.com",
            "al ice.com",
            "älice.com",
            "alice.bsky.social\0",
            "alice\u{202e}.bsky.social",
            &format!("{}.com", "a".repeat(64)),
            &long,
        ] {
            assert!(text.parse::<Handle>().is_err(), "{text:?}");
        }
    }
}
