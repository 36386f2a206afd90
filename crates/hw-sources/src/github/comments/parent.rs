//! The objects that contain comments: threads, and comments with replies.

use hw_rules::lane::PerThreadCommentKind;

use super::schema;
use crate::github::lookup::RepositoryField;

pub(super) struct CommentParent {
    pub type_name: &'static str,
    pub repository_field: RepositoryField,
    /// Its field with the comments.
    pub connection: &'static str,
    pub has_replies: bool,
    /// The number of comments to request with each thread; times `threads_per_request` it costs one point.
    pub first_comments: u32,
    pub threads_per_request: usize,
}

const PULL_REQUEST: CommentParent = CommentParent {
    type_name: "PullRequest",
    repository_field: RepositoryField::DIRECT,
    connection: "reviews",
    has_replies: false,
    first_comments: 100,
    threads_per_request: 50,
};

const DISCUSSION: CommentParent = CommentParent {
    type_name: "Discussion",
    repository_field: RepositoryField::DIRECT,
    connection: "comments",
    has_replies: true,
    first_comments: 20,
    threads_per_request: 5,
};

const COMMENT: CommentParent = CommentParent {
    type_name: "DiscussionComment",
    repository_field: RepositoryField::VIA_DISCUSSION,
    connection: REPLIES,
    has_replies: false,
    first_comments: 100,
    threads_per_request: 1,
};

pub(super) const REPLIES: &str = "replies";

impl CommentParent {
    /// Returns the threads that have comments of this kind.
    pub(super) fn from_kind(kind: PerThreadCommentKind) -> &'static Self {
        match kind {
            PerThreadCommentKind::Review => &PULL_REQUEST,
            PerThreadCommentKind::DiscussionComment => &DISCUSSION,
        }
    }

    /// Returns the comments of a discussion, which contain replies.
    pub(super) fn reply_parent() -> &'static Self {
        &COMMENT
    }

    /// Returns the fields for the ids of one page of its comments.
    pub(super) fn id_fields(&self, page: &str) -> String {
        let comments = connection_fields(self.connection, page, "id");
        format!(
            "__typename ... on {} {{ {} {comments} }}",
            self.type_name, self.repository_field.fields
        )
    }

    /// Returns the fields for one page of its comments.
    pub(super) fn full_fields(&self, kind: PerThreadCommentKind, page: &str) -> String {
        let mut fields = schema::for_kind(kind.into()).mirrored_fields();
        let replies = connection_fields(REPLIES, "first: 100", &fields);
        if self.has_replies {
            fields = format!("{fields} {replies}");
        }
        let comments = connection_fields(self.connection, page, &fields);
        format!(
            "__typename ... on {} {{ {} {comments} }}",
            self.type_name, self.repository_field.fields
        )
    }
}

fn connection_fields(name: &str, page: &str, fields: &str) -> String {
    format!(
        "{name}({page}) {{
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{ {fields} }} }}
    }}"
    )
}
