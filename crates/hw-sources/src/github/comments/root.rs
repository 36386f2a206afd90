//! What holds comments: a thread, or a comment with replies.

use hw_rules::lane::Surface;

use super::form;
use crate::github::look::Home;

pub(super) struct Root {
    pub type_name: &'static str,
    pub home: Home,
    /// What it calls its comments.
    pub connection: &'static str,
    pub has_replies: bool,
    /// How many comments come with each of some threads, and of how many threads: together they cost a point.
    pub first: u32,
    pub at_once: usize,
}

const PULL_REQUEST: Root = Root {
    type_name: "PullRequest",
    home: Home::OWN,
    connection: "reviews",
    has_replies: false,
    first: 100,
    at_once: 50,
};

const DISCUSSION: Root = Root {
    type_name: "Discussion",
    home: Home::OWN,
    connection: "comments",
    has_replies: true,
    first: 20,
    at_once: 5,
};

const COMMENT: Root = Root {
    type_name: "DiscussionComment",
    home: Home::OF_DISCUSSION,
    connection: REPLIES,
    has_replies: false,
    first: 100,
    at_once: 1,
};

pub(super) const REPLIES: &str = "replies";

impl Root {
    /// The threads behind a surface that is read as talks.
    pub(super) fn of_threads(surface: Surface) -> &'static Self {
        match surface {
            Surface::Reviews => &PULL_REQUEST,
            Surface::DiscussionComments => &DISCUSSION,
            Surface::Repositories
            | Surface::Discussions
            | Surface::Issues
            | Surface::PullRequests
            | Surface::IssueComments
            | Surface::ReviewComments => unreachable!("not read as talks: {surface:?}"),
        }
    }

    /// The comments that others reply to.
    pub(super) fn of_replies() -> &'static Self {
        &COMMENT
    }

    /// What is asked of one, with the ids of this page of its comments.
    pub(super) fn id_fields(&self, page: &str) -> String {
        let comments = connection(self.connection, page, "id");
        format!("__typename ... on {} {{ {} {comments} }}", self.type_name, self.home.fields)
    }

    /// What is asked of one, with this page of its comments.
    pub(super) fn fields(&self, surface: Surface, page: &str) -> String {
        let mut fields = form::of(surface).fields();
        let replies = connection(REPLIES, "first: 100", &fields);
        if self.has_replies {
            fields = format!("{fields} {replies}");
        }
        let comments = connection(self.connection, page, &fields);
        format!("__typename ... on {} {{ {} {comments} }}", self.type_name, self.home.fields)
    }
}

fn connection(name: &str, page: &str, fields: &str) -> String {
    format!(
        "{name}({page}) {{
      pageInfo {{ hasNextPage endCursor }}
      edges {{ cursor node {{ {fields} }} }}
    }}"
    )
}
