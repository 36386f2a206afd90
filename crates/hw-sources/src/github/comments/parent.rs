//! The objects that contain comments: threads, and comments with replies.

use hw_rules::item::{CommentKind, ThreadKind};
use hw_rules::lane::PerThreadCommentKind;
use hw_rules::thread_scan::ThreadPart;

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
    connection: COMMENTS,
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

const ISSUE_CONVERSATION: CommentParent = CommentParent {
    type_name: "Issue",
    repository_field: RepositoryField::DIRECT,
    connection: COMMENTS,
    has_replies: false,
    first_comments: 100,
    threads_per_request: 1,
};

const PULL_REQUEST_CONVERSATION: CommentParent =
    CommentParent { type_name: "PullRequest", ..ISSUE_CONVERSATION };

const PULL_REQUEST_REVIEW_THREADS: CommentParent =
    CommentParent { connection: "reviewThreads", ..PULL_REQUEST_CONVERSATION };

const REVIEW_THREAD: CommentParent =
    CommentParent { type_name: "PullRequestReviewThread", ..ISSUE_CONVERSATION };

pub(super) const REPLIES: &str = "replies";
pub(super) const COMMENTS: &str = "comments";

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

    /// Returns a thread, with the connection that has this part of its comments.
    pub(super) fn from_part(kind: ThreadKind, part: ThreadPart) -> &'static Self {
        match (part, kind) {
            (ThreadPart::Conversation, ThreadKind::PullRequest) => &PULL_REQUEST_CONVERSATION,
            (ThreadPart::Conversation, ThreadKind::Issue | ThreadKind::Discussion) => {
                &ISSUE_CONVERSATION
            }
            (ThreadPart::Reviews, _) => &PULL_REQUEST,
            (ThreadPart::ReviewThreads, _) => &PULL_REQUEST_REVIEW_THREADS,
        }
    }

    /// Returns the comments about the same lines.
    pub(super) fn review_thread() -> &'static Self {
        &REVIEW_THREAD
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
    pub(super) fn full_fields(&self, kind: CommentKind, page: &str) -> String {
        let mut fields = schema::for_kind(kind).mirrored_fields();
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

/// Returns the fields for one page of review threads, each with its first comments.
pub(super) fn review_thread_fields(page: &str) -> String {
    let parent = &PULL_REQUEST_REVIEW_THREADS;
    let fields = schema::for_kind(CommentKind::ReviewComment).mirrored_fields();
    let comments = connection_fields(COMMENTS, "first: 100", &fields);
    let threads = connection_fields(parent.connection, page, &format!("id {comments}"));
    format!(
        "__typename ... on {} {{ {} {threads} }}",
        parent.type_name, parent.repository_field.fields
    )
}

fn connection_fields(name: &str, page: &str, fields: &str) -> String {
    format!(
        "{name}({page}) {{
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{ {fields} }} }}
    }}"
    )
}
