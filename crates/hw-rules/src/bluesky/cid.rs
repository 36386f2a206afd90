//! Identifies versions of records by their CID.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::identifier::{IdentifierKind, InvalidIdentifier, impl_checked_text};

/// The hash of a record's content: it changes with every edit. A clone shares its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cid(Arc<str>);

impl Cid {
    /// CIDs in use have 59 bytes.
    pub const MAX_LENGTH: usize = 256;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl_checked_text!(Cid);

/// Checks that the text can be a CID. Its hash is not decoded: it is only compared.
impl FromStr for Cid {
    type Err = InvalidIdentifier;

    fn from_str(text: &str) -> Result<Self, InvalidIdentifier> {
        const MIN_LENGTH: usize = 8;
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+=".contains(&byte));
        if is_plain && (MIN_LENGTH..=Self::MAX_LENGTH).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidIdentifier::new(IdentifierKind::Cid, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cid_is_letters_and_digits() {
        let text = "bafyreihffx5a2e7k5uwrmmgofbvzujc5cmw5h4espouwuxt3liqoflx3ee";
        assert_eq!(text.parse::<Cid>().unwrap().as_str(), text);
        for text in ["", "bafy", "bafyrei hffx5a2", "bafyreihffx5a2\0", &"b".repeat(257)] {
            assert!(text.parse::<Cid>().is_err(), "{text:?}");
        }
    }
}
