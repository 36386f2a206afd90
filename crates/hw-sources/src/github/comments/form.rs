//! What GitHub calls each kind of comment, and what is asked of one.

use hw_rules::lane::Surface;

use crate::github::look::{Home, Look};
use crate::github::node::ACTOR;

/// One kind of comment, in GitHub's words.
pub(super) struct Form {
    pub type_name: &'static str,
    /// The numeric id. Comments of discussions have only the short one.
    id: &'static str,
    /// What is asked of this kind alone.
    own: &'static str,
    home: Home,
    /// The repository's field without which comments of this kind, or some of them, are out of sight.
    switch: Option<&'static str>,
}

/// Its `issue` cannot be relied on where it is a pull request: the thread's number is in the URL.
const ISSUE_COMMENT: Form = Form {
    type_name: "IssueComment",
    id: "fullDatabaseId",
    own: "",
    home: Home::OWN,
    switch: Some("hasIssuesEnabled"),
};

const REVIEW_COMMENT: Form = Form {
    type_name: "PullRequestReviewComment",
    id: "fullDatabaseId",
    own: "path line replyTo { fullDatabaseId } pullRequestReview { fullDatabaseId }
        pullRequest { number }",
    home: Home::OWN,
    switch: None,
};

const REVIEW: Form = Form {
    type_name: "PullRequestReview",
    id: "fullDatabaseId",
    own: "state submittedAt pullRequest { number }",
    home: Home::OWN,
    switch: None,
};

const DISCUSSION_COMMENT: Form = Form {
    type_name: "DiscussionComment",
    id: "databaseId",
    own: "replyTo { databaseId }",
    home: Home::OF_DISCUSSION,
    switch: Some("hasDiscussionsEnabled"),
};

/// The form behind a surface, which is one of [`Surface::COMMENTS`].
pub(super) fn of(surface: Surface) -> &'static Form {
    match surface {
        Surface::IssueComments => &ISSUE_COMMENT,
        Surface::ReviewComments => &REVIEW_COMMENT,
        Surface::Reviews => &REVIEW,
        Surface::DiscussionComments => &DISCUSSION_COMMENT,
        Surface::Repositories | Surface::Discussions | Surface::Issues | Surface::PullRequests => {
            unreachable!("no comments there: {surface:?}")
        }
    }
}

impl Form {
    /// Everything the mirror keeps of one.
    pub(super) fn fields(&self) -> String {
        let Self { id, own, home, .. } = self;
        let home = home.fields;
        format!("id {id} url body createdAt updatedAt {own} author {{ {ACTOR} }} {home}")
    }

    pub(super) fn look(&self) -> Look {
        Look { type_name: self.type_name, switch: self.switch, home: self.home }
    }
}
