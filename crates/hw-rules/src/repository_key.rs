//! Identifies repositories: an id means something at its host only.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The host of a source: `github.com`, or an Enterprise Server's name. A clone shares its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(Arc<str>);

impl Host {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Host {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Host {
    fn from(host: &str) -> Self {
        Self(host.into())
    }
}

impl From<String> for Host {
    fn from(host: String) -> Self {
        Self(host.into())
    }
}

impl From<&String> for Host {
    fn from(host: &String) -> Self {
        Self(host.as_str().into())
    }
}

impl From<&Self> for Host {
    fn from(host: &Self) -> Self {
        host.clone()
    }
}

impl PartialEq<str> for Host {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

/// A repository's immutable id, unique at its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryId(pub i64);

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A repository's identity. Owner and name are attributes that change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryKey {
    pub host: Host,
    pub id: RepositoryId,
}

impl RepositoryKey {
    pub fn new(host: impl Into<Host>, id: i64) -> Self {
        Self { host: host.into(), id: RepositoryId(id) }
    }
}

impl fmt::Display for RepositoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.host, self.id)
    }
}
