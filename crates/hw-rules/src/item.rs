//! What is said: the objects of the mirror, each with its identity and its digest.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::SourceTime;
use crate::version::{Digest, Seen, Version};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Repository,
    Issue,
}

impl Kind {
    /// The name in tables and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::Issue => "issue",
        }
    }
}

/// An object's identity: kind and numeric id at one host. Names and URLs are attributes that change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub kind: Kind,
    pub id: i64,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.id)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    pub id: i64,
    pub node_id: String,
    pub owner: String,
    pub name: String,
    pub url: String,
    pub is_archived: bool,
    pub is_fork: bool,
    pub has_issues_enabled: bool,
    pub has_discussions_enabled: bool,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    pub url: String,
    pub title: String,
    pub body: String,
    pub state: String,
    pub state_reason: Option<String>,
    pub labels: Vec<String>,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
    pub closed_at: Option<SourceTime>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Repository(Repository),
    Issue(Issue),
}

impl Item {
    pub fn key(&self) -> Key {
        match self {
            Self::Repository(repository) => Key { kind: Kind::Repository, id: repository.id },
            Self::Issue(issue) => Key { kind: Kind::Issue, id: issue.id },
        }
    }

    pub fn updated_at(&self) -> &SourceTime {
        match self {
            Self::Repository(repository) => &repository.updated_at,
            Self::Issue(issue) => &issue.updated_at,
        }
    }

    pub fn digest(&self) -> Digest {
        match self {
            Self::Repository(repository) => repository.digest(),
            Self::Issue(issue) => issue.digest(),
        }
    }
}

impl Repository {
    fn digest(&self) -> Digest {
        let flag = |on: bool| if on { "1" } else { "0" };
        Digest::of([
            self.node_id.as_str(),
            &self.owner,
            &self.name,
            &self.url,
            flag(self.is_archived),
            flag(self.is_fork),
            flag(self.has_issues_enabled),
            flag(self.has_discussions_enabled),
            self.created_at.as_str(),
        ])
    }
}

impl Issue {
    /// The repository's name and the URL are left out: a rename changes them without touching the
    /// issue, and the store rewrites them when it learns of the rename.
    fn digest(&self) -> Digest {
        let number = self.number.to_string();
        let repository = self.repository_id.to_string();
        let author_id = self.author_id.map(|id| id.to_string());
        let mut fields = vec![
            self.node_id.as_str(),
            &number,
            &repository,
            &self.title,
            &self.body,
            &self.state,
            self.created_at.as_str(),
        ];
        for optional in [
            self.state_reason.as_deref(),
            self.author.as_deref(),
            author_id.as_deref(),
            self.closed_at.as_ref().map(SourceTime::as_str),
        ] {
            fields.extend([if optional.is_some() { "1" } else { "0" }, optional.unwrap_or("")]);
        }
        fields.extend(self.labels.iter().map(String::as_str));
        Digest::of(fields)
    }
}

/// One object as one answer showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub item: Item,
    pub seen: Seen,
}

impl Observation {
    pub fn key(&self) -> Key {
        self.item.key()
    }

    pub fn version(&self) -> Version {
        Version {
            updated_at: self.item.updated_at().clone(),
            seen: self.seen,
            digest: self.item.digest(),
        }
    }
}
