//! Identifies owners by their login.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// The login of an organization or a user. GitHub ignores its case, so logins compare without it; each keeps its
/// spelling for display.
#[derive(Debug, Clone)]
pub struct Login(String);

/// A text that cannot be a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidLogin;

impl Login {
    /// The maximum length that GitHub allows.
    pub const MAX_LENGTH: usize = 39;

    /// Returns a login that needs no check: GitHub returned it, or it was checked before it was stored.
    pub fn from_known(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the login as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the one spelling that all cases of the login share. Keys in the database use it.
    pub fn to_key(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// Returns true if the text is this login, in any case.
    pub fn is_same(&self, text: &str) -> bool {
        self.0.eq_ignore_ascii_case(text)
    }

    fn key_bytes(&self) -> impl Iterator<Item = u8> {
        self.0.bytes().map(|byte| byte.to_ascii_lowercase())
    }
}

/// Checks a text by GitHub's grammar: letters, digits and hyphens.
///
/// The names of managed users also contain an underscore, and some old accounts end with a hyphen or have two in a row.
impl FromStr for Login {
    type Err = InvalidLogin;

    fn from_str(text: &str) -> Result<Self, InvalidLogin> {
        let is_login = text.len() <= Self::MAX_LENGTH
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        is_login.then(|| Self(text.to_owned())).ok_or(InvalidLogin)
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq for Login {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(&other.0)
    }
}

impl Eq for Login {}

impl PartialOrd for Login {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Login {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key_bytes().cmp(other.key_bytes())
    }
}

impl Hash for Login {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key_bytes().for_each(|byte| state.write_u8(byte));
        state.write_u8(0xff);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::*;

    #[test]
    fn login_is_letters_digits_hyphens_and_underscores() {
        for text in ["acme", "A-1", "x", "ferris_acme", "old-", "o--ld", &"a".repeat(39)] {
            assert_eq!(text.parse::<Login>().unwrap().as_str(), text);
        }
        for text in ["", "-a", "_a", "a.b", "a/b", "ä", "a b", "..", &"a".repeat(40)] {
            assert_eq!(text.parse::<Login>(), Err(InvalidLogin), "{text:?}");
        }
    }

    #[test]
    fn login_is_the_same_in_any_case_and_keeps_its_spelling() {
        let logins = ["Acme", "acme", "ACME"].map(Login::from_known);
        assert_eq!(logins.iter().collect::<BTreeSet<_>>().len(), 1);
        assert_eq!(logins.iter().collect::<HashSet<_>>().len(), 1);
        assert!(logins[0].is_same("aCME") && !logins[0].is_same("acm"));
        assert_eq!((logins[0].to_string(), logins[0].to_key()), ("Acme".into(), "acme".into()));
        assert!(Login::from_known("B") > logins[1] && Login::from_known("b") > logins[2]);
    }
}
