//! The GraphQL names of each kind of comment, and the fields to request.

use hw_rules::item::CommentKind;

use crate::github::lookup::{NodeLookup, RepositoryField};
use crate::github::node::ACTOR_FIELDS;

/// One kind of comment, in GitHub's terms.
pub(super) struct CommentSchema {
    pub type_name: &'static str,
    /// The numeric id. Comments of discussions have only the short one.
    id_field: &'static str,
    /// The fields that only this kind has.
    own_fields: &'static str,
    repository_field: RepositoryField,
    /// The repository's field that hides comments of this kind, or some of them, while it is false.
    enabled_field: Option<&'static str>,
}

/// Its `issue` is unreliable if it is a pull request, so the thread's number is read from the URL.
const ISSUE_COMMENT: CommentSchema = CommentSchema {
    type_name: "IssueComment",
    id_field: "fullDatabaseId",
    own_fields: "",
    repository_field: RepositoryField::DIRECT,
    enabled_field: Some("hasIssuesEnabled"),
};

const REVIEW_COMMENT: CommentSchema = CommentSchema {
    type_name: "PullRequestReviewComment",
    id_field: "fullDatabaseId",
    own_fields: "path line replyTo { fullDatabaseId } pullRequestReview { fullDatabaseId }
        pullRequest { number }",
    repository_field: RepositoryField::DIRECT,
    enabled_field: None,
};

const REVIEW: CommentSchema = CommentSchema {
    type_name: "PullRequestReview",
    id_field: "fullDatabaseId",
    own_fields: "state submittedAt pullRequest { number }",
    repository_field: RepositoryField::DIRECT,
    enabled_field: None,
};

const DISCUSSION_COMMENT: CommentSchema = CommentSchema {
    type_name: "DiscussionComment",
    id_field: "databaseId",
    own_fields: "replyTo { databaseId }",
    repository_field: RepositoryField::VIA_DISCUSSION,
    enabled_field: Some("hasDiscussionsEnabled"),
};

/// Returns the schema of the comments of this kind.
pub(super) fn for_kind(kind: CommentKind) -> &'static CommentSchema {
    match kind {
        CommentKind::Conversation => &ISSUE_COMMENT,
        CommentKind::ReviewComment => &REVIEW_COMMENT,
        CommentKind::Review => &REVIEW,
        CommentKind::DiscussionComment => &DISCUSSION_COMMENT,
    }
}

impl CommentSchema {
    /// Returns all fields of a comment that the mirror stores.
    pub(super) fn mirrored_fields(&self) -> String {
        let Self { id_field: id, own_fields: own, .. } = self;
        let repository = self.repository_field.fields;
        format!(
            "id {id} url body createdAt updatedAt {own} author {{ {ACTOR_FIELDS} }} authorAssociation
        {repository}"
        )
    }

    pub(super) fn node_lookup(&self) -> NodeLookup {
        NodeLookup {
            type_name: self.type_name,
            enabled_field: self.enabled_field,
            repository_field: self.repository_field,
        }
    }
}
