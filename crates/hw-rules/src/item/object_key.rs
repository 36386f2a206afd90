//! Identifies objects, at one host and across hosts.

use std::fmt;

use super::ObjectKind;
use crate::repository_key::Host;

/// An object's kind and numeric id, unique at its host.
///
/// A page, its cells and its search rows are of one host, so they do not repeat it in each of their keys: there, this is
/// the whole key. Whatever leaves such a place carries an [`ObjectKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    pub kind: ObjectKind,
    pub id: i64,
}

impl ObjectId {
    /// Returns the object's identity across hosts.
    pub fn at_host(self, host: impl Into<Host>) -> ObjectKey {
        ObjectKey { host: host.into(), kind: self.kind, id: self.id }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.id)
    }
}

/// An object's identity. Names and URLs are attributes that change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    pub host: Host,
    pub kind: ObjectKind,
    pub id: i64,
}

impl ObjectKey {
    pub fn new(host: impl Into<Host>, kind: impl Into<ObjectKind>, id: i64) -> Self {
        Self { host: host.into(), kind: kind.into(), id }
    }

    /// Returns the object's identity at its host.
    pub fn object_id(&self) -> ObjectId {
        ObjectId { kind: self.kind, id: self.id }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.kind.name(), self.id)
    }
}
