//! Statements that differ only in the table's name: each kind of item has a table of its own.

use hw_rules::item::{CommentKind, ObjectKind, ThreadKind};

use crate::sql::Sql;

/// One statement per kind, each for the table of that kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindStatements {
    pub(crate) repositories: Sql<'static>,
    pub(crate) discussions: Sql<'static>,
    pub(crate) issues: Sql<'static>,
    pub(crate) pull_requests: Sql<'static>,
    pub(crate) issue_comments: Sql<'static>,
    pub(crate) review_comments: Sql<'static>,
    pub(crate) reviews: Sql<'static>,
    pub(crate) discussion_comments: Sql<'static>,
    pub(crate) posts: Sql<'static>,
}

impl KindStatements {
    pub(crate) fn for_kind(self, kind: impl Into<ObjectKind>) -> Sql<'static> {
        match kind.into() {
            ObjectKind::Repository => self.repositories,
            ObjectKind::Thread(ThreadKind::Discussion) => self.discussions,
            ObjectKind::Thread(ThreadKind::Issue) => self.issues,
            ObjectKind::Thread(ThreadKind::PullRequest) => self.pull_requests,
            ObjectKind::Comment(CommentKind::Conversation) => self.issue_comments,
            ObjectKind::Comment(CommentKind::ReviewComment) => self.review_comments,
            ObjectKind::Comment(CommentKind::Review) => self.reviews,
            ObjectKind::Comment(CommentKind::DiscussionComment) => self.discussion_comments,
            ObjectKind::Post => self.posts,
        }
    }
}

/// Builds a statement for each kind from the texts before and after the table's name; the text after it may differ
/// between SQLite and PostgreSQL.
///
/// Some statements name columns that only some tables have. They are built for the other tables too, but never run.
macro_rules! of_kind {
    ($before:literal, $after:literal) => {
        $crate::tables::of_kind!($before, $after, $after)
    };
    ($before:literal, $sqlite:expr, $postgres:expr) => {
        $crate::tables::KindStatements {
            repositories: $crate::tables::table_statement!(
                "repositories",
                $before,
                $sqlite,
                $postgres
            ),
            discussions: $crate::tables::table_statement!(
                "discussions",
                $before,
                $sqlite,
                $postgres
            ),
            issues: $crate::tables::table_statement!("issues", $before, $sqlite, $postgres),
            pull_requests: $crate::tables::table_statement!(
                "pull_requests",
                $before,
                $sqlite,
                $postgres
            ),
            issue_comments: $crate::tables::table_statement!(
                "issue_comments",
                $before,
                $sqlite,
                $postgres
            ),
            review_comments: $crate::tables::table_statement!(
                "review_comments",
                $before,
                $sqlite,
                $postgres
            ),
            reviews: $crate::tables::table_statement!("reviews", $before, $sqlite, $postgres),
            discussion_comments: $crate::tables::table_statement!(
                "discussion_comments",
                $before,
                $sqlite,
                $postgres
            ),
            posts: $crate::tables::table_statement!("posts", $before, $sqlite, $postgres),
        }
    };
}
macro_rules! table_statement {
    ($table:literal, $before:literal, $sqlite:expr, $postgres:expr) => {
        $crate::sql::Sql::per_dialect(
            concat!($before, " ", $table, " ", $sqlite),
            concat!($before, " ", $table, " ", $postgres),
        )
    };
}
pub(crate) use {of_kind, table_statement};
