//! Defines the objects of the mirror, each with its identity and its digest.

mod author_kind;
mod comment;
mod kind;
mod object_key;

use serde::{Deserialize, Serialize};

use crate::bluesky::post::Post;
use crate::cells::ObservedVersion;
use crate::source_time::SourceTime;
use crate::version::{ContentDigest, ItemVersion, ObservedAt};

pub use author_kind::AuthorKind;
pub use comment::Comment;
pub use kind::{CommentKind, ObjectKind, ThreadKind};
pub use object_key::{ObjectId, ObjectKey};

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

/// The state of an open thread.
pub const OPEN_STATE: &str = "OPEN";

/// An issue, a pull request or a discussion.
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
    /// None if the account was deleted, or if no version that requests it has read the thread yet.
    pub author_kind: Option<AuthorKind>,
    /// The author's relation to the repository, in GitHub's own word (`MEMBER`, `NONE`, …). None if no version that
    /// requests it has read the thread yet.
    pub association: Option<String>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
    pub closed_at: Option<SourceTime>,
    #[serde(rename = "sort")]
    pub details: ThreadDetails,
}

/// The kind of a thread, with the fields that only this kind has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadDetails {
    Issue,
    PullRequest(PullRequestDetails),
    Discussion(DiscussionDetails),
}

/// The fields that only a pull request has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestDetails {
    pub is_draft: bool,
    pub merged_at: Option<SourceTime>,
    /// The source branch; the name stays when the branch is deleted.
    pub head_ref: String,
    /// The newest commit of the source branch. None if no version that requests it has read the pull request yet.
    pub head_sha: Option<String>,
}

/// The fields that only a discussion has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionDetails {
    pub category: String,
    /// None if the category does not support answers.
    pub is_answered: Option<bool>,
}

impl Thread {
    pub fn kind(&self) -> ThreadKind {
        match self.details {
            ThreadDetails::Issue => ThreadKind::Issue,
            ThreadDetails::PullRequest(_) => ThreadKind::PullRequest,
            ThreadDetails::Discussion(_) => ThreadKind::Discussion,
        }
    }

    pub fn key(&self) -> ObjectId {
        ObjectId { kind: self.kind().into(), id: self.id }
    }

    pub fn is_open(&self) -> bool {
        self.state == OPEN_STATE
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MirrorItem {
    Repository(Repository),
    Thread(Thread),
    Comment(Comment),
    Post(Post),
}

impl MirrorItem {
    pub fn key(&self) -> ObjectId {
        match self {
            Self::Repository(repository) => {
                ObjectId { kind: ObjectKind::Repository, id: repository.id }
            }
            Self::Thread(thread) => thread.key(),
            Self::Comment(comment) => comment.key(),
            Self::Post(post) => post.key(),
        }
    }

    /// Returns the source's own id.
    pub fn node_id(&self) -> &str {
        match self {
            Self::Repository(repository) => &repository.node_id,
            Self::Thread(thread) => &thread.node_id,
            Self::Comment(comment) => &comment.node_id,
            Self::Post(post) => post.uri.as_str(),
        }
    }

    pub fn updated_at(&self) -> &SourceTime {
        match self {
            Self::Repository(repository) => &repository.updated_at,
            Self::Thread(thread) => &thread.updated_at,
            Self::Comment(comment) => &comment.updated_at,
            // an edit leaves the times as they are: of two versions, the one that was read last is newer
            Self::Post(post) => &post.sort_at,
        }
    }

    pub fn digest(&self) -> ContentDigest {
        match self {
            Self::Repository(repository) => repository.digest(),
            Self::Thread(thread) => thread.digest(),
            Self::Comment(comment) => comment.digest(),
            Self::Post(post) => post.digest(),
        }
    }
}

impl Repository {
    fn digest(&self) -> ContentDigest {
        ContentDigest::from_fields([
            self.node_id.as_str(),
            &self.owner,
            &self.name,
            &self.url,
            encode_flag(self.is_archived),
            encode_flag(self.is_fork),
            encode_flag(self.has_issues_enabled),
            encode_flag(self.has_discussions_enabled),
            self.created_at.as_str(),
        ])
    }
}

impl Thread {
    /// Hashes everything but the repository's name and the URL: a rename changes them without updating the
    /// thread, and the store rewrites them when it observes the rename.
    ///
    /// Author kind, association and head commit are left out, too: older versions stored digests without them, and
    /// an association changes without updating the thread. The store writes them whenever it observes the thread.
    fn digest(&self) -> ContentDigest {
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
            fields.extend(encode_optional(optional));
        }
        let details = self.details.digest_fields();
        fields.extend(details.iter().map(String::as_str));
        fields.extend(self.labels.iter().map(String::as_str));
        ContentDigest::from_fields(fields)
    }
}

impl ThreadDetails {
    /// Returns as many fields for every thread of a kind, so that none can be mistaken for a label.
    fn digest_fields(&self) -> Vec<String> {
        match self {
            Self::Issue => Vec::new(),
            Self::PullRequest(PullRequestDetails { is_draft, merged_at, head_ref, .. }) => {
                let [is_merged, merged_at] =
                    encode_optional(merged_at.as_ref().map(SourceTime::as_str));
                // the empty field is part of all stored digests: it once listed the closing references
                [encode_flag(*is_draft), is_merged, merged_at, head_ref, ""]
                    .map(str::to_owned)
                    .into()
            }
            Self::Discussion(DiscussionDetails { category, is_answered }) => {
                let [has_answers, is_answered] = encode_optional(is_answered.map(encode_flag));
                [category, has_answers, is_answered].map(str::to_owned).into()
            }
        }
    }
}

fn encode_flag(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

/// Encodes an optional field as two: a missing text and an empty text are not the same.
pub(crate) fn encode_optional(optional: Option<&str>) -> [&str; 2] {
    [encode_flag(optional.is_some()), optional.unwrap_or("")]
}

/// One object as one response showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemObservation {
    pub item: MirrorItem,
    pub observed_at: ObservedAt,
}

impl ItemObservation {
    pub fn key(&self) -> ObjectId {
        self.item.key()
    }

    pub fn version(&self) -> ItemVersion {
        ItemVersion::new(self.item.updated_at().clone(), self.observed_at, self.item.digest())
    }

    /// Returns what a comparison with the stored cells needs.
    pub fn observed_version(&self) -> ObservedVersion {
        ObservedVersion { key: self.key(), version: self.version() }
    }
}
