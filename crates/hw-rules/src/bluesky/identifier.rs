//! The errors of texts that cannot be an identifier.

use std::fmt;

use crate::safe_text;

/// The kind of an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifierKind {
    Account,
    Did,
    Handle,
    RecordUri,
    Post,
    Cid,
}

impl IdentifierKind {
    fn name(self) -> &'static str {
        match self {
            Self::Account => "an account",
            Self::Did => "a DID",
            Self::Handle => "a handle",
            Self::RecordUri => "the URI of a record",
            Self::Post => "a post",
            Self::Cid => "a CID",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Account => {
                "a handle such as alice.bsky.social, a DID, or the URL of a profile at bsky.app"
            }
            Self::Did => "did: with a method and an id, such as did:plc:ewvi7nxzyoun6zhxrhs64oiz",
            Self::Handle => "a domain name such as alice.bsky.social",
            Self::RecordUri => "at:// with a DID, a collection and a record key",
            Self::Post => "an at:// URI, or the URL of a post at bsky.app",
            Self::Cid => "letters and digits",
        }
    }
}

/// A text that cannot be an identifier of this kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidIdentifier {
    pub kind: IdentifierKind,
    /// The beginning of the text.
    text: String,
    hint: Option<&'static str>,
}

impl InvalidIdentifier {
    pub(super) fn new(kind: IdentifierKind, text: &str) -> Self {
        const MAX_QUOTED_BYTES: usize = 100;
        let text = safe_text::truncate_text(text, MAX_QUOTED_BYTES).into_owned();
        Self { kind, text, hint: None }
    }

    pub(super) fn with_hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

impl fmt::Display for InvalidIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, text, hint } = self;
        let expected = hint.unwrap_or_else(|| kind.expected());
        // the quotes come with escapes for everything that is not visible
        write!(f, "not {}: {text:?}; expected {expected}", kind.name())
    }
}

impl std::error::Error for InvalidIdentifier {}

/// Implements the conversions that all checked texts share.
macro_rules! impl_checked_text {
    ($name:ident) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::bluesky::identifier::InvalidIdentifier;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(checked: $name) -> Self {
                checked.as_str().to_owned()
            }
        }
    };
}
pub(super) use impl_checked_text;
