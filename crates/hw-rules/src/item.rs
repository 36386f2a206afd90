//! What is said: the objects of the mirror, each with its identity and its digest.

mod comment;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::SourceTime;
use crate::version::{Digest, Seen, Version};

pub use comment::Comment;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Repository,
    Discussion,
    Issue,
    PullRequest,
    IssueComment,
    ReviewComment,
    Review,
    DiscussionComment,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Repository,
        Self::Discussion,
        Self::Issue,
        Self::PullRequest,
        Self::IssueComment,
        Self::ReviewComment,
        Self::Review,
        Self::DiscussionComment,
    ];
    /// The kinds that people write in.
    pub const THREADS: [Self; 3] = [Self::Discussion, Self::Issue, Self::PullRequest];
    /// The kinds of what is said in threads.
    pub const COMMENTS: [Self; 4] =
        [Self::IssueComment, Self::ReviewComment, Self::Review, Self::DiscussionComment];
    /// Everything that has a text.
    pub const TEXTS: [Self; 7] = [
        Self::Discussion,
        Self::Issue,
        Self::PullRequest,
        Self::IssueComment,
        Self::ReviewComment,
        Self::Review,
        Self::DiscussionComment,
    ];

    /// The name in tables and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::Discussion => "discussion",
            Self::Issue => "issue",
            Self::PullRequest => "pull_request",
            Self::IssueComment => "issue_comment",
            Self::ReviewComment => "review_comment",
            Self::Review => "review",
            Self::DiscussionComment => "discussion_comment",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// What people write: an issue, a pull request or a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    pub url: String,
    pub title: String,
    pub body: String,
    /// `OPEN`, `CLOSED` or `MERGED`.
    pub state: String,
    pub state_reason: Option<String>,
    pub labels: Vec<String>,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
    pub closed_at: Option<SourceTime>,
    pub sort: Sort,
}

/// Which sort of thread it is, with what only that sort has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sort {
    Issue,
    PullRequest(PullRequest),
    Discussion(Discussion),
}

/// What only a pull request has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    pub is_draft: bool,
    pub merged_at: Option<SourceTime>,
    /// The branch it comes from; the name stays when the branch is gone.
    pub head_ref: String,
    /// The numbers of the issues of its own repository that it closes, in order.
    pub closes: Vec<i64>,
}

/// What only a discussion has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discussion {
    pub category: String,
    /// None where the category takes no answers.
    pub is_answered: Option<bool>,
}

impl Thread {
    pub fn kind(&self) -> Kind {
        match self.sort {
            Sort::Issue => Kind::Issue,
            Sort::PullRequest(_) => Kind::PullRequest,
            Sort::Discussion(_) => Kind::Discussion,
        }
    }

    pub fn key(&self) -> Key {
        Key { kind: self.kind(), id: self.id }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Item {
    Repository(Repository),
    Thread(Thread),
    Comment(Comment),
}

impl Item {
    pub fn key(&self) -> Key {
        match self {
            Self::Repository(repository) => Key { kind: Kind::Repository, id: repository.id },
            Self::Thread(thread) => thread.key(),
            Self::Comment(comment) => comment.key(),
        }
    }

    /// The source's own name for it.
    pub fn node_id(&self) -> &str {
        match self {
            Self::Repository(repository) => &repository.node_id,
            Self::Thread(thread) => &thread.node_id,
            Self::Comment(comment) => &comment.node_id,
        }
    }

    pub fn updated_at(&self) -> &SourceTime {
        match self {
            Self::Repository(repository) => &repository.updated_at,
            Self::Thread(thread) => &thread.updated_at,
            Self::Comment(comment) => &comment.updated_at,
        }
    }

    pub fn digest(&self) -> Digest {
        match self {
            Self::Repository(repository) => repository.digest(),
            Self::Thread(thread) => thread.digest(),
            Self::Comment(comment) => comment.digest(),
        }
    }
}

impl Repository {
    fn digest(&self) -> Digest {
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

impl Thread {
    /// The repository's name and the URL are left out: a rename changes them without touching the
    /// thread, and the store rewrites them when it learns of the rename.
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
            fields.extend(told(optional));
        }
        let of_its_sort = self.sort.fields();
        fields.extend(of_its_sort.iter().map(String::as_str));
        fields.extend(self.labels.iter().map(String::as_str));
        Digest::of(fields)
    }
}

impl Sort {
    /// As many texts for every thread of a sort, so that none can be mistaken for a label.
    fn fields(&self) -> Vec<String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        match self {
            Self::Issue => Vec::new(),
            Self::PullRequest(PullRequest { is_draft, merged_at, head_ref, closes }) => {
                let [is_merged, merged_at] = told(merged_at.as_ref().map(SourceTime::as_str));
                let closes: Vec<String> = closes.iter().map(ToString::to_string).collect();
                owned(&[flag(*is_draft), is_merged, merged_at, head_ref, &closes.join(",")])
            }
            Self::Discussion(Discussion { category, is_answered }) => {
                let [is_told, is_answered] = told(is_answered.map(flag));
                owned(&[category, is_told, is_answered])
            }
        }
    }
}

fn flag(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

/// Whether it is there, and what it says: nothing and an empty text are not the same.
fn told(optional: Option<&str>) -> [&str; 2] {
    [flag(optional.is_some()), optional.unwrap_or("")]
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
        Version::observed(self.item.updated_at().clone(), self.seen, self.item.digest())
    }
}
